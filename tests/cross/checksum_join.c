/* One number over the joins: sums, concatenations, means and tables of codes,
 * on pseudo-random data, as checksum.c does it for the other kernels. */
#include "checksum.h"

#include "qrt.h"

enum { N = 48, ROUNDS = 24 };

static uint32_t hash, seed;

static void put(uint32_t v)
{
    for (int i = 0; i < 4; i++, v >>= 8) {
        hash = (hash ^ (v & 255U)) * 0x01000193U;
    }
}

static void put_all(const int32_t *v, uint32_t n)
{
    while (n-- != 0) {
        put((uint32_t)*v++);
    }
}

static uint32_t draw(void)
{
    seed = seed * 1664525U + 1013904223U;
    return seed ^ seed >> 15;
}

/* Terms with one scale each or one per channel; a clamp now and then. */
static void make_terms(struct qrt_term *terms, struct qrt_real scales[2][4],
                       uint32_t round)
{
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t c = 0; c < 4; c++) {
            scales[i][c].m = (int32_t)(0x40000000U | draw() >> 2);
            scales[i][c].e = -(int32_t)(draw() % (i == 0 ? 14U : 6U));
        }
        terms[i].scale = scales[i];
        terms[i].scale_count = (round & 1U) != 0 ? 4 : 1;
        terms[i].layer = 0;
        terms[i].is_code = i;
        terms[i].zero_point = i == 0 ? 0 : (int32_t)(draw() & 31U) - 16;
        terms[i].low = (round & 2U) != 0 ? 0 : INT32_MIN;
        terms[i].high = (round & 4U) != 0 ? 6 << 16 : INT32_MAX;
    }
}

static void one(uint32_t round)
{
    static int8_t table[256];
    const struct qrt_shape shape = {2, 4, N / 8, 1};
    struct qrt_real scales[2][4];
    struct qrt_term terms[2];
    struct qrt_join join = {0};
    int32_t acc[N], sum[N];
    int8_t codes[N];

    make_terms(terms, scales, round);
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = (int8_t)((int32_t)(draw() & 255U) - 128);
    }
    for (uint32_t i = 0; i < N; i++) {
        acc[i] = (int32_t)(draw() & 0xfffffU) - 0x80000;
        codes[i] = (int8_t)((int32_t)(draw() & 255U) - 128);
    }
    join.kind = (round & 1U) != 0 ? QRT_JOIN_SUM : QRT_JOIN_CONCAT;
    join.frac = (round & 8U) != 0 ? 8 : 16;
    join.term_count = 2;
    join.terms = terms;
    join.low = (round & 2U) != 0 ? 0 : INT32_MIN;
    join.high = INT32_MAX;
    join.zero_point = (int32_t)(round % 7U) - 3;
    join.code_min = -128;
    join.code_max = 127;
    join.table = (round & 4U) != 0 ? table : NULL;
    put((uint32_t)qrt_join_add_s32(&join, 0, acc, &shape, sum));
    put_all(sum, N);
    put((uint32_t)qrt_join_add_s8(&join, 1, codes, &shape, sum));
    put_all(sum, N);
    put((uint32_t)qrt_join_finish_s8(&join, sum, N, codes));
    for (uint32_t i = 0; i < N; i++) {
        put((uint32_t)codes[i]);
    }
    put((uint32_t)qrt_join_mean(&join, sum, 4, N / 4, sum));
    put_all(sum, 4);
}

uint32_t qrt_cross_checksum_join(void)
{
    hash = 0x811c9dc5U;
    seed = 77;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        one(i);
    }
    return hash;
}
