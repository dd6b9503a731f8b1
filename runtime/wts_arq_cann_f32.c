/* CANN's WtsARQ: one channel of weights, 8 bit.
 *
 * Differs from AMCT's ARQ: both sides keep their own divisor and the larger
 * step wins; two divisions with an offset; rounds before it adds the offset. */
#include "qrt_f32.h"
#include "f32.h"

/* Clamped to [lo - o, hi - o], the rounded value is q - o already. */
F32_ROW static void row(const float *w, size_t n, float scale, float lo,
                        float hi, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = f32_rne(f32_clamp(w[i] / scale, lo, hi)) * scale;
}

enum qrt_status qrt_wts_arq_cann_f32(const float *w, size_t n, float w_min,
                                     float w_max, bool offset_flag,
                                     float *scale, float *offset, float *y)
{
    if ((n && (!w || !y)) || !scale || !offset)
        return QRT_ERR_NULL;
    if (!f32_finite(w_min) || !f32_finite(w_max))
        return QRT_ERR_NOT_FINITE;
    float mn = w_min < 0.0f ? w_min : 0.0f, mx = w_max > 0.0f ? w_max : 0.0f;
    float s, o = 0.0f;
    if (offset_flag) {
        s = mx / 255.0f - mn / 255.0f;
    } else {
        float below = -mn / 128.0f, above = mx / 127.0f;
        s = below > above ? below : above;
    }
    s = s < F32_EPS ? 1.0f : s;
    if (offset_flag)
        o = -f32_rne(mn / s) - 128.0f;
    row(w, n, s, -128.0f - o, 127.0f - o, y);
    *scale = s;
    *offset = o;
    return QRT_OK;
}
