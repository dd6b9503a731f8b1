/* plan.json as the structs of tables, so that it can be compared with images
 * and tables. The settings' places come along: plan.json knows more of them
 * than the comments in tables do. */
#include "emit.h"
#include "show.h"

#include <string.h>

struct reader {
    struct qc *qc;
    struct qc_shown_plan *out;
    struct qc_map rows;   /* by name: index + 1                      */
    struct qc_str layer;  /* whose origins are noted                 */
    struct qrt_layer *to; /* [layer_count]                           */
    bool failed;
};

static void fault(struct reader *r, struct qc_loc loc, const char *what,
                  const char *name)
{
    struct qc_diag *d;

    if (!r->failed) {
        d = qc_report(r->qc, QC_TABLES_DAMAGED, loc,
                      "this is not a plan as quantc writes it: %s '%s'", what,
                      name);
        qc_help(r->qc, d, "run 'quantc compile --plan' again");
    }
    r->failed = true;
}

static const struct qc_node empty = {
    .kind = QC_GROUP, .text = {"", 0}
};

/* A member of a kind; an empty one after a fault. */
static const struct qc_node *member(struct reader *r, const struct qc_node *n,
                                    const char *name, enum qc_node_kind kind)
{
    const struct qc_node *m = qc_child(n, name);

    if (m && m->kind == kind)
        return m;
    fault(r, m ? m->loc : n->loc, m ? "of another kind is" : "there is no",
          name);
    return &empty;
}

/* ---- numbers ---- */

static bool decimal(struct qc_str s, int64_t *v)
{
    bool minus = s.len && s.ptr[0] == '-';
    size_t i = minus;

    *v = 0;
    if (i == s.len || s.len > 12)
        return false;
    for (; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        *v = *v * 10 + (s.ptr[i] - '0');
    }
    if (minus)
        *v = -*v;
    return true;
}

static int64_t whole_of(struct reader *r, const struct qc_node *n,
                        const char *name, int64_t low, int64_t high)
{
    int64_t v = low;

    if (n->kind == QC_NUMBER && decimal(n->text, &v) && v >= low && v <= high)
        return v;
    fault(r, n->loc, "a whole number in its range is missing for", name);
    return low;
}

static int64_t whole(struct reader *r, const struct qc_node *n,
                     const char *name, int64_t low, int64_t high)
{
    return whole_of(r, member(r, n, name, QC_NUMBER), name, low, high);
}

/* "0x3F800000", of a CRC-32 without 0x */
static uint64_t hex_of(struct reader *r, const struct qc_node *n,
                       const char *name)
{
    static const char figures[] = "0123456789ABCDEF0123456789abcdef";
    struct qc_str t = n->text;
    uint64_t v = 0;
    size_t i;

    if (t.len > 2 && memcmp(t.ptr, "0x", 2) == 0)
        t = (struct qc_str){t.ptr + 2, t.len - 2};
    if (n->kind != QC_TEXT || t.len == 0 || t.len > 16) {
        fault(r, n->loc, "a number in hexadecimal is missing for", name);
        return 0;
    }
    for (i = 0; i < t.len; i++) {
        const char *d = memchr(figures, t.ptr[i], 32);

        if (!d)
            fault(r, n->loc, "a number in hexadecimal is missing for", name);
        else
            v = v << 4 | (uint64_t)((d - figures) & 15);
    }
    return v;
}

static uint64_t hex(struct reader *r, const struct qc_node *n, const char *name)
{
    return hex_of(r, member(r, n, name, QC_TEXT), name);
}

static struct qrt_real real_of(struct reader *r, const struct qc_node *n,
                               const char *name)
{
    struct qrt_real v = {0, 0};

    if (n->kind != QC_LIST || n->count != 2) {
        fault(r, n->loc, "mantissa and exponent are missing for", name);
        return v;
    }
    v.m = (int32_t)whole_of(r, n->first, name, INT32_MIN, INT32_MAX);
    v.e = (int32_t)whole_of(r, n->last, name, -148, 128);
    return v;
}

/* A list of `count` elements; empty after a fault. */
static const struct qc_node *list(struct reader *r, const struct qc_node *n,
                                  const char *name, size_t count)
{
    const struct qc_node *l = member(r, n, name, QC_LIST);

    if (l->count == count)
        return l;
    fault(r, l->loc, "another number of elements is in", name);
    return &empty;
}

static const struct qrt_real *reals(struct reader *r, const struct qc_node *n,
                                    const char *name, size_t count)
{
    const struct qc_node *item = list(r, n, name, count)->first;
    struct qrt_real *v = qc_alloc(r->qc, (count + 1) * sizeof(*v));
    size_t i;

    for (i = 0; item; item = item->next)
        v[i++] = real_of(r, item, name);
    return v;
}

static const uint64_t *words(struct reader *r, const struct qc_node *n,
                             const char *name, size_t count)
{
    const struct qc_node *item = list(r, n, name, count)->first;
    uint64_t *v = qc_alloc(r->qc, (count + 1) * sizeof(*v));
    size_t i;

    for (i = 0; item; item = item->next)
        v[i++] = hex_of(r, item, name);
    return v;
}

static struct qc_str text(struct reader *r, const struct qc_node *n,
                          const char *name)
{
    return member(r, n, name, QC_TEXT)->text;
}

/* The index of a layer that is named. */
static uint32_t row(struct reader *r, const struct qc_node *n, const char *name)
{
    const struct qc_node *m = member(r, n, name, QC_TEXT);
    uintptr_t i = (uintptr_t)qc_map_get(&r->rows, m->text);

    if (i)
        return (uint32_t)(i - 1);
    fault(r, m->loc, "no layer has the name in", name);
    return 0;
}

/* ---- where lines come from ---- */

/* The places of settings, or of factors, for a line of `show`. */
static void note(struct reader *r, const char *line, const struct qc_node *n,
                 const char *const *settings)
{
    struct qc_str s = {"", 0}, *copy;

    for (; *settings; settings++) {
        const struct qc_node *m = qc_child(n, *settings);
        const struct qc_node *at =
            m && m->kind == QC_GROUP ? qc_child(m, "at") : NULL;

        if (at && at->kind == QC_TEXT)
            s = qc_format(r->qc, "%.*s%s%.*s", QC_ARG(s), s.len ? ", " : "",
                          QC_ARG(at->text));
    }
    if (!s.len)
        return;
    copy = qc_alloc(r->qc, sizeof(*copy));
    *copy = s;
    *qc_map_at(r->qc, &r->out->origins,
               qc_format(r->qc, "%.*s\n  %s", QC_ARG(r->layer), line)) = copy;
}

static void note_layer(struct reader *r, const struct qc_node *n)
{
    static const char *const weights[] = {"wts_bits", "channel_wise", NULL};
    static const char *const acts[] = {"act_bits", "asymmetric", NULL};
    static const char *const ifmr[] = {"search_range_start", "search_step",
                                       "search_range_end",   "max_percentile",
                                       "min_percentile",     NULL};
    static const char *const hfmg[] = {"num_of_bins", NULL};
    static const char *const ulq[] = {"fixed_min", "clip_max", "clip_min",
                                      NULL};
    static const char *const device[] = {"rule", "exactness", NULL};
    static const char *const factors[] = {"factors", NULL};
    static const char *const made[] = {
        "scale_d",      "offset_d",     "scale_w", "dequant",
        "word_dequant", "word_fixpipe", NULL};
    size_t i;

    note(r, "weights", n, weights);
    note(r, "activations", n, acts);
    note(r, "ifmr", n, ifmr);
    note(r, "hfmg", n, hfmg);
    note(r, "ulq", n, ulq);
    note(r, "arithmetic", n, device);
    for (i = 0; made[i]; i++)
        note(r, made[i], n, factors);
}

/* ---- a layer ---- */

static void read_search(struct reader *r, const struct qc_node *n,
                        struct qrt_layer *l)
{
    struct qrt_ifmr *f = qc_alloc(r->qc, sizeof(*f));
    uint32_t *ends = qc_alloc(r->qc, 2 * sizeof(*ends));

    l->ifmr = f;
    f->ratios = ends;
    f->ratio_count = (uint32_t)whole(r, n, "ratio_count", 1, 65535);
    ends[0] = (uint32_t)hex(r, n, "first_ratio");
    ends[1] = (uint32_t)hex(r, n, "last_ratio");
    f->max_percentile = hex(r, n, "max_percentile");
    f->min_percentile = hex(r, n, "min_percentile");
}

static void read_ulq(struct reader *r, const struct qc_node *n,
                     struct qrt_layer *l)
{
    struct qrt_ulq *u = qc_alloc(r->qc, sizeof(*u));

    l->ulq = u;
    u->fixed_min = (uint8_t)whole(r, n, "fixed_min", 0, 1);
    u->has_clip = (uint8_t)whole(r, n, "has_clip", 0, 1);
    u->clip_max = real_of(r, member(r, n, "clip_max", QC_LIST), "clip_max");
    u->clip_min = real_of(r, member(r, n, "clip_min", QC_LIST), "clip_min");
}

static void read_recipe(struct reader *r, const struct qc_node *n,
                        struct qrt_layer *l)
{
    struct qrt_arq *a = qc_alloc(r->qc, sizeof(*a));
    struct qrt_hfmg *h;

    l->enabled = 1;
    l->arq = a;
    a->bits = (uint8_t)whole(r, n, "wts_bits", 4, 16);
    a->per_channel = (uint8_t)whole(r, n, "per_channel", 0, 1);
    a->algo = (uint8_t)whole(r, n, "wts_algo", 0, QRT_ARQ_ULQ_SCALE);
    l->act_bits = (uint8_t)whole(r, n, "act_bits", 4, 16);
    l->act_asymmetric = (uint8_t)whole(r, n, "asymmetric", 0, 1);
    if (qc_child(n, "rule")) { /* of plans with quantc.options */
        l->rule = (uint8_t)whole(r, n, "rule", 0, QRT_RULE_KINDS - 1);
        l->exactness = (uint8_t)whole(r, n, "exactness", 0, QRT_EX_ANY);
    }
    if (qc_child(n, "ratio_count")) {
        read_search(r, n, l);
    } else if (qc_child(n, "bins")) {
        l->hfmg = h = qc_alloc(r->qc, sizeof(*h));
        h->bins = (uint32_t)whole(r, n, "bins", 1, 65536);
    } else {
        read_ulq(r, n, l);
    }
}

static void read_factors(struct reader *r, const struct qc_node *n,
                         struct qrt_layer *l)
{
    struct qrt_factors *f = qc_alloc(r->qc, sizeof(*f));

    l->factors = f;
    f->scale_count = member(r, n, "scale_w", QC_LIST)->count;
    f->scale_d = real_of(r, member(r, n, "scale_d", QC_LIST), "scale_d");
    f->recip_d = real_of(r, member(r, n, "recip_d", QC_LIST), "recip_d");
    f->offset_d = (int32_t)whole(r, n, "offset_d", -32768, 32767);
    f->scale_w = reals(r, n, "scale_w", f->scale_count);
    f->dequant = reals(r, n, "dequant", f->scale_count);
    f->word_dequant = words(r, n, "word_dequant", f->scale_count);
    f->word_fixpipe = words(r, n, "word_fixpipe", f->scale_count);
}

static const struct qrt_edge *edge(struct reader *r, const struct qc_node *n,
                                   uint32_t next, size_t count)
{
    struct qrt_edge *e = qc_alloc(r->qc, sizeof(*e));

    e->next = next;
    e->zero_point = (int32_t)whole(r, n, "zero_point", -32768, 32767);
    e->code_min = (int32_t)whole(r, n, "code_min", -32768, 32767);
    e->code_max = (int32_t)whole(r, n, "code_max", -32768, 32767);
    e->requant = reals(r, n, "requant", count);
    return e;
}

/* ---- joins ---- */

static void read_term(struct reader *r, const struct qc_node *n,
                      struct qrt_term *t, bool scaled)
{
    t->is_code = qc_child(n, "input_of") != NULL;
    t->layer = row(r, n, t->is_code ? "input_of" : "accumulator_of");
    if (!r->failed && !r->to[t->layer].factors)
        fault(r, n->loc, "there are no factors of a term of",
              r->to[t->layer].name);
    if (!scaled)
        return;
    t->zero_point = (int32_t)whole(r, n, "zero_point", -32768, 32767);
    t->low = (int32_t)whole(r, n, "low", INT32_MIN, INT32_MAX);
    t->high = (int32_t)whole(r, n, "high", INT32_MIN, INT32_MAX);
    t->scale_count = member(r, n, "scale", QC_LIST)->count;
    t->scale = reals(r, n, "scale", t->scale_count);
}

static void read_sum(struct reader *r, const struct qc_node *n,
                     struct qrt_join *j)
{
    const struct qc_node *mean = member(r, n, "mean", QC_WORD), *item;
    int8_t *table;
    size_t i = 0;

    j->frac = (uint8_t)whole(r, n, "frac", 0, 16);
    j->mean = qc_equalz(mean->text, "true");
    j->low = (int32_t)whole(r, n, "low", INT32_MIN, INT32_MAX);
    j->high = (int32_t)whole(r, n, "high", INT32_MIN, INT32_MAX);
    j->zero_point = (int32_t)whole(r, n, "zero_point", -32768, 32767);
    j->code_min = (int32_t)whole(r, n, "code_min", -32768, 32767);
    j->code_max = (int32_t)whole(r, n, "code_max", -32768, 32767);
    if (!qc_child(n, "table"))
        return;
    j->table = table = qc_alloc(r->qc, 256);
    for (item = list(r, n, "table", 256)->first; item; item = item->next)
        table[i++] = (int8_t)whole_of(r, item, "table", -128, 127);
}

/* Its own, or that of the layer before. */
static void read_join_edge(struct reader *r, const struct qc_node *n,
                           uint32_t index, struct qrt_join *j)
{
    const struct qrt_layer *from = &r->to[j->terms->layer];

    if (r->failed)
        return;
    j->edge = qc_child(n, "edge") ? edge(r, member(r, n, "edge", QC_GROUP),
                                         index, from->factors->scale_count)
                                  : from->edge;
    if (!j->edge)
        fault(r, n->loc, "there is no", "edge");
}

static void read_join(struct reader *r, const struct qc_node *n, uint32_t index)
{
    static const char *const kinds[] = {"same", "edge", "sum", "concat"};
    const struct qc_node *terms = member(r, n, "terms", QC_LIST), *item;
    struct qc_str kind = text(r, n, "kind");
    struct qrt_join *j = qc_alloc(r->qc, sizeof(*j));
    struct qrt_term *t;

    while (j->kind < 4 && !qc_equalz(kind, kinds[j->kind]))
        j->kind++;
    if (j->kind == 4 || terms->count == 0 ||
        terms->count > (j->kind >= QRT_JOIN_SUM ? UINT8_MAX : 1u)) {
        fault(r, n->loc, "of no kind that is known is", "join");
        return;
    }
    j->term_count = (uint8_t)terms->count;
    j->terms = t = qc_alloc(r->qc, terms->count * sizeof(*t));
    for (item = terms->first; item; item = item->next)
        read_term(r, item, t++, j->kind >= QRT_JOIN_SUM);
    if (j->kind >= QRT_JOIN_SUM)
        read_sum(r, n, j);
    else if (j->kind == QRT_JOIN_EDGE)
        read_join_edge(r, n, index, j);
    r->to[index].join = j;
}

/* ---- the whole ---- */

/* What names no other layer. */
static void read_layer(struct reader *r, const struct qc_node *n,
                       struct qrt_layer *l)
{
    struct qc_str op = text(r, n, "op");
    unsigned i = 0;

    while (i < QRT_OP_KINDS && !qc_equalz(op, qc_ops[i].canonical))
        i++;
    l->op = i < QRT_OP_KINDS ? (uint8_t)i : (uint8_t)QRT_OP_UNKNOWN;
    l->out_channels = (uint32_t)whole(r, n, "out_channels", 0, UINT32_MAX);
    note_layer(r, n);
    if (qc_child(n, "lowered"))
        read_recipe(r, member(r, n, "lowered", QC_GROUP), l);
    if (qc_child(n, "factors"))
        read_factors(r, member(r, n, "factors", QC_GROUP), l);
}

static void read_names(struct reader *r, const struct qc_node *layers)
{
    const struct qc_node *n;
    uint32_t i = 0;

    for (n = layers->first; n; n = n->next, i++) {
        struct qc_str name = text(r, n, "name");

        r->to[i].name = qc_cstr(r->qc, name);
        *qc_map_at(r->qc, &r->rows, name) = (void *)(uintptr_t)(i + 1);
    }
}

static void read_layers(struct reader *r, const struct qc_node *layers)
{
    const struct qc_node *n;
    uint32_t i;

    read_names(r, layers);
    for (n = layers->first, i = 0; n && !r->failed; n = n->next, i++) {
        r->layer = qc_str(qc_shown(r->qc, qc_str(r->to[i].name)));
        read_layer(r, n, &r->to[i]);
    }
    for (n = layers->first, i = 0; n && !r->failed; n = n->next, i++) {
        const struct qc_node *e = qc_child(n, "edge");

        if (e && !r->to[i].factors)
            fault(r, e->loc, "there are no factors of", r->to[i].name);
        else if (e)
            r->to[i].edge =
                edge(r, e, row(r, e, "next"), r->to[i].factors->scale_count);
    }
    for (n = layers->first, i = 0; n && !r->failed; n = n->next, i++)
        if (qc_child(n, "join") && r->to[i].factors)
            read_join(r, member(r, n, "join", QC_GROUP), i);
}

static void read_root(struct reader *r, const struct qc_node *root)
{
    const struct qc_node *inputs = member(r, root, "inputs", QC_GROUP);
    const struct qc_node *layers = member(r, root, "layers", QC_LIST);
    struct qrt_tables *t = &r->out->tables;
    struct qc_str generator = text(r, root, "generator");
    int i;

    for (i = 0; i < 4; i++) {
        const char *name = qc_input_word((enum qc_input)i);

        if (qc_child(inputs, name))
            r->out->crc[i] =
                (uint32_t)hex(r, member(r, inputs, name, QC_GROUP), "crc32");
    }
    t->version = (uint32_t)whole(r, root, "tables_version", QRT_TABLES_VERSION,
                                 QRT_TABLES_VERSION);
    t->hash = hex(r, root, "hash");
    t->batch_num = (uint32_t)whole(r, root, "batches", 1, UINT32_MAX);
    if (layers->count > UINT16_MAX)
        fault(r, layers->loc, "there are too many", "layers");
    if (r->failed)
        return;
    t->layers = r->to = qc_alloc(r->qc, (layers->count + 1) * sizeof(*r->to));
    t->layer_count = layers->count;
    read_layers(r, layers);
    r->out->title = qc_format(r->qc, "quantc plan, %.*s", QC_ARG(generator));
}

bool qc_load_plan(struct qc *qc, const char *path, struct qc_shown_plan *out)
{
    struct qc_doc *d = qc_read(qc, path, QC_KIND_JSON_SYNTAX, QC_UNION, false);
    struct reader r = {0};

    if (!d || qc_error_count(qc))
        return false;
    r.qc = qc;
    r.out = out;
    out->is_plan = true;
    if (d->root && d->root->kind == QC_GROUP)
        read_root(&r, d->root);
    else
        fault(&r, (struct qc_loc){d->file, 0, 0}, "there is no", "generator");
    return !r.failed;
}
