/* Index of an ONNX model: scopes, producers, users; reports what makes a graph
 * meaningless. Linear in the size of the model. */
#include "onnx.h"

#include "schema_tables.h"

#include <string.h>

/* ---- fields and attributes ---- */

const struct qc_node *onnx_field(const struct qc_node *n, const char *name)
{
    const struct qc_node *c, *found = NULL;

    for (c = n ? n->first : NULL; c; c = c->next)
        if (qc_equalz(c->name, name))
            found = c;
    return found;
}

struct qc_str onnx_text(const struct qc_node *n, const char *name)
{
    const struct qc_node *c = onnx_field(n, name);

    return c ? c->text : QC_STR("");
}

const struct qc_node *onnx_attr(const struct onnx_node *n, const char *name)
{
    const struct qc_node *c;

    for (c = n->tree->first; c; c = c->next)
        if (qc_equalz(c->name, "attribute") &&
            qc_equalz(onnx_text(c, "name"), name))
            return c;
    return NULL;
}

int64_t onnx_attr_int(const struct onnx_node *n, const char *name,
                      int64_t otherwise)
{
    const struct qc_node *i = onnx_field(onnx_attr(n, name), "i");

    return i ? (int64_t)i->bits : otherwise;
}

uint32_t onnx_attr_float(const struct onnx_node *n, const char *name,
                         uint32_t otherwise)
{
    const struct qc_node *f = onnx_field(onnx_attr(n, name), "f");

    return f ? (uint32_t)f->bits : otherwise;
}

struct qc_str onnx_attr_text(const struct onnx_node *n, const char *name)
{
    return onnx_text(onnx_attr(n, name), "s");
}

static size_t packed_ints(struct qc_str s, int64_t *v, size_t max, size_t count)
{
    size_t at = 0;
    uint64_t u;

    while (at < s.len && qc_varint(s, &at, &u)) {
        if (count < max)
            v[count] = (int64_t)u;
        count++;
    }
    return count;
}

size_t onnx_ints(const struct qc_node *n, const char *name, int64_t *v,
                 size_t max)
{
    const struct qc_node *c;
    size_t count = 0;

    for (c = n ? n->first : NULL; c; c = c->next) {
        if (!qc_equalz(c->name, name))
            continue;
        if (c->kind == QC_TEXT) {
            count = packed_ints(c->text, v, max, count);
            continue;
        }
        if (count < max)
            v[count] = (int64_t)c->bits;
        count++;
    }
    return count;
}

size_t onnx_attr_ints(const struct onnx_node *n, const char *name, int64_t *v,
                      size_t max)
{
    return onnx_ints(onnx_attr(n, name), "ints", v, max);
}

struct onnx_value *onnx_in(const struct onnx_node *n, size_t slot)
{
    return slot < n->in_count ? n->in[slot] : NULL;
}

bool onnx_is(const struct onnx_node *n, const char *op_type)
{
    return n->standard && qc_equalz(n->op_type, op_type);
}

const struct onnx_node *onnx_made_by(const struct onnx_value *v,
                                     const char *op_type)
{
    return v && v->producer && v->slot == 0 && onnx_is(v->producer, op_type)
               ? v->producer
               : NULL;
}

/* ---- values ---- */

static struct onnx_value *find_value(const struct onnx_graph *g,
                                     struct qc_str name)
{
    for (; g; g = g->outer) {
        struct onnx_value *v = qc_map_get(&g->values, name);

        if (v)
            return v;
    }
    return NULL;
}

/* A new value; null when the graph has one of that name. */
static struct onnx_value *add_value(struct onnx *o, struct onnx_graph *g,
                                    struct qc_str name, struct qc_loc loc)
{
    void **at = qc_map_at(o->qc, &g->values, name);
    struct onnx_value *v;

    if (*at)
        return NULL;
    v = qc_alloc(o->qc, sizeof(*v));
    v->name = name;
    v->loc = loc;
    v->uses_end = &v->uses;
    *at = v;
    return v;
}

static void duplicate(struct onnx *o, struct onnx_graph *g, struct qc_str name,
                      struct qc_loc loc)
{
    struct onnx_value *first = qc_map_get(&g->values, name);
    struct qc_diag *d =
        qc_report(o->qc, QC_MODEL_DUPLICATE, loc, "tensor '%s' is made twice",
                  qc_shown(o->qc, name));

    qc_note(o->qc, d, first->loc, "first made here");
}

static void add_initializer(struct onnx *o, struct onnx_graph *g,
                            const struct qc_node *tensor, bool sparse)
{
    struct qc_str name =
        onnx_text(sparse ? onnx_field(tensor, "values") : tensor, "name");
    struct onnx_value *v = add_value(o, g, name, tensor->loc);

    if (!v)
        duplicate(o, g, name, tensor->loc);
    else
        v->initializer = tensor;
}

/* Inputs after initializers: an input of an initializer's name only says that
 * the caller may replace it. */
static void add_names(struct onnx *o, struct onnx_graph *g,
                      const struct qc_node *tree)
{
    const struct qc_node *c;

    for (c = tree->first; c; c = c->next)
        if (qc_equalz(c->name, "initializer"))
            add_initializer(o, g, c, false);
        else if (qc_equalz(c->name, "sparse_initializer"))
            add_initializer(o, g, c, true);
    for (c = tree->first; c; c = c->next)
        if (qc_equalz(c->name, "input"))
            add_value(o, g, onnx_text(c, "name"), c->loc);
}

/* ---- nodes ---- */

static size_t count_named(const struct qc_node *tree, const char *name)
{
    const struct qc_node *c;
    size_t n = 0;

    for (c = tree->first; c; c = c->next)
        n += qc_equalz(c->name, name);
    return n;
}

static void add_outputs(struct onnx *o, struct onnx_graph *g,
                        struct onnx_node *n)
{
    const struct qc_node *c;
    size_t slot = 0;

    n->out_count = count_named(n->tree, "output");
    n->out = qc_alloc(o->qc, n->out_count * sizeof(*n->out));
    for (c = n->tree->first; c; c = c->next) {
        struct onnx_value *v;

        if (!qc_equalz(c->name, "output"))
            continue;
        v = c->text.len ? add_value(o, g, c->text, c->loc) : NULL;
        if (v) {
            v->producer = n;
            v->slot = slot;
        } else if (c->text.len) {
            duplicate(o, g, c->text, c->loc);
        }
        n->out[slot++] = v;
    }
}

static void add_nodes(struct onnx *o, struct onnx_graph *g,
                      const struct qc_node *tree, bool in_loop)
{
    const struct qc_node *c;

    g->count = count_named(tree, "node");
    g->nodes = qc_alloc(o->qc, g->count * sizeof(*g->nodes));
    g->count = 0;
    for (c = tree->first; c; c = c->next) {
        struct onnx_node *n = &g->nodes[g->count];
        struct qc_str domain;

        if (!qc_equalz(c->name, "node"))
            continue;
        domain = onnx_text(c, "domain");
        n->tree = c;
        n->name = onnx_text(c, "name");
        n->op_type = onnx_text(c, "op_type");
        n->standard = domain.len == 0 || qc_equalz(domain, "ai.onnx");
        n->in_loop = in_loop;
        n->graph = g;
        n->number = g->count++;
        add_outputs(o, g, n);
    }
}

static void add_use(struct onnx *o, struct onnx_value *v, struct onnx_node *n,
                    size_t slot)
{
    struct onnx_use *u = qc_alloc(o->qc, sizeof(*u));

    u->node = n;
    u->slot = slot;
    *v->uses_end = u;
    v->uses_end = &u->next;
    v->use_count++;
}

static void link_inputs(struct onnx *o, struct onnx_node *n)
{
    const struct qc_node *c;
    size_t slot = 0;

    n->in_count = count_named(n->tree, "input");
    n->in = qc_alloc(o->qc, n->in_count * sizeof(*n->in));
    for (c = n->tree->first; c; c = c->next) {
        struct onnx_value *v;

        if (!qc_equalz(c->name, "input"))
            continue;
        v = c->text.len ? find_value(n->graph, c->text) : NULL;
        if (v)
            add_use(o, v, n, slot);
        else if (c->text.len)
            qc_report(o->qc, QC_MODEL_MISSING, c->loc,
                      "node '%s' (%s) reads tensor '%s', which nothing makes",
                      qc_shown(o->qc, n->name), qc_shown(o->qc, n->op_type),
                      qc_shown(o->qc, c->text));
        n->in[slot++] = v;
    }
}

static void link_outputs(struct onnx *o, const struct onnx_graph *g,
                         const struct qc_node *tree)
{
    const struct qc_node *c;

    for (c = tree->first; c; c = c->next) {
        struct qc_str name;
        struct onnx_value *v;

        if (!qc_equalz(c->name, "output"))
            continue;
        name = onnx_text(c, "name");
        v = find_value(g, name);
        if (v)
            v->is_output = true;
        else
            qc_report(o->qc, QC_MODEL_MISSING, c->loc,
                      "nothing makes the graph's output '%s'",
                      qc_shown(o->qc, name));
    }
}

/* ---- cycles ---- */

static bool in_graph(const struct onnx_value *v, const struct onnx_graph *g)
{
    return v && v->producer && v->producer->graph == g;
}

static bool is_sorted(const struct onnx_graph *g)
{
    size_t i, j;

    for (i = 0; i < g->count; i++)
        for (j = 0; j < g->nodes[i].in_count; j++)
            if (in_graph(g->nodes[i].in[j], g) &&
                g->nodes[i].in[j]->producer->number >= i)
                return false;
    return true;
}

/* Takes out nodes whose inputs are all there until none is left to take; the
 * number of inputs that stay missing is left in `missing`. */
static size_t take_ready(const struct onnx_graph *g, size_t *missing,
                         const struct onnx_node **ready)
{
    size_t taken = 0, count = 0, i, j;
    const struct onnx_use *u;

    for (i = 0; i < g->count; i++) {
        for (j = 0; j < g->nodes[i].in_count; j++)
            missing[i] += in_graph(g->nodes[i].in[j], g);
        if (!missing[i])
            ready[count++] = &g->nodes[i];
    }
    while (taken < count) {
        const struct onnx_node *n = ready[taken++];

        for (j = 0; j < n->out_count; j++)
            for (u = n->out[j] ? n->out[j]->uses : NULL; u; u = u->next)
                if (u->node->graph == g && --missing[u->node->number] == 0)
                    ready[count++] = u->node;
    }
    return taken;
}

/* Any input that waits; following it count times ends inside a cycle. */
static const struct onnx_node *waits_for(const struct onnx_node *n,
                                         const size_t *missing)
{
    size_t i;

    for (i = 0; i < n->in_count; i++)
        if (in_graph(n->in[i], n->graph) && missing[n->in[i]->producer->number])
            return n->in[i]->producer;
    return n;
}

static void check_cycles(struct onnx *o, const struct onnx_graph *g)
{
    const struct onnx_node *n;
    size_t *missing, i;

    if (is_sorted(g))
        return;
    missing = qc_alloc(o->qc, g->count * sizeof(*missing));
    if (take_ready(g, missing, qc_alloc(o->qc, g->count * sizeof(n))) ==
        g->count)
        return;
    for (i = 0; !missing[i];)
        i++;
    n = &g->nodes[i];
    for (i = 0; i < g->count; i++)
        n = waits_for(n, missing);
    qc_report(o->qc, QC_MODEL_CYCLE, n->tree->loc,
              "node '%s' (%s) needs its own output: the graph has a cycle",
              qc_shown(o->qc, n->name), qc_shown(o->qc, n->op_type));
}

/* ---- graphs ---- */

static void add_graph(struct onnx *o, const struct qc_node *tree,
                      const struct onnx_graph *outer, bool in_loop);

/* Depth is limited by wire.c: a graph in an attribute of a node is three
 * messages deeper than its outer graph. */
static void add_branches(struct onnx *o, const struct onnx_node *n)
{
    bool loop = n->in_loop || onnx_is(n, "Loop") || onnx_is(n, "Scan");
    const struct qc_node *a, *c;

    for (a = n->tree->first; a; a = a->next) {
        if (!qc_equalz(a->name, "attribute"))
            continue;
        for (c = a->first; c; c = c->next)
            if (qc_equalz(c->name, "g") || qc_equalz(c->name, "graphs"))
                add_graph(o, c, n->graph, loop);
    }
}

static void add_graph(struct onnx *o, const struct qc_node *tree,
                      const struct onnx_graph *outer, bool in_loop)
{
    struct onnx_graph *g = qc_alloc(o->qc, sizeof(*g));
    size_t i;

    g->outer = outer;
    if (!outer)
        o->root = g;
    add_names(o, g, tree);
    add_nodes(o, g, tree, in_loop);
    for (i = 0; i < g->count; i++)
        link_inputs(o, &g->nodes[i]);
    link_outputs(o, g, tree);
    check_cycles(o, g);
    for (i = 0; i < g->count; i++) {
        if (o->count == o->room)
            o->nodes = qc_grow(o->qc, o->nodes, o->count, &o->room,
                               sizeof(struct onnx_node *));
        o->nodes[o->count++] = &g->nodes[i];
        add_branches(o, &g->nodes[i]);
    }
}

struct onnx *qc_index_onnx(struct qc *qc, struct qc_file *file,
                           const struct qc_node *model)
{
    const struct qc_node *graph = onnx_field(model, "graph");
    struct onnx *o = qc_alloc(qc, sizeof(*o));

    o->qc = qc;
    o->file = file;
    if (!graph) {
        qc_report(qc, QC_WIRE_FOREIGN, (struct qc_loc){file, 0, 0},
                  "this is not an ONNX model: it has no graph");
        return NULL;
    }
    add_graph(o, graph, NULL, false);
    return file->errors ? NULL : o;
}
