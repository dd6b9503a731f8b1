/* Quantize binary32 patterns to codes without an FPU. */
#include "kernel.h"

/* Codes elements [i, end) with one set of constants. */
static QRT_NOINLINE void run(const uint32_t *x, const struct qrt_coder *coder,
                             enum qrt_type to, void *out, uint32_t i,
                             uint32_t end)
{
    for (; i < end; i++) {
        int32_t v = qrt_code_of_steps(qrt_steps_of_bits(x[i], coder), coder);

        if (to == QRT_S8) { /* the usual type without a call */
            ((int8_t *)out)[i] = (int8_t)v;
        } else {
            qrt_store(to, out, i, v);
        }
    }
}

enum qrt_status qrt_quantize_bits(const uint32_t *x,
                                  const struct qrt_shape *shape,
                                  const struct qrt_quantize *p,
                                  enum qrt_type to, void *out)
{
    struct qrt_walk walk = {0, 0, 0};
    struct qrt_coding c;
    struct qrt_coder coder;
    enum qrt_status status = qrt_coding_of_quantize(x, shape, p, to, out, &c);

    for (uint32_t i = 0; status == QRT_OK && i < c.count; i += shape->inner) {
        qrt_coder_of(&coder, &c, walk.channel);
        qrt_walk_next(&walk, shape);
        run(x, &coder, to, out, i, i + shape->inner);
    }
    return status;
}
