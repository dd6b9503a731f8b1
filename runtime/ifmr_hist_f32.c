/* The inner loop of the exact IFMR search.
 *
 * One load, add and store per sample, without a branch: zeros of a ReLU and
 * the signs of a symmetric tensor would mispredict half the time. Compile this
 * file without vectorisation (-O2 -fno-tree-vectorize
 * -fno-tree-slp-vectorize): gcc -O3 moves the index arithmetic through vector
 * registers and the stack, 4 to 9 times slower. */
#include "ifmr_f32.h"

static inline void count_one(float x, int32_t base, uint64_t *table)
{
    uint32_t u = f32_bits(x);
    int32_t i = (int32_t)((u & F32_ABS) >> IFMR_LOW_BITS) - base;
    uint32_t k = i > 0 ? (uint32_t)i : 0u;
    /* Bin 0 sums low bits too; nobody reads them. */
    table[k + (u >> 31) * IFMR_BINS] +=
        ((uint64_t)1 << IFMR_COUNT_AT) + (u & IFMR_LOW_MASK);
}

void ifmr_histogram(const float *x, size_t n, int32_t base, uint64_t *table)
{
    size_t i = 0;
    for (; i + 4u <= n; i += 4u) {
        count_one(x[i], base, table);
        count_one(x[i + 1u], base, table);
        count_one(x[i + 2u], base, table);
        count_one(x[i + 3u], base, table);
    }
    for (; i < n; i++)
        count_one(x[i], base, table);
}
