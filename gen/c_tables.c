/* quant_tables.c as the structs it defines: what a compiler would make of it,
 * with every name, count and index checked. Beside each line that `show` will
 * print stands the place that decided it, from the comments in the file. */
#include "emit.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct qc *qc;
    struct qc_c_file c;
    struct qc_shown_plan *out;
    struct qc_str layer; /* whose origins are noted                     */
    size_t left; /* values that may still be taken: each once or twice  */
    struct qc_map made; /* by object and count: what others share       */
    bool failed;
};

static void fault(struct reader *r, struct qc_loc loc, const char *what)
{
    struct qc_diag *d;

    if (!r->failed) {
        d = qc_report(r->qc, QC_TABLES_DAMAGED, loc,
                      "these are not tables as quantc writes them: %s", what);
        qc_help(r->qc, d, "run 'quantc compile' again");
    }
    r->failed = true;
}

static const struct qc_node nothing = {
    .kind = QC_WORD, .text = {"", 0}
};

/* A list of n values; else a fault, and a list of none. */
static const struct qc_node *list_of(struct reader *r, const struct qc_node *n,
                                     size_t count)
{
    if (n->kind == QC_LIST && n->count == count)
        return n;
    fault(r, n->loc,
          qc_format(r->qc, "a list of %zu values is expected", count).ptr);
    return NULL;
}

/* The values of a list, one after the other. */
struct cursor {
    struct reader *r;
    const struct qc_node *next;
};

static struct cursor members(struct reader *r, const struct qc_node *n,
                             size_t count)
{
    const struct qc_node *l = list_of(r, n, count);

    return (struct cursor){r, l ? l->first : NULL};
}

static const struct qc_node *take(struct cursor *c)
{
    const struct qc_node *n = c->next ? c->next : &nothing;

    c->next = n->next;
    return n;
}

/* ---- numbers ---- */

static bool digits(struct qc_str s, uint64_t *v)
{
    bool hex = s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'x';
    size_t i = hex ? 2 : 0;

    *v = 0;
    if (s.len && s.ptr[s.len - 1] == 'u')
        s.len--;
    if (i == s.len || s.len - i > (hex ? 16u : 19u))
        return false;
    for (; i < s.len; i++) {
        char c = s.ptr[i];
        unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                            : 16;

        if (d >= (hex ? 16u : 10u))
            return false;
        *v = *v * (hex ? 16 : 10) + d;
    }
    return true;
}

static uint64_t bits(struct cursor *c)
{
    const struct qc_node *n = take(c);
    uint64_t v = 0;

    if (n->kind != QC_NUMBER || !digits(n->text, &v))
        fault(c->r, n->loc, "a number is expected");
    return v;
}

static int64_t whole(struct cursor *c, int64_t low, int64_t high)
{
    const struct qc_node *n = take(c);
    struct qc_str s = n->text;
    bool minus = s.len && s.ptr[0] == '-';
    uint64_t u = 0;
    int64_t v;

    if (qc_equalz(s, "INT32_MIN") || qc_equalz(s, "INT32_MAX"))
        return qc_equalz(s, "INT32_MIN") ? INT32_MIN : INT32_MAX;
    if (minus)
        s = (struct qc_str){s.ptr + 1, s.len - 1};
    if (n->kind != QC_NUMBER || !digits(s, &u) || u > INT64_MAX) {
        fault(c->r, n->loc, "a whole number is expected");
        return low;
    }
    v = minus ? -(int64_t)u : (int64_t)u;
    if (v >= low && v <= high)
        return v;
    fault(c->r, n->loc,
          qc_format(c->r->qc, "a number from %lld to %lld is expected",
                    (long long)low, (long long)high)
              .ptr);
    return low;
}

/* The index of a word in a list that a null ends. */
static unsigned choice(struct cursor *c, const char *const *words)
{
    const struct qc_node *n = take(c);
    unsigned i;

    for (i = 0; words[i]; i++)
        if (n->kind == QC_WORD && qc_equalz(n->text, words[i]))
            return i;
    fault(c->r, n->loc, "the name of a number is expected");
    return 0;
}

static struct qrt_real real_of(struct reader *r, const struct qc_node *n)
{
    struct cursor c = members(r, n, 2);
    struct qrt_real v;

    v.m = (int32_t)whole(&c, INT32_MIN, INT32_MAX);
    v.e = (int32_t)whole(&c, -148, 128);
    return v;
}

/* ---- objects ---- */

/* The value of the object that n names; null for 0 and after a fault. */
static const struct qc_node *object(struct reader *r, const struct qc_node *n,
                                    const char *type)
{
    const struct qc_c_object *o;

    if (n->kind == QC_NUMBER && qc_equalz(n->text, "0"))
        return NULL;
    o = n->kind == QC_WORD ? qc_map_get(&r->c.objects, n->text) : NULL;
    if (o && qc_equalz(o->type, type))
        return o->value;
    fault(r, n->loc,
          qc_format(r->qc, "the name of an object of type %s is expected", type)
              .ptr);
    return NULL;
}

/* Files that use one array for everything must not make the output long. */
static bool pay(struct reader *r, const struct qc_node *n, size_t count)
{
    if (count > r->left) {
        fault(r, n->loc, "the arrays are used too often");
        return false;
    }
    r->left -= count;
    return true;
}

/* An array of `count` elements of a type; null after a fault. */
static const struct qc_node *array(struct reader *r, const struct qc_node *n,
                                   const char *type, size_t count)
{
    const struct qc_node *a = object(r, n, type);

    if (!a)
        fault(r, n->loc, "an array is expected");
    if (!a || !list_of(r, a, count) || !pay(r, n, count))
        return NULL;
    return a;
}

static const struct qrt_real *reals(struct reader *r, const struct qc_node *n,
                                    size_t count)
{
    const struct qc_node *a = array(r, n, "qrt_real", count), *item;
    struct qrt_real *v;
    size_t i = 0;

    if (!a)
        return NULL;
    v = qc_alloc(r->qc, (count + 1) * sizeof(*v));
    for (item = a->first; item; item = item->next)
        v[i++] = real_of(r, item);
    return v;
}

static const uint64_t *words(struct reader *r, const struct qc_node *n,
                             size_t count)
{
    const struct qc_node *a;
    uint64_t *v;
    struct cursor c;
    size_t i;

    if (n->kind == QC_NUMBER)
        return NULL;
    a = array(r, n, "uint64_t", count);
    if (!a)
        return NULL;
    v = qc_alloc(r->qc, (count + 1) * sizeof(*v));
    c = (struct cursor){r, a->first};
    for (i = 0; i < count; i++)
        v[i] = bits(&c);
    return v;
}

/* ---- where lines come from ---- */

static bool is_place(struct qc_str s)
{
    size_t n = s.len;

    while (n && s.ptr[n - 1] >= '0' && s.ptr[n - 1] <= '9')
        n--;
    return n > 1 && n < s.len && s.ptr[n - 1] == ':';
}

/* From `from`: up to two blanks, or the end of a comment. */
static struct qc_str column(struct qc_str c, size_t from)
{
    size_t to = from;

    while (to < c.len &&
           !(c.ptr[to] == ' ' &&
             (to + 1 == c.len || c.ptr[to + 1] == ' ' || c.ptr[to + 1] == '*')))
        to++;
    return (struct qc_str){c.ptr + from, to - from};
}

static bool contains(struct qc_str s, struct qc_str part)
{
    size_t i;

    for (i = 0; i + part.len <= s.len; i++)
        if (memcmp(s.ptr + i, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* Adds the places in the comment behind a value: "scale_d   0.5  record.txt:4
 * m * 2^(e-31)". Columns have two blanks between them, or one where the text
 * before is long. */
static struct qc_str add_places(struct qc *qc, struct qc_str s,
                                const struct qc_node *n)
{
    struct qc_str c, part;
    size_t at;

    while (!n->name.len && n->last)
        n = n->last;
    c = n->name;
    for (at = 0; at < c.len; at += part.len ? part.len : 1) {
        part = column(c, at);
        if (is_place(part)) {
            struct qc_str place = part;

            while (memchr(place.ptr, ' ', place.len)) {
                place.ptr++;
                place.len--;
            }
            if (!contains(s, place))
                s = qc_format(qc, "%.*s%s%.*s", QC_ARG(s), s.len ? ", " : "",
                              QC_ARG(place));
        }
    }
    return s;
}

static void note_at(struct reader *r, const char *key, struct qc_str s)
{
    struct qc_str *copy;

    copy = qc_alloc(r->qc, sizeof(*copy));
    *copy = s;
    *qc_map_at(r->qc, &r->out->origins,
               qc_format(r->qc, "%.*s\n  %s", QC_ARG(r->layer), key)) = copy;
}

/* Notes for a line of `show` the places of the values of a list (or of one
 * value), else where it stands in the tables. */
static void note(struct reader *r, const char *key, const struct qc_node *n,
                 size_t from, size_t to)
{
    struct qc_str s = {"", 0};
    const struct qc_node *item = n->first;
    size_t i;

    for (i = 0; item && i < to; i++, item = item->next)
        if (i >= from)
            s = add_places(r->qc, s, item);
    note_at(r, key, s.len ? s : qc_place(r->qc, n->loc));
}

/* Each value of scale_w has a line of the record; what is made of them has
 * two, that of scale_d before it. */
static void note_values(struct reader *r, const char *key,
                        const struct qc_node *scale_d,
                        const struct qc_node *scale_w)
{
    struct qc_str first = {"", 0};
    const struct qc_node *item;
    size_t i = 0;

    if (scale_d)
        first = add_places(r->qc, first, scale_d);
    note_at(r, key, add_places(r->qc, first, scale_w->first));
    for (item = scale_w->first; item; item = item->next, i++)
        note_at(r, qc_format(r->qc, "%s[%zu]", key, i).ptr,
                add_places(r->qc, first, item));
}

static void note_factors(struct reader *r, const struct qc_node *n,
                         const struct qc_node *scale_w)
{
    note(r, "scale_d", n, 0, 1);
    note(r, "offset_d", n, 2, 3);
    note_values(r, "scale_w", NULL, scale_w);
    note_values(r, "dequant", n->first, scale_w);
    note_values(r, "word_dequant", n->first, scale_w);
    note_values(r, "word_fixpipe", n->first, scale_w);
}

/* ---- recipes ---- */

static const struct qrt_arq *arq(struct reader *r, const struct qc_node *n)
{
    static const char *const algos[] = {"QRT_ARQ_POST", "QRT_ARQ_RETRAIN",
                                        "QRT_ARQ_ULQ_SCALE", NULL};
    const struct qc_node *o = object(r, n, "qrt_arq");
    struct qrt_arq *a = qc_alloc(r->qc, sizeof(*a));
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 4);
    a->bits = (uint8_t)whole(&c, 4, 16);
    a->per_channel = (uint8_t)whole(&c, 0, 1);
    a->algo = (uint8_t)choice(&c, algos);
    note(r, "weights", o, 0, 2);
    return a;
}

/* The place of what was made of an object with so many elements; null at first
 * use. */
static void **made_of(struct reader *r, const struct qc_node *o, size_t count)
{
    uint64_t key[2] = {(uintptr_t)o, count};

    return qc_map_at(r->qc, &r->made,
                     qc_copy(r->qc, (const char *)key, sizeof(key)));
}

/* Recipes share them. */
static const uint32_t *ratios(struct reader *r, const struct qc_node *n,
                              uint32_t *count)
{
    const struct qc_node *a = object(r, n, "uint32_t");
    void **made;
    uint32_t *v;
    struct cursor c;
    uint32_t i;

    if (!a || a->kind != QC_LIST || a->count == 0) {
        fault(r, n->loc, "an array is expected");
        return NULL;
    }
    *count = a->count;
    made = made_of(r, a, a->count);
    v = *made;
    if (v)
        return v;
    *made = v = qc_alloc(r->qc, a->count * sizeof(*v));
    c = (struct cursor){r, a->first};
    for (i = 0; i < a->count; i++)
        v[i] = (uint32_t)bits(&c);
    return v;
}

static const struct qrt_ifmr *ifmr(struct reader *r, const struct qc_node *n)
{
    const struct qc_node *o = object(r, n, "qrt_ifmr");
    struct qrt_ifmr *f = qc_alloc(r->qc, sizeof(*f));
    uint32_t count = 1;
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 4);
    f->ratios = ratios(r, take(&c), &count);
    f->ratio_count = (uint32_t)whole(&c, count, count);
    f->max_percentile = bits(&c);
    f->min_percentile = bits(&c);
    note(r, "ifmr", o, 0, 4);
    return f;
}

static const struct qrt_hfmg *hfmg(struct reader *r, const struct qc_node *n)
{
    const struct qc_node *o = object(r, n, "qrt_hfmg");
    struct qrt_hfmg *h = qc_alloc(r->qc, sizeof(*h));
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 1);
    h->bins = (uint32_t)whole(&c, 1, 65536);
    note(r, "hfmg", o, 0, 1);
    return h;
}

static const struct qrt_ulq *ulq(struct reader *r, const struct qc_node *n)
{
    const struct qc_node *o = object(r, n, "qrt_ulq");
    struct qrt_ulq *u = qc_alloc(r->qc, sizeof(*u));
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 4);
    u->fixed_min = (uint8_t)whole(&c, 0, 1);
    u->has_clip = (uint8_t)whole(&c, 0, 1);
    u->clip_max = real_of(r, take(&c));
    u->clip_min = real_of(r, take(&c));
    note(r, "ulq", o, 0, 4);
    return u;
}

/* ---- factors, edges, joins ---- */

static const struct qrt_factors *
factors(struct reader *r, const struct qc_node *n, uint32_t channels)
{
    const struct qc_node *o = object(r, n, "qrt_factors"), *item;
    struct qrt_factors *f = qc_alloc(r->qc, sizeof(*f));
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 8);
    f->scale_d = real_of(r, take(&c));
    f->recip_d = real_of(r, take(&c));
    f->offset_d = (int32_t)whole(&c, -32768, 32767);
    f->scale_count = (uint32_t)whole(&c, 1, INT32_MAX);
    if (f->scale_count != 1 && channels && f->scale_count != channels)
        fault(r, o->loc, "there is no scale for every channel");
    item = take(&c);
    f->scale_w = reals(r, item, f->scale_count);
    f->dequant = reals(r, take(&c), f->scale_count);
    f->word_dequant = words(r, take(&c), f->scale_count);
    f->word_fixpipe = words(r, take(&c), f->scale_count);
    if (!r->failed)
        note_factors(r, o, object(r, item, "qrt_real"));
    return f;
}

static const struct qrt_edge *edge(struct reader *r, const struct qc_node *n,
                                   const struct qrt_factors *from,
                                   const char *key)
{
    const struct qc_node *o = object(r, n, "qrt_edge");
    struct qrt_edge *e;
    struct cursor c;
    void **made;

    if (!o)
        return NULL;
    if (!from) {
        fault(r, n->loc, "an edge needs factors");
        return NULL;
    }
    note(r, key, o, 0, 0);
    made = made_of(r, o, from->scale_count);
    e = *made;
    if (e)
        return e;
    *made = e = qc_alloc(r->qc, sizeof(*e));
    c = members(r, o, 5);
    e->requant = reals(r, take(&c), from->scale_count);
    e->zero_point = (int32_t)whole(&c, -32768, 32767);
    e->code_min = (int32_t)whole(&c, -32768, 32767);
    e->code_max = (int32_t)whole(&c, -32768, 32767);
    e->next = (uint32_t)whole(&c, 0, (int64_t)r->out->tables.layer_count - 1);
    return e;
}

static void term(struct reader *r, const struct qc_node *n, struct qrt_term *t,
                 bool scaled)
{
    struct cursor c = members(r, n, 7);
    const struct qc_node *scale = take(&c);

    t->scale_count =
        (uint32_t)whole(&c, scaled ? 1 : 0, scaled ? INT32_MAX : 0);
    t->layer = (uint32_t)whole(&c, 0, (int64_t)r->out->tables.layer_count - 1);
    t->zero_point = (int32_t)whole(&c, -32768, 32767);
    t->low = (int32_t)whole(&c, INT32_MIN, INT32_MAX);
    t->high = (int32_t)whole(&c, INT32_MIN, INT32_MAX);
    t->is_code = (uint32_t)whole(&c, 0, 1);
    if (scaled)
        t->scale = reals(r, scale, t->scale_count);
    if (!r->failed && !r->out->tables.layers[t->layer].factors)
        fault(r, n->loc, "the layer of a term needs factors");
}

static const struct qrt_term *terms(struct reader *r, const struct qc_node *n,
                                    const struct qrt_join *j)
{
    const struct qc_node *a = array(r, n, "qrt_term", j->term_count), *item;
    struct qrt_term *t;
    size_t i = 0;

    if (!a)
        return NULL;
    t = qc_alloc(r->qc, j->term_count * sizeof(*t));
    for (item = a->first; item && !r->failed; item = item->next, i++) {
        term(r, item, &t[i], j->kind >= QRT_JOIN_SUM);
        note(r, qc_format(r->qc, "term_%zu", i).ptr, item, 0, 0);
    }
    return t;
}

static const int8_t *table(struct reader *r, const struct qc_node *n)
{
    const struct qc_node *a;
    struct cursor c;
    int8_t *t;
    int i;

    if (n->kind == QC_NUMBER)
        return NULL;
    a = array(r, n, "int8_t", 256);
    if (!a)
        return NULL;
    t = qc_alloc(r->qc, 256);
    c = (struct cursor){r, a->first};
    for (i = 0; i < 256; i++)
        t[i] = (int8_t)whole(&c, -128, 127);
    note(r, "table", a, 0, 0);
    return t;
}

static const struct qrt_join *join(struct reader *r, const struct qc_node *n)
{
    static const char *const kinds[] = {"QRT_JOIN_SAME", "QRT_JOIN_EDGE",
                                        "QRT_JOIN_SUM", "QRT_JOIN_CONCAT",
                                        NULL};
    const struct qc_node *o = object(r, n, "qrt_join"), *e;
    struct qrt_join *j = qc_alloc(r->qc, sizeof(*j));
    struct cursor c;

    if (!o)
        return NULL;
    c = members(r, o, 12);
    j->kind = (uint8_t)choice(&c, kinds);
    j->frac = (uint8_t)whole(&c, 0, 16);
    j->mean = (uint8_t)whole(&c, 0, 1);
    j->term_count =
        (uint8_t)whole(&c, 1, j->kind >= QRT_JOIN_SUM ? UINT8_MAX : 1);
    j->terms = terms(r, take(&c), j);
    e = take(&c);
    j->low = (int32_t)whole(&c, INT32_MIN, INT32_MAX);
    j->high = (int32_t)whole(&c, INT32_MIN, INT32_MAX);
    j->zero_point = (int32_t)whole(&c, -32768, 32767);
    j->code_min = (int32_t)whole(&c, -32768, 32767);
    j->code_max = (int32_t)whole(&c, -32768, 32767);
    j->table = table(r, take(&c));
    if (j->kind == QRT_JOIN_EDGE && !r->failed) {
        j->edge = edge(r, e, r->out->tables.layers[j->terms->layer].factors,
                       "requant_in");
        if (!j->edge)
            fault(r, o->loc, "an edge is expected");
    } else if (e->kind != QC_NUMBER) {
        fault(r, e->loc, "0 is expected");
    }
    note(r, "input", o, 0, 0);
    note(r, "sum", o, 0, 0);
    return j;
}

/* ---- rows ---- */

static unsigned op_of(struct cursor *c)
{
    const struct qc_node *n = take(c);
    unsigned i;

    for (i = 0; i < QRT_OP_KINDS; i++)
        if (qc_equal(n->text, qc_format(c->r->qc, "QRT_OP_%s", qc_ops[i].id)))
            return i;
    if (!qc_equalz(n->text, "QRT_OP_UNKNOWN"))
        fault(c->r, n->loc, "a type of layer is expected");
    return QRT_OP_UNKNOWN;
}

enum { COLUMNS = 15 };

/* All but edge and join, which look at other rows; those are left for later. */
static void row(struct reader *r, const struct qc_node *n, struct qrt_layer *l,
                const struct qc_node **later)
{
    struct cursor c = members(r, n, COLUMNS);
    const struct qc_node *name = take(&c);

    if (name->kind != QC_TEXT) {
        fault(r, name->loc, "a name is expected");
        return;
    }
    l->name = qc_cstr(r->qc, name->text);
    r->layer = qc_str(qc_shown(r->qc, name->text));
    l->op = (uint8_t)op_of(&c);
    l->enabled = (uint8_t)whole(&c, 0, 1);
    l->act_bits = (uint8_t)whole(&c, 0, 16);
    l->act_asymmetric = (uint8_t)whole(&c, 0, 1);
    l->out_channels = (uint32_t)whole(&c, 0, UINT32_MAX);
    note(r, "type", n, 0, 0);
    note(r, "activations", n, 0, 0);
    l->arq = arq(r, take(&c));
    l->ifmr = ifmr(r, take(&c));
    l->hfmg = hfmg(r, take(&c));
    l->ulq = ulq(r, take(&c));
    l->factors = factors(r, take(&c), l->out_channels);
    later[0] = take(&c);
    l->rule = (uint8_t)whole(&c, 0, QRT_RULE_KINDS - 1);
    l->exactness = (uint8_t)whole(&c, 0, QRT_EX_ANY);
    later[1] = take(&c);
    note(r, "arithmetic", n, 0, 0);
    if (!r->failed && l->enabled != (l->arq != NULL))
        fault(r, n->loc, "a row that is on has weights, and no other");
}

static void rows(struct reader *r, const struct qc_node *n)
{
    const struct qc_node **later, *item;
    struct qrt_layer *l;
    size_t i = 0, count;

    if (!n || n->kind != QC_LIST || n->count == 0 || n->count > UINT16_MAX) {
        fault(r, n ? n->loc : (struct qc_loc){r->c.file, 0, 0},
              "there are no rows");
        return;
    }
    count = n->count;
    l = qc_alloc(r->qc, count * sizeof(*l));
    later = qc_alloc(r->qc, 2 * count * sizeof(*later));
    r->out->tables.layers = l;
    r->out->tables.layer_count = (uint32_t)count;
    for (item = n->first; item && !r->failed; item = item->next, i++)
        row(r, item, &l[i], &later[2 * i]);
    for (i = 0; i < count && !r->failed; i++) {
        r->layer = qc_str(qc_shown(r->qc, qc_str(l[i].name)));
        l[i].edge = edge(r, later[2 * i], l[i].factors, "edge");
        if (l[i].edge)
            note(r, "requant", object(r, later[2 * i], "qrt_edge"), 0, 0);
    }
    for (i = 0; i < count && !r->failed; i++) {
        r->layer = qc_str(qc_shown(r->qc, qc_str(l[i].name)));
        l[i].join = join(r, later[2 * i + 1]);
    }
}

/* ---- the file ---- */

/* What stands behind `before` in s, up to `end`; empty: nothing. */
static struct qc_str between(struct qc_str s, const char *before, char end)
{
    size_t n = strlen(before), i;
    struct qc_str found = {"", 0};

    for (i = 0; i + n <= s.len; i++) {
        if (memcmp(s.ptr + i, before, n) != 0)
            continue;
        found.ptr = s.ptr + i + n;
        while (i + n + found.len < s.len && found.ptr[found.len] != end)
            found.len++;
        break;
    }
    return found;
}

/* The CRC-32 of inputs, from the lines of the title:
 * " *   config  quant.cfg (crc32 dfa7370f)". */
static void read_inputs(struct reader *r)
{
    int i;

    for (i = 0; i < 4; i++) {
        const char *key =
            qc_format(r->qc, "\n *   %-7s ", qc_input_word((enum qc_input)i))
                .ptr;
        struct qc_str line = between(r->c.title, key, '\n');
        char hex[9] = {0};

        if (line.len < 9)
            continue;
        memcpy(hex, qc_end(line) - 9, 8);
        r->out->crc[i] = (uint32_t)strtoul(hex, NULL, 16);
    }
}

/* The root object: quant_tables, with whatever prefix. */
static const struct qc_node *root_of(struct reader *r, struct qc_str *prefix)
{
    struct qc_str file = between(r->c.title, " ", ' ');
    const struct qc_c_object *o;

    *prefix = file;
    if (file.len < 9 || memcmp(qc_end(file) - 9, "_tables.c", 9) != 0)
        return NULL;
    prefix->len -= 9;
    file.len -= 2;
    o = qc_map_get(&r->c.objects, file);
    return o && qc_equalz(o->type, "qrt_tables") ? o->value : NULL;
}

/* The hash is a macro of the header. */
static bool read_hash(struct reader *r, const char *path, struct qc_str prefix)
{
    struct qc_file *h = qc_load(r->qc, path, QC_MAX_FILE);
    struct qc_out *o = qc_out_new(r->qc, NULL);
    struct qc_str text, value;
    struct qc_loc start = {h, 0, 0};

    if (!h || !qc_check_encoding(r->qc, h))
        return false;
    text = (struct qc_str){h->text, h->size};
    if (!qc_equal(between(text, "#if QRT_TABLES_VERSION != ", '\n'),
                  qc_format(r->qc, "%d", QRT_TABLES_VERSION)))
        fault(r, start, "the header is of another version of the tables");
    qc_puts(o, "#define ");
    qc_put_upper(o, qc_cstr(r->qc, prefix));
    qc_puts(o, "_TABLES_HASH ");
    qc_put(o, "", 1);
    value = between(text, o->text, '\n');
    if (!digits(value, &r->out->tables.hash))
        fault(r, start, "the header does not say the hash of the tables");
    return !r->failed;
}

static void read_root(struct reader *r, const struct qc_node *root)
{
    struct cursor c = members(r, root, 6);
    const struct qc_node *layers;

    take(&c);
    take(&c);
    take(&c);
    r->out->tables.version = QRT_TABLES_VERSION;
    r->layer = QC_STR("inputs");
    note(r, "batch_num", root, 3, 4);
    r->out->tables.batch_num = (uint32_t)whole(&c, 1, UINT32_MAX);
    layers = take(&c);
    rows(r, object(r, layers, "qrt_layer"));
}

/* quant_tables.h or a folder: its quant_tables.c. */
static const char *source_of(struct qc *qc, const char *path, bool folder)
{
    size_t n = strlen(path);

    if (folder)
        return qc_format(qc, "%s%squant_tables.c", path,
                         n && path[n - 1] == '/' ? "" : "/")
            .ptr;
    if (n > 2 && strcmp(path + n - 2, ".h") == 0)
        return qc_format(qc, "%.*s.c", (int)(n - 2), path).ptr;
    return path;
}

bool qc_load_tables(struct qc *qc, const char *path, bool folder,
                    struct qc_shown_plan *out)
{
    const char *source = source_of(qc, path, folder);
    struct reader r = {0};
    const struct qc_node *root;
    struct qc_str prefix, version;

    r.qc = qc;
    r.out = out;
    if (!qc_read_c(qc, source, &r.c))
        return false;
    version = between(r.c.title, "generated by quantc ", ',');
    if (!version.len || memchr(version.ptr, '\n', version.len)) {
        fault(&r, (struct qc_loc){r.c.file, 0, 0},
              "the title does not name the version of quantc");
        return false;
    }
    r.left = 2 * r.c.values;
    root = root_of(&r, &prefix);
    if (!root) {
        fault(&r, (struct qc_loc){r.c.file, 0, 0},
              "there is no struct qrt_tables");
        return false;
    }
    if (!read_hash(
            &r, qc_format(qc, "%.*s.h", (int)(strlen(source) - 2), source).ptr,
            prefix))
        return false;
    read_inputs(&r);
    read_root(&r, root);
    out->title = qc_format(qc, "quantc tables, %.*s_tables.c, quantc %.*s",
                           QC_ARG(prefix), QC_ARG(version));
    return !r.failed;
}
