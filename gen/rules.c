/* What types of layers allow (config.md E.3, E.9): values that a rule changes
 * are put right in the row, and one message for each rule and block of the
 * configuration names all layers that it changed. */
#include "resolve.h"

void qc_decide_channel_wise(struct qc_resolver *r, struct qc_row *row,
                            struct qc_source *s)
{
    struct qc_traits t = qc_traits_of(r, row->layer);
    struct qc_setting *c = &row->channel_wise;

    if (!c->set) {
        const struct qc_setting *was = c->was;

        *c = qc_setting_bool(QC_BY_DEFAULT, (struct qc_loc){NULL, 0, 0},
                             t.per_channel);
        c->was = was;
    } else if (c->i && !t.per_channel) {
        if (s->level == QC_BY_COMMON)
            qc_hit(r->qc, &s->hit[QC_RULE_CHANNEL_WISE], row->layer);
        qc_force(r->qc, c, false, "false",
                 "layers of this type have one scale for all weights");
    }
}

/* An override or a layer's own JSON that asks for what its type or layer does
 * not have has been refused when it was read. */
static bool was_refused(const struct qc_resolver *r, const struct qc_source *s,
                        enum qc_rule rule)
{
    if (s->level < QC_BY_TYPE || rule == QC_RULE_INT4)
        return false;
    if (rule == QC_RULE_INT16_NO_BIAS)
        return s->level == QC_BY_LAYER;
    return rule == QC_RULE_INT16 || r->plan->kind == QC_KIND_CALIB;
}

/* A width that the layer does not have becomes 8. */
static void use_8_bits(struct qc_resolver *r, struct qc_row *row,
                       struct qc_setting *bits, struct qc_source *s,
                       enum qc_rule rule, const char *why)
{
    if (!was_refused(r, s, rule))
        qc_hit(r->qc, &s->hit[rule], row->layer);
    qc_force(r->qc, bits, 8, "8", why);
}

void qc_decide_bits(struct qc_resolver *r, struct qc_row *row,
                    struct qc_source *s)
{
    struct qc_traits t = qc_traits_of(r, row->layer);
    const char *no_int4 = qc_no_int4(row->layer);

    if (!r->retrain && row->act_bits.i == 16 && !t.act16)
        use_8_bits(r, row, &row->act_bits, s,
                   t.no_bias ? QC_RULE_INT16_NO_BIAS : QC_RULE_INT16,
                   t.no_bias ? "16-bit activations need a bias"
                             : "this type has no 16-bit activations");
    if ((row->wts_bits.i == 6 || row->wts_bits.i == 7) && !t.bits67)
        use_8_bits(r, row, &row->wts_bits, s, QC_RULE_BITS67,
                   "only Conv2d has 6- and 7-bit weights");
    if (row->wts_bits.i == 4 && no_int4)
        use_8_bits(r, row, &row->wts_bits, s, QC_RULE_INT4, no_int4);
}

void qc_decide_fusion(struct qc_resolver *r, struct qc_row *row)
{
    const struct qc_layer *l = row->layer;
    const struct qc_value *skip = r->skip_fusion[l - r->m->layers];

    if (!qc_traits_of(r, l).fusable || (r->m->graph_known && !l->bn))
        return;
    row->fuse = r->plan->do_fusion;
    row->fuse.was = NULL;
    if (!skip || !row->fuse.i)
        return;
    row->fuse = qc_setting_bool(QC_BY_LAYER, skip->loc, false);
    row->fuse.why = skip->loc.file == r->plan->record
                        ? "skip_fusion of the record"
                        : "skip_fusion_layers";
    row->fuse.was = &r->plan->do_fusion;
}

/* ---- what the rules did, block by block ---- */

static const char *words_for_types(struct qc_resolver *r,
                                   const struct qc_layers_hit *hit)
{
    return qc_format(r->qc,
                     "an override makes it explicit: override_layer_types { "
                     "layer_type: \"%.*s\" ... channel_wise: false ... }",
                     QC_ARG(hit->at[0]->type))
        .ptr;
}

static void report_channel_wise(struct qc_resolver *r, struct qc_source *s)
{
    const struct qc_layers_hit *hit = &s->hit[QC_RULE_CHANNEL_WISE];
    struct qc_diag *d;

    if (!hit->count)
        return;
    d = qc_report(r->qc, QC_RES_CHANNEL_WISE_COMMON, s->v.channel_wise.loc,
                  "'channel_wise' does not exist for layers of type '%.*s', "
                  "which have one scale for all weights: %s",
                  QC_ARG(hit->at[0]->type),
                  qc_hit_names(r->qc, s->loc.file, hit));
    qc_help(r->qc, d, "%s", words_for_types(r, hit));
}

static void report_downgrades(struct qc_resolver *r, struct qc_source *s)
{
    const struct {
        enum qc_rule rule;
        enum qc_key key;
        struct qc_loc loc;
        const char *text;
    } all[] = {
        {QC_RULE_INT16,         QC_RES_INT16_DOWNGRADE,               s->v.act_bits.loc,
         "activations stay at 8 bits, this type has no 16"                                                                                     },
        {QC_RULE_INT16_NO_BIAS,
         s->level == QC_BY_TYPE ? QC_RES_BITS : QC_RES_INT16_NO_BIAS,
         s->v.act_bits.loc,                                                                  "16-bit activations of a linear layer need a bias"},
        {QC_RULE_BITS67,        QC_RES_BITS_DOWNGRADE,                s->v.wts_bits.loc,
         "weights stay at 8 bits, only Conv2d has 6 and 7"                                                                                     },
        {QC_RULE_INT4,          QC_RES_INT4_DOWNGRADE,                s->v.wts_bits.loc,
         "weights stay at 8 bits, 4 cannot be packed (grouped, or an odd "
         "number of input channels)"                                                                                                           },
        {QC_RULE_BALANCER,      QC_RES_DMQ_DROPPED,                   s->v.dmq_balancer.loc,
         "dmq_balancer is left out, this type has none"                                                                                        },
        {QC_RULE_SYMMETRIC,     QC_RES_SYMMETRIC_ONLY,                s->v.asymmetric.loc,
         "activations stay symmetric, this type has no offset"                                                                                 },
    };
    size_t i;

    for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const struct qc_layers_hit *hit = &s->hit[all[i].rule];

        if (hit->count)
            qc_report(r->qc, all[i].key, all[i].loc, "%s: %s", all[i].text,
                      qc_hit_names(r->qc, s->loc.file, hit));
    }
}

void qc_report_rules(struct qc_resolver *r)
{
    size_t i;

    for (i = 0; i < r->source_count; i++) {
        report_channel_wise(r, r->sources[i]);
        report_downgrades(r, r->sources[i]);
    }
}
