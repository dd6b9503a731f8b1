/* runtime/ulq.c: golden/ulq_amct on Q numbers, and properties. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

enum { CHUNK = 32768 }; /* int32 gradients of one sum */

static double field64(const struct vec_case *c, const char *name)
{
    const int32_t *v = vec_get(c, name)->v;
    uint64_t bits = (uint64_t)(uint32_t)v[1] << 32 | (uint32_t)v[0];
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

static bool read_clips(const struct vec_case *c, struct qrt_ulq_clips *clips)
{
    const int32_t *v = vec_get(c, "clips")->v;

    clips->bits = (uint8_t)vec_int(c, "bits");
    clips->asymmetric = vec_int(c, "asymmetric") != 0;
    clips->fixed_min = vec_int(c, "fixed_min") != 0;
    clips->strict_width = false;
    return qrt_real_from_f32((uint32_t)v[0], &clips->max) == QRT_OK &&
           qrt_real_from_f32((uint32_t)v[1], &clips->min) == QRT_OK &&
           qrt_real_from_f32((uint32_t)v[2], &clips->max_init) == QRT_OK &&
           qrt_real_from_f32((uint32_t)v[3], &clips->min_init) == QRT_OK;
}

/* Codes that differ from the recorded ones; all other outputs are within half
 * a unit of the Q format. */
static int forward_differs(const struct vec_case *c, const int32_t *x, int frac,
                           const struct qrt_ulq_step *step)
{
    const struct vec_field *want = vec_get(c, "y");
    int32_t *y = malloc(want->n * sizeof *y);
    double s = ldexp(step->quant.scale.m, step->quant.scale.e - 31);
    int differ = 0;

    assert_int_equal(qrt_ulq_forward_s32(x, (uint32_t)want->n, frac, step, y),
                     QRT_OK);
    for (size_t i = 0; i < want->n; i++) {
        double w = vec_float(want->v[i]), got = ldexp(y[i], -frac);

        if (fabs(got - w) > s / 2) {
            differ++;
        } else { /* the recorded product is rounded to binary32 */
            assert_true(fabs(got - w) <=
                        ldexp(0.5, -frac) + ldexp(fabs(w), -24));
        }
    }
    free(y);
    return differ;
}

static void check_backward(const struct vec_case *c, const int32_t *x, int frac,
                           const struct qrt_ulq_step *step, double *worst)
{
    const struct vec_field *g = vec_get(c, "g");
    int32_t *grad = vec_fixed(g, 20, 32);
    int32_t *passed = malloc(g->n * sizeof *passed);
    int32_t *ones = malloc(g->n * sizeof *ones);
    double got_max = 0, got_min = 0, total = 0, unit;
    int64_t upper = 0, lower = 0;

    for (size_t i = 0; i < g->n; i++) {
        ones[i] = 1;
        total += fabs(vec_float(g->v[i]));
    }
    for (size_t at = 0; at < g->n; at += CHUNK) {
        uint32_t n = (uint32_t)(g->n - at < CHUNK ? g->n - at : CHUNK);
        struct qrt_ulq_sums sums = {0, 0, 0, 0}, count = {0, 0, 0, 0};
        int64_t a, b;

        assert_int_equal(qrt_ulq_backward_s32(x + at, n, frac, step, grad + at,
                                              passed + at, &sums),
                         QRT_OK);
        assert_int_equal(qrt_ulq_gradients(step, &sums, &a, &b), QRT_OK);
        got_max += ldexp((double)a, -36);
        got_min += ldexp((double)b, -36);
        assert_int_equal(qrt_ulq_backward_s32(x + at, n, frac, step, ones + at,
                                              ones + at, &count),
                         QRT_OK);
        upper += count.upper;
        lower += count.lower;
    }
    assert_int_equal(upper, vec_get(c, "outside")->v[0]);
    assert_int_equal(lower, vec_get(c, "outside")->v[1]);
    for (size_t i = 0; i < g->n && vec_has(c, "pass"); i++) {
        assert_int_equal(passed[i], vec_get(c, "pass")->v[i] ? grad[i] : 0);
    }
    /* One error of 1. At 16 bits binary32 itself has 8 bits below a level. */
    unit = total / (2 * step->code_max + 1) * (step->code_max > 127 ? 32 : 1);
    if (total > 0) {
        *worst =
            fmax(*worst, fabs(got_max - field64(c, "grad_max_ref64")) / unit);
        *worst =
            fmax(*worst, fabs(got_min - field64(c, "grad_min_ref64")) / unit);
    }
    free(grad);
    free(passed);
    free(ones);
}

static void golden_steps(void **state)
{
    FILE *f = vec_open("ulq.txt");
    static struct vec_case c;
    int cases = 0, skipped = 0, differ = 0;
    double worst = 0;

    (void)state;
    while (vec_next(f, &c)) {
        struct qrt_ulq_clips clips;
        struct qrt_ulq_step step;
        const struct vec_field *x;
        int32_t *fixed;
        int frac;

        if (vec_has(&c, "error")) { /* a NaN is no real number */
            assert_false(read_clips(&c, &clips));
            cases++;
            continue;
        }
        assert_true(read_clips(&c, &clips));
        assert_int_equal(qrt_ulq_prepare(&clips, &step), QRT_OK);
        assert_true(qrt_real_to_f32(step.quant.scale) ==
                    (uint32_t)vec_int(&c, "scale"));
        assert_int_equal(step.quant.zero_point, vec_int(&c, "zero"));
        assert_true(qrt_real_to_f32(step.max) ==
                    (uint32_t)vec_get(&c, "clips_out")->v[0]);
        assert_true(qrt_real_to_f32(step.min) ==
                    (uint32_t)vec_get(&c, "clips_out")->v[1]);
        if (c.missing) {
            printf("%s: data need ../shared/golden, skipped\n", c.id);
            skipped++;
            continue;
        }
        x = vec_get(&c, "x");
        frac = vec_frac(x, 31);
        fixed = vec_fixed(x, frac, 31);
        differ += forward_differs(&c, fixed, frac, &step);
        check_backward(&c, fixed, frac, &step, &worst);
        free(fixed);
        cases++;
    }
    fclose(f);
    assert_int_equal(cases + skipped, 64);
    assert_true(differ <= 1);
    /* One near-tie among n elements moves a sum by |g| / D. */
    assert_true(worst <= 2e-4);
}

/* ---- limits ---- */

static struct qrt_ulq_clips clips_of(float max, float min)
{
    struct qrt_ulq_clips c;

    assert_int_equal(qrt_real_from_f32(vec_bits(max), &c.max), QRT_OK);
    assert_int_equal(qrt_real_from_f32(vec_bits(min), &c.min), QRT_OK);
    assert_int_equal(qrt_real_from_f32(vec_bits(1.5f), &c.max_init), QRT_OK);
    assert_int_equal(qrt_real_from_f32(vec_bits(-1.25f), &c.min_init), QRT_OK);
    c.bits = 8;
    c.asymmetric = true;
    c.fixed_min = false;
    c.strict_width = false;
    return c;
}

static void limits_are(const struct qrt_ulq_clips *c, float max, float min)
{
    struct qrt_ulq_step step;

    assert_int_equal(qrt_ulq_prepare(c, &step), QRT_OK);
    assert_true(qrt_real_to_f32(step.max) == vec_bits(max));
    assert_true(qrt_real_to_f32(step.min) == vec_bits(min));
}

static void strict_width_takes_both_fallbacks(void **state)
{
    static const float narrow[][2] = {
        {1e-9f,    0    },
        {0x1p-23f, 0    },
        {0.5f,     0.6f },
        {-0.25f,   0.25f}
    };
    static const float amct[][2] = {
        {1e-9f,    0     },
        {0x1p-23f, 0     },
        {0.5f,     -1.25f},
        {1.5f,     0.25f }
    };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct qrt_ulq_clips c = clips_of(narrow[i][0], narrow[i][1]);

        limits_are(&c, amct[i][0], amct[i][1]);
        c.strict_width = true;
        limits_are(&c, 1.5f, -1.25f);
    }
}

static void just_wide_enough_is_kept_by_both_tests(void **state)
{
    struct qrt_ulq_clips c = clips_of(0x1.000002p-23f, 0);

    (void)state;
    limits_are(&c, 0x1.000002p-23f, 0);
    c.strict_width = true;
    limits_are(&c, 0x1.000002p-23f, 0);
}

static void width_zero_takes_both_fallbacks(void **state)
{
    struct qrt_ulq_clips c = clips_of(-1, -1);

    (void)state;
    limits_are(&c, 1.5f, -1.25f);
    c.fixed_min = true; /* now the width is -1: only max falls back */
    limits_are(&c, 1.5f, 0);
}

static void fixed_min_pins_the_lower_limit(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, -3);

    (void)state;
    limits_are(&c, 2, -3);
    c.fixed_min = true;
    limits_are(&c, 2, 0);
}

static void a_lower_limit_above_zero_falls_back(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, 0x1p-149f);

    (void)state;
    limits_are(&c, 2, -1.25f);
    c = clips_of(2, 0);
    limits_are(&c, 2, 0);
}

static void limits_that_are_no_numbers_are_refused(void **state)
{
    struct qrt_ulq_clips c = clips_of(3.3e38f, -3.3e38f);
    struct qrt_ulq_step step;

    (void)state;
    memset(&step, 0x55, sizeof step);
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_ERR_NOT_FINITE);
    c = clips_of(1, -1);
    c.max.m = 5;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_ERR_RANGE);
    c = clips_of(1, -1);
    c.bits = 17;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_ERR_RANGE);
    assert_int_equal(step.code_max, 0x55555555);
    assert_int_equal(qrt_ulq_prepare(&c, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_prepare(NULL, &step), QRT_ERR_NULL);
}

/* ---- elements ---- */

static void int16_and_int32_agree(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, -3);
    struct qrt_ulq_step step;
    struct qrt_ulq_sums a = {0, 0, 0, 0}, b = {0, 0, 0, 0};
    int16_t x16[500], g16[500], y16[500];
    int32_t x32[500], g32[500], y32[500];
    uint64_t seed = 70;

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    for (int i = 0; i < 500; i++) {
        x32[i] = x16[i] = (int16_t)vec_random(&seed);
        g32[i] = g16[i] = (int16_t)vec_random(&seed);
    }
    assert_int_equal(qrt_ulq_forward_s16(x16, 500, 13, &step, y16), QRT_OK);
    assert_int_equal(qrt_ulq_forward_s32(x32, 500, 13, &step, y32), QRT_OK);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(y16[i], y32[i]);
    }
    /* in place, and in two pieces */
    assert_int_equal(qrt_ulq_backward_s16(x16, 200, 13, &step, g16, g16, &a),
                     QRT_OK);
    assert_int_equal(qrt_ulq_backward_s16(x16 + 200, 300, 13, &step, g16 + 200,
                                          g16 + 200, &a),
                     QRT_OK);
    assert_int_equal(qrt_ulq_backward_s32(x32, 500, 13, &step, g32, y32, &b),
                     QRT_OK);
    assert_true(a.upper == b.upper && a.lower == b.lower && a.inner == b.inner);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(g16[i], y32[i]);
    }
}

/* The definition in double, at Q formats from coarse to fine. */
static void gradients_follow_the_definition(void **state)
{
    uint64_t seed = 71;

    (void)state;
    for (int frac = -4; frac <= 24; frac += 2) {
        struct qrt_ulq_clips c =
            clips_of(ldexpf(1.7f, 18 - frac), ldexpf(-0.9f, 18 - frac));
        struct qrt_ulq_step step;
        struct qrt_ulq_sums sums = {0, 0, 0, 0};
        double s, hi, lo, want_max = 0, want_min = 0, total = 0;
        int64_t grad_max, grad_min;
        int32_t x[256], g[256], out[256];

        assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
        s = ldexp(step.quant.scale.m, step.quant.scale.e - 31);
        hi = (float)s * (float)(127 - step.quant.zero_point);
        lo = (float)s * (float)(-128 - step.quant.zero_point);
        for (int i = 0; i < 256; i++) {
            double v, e;
            bool up, down;

            x[i] = (int32_t)vec_random(&seed) >> 12; /* +-2^19 */
            g[i] = (int32_t)vec_random(&seed) >> 10;
            v = ldexp(x[i], -frac);
            up = v > hi;
            down = v < lo;
            v = (up     ? ldexp(1.7f, 18 - frac)
                 : down ? -ldexp(0.9f, 18 - frac)
                        : v) /
                s;
            e = (rint(v) - v) / 255;
            want_max += (e + up) * g[i];
            want_min += (down - e) * g[i];
            total += abs(g[i]);
        }
        assert_int_equal(
            qrt_ulq_backward_s32(x, 256, frac, &step, g, out, &sums), QRT_OK);
        assert_int_equal(qrt_ulq_gradients(&step, &sums, &grad_max, &grad_min),
                         QRT_OK);
        assert_true(fabs(ldexp((double)grad_max, -16) - want_max) <=
                    2e-5 * total / 255);
        assert_true(fabs(ldexp((double)grad_min, -16) - want_min) <=
                    2e-5 * total / 255);
    }
}

static void the_error_of_a_limit_is_binary32(void **state)
{
    struct qrt_ulq_clips c = clips_of(50, -50);
    struct qrt_ulq_step step;

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    /* 50 / s is 127.49999...; in binary32 it is the tie 127.5, up to 128 */
    assert_int_equal(step.max_error_q16, 1 << 15);
    assert_int_equal(step.min_error_q16, -(1 << 15));
}

static void an_element_on_the_outer_levels_is_inside(void **state)
{
    struct qrt_ulq_clips c = clips_of(127, -128); /* step 1, zero point 0 */
    struct qrt_ulq_step step;
    struct qrt_ulq_sums sums = {0, 0, 0, 0};
    const int32_t x[] = {127 * 16, 127 * 16 + 1, -128 * 16, -128 * 16 - 1};
    const int32_t g[] = {1, 10, 100, 1000};
    int32_t out[4];

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    assert_int_equal(qrt_ulq_backward_s32(x, 4, 4, &step, g, out, &sums),
                     QRT_OK);
    assert_int_equal(sums.upper, 10);
    assert_int_equal(sums.lower, 1000);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 100);
    assert_int_equal(out[3], 0);
}

static void levels_beyond_the_format_cut_nothing(void **state)
{
    struct qrt_ulq_clips c = clips_of(1e6f, -1e6f);
    struct qrt_ulq_step step;
    struct qrt_ulq_sums sums = {0, 0, 0, 0};
    const int32_t x[] = {INT32_MIN, INT32_MAX}, g[] = {1, 1};
    int32_t out[2];

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    assert_int_equal(qrt_ulq_backward_s32(x, 2, 20, &step, g, out, &sums),
                     QRT_OK);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 1);
}

static void int16_results_saturate(void **state)
{
    struct qrt_ulq_clips c = clips_of(4.03f, -4.03f);
    struct qrt_ulq_step step;
    const int16_t x[] = {32767, -32768};
    int16_t y[2];

    (void)state;
    c.asymmetric = false;
    c.bits = 2; /* steps of 4.03: both ends round outward */
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    assert_int_equal(qrt_ulq_forward_s16(x, 2, 13, &step, y), QRT_OK);
    assert_int_equal(y[0], 32767);
    assert_int_equal(y[1], -32768);
}

static void sums_refuse_more_than_they_can_hold(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, -3);
    struct qrt_ulq_step step;
    struct qrt_ulq_sums sums = {0, 0, 0, 0};
    static int32_t x[CHUNK], g[CHUNK], out[CHUNK];
    int64_t a, b;

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    for (int i = 0; i < CHUNK; i++) {
        x[i] = INT32_MAX;
        g[i] = INT32_MIN;
    }
    assert_int_equal(qrt_ulq_backward_s32(x, CHUNK, 20, &step, g, out, &sums),
                     QRT_OK);
    assert_true(sums.upper == -(1LL << 46));
    assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_OK);
    assert_int_equal(qrt_ulq_backward_s32(x, 1, 20, &step, g, out, &sums),
                     QRT_ERR_FULL);
    assert_true(sums.upper == -(1LL << 46));
    assert_int_equal(qrt_ulq_backward_s16((int16_t *)x, 1, 20, &step,
                                          (int16_t *)g, (int16_t *)out, &sums),
                     QRT_ERR_FULL);
}

static void the_gradients_divide_to_nearest(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, -3);
    struct qrt_ulq_step step;
    struct qrt_ulq_sums sums = {3, -5, 127, 0};
    int64_t a, b;

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    step.max_error_q16 = 0;
    step.min_error_q16 = 0;
    assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_OK);
    assert_int_equal(a, 3 << 16); /* 127 / 255 < 1/2 */
    sums.inner = 128;
    assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_OK);
    assert_int_equal(a, (3 << 16) + 1);
    assert_int_equal(b, -(5 << 16) - 1);
    sums.inner = -128 - 255;
    assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_OK);
    assert_int_equal(a, (3 << 16) - 2);
}

static void extreme_formats_do_not_overflow(void **state)
{
    static const float limit[] = {1e-30f, 1e-6f, 1, 1e6f, 1e30f};
    const int32_t x[] = {INT32_MIN, INT32_MAX, 0, 1, -1, 1 << 20};
    const int32_t g[] = {INT32_MAX, INT32_MIN, 1, -1, INT32_MAX, INT32_MIN};

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct qrt_ulq_clips c = clips_of(limit[i], -limit[i]);
        struct qrt_ulq_step step;

        assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
        for (int frac = -96; frac <= 117; frac++) {
            struct qrt_ulq_sums sums = {0, 0, 0, 0};
            int64_t a, b;
            int32_t y[6];

            assert_int_equal(qrt_ulq_forward_s32(x, 6, frac, &step, y), QRT_OK);
            assert_int_equal(
                qrt_ulq_backward_s32(x, 6, frac, &step, g, y, &sums), QRT_OK);
            assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_OK);
            for (int k = 0; k < 6; k++) {
                assert_true(y[k] == g[k] || y[k] == 0);
                if (ldexp(x[k], -frac) > limit[i] * 1.01 && i > 1) {
                    assert_int_equal(y[k], 0);
                }
            }
        }
    }
}

static void bad_arguments_are_refused(void **state)
{
    struct qrt_ulq_clips c = clips_of(2, -3);
    struct qrt_ulq_step step;
    struct qrt_ulq_sums sums = {0, 0, 0, 0};
    int32_t x[2] = {1, 2}, y[2] = {9, 9};
    int64_t a, b;

    (void)state;
    assert_int_equal(qrt_ulq_prepare(&c, &step), QRT_OK);
    assert_int_equal(qrt_ulq_forward_s32(NULL, 2, 0, &step, y), QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_forward_s32(x, 2, 0, NULL, y), QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_forward_s32(x, 2, 0, &step, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_forward_s32(x, 0, 0, &step, y), QRT_ERR_RANGE);
    assert_int_equal(qrt_ulq_forward_s32(x, 2, 118, &step, y), QRT_ERR_RANGE);
    assert_int_equal(qrt_ulq_forward_any(QRT_S8, x, 2, 0, &step, y),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_ulq_backward_s32(x, 2, 0, &step, NULL, y, &sums),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_backward_s32(x, 2, 0, &step, x, NULL, &sums),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_backward_s32(x, 2, 0, &step, x, y, NULL),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_gradients(&step, &sums, NULL, &b), QRT_ERR_NULL);
    assert_int_equal(qrt_ulq_gradients(&step, NULL, &a, &b), QRT_ERR_NULL);
    sums.load = UINT32_MAX;
    assert_int_equal(qrt_ulq_gradients(&step, &sums, &a, &b), QRT_ERR_RANGE);
    assert_int_equal(y[0], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_steps),
        cmocka_unit_test(strict_width_takes_both_fallbacks),
        cmocka_unit_test(just_wide_enough_is_kept_by_both_tests),
        cmocka_unit_test(width_zero_takes_both_fallbacks),
        cmocka_unit_test(fixed_min_pins_the_lower_limit),
        cmocka_unit_test(a_lower_limit_above_zero_falls_back),
        cmocka_unit_test(limits_that_are_no_numbers_are_refused),
        cmocka_unit_test(int16_and_int32_agree),
        cmocka_unit_test(gradients_follow_the_definition),
        cmocka_unit_test(the_error_of_a_limit_is_binary32),
        cmocka_unit_test(an_element_on_the_outer_levels_is_inside),
        cmocka_unit_test(levels_beyond_the_format_cut_nothing),
        cmocka_unit_test(int16_results_saturate),
        cmocka_unit_test(sums_refuse_more_than_they_can_hold),
        cmocka_unit_test(the_gradients_divide_to_nearest),
        cmocka_unit_test(extreme_formats_do_not_overflow),
        cmocka_unit_test(bad_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
