/* quantc.options: what a device's arithmetic asks of each layer, beside what
 * AMCT's files say. Everything in it has a default, so that without the file
 * the plan holds the defaults. */
#include "resolve.h"

static const struct {
    const char *field;
    size_t at;
} members[] = {
    {"rule",           offsetof(struct qc_row, rule)          },
    {"exactness",      offsetof(struct qc_row, exactness)     },
    {"hardware_scale", offsetof(struct qc_row, hardware_scale)},
};
#define MEMBERS (sizeof(members) / sizeof(*members))

static struct qc_setting *member(struct qc_row *row, size_t i)
{
    return (void *)((char *)row + members[i].at);
}

/* What the file says for all layers, on top of the defaults. */
static void set_common(struct qc_row *row, const struct DeviceChoice *c)
{
    size_t i;

    for (i = 0; i < MEMBERS; i++) {
        struct qc_setting s = qc_field_setting(&qc_DeviceChoice, c,
                                               members[i].field, QC_BY_COMMON);

        *member(row, i) = s;
    }
}

static void set_own(struct qc *qc, struct qc_row *row,
                    const struct LayerChoice *c)
{
    size_t i;

    for (i = 0; i < MEMBERS; i++) {
        struct qc_setting s =
            qc_field_setting(&qc_LayerChoice, c, members[i].field, QC_BY_LAYER);
        struct qc_setting *to = member(row, i), *was;

        if (!s.loc.file)
            continue;
        if (to->loc.file) {
            was = qc_alloc(qc, sizeof(*was));
            *was = *to;
            s.was = was;
        }
        *to = s;
    }
}

static struct qc_row *row_of(struct qc_plan *p, const struct qc_layer *l)
{
    size_t i;

    for (i = 0; i < p->count; i++)
        if (p->rows[i].layer == l)
            return &p->rows[i];
    return NULL;
}

/* The row of an entry; reported when there is none, or it has had one. */
static struct qc_row *wanted(struct qc_resolver *r, const struct LayerChoice *c,
                             const struct LayerChoice **by_layer)
{
    const struct qc_file *f = c->name.loc.file;
    const struct LayerChoice **slot;
    struct qc_layer *l;
    struct qc_row *row;
    struct qc_diag *d;

    if (!c->name.set || c->name.poisoned)
        return NULL;
    l = qc_want_layer(r, &c->name);
    if (!l)
        return NULL;
    slot = &by_layer[l - r->m->layers];
    if (*slot) {
        d = qc_report(r->qc, QC_SEM_DUPLICATE_LAYER, c->name.loc,
                      "a second entry for layer %s",
                      qc_quoted(r->qc, f, c->name.text));
        qc_note(r->qc, d, (*slot)->name.loc, "first given here");
        return NULL;
    }
    *slot = c;
    row = row_of(r->plan, l);
    if (!row)
        qc_report(r->qc, QC_RES_UNSUPPORTED_LAYER, c->name.loc,
                  "the layer %s cannot be quantized",
                  qc_layer_words(r->qc, f, l));
    else if (!row->enabled.i)
        qc_report(r->qc, QC_RES_NO_EFFECT, c->name.loc,
                  "the layer %s is skipped, so that its entry has no effect",
                  qc_quoted(r->qc, f, c->name.text));
    return row;
}

void qc_resolve_device(struct qc_resolver *r, const struct qc_doc *doc)
{
    const struct QuantcOptions *o = doc ? doc->bound : NULL;
    const struct LayerChoice **by_layer;
    size_t i;

    for (i = 0; i < r->plan->count; i++)
        set_common(&r->plan->rows[i], o ? o->common : NULL);
    if (!o)
        return;
    r->plan->options = doc->file;
    by_layer = qc_alloc(r->qc, (r->m->count + 1) * sizeof(*by_layer));
    for (i = 0; i < o->layer.count; i++) {
        struct qc_row *row = wanted(r, &o->layer.at[i], by_layer);

        if (row)
            set_own(r->qc, row, &o->layer.at[i]);
    }
}
