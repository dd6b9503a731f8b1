/* Bias in units of the accumulator, and what the accumulator is worth. */
#include "kernel.h"
#include "softf32.h"

enum qrt_status qrt_dequant_scale(struct qrt_real scale_w,
                                  struct qrt_real scale_d, struct qrt_real *out)
{
    uint32_t product =
        qrt_f32_mul(qrt_real_to_f32(scale_w), qrt_real_to_f32(scale_d));

    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    if (scale_w.m <= 0 || scale_d.m <= 0 || product == 0 ||
        !qrt_f32_is_finite(product)) {
        return QRT_ERR_RANGE;
    }
    return qrt_real_from_f32(product, out);
}

/* One bias as an integer that shows an overflow. */
static enum qrt_status quantize(uint32_t bias, struct qrt_real dequant,
                                int64_t *q)
{
    uint32_t steps;

    if (!qrt_f32_is_finite(bias)) {
        return QRT_ERR_NOT_FINITE;
    }
    steps = qrt_f32_div(bias, qrt_real_to_f32(dequant));
    if (!qrt_f32_is_finite(steps)) {
        return QRT_ERR_OVERFLOW;
    }
    *q = qrt_f32_to_fixed(steps, 0);
    return *q > INT32_MAX || *q < INT32_MIN ? QRT_ERR_OVERFLOW : QRT_OK;
}

enum qrt_status qrt_bias_quantize(const uint32_t *bias, uint32_t count,
                                  const struct qrt_real *dequant,
                                  uint32_t dequant_count, int32_t *out)
{
    const uint32_t step = dequant_count > 1;
    int64_t q = 0;
    enum qrt_status status;

    if (bias == NULL || dequant == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    if (dequant_count != 1 && dequant_count != count) {
        return QRT_ERR_SIZE;
    }
    status = qrt_check_reals(dequant, dequant_count, -148, 128);
    for (uint32_t i = 0; status == QRT_OK && i < count; i++) {
        status = quantize(bias[i], dequant[i * step], &q);
    }
    for (uint32_t i = 0; status == QRT_OK && i < count; i++) {
        (void)quantize(bias[i], dequant[i * step], &q);
        out[i] = (int32_t)q;
    }
    return status;
}
