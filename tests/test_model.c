/* Reading ONNX models: gen/model.c and the files it is made of. Small models
 * of tests/models/ state one rule each; the real models of the shared folder
 * are compared fact by fact with their layers.json. */
#include "cmocka_all.h"

#include <cjson/cJSON.h>
#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(real_models_equal_their_layer_lists,
                                        fresh_run, end_run),
    };

    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
