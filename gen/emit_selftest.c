/* The vectors of `quantc compile --selftest`.
 *
 * Inputs are edges and pseudo-random numbers of the sizes that a layer's
 * scales make interesting; what is expected of them comes from the kernels of
 * the runtime, which quantc links. */
#include "emit.h"

#include "fixed.h"
#include "qrt_selftest.h"

#include <inttypes.h>
#include <string.h>

enum { N = QRT_SELFTEST_INPUTS };

struct vectors {
    struct qrt_selftest_layer test;
    int32_t x[N], acc[N];
    bool has[QRT_SELFTEST_STEPS];
};

/* A row as the device will see it. */
struct seen {
    struct qrt_layer layer;
    struct qrt_ifmr ifmr;
    struct qrt_factors factors;
    struct qrt_edge edge, join_edge;
    struct qrt_join join;
};

static void see_recipe(struct seen *s, const struct qc_tables *t,
                       const struct qc_low_row *r)
{
    if (r->arq)
        s->layer.arq = &r->arq->as.arq;
    if (r->ifmr) {
        s->ifmr = r->ifmr->as.ifmr;
        s->ifmr.ratios = t->ratios[r->ifmr->ratio_table].bits;
        s->layer.ifmr = &s->ifmr;
    }
    if (r->hfmg)
        s->layer.hfmg = &r->hfmg->as.hfmg;
    if (r->ulq)
        s->layer.ulq = &r->ulq->as.ulq;
}

static void see_factors(struct seen *s, const struct qc_low_row *r, bool words)
{
    const struct qc_low_factors *f = r->factors;

    s->factors.scale_d = f->scale_d;
    s->factors.recip_d = f->recip_d;
    s->factors.offset_d = f->offset_d;
    s->factors.scale_count = (uint32_t)f->count;
    s->factors.scale_w = f->scale_w;
    s->factors.dequant = f->dequant;
    s->factors.word_dequant = words ? f->word_dequant : NULL;
    s->factors.word_fixpipe = words ? f->word_fixpipe : NULL;
    s->layer.factors = &s->factors;
}

static void see_edge(struct qrt_edge *to, const struct qc_low_edge *e)
{
    to->requant = e->requant;
    to->zero_point = e->zero_point;
    to->code_min = e->code_min;
    to->code_max = e->code_max;
    to->next = (uint32_t)e->next;
}

static void see_join(struct seen *s, struct qc *qc, const struct qc_low_join *j)
{
    struct qrt_term *terms = qc_alloc(qc, j->term_count * sizeof(*terms));
    size_t i;

    for (i = 0; i < j->term_count; i++) {
        const struct qc_low_term *t = &j->terms[i];

        terms[i].scale = t->scale;
        terms[i].scale_count = t->scale ? (uint32_t)t->scale_count : 0;
        terms[i].layer = (uint32_t)t->layer;
        terms[i].zero_point = t->zero_point;
        terms[i].low = t->low;
        terms[i].high = t->high;
        terms[i].is_code = t->is_code;
    }
    s->join.kind = (uint8_t)j->kind;
    s->join.frac = j->frac;
    s->join.mean = j->mean;
    s->join.term_count = (uint8_t)j->term_count;
    s->join.terms = terms;
    if (j->edge) {
        see_edge(&s->join_edge, j->edge);
        s->join.edge = &s->join_edge;
    }
    s->join.low = j->low;
    s->join.high = j->high;
    s->join.zero_point = j->zero_point;
    s->join.code_min = j->code_min;
    s->join.code_max = j->code_max;
    s->join.table = j->table;
    s->layer.join = &s->join;
}

static void see(struct seen *s, struct qc *qc, const struct qc_tables *t,
                const struct qc_low_row *r, bool words)
{
    const struct qc_row *row = r->row;
    bool on = row->enabled.i != 0;

    memset(s, 0, sizeof(*s));
    s->layer.name = qc_copy(qc, row->layer->name.ptr, row->layer->name.len).ptr;
    s->layer.op = row->layer->op < 0 ? QRT_OP_UNKNOWN : (uint8_t)row->layer->op;
    s->layer.enabled = on;
    s->layer.act_bits = on ? (uint8_t)row->act_bits.i : 0;
    s->layer.act_asymmetric = on && row->asymmetric.i;
    s->layer.out_channels = (uint32_t)row->layer->out_channels;
    s->layer.rule = r->rule;
    s->layer.exactness = r->exactness;
    see_recipe(s, t, r);
    if (r->factors)
        see_factors(s, r, words);
    if (r->edge) {
        see_edge(&s->edge, r->edge);
        s->layer.edge = &s->edge;
    }
    if (r->join)
        see_join(s, qc, r->join);
}

/* ---- inputs ---- */

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed ^ *seed >> 15;
}

static int32_t within(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Zero, the smallest, both ends, and numbers of at most `bits` bits, sign
 * included, every other one much smaller. Where negative numbers only saturate
 * (`above`), few of them. */
static void choose(int32_t *x, int32_t bits, bool above, uint32_t *seed)
{
    static const int32_t edges[5] = {0, 1, -1, INT32_MAX, INT32_MIN};
    int32_t down = 32 - within(bits, 4, 32), i;

    memcpy(x, edges, sizeof(edges));
    for (i = 5; i < N; i++) {
        x[i] = qrt_asr32((int32_t)draw(seed),
                         (uint32_t)within(down + i % 2 * 5, 0, 31));
        if (above && x[i] < 0 && i != N - 1)
            x[i] = ~x[i];
    }
}

/* Steps of the layer's input are near 2^20 units of x, so that codes of 8 bits
 * span 28 bits; accumulators span the codes of the next layer, or 20 bits. */
static void choose_inputs(struct vectors *v, const struct seen *s)
{
    uint32_t seed = qc_crc32(qc_str(s->layer.name));
    int32_t bits = s->layer.act_bits ? s->layer.act_bits : 8;
    int32_t wide = bits < 12 ? 20 : 14;
    int32_t of_code = s->layer.edge ? bits + 1 - s->edge.requant->e : 20;

    v->test.frac = within(wide - s->factors.scale_d.e, -160, 160);
    v->test.real_frac = within(8 - s->factors.dequant->e, -160, 160);
    choose(v->x, wide + bits + 1, s->factors.offset_d < 0, &seed);
    choose(v->acc, of_code, s->layer.edge && s->edge.zero_point < 0, &seed);
    v->test.x = v->x;
    v->test.acc = v->acc;
    v->test.channels = s->factors.scale_count;
    if (v->test.channels > QRT_SELFTEST_CHANNELS)
        v->test.channels = QRT_SELFTEST_CHANNELS;
}

/* ---- text ---- */

static void put_numbers(struct qc_out *o, const int32_t *v)
{
    int i;

    for (i = 0; i < N; i++) {
        qc_puts(o, i % 6 ? " " : "\n    ");
        if (v[i] == INT32_MIN) /* no such literal in C */
            qc_puts(o, "-2147483647 - 1,");
        else
            qc_printf(o, "%" PRId32 ",", v[i]);
    }
}

static void put_inputs(struct qc_out *o, const char *name, struct qc_str ident,
                       const int32_t *v)
{
    qc_printf(o, "static const int32_t test_%s_%.*s[%d] = {", name,
              QC_ARG(ident), N);
    put_numbers(o, v);
    qc_puts(o, "\n};\n");
}

/* The values of a step, channel by channel; none if the kernel refuses the
 * numbers of this layer. */
static void put_step(struct qc_out *o, struct vectors *v, const struct seen *s,
                     enum qrt_selftest_step step, struct qc_str ident)
{
    static const char *const names[] = {"", "codes", "requant", "real"};
    bool codes = step == QRT_SELFTEST_QUANTIZE;
    uint32_t tried = codes ? 1 : v->test.channels, i;
    int32_t out[QRT_SELFTEST_CHANNELS][N];

    for (i = 0; i < tried; i++)
        if (qrt_selftest_values(
                &s->layer, &v->test, step,
                qrt_selftest_channel(i, tried, s->factors.scale_count),
                out[i]) != QRT_OK)
            return;
    v->has[step] = true;
    qc_printf(o, "static const int%d_t test_%s_%.*s[%" PRIu32 "] = {",
              step == QRT_SELFTEST_DEQUANTIZE ? 32 : 16, names[step],
              QC_ARG(ident), tried * N);
    for (i = 0; i < tried; i++)
        put_numbers(o, out[i]);
    qc_puts(o, "\n};\n");
}

static void put_layer(struct qc_out *o, struct vectors *v, const struct seen *s,
                      struct qc_str ident)
{
    memset(v, 0, sizeof(*v));
    v->test.digest = qrt_selftest_digest(&s->layer);
    if (!s->layer.factors)
        return;
    choose_inputs(v, s);
    qc_puts(o, "\n/* \"");
    qc_put_comment(o, qc_str(s->layer.name));
    qc_puts(o, "\" */\n");
    put_inputs(o, "x", ident, v->x);
    put_inputs(o, "acc", ident, v->acc);
    put_step(o, v, s, QRT_SELFTEST_QUANTIZE, ident);
    put_step(o, v, s, QRT_SELFTEST_REQUANTIZE, ident);
    put_step(o, v, s, QRT_SELFTEST_DEQUANTIZE, ident);
}

static void put_pointer(struct qc_out *o, bool there, const char *name,
                        struct qc_str ident)
{
    if (there)
        qc_printf(o, ", test_%s_%.*s", name, QC_ARG(ident));
    else
        qc_puts(o, ", 0");
}

static void put_row(struct qc_out *o, const struct vectors *v,
                    struct qc_str ident)
{
    bool any = v->test.channels != 0;

    qc_printf(o, "    {0x%08" PRIX32 "u, %" PRIu32 "u, %" PRId32 ", %" PRId32,
              v->test.digest, v->test.channels, v->test.frac,
              v->test.real_frac);
    put_pointer(o, any, "x", ident);
    put_pointer(o, any, "acc", ident);
    put_pointer(o, v->has[QRT_SELFTEST_QUANTIZE], "codes", ident);
    put_pointer(o, v->has[QRT_SELFTEST_REQUANTIZE], "requant", ident);
    put_pointer(o, v->has[QRT_SELFTEST_DEQUANTIZE], "real", ident);
    qc_puts(o, "},\n");
}

void qc_emit_selftest(struct qc_out *o, const struct qc_tables *t, bool words)
{
    struct qc_out *rows = qc_out_new(o->qc, NULL);
    struct vectors v;
    struct seen s;
    size_t i;

    qc_puts(o, "\n/* ---- self-test: inputs, and what the kernels give ---- "
               "*/\n");
    for (i = 0; i < t->count; i++) {
        see(&s, o->qc, t, &t->rows[i], words);
        put_layer(o, &v, &s, t->rows[i].ident);
        put_row(rows, &v, t->rows[i].ident);
    }
    qc_puts(o, "\n/* digest, channels, frac, real_frac, then the arrays */\n"
               "static const struct qrt_selftest_layer test_layers[");
    qc_put_upper(o, t->prefix);
    qc_puts(o, "_LAYER_COUNT] = {\n");
    qc_put(o, rows->text, rows->size);
    qc_printf(o, "};\n\nconst struct qrt_selftest_tables %s_selftest = {\n    ",
              t->prefix);
    qc_put_upper(o, t->prefix);
    qc_puts(o, "_TABLES_HASH,\n    ");
    qc_put_upper(o, t->prefix);
    qc_puts(o, "_LAYER_COUNT,\n    test_layers,\n};\n");
}
