/* Largest and smallest value of a row, and whether all are finite. */
#include "f32.h"

/* Lanes because a conforming compiler does not reorder a float maximum in one
 * variable, so it would not vectorise. */
F32_ROW void f32_extremes(struct f32_extremes *e, const float *x, size_t n)
{
    float hi[F32_LANES], lo[F32_LANES];
    uint32_t mark = 0;
    size_t i = 0;
    for (size_t j = 0; j < F32_LANES; j++) {
        hi[j] = e->max;
        lo[j] = e->min;
    }
    for (; i + F32_LANES <= n; i += F32_LANES)
        for (size_t j = 0; j < F32_LANES; j++) {
            float v = x[i + j];
            hi[j] = v > hi[j] ? v : hi[j];
            lo[j] = v < lo[j] ? v : lo[j];
            mark |= f32_not_finite_mark(v);
        }
    for (; i < n; i++) {
        hi[0] = x[i] > hi[0] ? x[i] : hi[0];
        lo[0] = x[i] < lo[0] ? x[i] : lo[0];
        mark |= f32_not_finite_mark(x[i]);
    }
    for (size_t j = 0; j < F32_LANES; j++) {
        e->max = hi[j] > e->max ? hi[j] : e->max;
        e->min = lo[j] < e->min ? lo[j] : e->min;
    }
    e->mark |= mark;
}
