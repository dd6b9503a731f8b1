/* Scale and zero point from a range, with AMCT's binary32 steps emulated.
 *
 * Rounding the exact quotient instead would be off by one zero point on every
 * range [-a, a] whose -min / s is a near-tie; see docs/fixed-point.md. */
#include "qrt.h"

#include "fixed.h"
#include "softf32.h"

/* a, or 0 where the sign bit is set. */
static uint32_t positive(uint32_t a)
{
    return a & ~(uint32_t)qrt_asr32((int32_t)a, 31);
}

/* A positive integer as binary32, exact up to 2^24. */
static uint32_t from_int(uint32_t v)
{
    return qrt_f32_from_fixed((int32_t)v, 0);
}

static uint32_t raw_step(uint32_t max_bits, uint32_t min_bits, uint32_t bits,
                         bool asymmetric)
{
    uint32_t codes = (uint32_t)1 << (bits - 1U);
    uint32_t range = qrt_f32_abs(max_bits);
    uint32_t bottom = qrt_f32_abs(min_bits);

    if (asymmetric) {
        range =
            qrt_f32_add(positive(max_bits), positive(qrt_f32_neg(min_bits)));
        codes = 2U * codes - 1U;
    } else if (range < bottom) {
        range = bottom;
    } else {
        codes -= 1U;
    }
    return qrt_f32_div(range, from_int(codes));
}

static enum qrt_status step_of(uint32_t max_bits, uint32_t min_bits,
                               uint32_t bits, bool asymmetric, uint32_t *step)
{
    if (bits < 2 || bits > 16) {
        return QRT_ERR_RANGE;
    }
    if (!qrt_f32_is_finite(max_bits) || !qrt_f32_is_finite(min_bits)) {
        return QRT_ERR_NOT_FINITE;
    }
    *step = raw_step(max_bits, min_bits, bits, asymmetric);
    return qrt_f32_is_finite(*step) ? QRT_OK : QRT_ERR_NOT_FINITE;
}

enum qrt_status qrt_scale_step(uint32_t max_bits, uint32_t min_bits,
                               uint32_t bits, bool asymmetric,
                               uint32_t *step_bits)
{
    uint32_t step = 0;
    enum qrt_status status;

    if (step_bits == NULL) {
        return QRT_ERR_NULL;
    }
    status = step_of(max_bits, min_bits, bits, asymmetric, &step);
    if (status == QRT_OK) {
        *step_bits = step < QRT_F32_EPS ? QRT_F32_ONE : step;
    }
    return status;
}

int32_t qrt_scale_zero_point(uint32_t min_bits, uint32_t step_bits,
                             uint32_t bits, enum qrt_zero_rule rule)
{
    uint32_t half = 1U << (bits - 1U);
    uint32_t below = positive(qrt_f32_neg(min_bits));
    uint32_t steps = qrt_f32_div(below, step_bits);
    int32_t zero;

    if (rule == QRT_ZERO_IFMR) {
        zero = qrt_f32_to_s32(steps) - (int32_t)half; /* steps >= 0 */
    } else {
        zero = qrt_f32_to_s32(qrt_f32_sub(steps, from_int(half)));
    }
    return qrt_clamp32(zero, -(int32_t)half, (int32_t)half - 1);
}

enum qrt_status qrt_quant_from_step(uint32_t step_bits, int32_t zero_point,
                                    struct qrt_quant *out)
{
    struct qrt_real scale, recip;
    enum qrt_status status;

    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    status = qrt_real_from_f32(step_bits, &scale);
    if (status == QRT_OK) {
        status = qrt_real_reciprocal(scale, &recip);
    }
    if (status == QRT_OK) {
        out->scale = scale;
        out->recip = recip;
        out->zero_point = zero_point;
        out->degenerate = 0;
    }
    return status;
}

enum qrt_status qrt_scale_derive(uint32_t max_bits, uint32_t min_bits,
                                 uint32_t bits, bool asymmetric,
                                 enum qrt_zero_rule rule, struct qrt_quant *out)
{
    uint32_t step = 0;
    int32_t zero = 0;
    bool degenerate;
    enum qrt_status status;

    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    status = step_of(max_bits, min_bits, bits, asymmetric, &step);
    if (status != QRT_OK) {
        return status;
    }
    degenerate = step < QRT_F32_EPS;
    if (degenerate) {
        step = QRT_F32_ONE;
    }
    if (asymmetric) {
        zero =
            qrt_scale_zero_point(degenerate ? 0 : min_bits, step, bits, rule);
    }
    status = qrt_quant_from_step(step, zero, out);
    if (status == QRT_OK) {
        out->degenerate = degenerate;
    }
    return status;
}

enum qrt_status qrt_scale_derive_fixed(int32_t max, int32_t min, int32_t frac,
                                       uint32_t bits, bool asymmetric,
                                       enum qrt_zero_rule rule,
                                       struct qrt_quant *out)
{
    if (frac < -96 || frac > 117) {
        return QRT_ERR_RANGE;
    }
    return qrt_scale_derive(qrt_f32_from_fixed(max, frac),
                            qrt_f32_from_fixed(min, frac), bits, asymmetric,
                            rule, out);
}
