/* The reader of JSON: grammar/json.l, grammar/json.y, gen/json_reader.c. The
 * second judge is cJSON: what we read, it must read the same way. */
#include "json_help.h"

#include "json_cases.h"

#include <cjson/cJSON.h>

static void parse(struct reading *r, const char *text)
{
    read_json(r, QC_KIND_JSON_SYNTAX, PARSE, false, text, strlen(text));
}

static void expect_syntax(const char *text, const char *words)
{
    expect_said(QC_KIND_JSON_SYNTAX, PARSE, false, text, words);
}

/* ---- the tree ---- */

static void words_are_slices_of_the_file(void **state)
{
    const char *text = "{\"conv1\": [\"abc\", -1.50e3, true]}";
    struct qc_node *list;
    struct reading r;

    (void)state;
    parse(&r, text);
    list = r.root->first;
    assert_ptr_equal(list->name.ptr, text + 2);
    assert_int_equal(list->name.len, 5);
    assert_ptr_equal(list->first->text.ptr, text + 12);
    assert_ptr_equal(list->first->next->text.ptr, text + 18);
    assert_true(qc_equalz(list->first->next->text, "-1.50e3"));
    qc_free_all(&r.qc);
}

static void places_cover_the_words(void **state)
{
    struct qc_node *n;
    struct reading r;

    (void)state;
    parse(&r, " {\"a\" : [1, 22] }");
    assert_int_equal(r.root->loc.at, 1);
    assert_int_equal(r.root->end, 17);
    assert_true(r.root->closed);
    n = r.root->first;
    assert_int_equal(n->name_loc.at, 2);
    assert_int_equal(n->name_loc.len, 3);
    assert_int_equal(n->loc.at, 8);
    assert_int_equal(n->loc.len, 1);
    assert_int_equal(n->end, 15);
    assert_int_equal(n->first->next->loc.at, 12);
    assert_int_equal(n->first->next->loc.len, 2);
    assert_int_equal(n->count, 2);
    qc_free_all(&r.qc);
}

static void expect_text(const char *text, const char *want, size_t len)
{
    struct reading r;

    parse(&r, text);
    assert_string_equal(said(&r), "");
    assert_int_equal(r.root->text.len, len);
    assert_memory_equal(r.root->text.ptr, want, len);
    qc_free_all(&r.qc);
}

static void escapes_are_resolved(void **state)
{
    (void)state;
    expect_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    expect_text("\"a\\u0000b\"", "a\0b", 3);
    expect_text("\"\\u00e9\\u07ff\\u0800\\uFFFF\"",
                "\xC3\xA9\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF", 10);
    expect_text("\"\\ud83d\\ude00\\uDBFF\\uDFFF\"",
                "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF", 8);
    expect_text("\"\xE5\x8D\xB7\\u79ef\"", "\xE5\x8D\xB7\xE7\xA7\xAF", 6);
    expect_text("\"a\x7F\"", "a\x7F", 2);
}

/* ---- refusing ---- */

static void each_case_of_the_suite_is_refused_where_it_must(void **state)
{
    char want[100];
    size_t i, refused = 0;

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++) {
        const struct json_case *c = &json_cases[i];
        struct reading r;
        const char *got;

        read_json(&r, c->kind, PARSE, false, c->text, c->size);
        got = said(&r);
        sprintf(want, "%u:%u %s", c->line, c->col, c->key);
        if (c->stage != SYNTAX)
            want[0] = '\0';
        else
            refused++;
        if (strncmp(got, want, strlen(want)) != 0 || (!want[0] && got[0]))
            fail_msg("%s: \"%s\" instead of \"%s\"", c->name, got, want);
        qc_free_all(&r.qc);
    }
    assert_true(refused > 100);
}

/* The first column is a file, the second all that is said about it. */
static const char *const mistakes[][2] = {
  /* A comma is missing, or there is one too many. */
    {"{\"a\":1 \"b\":2}",                                     "1:8 json.expected-comma"                                 },
    {"{\"a\":[1 2 3]}",                                       "1:9 json.expected-comma"                                 },
    {"{\"a\":{\"x\":1},}",                                    "1:14 json.trailing-comma"                                },
    {"{\"a\":[1,,2,]}",                                       "1:9 json.expected-value, 1:12 json.trailing-comma"       },
    {"{,\"a\":1,,\"b\":2}",                                   "1:2 json.expected-key, 1:9 json.expected-key"            },
    {"{\"a\":1,,,,,}",                                        "1:8 json.expected-key"                                   },
    {"{\"a\":1;\"b\":2}",                                     "1:7 json.expected-comma"                                 },
    {"[1:2]",                                                 "1:3 json.expected-comma"                                 },
    {"[*]",                                                   "1:2 json.expected-value"                                 },
 /* A colon, key or value is missing. */
    {"{\"a\" 1, \"b\" {\"c\":2}, \"d\":3}",
     "1:6 json.expected-colon, 1:13 json.expected-colon"                                                                },
    {"{\"a\"=>1,\"b\"}",                                      "1:5 json.expected-colon, 1:12 json.expected-colon"       },
    {"{\"a\":,\"b\":\"c\":1}",
     "1:6 json.expected-value, 1:11 json.expected-value"                                                                },
    {"{\"a\"::1,\"b\":=2}",
     "1:6 json.expected-value, 1:13 json.expected-value"                                                                },
    {"{\"a\":1,5,\"b\":2}",                                   "1:8 json.expected-key"                                   },
    {"{\"a\":1,{\"b\":2},\"c\":3}",                           "1:8 json.expected-key"                                   },
    {"{1:2,null:3}",                                          "1:2 json.expected-key, 1:6 json.expected-key"            },
    {"{\"a\",\"b\"}",                                         "1:5 json.expected-colon, 1:9 json.expected-colon"        },
 /* Brackets. */
    {"{\"a\":{\"b\":1}",                                      "1:13 json.unclosed"                                      },
    {"{\"a\":[1,2",                                           "1:10 json.unclosed"                                      },
    {"{\"a\":[1},\"b\":[2},\"c\":[3 \"d\":4}",
     "1:8 json.mismatched-close, 1:16 json.mismatched-close, "
     "1:25 json.unclosed"                                                                                               },
    {"{\"a\":[\"b],\n\"c\":[1},\"d\":2",                      "1:7 lex.unterminated-string"                             },
    {"{\"a\":[1},\"b\":2,}",
     "1:8 json.mismatched-close, 1:16 json.trailing-comma"                                                              },
    {"{\"a:{\"b\":1},\n\"c\":2}",                             "1:2 lex.unterminated-string"                             },
    {"{\"a\":{\"b\":[1,2},\"c\":{\"d\":3}}",                  "1:15 json.mismatched-close"                              },
    {"{\"a\":[1,2}, \"b\":3}",                                "1:10 json.mismatched-close"                              },
    {"{\"a\":{\"b\":1],\"c\":2}",                             "1:12 json.mismatched-close"                              },
    {"{\"a\":[1,2 \"b\":3}",                                  "1:11 json.unclosed"                                      },
    {"{\"a\":[[1,[2,\"b\":3}",                                "1:13 json.unclosed"                                      },
    {"{\"a\":1}}}",                                           "1:8 json.trailing-garbage"                               },
    {"{\"a\":1} x } 2",                                       "1:9 json.trailing-garbage"                               },
    {"\"a\":1}",                                              "1:4 json.trailing-garbage"                               },
    {"{{\"a\":1}",                                            "1:2 json.expected-key"                                   },
 /* Words and numbers of other languages; each counts once. */
    {"{\"a\":True,\"b\":None,\"c\":yes,d:1}",
     "1:6 json.bareword, 1:15 json.bareword, 1:24 json.bareword, "
     "1:28 json.bareword"                                                                                               },
    {"{'a':'b' \"c\":1}",                                     "1:2 json.single-quote, 1:6 json.single-quote"            },
    {"[01,+1,.5,1.,1e,0x1,1_0,--1,- 1]",
     "1:2 json.number, 1:5 json.number, 1:8 json.number, 1:11 json.number, "
     "1:14 json.number, 1:17 json.number, 1:21 json.number, 1:25 json.number, "
     "1:29 json.number"                                                                                                 },
    {"[NaN,-inf,+Infinity]",                                  "1:2 json.nan, 1:6 json.nan, 1:11 json.nan"               },
    {"{\"a\":1,...}",                                         "1:8 json.ellipsis"                                       },
    {"{\"a\":1\n...\n}",                                      "2:1 json.ellipsis"                                       },
    {"{\"a\":...,\"b\":[...]}",                               "1:6 json.ellipsis, 1:15 json.ellipsis"                   },
    {"{\"a\":1, // x\n/* y */ \"b\":2 # z\n}",                "1:9 json.comment"                                        },
    {"{\"a\" /* : */ :1}",                                    "1:6 json.comment"                                        },
    {"{\"a\":1} /* x",                                        "1:9 json.comment"                                        },
    {"# x\nbatch_num: 1\nbatch_num: 2\n",                     "2:1 json.looks-like-textproto"                           },
 /* Strings. */
    {"{\"a:1,\n\"b\":2}",                                     "1:2 lex.unterminated-string"                             },
    {"{\"a\":\"x,\n\"b\":2}",                                 "1:6 lex.unterminated-string"                             },
    {"{\"a\":\"x\r\n}",                                       "1:6 lex.unterminated-string"                             },
    {"[\"\\a\\b\\c\",\"\\u1\",\"\\ud800\\ud800\"]",
     "1:3 lex.bad-escape, 1:12 lex.bad-escape, 1:18 json.lone-surrogate"                                                },
    {"[\"a\tb\tc\",\"\r\"]",                                  "1:4 lex.control-char, 1:11 lex.lone-cr"                  },
 /* Characters of other keyboards. */
    {"{\"a\"\xEF\xBC\x9A"
     "1\xEF\xBC\x8C\"b\":2\xEF\xBD\x9D",                 "1:5 lex.fullwidth, 1:7 lex.fullwidth, 1:13 lex.fullwidth"},
    {"{\xE2\x80\x9C"
     "a\xE2\x80\x9D:1,\"b\":\xE2\x80\x9Cx\xE2\x80\x9D}", "1:2 lex.fullwidth, 1:12 lex.fullwidth"                   },
    {"{\"a\":\xEF\xBC\x91}",                                  "1:6 lex.fullwidth"                                       },
    {"{\xE5\x8D\xB7:1}",                                      "1:2 json.bareword"                                       },
    {"{\"a\":\xC2\xA0\xC2\xA0"
     "1\f}",                                             "1:6 lex.bad-char, 1:9 lex.control-char"                  },
    {"\xEF\xBB\xBF{\"a\":1,}",                                "1:1 lex.bom, 1:9 json.trailing-comma"                    },
};

static void each_mistake_costs_one_message(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        expect_syntax(mistakes[i][0], mistakes[i][1]);
}

static void every_fix_helps(void **state)
{
    size_t i, fixes = 0;

    (void)state;
    for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        fixes += try_fixes(QC_KIND_JSON_SYNTAX, mistakes[i][0],
                           strlen(mistakes[i][0]));
    assert_true(fixes > 20);
}

static void the_tree_survives_mistakes(void **state)
{
    struct reading r;

    (void)state;
    parse(&r, "{\"a\":1 \"b\":[1,,2], c:{'d':01},}");
    assert_int_equal(r.root->count, 3);
    assert_true(qc_equalz(r.root->first->next->name, "b"));
    assert_int_equal(r.root->first->next->count, 2);
    assert_true(qc_equalz(r.root->last->name, "c"));
    assert_true(r.root->last->poisoned);
    assert_true(qc_equalz(r.root->last->first->name, "d"));
    qc_free_all(&r.qc);
}

static void a_repeated_key_is_found_at_any_depth(void **state)
{
    (void)state;
    expect_syntax("{\"a\":1,\"\\u0061\":2,\"a\":3}",
                  "1:8 json.duplicate-key, 1:19 json.duplicate-key");
    expect_syntax("[[{\"a\":{\"b\":1,\"b\":1}}]]", "1:15 json.duplicate-key");
    expect_syntax("{\"a\":{\"b\":1},\"b\":1,\"c\":{\"b\":1}}", "");
}

static void only_repeated_objects_are_called_layers(void **state)
{
    struct reading r;

    (void)state;
    parse(&r, "{\"a\":{},\"a\":{}}");
    assert_non_null(strstr(r.file->diags->text, "layer name \"a\""));
    qc_free_all(&r.qc);
    parse(&r, "{\"a\":{},\"a\":1}");
    assert_null(strstr(r.file->diags->text, "layer"));
    qc_free_all(&r.qc);
}

/* ---- limits ---- */

static void repeat(char **to, const char *text, size_t times)
{
    while (times-- > 0) {
        size_t len = strlen(text);

        memcpy(*to, text, len);
        *to += len;
    }
    **to = '\0';
}

static void sixty_four_brackets_may_be_open(void **state)
{
    char text[200], *to = text;

    (void)state;
    repeat(&to, "[", 64);
    repeat(&to, "]", 64);
    expect_syntax(text, "");
    to = text;
    repeat(&to, "{\"a\":", 20);
    repeat(&to, "[", 45);
    expect_syntax(text, "1:145 lim.depth");
}

static void a_string_may_have_one_mebibyte(void **state)
{
    char *text = malloc(QC_MAX_STRING + 10), *to = text;

    (void)state;
    repeat(&to, "\"", 1);
    repeat(&to, "x", QC_MAX_STRING);
    repeat(&to, "\"", 1);
    expect_syntax(text, "");
    to = text;
    repeat(&to, "\"", 1);
    repeat(&to, "x", QC_MAX_STRING - 1);
    repeat(&to, "\\n\"", 1);
    expect_syntax(text, "");
    to = text;
    repeat(&to, "\"", 1);
    repeat(&to, "x", QC_MAX_STRING + 1);
    repeat(&to, "\"", 1);
    expect_syntax(text, "1:1 lim.string");
    free(text);
}

/* Each would take hours if something in it were quadratic. */
static void hostile_files_end(void **state)
{
    static const char *const pieces[] = {
        "[",      "]",  "{",      ",",  ":",
        "\"",     "'",  "\"a\" ", "- ", "\xE2\x80\x9C",
        "/*",     "#",  "\\",     ".",  "\"\\",
        "\"a\":", "1 ", "...",    "x ", "'\\"};
    size_t count = 300000, i;
    char *text = malloc(count * 6 + 10);

    (void)state;
    for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        char *to = text;
        struct reading r;

        repeat(&to, "{\"a\":", 1);
        repeat(&to, pieces[i], count);
        parse(&r, text);
        assert_true(r.file->errors > 0);
        qc_free_all(&r.qc);
    }
    free(text);
}

static void a_file_may_have_four_million_values(void **state)
{
    size_t most = 4u << 20;
    char *text = malloc(most * 2 + 10), *to = text;
    struct reading r;

    (void)state;
    repeat(&to, "[", 1);
    repeat(&to, "1,", most - 2);
    repeat(&to, "1]", 1);
    parse(&r, text);
    assert_string_equal(said(&r), "");
    qc_free_all(&r.qc);
    to = text;
    repeat(&to, "[", 1);
    repeat(&to, "1,", most);
    repeat(&to, "1]", 1);
    expect_said(QC_KIND_JSON_SYNTAX, PARSE, false, text, "1:8388608 lim.nodes");
    free(text);
}

static void one_of_many_keys_is_found_again(void **state)
{
    char *text = malloc(3000000), *to = text;
    struct reading r;
    int i;

    (void)state;
    to += sprintf(to, "{");
    for (i = 0; i < 100000; i++)
        to += sprintf(to, "\"layer%d\":{},", i);
    sprintf(to, "\"layer77\":{}}");
    parse(&r, text);
    assert_int_equal(r.root->count, 100001);
    assert_int_equal(r.file->errors, 1);
    assert_int_equal(r.file->diags->key, QC_JSON_DUPLICATE_KEY);
    assert_int_equal(r.file->diags->loc.at, to - text);
    qc_free_all(&r.qc);
    free(text);
}

/* ---- the second judge ---- */

static bool same_tree(const struct qc_node *n, const cJSON *j);

static bool same_children(const struct qc_node *n, const cJSON *j)
{
    const struct qc_node *a = n->first;
    const cJSON *b = j->child;

    for (; a && b; a = a->next, b = b->next) {
        if (n->kind == QC_GROUP && !qc_equalz(a->name, b->string))
            return false;
        if (!same_tree(a, b))
            return false;
    }
    return !a && !b;
}

static bool same_tree(const struct qc_node *n, const cJSON *j)
{
    char number[400];

    switch (n->kind) {
    case QC_GROUP:
        return cJSON_IsObject(j) && same_children(n, j);
    case QC_LIST:
        return cJSON_IsArray(j) && same_children(n, j);
    case QC_TEXT:
        return cJSON_IsString(j) && qc_equalz(n->text, j->valuestring);
    case QC_NUMBER:
        if (!cJSON_IsNumber(j) || n->text.len >= sizeof(number))
            return false;
        sprintf(number, "%.*s", QC_ARG(n->text));
        return !(strtod(number, NULL) < j->valuedouble) &&
               !(strtod(number, NULL) > j->valuedouble);
    default:
        return qc_equalz(n->text, cJSON_IsTrue(j)    ? "true"
                                  : cJSON_IsFalse(j) ? "false"
                                                     : "null");
    }
}

/* What we take, cJSON takes and reads alike. It takes more than we do. */
static void judge(const char *text, size_t size, size_t *accepted)
{
    struct reading r;
    cJSON *j;

    read_json(&r, QC_KIND_JSON_SYNTAX, PARSE, false, text, size);
    if (r.root && !r.file->errors) {
        j = cJSON_ParseWithLengthOpts(text, size + 1, NULL, true);
        if (!j || !same_tree(r.root, j))
            fail_msg("cJSON reads this differently: %.*s", (int)size, text);
        cJSON_Delete(j);
        ++*accepted;
    }
    qc_free_all(&r.qc);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static size_t mutate(char *text, size_t size, uint32_t *seed)
{
    static const char bytes[] = "{}[]:,\"\\/ \n0123456789.eE+-truefalsn'#\x80";
    size_t at = next_random(seed) % size, to = next_random(seed) % size;

    switch (next_random(seed) % 3) {
    case 0:
        memmove(text + at, text + at + 1, size - at);
        return size - 1;
    case 1:
        text[at] = bytes[next_random(seed) % (sizeof(bytes) - 1)];
        return size;
    default:
        text[at] = text[to];
        return size;
    }
}

static void cjson_agrees_about_what_is_accepted(void **state)
{
    size_t i, k, tried = 0, accepted = 0;
    uint32_t seed = 1;
    char text[400];

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++) {
        const struct json_case *c = &json_cases[i];

        if (strstr(c->text, "\\u0000") || strlen(c->text) != c->size)
            continue; /* cJSON's strings end there */
        judge(c->text, c->size, &accepted);
        for (k = 0; k < 40; k++, tried++) {
            size_t size = c->size;

            memcpy(text, c->text, size + 1);
            if (size)
                size = mutate(text, size, &seed);
            if (size && k % 2)
                size = mutate(text, size, &seed);
            if (!strstr(text, "\\u0000"))
                judge(text, size, &accepted);
        }
    }
    assert_true(tried > 8000);
    assert_true(accepted > 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_slices_of_the_file),
        cmocka_unit_test(places_cover_the_words),
        cmocka_unit_test(escapes_are_resolved),
        cmocka_unit_test(each_case_of_the_suite_is_refused_where_it_must),
        cmocka_unit_test(each_mistake_costs_one_message),
        cmocka_unit_test(every_fix_helps),
        cmocka_unit_test(the_tree_survives_mistakes),
        cmocka_unit_test(a_repeated_key_is_found_at_any_depth),
        cmocka_unit_test(only_repeated_objects_are_called_layers),
        cmocka_unit_test(sixty_four_brackets_may_be_open),
        cmocka_unit_test(a_string_may_have_one_mebibyte),
        cmocka_unit_test(hostile_files_end),
        cmocka_unit_test(a_file_may_have_four_million_values),
        cmocka_unit_test(one_of_many_keys_is_found_again),
        cmocka_unit_test(cjson_agrees_about_what_is_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
