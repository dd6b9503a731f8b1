/* ULQ: fake quantization with learned limits, and the gradients of these. */
#include "kernel.h"
#include "softf32.h"

#define LOAD_MAX ((uint32_t)1 << 31)

/* ------------------------------------------------------------- limits */

/* The binary32 next to a limit; false if that is no normalised number. */
static bool limit_bits(const struct qrt_real *r, uint32_t *bits)
{
    *bits = qrt_real_to_f32(*r);
    if (r->m == 0) {
        return r->e == 0;
    }
    return qrt_abs32(r->m) >> 30 == 1 && r->e >= -148 && r->e <= 128;
}

/* The width test of the first fallback. */
static bool too_narrow(uint32_t max, uint32_t min, bool strict)
{
    int32_t width = qrt_f32_order(qrt_f32_sub(max, min));

    return strict ? width <= (int32_t)QRT_F32_EPS : width == 0;
}

/* rne(v) - v in Q16 for v = f32(limit / s), |v| <= 2^16. In binary32, as AMCT:
 * for limits -a and a the quotient is a near-tie, and the error of a limit
 * counts for every element beyond it. */
static int32_t limit_error_q16(uint32_t limit_bits, uint32_t step_bits)
{
    uint32_t v = qrt_f32_div(limit_bits, step_bits);

    return (int32_t)(qrt_shl64(qrt_f32_to_s32(v), 16) -
                     qrt_f32_to_fixed(v, 16));
}

/* The same for v = x * 2^-frac / s in integers; the difference of the level
 * and the value is small, so that both may wrap. */
static int32_t error_q16(int32_t x, int32_t frac, const struct qrt_real *recip)
{
    int32_t sh = 31 - recip->e + frac;
    int32_t level = qrt_mul_shift_half_even(x, recip->m, sh, 0);
    int64_t v = qrt_rshift_half_even((int64_t)x * recip->m, sh - 16, 0);

    return (int32_t)(((uint32_t)level << 16) - (uint32_t)v);
}

enum qrt_status qrt_ulq_prepare(const struct qrt_ulq_clips *clips,
                                struct qrt_ulq_step *out)
{
    uint32_t max, min, max_init, min_init, step;
    enum qrt_status status;

    if (clips == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    if (!limit_bits(&clips->max, &max) || !limit_bits(&clips->min, &min) ||
        !limit_bits(&clips->max_init, &max_init) ||
        !limit_bits(&clips->min_init, &min_init)) {
        return QRT_ERR_RANGE;
    }
    if (clips->fixed_min) {
        min = 0;
    }
    if (too_narrow(max, min, clips->strict_width)) {
        max = max_init;
        min = min_init;
    } else if (qrt_f32_is_negative(max)) {
        max = max_init;
    } else if ((int32_t)min > 0) {
        min = min_init;
    }
    status = qrt_scale_derive(max, min, clips->bits, clips->asymmetric,
                              QRT_ZERO_ARQ, &out->quant);
    if (status != QRT_OK) {
        return status;
    }
    (void)qrt_real_from_f32(max, &out->max);
    (void)qrt_real_from_f32(min, &out->min);
    step = qrt_real_to_f32(out->quant.scale);
    out->max_error_q16 = limit_error_q16(max, step);
    out->min_error_q16 = limit_error_q16(min, step);
    out->code_max = ((int32_t)1 << (clips->bits - 1U)) - 1;
    out->code_min = -1 - out->code_max;
    return QRT_OK;
}

/* ------------------------------------------------------------ elements */

static QRT_NOINLINE enum qrt_status check(enum qrt_type type, const void *x,
                                          uint32_t n, int32_t frac,
                                          const struct qrt_ulq_step *step,
                                          const void *out)
{
    if (x == NULL || step == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    if ((type != QRT_S16 && type != QRT_S32) || n == 0 || frac < -96 ||
        frac > 117) {
        return QRT_ERR_RANGE;
    }
    return QRT_OK;
}

enum qrt_status qrt_ulq_forward_any(enum qrt_type type, const void *x,
                                    uint32_t n, int32_t frac,
                                    const struct qrt_ulq_step *step, void *y)
{
    struct qrt_coder coder;
    enum qrt_status status = check(type, x, n, frac, step, y);

    if (status != QRT_OK) {
        return status;
    }
    qrt_coder_set(&coder, &step->quant.recip, step->quant.zero_point,
                  step->code_min, step->code_max);
    for (uint32_t i = 0; i < n; i++) {
        int32_t v = qrt_code_of_fixed(qrt_load(type, x, i), frac, &coder);

        v = qrt_fixed_of_code(v - coder.zero, step->quant.scale, frac);
        qrt_store(type, y, i, type == QRT_S16 ? qrt_sat16(v) : v);
    }
    return QRT_OK;
}

/* floor(f32(steps * s) * 2^frac) for steps >= 0, saturated to int32. */
static int32_t floor_level(int32_t steps, const struct qrt_ulq_step *step,
                           int32_t frac)
{
    uint32_t level = qrt_f32_times(qrt_real_to_f32(step->quant.scale), steps);
    int32_t nearest = qrt_sat32(qrt_f32_to_fixed(level, frac));

    /* A level with a fraction is below 2^24, and its way back is exact.
     * Patterns of numbers that are not negative order as integers. */
    return nearest - (qrt_f32_from_fixed(nearest, frac) > level);
}

enum qrt_status qrt_ulq_backward_any(enum qrt_type type, const void *x,
                                     uint32_t n, int32_t frac,
                                     const struct qrt_ulq_step *step,
                                     const void *g, void *grad_x,
                                     struct qrt_ulq_sums *sums)
{
    const uint32_t wide = type == QRT_S16 ? 0U : 16U;
    int32_t upper, lower;
    enum qrt_status status = check(type, x, n, frac, step, grad_x);

    if (status != QRT_OK) {
        return status;
    }
    if (g == NULL || sums == NULL) {
        return QRT_ERR_NULL;
    }
    if (sums->load > LOAD_MAX || n > (LOAD_MAX - sums->load) >> wide) {
        return QRT_ERR_FULL;
    }
    sums->load += n << wide;
    upper = floor_level(step->code_max - step->quant.zero_point, step, frac);
    lower = -floor_level(step->quant.zero_point - step->code_min, step, frac);
    if (lower == -INT32_MAX) { /* saturated: nothing is below */
        lower = INT32_MIN;
    }
    for (uint32_t i = 0; i < n; i++) {
        int32_t v = qrt_load(type, x, i);
        int32_t grad = qrt_load(type, g, i);
        int64_t *sum = v > upper ? &sums->upper : &sums->lower;

        if (v <= upper && v >= lower) {
            sum = &sums->inner;
            *sum += (int64_t)error_q16(v, frac, &step->quant.recip) * grad;
        } else {
            *sum += grad;
            grad = 0;
        }
        qrt_store(type, grad_x, i, grad);
    }
    return QRT_OK;
}

/* ----------------------------------------------------------- gradients */

enum qrt_status qrt_ulq_gradients(const struct qrt_ulq_step *step,
                                  const struct qrt_ulq_sums *sums,
                                  int64_t *grad_max, int64_t *grad_min)
{
    uint32_t levels;
    int64_t errors, share;
    uint32_t rest = 0;
    uint64_t quotient;

    if (step == NULL || sums == NULL || grad_max == NULL || grad_min == NULL) {
        return QRT_ERR_NULL;
    }
    if (sums->load > LOAD_MAX || step->code_max < 1 ||
        step->code_max > INT16_MAX) {
        return QRT_ERR_RANGE;
    }
    levels = 2U * (uint32_t)step->code_max + 1U;
    errors = sums->inner + step->max_error_q16 * sums->upper +
             step->min_error_q16 * sums->lower;
    /* levels is odd: no tie */
    quotient =
        qrt_udiv64(qrt_abs64(errors) + (uint32_t)step->code_max, levels, &rest);
    share = qrt_signed64(quotient, errors < 0);
    *grad_max = qrt_shl64(sums->upper, 16) + share;
    *grad_min = qrt_shl64(sums->lower, 16) - share;
    return QRT_OK;
}
