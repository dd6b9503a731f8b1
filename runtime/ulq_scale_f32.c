/* ULQ on weights: a learned step (LSQ form), forward and backward. */
#include "qrt_f32.h"
#include "f32.h"

/* Square root of a positive normal number, correctly rounded; without libm. */
static float square_root(float x)
{
    uint32_t u = f32_bits(x);
    uint64_t m = (u & 0x007fffffu) | 0x00800000u;
    int32_t e = (int32_t)(u >> 23) - 150; /* x = m * 2^e */
    if (e & 1) {
        m <<= 1;
        e -= 1;
    }
    m <<= 26; /* root of m in [2^24.5, 2^25.5), that of x = 2^(e/2 - 13) it */
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 25; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= m)
            root += bit;
    /* One bit for "not exact" below the last: the conversion then rounds the
     * 27 bits as it would round the real root. */
    int32_t sticky = (int32_t)(2u * root + (root * root < m ? 1u : 0u));
    return (float)sticky * f32_from_bits((uint32_t)(127 + e / 2 - 14) << 23);
}

/* 1 / sqrt(n * (H - 1)), two roundings after that of the product. */
static float grad_factor(size_t n, uint32_t bits)
{
    float product = (float)((uint64_t)n * ((1u << (bits - 1u)) - 1u));
    return 1.0f / square_root(product);
}

static enum qrt_status check(const float *w, const void *other, size_t rows,
                             size_t n, uint32_t bits, const float *scale,
                             size_t scales)
{
    if (!w || !other || !scale)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 16u)
        return QRT_ERR_RANGE;
    if (rows == 0 || n == 0 || n > SIZE_MAX / rows ||
        (scales != 1 && scales != rows))
        return QRT_ERR_SIZE;
    return QRT_OK;
}

/* 1 / s where the caller keeps reciprocals, s otherwise. */
static float kept(float s, bool reciprocal)
{
    return reciprocal ? 1.0f / s : s;
}

static enum qrt_status check_steps(const float *scale, size_t scales)
{
    for (size_t i = 0; i < scales; i++) {
        if (!f32_finite(scale[i]) || !f32_finite(1.0f / scale[i]))
            return QRT_ERR_NOT_FINITE;
        if (!(scale[i] > 0.0f))
            return QRT_ERR_RANGE;
    }
    return QRT_OK;
}

/* First steps, from the extremes of `scales` parts of n weights. */
static enum qrt_status init_steps(const float *w, size_t scales, size_t n,
                                  uint32_t bits, bool reciprocal, float *scale)
{
    const struct qrt_shape part = {1, 1, (uint32_t)n, 1};
    enum qrt_status st = n > INT32_MAX ? QRT_ERR_SIZE : QRT_OK;
    for (size_t i = 0; i < scales && st == QRT_OK; i++) {
        int32_t offset;
        st = qrt_arq_f32_scale(w + i * n, &part, bits, false, false, scale + i,
                               &offset, NULL);
        if (st == QRT_OK)
            scale[i] = kept(scale[i], reciprocal);
    }
    return st;
}

enum qrt_status qrt_ulq_scale_f32_forward(const float *w, size_t rows, size_t n,
                                          uint32_t bits, bool init,
                                          bool reciprocal, float *scale,
                                          size_t scales, float *y)
{
    enum qrt_status st = check(w, y, rows, n, bits, scale, scales);
    if (st != QRT_OK)
        return st;
    size_t part = rows / scales * n;
    st = init ? init_steps(w, scales, part, bits, reciprocal, scale)
              : check_steps(scale, scales);
    for (size_t i = 0; i < scales && st == QRT_OK; i++) {
        float s = kept(scale[i], reciprocal);
        st =
            qrt_fake_quantize_f32(w + i * part, part, s, 0, bits, y + i * part);
        scale[i] = kept(s, reciprocal);
    }
    return st;
}

/* Sum of the terms of one scale. */
F32_ROW static double backward_row(const float *w, const float *g, size_t n,
                                   float s, float half, bool reciprocal,
                                   float factor)
{
    const float upper = s * (half - 1.0f), lower = -s * half;
    const float s2 = s * s;
    double sum[8] = {0}, total = 0.0;
    for (size_t i = 0; i < n; i++) {
        float t = w[i] / s;
        float d = f32_rne_any(t) - t;
        d = w[i] > upper ? half - 1.0f : d;
        d = w[i] < lower ? -half : d;
        d = reciprocal ? -d * s2 : d;
        sum[i & 7u] += (double)(d * factor * g[i]);
    }
    for (size_t j = 0; j < 8; j++)
        total += sum[j];
    return total;
}

enum qrt_status qrt_ulq_scale_f32_backward(const float *w, const float *g,
                                           size_t rows, size_t n, uint32_t bits,
                                           bool reciprocal, const float *scale,
                                           size_t scales, double *grad)
{
    enum qrt_status st = check(w, g, rows, n, bits, scale, scales);
    if (st == QRT_OK && !grad)
        st = QRT_ERR_NULL;
    if (st == QRT_OK)
        st = check_steps(scale, scales);
    if (st != QRT_OK)
        return st;
    float half = (float)(1u << (bits - 1u));
    float factor = grad_factor(n, bits);
    size_t part = rows / scales * n;
    for (size_t i = 0; i < scales; i++)
        grad[i] =
            backward_row(w + i * part, g + i * part, part,
                         kept(scale[i], reciprocal), half, reciprocal, factor);
    return QRT_OK;
}
