/* Blocks of the configuration that decide nothing. */
#include "resolve.h"

static bool is_range(enum qc_key key)
{
    static const enum qc_key ranges[] = {QC_SEM_RANGE_ORDER, QC_SEM_SEARCH_STEP,
                                         QC_SEM_PERCENTILE,  QC_SEM_NUM_OF_BINS,
                                         QC_SEM_RANGE,       QC_SEM_CLIP};
    size_t i;

    for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (key == ranges[i])
            return true;
    return false;
}

/* Values out of range in a block that decides no layer: AMCT never looks at
 * them. The checks of the file alone have reported them as errors; here they
 * become a check of their own, whose severity can be chosen. */
static void soften_ranges(struct qc_resolver *r, const struct qc_source *s)
{
    struct qc_file *f = (struct qc_file *)(uintptr_t)s->loc.file;
    bool soft =
        r->qc->severity[QC_RES_RANGE_UNUSED] < QC_ERROR && !r->qc->werror;
    struct qc_diag *d;

    for (d = f->diags; d; d = d->next) {
        if (d->severity != QC_ERROR || d->loc.at < s->node->loc.at ||
            d->loc.at >= s->node->end || !is_range(d->key))
            continue;
        d->key = QC_RES_RANGE_UNUSED;
        if (!soft)
            continue;
        d->severity = QC_WARNING;
        f->errors--;
        f->warnings++;
    }
}

static void report_block(struct qc_resolver *r, const struct qc_source *s)
{
    const struct qc_file *f = s->loc.file;
    struct qc_layer *l;

    if (s->level == QC_BY_TYPE) {
        qc_report(r->qc, QC_RES_OVERRIDE_UNUSED, s->name->loc,
                  "the override of type %s decides no layer",
                  qc_quoted(r->qc, f, s->name->text));
        return;
    }
    l = qc_find_layer(r->m, s->name->text);
    if (l && r->by_layer[l - r->m->layers] == s)
        qc_report(r->qc, QC_RES_OVERRIDE_UNUSED, s->name->loc,
                  "the layer %s cannot be quantized%s%s, so that its override "
                  "has no effect",
                  qc_layer_words(r->qc, f, l), l->why_not ? ": " : "",
                  l->why_not ? l->why_not : "");
}

static void report_skipped(struct qc_resolver *r, const struct qc_source *s)
{
    struct qc_diag *d;

    d = qc_report(r->qc, QC_RES_NO_EFFECT, s->name->loc,
                  s->level == QC_BY_TYPE
                      ? "the override of type %s decides skipped layers only"
                      : "the layer %s is skipped, so that its override has no "
                        "effect",
                  qc_quoted(r->qc, s->loc.file, s->name->text));
    if (s->skipped->enabled.loc.file)
        qc_note(r->qc, d, s->skipped->enabled.loc, "skipped here");
}

/* config.json lists layers one by one: there is nothing to override. */
static bool is_simple(const struct qc_resolver *r)
{
    return r->plan->kind == QC_KIND_CALIB || r->plan->kind == QC_KIND_RETRAIN;
}

static bool names_something(const struct qc_source *s)
{
    return s->name && s->name->set && !s->name->poisoned &&
           (s->level == QC_BY_TYPE || s->level == QC_BY_LAYER);
}

/* Did the type that the block names exist? Else it has been reported. */
static bool is_known_type(const struct qc_resolver *r,
                          const struct qc_source *s)
{
    int op;

    for (op = 0; op < QRT_OP_KINDS; op++)
        if (r->by_op[op] == s)
            return true;
    return false;
}

void qc_report_unused(struct qc_resolver *r)
{
    size_t i;

    if (!is_simple(r))
        return;
    for (i = 0; i < r->source_count; i++) {
        struct qc_source *s = r->sources[i];

        if (s->users == 0 && s->node && s->loc.file->errors)
            soften_ranges(r, s);
        if (!names_something(s) ||
            (s->level == QC_BY_TYPE && !is_known_type(r, s)))
            continue;
        if (s->users == 0)
            report_block(r, s);
        else if (s->enabled == 0)
            report_skipped(r, s);
    }
}
