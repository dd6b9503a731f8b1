/* Quantize binary32 patterns to int8 without an FPU: the loop of
 * qrt_quantize_any for these two types alone. */
#include "kernel.h"

/* Quantizes [out, end) with one set of constants. */
static QRT_NOINLINE void row(const uint32_t *x, const struct qrt_coder *coder,
                             int8_t *out, const int8_t *end)
{
    do {
        int32_t steps = qrt_steps_of_bits(*x++, coder);

        *out++ = (int8_t)qrt_code_of_steps(steps, coder);
    } while (out != end);
}

enum qrt_status qrt_quantize_bits_s8(const uint32_t *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_quantize *p, int8_t *out)
{
    struct qrt_walk walk = {0, 0, 0};
    struct qrt_coding c;
    struct qrt_coder coder;
    uint32_t count = 0;
    enum qrt_status status = qrt_quantize_describe(QRT_BITS, p, QRT_S8, &c);

    if (status == QRT_OK) {
        status = qrt_coding_check(x, shape, &c, QRT_S8, out, &count);
    }
    if (status != QRT_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i += shape->inner) {
        qrt_coder_setup(&coder, &c, walk.channel);
        qrt_walk_next(&walk, shape);
        row(x + i, &coder, out + i, out + i + shape->inner);
    }
    return QRT_OK;
}
