/* Where a layer's input comes from: back from the layer through operations
 * that keep the scale, one function, one mean, and an Add or Concat, to
 * tensors that are at hand as codes or accumulators. */
#include "onnx.h"

#include <string.h>

/* Bounds of time and memory: networks stay far below. */
#define MAX_OPERANDS 250  /* a table counts them in 8 bits                   */
#define MAX_HOPS     2000 /* operations looked at for one layer              */
#define MAX_READERS  16   /* layers that read one tensor: any of them will do */

/* The operands of a join while it is built. */
struct joiner {
    struct onnx *o;
    struct qc_model *m;
    const struct qc_layer *to;
    struct qc_join *j;
    struct qc_operand *operands;
    size_t room;
    unsigned hops; /* of all walks together: bounds the time */
};

static bool refuse(struct joiner *k, const char *why, struct qc_str what)
{
    k->j->why_not = why;
    k->j->what = what;
    return false;
}

/* ---- operands ---- */

/* Sources of one operand. */
struct sources {
    struct qc_at_hand *at;
    size_t count, room;
};

static void add_source(struct joiner *k, struct sources *s,
                       const struct qc_layer *l, bool is_input,
                       const struct qc_limits *limits)
{
    if (s->count == s->room)
        s->at = qc_grow(k->o->qc, s->at, s->count, &s->room, sizeof(*s->at));
    s->at[s->count++] =
        (struct qc_at_hand){(size_t)(l - k->m->layers), is_input, *limits};
}

/* Layers before the one in question that read v; uses are in graph order. */
static void add_readers(struct joiner *k, struct sources *s,
                        const struct onnx_value *v,
                        const struct qc_limits *limits)
{
    const struct onnx_use *u;

    for (u = v->uses; u; u = u->next) {
        const struct qc_layer *l = u->node->layer;

        if ((l && l >= k->to) || s->count >= MAX_READERS)
            break;
        if (u->slot == 0 && l && l->quantizable)
            add_source(k, s, l, true, limits);
    }
}

static void add_operand(struct joiner *k, const struct sources *s)
{
    if (k->j->count == k->room)
        k->operands = qc_grow(k->o->qc, k->operands, k->j->count, &k->room,
                              sizeof(*k->operands));
    k->operands[k->j->count++] = (struct qc_operand){s->at, s->count};
    k->j->operands = k->operands;
}

static bool has_limits(const struct qc_limits *l)
{
    return l->relu || l->has_max;
}

static bool add_tensor(struct joiner *k, struct onnx_value *v);

/* Both sides of an Add of two computed tensors. */
static bool add_both(struct joiner *k, const struct onnx_node *n)
{
    size_t i;

    if (n->in_count != 2 || !n->in[0] || !n->in[1])
        return refuse(k, "an operand is missing of", n->name);
    for (i = 0; i < 2; i++)
        if (onnx_constant(k->o, n->in[i]))
            return refuse(k, "a constant is added by", n->name);
    return add_tensor(k, n->in[0]) && add_tensor(k, n->in[1]);
}

/* The tensor v as one operand; an Add whose sum is used as it is becomes
 * several. */
static bool add_tensor(struct joiner *k, struct onnx_value *v)
{
    struct sources s = {NULL, 0, 0};
    struct qc_limits limits = {false, false, 0};

    for (;;) {
        const struct onnx_node *n;

        if (++k->hops > MAX_HOPS || k->j->count > MAX_OPERANDS)
            return refuse(k, "too many operations stand before", k->to->name);
        add_readers(k, &s, v, &limits);
        if (v->result_of && v->result_of->quantizable) {
            add_source(k, &s, v->result_of, false, &limits);
            break;
        }
        n = v->producer;
        if (n && v->slot == 0 && onnx_in(n, 0) &&
            onnx_keeps_scale(k->o, n, &limits)) {
            v = n->in[0];
            continue;
        }
        if (s.count)
            break;
        if (n && onnx_is(n, "Add") && !k->j->concat && !has_limits(&limits))
            return add_both(k, n);
        if (!n)
            return refuse(k, "it comes from the tensor", v->name);
        return refuse(k, "it comes through the operation", n->op_type);
    }
    add_operand(k, &s);
    return true;
}

/* ---- what stands behind the operands ---- */

static bool is_mean(const struct onnx_node *n)
{
    return onnx_is(n, "ReduceMean") || onnx_is(n, "GlobalAveragePool");
}

static bool is_function(const struct onnx_node *n)
{
    return onnx_is(n, "Tanh") || onnx_is(n, "Sigmoid");
}

/* Is the result of another layer, or an input that an earlier one reads,
 * reached? */
static bool is_at_hand(const struct joiner *k, const struct onnx_value *v)
{
    const struct onnx_use *u;

    if (v->result_of && v->result_of->quantizable)
        return true;
    for (u = v->uses; u; u = u->next) {
        const struct qc_layer *l = u->node->layer;

        if (l && l >= k->to)
            break;
        if (u->slot == 0 && l && l->quantizable)
            return true;
    }
    return false;
}

/* Takes the operations off v, from the layer on, up to the operands. */
static bool take_steps(struct joiner *k, struct onnx_value **at)
{
    struct qc_join *j = k->j;
    struct onnx_value *v = *at;
    struct qc_limits *limits = &j->outer;

    for (; !is_at_hand(k, v); v = v->producer->in[0]) {
        const struct onnx_node *n = v->producer;

        if (++k->hops > MAX_HOPS)
            return refuse(k, "too many operations stand before", k->to->name);
        if (!n || v->slot != 0 || !onnx_in(n, 0))
            break;
        if (is_function(n) && !j->function.len && !j->mean) {
            j->function = n->op_type;
            limits = &j->middle;
        } else if (is_mean(n) && !j->mean) {
            j->mean = true;
            limits = &j->inner;
        } else if (!onnx_keeps_scale(k->o, n, limits)) {
            break;
        }
    }
    /* Without a function all limits before it are those of the codes. */
    if (!j->function.len)
        j->middle = j->outer;
    *at = v;
    return true;
}

static bool take_operands(struct joiner *k, struct onnx_value *v)
{
    const struct onnx_node *n = v->producer;
    size_t i;

    if (!n || !onnx_is(n, "Concat") || is_at_hand(k, v))
        return n && onnx_is(n, "Add") && !is_at_hand(k, v) ? add_both(k, n)
                                                           : add_tensor(k, v);
    k->j->concat = true;
    for (i = 0; i < n->in_count; i++)
        if (!n->in[i] || !add_tensor(k, n->in[i]))
            return k->j->why_not != NULL
                       ? false
                       : refuse(k, "an operand is missing of", n->name);
    return true;
}

static const struct qc_join *find_join(struct onnx *o, struct qc_model *m,
                                       const struct qc_layer *l,
                                       struct onnx_value *v)
{
    struct qc_join *j = qc_alloc(o->qc, sizeof(*j));
    struct joiner k = {0};

    k.o = o;
    k.m = m;
    k.to = l;
    k.j = j;
    if (take_steps(&k, &v))
        take_operands(&k, v);
    return j;
}

/* Numbers in each mean of an average pooling; 0 when they differ. */
static int64_t window_of(const struct onnx_node *n)
{
    int64_t kernel[3], pads[6] = {0}, window = 1;
    size_t axes = onnx_attr_ints(n, "kernel_shape", kernel, 3), i;

    onnx_attr_ints(n, "pads", pads, 6);
    for (i = 0; i < axes * 2 && i < 6; i++)
        if (pads[i] && !onnx_attr_int(n, "count_include_pad", 0))
            return 0;
    if (axes > 3 || onnx_attr_int(n, "ceil_mode", 0) ||
        onnx_attr_text(n, "auto_pad").len)
        return 0;
    for (i = 0; i < axes; i++) {
        if (kernel[i] < 1 || kernel[i] > INT32_MAX / window)
            return 0;
        window *= kernel[i];
    }
    return window;
}

void qc_find_joins(struct onnx *o, struct qc_model *m,
                   struct onnx_node *const *nodes)
{
    size_t i;

    for (i = 0; i < m->count; i++)
        if (m->layers[i].op >= 0 && nodes[i]->result)
            nodes[i]->result->result_of = &m->layers[i];
    for (i = 0; i < m->count; i++) {
        struct qc_layer *l = &m->layers[i];
        struct onnx_value *in = onnx_in(nodes[i], 0);

        if (!l->quantizable || !in)
            continue;
        l->input_tensor = in;
        l->join = find_join(o, m, l, in);
        if (l->op == QRT_OP_AVGPOOL)
            l->window = window_of(nodes[i]);
    }
}
