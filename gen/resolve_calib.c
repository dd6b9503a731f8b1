/* quant.cfg, or no configuration at all: one CalibrationConfig decides each
 * layer as a whole; only `asymmetric` looks at other levels. */
#include "resolve.h"

#include <string.h>

/* ---- blocks ---- */

static void fill_ifmr(struct qc_row *v, const struct FMRQuantize *c,
                      enum qc_level level)
{
    const struct qc_message *m = &qc_FMRQuantize;

    v->act_algo = QC_IFMR;
    v->search_range_start = qc_amct_setting(m, c, "search_range_start", level);
    v->search_range_end = qc_amct_setting(m, c, "search_range_end", level);
    v->search_step = qc_amct_setting(m, c, "search_step", level);
    v->max_percentile = qc_amct_setting(m, c, "max_percentile", level);
    v->min_percentile = qc_amct_setting(m, c, "min_percentile", level);
    v->asymmetric = qc_field_setting(m, c, "asymmetric", level);
    v->act_bits = qc_bits_setting(m, c, "dst_type", level);
}

static void fill_hfmg(struct qc_row *v, const struct HFMGQuantize *c,
                      enum qc_level level)
{
    const struct qc_message *m = &qc_HFMGQuantize;

    v->act_algo = QC_HFMG;
    v->num_of_bins = qc_field_setting(m, c, "num_of_bins", level);
    v->asymmetric = qc_field_setting(m, c, "asymmetric", level);
    v->act_bits = qc_bits_setting(m, c, "dst_type", level);
}

static void fill_balancer(struct qc_row *v, const struct DMQBalancer *c,
                          enum qc_level level)
{
    if (!c)
        return;
    v->dmq_balancer =
        qc_amct_setting(&qc_DMQBalancer, c, "migration_strength", level);
    if (!v->dmq_balancer.loc.file) { /* present, with the default strength */
        v->dmq_balancer.level = level;
        v->dmq_balancer.loc = c->node->name_loc;
    }
}

static void fill(struct qc_source *s, const struct CalibrationConfig *c)
{
    if (c && c->hfmg_quantize)
        fill_hfmg(&s->v, c->hfmg_quantize, s->level);
    else
        fill_ifmr(&s->v, c ? c->ifmr_quantize : NULL, s->level);
    s->v.wts_algo = QC_ARQ;
    s->v.wts_bits = qc_field_setting(&qc_ARQuantize, c ? c->arq_quantize : NULL,
                                     "quant_bits", s->level);
    s->v.channel_wise = qc_field_setting(
        &qc_ARQuantize, c ? c->arq_quantize : NULL, "channel_wise", s->level);
    if (c)
        fill_balancer(&s->v, c->dmq_balancer, s->level);
}

/* ---- what an override may not ask ---- */

static void refuse(struct qc_resolver *r, enum qc_key key,
                   const struct qc_setting *s, const char *text,
                   const char *who)
{
    qc_report(r->qc, key, s->loc, "%s: %s", text, who);
}

static void check_override(struct qc_resolver *r, const struct qc_source *s,
                           struct qc_traits t, const char *who)
{
    const struct qc_row *v = &s->v;

    if (!t.asymmetric && v->asymmetric.set && v->asymmetric.i)
        refuse(r, QC_RES_ASYMMETRIC, &v->asymmetric,
               "activations can only be symmetric", who);
    if (!t.per_channel && v->channel_wise.set && v->channel_wise.i)
        refuse(r, QC_RES_CHANNEL_WISE, &v->channel_wise,
               "weights can only have one scale, 'channel_wise' must be false",
               who);
    if (!t.balancer && v->dmq_balancer.set)
        refuse(r, QC_RES_UNSUPPORTED_BALANCER, &v->dmq_balancer,
               "there is no 'dmq_balancer' here", who);
    if (!t.act16 && v->act_bits.i == 16)
        refuse(r, QC_RES_BITS, &v->act_bits,
               t.no_bias ? "16-bit activations need a bias"
                         : "there are no 16-bit activations",
               who);
    if (!t.bits67 && (v->wts_bits.i == 6 || v->wts_bits.i == 7))
        refuse(r, QC_RES_BITS, &v->wts_bits,
               "there are no 6- and 7-bit weights", who);
}

/* What all types that a word stands for can do; of a word for several, those
 * that the model has. */
static struct qc_traits traits_of_types(const struct qc_resolver *r,
                                        unsigned types)
{
    struct qc_traits all = {true, true, true, true, true, true, false};
    bool several = (types & (types - 1)) != 0;
    int op;

    for (op = 0; op < QRT_OP_KINDS; op++) {
        struct qc_traits t = qc_traits_of_op(op);

        if (!(types >> op & 1) || (several && !r->op_count[op]))
            continue;
        all.per_channel &= t.per_channel;
        all.asymmetric &= t.asymmetric;
        all.act16 &= t.act16;
        all.bits67 &= t.bits67;
        all.balancer &= t.balancer;
    }
    return all;
}

/* ---- overrides ---- */

static void read_types(struct qc_resolver *r, const struct AMCTConfig *c)
{
    const struct qc_source *base = r->common ? r->common : r->builtin;
    size_t i;

    for (i = 0; i < c->override_layer_types.count; i++) {
        struct OverrideLayerType *o = &c->override_layer_types.at[i];
        struct qc_source *s = qc_new_source(
            r, QC_BY_TYPE, "override_layer_types", &o->layer_type, o->node);
        unsigned types;

        fill(s, o->calibration_config);
        qc_link_row(&s->v, &base->v);
        types = qc_override_types(r, s);
        if (types)
            check_override(
                r, s, traits_of_types(r, types),
                qc_format(r->qc, "type '%.*s'", QC_ARG(o->layer_type.text))
                    .ptr);
    }
}

static void read_layers(struct qc_resolver *r, const struct AMCTConfig *c)
{
    size_t i;

    for (i = 0; i < c->override_layer_configs.count; i++) {
        struct OverrideLayer *o = &c->override_layer_configs.at[i];
        struct qc_source *s = qc_new_source(
            r, QC_BY_LAYER, "override_layer_configs", &o->layer_name, o->node);
        struct qc_layer *l;

        fill(s, o->calibration_config);
        l = qc_override_layer(r, s);
        if (!l)
            continue;
        qc_link_row(&s->v, &qc_weaker_source(r, l->op)->v);
        check_override(r, s, qc_traits_of(r, l),
                       qc_layer_words(r->qc, o->layer_name.loc.file, l));
        qc_warn_parent(r, &o->layer_name, "overridden");
    }
}

/* ---- asymmetric ---- */

/* One value that was given for a layer, above those that are weaker. */
static const struct qc_setting *stack(struct qc_resolver *r,
                                      const struct qc_setting *s,
                                      const char *why,
                                      const struct qc_setting *weaker)
{
    struct qc_setting *n = qc_alloc(r->qc, sizeof(*n));

    *n = *s;
    n->why = why;
    n->was = weaker;
    return n;
}

/* The value that counts, over all others that were given, strongest first. */
static void decide_asymmetric(struct qc_resolver *r, struct qc_row *row,
                              const struct qc_source *s)
{
    const struct qc_source *type =
        row->layer->op >= 0 ? r->by_op[row->layer->op] : NULL;
    const struct qc_setting *wins = &r->plan->activation_offset;
    const struct qc_setting *all = wins;
    struct qc_setting *a = &row->asymmetric;
    const struct qc_setting own = *a;

    if (r->common && r->common != s && r->common->v.asymmetric.set) {
        bool same = r->common->v.act_algo == row->act_algo;

        all = stack(r, &r->common->v.asymmetric,
                    same ? NULL
                         : "not asked: common_config uses another algorithm",
                    all);
        if (same)
            wins = all;
    }
    if (type && type != s && type->v.asymmetric.set)
        all = stack(r, &type->v.asymmetric,
                    "not asked: the layer has an override of its own", all);
    if (own.set) {
        *a = own;
        a->was = all;
        return;
    }
    *a = *wins;
    a->was = wins == all ? wins->was : all;
}

/* A value beside which nothing else was given has no history. */
static void drop_default_history(struct qc_setting *s)
{
    if (s->was && s->was->level == QC_BY_DEFAULT && !s->was->was)
        s->was = NULL;
}

static void force_symmetric(struct qc_resolver *r, struct qc_row *row,
                            struct qc_source *s)
{
    struct qc_setting *a = &row->asymmetric;

    if (qc_traits_of(r, row->layer).asymmetric || !a->i)
        return;
    if (s->level == QC_BY_COMMON && s->v.asymmetric.set)
        qc_hit(r->qc, &s->hit[QC_RULE_SYMMETRIC], row->layer);
    qc_force(r->qc, a, false, "false",
             "activations of this type are symmetric only");
}

/* ---- rows ---- */

static void decide(struct qc_resolver *r, struct qc_row *row,
                   struct qc_source *s)
{
    qc_decide_channel_wise(r, row, s);
    qc_decide_bits(r, row, s);
    if (row->dmq_balancer.set && !qc_traits_of(r, row->layer).balancer) {
        if (s->level == QC_BY_COMMON)
            qc_hit(r->qc, &s->hit[QC_RULE_BALANCER], row->layer);
        qc_force(r->qc, &row->dmq_balancer, 0, "none",
                 "layers of this type have no balancer");
        row->dmq_balancer.set = false;
    }
    decide_asymmetric(r, row, s);
    drop_default_history(&row->asymmetric);
    force_symmetric(r, row, s);
    qc_decide_fusion(r, row);
}

/* ---- globals ---- */

static void read_globals(struct qc_plan *p, const struct AMCTConfig *c)
{
    const struct qc_message *m = &qc_AMCTConfig;

    p->batch_num = qc_field_setting(m, c, "batch_num", QC_BY_GLOBAL);
    p->activation_offset =
        qc_field_setting(m, c, "activation_offset", QC_BY_GLOBAL);
    p->do_fusion = qc_field_setting(m, c, "do_fusion", QC_BY_GLOBAL);
    p->fakequant_precision_mode =
        qc_field_setting(m, c, "fakequant_precision_mode", QC_BY_GLOBAL);
}

/* The command line stands in for a file, so that messages have a place. */
static struct qc_value option_value(struct qc_resolver *r, const char *option,
                                    const char *text)
{
    struct qc_value v = {0};

    v.set = true;
    v.text = qc_str(text);
    v.loc.file = qc_load_text(r->qc, option, text, v.text.len);
    v.loc.len = (uint32_t)v.text.len;
    v.name_loc = v.loc;
    return v;
}

static void read_skip_option(struct qc_resolver *r, const char *text)
{
    struct qc_value all = option_value(r, "--skip-layers", text);
    struct qc_values names = {NULL, 0};
    size_t room = 0, at = 0;

    while (at <= all.text.len) {
        const char *comma = memchr(text + at, ',', all.text.len - at);
        size_t end = comma ? (size_t)(comma - text) : all.text.len;
        struct qc_value *v;

        if (end > at) {
            names.at =
                qc_grow(r->qc, names.at, names.count, &room, sizeof(*names.at));
            v = &names.at[names.count++];
            *v = all;
            v->text = (struct qc_str){text + at, end - at};
            v->loc.at = (uint32_t)at;
            v->loc.len = (uint32_t)(end - at);
        }
        at = end + 1;
    }
    qc_skip_layers(r, &names);
}

/* A number of batches, or 0. */
static int64_t count_of(struct qc_str text)
{
    int64_t n = 0;
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
        n = n * 10 + (text.ptr[i] - '0');
        if (n > (int64_t)UINT32_MAX)
            return 0;
    }
    return n;
}

static void read_batch_option(struct qc_resolver *r, const char *text)
{
    struct qc_value v = option_value(r, "--batch-num", text);
    struct qc_setting *s = &r->plan->batch_num;

    memset(s, 0, sizeof(*s));
    s->level = QC_BY_OPTION;
    s->set = true;
    s->text = v.text;
    s->i = count_of(v.text);
    if (!s->i)
        qc_report(r->qc, QC_RES_BATCH_OPTION, v.loc,
                  "'%s' is not a number of batches from 1 to 4294967295",
                  qc_shown(r->qc, v.text));
}

static void read_options(struct qc_resolver *r)
{
    const struct qc_resolve_options *o = r->o;

    if (o->batch_num)
        read_batch_option(r, o->batch_num);
    if (o->activation_offset)
        r->plan->activation_offset =
            qc_setting_bool(QC_BY_OPTION, (struct qc_loc){NULL, 0, 0},
                            strcmp(o->activation_offset, "true") == 0);
    if (o->skip_layers)
        read_skip_option(r, o->skip_layers);
}

void qc_resolve_calib(struct qc_resolver *r, const struct AMCTConfig *c)
{
    static const struct AMCTConfig none = {0};

    if (!c)
        c = &none;
    read_globals(r->plan, c);
    r->builtin =
        qc_new_source(r, QC_BY_DEFAULT, "built-in defaults", NULL, NULL);
    fill(r->builtin, NULL);
    if (c->common_config) {
        r->common = qc_new_source(r, QC_BY_COMMON, "common_config", NULL,
                                  c->common_config->node);
        fill(r->common, c->common_config);
        qc_link_row(&r->common->v, &r->builtin->v);
    }
    read_types(r, c);
    read_layers(r, c);
    qc_skip_layers(r, &c->skip_layers);
    qc_skip_types(r, &c->skip_layer_types);
    read_options(r);
    qc_skip_fusion(r, &c->skip_fusion_layers);
    qc_make_rows(r, decide);
}
