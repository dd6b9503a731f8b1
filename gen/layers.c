/* model.layers and layers.json to layers. layers_json.c turns the JSON form
 * into the same struct Layer that the text form is bound to; here a struct
 * Layer becomes a struct qc_layer. */
#include "layers.h"

#include <string.h>

struct reader {
    struct qc *qc;
    struct qc_model *m;
    const struct qc_file *file;
    struct qc_map ranks;
};

/* User text in the quotes of its file. */
static const char *quoted(const struct reader *r, struct qc_str s)
{
    const char *q = r->file->json ? "\"" : "'";

    return qc_format(r->qc, "%s%s%s", q, qc_shown(r->qc, s), q).ptr;
}

static void refuse(struct qc_layer *l, const char *why)
{
    if (!l->why_not)
        l->why_not = why;
}

static bool usable(const struct qc_value *v)
{
    return v->set && !v->poisoned;
}

static struct qc_str text_or(const struct qc_value *v, const char *otherwise)
{
    return usable(v) ? v->text : qc_str(otherwise);
}

static bool bool_or(const struct qc_value *v, bool otherwise)
{
    return usable(v) ? v->as.b : otherwise;
}

/* An integer of a layer, checked against the range in proto/layers.proto. */
static int64_t int_or(struct reader *r, const char *field,
                      const struct qc_value *v, int64_t otherwise)
{
    const struct qc_field *f = qc_find_field(&qc_Layer, qc_str(field));

    if (!usable(v))
        return otherwise;
    if (!qc_in_range(f->range, (double)v->as.i)) {
        qc_report(r->qc, QC_LAYERS_VALUE, v->loc, "%s must be %s",
                  quoted(r, qc_str(field)), qc_range_words(r->qc, f->range));
        return otherwise;
    }
    return v->as.i;
}

/* ---- type and shape ---- */

static bool is_deconv(int op)
{
    return op == QRT_OP_DECONV1D || op == QRT_OP_DECONV2D;
}

static bool is_conv(int op)
{
    return op >= 0 && op <= QRT_OP_DECONV2D;
}

static bool is_recurrent(int op)
{
    return op == QRT_OP_LSTM || op == QRT_OP_GRU;
}

static void read_shape(struct reader *r, struct qc_layer *l,
                       const struct Layer *from)
{
    const struct qc_values *shape = &from->weight_shape;
    size_t i;

    if (shape->count > QC_MAX_RANK) {
        qc_report(r->qc, QC_LAYERS_VALUE, shape->at[QC_MAX_RANK].loc,
                  "weights have at most %d dimensions", QC_MAX_RANK);
        return;
    }
    for (i = 0; i < shape->count; i++)
        l->shape[i] = int_or(r, "weight_shape", &shape->at[i], 0);
    l->rank = (unsigned)shape->count;
}

/* Conv stands for one, two and three axes: the weights tell. Without weights
 * two axes are meant. */
static int choose_op(unsigned types, unsigned rank)
{
    int axes = rank ? (int)rank - 2 : 2, op, first = -1;

    for (op = 0; op < QRT_OP_KINDS; op++) {
        if (!(types >> op & 1u))
            continue;
        if (!qc_ops[op].axes || qc_ops[op].axes == axes)
            return op;
        if (first < 0)
            first = op;
    }
    /* One type only: it is meant, whatever its weights look like. */
    return types && (types & (types - 1)) == 0 ? first : -1;
}

/* Dimensions that the weights of a type must have; 0: any. */
static unsigned wanted_rank(int op)
{
    return is_conv(op)           ? (unsigned)qc_ops[op].axes + 2
           : op == QRT_OP_LINEAR ? 2
                                 : 0;
}

static bool rank_fits(struct reader *r, struct qc_layer *l,
                      const struct Layer *from)
{
    unsigned want = wanted_rank(l->op);

    if (!l->rank || !want || l->rank == want)
        return l->rank != 0;
    if (l->op == QRT_OP_LINEAR) {
        refuse(l, "its weights do not have two dimensions");
        return false;
    }
    qc_report(r->qc, QC_LAYERS_VALUE, from->weight_shape.at[0].loc,
              "the weights of a %s have %u dimensions, not %u",
              qc_shown(r->qc, l->type), want, l->rank);
    return false;
}

/* MatMul and Gemm store (in, out); the types of frameworks (out, in). */
static bool stored_out_in(const struct qc_layer *l)
{
    return !qc_equalz(l->type, "Gemm") && !qc_equalz(l->type, "MatMul") &&
           !qc_equalz(l->type, "BatchMatMul") &&
           !qc_equalz(l->type, "BatchMatMulV2");
}

static int64_t times(int64_t channels, int64_t groups)
{
    return channels <= INT32_MAX && groups <= INT32_MAX ? channels * groups : 0;
}

static void conv_channels(struct reader *r, struct qc_layer *l,
                          const struct Layer *from)
{
    if (l->shape[0] % l->group) {
        qc_report(r->qc, QC_LAYERS_VALUE, from->group.loc,
                  "%lld channels cannot be split into %lld groups",
                  (long long)l->shape[0], (long long)l->group);
        l->group = 1;
    }
    l->out_channels = l->shape[0];
    l->in_channels = times(l->shape[1], l->group);
    if (is_deconv(l->op)) {
        l->out_channels = l->in_channels;
        l->in_channels = l->shape[0];
    }
}

static void read_channels(struct reader *r, struct qc_layer *l,
                          const struct Layer *from)
{
    if (l->op == QRT_OP_LINEAR)
        l->trans_b = bool_or(&from->trans_b, stored_out_in(l));
    l->weight_transposed = bool_or(&from->weight_transposed, false);
    if (!rank_fits(r, l, from))
        return;
    if (is_conv(l->op)) {
        conv_channels(r, l, from);
    } else if (l->op == QRT_OP_LINEAR) {
        l->out_channels = l->shape[l->trans_b ? 0 : 1];
        l->in_channels = l->shape[l->trans_b ? 1 : 0];
    } else if (is_recurrent(l->op) && l->rank >= 2) {
        l->out_channels = l->shape[l->rank - 2];
        l->in_channels = l->shape[l->rank - 1];
    }
}

/* ---- config.md E.2 ---- */

static void check_layer(struct reader *r, struct qc_layer *l,
                        const struct Layer *from)
{
    int64_t rank = int_or(r, "input_rank", &from->input_rank, 0);

    if (usable(&from->not_quantizable))
        refuse(l, qc_cstr(r->qc, from->not_quantizable.text));
    if (!l->zero_padding && is_conv(l->op))
        refuse(l, "its padding_mode is not zeros");
    if (l->op == QRT_OP_CONV3D && l->dilation[0] > 1)
        refuse(l, "its first dilation is not 1");
    if (is_conv(l->op) && rank && rank <= qc_ops[l->op].axes + 1)
        refuse(l, "its input has no batch axis");
    if (int_or(r, "calls", &from->calls, 1) > 1)
        refuse(l, "it runs more than once");
    if (l->op != QRT_OP_AVGPOOL && l->rank && !l->out_channels)
        refuse(l, "its weights have no elements");
}

/* ---- the graph's facts ---- */

static void read_activation(struct qc_layer *l, const struct qc_value *v)
{
    if (!usable(v) || v->text.len == 0)
        return;
    l->act_type = v->text;
    l->act = qc_equalz(v->text, "Relu") || qc_equalz(v->text, "ReLU") ||
                     qc_equalz(v->text, "nn.ReLU")
                 ? QC_ACT_RELU
             : qc_equalz(v->text, "Clip") || qc_equalz(v->text, "ReLU6") ||
                     qc_equalz(v->text, "nn.ReLU6")
                 ? QC_ACT_CLIP
                 : QC_ACT_OTHER;
}

static void read_graph_facts(struct reader *r, struct qc_layer *l,
                             const struct Layer *from)
{
    if (usable(&from->batch_norm)) {
        struct qc_bn *bn = qc_alloc(r->qc, sizeof(*bn));

        bn->node_name = from->batch_norm.text;
        l->bn = bn;
    }
    read_activation(l, &from->activation);
    l->producer = text_or(&from->producer, "");
    l->producer_is_relu = qc_equalz(l->producer, "Relu") ||
                          qc_equalz(l->producer, "ReLU") ||
                          qc_equalz(l->producer, "nn.ReLU");
    l->data_input = text_or(&from->data_input, "");
    l->output_escapes = bool_or(&from->output_escapes, false);
    if (from->producer.set || from->next.count)
        r->m->graph_known = true;
}

/* ---- layers ---- */

/* One number stands for all axes. */
static void read_dilation(struct reader *r, struct qc_layer *l,
                          const struct Layer *from)
{
    const struct qc_values *v = &from->dilation;
    size_t i, axes = (size_t)qc_ops[l->op].axes;

    for (i = 0; i < axes && v->count; i++)
        if (i < v->count)
            l->dilation[i] = int_or(r, "dilation", &v->at[i], 1);
        else if (v->count == 1)
            l->dilation[i] = l->dilation[0];
}

static void read_layer(struct reader *r, struct qc_layer *l,
                       const struct Layer *from)
{
    l->name = text_or(&from->name, "");
    l->type = text_or(&from->type, "");
    l->loc = from->name.set ? from->name.loc : from->node->loc;
    l->node_name = text_or(&from->node_name, "");
    if (l->node_name.len == 0)
        l->node_name = l->name;
    l->group = int_or(r, "group", &from->group, 1);
    l->zero_padding = qc_equalz(text_or(&from->padding_mode, "zeros"), "zeros");
    read_shape(r, l, from);
    l->op = choose_op(qc_types_of_word(l->type, QC_UNION), l->rank);
    read_graph_facts(r, l, from);
    if (l->op < 0)
        return;
    read_dilation(r, l, from);
    read_channels(r, l, from);
    l->bias_known = true;
    l->has_bias = l->op != QRT_OP_AVGPOOL && bool_or(&from->bias, true);
    l->bias_is_add = l->has_bias && bool_or(&from->bias_is_add, false);
    check_layer(r, l, from);
}

static void refuse_shared(struct reader *r, const struct ModelLayers *from)
{
    size_t i;

    for (i = 0; i < from->layer.count; i++) {
        const struct qc_value *v = &from->layer.at[i].shares_weight_with;
        struct qc_layer *other;

        if (!usable(v))
            continue;
        refuse(&r->m->layers[i], "another layer uses its weights");
        other = qc_find_layer(r->m, v->text);
        if (other)
            refuse(other, "another layer uses its weights");
        else
            qc_report(r->qc, QC_LAYERS_UNKNOWN, v->loc, "no layer is called %s",
                      quoted(r, v->text));
    }
}

/* ---- names ---- */

static void add_aliases(struct reader *r, struct qc_layer *l,
                        const struct Layer *from)
{
    size_t i;

    l->aliases = qc_alloc(r->qc, (from->alias.count + 2) * sizeof(*l->aliases));
    l->aliases[l->alias_count++] = l->name;
    if (!qc_equal(l->node_name, l->name))
        l->aliases[l->alias_count++] = l->node_name;
    for (i = 0; i < from->alias.count; i++) {
        struct qc_str alias = from->alias.at[i].text;

        if (!qc_equal(alias, l->name) && !qc_equal(alias, l->node_name))
            l->aliases[l->alias_count++] = alias;
    }
}

/* A layer's name, then node names, then the others. */
static void enter_names(struct reader *r, const struct ModelLayers *from)
{
    size_t i, k;

    for (i = 0; i < r->m->count; i++) {
        struct qc_layer *l = &r->m->layers[i];
        struct qc_layer *first = qc_find_layer(r->m, l->name);
        struct qc_diag *d;

        add_aliases(r, l, &from->layer.at[i]);
        if (memchr(l->name.ptr, '\0', l->name.len))
            qc_report(r->qc, QC_LAYERS_VALUE, l->loc,
                      "a layer name must not contain NUL");
        if (!first) {
            qc_enter_alias(r->qc, r->m, &r->ranks, l, l->name, 1);
            continue;
        }
        d = qc_report(r->qc, QC_LAYERS_DUPLICATE, l->loc,
                      "two layers are called %s", quoted(r, l->name));
        qc_note(r->qc, d, first->loc, "the first is here");
    }
    for (i = 0; i < r->m->count; i++)
        qc_enter_alias(r->qc, r->m, &r->ranks, &r->m->layers[i],
                       r->m->layers[i].node_name, 2);
    for (i = 0; i < r->m->count; i++)
        for (k = 1; k < r->m->layers[i].alias_count; k++)
            qc_enter_alias(r->qc, r->m, &r->ranks, &r->m->layers[i],
                           r->m->layers[i].aliases[k], 3);
}

/* ---- edges ---- */

static void read_edges(struct reader *r, struct qc_layer *l,
                       const struct Layer *from)
{
    struct qc_edge *edges;
    size_t i;

    if (!from->next.count)
        return;
    edges = qc_alloc(r->qc, from->next.count * sizeof(*edges));
    l->edges = edges;
    for (i = 0; i < from->next.count; i++) {
        const struct NextLayer *n = &from->next.at[i];
        struct qc_layer *to =
            usable(&n->layer) ? qc_find_layer(r->m, n->layer.text) : NULL;
        float max = (float)n->max.as.f;

        if (!to) {
            if (usable(&n->layer))
                qc_report(r->qc, QC_LAYERS_UNKNOWN, n->layer.loc,
                          "no layer is called %s", quoted(r, n->layer.text));
            continue;
        }
        edges[l->edge_count].layer = (size_t)(to - r->m->layers);
        edges[l->edge_count].relu = bool_or(&n->relu, false);
        edges[l->edge_count].has_max = usable(&n->max);
        if (usable(&n->max))
            memcpy(&edges[l->edge_count].max_bits, &max, sizeof(max));
        l->edge_count++;
    }
}

/* ---- files ---- */

struct qc_model *qc_model_of_layers(struct qc *qc, const struct qc_doc *doc,
                                    int dialect)
{
    const struct ModelLayers *from =
        doc->file->json ? qc_bind_layers_json(qc, doc->file, doc->root)
                        : doc->bound;
    struct reader r = {0};
    size_t i;

    if (!from || doc->file->errors)
        return NULL;
    r.qc = qc;
    r.file = doc->file;
    r.m = qc_alloc(qc, sizeof(*r.m));
    r.m->file = doc->file;
    r.m->source = doc->file->json ? QC_MODEL_LAYERS_JSON : QC_MODEL_LAYERS;
    r.m->count = from->layer.count;
    r.m->layers = qc_alloc(qc, r.m->count * sizeof(*r.m->layers));
    for (i = 0; i < r.m->count; i++)
        read_layer(&r, &r.m->layers[i], &from->layer.at[i]);
    enter_names(&r, from);
    refuse_shared(&r, from);
    for (i = 0; i < r.m->count; i++) {
        struct qc_layer *l = &r.m->layers[i];

        read_edges(&r, l, &from->layer.at[i]);
        l->quantizable = l->op >= 0 && !l->why_not;
    }
    qc_limit_to_dialect(qc, r.m, dialect);
    return doc->file->errors ? NULL : r.m;
}

struct qc_model *qc_read_layers(struct qc *qc, const char *path, int dialect)
{
    struct qc_doc *doc = qc_read(qc, path, QC_KIND_LAYERS, dialect, false);

    return doc ? qc_model_of_layers(qc, doc, dialect) : NULL;
}
