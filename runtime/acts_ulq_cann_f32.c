/* CANN's ActsULQ and its three gradients, 8 bit.
 *
 * Differs from AMCT's ULQ: 1/255 is multiplied, z has no -128, a width guard
 * instead of fallback clips, inclusive masks. */
#include "qrt_f32.h"
#include "f32.h"

#define LEVELS  255.0f
#define INVERSE (1.0f / 255.0f)

struct forward {
    float scale, lo, hi; /* step, range                 */
    float outside;       /* loss of a clipped element   */
};

/* Any output may be null, so each has a row of its own. */
F32_ROW static void output_row(const struct forward *p, const float *x,
                               size_t n, float *y)
{
    const float scale = p->scale, lo = p->lo, hi = p->hi;
    for (size_t i = 0; i < n; i++)
        y[i] = f32_rne(f32_clamp(x[i], lo, hi) / scale) * scale;
}

F32_ROW static void loss_row(const struct forward *p, const float *x, size_t n,
                             float *loss)
{
    const float scale = p->scale, lo = p->lo, hi = p->hi, out = p->outside;
    for (size_t i = 0; i < n; i++) {
        float r = f32_clamp(x[i], lo, hi) / scale;
        float in = (f32_rne(r) - r) * INVERSE;
        in = x[i] >= lo ? in : out;
        loss[i] = x[i] <= hi ? in : out;
    }
}

F32_ROW static void min_mask_row(const float *x, size_t n, float lo,
                                 uint8_t *mask)
{
    for (size_t i = 0; i < n; i++)
        mask[i] = x[i] >= lo ? 1 : 0;
}

F32_ROW static void max_mask_row(const float *x, size_t n, float hi,
                                 uint8_t *mask)
{
    for (size_t i = 0; i < n; i++)
        mask[i] = x[i] <= hi ? 1 : 0;
}

enum qrt_status qrt_acts_ulq_cann_f32(const float *x, size_t n, float clamp_min,
                                      float clamp_max, bool fixed_min, float *y,
                                      uint8_t *min_mask, uint8_t *max_mask,
                                      float *loss,
                                      struct qrt_acts_ulq_cann_f32 *range)
{
    if (n && !x)
        return QRT_ERR_NULL;
    if (!f32_finite(clamp_min) || !f32_finite(clamp_max))
        return QRT_ERR_NOT_FINITE;
    float m = fixed_min || clamp_min > 0.0f ? 0.0f : clamp_min;
    float top = LEVELS * F32_EPS;
    top = clamp_max > top ? clamp_max : top;
    float s = (top - m) * INVERSE;
    if (!f32_finite(s))
        return QRT_ERR_NOT_FINITE;
    float z = f32_rne(m / s);
    struct forward p = {s, s * z, s * (z + LEVELS), (z - m / s) * INVERSE};
    if (y)
        output_row(&p, x, n, y);
    if (loss)
        loss_row(&p, x, n, loss);
    if (min_mask)
        min_mask_row(x, n, p.lo, min_mask);
    if (max_mask)
        max_mask_row(x, n, p.hi, max_mask);
    if (range) {
        range->scale = s;
        range->offset = z;
        range->clip_min = p.lo;
        range->clip_max = p.hi;
    }
    return QRT_OK;
}

enum qrt_status qrt_acts_ulq_cann_f32_input_grad(const float *g, size_t n,
                                                 const uint8_t *min_mask,
                                                 const uint8_t *max_mask,
                                                 float *grad_x)
{
    if (n && (!g || !min_mask || !max_mask || !grad_x))
        return QRT_ERR_NULL;
    for (size_t i = 0; i < n; i++)
        grad_x[i] = g[i] * (float)(min_mask[i] * max_mask[i]);
    return QRT_OK;
}

enum qrt_status qrt_acts_ulq_cann_f32_max_grad(const float *g, size_t n,
                                               const uint8_t *max_mask,
                                               const float *loss, bool current,
                                               double *grad)
{
    if ((n && (!g || !max_mask || !loss)) || !grad)
        return QRT_ERR_NULL;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        float m = (max_mask[i] != 0) == current ? 1.0f : 0.0f;
        sum += (double)(g[i] * (loss[i] + m));
    }
    *grad = sum;
    return QRT_OK;
}

enum qrt_status qrt_acts_ulq_cann_f32_min_grad(const float *g, size_t n,
                                               const uint8_t *min_mask,
                                               const float *loss, double *grad)
{
    if ((n && (!g || !min_mask || !loss)) || !grad)
        return QRT_ERR_NULL;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        float below = min_mask[i] ? 0.0f : 1.0f;
        sum += (double)(g[i] * (below - loss[i]));
    }
    *grad = sum;
    return QRT_OK;
}
