/* The two forms of retraining: retrain.cfg, whose overrides replace both
 * halves of a layer and enable it again, and its config.json, which lists the
 * layers one by one. */
#include "resolve.h"

#include "decimal.h"

static const struct qc_loc no_place = {NULL, 0, 0};

/* ---- values ---- */

/* fixed_min true: the lower limit is pinned to 0. Left open, the graph tells:
 * nothing negative comes out of a ReLU. */
static void decide_fixed_min(struct qc_resolver *r, struct qc_row *row)
{
    const struct qc_layer *l = row->layer;
    struct qc_setting *s = &row->fixed_min;
    const struct qc_setting *was = s->was;

    if (s->set)
        return;
    *s = qc_setting_bool(QC_BY_GRAPH, no_place,
                         r->m->graph_known && l->producer_is_relu);
    s->was = was;
    s->why = !r->m->graph_known    ? "the graph is not known"
             : l->producer_is_relu ? "the input comes from a ReLU"
                                   : "the input does not come from a ReLU";
}

/* ULQ learns both limits, so its codes have a zero point; no field says
 * otherwise. */
static void decide_zero_point(struct qc_resolver *r, struct qc_row *row)
{
    bool can = qc_traits_of(r, row->layer).asymmetric;

    row->asymmetric =
        qc_setting_bool(can ? QC_BY_DEFAULT : QC_BY_RULE, no_place, can);
    if (!can)
        row->asymmetric.why = "activations of this type are symmetric only";
}

static void decide(struct qc_resolver *r, struct qc_row *row,
                   struct qc_source *s)
{
    qc_decide_channel_wise(r, row, s);
    qc_decide_bits(r, row, s);
    decide_fixed_min(r, row);
    decide_zero_point(r, row);
    qc_decide_fusion(r, row);
}

/* There is no BatchNorm switch in retraining: it is always folded. */
static void read_fusion(struct qc_plan *p)
{
    p->do_fusion = qc_setting_bool(QC_BY_DEFAULT, no_place, true);
}

/* ---- retrain.cfg ---- */

/* AMCT widens the binary32 of these two as it is: 2.7 becomes
 * 2.700000047683716. */
static struct qc_setting clip(const struct ClipMaxMin *c, const char *field,
                              enum qc_level level)
{
    struct qc_setting s = qc_field_setting(&qc_ClipMaxMin, c, field, level);

    s.f = qc_f32_value(qc_f32_bits(s.f));
    return s;
}

static void fill_activations(struct qc_row *v, const struct ActULQquantize *c,
                             enum qc_level level)
{
    const struct qc_message *m = &qc_ActULQquantize;

    v->act_algo = QC_ULQ;
    v->clip_max = clip(c ? c->clip_max_min : NULL, "clip_max", level);
    v->clip_min = clip(c ? c->clip_max_min : NULL, "clip_min", level);
    v->fixed_min = qc_field_setting(m, c, "fixed_min", level);
    v->act_bits = qc_bits_setting(m, c, "dst_type", level);
}

static void fill_weights(struct qc_row *v,
                         const struct RetrainWeightQuantConfig *c,
                         enum qc_level level)
{
    const struct qc_message *m = &qc_ARQRetrain;
    const void *bound = c ? c->arq_retrain : NULL;

    v->wts_algo = QC_ARQ_RETRAIN;
    if (c && c->ulq_retrain) {
        v->wts_algo = QC_ULQ_RETRAIN;
        m = &qc_WtsULQRetrain;
        bound = c->ulq_retrain;
    }
    v->wts_bits = qc_bits_setting(m, bound, "dst_type", level);
    v->channel_wise = qc_field_setting(m, bound, "channel_wise", level);
}

static void fill(struct qc_source *s, const struct RetrainDataQuantConfig *data,
                 const struct RetrainWeightQuantConfig *weights)
{
    fill_activations(&s->v, data ? data->ulq_quantize : NULL, s->level);
    fill_weights(&s->v, weights, s->level);
}

static void check_channel_wise(struct qc_resolver *r, const struct qc_source *s,
                               bool per_channel, const char *who)
{
    const struct qc_setting *c = &s->v.channel_wise;

    if (!per_channel && c->set && c->i)
        qc_report(r->qc, QC_RES_CHANNEL_WISE, c->loc,
                  "weights can only have one scale, 'channel_wise' must be "
                  "false: %s",
                  who);
}

static bool per_channel(const struct qc_resolver *r, unsigned types)
{
    bool several = (types & (types - 1)) != 0;
    int op;

    for (op = 0; op < QRT_OP_KINDS; op++)
        if (types >> op & 1 && (!several || r->op_count[op]) &&
            !qc_ops[op].per_channel)
            return false;
    return true;
}

static void read_types(struct qc_resolver *r, const struct AMCTRetrainConfig *c)
{
    const struct qc_source *base = r->common ? r->common : r->builtin;
    size_t i;

    for (i = 0; i < c->override_layer_types.count; i++) {
        struct RetrainOverrideLayerType *o = &c->override_layer_types.at[i];
        struct qc_source *s = qc_new_source(
            r, QC_BY_TYPE, "override_layer_types", &o->layer_type, o->node);
        unsigned types;

        fill(s, o->retrain_data_quant_config, o->retrain_weight_quant_config);
        qc_link_row(&s->v, &base->v);
        types = qc_override_types(r, s);
        if (types)
            check_channel_wise(
                r, s, per_channel(r, types),
                qc_format(r->qc, "type '%.*s'", QC_ARG(o->layer_type.text))
                    .ptr);
    }
}

static void read_layers(struct qc_resolver *r,
                        const struct AMCTRetrainConfig *c)
{
    size_t i;

    for (i = 0; i < c->override_layer_configs.count; i++) {
        struct RetrainOverrideLayer *o = &c->override_layer_configs.at[i];
        struct qc_source *s = qc_new_source(
            r, QC_BY_LAYER, "override_layer_configs", &o->layer_name, o->node);
        struct qc_layer *l;

        fill(s, o->retrain_data_quant_config, o->retrain_weight_quant_config);
        l = qc_override_layer(r, s);
        if (!l)
            continue;
        qc_link_row(&s->v, &qc_weaker_source(r, l->op)->v);
        check_channel_wise(r, s, qc_traits_of(r, l).per_channel,
                           qc_layer_words(r->qc, o->layer_name.loc.file, l));
        qc_warn_parent(r, &o->layer_name, "overridden");
    }
}

static void read_common(struct qc_resolver *r,
                        const struct AMCTRetrainConfig *c)
{
    const struct qc_node *node =
        c->retrain_data_quant_config     ? c->retrain_data_quant_config->node
        : c->retrain_weight_quant_config ? c->retrain_weight_quant_config->node
                                         : NULL;

    r->builtin =
        qc_new_source(r, QC_BY_DEFAULT, "built-in defaults", NULL, NULL);
    fill(r->builtin, NULL, NULL);
    if (!node)
        return;
    r->common = qc_new_source(r, QC_BY_COMMON,
                              c->retrain_data_quant_config
                                  ? "retrain_data_quant_config"
                                  : "retrain_weight_quant_config",
                              NULL, node);
    fill(r->common, c->retrain_data_quant_config,
         c->retrain_weight_quant_config);
    qc_link_row(&r->common->v, &r->builtin->v);
}

void qc_resolve_retrain(struct qc_resolver *r,
                        const struct AMCTRetrainConfig *c)
{
    const struct qc_message *m = &qc_AMCTRetrainConfig;

    r->plan->batch_num = qc_field_setting(m, c, "batch_num", QC_BY_GLOBAL);
    r->plan->fakequant_precision_mode =
        qc_field_setting(m, c, "fakequant_precision_mode", QC_BY_GLOBAL);
    read_fusion(r->plan);
    read_common(r, c);
    read_types(r, c);
    read_layers(r, c);
    qc_skip_layers(r, &c->skip_layers);
    qc_skip_layers(r, &c->quant_skip_layers);
    qc_skip_types(r, &c->skip_layer_types);
    qc_skip_types(r, &c->quant_skip_types);
    qc_make_rows(r, decide);
}

/* ---- config.json ---- */

static void fill_json(struct qc_source *s, const struct RetrainLayer *l)
{
    const struct RetrainDataConfig *d = l ? l->retrain_data_config : NULL;
    const struct RetrainWeightConfig *w = l ? l->retrain_weight_config : NULL;
    const struct qc_message *dm = &qc_RetrainDataConfig;
    const struct qc_message *wm = &qc_RetrainWeightConfig;
    struct qc_row *v = &s->v;

    v->act_algo = QC_ULQ;
    v->clip_max = qc_field_setting(dm, d, "clip_max", s->level);
    v->clip_min = qc_field_setting(dm, d, "clip_min", s->level);
    v->fixed_min = qc_field_setting(dm, d, "fixed_min", s->level);
    v->act_bits = qc_bits_setting(dm, d, "dst_type", s->level);
    v->wts_algo = QC_ARQ_RETRAIN;
    if (w && w->algo.set && w->algo.as.e == RetrainWtsAlgo_ulq_retrain)
        v->wts_algo = QC_ULQ_RETRAIN;
    v->wts_bits = qc_bits_setting(wm, w, "dst_type", s->level);
    v->channel_wise = qc_field_setting(wm, w, "channel_wise", s->level);
}

static void add_json_layer(struct qc_resolver *r,
                           const struct RetrainJson_layer_entry *e)
{
    struct qc_source *s =
        qc_new_source(r, QC_BY_LAYER, "config.json", &e->key, e->node);
    struct qc_layer *l = qc_override_layer(r, s);
    struct qc_row *row;

    if (!l)
        return;
    if (!qc_takes_part(r, l)) {
        qc_report(r->qc, QC_RES_UNSUPPORTED_LAYER, e->key.loc,
                  "the layer %s cannot be quantized in retraining%s%s",
                  qc_layer_words(r->qc, e->key.loc.file, l),
                  l->why_not ? ": " : "", l->why_not ? l->why_not : "");
        return;
    }
    fill_json(s, e->value);
    if (!qc_traits_of(r, l).per_channel && s->v.channel_wise.i)
        qc_report(r->qc, QC_RES_CHANNEL_WISE, s->v.channel_wise.loc,
                  "weights can only have one scale, \"channel_wise\" must be "
                  "false: %s",
                  qc_layer_words(r->qc, e->key.loc.file, l));
    row = qc_add_row(r, l, s);
    row->enabled = qc_field_setting(&qc_RetrainLayer, e->value,
                                    "retrain_enable", QC_BY_LAYER);
    decide(r, row, s);
    s->users = s->enabled = 1;
}

/* Layers of the model that the file leaves out: disabled, with defaults. */
static void add_missing_layers(struct qc_resolver *r)
{
    struct qc_source *s =
        qc_new_source(r, QC_BY_DEFAULT, "built-in defaults", NULL, NULL);

    fill_json(s, NULL);
    qc_add_unlisted(r, s, decide);
}

void qc_resolve_retrain_json(struct qc_resolver *r, const struct RetrainJson *c)
{
    const struct qc_message *m = &qc_RetrainJson;
    size_t i;

    r->plan->batch_num = qc_field_setting(m, c, "batch_num", QC_BY_GLOBAL);
    r->plan->fakequant_precision_mode =
        qc_field_setting(m, c, "fakequant_precision_mode", QC_BY_GLOBAL);
    read_fusion(r->plan);
    for (i = 0; i < c->layer.count; i++)
        add_json_layer(r, &c->layer.at[i]);
    add_missing_layers(r);
}
