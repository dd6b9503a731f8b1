/* Rules across the fields of one message: bounds in order, names that must
 * differ, lists of equal length, pairs of widths. */
#include "checks.h"
#include "decimal.h"

#include <string.h>

/* ---- names that must differ ---- */

/* Remembers a name; the value that had it first, or null. */
static const struct qc_value *seen_before(struct qc *qc, struct qc_map *seen,
                                          const struct qc_value *v)
{
    void **first;

    if (!qc_usable(v) || !v->text.len)
        return NULL;
    first = qc_map_at(qc, seen, v->text);
    if (*first)
        return *first;
    *first = (void *)(uintptr_t)v;
    return NULL;
}

static void check_list(struct qc_checker *c, const char *field,
                       const struct qc_values *list)
{
    enum qc_key key = c->kind == QC_KIND_RETRAIN ? QC_SEM_DUPLICATE_SKIP
                                                 : QC_SEM_DUPLICATE_ITEM;
    struct qc_map seen = {0};
    size_t i;

    for (i = 0; i < list->count; i++) {
        const struct qc_value *v = &list->at[i];
        const struct qc_value *first = seen_before(c->qc, &seen, v);
        struct qc_diag *d;

        if (!first)
            continue;
        d = qc_report(c->qc, key, v->loc, "'%s' stands twice in '%s'",
                      qc_shown(c->qc, v->text), field);
        qc_note(c->qc, d, first->loc, "first here");
    }
}

static void check_override(struct qc_checker *c, struct qc_map *seen,
                           const char *what, const struct qc_value *v)
{
    const struct qc_value *first = seen_before(c->qc, seen, v);
    struct qc_diag *d;

    if (!first)
        return;
    d = qc_report(c->qc, QC_SEM_DUPLICATE_LAYER, v->loc,
                  "%s '%s' has a second override", what,
                  qc_shown(c->qc, v->text));
    qc_note(c->qc, d, first->loc, "first override here");
}

static void check_calib(struct qc_checker *c, const void *bound)
{
    const struct AMCTConfig *m = bound;
    struct qc_map layers = {0}, types = {0};
    size_t i;

    check_list(c, "skip_layers", &m->skip_layers);
    check_list(c, "skip_layer_types", &m->skip_layer_types);
    check_list(c, "skip_fusion_layers", &m->skip_fusion_layers);
    for (i = 0; i < m->override_layer_types.count; i++)
        check_override(c, &types, "type",
                       &m->override_layer_types.at[i].layer_type);
    for (i = 0; i < m->override_layer_configs.count; i++)
        check_override(c, &layers, "layer",
                       &m->override_layer_configs.at[i].layer_name);
}

/* ---- bounds in order ---- */

/* A float that may be left out. */
struct bound_value {
    const char *name;
    const struct qc_value *v; /* null: the default  */
    double value;
    bool good;
};

static struct bound_value bound_of(const struct qc_message *m, const char *name,
                                   const struct qc_value *v)
{
    struct bound_value b = {0};

    b.name = name;
    b.good = true;
    if (v->set) {
        b.v = v;
        b.good = qc_usable(v) && qc_f32_is_finite(qc_f32_bits(v->as.f));
        b.value = v->as.f;
    } else {
        qc_parse_double(qc_str(qc_find_field(m, qc_str(name))->default_text),
                        &b.value);
    }
    return b;
}

/* 'search_step' (0.01), 'search_step' (0.01, the default) */
static const char *bound_words(struct qc *qc, const struct bound_value *b)
{
    return qc_format(qc, "'%s' (%s%s)", b->name, qc_shown_float(qc, b->value),
                     b->v ? "" : ", the default")
        .ptr;
}

static int compare(struct qc *qc, const struct bound_value *a,
                   const struct bound_value *b)
{
    if (a->value < b->value * 0.999 && b->value > 0)
        return -1;
    return qc_decimal_compare(qc_amct_text(qc, a->value),
                              qc_amct_text(qc, b->value));
}

/* Reports at the later of two values, with a note at the other. */
static void wrong_order(struct qc *qc, const struct bound_value *low,
                        const struct bound_value *high)
{
    bool at_low = !high->v || (low->v && low->v->loc.at > high->v->loc.at);
    const struct bound_value *here = at_low ? low : high;
    const struct bound_value *other = at_low ? high : low;
    struct qc_diag *d;

    d = qc_report(qc, QC_SEM_RANGE_ORDER, here->v->loc, "%s must be %s than %s",
                  bound_words(qc, here), at_low ? "less" : "greater",
                  bound_words(qc, other));
    if (other->v)
        qc_note(qc, d, other->v->loc, "'%s' is here", other->name);
}

/* step <= end - start, in decimal: config.md E.8. */
static void check_step(struct qc *qc, const struct bound_value *step,
                       const struct bound_value *start,
                       const struct bound_value *end)
{
    const struct qc_value *at = step->v ? step->v : end->v ? end->v : start->v;
    struct qc_diag *d;

    if (step->value < (end->value - start->value) * 0.999 ||
        qc_decimal_compare_difference(qc_amct_text(qc, step->value),
                                      qc_amct_text(qc, end->value),
                                      qc_amct_text(qc, start->value)) <= 0)
        return;
    d = qc_report(qc, QC_SEM_SEARCH_STEP, at->loc,
                  "%s must not be greater than the range from %s to %s",
                  bound_words(qc, step), qc_shown_float(qc, start->value),
                  qc_shown_float(qc, end->value));
    if (end->v && end->v != at)
        qc_note(qc, d, end->v->loc, "'%s' is here", end->name);
    if (start->v && start->v != at)
        qc_note(qc, d, start->v->loc, "'%s' is here", start->name);
}

static void check_ifmr(struct qc_checker *c, const void *bound)
{
    const struct qc_message *t = &qc_FMRQuantize;
    const struct FMRQuantize *m = bound;
    struct bound_value start, end, step;

    if (!m->search_range_start.set && !m->search_range_end.set &&
        !m->search_step.set)
        return;
    start = bound_of(t, "search_range_start", &m->search_range_start);
    end = bound_of(t, "search_range_end", &m->search_range_end);
    step = bound_of(t, "search_step", &m->search_step);
    if (!start.good || !end.good || !(start.value > 0))
        return;
    if ((start.v || end.v) && compare(c->qc, &start, &end) >= 0)
        wrong_order(c->qc, &start, &end);
    else if (step.good && step.value > 0)
        check_step(c->qc, &step, &start, &end);
}

static void check_ada(struct qc_checker *c, const void *bound)
{
    const struct qc_message *t = &qc_ADAquantize;
    const struct ADAquantize *m = bound;
    struct bound_value start, end;

    if (!m->beta_range_start.set && !m->beta_range_end.set)
        return;
    start = bound_of(t, "beta_range_start", &m->beta_range_start);
    end = bound_of(t, "beta_range_end", &m->beta_range_end);
    if (start.good && end.good && compare(c->qc, &end, &start) >= 0)
        wrong_order(c->qc, &end, &start);
}

/* ---- widths of retraining ---- */

/* Bits of a DataType; 8 when absent. */
static int bits_of(const struct qc_value *v)
{
    return v && qc_usable(v) ? 4 << v->as.e : 8;
}

static void check_pair(struct qc_checker *c,
                       const struct RetrainDataQuantConfig *data,
                       const struct RetrainWeightQuantConfig *weights)
{
    const struct qc_value *act = NULL, *wts = NULL;
    struct qc_diag *d;

    if (data && data->ulq_quantize)
        act = &data->ulq_quantize->dst_type;
    if (weights && weights->arq_retrain)
        wts = &weights->arq_retrain->dst_type;
    if (weights && weights->ulq_retrain)
        wts = &weights->ulq_retrain->dst_type;
    if (bits_of(act) == 4) {
        d = qc_report(c->qc, QC_SEM_BITS, act->loc,
                      "activations cannot have 4 bits in this file");
        qc_help(c->qc, d,
                "config.json takes INT4 activations with INT4 "
                "weights");
    } else if (bits_of(wts) == 16) {
        qc_report(c->qc, QC_SEM_BITS, wts->loc, "weights cannot have 16 bits");
    } else if (bits_of(act) == 16 && bits_of(wts) == 4) {
        d = qc_report(c->qc, QC_SEM_BITS, wts->loc,
                      "weights of 4 bits need activations of 8");
        qc_note(c->qc, d, act->loc, "activations get 16 bits here");
    }
}

static void check_retrain(struct qc_checker *c, const void *bound)
{
    const struct AMCTRetrainConfig *m = bound;
    struct qc_map layers = {0}, types = {0};
    size_t i;

    check_list(c, "skip_layers", &m->skip_layers);
    check_list(c, "skip_layer_types", &m->skip_layer_types);
    check_list(c, "quant_skip_layers", &m->quant_skip_layers);
    check_list(c, "quant_skip_types", &m->quant_skip_types);
    check_pair(c, m->retrain_data_quant_config, m->retrain_weight_quant_config);
    for (i = 0; i < m->override_layer_types.count; i++) {
        const struct RetrainOverrideLayerType *o =
            &m->override_layer_types.at[i];

        check_override(c, &types, "type", &o->layer_type);
        check_pair(c, o->retrain_data_quant_config,
                   o->retrain_weight_quant_config);
    }
    for (i = 0; i < m->override_layer_configs.count; i++) {
        const struct RetrainOverrideLayer *o = &m->override_layer_configs.at[i];

        check_override(c, &layers, "layer", &o->layer_name);
        check_pair(c, o->retrain_data_quant_config,
                   o->retrain_weight_quant_config);
    }
}

/* ---- records ---- */

static void check_records(struct qc_checker *c, const void *bound)
{
    const struct ScaleOffsetRecord *m = bound;
    struct qc_map seen = {0};
    size_t i;

    for (i = 0; i < m->record.count; i++) {
        const struct qc_value *key = &m->record.at[i].key;
        const struct qc_value *first = seen_before(c->qc, &seen, key);
        struct qc_diag *d;

        if (!first)
            continue;
        d = qc_report(c->qc, QC_SEM_DUPLICATE_RECORD, key->loc,
                      "layer '%s' has a second record",
                      qc_shown(c->qc, key->text));
        qc_note(c->qc, d, first->loc, "first record here");
    }
}

/* Also makes the name known to the checks of the entry's values. */
static void check_entry(struct qc_checker *c, const void *bound)
{
    const struct MapFiledEntry *m = bound;
    const struct qc_node *n = m->node;
    struct qc_diag *d;

    c->layer = qc_usable(&m->key) ? m->key.text : QC_STR("");
    if (m->key.set || !c->clean)
        return;
    d = qc_report(c->qc, QC_SEM_MISSING_KEY, n->name.len ? n->name_loc : n->loc,
                  "this record does not name its layer");
    qc_help(c->qc, d, "write key: \"...\" inside it");
}

static void check_counts(struct qc_checker *c, const struct qc_values *scales,
                         const struct qc_values *offsets)
{
    struct qc_diag *d;

    if (!scales->count || !offsets->count || scales->count == offsets->count)
        return;
    d = qc_report(c->qc, QC_SEM_COUNT_MISMATCH, offsets->at[0].name_loc,
                  "layer '%s' has %zu 'scale_w' but %zu 'offset_w'",
                  qc_shown(c->qc, c->layer), scales->count, offsets->count);
    qc_note(c->qc, d, scales->at[0].name_loc, "the %zu 'scale_w' begin here",
            scales->count);
}

static void check_word(struct qc_checker *c, const char *field,
                       const struct qc_value *v, const char *words)
{
    const char *p = words;
    struct qc_diag *d;

    if (!qc_usable(v))
        return;
    while (*p) {
        size_t len = strcspn(p, ",");

        if (qc_equal(v->text, (struct qc_str){p, len}))
            return;
        p += len;
        p += strspn(p, ", ");
    }
    d = qc_report(c->qc, QC_SEM_ENUM, v->loc, "'%s' is not a value of '%s'%s",
                  qc_shown(c->qc, v->text), field, qc_of_layer(c));
    qc_help(c->qc, d, "values: %s", words);
}

static void check_offset(struct qc_checker *c,
                         const struct SingleLayerRecord *m)
{
    bool wide = qc_usable(&m->act_type) && qc_equalz(m->act_type.text, "INT16");
    const struct qc_value *v = &m->offset_d;
    struct qc_diag *d;

    /* What not even 16 bits hold is found by the range of the field. */
    if (!qc_usable(v) || wide || v->as.i < -32768 || v->as.i > 32767 ||
        (v->as.i >= -128 && v->as.i <= 127))
        return;
    d = qc_report(c->qc, QC_SEM_OFFSET_RANGE, v->loc,
                  "'offset_d' (%lld)%s must be from -128 to 127",
                  (long long)v->as.i, qc_of_layer(c));
    qc_help(c->qc, d, "-32768 to 32767 needs act_type: \"INT16\"");
}

/* 1 to 16 for each channel, or 0 for all. */
static void check_shifts(struct qc_checker *c, const struct qc_values *shifts)
{
    size_t i;

    for (i = 1; i < shifts->count; i++) {
        const struct qc_value *v = &shifts->at[i];

        if (!qc_usable(v) || !qc_usable(&shifts->at[0]) ||
            (v->as.u == 0) == (shifts->at[0].as.u == 0))
            continue;
        qc_report(c->qc, QC_SEM_SHIFT_BIT, v->loc,
                  "'shift_bit' is 0 for some channels%s only; all or none",
                  qc_of_layer(c));
        return;
    }
}

static bool is_zero(const struct qc_value *v)
{
    return !v->set || (qc_usable(v) && qc_f32_bits(v->as.f) << 1 == 0);
}

static bool all_zero(const struct SingleLayerRecord *m)
{
    size_t i;

    for (i = 0; i < m->scale_w.count; i++)
        if (!is_zero(&m->scale_w.at[i]))
            return false;
    for (i = 0; i < m->offset_w.count; i++)
        if (m->offset_w.at[i].as.i)
            return false;
    return is_zero(&m->scale_d) && !m->offset_d.as.i && !m->shift_bit.count &&
           !m->tensor_balance_factor.count;
}

/* AMCT passes over an entry of zeros; anywhere else a zero scale is fatal. */
static void check_factors(struct qc_checker *c, const void *bound)
{
    const struct SingleLayerRecord *m = bound;

    check_counts(c, &m->scale_w, &m->offset_w);
    check_offset(c, m);
    check_shifts(c, &m->shift_bit);
    check_word(c, "dst_type", &m->dst_type, "INT4, INT8");
    check_word(c, "act_type", &m->act_type, "INT4, INT8, INT16");
    check_word(c, "wts_type", &m->wts_type, "INT4, INT6, INT7, INT8");
    check_word(c, "fakequant_precision_mode", &m->fakequant_precision_mode,
               "DEFAULT, FORCE_FP16_QUANT");
    c->scale_key = all_zero(m) ? QC_SEM_SCALE_ZERO : QC_SEM_SCALE;
}

qc_message_check qc_rules_of(const struct qc_message *m)
{
    static const struct {
        const struct qc_message *m;
        qc_message_check check;
    } rules[] = {
        {&qc_AMCTConfig,        check_calib  },
        {&qc_FMRQuantize,       check_ifmr   },
        {&qc_ADAquantize,       check_ada    },
        {&qc_AMCTRetrainConfig, check_retrain},
        {&qc_ScaleOffsetRecord, check_records},
        {&qc_MapFiledEntry,     check_entry  },
        {&qc_SingleLayerRecord, check_factors},
    };
    size_t i;

    for (i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rules[i].m == m)
            return rules[i].check;
    return NULL;
}
