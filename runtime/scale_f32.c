/* Step and zero point from a range, in binary32: the twin of scale.c for code
 * that already works in floats. */
#include "qrt_f32.h"
#include "f32.h"

static void scale_asymmetric(float max, float min, uint32_t bits, float *scale,
                             int32_t *offset)
{
    float levels = (float)((1u << bits) - 1u);
    float half = (float)(1u << (bits - 1u));
    max = max > 0.0f ? max : 0.0f;
    min = min < 0.0f ? min : 0.0f;
    float s = (max - min) / levels;
    if (s < F32_EPS) {
        *scale = 1.0f;
        *offset = -(int32_t)(1u << (bits - 1u));
        return;
    }
    *scale = s;
    *offset = f32_rne_int(-half - min / s);
}

static void scale_symmetric(float max, float min, uint32_t bits, float *scale,
                            int32_t *offset)
{
    float a = f32_abs(max), b = f32_abs(min);
    bool negative = a < b;
    uint32_t half = 1u << (bits - 1u);
    float s = (negative ? b : a) / (float)(negative ? half : half - 1u);
    *scale = s < F32_EPS ? 1.0f : s;
    *offset = 0;
}

enum qrt_status qrt_scale_f32(float max, float min, uint32_t bits,
                              bool asymmetric, float *scale, int32_t *offset)
{
    if (!scale || !offset)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 16u)
        return QRT_ERR_RANGE;
    if (!f32_finite(max) || !f32_finite(min))
        return QRT_ERR_NOT_FINITE;
    float s;
    int32_t o;
    if (asymmetric)
        scale_asymmetric(max, min, bits, &s, &o);
    else
        scale_symmetric(max, min, bits, &s, &o);
    if (!f32_finite(s))
        return QRT_ERR_NOT_FINITE;
    *scale = s;
    *offset = o;
    return QRT_OK;
}
