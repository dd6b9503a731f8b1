/* runtime/layer.c and status.c: table checks, look-up by name. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

#define LAYER(text)                                                            \
    {                                                                          \
        .name = (text)                                                         \
    }

/* Names in byte order at indices 2, 0, 4, 1, 3. */
static struct qrt_layer layers[] = {LAYER("conv1"), LAYER("conv1/x"), LAYER(""),
                                    LAYER("\xc3\xa9tage"), LAYER("conv1.a")};
static uint16_t by_name[] = {2, 0, 4, 1, 3};

static struct qrt_tables table(void)
{
    struct qrt_tables t = {
        QRT_TABLES_VERSION, 5, 0x123456789abcdef0u, 1, layers, by_name};

    return t;
}

static void every_layer_is_found_by_name(void **state)
{
    struct qrt_tables t = table();

    (void)state;
    assert_int_equal(qrt_tables_check(&t, t.hash), QRT_OK);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t index = 99;

        assert_int_equal(qrt_find_layer(&t, layers[i].name, &index), QRT_OK);
        assert_int_equal(index, i);
    }
}

static void other_names_are_not_found(void **state)
{
    static const char *const names[] = {"conv",  "conv11", "conv1/", "conv1/y",
                                        "Conv1", "\xff",   "conv1.", "a"};
    struct qrt_tables t = table();
    uint32_t index = 99;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(qrt_find_layer(&t, names[i], &index),
                         QRT_ERR_NOT_FOUND);
    }
    t.layer_count = 0;
    assert_int_equal(qrt_find_layer(&t, "conv1", &index), QRT_ERR_NOT_FOUND);
    assert_int_equal(index, 99);
    assert_int_equal(qrt_find_layer(NULL, "conv1", &index), QRT_ERR_NULL);
    assert_int_equal(qrt_find_layer(&t, NULL, &index), QRT_ERR_NULL);
    assert_int_equal(qrt_find_layer(&t, "conv1", NULL), QRT_ERR_NULL);
}

static void foreign_tables_are_refused(void **state)
{
    struct qrt_tables t = table();

    (void)state;
    assert_int_equal(qrt_tables_check(NULL, 0), QRT_ERR_NULL);
    assert_int_equal(qrt_tables_check(&t, 0), QRT_OK);
    assert_int_equal(qrt_tables_check(&t, t.hash + 1), QRT_ERR_HASH);
    assert_int_equal(qrt_tables_check(&t, t.hash ^ 1ull << 63), QRT_ERR_HASH);
    t.version++;
    assert_int_equal(qrt_tables_check(&t, t.hash), QRT_ERR_VERSION);
}

static void a_broken_index_is_found(void **state)
{
    static const uint16_t swapped[] = {2, 4, 0, 1, 3},
                          beyond[] = {2, 0, 4, 1, 5}, twice[] = {2, 0, 0, 1, 3};
    static const struct qrt_layer nameless[5];
    struct qrt_tables t = table();

    (void)state;
    t.by_name = swapped;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_ERR_RANGE);
    t.by_name = beyond;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_ERR_RANGE);
    t.by_name = twice;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_ERR_RANGE);
    t.by_name = by_name;
    t.layers = nameless;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_ERR_NULL);
    t.layers = layers;
    t.by_name = NULL;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_ERR_NULL);
    t.layer_count = 0;
    assert_int_equal(qrt_tables_check(&t, 0), QRT_OK);
}

static void every_status_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(qrt_status_name(QRT_OK), "QRT_OK");
    assert_string_equal(qrt_status_name(QRT_ERR_NULL), "QRT_ERR_NULL");
    assert_string_equal(qrt_status_name(QRT_ERR_UNSUPPORTED),
                        "QRT_ERR_UNSUPPORTED");
    for (int s = QRT_ERR_UNSUPPORTED; s <= 0; s++) {
        const char *name = qrt_status_name((enum qrt_status)s);

        assert_memory_equal(name, "QRT_", 4);
        for (int other = s + 1; other <= 0; other++) {
            assert_string_not_equal(name,
                                    qrt_status_name((enum qrt_status)other));
        }
    }
    assert_string_equal(qrt_status_name((enum qrt_status) - 1000), "?");
    assert_string_equal(qrt_status_name((enum qrt_status)1), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_is_found_by_name),
        cmocka_unit_test(other_names_are_not_found),
        cmocka_unit_test(foreign_tables_are_refused),
        cmocka_unit_test(a_broken_index_is_found),
        cmocka_unit_test(every_status_has_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
