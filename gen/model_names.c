/* Names of the layers of an ONNX model, config.md G.3: the node's name, the
 * prefix of its weights' name, the module path in the node's name. */
#include "onnx.h"

#include <string.h>

#define MAX_ALIASES 4 /* three rules, and the output's name */

/* Order in which names win: a node's name over names that are derived, layers
 * that can be quantized over others. */
enum rank {
    RANK_NODE = 1,
    RANK_OTHER_NODE,
    RANK_WEIGHT,
    RANK_PATH,
    RANK_OTHER_WEIGHT,
    RANK_OTHER_PATH,
    RANK_OUTPUT
};

/* ---- the rules ---- */

/* What stands before ".weight". */
static struct qc_str weight_prefix(struct qc_str name)
{
    static const char suffix[] = ".weight";
    size_t n = sizeof(suffix) - 1;

    if (name.len <= n || memcmp(name.ptr + name.len - n, suffix, n) != 0)
        return QC_STR("");
    name.len -= n;
    return name;
}

/* Rule 2. The weights may come through Transpose and Identity nodes; a name
 * nearer to the layer is more its own. */
static struct qc_str rule_weight(const struct onnx_node *n)
{
    const struct onnx_value *v = onnx_in(n, 1);
    const struct onnx_node *from;
    int hops;

    for (hops = 0; v && hops < ONNX_MAX_HOPS; hops++) {
        from = onnx_made_by(v, "Constant");
        if (v->initializer || from || onnx_made_by(v, "Identity")) {
            struct qc_str prefix = weight_prefix(v->name);

            if (prefix.len)
                return prefix;
        }
        from = onnx_made_by(v, "Identity");
        if (!from)
            from = onnx_made_by(v, "Transpose");
        v = from ? onnx_in(from, 0) : NULL;
    }
    return QC_STR("");
}

/* Does s begin with `so_far` and a dot? */
static bool repeats(struct qc_str s, struct qc_str so_far)
{
    return s.len > so_far.len && s.ptr[so_far.len] == '.' &&
           memcmp(s.ptr, so_far.ptr, so_far.len) == 0;
}

/* Rule 3: "/layer1/layer1.0/conv1/Conv" is layer1.0.conv1. A name without
 * slashes has no path. */
static struct qc_str rule_path(struct qc *qc, struct qc_str name)
{
    const char *end = qc_end(name), *s = name.ptr;
    struct qc_str path = {NULL, 0};
    char *text = qc_alloc(qc, name.len + 1);

    if (s < end && *s == '/')
        s++;
    while (s < end) {
        const char *slash = memchr(s, '/', (size_t)(end - s));
        struct qc_str segment = {s, slash ? (size_t)(slash - s) : 0};

        if (!slash)
            break;
        if (path.ptr && !repeats(segment, path))
            text[path.len++] = '.';
        else
            path.len = 0;
        memcpy(text + path.len, segment.ptr, segment.len);
        path.len += segment.len;
        path.ptr = text;
        s = slash + 1;
    }
    return path;
}

/* ---- the maps ---- */

static void add_alias(struct qc *qc, struct qc_layer *l, struct qc_str alias)
{
    size_t i;

    for (i = 0; i < l->alias_count; i++)
        if (qc_equal(l->aliases[i], alias))
            return;
    if (!l->aliases)
        l->aliases = qc_alloc(qc, MAX_ALIASES * sizeof(*l->aliases));
    l->aliases[l->alias_count++] = alias;
}

struct names {
    struct qc_str weight, path;
};

/* One rule for all layers, those of a type that can be quantized or others. */
static void enter_rank(struct qc *qc, struct qc_model *m, struct qc_map *ranks,
                       const struct names *names, enum rank rank)
{
    bool others = rank == RANK_OTHER_NODE || rank == RANK_OTHER_WEIGHT ||
                  rank == RANK_OTHER_PATH;
    size_t i;

    for (i = 0; i < m->count; i++) {
        struct qc_layer *l = &m->layers[i];
        struct qc_str alias =
            rank == RANK_NODE || rank == RANK_OTHER_NODE       ? l->node_name
            : rank == RANK_WEIGHT || rank == RANK_OTHER_WEIGHT ? names[i].weight
                                                               : names[i].path;

        if ((l->op < 0) != others || alias.len == 0)
            continue;
        add_alias(qc, l, alias);
        qc_enter_alias(qc, m, ranks, l, alias, rank);
    }
}

/* ---- the name ---- */

static bool leads_to(const struct qc_model *m, struct qc_str name,
                     const struct qc_layer *l)
{
    return name.len && qc_find_layer(m, name) == l;
}

static bool is_clean(struct qc_str name)
{
    size_t at = 0;
    uint32_t code;

    while (at < name.len) {
        unsigned n = qc_utf8(name.ptr + at, name.ptr + name.len, &code);

        if (n == 0 || code == 0)
            return false;
        at += n;
    }
    return true;
}

/* The name that quantc prints: by rule 2, by rule 3 for a node name that is a
 * path, else the node's. When that one leads to another layer, the node's, and
 * as a last resort the output's, which no other layer has. */
static void choose_name(struct onnx *o, struct qc_model *m,
                        struct qc_map *ranks, struct qc_layer *l,
                        const struct onnx_node *n, const struct names *names)
{
    bool is_path = l->node_name.len && l->node_name.ptr[0] == '/';

    l->name = names->weight.len            ? names->weight
              : is_path && names->path.len ? names->path
                                           : l->node_name;
    if (l->op < 0)
        return;
    if (!leads_to(m, l->name, l))
        l->name = l->node_name;
    if (!leads_to(m, l->name, l) && n->out_count && n->out[0]) {
        l->name = n->out[0]->name;
        add_alias(o->qc, l, l->name);
        qc_enter_alias(o->qc, m, ranks, l, l->name, RANK_OUTPUT);
    }
    if (!leads_to(m, l->name, l))
        qc_report(o->qc, QC_MODEL_NAME, l->loc,
                  "node '%s' (%s) has no name of its own",
                  qc_shown(o->qc, l->node_name), qc_shown(o->qc, l->type));
    else if (!is_clean(l->name))
        qc_report(o->qc, QC_MODEL_NAME, l->loc,
                  "the name of layer '%s' contains a NUL or is not UTF-8",
                  qc_shown(o->qc, l->name));
}

void qc_name_layers(struct onnx *o, struct qc_model *m,
                    struct onnx_node *const *nodes)
{
    struct names *names = qc_alloc(o->qc, m->count * sizeof(*names));
    struct qc_map ranks = {0};
    unsigned rank;
    size_t i;

    for (i = 0; i < m->count; i++) {
        const struct onnx_node *n = nodes[i];

        m->layers[i].node_name = n->name.len == 0 && n->out_count && n->out[0]
                                     ? n->out[0]->name
                                     : n->name;
        names[i].weight = rule_weight(n);
        names[i].path = rule_path(o->qc, n->name);
    }
    for (rank = RANK_NODE; rank < RANK_OUTPUT; rank++)
        enter_rank(o->qc, m, &ranks, names, (enum rank)rank);
    for (i = 0; i < m->count; i++)
        choose_name(o, m, &ranks, &m->layers[i], nodes[i], &names[i]);
}
