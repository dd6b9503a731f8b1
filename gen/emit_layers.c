/* The layers of a model as model.layers (proto/layers.proto): what quantc sees,
 * for people to look at and to keep instead of the model. */
#include "emit.h"
#include "origin.h"

#include <string.h>

static void put_text(struct qc_out *o, const char *field, struct qc_str s)
{
    qc_printf(o, "  %s: ", field);
    qc_put_string(o, s);
    qc_puts(o, "\n");
}

static void put_flag(struct qc_out *o, const char *field, bool b)
{
    qc_printf(o, "  %s: %s\n", field, b ? "true" : "false");
}

static void put_ints(struct qc_out *o, const char *field, const int64_t *v,
                     unsigned count)
{
    unsigned i;

    qc_printf(o, "  %s: [", field);
    for (i = 0; i < count; i++)
        qc_printf(o, "%s%lld", i ? ", " : "", (long long)v[i]);
    qc_puts(o, "]\n");
}

static void put_names(struct qc_out *o, const struct qc_layer *l)
{
    size_t i;

    put_text(o, "name", l->name);
    put_text(o, "type", l->type);
    if (!qc_equal(l->node_name, l->name))
        put_text(o, "node_name", l->node_name);
    for (i = 0; i < l->alias_count; i++)
        if (!qc_equal(l->aliases[i], l->name) &&
            !qc_equal(l->aliases[i], l->node_name))
            put_text(o, "alias", l->aliases[i]);
}

static unsigned dilation_count(const struct qc_layer *l)
{
    unsigned i, n = 0;

    for (i = 0; i < 3 && l->dilation[i]; i++)
        if (l->dilation[i] != 1)
            n = 3;
    return n < i ? n : i;
}

static void put_weights(struct qc_out *o, const struct qc_layer *l)
{
    if (l->rank)
        put_ints(o, "weight_shape", l->shape, l->rank);
    if (l->group != 1)
        qc_printf(o, "  group: %lld\n", (long long)l->group);
    if (dilation_count(l))
        put_ints(o, "dilation", l->dilation, dilation_count(l));
    if (!l->zero_padding)
        put_text(o, "padding_mode", QC_STR("other"));
    if (l->op == QRT_OP_LINEAR)
        put_flag(o, "trans_b", l->trans_b);
    if (l->weight_transposed)
        put_flag(o, "weight_transposed", true);
    if (l->op != QRT_OP_AVGPOOL && l->bias_known)
        put_flag(o, "bias", l->has_bias);
    if (l->bias_is_add)
        put_flag(o, "bias_is_add", true);
}

static void put_edge(struct qc_out *o, const struct qc_model *m,
                     const struct qc_edge *e)
{
    float max;

    qc_puts(o, "  next { layer: ");
    qc_put_string(o, m->layers[e->layer].name);
    if (e->relu)
        qc_puts(o, " relu: true");
    memcpy(&max, &e->max_bits, sizeof(max));
    if (e->has_max)
        qc_printf(o, " max: %.9g", (double)max);
    qc_puts(o, " }\n");
}

static void put_graph(struct qc_out *o, const struct qc_model *m,
                      const struct qc_layer *l)
{
    size_t i;

    if (l->bn)
        put_text(o, "batch_norm", l->bn->node_name);
    if (l->act_type.len)
        put_text(o, "activation", l->act_type);
    if (m->graph_known)
        put_text(o, "producer", l->producer);
    if (l->data_input.len)
        put_text(o, "data_input", l->data_input);
    for (i = 0; i < l->edge_count; i++)
        put_edge(o, m, &l->edges[i]);
    if (l->output_escapes)
        put_flag(o, "output_escapes", true);
    if (l->why_not)
        put_text(o, "not_quantizable", qc_str(l->why_not));
}

void qc_emit_layers(struct qc_out *o, const struct qc_model *m)
{
    struct qc_origin model = qc_model_origin(m);
    size_t i;

    qc_printf(o, "# Layers of %s, in the order of the graph.\n", m->file->name);
    if (model.name.len) {
        qc_puts(o, "#   ");
        qc_put_origin(o, QC_INPUT_MODEL, &model);
        qc_puts(o, "\n");
    }
    for (i = 0; i < m->count; i++) {
        if (m->layers[i].op < 0)
            continue;
        qc_puts(o, "\nlayer {\n");
        put_names(o, &m->layers[i]);
        put_weights(o, &m->layers[i]);
        put_graph(o, m, &m->layers[i]);
        qc_puts(o, "}\n");
    }
}
