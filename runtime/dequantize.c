/* Dequantize and anti-quantize: codes to Q numbers or binary32 patterns. */
#include "kernel.h"
#include "softf32.h"

/* (codes less zero point) times the scale, or twice; `sign` -1 turns an
 * offset that is added into a zero point. */
static enum qrt_status run(enum qrt_type from, const void *x,
                           const struct qrt_shape *shape, struct qrt_coding *c,
                           int32_t sign, bool twice, enum qrt_type to,
                           void *out)
{
    struct qrt_walk walk = {0, 0, 0};
    enum qrt_status status;

    if (from == QRT_BITS || (from == QRT_S32 && c->zero != NULL) ||
        (to != QRT_S32 && to != QRT_BITS)) {
        return QRT_ERR_RANGE;
    }
    c->span = 148; /* any */
    c->one_zero = false;
    c->lo = 0;
    c->hi = 0;
    /* Any zero point of 16 bits, whatever the codes. */
    status = qrt_coding_check(x, shape, c, QRT_S16, out);
    if (status == QRT_OK && from == QRT_S4 && (c->count & 1U) != 0) {
        status = QRT_ERR_SIZE;
    }
    for (uint32_t i = 0; status == QRT_OK && i < c->count;) {
        const uint32_t end = i + shape->inner;
        struct qrt_real scale = c->mult[walk.channel];
        const uint32_t bits = qrt_real_to_f32(scale);
        const int32_t zero = sign * qrt_zero_of(c, walk.channel);

        qrt_walk_next(&walk, shape);
        if (twice) {
            (void)qrt_real_mul(scale, scale, &scale);
        }
        for (; i < end; i++) {
            int32_t v = qrt_load(from, x, i) - zero;

            if (to == QRT_BITS) {
                uint32_t y = qrt_f32_mul(qrt_f32_from_fixed(v, 0), bits);

                v = (int32_t)(twice ? qrt_f32_mul(y, bits) : y);
            } else if (from == QRT_S32) {
                v = qrt_mul_shift_half_even(v, scale.m, 31 - scale.e - c->frac,
                                            0);
            } else {
                v = qrt_fixed_of_code(v, scale, c->frac);
            }
            qrt_store(to, out, i, v);
        }
    }
    return status;
}

enum qrt_status qrt_dequantize_any(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_dequantize *p,
                                   enum qrt_type to, void *out)
{
    struct qrt_coding c;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.mult = p->scale;
    c.zero = p->zero_point;
    c.frac = to == QRT_BITS ? 0 : p->frac;
    return run(from, x, shape, &c, 1, false, to, out);
}

enum qrt_status qrt_antiquantize_any(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_antiquantize *p,
                                     enum qrt_type to, void *out)
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
    c.frac = to == QRT_BITS ? 0 : p->frac;
    return run(from, x, shape, &c, -1, p->sqrt_mode, to, out);
}
