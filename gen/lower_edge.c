/* Requantization edges: from the accumulator of one layer to the input code
 * of the next by one multiplication. */
#include "lower.h"

#include "qrt.h"

static int32_t clamp_code(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The input code of a layer for a real value. */
static int32_t code_of(uint32_t bits, const struct qc_low_row *row)
{
    const struct qc_low_factors *f = row->factors;
    struct qrt_shape one = {1, 1, 1, 1};
    struct qrt_quantize q = {0};
    int16_t code = 0;

    q.recip = &f->recip_d;
    q.zero_point = &f->offset_d;
    q.bits = (uint8_t)row->row->act_bits.i;
    qrt_quantize_bits_s16(&bits, &one, &q, &code);
    return code;
}

void qc_edge_limits(struct qc_low_edge *e, const struct qc_limits *limits,
                    const struct qc_low_row *next)
{
    int32_t half = (int32_t)1 << (next->row->act_bits.i - 1);

    e->code_min = -half;
    e->code_max = half - 1;
    if (limits->relu)
        e->code_min = clamp_code(e->zero_point, -half, half - 1);
    if (limits->has_max)
        e->code_max = clamp_code(code_of(limits->max_bits, next), e->code_min,
                                 e->code_max);
}

bool qc_same_code(const struct qc_low_row *a, const struct qc_low_row *b)
{
    return a->factors && b->factors &&
           a->factors->scale_d_bits == b->factors->scale_d_bits &&
           a->factors->offset_d == b->factors->offset_d &&
           a->row->act_bits.i == b->row->act_bits.i;
}

bool qc_has_own_bn(const struct qc_row *row)
{
    return row->layer->bn && !(row->fuse.set && row->fuse.i);
}

/* True when every consumer reads the same code through the same operations,
 * so that one multiplication serves them all. */
static bool one_consumer(const struct qc_layer *l, const struct qc_tables *t,
                         const size_t *row_of)
{
    size_t i;

    if (l->edge_count == 0 || l->output_escapes)
        return false;
    for (i = 0; i < l->edge_count; i++) {
        const struct qc_edge *g = &l->edges[i], *first = &l->edges[0];

        if (row_of[g->layer] == SIZE_MAX ||
            !t->rows[row_of[g->layer]].factors || g->relu != first->relu ||
            g->has_max != first->has_max || g->max_bits != first->max_bits ||
            !qc_same_code(&t->rows[row_of[g->layer]],
                          &t->rows[row_of[first->layer]]))
            return false;
    }
    return true;
}

/* What one unit of an accumulator is worth. That of an average pooling is the
 * sum of the window's codes; its mean is what the layer gives. */
static bool unit(const struct qc_low_row *from, size_t c, bool exact,
                 struct qrt_real *out)
{
    const struct qc_layer *l = from->row->layer;
    struct qrt_real window;

    *out = exact ? from->factors->exact[c] : from->factors->dequant[c];
    if (l->op != QRT_OP_AVGPOOL)
        return true;
    return l->window > 0 &&
           qrt_real_from_fixed((int32_t)l->window, 0, &window) == QRT_OK &&
           qrt_real_div(*out, window, out) == QRT_OK;
}

struct qrt_real *qc_requant(struct qc *qc, const struct qc_low_row *from,
                            struct qrt_real step, bool fused)
{
    size_t n = from->factors->count, c;
    struct qrt_real *r = qc_alloc(qc, n * sizeof(*r)), one;

    for (c = 0; c < n; c++)
        if (!unit(from, c, fused, &one) ||
            qrt_real_div(one, step, &r[c]) != QRT_OK ||
            (fused && !qc_device_scale(from->row, &r[c])) || r[c].e < -110 ||
            r[c].e > 110)
            return NULL;
    return r;
}

static const struct qc_low_edge *lower_edge(struct qc *qc, struct qc_tables *t,
                                            const struct qc_low_row *r,
                                            const size_t *row_of)
{
    const struct qc_layer *l = r->row->layer;
    const struct qc_low_row *next;
    struct qc_limits limits;
    struct qc_low_edge *e;

    if (!r->factors || qc_has_own_bn(r->row) || !one_consumer(l, t, row_of))
        return NULL;
    next = &t->rows[row_of[l->edges[0].layer]];
    e = qc_alloc(qc, sizeof(*e));
    e->next = (size_t)(next - t->rows);
    e->zero_point = next->factors->offset_d;
    e->requant = qc_requant(qc, r, next->factors->scale_d, true);
    if (!e->requant)
        return NULL;
    limits.relu = l->edges[0].relu;
    limits.has_max = l->edges[0].has_max;
    limits.max_bits = l->edges[0].max_bits;
    qc_edge_limits(e, &limits, next);
    return e;
}

void qc_lower_edges(struct qc *qc, struct qc_tables *t, const size_t *row_of)
{
    size_t i;

    for (i = 0; i < t->count; i++)
        t->rows[i].edge = lower_edge(qc, t, &t->rows[i], row_of);
}
