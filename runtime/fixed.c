/* The roundings and the division that are too long to be inlined. */
#include "fixed.h"

static int64_t saturating_shl(int64_t v, uint32_t n)
{
    if (v == 0) {
        return 0;
    }
    if (n > 62 || qrt_abs64(v) > (uint64_t)INT64_MAX >> n) {
        return v < 0 ? INT64_MIN : INT64_MAX;
    }
    return qrt_shl64(v, n);
}

int64_t qrt_rshift_half_even(int64_t v, int32_t sh, int32_t off)
{
    int64_t q;
    uint64_t rest, half;

    if (sh <= 0) {
        return saturating_shl(v, (uint32_t)-sh);
    }
    if (sh > 62) {
        return 0;
    }
    q = qrt_asr64(v, (uint32_t)sh);
    rest = (uint64_t)v - ((uint64_t)q << (uint32_t)sh);
    half = (uint64_t)1 << ((uint32_t)sh - 1U);
    if (rest > half || (rest == half && (((uint64_t)q ^ (uint32_t)off) & 1U))) {
        q += 1;
    }
    return q;
}

uint64_t qrt_urshift_half_even(uint64_t m, uint32_t sh)
{
    uint64_t q, rest, half;

    if (sh == 0) {
        return m;
    }
    if (sh > 64) {
        return 0;
    }
    half = (uint64_t)1 << (sh - 1U);
    q = m >> (sh - 1U) >> 1;
    rest = m & (half | (half - 1U));
    return q + (rest > half || (rest == half && (q & 1U)));
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
