/* layers.json: the JSON form of a layer list.
 *
 * An array of objects. Two vocabularies are read: the short one, with the words
 * of model.layers, and the long one that tools write which have looked at a
 * graph (op_type, weight {name, shape}, following_bn ...). Keys of neither are
 * skipped, since such tools note much that is not about quantization. */
#include "layers.h"

#include <string.h>

struct binder {
    struct qc *qc;
    const struct qc_node *layer; /* the object at hand */
    struct Layer *to;
};

static bool is_null(const struct qc_node *n)
{
    return n->kind == QC_WORD && qc_equalz(n->text, "null");
}

static void wrong(struct binder *b, const struct qc_node *n, const char *want)
{
    if (n->name.len)
        qc_report(b->qc, QC_LAYERS_TYPE, n->loc, "\"%s\" needs %s",
                  qc_shown(b->qc, n->name), want);
    else
        qc_report(b->qc, QC_LAYERS_TYPE, n->loc, "this element needs to be %s",
                  want);
}

static struct qc_value start(const struct qc_node *n)
{
    struct qc_value v = {0};

    v.set = true;
    v.text = n->text;
    v.loc = n->loc;
    v.name_loc = n->name_loc;
    return v;
}

/* ---- scalars ---- */

static void bind_string(struct binder *b, const struct qc_node *n,
                        struct qc_value *to)
{
    if (n->kind != QC_TEXT)
        wrong(b, n, "a string");
    else
        *to = start(n);
}

static bool to_int(struct qc_str s, int64_t *v)
{
    size_t i = s.len && s.ptr[0] == '-';
    bool minus = i;

    if (i == s.len)
        return false;
    for (*v = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || *v > INT64_MAX / 10 - 1)
            return false;
        *v = *v * 10 + (s.ptr[i] - '0');
    }
    if (minus)
        *v = -*v;
    return true;
}

static void bind_int(struct binder *b, const struct qc_node *n,
                     struct qc_value *to)
{
    struct qc_value v = start(n);

    if (n->kind != QC_NUMBER || !to_int(n->text, &v.as.i))
        wrong(b, n, "an integer");
    else
        *to = v;
}

/* true, false, 1, 0. */
static void bind_flag(struct binder *b, const struct qc_node *n,
                      struct qc_value *to)
{
    struct qc_value v = start(n);

    v.as.b = qc_equalz(n->text, "true") || qc_equalz(n->text, "1");
    if ((n->kind != QC_WORD && n->kind != QC_NUMBER) ||
        (!v.as.b && !qc_equalz(n->text, "false") && !qc_equalz(n->text, "0")))
        wrong(b, n, "true or false");
    else
        *to = v;
}

/* true, false, or the name of the tensor; null: none. */
static void bind_bias(struct binder *b, const struct qc_node *n,
                      struct qc_value *to)
{
    if (n->kind != QC_TEXT && !is_null(n)) {
        bind_flag(b, n, to);
        return;
    }
    *to = start(n);
    to->as.b = n->kind == QC_TEXT;
}

static void bind_producer(struct binder *b, const struct qc_node *n,
                          struct qc_value *to)
{
    bind_string(b, n, to);
    if (to->set && qc_equalz(to->text, "(graph input)"))
        to->text = QC_STR("");
}

/* ---- lists and objects ---- */

static void bind_list(struct binder *b, const struct qc_node *n,
                      struct qc_values *to,
                      void (*bind)(struct binder *, const struct qc_node *,
                                   struct qc_value *))
{
    const struct qc_node *c;

    if (n->kind != QC_LIST) {
        wrong(b, n, "a list");
        return;
    }
    to->count = 0; /* a key that is given twice binds twice */
    to->at = qc_alloc(b->qc, n->count * sizeof(*to->at));
    for (c = n->first; c; c = c->next)
        bind(b, c, &to->at[to->count++]);
}

static void bind_shape(struct binder *b, const struct qc_node *n)
{
    bind_list(b, n, &b->to->weight_shape, bind_int);
}

/* {"name": ..., "shape": [...]} */
static void bind_weight(struct binder *b, const struct qc_node *n)
{
    const struct qc_node *shape =
        n->kind == QC_GROUP ? qc_child(n, "shape") : NULL;

    if (n->kind != QC_GROUP)
        wrong(b, n, "an object");
    else if (shape && !is_null(shape))
        bind_shape(b, shape);
}

static void bind_dilation(struct binder *b, const struct qc_node *n)
{
    struct qc_values *to = &b->to->dilation;

    if (n->kind == QC_LIST) {
        bind_list(b, n, to, bind_int);
        return;
    }
    to->at = qc_alloc(b->qc, sizeof(*to->at));
    to->count = 1;
    bind_int(b, n, to->at);
}

static void bind_aliases(struct binder *b, const struct qc_node *n)
{
    bind_list(b, n, &b->to->alias, bind_string);
}

/* {"node_name": ...} */
static void bind_bn(struct binder *b, const struct qc_node *n)
{
    const struct qc_node *name =
        n->kind == QC_GROUP ? qc_child(n, "node_name") : NULL;

    if (name)
        bind_string(b, name, &b->to->batch_norm);
    else
        wrong(b, n, "an object with \"node_name\"");
}

/* ---- keys ---- */

/* clang-format off */
static const struct {
    const char *key;
    void (*bind)(struct binder *, const struct qc_node *, struct qc_value *);
    size_t offset; /* of a value in struct Layer */
} values[] = {
    {"name",                 bind_string,   offsetof(struct Layer, name)              },
    {"type",                 bind_string,   offsetof(struct Layer, type)              },
    {"op_type",              bind_string,   offsetof(struct Layer, type)              },
    {"node_name",            bind_string,   offsetof(struct Layer, node_name)         },
    {"group",                bind_int,      offsetof(struct Layer, group)             },
    {"bias",                 bind_bias,     offsetof(struct Layer, bias)              },
    {"bias_is_separate_add", bind_flag,     offsetof(struct Layer, bias_is_add)       },
    {"padding_mode",         bind_string,   offsetof(struct Layer, padding_mode)      },
    {"calls",                bind_int,      offsetof(struct Layer, calls)             },
    {"shares_weight_with",   bind_string,   offsetof(struct Layer, shares_weight_with)},
    {"input_rank",           bind_int,      offsetof(struct Layer, input_rank)        },
    {"transB",               bind_flag,     offsetof(struct Layer, trans_b)           },
    {"following_activation", bind_string,   offsetof(struct Layer, activation)        },
    {"producer",             bind_producer, offsetof(struct Layer, producer)          },
    {"data_input",           bind_string,   offsetof(struct Layer, data_input)        },
};
/* clang-format on */

static const struct {
    const char *key;
    void (*bind)(struct binder *, const struct qc_node *);
} parts[] = {
    {"weight_shape", bind_shape   },
    {"weight",       bind_weight  },
    {"dilation",     bind_dilation},
    {"aliases",      bind_aliases },
    {"following_bn", bind_bn      },
};

static void bind_member(struct binder *b, const struct qc_node *n)
{
    char *layer = (char *)b->to;
    size_t i;

    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (qc_equalz(n->name, values[i].key) &&
            (!is_null(n) || values[i].bind == bind_bias))
            values[i].bind(b, n, (void *)(layer + values[i].offset));
    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (qc_equalz(n->name, parts[i].key) && !is_null(n))
            parts[i].bind(b, n);
}

static void bind_layer(struct qc *qc, const struct qc_node *n, struct Layer *to)
{
    struct binder b = {qc, n, to};
    const struct qc_node *c;

    to->node = n;
    if (n->kind != QC_GROUP) {
        qc_report(qc, QC_LAYERS_TYPE, n->loc,
                  "a layer is an object with \"name\" and \"type\"");
        return;
    }
    for (c = n->first; c; c = c->next)
        bind_member(&b, c);
    /* Without a name of its own a layer goes by its node's. */
    if (!to->name.set)
        to->name = to->node_name;
    if (!to->name.set || to->name.text.len == 0)
        qc_report(qc, QC_LAYERS_MISSING, n->loc, "a layer needs a \"name\"");
    if (!to->type.set)
        qc_report(qc, QC_LAYERS_MISSING, n->loc, "a layer needs a \"type\"");
}

struct ModelLayers *qc_bind_layers_json(struct qc *qc,
                                        const struct qc_file *file,
                                        const struct qc_node *root)
{
    struct ModelLayers *to = qc_alloc(qc, sizeof(*to));
    const struct qc_node *n;
    struct qc_loc loc = {file, 0, 1};
    struct qc_diag *d;

    if (!root)
        return NULL;
    if (root->kind != QC_LIST) {
        loc.at = root->loc.at;
        d = qc_report(
            qc, QC_LAYERS_TYPE, loc,
            "a layer list is an array of objects, one for each layer");
        qc_help(qc, d, "write [{\"name\":\"conv1\",\"type\":\"Conv2d\"}]");
        return NULL;
    }
    to->node = root;
    to->layer.at = qc_alloc(qc, root->count * sizeof(*to->layer.at));
    for (n = root->first; n; n = n->next)
        bind_layer(qc, n, &to->layer.at[to->layer.count++]);
    return to;
}
