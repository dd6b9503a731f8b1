/* Quantize: Q numbers or binary32 patterns to codes. */
#include "kernel.h"

enum qrt_status qrt_quantize_any(enum qrt_type from, const void *x,
                                 const struct qrt_shape *shape,
                                 const struct qrt_quantize *p, enum qrt_type to,
                                 void *out)
{
    struct qrt_coding c;
    enum qrt_status status;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    if ((from != QRT_S16 && from != QRT_S32 && from != QRT_BITS) ||
        p->bits < 2 || p->bits > 16 || (to == QRT_S4 && p->bits != 4) ||
        p->order > QRT_ROUND_THEN_ADD) {
        return QRT_ERR_RANGE;
    }
    c.mult = p->recip;
    c.span = 110;
    c.zero = p->zero_point;
    c.one_zero = false;
    c.frac = from == QRT_BITS ? 0 : p->frac;
    c.hi = ((int32_t)1 << (p->bits - 1U)) - 1;
    c.lo = -1 - c.hi;
    c.round_first = p->order == QRT_ROUND_THEN_ADD;
    status = qrt_coding_check(x, shape, &c, to, out);
    if (status == QRT_OK) {
        qrt_coding_run(from, x, shape, &c, to, out);
    }
    return status;
}
