/* runtime/bias.c: golden/bias_quant and edges. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

static void golden_biases(void **state)
{
    FILE *f = vec_open("bias.txt");
    static struct vec_case c;
    int cases = 0, errors = 0;

    (void)state;
    while (vec_next(f, &c)) {
        const struct vec_field *bias = vec_get(&c, "bias");
        const struct vec_field *sw = vec_get(&c, "scale_w");
        struct qrt_real d, w, dequant[64];
        int32_t q[64];
        enum qrt_status status = QRT_OK;

        assert_true(bias->n <= 64);
        assert_int_equal(
            qrt_real_from_f32((uint32_t)vec_int(&c, "scale_d"), &d), QRT_OK);
        for (size_t i = 0; i < sw->n && status == QRT_OK; i++) {
            assert_int_equal(qrt_real_from_f32((uint32_t)sw->v[i], &w), QRT_OK);
            status = qrt_dequant_scale(w, d, &dequant[i]);
        }
        if (status == QRT_OK) {
            status =
                qrt_bias_quantize((const uint32_t *)bias->v, (uint32_t)bias->n,
                                  dequant, (uint32_t)sw->n, q);
        }
        if (vec_has(&c, "error")) {
            assert_true(status < 0);
            errors++;
        } else {
            assert_int_equal(status, QRT_OK);
            for (size_t i = 0; i < bias->n; i++) {
                assert_int_equal(q[i], vec_get(&c, "q")->v[i]);
            }
        }
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 16);
    assert_true(errors > 0);
}

static void the_ends_of_int32(void **state)
{
    const struct qrt_real one = {1 << 30, 1};
    uint32_t top = vec_bits(2147483520.0f), two31 = vec_bits(2147483648.0f);
    uint32_t bottom = vec_bits(-2147483648.0f),
             below = vec_bits(-2147483904.0f);
    int32_t q = 5;

    (void)state;
    assert_int_equal(qrt_bias_quantize(&two31, 1, &one, 1, &q),
                     QRT_ERR_OVERFLOW);
    assert_int_equal(qrt_bias_quantize(&below, 1, &one, 1, &q),
                     QRT_ERR_OVERFLOW);
    assert_int_equal(q, 5);
    assert_int_equal(qrt_bias_quantize(&top, 1, &one, 1, &q), QRT_OK);
    assert_int_equal(q, 2147483520);
    assert_int_equal(qrt_bias_quantize(&bottom, 1, &one, 1, &q), QRT_OK);
    assert_int_equal(q, INT32_MIN);
}

static void an_error_at_the_end_touches_nothing(void **state)
{
    const uint32_t bias[2] = {vec_bits(3), 0x7fc00000};
    const uint32_t large[2] = {vec_bits(3), vec_bits(3e38f)};
    const struct qrt_real tiny = {1 << 30, -100};
    int32_t q[2] = {5, 5};

    (void)state;
    assert_int_equal(qrt_bias_quantize(bias, 2, &tiny, 1, q), QRT_ERR_OVERFLOW);
    assert_int_equal(qrt_bias_quantize(bias + 1, 1, &tiny, 1, q),
                     QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_bias_quantize(large + 1, 1, &tiny, 1, q),
                     QRT_ERR_OVERFLOW); /* the quotient is infinite */
    assert_int_equal(q[0], 5);
}

static void counts_must_fit(void **state)
{
    const uint32_t bias[3] = {vec_bits(1), vec_bits(2), vec_bits(3)};
    struct qrt_real d[3] = {
        {1 << 30, 1 },
        {1 << 30, 0 },
        {1 << 30, -1}
    };
    static const int32_t want[3] = {1, 4, 12};
    int32_t q[3];

    (void)state;
    assert_int_equal(qrt_bias_quantize(bias, 3, d, 2, q), QRT_ERR_SIZE);
    assert_int_equal(qrt_bias_quantize(bias, 3, d, 0, q), QRT_ERR_SIZE);
    assert_int_equal(qrt_bias_quantize(bias, 3, d, 3, q), QRT_OK);
    assert_memory_equal(q, want, sizeof q);
    assert_int_equal(qrt_bias_quantize(NULL, 3, d, 3, q), QRT_ERR_NULL);
    assert_int_equal(qrt_bias_quantize(bias, 3, NULL, 3, q), QRT_ERR_NULL);
    assert_int_equal(qrt_bias_quantize(bias, 3, d, 3, NULL), QRT_ERR_NULL);
    d[2].m = 0;
    assert_int_equal(qrt_bias_quantize(bias, 3, d, 3, q), QRT_ERR_RANGE);
}

static void dequant_scale_is_the_binary32_product(void **state)
{
    uint64_t seed = 60;
    struct qrt_real zero = {0, 0}, far = {1 << 30, -100}, r = {5, 5};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        float a = ldexpf((float)(vec_random(&seed) >> 8), -30);
        float b = ldexpf((float)(vec_random(&seed) >> 8), -35);
        struct qrt_real x, y, z;

        assert_int_equal(qrt_real_from_f32(vec_bits(a), &x), QRT_OK);
        assert_int_equal(qrt_real_from_f32(vec_bits(b), &y), QRT_OK);
        if (a > 0 && b > 0) {
            assert_int_equal(qrt_dequant_scale(x, y, &z), QRT_OK);
            assert_true(qrt_real_to_f32(z) == vec_bits(a * b));
        }
    }
    assert_int_equal(qrt_dequant_scale(zero, far, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_dequant_scale(far, far, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_dequant_scale(far, far, NULL), QRT_ERR_NULL);
    assert_int_equal(r.m, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_biases),
        cmocka_unit_test(the_ends_of_int32),
        cmocka_unit_test(an_error_at_the_end_touches_nothing),
        cmocka_unit_test(counts_must_fit),
        cmocka_unit_test(dequant_scale_is_the_binary32_product),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
