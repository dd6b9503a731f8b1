/* ONNX graph to layers: types, weights, shapes, and which layers can be
 * quantized (config.md E.2). model_names.c and model_flow.c do the rest. */
#include "onnx.h"

#include "schema_tables.h"

#include <string.h>

/* ---- type ---- */

static int op_with_axes(unsigned types, int axes)
{
    int op;

    for (op = 0; op < QRT_OP_KINDS; op++)
        if (types >> op & 1u && (!qc_ops[op].axes || qc_ops[op].axes == axes))
            return op;
    return -1;
}

/* Spatial axes: from the weights, else from the kernel. */
static int axes_of(const struct onnx_node *n, const struct qc_tensor *weight)
{
    size_t kernel = onnx_attr_ints(n, "kernel_shape", NULL, 0);

    if (weight && weight->rank >= 2)
        return (int)weight->rank - 2;
    return kernel <= QC_MAX_RANK ? (int)kernel : -1;
}

static bool is_recurrent(const struct qc_layer *l)
{
    return l->op == QRT_OP_LSTM || l->op == QRT_OP_GRU;
}

static bool is_deconv(const struct qc_layer *l)
{
    return l->op == QRT_OP_DECONV1D || l->op == QRT_OP_DECONV2D;
}

static bool is_conv(const struct qc_layer *l)
{
    return l->op >= 0 && l->op <= QRT_OP_DECONV2D;
}

/* ---- weights ---- */

static void refuse(struct qc_layer *l, const char *why)
{
    if (!l->why_not)
        l->why_not = why;
}

/* Where the weights are stored: behind the Transpose nodes. */
static struct onnx_value *stored_weights(struct qc_layer *l,
                                         const struct onnx_node *n)
{
    struct onnx_value *v = onnx_in(n, 1);
    const struct onnx_node *t;
    int64_t perm[2];
    int hops = 0;

    if (l->op != QRT_OP_LINEAR)
        return v;
    while ((t = onnx_made_by(v, "Transpose")) && onnx_in(t, 0)) {
        size_t rank = onnx_attr_ints(t, "perm", perm, 2);

        if (++hops > ONNX_MAX_HOPS || (rank && rank != 2))
            return v;
        if (!rank || perm[0] == 1)
            l->weight_transposed = !l->weight_transposed;
        v = t->in[0];
    }
    return v;
}

static void wrong_weights(struct onnx *o, const struct qc_layer *l,
                          const char *text)
{
    qc_report(o->qc, QC_MODEL_TENSOR, l->weight->loc,
              "the weights '%s' of node '%s' (%s) have %s",
              qc_shown(o->qc, l->weight->name), qc_shown(o->qc, l->node_name),
              qc_shown(o->qc, l->type), text);
}

/* A channel count times groups; 0 when that is too large. */
static int64_t times(int64_t channels, int64_t groups)
{
    return channels <= INT32_MAX && groups <= INT32_MAX ? channels * groups : 0;
}

static void conv_channels(struct onnx *o, struct qc_layer *l)
{
    if (l->group < 1 || l->shape[0] % l->group) {
        qc_report(o->qc, QC_MODEL_TENSOR, l->loc,
                  "node '%s' (%s) has %lld groups, which its weights do not "
                  "allow",
                  qc_shown(o->qc, l->node_name), qc_shown(o->qc, l->type),
                  (long long)l->group);
        l->group = 1;
    }
    if (is_deconv(l)) {
        l->in_channels = l->shape[0];
        l->out_channels = times(l->shape[1], l->group);
    } else {
        l->out_channels = l->shape[0];
        l->in_channels = times(l->shape[1], l->group);
    }
}

static void linear_channels(struct qc_layer *l, const struct onnx_node *n)
{
    l->trans_b = (onnx_attr_int(n, "transB", 0) != 0 && onnx_is(n, "Gemm")) !=
                 l->weight_transposed;
    l->out_channels = l->shape[l->trans_b ? 0 : 1];
    l->in_channels = l->shape[l->trans_b ? 1 : 0];
}

static void read_shape(struct onnx *o, struct qc_layer *l,
                       const struct onnx_node *n)
{
    const struct qc_tensor *w = l->weight;

    l->rank = w->rank;
    memcpy(l->shape, w->dims, sizeof(l->shape));
    if (w->count == 0) {
        wrong_weights(o, l, "no elements");
    } else if (is_conv(l)) {
        conv_channels(o, l);
    } else if (l->op == QRT_OP_LINEAR) {
        if (w->rank == 2)
            linear_channels(l, n);
    } else if (w->rank == 3) { /* [directions, gates * hidden, in] */
        l->out_channels = w->dims[1];
        l->in_channels = w->dims[2];
    } else {
        wrong_weights(o, l, "not three dimensions");
    }
}

/* ---- bias ---- */

static void read_bias(struct onnx *o, struct qc_layer *l,
                      const struct onnx_node *n)
{
    struct onnx_value *v = onnx_in(n, is_recurrent(l) ? 3 : 2);

    l->bias_known = true;
    if (!v || l->op == QRT_OP_AVGPOOL || onnx_is(n, "MatMul"))
        return;
    l->has_bias = true;
    if (is_recurrent(l)) /* two biases for each gate: no vector of channels */
        return;
    l->bias = onnx_constant(o, v);
    if (l->bias && l->out_channels &&
        l->bias->count != (uint64_t)l->out_channels)
        qc_report(o->qc, QC_MODEL_TENSOR, l->bias->loc,
                  "the bias '%s' of node '%s' (%s) has %llu elements for %lld "
                  "channels",
                  qc_shown(o->qc, l->bias->name), qc_shown(o->qc, l->node_name),
                  qc_shown(o->qc, l->type), (unsigned long long)l->bias->count,
                  (long long)l->out_channels);
}

/* ---- what cannot be quantized ---- */

/* The part of a node name that nodes of one module share. */
static struct qc_str module_of(struct qc_str name)
{
    while (name.len && name.ptr[name.len - 1] != '/')
        name.len--;
    return name;
}

/* padding_mode reflect and the like: the exporter writes a Pad of the same
 * module before the convolution. */
static bool is_padded_otherwise(const struct onnx_node *n)
{
    const struct onnx_node *pad = onnx_made_by(onnx_in(n, 0), "Pad");
    struct qc_str mode;

    if (!pad || module_of(n->name).len == 0 ||
        !qc_equal(module_of(n->name), module_of(pad->name)))
        return false;
    mode = onnx_attr_text(pad, "mode");
    return mode.len && !qc_equalz(mode, "constant");
}

/* A batch axis is added before the layer and nowhere else. */
static bool is_unsqueezed(struct onnx *o, const struct onnx_node *n)
{
    const struct onnx_node *u = onnx_made_by(onnx_in(n, 0), "Unsqueeze");
    int64_t axis = -1;
    size_t count;

    if (!u)
        return false;
    count = onnx_attr_ints(u, "axes", &axis, 1);
    if (!count)
        count = onnx_constant_ints(o, onnx_in(u, 1), &axis, 1);
    return count == 1 && axis == 0;
}

static void check_conv(struct onnx *o, struct qc_layer *l,
                       const struct onnx_node *n)
{
    if (is_padded_otherwise(n)) {
        l->zero_padding = false;
        refuse(l, "its padding_mode is not zeros");
    }
    onnx_attr_ints(n, "dilations", l->dilation, 3);
    if (l->op == QRT_OP_CONV3D && l->dilation[0] > 1)
        refuse(l, "its first dilation is not 1");
    if (is_unsqueezed(o, n))
        refuse(l, "its input has no batch axis");
}

#define ONE_BITS 0x3f800000u

static void check_gemm(struct qc_layer *l, const struct onnx_node *n)
{
    if (onnx_attr_int(n, "transA", 0) != 0)
        refuse(l, "transA is 1");
    if (onnx_attr_float(n, "alpha", ONE_BITS) != ONE_BITS ||
        (l->has_bias && onnx_attr_float(n, "beta", ONE_BITS) != ONE_BITS))
        refuse(l, "alpha or beta is not 1");
}

static void check_recurrent(struct qc_layer *l, const struct onnx_node *n)
{
    struct qc_str direction = onnx_attr_text(n, "direction");

    if (direction.len && !qc_equalz(direction, "forward"))
        refuse(l, "it does not run forward only");
}

static void check_layer(struct onnx *o, struct qc_layer *l,
                        const struct onnx_node *n)
{
    if (n->in_loop)
        refuse(l, "it runs inside a loop");
    if (l->op != QRT_OP_AVGPOOL && !l->weight)
        refuse(l, "its weights are not constant");
    if (l->op == QRT_OP_LINEAR && l->weight && l->weight->rank != 2)
        refuse(l, "its weights do not have two dimensions");
    if (is_conv(l))
        check_conv(o, l, n);
    if (onnx_is(n, "Gemm"))
        check_gemm(l, n);
    if (is_recurrent(l))
        check_recurrent(l, n);
}

/* ---- layers ---- */

static void read_layer(struct onnx *o, struct qc_layer *l, struct onnx_node *n)
{
    unsigned types = n->standard ? qc_types_of_word(n->op_type, QC_ONNX) : 0;
    struct onnx_value *v = NULL;

    n->layer = l;
    l->loc = n->tree->loc;
    l->node_name = n->name;
    l->type = n->op_type;
    l->zero_padding = true;
    l->group = 1;
    l->op = types ? op_with_axes(types, 0) : -1;
    if (types) {
        if (!onnx_is(n, "AveragePool")) {
            v = stored_weights(l, n);
            l->weight = v ? onnx_constant(o, v) : NULL;
        }
        l->op = op_with_axes(types, axes_of(n, l->weight));
    }
    if (l->op < 0) {
        l->weight = NULL;
        return;
    }
    if (is_conv(l))
        l->group = onnx_attr_int(n, "group", 1);
    if (l->weight)
        read_shape(o, l, n);
    read_bias(o, l, n);
    check_layer(o, l, n);
    if (l->weight && v->weight_of) {
        refuse(v->weight_of, "another layer uses its weights");
        refuse(l, "another layer uses its weights");
    } else if (l->weight) {
        v->weight_of = l;
    }
}

/* An LSTM of several layers is exported as several nodes of one module. */
static void refuse_stacks(struct onnx *o, struct qc_model *m)
{
    struct qc_map modules = {0};
    size_t i;

    for (i = 0; i < m->count; i++) {
        struct qc_layer *l = &m->layers[i];
        struct qc_str module = module_of(l->node_name);
        void **first;

        if (!is_recurrent(l) || module.len == 0)
            continue;
        first = qc_map_at(o->qc, &modules, module);
        if (*first) {
            refuse(*first, "it is one of several layers of its module");
            refuse(l, "it is one of several layers of its module");
        } else {
            *first = l;
        }
    }
}

/* Every node but constants: what a configuration can name, even if only to be
 * told that it cannot be quantized. */
static struct onnx_node **select_nodes(struct onnx *o, size_t *count)
{
    struct onnx_node **nodes = qc_alloc(o->qc, o->count * sizeof(*nodes));
    size_t i;

    *count = 0;
    for (i = 0; i < o->count; i++)
        if (!onnx_is(o->nodes[i], "Constant"))
            nodes[(*count)++] = o->nodes[i];
    return nodes;
}

/* First dimension of the first input that is no constant. */
static int64_t batch_of(const struct onnx *o, const struct qc_node *tree)
{
    const struct qc_node *graph = onnx_field(tree, "graph"), *c, *dim;
    const struct onnx_value *v;

    for (c = graph->first; c; c = c->next) {
        if (!qc_equalz(c->name, "input"))
            continue;
        v = qc_map_get(&o->root->values, onnx_text(c, "name"));
        if (v && v->initializer)
            continue;
        dim = onnx_field(onnx_field(c, "type"), "tensor_type");
        dim = onnx_field(dim, "shape");
        while (dim && dim->kind == QC_GROUP && !qc_equalz(dim->name, "dim"))
            dim = dim->first;
        dim = onnx_field(dim, "dim_value");
        return dim && (int64_t)dim->bits > 0 ? (int64_t)dim->bits : 0;
    }
    return 0;
}

static struct qc_model *build(struct onnx *o, const struct qc_node *tree)
{
    struct qc_model *m = qc_alloc(o->qc, sizeof(*m));
    struct onnx_node **nodes = select_nodes(o, &m->count);
    size_t i;

    m->file = o->file;
    m->graph_known = true;
    m->source = QC_MODEL_ONNX;
    m->batch = batch_of(o, tree);
    m->layers = qc_alloc(o->qc, m->count * sizeof(*m->layers));
    for (i = 0; i < m->count; i++)
        read_layer(o, &m->layers[i], nodes[i]);
    refuse_stacks(o, m);
    for (i = 0; i < m->count; i++) {
        m->layers[i].quantizable =
            m->layers[i].op >= 0 && !m->layers[i].why_not;
        qc_find_neighbours(o, &m->layers[i], nodes[i]);
    }
    qc_name_layers(o, m, nodes);
    qc_find_edges(o, m, nodes);
    qc_find_joins(o, m, nodes);
    return o->file->errors ? NULL : m;
}

struct qc_model *qc_read_onnx(struct qc *qc, const char *path)
{
    struct qc_file *f = qc_load(qc, path, QC_MAX_MODEL);
    const struct qc_node *tree;
    const char *foreign;
    struct onnx *o;

    if (!f)
        return NULL;
    f->binary = true;
    foreign = qc_foreign(f);
    if (foreign) {
        qc_report(qc, QC_WIRE_FOREIGN, (struct qc_loc){f, 0, 0},
                  "this is not an ONNX model: the file is %s", foreign);
        return NULL;
    }
    tree = qc_parse_wire(qc, f, &qc_ModelProto);
    o = tree ? qc_index_onnx(qc, f, tree) : NULL;
    return o ? build(o, tree) : NULL;
}
