/* Layer lists: model.layers and layers.json to layers, and layers to
 * model.layers: gen/layers.c, layers_json.c, emit_layers.c. */
#include "cmocka_all.h"

#include <dirent.h>
#include <unistd.h>
#include <stdio.h>

#include "bind.h"
#include "emit.h"
#include "layers.h"
#include "parse.h"

static struct qc run;

static int fresh_run(void **state)
{
    (void)state;
    memset(&run, 0, sizeof(run));
    qc_diag_init(&run);
    return 0;
}

static int end_run(void **state)
{
    (void)state;
    qc_free_all(&run);
    return 0;
}

static void assert_text(struct qc_str have, const char *want)
{
    if (!qc_equalz(have, want))
        fail_msg("'%.*s' instead of '%s'", QC_ARG(have), want);
}

static struct qc_model *read_file(struct qc_file *f, bool json, int dialect)
{
    struct qc_doc doc = {0};

    f->json = json;
    doc.kind = QC_KIND_LAYERS;
    doc.file = f;
    doc.root = json ? qc_parse_json(&run, f) : qc_parse_text(&run, f);
    if (!json && doc.root)
        doc.bound = qc_bind_text(&run, &qc_ModelLayers, doc.root, QC_UNION);
    return qc_model_of_layers(&run, &doc, dialect);
}

static struct qc_model *read_text(const char *text)
{
    return read_file(qc_load_text(&run, "model.layers", text, strlen(text)),
                     false, QC_UNION);
}

static struct qc_model *read_json(const char *text, int dialect)
{
    return read_file(qc_load_text(&run, "layers.json", text, strlen(text)),
                     true, dialect);
}

static struct qc_layer *layer(struct qc_model *m, const char *name)
{
    struct qc_layer *l;

    assert_non_null(m);
    l = qc_find_layer(m, qc_str(name));
    if (!l)
        fail_msg("no layer '%s'", name);
    return l;
}

/* ---- both forms ---- */

static const char limits_json[] =
    "[{\"name\":\"padded\",\"type\":\"Conv2d\",\"weight_shape\":[4,2,3,3],"
    "  \"group\":1,\"padding_mode\":\"reflect\"},"
    " {\"name\":\"plain\",\"type\":\"Conv2d\",\"weight_shape\":[4,2,3,3]},"
    " {\"name\":\"dil3\",\"type\":\"Conv3d\",\"weight_shape\":[4,2,3,3,3],"
    "  \"dilation\":[2,1,1]},"
    " {\"name\":\"twice\",\"type\":\"Conv2d\",\"calls\":2},"
    " {\"name\":\"shared\",\"type\":\"Conv2d\","
    "  \"shares_weight_with\":\"plain\"},"
    " {\"name\":\"lin\",\"type\":\"Linear\",\"weight_shape\":[4,2],"
    "  \"input_rank\":3,\"bias\":false},"
    " {\"name\":\"unbatched\",\"type\":\"Conv1d\",\"input_rank\":2},"
    " {\"name\":\"relu\",\"type\":\"ReLU\",\"weight_shape\":[]}]";

static const char limits_text[] =
    "layer { name: 'padded' type: 'Conv2d' weight_shape: [4, 2, 3, 3]\n"
    "  group: 1 padding_mode: 'reflect' }\n"
    "layer { name: 'plain' type: 'Conv2d' weight_shape: [4, 2, 3, 3] }\n"
    "layer { name: 'dil3' type: 'Conv3d' weight_shape: [4, 2, 3, 3, 3]\n"
    "  dilation: [2, 1, 1] }\n"
    "layer { name: 'twice' type: 'Conv2d' calls: 2 }\n"
    "layer { name: 'shared' type: 'Conv2d' shares_weight_with: 'plain' }\n"
    "layer { name: 'lin' type: 'Linear' weight_shape: [4, 2]\n"
    "  input_rank: 3 bias: false }\n"
    "layer { name: 'unbatched' type: 'Conv1d' input_rank: 2 }\n"
    "layer { name: 'relu' type: 'ReLU' }\n";

static void check_limits(struct qc_model *m)
{
    assert_non_null(m);
    assert_int_equal(m->count, 8);
    assert_false(m->graph_known);
    assert_string_equal(layer(m, "padded")->why_not,
                        "its padding_mode is not zeros");
    assert_false(layer(m, "padded")->zero_padding);
    assert_string_equal(layer(m, "dil3")->why_not,
                        "its first dilation is not 1");
    assert_string_equal(layer(m, "twice")->why_not, "it runs more than once");
    assert_string_equal(layer(m, "shared")->why_not,
                        "another layer uses its weights");
    assert_string_equal(layer(m, "plain")->why_not,
                        "another layer uses its weights");
    assert_string_equal(layer(m, "unbatched")->why_not,
                        "its input has no batch axis");
    assert_true(layer(m, "lin")->quantizable);
    assert_true(layer(m, "lin")->trans_b);
    assert_true(layer(m, "lin")->bias_known);
    assert_false(layer(m, "lin")->has_bias);
    assert_int_equal(layer(m, "lin")->out_channels, 4);
    assert_int_equal(layer(m, "lin")->in_channels, 2);
    assert_true(layer(m, "plain")->has_bias);
    assert_int_equal(layer(m, "relu")->op, -1);
    assert_false(layer(m, "relu")->quantizable);
}

static void both_forms_say_what_cannot_be_quantized(void **state)
{
    (void)state;
    check_limits(read_json(limits_json, QC_PYTORCH));
    check_limits(read_text(limits_text));
}

static void types_are_told_apart_by_their_weights(void **state)
{
    struct qc_model *m =
        read_text("layer { name: 'c1' type: 'Conv' weight_shape: [4, 2, 3] }\n"
                  "layer { name: 'c3' type: 'Conv' weight_shape: "
                  "[4, 2, 3, 3, 3] }\n"
                  "layer { name: 'c' type: 'Conv' }\n"
                  "layer { name: 'c4' type: 'Conv' weight_shape: "
                  "[4, 2, 3, 3, 3, 3] }\n"
                  "layer { name: 'd' type: 'ConvTranspose' weight_shape: "
                  "[6, 2, 3, 3] group: 2 }\n"
                  "layer { name: 'mm' type: 'MatMul' weight_shape: [6, 2] }\n"
                  "layer { name: 'gemm' type: 'Gemm' weight_shape: [6, 2] "
                  "trans_b: true }\n");

    (void)state;
    assert_int_equal(layer(m, "c1")->op, QRT_OP_CONV1D);
    assert_int_equal(layer(m, "c3")->op, QRT_OP_CONV3D);
    assert_int_equal(layer(m, "c")->op, QRT_OP_CONV2D);
    assert_int_equal(layer(m, "c4")->op, -1);
    assert_int_equal(layer(m, "d")->op, QRT_OP_DECONV2D);
    assert_int_equal(layer(m, "d")->out_channels, 4);
    assert_int_equal(layer(m, "d")->in_channels, 6);
    assert_int_equal(layer(m, "mm")->out_channels, 2);
    assert_int_equal(layer(m, "gemm")->out_channels, 6);
}

static void mindspore_takes_plain_and_depthwise_convolutions(void **state)
{
    static const char text[] =
        "[{\"name\":\"dw\",\"type\":\"nn.Conv2d\","
        "\"weight_shape\":[8,1,3,3],\"group\":8},"
        "{\"name\":\"grp\",\"type\":\"nn.Conv2d\","
        "\"weight_shape\":[8,4,3,3],\"group\":2},"
        "{\"name\":\"dil\",\"type\":\"nn.Conv2d\","
        "\"weight_shape\":[8,4,3,3],\"dilation\":2},"
        "{\"name\":\"fc\",\"type\":\"nn.Dense\",\"weight_shape\":[8,4]}]";
    struct qc_model *m = read_json(text, QC_MINDSPORE);

    (void)state;
    assert_true(layer(m, "dw")->quantizable);
    assert_false(layer(m, "grp")->quantizable);
    assert_false(layer(m, "dil")->quantizable);
    assert_true(layer(m, "fc")->quantizable);
    m = read_json(text, QC_UNION);
    assert_true(layer(m, "grp")->quantizable);
    assert_true(layer(m, "dil")->quantizable);
    assert_int_equal(layer(m, "dil")->dilation[1], 2);
    assert_int_equal(layer(m, "dil")->dilation[2], 0);
}

static void the_long_vocabulary_is_read(void **state)
{
    struct qc_model *m = read_json(
        "[{\"name\":\"a\",\"node_name\":\"/a/Conv\",\"node_index\":0,"
        "\"op_type\":\"Conv\",\"types\":{\"pytorch\":\"Conv2d\"},"
        "\"aliases\":[\"/a/Conv\",\"a\",\"aa\"],\"data_input\":\"x\","
        "\"weight\":{\"name\":\"a.weight\",\"shape\":[8,2,3,3]},"
        "\"group\":1,\"transB\":null,\"bias\":null,"
        "\"bias_is_separate_add\":false,\"following_bn\":"
        "{\"node_name\":\"/bn\",\"scale\":\"s\"},"
        "\"following_activation\":\"Relu\",\"producer\":\"(graph input)\","
        "\"effective\":{\"search_step\":0.01}},"
        "{\"node_name\":\"b\",\"op_type\":\"Gemm\",\"weight\":"
        "{\"shape\":[4,6]},\"transB\":1,\"bias\":\"b.bias\","
        "\"producer\":\"Relu\",\"following_bn\":null}]",
        QC_UNION);
    const struct qc_layer *a = layer(m, "a"), *b = layer(m, "b");

    (void)state;
    assert_true(m->graph_known);
    assert_ptr_equal(layer(m, "aa"), a);
    assert_ptr_equal(layer(m, "/a/Conv"), a);
    assert_int_equal(a->alias_count, 3);
    assert_int_equal(a->out_channels, 8);
    assert_false(a->has_bias);
    assert_text(a->bn->node_name, "/bn");
    assert_int_equal(a->act, QC_ACT_RELU);
    assert_text(a->producer, "");
    assert_true(b->has_bias && b->trans_b && b->producer_is_relu);
    assert_null(b->bn);
    assert_int_equal(b->out_channels, 4);
}

static void an_alias_of_two_layers_is_refused(void **state)
{
    struct qc_model *m = read_text("layer { name: 'a' type: 'Conv' "
                                   "alias: ['x', 'b', 'y'] }\n"
                                   "layer { name: 'b' type: 'Conv' "
                                   "alias: 'x' node_name: 'y' }\n");

    (void)state;
    assert_null(qc_find_layer(m, QC_STR("x")));
    assert_non_null(qc_map_get(&m->ambiguous, QC_STR("x")));
    assert_ptr_equal(layer(m, "b"), &m->layers[1]); /* a name wins       */
    assert_ptr_equal(layer(m, "y"), &m->layers[1]); /* so does a node's  */
}

/* ---- faults ---- */

static void assert_fault(bool json, const char *text, const char *key,
                         const char *part)
{
    const struct qc_diag *d;

    end_run(NULL);
    fresh_run(NULL);
    if (json ? read_json(text, QC_UNION) : read_text(text))
        fail_msg("no fault in %s", text);
    d = run.files->diags;
    assert_non_null(d);
    if (strcmp(qc_key_name(d->key), key) != 0 || !strstr(d->text, part))
        fail_msg("%s: %s [%s]", text, d->text, qc_key_name(d->key));
}

#define L(more) "[{\"name\":\"a\",\"type\":\"Conv2d\"," more "}]"

static void faults_of_json_lists_are_reported(void **state)
{
    (void)state;
    assert_fault(true, "{\"name\":\"a\"}", "layers.type", "array of objects");
    assert_fault(true, "[1]", "layers.type", "a layer is an object");
    assert_fault(true, "[{\"type\":\"Conv2d\"}]", "layers.missing", "\"name\"");
    assert_fault(true, "[{\"name\":\"\",\"type\":\"Conv2d\"}]",
                 "layers.missing", "\"name\"");
    assert_fault(true, "[{\"name\":\"a\"}]", "layers.missing", "\"type\"");
    assert_fault(true, "[{\"name\":1,\"type\":\"Conv2d\"}]", "layers.type",
                 "\"name\" needs a string");
    assert_fault(true, L("\"group\":1.5"), "layers.type", "an integer");
    assert_fault(true, L("\"group\":99999999999999999999"), "layers.type",
                 "an integer");
    assert_fault(true, L("\"group\":0"), "layers.value",
                 "\"group\" must be at least 1");
    assert_fault(true, L("\"weight_shape\":4"), "layers.type", "a list");
    assert_fault(true, L("\"weight_shape\":[4,\"2\",3,3]"), "layers.type",
                 "to be an integer");
    assert_fault(true, L("\"weight_shape\":[4,-2,3,3]"), "layers.value",
                 "at least 0");
    assert_fault(true, L("\"weight_shape\":[4,2,3]"), "layers.value",
                 "a Conv2d have 4 dimensions, not 3");
    assert_fault(true, L("\"weight_shape\":[1,1,1,1,1,1,1,1,1]"),
                 "layers.value", "at most 8");
    assert_fault(true, L("\"weight_shape\":[4,2,3,3],\"group\":3"),
                 "layers.value", "3 groups");
    assert_fault(true, L("\"bias\":2"), "layers.type", "true or false");
    assert_fault(true, L("\"weight\":[4]"), "layers.type", "an object");
    assert_fault(true, L("\"following_bn\":{}"), "layers.type", "node_name");
    assert_fault(true, L("\"shares_weight_with\":\"b\""),
                 "layers.unknown-layer", "no layer is called \"b\"");
    assert_fault(true,
                 "[{\"name\":\"a\",\"type\":\"x\"},"
                 "{\"name\":\"a\",\"type\":\"y\"}]",
                 "layers.duplicate", "two layers are called \"a\"");
    assert_fault(true, "[{\"name\":\"a\\u0000\",\"type\":\"x\"}]",
                 "layers.value", "NUL");
}

static void faults_of_text_lists_are_reported(void **state)
{
    (void)state;
    assert_fault(false, "layer { type: 'Conv' }", "sch.missing-required",
                 "'name'");
    assert_fault(false, "layer { name: 'a' type: 'Conv' group: 0 }",
                 "layers.value", "'group' must be at least 1");
    assert_fault(false, "layer { name: 'a' type: 'Conv' next { layer: 'b' } }",
                 "layers.unknown-layer", "no layer is called 'b'");
    assert_fault(false,
                 "layer { name: 'a' type: 'x' } layer { name: 'a' type: 'x' }",
                 "layers.duplicate", "two layers are called 'a'");
}

/* ---- there and back ---- */

static bool has_alias(const struct qc_layer *l, struct qc_str alias)
{
    size_t i;

    for (i = 0; i < l->alias_count; i++)
        if (qc_equal(l->aliases[i], alias))
            return true;
    return false;
}

static void assert_same_str(struct qc_str a, struct qc_str b)
{
    if (!qc_equal(a, b))
        fail_msg("'%.*s' became '%.*s'", QC_ARG(a), QC_ARG(b));
}

static void assert_same_edges(struct qc_model *ma, const struct qc_layer *a,
                              struct qc_model *mb, const struct qc_layer *b)
{
    size_t i;

    assert_int_equal(a->edge_count, b->edge_count);
    assert_int_equal(a->output_escapes, b->output_escapes);
    for (i = 0; i < a->edge_count; i++) {
        assert_same_str(ma->layers[a->edges[i].layer].name,
                        mb->layers[b->edges[i].layer].name);
        assert_int_equal(a->edges[i].relu, b->edges[i].relu);
        assert_int_equal(a->edges[i].has_max, b->edges[i].has_max);
        assert_int_equal(a->edges[i].max_bits, b->edges[i].max_bits);
    }
}

static void assert_same_layer(const struct qc_layer *a,
                              const struct qc_layer *b)
{
    size_t i;

    assert_same_str(a->name, b->name);
    assert_same_str(a->node_name, b->node_name);
    assert_same_str(a->type, b->type);
    for (i = 0; i < a->alias_count; i++)
        assert_true(has_alias(b, a->aliases[i]));
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->quantizable, b->quantizable);
    if (a->why_not)
        assert_string_equal(a->why_not, b->why_not);
    assert_int_equal(a->zero_padding, b->zero_padding);
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->shape, b->shape, sizeof(a->shape));
    assert_int_equal(a->trans_b, b->trans_b);
    assert_int_equal(a->weight_transposed, b->weight_transposed);
    assert_int_equal(a->group, b->group);
    for (i = 0; i < 3; i++)
        assert_int_equal(a->dilation[i] > 1 ? a->dilation[i] : 1,
                         b->dilation[i] > 1 ? b->dilation[i] : 1);
    assert_int_equal(a->out_channels, b->out_channels);
    assert_int_equal(a->in_channels, b->in_channels);
    assert_int_equal(a->has_bias, b->has_bias);
    assert_int_equal(a->bias_is_add, b->bias_is_add);
    assert_int_equal(a->bn != NULL, b->bn != NULL);
    if (a->bn)
        assert_same_str(a->bn->node_name, b->bn->node_name);
    assert_int_equal(a->act, b->act);
    assert_same_str(a->act_type, b->act_type);
    assert_int_equal(a->producer_is_relu, b->producer_is_relu);
    assert_same_str(a->producer, b->producer);
    assert_same_str(a->data_input, b->data_input);
}

static void round_trip(const char *path)
{
    struct qc_model *a = qc_read_onnx(&run, path), *b;
    struct qc_out *o = qc_out_new(&run, NULL);
    size_t i, k = 0;

    assert_non_null(a);
    qc_emit_layers(o, a);
    b = read_file(qc_load_text(&run, "back.layers", o->text, o->size), false,
                  QC_UNION);
    if (!b)
        fail_msg("%s: %s", path, a->file->next->diags->text);
    for (i = 0; i < a->count; i++) {
        if (a->layers[i].op < 0)
            continue;
        assert_true(k < b->count);
        assert_same_layer(&a->layers[i], &b->layers[k]);
        assert_same_edges(a, &a->layers[i], b, &b->layers[k]);
        assert_ptr_equal(qc_find_layer(b, a->layers[i].name), &b->layers[k]);
        k++;
    }
    assert_int_equal(k, b->count);
}

static void printed_layers_read_back_the_same(void **state)
{
    static const char *const files[] = {"weights",  "shared", "refused",
                                        "branches", "around", "edges",
                                        "names",    "forms",  "empty"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        end_run(NULL);
        fresh_run(NULL);
        round_trip(qc_format(&run, "tests/models/%s.onnx", files[i]).ptr);
    }
}

static void printed_layers_of_real_models_read_back_the_same(void **state)
{
    const char *shared = getenv("QC_SHARED");
    char folder[512], path[1024];
    struct dirent *e;
    DIR *d;
    int count = 0;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/models",
             shared ? shared : "../shared");
    d = opendir(folder);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s/model.onnx", folder, e->d_name);
        if (e->d_name[0] == '.' || access(path, R_OK) != 0)
            continue;
        end_run(NULL);
        fresh_run(NULL);
        round_trip(path);
        count++;
    }
    if (d)
        closedir(d);
    if (!count) {
        print_message("SKIPPED: no models in %s (QC_SHARED)\n", folder);
        skip();
    }
    print_message("%d models there and back\n", count);
}

static void printed_list_looks_as_people_write_it(void **state)
{
    struct qc_out *o = qc_out_new(&run, NULL);
    struct qc_model *m =
        read_text("layer { name: 'a\"\\\\\\001\xE5\x8D\xB7' type: 'Conv2d' "
                  "weight_shape: [8, 4, 3, 3] next { layer: 'b' relu: true "
                  "max: 6 } }\n"
                  "layer { name: 'b' type: 'nn.Dense' }");

    (void)state;
    assert_non_null(m);
    qc_emit_layers(o, m);
    assert_text((struct qc_str){o->text, o->size},
                "# Layers of model.layers, in the order of the graph.\n"
                "\n"
                "layer {\n"
                "  name: \"a\\\"\\\\\\001\xE5\x8D\xB7\"\n"
                "  type: \"Conv2d\"\n"
                "  weight_shape: [8, 4, 3, 3]\n"
                "  bias: true\n"
                "  producer: \"\"\n"
                "  next { layer: \"b\" relu: true max: 6 }\n"
                "}\n"
                "\n"
                "layer {\n"
                "  name: \"b\"\n"
                "  type: \"nn.Dense\"\n"
                "  trans_b: true\n"
                "  bias: true\n"
                "  producer: \"\"\n"
                "}\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_run, end_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_forms_say_what_cannot_be_quantized),
        TEST(types_are_told_apart_by_their_weights),
        TEST(mindspore_takes_plain_and_depthwise_convolutions),
        TEST(the_long_vocabulary_is_read),
        TEST(an_alias_of_two_layers_is_refused),
        TEST(faults_of_json_lists_are_reported),
        TEST(faults_of_text_lists_are_reported),
        TEST(printed_layers_read_back_the_same),
        TEST(printed_layers_of_real_models_read_back_the_same),
        TEST(printed_list_looks_as_people_write_it),
    };

    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
