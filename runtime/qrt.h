/* libquantrt: quantization kernels on integers, for targets without heap, libc
 * or floating point.
 *
 * The scalar code behind this header is the definition of the arithmetic: the
 * compiler quantc links the same objects, so tables, host and device agree.
 *
 * Conventions
 *   real numbers    struct qrt_real (mantissa, exponent), or `bits`: the bit
 *                   pattern of a binary32 in a uint32_t
 *   Q(frac)         an integer X stands for X * 2^-frac; frac may be negative
 *   codes           b bits: [-2^(b-1), 2^(b-1) - 1]; real = (code - zero) * step
 *   rounding        to nearest, ties to even, once per result
 *   errors          negative status; all arguments are checked first and no
 *                   output is touched on error
 *   buffers         outputs may be the same buffer as an input of the same
 *                   element type, otherwise they must not overlap
 *
 * docs/fixed-point.md derives every formula and its error bound. */
#ifndef QRT_H
#define QRT_H

#include "qrt_tables.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- status */

enum qrt_status {
    QRT_OK = 0,
    QRT_ERR_NULL = -1,        /* a pointer that must not be null is        */
    QRT_ERR_RANGE = -2,       /* an argument outside its documented range  */
    QRT_ERR_SIZE = -3,        /* sizes do not fit together, or an odd count
                                 where pairs are packed                    */
    QRT_ERR_NOT_FINITE = -4,  /* NaN or infinity in the data, or a scale
                                 that is not finite                        */
    QRT_ERR_OVERFLOW = -5,    /* the result does not fit its type          */
    QRT_ERR_SCRATCH = -6,     /* the caller's scratch is too small         */
    QRT_ERR_VERSION = -7,     /* tables of another layout version          */
    QRT_ERR_HASH = -8,        /* tables made from other inputs             */
    QRT_ERR_NOT_FOUND = -9,   /* no layer of that name                     */
    QRT_ERR_STATE = -10,      /* an observer that was not set up           */
    QRT_ERR_EMPTY = -11,      /* an observer that has seen no sample       */
    QRT_ERR_FULL = -12,       /* more samples than the counters can hold   */
    QRT_ERR_MISMATCH = -13,   /* observers of different kind or size       */
    QRT_ERR_UNSUPPORTED = -14 /* not available in this build or backend    */
};

/* The name of a status, "QRT_ERR_NULL"; "?" for any other number. In a file
 * of its own: it takes space only if it is used. */
const char *qrt_status_name(enum qrt_status status);

/* ---------------------------------------------------------- real numbers */

/* The number behind a binary32 pattern; exact, denormals included.
 *
 * bits    finite
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FINITE. */
enum qrt_status qrt_real_from_f32(uint32_t bits, struct qrt_real *out);

/* The binary32 pattern next to a; exact if a has 24 significant bits. An
 * infinity where a is 2^128 - 2^103 and more. a must be normalised. */
uint32_t qrt_real_to_f32(struct qrt_real a);

/* x * 2^-frac; exact.
 *
 * frac    [-96, 117], so that every x stays in range
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE. */
enum qrt_status qrt_real_from_fixed(int32_t x, int32_t frac,
                                    struct qrt_real *out);

/* 1 / a, relative error at most 2^-31: what quantizing multiplies by.
 *
 * a       positive, normalised
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (a not positive or not
 * normalised, result outside the exponents of struct qrt_real).
 * Source  floor((2^61 + m/2) / m), exponent 1 - e; kernels of AMCT divide. */
enum qrt_status qrt_real_reciprocal(struct qrt_real a, struct qrt_real *out);

/* a * b and a / b, rounded once to 31 bits.
 *
 * a, b    positive, normalised
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE as qrt_real_reciprocal. The
 * multiplier that requantizes an accumulator is dequant / step of the next
 * layer: one qrt_real_div. */
enum qrt_status qrt_real_mul(struct qrt_real a, struct qrt_real b,
                             struct qrt_real *out);
enum qrt_status qrt_real_div(struct qrt_real a, struct qrt_real b,
                             struct qrt_real *out);

/* --------------------------------------------------- scale and zero point */

/* An affine map between reals and codes: real = (code - zero_point) * scale. */
struct qrt_quant {
    struct qrt_real scale; /* step, > 0                                    */
    struct qrt_real recip; /* 1 / scale; for AscendQuant its multiplier    */
    int32_t zero_point;    /* code of the real zero; 0 when symmetric      */
    uint32_t degenerate;   /* 1: the range was too small for a step of
                              2^-23, the scale was set to 1                */
};

/* When the zero point is rounded. The two differ on near-ties. */
enum qrt_zero_rule {
    QRT_ZERO_ARQ, /* rne(f32(-H - f32(min / s))): ARQ, ULQ                 */
    QRT_ZERO_IFMR /* -rne(f32(min / s)) - H: IFMR                          */
};

/* The step for a range, as a binary32 pattern; the binary32 steps of AMCT are
 * emulated one by one, so the result has AMCT's bits.
 *
 *   asymmetric  f32(f32(max - min) / (2^bits - 1)), after max = max(max, 0)
 *               and min = min(min, 0)
 *   symmetric   f32(max(|max|, |min|) / d), d = 2^(bits-1) - 1, or one more
 *               when |min| > |max|
 *   below 2^-23 1.0
 *
 * max_bits, min_bits  binary32 patterns, finite; max < min is not refused, the
 *                     formulas hold (ULQ's limits may cross)
 * bits                [2, 16]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_NOT_FINITE (an input,
 * or the difference overflows).
 * Source  AMCT custom_op/utils.py calculate_scale_offset, process_scale. */
enum qrt_status qrt_scale_step(uint32_t max_bits, uint32_t min_bits,
                               uint32_t bits, bool asymmetric,
                               uint32_t *step_bits);

/* The zero point that belongs to a step: in [-2^(bits-1), 2^(bits-1) - 1] for
 * a step from qrt_scale_step with the same min, saturated otherwise.
 *
 * min_bits   pattern of the lower limit, finite; above 0 counts as 0
 * step_bits  pattern of the step, finite, > 0
 * bits       [2, 16] */
int32_t qrt_scale_zero_point(uint32_t min_bits, uint32_t step_bits,
                             uint32_t bits, enum qrt_zero_rule rule);

/* Step, reciprocal and zero point for a range: the two functions above and
 * qrt_real_reciprocal. Errors as qrt_scale_step, and QRT_ERR_RANGE for a step
 * of 2^127 and more. */
enum qrt_status qrt_scale_derive(uint32_t max_bits, uint32_t min_bits,
                                 uint32_t bits, bool asymmetric,
                                 enum qrt_zero_rule rule,
                                 struct qrt_quant *out);

/* The same for a range given in Q(frac), frac in [-96, 117]. */
enum qrt_status qrt_scale_derive_fixed(int32_t max, int32_t min, int32_t frac,
                                       uint32_t bits, bool asymmetric,
                                       enum qrt_zero_rule rule,
                                       struct qrt_quant *out);

/* A map from a stored step (a record) instead of a range.
 *
 * step_bits   pattern, finite, > 0
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FINITE, QRT_ERR_RANGE. */
enum qrt_status qrt_quant_from_step(uint32_t step_bits, int32_t zero_point,
                                    struct qrt_quant *out);

#ifdef __cplusplus
}
#endif

#endif
