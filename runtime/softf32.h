/* binary32 arithmetic on bit patterns, for the few steps outside loops whose
 * rounding the tables have to share with AMCT (scale and zero point).
 *
 * Every operation rounds once, to nearest, ties to even, denormals included.
 * Not IEEE 754 in one point: an operand that is not finite, and a division by
 * zero, give QRT_F32_NAN. The callers only ask whether a result is finite. */
#ifndef QRT_SOFTF32_H
#define QRT_SOFTF32_H

#include <stdbool.h>
#include <stdint.h>

#define QRT_F32_ONE  0x3f800000U
#define QRT_F32_INF  0x7f800000U
#define QRT_F32_NAN  0x7fc00000U
#define QRT_F32_EPS  0x34000000U /* 2^-23, AMCT's smallest scale */
#define QRT_F32_SIGN 0x80000000U

static inline bool qrt_f32_is_finite(uint32_t a)
{
    return ((a >> 23) & 255U) != 255U;
}

static inline uint32_t qrt_f32_abs(uint32_t a)
{
    return a & ~QRT_F32_SIGN;
}

static inline uint32_t qrt_f32_neg(uint32_t a)
{
    return a ^ QRT_F32_SIGN;
}

static inline bool qrt_f32_is_negative(uint32_t a)
{
    return a > QRT_F32_SIGN; /* -0 is not */
}

/* An integer that orders finite patterns as their values; -0 = +0. */
static inline int32_t qrt_f32_order(uint32_t a)
{
    int32_t magnitude = (int32_t)qrt_f32_abs(a);

    return (a & QRT_F32_SIGN) != 0 ? -magnitude : magnitude;
}

/* The inverse of qrt_f32_order. */
static inline uint32_t qrt_f32_of_order(int32_t order)
{
    return order < 0 ? QRT_F32_SIGN | (0U - (uint32_t)order) : (uint32_t)order;
}

uint32_t qrt_f32_add(uint32_t a, uint32_t b);
uint32_t qrt_f32_sub(uint32_t a, uint32_t b);
uint32_t qrt_f32_mul(uint32_t a, uint32_t b);
uint32_t qrt_f32_div(uint32_t a, uint32_t b);

/* x as a binary32, times a. */
uint32_t qrt_f32_times(uint32_t a, int32_t x);

/* The binary32 next to (-1)^negative * m * 2^e, e in [-2000, 2000],
 * m < 2^62. The
 * lowest bit of m may stand for a lost rest (sticky) if m >= 2^26. */
uint32_t qrt_f32_round(bool negative, uint64_t m, int32_t e);

/* The binary32 next to x * 2^-frac, frac in [-1000, 1000]. */
uint32_t qrt_f32_from_fixed(int32_t x, int32_t frac);

/* The integer next to a finite a, ties to even, saturated. */
int32_t qrt_f32_to_s32(uint32_t a);

/* a * 2^frac as an integer, rounded as above, saturated to int64. */
int64_t qrt_f32_to_fixed(uint32_t a, int32_t frac);

#endif
