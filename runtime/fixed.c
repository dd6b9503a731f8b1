/* The roundings and the division that are too long to be inlined. */
#include "fixed.h"

uint32_t qrt_bit_length32(uint32_t v)
{
    uint32_t n = 0;

    for (uint32_t step = 16; step != 0; step >>= 1) {
        if (v >> step != 0) {
            n += step;
            v >>= step;
        }
    }
    return n + v;
}

uint32_t qrt_bit_length64(uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32);

    return high != 0 ? 32 + qrt_bit_length32(high)
                     : qrt_bit_length32((uint32_t)v);
}

/* v * 2^n, n > 0; at most 63 turns. */
static int64_t saturating_shl(int64_t v, int32_t n)
{
    for (; n != 0 && v != 0; n--) {
        if (qrt_abs64(v) >> 62 != 0) {
            return v < 0 ? -INT64_MAX : INT64_MAX;
        }
        v *= 2;
    }
    return v;
}

int64_t qrt_rshift_half_even(int64_t v, int32_t sh, int32_t off)
{
    int64_t q;
    uint32_t bit, odd;

    if (sh <= 0) {
        return saturating_shl(v, -sh);
    }
    if (sh > 62) {
        return 0;
    }
    /* Keep one bit of the fraction; below it only "something" matters. */
    q = qrt_asr64(v, (uint32_t)sh - 1U);
    bit = (uint32_t)q & 1U;
    odd = ((uint32_t)qrt_asr64(q, 1) ^ (uint32_t)off) & 1U;
    if ((bit & odd) != 0 ||
        (bit != 0 && qrt_shl64(q, (uint32_t)sh - 1U) != v)) {
        q += 1;
    }
    return qrt_asr64(q, 1);
}

int32_t qrt_mul_shift_half_even(int32_t x, int32_t m, int32_t sh, int32_t off)
{
    uint32_t j = (uint32_t)sh - 33U;

    if (j > 29U) {
        return qrt_sat32(qrt_rshift_half_even((int64_t)x * m, sh, off));
    }
    return qrt_mul_high_half_even(x, m, j, off, 0);
}

uint64_t qrt_udiv64(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint32_t have = qrt_bit_length64(n);
    uint32_t need = qrt_bit_length64(d);
    uint64_t q = 0;

    if (have >= need) {
        uint32_t turns = have - need + 1U;

        d <<= turns - 1U;
        for (; turns != 0; turns--) {
            q <<= 1;
            if (n >= d) {
                n -= d;
                q |= 1U;
            }
            d >>= 1;
        }
    }
    *rest = n;
    return q;
}
