/* Kernels that stream over data against the obvious loop, the memory and,
 * where it is installed, XNNPACK; then bench_search.c. `must` and `goal` are
 * those of docs/bench.md.
 *
 *   bench_f32 [LARGE]    elements of the rows that leave the caches (1e8) */
#include "bench_f32.h"
#include "plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef BENCH_XNNPACK
#include <xnnpack.h>
#endif

struct stream {
    float *x, *y;
    int8_t *q;
    size_t n;
    float scale;
    void *op;
};

static void stream_init(struct stream *s, size_t n)
{
    *s = (struct stream){
        bench_alloc(n * 4), bench_alloc(n * 4), bench_alloc(n), n, 0.03f, NULL};
    bench_fill(s->x, n);
}

static void stream_free(struct stream *s)
{
    bench_free(s->x);
    bench_free(s->y);
    bench_free(s->q);
}

/* --------------------------------------------------------------- quantize */

static void quantize_recip(void *p)
{
    struct stream *s = p;
    qrt_quantize_f32_s8__ascend(s->x, s->n, 1.0f / s->scale, 3, 8, false,
                                QRT_ROUND_EVEN, s->q);
}

static void quantize_exact(void *p)
{
    struct stream *s = p;
    qrt_quantize_f32_s8(s->x, s->n, s->scale, 3, 8, s->q);
}

/* What most people write first. */
static void quantize_naive(void *p)
{
    const struct stream *s = p;
    const float *restrict x = s->x;
    int8_t *restrict q = s->q;
    const float m = 1.0f / s->scale;
    for (size_t i = 0, n = s->n; i < n; i++) {
        long v = lrintf(x[i] * m) + 3;
        v = v < -128 ? -128 : v > 127 ? 127 : v;
        q[i] = (int8_t)v;
    }
}

static void dequantize(void *p)
{
    struct stream *s = p;
    qrt_dequantize_s8_f32(s->q, s->n, s->scale, 3, s->y);
}

static void dequantize_naive(void *p)
{
    const struct stream *s = p;
    const int8_t *restrict q = s->q;
    float *restrict y = s->y;
    const float scale = s->scale;
    for (size_t i = 0, n = s->n; i < n; i++)
        y[i] = scale * ((float)q[i] - 3.0f);
}

/* The limit of the memory: reads 4 bytes an element, writes 1. */
static void read_write(void *p)
{
    const struct stream *s = p;
    const uint32_t *restrict x = (const uint32_t *)(const void *)s->x;
    int8_t *restrict q = s->q;
    for (size_t i = 0, n = s->n; i < n; i++)
        q[i] = (int8_t)x[i];
}

#ifdef BENCH_XNNPACK
static void xnn_run(void *p)
{
    struct stream *s = p;
    xnn_run_operator(s->op, NULL);
}

static void bench_xnnpack(struct stream *s)
{
    const struct bench_row to = {"f32 -> s8, n = 1e6, against XNNPACK",
                                 V3(0.5, 0), V3(0.61, 0), false};
    const struct bench_row from = {"s8 -> f32, n = 1e6, against XNNPACK",
                                   V3(0.6, 0), V3(0.79, 0), false};
    xnn_operator_t op = NULL;
    if (xnn_initialize(NULL) != xnn_status_success)
        return;
    if (xnn_create_convert_nc_f32_qs8(1, 1, 1, s->scale, 3, -128, 127, 0,
                                      &op) == xnn_status_success) {
        xnn_setup_convert_nc_f32_qs8(op, s->n, s->x, s->q, NULL);
        s->op = op;
        bench_compare(&to, quantize_recip, xnn_run, s, s->n);
        xnn_delete_operator(op);
    }
    if (xnn_create_convert_nc_qs8_f32(1, 1, 1, s->scale, 3, 0, &op) ==
        xnn_status_success) {
        xnn_setup_convert_nc_qs8_f32(op, s->n, s->q, s->y, NULL);
        s->op = op;
        bench_compare(&from, dequantize, xnn_run, s, s->n);
        xnn_delete_operator(op);
    }
}
#else
static void bench_xnnpack(struct stream *s)
{
    (void)s;
    puts("skipped: XNNPACK is not installed (libxnnpack-dev)");
}
#endif

static void bench_cached(void)
{
    static const struct bench_row cached = {
        "f32 -> s8, n = 1e4, against lrintf", 0, 0, false};
    static const struct bench_row exact_cached = {
        "f32 -> s8 by division, n = 1e4, against lrintf", 0, 0, false};
    static const struct bench_row naive = {"f32 -> s8, n = 1e6, against lrintf",
                                           V3(6, 3.5), V3(10, 5.9), false};
    static const struct bench_row exact = {
        "f32 -> s8 by division, n = 1e6, against lrintf", 0, 0, false};
    static const struct bench_row memory = {
        "f32 -> s8, n = 1e6, against read 4 write 1", 0, 0, false};
    static const struct bench_row back = {
        "s8 -> f32, n = 1e6, against the plain loop", 0, 0, false};
    struct stream s;
    stream_init(&s, 10000);
    bench_compare(&cached, quantize_recip, quantize_naive, &s, s.n);
    bench_compare(&exact_cached, quantize_exact, quantize_naive, &s, s.n);
    stream_free(&s);
    stream_init(&s, 1000000);
    bench_compare(&naive, quantize_recip, quantize_naive, &s, s.n);
    bench_compare(&exact, quantize_exact, quantize_naive, &s, s.n);
    bench_compare(&memory, quantize_recip, read_write, &s, s.n);
    bench_compare(&back, dequantize, dequantize_naive, &s, s.n);
    bench_xnnpack(&s);
    stream_free(&s);
}

static void bench_large(size_t n)
{
    static const struct bench_row memory = {
        "f32 -> s8, large, against read 4 write 1", V3(0.7, 0), V3(0.95, 0),
        false};
    static const struct bench_row exact = {
        "f32 -> s8 by division, large, against reciprocal", V3(0.85, 0),
        V3(1.0, 0), false};
    struct stream s;
    stream_init(&s, n);
    bench_compare(&memory, quantize_recip, read_write, &s, s.n);
    bench_compare(&exact, quantize_exact, quantize_recip, &s, s.n);
    stream_free(&s);
}

/* ------------------------------------------------------------- requantize */

#define CHANNELS 256u

struct accumulators {
    int32_t *acc;
    int8_t *q;
    size_t n;
    float scale[CHANNELS];
    int32_t mult[CHANNELS];
    uint8_t shift[CHANNELS];
    struct qrt_real requant[CHANNELS];
};

static void requantize_float(void *p)
{
    struct accumulators *a = p;
    qrt_requantize_s32_s8__f32(a->acc, a->n / CHANNELS, CHANNELS, a->scale, 3,
                               false, a->q);
}

static void requantize_naive(void *p)
{
    const struct accumulators *a = p;
    const int32_t *restrict acc = a->acc;
    const float *restrict scale = a->scale;
    int8_t *restrict q = a->q;
    for (size_t i = 0, n = a->n; i < n; i++) {
        long v = lrintf((float)acc[i] * scale[i % CHANNELS]) + 3;
        v = v < -128 ? -128 : v > 127 ? 127 : v;
        q[i] = (int8_t)v;
    }
}

static void requantize_fixed(void *p)
{
    struct accumulators *a = p;
    struct qrt_shape shape = {(uint32_t)(a->n / CHANNELS), CHANNELS, 1, 1};
    struct qrt_edge edge = {a->requant, 3, -128, 127, 0};
    qrt_requantize_s8(a->acc, &shape, &edge, a->q);
}

static void requantize_plain(void *p)
{
    struct accumulators *a = p;
    plain_requantize(a->acc, a->n / CHANNELS, CHANNELS, a->mult, a->shift, 3,
                     a->q);
}

static void requantize_plain_even(void *p)
{
    struct accumulators *a = p;
    plain_requantize_even(a->acc, a->n / CHANNELS, CHANNELS, a->mult, a->shift,
                          3, a->q);
}

/* Both loops write the same codes, or the comparison is none. */
static void check_requantize(struct accumulators *a)
{
    int8_t *q = a->q, *other = bench_alloc(a->n);
    requantize_fixed(a);
    a->q = other;
    requantize_plain_even(a);
    a->q = q;
    for (size_t i = 0; i < a->n; i++)
        if (q[i] != other[i]) {
            printf("  codes differ from %zu on\n", i);
            break;
        }
    bench_free(other);
}

static void bench_requantize(void)
{
    static const struct bench_row through_float = {
        "s32 -> s8 through float, n = 1e6, against lrintf", 0, 0, false};
    static const struct bench_row fixed = {
        "s32 -> s8 fixed point, -O2, against a plain loop", 1, 0, false};
    static const struct bench_row half_up = {
        "  against a plain loop that rounds halves up", 0, 0, false};
    static struct accumulators a;
    a.n = 1000000u / CHANNELS * CHANNELS;
    float *x = bench_alloc(a.n * 4);
    a.acc = bench_alloc(a.n * 4);
    a.q = bench_alloc(a.n);
    bench_fill(x, a.n);
    for (size_t i = 0; i < a.n; i++)
        a.acc[i] = (int32_t)(x[i] * 200000.0f);
    bench_free(x);
    for (size_t c = 0; c < CHANNELS; c++) {
        int e;
        a.scale[c] = 0.0002f + 1e-7f * (float)c;
        a.mult[c] = (int32_t)lrint(frexp(a.scale[c], &e) * 0x1p31);
        a.shift[c] = (uint8_t)(31 - e);
        a.requant[c] = (struct qrt_real){a.mult[c], e};
    }
    bench_compare(&through_float, requantize_float, requantize_naive, &a, a.n);
    check_requantize(&a);
    bench_compare(&fixed, requantize_fixed, requantize_plain_even, &a, a.n);
    bench_compare(&half_up, requantize_fixed, requantize_plain, &a, a.n);
    bench_free(a.acc);
    bench_free(a.q);
}

/* ------------------------------------------------------------------- int4 */

struct nibbles {
    int8_t *codes;
    uint8_t *packed;
    size_t n;
};

static void pack(void *p)
{
    struct nibbles *s = p;
    struct qrt_shape shape = {1, (uint32_t)s->n, 1, 1};
    qrt_pack4(s->codes, &shape, s->packed);
}

static void pack_plain(void *p)
{
    struct nibbles *s = p;
    plain_pack4(s->codes, s->n, s->packed);
}

static void unpack(void *p)
{
    struct nibbles *s = p;
    struct qrt_shape shape = {1, (uint32_t)s->n, 1, 1};
    qrt_unpack4(s->packed, &shape, s->codes);
}

static void unpack_plain(void *p)
{
    struct nibbles *s = p;
    plain_unpack4(s->packed, s->n, s->codes);
}

static void bench_int4(void)
{
    static const struct bench_row to = {
        "int4 pack, checked, n = 1e6, -O2, against a plain loop", 0, 0, false};
    static const struct bench_row from = {
        "int4 unpack, n = 1e6, -O2, against a plain loop", 0, 0, false};
    struct nibbles s = {bench_alloc(1000000), bench_alloc(500000), 1000000};
    for (size_t i = 0; i < s.n; i++)
        s.codes[i] = (int8_t)((i * 7u) % 16u) - 8;
    bench_compare(&to, pack, pack_plain, &s, s.n);
    bench_compare(&from, unpack, unpack_plain, &s, s.n);
    bench_free(s.codes);
    bench_free(s.packed);
}

int main(int argc, char **argv)
{
    double large = argc > 1 ? strtod(argv[1], NULL) : 1e8;
    bench_head("host kernels, " BENCH_ARCH "; ns per element");
    bench_cached();
    bench_large((size_t)large);
    bench_requantize();
    bench_int4();
    bench_searches();
    return 0;
}
