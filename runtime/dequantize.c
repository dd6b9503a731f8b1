/* Dequantize and anti-quantize to Q numbers. */
#include "kernel.h"

/* What to do with a scale before it is used; null: nothing. A pointer, so that
 * only who asks for a square links the multiplication. */
typedef void change_scale(struct qrt_real *scale);

static void square(struct qrt_real *scale)
{
    (void)qrt_real_mul(*scale, *scale, scale);
}

/* (codes less zero point) times the scale; `sign` -1 turns an offset that is
 * added into a zero point. */
static enum qrt_status run(enum qrt_type from, const void *x,
                           const struct qrt_shape *shape, struct qrt_coding *c,
                           int32_t sign, change_scale *change, int32_t *out)
{
    struct qrt_walk walk = {0, 0, 0};
    enum qrt_status status = qrt_coding_of_dequantize(from, x, shape, c, out);

    for (uint32_t i = 0; status == QRT_OK && i < c->count;) {
        const uint32_t end = i + shape->inner;
        struct qrt_real scale = c->mult[walk.channel];
        const int32_t zero = sign * qrt_zero_of(c, walk.channel);

        qrt_walk_next(&walk, shape);
        if (change != NULL) {
            change(&scale);
        }
        for (; i < end; i++) {
            int32_t v = qrt_load(from, x, i) - zero;

            out[i] = from == QRT_S32
                         ? qrt_mul_shift_half_even(v, scale.m,
                                                   31 - scale.e - c->frac, 0)
                         : qrt_fixed_of_code(v, scale, c->frac);
        }
    }
    return status;
}

enum qrt_status qrt_dequantize_fixed(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_dequantize *p,
                                     int32_t *out)
{
    struct qrt_coding c;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.mult = p->scale;
    c.zero = p->zero_point;
    c.frac = p->frac;
    return run(from, x, shape, &c, 1, NULL, out);
}

enum qrt_status qrt_antiquantize_fixed(enum qrt_type from, const void *x,
                                       const struct qrt_shape *shape,
                                       const struct qrt_antiquantize *p,
                                       int32_t *out)
{
    struct qrt_coding c;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    if (from == QRT_S32) {
        return QRT_ERR_RANGE;
    }
    c.mult = p->scale;
    c.zero = p->offset;
    c.frac = p->frac;
    return run(from, x, shape, &c, -1, p->sqrt_mode ? square : NULL, out);
}
