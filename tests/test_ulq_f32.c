/* ULQ in binary32: runtime/ulq_f32.c, ulq_scale_f32.c, acts_ulq_cann_f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

static double wide(struct vf *v, const char *name)
{
    uint32_t *w = (uint32_t *)(void *)vf_floats(v, name, NULL);
    uint64_t u = w[0] | (uint64_t)w[1] << 32;
    double d;
    memcpy(&d, &u, 8);
    return d;
}

static void check_grad(struct vf *v, const char *which, double grad, size_t n)
{
    char name[40];
    double want, sum;
    snprintf(name, sizeof name, "%s_ref64", which);
    want = wide(v, name);
    snprintf(name, sizeof name, "%s_abs_sum", which);
    sum = wide(v, name);
    /* Far inside the tolerance of the recorded cases: both are sums of the
     * same binary32 terms. */
    if (fabs(grad - want) > 1e-13 * (double)n * sum)
        fail_msg("%s: %s is %.17g, not %.17g", v->id, which, grad, want);
}

static void check_case(struct vf *v)
{
    float scale;
    float *clips = vf_floats(v, "clips", NULL), max = clips[0], min = clips[1];
    int32_t offset;
    struct qrt_ulq_f32 cfg = {(uint32_t)vf_int(v, "bits"),
                              vf_int(v, "asymmetric"),
                              vf_int(v, "fixed_min"),
                              false,
                              clips[2],
                              clips[3]};
    if (vf_has(v, "error")) {
        assert_int_equal(qrt_ulq_f32_clips(&cfg, &max, &min, &scale, &offset),
                         QRT_ERR_NOT_FINITE);
        return;
    }
    size_t n;
    float *x = vf_floats(v, "x", &n), *g = vf_floats(v, "g", NULL);
    if (v->missing)
        return;
    float *y = vf_own(v, n * 4), *gx = vf_own(v, n * 4);
    assert_int_equal(
        qrt_ulq_f32_forward(&cfg, x, n, &max, &min, &scale, &offset, y),
        QRT_OK);
    vf_check_bits(v, "scale", &scale, 1);
    vf_check_ints(v, "zero", &offset, 1);
    vf_check_bits(v, "clips_out", (float[]){max, min}, 2);
    vf_check_bits(v, "y", y, n);
    double grad_max, grad_min;
    assert_int_equal(
        qrt_ulq_f32_backward(&cfg, x, g, n, max, min, gx, &grad_max, &grad_min),
        QRT_OK);
    check_grad(v, "grad_max", grad_max, n);
    check_grad(v, "grad_min", grad_min, n);
    if (!vf_has(v, "pass"))
        return;
    const char *pass = vf_need(v, "pass")->value;
    for (size_t i = 0; i < n; i++)
        assert_true(gx[i] == (pass[i] == '1' ? g[i] : 0.0f));
}

static void forward_and_backward_are_those_of_amct(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "ulq.txt");
    while (vf_next(&v))
        check_case(&v);
    assert_int_equal(v.cases, 64);
    vf_close(&v);
}

static void strict_width_takes_both_fallbacks(void **state)
{
    struct qrt_ulq_f32 cfg = {8, true, false, false, 1.5f, -1.25f};
    const float clips[][2] = {
        {1e-9f,  0.0f },
        {0.5f,   0.6f },
        {-0.25f, 0.25f}
    };
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int strict = 0; strict < 2; strict++) {
            float max = clips[k][0], min = clips[k][1], scale;
            int32_t offset;
            cfg.strict_width = strict;
            assert_int_equal(
                qrt_ulq_f32_clips(&cfg, &max, &min, &scale, &offset), QRT_OK);
            assert_int_equal(max == 1.5f && min == -1.25f, strict);
        }
}

/* Limits of the passed range, and one step of the float beyond. */
static void the_limits_themselves_pass(void **state)
{
    struct qrt_ulq_f32 cfg = {8, true, false, false, 1.0f, -1.0f};
    /* s = 1/2, o = -28: the range is [-50, 77.5]. */
    const float x[] = {77.5f, nextafterf(77.5f, 100.0f), -50.0f,
                       nextafterf(-50.0f, -100.0f)};
    const float g[] = {1, 1, 1, 1};
    float gx[4];
    double a, b;
    (void)state;
    assert_int_equal(
        qrt_ulq_f32_backward(&cfg, x, g, 4, 77.5f, -50.0f, gx, &a, &b), QRT_OK);
    assert_true(gx[0] == 1 && gx[1] == 0 && gx[2] == 1 && gx[3] == 0);
    assert_true(a == 1.0 && b == 1.0);
}

static void clips_stay_as_they_were_on_error(void **state)
{
    struct qrt_ulq_f32 cfg = {8, true, false, false, 1.0f, -1.0f};
    float max = INFINITY, min = -1.0f, scale = 7.0f;
    int32_t offset = 9;
    (void)state;
    assert_int_equal(qrt_ulq_f32_clips(&cfg, &max, &min, &scale, &offset),
                     QRT_ERR_NOT_FINITE);
    assert_true(isinf(max) && min == -1.0f && scale == 7.0f && offset == 9);
    cfg.bits = 1;
    assert_int_equal(qrt_ulq_f32_clips(&cfg, &max, &min, &scale, &offset),
                     QRT_ERR_RANGE);
}

/* ------------------------------------------------------- learned steps */

/* Sum of the sizes of the terms of a gradient, for its tolerance. */
static double sum_of_terms(const float *w, const float *g, size_t n, float s,
                           uint32_t bits, bool reciprocal, size_t per)
{
    double sum = 0, half = ldexp(1, (int)bits - 1);
    for (size_t i = 0; i < n; i++) {
        double t = (double)w[i] / (double)s, d = fabs(rint(t) - t);
        d = t > half - 1 ? half - 1 : t < -half ? half : d;
        sum += d * fabs((double)g[i]);
    }
    if (reciprocal)
        sum *= (double)s * (double)s;
    return sum / sqrt((double)per * (half - 1));
}

static void check_scale_case(struct vf *v)
{
    size_t n, scales, ignored;
    int32_t *shape = vf_ints(v, "shape", NULL);
    size_t rows = (size_t)shape[0], per = (size_t)shape[1];
    float *w = vf_floats(v, "w", &n), *g = vf_floats(v, "g", NULL);
    float *scale = vf_floats(v, "scale", &scales);
    float *want = vf_floats(v, "scale_out", NULL);
    float *want_y = vf_floats(v, "y", &ignored);
    float *want_grad = vf_floats(v, "grad", NULL);
    float *y = vf_own(v, n * 4);
    bool reciprocal = vf_int(v, "reciprocal");
    uint32_t bits = (uint32_t)vf_int(v, "bits");
    double grad[64];
    assert_true(n == rows * per && scales <= 64);
    assert_int_equal(qrt_ulq_scale_f32_forward(w, rows, per, bits,
                                               vf_int(v, "init"), reciprocal,
                                               scale, scales, y),
                     QRT_OK);
    for (size_t i = 0; i < scales; i++)
        if (vf_ulp(scale[i], want[i]) > (reciprocal ? 2 : 0))
            fail_msg("%s: scale %zu", v->id, i);
    for (size_t i = 0; i < n; i++) {
        size_t k = scales == 1 ? 0 : i / per;
        float s = reciprocal ? 1.0f / scale[k] : scale[k];
        bool near = reciprocal && fabsf(y[i] - want_y[i]) <= 1.001f * s;
        if (vf_ulp(y[i], want_y[i]) > (reciprocal ? 2 : 0) && !near)
            fail_msg("%s: y[%zu] %.9g %.9g", v->id, i, (double)y[i],
                     (double)want_y[i]);
    }
    assert_int_equal(qrt_ulq_scale_f32_backward(w, g, rows, per, bits,
                                                reciprocal, want, scales, grad),
                     QRT_OK);
    for (size_t i = 0; i < scales; i++) {
        size_t part = n / scales;
        float s = reciprocal ? 1.0f / want[i] : want[i];
        double sum = sum_of_terms(w + i * part, g + i * part, part, s, bits,
                                  reciprocal, per);
        if (fabs(grad[i] - (double)want_grad[i]) > 4e-6 * sum + 1e-9)
            fail_msg("%s: grad %zu %.9g %.9g", v->id, i, grad[i],
                     (double)want_grad[i]);
    }
}

static void learned_steps_are_those_of_amct(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "ulq_scale_f32.txt");
    while (vf_next(&v))
        check_scale_case(&v);
    assert_int_equal(v.cases, 24);
    vf_close(&v);
}

/* The factor 1 / sqrt(n * (H - 1)) seen through a gradient of one: weights
 * above the range give d = H - 1 each. */
static void gradient_factor_has_the_bits_of_sqrt(void **state)
{
    static float w[4000], g[4000];
    (void)state;
    for (size_t i = 0; i < 4000; i++)
        w[i] = 1000.0f;
    for (size_t n = 1; n <= 4000; n += n < 100 ? 1 : 37) {
        const float step[1] = {1.0f};
        double grad;
        for (size_t i = 0; i < 4000; i++)
            g[i] = i == 0 ? 1.0f : 0.0f;
        qrt_ulq_scale_f32_backward(w, g, 1, n, 8, false, step, 1, &grad);
        float want = 127.0f * (1.0f / sqrtf((float)(n * 127)));
        assert_true((float)grad == want);
    }
}

static void learned_steps_refuse_bad_arguments(void **state)
{
    float w[4] = {1, 2, 3, 4}, y[4], scale[2] = {1, -1};
    (void)state;
    assert_int_equal(
        qrt_ulq_scale_f32_forward(w, 2, 2, 8, false, false, scale, 2, y),
        QRT_ERR_RANGE);
    assert_int_equal(
        qrt_ulq_scale_f32_forward(w, 4, 1, 8, false, false, scale, 2, y),
        QRT_ERR_SIZE);
    w[3] = NAN;
    assert_int_equal(
        qrt_ulq_scale_f32_forward(w, 2, 2, 8, true, false, scale, 1, y),
        QRT_ERR_NOT_FINITE);
}

/* ------------------------------------------------------------- ActsULQ */

static void check_sum(struct vf *v, const char *name, double grad)
{
    double *want = vf_doubles(v, name, NULL);
    if (fabs(grad - want[0]) > want[1])
        fail_msg("%s: %s is %.17g, not %.17g", v->id, name, grad, want[0]);
}

/* Masks are hashed as words. */
static float *as_words(struct vf *v, const uint8_t *mask, size_t n)
{
    float *out = vf_own(v, n * 4);
    for (size_t i = 0; i < n; i++) {
        uint32_t u = mask[i];
        memcpy(out + i, &u, 4);
    }
    return out;
}

static void check_acts_case(struct vf *v)
{
    size_t n;
    float *x = vf_floats(v, "x", &n), *g = vf_floats(v, "g", NULL);
    struct qrt_acts_ulq_cann_f32 r;
    if (v->missing)
        return;
    float *y = vf_own(v, n * 4), *loss = vf_own(v, n * 4);
    float *gx = vf_own(v, n * 4);
    uint8_t *lo = vf_own(v, n), *hi = vf_own(v, n);
    double grad;
    assert_int_equal(qrt_acts_ulq_cann_f32(x, n, vf_float(v, "clamp_min"),
                                           vf_float(v, "clamp_max"),
                                           vf_int(v, "fixed_min"), y, lo, hi,
                                           loss, &r),
                     QRT_OK);
    vf_check_bits(v, "scale", &r.scale, 1);
    assert_true(r.offset == (float)vf_int(v, "offset"));
    vf_check_bits(v, "clip_min", &r.clip_min, 1);
    vf_check_bits(v, "clip_max", &r.clip_max, 1);
    vf_check_hash(v, "y", y, n);
    vf_check_hash(v, "loss", loss, n);
    vf_check_hash(v, "min_mask", as_words(v, lo, n), n);
    vf_check_hash(v, "max_mask", as_words(v, hi, n), n);
    qrt_acts_ulq_cann_f32_input_grad(g, n, lo, hi, gx);
    vf_check_hash(v, "x_grad", gx, n);
    qrt_acts_ulq_cann_f32_max_grad(g, n, hi, loss, false, &grad);
    check_sum(v, "max_grad", grad);
    qrt_acts_ulq_cann_f32_max_grad(g, n, hi, loss, true, &grad);
    check_sum(v, "max_grad_current", grad);
    qrt_acts_ulq_cann_f32_min_grad(g, n, lo, loss, &grad);
    check_sum(v, "min_grad", grad);
}

static void masks_of_acts_ulq_include_the_limits(void **state)
{
    struct qrt_acts_ulq_cann_f32 r;
    uint8_t lo[4], hi[4];
    float x[4] = {0};
    (void)state;
    qrt_acts_ulq_cann_f32(x, 4, -1.3f, 2.1f, false, NULL, NULL, NULL, NULL, &r);
    x[0] = r.clip_max;
    x[1] = nextafterf(r.clip_max, 100.0f);
    x[2] = r.clip_min;
    x[3] = nextafterf(r.clip_min, -100.0f);
    qrt_acts_ulq_cann_f32(x, 4, -1.3f, 2.1f, false, NULL, lo, hi, NULL, &r);
    assert_true(hi[0] == 1 && hi[1] == 0 && hi[2] == 1 && hi[3] == 1);
    assert_true(lo[0] == 1 && lo[1] == 1 && lo[2] == 1 && lo[3] == 0);
}

static void acts_ulq_and_its_gradients_are_those_of_cann(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "acts_ulq_cann_f32.txt");
    while (vf_next(&v))
        check_acts_case(&v);
    assert_int_equal(v.cases, 32);
    vf_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_and_backward_are_those_of_amct),
        cmocka_unit_test(strict_width_takes_both_fallbacks),
        cmocka_unit_test(the_limits_themselves_pass),
        cmocka_unit_test(clips_stay_as_they_were_on_error),
        cmocka_unit_test(learned_steps_are_those_of_amct),
        cmocka_unit_test(gradient_factor_has_the_bits_of_sqrt),
        cmocka_unit_test(learned_steps_refuse_bad_arguments),
        cmocka_unit_test(masks_of_acts_ulq_include_the_limits),
        cmocka_unit_test(acts_ulq_and_its_gradients_are_those_of_cann),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
