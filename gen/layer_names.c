/* Layers and types of layers by the names that a configuration gives them,
 * and what it may have meant when there are none. */
#include "resolve.h"

#include <string.h>

#define SHOWN_NAMES 6u /* names listed in one message */

const char *qc_quoted(struct qc *qc, const struct qc_file *f, struct qc_str s)
{
    const char *q = f && f->json ? "\"" : "'";

    return qc_format(qc, "%s%s%s", q, qc_shown(qc, s), q).ptr;
}

const char *qc_layer_words(struct qc *qc, const struct qc_file *f,
                           const struct qc_layer *layer)
{
    const char *name = qc_quoted(qc, f, layer->name);

    if (!layer->type.len)
        return name;
    return qc_format(qc, "%s (%s)", name, qc_shown(qc, layer->type)).ptr;
}

void qc_hit(struct qc *qc, struct qc_layers_hit *hit,
            const struct qc_layer *layer)
{
    hit->at = qc_grow(qc, hit->at, hit->count, &hit->room, sizeof(*hit->at));
    hit->at[hit->count++] = layer;
}

/* A list under construction: the first few names, then a number. */
struct listing {
    struct qc *qc;
    const struct qc_file *file;
    const char *text;
    size_t count;
};

static void list(struct listing *l, struct qc_str name)
{
    if (l->count++ >= SHOWN_NAMES)
        return;
    l->text = qc_format(l->qc, "%s%s%s", l->text ? l->text : "",
                        l->text ? ", " : "", qc_quoted(l->qc, l->file, name))
                  .ptr;
}

static const char *listed(const struct listing *l)
{
    if (l->count <= SHOWN_NAMES)
        return l->text ? l->text : "";
    return qc_format(l->qc, "%s and %zu more", l->text, l->count - SHOWN_NAMES)
        .ptr;
}

const char *qc_hit_names(struct qc *qc, const struct qc_file *f,
                         const struct qc_layers_hit *hit)
{
    struct listing l = {qc, f, NULL, 0};
    size_t i;

    for (i = 0; i < hit->count; i++)
        list(&l, hit->at[i]->name);
    return listed(&l);
}

bool qc_type_takes_part(const struct qc_resolver *r,
                        const struct qc_layer *layer)
{
    if (!r->types_known)
        return true;
    return layer->op >= 0 && (!r->retrain || qc_ops[layer->op].retrain);
}

bool qc_takes_part(const struct qc_resolver *r, const struct qc_layer *layer)
{
    return qc_type_takes_part(r, layer) && layer->quantizable;
}

/* ---- names that are near ---- */

static bool is_separator(char c)
{
    return c == '.' || c == '/';
}

static bool begins(struct qc_str s, struct qc_str head)
{
    return s.len > head.len && memcmp(s.ptr, head.ptr, head.len) == 0;
}

static bool ends(struct qc_str s, struct qc_str tail)
{
    return s.len > tail.len &&
           memcmp(s.ptr + s.len - tail.len, tail.ptr, tail.len) == 0;
}

static bool is_parent(struct qc_str parent, struct qc_str child)
{
    return parent.len && begins(child, parent) &&
           is_separator(child.ptr[parent.len]);
}

static bool is_tail(struct qc_str tail, struct qc_str whole)
{
    return tail.len && ends(whole, tail) &&
           is_separator(whole.ptr[whole.len - tail.len - 1]);
}

/* What may be meant: layers of types that can be quantized, by all names. */
static void collect_names(struct qc_resolver *r)
{
    size_t room = 0, i, k;

    for (i = 0; i < r->m->count; i++) {
        const struct qc_layer *l = &r->m->layers[i];

        if (!qc_type_takes_part(r, l))
            continue;
        for (k = 0; k <= l->alias_count; k++) {
            struct qc_str name = k ? l->aliases[k - 1] : l->name;

            if (k && qc_equal(name, l->name))
                continue;
            r->near_names = qc_grow(r->qc, r->near_names, r->near_count, &room,
                                    sizeof(*r->near_names));
            r->near_names[r->near_count++] = name;
        }
    }
}

static void suggest_layer(struct qc_resolver *r, struct qc_diag *d,
                          struct qc_str near, const struct qc_value *v)
{
    qc_help(r->qc, d, "did you mean %s?", qc_quoted(r->qc, v->loc.file, near));
    if (!memchr(near.ptr, '"', near.len) && !memchr(near.ptr, '\\', near.len))
        qc_fix(r->qc, d, v->loc, qc_format(r->qc, "\"%.*s\"", QC_ARG(near)));
}

/* Layers below the name, layers that end like it, and a layer that it ends
 * like (a wrapper's prefix). */
static bool list_relatives(struct qc_resolver *r, struct qc_diag *d,
                           const struct qc_value *v)
{
    const struct qc_file *f = v->loc.file;
    struct listing below = {r->qc, f, NULL, 0}, tails = {r->qc, f, NULL, 0};
    size_t i;

    for (i = 0; i < r->near_count; i++) {
        if (is_parent(v->text, r->near_names[i]))
            list(&below, r->near_names[i]);
        else if (is_tail(v->text, r->near_names[i]) ||
                 is_tail(r->near_names[i], v->text))
            list(&tails, r->near_names[i]);
    }
    if (below.count)
        qc_help(r->qc, d, "layers below %s: %s; a name means that layer only",
                qc_quoted(r->qc, f, v->text), listed(&below));
    if (tails.count)
        qc_help(r->qc, d, "near: %s", listed(&tails));
    return below.count || tails.count;
}

static void help_with_layer(struct qc_resolver *r, struct qc_diag *d,
                            const struct qc_value *v)
{
    struct listing all = {r->qc, v->loc.file, NULL, 0};
    struct qc_str near;
    size_t i;

    if (!d || !r->hints)
        return;
    r->hints--;
    if (!r->near_names)
        collect_names(r);
    near = qc_nearest(v->text, r->near_names, r->near_count);
    if (near.len) {
        suggest_layer(r, d, near, v);
        return;
    }
    if (list_relatives(r, d, v))
        return;
    for (i = 0; i < r->near_count; i++)
        list(&all, r->near_names[i]);
    if (all.count)
        qc_help(r->qc, d, "layers of %s: %s", r->m->file->name, listed(&all));
}

struct qc_layer *qc_want_layer(struct qc_resolver *r, const struct qc_value *v)
{
    struct qc_layer *l = qc_find_layer(r->m, v->text);
    const char *name = qc_quoted(r->qc, v->loc.file, v->text);
    struct qc_diag *d;

    if (l)
        return l;
    if (qc_map_get(&r->m->ambiguous, v->text)) {
        d = qc_report(r->qc, QC_RES_AMBIGUOUS_LAYER, v->loc,
                      "%s is the name of more than one layer", name);
        qc_help(r->qc, d, "give the name of the node in the graph");
        return NULL;
    }
    d = qc_report(r->qc, QC_RES_UNKNOWN_LAYER, v->loc,
                  "the model has no layer %s", name);
    help_with_layer(r, d, v);
    return NULL;
}

#define PARENT_DEPTH 16u   /* of a path; what lies deeper has no parents  */
#define PARENT_BYTES 1024u /* of a name; a longer one is not a path       */

/* Every name that some layer's name begins with, up to a separator: made once,
 * so that a long list of names costs a look-up each. */
static void collect_parents(struct qc_resolver *r)
{
    size_t i, at, depth;

    if (!r->near_names)
        collect_names(r);
    for (i = 0; i < r->near_count; i++) {
        struct qc_str name = r->near_names[i];

        for (at = 1, depth = 0;
             at < name.len && at < PARENT_BYTES && depth < PARENT_DEPTH; at++) {
            if (!is_separator(name.ptr[at]))
                continue;
            *qc_map_at(r->qc, &r->parents, (struct qc_str){name.ptr, at}) = r;
            depth++;
        }
    }
    r->parents_known = true;
}

void qc_warn_parent(struct qc_resolver *r, const struct qc_value *v,
                    const char *what)
{
    struct listing below = {r->qc, v->loc.file, NULL, 0};
    struct qc_diag *d;
    size_t i;

    if (!r->parents_known)
        collect_parents(r);
    if (!r->hints || !qc_map_get(&r->parents, v->text))
        return;
    for (i = 0; i < r->near_count; i++)
        if (is_parent(v->text, r->near_names[i]))
            list(&below, r->near_names[i]);
    if (!below.count)
        return;
    r->hints--;
    d = qc_report(r->qc, QC_RES_PARENT_NAME, v->loc,
                  "only the layer %s itself is %s",
                  qc_quoted(r->qc, v->loc.file, v->text), what);
    qc_help(r->qc, d, "not meant by it: %s", listed(&below));
}

/* ---- types ---- */

/* Columns of qc_op.words. */
static const struct {
    const char *name;
    int dialect;
} columns[] = {
    {"pytorch",    QC_PYTORCH   },
    {"mindspore",  QC_MINDSPORE },
    {"onnx",       QC_ONNX      },
    {"caffe",      QC_CAFFE     },
    {"tensorflow", QC_TENSORFLOW}
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

/* The words of one column, in the order of the types, each once. */
static size_t words_of(const struct qc_resolver *r, size_t column,
                       struct qc_str *out, size_t room)
{
    size_t n = 0, i, op;

    for (op = 0; op < QRT_OP_KINDS; op++) {
        const char *w = qc_ops[op].words[column], *end;

        if (r->retrain && !qc_ops[op].retrain)
            continue;
        for (; *w && n < room; w = *end ? end + 1 : end) {
            end = strchr(w, '|');
            if (!end)
                end = w + strlen(w);
            out[n] = (struct qc_str){w, (size_t)(end - w)};
            for (i = 0; i < n && !qc_equal(out[i], out[n]); i++)
                ;
            n += i == n;
        }
    }
    return n;
}

/* The types of the layers that can be quantized, each once. */
static size_t types_of_model(const struct qc_resolver *r, struct qc_str *out,
                             size_t room)
{
    size_t n = 0, i, k;

    for (i = 0; i < r->m->count && n < room; i++) {
        if (!qc_takes_part(r, &r->m->layers[i]))
            continue;
        out[n] = r->m->layers[i].type;
        for (k = 0; k < n && !qc_equal(out[k], out[n]); k++)
            ;
        n += k == n;
    }
    return n;
}

/* The word of the wanted dialect for a type that another dialect names. */
static bool suggest_translation(struct qc_resolver *r, struct qc_diag *d,
                                const struct qc_value *v, size_t column)
{
    size_t c;
    int op;

    for (c = 0; c < COLUMNS; c++) {
        unsigned types = qc_types_of_word(v->text, columns[c].dialect);

        for (op = 0; op < QRT_OP_KINDS && types; op++) {
            const char *w = qc_ops[op].words[column];

            if (!(types >> op & 1) || !*w)
                continue;
            qc_help(r->qc, d, "in the %s dialect write '%.*s'",
                    columns[column].name, (int)strcspn(w, "|"), w);
            return true;
        }
    }
    return false;
}

static void help_with_type(struct qc_resolver *r, struct qc_diag *d,
                           const struct qc_value *v)
{
    struct qc_str words[64], near;
    struct listing all = {r->qc, v->loc.file, NULL, 0};
    size_t n = 0, c, i;

    if (!d)
        return;
    for (c = 0; c < COLUMNS; c++) {
        if (r->o->dialect != QC_UNION && columns[c].dialect != r->o->dialect)
            continue;
        if (r->o->dialect != QC_UNION && suggest_translation(r, d, v, c))
            return;
        n += words_of(r, c, words + n, 64 - n);
    }
    near = qc_nearest(v->text, words, n);
    if (near.len) {
        suggest_layer(r, d, near, v);
        return;
    }
    if (r->o->dialect == QC_UNION)
        n = types_of_model(r, words, 64);
    for (i = 0; i < n; i++)
        list(&all, words[i]);
    qc_help(r->qc, d, "types of %s: %s",
            r->o->dialect == QC_UNION ? "the model" : "the dialect",
            listed(&all));
}

/* Does the model have a layer of a type that is called so? */
static bool in_model(struct qc_resolver *r, struct qc_str word)
{
    size_t i;

    if (!r->type_words.count)
        for (i = 0; i < r->m->count; i++)
            *qc_map_at(r->qc, &r->type_words, r->m->layers[i].type) = r;
    return qc_map_get(&r->type_words, word) != NULL;
}

unsigned qc_want_types(struct qc_resolver *r, const struct qc_value *v)
{
    unsigned types = qc_types_of_word(v->text, r->o->dialect), wanted = 0;
    const char *word = qc_quoted(r->qc, v->loc.file, v->text);
    struct qc_diag *d;
    int op;

    for (op = 0; op < QRT_OP_KINDS; op++)
        if (!r->retrain || qc_ops[op].retrain)
            wanted |= types & 1u << op;
    if (wanted)
        return wanted;
    if (types)
        d = qc_report(r->qc, QC_RES_UNSUPPORTED_TYPE, v->loc,
                      "retraining does not quantize layers of type %s", word);
    else if (in_model(r, v->text))
        d = qc_report(r->qc, QC_RES_UNSUPPORTED_TYPE, v->loc,
                      "layers of type %s cannot be quantized", word);
    else
        d = qc_report(r->qc, QC_RES_UNKNOWN_TYPE, v->loc,
                      "%s is not a type of layer that can be quantized", word);
    help_with_type(r, d, v);
    return 0;
}
