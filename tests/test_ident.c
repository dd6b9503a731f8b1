/* Layer names to identifiers: gen/ident.c. */
#include "cmocka_all.h"

#include "qc.h"

static struct qc run;

static const char *ident(const char *name)
{
    return qc_ident(&run, 6, qc_str(name)).ptr;
}

static void plain_names_become_capitals(void **state)
{
    (void)state;
    assert_string_equal(ident("conv_1"), "CONV_1");
    assert_string_equal(ident("fc"), "FC");
    assert_string_equal(ident("layer1.0.conv1"), "LAYER1p0pCONV1");
}

static void marks_tell_look_alikes_apart(void **state)
{
    static const char *const names[] = {
        "a.b", "a_b",           "a-b",   "a/b",       "A.b",  "aB",
        "ab",  "a b",           "apb",   "a",         "",     "cA",
        "CA",  "a\xE5\x8D\xB7", "a\xFF", "a\xC3\xBF", "ax20", "ay"};
    size_t i, j;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (j = 0; j < i; j++)
            assert_string_not_equal(ident(names[i]), ident(names[j]));
}

static void words_of_the_generated_files_are_not_taken(void **state)
{
    (void)state;
    assert_string_equal(ident("layer_count"), "x6CAYER_COUNT");
    assert_string_equal(ident("tables_hash"), "x74ABLES_HASH");
    assert_string_equal(ident("tables_h"), "x74ABLES_H");
    assert_string_equal(ident("tables_config_crc32"), "x74ABLES_CONFIG_CRC32");
    assert_string_equal(ident("tables_model_crc32"), "x74ABLES_MODEL_CRC32");
    assert_string_equal(ident("tables_record_head"), "x74ABLES_RECORD_HEAD");
    assert_string_equal(ident("weights_h"), "x77EIGHTS_H");
}

static void only_identifier_characters_come_out(void **state)
{
    char name[2] = {0, 0};
    int c;

    (void)state;
    for (c = 1; c < 256; c++) {
        const char *p;

        name[0] = (char)c;
        for (p = ident(name); *p; p++)
            assert_true((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
                        (*p >= '0' && *p <= '9') || *p == '_');
    }
}

static void long_names_fit_63_characters_and_differ(void **state)
{
    char a[300], b[300];

    (void)state;
    memset(a, 'q', sizeof(a));
    a[299] = 0;
    memcpy(b, a, sizeof(a));
    b[298] = 'r';
    assert_true(strlen(ident(a)) + 6 <= 63);
    assert_string_not_equal(ident(a), ident(b));
    /* Marks are never cut in two. */
    memset(a, 'Q', sizeof(a));
    a[299] = 0;
    assert_true(strlen(ident(a)) + 6 <= 63);
}

static void a_name_just_short_enough_is_not_hashed(void **state)
{
    char a[64];

    (void)state;
    memset(a, 'q', sizeof(a));
    a[57] = 0;
    assert_int_equal(strlen(ident(a)), 57);
    assert_null(strchr(ident(a), 'h'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_become_capitals),
        cmocka_unit_test(marks_tell_look_alikes_apart),
        cmocka_unit_test(words_of_the_generated_files_are_not_taken),
        cmocka_unit_test(only_identifier_characters_come_out),
        cmocka_unit_test(long_names_fit_63_characters_and_differ),
        cmocka_unit_test(a_name_just_short_enough_is_not_hashed),
    };

    qc_diag_init(&run);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
