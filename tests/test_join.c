/* runtime/join.c: sums, means and tables between quantized layers. */
#include "cmocka_all.h"

#include "qrt.h"

#include <math.h>

static const struct qrt_real half = {1 << 30, 0}; /* 0.5                */
static const struct qrt_real pair[2] = {
    {1 << 30, 1}, /* 1                  */
    {1 << 30, 2}
}; /* 2                 */

static struct qrt_term terms[2];
static struct qrt_join join;

static int begin(void **state)
{
    (void)state;
    terms[0] = (struct qrt_term){&half, 1, 0, 0, INT32_MIN, INT32_MAX, 0};
    terms[1] = (struct qrt_term){pair, 2, 1, 3, INT32_MIN, INT32_MAX, 1};
    join = (struct qrt_join){QRT_JOIN_SUM, 16,        0, 2,    terms, NULL,
                             INT32_MIN,    INT32_MAX, 5, -128, 127,   NULL};
    return 0;
}

static void a_sum_is_scaled_added_and_rounded_once(void **state)
{
    const int32_t acc[4] = {1, 2, -7, 100};
    const int8_t codes[4] = {3, 4, -3, 127};
    const struct qrt_shape shape = {1, 2, 2, 1};
    int32_t sum[4];
    int8_t out[4];

    (void)state;
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, sum), QRT_OK);
    assert_int_equal(sum[0], 32768);
    assert_int_equal(sum[2], -7 * 32768);
    assert_int_equal(qrt_join_add_s8(&join, 1, codes, &shape, sum), QRT_OK);
    /* 0.5 + 0; 1 + 1; -3.5 - 12; 50 + 248 */
    assert_int_equal(sum[1], 2 << 16);
    assert_int_equal(sum[2], -15 * 65536 - 32768);
    assert_int_equal(qrt_join_finish_s8(&join, sum, 4, out), QRT_OK);
    assert_int_equal(out[0], 6); /* 5.5: a tie, to the even code */
    assert_int_equal(out[1], 7);
    assert_int_equal(out[2], -10); /* -10.5 */
    assert_int_equal(out[3], 127);
}

static void terms_and_sums_saturate(void **state)
{
    const int32_t acc[2] = {INT32_MAX, INT32_MIN};
    const struct qrt_shape shape = {1, 1, 2, 1};
    int32_t sum[2];

    (void)state;
    terms[1] = terms[0];
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, sum), QRT_OK);
    assert_int_equal(sum[0], INT32_MAX);
    assert_int_equal(sum[1], INT32_MIN);
    assert_int_equal(qrt_join_add_s32(&join, 1, acc, &shape, sum), QRT_OK);
    assert_int_equal(sum[0], INT32_MAX);
    assert_int_equal(sum[1], INT32_MIN);
}

static void a_term_is_clamped_before_it_is_added(void **state)
{
    const int32_t acc[2] = {-100, 1000};
    const struct qrt_shape shape = {1, 1, 2, 1};
    int32_t sum[2];

    (void)state;
    terms[0].low = 0;
    terms[0].high = 6 << 16;
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, sum), QRT_OK);
    assert_int_equal(sum[0], 0);
    assert_int_equal(sum[1], 6 << 16);
}

static void a_concatenation_stores_every_term(void **state)
{
    const int8_t codes[2] = {4, 4};
    const struct qrt_shape shape = {1, 2, 1, 1};
    int32_t sum[2] = {77, 77};

    (void)state;
    join.kind = QRT_JOIN_CONCAT;
    assert_int_equal(qrt_join_add_s8(&join, 1, codes, &shape, sum), QRT_OK);
    assert_int_equal(sum[0], 1 << 16);
    assert_int_equal(sum[1], 2 << 16);
}

static void a_mean_is_clamped_and_rounded_to_even(void **state)
{
    const int32_t sum[8] = {1, 2, 2, 1, -3, -2, -9, INT32_MIN};
    int32_t out[4];

    (void)state;
    assert_int_equal(qrt_join_mean(&join, sum, 4, 2, out), QRT_OK);
    assert_int_equal(out[0], 2); /* 1.5 */
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], -2);          /* -2.5 */
    assert_int_equal(out[3], -1073741828); /* -1073741828.5 */
    join.low = 0;
    join.high = 1;
    assert_int_equal(qrt_join_mean(&join, sum, 2, 4, out), QRT_OK);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);
}

static void means_of_any_count_are_exact(void **state)
{
    static int32_t sum[1000];
    uint32_t seed = 7, n, i;
    int32_t out;

    (void)state;
    for (n = 1; n <= 1000; n += n / 3 + 1) {
        int64_t all = 0;

        for (i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            sum[i] = (int32_t)seed;
            all += sum[i];
        }
        assert_int_equal(qrt_join_mean(&join, sum, 1, n, &out), QRT_OK);
        assert_int_equal(out, (int32_t)rintl((long double)all / n));
    }
}

static void a_table_takes_the_code_as_index(void **state)
{
    static int8_t table[256];
    const int32_t sum[3] = {-200 * 65536, 0, 200 * 65536};
    int8_t out[3];
    int i;

    (void)state;
    for (i = 0; i < 256; i++)
        table[i] = (int8_t)(127 - i);
    join.table = table;
    assert_int_equal(qrt_join_finish_s8(&join, sum, 3, out), QRT_OK);
    assert_int_equal(out[0], 127);
    assert_int_equal(out[1], -6); /* index 5 */
    assert_int_equal(out[2], -128);
}

static void sixteen_bit_codes_have_eight_fractional_bits(void **state)
{
    const int16_t codes[2] = {-32768, 32767};
    const struct qrt_shape shape = {1, 2, 1, 1};
    int32_t sum[2];
    int16_t out[2];

    (void)state;
    join.frac = 8;
    join.zero_point = 0;
    join.code_min = -32768;
    join.code_max = 32767;
    terms[0] = terms[1];
    terms[0].zero_point = 0;
    assert_int_equal(qrt_join_add_any(&join, 0, QRT_S16, codes, &shape, sum),
                     QRT_OK);
    assert_int_equal(sum[0], -32768 * 256);
    assert_int_equal(sum[1], 65534 * 256);
    assert_int_equal(qrt_join_finish_any(&join, sum, 2, QRT_S16, out), QRT_OK);
    assert_int_equal(out[0], -32768);
    assert_int_equal(out[1], 32767);
}

static void bad_arguments_change_nothing(void **state)
{
    const int32_t acc[2] = {1, 1};
    const struct qrt_shape shape = {1, 1, 2, 1}, three = {1, 3, 1, 1};
    int32_t sum[3] = {9, 9, 9};
    int8_t out[2] = {9, 9};

    (void)state;
    assert_int_equal(qrt_join_add_s32(NULL, 0, acc, &shape, sum), QRT_ERR_NULL);
    assert_int_equal(qrt_join_add_s32(&join, 0, NULL, &shape, sum),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, NULL),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_join_add_s32(&join, 2, acc, &shape, sum),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_join_add_s32(&join, 1, acc, &shape, sum),
                     QRT_ERR_SIZE); /* two scales, one channel */
    assert_int_equal(qrt_join_add_s8(&join, 0, out, &shape, sum),
                     QRT_ERR_RANGE); /* codes for an accumulator */
    assert_int_equal(qrt_join_add_any(&join, 1, QRT_S32, acc, &three, sum),
                     QRT_ERR_SIZE);
    terms[0].zero_point = 1;
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, sum),
                     QRT_ERR_RANGE);
    terms[0].zero_point = 0;
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, NULL, sum), QRT_ERR_NULL);
    assert_int_equal(qrt_join_mean(NULL, acc, 1, 2, sum), QRT_ERR_NULL);
    assert_int_equal(qrt_join_mean(&join, NULL, 1, 2, sum), QRT_ERR_NULL);
    assert_int_equal(qrt_join_mean(&join, acc, 1, 2, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_join_finish_s8(NULL, acc, 2, out), QRT_ERR_NULL);
    assert_int_equal(qrt_join_finish_s8(&join, NULL, 2, out), QRT_ERR_NULL);
    assert_int_equal(qrt_join_finish_s8(&join, acc, 2, NULL), QRT_ERR_NULL);
    join.frac = 17;
    assert_int_equal(qrt_join_finish_s8(&join, acc, 2, out), QRT_ERR_RANGE);
    join.frac = 16;
    join.table = out; /* by int8 codes only */
    assert_int_equal(qrt_join_finish_any(&join, acc, 2, QRT_S16, sum),
                     QRT_ERR_RANGE);
    join.table = NULL;
    join.low = 1;
    join.high = 0;
    assert_int_equal(qrt_join_mean(&join, acc, 1, 2, sum), QRT_ERR_RANGE);
    join.low = INT32_MIN;
    join.kind = QRT_JOIN_EDGE;
    assert_int_equal(qrt_join_add_s32(&join, 0, acc, &shape, sum),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_join_mean(&join, acc, 0, 1, sum), QRT_ERR_RANGE);
    assert_int_equal(qrt_join_mean(&join, acc, 1, 0, sum), QRT_ERR_RANGE);
    assert_int_equal(qrt_join_mean(&join, acc, 1u << 16, 1u << 16, sum),
                     QRT_ERR_SIZE);
    assert_int_equal(qrt_join_finish_s8(&join, acc, 0, out), QRT_ERR_RANGE);
    join.code_max = 128;
    assert_int_equal(qrt_join_finish_s8(&join, acc, 2, out), QRT_ERR_RANGE);
    assert_int_equal(sum[0], 9);
    assert_int_equal(out[0], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_sum_is_scaled_added_and_rounded_once, begin),
        cmocka_unit_test_setup(terms_and_sums_saturate, begin),
        cmocka_unit_test_setup(a_term_is_clamped_before_it_is_added, begin),
        cmocka_unit_test_setup(a_concatenation_stores_every_term, begin),
        cmocka_unit_test_setup(a_mean_is_clamped_and_rounded_to_even, begin),
        cmocka_unit_test_setup(means_of_any_count_are_exact, begin),
        cmocka_unit_test_setup(a_table_takes_the_code_as_index, begin),
        cmocka_unit_test_setup(sixteen_bit_codes_have_eight_fractional_bits,
                               begin),
        cmocka_unit_test_setup(bad_arguments_change_nothing, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
