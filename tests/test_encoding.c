/* Characters of a file, before it is read. */
#include "text_help.h"

static const char *encoding(const char *text, size_t size, bool *readable)
{
    static char all[4096];
    struct reading r;

    memset(&r, 0, sizeof(r));
    qc_diag_init(&r.qc);
    r.file = qc_load_text(&r.qc, "quant.cfg", text, size);
    *readable = qc_check_encoding(&r.qc, r.file);
    strcpy(all, said(&r));
    qc_free_all(&r.qc);
    return all;
}

static void expect_encoding(const char *text, size_t size, bool readable,
                            const char *words)
{
    bool got;

    assert_string_equal(encoding(text, size, &got), words);
    assert_int_equal(got, readable);
}

#define EXPECT(literal, readable, words)                                       \
    expect_encoding(literal, sizeof(literal) - 1, readable, words)

static void good_text_is_silent(void **state)
{
    (void)state;
    EXPECT("", true, "");
    EXPECT("batch_num: 1 # \xE5\x8D\xB7 \xF0\x9F\x98\x80 \xC3\xA9\n", true, "");
    /* The ends of each length. */
    EXPECT("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"
           "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
           true, "");
}

static void malformed_bytes_are_reported_once_a_line(void **state)
{
    (void)state;
    EXPECT("a\xFF\xFE\nb\n\xC0\xAF\n", true,
           "1:2 lex.bad-utf8, 3:1 lex.bad-utf8");
    EXPECT("\xED\xA0\x80", true, "1:1 lex.bad-utf8");     /* surrogate */
    EXPECT("\xF4\x90\x80\x80", true, "1:1 lex.bad-utf8"); /* > 10FFFF  */
    EXPECT("\xE4\xB8", true, "1:1 lex.bad-utf8");         /* truncated */
    EXPECT("\xE0\x80\x80", true, "1:1 lex.bad-utf8");     /* overlong  */
    EXPECT("12345678\x80", true, "1:9 lex.bad-utf8");     /* 9th byte  */
    EXPECT("\xE5\x8D\xB7\xFF", true, "1:2 lex.bad-utf8"); /* code points */
}

static void byte_order_marks_stand_nowhere(void **state)
{
    (void)state;
    EXPECT("\xEF\xBB\xBF", true, "1:1 lex.bom");
    EXPECT("a\n\xEF\xBB\xBF"
           "b\xEF\xBB\xBF",
           true, "2:1 lex.bom, 2:3 lex.bom");
}

static void nul_and_utf16_end_the_file(void **state)
{
    (void)state;
    EXPECT("a\0b\xFF\n", false, "1:2 lex.nul");
    EXPECT("\xFF\xFE"
           "a\0",
           false, "1:1 lex.bom");
    EXPECT("\xFE\xFF\0a", false, "1:1 lex.bom");
    EXPECT("a\0b\0", false, "1:2 lex.nul");
}

/* A file of one line: a place costs no more than elsewhere. */
static void columns_of_a_long_line_are_right(void **state)
{
    char *text = repeated("", "\xE5\x8D\xB7\xFF", 20000, "x");
    struct qc_position p;
    struct reading r;
    uint32_t i;

    (void)state;
    memset(&r, 0, sizeof(r));
    qc_diag_init(&r.qc);
    r.file = qc_load_text(&r.qc, "quant.cfg", text, strlen(text));
    for (i = 0; i <= 20000; i += 7) {
        p = qc_position(&r.qc, r.file, i * 4);
        assert_int_equal(p.line, 1);
        assert_int_equal(p.col, i * 2 + 1);
        assert_int_equal(p.byte_col, i * 4 + 1);
    }
    qc_free_all(&r.qc);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_is_silent),
        cmocka_unit_test(malformed_bytes_are_reported_once_a_line),
        cmocka_unit_test(byte_order_marks_stand_nowhere),
        cmocka_unit_test(nul_and_utf16_end_the_file),
        cmocka_unit_test(columns_of_a_long_line_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
