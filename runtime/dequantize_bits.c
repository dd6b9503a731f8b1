/* Dequantize and anti-quantize to binary32 patterns, with AMCT's roundings. */
#include "kernel.h"
#include "softf32.h"

/* f32(code + offset) times the scale, once or twice. */
static void code(const struct qrt_coding *c, uint32_t channel, int32_t offset,
                 bool twice, uint32_t i, uint32_t end)
{
    const uint32_t scale = qrt_real_to_f32(c->mult[channel]);
    uint32_t *out = c->out;

    for (; i < end; i++) {
        int32_t v = qrt_load(c->from, c->x, i) + offset;

        out[i] = qrt_f32_times(scale, v);
        if (twice) {
            out[i] = qrt_f32_mul(out[i], scale);
        }
    }
}

static void row(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                uint32_t end)
{
    code(c, channel, -qrt_zero_of(c, channel), false, i, end);
}

static void row_with_offset(const struct qrt_coding *c, uint32_t channel,
                            uint32_t i, uint32_t end)
{
    code(c, channel, qrt_zero_of(c, channel), false, i, end);
}

static void row_with_square(const struct qrt_coding *c, uint32_t channel,
                            uint32_t i, uint32_t end)
{
    code(c, channel, qrt_zero_of(c, channel), true, i, end);
}

enum qrt_status qrt_dequantize_bits(enum qrt_type from, const void *x,
                                    const struct qrt_shape *shape,
                                    const struct qrt_dequantize *p,
                                    uint32_t *out)
{
    struct qrt_coding c;
    enum qrt_status status;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.from = from;
    c.x = x;
    c.shape = shape;
    c.to = QRT_BITS;
    c.out = out;
    c.mult = p->scale;
    c.zero = p->zero_point;
    c.frac = 0;
    status = qrt_coding_of_dequantize(&c);
    if (status == QRT_OK) {
        qrt_coding_run(&c, row);
    }
    return status;
}

enum qrt_status qrt_antiquantize_bits(enum qrt_type from, const void *x,
                                      const struct qrt_shape *shape,
                                      const struct qrt_antiquantize *p,
                                      uint32_t *out)
{
    struct qrt_coding c;
    enum qrt_status status = QRT_ERR_RANGE;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    c.from = from;
    c.x = x;
    c.shape = shape;
    c.to = QRT_BITS;
    c.out = out;
    c.mult = p->scale;
    c.zero = p->offset;
    c.frac = 0;
    if (from != QRT_S32) {
        status = qrt_coding_of_dequantize(&c);
    }
    if (status == QRT_OK) {
        qrt_coding_run(&c, p->sqrt_mode ? row_with_square : row_with_offset);
    }
    return status;
}
