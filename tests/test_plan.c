/* The plan that resolving makes, as lower.c and the emitters read it. */
#define _POSIX_C_SOURCE 200809L
#include "cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "plan.h"
#include "resolve.h"

static struct qc qc;
static char folder[] = "/tmp/quantc-plan-XXXXXX";

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

static const char *file(const char *name, const char *text)
{
    const char *path = qc_format(&qc, "%s/%s", folder, name).ptr;
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static struct qc_doc *doc(const char *name, enum qc_kind kind, const char *text)
{
    struct qc_doc *d = qc_read(&qc, file(name, text), kind, QC_UNION, false);

    assert_non_null(d);
    assert_non_null(d->bound);
    return d;
}

static const char layers[] =
    "layer { name: \"b\" type: \"Conv2d\" weight_shape: [8, 4, 3, 3] "
    "producer: \"Relu\" }\n"
    "layer { name: \"relu\" type: \"ReLU\" }\n"
    "layer { name: \"a\" type: \"Linear\" weight_shape: [10, 8] }\n";

static struct qc_plan *resolve(enum qc_kind kind, const char *config,
                               const char *record)
{
    struct qc_resolve_options o = {0};
    struct qc_plan *p;

    p = qc_resolve(&qc, config ? doc("config", kind, config) : NULL,
                   record ? doc("record.txt", QC_KIND_RECORD, record) : NULL,
                   qc_read_layers(&qc, file("m.layers", layers), QC_UNION), &o);
    assert_non_null(p);
    return p;
}

static const struct qc_row *row(const struct qc_plan *p, const char *name)
{
    size_t i;

    for (i = 0; i < p->count; i++)
        if (qc_equalz(p->rows[i].layer->name, name))
            return &p->rows[i];
    return NULL;
}

static void rows_are_in_model_order(void **state)
{
    struct qc_plan *p = resolve(QC_KIND_CALIB, NULL, NULL);

    (void)state;
    assert_int_equal(p->count, 2);
    assert_true(qc_equalz(p->rows[0].layer->name, "b"));
    assert_true(qc_equalz(p->rows[1].layer->name, "a"));
}

static void rows_of_retraining_are_in_file_order(void **state)
{
    struct qc_plan *p = resolve(QC_KIND_JSON_RETRAIN, "{\"a\":{}}", NULL);

    (void)state;
    assert_int_equal(p->count, 2);
    assert_true(qc_equalz(p->rows[0].layer->name, "a"));
    assert_true(p->rows[0].enabled.i);
    assert_false(p->rows[1].enabled.i);
}

static void defaults_have_no_place(void **state)
{
    const struct qc_row *r = row(resolve(QC_KIND_CALIB, "", NULL), "b");

    (void)state;
    assert_int_equal(r->search_step.level, QC_BY_DEFAULT);
    assert_null(r->search_step.loc.file);
    assert_true(qc_equalz(r->search_step.text, "0.01"));
    assert_true(r->search_step.f == 0.01);
    assert_null(r->search_step.was);
    assert_int_equal(r->act_bits.i, 8);
    assert_false(r->dmq_balancer.set);
}

static const char override[] =
    "common_config { ifmr_quantize { search_step: 0.05 max_percentile: 0.95 }"
    " }\n"
    "override_layer_configs { layer_name: \"b\" calibration_config {\n"
    "  ifmr_quantize { search_step: 0.02 } } }\n";

static void an_override_replaces_the_whole_block(void **state)
{
    struct qc_plan *p = resolve(QC_KIND_CALIB, override, NULL);
    const struct qc_row *b = row(p, "b"), *a = row(p, "a");

    (void)state;
    assert_true(b->search_step.f == 0.02);
    assert_true(b->max_percentile.f == 0.999999);
    assert_true(a->max_percentile.f == 0.95);
    assert_string_equal(b->block, "override_layer_configs");
    assert_string_equal(a->block, "common_config");
}

static void values_keep_place_and_history(void **state)
{
    const struct qc_row *b = row(resolve(QC_KIND_CALIB, override, NULL), "b");
    const struct qc_setting *was = b->search_step.was;

    (void)state;
    assert_int_equal(b->search_step.level, QC_BY_LAYER);
    assert_int_equal(qc_line(&qc, b->search_step.loc), 3);
    assert_true(qc_equalz(b->search_step.text, "0.02"));
    assert_non_null(was);
    assert_int_equal(was->level, QC_BY_COMMON);
    assert_true(was->f == 0.05);
    assert_int_equal(qc_line(&qc, was->loc), 1);
    assert_null(was->was);
    /* What the override leaves out says so too. */
    assert_int_equal(b->max_percentile.level, QC_BY_DEFAULT);
    assert_true(b->max_percentile.was->f == 0.95);
}

static void a_rule_keeps_what_was_asked(void **state)
{
    const struct qc_row *a = row(
        resolve(QC_KIND_CALIB,
                "common_config { arq_quantize { channel_wise: true } }", NULL),
        "a");

    (void)state;
    assert_int_equal(a->channel_wise.level, QC_BY_RULE);
    assert_false(a->channel_wise.i);
    assert_non_null(a->channel_wise.why);
    assert_int_equal(a->channel_wise.was->level, QC_BY_COMMON);
    assert_true(a->channel_wise.was->i);
}

static void fixed_min_comes_from_the_graph(void **state)
{
    struct qc_plan *p = resolve(QC_KIND_RETRAIN, "", NULL);

    (void)state;
    assert_true(row(p, "b")->fixed_min.i);
    assert_false(row(p, "a")->fixed_min.i);
    assert_int_equal(row(p, "b")->fixed_min.level, QC_BY_GRAPH);
}

static void factors_belong_to_their_rows(void **state)
{
    struct qc_plan *p = resolve(
        QC_KIND_CALIB, "common_config { arq_quantize { channel_wise: false } }",
        "record { key: \"a\" value { scale_d: 0.5 offset_d: -3 scale_w: 0.25 "
        "offset_w: 0 } }");

    (void)state;
    assert_null(row(p, "b")->factors);
    assert_non_null(row(p, "a")->factors);
    assert_int_equal(row(p, "a")->factors->count_w, 1);
    assert_true(row(p, "a")->factors->scale_w[0].as.f == 0.25);
    assert_int_equal(row(p, "a")->factors->offset_d->as.i, -3);
    assert_int_equal(qc_error_count(&qc), 0);
}

static void four_bits_need_even_ungrouped_inputs(void **state)
{
    struct qc_layer l = {0};

    (void)state;
    l.op = QRT_OP_CONV2D;
    l.rank = 4;
    l.group = 1;
    l.shape[1] = 4;
    assert_null(qc_no_int4(&l));
    l.shape[1] = 3;
    assert_non_null(qc_no_int4(&l));
    l.shape[1] = 4;
    l.group = 2;
    assert_non_null(qc_no_int4(&l));
    /* Transposed: the input channels are the first axis. */
    l.op = QRT_OP_DECONV2D;
    l.group = 1;
    l.shape[0] = 5;
    assert_non_null(qc_no_int4(&l));
    l.op = QRT_OP_LINEAR;
    l.in_channels = 7;
    assert_non_null(qc_no_int4(&l));
    l.in_channels = 8;
    assert_null(qc_no_int4(&l));
    l.op = QRT_OP_AVGPOOL;
    l.group = 2;
    assert_null(qc_no_int4(&l));
}

static void types_allow_what_the_table_says(void **state)
{
    struct qc_traits t = qc_traits_of_op(QRT_OP_CONV3D);

    (void)state;
    assert_true(t.per_channel && t.fusable && t.balancer);
    assert_false(t.asymmetric || t.act16 || t.bits67);
    t = qc_traits_of_op(QRT_OP_LINEAR);
    assert_true(t.asymmetric && t.act16);
    assert_false(t.per_channel || t.fusable);
    t = qc_traits_of_op(QRT_OP_LSTM);
    assert_false(t.balancer); /* the type; a layer override may */
    t = qc_traits_of_op(-1);
    assert_false(t.per_channel || t.act16 || t.bits67 || t.balancer);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(rows_are_in_model_order),
        T(rows_of_retraining_are_in_file_order),
        T(defaults_have_no_place),
        T(an_override_replaces_the_whole_block),
        T(values_keep_place_and_history),
        T(a_rule_keeps_what_was_asked),
        T(fixed_min_comes_from_the_graph),
        T(factors_belong_to_their_rows),
        T(four_bits_need_even_ungrouped_inputs),
        T(types_allow_what_the_table_says),
    };
    static const char *const names[] = {"config", "record.txt", "m.layers"};
    char path[64];
    size_t i;
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
