/* One number over what the IFMR observer and the record writer give for pseudo-
 * random data, at every size of storage. Without libc: it runs on the host and
 * on every core alike, and has to be the same everywhere. */
#include "qrt_record.h"

uint32_t qrt_cross_checksum_ifmr(void);

#define SAMPLES 2000U

static uint64_t storage[2][QRT_IFMR_BYTES_MAX / 8U];
static uint32_t seed;
static uint32_t hash;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* FNV-1a over the bytes of a word, lowest first. */
static void mix(uint32_t word)
{
    for (uint32_t i = 0; i < 4; i++) {
        hash = (hash ^ ((word >> (8U * i)) & 0xffU)) * 16777619U;
    }
}

static void mix_state(const struct qrt_ifmr_observer *o)
{
    mix(o->samples);
    mix(o->rejected);
    mix(o->distinct[0]);
    mix(o->distinct[1]);
    mix(o->top);
    for (uint32_t side = 0; side < 2; side++) {
        mix(o->extreme[side]);
        mix(o->extreme_count[side]);
    }
    for (uint32_t i = 0; i < o->cell_count; i++) {
        mix((uint32_t)o->cells[i]);
        mix((uint32_t)(o->cells[i] >> 32));
    }
}

static void mix_result(const struct qrt_ifmr_result *r)
{
    mix(r->scale_bits);
    mix((uint32_t)r->zero_point);
    mix(r->clip_max_bits);
    mix(r->clip_min_bits);
    mix(r->max_bits);
    mix(r->min_bits);
    mix(r->index);
    mix((uint32_t)r->method);
    mix((uint32_t)r->input);
}

/* A sum of four numbers, like a bell. */
static int32_t bell(void)
{
    int32_t sum = 0;

    for (int i = 0; i < 4; i++) {
        sum += (int32_t)(next_random() >> 3) - ((int32_t)1 << 28);
    }
    return sum;
}

static void observe(struct qrt_ifmr_observer *o, uint32_t kind)
{
    uint32_t bits[16];
    int32_t wide[16];
    int16_t narrow[16];

    for (uint32_t i = 0; i < SAMPLES; i += 16U) {
        for (uint32_t k = 0; k < 16; k++) {
            int32_t v = bell();

            v = kind % 3U == 1U && v < 0 ? 0 : v; /* one-sided */
            wide[k] = v / (kind % 3U == 2U ? 1 << (next_random() & 15U) : 1);
            narrow[k] = (int16_t)(v / 65536 / (kind % 4U == 3U ? 128 : 1));
            bits[k] = next_random();
        }
        mix((uint32_t)qrt_ifmr_add_s16(o, narrow, 16, (int32_t)kind));
        mix((uint32_t)qrt_ifmr_add_s32(o, wide, 16, 16 + (int32_t)kind));
        if (kind % 5U == 4U) { /* any pattern, NaN as well */
            for (uint32_t k = 0; k < 16; k++) {
                bits[k] &= 0xbfffffffU;
            }
            mix((uint32_t)qrt_ifmr_add_f32(o, bits, 16));
        }
    }
}

static void finish(const struct qrt_ifmr_observer *o)
{
    static const uint32_t ratios[7] = {
        0x3f333333U, 0x3f4ccccdU, 0x3f666666U, 0x3f800000U,
        0x3f8ccccdU, 0x3f99999aU, 0x3fa66666U,
    };
    static const uint64_t percentiles[3] = {
        0x3feffffde7210be9U, /* 0.999999 */
        0x3fefae147ae147aeU, /* 0.99     */
        0x3ff0000000000000U,
    };
    static const uint32_t widths[3] = {8, 4, 16};

    for (uint32_t i = 0; i < 18; i++) {
        struct qrt_ifmr search;
        struct qrt_ifmr_result r;

        search.ratios = ratios;
        search.ratio_count = 7;
        search.max_percentile = percentiles[i % 3U];
        search.min_percentile = percentiles[(i + i / 3U) % 3U];
        mix((uint32_t)qrt_ifmr_finish(o, &search, widths[i / 6U], i % 2U, &r));
        mix_result(&r);
    }
}

static void run(uint32_t bytes, uint32_t kind)
{
    struct qrt_ifmr_observer a, b;

    mix((uint32_t)qrt_ifmr_init(&a, storage[0], bytes));
    mix((uint32_t)qrt_ifmr_init(&b, storage[1], bytes));
    observe(&a, kind);
    finish(&a);
    observe(&b, kind + 1U);
    mix_state(&b);
    mix((uint32_t)qrt_ifmr_merge(&a, &b));
    mix_state(&a);
    finish(&a);
}

static void mix_char(void *context, char c)
{
    (void)context;
    hash = (hash ^ (uint8_t)c) * 16777619U;
}

static void records(void)
{
    struct qrt_real steps[1];

    for (uint32_t i = 0; i < 300; i++) {
        struct qrt_record r = {"a\tname", 0, -3, steps, 1, 8, 4, NULL};

        r.scale_d_bits = next_random() & 0x7fffffffU;
        steps[0].m = (int32_t)(next_random() >> 2) | (int32_t)1 << 30;
        steps[0].e = (int32_t)(next_random() & 127U) - 63;
        mix((uint32_t)qrt_record_write(&r, mix_char, NULL));
    }
}

uint32_t qrt_cross_checksum_ifmr(void)
{
    static const uint32_t bytes[5] = {512, 4096, 8192, 16384, 32768};

    seed = 2463534242U;
    hash = 2166136261U;
    for (uint32_t i = 0; i < 10; i++) {
        run(bytes[i % 5U], i);
    }
    records();
    return hash;
}
