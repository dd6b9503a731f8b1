/* What stands around a layer of an ONNX graph: producer, bias Add,
 * BatchNormalization, activation, and the next layers. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#define POSITIVE_ZERO 0x00000000u
#define NEGATIVE_ZERO 0x80000000u
#define INFINITY_BITS 0x7f800000u

/* The one node that uses v, or null. */
static struct onnx_node *only_user(const struct onnx_value *v, size_t *slot)
{
    if (!v || v->use_count != 1 || v->is_output)
        return NULL;
    *slot = v->uses->slot;
    return v->uses->node;
}

static struct onnx_value *output(const struct onnx_node *n)
{
    return n->out_count ? n->out[0] : NULL;
}

/* ---- what follows and belongs to the layer ---- */

/* Is t one number per output channel, or one for all, laid out so that an Add
 * spreads it over the layer's output? */
static bool is_channel_vector(const struct qc_tensor *t,
                              const struct qc_layer *l)
{
    unsigned axis, i;

    if (!t || l->out_channels < 1)
        return false;
    if (t->count == 1 && t->rank <= l->rank)
        return true;
    if (t->count != (uint64_t)l->out_channels)
        return false;
    if (l->op == QRT_OP_LINEAR) /* the last axis; leading ones are 1 */
        return t->rank >= 1 && t->dims[t->rank - 1] == l->out_channels;
    /* [C, 1 ...] or [1, C, 1 ...] */
    if (t->rank + 1 < l->rank || t->rank > l->rank)
        return false;
    axis = t->rank == l->rank ? 1 : 0;
    for (i = 0; i < t->rank; i++)
        if (t->dims[i] != (i == axis ? l->out_channels : 1))
            return false;
    return true;
}

/* Moves *v behind an Add that is the layer's bias. */
static void take_bias_add(struct onnx *o, struct qc_layer *l,
                          struct onnx_value **v)
{
    size_t slot;
    const struct onnx_node *n = only_user(*v, &slot);
    const struct qc_tensor *t;

    if (!n || !onnx_is(n, "Add") || n->in_count != 2 || l->has_bias ||
        l->op == QRT_OP_AVGPOOL)
        return;
    t = n->in[1 - slot] ? onnx_constant(o, n->in[1 - slot]) : NULL;
    if (!is_channel_vector(t, l))
        return;
    l->has_bias = l->bias_is_add = true;
    l->bias = t;
    *v = output(n);
}

/* In training mode it has more outputs or says so. */
static bool is_inference_bn(const struct onnx_node *n)
{
    size_t i;

    for (i = 1; i < n->out_count; i++)
        if (n->out[i])
            return false;
    return onnx_is(n, "BatchNormalization") && n->in_count == 5 &&
           onnx_attr_int(n, "training_mode", 0) == 0;
}

static void take_bn(struct onnx *o, struct qc_layer *l, struct onnx_value **v)
{
    size_t slot, i;
    const struct onnx_node *n = only_user(*v, &slot);
    const struct qc_tensor *t[5];
    struct qc_bn *bn;

    if (!n || slot != 0 || !is_inference_bn(n))
        return;
    for (i = 1; i < 5; i++) {
        t[i] = n->in[i] ? onnx_constant(o, n->in[i]) : NULL;
        if (!t[i])
            return;
    }
    bn = qc_alloc(o->qc, sizeof(*bn));
    bn->node_name = n->name;
    bn->scale = t[1];
    bn->bias = t[2];
    bn->mean = t[3];
    bn->var = t[4];
    bn->epsilon_bits = onnx_attr_float(n, "epsilon", 0x3727c5acu); /* 1e-5 */
    l->bn = bn;
    *v = output(n);
}

static void find_activation(struct qc_layer *l, const struct onnx_value *v)
{
    static const char *const types[] = {
        "Relu",
        "Clip",
        "LeakyRelu",
        "PRelu",
        "Sigmoid",
        "Tanh",
        "Elu",
        "Selu",
        "Celu",
        "HardSigmoid",
        "HardSwish",
        "Softplus",
        "ThresholdedRelu",
        "Gelu",
        "Mish",
        "Softsign",
    };
    size_t slot, i;
    const struct onnx_node *n = only_user(v, &slot);

    for (i = 0; n && slot == 0 && i < sizeof(types) / sizeof(types[0]); i++)
        if (onnx_is(n, types[i])) {
            l->act = i == 0 ? QC_ACT_RELU : i == 1 ? QC_ACT_CLIP : QC_ACT_OTHER;
            l->act_type = n->op_type;
        }
}

/* Behind the layer's own Add and BatchNormalization; set by neighbours. */
static struct onnx_value *own_output(struct onnx *o, struct qc_layer *l,
                                     const struct onnx_node *n)
{
    struct onnx_value *v = output(n);

    take_bias_add(o, l, &v);
    take_bn(o, l, &v);
    return v;
}

void qc_find_neighbours(struct onnx *o, struct qc_layer *l, struct onnx_node *n)
{
    const struct onnx_value *in = onnx_in(n, 0);

    if (in) {
        l->data_input = in->name;
        l->producer = in->producer ? in->producer->op_type : QC_STR("");
        l->producer_is_relu = onnx_made_by(in, "Relu") != NULL;
    }
    if (l->op < 0)
        return;
    n->result = own_output(o, l, n);
    find_activation(l, n->result);
}

/* ---- edges ---- */

/* A tensor on the way from a layer to the next ones, and what has been done to
 * it. */
struct walk {
    const struct onnx_value *v;
    bool relu, has_max;
    uint32_t max_bits;
};

struct walker {
    struct onnx *o;
    const struct qc_model *m;
    struct walk *todo;
    size_t count, room;
    struct qc_edge *edges;
    size_t edge_count, edge_room;
    bool escapes;
};

static bool is_zero(uint32_t bits)
{
    return bits == POSITIVE_ZERO || bits == NEGATIVE_ZERO;
}

/* A limit of a Clip: attribute in old models, input in new ones. False when it
 * is computed. *given false: no limit. */
static bool clip_limit(struct onnx *o, const struct onnx_node *n,
                       const char *name, size_t slot, bool *given,
                       uint32_t *bits)
{
    *given = true;
    if (onnx_attr(n, name)) {
        *bits = onnx_attr_float(n, name, 0);
        return true;
    }
    if (onnx_in(n, slot))
        return onnx_scalar(o, n->in[slot], bits);
    *given = false;
    return true;
}

/* Only a Clip from 0 or from nothing, to a positive number or infinity, is a
 * limit of codes. */
static bool pass_clip(struct onnx *o, const struct onnx_node *n, struct walk *w)
{
    bool has_min, has_max;
    uint32_t min, max;

    if (!clip_limit(o, n, "min", 1, &has_min, &min) ||
        !clip_limit(o, n, "max", 2, &has_max, &max))
        return false;
    if (has_min && !is_zero(min)) {
        /* -inf and the lowest binary32, which exporters write for it. */
        if (min != (INFINITY_BITS | NEGATIVE_ZERO) && min != 0xff7fffffu)
            return false;
        has_min = false;
    }
    w->relu = w->relu || has_min;
    if (!has_max || max == INFINITY_BITS || max == 0x7f7fffffu)
        return true;
    if (max == 0 || max > INFINITY_BITS) /* 0, negative or NaN */
        return false;
    if (!w->has_max || max < w->max_bits) /* positive: bits order values */
        w->max_bits = max;
    w->has_max = true;
    return true;
}

/* Padding with zero only. */
static bool pass_pad(struct onnx *o, const struct onnx_node *n)
{
    struct qc_str mode = onnx_attr_text(n, "mode");
    uint32_t value = onnx_attr_float(n, "value", 0);

    if (mode.len && !qc_equalz(mode, "constant"))
        return false;
    if (onnx_in(n, 2) && !onnx_scalar(o, n->in[2], &value))
        return false;
    return is_zero(value);
}

/* Does the operation keep the scale? Notes in *w what it does. */
static bool passes(struct onnx *o, const struct onnx_node *n, struct walk *w)
{
    static const char *const types[] = {"MaxPool",   "Flatten", "Reshape",
                                        "Transpose", "Squeeze", "Unsqueeze",
                                        "Identity",  "Dropout"};
    size_t i;

    if (onnx_is(n, "Relu")) {
        w->relu = true;
        return true;
    }
    if (onnx_is(n, "Clip"))
        return pass_clip(o, n, w);
    if (onnx_is(n, "Pad"))
        return pass_pad(o, n);
    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (onnx_is(n, types[i]))
            return true;
    return false;
}

static void push(struct walker *k, const struct walk *w)
{
    if (k->count == k->room)
        k->todo =
            qc_grow(k->o->qc, k->todo, k->count, &k->room, sizeof(*k->todo));
    k->todo[k->count++] = *w;
}

static void add_edge(struct walker *k, const struct walk *w,
                     const struct qc_layer *to)
{
    struct qc_edge *e;

    if (k->edge_count == k->edge_room)
        k->edges = qc_grow(k->o->qc, k->edges, k->edge_count, &k->edge_room,
                           sizeof(*k->edges));
    e = &k->edges[k->edge_count++];
    e->layer = (size_t)(to - k->m->layers);
    e->relu = w->relu;
    e->has_max = w->has_max;
    e->max_bits = w->has_max ? w->max_bits : 0;
}

/* Side outputs, such as the mask of Dropout, that somebody uses. */
static bool has_side_output(const struct onnx_node *n)
{
    size_t i;

    for (i = 1; i < n->out_count; i++)
        if (n->out[i] && (n->out[i]->use_count || n->out[i]->is_output))
            return true;
    return false;
}

bool onnx_keeps_scale(struct onnx *o, const struct onnx_node *n,
                      struct qc_limits *limits)
{
    struct walk w = {NULL, limits->relu, limits->has_max, limits->max_bits};

    if (!passes(o, n, &w) || has_side_output(n))
        return false;
    *limits = (struct qc_limits){w.relu, w.has_max, w.max_bits};
    return true;
}

static void visit(struct walker *k, const struct walk *w)
{
    const struct onnx_use *u;

    if (w->v->is_output)
        k->escapes = true;
    for (u = w->v->uses; u; u = u->next) {
        const struct qc_layer *l = u->node->layer;
        struct walk next = *w;

        if (u->slot == 0 && l && l->quantizable) {
            add_edge(k, w, l);
        } else if (u->slot == 0 && passes(k->o, u->node, &next) &&
                   !has_side_output(u->node) && output(u->node)) {
            next.v = output(u->node);
            push(k, &next);
        } else {
            k->escapes = true;
        }
    }
}

static int by_layer(const void *a, const void *b)
{
    const struct qc_edge *x = a, *y = b;

    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

/* Operations that keep the scale have one data input, so a tensor lies behind
 * one layer only and all walks together are linear. */
static void find_edges(struct onnx *o, struct qc_model *m, struct qc_layer *l,
                       const struct onnx_node *n)
{
    struct walker k = {0};
    struct walk w = {0};

    k.o = o;
    k.m = m;
    k.escapes = has_side_output(n) || !n->result;
    w.v = n->result;
    if (w.v)
        push(&k, &w);
    while (k.count) {
        w = k.todo[--k.count];
        visit(&k, &w);
    }
    if (k.edge_count)
        qsort(k.edges, k.edge_count, sizeof(*k.edges), by_layer);
    l->edges = k.edges;
    l->edge_count = k.edge_count;
    l->output_escapes = k.escapes;
}

void qc_find_edges(struct onnx *o, struct qc_model *m,
                   struct onnx_node *const *nodes)
{
    size_t i;

    for (i = 0; i < m->count; i++)
        if (m->layers[i].op >= 0)
            find_edges(o, m, &m->layers[i], nodes[i]);
}
