/* Binary32 helpers of the float kernels: bit patterns, rounding without libm,
 * and the checks that the compiler keeps IEEE arithmetic step by step.
 *
 * Private to runtime/ *_f32.c. */
#ifndef QRT_F32_PRIVATE_H
#define QRT_F32_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every + - * / below is one rounding to binary32. These would change that. */
#ifdef __FAST_MATH__
#error "float kernels need IEEE arithmetic: build without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 &&                \
    __FLT_EVAL_METHOD__ != 16
#error "float kernels need binary32 steps: on x86-32 add -msse2 -mfpmath=sse"
#endif

/* A row function must see its clamp limits as run-time values: with constants
 * gcc 12 splits the paths of a clamp and gives up vectorising. */
#if defined(__clang__)
#define F32_ROW __attribute__((noinline))
#elif defined(__GNUC__)
#define F32_ROW __attribute__((noinline, noclone))
#else
#define F32_ROW
#endif

#define F32_EPS   1.1920928955078125e-07f /* 2^-23: smallest step of AMCT    */
#define F32_ROUND 12582912.0f             /* 1.5 * 2^23, pattern 0x4B400000  */
#define F32_ABS   0x7fffffffu
#define F32_INF   0x7f800000u
#define F32_LANES 32u /* independent accumulators: vectorise a reduction */

union f32_pun {
    float f;
    uint32_t u;
};

union f64_pun {
    double d;
    uint64_t u;
};

static inline uint32_t f32_bits(float x)
{
    union f32_pun p;
    p.f = x;
    return p.u;
}

static inline float f32_from_bits(uint32_t u)
{
    union f32_pun p;
    p.u = u;
    return p.f;
}

static inline uint64_t f64_bits(double x)
{
    union f64_pun p;
    p.d = x;
    return p.u;
}

static inline double f64_from_bits(uint64_t u)
{
    union f64_pun p;
    p.u = u;
    return p.d;
}

static inline float f32_abs(float x)
{
    return f32_from_bits(f32_bits(x) & F32_ABS);
}

static inline bool f32_finite(float x)
{
    return (f32_bits(x) & F32_ABS) < F32_INF;
}

/* 0 for a finite number, a NaN's pattern otherwise. The OR over a row tells
 * whether all are finite: two instructions that vectorise as they stand. */
static inline uint32_t f32_not_finite_mark(float x)
{
    return f32_bits(x - x);
}

/* Round to nearest, ties to even; |t| < 2^22. The sum lies in [2^23, 2^24),
 * where one ulp is 1. */
static inline float f32_rne(float t)
{
    return (t + F32_ROUND) - F32_ROUND;
}

static inline int32_t f32_rne_int(float t)
{
    return (int32_t)(f32_bits(t + F32_ROUND) - 0x4B400000u);
}

/* The same for any t: from 2^22 on a sum of 2^23 with the sign of t serves,
 * from 2^23 on t is an integer already. NaN stays. */
static inline float f32_rne_any(float t)
{
    uint32_t sign = f32_bits(t) & ~F32_ABS;
    float big = f32_from_bits(0x4B000000u | sign); /* 2^23 */
    float r = (t + big) - big;
    return f32_abs(t) < 8388608.0f ? r : t;
}

/* max and min instructions; NaN becomes lo. */
static inline float f32_clamp(float t, float lo, float hi)
{
    t = t > lo ? t : lo;
    return t < hi ? t : hi;
}

struct f32_extremes {
    float max, min;
    uint32_t mark; /* not 0: a value was not finite */
};

/* Extends e by n values. */
void f32_extremes(struct f32_extremes *e, const float *x, size_t n);

#endif
