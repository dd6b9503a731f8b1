/* Names, types and presence in text-format files: gen/bind_text.c,
 * gen/bind_value.c, gen/bind_help.c. */
#include "text_help.h"

#include "decimal.h"

#define CALIB   QC_KIND_CALIB
#define RETRAIN QC_KIND_RETRAIN
#define RECORD  QC_KIND_RECORD

static void expect(const char *text, const char *words)
{
    expect_said(CALIB, BIND, text, words);
}

static struct AMCTConfig *calib(struct reading *r, bool amct, const char *text)
{
    read_bytes(r, CALIB, BIND, amct, QC_UNION, text, strlen(text));
    return r->bound;
}

/* ---- values ---- */

static void values_land_in_their_members(void **state)
{
    struct reading r;
    struct AMCTConfig *c = calib(
        &r, false,
        "batch_num: 0x10 do_fusion: f skip_layers: 'a' skip_layers: ['b']\n"
        "common_config { ifmr_quantize { search_step: .5 dst_type: INT16\n"
        "asymmetric: True } }\n"
        "override_layer_types [ { layer_type: 'T' calibration_config {} } ]");

    (void)state;
    assert_string_equal(said(&r), "");
    assert_ptr_equal(c->node, r.root);
    assert_true(c->batch_num.set);
    assert_int_equal(c->batch_num.as.u, 16);
    assert_true(qc_equalz(c->batch_num.text, "0x10"));
    assert_false(c->do_fusion.as.b);
    assert_false(c->activation_offset.set);
    assert_int_equal(c->skip_layers.count, 2);
    assert_true(qc_equalz(c->skip_layers.at[1].text, "b"));
    assert_int_equal(c->skip_layers.at[1].name_loc.at,
                     strstr(r.file->text, "skip_layers: [") - r.file->text);
    assert_null(c->common_config->arq_quantize);
    assert_true(c->common_config->ifmr_quantize->search_step.as.f > 0.49 &&
                c->common_config->ifmr_quantize->search_step.as.f < 0.51);
    assert_int_equal(c->common_config->ifmr_quantize->dst_type.as.e, 2);
    assert_true(c->common_config->ifmr_quantize->asymmetric.as.b);
    assert_int_equal(c->override_layer_types.count, 1);
    assert_non_null(c->override_layer_types.at[0].calibration_config);
    assert_int_equal(c->override_layer_types.at[0].layer_type.loc.at,
                     strstr(r.file->text, "'T'") - r.file->text);
    qc_free_all(&r.qc);
}

static void many_elements_keep_their_order(void **state)
{
    char text[8000] = "";
    struct AMCTConfig *c;
    struct reading r;
    size_t i;

    (void)state;
    for (i = 0; i < 100; i++)
        sprintf(text + strlen(text),
                "override_layer_configs { layer_name: '%d' "
                "calibration_config {} }\n",
                (int)i);
    c = calib(&r, false, text);
    assert_int_equal(c->override_layer_configs.count, 100);
    for (i = 0; i < 100; i++) {
        char name[8];

        sprintf(name, "%d", (int)i);
        assert_true(
            qc_equalz(c->override_layer_configs.at[i].layer_name.text, name));
    }
    qc_free_all(&r.qc);
}

static void bool_words(void **state)
{
    static const char *const good[] = {"true",  "True",  "t", "1",
                                       "false", "False", "f", "0"};
    static const char *const bad[] = {"TRUE",   "yes",  "T",  "01",
                                      "0x1",    "00",   "2",  "1.0",
                                      "'true'", "null", "{ }"};
    char text[64];
    size_t i;

    (void)state;
    for (i = 0; i < 8; i++) {
        struct reading r;

        sprintf(text, "do_fusion: %s", good[i]);
        assert_int_equal(calib(&r, false, text)->do_fusion.as.b, i < 4);
        assert_string_equal(said(&r), "");
        qc_free_all(&r.qc);
    }
    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        sprintf(text, "do_fusion: %s", bad[i]);
        expect(text, "1:12 sch.type-bool");
    }
}

static void integers_fit_their_type(void **state)
{
    struct reading r;
    struct SingleLayerRecord *v;

    (void)state;
    expect("batch_num: 4294967295", "");
    expect("batch_num: 4294967296", "1:12 sch.int-range");
    expect("batch_num: -1", "1:12 sch.int-range");
    expect("batch_num: -0", "1:12 sch.int-range");
    expect("batch_num: 0xFFFFFFFFF", "1:12 sch.int-range");
    expect("batch_num: 18446744073709551617", "1:12 sch.int-range");
    expect("batch_num: 1.0", "1:12 sch.type-int");
    expect("batch_num: 1e3", "1:12 sch.type-int");
    expect("batch_num: 1f", "1:12 sch.type-int");
    expect("batch_num: 08", "1:12 lex.bad-number");
    expect("batch_num: '1'", "1:12 sch.type-int");
    expect("batch_num: one", "1:12 sch.type-int");
    expect("batch_num: inf", "1:12 sch.type-int");
    read_text(&r, RECORD, BIND,
              "record { value { offset_d: -2147483648 "
              "offset_w: [0x7FFFFFFF, -017, -0] } }");
    assert_string_equal(said(&r), "");
    v = ((struct ScaleOffsetRecord *)r.bound)->record.at[0].value;
    assert_true(v->offset_d.as.i == INT32_MIN);
    assert_true(v->offset_w.at[0].as.i == INT32_MAX);
    assert_true(v->offset_w.at[1].as.i == -15);
    assert_true(v->offset_w.at[2].as.i == 0);
    qc_free_all(&r.qc);
    read_text(&r, RECORD, BIND,
              "prune_record { producer { name: 'a' attr { ints: "
              "[9223372036854775807, -9223372036854775808] } } }");
    assert_string_equal(said(&r), "1:1 sch.unsupported-field (warning)");
    qc_free_all(&r.qc);
    expect_said(RECORD, BIND, "record { value { offset_d: -2147483649 } }",
                "1:28 sch.int-range");
}

static void floats_go_through_binary64(void **state)
{
    char shown[QC_DECIMAL_ROOM];
    struct reading r;
    struct FMRQuantize *f;

    (void)state;
    f = calib(&r, false,
              "common_config { ifmr_quantize { search_range_start: "
              "1.00000005960464477539062500000000001 search_range_end: INF "
              "search_step: -nan max_percentile: 7 min_percentile: .5f } }")
            ->common_config->ifmr_quantize;
    assert_string_equal(said(&r), "");
    assert_string_equal(
        qc_shortest_f32(qc_f32_bits(f->search_range_start.as.f), shown), "1.0");
    assert_false(qc_is_finite(f->search_range_end.as.f));
    qc_free_all(&r.qc);
    expect("common_config { ifmr_quantize { search_step: 010 } }",
           "1:46 sch.type-float");
    expect("common_config { ifmr_quantize { search_step: 0x1 } }",
           "1:46 sch.type-float");
    expect("common_config { ifmr_quantize { search_step: '1' } }",
           "1:46 sch.type-float");
    expect("common_config { ifmr_quantize { search_step: inff } }",
           "1:46 sch.type-float");
}

static void strings_are_utf8_but_bytes_are_not(void **state)
{
    (void)state;
    expect("skip_layers: '\\345\\215\\267'", "");
    expect("skip_layers: 'ab\\xc3('", "1:17 lex.bad-utf8");
    expect("skip_layers: '\\377'", "1:15 lex.bad-utf8");
    expect_said(RECORD, BIND,
                "prune_record { producer { name: 'a' attr { s: '\\377' } } }",
                "1:1 sch.unsupported-field (warning)");
    expect("skip_layers: conv_1", "1:14 sch.type-string");
    expect("skip_layers: 1", "1:14 sch.type-string");
    expect("skip_layers: nn.Conv2d\ndo_fusion: t", "1:14 sch.type-string");
}

static void enums_by_name_or_number(void **state)
{
    (void)state;
    expect("common_config { ifmr_quantize { dst_type: INT8 } }", "");
    expect("common_config { ifmr_quantize { dst_type: 0x2 } }", "");
    expect("common_config { ifmr_quantize { dst_type: INT4 } }",
           "1:43 sch.enum-unknown");
    expect("common_config { ifmr_quantize { dst_type: 0 } }",
           "1:43 sch.enum-unknown");
    expect("common_config { ifmr_quantize { dst_type: 01 } }",
           "1:43 sch.enum-unknown");
    expect("common_config { ifmr_quantize { dst_type: 'INT8' } }",
           "1:43 sch.type-enum");
    expect("common_config { ifmr_quantize { dst_type: 1.0 } }",
           "1:43 sch.type-enum");
    expect_said(RETRAIN, BIND,
                "retrain_data_quant_config { ulq_quantize { dst_type: 0 } }",
                "");
}

/* ---- shape ---- */

static void groups_and_lists_where_they_belong(void **state)
{
    (void)state;
    expect("common_config: 1", "1:16 sch.type-message");
    expect("batch_num { x: 1 }", "1:11 sch.type-int");
    expect("skip_layers: { 'a', 'b' }", "1:14 sch.type-string");
    expect("batch_num: [1]", "1:12 sch.list-on-singular");
    expect("common_config [ { } ]", "1:15 sch.list-on-singular");
    expect("skip_layers: ['a', 1]", "1:20 sch.type-string");
    expect("skip_layers ['a']", "1:13 syn.expected-colon");
    expect("override_layer_types: ['T']", "1:24 sch.type-message");
}

static void a_missing_colon_or_value(void **state)
{
    (void)state;
    expect("batch_num 1\ndo_fusion = t",
           "1:11 syn.expected-colon, 2:11 syn.expected-colon");
    expect("batch_num", "1:10 syn.expected-colon");
    expect("common_config", "1:14 syn.expected-value");
    expect("batch_num # c\n = 1", "2:2 syn.expected-colon");
    /* An unknown name is the mistake, not what it lacks. */
    expect("import 'a'\nsyntax = 'b';",
           "1:1 sch.unknown-field, 2:1 sch.unknown-field");
}

/* ---- names ---- */

static const char *first_help(struct reading *r)
{
    const struct qc_diag *d = r->file->diags;

    return d && d->helps ? d->helps->text : "";
}

static void expect_help(enum qc_kind kind, const char *text, const char *help)
{
    struct reading r;

    read_text(&r, kind, BIND, text);
    assert_int_equal(r.file->errors, 1);
    if (!strstr(first_help(&r), help))
        fail_msg("%s: %s", text, first_help(&r));
    qc_free_all(&r.qc);
}

static void unknown_fields_get_a_hint(void **state)
{
    (void)state;
    expect_help(CALIB, "bacth_num: 1", "did you mean 'batch_num'?");
    expect_help(CALIB, "batchNum: 1", "did you mean 'batch_num'?");
    expect_help(CALIB, "foo { x: 1 }", "fields of AMCTConfig: batch_num, ");
    expect_help(CALIB, "search_step: 1",
                "inside 'common_config { ifmr_quantize { } }'");
    expect_help(CALIB, "common_config { do_fusion: t }",
                "outside of 'common_config'");
    expect_help(CALIB, "override_layer_configs { search_step: 1 }",
                "inside 'calibration_config { ifmr_quantize { } }'");
    expect_help(CALIB, "clip_max: 1", "ClipMaxMin (retrain.cfg)");
    expect_help(RETRAIN, "activation_offset: t", "AMCTConfig (quant.cfg)");
    expect_help(RECORD, "batch_num: 1", "AMCTConfig (quant.cfg)");
    expect_help(CALIB, "tensor_quantize { }", "quantc does not support it");
    expect_help(CALIB, "AMCTConfig { }", "body of AMCTConfig");
}

static void an_unknown_field_is_one_error(void **state)
{
    (void)state;
    expect("foo { bar: : } do_fusion: t", "1:1 sch.unknown-field");
    expect("foo { bar { \ndo_fusion: t", "1:1 sch.unknown-field");
    expect("foo: [1 2\n]", "1:1 sch.unknown-field");
    expect("foo: \"x\n", "1:1 sch.unknown-field, 1:6 lex.unterminated-string");
    /* What it was meant to be is not missed. */
    expect("override_layer_configs { layer_nam: 'a' }",
           "1:26 sch.unknown-field");
}

static void a_missing_brace_is_found_by_indentation(void **state)
{
    struct reading r;
    struct AMCTConfig *c;

    (void)state;
    c = calib(
        &r, false,
        "common_config {\n  arq_quantize { }\ndo_fusion: f\nbatch_num: 7");
    assert_string_equal(said(&r), "3:1 sch.unknown-field");
    assert_true(strstr(first_help(&r), "is a '}' missing") != NULL);
    assert_true(c->do_fusion.set && !c->do_fusion.as.b);
    assert_int_equal(c->batch_num.as.u, 7);
    qc_free_all(&r.qc);
    /* Deeper than the fields of the message outside: no. */
    expect("common_config {\n  do_fusion: t\n}", "2:3 sch.unknown-field");
    expect("  common_config {\n  do_fusion: t\n}", "2:3 sch.unknown-field");
    /* Two levels at once. */
    expect("common_config {\n  ifmr_quantize {\n    asymmetric: t\n"
           "do_fusion: t",
           "4:1 sch.unknown-field");
}

static void dialects_have_their_fields(void **state)
{
    static const char text[] = "batch_num: 1\nskip_layers: 'a'";
    static const char dst[] =
        "common_config { ifmr_quantize { dst_type: INT8 } }";
    struct reading r;

    (void)state;
    read_bytes(&r, CALIB, BIND, false, QC_MINDSPORE, text, strlen(text));
    assert_string_equal(said(&r), "1:1 sch.unknown-field");
    assert_true(strstr(first_help(&r), "pytorch") != NULL);
    qc_free_all(&r.qc);
    read_bytes(&r, CALIB, BIND, false, QC_PYTORCH, text, strlen(text));
    assert_string_equal(said(&r), "");
    qc_free_all(&r.qc);
    read_bytes(&r, CALIB, BIND, false, QC_MINDSPORE, dst, strlen(dst));
    assert_string_equal(said(&r), "1:33 sch.unknown-field");
    qc_free_all(&r.qc);
}

static void unsupported_fields_are_named_once(void **state)
{
    (void)state;
    expect("common_config { ada_quantize { } }\n"
           "override_layer_types { layer_type: 'T' calibration_config { "
           "ada_quantize { warm_start: 0.1 } } }",
           "1:17 sch.unsupported-field (warning)");
}

/* ---- presence, in both modes ---- */

static void a_field_twice(void **state)
{
    static const char text[] =
        "batch_num: 1 batch_num: 2\n"
        "common_config { arq_quantize { channel_wise: t } }\n"
        "common_config { arq_quantize { quant_bits: 4 } ifmr_quantize { } }";
    struct reading r;
    struct AMCTConfig *c;

    (void)state;
    expect(text, "1:14 sch.duplicate-field, 3:1 sch.duplicate-field");
    c = calib(&r, true, text);
    assert_int_equal(r.file->errors, 0);
    assert_int_equal(r.file->warnings, 3);
    assert_int_equal(c->batch_num.as.u, 2);
    assert_true(c->common_config->arq_quantize->channel_wise.as.b);
    assert_int_equal(c->common_config->arq_quantize->quant_bits.as.u, 4);
    assert_non_null(c->common_config->ifmr_quantize);
    qc_free_all(&r.qc);
}

static void two_members_of_a_choice(void **state)
{
    static const char text[] =
        "common_config { arq_quantize { channel_wise: t } ada_quantize { } "
        "arq_quantize { quant_bits: 4 } }";
    struct reading r;
    struct AMCTConfig *c;

    (void)state;
    expect("common_config { arq_quantize { } ada_quantize { } }",
           "1:34 sch.oneof-conflict");
    expect("common_config { arq_quantize { } hfmg_quantize { } dmq_balancer { "
           "} }",
           "");
    c = calib(&r, true, text);
    assert_int_equal(r.file->errors, 0);
    /* Back to the first member: from an empty message. */
    assert_null(c->common_config->ada_quantize);
    assert_false(c->common_config->arq_quantize->channel_wise.set);
    assert_int_equal(c->common_config->arq_quantize->quant_bits.as.u, 4);
    qc_free_all(&r.qc);
}

static void required_fields(void **state)
{
    static const char clip[] =
        "retrain_data_quant_config { ulq_quantize { clip_max_min { clip_max: "
        "1 } } }";

    (void)state;
    expect("override_layer_configs { calibration_config { } }",
           "1:1 sch.missing-required");
    expect("override_layer_types: [ { layer_type: 'a' calibration_config { } "
           "}, { layer_type: 'b' } ]",
           "1:69 sch.missing-required");
    expect_mode(CALIB, BIND, true, "override_layer_configs { }",
                "1:1 sch.missing-required (warning)");
    /* AMCT refuses one clip limit without the other. */
    expect_said(RETRAIN, BIND, clip, "1:44 sch.missing-required");
    expect_mode(RETRAIN, BIND, true, clip, "1:44 sch.missing-required");
    expect_mode(RETRAIN, BIND, true,
                "retrain_data_quant_config { ulq_quantize { clip_max_min { "
                "clip_max: 1 } clip_max_min { clip_min: -1 } } }",
                "1:73 sch.duplicate-field (warning)");
}

static void what_an_error_took_is_not_missed(void **state)
{
    (void)state;
    expect(
        "override_layer_configs { layer_name: : 'a' calibration_config { } }",
        "1:38 syn.expected-value");
    expect("override_layer_configs { 'layer_name': 'a' calibration_config {} }",
           "1:26 syn.json-like");
    expect("override_layer_types [ { layer_type: 'a' , , calibration_config "
           "{ } } ]",
           "1:44 syn.double-separator");
}

static void many_unknown_groups_do_not_hide_each_other(void **state)
{
    char *text = repeated("", "x { y: } ", 20000, "");
    struct reading r;
    const struct qc_diag *d;
    size_t shown = 0;

    (void)state;
    read_text(&r, CALIB, BIND, text);
    for (d = r.file->diags; d; d = d->next) {
        assert_int_equal(d->key, QC_SCH_UNKNOWN_FIELD);
        shown++;
    }
    assert_true(shown >= 1000);
    qc_free_all(&r.qc);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_land_in_their_members),
        cmocka_unit_test(many_elements_keep_their_order),
        cmocka_unit_test(bool_words),
        cmocka_unit_test(integers_fit_their_type),
        cmocka_unit_test(floats_go_through_binary64),
        cmocka_unit_test(strings_are_utf8_but_bytes_are_not),
        cmocka_unit_test(enums_by_name_or_number),
        cmocka_unit_test(groups_and_lists_where_they_belong),
        cmocka_unit_test(a_missing_colon_or_value),
        cmocka_unit_test(unknown_fields_get_a_hint),
        cmocka_unit_test(an_unknown_field_is_one_error),
        cmocka_unit_test(a_missing_brace_is_found_by_indentation),
        cmocka_unit_test(dialects_have_their_fields),
        cmocka_unit_test(unsupported_fields_are_named_once),
        cmocka_unit_test(a_field_twice),
        cmocka_unit_test(two_members_of_a_choice),
        cmocka_unit_test(required_fields),
        cmocka_unit_test(what_an_error_took_is_not_missed),
        cmocka_unit_test(many_unknown_groups_do_not_hide_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
