/* Reading ONNX models: gen/model.c and the files it is made of. Small models
 * of tests/models/ state one rule each; the real models of the shared folder
 * are compared fact by fact with their layers.json. */
#include "cmocka_all.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <unistd.h>

#include "model.h"
#include "schema.h"

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

/* ---- the shared models ---- */

static const char *shared(void)
{
    const char *s = getenv("QC_SHARED");

    return s ? s : "../shared";
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    char *text;

    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = calloc(1, (size_t)size + 1);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        text[0] = '\0';
    fclose(f);
    return text;
}

static const cJSON *member(const cJSON *j, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(j, name);
}

static const char *string(const cJSON *j, const char *name)
{
    const char *s = cJSON_GetStringValue(member(j, name));

    return s ? s : "";
}

static void assert_text(struct qc_str have, const char *want)
{
    if (!qc_equalz(have, want))
        fail_msg("'%.*s' instead of '%s'", QC_ARG(have), want);
}

static void compare_weight(const struct qc_layer *l, const cJSON *j)
{
    const cJSON *w = member(j, "weight"), *dim;
    unsigned rank = 0;

    if (!cJSON_IsObject(w) || cJSON_IsNull(member(w, "shape"))) {
        assert_null(l->weight);
        return;
    }
    assert_text(l->weight->name, string(w, "name"));
    cJSON_ArrayForEach(dim, member(w, "shape"))
    {
        assert_int_equal(l->shape[rank], dim->valuedouble);
        rank++;
    }
    assert_int_equal(l->rank, rank);
    if (l->weight->elem != QC_ELEM_F32 ||
        l->weight->data.len != 4 * l->weight->count)
        fail_msg("weights of '%.*s' have no data", QC_ARG(l->name));
    assert_int_equal(l->group, member(j, "group")->valuedouble);
    if (member(j, "transB"))
        assert_int_equal(l->trans_b, cJSON_IsNumber(member(j, "transB")) &&
                                         member(j, "transB")->valueint == 1);
    if (cJSON_IsNumber(member(j, "out_channels")))
        assert_int_equal(l->out_channels,
                         member(j, "out_channels")->valuedouble);
}

static void compare_bn(const struct qc_layer *l, const cJSON *j)
{
    const cJSON *bn = member(j, "following_bn");
    float epsilon;

    if (!cJSON_IsObject(bn)) {
        assert_null(l->bn);
        return;
    }
    assert_non_null(l->bn);
    assert_text(l->bn->node_name, string(bn, "node_name"));
    assert_text(l->bn->scale->name, string(bn, "scale"));
    assert_text(l->bn->bias->name, string(bn, "bias"));
    assert_text(l->bn->mean->name, string(bn, "mean"));
    assert_text(l->bn->var->name, string(bn, "var"));
    memcpy(&epsilon, &l->bn->epsilon_bits, sizeof(epsilon));
    assert_true((double)epsilon == member(bn, "epsilon")->valuedouble);
}

static void compare_bias(const struct qc_layer *l, const cJSON *j)
{
    if (cJSON_IsString(member(j, "bias")))
        assert_text(l->bias->name, string(j, "bias"));
    else if (l->op != QRT_OP_LSTM && l->op != QRT_OP_GRU)
        assert_null(l->bias);
    if (member(j, "bias_is_separate_add"))
        assert_int_equal(l->bias_is_add,
                         cJSON_IsTrue(member(j, "bias_is_separate_add")));
}

static void compare_type(const struct qc_layer *l, const cJSON *j)
{
    const char *pytorch = string(member(j, "types"), "pytorch");

    assert_text(l->type, string(j, "op_type"));
    if (*pytorch)
        assert_true(qc_types_of_word(qc_str(pytorch), QC_PYTORCH) >> l->op & 1);
    if (member(j, "types"))
        assert_true(qc_types_of_word(l->type, QC_ONNX) >> l->op & 1);
}

static void compare_names(struct qc_model *m, const struct qc_layer *l,
                          const cJSON *j, bool folded)
{
    const cJSON *a;
    size_t i = 0;

    assert_text(l->node_name, string(j, "node_name"));
    if (!member(j, "name"))
        return;
    if (!folded)
        assert_text(l->name, string(j, "name"));
    cJSON_ArrayForEach(a, member(j, "aliases"))
    {
        assert_true(i < l->alias_count);
        assert_text(l->aliases[i++], a->valuestring);
        if (!qc_map_get(&m->ambiguous, qc_str(a->valuestring)))
            assert_ptr_equal(qc_find_layer(m, qc_str(a->valuestring)), l);
    }
    assert_int_equal(l->alias_count, i);
}

static void compare_layer(struct qc_model *m, const struct qc_layer *l,
                          const cJSON *j, bool folded)
{
    const char *producer = string(j, "producer");

    compare_names(m, l, j, folded);
    compare_type(l, j);
    compare_weight(l, j);
    compare_bias(l, j);
    compare_bn(l, j);
    assert_text(l->data_input, string(j, "data_input"));
    if (cJSON_IsString(member(j, "following_activation")))
        assert_text(l->act_type, string(j, "following_activation"));
    else if (member(j, "following_activation") && l->op != QRT_OP_AVGPOOL)
        assert_int_equal(l->act, QC_ACT_NONE);
    if (*producer)
        assert_text(l->producer,
                    strcmp(producer, "(graph input)") == 0 ? "" : producer);
    if (*producer)
        assert_int_equal(l->producer_is_relu, strcmp(producer, "Relu") == 0);
}

static struct qc_layer *next_typed(struct qc_model *m, size_t *at)
{
    while (*at < m->count && m->layers[*at].op < 0)
        ++*at;
    return *at < m->count ? &m->layers[(*at)++] : NULL;
}

static size_t compare_model(const char *folder, const char *onnx,
                            const char *list, bool folded)
{
    char path[1024];
    char *text;
    cJSON *all;
    const cJSON *j;
    struct qc_model *m;
    size_t at = 0;

    snprintf(path, sizeof(path), "%s/models/%s/%s", shared(), folder, list);
    text = slurp(path);
    if (!text)
        return 0;
    all = cJSON_Parse(text);
    assert_non_null(all);
    snprintf(path, sizeof(path), "%s/models/%s/%s", shared(), folder, onnx);
    m = qc_read_onnx(&run, path);
    if (!m)
        fail_msg("%s was not read", path);
    cJSON_ArrayForEach(j, all)
    {
        const struct qc_layer *l = next_typed(m, &at);

        assert_non_null(l);
        compare_layer(m, l, j, folded);
    }
    assert_null(next_typed(m, &at));
    at = (size_t)cJSON_GetArraySize(all);
    cJSON_Delete(all);
    free(text);
    return at;
}

static void real_models_equal_their_layer_lists(void **state)
{
    static const char *const folders[] = {
        "awkward_names", "conv1d_fsdd", "denoise_ae", "dscnn_fsdd",
        "lenet_mnist",   "mlp_digits",  "mlperf_kws", "mlperf_resnet8",
        "mlperf_sww",    "resnet_fsdd", "silero_vad",
    };
    size_t i, layers = 0;

    (void)state;
    for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        layers += compare_model(folders[i], "model.onnx", "layers.json", false);
        layers += compare_model(folders[i], "model_folded.onnx",
                                "layers_folded.json", true);
    }
    if (!layers) {
        print_message("SKIPPED: no models below %s (QC_SHARED)\n", shared());
        skip();
    }
    print_message("%zu layers compared\n", layers);
}

/* ---- small models, one rule each ---- */

static struct qc_model *read_small(const char *file)
{
    return qc_read_onnx(&run, qc_format(&run, "tests/models/%s", file).ptr);
}

static struct qc_model *small(const char *file)
{
    struct qc_model *m = read_small(file);

    if (!m)
        fail_msg("tests/models/%s was not read", file);
    return m;
}

static struct qc_layer *layer(struct qc_model *m, const char *name)
{
    struct qc_layer *l = qc_find_layer(m, qc_str(name));

    if (!l)
        fail_msg("no layer '%s'", name);
    return l;
}

static void assert_refused(struct qc_model *m, const char *name,
                           const char *why)
{
    const struct qc_layer *l = layer(m, name);

    assert_true(l->op >= 0);
    if (!why && !l->quantizable)
        fail_msg("'%s' is refused: %s", name, l->why_not);
    if (why && (l->quantizable || strcmp(l->why_not, why) != 0))
        fail_msg("'%s' is not refused: %s", name, why);
}

static void weights_are_found_behind_constant_identity_transpose(void **state)
{
    struct qc_model *m = small("weights.onnx");
    const struct qc_layer *l = layer(m, "c");

    (void)state;
    assert_text(l->weight->name, "c.weight");
    assert_int_equal(l->shape[0], 3);
    assert_text(layer(m, "/two/Conv")->weight->name, "two.weight");
    assert_ptr_equal(layer(m, "/three/Conv")->weight->data.ptr,
                     layer(m, "one")->weight->data.ptr);
    l = layer(m, "fc");
    assert_true(l->weight_transposed && l->trans_b);
    assert_int_equal(l->out_channels, 5);
    assert_int_equal(l->in_channels, 192);
    l = layer(m, "g"); /* transB and a Transpose: stored (in, out) again */
    assert_true(l->weight_transposed && !l->trans_b);
    assert_int_equal(l->out_channels, 4);
}

static void copies_by_identity_do_not_share_weights(void **state)
{
    struct qc_model *m = small("weights.onnx");

    (void)state;
    assert_refused(m, "one", NULL);
    assert_refused(m, "/two/Conv", NULL);
}

static void layers_that_share_weights_are_both_left_out(void **state)
{
    struct qc_model *m = small("shared.onnx");

    (void)state;
    assert_refused(m, "/fc/MatMul", "another layer uses its weights");
    assert_refused(m, "/fc_1/MatMul", "another layer uses its weights");
    assert_refused(m, "own", NULL);
    assert_null(qc_find_layer(m, QC_STR("fc")));
    assert_non_null(qc_map_get(&m->ambiguous, QC_STR("fc")));
}

/* 0.5, -1, 2, 0.25 as binary32, binary16, binary64. */
static const unsigned char values32[] = {0, 0, 0, 0x3f, 0, 0, 0x80, 0xbf,
                                         0, 0, 0, 0x40, 0, 0, 0x80, 0x3e};
static const unsigned char values16[] = {0, 0x38, 0, 0xbc, 0, 0x40, 0, 0x34};

static void every_form_of_data_gives_the_same_bytes(void **state)
{
    static const char *const names[] = {"raw_conv", "packed_conv",
                                        "unpacked_conv", "pieces_conv",
                                        "packed_twice_conv"};
    struct qc_model *m = small("forms.onnx");
    const struct qc_tensor *t;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        t = layer(m, names[i])->weight;
        assert_int_equal(t->elem, QC_ELEM_F32);
        assert_int_equal(t->data.len, sizeof(values32));
        assert_memory_equal(t->data.ptr, values32, sizeof(values32));
    }
    t = layer(m, "half_conv")->weight;
    assert_int_equal(t->elem, QC_ELEM_F16);
    assert_int_equal(t->data.len, sizeof(values16));
    assert_memory_equal(t->data.ptr, values16, sizeof(values16));
    t = layer(m, "half_list_conv")->weight;
    assert_int_equal(t->data.len, sizeof(values16));
    assert_memory_equal(t->data.ptr, values16, sizeof(values16));
    t = layer(m, "double_conv")->weight;
    assert_int_equal(t->elem, QC_ELEM_F64);
    assert_int_equal(t->data.len, 32);
}

static void tensor_data_are_slices_of_the_file(void **state)
{
    struct qc_model *m = small("forms.onnx");
    const char *text = m->file->text, *end = text + m->file->size;

    (void)state;
    assert_in_range((uintptr_t)layer(m, "raw_conv")->weight->data.ptr,
                    (uintptr_t)text, (uintptr_t)end);
    assert_in_range((uintptr_t)layer(m, "packed_conv")->weight->data.ptr,
                    (uintptr_t)text, (uintptr_t)end);
}

static void external_data_are_slices_of_their_file(void **state)
{
    static const char *const files[] = {"external.onnx", "external_rest.onnx"};
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        const struct qc_tensor *t = layer(small(files[i]), "conv")->weight;

        assert_int_equal(t->data.len, sizeof(values32));
        assert_memory_equal(t->data.ptr, values32, sizeof(values32));
    }
}

static void what_cannot_be_quantized_says_why(void **state)
{
    static const struct {
        const char *name, *why;
    } want[] = {
        {"plain",           NULL                                       },
        {"/reflect/Conv",   "its padding_mode is not zeros"            },
        {"/elsewhere/Conv", NULL                                       },
        {"dilated",         NULL                                       },
        {"dilated3d",       "its first dilation is not 1"              },
        {"dilated3d_inner", NULL                                       },
        {"unsqueezed",      "its input has no batch axis"              },
        {"channel_added",   NULL                                       },
        {"trans_a",         "transA is 1"                              },
        {"alpha",           "alpha or beta is not 1"                   },
        {"beta_alone",      NULL                                       },
        {"constant_first",  "its weights are not constant"             },
        {"computed_both",   "its weights are not constant"             },
        {"three_dims",      "its weights do not have two dimensions"   },
        {"matmul",          NULL                                       },
        {"pool2d",          NULL                                       },
        {"lstm",            NULL                                       },
        {"both_ways",       "it does not run forward only"             },
        {"/stack/LSTM",     "it is one of several layers of its module"},
        {"/stack/LSTM_1",   "it is one of several layers of its module"},
    };
    struct qc_model *m = small("refused.onnx");
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_refused(m, want[i].name, want[i].why);
    assert_false(layer(m, "/reflect/Conv")->zero_padding);
    /* Types that the table does not have. */
    assert_int_equal(layer(m, "pool1d")->op, -1);
    assert_int_equal(layer(m, "four_axes")->op, -1);
    assert_int_equal(layer(m, "foreign")->op, -1);
    /* Without weights or kernel_shape the number of axes is not known. */
    assert_int_equal(layer(m, "computed")->op, -1);
}

static void a_dialect_leaves_out_what_it_does_not_have(void **state)
{
    struct qc_model *m = small("refused.onnx");

    (void)state;
    qc_limit_to_dialect(&run, m, QC_UNION);
    assert_refused(m, "dilated", NULL);
    qc_limit_to_dialect(&run, m, QC_MINDSPORE);
    assert_refused(m, "plain", NULL);
    assert_refused(m, "matmul", NULL);
    assert_false(layer(m, "dilated")->quantizable);
    assert_false(layer(m, "pool2d")->quantizable);
    assert_false(layer(m, "dilated3d_inner")->quantizable);
}

static void branches_and_loops_are_walked(void **state)
{
    struct qc_model *m = small("branches.onnx");

    (void)state;
    assert_refused(m, "loop", "it runs inside a loop");
    assert_refused(m, "then", NULL);
    assert_text(layer(m, "/inner/Conv")->weight->name, "outer.weight");
    assert_text(layer(m, "last")->producer, "If");
    /* A branch stands behind its If and before what follows that. */
    assert_true(layer(m, "loop") < layer(m, "then"));
    assert_true(layer(m, "/inner/Conv") < layer(m, "last"));
    assert_true(layer(m, "/If") < layer(m, "loop"));
}

static void bias_add_belongs_to_the_layer(void **state)
{
    struct qc_model *m = small("around.onnx");

    (void)state;
    assert_true(layer(m, "add")->bias_is_add);
    assert_text(layer(m, "add")->bias->name, "b1");
    assert_true(layer(m, "add_first")->bias_is_add);
    assert_true(layer(m, "mm")->bias_is_add);
    assert_int_equal(layer(m, "mm")->act, QC_ACT_OTHER);
    /* Added along the last axis, or to a layer that has a bias. */
    assert_false(layer(m, "add_last_axis")->has_bias);
    assert_false(layer(m, "add_height")->has_bias);
    assert_true(layer(m, "own_bias")->has_bias);
    assert_false(layer(m, "own_bias")->bias_is_add);
    assert_text(layer(m, "own_bias")->bias->name, "b4");
}

static void batch_norm_must_be_the_only_consumer(void **state)
{
    struct qc_model *m = small("around.onnx");

    (void)state;
    assert_text(layer(m, "bn")->bn->node_name, "bn1");
    assert_int_equal(layer(m, "bn")->bn->epsilon_bits, 0x3f000000);
    assert_int_equal(layer(m, "bn")->act, QC_ACT_RELU);
    assert_null(layer(m, "training")->bn);
    assert_null(layer(m, "bn_shared")->bn);
    assert_text(layer(m, "add")->bn->node_name, "bn4");
    assert_int_equal(layer(m, "add")->bn->epsilon_bits, 0x3727c5ac);
    assert_int_equal(layer(m, "graph_output")->act, QC_ACT_NONE);
}

static void producer_is_what_makes_the_input(void **state)
{
    struct qc_model *m = small("around.onnx");

    (void)state;
    assert_text(layer(m, "bn")->producer, "");
    assert_text(layer(m, "bn")->data_input, "x");
    assert_true(layer(m, "after_relu")->producer_is_relu);
    assert_false(layer(m, "after_pool")->producer_is_relu);
    assert_text(layer(m, "after_pool")->producer, "MaxPool");
}

/* The edge from one layer to another, or null. */
static const struct qc_edge *edge(struct qc_model *m, const char *from,
                                  const char *to)
{
    const struct qc_layer *l = layer(m, from);
    size_t i;

    for (i = 0; i < l->edge_count; i++)
        if (&m->layers[l->edges[i].layer] == layer(m, to))
            return &l->edges[i];
    return NULL;
}

static void assert_edge(struct qc_model *m, const char *from, const char *to,
                        bool relu, uint32_t max_bits)
{
    const struct qc_edge *e = edge(m, from, to);

    if (!e)
        fail_msg("no edge from '%s' to '%s'", from, to);
    assert_int_equal(e->relu, relu);
    assert_int_equal(e->has_max, max_bits != 0);
    assert_int_equal(e->max_bits, max_bits);
}

static void edges_pass_what_keeps_the_scale(void **state)
{
    struct qc_model *m = small("edges.onnx");

    (void)state;
    assert_edge(m, "relu", "relu_to", true, 0);
    assert_false(layer(m, "relu")->output_escapes);
    assert_edge(m, "relu_to", "clip_old_to", true, 0x40c00000);
    assert_edge(m, "clip_old_to", "clip_twice_to", true, 0x40a00000);
    assert_edge(m, "clip_twice_to", "clip_max_only_to", false, 0x40c00000);
    assert_edge(m, "clip_computed", "pad_to", false, 0);
    assert_edge(m, "fork", "left", true, 0);
    assert_edge(m, "fork", "right", false, 0);
    assert_edge(m, "join", "n22", false, 0); /* the pool is a layer itself */
    assert_edge(m, "n22", "pool_to", false, 0);
}

static void a_limit_is_a_constant_of_any_form(void **state)
{
    static const char *const known[] = {"first", "f64",  "f16",  "i32",
                                        "int",   "ints", "float"};
    static const char *const unknown[] = {"infinite", "negative", "two",
                                          "floats", "bool"};
    struct qc_model *m = small("constants.onnx");
    size_t i;

    (void)state;
    for (i = 0; i + 1 < sizeof(known) / sizeof(known[0]); i++)
        assert_edge(m, known[i], known[i + 1], true, 0x40c00000);
    assert_edge(m, "float", "lowest", false, 0x40c00000);
    assert_edge(m, "lowest", "infinite", true, 0);
    for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_true(layer(m, unknown[i])->output_escapes);
        assert_int_equal(layer(m, unknown[i])->edge_count, 0);
    }
}

static void an_axis_is_a_constant_of_any_form(void **state)
{
    struct qc_model *m = small("constants.onnx");

    (void)state;
    assert_refused(m, "axis0", "its input has no batch axis");
    assert_refused(m, "axis2", NULL);
}

static void what_changes_the_scale_ends_an_edge(void **state)
{
    static const char *const names[] = {
        "clip_max_only_to", "clip_below", "pad_to", "pad_one", "left", "right",
        "pool_to"};
    struct qc_model *m = small("edges.onnx");
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(layer(m, names[i])->output_escapes);
        assert_int_equal(layer(m, names[i])->edge_count, 0);
    }
}

static void names_follow_the_rules_in_order(void **state)
{
    struct qc_model *m = small("names.onnx");
    const struct qc_layer *first = &m->layers[0];

    (void)state;
    assert_text(m->layers[0].name, "layer1.0.conv1");
    assert_int_equal(first->alias_count, 2);
    assert_text(m->layers[1].name, "layer1.1.conv1");
    assert_text(m->layers[2].name, "plain");
    assert_text(m->layers[3].name, "a/b/Conv");
    assert_ptr_equal(layer(m, "a.b"), &m->layers[3]);
    assert_text(m->layers[4].name, "o5");
    assert_text(m->layers[5].name, "prefix");
    assert_ptr_equal(layer(m, "o6"), &m->layers[5]);
}

static void an_alias_of_two_layers_is_refused(void **state)
{
    struct qc_model *m = small("names.onnx");

    (void)state;
    /* Two nodes of one name go by their outputs. */
    assert_text(m->layers[6].name, "o7");
    assert_text(m->layers[7].name, "o8");
    assert_null(qc_find_layer(m, QC_STR("twin")));
    assert_non_null(qc_map_get(&m->ambiguous, QC_STR("twin")));
    /* A node's name wins over a path. */
    assert_ptr_equal(layer(m, "plain"), &m->layers[2]);
    assert_text(m->layers[8].name, "/plain/Conv");
    /* Two layers below one path go by their nodes. */
    assert_text(m->layers[9].name, "/pair/Conv");
    assert_text(m->layers[10].name, "/pair/Conv_1");
    assert_non_null(qc_map_get(&m->ambiguous, QC_STR("pair")));
}

static void a_path_means_the_node_that_can_be_quantized(void **state)
{
    struct qc_model *m = small("names.onnx");

    (void)state;
    assert_int_equal(layer(m, "pool")->op, QRT_OP_AVGPOOL);
    /* Others can be named too, to be told that they cannot be quantized. */
    assert_int_equal(layer(m, "block.relu")->op, -1);
    assert_text(layer(m, "block.bn")->type, "BatchNormalization");
}

static void order_of_nodes_does_not_matter(void **state)
{
    (void)state;
    assert_non_null(small("unsorted.onnx"));
    assert_int_equal(qc_error_count(&run), 0);
}

static void a_model_without_layers_is_no_error(void **state)
{
    struct qc_model *m = small("empty.onnx");

    (void)state;
    assert_int_equal(m->count, 0);
    assert_int_equal(m->batch, 4);
    assert_int_equal(small("names.onnx")->batch, 0);
}

/* ---- faults ---- */

static const struct qc_diag *first_diag(void)
{
    const struct qc_file *f;

    for (f = run.files; f; f = f->next)
        if (f->diags)
            return f->diags;
    return NULL;
}

static void faults_are_reported_by_name(void **state)
{
    static const struct {
        const char *file, *key, *part;
    } want[] = {
        {"bad_duplicate.onnx",      "model.duplicate",     "'y' is made twice"        },
        {"bad_duplicate_init.onnx", "model.duplicate",     "'w' is made twice"        },
        {"bad_missing.onnx",        "model.missing",
         "'lost' (Add) reads tensor 'nowhere'"                                        },
        {"bad_self.onnx",           "model.cycle",         "'self' (Relu)"            },
        {"bad_cycle.onnx",          "model.cycle",         "the graph has a cycle"    },
        {"bad_groups.onnx",         "model.tensor",        "2 groups"                 },
        {"bad_groups_0.onnx",       "model.tensor",        "0 groups"                 },
        {"bad_name.onnx",           "model.name",          "NUL"                      },
        {"bad_empty_weights.onnx",  "model.tensor",        "no elements"              },
        {"bad_data_short.onnx",     "model.tensor",        "8 bytes of data"          },
        {"bad_data_none.onnx",      "model.tensor",        "0 elements of data"       },
        {"bad_list_short.onnx",     "model.tensor",        "2 elements of data"       },
        {"bad_dims.onnx",           "model.tensor",        "impossible shape"         },
        {"bad_dims_large.onnx",     "model.tensor",        "impossible shape"         },
        {"bad_rank.onnx",           "model.tensor",        "9 dimensions"             },
        {"bad_bias.onnx",           "model.tensor",        "3 elements for 2 channels"},
        {"bad_no_graph.onnx",       "wire.foreign",        "it has no graph"          },
        {"external_missing.onnx",   "model.external-data", "'no such file'"           },
        {"external_short.onnx",     "model.external-data", "has only 20"              },
        {"external_outside.onnx",   "model.external-data",
         "in the folder of the model"                                                 },
        {"external_absolute.onnx",  "model.external-data",
         "in the folder of the model"                                                 },
        {"external_offset.onnx",    "model.external-data", "in decimal"               },
        {"external_length.onnx",    "model.tensor",        "12 bytes of data"         },
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct qc_diag *d;

        end_run(NULL);
        fresh_run(NULL);
        assert_null(read_small(want[i].file));
        d = first_diag();
        assert_non_null(d);
        assert_string_equal(qc_key_name(d->key), want[i].key);
        if (!strstr(d->text, want[i].part))
            fail_msg("%s: '%s' instead of '%s'", want[i].file, d->text,
                     want[i].part);
    }
}

static void every_fault_of_a_graph_is_reported(void **state)
{
    (void)state;
    assert_null(read_small("bad_missing.onnx"));
    assert_int_equal(qc_error_count(&run), 2);
}

/* A file of our own below /tmp. */
static const char *scratch_file(void)
{
    static char path[64];
    int fd;

    strcpy(path, "/tmp/quantc_model_XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

/* Every prefix of a model is an error or a smaller model, never a crash; so is
 * the model with any byte changed. */
static void damaged_models_do_no_harm(void **state)
{
    static const char *const files[] = {"edges.onnx", "refused.onnx",
                                        "branches.onnx", "names.onnx"};
    const char *path = scratch_file();
    size_t i, k, step;

    (void)state;
    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct qc_model *m = small(files[i]);
        size_t size = m->file->size;
        char *copy = malloc(size);

        memcpy(copy, m->file->text, size);
        step = size / 150 + 1;
        for (k = 0; k < 2 * size; k += step) {
            FILE *f = fopen(path, "wb");

            if (k >= size)
                copy[k - size] ^= (char)(1 << k % 8);
            fwrite(copy, 1, k < size ? k : size, f);
            fclose(f);
            end_run(NULL);
            fresh_run(NULL);
            if (!qc_read_onnx(&run, path))
                assert_true(qc_error_count(&run) > 0 || run.io_failed);
        }
        free(copy);
    }
    remove(path);
}

/* Ten thousand layers in a chain, which a quadratic search would notice. */
static void large_models_take_linear_time(void **state)
{
    const char *path = scratch_file();
    FILE *f = fopen(path, "wb");
    char node[128], all[160];
    size_t i, len, total = 0, count = 10000;
    struct qc_model *m;
    int pass;

    (void)state;
    assert_non_null(f);
    for (pass = 0; pass < 2; pass++) {
        if (pass) {
            /* graph: field 7, length as a five-byte varint */
            fputc(0x3a, f);
            for (i = 0; i < 5; i++)
                fputc((int)(total >> 7 * i & 127) | (i < 4 ? 128 : 0), f);
        }
        for (i = 0; i < count; i++) {
            len = (size_t)sprintf(node,
                                  "\x0a\x09t%08zu\x12\x09t%08zu\x1a\x09n%08zu"
                                  "\x22\x06MatMul",
                                  i, i + 1, i);
            len = (size_t)sprintf(all, "\x0a%c%s", (int)len, node);
            total += pass ? 0 : len;
            if (pass)
                fwrite(all, 1, len, f);
        }
        if (!pass)
            total += (size_t)sprintf(node, "\x5a\x0b\x0a\x09t%08d", 0);
        else
            fputs("\x5a\x0b\x0a\x09t00000000", f);
    }
    fclose(f);
    m = qc_read_onnx(&run, path);
    remove(path);
    assert_non_null(m);
    assert_int_equal(m->count, count);
    assert_text(m->layers[count - 1].name, "n00009999");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_run, end_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(real_models_equal_their_layer_lists),
        TEST(weights_are_found_behind_constant_identity_transpose),
        TEST(copies_by_identity_do_not_share_weights),
        TEST(layers_that_share_weights_are_both_left_out),
        TEST(every_form_of_data_gives_the_same_bytes),
        TEST(tensor_data_are_slices_of_the_file),
        TEST(external_data_are_slices_of_their_file),
        TEST(what_cannot_be_quantized_says_why),
        TEST(a_dialect_leaves_out_what_it_does_not_have),
        TEST(branches_and_loops_are_walked),
        TEST(bias_add_belongs_to_the_layer),
        TEST(batch_norm_must_be_the_only_consumer),
        TEST(producer_is_what_makes_the_input),
        TEST(edges_pass_what_keeps_the_scale),
        TEST(a_limit_is_a_constant_of_any_form),
        TEST(an_axis_is_a_constant_of_any_form),
        TEST(what_changes_the_scale_ends_an_edge),
        TEST(names_follow_the_rules_in_order),
        TEST(an_alias_of_two_layers_is_refused),
        TEST(a_path_means_the_node_that_can_be_quantized),
        TEST(order_of_nodes_does_not_matter),
        TEST(a_model_without_layers_is_no_error),
        TEST(faults_are_reported_by_name),
        TEST(every_fault_of_a_graph_is_reported),
        TEST(damaged_models_do_no_harm),
        TEST(large_models_take_linear_time),
    };

    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
