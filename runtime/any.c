/* The kernels by types known at run time only. In a file of its own: a program
 * that names its types does not link the others. */
#include "qrt.h"

enum qrt_status qrt_quantize_any(enum qrt_type from, const void *x,
                                 const struct qrt_shape *shape,
                                 const struct qrt_quantize *p, enum qrt_type to,
                                 void *out)
{
    return from == QRT_BITS ? qrt_quantize_bits(x, shape, p, to, out)
                            : qrt_quantize_fixed(from, x, shape, p, to, out);
}

enum qrt_status qrt_dequantize_any(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_dequantize *p,
                                   enum qrt_type to, void *out)
{
    if (to == QRT_BITS) {
        return qrt_dequantize_bits(from, x, shape, p, out);
    }
    return to == QRT_S32 ? qrt_dequantize_fixed(from, x, shape, p, out)
                         : QRT_ERR_RANGE;
}

enum qrt_status qrt_antiquantize_any(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_antiquantize *p,
                                     enum qrt_type to, void *out)
{
    if (to == QRT_BITS) {
        return qrt_antiquantize_bits(from, x, shape, p, out);
    }
    return to == QRT_S32 ? qrt_antiquantize_fixed(from, x, shape, p, out)
                         : QRT_ERR_RANGE;
}
