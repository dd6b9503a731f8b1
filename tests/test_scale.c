/* runtime/scale.c against AMCT's steps in the host's binary32. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

struct map {
    float scale;
    int zero;
    bool finite;
};

static struct map reference(float mx, float mn, int bits, bool asym,
                            enum qrt_zero_rule rule)
{
    float half = (float)(1 << (bits - 1));
    struct map r = {0, 0, true};
    float zero = 0;

    if (asym) {
        volatile float range, t;

        mx = fmaxf(mx, 0);
        mn = fminf(mn, 0);
        range = mx - mn;
        r.scale = range / (2 * half - 1);
        t = mn / r.scale;
        zero = mx != mn ? -half - t : -half;
        if (rule == QRT_ZERO_IFMR) {
            zero = mx != mn ? -rintf(t) - half : -half;
        }
    } else {
        bool negative = fabsf(mx) < fabsf(mn);

        r.scale = fmaxf(fabsf(mx), fabsf(mn)) / (half - 1 + negative);
    }
    if (r.scale < ldexpf(1, -23)) {
        r.scale = 1;
        zero = asym ? -half : 0;
    }
    r.finite = isfinite(r.scale);
    r.zero = r.finite ? (int)rintf(zero) : 0;
    return r;
}

static void check(float mx, float mn, int bits, bool asym,
                  enum qrt_zero_rule rule)
{
    struct map want = reference(mx, mn, bits, asym, rule);
    struct qrt_quant got = {
        {1, 2},
        {3, 4},
        5, 6
    };
    enum qrt_status status = qrt_scale_derive(vec_bits(mx), vec_bits(mn),
                                              (uint32_t)bits, asym, rule, &got);

    if (!want.finite) {
        assert_int_equal(status, QRT_ERR_NOT_FINITE);
        assert_int_equal(got.scale.m, 1);
        return;
    }
    assert_int_equal(status, QRT_OK);
    assert_true(qrt_real_to_f32(got.scale) == vec_bits(want.scale));
    assert_int_equal(got.zero_point, want.zero);
}

static void random_ranges_have_amcts_bits(void **state)
{
    static const int width[] = {4, 6, 7, 8, 16};
    uint64_t seed = 10;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        float mx = ldexpf((float)(int32_t)vec_random(&seed),
                          (int)(vec_random(&seed) % 60) - 60);
        float mn = ldexpf((float)(int32_t)vec_random(&seed),
                          (int)(vec_random(&seed) % 60) - 60);

        if (i % 3 == 0) {
            mn = -mx; /* the zero point is a near-tie */
        } else if (i % 3 == 1) {
            mx = (float)(vec_random(&seed) % 1000) / 8;
            mn = -(float)(vec_random(&seed) % 1000) / 16;
        }
        if (mx < mn) {
            float t = mx;

            mx = mn;
            mn = t;
        }
        for (int r = 0; r < 4; r++) {
            check(mx, mn, width[i % 5], r & 1,
                  r & 2 ? QRT_ZERO_IFMR : QRT_ZERO_ARQ);
        }
    }
}

static void symmetric_data_in_asymmetric_mode_is_no_exact_rounding(void **state)
{
    struct qrt_quant q;

    (void)state;
    assert_int_equal(qrt_scale_derive(vec_bits(50), vec_bits(-50), 8, true,
                                      QRT_ZERO_ARQ, &q),
                     QRT_OK);
    assert_int_equal(q.zero_point, 0); /* exact rounding would give -1 */
}

static void degenerate_ranges(void **state)
{
    static const struct {
        float mx, mn;
        float asym_scale, sym_scale;
        int asym_zero;
    } row[] = {
        {0,              0,      1,           1,                    -128},
        {-0.0f,          0,      1,           1,                    -128},
        {0,              -0.0f,  1,           1,                    -128},
        {2.55f,          2.55f,  2.55f / 255, 2.55f / 127,          -128},
        {-2.55f,         -2.55f, 2.55f / 255, 2.55f / 127,          127 }, /* equal magnitudes */
        {1e-6f,          0,      1,           1,                    -128},
        {255 * 0x1p-23f, 0,      0x1p-23f,    255 * 0x1p-23f / 127, -128},
    };
    struct qrt_quant q;

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t mx = vec_bits(row[i].mx), mn = vec_bits(row[i].mn);

        assert_int_equal(qrt_scale_derive(mx, mn, 8, true, QRT_ZERO_ARQ, &q),
                         QRT_OK);
        assert_true(qrt_real_to_f32(q.scale) == vec_bits(row[i].asym_scale));
        assert_int_equal(q.zero_point, row[i].asym_zero);
        assert_int_equal(q.degenerate, i < 3 || i == 5);
        assert_int_equal(qrt_scale_derive(mx, mn, 8, false, QRT_ZERO_ARQ, &q),
                         QRT_OK);
        assert_true(qrt_real_to_f32(q.scale) == vec_bits(row[i].sym_scale));
        assert_int_equal(q.zero_point, 0);
        assert_int_equal(q.degenerate, i < 3 || i == 5);
    }
}

static void a_step_of_2_to_the_minus_23_is_kept(void **state)
{
    uint32_t step = 0;

    (void)state;
    assert_int_equal(
        qrt_scale_step(vec_bits(255 * 0x1p-23f), 0, 8, true, &step), QRT_OK);
    assert_true(step == vec_bits(0x1p-23f));
    assert_int_equal(
        qrt_scale_step(vec_bits(254.99f * 0x1p-23f), 0, 8, true, &step),
        QRT_OK);
    assert_true(step == vec_bits(1));
}

static void the_overflow_of_a_range_is_an_error_only_asymmetric(void **state)
{
    struct qrt_quant q = {
        {7, 0},
        {0, 0},
        0, 0
    };
    uint32_t mx = vec_bits(3.3e38f), mn = vec_bits(-3.3e38f);

    (void)state;
    assert_int_equal(qrt_scale_derive(mx, mn, 8, true, QRT_ZERO_ARQ, &q),
                     QRT_ERR_NOT_FINITE);
    assert_int_equal(q.scale.m, 7);
    assert_int_equal(qrt_scale_derive(mx, mn, 8, false, QRT_ZERO_ARQ, &q),
                     QRT_OK);
}

static void bad_arguments_are_refused(void **state)
{
    struct qrt_quant q = {
        {7, 0},
        {0, 0},
        0, 0
    };
    uint32_t step = 9;

    (void)state;
    assert_int_equal(qrt_scale_derive(0, 0, 8, true, QRT_ZERO_ARQ, NULL),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_scale_derive(0, 0, 1, true, QRT_ZERO_ARQ, &q),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_scale_derive(0, 0, 17, true, QRT_ZERO_ARQ, &q),
                     QRT_ERR_RANGE);
    assert_int_equal(
        qrt_scale_derive(0x7fc00000, 0, 8, false, QRT_ZERO_ARQ, &q),
        QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_scale_step(0, 0xff800000u, 8, false, &step),
                     QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_scale_step(0, 0, 8, false, NULL), QRT_ERR_NULL);
    assert_int_equal(
        qrt_scale_derive_fixed(1, 0, 118, 8, true, QRT_ZERO_ARQ, &q),
        QRT_ERR_RANGE);
    assert_int_equal(qrt_quant_from_step(0, 0, &q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quant_from_step(0xbf800000u, 0, &q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quant_from_step(0x7f800000, 0, &q),
                     QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_quant_from_step(0x3f800000, 0, NULL), QRT_ERR_NULL);
    assert_int_equal(q.scale.m, 7);
    assert_int_equal(step, 9);
}

static void fixed_point_ranges_round_to_binary32_first(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 50000; i++) {
        int32_t mx = (int32_t)(vec_random(&seed) >> 1);
        int32_t mn = -(int32_t)(vec_random(&seed) >> (1 + i % 3));
        int frac = (int)(vec_random(&seed) % 40);
        bool asym = i & 1;
        struct map want =
            reference((float)ldexp(mx, -frac), (float)ldexp(mn, -frac), 8, asym,
                      QRT_ZERO_ARQ);
        struct qrt_quant q;

        assert_int_equal(
            qrt_scale_derive_fixed(mx, mn, frac, 8, asym, QRT_ZERO_ARQ, &q),
            QRT_OK);
        assert_true(qrt_real_to_f32(q.scale) == vec_bits(want.scale));
        assert_int_equal(q.zero_point, want.zero);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges_have_amcts_bits),
        cmocka_unit_test(
            symmetric_data_in_asymmetric_mode_is_no_exact_rounding),
        cmocka_unit_test(degenerate_ranges),
        cmocka_unit_test(a_step_of_2_to_the_minus_23_is_kept),
        cmocka_unit_test(the_overflow_of_a_range_is_an_error_only_asymmetric),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(fixed_point_ranges_round_to_binary32_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
