/* config.json as AMCT writes it, and the values that reading it gives. */
#include "emit.h"

#include "decimal.h"
#include "json_out.h"
#include "resolve.h"

#include <stdlib.h>

/* ---- values ---- */

static const char *act_algo(const struct qc_row *row)
{
    return row->act_algo == QC_HFMG  ? "hfmg"
           : row->act_algo == QC_ULQ ? "ulq_quantize"
                                     : "ifmr";
}

static const char *wts_algo(const struct qc_row *row)
{
    switch (row->wts_algo) {
    case QC_ARQ_RETRAIN:
        return "arq_retrain";
    case QC_ULQ_RETRAIN:
        return "ulq_retrain";
    default:
        return "arq_quantize";
    }
}

/* AMCT does not downgrade weights when it reads config.json; a value that the
 * tables cannot keep is shown as written in its mode. */
static int64_t wts_bits(const struct qc_json *j, const struct qc_plan *p,
                        const struct qc_row *row)
{
    const struct qc_setting *s = &row->wts_bits;
    bool json =
        p->kind == QC_KIND_JSON_CALIB || p->kind == QC_KIND_JSON_RETRAIN;

    if (j->out->qc->amct && json && s->level == QC_BY_RULE && s->was)
        return s->was->i;
    return s->i;
}

static struct qc_str int_word(struct qc *qc, int64_t bits)
{
    return qc_format(qc, "INT%d", (int)bits);
}

static int by_name(const void *a, const void *b)
{
    const struct qc_row *const *x = a, *const *y = b;

    return qc_compare((*x)->layer->name, (*y)->layer->name);
}

static const struct qc_row **sorted_rows(struct qc *qc, const struct qc_plan *p)
{
    const struct qc_row **rows =
        qc_alloc(qc, (p->count + 1) * sizeof(struct qc_row *));
    size_t i;

    for (i = 0; i < p->count; i++)
        rows[i] = &p->rows[i];
    qsort(rows, p->count, sizeof(*rows), by_name);
    return rows;
}

/* Does the dialect's config.json have this global key? */
static bool has_key(const struct qc_plan *p, const char *key)
{
    const struct qc_message *m = p->retrain ? &qc_RetrainJson : &qc_CalibJson;
    const struct qc_field *f = qc_find_field(m, qc_str(key));

    return f && qc_field_in(f, p->dialect);
}

static struct qc_str precision_mode(const struct qc_plan *p)
{
    return p->fakequant_precision_mode.i ? QC_STR("FORCE_FP16_QUANT")
                                         : QC_STR("DEFAULT");
}

/* ---- post-training ---- */

static void put_post_globals(struct qc_json *j, const struct qc_plan *p,
                             bool effective)
{
    size_t i;

    qc_json_int(j, "version", 1);
    if (has_key(p, "batch_num"))
        qc_json_int(j, "batch_num", p->batch_num.i);
    qc_json_bool(j, "activation_offset", p->activation_offset.i);
    qc_json_bool(j, "do_fusion", p->do_fusion.i);
    if (effective || p->fakequant_precision_mode.i)
        qc_json_text(j, "fakequant_precision_mode", precision_mode(p));
    qc_json_open(j, "skip_fusion_layers", '[');
    for (i = 0; i < p->skip_fusion_count; i++)
        qc_json_text(j, NULL, p->skip_fusion[i]->text);
    qc_json_close(j, ']');
}

static void put_ifmr(struct qc_json *j, const struct qc_row *row,
                     bool effective)
{
    qc_json_float(j, "max_percentile", row->max_percentile.f);
    qc_json_float(j, "min_percentile", row->min_percentile.f);
    if (effective) {
        qc_json_float(j, "search_range_start", row->search_range_start.f);
        qc_json_float(j, "search_range_end", row->search_range_end.f);
    } else {
        qc_json_open(j, "search_range", '[');
        qc_json_float(j, NULL, row->search_range_start.f);
        qc_json_float(j, NULL, row->search_range_end.f);
        qc_json_close(j, ']');
    }
    qc_json_float(j, "search_step", row->search_step.f);
}

/* A config.json that leaves asymmetric out is read as leaving it out. */
static bool shows_asymmetric(const struct qc_plan *p, const struct qc_row *row,
                             bool effective)
{
    return !effective || p->kind != QC_KIND_JSON_CALIB ||
           row->asymmetric.level == QC_BY_LAYER;
}

static void put_activations(struct qc_json *j, const struct qc_plan *p,
                            const struct qc_row *row, bool effective)
{
    qc_json_open(j, "activation_quant_params", '{');
    qc_json_int(j, "num_bits", row->act_bits.i);
    if (row->act_algo == QC_IFMR)
        put_ifmr(j, row, effective);
    qc_json_text(j, "act_algo", qc_str(act_algo(row)));
    if (shows_asymmetric(p, row, effective))
        qc_json_bool(j, "asymmetric", row->asymmetric.i);
    if (row->act_algo == QC_HFMG)
        qc_json_int(j, "num_of_bins", row->num_of_bins.i);
    if (effective) {
        qc_json_bool(j, "with_offset", row->asymmetric.i);
        qc_json_int(j, "batch_num", p->batch_num.i);
        qc_json_text(j, "fakequant_precision_mode", precision_mode(p));
    }
    qc_json_close(j, '}');
}

static void put_post_layer(struct qc_json *j, const struct qc_plan *p,
                           const struct qc_row *row, bool effective)
{
    qc_json_key(j, row->layer->name);
    qc_json_open(j, "", '{');
    qc_json_bool(j, "quant_enable", row->enabled.i);
    if (row->dmq_balancer.set)
        qc_json_float(j, "dmq_balancer_param", row->dmq_balancer.f);
    put_activations(j, p, row, effective);
    qc_json_open(j, "weight_quant_params", '{');
    qc_json_int(j, "num_bits", wts_bits(j, p, row));
    qc_json_bool(j, "channel_wise", row->channel_wise.i);
    qc_json_text(j, "wts_algo", qc_str(wts_algo(row)));
    if (effective)
        qc_json_bool(j, "with_offset", false);
    qc_json_close(j, '}');
    qc_json_close(j, '}');
}

static void put_post(struct qc_out *o, const struct qc_plan *p, bool effective)
{
    const struct qc_row **rows = sorted_rows(o->qc, p);
    struct qc_json j = {o, 0, false};
    size_t i;

    qc_json_open(&j, NULL, '{');
    put_post_globals(&j, p, effective);
    for (i = 0; i < p->count; i++)
        if (!effective || rows[i]->enabled.i)
            put_post_layer(&j, p, rows[i], effective);
    qc_json_close(&j, '}');
}

/* ---- retraining ---- */

static void put_retrain_layer(struct qc_json *j, const struct qc_plan *p,
                              const struct qc_row *row)
{
    struct qc_str bits = int_word(j->out->qc, wts_bits(j, p, row));

    qc_json_key(j, row->layer->name);
    qc_json_open(j, "", '{');
    qc_json_bool(j, "retrain_enable", row->enabled.i);
    qc_json_open(j, "retrain_data_config", '{');
    qc_json_text(j, "algo", qc_str(act_algo(row)));
    if (row->clip_max.set)
        qc_json_float(j, "clip_max", row->clip_max.f);
    if (row->clip_min.set)
        qc_json_float(j, "clip_min", row->clip_min.f);
    if (row->fixed_min.level != QC_BY_GRAPH)
        qc_json_bool(j, "fixed_min", row->fixed_min.i);
    qc_json_text(j, "dst_type", int_word(j->out->qc, row->act_bits.i));
    qc_json_close(j, '}');
    qc_json_open(j, "retrain_weight_config", '{');
    qc_json_text(j, "algo", qc_str(wts_algo(row)));
    if (row->wts_algo == QC_ULQ_RETRAIN)
        qc_json_text(j, "dst_type", bits);
    qc_json_bool(j, "channel_wise", row->channel_wise.i);
    if (row->wts_algo != QC_ULQ_RETRAIN)
        qc_json_text(j, "dst_type", bits);
    qc_json_close(j, '}');
    qc_json_close(j, '}');
}

static void put_retrain(struct qc_out *o, const struct qc_plan *p)
{
    struct qc_json j = {o, 0, false};
    size_t i;

    qc_json_open(&j, NULL, '{');
    qc_json_int(&j, "version", 1);
    if (p->fakequant_precision_mode.i)
        qc_json_text(&j, "fakequant_precision_mode", precision_mode(p));
    if (has_key(p, "batch_num"))
        qc_json_int(&j, "batch_num", p->batch_num.i);
    for (i = 0; i < p->count; i++)
        put_retrain_layer(&j, p, &p->rows[i]);
    qc_json_close(&j, '}');
}

/* ---- a record ---- */

static void put_word(struct qc_json *j, const char *key,
                     const struct qc_value *v, const char *absent)
{
    qc_json_text(j, key, v->set ? v->text : qc_str(absent));
}

/* The shape that makes one factor per channel fit the weights. */
static void put_shape(struct qc_json *j, const struct qc_factors *f)
{
    const struct qc_layer *l = f->layer;
    unsigned axis = l->op >= 0 ? (unsigned)qc_ops[l->op].out_axis : 0;
    unsigned rank = l->rank ? l->rank : 1, i;

    qc_json_open(j, "shape", '[');
    for (i = 0; i < rank; i++)
        qc_json_int(j, NULL, i == axis ? (int64_t)f->count_w : 1);
    qc_json_close(j, ']');
}

enum factor { WEIGHT_SCALE, WEIGHT_OFFSET, SHIFT };

static void put_one(struct qc_json *j, const char *key,
                    const struct qc_factors *f, enum factor which, size_t i)
{
    if (which == WEIGHT_SCALE)
        qc_json_float(j, key, qc_amct_value(f->scale_w[i].as.f));
    else
        qc_json_int(j, key, which == SHIFT ? 0 : f->offset_w[i].as.i);
}

static void put_factor(struct qc_json *j, const char *key,
                       const struct qc_factors *f, enum factor which)
{
    size_t i;

    if (f->count_w == 1) {
        put_one(j, key, f, which, 0);
        return;
    }
    qc_json_open(j, key, '{');
    put_shape(j, f);
    qc_json_open(j, "values", '[');
    for (i = 0; i < f->count_w; i++)
        put_one(j, NULL, f, which, i);
    qc_json_close(j, ']');
    qc_json_close(j, '}');
}

static void put_factors(struct qc_json *j, const struct qc_factors *f)
{
    const struct qc_values *balance = &f->value->tensor_balance_factor;
    size_t i;

    qc_json_key(j, f->layer->name);
    qc_json_open(j, "", '{');
    qc_json_float(j, "data_scale", qc_amct_value(f->scale_d->as.f));
    qc_json_int(j, "data_offset", f->offset_d->as.i);
    put_word(j, "dst_type", &f->value->dst_type, "UNSET");
    put_word(j, "act_type", &f->value->act_type, "UNSET");
    put_word(j, "wts_type", &f->value->wts_type, "UNSET");
    put_word(j, "fakequant_precision_mode", &f->value->fakequant_precision_mode,
             "DEFAULT");
    put_factor(j, "weight_scale", f, WEIGHT_SCALE);
    put_factor(j, "weight_offset", f, WEIGHT_OFFSET);
    put_factor(j, "shift_n", f, SHIFT);
    if (balance->count) {
        qc_json_open(j, "tensor_balance_factor", '[');
        for (i = 0; i < balance->count; i++)
            qc_json_float(j, NULL, qc_amct_value(balance->at[i].as.f));
        qc_json_close(j, ']');
    }
    qc_json_close(j, '}');
}

static void put_record(struct qc_out *o, const struct qc_plan *p)
{
    struct qc_json j = {o, 0, false};
    size_t i;

    qc_json_open(&j, NULL, '{');
    qc_json_open(&j, "layers", '{');
    for (i = 0; i < p->factor_count; i++)
        put_factors(&j, &p->factors[i]);
    qc_json_close(&j, '}');
    qc_json_open(&j, "skip_fusion_layers", '[');
    for (i = 0; i < p->record_skip_fusion_count; i++)
        qc_json_text(&j, NULL, p->record_skip_fusion[i]->text);
    qc_json_close(&j, ']');
    qc_json_close(&j, '}');
}

void qc_emit_config(struct qc_out *o, const struct qc_plan *p)
{
    if (p->retrain)
        put_retrain(o, p);
    else
        put_post(o, p, false);
}

void qc_emit_effective(struct qc_out *o, const struct qc_plan *p)
{
    if (p->kind == QC_KIND_AUTO && p->record)
        put_record(o, p);
    else if (p->retrain)
        put_retrain(o, p);
    else
        put_post(o, p, true);
    qc_puts(o, "\n");
}
