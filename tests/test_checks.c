/* Values of the text kinds: gen/checks.c, gen/checks_message.c. */
#include "text_help.h"

#define CALIB   QC_KIND_CALIB
#define RETRAIN QC_KIND_RETRAIN
#define RECORD  QC_KIND_RECORD

/* The fields of an ifmr_quantize; columns count from behind its brace. */
static void expect_ifmr(const char *fields, const char *words)
{
    char text[500];

    sprintf(text, "common_config { ifmr_quantize {\n%s\n} }", fields);
    expect_said(CALIB, CHECK, text, words);
}

/* The fields of a value of record 'a'. */
static void expect_record(bool amct, const char *fields, const char *words)
{
    char text[500];

    sprintf(text, "record { key: 'a' value {\n%s\n} }", fields);
    expect_mode(RECORD, CHECK, amct, text, words);
}

static void percentiles_after_rounding(void **state)
{
    (void)state;
    expect_ifmr("max_percentile: 0.5", "2:17 sem.percentile");
    expect_ifmr("max_percentile: 0.50000001", "2:17 sem.percentile");
    expect_ifmr("max_percentile: 0.50000006", "");
    expect_ifmr("max_percentile: 0.500001", "");
    expect_ifmr("max_percentile: 1", "");
    expect_ifmr("max_percentile: 1.00000001", "");
    expect_ifmr("max_percentile: 1.0000001", "2:17 sem.percentile");
    expect_ifmr("min_percentile: -1", "2:17 sem.percentile");
}

static void bounds_in_order(void **state)
{
    (void)state;
    expect_ifmr("search_range_start: 0.7 search_range_end: 1.3", "");
    expect_ifmr("search_range_start: 1.3 search_range_end: 0.7",
                "2:43 sem.range-order");
    expect_ifmr("search_range_end: 0.7 search_range_start: 1.3",
                "2:43 sem.range-order");
    expect_ifmr("search_range_start: 1 search_range_end: 1",
                "2:41 sem.range-order");
    expect_ifmr("search_range_start: 1 search_range_end: 1.00000001",
                "2:41 sem.range-order");
    expect_ifmr("search_range_start: 1.5", "2:21 sem.range-order");
    expect_ifmr("search_range_end: 0.5", "2:19 sem.range-order");
    expect_ifmr("search_range_start: 0", "2:21 sem.range-order");
    expect_ifmr("search_range_start: -1", "2:21 sem.range-order");
    expect_ifmr("search_range_start: 1e-50", "2:21 sem.range-order");
}

static void step_in_decimal(void **state)
{
    (void)state;
    expect_ifmr("search_step: 0", "2:14 sem.search-step");
    expect_ifmr("search_step: -0.01", "2:14 sem.search-step");
    expect_ifmr("search_step: 0.6", "");
    expect_ifmr("search_step: 0.60000002", ""); /* the same binary32 */
    expect_ifmr("search_step: 0.601", "2:14 sem.search-step");
    /* Binary arithmetic would say no. */
    expect_ifmr("search_range_start: 0.1 search_range_end: 0.3 search_step: "
                "0.2",
                "");
    expect_ifmr("search_range_start: 1 search_range_end: 1.005",
                "2:41 sem.search-step");
}

static void floats_are_finite(void **state)
{
    (void)state;
    expect_ifmr("search_step: inf", "2:14 sem.not-finite");
    expect_ifmr("search_step: nan max_percentile: 1e39",
                "2:14 sem.not-finite, 2:34 sem.not-finite");
    expect_said(RETRAIN, CHECK,
                "retrain_data_quant_config { ulq_quantize { clip_max_min { "
                "clip_max: 3.4028235677973366e38 clip_min: -3.5e38 } } }",
                "1:101 sem.not-finite");
}

static void other_ranges(void **state)
{
    (void)state;
    expect_said(CALIB, CHECK, "batch_num: 0", "1:12 sem.batch-num");
    expect_said(CALIB, CHECK,
                "common_config { arq_quantize { quant_bits: 5 } hfmg_quantize "
                "{ num_of_bins: 4097 } dmq_balancer { migration_strength: 0.81 "
                "} }",
                "1:44 sem.range, 1:77 sem.num-of-bins, 1:119 sem.range");
    expect_said(CALIB, CHECK,
                "common_config { arq_quantize { quant_bits: 6 } hfmg_quantize "
                "{ num_of_bins: 8192 } dmq_balancer { migration_strength: 0.8 "
                "} }",
                "");
    expect_said(CALIB, CHECK,
                "common_config { ada_quantize { beta_range_start: 2 "
                "beta_range_end: 2 } }",
                "1:17 sch.unsupported-field (warning), "
                "1:68 sem.range-order");
    expect_said(RETRAIN, CHECK,
                "retrain_data_quant_config { ulq_quantize { clip_max_min { "
                "clip_max: -1 clip_min: 0 } } }",
                "1:69 sem.clip, 1:82 sem.clip");
}

static void names(void **state)
{
    (void)state;
    expect_said(CALIB, CHECK,
                "skip_layers: ['', 'a\\000b', 'c', 'c'] skip_layer_types: 'c'",
                "1:15 sem.empty-name, 1:21 sem.nul-in-name, "
                "1:34 sem.duplicate-item");
    expect_said(CALIB, CHECK,
                "override_layer_configs { layer_name: 'a' calibration_config "
                "{} }\noverride_layer_configs { layer_name: 'a' "
                "calibration_config {} }\noverride_layer_types { layer_type: "
                "'a' calibration_config {} }",
                "2:38 sem.duplicate-layer");
    /* AMCT warns in this file, and refuses in the other. */
    expect_said(RETRAIN, CHECK, "skip_layers: ['a', 'a']",
                "1:20 sem.duplicate-item (warning)");
    expect_said(QC_KIND_LAYERS, CHECK, "layer { name: '' type: 'Conv2d' }",
                "1:15 sem.empty-name");
}

static void widths_of_retraining(void **state)
{
    static const struct {
        const char *act, *wts, *words;
    } pairs[] = {
        {"INT8",  "INT8",  ""             },
        {"INT16", "INT8",  ""             },
        {"INT8",  "INT4",  ""             },
        {"INT4",  "INT4",  "1:54 sem.bits"},
        {"INT4",  "INT8",  "1:54 sem.bits"},
        {"INT16", "INT4",  "2:55 sem.bits"},
        {"INT8",  "INT16", "2:55 sem.bits"},
        {"INT16", "INT16", "2:55 sem.bits"}
    };
    char text[400];
    size_t i, j;

    (void)state;
    for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        for (j = 0; j < 2; j++) {
            sprintf(text,
                    "retrain_data_quant_config { ulq_quantize { dst_type: %s } "
                    "}\nretrain_weight_quant_config { %s { dst_type: %s } }",
                    pairs[i].act, j ? "ulq_retrain" : "arq_retrain",
                    pairs[i].wts);
            expect_said(RETRAIN, CHECK, text, pairs[i].words);
        }
    /* An override stands alone: its other half is the default. */
    expect_said(RETRAIN, CHECK,
                "retrain_data_quant_config { ulq_quantize { dst_type: INT16 } "
                "}\noverride_layer_configs { layer_name: 'a' "
                "retrain_weight_quant_config { arq_retrain { dst_type: INT4 } "
                "} }",
                "");
}

static void records(void **state)
{
    (void)state;
    expect_record(false, "scale_d: 0.5 offset_d: -128 scale_w: 1 offset_w: 0",
                  "");
    expect_record(false, "scale_d: -1", "2:10 sem.scale");
    expect_record(false, "scale_w: [1, 1e-46]", "2:14 sem.scale");
    expect_record(false, "offset_d: 128", "2:11 sem.offset-range");
    expect_record(false, "offset_d: 128 act_type: 'INT16'", "");
    expect_record(false, "offset_d: -32769 act_type: 'INT16'",
                  "2:11 sem.offset-range");
    expect_record(false, "scale_w: 1 offset_w: 1", "2:22 sem.offset-w");
    expect_record(false, "scale_w: [1, 2] offset_w: 0",
                  "2:17 sem.count-mismatch");
    expect_record(false, "scale_w: [1, 2]", ""); /* incomplete, alone */
    expect_record(false, "shift_bit: [1, 16]",
                  "2:1 sch.unsupported-field (warning)");
    expect_record(false, "shift_bit: [0, 0, 3]",
                  "2:1 sch.unsupported-field (warning), 2:19 sem.shift-bit");
    expect_record(false, "dst_type: 'INT16' act_type: 'INT6' wts_type: 'INT5'",
                  "2:11 sem.enum, 2:29 sem.enum, 2:46 sem.enum");
    expect_record(false, "wts_type: 'INT6' fakequant_precision_mode: 'DEFAULT'",
                  "");
}

/* AMCT passes over an entry of zeros, and over all but the last of a name. */
static void records_that_amct_forgives(void **state)
{
    expect_record(false, "scale_d: 0 offset_d: 0", "2:10 sem.scale");
    expect_record(true, "scale_d: 0 offset_d: 0", "2:10 sem.scale (warning)");
    expect_record(true, "scale_d: 0 offset_d: 1", "2:10 sem.scale");
    expect_record(true, "scale_d: 0 scale_w: 1", "2:10 sem.scale");
    expect_mode(RECORD, CHECK, false, "record { key: 'a' } record { key: 'a' }",
                "1:35 sem.duplicate-layer");
    expect_mode(RECORD, CHECK, true, "record { key: 'a' } record { key: 'a' }",
                "1:35 sem.duplicate-layer (warning)");
    (void)state;
}

static void an_entry_without_a_key(void **state)
{
    (void)state;
    expect_said(RECORD, CHECK, "record { } record [ { } ]",
                "1:1 sem.missing-key, 1:21 sem.missing-key");
    /* Only in a file without another error. */
    expect_said(RECORD, CHECK, "record { } x: 1", "1:12 sch.unknown-field");
}

/* What an earlier check reported is no news, nor is a number in doubt. */
static void poisoned_values_are_left_alone(void **state)
{
    (void)state;
    expect_ifmr("search_step: 7_0", "2:14 lex.bad-number");
    expect_ifmr("search_step: 70%", "2:16 lex.bad-char");
    expect_ifmr("search_step: 0,7", "2:16 syn.expected-field-name");
    expect_ifmr("search_step: '7'", "2:14 sch.type-float");
}

/* A hundred thousand names: hashed, not compared. */
static void many_names_take_linear_time(void **state)
{
    size_t n = 100000, used = 0, i;
    char *text = malloc(n * 40);
    struct reading r;

    (void)state;
    for (i = 0; i < n; i++)
        used += (size_t)sprintf(text + used, "skip_layers: 'layer%u'\n",
                                (unsigned)i);
    read_text(&r, CALIB, CHECK, text);
    assert_string_equal(said(&r), "");
    qc_free_all(&r.qc);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_after_rounding),
        cmocka_unit_test(bounds_in_order),
        cmocka_unit_test(step_in_decimal),
        cmocka_unit_test(floats_are_finite),
        cmocka_unit_test(other_ranges),
        cmocka_unit_test(names),
        cmocka_unit_test(widths_of_retraining),
        cmocka_unit_test(records),
        cmocka_unit_test(records_that_amct_forgives),
        cmocka_unit_test(an_entry_without_a_key),
        cmocka_unit_test(poisoned_values_are_left_alone),
        cmocka_unit_test(many_names_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
