/* Joins: where a layer's input codes come from. model_join.c says what stands
 * between the layers; here it becomes multipliers, limits and tables, as far
 * as the layers before are quantized. */
#include "lower.h"

#include "function.h"

#include "qrt.h"

#include <math.h>
#include <string.h>

struct joiner {
    struct qc *qc;
    struct qc_tables *t;
    const size_t *row_of;
    struct qc_low_row *to;
    struct qc_low_join *out;
    struct qrt_real step; /* of the sum's unit */
};

static bool refuse(struct joiner *k, const char *why, struct qc_str name)
{
    k->to->join_why = name.len
                          ? qc_format(k->qc, "%s '%.*s'", why, QC_ARG(name))
                          : qc_str(why);
    return false;
}

static double value_of(struct qrt_real r)
{
    return ldexp((double)r.m, r.e - 31);
}

static double float_value(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

/* ---- sources ---- */

/* The row of a source when its numbers are integers: codes of any quantized
 * layer, the accumulator of one whose BatchNormalization is folded. */
static const struct qc_low_row *usable(const struct joiner *k,
                                       const struct qc_at_hand *s)
{
    size_t row = k->row_of[s->layer];
    const struct qc_low_row *r = row == SIZE_MAX ? NULL : &k->t->rows[row];

    if (!r || !r->factors || (!s->is_input && qc_has_own_bn(r->row)))
        return NULL;
    return r;
}

static const struct qc_at_hand *nearest(const struct joiner *k,
                                        const struct qc_operand *o)
{
    size_t i;

    for (i = 0; i < o->count; i++)
        if (usable(k, &o->from[i]))
            return &o->from[i];
    return NULL;
}

static bool has_limits(const struct qc_limits *l)
{
    return l->relu || l->has_max;
}

/* The limits of both. */
static struct qc_limits both(const struct qc_limits *a,
                             const struct qc_limits *b)
{
    struct qc_limits l = *a;

    l.relu = a->relu || b->relu;
    if (b->has_max && (!a->has_max || b->max_bits < a->max_bits)) {
        l.has_max = true;
        l.max_bits = b->max_bits;
    }
    return l;
}

/* ---- one tensor, nothing but limits on the way ---- */

static bool is_plain(const struct qc_join *j)
{
    return !j->concat && j->count == 1 && !j->mean && !j->function.len;
}

static void one_term(struct joiner *k, const struct qc_low_row *from)
{
    struct qc_low_term *term = qc_alloc(k->qc, sizeof(*term));

    term->layer = (size_t)(from - k->t->rows);
    k->out->terms = term;
    k->out->term_count = 1;
}

static bool try_same(struct joiner *k, const struct qc_operand *o,
                     const struct qc_limits *limits)
{
    size_t i;

    for (i = 0; i < o->count; i++) {
        const struct qc_low_row *r = usable(k, &o->from[i]);
        struct qc_limits all = both(&o->from[i].limits, limits);

        if (!r || !o->from[i].is_input || has_limits(&all) ||
            !qc_same_code(r, k->to))
            continue;
        k->out->kind = QRT_JOIN_SAME;
        one_term(k, r);
        return true;
    }
    return false;
}

/* The other layer's own edge if it is the same one. */
static void share_edge(struct qc_low_join *out, const struct qc_low_row *from,
                       const struct qc_low_edge *e)
{
    const struct qc_low_edge *f = from->edge;

    out->own_edge = !f || f->zero_point != e->zero_point ||
                    f->code_min != e->code_min || f->code_max != e->code_max ||
                    memcmp(f->requant, e->requant,
                           from->factors->count * sizeof(*e->requant)) != 0;
    out->edge = out->own_edge ? e : f;
}

static bool try_edge(struct joiner *k, const struct qc_operand *o,
                     const struct qc_limits *limits)
{
    const struct qc_at_hand *s = &o->from[o->count - 1];
    const struct qc_low_row *from = usable(k, s);
    struct qc_limits all;
    struct qc_low_edge *e;

    if (!from || s->is_input)
        return false;
    e = qc_alloc(k->qc, sizeof(*e));
    e->next = (size_t)(k->to - k->t->rows);
    e->zero_point = k->to->factors->offset_d;
    e->requant = qc_requant(k->qc, from, k->to->factors->scale_d, true);
    if (!e->requant)
        return false;
    all = both(&s->limits, limits);
    qc_edge_limits(e, &all, k->to);
    k->out->kind = QRT_JOIN_EDGE;
    one_term(k, from);
    share_edge(k->out, from, e);
    return true;
}

/* ---- sums ---- */

/* A limit in Q(frac) steps. */
static int32_t fine(double v, const struct joiner *k)
{
    double x = rint(ldexp(v / value_of(k->step), k->out->frac));

    return x >= 2147483647.0 ? INT32_MAX : (int32_t)x;
}

static void fine_limits(const struct joiner *k, const struct qc_limits *l,
                        int32_t *low, int32_t *high)
{
    *low = l->relu ? 0 : INT32_MIN;
    *high = l->has_max ? fine(float_value(l->max_bits), k) : INT32_MAX;
}

static bool lower_term(struct joiner *k, const struct qc_operand *o,
                       struct qc_low_term *term)
{
    const struct qc_at_hand *s = nearest(k, o);
    const struct qc_low_row *from = s ? usable(k, s) : NULL;

    if (!from)
        return refuse(
            k, "not quantized, or with a BatchNormalization of its own, is",
            k->t->plan->model->layers[o->from[o->count - 1].layer].name);
    term->layer = (size_t)(from - k->t->rows);
    term->is_code = s->is_input;
    term->scale_count = 1;
    if (s->is_input) {
        term->zero_point = from->factors->offset_d;
        term->scale = qc_alloc(k->qc, sizeof(*term->scale));
        if (qrt_real_div(from->factors->scale_d, k->step, term->scale) !=
            QRT_OK)
            term->scale = NULL;
    } else {
        term->scale_count = from->factors->count;
        term->scale = qc_requant(k->qc, from, k->step, false);
    }
    if (!term->scale)
        return refuse(k, "the steps are too far apart from those of",
                      from->row->layer->name);
    fine_limits(k, &s->limits, &term->low, &term->high);
    return true;
}

static bool lower_terms(struct joiner *k, const struct qc_join *j)
{
    size_t i;

    if (j->count > UINT8_MAX)
        return refuse(k, "too many terms", (struct qc_str){"", 0});
    k->out->terms = qc_alloc(k->qc, j->count * sizeof(*k->out->terms));
    k->out->term_count = j->count;
    for (i = 0; i < j->count; i++)
        if (!lower_term(k, &j->operands[i], &k->out->terms[i]))
            return false;
    return true;
}

/* Limits before the function, of the table's index. */
static void index_limits(const struct qc_function *f,
                         const struct qc_limits *limits,
                         struct qc_low_join *out)
{
    double most = limits->has_max
                      ? rint(float_value(limits->max_bits) / f->index_step +
                             f->index_zero)
                      : 127;

    out->code_min = limits->relu ? f->index_zero : -128;
    out->code_max = most < 127 ? (int32_t)most : 127;
    if (out->code_max < out->code_min)
        out->code_max = out->code_min;
}

/* The codes at the end, or the index of the table. */
static bool lower_codes(struct joiner *k, const struct qc_join *j)
{
    struct qc_low_join *out = k->out;
    struct qc_low_edge e = {0};
    struct qc_function f;

    e.zero_point = k->to->factors->offset_d;
    if (!j->function.len) {
        qc_edge_limits(&e, &j->middle, k->to);
        out->zero_point = e.zero_point;
        out->code_min = e.code_min;
        out->code_max = e.code_max;
        k->step = k->to->factors->scale_d;
        return true;
    }
    if (k->to->row->act_bits.i != 8)
        return refuse(k, "a table has codes of 8 bits, not those behind",
                      j->function);
    qc_edge_limits(&e, &j->outer, k->to);
    f.is_tanh = qc_equalz(j->function, "Tanh");
    f.step = value_of(k->to->factors->scale_d);
    f.zero_point = e.zero_point;
    f.code_min = e.code_min;
    f.code_max = e.code_max;
    out->table = qc_alloc(k->qc, 256);
    qc_tabulate(&f, out->table);
    out->function = j->function;
    out->zero_point = f.index_zero;
    index_limits(&f, &j->middle, out);
    return qrt_real_from_f32(qc_bits_of(f.index_step), &k->step) == QRT_OK;
}

static bool lower_sum(struct joiner *k, const struct qc_join *j)
{
    struct qc_low_join *out = k->out;

    out->kind = j->concat ? QRT_JOIN_CONCAT : QRT_JOIN_SUM;
    out->frac = k->to->row->act_bits.i > 8 ? 8 : 16;
    out->mean = j->mean;
    if (!lower_codes(k, j) || !lower_terms(k, j))
        return false;
    fine_limits(k, &j->inner, &out->low, &out->high);
    return true;
}

static void lower_join(struct joiner *k)
{
    const struct qc_join *j = k->to->row->layer->join;

    if (!k->to->factors)
        return;
    if (!j) {
        refuse(k, "a layer list does not say what it is made of",
               (struct qc_str){"", 0});
        return;
    }
    if (j->why_not) {
        refuse(k, j->why_not, j->what);
        return;
    }
    if ((is_plain(j) && (try_same(k, &j->operands[0], &j->middle) ||
                         try_edge(k, &j->operands[0], &j->middle))) ||
        lower_sum(k, j))
        k->to->join = k->out;
}

/* A layer list knows edges, and nothing else about a layer's input. */
static void joins_of_edges(struct qc *qc, struct qc_tables *t,
                           const size_t *row_of, const struct qc_low_row *from)
{
    const struct qc_layer *l = from->row->layer;
    size_t i;

    for (i = 0; from->edge && i < l->edge_count; i++) {
        struct qc_low_row *to = &t->rows[row_of[l->edges[i].layer]];
        struct joiner k = {
            qc, t, row_of, NULL, NULL, {0, 0}
        };

        if (to->row->layer->join || to->join)
            continue;
        k.to = to;
        k.out = qc_alloc(qc, sizeof(*k.out));
        k.out->kind = QRT_JOIN_EDGE;
        one_term(&k, from);
        k.out->edge = from->edge;
        to->join = k.out;
    }
}

void qc_lower_joins(struct qc *qc, struct qc_tables *t, const size_t *row_of)
{
    size_t i;

    for (i = 0; i < t->count; i++) {
        struct joiner k = {
            qc, t, row_of, NULL, NULL, {0, 0}
        };

        k.to = &t->rows[i];
        k.out = qc_alloc(qc, sizeof(*k.out));
        lower_join(&k);
    }
    for (i = 0; i < t->count; i++)
        joins_of_edges(qc, t, row_of, &t->rows[i]);
}
