/* config.json from tree to values: gen/bind_json.c, gen/checks_json.c,
 * gen/dump_json.c. */
#include "json_help.h"

#include "json_cases.h"
#include "model.h"
#include "schema_tables.h"

#define RETRAIN QC_KIND_JSON_RETRAIN
#define CALIB   QC_KIND_JSON_CALIB

static void check(struct reading *r, enum qc_kind kind, const char *text)
{
    read_json(r, kind, CHECK, false, text, strlen(text));
}

/* ---- verdicts ---- */

static void judge(const struct json_case *c, enum depth depth, bool refused)
{
    const char *got;
    char want[100];
    struct reading r;

    read_json(&r, c->kind, depth, false, c->text, c->size);
    got = said(&r);
    sprintf(want, "%u:%u %s", c->line, c->col, c->key ? c->key : "");
    if (refused ? strncmp(got, want, strlen(want)) != 0 : r.file->errors != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", c->name, got,
                 refused ? want : "");
    qc_free_all(&r.qc);
}

static void names_and_types_are_judged_without_values(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++)
        judge(&json_cases[i], BIND,
              json_cases[i].stage == SYNTAX || json_cases[i].stage == SCHEMA);
}

static void values_are_judged_by_a_full_check(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++)
        judge(&json_cases[i], CHECK, json_cases[i].stage != NONE);
}

/* Files that the two modes judge differently: kind, text, what the default
 * mode says, what --compat amct says. */
static const struct {
    enum qc_kind kind;
    const char *text, *normal, *amct;
} modes[] = {
    {RETRAIN,
     "{\"a\":{\"retrain_data_config\":{\"clip_max\":3,\"clip_min\":-3.0}}}", "",
     "1:41 cfg.type-float"                                                                                                    },
    {CALIB,   "{\"a\":{\"quant_enable\":true,\"dmq_balancer_param\":1}}",
     "1:48 cfg.range",                                                                              "1:48 cfg.type-float"     },
    {RETRAIN, "{\"a\":{\"retrain_enabel\":true}}",                           "1:7 cfg.unknown-key",
     "1:7 cfg.unknown-key (warning)"                                                                                          },
    {RETRAIN, "{\"a\":{\"retrain_data_config\":{\"algo2\":1}}}",
     "1:30 cfg.unknown-key",                                                                        "1:30 cfg.unknown-key"    },
    {CALIB,   "{\"a\":{\"quant_enabel\":true}}",                             "1:7 cfg.unknown-key",
     "1:7 cfg.unknown-key"                                                                                                    },
    {CALIB,
     "{\"a\":{\"quant_enable\":true,\"activation_quant_params\":"
     "{\"search_step\":0.7}}}",                                              "1:68 cfg.range",      "1:68 cfg.range (warning)"},
};

static void the_modes_differ_where_they_should(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        expect_said(modes[i].kind, CHECK, false, modes[i].text,
                    modes[i].normal);
        expect_said(modes[i].kind, CHECK, true, modes[i].text, modes[i].amct);
    }
}

/* ---- several faults at once ---- */

static void independent_faults_are_all_reported(void **state)
{
    (void)state;
    expect_said(RETRAIN, CHECK, false,
                "{\n"
                "\"version\":2,\n"
                "\"batch_num\":\"1\",\n"
                "\"batchnum\":1,\n"
                "\"a\":{\"retrain_enable\":1,\"x\":2},\n"
                "\"b\":{\"retrain_data_config\":{\"algo\":\"ulq\","
                "\"clip_max\":-1,\"clip_min\":1}},\n"
                "\"c\":{\"retrain_weight_config\":{\"dst_type\":\"INT16\"}},\n"
                "\"d\":{\"retrain_weight_config\":[]},\n"
                "\"e\":5\n"
                "}",
                "2:11 cfg.range, 3:13 cfg.type-int, 4:1 cfg.unknown-key, "
                "5:23 cfg.type-bool, 5:25 cfg.unknown-key, 6:36 cfg.enum, "
                "6:53 cfg.range, 6:67 cfg.range, 7:42 cfg.bits, "
                "8:30 cfg.type-object, 9:5 cfg.type-object");
}

static void a_fault_hides_what_follows_from_it(void **state)
{
    (void)state;
    /* Not "nothing enabled", not "clip_max without clip_min", no pair. */
    expect_said(RETRAIN, CHECK, false, "{\"a\":{\"retrain_enable\":\"false\"}}",
                "1:24 cfg.type-bool");
    expect_said(RETRAIN, CHECK, false,
                "{\"a\":{\"retrain_data_config\":{\"clip_max\":\"1\","
                "\"clip_min\":-1.0}}}",
                "1:41 cfg.type-float");
    expect_said(RETRAIN, CHECK, false,
                "{\"a\":{\"retrain_data_config\":{\"dst_type\":\"INT\"},"
                "\"retrain_weight_config\":{\"dst_type\":\"INT4\"}}}",
                "1:41 cfg.enum");
    expect_said(CALIB, CHECK, false,
                "{\"a\":{\"quant_enable\":true,\"activation_quant_params\":"
                "{\"search_range\":[1.3,\"x\"],\"search_step\":5}}}",
                "1:74 cfg.type-float");
    expect_said(CALIB, CHECK, false,
                "{\"a\":{\"quant_enable\":true,\"weight_quant_params\":"
                "{\"wts_algo\":\"ada\",\"num_iteration\":1}}}",
                "1:61 cfg.enum");
}

/* ---- values ---- */

static void absent_values_are_not_set(void **state)
{
    const struct RetrainJson *j;
    struct reading r;

    (void)state;
    check(&r, RETRAIN, "{\"a\":{\"retrain_data_config\":{}}}");
    j = r.bound;
    assert_false(j->version.set);
    assert_false(j->layer.at[0].value->retrain_enable.set);
    assert_false(j->layer.at[0].value->retrain_data_config->clip_max.set);
    assert_null(j->layer.at[0].value->retrain_weight_config);
    qc_free_all(&r.qc);
}

static void retrain_values_are_bound(void **state)
{
    const struct RetrainDataConfig *d;
    const struct RetrainJson *j;
    struct reading r;

    (void)state;
    check(&r, RETRAIN,
          "{\"batch_num\":4294967295,\"a/b\":{\"retrain_enable\":false,"
          "\"retrain_data_config\":{\"algo\":\"ulq_quantize\",\"clip_max\":"
          "2.7,\"clip_min\":-1e-3,\"fixed_min\":true,\"dst_type\":\"INT16\"},"
          "\"retrain_weight_config\":{\"algo\":\"ulq_retrain\"}},\"version\":1,"
          "\"c\":{}}");
    assert_string_equal(said(&r), "");
    j = r.bound;
    assert_int_equal(j->version.as.i, 1);
    assert_int_equal(j->batch_num.as.u, 4294967295u);
    assert_int_equal(j->layer.count, 2);
    assert_true(qc_equalz(j->layer.at[0].key.text, "a/b"));
    assert_int_equal(j->layer.at[0].key.loc.len, 5);
    d = j->layer.at[0].value->retrain_data_config;
    assert_false(j->layer.at[0].value->retrain_enable.as.b);
    assert_true(d->clip_max.as.f >= 2.7 && d->clip_max.as.f <= 2.7);
    assert_true(d->clip_min.as.f >= -1e-3 && d->clip_min.as.f <= -1e-3);
    assert_true(qc_equalz(d->clip_min.text, "-1e-3"));
    assert_true(d->fixed_min.as.b);
    assert_int_equal(d->dst_type.as.e, DataType_INT16);
    assert_int_equal(j->layer.at[0].value->retrain_weight_config->algo.as.e,
                     RetrainWtsAlgo_ulq_retrain);
    qc_free_all(&r.qc);
}

static void calib_values_are_bound(void **state)
{
    const struct ActivationQuantParams *a;
    const struct CalibJson *j;
    struct reading r;

    (void)state;
    check(&r, CALIB,
          "{\"skip_fusion_layers\":[\"x\",\"y\"],\"do_fusion\":false,"
          "\"a\":{\"quant_enable\":true,\"activation_quant_params\":{"
          "\"num_bits\":16,\"search_range\":[0.5,2],\"asymmetric\":true}}}");
    assert_string_equal(said(&r), "");
    j = r.bound;
    assert_int_equal(j->skip_fusion_layers.count, 2);
    assert_true(qc_equalz(j->skip_fusion_layers.at[1].text, "y"));
    assert_true(j->do_fusion.set && !j->do_fusion.as.b);
    a = j->layer.at[0].value->activation_quant_params;
    assert_int_equal(a->num_bits.as.u, 16);
    assert_int_equal(a->search_range.count, 2);
    assert_true(a->search_range.at[1].as.f >= 2 &&
                a->search_range.at[1].as.f <= 2);
    assert_true(a->asymmetric.as.b);
    qc_free_all(&r.qc);
}

static void keys_out_of_order_are_found(void **state)
{
    (void)state;
    expect_said(CALIB, CHECK, false,
                "{\"a\":{\"weight_quant_params\":{\"wts_algo\":"
                "\"arq_quantize\",\"channel_wise\":true,\"num_bits\":4},"
                "\"quant_enable\":true},\"version\":1,\"batch_num\":2}",
                "");
}

static void a_dialect_may_lack_a_key(void **state)
{
    const char *text = "{\"batch_num\":1,\"a\":{\"quant_enable\":true}}";
    struct reading r;

    (void)state;
    read_json(&r, CALIB, PARSE, false, text, strlen(text));
    qc_bind_json(&r.qc, r.root, CALIB, QC_MINDSPORE);
    assert_string_equal(said(&r), "1:2 cfg.unknown-key");
    qc_free_all(&r.qc);
}

/* ---- ranges at their edges ---- */

static void expect_param(const char *param, bool good)
{
    char text[200];
    struct reading r;

    sprintf(text,
            "{\"a\":{\"quant_enable\":true,\"activation_quant_params\":{%s}}}",
            param);
    check(&r, CALIB, text);
    if ((r.file->errors == 0) != good)
        fail_msg("%s: %s", param, said(&r));
    qc_free_all(&r.qc);
}

static void edges_of_ranges_are_exact(void **state)
{
    (void)state;
    /* 1 when taken modulo 2^64. */
    expect_said(RETRAIN, CHECK, false,
                "{\"batch_num\":18446744073709551617,\"a\":{}}",
                "1:14 cfg.range");
    expect_param("\"max_percentile\":1", true);
    expect_param("\"max_percentile\":1.0000000000000002", false);
    expect_param("\"max_percentile\":0.5", false);
    expect_param("\"max_percentile\":0.5000000001", true);
    expect_param("\"num_bits\":4", true);
    expect_param("\"num_bits\":-4", false);
    expect_param("\"num_bits\":18446744073709551620", false); /* 4 modulo */
    expect_param("\"act_algo\":\"hfmg\",\"num_of_bins\":8192", true);
    expect_param("\"act_algo\":\"hfmg\",\"num_of_bins\":8193", false);
    expect_param("\"search_range\":[0.1,0.3],\"search_step\":0.2", true);
    expect_param("\"search_range\":[0.1,0.3],\"search_step\":"
                 "0.20000000000000000001",
                 false);
    expect_param("\"search_range\":[0.7,0.7]", false);
    expect_param("\"search_range\":[0.7,0.705]", true);
    expect_param("\"search_step\":1e-60", false); /* 0 in binary32 */
    expect_param("\"search_step\":0.6", true);
    expect_param("\"search_step\":0.60001", false); /* default 0.7, 1.3 */
}

/* ---- unsupported keys, models ---- */

static void unsupported_keys_are_warned_of_once(void **state)
{
    struct reading r;

    (void)state;
    check(&r, RETRAIN,
          "{\"a\":{\"regular_prune_enable\":true},"
          "\"b\":{\"regular_prune_enable\":true,\"regular_prune_config\":{}}}");
    assert_string_equal(said(&r), "1:7 cfg.unsupported-field (warning), "
                                  "1:69 cfg.unsupported-field (warning)");
    assert_int_equal(r.file->errors, 0);
    qc_free_all(&r.qc);
    expect_said(CALIB, CHECK, false,
                "{\"a\":{\"quant_enable\":true,\"weight_quant_params\":{"
                "\"wts_algo\":\"ada_quantize\",\"warm_start\":2}}}",
                "1:61 cfg.unsupported-field (warning), 1:89 cfg.range");
}

static void a_model_makes_them_errors_and_names_known(void **state)
{
    struct qc_layer layer = {0};
    struct qc_model model = {0};
    struct qc_doc doc = {0};
    struct reading r;

    (void)state;
    layer.name = QC_STR("fc");
    model.layers = &layer;
    model.count = 1;
    check(&r, RETRAIN,
          "{\"a\":{\"regular_prune_enable\":true},\"foo\":1,\"fc\":2}");
    assert_string_equal(said(&r), "1:7 cfg.unsupported-field (warning), "
                                  "1:42 cfg.type-object, "
                                  "1:49 cfg.type-object");
    *qc_map_at(&r.qc, &model.names, layer.name) = &layer;
    doc.kind = RETRAIN;
    doc.file = r.file;
    doc.root = r.root;
    doc.bound = r.bound;
    qc_json_meets_model(&r.qc, &doc, &model);
    assert_string_equal(said(&r), "1:7 cfg.unsupported-field, "
                                  "1:36 cfg.unknown-key, "
                                  "1:49 cfg.type-object");
    assert_int_equal(r.file->errors, 3);
    assert_int_equal(r.file->warnings, 0);
    qc_free_all(&r.qc);
}

static void every_fix_helps(void **state)
{
    size_t i, fixes = 0;

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++)
        fixes += try_fixes(json_cases[i].kind, json_cases[i].text,
                           json_cases[i].size);
    assert_true(fixes > 40);
}

/* ---- writing ---- */

static struct qc_str dump(struct reading *r, enum qc_kind kind)
{
    struct qc_out *o = qc_out_new(&r->qc, NULL);
    struct qc_doc d = {0};

    d.kind = kind;
    d.bound = r->bound;
    qc_dump_config_json(o, &d);
    return (struct qc_str){o->text, o->size};
}

static void a_dump_dumps_to_itself(void **state)
{
    size_t i, count = 0;

    (void)state;
    for (i = 0; i < JSON_CASE_COUNT; i++) {
        const struct json_case *c = &json_cases[i];
        struct reading r, again;
        struct qc_str first, second;

        read_json(&r, c->kind, BIND, false, c->text, c->size);
        if (r.bound && !r.file->errors) {
            first = dump(&r, c->kind);
            read_json(&again, c->kind, BIND, false, first.ptr, first.len);
            assert_int_equal(again.file->errors, 0);
            second = dump(&again, c->kind);
            if (!qc_equal(first, second))
                fail_msg("%s: %.*s", c->name, QC_ARG(second));
            qc_free_all(&again.qc);
            count++;
        }
        qc_free_all(&r.qc);
    }
    assert_true(count > 90);
}

static void a_dump_has_every_value_in_schema_order(void **state)
{
    struct qc_str got;
    struct reading r;

    (void)state;
    check(&r, CALIB,
          "{\"b\":{\"weight_quant_params\":{\"channel_wise\":false},"
          "\"activation_quant_params\":{\"search_range\":[7e-1,2],"
          "\"act_algo\":\"ifmr\",\"num_bits\":8}},"
          "\"\\u5377\\/\\ud83d\\ude00\":{\"quant_enable\":true},"
          "\"skip_fusion_layers\":[],\"batch_num\":3}");
    assert_string_equal(said(&r), "");
    got = dump(&r, CALIB);
    assert_string_equal(qc_cstr(&r.qc, got),
                        "{\n"
                        "    \"batch_num\":3,\n"
                        "    \"skip_fusion_layers\":[],\n"
                        "    \"b\":{\n"
                        "        \"activation_quant_params\":{\n"
                        "            \"num_bits\":8,\n"
                        "            \"search_range\":[\n"
                        "                0.7,\n"
                        "                2.0\n"
                        "            ],\n"
                        "            \"act_algo\":\"ifmr\"\n"
                        "        },\n"
                        "        \"weight_quant_params\":{\n"
                        "            \"channel_wise\":false\n"
                        "        }\n"
                        "    },\n"
                        "    \"\\u5377/\\ud83d\\ude00\":{\n"
                        "        \"quant_enable\":true\n"
                        "    }\n"
                        "}\n");
    qc_free_all(&r.qc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_types_are_judged_without_values),
        cmocka_unit_test(values_are_judged_by_a_full_check),
        cmocka_unit_test(the_modes_differ_where_they_should),
        cmocka_unit_test(independent_faults_are_all_reported),
        cmocka_unit_test(a_fault_hides_what_follows_from_it),
        cmocka_unit_test(absent_values_are_not_set),
        cmocka_unit_test(retrain_values_are_bound),
        cmocka_unit_test(calib_values_are_bound),
        cmocka_unit_test(keys_out_of_order_are_found),
        cmocka_unit_test(a_dialect_may_lack_a_key),
        cmocka_unit_test(edges_of_ranges_are_exact),
        cmocka_unit_test(unsupported_keys_are_warned_of_once),
        cmocka_unit_test(a_model_makes_them_errors_and_names_known),
        cmocka_unit_test(every_fix_helps),
        cmocka_unit_test(a_dump_dumps_to_itself),
        cmocka_unit_test(a_dump_has_every_value_in_schema_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
