/* Dequantize and anti-quantize to Q numbers. */
#include "kernel.h"

enum qrt_status qrt_dequantize_fixed(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_dequantize *p,
                                     int32_t *out)
{
    struct qrt_coding c;
    enum qrt_status status;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.from = from;
    c.x = x;
    c.shape = shape;
    c.to = QRT_S32;
    c.out = out;
    c.mult = p->scale;
    c.zero = p->zero_point;
    c.frac = p->frac;
    status = qrt_coding_of_dequantize(&c);
    if (status == QRT_OK) {
        qrt_coding_run(&c, qrt_code_fixed);
    }
    return status;
}

/* An offset is added where a zero point is subtracted. */
static void code_with_offset(const struct qrt_coding *c, uint32_t channel,
                             struct qrt_real scale, uint32_t i, uint32_t end)
{
    const int32_t offset = qrt_zero_of(c, channel);
    int32_t *out = c->out;

    for (; i < end; i++) {
        out[i] = qrt_fixed_of_code(qrt_load(c->from, c->x, i) + offset, scale,
                                   c->frac);
    }
}

static void row(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                uint32_t end)
{
    code_with_offset(c, channel, c->mult[channel], i, end);
}

static void row_with_square(const struct qrt_coding *c, uint32_t channel,
                            uint32_t i, uint32_t end)
{
    struct qrt_real scale = c->mult[channel];

    (void)qrt_real_mul(scale, scale, &scale);
    code_with_offset(c, channel, scale, i, end);
}

enum qrt_status qrt_antiquantize_fixed(enum qrt_type from, const void *x,
                                       const struct qrt_shape *shape,
                                       const struct qrt_antiquantize *p,
                                       int32_t *out)
{
    struct qrt_coding c;
    enum qrt_status status = QRT_ERR_RANGE;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.from = from;
    c.x = x;
    c.shape = shape;
    c.to = QRT_S32;
    c.out = out;
    c.mult = p->scale;
    c.zero = p->offset;
    c.frac = p->frac;
    if (from != QRT_S32) {
        status = qrt_coding_of_dequantize(&c);
    }
    if (status == QRT_OK) {
        qrt_coding_run(&c, p->sqrt_mode ? row_with_square : row);
    }
    return status;
}
