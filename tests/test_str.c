/* Slices, nearest names, UTF-8 and the map: gen/str.c. */
#include "cmocka_all.h"

#include "qc.h"

static struct qc run;

static unsigned distance(const char *a, const char *b)
{
    return qc_distance(qc_str(a), qc_str(b), 2);
}

static void distance_counts_edits_up_to_the_limit(void **state)
{
    (void)state;
    assert_int_equal(distance("batch_num", "bacth_num"), 1); /* transposed */
    assert_int_equal(distance("step", "stp"), 1);
    assert_int_equal(distance("step", "stepp"), 1);
    assert_int_equal(distance("abcd", "abxy"), 2);
    assert_int_equal(distance("abcd", "wxyz"), 3);
    assert_int_equal(distance("", "abc"), 3);
}

static void spelling_variants_have_no_distance(void **state)
{
    (void)state;
    assert_int_equal(distance("BatchNum", "batch_num"), 0);
    assert_int_equal(distance("batch-num", "batch_num"), 0);
    assert_int_equal(distance("conv10", "conv_1"), 2);
}

static void nearest_wants_one_best_candidate(void **state)
{
    struct qc_str names[] = {QC_STR("conv1"), QC_STR("conv2"), QC_STR("fc")};

    (void)state;
    assert_int_equal(qc_nearest(QC_STR("conv9"), names, 3).len, 0);
    assert_true(qc_equalz(qc_nearest(QC_STR("Conv1"), names, 3), "conv1"));
    assert_int_equal(qc_nearest(QC_STR("zz"), names, 3).len, 0);
}

static void utf8_refuses_what_unicode_refuses(void **state)
{
    static const char *const bad[] = {"\xC0\x80", "\xE0\x80\x80",
                                      "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80", "\x80", "\xE4\xB8"};
    uint32_t c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(qc_utf8(bad[i], bad[i] + strlen(bad[i]), &c), 0);
    assert_int_equal(qc_utf8("\xE5\x8D\xB7", "\xE5\x8D\xB7" + 3, &c), 3);
    assert_int_equal(c, 0x5377);
    assert_int_equal(qc_utf8("\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF" + 4, &c),
                     4);
    assert_int_equal(c, 0x10FFFF);
}

static void map_keeps_every_key_while_it_grows(void **state)
{
    struct qc_map map = {0};
    uintptr_t i;

    (void)state;
    for (i = 1; i <= 5000; i++) {
        struct qc_str key = qc_format(&run, "layer%u", (unsigned)i);
        void **at = qc_map_at(&run, &map, key);

        assert_null(*at);
        *at = (void *)i;
    }
    for (i = 1; i <= 5000; i++)
        assert_ptr_equal(
            qc_map_get(&map, qc_format(&run, "layer%u", (unsigned)i)),
            (void *)i);
    assert_null(qc_map_get(&map, QC_STR("layer0")));
    qc_free_all(&run);
}

static void compare_orders_by_byte_value(void **state)
{
    (void)state;
    assert_true(qc_compare(QC_STR("a"), QC_STR("b")) < 0);
    assert_true(qc_compare(QC_STR("a"), QC_STR("ab")) < 0);
    assert_true(qc_compare(QC_STR("Z"), QC_STR("a")) < 0);
    assert_true(qc_compare(QC_STR("\xE5"), QC_STR("z")) > 0);
    assert_int_equal(qc_compare(QC_STR("ab"), QC_STR("ab")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_edits_up_to_the_limit),
        cmocka_unit_test(spelling_variants_have_no_distance),
        cmocka_unit_test(nearest_wants_one_best_candidate),
        cmocka_unit_test(utf8_refuses_what_unicode_refuses),
        cmocka_unit_test(map_keeps_every_key_while_it_grows),
        cmocka_unit_test(compare_orders_by_byte_value),
    };

    qc_diag_init(&run);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
