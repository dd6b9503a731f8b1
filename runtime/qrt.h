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

/* --------------------------------------------------------------- buffers */

/* Element types of the kernels that take void pointers. The typed functions
 * below them are the ones to call: they cost nothing, let the compiler check,
 * and link only what they need. The forms ending in _any take every type. */
enum qrt_type {
    QRT_S4,  /* pairs: element 2k in the low nibble of byte k, 2k + 1 in the
                high nibble                                                */
    QRT_S8,  /* int8_t                                                     */
    QRT_S16, /* int16_t                                                    */
    QRT_S32, /* int32_t                                                    */
    QRT_BITS /* binary32 patterns in uint32_t                              */
};

/* A tensor as a kernel sees it, row-major [groups, outer, channels, inner].
 * Group g, channel c uses parameter g * channels + c.
 *
 *   whole tensor, one parameter        channels 1, inner = element count
 *   activations [N, C, H, W]           outer N, channels C, inner H * W
 *   activations [N, H, W, C]           outer N * H * W, channels C, inner 1
 *   weights of Conv, Linear [O, ...]   channels O, inner = the rest
 *   MatMul [I, O]                      outer I, channels O, inner 1
 *   ConvTranspose [I, O/g, k...]       groups g, outer I/g, channels O/g,
 *                                      inner = product of k
 *
 * Axes are at least 1, the product is below 2^31. */
struct qrt_shape {
    uint32_t outer;
    uint32_t channels;
    uint32_t inner;
    uint32_t groups; /* 0 means 1 */
};

/* -------------------------------------------------------------- quantize */

/* Whether the zero point joins before or after rounding: the codes of exact
 * ties differ when it is odd. */
enum qrt_order {
    QRT_ADD_THEN_ROUND, /* rne(x / s + zero): AMCT's quantize, AscendQuant */
    QRT_ROUND_THEN_ADD  /* rne(x / s) + zero: AMCT's FakeQuant             */
};

struct qrt_quantize {
    const struct qrt_real *recip; /* [channels] 1 / step, e in [-110, 110] */
    const int32_t *zero_point;    /* [channels] in [-2^(b-1), 2^(b-1)], b
                                     bits of the output type; null: all 0  */
    int32_t frac;                 /* x is Q(frac), [-160, 160]; 0 for bit
                                     patterns                              */
    uint8_t bits;                 /* of the codes: [2, 8], s16 [2, 16], s4 4 */
    uint8_t order;                /* enum qrt_order                        */
};

/* code = clamp(rne(x * recip + zero_point)), rounded once.
 *
 * x       [shape] Q(p->frac), or binary32 patterns: infinities saturate, NaN
 *         gives the lowest code
 * out     [shape] codes; s4: an even number of elements
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE.
 * Exact but for the 2^-31 of recip: differs from AMCT's binary32 steps by one
 * code at most, and only where x / s is within 2e-6 of a tie.
 * Source  kernels.md 12.3; the form on bit patterns needs no FPU. */
enum qrt_status qrt_quantize_fixed(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_quantize *p,
                                   enum qrt_type to, void *out);
enum qrt_status qrt_quantize_bits(const uint32_t *x,
                                  const struct qrt_shape *shape,
                                  const struct qrt_quantize *p,
                                  enum qrt_type to, void *out);
enum qrt_status qrt_quantize_any(enum qrt_type from, const void *x,
                                 const struct qrt_shape *shape,
                                 const struct qrt_quantize *p, enum qrt_type to,
                                 void *out);

/* clang-format off */
#define QRT_QUANTIZE_VARIANT(name, from, from_type, to, to_type)             \
    static inline enum qrt_status name(const from_type *x,                   \
        const struct qrt_shape *shape, const struct qrt_quantize *p,         \
        to_type *out)                                                        \
    {                                                                        \
        return qrt_quantize_fixed(from, x, shape, p, to, out);               \
    }
QRT_QUANTIZE_VARIANT(qrt_quantize_s16_s4,   QRT_S16,  int16_t,  QRT_S4,  uint8_t)
QRT_QUANTIZE_VARIANT(qrt_quantize_s16_s8,   QRT_S16,  int16_t,  QRT_S8,  int8_t)
QRT_QUANTIZE_VARIANT(qrt_quantize_s16_s16,  QRT_S16,  int16_t,  QRT_S16, int16_t)
QRT_QUANTIZE_VARIANT(qrt_quantize_s32_s4,   QRT_S32,  int32_t,  QRT_S4,  uint8_t)
QRT_QUANTIZE_VARIANT(qrt_quantize_s32_s8,   QRT_S32,  int32_t,  QRT_S8,  int8_t)
QRT_QUANTIZE_VARIANT(qrt_quantize_s32_s16,  QRT_S32,  int32_t,  QRT_S16, int16_t)

#define QRT_QUANTIZE_BITS_VARIANT(name, to, to_type)                         \
    static inline enum qrt_status name(const uint32_t *x,                    \
        const struct qrt_shape *shape, const struct qrt_quantize *p,         \
        to_type *out)                                                        \
    {                                                                        \
        return qrt_quantize_bits(x, shape, p, to, out);                      \
    }
QRT_QUANTIZE_BITS_VARIANT(qrt_quantize_bits_s4,  QRT_S4,  uint8_t)
QRT_QUANTIZE_BITS_VARIANT(qrt_quantize_bits_s8,  QRT_S8,  int8_t)
QRT_QUANTIZE_BITS_VARIANT(qrt_quantize_bits_s16, QRT_S16, int16_t)
/* clang-format on */

/* ------------------------------------------------------------ requantize */

/* code = clamp(rne(acc * requant + zero_point), code_min, code_max): an
 * accumulator becomes the input code of the next layer, rounded once.
 *
 * acc     [shape] accumulators, bias added
 * edge    as generated: requant [channels], e in [-110, 110]; zero_point and
 *         the clamp inside the code range of the output. `next` is not read.
 * out     [shape] codes; s4: an even number of elements
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE.
 * Source  kernels.md 12.3; order as QRT_ADD_THEN_ROUND. */
enum qrt_status qrt_requantize_any(const int32_t *acc,
                                   const struct qrt_shape *shape,
                                   const struct qrt_edge *edge,
                                   enum qrt_type to, void *out);

/* The same for int8, by a loop of its own. */
enum qrt_status qrt_requantize_s8(const int32_t *acc,
                                  const struct qrt_shape *shape,
                                  const struct qrt_edge *edge, int8_t *out);

static inline enum qrt_status qrt_requantize_s16(const int32_t *acc,
                                                 const struct qrt_shape *shape,
                                                 const struct qrt_edge *edge,
                                                 int16_t *out)
{
    return qrt_requantize_any(acc, shape, edge, QRT_S16, out);
}

static inline enum qrt_status qrt_requantize_s4(const int32_t *acc,
                                                const struct qrt_shape *shape,
                                                const struct qrt_edge *edge,
                                                uint8_t *out)
{
    return qrt_requantize_any(acc, shape, edge, QRT_S4, out);
}

/* ----------------------------------------------------------------- join */

/* One term of a join into `sum`: the first term of a SUM and every term of a
 * CONCAT is stored, the others are added; both saturate.
 *
 * join    as generated, kind SUM or CONCAT
 * term    [0, term_count)
 * x       [shape] accumulators (s32) or codes, as the term's is_code says
 * shape   groups * channels is the term's scale_count; with one scale for all
 *         any shape
 * sum     [shape] Q(frac); may be x where that is s32
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (the kind, term, a scale), or
 * QRT_ERR_SIZE (the shape). Error of a term: 2^-(frac + 1), rounded once.
 * Source  kernels.md 12.3; docs/integer-nets.md. */
enum qrt_status qrt_join_add_any(const struct qrt_join *join, uint32_t term,
                                 enum qrt_type from, const void *x,
                                 const struct qrt_shape *shape, int32_t *sum);

/* The mean of each row, clamped before: for joins with `mean`.
 *
 * sum     [rows, count] Q(frac)
 * out     [rows] Q(frac); may be sum
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (rows or count 0), QRT_ERR_SIZE
 * (2^31 elements and more). */
enum qrt_status qrt_join_mean(const struct qrt_join *join, const int32_t *sum,
                              uint32_t rows, uint32_t count, int32_t *out);

/* Numbers of Q(frac) to input codes, through the table if there is one.
 *
 * sum     [count]
 * out     [count] codes; s8 with a table
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (count 0, frac, limits outside
 * the codes of `to`), QRT_ERR_SIZE (an odd count of s4, 2^31 and more). */
enum qrt_status qrt_join_finish_any(const struct qrt_join *join,
                                    const int32_t *sum, uint32_t count,
                                    enum qrt_type to, void *out);

static inline enum qrt_status qrt_join_add_s32(const struct qrt_join *join,
                                               uint32_t term, const int32_t *x,
                                               const struct qrt_shape *shape,
                                               int32_t *sum)
{
    return qrt_join_add_any(join, term, QRT_S32, x, shape, sum);
}

static inline enum qrt_status qrt_join_add_s8(const struct qrt_join *join,
                                              uint32_t term, const int8_t *x,
                                              const struct qrt_shape *shape,
                                              int32_t *sum)
{
    return qrt_join_add_any(join, term, QRT_S8, x, shape, sum);
}

static inline enum qrt_status qrt_join_finish_s8(const struct qrt_join *join,
                                                 const int32_t *sum,
                                                 uint32_t count, int8_t *out)
{
    return qrt_join_finish_any(join, sum, count, QRT_S8, out);
}

/* ------------------------------------------------------------ dequantize */

struct qrt_dequantize {
    const struct qrt_real *scale; /* [channels] step                       */
    const int32_t *zero_point;    /* [channels] in [-32768, 32768]; null:
                                     all 0                                 */
    int32_t frac;                 /* of the result, [-160, 160]; not used
                                     for bit patterns                      */
};

/* real = (code - zero_point) * scale.
 *
 * x       [shape] codes, or accumulators (s32; then zero_point is null)
 * out     [shape] Q(p->frac), rounded once and saturated to int32; or
 *         binary32 patterns: f32(f32(code - zero_point) * f32(scale)), AMCT's
 *         bits, where scale.e <= 95
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE.
 * Source  kernels.md 8 and 12.3. */
enum qrt_status qrt_dequantize_fixed(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_dequantize *p,
                                     int32_t *out);
enum qrt_status qrt_dequantize_bits(enum qrt_type from, const void *x,
                                    const struct qrt_shape *shape,
                                    const struct qrt_dequantize *p,
                                    uint32_t *out);
enum qrt_status qrt_dequantize_any(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_dequantize *p,
                                   enum qrt_type to, void *out);

/* clang-format off */
#define QRT_DEQUANTIZE_VARIANT(fixed, bits, from, from_type)                 \
    static inline enum qrt_status fixed(const from_type *x,                  \
        const struct qrt_shape *shape, const struct qrt_dequantize *p,       \
        int32_t *out)                                                        \
    {                                                                        \
        return qrt_dequantize_fixed(from, x, shape, p, out);                 \
    }                                                                        \
    static inline enum qrt_status bits(const from_type *x,                   \
        const struct qrt_shape *shape, const struct qrt_dequantize *p,       \
        uint32_t *out)                                                       \
    {                                                                        \
        return qrt_dequantize_bits(from, x, shape, p, out);                  \
    }
QRT_DEQUANTIZE_VARIANT(qrt_dequantize_s4_s32,  qrt_dequantize_s4_bits,  QRT_S4,  uint8_t)
QRT_DEQUANTIZE_VARIANT(qrt_dequantize_s8_s32,  qrt_dequantize_s8_bits,  QRT_S8,  int8_t)
QRT_DEQUANTIZE_VARIANT(qrt_dequantize_s16_s32, qrt_dequantize_s16_bits, QRT_S16, int16_t)
QRT_DEQUANTIZE_VARIANT(qrt_dequantize_s32_s32, qrt_dequantize_s32_bits, QRT_S32, int32_t)
/* clang-format on */

/* ---------------------------------------------------------- anti-quantize */

struct qrt_antiquantize {
    const struct qrt_real *scale; /* [channels]                            */
    const int32_t *offset;        /* [channels] in [-32768, 32768]; null:
                                     all 0                                 */
    int32_t frac;                 /* as in struct qrt_dequantize           */
    bool sqrt_mode;               /* multiply by the scale twice           */
};

/* AscendAntiQuant: y = (x + offset) * scale, in sqrt_mode ((x + offset) *
 * scale) * scale. To undo a quantization with zero point z pass offset = -z;
 * AMCT passes +z, which is right for 0 only.
 *
 * x       [shape] codes: s4, s8, s16
 * out     [shape] Q(p->frac) rounded once (sqrt_mode: relative 2^-31), or
 *         binary32 patterns with the operator's bits
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE. */
enum qrt_status qrt_antiquantize_fixed(enum qrt_type from, const void *x,
                                       const struct qrt_shape *shape,
                                       const struct qrt_antiquantize *p,
                                       int32_t *out);
enum qrt_status qrt_antiquantize_bits(enum qrt_type from, const void *x,
                                      const struct qrt_shape *shape,
                                      const struct qrt_antiquantize *p,
                                      uint32_t *out);
enum qrt_status qrt_antiquantize_any(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_antiquantize *p,
                                     enum qrt_type to, void *out);

/* clang-format off */
#define QRT_ANTIQUANTIZE_VARIANT(fixed, bits, from, from_type)               \
    static inline enum qrt_status fixed(const from_type *x,                  \
        const struct qrt_shape *shape, const struct qrt_antiquantize *p,     \
        int32_t *out)                                                        \
    {                                                                        \
        return qrt_antiquantize_fixed(from, x, shape, p, out);               \
    }                                                                        \
    static inline enum qrt_status bits(const from_type *x,                   \
        const struct qrt_shape *shape, const struct qrt_antiquantize *p,     \
        uint32_t *out)                                                       \
    {                                                                        \
        return qrt_antiquantize_bits(from, x, shape, p, out);                \
    }
QRT_ANTIQUANTIZE_VARIANT(qrt_antiquantize_s4_s32,  qrt_antiquantize_s4_bits,  QRT_S4,  uint8_t)
QRT_ANTIQUANTIZE_VARIANT(qrt_antiquantize_s8_s32,  qrt_antiquantize_s8_bits,  QRT_S8,  int8_t)
QRT_ANTIQUANTIZE_VARIANT(qrt_antiquantize_s16_s32, qrt_antiquantize_s16_bits, QRT_S16, int16_t)
/* clang-format on */

/* ------------------------------------------------------------- weights */

struct qrt_arq_weights {
    int32_t frac;     /* w is Q(frac), [-96, 117]; not used for patterns   */
    uint8_t bits;     /* [2, 8]; AMCT: 4, 6, 7, 8                          */
    bool asymmetric;  /* with zero points                                  */
    bool per_channel; /* one step per channel, else one for all            */
};

struct qrt_arq_result {
    struct qrt_real *scale; /* [channels], or [1] per tensor; written      */
    int32_t *zero_point;    /* as many; may be null when symmetric         */
    uint32_t dead_count;    /* channels whose range asks for a step below
                               2^-23: step 1, codes 0 (asymmetric: lowest) */
    uint32_t dead_first;    /* the first of them; 0 when there is none     */
};

/* ARQ: steps and zero points from the extremes, then the codes.
 *
 * w       [shape] Q(p->frac), or binary32 patterns
 * out     arrays of the caller; the counts are set
 * codes   [shape]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE,
 * QRT_ERR_NOT_FINITE (a weight, or max - min overflows binary32).
 * On bit patterns the result has AMCT's bits: q = clamp(rne(f32(f32(w / s) +
 * o))). On Q numbers steps and zero points are those of the weights as
 * binary32, codes may differ by one on near-ties.
 * qrt_dequantize_s8_bits makes the fake-quantized weights of QAT.
 * Source  AMCT custom_op/arq/arq_impl.py; kernels.md 1, 2, 12. */
enum qrt_status qrt_arq_any(enum qrt_type from, const void *w,
                            const struct qrt_shape *shape,
                            const struct qrt_arq_weights *p,
                            struct qrt_arq_result *out, int8_t *codes);

/* clang-format off */
#define QRT_ARQ_VARIANT(name, from, from_type)                               \
    static inline enum qrt_status name(const from_type *w,                   \
        const struct qrt_shape *shape, const struct qrt_arq_weights *p,      \
        struct qrt_arq_result *out, int8_t *codes)                           \
    {                                                                        \
        return qrt_arq_any(from, w, shape, p, out, codes);                   \
    }
QRT_ARQ_VARIANT(qrt_arq_s16,  QRT_S16,  int16_t)
QRT_ARQ_VARIANT(qrt_arq_s32,  QRT_S32,  int32_t)
QRT_ARQ_VARIANT(qrt_arq_bits, QRT_BITS, uint32_t)
/* clang-format on */

/* -------------------------------------------------------------- bias */

/* f32(scale_w * scale_d): what an accumulator is worth, AMCT's deq_scale.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (a factor not positive, or the
 * product is 0 or not finite). */
enum qrt_status qrt_dequant_scale(struct qrt_real scale_w,
                                  struct qrt_real scale_d,
                                  struct qrt_real *out);

/* Bias in units of the accumulator: rne(f32(bias / dequant)).
 *
 * bias    [count] binary32 patterns
 * dequant [dequant_count] from qrt_dequant_scale; dequant_count is 1 or count
 * out     [count]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_SIZE (dequant_count), QRT_ERR_RANGE
 * (dequant), QRT_ERR_NOT_FINITE, QRT_ERR_OVERFLOW (outside int32; AMCT lets
 * exactly 2^31 pass and wraps).
 * Source  AMCT insert_bias_quant_pass.py. */
enum qrt_status qrt_bias_quantize(const uint32_t *bias, uint32_t count,
                                  const struct qrt_real *dequant,
                                  uint32_t dequant_count, int32_t *out);

/* --------------------------------------------------------------- INT4 */

/* Packs pairs along one axis: element 2k to the low nibble, 2k + 1 to the
 * high nibble; the axis becomes half as long.
 *
 * codes   [outer, axis, inner] in [-8, 7]; the axis is shape->channels,
 *         even; groups 0 or 1. AMCT packs along Cin: axis 1 of Conv weights,
 *         0 of ConvTranspose and MatMul, 1 (0 when not transB) of Gemm, 2 of
 *         LSTM and GRU
 * out     [outer, axis / 2, inner]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (a code, an axis of 0, groups),
 * QRT_ERR_SIZE (odd axis).
 * Source  AMCT pack_int4_weight_pass.py. */
enum qrt_status qrt_pack4(const int8_t *codes, const struct qrt_shape *shape,
                          uint8_t *out);

/* The inverse; `shape` is that of the unpacked codes. */
enum qrt_status qrt_unpack4(const uint8_t *packed,
                            const struct qrt_shape *shape, int8_t *out);

/* -------------------------------------------------------- Ascend words */

/* The scale with 10 bits of mantissa, as the fix-pipe reads it: the upper 19
 * bits of the pattern. */
enum qrt_s19 {
    QRT_S19_TRUNCATE, /* toward zero: AMCT cast_to_s19, round_mode 0       */
    QRT_S19_NEAREST   /* ties to even, denormals to zero: round_mode 1     */
};

uint32_t qrt_cast_to_s19(uint32_t scale_bits, enum qrt_s19 mode);

/* The word of AscendDequant: offset_w in bits 39..32, scale in 31..0. Cast
 * the scale first where the layer asks for FORCE_FP16_QUANT.
 * Source  AMCT fuse_dequant_param. */
uint64_t qrt_word_dequant(uint32_t scale_bits, int8_t offset_w);

/* The word of QuantMatmul and the fix-pipe (TransQuantParam V2): bit 46 set
 * (int8 result), offset in 45..37, scale as qrt_cast_to_s19 in 31..0.
 *
 * offset  saturated to [-256, 255] */
uint64_t qrt_word_fixpipe(uint32_t scale_bits, int32_t offset,
                          enum qrt_s19 mode);

/* ---------------------------------------------------------------- ULQ */

struct qrt_ulq_clips {
    struct qrt_real max; /* learned limits; rounded to binary32       */
    struct qrt_real min;
    struct qrt_real max_init; /* taken where the learned ones are unusable */
    struct qrt_real min_init;
    uint8_t bits; /* [2, 16]                                   */
    bool asymmetric;
    bool fixed_min;    /* min is 0                                  */
    bool strict_width; /* a width max - min <= 2^-23 takes both
                                 init values; off: only a width of exactly
                                 0 does, as in AMCT                        */
};

/* One training step's constants. */
struct qrt_ulq_step {
    struct qrt_quant quant;
    struct qrt_real max; /* after fixed_min and the fallbacks            */
    struct qrt_real min;
    int32_t max_error_q16; /* rne(max / s) - max / s in Q16, +-2^15        */
    int32_t min_error_q16;
    int32_t code_min, code_max;
};

/* Limits, step and zero point for one forward and backward pass.
 *
 * Fallbacks, the first that holds: width 0 (see strict_width): both limits
 * from *_init; max < 0: max_init; min > 0: min_init.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (bits, or a limit that is not
 * normalised), QRT_ERR_NOT_FINITE (max - min overflows binary32).
 * Source  AMCT ulq_retrain_impl.py; kernels.md 6.1, 12.4. */
enum qrt_status qrt_ulq_prepare(const struct qrt_ulq_clips *clips,
                                struct qrt_ulq_step *out);

/* Fake quantization: y = (clamp(rne(x / s + o)) - o) * s.
 *
 * x       [n] Q(frac), frac in [-96, 117], n >= 1
 * y       [n] Q(frac), rounded once and saturated
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE. */
enum qrt_status qrt_ulq_forward_any(enum qrt_type type, const void *x,
                                    uint32_t n, int32_t frac,
                                    const struct qrt_ulq_step *step, void *y);

/* Sums of the clip gradients over any number of backward calls. Start with
 * zeros. */
struct qrt_ulq_sums {
    int64_t upper; /* sum of g where x was above the upper level        */
    int64_t lower; /* sum of g where x was below the lower level        */
    int64_t inner; /* sum of g * error in Q16 elsewhere                 */
    uint32_t load; /* bound of the sum of |g| so far, in 2^15           */
};

/* Gradient of the input, and the sums behind the gradients of the limits.
 *
 * x       [n] as in the forward pass
 * g       [n] gradient of the output, same type, Q(any)
 * grad_x  [n] g inside the levels, 0 outside; may be g itself
 * sums    added to
 *
 * x is above if x > f32(s * (code_max - o)), below if x < f32(s * (code_min -
 * o)), both strict, as in AMCT.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_FULL (more than 2^31
 * int16 or 2^15 int32 gradients in one sum; finish and start again). */
enum qrt_status qrt_ulq_backward_any(enum qrt_type type, const void *x,
                                     uint32_t n, int32_t frac,
                                     const struct qrt_ulq_step *step,
                                     const void *g, void *grad_x,
                                     struct qrt_ulq_sums *sums);

/* Gradients of the limits in Q(16 + frac of g):
 *
 *   grad_max = upper + E / D     E = inner + max_error * upper
 *   grad_min = lower - E / D         + min_error * lower, D = 2^bits - 1
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE. */
enum qrt_status qrt_ulq_gradients(const struct qrt_ulq_step *step,
                                  const struct qrt_ulq_sums *sums,
                                  int64_t *grad_max, int64_t *grad_min);

/* clang-format off */
#define QRT_ULQ_VARIANT(forward, backward, code, ctype)                      \
    static inline enum qrt_status forward(const ctype *x, uint32_t n,        \
        int32_t frac, const struct qrt_ulq_step *step, ctype *y)             \
    {                                                                        \
        return qrt_ulq_forward_any(code, x, n, frac, step, y);               \
    }                                                                        \
    static inline enum qrt_status backward(const ctype *x, uint32_t n,       \
        int32_t frac, const struct qrt_ulq_step *step, const ctype *g,       \
        ctype *grad_x, struct qrt_ulq_sums *sums)                            \
    {                                                                        \
        return qrt_ulq_backward_any(code, x, n, frac, step, g, grad_x, sums);\
    }
QRT_ULQ_VARIANT(qrt_ulq_forward_s16, qrt_ulq_backward_s16, QRT_S16, int16_t)
QRT_ULQ_VARIANT(qrt_ulq_forward_s32, qrt_ulq_backward_s32, QRT_S32, int32_t)
/* clang-format on */

/* -------------------------------------------------------------- tables */

/* Whether a table is one that this library can read.
 *
 * hash    QUANT_HASH of the header the program was compiled with; 0: not
 *         compared
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_VERSION, QRT_ERR_HASH, QRT_ERR_RANGE
 * (layers not in the order of by_name, or an index outside the table). */
enum qrt_status qrt_tables_check(const struct qrt_tables *tables,
                                 uint64_t hash);

/* The index of the layer with this original name (bytes as in the model).
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FOUND. */
enum qrt_status qrt_find_layer(const struct qrt_tables *tables,
                               const char *name, uint32_t *index);

#ifdef __cplusplus
}
#endif

#endif
