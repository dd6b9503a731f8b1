/* Quantize binary32 patterns to codes without an FPU. */
#include "kernel.h"

static void row(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                uint32_t end)
{
    const uint32_t *x = c->x;
    struct qrt_coder coder;

    qrt_coder_of(&coder, c, channel);
    for (; i < end; i++) {
        int32_t v = qrt_code_of_steps(qrt_steps_of_bits(x[i], &coder), &coder);

        if (c->to == QRT_S8) { /* the usual type without a call */
            ((int8_t *)c->out)[i] = (int8_t)v;
        } else {
            qrt_store(c->to, c->out, i, v);
        }
    }
}

enum qrt_status qrt_quantize_bits(const uint32_t *x,
                                  const struct qrt_shape *shape,
                                  const struct qrt_quantize *p,
                                  enum qrt_type to, void *out)
{
    struct qrt_coding c;
    enum qrt_status status;

    c.from = QRT_BITS;
    c.x = x;
    c.shape = shape;
    c.to = to;
    c.out = out;
    status = qrt_coding_of_quantize(&c, p);
    if (status == QRT_OK) {
        qrt_coding_run(&c, row);
    }
    return status;
}
