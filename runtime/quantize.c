/* Quantize Q numbers to codes. */
#include "kernel.h"

enum qrt_status qrt_quantize_fixed(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_quantize *p,
                                   enum qrt_type to, void *out)
{
    struct qrt_coding c;
    enum qrt_status status = QRT_ERR_RANGE;

    c.from = from;
    c.x = x;
    c.shape = shape;
    c.to = to;
    c.out = out;
    if (from == QRT_S16 || from == QRT_S32) {
        status = qrt_coding_of_quantize(&c, p);
    }
    if (status == QRT_OK) {
        qrt_coding_run(&c, qrt_code_fixed);
    }
    return status;
}
