/* Dequantize and anti-quantize to binary32 patterns, with AMCT's roundings. */
#include "kernel.h"
#include "softf32.h"

/* As its twin in dequantize.c. */
static enum qrt_status run(enum qrt_type from, const void *x,
                           const struct qrt_shape *shape, struct qrt_coding *c,
                           int32_t sign, bool twice, uint32_t *out)
{
    struct qrt_walk walk = {0, 0, 0};
    enum qrt_status status;

    c->frac = 0;
    status = qrt_coding_of_dequantize(from, x, shape, c, out);
    for (uint32_t i = 0; status == QRT_OK && i < c->count;) {
        const uint32_t end = i + shape->inner;
        const uint32_t scale = qrt_real_to_f32(c->mult[walk.channel]);
        const int32_t zero = sign * qrt_zero_of(c, walk.channel);

        qrt_walk_next(&walk, shape);
        for (; i < end; i++) {
            int32_t v = qrt_load(from, x, i) - zero;

            out[i] = qrt_f32_mul(qrt_f32_from_fixed(v, 0), scale);
            if (twice) {
                out[i] = qrt_f32_mul(out[i], scale);
            }
        }
    }
    return status;
}

enum qrt_status qrt_dequantize_bits(enum qrt_type from, const void *x,
                                    const struct qrt_shape *shape,
                                    const struct qrt_dequantize *p,
                                    uint32_t *out)
{
    struct qrt_coding c;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.mult = p->scale;
    c.zero = p->zero_point;
    return run(from, x, shape, &c, 1, false, out);
}

enum qrt_status qrt_antiquantize_bits(enum qrt_type from, const void *x,
                                      const struct qrt_shape *shape,
                                      const struct qrt_antiquantize *p,
                                      uint32_t *out)
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
    return run(from, x, shape, &c, -1, p->sqrt_mode, out);
}
