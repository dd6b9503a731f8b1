/* Largest and smallest value of a row, and whether all are finite. */
#include "f32.h"

#define FEW 8u /* lanes that the others are folded into at the end */

/* A NaN or an infinity stays in a sum: one addition per value tells that all
 * are finite, unless the sum overflows, when each has to be looked at. */
static uint32_t not_finite(const float *x, size_t n)
{
    uint32_t mark = 0;
    for (size_t i = 0; i < n; i++)
        mark |= f32_not_finite_mark(x[i]);
    return mark;
}

/* Lanes because a conforming compiler does not reorder a float maximum in one
 * variable, so it would not vectorise. */
F32_ROW void f32_extremes(struct f32_extremes *e, const float *x, size_t n)
{
    float hi[F32_LANES], lo[F32_LANES], sum[F32_LANES];
    uint32_t mark = 0;
    size_t i = 0;
    for (size_t j = 0; j < F32_LANES; j++) {
        hi[j] = e->max;
        lo[j] = e->min;
        sum[j] = 0.0f;
    }
    for (; i + F32_LANES <= n; i += F32_LANES)
        for (size_t j = 0; j < F32_LANES; j++) {
            float v = x[i + j];
            hi[j] = v > hi[j] ? v : hi[j];
            lo[j] = v < lo[j] ? v : lo[j];
            sum[j] += v;
        }
    for (; i < n; i++) {
        hi[0] = x[i] > hi[0] ? x[i] : hi[0];
        lo[0] = x[i] < lo[0] ? x[i] : lo[0];
        sum[0] += x[i];
    }
    for (size_t k = FEW; k < F32_LANES; k += FEW)
        for (size_t j = 0; j < FEW; j++) {
            hi[j] = hi[k + j] > hi[j] ? hi[k + j] : hi[j];
            lo[j] = lo[k + j] < lo[j] ? lo[k + j] : lo[j];
            sum[j] += sum[k + j];
        }
    for (size_t j = 0; j < FEW; j++) {
        e->max = hi[j] > e->max ? hi[j] : e->max;
        e->min = lo[j] < e->min ? lo[j] : e->min;
        mark |= f32_not_finite_mark(sum[j]);
    }
    if (mark)
        e->mark |= not_finite(x, n);
}
