/* Descriptors as schemac makes them from proto/, ranges and help: gen/schema.c
 * and gen/ops.c. */
#include "cmocka_all.h"

#include <math.h>

#include "model.h"
#include "schema_tables.h"

static struct qc run;

static int end_run(void **state)
{
    (void)state;
    qc_free_all(&run);
    return 0;
}

static const struct qc_field *field(const struct qc_message *m,
                                    const char *name)
{
    const struct qc_field *f = qc_find_field(m, qc_str(name));

    if (!f)
        fail_msg("no field '%s'", name);
    return f;
}

static void fields_are_found_by_name_and_number(void **state)
{
    (void)state;
    assert_int_equal(field(&qc_AMCTConfig, "do_fusion")->number, 200);
    assert_string_equal(qc_find_number(&qc_AMCTConfig, 51)->name,
                        "override_layer_types");
    assert_null(qc_find_field(&qc_AMCTConfig, QC_STR("Do_fusion")));
    assert_null(qc_find_field(&qc_AMCTConfig, QC_STR("do_fusio")));
    assert_null(qc_find_number(&qc_AMCTConfig, 52));
}

/* The order decides what "fields of AMCTConfig" prints. */
static void fields_stand_in_the_order_of_the_proto(void **state)
{
    static const char *const names[] = {"batch_num",
                                        "activation_offset",
                                        "skip_layers",
                                        "skip_layer_types",
                                        "fakequant_precision_mode",
                                        "common_config",
                                        "override_layer_types",
                                        "override_layer_configs",
                                        "do_fusion",
                                        "skip_fusion_layers"};
    size_t i;

    (void)state;
    assert_int_equal(qc_AMCTConfig.count, 10);
    for (i = 0; i < 10; i++)
        assert_string_equal(qc_AMCTConfig.fields[i].name, names[i]);
}

static void a_field_carries_what_the_proto_says(void **state)
{
    const struct qc_field *f = field(&qc_FMRQuantize, "max_percentile");

    (void)state;
    assert_int_equal(f->type, QC_FLOAT);
    assert_int_equal(f->label, QC_OPTIONAL);
    assert_string_equal(f->default_text, "0.999999");
    assert_string_equal(f->range, "(0.5, 1]");
    assert_int_equal(f->offset, offsetof(struct FMRQuantize, max_percentile));
    f = field(&qc_CalibrationConfig, "ada_quantize");
    assert_string_equal(f->choice, "wts_quant_algo");
    assert_true(f->unsupported);
    assert_ptr_equal(f->message, &qc_ADAquantize);
    assert_int_equal(field(&qc_OverrideLayer, "layer_name")->label,
                     QC_REQUIRED);
    assert_int_equal(qc_OverrideLayer.size, sizeof(struct OverrideLayer));
}

static void a_map_is_a_repeated_entry(void **state)
{
    const struct qc_field *f = field(&qc_RetrainJson, "layer");

    (void)state;
    assert_true(f->is_map && f->inline_keys);
    assert_int_equal(f->label, QC_REPEATED);
    assert_string_equal(f->message->fields[0].name, "key");
    assert_ptr_equal(f->message->fields[1].message, &qc_RetrainLayer);
}

static void enums_keep_their_numbers_apart(void **state)
{
    const struct qc_enumeration *calib =
        field(&qc_FMRQuantize, "dst_type")->values;
    const struct qc_enumeration *retrain =
        field(&qc_ARQRetrain, "dst_type")->values;

    (void)state;
    assert_int_equal(qc_find_enum(calib, QC_STR("INT8"))->number, 1);
    assert_null(qc_find_enum(calib, QC_STR("INT4")));
    assert_int_equal(qc_find_enum(retrain, QC_STR("INT4"))->number, 0);
    assert_string_equal(qc_find_enum_number(retrain, 2)->name, "INT16");
    assert_null(qc_find_enum_number(retrain, 3));
    assert_int_equal(FMRQuantize_CalibrationDataType_INT16, 2);
}

static void dialects_mark_fields(void **state)
{
    const struct qc_field *f = field(&qc_AMCTConfig, "batch_num");

    (void)state;
    assert_true(qc_field_in(f, QC_UNION));
    assert_true(qc_field_in(f, QC_PYTORCH));
    assert_false(qc_field_in(f, QC_MINDSPORE));
    assert_true(qc_field_in(field(&qc_AMCTConfig, "do_fusion"), QC_MINDSPORE));
    f = field(&qc_ARQuantize, "quant_bits");
    assert_false(qc_field_in(f, QC_MINDSPORE));
    f = field(&qc_FMRQuantize, "asymmetric");
    assert_true(qc_field_in(f, QC_MINDSPORE));
}

static void help_is_one_line(void **state)
{
    (void)state;
    assert_string_equal(
        qc_field_help(&run, field(&qc_OverrideLayer, "layer_name")),
        "layer_name (string): the layer whose configuration is replaced");
    assert_string_equal(
        qc_field_help(&run, field(&qc_ClipMaxMin, "clip_min")),
        "clip_min (float, below 0): lower bound of the clip range");
    assert_string_equal(
        qc_field_help(&run, field(&qc_CalibrationConfig, "ifmr_quantize")),
        "ifmr_quantize (FMRQuantize): activations by IFMR: a search for the "
        "best clip limit");
    assert_string_equal(
        qc_field_help(&run, field(&qc_ARQuantize, "quant_bits")),
        "quant_bits (uint32, 4, 6, 7 or 8): bits of a weight");
}

static void ranges_hold_their_bounds_as_written(void **state)
{
    (void)state;
    assert_false(qc_in_range("(0.5, 1]", 0.5));
    assert_true(qc_in_range("(0.5, 1]", 0.50000001));
    assert_true(qc_in_range("(0.5, 1]", 1.0));
    assert_false(qc_in_range("(0.5, 1]", 1.00000001));
    assert_true(qc_in_range("[0.2, 0.8]", 0.2));
    assert_true(qc_in_range("[0.2, 0.8]", 0.8));
    assert_false(qc_in_range("[0.2, 0.8]", 0.80000001));
    assert_false(qc_in_range("(0, inf)", 0.0));
    assert_true(qc_in_range("(0, inf)", 1e300));
    assert_false(qc_in_range("(0, inf)", HUGE_VAL));
    assert_false(qc_in_range("(0, inf)", (double)NAN));
    assert_true(qc_in_range("(-inf, 0)", -1e-300));
    assert_true(qc_in_range("{4, 6, 7, 8}", 7));
    assert_false(qc_in_range("{4, 6, 7, 8}", 5));
    assert_true(qc_in_range("[1, 4294967295]", 4294967295.0));
    assert_false(qc_in_range("[1, 4294967295]", 4294967296.0));
    assert_true(qc_in_range(NULL, 12));
}

static void malformed_ranges_are_refused(void **state)
{
    static const char *const bad[] = {"",         "1, 2",
                                      "(1, 2",    "(1)",
                                      "(2, 1)",   "(1, 1)",
                                      "[1, inf]", "{}",
                                      "{1, 2",    "{1, 2, 3, 4, 5, 6, 7, 8, 9}",
                                      "(1, 2) ",  "(a, b)",
                                      "[nan, 1]"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (qc_range_parse(bad[i], NULL))
            fail_msg("'%s' is taken for a range", bad[i]);
    assert_true(qc_range_parse("[1, 1]", NULL));
    assert_true(qc_range_parse(" ( 1 , 2 )", NULL));
}

static void ranges_are_said_in_words(void **state)
{
    (void)state;
    assert_string_equal(qc_range_words(&run, "(-inf, 0)"), "below 0");
    assert_string_equal(qc_range_words(&run, "(-inf, 0]"), "at most 0");
    assert_string_equal(qc_range_words(&run, "(0, inf)"), "above 0");
    assert_string_equal(qc_range_words(&run, "[1, inf)"), "at least 1");
    assert_string_equal(qc_range_words(&run, "[1, 16]"), "from 1 to 16");
    assert_string_equal(qc_range_words(&run, "(0.5, 1]"), "in (0.5, 1]");
    assert_string_equal(qc_range_words(&run, "{0}"), "0");
    assert_string_equal(qc_range_words(&run, "{1, 2}"), "1 or 2");
}

/* ---- layer types ---- */

static void type_words_belong_to_dialects(void **state)
{
    unsigned convs =
        1u << QRT_OP_CONV1D | 1u << QRT_OP_CONV2D | 1u << QRT_OP_CONV3D;

    (void)state;
    assert_int_equal(qc_types_of_word(QC_STR("Conv2d"), QC_PYTORCH),
                     1u << QRT_OP_CONV2D);
    assert_int_equal(qc_types_of_word(QC_STR("Conv2d"), QC_MINDSPORE), 0);
    assert_int_equal(qc_types_of_word(QC_STR("nn.Conv2d"), QC_PYTORCH), 0);
    assert_int_equal(qc_types_of_word(QC_STR("nn.Conv2d"), QC_UNION),
                     1u << QRT_OP_CONV2D);
    assert_int_equal(qc_types_of_word(QC_STR("nn.Conv2D"), QC_MINDSPORE),
                     1u << QRT_OP_CONV2D);
    assert_int_equal(qc_types_of_word(QC_STR("Conv"), QC_ONNX), convs);
    assert_int_equal(qc_types_of_word(QC_STR("MatMul"), QC_ONNX),
                     1u << QRT_OP_LINEAR);
    assert_int_equal(qc_types_of_word(QC_STR("Gemm|MatMul"), QC_ONNX), 0);
    assert_int_equal(qc_types_of_word(QC_STR("conv2d"), QC_UNION), 0);
    assert_int_equal(qc_types_of_word(QC_STR("ReLU"), QC_UNION), 0);
    assert_int_equal(qc_types_of_word(QC_STR(""), QC_UNION), 0);
}

static void the_table_of_types_has_their_traits(void **state)
{
    (void)state;
    assert_string_equal(qc_ops[QRT_OP_LINEAR].canonical, "linear");
    assert_false(qc_ops[QRT_OP_LINEAR].per_channel);
    assert_int_equal(qc_ops[QRT_OP_LINEAR].act16, 2);
    assert_false(qc_ops[QRT_OP_CONV3D].asymmetric);
    assert_false(qc_ops[QRT_OP_AVGPOOL].retrain);
    assert_int_equal(qc_ops[QRT_OP_DECONV2D].out_axis, 1);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fields_are_found_by_name_and_number),
        TEST(fields_stand_in_the_order_of_the_proto),
        TEST(a_field_carries_what_the_proto_says),
        TEST(a_map_is_a_repeated_entry),
        TEST(enums_keep_their_numbers_apart),
        TEST(dialects_mark_fields),
        TEST(help_is_one_line),
        TEST(ranges_hold_their_bounds_as_written),
        TEST(malformed_ranges_are_refused),
        TEST(ranges_are_said_in_words),
        TEST(type_words_belong_to_dialects),
        TEST(the_table_of_types_has_their_traits),
    };

    return cmocka_run_group_tests_name("schema", tests, NULL, end_run);
}
