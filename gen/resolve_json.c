/* config.json of post-training quantization: a layer's own object decides
 * it; layers that are not listed are not quantized. */
#include "resolve.h"

/* One of the two numbers of search_range, or its default. */
static struct qc_setting range_end(const struct ActivationQuantParams *a,
                                   size_t index, const char *field,
                                   enum qc_level level)
{
    struct qc_setting s = qc_field_setting(&qc_FMRQuantize, NULL, field, level);
    const struct qc_value *v;

    if (!a || a->search_range.count <= index)
        return s;
    v = &a->search_range.at[index];
    if (v->poisoned)
        return s;
    s.level = level;
    s.loc = v->loc;
    s.text = v->text;
    s.f = v->as.f;
    return s;
}

static bool is_hfmg(const struct ActivationQuantParams *a)
{
    if (!a)
        return false;
    return a->act_algo.set ? a->act_algo.as.e == CalibActAlgo_hfmg
                           : a->num_of_bins.set;
}

static void fill_activations(struct qc_row *v,
                             const struct ActivationQuantParams *a,
                             enum qc_level level)
{
    const struct qc_message *m = &qc_ActivationQuantParams;

    v->act_bits = qc_field_setting(m, a, "num_bits", level);
    v->asymmetric = qc_field_setting(m, a, "asymmetric", level);
    v->act_algo = is_hfmg(a) ? QC_HFMG : QC_IFMR;
    if (v->act_algo == QC_HFMG) {
        v->num_of_bins = qc_field_setting(m, a, "num_of_bins", level);
        return;
    }
    v->search_range_start = range_end(a, 0, "search_range_start", level);
    v->search_range_end = range_end(a, 1, "search_range_end", level);
    v->search_step = qc_field_setting(m, a, "search_step", level);
    v->max_percentile = qc_field_setting(m, a, "max_percentile", level);
    v->min_percentile = qc_field_setting(m, a, "min_percentile", level);
}

static void fill(struct qc_source *s, const struct CalibLayer *l)
{
    const struct WeightQuantParams *w = l ? l->weight_quant_params : NULL;
    const struct qc_message *m = &qc_WeightQuantParams;

    fill_activations(&s->v, l ? l->activation_quant_params : NULL, s->level);
    s->v.wts_algo = QC_ARQ;
    s->v.wts_bits = qc_field_setting(m, w, "num_bits", s->level);
    s->v.channel_wise = qc_field_setting(m, w, "channel_wise", s->level);
    s->v.dmq_balancer =
        qc_field_setting(&qc_CalibLayer, l, "dmq_balancer_param", s->level);
}

/* What the object may not ask of its layer. Only an enabled layer must be
 * symmetric: AMCT looks at the others later, or never. */
static void check(struct qc_resolver *r, const struct qc_source *s,
                  const struct qc_layer *l, bool enabled)
{
    const struct qc_traits t = qc_traits_of(r, l);
    const char *who = qc_layer_words(r->qc, s->loc.file, l);
    const struct qc_row *v = &s->v;

    if (!t.asymmetric && enabled && v->asymmetric.set && v->asymmetric.i)
        qc_report(r->qc, QC_RES_ASYMMETRIC, v->asymmetric.loc,
                  "activations can only be symmetric: %s", who);
    if (!t.per_channel && v->channel_wise.set && v->channel_wise.i)
        qc_report(r->qc, QC_RES_CHANNEL_WISE, v->channel_wise.loc,
                  "weights can only have one scale, \"channel_wise\" must be "
                  "false: %s",
                  who);
    if (!t.act16 && v->act_bits.i == 16)
        qc_report(r->qc, QC_RES_BITS, v->act_bits.loc, "%s: %s",
                  t.no_bias ? "16-bit activations need a bias"
                            : "there are no 16-bit activations",
                  who);
    if (!t.balancer && v->dmq_balancer.set)
        qc_report(r->qc, QC_RES_UNSUPPORTED_BALANCER, v->dmq_balancer.loc,
                  "there is no \"dmq_balancer_param\" here: %s", who);
}

static void decide(struct qc_resolver *r, struct qc_row *row,
                   struct qc_source *s)
{
    struct qc_setting *a = &row->asymmetric;

    qc_decide_channel_wise(r, row, s);
    qc_decide_bits(r, row, s);
    if (!a->set)
        *a = r->plan->activation_offset;
    if (a->i && !qc_traits_of(r, row->layer).asymmetric)
        qc_force(r->qc, a, false, "false",
                 "activations of this type are symmetric only");
    qc_decide_fusion(r, row);
}

static void add_layer(struct qc_resolver *r,
                      const struct CalibJson_layer_entry *e)
{
    struct qc_source *s =
        qc_new_source(r, QC_BY_LAYER, "config.json", &e->key, e->node);
    struct qc_layer *l = qc_override_layer(r, s);
    struct qc_row *row;

    if (!l)
        return;
    if (!qc_takes_part(r, l)) {
        qc_report(r->qc, QC_RES_UNSUPPORTED_LAYER, e->key.loc,
                  "the layer %s cannot be quantized%s%s",
                  qc_layer_words(r->qc, e->key.loc.file, l),
                  l->why_not ? ": " : "", l->why_not ? l->why_not : "");
        return;
    }
    fill(s, e->value);
    row = qc_add_row(r, l, s);
    row->enabled =
        qc_field_setting(&qc_CalibLayer, e->value, "quant_enable", QC_BY_LAYER);
    check(r, s, l, row->enabled.i != 0);
    decide(r, row, s);
    s->users = s->enabled = 1;
}

static void add_missing_layers(struct qc_resolver *r)
{
    struct qc_source *s =
        qc_new_source(r, QC_BY_DEFAULT, "built-in defaults", NULL, NULL);

    fill(s, NULL);
    qc_add_unlisted(r, s, decide);
}

/* Rows of the file are in its order; the plan's are in the model's. */
static void sort_rows(struct qc_resolver *r)
{
    struct qc_plan *p = r->plan;
    size_t *row_of = qc_alloc(r->qc, (r->m->count + 1) * sizeof(*row_of));
    struct qc_row *rows = qc_alloc(r->qc, (p->count + 1) * sizeof(*rows));
    size_t n = 0, i;

    for (i = 0; i < p->count; i++)
        row_of[p->rows[i].layer - r->m->layers] = i + 1;
    for (i = 0; i < r->m->count; i++)
        if (row_of[i])
            rows[n++] = p->rows[row_of[i] - 1];
    p->rows = rows;
}

void qc_resolve_calib_json(struct qc_resolver *r, const struct CalibJson *c)
{
    const struct qc_message *m = &qc_CalibJson;
    struct qc_plan *p = r->plan;
    size_t i;

    p->batch_num = qc_field_setting(m, c, "batch_num", QC_BY_GLOBAL);
    p->activation_offset =
        qc_field_setting(m, c, "activation_offset", QC_BY_GLOBAL);
    p->do_fusion = qc_field_setting(m, c, "do_fusion", QC_BY_GLOBAL);
    p->fakequant_precision_mode =
        qc_field_setting(m, c, "fakequant_precision_mode", QC_BY_GLOBAL);
    qc_skip_fusion(r, &c->skip_fusion_layers);
    for (i = 0; i < c->layer.count; i++)
        add_layer(r, &c->layer.at[i]);
    add_missing_layers(r);
    sort_rows(r);
}
