/* The reader of the text format: grammar/text.l, grammar/text.y,
 * gen/text_reader.c. What names mean does not matter here. */
#include "text_help.h"

#include <time.h>

static void expect_syntax(const char *text, const char *words)
{
    expect_said(QC_KIND_CALIB, PARSE, text, words);
}

/* The tree on one line: a:1 b{c:"x" d[1 2]} */
static size_t show(char *out, const struct qc_node *n)
{
    size_t used = 0;

    for (; n; n = n->next) {
        bool group = n->kind == QC_GROUP || n->kind == QC_LIST;

        used += (size_t)sprintf(out + used, "%.*s%s", QC_ARG(n->name),
                                n->name.len && !group ? ":" : "");
        if (group) {
            out[used++] = n->kind == QC_GROUP ? '{' : '[';
            used += show(out + used, n->first);
            out[used++] = n->kind == QC_GROUP ? '}' : ']';
        } else if (n->kind == QC_MISSING) {
            used += (size_t)sprintf(out + used, "?");
        } else {
            const char *quote = n->kind == QC_TEXT ? "\"" : "";

            used +=
                (size_t)sprintf(out + used, "%s%.*s%s%s", quote,
                                QC_ARG(n->text), quote, n->poisoned ? "!" : "");
        }
        if (n->next)
            out[used++] = ' ';
    }
    out[used] = '\0';
    return used;
}

static void expect_tree(const char *text, const char *tree)
{
    char got[4096];
    struct reading r;

    read_text(&r, QC_KIND_CALIB, PARSE, text);
    assert_non_null(r.root);
    show(got, r.root->first);
    assert_string_equal(got, tree);
    qc_free_all(&r.qc);
}

/* ---- what is right ---- */

static void fields_groups_and_lists(void **state)
{
    (void)state;
    expect_tree("", "");
    expect_tree("a: 1", "a:1");
    expect_tree("a:1b:2", "a:1b!"); /* one malformed number, see below */
    expect_tree("a:\"x\"b:'y'", "a:\"x\" b:\"y\"");
    expect_tree("a { b: 1 } c: < d: t > e {}", "a{b:1} c{d:t} e{}");
    expect_tree("a: [1, 2] b [ { c: 1 }, < > ] d: []",
                "a[1 2] b[{c:1} {}] d[]");
    expect_tree("a: 1, b: 2; c { }; d: x,", "a:1 b:2 c{} d:x");
    expect_tree("# c\na # c\n: # c\n1 # c", "a:1");
    expect_tree("a:\t\r\n\v\f -1", "a:-1");
}

static void words_that_are_values(void **state)
{
    (void)state;
    expect_tree("a: true b: INT8 c: inf d: -inf", "a:true b:INT8 c:inf d:-inf");
    expect_tree("a: [t, f]", "a[t f]");
    /* A bracket on the next line belongs to it. */
    expect_tree("a: b\n<c: 1>", "a:b");
    expect_tree("a: nn.Conv2d b: x-1 c: p/q", "a:nn.Conv2d b:x-1 c:p/q");
}

static void numbers_travel_as_text(void **state)
{
    (void)state;
    expect_tree("a: [0, 017, 0x1F, -0, .5, 2., 1e3, 1E-3, 1f, 1.5f, -.5e+2]",
                "a[0 017 0x1F -0 .5 2. 1e3 1E-3 1f 1.5f -.5e+2]");
}

static void strings_join_and_escapes_resolve(void **state)
{
    (void)state;
    expect_tree("a: \"conv\" '_' # c\n \"1\"", "a:\"conv_1\"");
    expect_tree("a: [\"x\" \"y\", 'z']", "a[\"xy\" \"z\"]");
    expect_tree("a: \"\\101\\x42C\\1018\\x414\"", "a:\"ABCA8A4\"");
    expect_tree("a: '\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\"'",
                "a:\"\a\b\f\n\r\t\v\\'\"\"\"");
    expect_tree("a: \"\"\"x\"\"\"", "a:\"x\"");
    expect_tree("a: \"#x\" # \"y\"\n '#z'", "a:\"#x#z\"");
}

static void plain_text_is_a_slice_of_the_file(void **state)
{
    const char *text = "name: \"abc\" other: -1.5";
    struct qc_node *n;
    struct reading r;

    (void)state;
    read_text(&r, QC_KIND_CALIB, PARSE, text);
    n = r.root->first;
    assert_ptr_equal(n->name.ptr, text);
    assert_ptr_equal(n->text.ptr, text + 7);
    assert_int_equal(n->text.len, 3);
    assert_ptr_equal(n->next->text.ptr, text + 19);
    qc_free_all(&r.qc);
}

static void places_cover_the_words(void **state)
{
    struct qc_node *n;
    struct reading r;

    (void)state;
    read_text(&r, QC_KIND_CALIB, PARSE, "ab: \"x\" 'y' c { d: 1 } e: [2]");
    n = r.root->first;
    assert_int_equal(n->name_loc.at, 0);
    assert_int_equal(n->name_loc.len, 2);
    assert_int_equal(n->loc.at, 4);
    assert_int_equal(n->loc.len, 7);
    assert_int_equal(n->end, 11);
    assert_true(n->colon);
    n = n->next;
    assert_int_equal(n->loc.at, 14);
    assert_int_equal(n->loc.len, 1);
    assert_int_equal(n->end, 22);
    assert_true(n->closed);
    assert_false(n->colon);
    assert_int_equal(n->next->loc.at, 26);
    assert_int_equal(n->next->end, 29);
    qc_free_all(&r.qc);
}

static void a_byte_of_a_string_has_a_place(void **state)
{
    const char *text = "a: \"x\\101\" # \"\n 'y\\x42'";
    struct qc_loc loc;
    struct reading r;

    (void)state;
    read_text(&r, QC_KIND_CALIB, PARSE, text);
    loc = qc_text_string_loc(r.file, 3, (uint32_t)strlen(text), 1);
    assert_int_equal(loc.at, 5);
    assert_int_equal(loc.len, 4);
    loc = qc_text_string_loc(r.file, 3, (uint32_t)strlen(text), 2);
    assert_int_equal(loc.at, 17);
    assert_int_equal(loc.len, 1);
    loc = qc_text_string_loc(r.file, 3, (uint32_t)strlen(text), 3);
    assert_int_equal(loc.at, 18);
    assert_int_equal(loc.len, 4);
    qc_free_all(&r.qc);
}

/* ---- what is wrong: one error for one mistake, then on ---- */

static void separators(void **state)
{
    (void)state;
    expect_syntax("a: 1;; b: 2", "1:6 syn.double-separator");
    expect_syntax(", a: 1", "1:1 syn.expected-field-name");
    expect_syntax("a {; b: 1 }", "1:4 syn.expected-field-name");
    expect_syntax("a: \"x\", \"y\"\nb: 1", "1:9 syn.expected-field-name");
    expect_syntax("a: 1,000", "1:6 syn.expected-field-name");
    expect_tree("a: 1;; b: 2", "a:1 b:2");
}

static void values_that_are_missing(void **state)
{
    (void)state;
    expect_syntax("a:\nb: 1", "2:1 syn.expected-value");
    expect_syntax("a: : 1\nb: 2", "1:4 syn.expected-value");
    expect_syntax("a { b: }", "1:8 syn.expected-value");
    expect_syntax("a: ]\nb: 1", "1:4 syn.expected-value");
    expect_syntax("a:", "1:3 syn.expected-value");
    expect_tree("a:\nb: 1", "b:1");
}

static void names_without_a_colon_stay_in_the_tree(void **state)
{
    (void)state;
    expect_syntax("a 1 b = 2\nc\nd { e f }", ""); /* for bind_text.c to say */
    expect_tree("a 1\nb = 2\nc\nd { e f }", "a:1 b:2 c:? d{e:f}");
    expect_tree("a = { b: 1 }", "a{b:1}");
}

static void lists(void **state)
{
    (void)state;
    expect_syntax("a: [1, 2,]", "1:10 syn.list-comma");
    expect_syntax("a: [1 2 3 4]", "1:7 syn.list-comma");
    expect_syntax("a: [1; 2; 3]\nb: c: 1",
                  "1:6 syn.list-comma, 2:4 syn.expected-value");
    expect_syntax("a: [,1]", "1:5 syn.expected-value");
    expect_syntax("a: [1\nb: 2", "2:1 syn.list-comma");
    expect_syntax("a { b: [1 }\nc: :",
                  "1:11 syn.list-comma, 2:4 syn.expected-value");
    expect_syntax("a: [[1], [2]]", "1:5 syn.nested-list");
    expect_syntax("a: [1", "1:6 syn.list-unclosed");
    expect_syntax("a [ { b: 1 } { b: 2 } ]", "1:14 syn.list-comma");
    expect_tree("a [ { b: 1 } { b: 2 } ]", "a[{b:1} {b:2}]");
    expect_syntax("a: [1,\nb { c: 2 ] }",
                  "2:1 syn.expected-value, 2:10 syn.unmatched-close");
    /* The bracket of a list that was cut is not missed. */
    expect_syntax("a: [1,\nb: 2 ]\nc: 3", "2:1 syn.expected-value");
}

static void brackets(void **state)
{
    (void)state;
    expect_syntax("a { b { c: 1 }", "1:15 syn.unclosed-brace");
    expect_syntax("a: 1 }\n} b: 2",
                  "1:6 syn.unmatched-close, 2:1 syn.unmatched-close");
    expect_syntax("a { b: 1 >", "1:10 syn.mismatched-close");
    expect_syntax("a < b { c: 1 > }\n}",
                  "1:14 syn.mismatched-close, 1:16 syn.mismatched-close");
    expect_syntax("a { ] }", "1:5 syn.unmatched-close");
    expect_syntax("{ a: 1 }", "1:1 syn.expected-field-name");
    expect_syntax("a: 1 { b: 2 }", "1:6 syn.expected-field-name");
    expect_tree("a { b { c: 1 }", "a{b{c:1}}"); /* nothing is lost */
}

static void other_languages(void **state)
{
    (void)state;
    expect_syntax(
        "[a.b]: 1 [c] { } 1: 2",
        "1:1 syn.extension, 1:10 syn.extension, 1:18 sch.field-number");
    expect_syntax("\"a\": 1\n\"b\": 2", "1:1 syn.json-like");
    expect_syntax("a: 1\n...\nb: :",
                  "2:1 syn.ellipsis, 3:4 syn.expected-value");
    expect_syntax("<<<<<<< x\na: 1\n=======\na: 2\n>>>>>>> y\n",
                  "1:1 syn.expected-field-name");
    expect_syntax("// x\na: 1 // y\n/* z */ b: 1",
                  "1:1 lex.comment-style, 2:6 lex.comment-style, "
                  "3:1 lex.comment-style");
    expect_tree("a: 1 // y\n/* z { */ b: 1", "a:1 b:1");
    expect_tree("<<<<<<< x\na: 1\n=======\nb: 2\n>>>>>>> y\n", "a:1 b:2");
}

static void json_has_no_tree(void **state)
{
    static const char *const texts[] = {"{\"a\": 1}", "{\n \"a\" }", "[\"a\"]",
                                        "[{\"a\": 1}]"};
    struct reading r;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        read_text(&r, QC_KIND_CALIB, PARSE, texts[i]);
        assert_null(r.root);
        assert_string_equal(said(&r), "1:1 syn.json-like");
        qc_free_all(&r.qc);
    }
}

static void malformed_words_keep_their_place(void **state)
{
    (void)state;
    expect_tree("a: 1_000 b: \"\\q\" c: -1", "a:1_000! b:\"\"! c:-1");
    expect_syntax("a: 1b c: +1 d: 08 e: 0x f: 1e g: 1.2.3 h: 0x1p-3",
                  "1:4 lex.bad-number, 1:10 lex.bad-number, "
                  "1:16 lex.bad-number, 1:22 lex.bad-number, "
                  "1:28 lex.bad-number, 1:34 lex.bad-number, "
                  "1:43 lex.bad-number");
    expect_syntax(
        "a: - 5 b: --1 c: -x",
        "1:4 lex.stray-minus, 1:11 lex.stray-minus, 1:18 lex.stray-minus");
    expect_syntax("a: \"x\nb: 'y\nc: \"z\\\nd: :",
                  "1:4 lex.unterminated-string, 2:4 lex.unterminated-string, "
                  "3:4 lex.unterminated-string, 4:4 syn.expected-value");
    expect_syntax("a: \"\\q\\400\\x\\u0041\"",
                  "1:5 lex.bad-escape, 1:7 lex.bad-escape, "
                  "1:11 lex.bad-escape, 1:13 lex.bad-escape");
}

static void characters_that_cannot_stand_are_dropped(void **state)
{
    (void)state;
    expect_syntax("a: 1 $%& b: 2 \x01\x02 c: 3",
                  "1:6 lex.bad-char, 1:15 lex.control-char");
    expect_tree("a: 1 $%& b: 2", "a:1 b:2");
    expect_syntax("a: ${B}\nc: (1, 2)\nd (\n e: 1\n)",
                  "1:4 lex.bad-char, 2:4 lex.bad-char, 3:3 lex.bad-char");
    expect_tree("d (\n e: 1\n) f: 2", "d{e:1} f:2");
    expect_syntax("a\xEF\xBC\x9A\xEF\xBC\x91",
                  "1:2 lex.fullwidth, 1:3 lex.fullwidth");
    expect_tree("a\xEF\xBC\x9A 1\xEF\xBC\x8C b: 2", "a:1 b:2");
    expect_tree("a:\xE3\x80\x80 1", "a:1");
    expect_tree("a: \xE2\x80\x9Cx\xE2\x80\x9D b: 1", "a:\"\"! b:1");
}

static void lone_carriage_returns(void **state)
{
    (void)state;
    expect_syntax("a: 1\rb: 2\r", "");
    expect_syntax("# x\ra: 1\n# y\rb: :",
                  "1:4 lex.lone-cr, 2:8 syn.expected-value");
    expect_syntax("a: \"x\ry\r\"", "1:6 lex.lone-cr");
    expect_syntax("# x\r\na: \"y\"\r\n", "");
}

/* ---- limits ---- */

static void nesting_of_any_depth(void **state)
{
    static const char *const pieces[] = {"a{", "a<", "a:[", "a[{",
                                         "[",  "{",  "<"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        char *text = repeated("x: ", pieces[i], 300000, "");
        struct reading r;

        read_text(&r, QC_KIND_CALIB, PARSE, text);
        assert_true(r.file->errors > 0);
        qc_free_all(&r.qc);
        free(text);
    }
}

static void a_string_has_a_limit(void **state)
{
    char *text = repeated("a: \"", "x", QC_MAX_STRING, "\"");
    char *more = repeated("a: \"", "x", QC_MAX_STRING, "\" 'y'");

    (void)state;
    expect_syntax(text, "");
    expect_syntax(more, "1:4 lim.string");
    free(text);
    free(more);
}

/* Twice the text, at most about twice the time: what a quadratic step would
 * turn into minutes ends within seconds. */
static void hostile_texts_end(void **state)
{
    static const char *const pieces[] = {"-",
                                         "- ",
                                         "\"",
                                         "\"\n",
                                         "'\n",
                                         "/*\n",
                                         "(",
                                         "a( ",
                                         "}",
                                         "]",
                                         ":",
                                         ",",
                                         ";\n",
                                         "=",
                                         "x<<<<<<<",
                                         "<<<<<<<\n",
                                         "\xE2\x80\x9C\n",
                                         "\xE3\x80\x80",
                                         "#\r",
                                         "! ",
                                         ". ",
                                         "a ",
                                         "a\n",
                                         "a: 1 ",
                                         "1 ",
                                         "\"a\" ",
                                         "\"a\": ",
                                         "[a]: 1 ",
                                         "a { b: } ",
                                         "\\"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        char *text = repeated("", pieces[i], 200000, "");
        clock_t start = clock();
        struct reading r;

        read_text(&r, QC_KIND_CALIB, CHECK, text);
        if (clock() - start > 20 * CLOCKS_PER_SEC)
            fail_msg("%s", pieces[i]);
        qc_free_all(&r.qc);
        free(text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_groups_and_lists),
        cmocka_unit_test(words_that_are_values),
        cmocka_unit_test(numbers_travel_as_text),
        cmocka_unit_test(strings_join_and_escapes_resolve),
        cmocka_unit_test(plain_text_is_a_slice_of_the_file),
        cmocka_unit_test(places_cover_the_words),
        cmocka_unit_test(a_byte_of_a_string_has_a_place),
        cmocka_unit_test(separators),
        cmocka_unit_test(values_that_are_missing),
        cmocka_unit_test(names_without_a_colon_stay_in_the_tree),
        cmocka_unit_test(lists),
        cmocka_unit_test(brackets),
        cmocka_unit_test(other_languages),
        cmocka_unit_test(json_has_no_tree),
        cmocka_unit_test(malformed_words_keep_their_place),
        cmocka_unit_test(characters_that_cannot_stand_are_dropped),
        cmocka_unit_test(lone_carriage_returns),
        cmocka_unit_test(nesting_of_any_depth),
        cmocka_unit_test(a_string_has_a_limit),
        cmocka_unit_test(hostile_texts_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
