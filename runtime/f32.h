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

/* Where code and stack count, or nothing vectorises: one plain loop each. */
#if defined(__OPTIMIZE_SIZE__) ||                                              \
    (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')
#define F32_SMALL 1
#endif

#define F32_EPS   1.1920928955078125e-07f /* 2^-23: smallest step of AMCT    */
#define F32_ROUND 12582912.0f             /* 1.5 * 2^23, pattern 0x4B400000  */
#define F32_ABS   0x7fffffffu
#define F32_INF   0x7f800000u

/* Independent accumulators: vectorise a reduction. With three of each and
 * SSE's 16 registers of 4, gcc is faster with fewer. */
#if defined(__SSE2__) && !defined(__AVX__) && !defined(__clang__)
#define F32_LANES 24u
#else
#define F32_LANES 32u
#endif

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

/* Division by one divisor s as a product and two fused multiply-adds: with r
 * the rounded reciprocal, a = x * r is near x / s, and a + (x - a * s) * r is
 * x / s correctly rounded (N. Brisebarre, J.-M. Muller, S. K. Raina, IEEE
 * Trans. Computers 53, 2004; tried here with all x for some thousand s). */
#if !defined(F32_SMALL) && (defined(__FP_FAST_FMAF) || defined(__FMA__) ||     \
                            defined(__ARM_FEATURE_FMA))
#define F32_FMA 1

struct f32_divisor {
    float s, r;
};

/* False if the steps below might under- or overflow. */
static inline bool f32_divisor(struct f32_divisor *d, float s)
{
    d->s = s;
    d->r = 1.0f / s;
    return s > 0x1p-60f && s < 0x1p60f;
}

/* x / s; below 2^-40 in magnitude perhaps not to the last bit. |x| < 2^20 s. */
static inline float f32_quotient(float x, const struct f32_divisor *d)
{
    float a = x * d->r;
    float e = __builtin_fmaf(-a, d->s, x);
    return __builtin_fmaf(e, d->r, a);
}
#endif

/* Codes of int8 by way of a block in memory. A clamped value plus F32_ROUND has
 * its code as the lowest byte of its pattern; that every fourth byte is wanted
 * takes a compiler fewer instructions than to narrow integers twice (SSE2: 18 %
 * less time, AVX2: 4 %). */
#ifdef F32_SMALL
#define F32_CODES(q, n, value)                                                 \
    for (size_t i = 0; i < (n); i++)                                           \
    (q)[i] = (int8_t)f32_rne_int(value)
#else
#define F32_BLOCK 64u

union f32_block {
    float f[F32_BLOCK];
    uint8_t byte[F32_BLOCK * sizeof(float)];
};

static inline void f32_block_codes(const union f32_block *b, int8_t *q)
{
    const union {
        uint32_t u;
        uint8_t byte[4];
    } one = {1};
    const size_t lowest = one.byte[0] ? 0u : 3u;
    for (size_t j = 0; j < F32_BLOCK; j++)
        q[j] = (int8_t)b->byte[4u * j + lowest];
}

/* q[i] = rne(value), i in [0, n); `value` is an expression of i, clamped. */
#define F32_CODES(q, n, value)                                                 \
    do {                                                                       \
        union f32_block block;                                                 \
        size_t i = 0;                                                          \
        for (size_t at = 0; (n)-at >= F32_BLOCK; at += F32_BLOCK) {            \
            for (size_t j = 0; j < F32_BLOCK; j++, i++)                        \
                block.f[j] = (value) + F32_ROUND;                              \
            f32_block_codes(&block, (q) + at);                                 \
        }                                                                      \
        for (; i < (n); i++)                                                   \
            (q)[i] = (int8_t)f32_rne_int(value);                               \
    } while (0)
#endif

struct f32_extremes {
    float max, min;
    uint32_t mark; /* not 0: a value was not finite */
};

/* Extends e by n values. */
void f32_extremes(struct f32_extremes *e, const float *x, size_t n);

#endif
