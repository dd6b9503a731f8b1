/* Checks of config.json values that need no model: ranges, pairs, values of
 * two algorithms, and that something is enabled at all. Each looks at values
 * that bind_json.c found to be of the right type. */
#include "json.h"

#include <string.h>

#include "decimal.h"
#include "schema_tables.h"

#define RANGES 16 /* kept; more than a config.json has */

struct checker {
    struct qc *qc;
    struct {
        const struct qc_field *field;
        struct qc_range range;
    } ranges[RANGES]; /* by field number: no text is parsed twice in a row */
    struct qc_json_where where;
    bool ada; /* reported */
};

static const char *name(struct checker *c, const char *key,
                        const struct qc_value *v)
{
    return qc_json_name(c->qc, &c->where, key, v);
}

static bool usable(const struct qc_value *v)
{
    return v->set && !v->poisoned;
}

/* ---- ranges, by the descriptors ---- */

static double number_of(const struct qc_field *f, const struct qc_value *v)
{
    if (f->type == QC_DOUBLE || f->type == QC_FLOAT)
        return v->as.f;
    if (f->type == QC_INT32 || f->type == QC_INT64)
        return (double)v->as.i;
    /* bind_json.c has no place for the sign of an unsigned one. */
    return v->text.ptr[0] == '-' ? -1 - (double)v->as.u : (double)v->as.u;
}

static const struct qc_range *range_of(struct checker *c,
                                       const struct qc_field *f)
{
    unsigned i = f->number % RANGES;

    if (c->ranges[i].field != f) {
        c->ranges[i].field = f;
        qc_range_parse(f->range, &c->ranges[i].range);
    }
    return &c->ranges[i].range;
}

/* Kernels compute in binary32: a value that has no end on one side must not
 * become 0 or infinite there. */
static bool is_good_real(const struct qc_field *f, const struct qc_range *r,
                         double v)
{
    if ((f->type != QC_DOUBLE && f->type != QC_FLOAT) || r->count ||
        (qc_is_finite(r->low) && qc_is_finite(r->high)))
        return true;
    return qc_range_has(r, qc_f32_value(qc_f32_bits(v)));
}

/* "greater than 0", "in (0.5, 1]", "4, 8 or 16", "1". */
static const char *range_words(struct qc *qc, const char *range)
{
    const char *w = qc_range_words(qc, range);

    if (strncmp(w, "above ", 6) == 0)
        return qc_format(qc, "greater than %s", w + 6).ptr;
    if (strncmp(w, "below ", 6) == 0)
        return qc_format(qc, "less than %s", w + 6).ptr;
    return w;
}

static void check_range(struct checker *c, const struct qc_field *f,
                        const struct qc_value *v)
{
    const struct qc_range *r;
    double d;
    bool good;

    if (!usable(v))
        return;
    r = range_of(c, f);
    d = number_of(f, v);
    good = qc_range_has(r, d);
    if (good && is_good_real(f, r, d))
        return;
    qc_report(c->qc, QC_CFG_RANGE, v->loc, "%s must be %s%s",
              name(c, f->name, v), range_words(c->qc, f->range),
              good ? " in binary32 too" : "");
}

/* All values of a bound message and the messages in it. */
static void check_ranges(struct checker *c, const struct qc_message *m,
                         const void *bound)
{
    size_t i, k;

    for (i = 0; i < m->count; i++) {
        const struct qc_field *f = &m->fields[i];
        const void *member = (const char *)bound + f->offset;
        const struct qc_values *list = member;
        const void *inner;

        if (f->inline_keys)
            continue;
        if (f->type == QC_MESSAGE) {
            memcpy(&inner, member, sizeof(inner));
            if (inner)
                check_ranges(c, f->message, inner);
        } else if (!f->range) {
            continue;
        } else if (f->label == QC_REPEATED) {
            for (k = 0; k < list->count; k++)
                check_range(c, f, &list->at[k]);
        } else {
            check_range(c, f, member);
        }
    }
}

/* ---- names ---- */

/* Where U+0000 was written in a string: its escape. */
static struct qc_loc escape_of_nul(struct qc_loc loc)
{
    const char *p = loc.file->text + loc.at, *end = p + loc.len;

    for (; end - p >= 6; p += *p == '\\' ? 2 : 1)
        if (memcmp(p, "\\u0000", 6) == 0)
            return (struct qc_loc){loc.file, (uint32_t)(p - loc.file->text), 6};
    return loc;
}

static void check_name(struct checker *c, const struct qc_value *v)
{
    if (!usable(v))
        return;
    if (v->text.len == 0)
        qc_report(c->qc, QC_CFG_EMPTY_NAME, v->loc,
                  "a layer name cannot be empty");
    else if (memchr(v->text.ptr, '\0', v->text.len))
        qc_report(c->qc, QC_CFG_NUL_IN_NAME, escape_of_nul(v->loc),
                  "a layer name cannot hold the character U+0000");
}

static void check_name_list(struct checker *c, const char *field,
                            const struct qc_values *list)
{
    struct qc_map seen = {0};
    size_t i;

    for (i = 0; i < list->count; i++) {
        const struct qc_value *v = &list->at[i];
        struct qc_diag *d;
        void **first;

        check_name(c, v);
        if (!usable(v))
            continue;
        first = qc_map_at(c->qc, &seen, v->text);
        if (!*first) {
            *first = &list->at[i];
            continue;
        }
        d = qc_report(c->qc, QC_CFG_DUPLICATE_ITEM, v->loc,
                      "layer \"%s\" is listed twice in \"%s\"",
                      qc_shown(c->qc, v->text), field);
        qc_note(c->qc, d, ((const struct qc_value *)*first)->loc,
                "first listed here");
    }
}

/* ---- retraining ---- */

/* AMCT refuses 3 where it wants a float; others write 3 for 3.0. */
static void check_decimal_point(struct checker *c, const char *key,
                                const struct qc_value *v)
{
    struct qc_diag *d;

    if (!usable(v) || memchr(v->text.ptr, '.', v->text.len) ||
        memchr(v->text.ptr, 'e', v->text.len) ||
        memchr(v->text.ptr, 'E', v->text.len))
        return;
    d = qc_report(c->qc, QC_CFG_INT_FOR_FLOAT, v->loc,
                  "%s needs a decimal point, found %s", name(c, key, NULL),
                  qc_shown(c->qc, v->text));
    qc_help(c->qc, d, "write %s.0", qc_shown(c->qc, v->text));
}

static void check_clip(struct checker *c, const struct RetrainDataConfig *data)
{
    const struct qc_value *max = &data->clip_max, *min = &data->clip_min;
    const struct qc_value *one = max->set ? max : min;

    check_decimal_point(c, "clip_max", max);
    check_decimal_point(c, "clip_min", min);
    if (max->set != min->set)
        qc_report(c->qc, QC_CFG_PAIR, one->name_loc,
                  "layer \"%s\" gives \"%s\" without \"%s\"; give both or none",
                  qc_shown(c->qc, c->where.layer),
                  max->set ? "clip_max" : "clip_min",
                  max->set ? "clip_min" : "clip_max");
}

static const char *width_word(const struct qc_value *v)
{
    int32_t e = v->set ? v->as.e : DataType_INT8;

    return qc_find_enum_number(&qc_DataType, e)->name;
}

/* The widths that AMCT pairs: config.md B.2. */
static bool is_pair(const char *data, const char *weights)
{
    static const char *const pairs[][2] = {
        {"INT8",  "INT8"},
        {"INT16", "INT8"},
        {"INT8",  "INT4"},
        {"INT4",  "INT4"}
    };
    size_t i;

    for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(data, pairs[i][0]) == 0 && strcmp(weights, pairs[i][1]) == 0)
            return true;
    return false;
}

static void check_widths(struct checker *c, const struct RetrainLayer *l)
{
    static const struct qc_value none;
    const struct qc_value *data = &none, *weights = &none;
    struct qc_diag *d;

    if (l->retrain_data_config)
        data = &l->retrain_data_config->dst_type;
    if (l->retrain_weight_config)
        weights = &l->retrain_weight_config->dst_type;
    if (data->poisoned || weights->poisoned ||
        is_pair(width_word(data), width_word(weights)))
        return;
    d = qc_report(c->qc, QC_CFG_BITS, data->set ? data->loc : weights->loc,
                  "layer \"%s\" cannot have %s data with %s weights",
                  qc_shown(c->qc, c->where.layer), width_word(data),
                  width_word(weights));
    qc_help(c->qc, d,
            "pairs of data and weights: INT8 and INT8, INT16 and INT8, INT8 "
            "and INT4, INT4 and INT4");
    if (data->set && weights->set)
        qc_note(c->qc, d, weights->loc, "the weights are here");
}

static void check_retrain_layer(struct checker *c, const struct RetrainLayer *l)
{
    if (l->retrain_data_config)
        check_clip(c, l->retrain_data_config);
    check_ranges(c, &qc_RetrainLayer, l);
    check_widths(c, l);
}

/* ---- post-training ---- */

/* The algorithm whose parameter a member of activation_quant_params is; null:
 * of both. */
static const char *algo_of(const struct qc_node *n)
{
    static const char *const ifmr[] = {"search_step", "search_range",
                                       "max_percentile", "min_percentile"};
    size_t i;

    if (qc_equalz(n->name, "act_algo"))
        return qc_equalz(n->text, "ifmr")   ? "ifmr"
               : qc_equalz(n->text, "hfmg") ? "hfmg"
                                            : NULL;
    if (qc_equalz(n->name, "num_of_bins"))
        return "hfmg";
    for (i = 0; i < sizeof(ifmr) / sizeof(ifmr[0]); i++)
        if (qc_equalz(n->name, ifmr[i]))
            return "ifmr";
    return NULL;
}

static void check_act_algos(struct checker *c, const struct qc_node *object)
{
    const struct qc_node *n, *first = NULL;
    struct qc_diag *d;

    for (n = object->first; n; n = n->next) {
        const char *algo = algo_of(n);

        if (!algo)
            continue;
        if (!first)
            first = n;
        if (strcmp(algo, algo_of(first)) == 0)
            continue;
        d = qc_report(c->qc, QC_CFG_CONFLICT, n->name_loc,
                      "\"%.*s\" is for %s, but \"%.*s\" of layer \"%s\" is "
                      "for %s",
                      QC_ARG(n->name), algo, QC_ARG(first->name),
                      qc_shown(c->qc, c->where.layer), algo_of(first));
        qc_note(c->qc, d, first->name_loc, "\"%.*s\" is here",
                QC_ARG(first->name));
        return;
    }
}

static struct qc_loc list_place(const struct qc_node *object, const char *key)
{
    return qc_child(object, key)->loc;
}

static bool is_pair_of_numbers(const struct qc_values *v)
{
    return v->count == 2 && !v->at[0].poisoned && !v->at[1].poisoned;
}

static void check_search(struct checker *c,
                         const struct ActivationQuantParams *a)
{
    const struct qc_values *range = &a->search_range;
    const struct qc_value *step = &a->search_step;
    struct qc_str from = QC_STR("0.7"), to = QC_STR("1.3");

    if (range->count && !is_pair_of_numbers(range))
        return;
    if (range->count) {
        from = range->at[0].text;
        to = range->at[1].text;
    }
    if (range->count && range->at[0].as.f >= range->at[1].as.f) {
        qc_report(c->qc, QC_CFG_RANGE, list_place(a->node, "search_range"),
                  "%s must ascend: %s is not less than %s",
                  name(c, "search_range", NULL), qc_shown(c->qc, from),
                  qc_shown(c->qc, to));
        return;
    }
    if (!usable(step) || !qc_is_finite(step->as.f) || !(step->as.f > 0) ||
        (range->count && (!qc_is_finite(range->at[0].as.f) ||
                          !qc_is_finite(range->at[1].as.f))) ||
        qc_decimal_compare_difference(step->text, to, from) <= 0)
        return;
    qc_report(c->qc, range->count ? QC_CFG_RANGE : QC_CFG_STEP_ALONE, step->loc,
              "%s must be at most the width of \"search_range\", %s to %s%s",
              name(c, "search_step", step), qc_shown(c->qc, from),
              qc_shown(c->qc, to), range->count ? "" : " by default");
}

static bool asks_for_ada(const struct WeightQuantParams *w)
{
    return usable(&w->wts_algo) &&
           w->wts_algo.as.e == CalibWtsAlgo_ada_quantize;
}

static void check_wts_algos(struct checker *c,
                            const struct WeightQuantParams *w)
{
    const struct qc_value *algo = &w->wts_algo;
    const struct qc_node *n;
    struct qc_diag *d;

    if (algo->poisoned)
        return;
    if (asks_for_ada(w)) {
        if (c->ada)
            return;
        c->ada = true;
        qc_report(c->qc, QC_CFG_UNSUPPORTED, algo->loc,
                  "\"ada_quantize\" is known to AMCT but not supported here");
        return;
    }
    for (n = w->node->first; n; n = n->next) {
        const struct qc_field *f =
            qc_find_field(&qc_WeightQuantParams, n->name);

        if (!f || !f->unsupported)
            continue;
        d = qc_report(c->qc, QC_CFG_CONFLICT, n->name_loc,
                      "\"%s\" is for ada_quantize, but \"wts_algo\" of layer "
                      "\"%s\" is arq_quantize%s",
                      f->name, qc_shown(c->qc, c->where.layer),
                      algo->set ? "" : " by default");
        if (algo->set)
            qc_note(c->qc, d, algo->name_loc, "\"wts_algo\" is here");
        return;
    }
}

static void check_beta(struct checker *c, const struct WeightQuantParams *w)
{
    const struct qc_values *beta = &w->beta_range;

    if (!is_pair_of_numbers(beta) || beta->at[0].as.f > beta->at[1].as.f)
        return;
    qc_report(c->qc, QC_CFG_RANGE, list_place(w->node, "beta_range"),
              "%s must descend: %s is not greater than %s",
              name(c, "beta_range", NULL), qc_shown(c->qc, beta->at[0].text),
              qc_shown(c->qc, beta->at[1].text));
}

static void check_calib_layer(struct checker *c, const struct CalibLayer *l)
{
    check_decimal_point(c, "dmq_balancer_param", &l->dmq_balancer_param);
    check_ranges(c, &qc_CalibLayer, l);
    if (l->activation_quant_params) {
        check_act_algos(c, l->activation_quant_params->node);
        check_search(c, l->activation_quant_params);
    }
    if (l->weight_quant_params) {
        check_wts_algos(c, l->weight_quant_params);
        check_beta(c, l->weight_quant_params);
    }
}

/* ---- the whole file ---- */

static void check_retrain(struct checker *c, const struct RetrainJson *r)
{
    size_t i;

    check_ranges(c, &qc_RetrainJson, r);
    for (i = 0; i < r->layer.count; i++) {
        check_name(c, &r->layer.at[i].key);
        c->where.layer = r->layer.at[i].key.text;
        check_retrain_layer(c, r->layer.at[i].value);
        c->where.layer.ptr = NULL;
    }
}

static void check_calib(struct checker *c, const struct CalibJson *j)
{
    size_t i;

    check_ranges(c, &qc_CalibJson, j);
    check_name_list(c, "skip_fusion_layers", &j->skip_fusion_layers);
    for (i = 0; i < j->layer.count; i++) {
        check_name(c, &j->layer.at[i].key);
        c->where.layer = j->layer.at[i].key.text;
        check_calib_layer(c, j->layer.at[i].value);
        c->where.layer.ptr = NULL;
    }
}

/* A missing retrain_enable means true, a missing quant_enable false. */
static bool is_any_enabled(enum qc_kind kind, const void *bound)
{
    const struct RetrainJson *r = bound;
    const struct CalibJson *c = bound;
    size_t i;

    if (kind == QC_KIND_JSON_RETRAIN) {
        for (i = 0; i < r->layer.count; i++)
            if (!r->layer.at[i].value->retrain_enable.set ||
                r->layer.at[i].value->retrain_enable.as.b)
                return true;
        return false;
    }
    for (i = 0; i < c->layer.count; i++)
        if (c->layer.at[i].value->quant_enable.as.b)
            return true;
    return false;
}

void qc_check_json(struct qc *qc, const struct qc_file *f, enum qc_kind kind,
                   const void *bound)
{
    struct checker c = {0};
    struct qc_diag *d;

    c.qc = qc;
    if (kind == QC_KIND_JSON_RETRAIN)
        check_retrain(&c, bound);
    else
        check_calib(&c, bound);
    if (f->errors || is_any_enabled(kind, bound))
        return;
    d = qc_report(qc, QC_CFG_NOTHING_ENABLED, (struct qc_loc){f, 0, 1},
                  "no layer is enabled");
    qc_help(qc, d, "\"%s\":true enables a layer",
            kind == QC_KIND_JSON_RETRAIN ? "retrain_enable" : "quant_enable");
}
