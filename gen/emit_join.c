/* Joins as C: what a layer's input is made of. */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>

static void put_name_of(struct qc_out *o, const struct qc_low_row *r)
{
    qc_puts(o, "\"");
    qc_put_comment(o, r->row->layer->name);
    qc_puts(o, "\"");
}

static void put_reals(struct qc_out *o, const struct qrt_real *r, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        qc_printf(o, "%s{%" PRId32 ", %" PRId32 "},", i % 4 ? " " : "\n    ",
                  r[i].m, r[i].e);
    qc_puts(o, "\n};\n");
}

/* INT32_MIN has no literal of its own type. */
static void put_limit(struct qc_out *o, int32_t v)
{
    if (v == INT32_MIN)
        qc_puts(o, "INT32_MIN");
    else if (v == INT32_MAX)
        qc_puts(o, "INT32_MAX");
    else
        qc_printf(o, "%" PRId32, v);
}

/* ---- what it is, in words ---- */

static void put_term_words(struct qc_out *o, const struct qc_tables *t,
                           const struct qc_low_term *term)
{
    qc_puts(o, term->is_code ? "input of " : "accumulator of ");
    put_name_of(o, &t->rows[term->layer]);
}

void qc_put_input(struct qc_out *o, const struct qc_tables *t,
                  const struct qc_low_row *r)
{
    const struct qc_low_join *j = r->join;
    size_t i;

    if (!j) {
        qc_puts(o, "quantized from real numbers; ");
        qc_put_comment(o, r->join_why);
        return;
    }
    if (j->function.len)
        qc_printf(o, "%.*s of ", QC_ARG(j->function));
    if (j->mean)
        qc_puts(o, "the mean of ");
    if (j->kind == QRT_JOIN_SAME) {
        qc_puts(o, "the codes that ");
        put_name_of(o, &t->rows[j->terms[0].layer]);
        qc_puts(o, " reads");
        return;
    }
    for (i = 0; i < j->term_count; i++) {
        if (i)
            qc_puts(o, j->kind == QRT_JOIN_CONCAT ? ", then " : " + ");
        put_term_words(o, t, &j->terms[i]);
    }
}

/* ---- arrays ---- */

static void put_scales(struct qc_out *o, const struct qc_low_row *r)
{
    size_t i;

    for (i = 0; i < r->join->term_count; i++) {
        const struct qc_low_term *term = &r->join->terms[i];

        if (!term->scale)
            continue;
        qc_printf(o, "static const struct qrt_real term_%.*s_%zu[%zu] = {",
                  QC_ARG(r->ident), i, term->scale_count);
        put_reals(o, term->scale, term->scale_count);
    }
}

static void put_terms(struct qc_out *o, const struct qc_tables *t,
                      const struct qc_low_row *r)
{
    size_t i;

    qc_printf(o, "static const struct qrt_term terms_%.*s[%zu] = {\n",
              QC_ARG(r->ident), r->join->term_count);
    for (i = 0; i < r->join->term_count; i++) {
        const struct qc_low_term *term = &r->join->terms[i];

        if (term->scale)
            qc_printf(o, "    {term_%.*s_%zu, ", QC_ARG(r->ident), i);
        else
            qc_puts(o, "    {0, ");
        qc_printf(o, "%zuu, %zuu, %" PRId32 ", ",
                  term->scale ? term->scale_count : 0, term->layer,
                  term->zero_point);
        put_limit(o, term->low);
        qc_puts(o, ", ");
        put_limit(o, term->high);
        qc_printf(o, ", %uu}, /* ", term->is_code);
        put_term_words(o, t, term);
        qc_puts(o, " */\n");
    }
    qc_puts(o, "};\n");
}

static void put_own_edge(struct qc_out *o, const struct qc_tables *t,
                         const struct qc_low_row *r)
{
    const struct qc_low_edge *e = r->join->edge;
    size_t n = t->rows[r->join->terms[0].layer].factors->count;

    qc_printf(o, "static const struct qrt_real join_requant_%.*s[%zu] = {",
              QC_ARG(r->ident), n);
    put_reals(o, e->requant, n);
    qc_printf(o,
              "static const struct qrt_edge join_edge_%.*s = {\n"
              "    join_requant_%.*s,\n"
              "    %" PRId32 ", /* zero point */\n"
              "    %" PRId32 ", %" PRId32 ", /* lowest and highest code */\n"
              "    %zuu, /* row of this layer */\n};\n",
              QC_ARG(r->ident), QC_ARG(r->ident), e->zero_point, e->code_min,
              e->code_max, e->next);
}

static void put_table(struct qc_out *o, const struct qc_low_row *r)
{
    const struct qc_low_join *j = r->join;
    size_t i;

    qc_printf(o, "static const int8_t table_%.*s[256] = { /* %.*s */",
              QC_ARG(r->ident), QC_ARG(j->function));
    for (i = 0; i < 256; i++)
        qc_printf(o, "%s%d,", i % 12 ? " " : "\n    ", j->table[i]);
    qc_puts(o, "\n};\n");
}

static void put_edge_name(struct qc_out *o, const struct qc_tables *t,
                          const struct qc_low_row *r)
{
    const struct qc_low_join *j = r->join;

    if (!j->edge)
        qc_puts(o, "0");
    else if (j->own_edge)
        qc_printf(o, "&join_edge_%.*s", QC_ARG(r->ident));
    else
        qc_printf(o, "&edge_%.*s", QC_ARG(t->rows[j->terms[0].layer].ident));
}

static const char *const kinds[] = {"QRT_JOIN_SAME", "QRT_JOIN_EDGE",
                                    "QRT_JOIN_SUM", "QRT_JOIN_CONCAT"};

static void put_struct(struct qc_out *o, const struct qc_tables *t,
                       const struct qc_low_row *r)
{
    const struct qc_low_join *j = r->join;

    qc_printf(o,
              "static const struct qrt_join join_%.*s = {\n"
              "    %s,\n    %uu, %uu, %zuu, /* frac, mean, terms */\n"
              "    terms_%.*s,\n    ",
              QC_ARG(r->ident), kinds[j->kind], j->frac, j->mean, j->term_count,
              QC_ARG(r->ident));
    put_edge_name(o, t, r);
    qc_puts(o, ",\n    ");
    put_limit(o, j->low);
    qc_puts(o, ", ");
    put_limit(o, j->high);
    qc_printf(o,
              ", /* before the mean, Q(frac) */\n"
              "    %" PRId32 ", /* zero point */\n"
              "    %" PRId32 ", %" PRId32 ", /* lowest and highest code */\n",
              j->zero_point, j->code_min, j->code_max);
    if (j->table)
        qc_printf(o, "    table_%.*s,\n", QC_ARG(r->ident));
    else
        qc_puts(o, "    0,\n");
    qc_puts(o, "};\n\n");
}

void qc_emit_joins(struct qc_out *o, const struct qc_tables *t)
{
    size_t i;

    for (i = 0; i < t->count; i++) {
        const struct qc_low_row *r = &t->rows[i];

        if (!r->factors)
            continue;
        qc_puts(o, "/* input of ");
        put_name_of(o, r);
        qc_puts(o, ": ");
        qc_put_input(o, t, r);
        qc_puts(o, r->join ? " */\n" : " */\n\n");
        if (r->join) {
            put_scales(o, r);
            put_terms(o, t, r);
            if (r->join->own_edge)
                put_own_edge(o, t, r);
            if (r->join->table)
                put_table(o, r);
            put_struct(o, t, r);
        }
    }
}
