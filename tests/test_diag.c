/* Diagnostics: collected, put into order, written as text, JSON and SARIF. */
#include "text_help.h"

#include <unistd.h>

#ifdef QC_HAVE_CJSON
#include <cjson/cJSON.h>
#endif

/* Standard error of a function. */
static char *printed(void (*f)(struct qc *qc), struct qc *qc,
                     enum qc_exit *status)
{
    static char out[200000];
    FILE *to = tmpfile();
    int keep;
    size_t n;

    fflush(stderr);
    keep = dup(2);
    dup2(fileno(to), 2);
    if (f)
        f(qc);
    *status = qc_flush(qc);
    fflush(stderr);
    dup2(keep, 2);
    close(keep);
    rewind(to);
    n = fread(out, 1, sizeof(out) - 1, to);
    out[n] = '\0';
    fclose(to);
    return out;
}

static char *printed_text(enum qc_diag_format format, const char *text)
{
    enum qc_exit status;
    struct reading r;
    char *out;

    read_text(&r, QC_KIND_CALIB, CHECK, text);
    r.qc.diag_format = format;
    out = printed(NULL, &r.qc, &status);
    qc_free_all(&r.qc);
    return out;
}

static struct qc_loc loc_of(struct qc_file *f, uint32_t at, uint32_t len)
{
    return (struct qc_loc){f, at, len};
}

static struct qc_file *new_file(struct qc *qc, const char *text)
{
    memset(qc, 0, sizeof(*qc));
    qc_diag_init(qc);
    return qc_load_text(qc, "quant.cfg", text, strlen(text));
}

/* ---- collecting ---- */

static void severity_follows_mode_and_options(void **state)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, "x");
    struct qc_diag *d;

    (void)state;
    d = qc_report(&qc, QC_SCH_DUPLICATE_FIELD, loc_of(f, 0, 1), "x");
    assert_true(qc_is_error(d));
    qc_use_amct_mode(&qc);
    d = qc_report(&qc, QC_SCH_DUPLICATE_FIELD, loc_of(f, 0, 1), "x");
    assert_non_null(d);
    assert_false(qc_is_error(d));
    qc.werror = true;
    d = qc_report(&qc, QC_SCH_DUPLICATE_FIELD, loc_of(f, 0, 1), "x");
    assert_true(qc_is_error(d));
    assert_true(qc_set_severity(&qc, "sch.duplicate-field", QC_IGNORE));
    assert_null(qc_report(&qc, QC_SCH_DUPLICATE_FIELD, loc_of(f, 0, 1), "x"));
    assert_false(qc_set_severity(&qc, "sch.no-such", QC_ERROR));
    /* What ends a file cannot be switched off. */
    assert_true(qc_set_severity(&qc, "lex.nul", QC_IGNORE));
    assert_non_null(qc_report(&qc, QC_LEX_NUL, loc_of(f, 0, 1), "x"));
    assert_true(f->fatal);
    qc_free_all(&qc);
}

static void reports_can_be_taken_back(void **state)
{
    static const enum qc_key keep[] = {QC_LEX_UNTERMINATED, QC_KEY_COUNT};
    static const struct qc_extent at[] = {
        {2, 4},
        {6, 8}
    };
    struct qc qc;
    struct qc_file *f = new_file(&qc, "0123456789");
    const struct qc_diag *d;
    char left[32] = "";
    uint32_t i;

    (void)state;
    for (i = 0; i < 10; i++)
        qc_report(&qc, i == 7 ? QC_LEX_UNTERMINATED : QC_LEX_BAD_CHAR,
                  loc_of(f, i, 1), "x");
    qc_unreport_all(&qc, f, at, 2, keep);
    for (d = f->diags; d; d = d->next)
        sprintf(left + strlen(left), "%u", (unsigned)d->loc.at);
    assert_string_equal(left, "0145789");
    assert_int_equal(f->errors, 7);
    qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 3, 1), "x");
    assert_int_equal(f->errors, 8);
    qc_free_all(&qc);
}

static void a_flood_is_counted_not_kept(void **state)
{
    static const enum qc_key none = QC_KEY_COUNT;
    struct qc qc;
    struct qc_file *f = new_file(&qc, "x");
    const struct qc_diag *d;
    size_t i, kept = 0;

    (void)state;
    for (i = 0; i < 100000; i++)
        qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 0, 1), "x");
    for (d = f->diags; d; d = d->next)
        kept++;
    assert_int_equal(f->errors, 100000);
    assert_true(kept < 5000);
    assert_false(qc_keeps(f));
    assert_null(qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 0, 1), "x"));
    /* What is taken back makes room. */
    qc_unreport(&qc, f, 0, 1, &none);
    assert_true(qc_keeps(f));
    assert_non_null(qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 0, 1), "x"));
    qc_free_all(&qc);
}

/* ---- text ---- */

static void in_order_of_places_and_one_error_for_each(void **state)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, "ab\ncd\n");
    enum qc_exit status;

    (void)state;
    qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 4, 1), "third");
    qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 0, 1), "first");
    qc_report(&qc, QC_LEX_BAD_NUMBER, loc_of(f, 0, 1), "dropped");
    qc_report(&qc, QC_SCH_UNSUPPORTED_FIELD, loc_of(f, 3, 1), "second");
    qc_report(&qc, QC_SCH_UNSUPPORTED_FIELD, loc_of(f, 3, 1), "dropped");
    qc_report(&qc, QC_SCH_UNSUPPORTED_FIELD, loc_of(f, 4, 1), "dropped");
    qc_report(&qc, QC_RES_UNSUPPORTED_FIELD, loc_of(f, 4, 1), "dropped");
    assert_string_equal(printed(NULL, &qc, &status),
                        "quant.cfg:1:1: error: first [lex.bad-char]\n"
                        "    1 | ab\n"
                        "      | ^\n"
                        "quant.cfg:2:1: warning: second "
                        "[sch.unsupported-field]\n"
                        "    2 | cd\n"
                        "      | ^\n"
                        "quant.cfg:2:2: error: third [lex.bad-char]\n"
                        "    2 | cd\n"
                        "      |  ^\n"
                        "quantc: quant.cfg: 2 errors, 1 warning\n");
    assert_int_equal(status, QC_EXIT_INPUT);
    qc_free_all(&qc);
}

static void warnings_alone_are_no_failure(void **state)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, "ab");
    enum qc_exit status;

    (void)state;
    qc_report(&qc, QC_SCH_UNSUPPORTED_FIELD, loc_of(f, 0, 2), "w");
    assert_string_equal(printed(NULL, &qc, &status),
                        "quant.cfg:1:1: warning: w [sch.unsupported-field]\n"
                        "    1 | ab\n"
                        "      | ^~\n");
    assert_int_equal(status, QC_EXIT_OK);
    qc_free_all(&qc);
}

static void so_many_errors_are_shown(void **state)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, "abc");
    enum qc_exit status;
    uint32_t i;

    (void)state;
    qc.max_errors = 2;
    for (i = 0; i < 3; i++)
        qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, i, 1), "x");
    assert_non_null(strstr(printed(NULL, &qc, &status),
                           "quantc: quant.cfg: too many errors\n"
                           "quantc: quant.cfg: 3 errors\n"));
    qc_free_all(&qc);
}

/* The line and its carets, of a fault at [at, at + len). */
static void expect_line(const char *text, uint32_t at, uint32_t len,
                        const char *lines)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, text);
    enum qc_exit status;
    char *out, *end;

    qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, at, len), "x");
    out = strchr(printed(NULL, &qc, &status), '\n') + 1;
    end = strstr(out, "quantc:");
    *end = '\0';
    assert_string_equal(out, lines);
    qc_free_all(&qc);
}

static void lines_as_they_look(void **state)
{
    (void)state;
    expect_line("a\tb", 2, 1, "    1 | a    b\n      |      ^\n");
    expect_line("\xE5\x8D\xB7:x", 4, 1,
                "    1 | \xE5\x8D\xB7:x\n      |    ^\n");
    expect_line("e\xCC\x81x", 3, 1, "    1 | e\xCC\x81x\n      |  ^\n");
    expect_line("\x01\xFFx", 2, 1, "    1 | <01><FF>x\n      |         ^\n");
    expect_line("\xE3\x80\x80x", 0, 3, "    1 | <U+3000>x\n      | ^~~~~~~~\n");
    expect_line("ab\r\ncd", 0, 4, "    1 | ab\n      | ^~\n");
    expect_line("ab\n", 3, 0, "    2 | <end of file>\n      | ^\n");
    expect_line("ab", 2, 0, "    1 | ab\n      |   ^\n");
    expect_line("", 0, 0, "    1 | <end of file>\n      | ^\n");
    expect_line("abcd", 1, 2, "    1 | abcd\n      |  ^~\n");
}

static void long_lines_are_cut(void **state)
{
    char *text = repeated("", "0123456789", 30, "");

    (void)state;
    expect_line(text, 0, 1,
                "    1 | 0123456789012345678901234567890123456789012345678901"
                "234567890123456789012345678901234567890123456...\n"
                "      | ^\n");
    expect_line(
        text, 150, 100,
        "    1 | ...3456789012345678901234567890123456789012345678901"
        "234567890123456789012345678901234567890123456...\n"
        "      |                                         ^"
        "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
    expect_line(text, 299, 1,
                "    1 | ...23456789012345678901234567890123456789\n"
                "      |                                         ^\n");
    free(text);
}

static void user_text_is_cut_to_forty_characters(void **state)
{
    struct qc qc;

    (void)state;
    new_file(&qc, "");
    assert_string_equal(
        qc_shown(&qc, QC_STR("1234567890123456789012345678901234567890")),
        "1234567890123456789012345678901234567890");
    assert_string_equal(
        qc_shown(&qc, QC_STR("12345678901234567890123456789012345678901")),
        "1234567890123456789012345678901234567890...");
    assert_string_equal(qc_shown(&qc, QC_STR("a\nb\xFF")), "a<0A>b<FF>");
    qc_free_all(&qc);
}

static void colour_only_when_asked_for(void **state)
{
    struct qc qc;
    struct qc_file *f = new_file(&qc, "ab");
    enum qc_exit status;

    (void)state;
    qc.colour = true;
    qc_report(&qc, QC_LEX_BAD_CHAR, loc_of(f, 0, 1), "x");
    assert_non_null(
        strstr(printed(NULL, &qc, &status), "\033[1;31merror:\033[0m x"));
    qc_free_all(&qc);
    assert_null(strchr(printed_text(QC_DIAG_TEXT, "x: 1"), '\033'));
}

/* ---- JSON lines ---- */

static void json_says_what_the_text_says(void **state)
{
    (void)state;
    assert_string_equal(
        printed_text(QC_DIAG_JSON, "# c\nbacth_num: 1"),
        "{\"file\":\"quant.cfg\",\"line\":2,\"col\":1,\"end_col\":10,"
        "\"byte_col\":1,\"severity\":\"error\",\"key\":\"sch.unknown-field\","
        "\"message\":\"AMCTConfig has no field 'bacth_num'\","
        "\"help\":[\"did you mean 'batch_num'?\"],\"notes\":[],"
        "\"fix\":{\"line\":2,\"col\":1,\"end_col\":10,\"text\":\"batch_num\"}}"
        "\n");
    assert_string_equal(
        printed_text(QC_DIAG_JSON,
                     "skip_layers: \"\xE5\x8D\xB7\" batch_num:\ndo_fusion: t"),
        "{\"file\":\"quant.cfg\",\"line\":2,\"col\":1,\"end_col\":10,"
        "\"byte_col\":1,\"severity\":\"error\",\"key\":\"syn.expected-value\","
        "\"message\":\"expected the value of 'batch_num', found the field "
        "'do_fusion'\",\"help\":[],\"notes\":[{\"file\":\"quant.cfg\","
        "\"line\":1,\"col\":18,\"end_col\":27,\"byte_col\":20,"
        "\"message\":\"'batch_num' is here\"}]}\n");
    assert_string_equal(printed_text(QC_DIAG_JSON, "do_fusion: t"), "");
}

static void json_ends_where_the_limit_is(void **state)
{
    char *text = repeated("", "x: 1\n", 30, "");
    const char *out = printed_text(QC_DIAG_JSON, text);

    (void)state;
    assert_non_null(strstr(out, "{\"file\":\"quant.cfg\",\"severity\":\"note\","
                                "\"key\":\"lim.errors\",\"message\":"
                                "\"too many errors: 30\"}\n"));
    free(text);
}

#ifdef QC_HAVE_CJSON

static void json_is_json_whatever_the_file_holds(void **state)
{
    static const char text[] = "a\x01\"\\ \xFF \xE2\x80\x9C"
                               "\n\"x\": \"\\q\" $ \x7F"
                               "\n[1]: 2";
    struct reading r;
    enum qc_exit status;
    char *line, *next;
    int lines = 0;

    (void)state;
    read_text(&r, QC_KIND_CALIB, CHECK, text);
    r.file->name = "a\"\\\xFF\n.cfg";
    r.qc.diag_format = QC_DIAG_JSON;
    for (line = printed(NULL, &r.qc, &status); *line; line = next) {
        cJSON *o;

        next = strchr(line, '\n');
        *next++ = '\0';
        o = cJSON_Parse(line);
        if (!o)
            fail_msg("%s", line);
        assert_non_null(cJSON_GetObjectItem(o, "key"));
        cJSON_Delete(o);
        lines++;
    }
    assert_true(lines > 4);
    qc_free_all(&r.qc);
}

static cJSON *at(cJSON *o, const char *path)
{
    char step[40];

    while (o && *path) {
        size_t len = strcspn(path, "/");

        memcpy(step, path, len);
        step[len] = '\0';
        o = step[0] >= '0' && step[0] <= '9' ? cJSON_GetArrayItem(o, atoi(step))
                                             : cJSON_GetObjectItem(o, step);
        path += len + (path[len] == '/');
    }
    if (!o)
        fail_msg("no %s", step);
    return o;
}

static void sarif_holds_rules_places_and_fixes(void **state)
{
    cJSON *log = cJSON_Parse(printed_text(
        QC_DIAG_SARIF, "bacth_num: 1 batch_num: 1\nbatch_num: 2\nx: 1"));
    cJSON *run, *results;

    (void)state;
    assert_non_null(log);
    assert_string_equal(at(log, "version")->valuestring, "2.1.0");
    run = at(log, "runs/0");
    assert_string_equal(at(run, "columnKind")->valuestring,
                        "unicodeCodePoints");
    assert_int_equal(cJSON_GetArraySize(at(run, "tool/driver/rules")), 2);
    results = at(run, "results");
    assert_int_equal(cJSON_GetArraySize(results), 3);
    assert_string_equal(at(results, "0/ruleId")->valuestring,
                        "sch.unknown-field");
    assert_string_equal(at(results, "0/level")->valuestring, "error");
    assert_string_equal(
        at(results,
           "0/fixes/0/artifactChanges/0/replacements/0/insertedContent/text")
            ->valuestring,
        "batch_num");
    assert_int_equal(
        at(results, "0/locations/0/physicalLocation/region/endColumn")
            ->valueint,
        10);
    assert_string_equal(
        at(results, "1/relatedLocations/0/message/text")->valuestring,
        "first given here");
    assert_int_equal(at(results, "1/relatedLocations/0/physicalLocation/region/"
                                 "startColumn")
                         ->valueint,
                     14);
    assert_int_equal(at(results, "2/ruleIndex")->valueint, 0);
    cJSON_Delete(log);
    /* A run without a finding is a log too. */
    log = cJSON_Parse(printed_text(QC_DIAG_SARIF, "do_fusion: t"));
    assert_int_equal(cJSON_GetArraySize(at(log, "runs/0/results")), 0);
    cJSON_Delete(log);
}

#endif

/* ---- fixes ---- */

static bool is_said_at(const struct reading *r, enum qc_key key, size_t at_)
{
    const struct qc_diag *d;

    for (d = r->file->diags; d; d = d->next)
        if (d->key == key && d->loc.at == at_)
            return true;
    return false;
}

/* Applies each fix by itself: its error must be gone. */
static size_t try_fixes(enum qc_kind kind, const char *text, size_t size)
{
    const struct qc_diag *d;
    struct reading r, after;
    size_t fixes = 0;

    read_bytes(&r, kind, CHECK, false, QC_UNION, text, size);
    for (d = r.file->diags; d; d = d->next) {
        size_t from = d->fix_loc.at, len = d->fix_loc.len;
        size_t more = d->fix_text.len;
        char *fixed;

        if (!d->has_fix)
            continue;
        fixed = malloc(size + more + 1);
        memcpy(fixed, text, from);
        memcpy(fixed + from, d->fix_text.ptr, more);
        memcpy(fixed + from + more, text + from + len, size - from - len);
        read_bytes(&after, kind, CHECK, false, QC_UNION, fixed,
                   size - len + more);
        if (is_said_at(&after, d->key,
                       d->loc.at < from + len || d->loc.at == from
                           ? d->loc.at
                           : d->loc.at + more - len))
            fail_msg("the fix does not help: %.*s\n%s: %s", (int)size, text,
                     qc_key_name(d->key), d->text);
        qc_free_all(&after.qc);
        free(fixed);
        fixes++;
    }
    qc_free_all(&r.qc);
    return fixes;
}

static void fixes_help(void **state)
{
    static const char *const texts[] = {
        "bacth_num: 1\n",
        "batch_num: 1_000 do_fusion: TRUE",
        "batch_num: '1'\ndo_fusion = true",
        "skip_layers: conv_1",
        "skip_layers: nn.Conv2d",
        "skip_layers \"a\"",
        "batch_num\xEF\xBC\x9A\xEF\xBC\x91",
        "batch_num:\xE3\x80\x80\x31",
        "batch_num: 1;; do_fusion: t",
        "skip_layers: ['a', 'b',]",
        "skip_layers: \"\\u4e2d\"",
        "...\nbatch_num: 1.0",
        "common_config { ifmr_quantize { dst_type: int8 } }",
        "common_config { ifmr_quantize { search_step: +.1 dst_type: 'INT8' } }",
        "\xEF\xBB\xBF"
        "batch_num: 08 do_fusion:\xC2\xA0t",
        "batch_num: 1\xE2\x80\x8B",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!try_fixes(QC_KIND_CALIB, texts[i], strlen(texts[i])))
            fail_msg("no fix: %s", texts[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(severity_follows_mode_and_options),
        cmocka_unit_test(reports_can_be_taken_back),
        cmocka_unit_test(a_flood_is_counted_not_kept),
        cmocka_unit_test(in_order_of_places_and_one_error_for_each),
        cmocka_unit_test(warnings_alone_are_no_failure),
        cmocka_unit_test(so_many_errors_are_shown),
        cmocka_unit_test(lines_as_they_look),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(user_text_is_cut_to_forty_characters),
        cmocka_unit_test(colour_only_when_asked_for),
        cmocka_unit_test(json_says_what_the_text_says),
        cmocka_unit_test(json_ends_where_the_limit_is),
#ifdef QC_HAVE_CJSON
        cmocka_unit_test(json_is_json_whatever_the_file_holds),
        cmocka_unit_test(sarif_holds_rules_places_and_fixes),
#endif
        cmocka_unit_test(fixes_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
