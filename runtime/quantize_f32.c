/* Quantize, dequantize and requantize in binary32, in the operation orders of
 * AMCT and AscendQuant.
 *
 * The clamp is done in float before the rounding: with integer bounds the two
 * commute, and the rounding by addition needs a small argument. The row
 * functions take their bounds as arguments, see F32_ROW. */
#include "qrt_f32.h"
#include "f32.h"

/* Bounds of the codes of so many bits. */
static float code_min(uint32_t bits)
{
    return -(float)(1u << (bits - 1u));
}

static float code_max(uint32_t bits)
{
    return (float)((1u << (bits - 1u)) - 1u);
}

static bool scale_ok(float scale)
{
    return f32_finite(scale) && scale > 0.0f;
}

static enum qrt_status check(const void *x, const void *y, size_t n,
                             float scale, int32_t offset, uint32_t bits,
                             uint32_t max_bits)
{
    if (n && (!x || !y))
        return QRT_ERR_NULL;
    if (bits < 2u || bits > max_bits || !scale_ok(scale))
        return QRT_ERR_RANGE;
    int32_t half = (int32_t)(1u << (bits - 1u));
    if (offset < -half || offset >= half)
        return QRT_ERR_RANGE;
    return QRT_OK;
}

/* ---- divide, add, round: AMCT's apply functions */

F32_ROW static void row_div_s8(const float *restrict x, size_t n, float scale,
                               float offset, float lo, float hi,
                               int8_t *restrict q)
{
    F32_CODES(q, n, f32_clamp(x[i] / scale + offset, lo, hi));
}

#ifdef F32_FMA
/* The same for steps that f32_divisor takes, 1.4 times as fast in cache. x is
 * clamped first, to what the lowest and the highest code stand for: what is
 * left divides without overflow, and a division is monotonous. */
F32_ROW static void row_quotient_s8(const float *restrict x, size_t n,
                                    const struct f32_divisor *divisor,
                                    float offset, float lo, float hi,
                                    int8_t *restrict q)
{
    const struct f32_divisor d = *divisor;
    F32_CODES(q, n, f32_quotient(f32_clamp(x[i], lo, hi), &d) + offset);
}

/* Weights mostly have no offset. */
F32_ROW static void row_quotient_s8_no_offset(const float *restrict x, size_t n,
                                              const struct f32_divisor *divisor,
                                              float lo, float hi,
                                              int8_t *restrict q)
{
    const struct f32_divisor d = *divisor;
    F32_CODES(q, n, f32_quotient(f32_clamp(x[i], lo, hi), &d));
}
#endif

F32_ROW static void row_div_s16(const float *restrict x, size_t n, float scale,
                                float offset, float lo, float hi,
                                int16_t *restrict q)
{
    for (size_t i = 0; i < n; i++)
        q[i] = (int16_t)f32_rne_int(f32_clamp(x[i] / scale + offset, lo, hi));
}

F32_ROW static void row_div_fake(const float *x, size_t n, float scale,
                                 float offset, float lo, float hi, float *y)
{
    for (size_t i = 0; i < n; i++) {
        float q = f32_rne(f32_clamp(x[i] / scale + offset, lo, hi));
        y[i] = (q - offset) * scale;
    }
}

enum qrt_status qrt_quantize_f32_s8(const float *x, size_t n, float scale,
                                    int32_t offset, uint32_t bits, int8_t *q)
{
    enum qrt_status st = check(x, q, n, scale, offset, bits, 8);
    if (st != QRT_OK)
        return st;
    const float lo = code_min(bits), hi = code_max(bits), o = (float)offset;
#ifdef F32_FMA
    struct f32_divisor d;
    if (f32_divisor(&d, scale)) {
        if (offset == 0)
            row_quotient_s8_no_offset(x, n, &d, lo * scale, hi * scale, q);
        else
            row_quotient_s8(x, n, &d, o, (lo - o) * scale, (hi - o) * scale, q);
        return QRT_OK;
    }
#endif
    row_div_s8(x, n, scale, o, lo, hi, q);
    return QRT_OK;
}

enum qrt_status qrt_quantize_f32_s16(const float *x, size_t n, float scale,
                                     int32_t offset, uint32_t bits, int16_t *q)
{
    enum qrt_status st = check(x, q, n, scale, offset, bits, 16);
    if (st == QRT_OK)
        row_div_s16(x, n, scale, (float)offset, code_min(bits), code_max(bits),
                    q);
    return st;
}

enum qrt_status qrt_fake_quantize_f32(const float *x, size_t n, float scale,
                                      int32_t offset, uint32_t bits, float *y)
{
    enum qrt_status st = check(x, y, n, scale, offset, bits, 16);
    if (st == QRT_OK)
        row_div_fake(x, n, scale, (float)offset, code_min(bits), code_max(bits),
                     y);
    return st;
}

/* ---- reciprocal, round, add: the exported module. Clamped to [lo - o, hi - o]
 * the rounded value is q - o already. */

F32_ROW static void row_recip(const float *x, size_t n, float recip, float lo,
                              float hi, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = f32_rne(f32_clamp(x[i] * recip, lo, hi));
}

F32_ROW static void row_recip_fake(const float *x, size_t n, float recip,
                                   float scale, float lo, float hi, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = f32_rne(f32_clamp(x[i] * recip, lo, hi)) * scale;
}

enum qrt_status qrt_quantize_f32__module(const float *x, size_t n, float scale,
                                         int32_t offset, uint32_t bits,
                                         float *y)
{
    enum qrt_status st = check(x, y, n, scale, offset, bits, 16);
    if (st == QRT_OK)
        row_recip(x, n, 1.0f / scale, code_min(bits) - (float)offset,
                  code_max(bits) - (float)offset, y);
    return st;
}

enum qrt_status qrt_fake_quantize_f32__module(const float *x, size_t n,
                                              float scale, int32_t offset,
                                              uint32_t bits, float *y)
{
    enum qrt_status st = check(x, y, n, scale, offset, bits, 16);
    if (st == QRT_OK)
        row_recip_fake(x, n, 1.0f / scale, scale,
                       code_min(bits) - (float)offset,
                       code_max(bits) - (float)offset, y);
    return st;
}

/* ---- multiply, add, round: AscendQuant */

F32_ROW static void row_mul_s8(const float *restrict x, size_t n, float m,
                               float offset, float lo, float hi,
                               int8_t *restrict q)
{
    F32_CODES(q, n, f32_clamp(x[i] * m + offset, lo, hi));
}

/* Floor takes 1 off where rne went up, ceil adds 1 where it went down;
 * truncation is the one or the other by sign. */
F32_ROW static void row_mul_directed(const float *restrict x, size_t n, float m,
                                     float offset, float lo, float hi,
                                     enum qrt_round round, int8_t *restrict q)
{
    for (size_t i = 0; i < n; i++) {
        float t = f32_clamp(x[i] * m + offset, lo, hi);
        float r = f32_rne(t);
        bool floor =
            round == QRT_ROUND_FLOOR || (round == QRT_ROUND_TRUNC && t >= 0.0f);
        if (floor)
            r = r > t ? r - 1.0f : r;
        else
            r = r < t ? r + 1.0f : r;
        q[i] = (int8_t)(int32_t)r;
    }
}

enum qrt_status qrt_quantize_f32_s8__ascend(const float *x, size_t n,
                                            float multiplier, int32_t offset,
                                            uint32_t bits, bool sqrt_mode,
                                            enum qrt_round round, int8_t *q)
{
    enum qrt_status st = check(x, q, n, multiplier, offset, bits, 8);
    if (st != QRT_OK)
        return st;
    float m = sqrt_mode ? multiplier * multiplier : multiplier;
    float lo = code_min(bits), hi = code_max(bits);
    switch (round) {
    case QRT_ROUND_EVEN:
        row_mul_s8(x, n, m, (float)offset, lo, hi, q);
        return QRT_OK;
    case QRT_ROUND_FLOOR:
    case QRT_ROUND_CEIL:
    case QRT_ROUND_TRUNC:
        row_mul_directed(x, n, m, (float)offset, lo, hi, round, q);
        return QRT_OK;
    }
    return QRT_ERR_RANGE;
}

/* ---- dequantize */

F32_ROW static void row_deq_s8(const int8_t *restrict q, size_t n, float scale,
                               int32_t offset, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(q[i] - offset) * scale;
}

F32_ROW static void row_deq_s16(const int16_t *restrict q, size_t n,
                                float scale, int32_t offset, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(q[i] - offset) * scale;
}

enum qrt_status qrt_dequantize_s8_f32(const int8_t *q, size_t n, float scale,
                                      int32_t offset, float *y)
{
    enum qrt_status st = check(q, y, n, scale, offset, 8, 8);
    if (st == QRT_OK)
        row_deq_s8(q, n, scale, offset, y);
    return st;
}

enum qrt_status qrt_dequantize_s16_f32(const int16_t *q, size_t n, float scale,
                                       int32_t offset, float *y)
{
    enum qrt_status st = check(q, y, n, scale, offset, 16, 16);
    if (st == QRT_OK)
        row_deq_s16(q, n, scale, offset, y);
    return st;
}

enum qrt_status qrt_dequantize_s8_f32__ascend(const int8_t *q, size_t n,
                                              float scale, int32_t offset,
                                              bool sqrt_mode, float *y)
{
    if (n && (!q || !y))
        return QRT_ERR_NULL;
    if (!scale_ok(scale) || offset < -256 || offset > 256)
        return QRT_ERR_RANGE;
    row_deq_s8(q, n, scale, -offset, y);
    if (sqrt_mode)
        for (size_t i = 0; i < n; i++)
            y[i] *= scale;
    return QRT_OK;
}

/* ---- accumulators [rows, channels] */

static enum qrt_status check_acc(const int32_t *acc, size_t rows,
                                 size_t channels, const float *scale,
                                 const void *out)
{
    if (!scale || ((!acc || !out) && rows))
        return QRT_ERR_NULL;
    if (channels == 0)
        return QRT_ERR_RANGE;
    for (size_t c = 0; c < channels; c++)
        if (!scale_ok(scale[c]))
            return QRT_ERR_RANGE;
    return QRT_OK;
}

F32_ROW static void row_deq_acc(const int32_t *restrict acc, size_t n,
                                float scale, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)acc[i] * scale;
}

F32_ROW static void row_deq_acc_channels(const int32_t *restrict acc, size_t n,
                                         const float *restrict scale,
                                         float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)acc[i] * scale[i];
}

enum qrt_status qrt_dequantize_s32_f32(const int32_t *acc, size_t rows,
                                       size_t channels, const float *scale,
                                       float *y)
{
    enum qrt_status st = check_acc(acc, rows, channels, scale, y);
    if (st != QRT_OK)
        return st;
    if (channels == 1)
        row_deq_acc(acc, rows, scale[0], y);
    else
        for (size_t r = 0; r < rows; r++)
            row_deq_acc_channels(acc + r * channels, channels, scale,
                                 y + r * channels);
    return QRT_OK;
}

F32_ROW static void row_req(const int32_t *restrict acc, size_t n, float scale,
                            float offset, float lo, float hi,
                            int8_t *restrict q)
{
    F32_CODES(q, n, f32_clamp((float)acc[i] * scale + offset, lo, hi));
}

F32_ROW static void row_req_channels(const int32_t *restrict acc, size_t n,
                                     const float *restrict scale, float offset,
                                     float lo, float hi, int8_t *restrict q)
{
    F32_CODES(q, n, f32_clamp((float)acc[i] * scale[i] + offset, lo, hi));
}

enum qrt_status qrt_requantize_s32_s8__f32(const int32_t *acc, size_t rows,
                                           size_t channels, const float *scale,
                                           int32_t offset, bool relu, int8_t *q)
{
    enum qrt_status st = check_acc(acc, rows, channels, scale, q);
    if (st != QRT_OK)
        return st;
    if (offset < -256 || offset > 255)
        return QRT_ERR_RANGE;
    float lo = relu ? 0.0f : -128.0f, hi = 127.0f, o = (float)offset;
    if (channels == 1)
        row_req(acc, rows, scale[0], o, lo, hi, q);
    else
        for (size_t r = 0; r < rows; r++)
            row_req_channels(acc + r * channels, channels, scale, o, lo, hi,
                             q + r * channels);
    return QRT_OK;
}
