/* gen/lower_join.c, gen/model_join.c, gen/function.c: what a layer's input is
 * made of. tests/models/joins.onnx has one of each. */
#define _POSIX_C_SOURCE 200809L
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "emit.h"
#include "function.h"
#include "lower.h"
#include "resolve.h"

static struct qc qc;
static char folder[] = "/tmp/quantc-join-XXXXXX";
static const char config[] =
    "common_config { arq_quantize { channel_wise: false } }\n";
static const char *const names[] = {
    "stem", "a",    "b",       "c",      "d",     "e",     "f",
    "fc",   "tanh", "softmax", "scaled", "other", "twice", "limited"};

static int begin(void **state)
{
    (void)state;
    memset(&qc, 0, sizeof(qc));
    qc_diag_init(&qc);
    return 0;
}

static int end(void **state)
{
    (void)state;
    qc_free_all(&qc);
    return 0;
}

static struct qc_doc *doc(const char *name, enum qc_kind kind, const char *text)
{
    const char *path = qc_format(&qc, "%s/%s", folder, name).ptr;
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return qc_read(&qc, path, kind, QC_UNION, false);
}

/* A record of all layers; the one called `odd` has another scale_d, the one
 * called `none` is left out. */
static const char *record(const char *odd, const char *none)
{
    struct qc_str s = {"", 0};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!none || strcmp(names[i], none) != 0)
            s = qc_format(&qc,
                          "%.*srecord { key: \"%s\" value { scale_d: %s "
                          "offset_d: -3 scale_w: 0.0078125 offset_w: 0 } }\n",
                          QC_ARG(s), names[i],
                          odd && strcmp(names[i], odd) == 0 ? "0.0625"
                                                            : "0.03125");
    return s.ptr;
}

static struct qc_tables *lower(const char *cfg, const char *rec)
{
    struct qc_resolve_options o = {0};
    struct qc_lower_options l = {"quant"};
    struct qc_plan *p =
        qc_resolve(&qc, doc("quant.cfg", QC_KIND_CALIB, cfg),
                   doc("record.txt", QC_KIND_RECORD, rec),
                   qc_read_onnx(&qc, "tests/models/joins.onnx"), &o);
    struct qc_tables *t;

    assert_non_null(p);
    t = qc_lower(&qc, p, &l);
    assert_non_null(t);
    return t;
}

static const struct qc_low_row *row(const struct qc_tables *t, const char *name)
{
    size_t i;

    for (i = 0; i < t->count; i++)
        if (qc_equalz(t->rows[i].row->layer->name, name))
            return &t->rows[i];
    fail_msg("no layer %s", name);
    return NULL;
}

static const struct qc_low_join *join(const struct qc_tables *t,
                                      const char *name)
{
    const struct qc_low_row *r = row(t, name);

    if (!r->join)
        fail_msg("%s has no join: %.*s", name, QC_ARG(r->join_why));
    return r->join;
}

static void assert_term(const struct qc_tables *t, const char *name, size_t i,
                        const char *from, bool is_code)
{
    const struct qc_low_join *j = join(t, name);

    assert_true(i < j->term_count);
    assert_ptr_equal(&t->rows[j->terms[i].layer], row(t, from));
    assert_int_equal(j->terms[i].is_code, is_code);
}

static void assert_why(const struct qc_tables *t, const char *name,
                       const char *why)
{
    const struct qc_low_row *r = row(t, name);

    assert_null(r->join);
    assert_string_equal(qc_cstr(&qc, r->join_why), why);
}

/* ---- what is found ---- */

static void one_way_is_an_edge(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));
    const struct qc_low_join *j = join(t, "a");

    (void)state;
    assert_int_equal(j->kind, QRT_JOIN_EDGE);
    assert_term(t, "a", 0, "stem", false);
    assert_ptr_equal(j->edge, row(t, "stem")->edge);
    assert_int_equal(j->edge->code_min, -3); /* the Relu */
}

static void a_shared_tensor_is_quantized_once(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));

    (void)state;
    assert_int_equal(join(t, "b")->kind, QRT_JOIN_SAME);
    assert_term(t, "b", 0, "a", false);
}

static void codes_behind_other_limits_are_not_the_same(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));
    const struct qc_low_join *j = join(t, "limited");

    (void)state;
    assert_int_equal(j->kind, QRT_JOIN_SUM);
    assert_term(t, "limited", 0, "c", true);
    assert_int_equal(j->code_max, -3 + 32); /* 1 / 2^-5 */
}

static void other_parameters_need_an_edge_each(void **state)
{
    struct qc_tables *t = lower(config, record("b", NULL));
    const struct qc_low_join *a = join(t, "a"), *b = join(t, "b");

    (void)state;
    assert_null(row(t, "stem")->edge);
    assert_int_equal(a->kind, QRT_JOIN_EDGE);
    assert_int_equal(b->kind, QRT_JOIN_EDGE);
    assert_term(t, "b", 0, "stem", false);
    /* 2^-5 * 2^-7 / 2^-4 and half of it: powers of two */
    assert_int_equal(a->edge->requant->e - 1, b->edge->requant->e);
    assert_true(a->own_edge && b->own_edge);
}

static void an_add_takes_accumulators_and_codes(void **state)
{
    struct qc_tables *t = lower(config, record("d", NULL));
    const struct qc_low_join *j = join(t, "c");

    (void)state;
    assert_int_equal(j->kind, QRT_JOIN_SUM);
    assert_int_equal(j->term_count, 2);
    assert_term(t, "c", 0, "a", false);
    assert_term(t, "c", 1, "b", false);
    assert_int_equal(j->code_min, -3);
    /* Add of an Add: three terms, one of them the input of c */
    j = join(t, "d");
    assert_int_equal(j->term_count, 3);
    assert_term(t, "d", 0, "c", false);
    assert_term(t, "d", 1, "c", true);
    assert_term(t, "d", 2, "b", false);
    assert_int_equal(j->terms[1].zero_point, -3);
    assert_int_equal(j->terms[1].scale->e, 0); /* 2^-5 / 2^-4 */
    assert_int_equal(j->terms[1].scale->m, 1 << 30);
}

static void a_layer_that_is_not_quantized_is_no_source_of_codes(void **state)
{
    struct qc_tables *t =
        lower("skip_layers: \"b\" common_config { arq_quantize { channel_wise:"
              " false } }",
              record(NULL, "b"));

    (void)state;
    assert_why(t, "c",
               "not quantized, or with a BatchNormalization of its own, is "
               "'b'");
    assert_int_equal(join(t, "a")->kind, QRT_JOIN_EDGE);
}

static void parts_of_a_concat_stay_in_order(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));
    const struct qc_low_join *j = join(t, "e");

    (void)state;
    assert_int_equal(j->kind, QRT_JOIN_CONCAT);
    assert_int_equal(j->term_count, 2);
    assert_term(t, "e", 0, "d", false);
    assert_term(t, "e", 1, "d", true);
}

static void limits_before_an_add_are_those_of_the_term(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));
    const struct qc_low_join *j = join(t, "f");

    (void)state;
    assert_term(t, "f", 0, "e", false);
    assert_int_equal(j->terms[0].low, 0);
    assert_int_not_equal(j->terms[0].high, INT32_MAX);
    assert_int_equal(j->terms[1].low, INT32_MIN);
    /* the Relu behind it stands before the Sigmoid */
    assert_non_null(j->table);
    assert_int_equal(j->code_min, j->zero_point);
}

static void a_mean_has_its_limits_before_it(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));
    const struct qc_low_join *j = join(t, "fc");

    (void)state;
    assert_true(j->mean);
    assert_int_equal(j->low, 0);
    assert_int_equal(j->high, 6 * 32 * 65536); /* 6 / 2^-5 in Q16 */
    assert_int_equal(j->code_min, -128);
}

static void what_stays_real_says_why(void **state)
{
    struct qc_tables *t = lower(config, record(NULL, NULL));

    (void)state;
    assert_why(t, "stem", "it comes from the tensor 'x'");
    assert_why(t, "softmax", "it comes through the operation 'Softmax'");
    assert_why(t, "scaled", "it comes through the operation 'Mul'");
    assert_why(t, "other", "it comes from the tensor 'x2'");
    assert_why(t, "twice", "it comes through the operation 'Tanh'");
}

static void a_layer_list_has_the_joins_of_its_edges(void **state)
{
    static const char list[] =
        "layer { name: \"p\" type: \"Conv2d\" weight_shape: [2, 2, 1, 1] "
        "next { layer: \"q\" relu: true } }\n"
        "layer { name: \"q\" type: \"Conv2d\" weight_shape: [2, 2, 1, 1] }\n";
    static const char rec[] =
        "record { key: \"p\" value { scale_d: 0.5 offset_d: 0 scale_w: 0.5 "
        "offset_w: 0 } }\n"
        "record { key: \"q\" value { scale_d: 0.25 offset_d: -7 scale_w: 0.5 "
        "offset_w: 0 } }\n";
    struct qc_resolve_options o = {0};
    struct qc_lower_options l = {"quant"};
    struct qc_plan *p;
    struct qc_tables *t;

    (void)state;
    doc("quant.cfg", QC_KIND_LAYERS, list);
    p = qc_resolve(&qc, NULL, doc("record.txt", QC_KIND_RECORD, rec),
                   qc_read_layers(&qc,
                                  qc_format(&qc, "%s/quant.cfg", folder).ptr,
                                  QC_UNION),
                   &o);
    assert_non_null(p);
    t = qc_lower(&qc, p, &l);
    assert_non_null(t);
    assert_int_equal(join(t, "q")->kind, QRT_JOIN_EDGE);
    assert_ptr_equal(join(t, "q")->edge, row(t, "p")->edge);
    assert_int_equal(join(t, "q")->edge->code_min, -7);
    assert_why(t, "p", "a layer list does not say what it is made of");
}

static void the_plan_tells_joins(void **state)
{
    struct qc_out *o = qc_out_new(&qc, NULL);

    (void)state;
    if (!qc_emit_plan(o, lower(config, record(NULL, NULL))))
        skip();
    qc_put(o, "", 1);
    assert_non_null(strstr(o->text, "\"kind\":\t\"sum\""));
    assert_non_null(strstr(o->text, "\"function\":\t\"Sigmoid\""));
    assert_non_null(strstr(o->text,
                           "\"no_join\":\t\"it comes through the operation "
                           "'Softmax'\""));
}

/* ---- tables ---- */

static void functions_are_those_of_libm(void **state)
{
    struct qc_function f = {0};
    double x;

    (void)state;
    for (x = -45; x <= 45; x += 0.0078125) {
        f.is_tanh = true;
        if (fabs(qc_function_at(&f, x) - tanh(x)) > 1e-13)
            fail_msg("tanh(%g)", x);
        f.is_tanh = false;
        if (fabs(qc_function_at(&f, x) - 1 / (1 + exp(-x))) > 1e-13)
            fail_msg("sigmoid(%g)", x);
    }
}

static void assert_table(bool is_tanh, double step, int32_t zero)
{
    struct qc_function f = {is_tanh, step, zero, -128, 127, 0, 0};
    int8_t table[256];
    int i;

    qc_tabulate(&f, table);
    assert_in_range(f.index_zero + 128, 0, 255);
    for (i = 0; i < 256; i++) {
        double x = (i - 128 - f.index_zero) * f.index_step;
        double y = is_tanh ? tanh(x) : 1 / (1 + exp(-x));
        double code = fmin(fmax(rint(y / step + zero), -128), 127);

        if (table[i] != code)
            fail_msg("index %d: %d, not %g", i, table[i], code);
        if (i)
            assert_true(table[i] >= table[i - 1]);
    }
    /* No index is wasted. */
    if (table[0] != table[255]) {
        assert_int_not_equal(table[0], table[3]);
        assert_int_not_equal(table[252], table[255]);
    }
    /* Neither end is still changing: what lies outside has the same code. */
    for (i = 0; i < 2; i++) {
        double x = i ? 20 : -20, y = is_tanh ? tanh(x) : 1 / (1 + exp(-x));
        double code = fmin(fmax(rint(y / step + zero), -128), 127);

        assert_int_equal(table[i ? 255 : 0], code);
    }
}

static void tables_cover_where_the_code_changes(void **state)
{
    (void)state;
    assert_table(true, 1.0 / 127, 0);
    assert_table(true, 1.0 / 64, -3);
    assert_table(true, 0.003, 100); /* saturates on both sides */
    assert_table(true, 3.0, 0);     /* one code for all        */
    assert_table(false, 1.0 / 255, -128);
    assert_table(false, 1.0 / 127, 0);
    assert_table(false, 0.5, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_way_is_an_edge),
        TEST(a_shared_tensor_is_quantized_once),
        TEST(codes_behind_other_limits_are_not_the_same),
        TEST(other_parameters_need_an_edge_each),
        TEST(an_add_takes_accumulators_and_codes),
        TEST(a_layer_that_is_not_quantized_is_no_source_of_codes),
        TEST(parts_of_a_concat_stay_in_order),
        TEST(limits_before_an_add_are_those_of_the_term),
        TEST(a_mean_has_its_limits_before_it),
        TEST(what_stays_real_says_why),
        TEST(a_layer_list_has_the_joins_of_its_edges),
        TEST(the_plan_tells_joins),
        TEST(functions_are_those_of_libm),
        TEST(tables_cover_where_the_code_changes),
    };

    char path[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(path, sizeof(path), "%s/quant.cfg", folder);
    remove(path);
    snprintf(path, sizeof(path), "%s/record.txt", folder);
    remove(path);
    rmdir(folder);
    return failed;
}
