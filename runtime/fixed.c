/* The roundings and the division that are too long to be inlined. */
#include "fixed.h"

#ifndef __ARM_FEATURE_CLZ
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
#endif

int32_t qrt_sat32(int64_t v)
{
    int32_t high = qrt_high32(v);
    int32_t sign = qrt_asr32((int32_t)(uint32_t)v, 31);

    /* It fits if the high word only repeats the sign. */
    return high == sign ? (int32_t)(uint32_t)v
                        : INT32_MAX ^ qrt_asr32(high, 31);
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
    uint32_t odd;

    if (sh <= 0) {
        return saturating_shl(v, -sh);
    }
    if (sh > 62) {
        return 0;
    }
    /* Keep one bit of the fraction; below it only "something" matters: one less
     * then has the same q. */
    q = qrt_asr64(v, (uint32_t)sh - 1U);
    odd = ((uint32_t)qrt_asr64(q, 1) ^ (uint32_t)off) & 1U;
    odd |= (uint32_t)qrt_asr64(v - 1, (uint32_t)sh - 1U) == (uint32_t)q;
    return qrt_asr64(q + odd, 1);
}

int32_t qrt_mul_shift_half_even(int32_t x, int32_t m, int32_t sh, int32_t off)
{
    uint32_t j = (uint32_t)sh - 33U;

    if (j > 29U) {
        return qrt_sat32(qrt_rshift_half_even((int64_t)x * m, sh, off));
    }
    return qrt_mul_high_half_even(x, m, j, off, 0);
}

void qrt_add_product(uint64_t *sum, uint32_t a, uint32_t b)
{
    *sum += (uint64_t)a * b;
}

uint64_t qrt_mul_shift64(uint64_t a, uint32_t b, uint32_t shift)
{
    uint64_t low = (a & 0xffffffffU) * b;
    uint64_t high = (a >> 32) * b + (low >> 32);
    uint32_t word[3]; /* in words: most helpers for 64 bits stay out */

    word[0] = (uint32_t)low;
    word[1] = (uint32_t)high;
    word[2] = (uint32_t)(high >> 32);
    if (shift >= 32) {
        word[0] = word[1];
        word[1] = word[2];
        word[2] = 0;
        shift -= 32U;
    }
    if (shift != 0) {
        word[0] = word[0] >> shift | word[1] << (32U - shift);
        word[1] = word[1] >> shift | word[2] << (32U - shift);
    }
    return (uint64_t)word[1] << 32 | word[0];
}

uint64_t qrt_udiv64(uint64_t n, uint32_t d, uint32_t *rest)
{
    uint32_t high = 0;

    /* n moves up into `high`, bits of the quotient follow from below. */
    for (uint32_t turns = 64; turns != 0; turns--) {
        uint32_t over = high >> 31;

        high = (high << 1) | (uint32_t)(n >> 63);
        n <<= 1;
        if (over != 0 || high >= d) {
            high -= d;
            n |= 1U;
        }
    }
    *rest = high;
    return n;
}

uint64_t qrt_ratio(uint32_t a, uint32_t b, int32_t *e)
{
    uint32_t q = 0;

    for (;; a <<= 1) {
        *e -= 1;
        q <<= 1;
        if (a >= b) {
            a -= b;
            q |= 1U;
        }
        if (q >> 31 != 0) {
            return (uint64_t)q << 1 | (a != 0);
        }
    }
}
