/* Named roundings, shifts and saturations: the only place of the runtime that
 * shifts a negative value right or narrows a type.
 *
 * Every rounding of the runtime is to nearest, ties to even. The parity that
 * decides a tie may be that of a later sum: `off` is what the caller is going
 * to add (docs/fixed-point.md, "One rounding"). */
#ifndef QRT_FIXED_H
#define QRT_FIXED_H

#include <stdbool.h>
#include <stdint.h>

/* C99 leaves the right shift of a negative value to the implementation; every
 * supported compiler propagates the sign. */
#if (-1 >> 1) != -1
#error "quantrt needs an arithmetic right shift"
#endif

/* A loop in a function of its own keeps its values in registers; inlined into
 * a caller with checks, a Cortex-M spills them (12 instructions per element
 * more, measured). */
#if defined __GNUC__
#define QRT_NOINLINE __attribute__((noinline))
#define QRT_INLINE   static inline __attribute__((always_inline))
#else
#define QRT_NOINLINE
#define QRT_INLINE static inline
#endif

/* floor(v / 2^n), n in [0, 31]. */
static inline int32_t qrt_asr32(int32_t v, uint32_t n)
{
    return v >> n;
}

/* floor(v / 2^n), n in [0, 63]. */
static inline int64_t qrt_asr64(int64_t v, uint32_t n)
{
    return v >> n;
}

/* The high word of v: floor(v / 2^32). */
static inline int32_t qrt_high32(int64_t v)
{
    return (int32_t)(v >> 32);
}

/* v * 2^n without the undefined shift of a negative value; wraps. */
static inline int64_t qrt_shl64(int64_t v, uint32_t n)
{
    return (int64_t)((uint64_t)v << n);
}

QRT_INLINE int32_t qrt_clamp32(int32_t v, int32_t lo, int32_t hi)
{
    int32_t low = v < lo ? lo : v;

    return low > hi ? hi : low;
}

int32_t qrt_sat32(int64_t v);

static inline int16_t qrt_sat16(int32_t v)
{
    return (int16_t)qrt_clamp32(v, INT16_MIN, INT16_MAX);
}

static inline int8_t qrt_sat8(int32_t v)
{
    return (int8_t)qrt_clamp32(v, INT8_MIN, INT8_MAX);
}

/* |v|, also of INT32_MIN. */
static inline uint32_t qrt_abs32(int32_t v)
{
    return v < 0 ? 0U - (uint32_t)v : (uint32_t)v;
}

/* |v|, also of INT64_MIN. */
static inline uint64_t qrt_abs64(int64_t v)
{
    return v < 0 ? 0U - (uint64_t)v : (uint64_t)v;
}

/* v with the sign of `negative`; v <= INT64_MAX. */
static inline int64_t qrt_signed64(uint64_t v, bool negative)
{
    return negative ? -(int64_t)v : (int64_t)v;
}

/* Number of significant bits of v; 0 for 0. */
#ifdef __ARM_FEATURE_CLZ
static inline uint32_t qrt_bit_length32(uint32_t v)
{
    return v == 0 ? 0 : 32U - (uint32_t)__builtin_clz(v);
}
#else
uint32_t qrt_bit_length32(uint32_t v);
#endif
uint32_t qrt_bit_length64(uint64_t v);

/* x * m / 2^(33 + j) to nearest, ties to the even result + off; returned
 * + add. m in [0, 2^31), j in [0, 29], |off|, |add| < 2^29.
 *
 * Only the high word h of the product is shifted. The low word l counts just
 * once: with p the parity of floor(...) + off, the sum "half less one, plus p,
 * then floor" carries from l to h unless l and p are both 0, since half - 1
 * ends in 32 ones. The last bit shifted out is left for `add` to join. */
QRT_INLINE int32_t qrt_mul_high_half_even(int32_t x, int32_t m, uint32_t j,
                                          int32_t off, int32_t add)
{
    int64_t t = (int64_t)x * m;
    int32_t h = qrt_high32(t);
    uint32_t odd = (uint32_t)(qrt_asr32(h, j) + 2 * off) & 2U;

    if (((uint32_t)t | odd) == 0) {
        h -= 1;
    }
    return qrt_asr32(qrt_asr32(h, j) + 2 * add + 1, 1);
}

/* x * m / 2^sh to nearest, ties to the even result + off, saturated to int32;
 * m in [0, 2^31), sh in [-1000, 1000]. */
int32_t qrt_mul_shift_half_even(int32_t x, int32_t m, int32_t sh, int32_t off);

/* v / 2^sh to nearest, ties to the even result + off, saturated to
 * +-INT64_MAX; sh in [-1000, 1000], |v| < 2^62. From sh = 63 on that is 0. */
int64_t qrt_rshift_half_even(int64_t v, int32_t sh, int32_t off);

/* *sum += a * b. A function, as most cores have no such instruction for a sum
 * in memory and some no product of 64 bits. */
void qrt_add_product(uint64_t *sum, uint32_t a, uint32_t b);

/* (a * b) / 2^shift rounded down, which fits; shift in [0, 63]. */
uint64_t qrt_mul_shift64(uint64_t a, uint32_t b, uint32_t shift);

/* floor(n / d) and the rest, by a loop: a 64-bit `/` would pull in a library
 * routine. d > 0. */
uint64_t qrt_udiv64(uint64_t n, uint32_t d, uint32_t *rest);

/* a / b * 2^*e = q * 2^*e', q returned with a leading bit 32 and a lowest bit
 * that stands for the rest (sticky), *e changed to e'. a in [1, 2 * b), b in
 * [2^30, 2^31]. */
uint64_t qrt_ratio(uint32_t a, uint32_t b, int32_t *e);

#endif
