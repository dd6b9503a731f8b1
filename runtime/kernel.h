/* What the element kernels share: typed access to buffers, the walk over a
 * shape, argument checks, and the one multiplication they are all made of. */
#ifndef QRT_KERNEL_H
#define QRT_KERNEL_H

#include "qrt.h"

#include "fixed.h"

/* Element i of a buffer; signed, or the bit pattern of a binary32. */
int32_t qrt_load(enum qrt_type type, const void *p, uint32_t i);

/* Stores code v, which must fit. Pairs of 4 bits are written in ascending
 * order: the even element clears its neighbour. */
void qrt_store(enum qrt_type type, void *p, uint32_t i, int32_t v);

/* The runs of a shape: `inner` neighbours that share a channel. */
struct qrt_walk {
    uint32_t channel; /* of the run, [0, groups * channels) */
    uint32_t c, o;    /* channel in its group; outer index  */
};

static inline void qrt_walk_next(struct qrt_walk *w,
                                 const struct qrt_shape *shape)
{
    w->channel++;
    if (++w->c == shape->channels) {
        w->c = 0;
        if (++w->o == shape->outer) {
            w->o = 0;
        } else {
            w->channel -= shape->channels;
        }
    }
}

/* Checks a shape: *channels is the number of parameters, *count the number of
 * elements. QRT_ERR_NULL, QRT_ERR_RANGE (an axis of 0), QRT_ERR_SIZE (2^31
 * elements and more). */
enum qrt_status qrt_check_shape(const struct qrt_shape *shape,
                                uint32_t *channels, uint32_t *count);

/* QRT_OK if all are normalised, positive and have an exponent in [lo, hi];
 * else QRT_ERR_NULL or QRT_ERR_RANGE. */
enum qrt_status qrt_check_reals(const struct qrt_real *a, uint32_t count,
                                int32_t lo, int32_t hi);

/* A call of quantize, requantize or dequantize: what they have in common. The
 * zero point is taken off before the multiplication where `to` is s32, else
 * added behind it. */
struct qrt_coding {
    enum qrt_type from, to;
    const void *x;
    void *out;
    const struct qrt_shape *shape;
    const struct qrt_real *mult; /* [channels] exponents in [-span, span]  */
    int32_t span;
    const int32_t *zero; /* [channels] or, with one_zero, [1]; null: all 0 */
    int32_t frac;        /* of the Q side, [-160, 160]                     */
    int32_t lo, hi;      /* clamp                                          */
    bool one_zero;
    bool round_first;         /* QRT_ROUND_THEN_ADD                        */
    bool pixels;              /* rows have all channels; requantize only   */
    uint32_t count, channels; /* set by the check                          */
};

/* The difference of a code and a zero point has at most 18 bits: moved up by
 * 13 it takes the short way through the multiplication for every usual
 * scale. */
#define QRT_CODE_UP 13U

/* Checks a call, but for the type of x. `codes` is the type of the codes: s4,
 * s8 or s16. Zero points may be one above the codes. */
enum qrt_status qrt_coding_check(struct qrt_coding *c, enum qrt_type codes);

/* Fills in and checks a quantize call, of which from, x, shape, to and out are
 * set, but for the type of x. */
enum qrt_status qrt_coding_of_quantize(struct qrt_coding *c,
                                       const struct qrt_quantize *p);

/* Fills in and checks a dequantize call, of which mult, zero and frac are set
 * as well. */
enum qrt_status qrt_coding_of_dequantize(struct qrt_coding *c);

/* Codes elements [i, end), which have the channel given. */
typedef void qrt_code_row(const struct qrt_coding *c, uint32_t channel,
                          uint32_t i, uint32_t end);

/* Runs a checked call. */
void qrt_coding_run(const struct qrt_coding *c, qrt_code_row *row);

/* A row of Q numbers (s16, s32) to any codes, or of any codes to Q numbers. */
void qrt_code_fixed(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                    uint32_t end);

/* The zero point of a channel. */
static inline int32_t qrt_zero_of(const struct qrt_coding *c, uint32_t channel)
{
    return c->zero == NULL ? 0 : c->zero[c->one_zero ? 0 : channel];
}

/* The constants of one channel. */
struct qrt_coder {
    int32_t m;      /* multiplier = m * 2^(e - 31)                         */
    int32_t base;   /* 149 - e                                             */
    int32_t zero;   /* zero point                                          */
    int32_t tie;    /* joins the parity of a tie: zero, or 0 if it is added
                       after rounding                                      */
    int32_t lo, hi; /* clamp, less the zero point                          */
};

/* tie is set to zero; lo and hi are codes. */
void qrt_coder_set(struct qrt_coder *coder, const struct qrt_real *mult,
                   int32_t zero, int32_t lo, int32_t hi);

/* The constants of a channel of a call; the zero point is 0 if it is taken off
 * before. */
void qrt_coder_of(struct qrt_coder *coder, const struct qrt_coding *c,
                  uint32_t channel);

/* Clamp, then zero point: in this order nothing can overflow. */
QRT_INLINE int32_t qrt_code_of_steps(int32_t steps, const struct qrt_coder *c)
{
    return qrt_clamp32(steps, c->lo, c->hi) + c->zero;
}

/* The code of x in Q(frac). */
int32_t qrt_code_of_fixed(int32_t x, int32_t frac, const struct qrt_coder *c);

/* (code - zero) * scale in Q(frac). */
static inline int32_t qrt_fixed_of_code(int32_t difference,
                                        struct qrt_real scale, int32_t frac)
{
    return qrt_mul_shift_half_even(difference * (1 << QRT_CODE_UP), scale.m,
                                   31 + (int32_t)QRT_CODE_UP - scale.e - frac,
                                   0);
}

/* rne(x / s) of a binary32 pattern x, saturated to [-2^17, 2^17]; NaN gives
 * the lower clamp.
 *
 * |x| = f * 2^(exp - 150), f in [2^23, 2^24), so |x| / s = f * m / 2^(32 + k)
 * with k = base - exp. From k = 24 on this is below 1/2 (f * m < 2^55); from
 * k = 5 down it is 2^16 or more. A denormal has exp = 0, so k >= 29. */
QRT_INLINE int32_t qrt_steps_of_bits(uint32_t x, const struct qrt_coder *c)
{
    uint32_t f = (x & 0x7fffffU) | 0x800000U;
    int32_t k = c->base - (int32_t)((x >> 23) & 255U);
    int32_t steps = 0;

    if (k < 6) {
        if ((x & 0x7fffffffU) > 0x7f800000U) {
            return c->lo;
        }
        steps = 1 << 17;
    } else if (k <= 23) {
        steps = qrt_mul_high_half_even((int32_t)f, c->m, (uint32_t)k - 1U,
                                       c->tie, 0);
    }
    return (x >> 31) != 0 ? -steps : steps;
}

#endif
