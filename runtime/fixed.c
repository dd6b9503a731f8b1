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

uint64_t qrt_urshift_half_even(uint64_t m, uint32_t sh, int32_t off)
{
    uint64_t q, odd;

    if (sh == 0) {
        return m;
    }
    if (sh > 64) {
        return 0;
    }
    /* Keep one bit of the fraction; below it only "something" matters. */
    q = m >> (sh - 1U);
    odd = ((q >> 1) ^ (uint32_t)off) & 1U;
    if ((q & 1U) != 0 && (odd != 0 || q << (sh - 1U) != m)) {
        q += 1;
    }
    return q >> 1;
}

int64_t qrt_rshift_half_even(int64_t v, int32_t sh, int32_t off)
{
    uint64_t m = qrt_abs64(v);

    if (sh > 0) { /* rounding to even is symmetric about 0 */
        m = qrt_urshift_half_even(m, (uint32_t)sh, off);
    } else if (m != 0 && (int32_t)qrt_bit_length64(m) - sh > 63) {
        m = INT64_MAX;
    } else {
        m <<= -sh & 63;
    }
    return qrt_signed64(m, v < 0);
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
