/* plan.json: the resolved plan for programs, through cJSON. */
#include "emit.h"
#include "origin.h"

#ifndef QC_HAVE_CJSON

bool qc_emit_plan(struct qc_out *o, const struct qc_tables *t)
{
    (void)o;
    (void)t;
    return false;
}

#else

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const act_algos[] = {"ifmr", "hfmg", "ulq_quantize"};
static const char *const wts_algos[] = {"arq_quantize", "arq_retrain",
                                        "ulq_retrain"};

static const char *text_of(struct qc *qc, struct qc_str s)
{
    return qc_cstr(qc, s);
}

static const char *hex32(struct qc *qc, uint32_t bits)
{
    return qc_format(qc, "0x%08lX", (unsigned long)bits).ptr;
}

static const char *hex64(struct qc *qc, uint64_t bits)
{
    return qc_format(qc, "0x%08lX%08lX", (unsigned long)(bits >> 32),
                     (unsigned long)(bits & 0xFFFFFFFFu))
        .ptr;
}

/* Without its folder, as in the tables: the plan does not tell where it was
 * made. */
static const char *place(struct qc *qc, struct qc_loc loc)
{
    const char *name = loc.file->name, *slash = strrchr(name, '/');

    return qc_format(qc, "%s:%lu", slash ? slash + 1 : name,
                     (unsigned long)qc_line(qc, loc))
        .ptr;
}

/* {"text": as written, "level": ..., "at": "quant.cfg:9"} */
static void add_setting(struct qc *qc, cJSON *to, const char *name,
                        const struct qc_setting *s)
{
    cJSON *j;

    if (!s->set)
        return;
    j = cJSON_AddObjectToObject(to, name);
    cJSON_AddStringToObject(j, "text", text_of(qc, s->text));
    cJSON_AddStringToObject(j, "level", qc_level_name(s->level));
    if (s->loc.file)
        cJSON_AddStringToObject(j, "at", place(qc, s->loc));
    if (s->why)
        cJSON_AddStringToObject(j, "why", s->why);
}

static void add_real(cJSON *to, const char *name, struct qrt_real r)
{
    cJSON *j = name ? cJSON_AddArrayToObject(to, name) : cJSON_CreateArray();

    cJSON_AddItemToArray(j, cJSON_CreateNumber(r.m));
    cJSON_AddItemToArray(j, cJSON_CreateNumber(r.e));
    if (!name)
        cJSON_AddItemToArray(to, j);
}

static void add_factors(struct qc *qc, cJSON *to, const struct qc_low_row *r)
{
    const struct qc_low_factors *f = r->factors;
    cJSON *j = cJSON_AddObjectToObject(to, "factors"), *w, *d, *b, *a, *p;
    size_t i;

    cJSON_AddStringToObject(
        j, "at", text_of(qc, qc_place(qc, r->row->factors->key_loc)));
    cJSON_AddStringToObject(j, "scale_d_bits", hex32(qc, f->scale_d_bits));
    add_real(j, "scale_d", f->scale_d);
    add_real(j, "recip_d", f->recip_d);
    cJSON_AddNumberToObject(j, "offset_d", f->offset_d);
    b = cJSON_AddArrayToObject(j, "scale_w_bits");
    w = cJSON_AddArrayToObject(j, "scale_w");
    d = cJSON_AddArrayToObject(j, "dequant");
    a = cJSON_AddArrayToObject(j, "word_dequant");
    p = cJSON_AddArrayToObject(j, "word_fixpipe");
    for (i = 0; i < f->count; i++) {
        cJSON_AddItemToArray(b,
                             cJSON_CreateString(hex32(qc, f->scale_w_bits[i])));
        add_real(w, NULL, f->scale_w[i]);
        add_real(d, NULL, f->dequant[i]);
        cJSON_AddItemToArray(a,
                             cJSON_CreateString(hex64(qc, f->word_dequant[i])));
        cJSON_AddItemToArray(p,
                             cJSON_CreateString(hex64(qc, f->word_fixpipe[i])));
    }
}

static void add_edge(struct qc *qc, cJSON *to, const struct qc_tables *t,
                     const struct qc_low_edge *e, size_t count)
{
    cJSON *j = cJSON_AddObjectToObject(to, "edge"), *m;
    size_t i;

    cJSON_AddStringToObject(j, "next",
                            text_of(qc, t->rows[e->next].row->layer->name));
    cJSON_AddNumberToObject(j, "zero_point", e->zero_point);
    cJSON_AddNumberToObject(j, "code_min", e->code_min);
    cJSON_AddNumberToObject(j, "code_max", e->code_max);
    m = cJSON_AddArrayToObject(j, "requant");
    for (i = 0; i < count; i++)
        add_real(m, NULL, e->requant[i]);
}

static void add_term(struct qc *qc, cJSON *to, const struct qc_tables *t,
                     const struct qc_low_term *term)
{
    cJSON *j = cJSON_CreateObject(), *m;
    size_t i;

    cJSON_AddItemToArray(to, j);
    cJSON_AddStringToObject(j, term->is_code ? "input_of" : "accumulator_of",
                            text_of(qc, t->rows[term->layer].row->layer->name));
    if (!term->scale)
        return;
    cJSON_AddNumberToObject(j, "zero_point", term->zero_point);
    cJSON_AddNumberToObject(j, "low", term->low);
    cJSON_AddNumberToObject(j, "high", term->high);
    m = cJSON_AddArrayToObject(j, "scale");
    for (i = 0; i < term->scale_count; i++)
        add_real(m, NULL, term->scale[i]);
}

static void add_join(struct qc *qc, cJSON *to, const struct qc_tables *t,
                     const struct qc_low_join *low)
{
    static const char *const kinds[] = {"same", "edge", "sum", "concat"};
    cJSON *j = cJSON_AddObjectToObject(to, "join"), *terms;
    size_t i;

    cJSON_AddStringToObject(j, "kind", kinds[low->kind]);
    terms = cJSON_AddArrayToObject(j, "terms");
    for (i = 0; i < low->term_count; i++)
        add_term(qc, terms, t, &low->terms[i]);
    if (low->own_edge) /* else it is that of the layer before */
        add_edge(qc, j, t, low->edge,
                 t->rows[low->terms[0].layer].factors->count);
    if (low->kind == QRT_JOIN_SAME || low->kind == QRT_JOIN_EDGE)
        return;
    cJSON_AddNumberToObject(j, "frac", low->frac);
    cJSON_AddBoolToObject(j, "mean", low->mean);
    cJSON_AddNumberToObject(j, "low", low->low);
    cJSON_AddNumberToObject(j, "high", low->high);
    cJSON_AddNumberToObject(j, "zero_point", low->zero_point);
    cJSON_AddNumberToObject(j, "code_min", low->code_min);
    cJSON_AddNumberToObject(j, "code_max", low->code_max);
    if (!low->table)
        return;
    cJSON_AddStringToObject(j, "function", text_of(qc, low->function));
    terms = cJSON_AddArrayToObject(j, "table");
    for (i = 0; i < 256; i++)
        cJSON_AddItemToArray(terms, cJSON_CreateNumber(low->table[i]));
}

static void add_recipe(struct qc *qc, cJSON *j, const struct qc_row *row)
{
    cJSON_AddStringToObject(j, "act_algo", act_algos[row->act_algo]);
    add_setting(qc, j, "act_bits", &row->act_bits);
    add_setting(qc, j, "asymmetric", &row->asymmetric);
    if (row->act_algo == QC_IFMR) {
        add_setting(qc, j, "search_range_start", &row->search_range_start);
        add_setting(qc, j, "search_range_end", &row->search_range_end);
        add_setting(qc, j, "search_step", &row->search_step);
        add_setting(qc, j, "max_percentile", &row->max_percentile);
        add_setting(qc, j, "min_percentile", &row->min_percentile);
    } else if (row->act_algo == QC_HFMG) {
        add_setting(qc, j, "num_of_bins", &row->num_of_bins);
    } else {
        add_setting(qc, j, "clip_max", &row->clip_max);
        add_setting(qc, j, "clip_min", &row->clip_min);
        add_setting(qc, j, "fixed_min", &row->fixed_min);
    }
    cJSON_AddStringToObject(j, "wts_algo", wts_algos[row->wts_algo]);
    add_setting(qc, j, "wts_bits", &row->wts_bits);
    add_setting(qc, j, "channel_wise", &row->channel_wise);
    add_setting(qc, j, "dmq_balancer", &row->dmq_balancer);
    add_setting(qc, j, "fuse", &row->fuse);
}

/* The recipe as numbers: what tables and images hold. */
static void add_lowered(struct qc *qc, cJSON *to, const struct qc_tables *t,
                        const struct qc_low_row *r)
{
    cJSON *j = cJSON_AddObjectToObject(to, "lowered");

    cJSON_AddNumberToObject(j, "wts_bits", r->arq->as.arq.bits);
    cJSON_AddNumberToObject(j, "per_channel", r->arq->as.arq.per_channel);
    cJSON_AddNumberToObject(j, "wts_algo", r->arq->as.arq.algo);
    cJSON_AddNumberToObject(j, "act_bits", (double)r->row->act_bits.i);
    cJSON_AddNumberToObject(j, "asymmetric", r->row->asymmetric.i != 0);
    if (t->plan->options) {
        cJSON_AddNumberToObject(j, "rule", r->rule);
        cJSON_AddNumberToObject(j, "exactness", r->exactness);
    }
    if (r->ifmr) {
        const struct qc_ratios *ratios = &t->ratios[r->ifmr->ratio_table];

        cJSON_AddNumberToObject(j, "ratio_count", ratios->count);
        cJSON_AddStringToObject(j, "first_ratio", hex32(qc, ratios->bits[0]));
        cJSON_AddStringToObject(j, "last_ratio",
                                hex32(qc, ratios->bits[ratios->count - 1]));
        cJSON_AddStringToObject(j, "max_percentile",
                                hex64(qc, r->ifmr->as.ifmr.max_percentile));
        cJSON_AddStringToObject(j, "min_percentile",
                                hex64(qc, r->ifmr->as.ifmr.min_percentile));
    } else if (r->hfmg) {
        cJSON_AddNumberToObject(j, "bins", r->hfmg->as.hfmg.bins);
    } else {
        cJSON_AddNumberToObject(j, "fixed_min", r->ulq->as.ulq.fixed_min);
        cJSON_AddNumberToObject(j, "has_clip", r->ulq->as.ulq.has_clip);
        add_real(j, "clip_max", r->ulq->as.ulq.clip_max);
        add_real(j, "clip_min", r->ulq->as.ulq.clip_min);
    }
}

static void add_device(struct qc *qc, cJSON *j, const struct qc_row *row)
{
    add_setting(qc, j, "rule", &row->rule);
    add_setting(qc, j, "exactness", &row->exactness);
    add_setting(qc, j, "hardware_scale", &row->hardware_scale);
}

static cJSON *layer_json(struct qc *qc, const struct qc_tables *t,
                         const struct qc_low_row *r)
{
    const struct qc_row *row = r->row;
    cJSON *j = cJSON_CreateObject();

    cJSON_AddStringToObject(j, "name", text_of(qc, row->layer->name));
    cJSON_AddStringToObject(j, "identifier", text_of(qc, r->ident));
    cJSON_AddStringToObject(j, "type", text_of(qc, row->layer->type));
    cJSON_AddStringToObject(
        j, "op", row->layer->op < 0 ? "" : qc_ops[row->layer->op].canonical);
    cJSON_AddNumberToObject(j, "out_channels",
                            (double)row->layer->out_channels);
    add_setting(qc, j, "enabled", &row->enabled);
    if (row->enabled.i)
        add_recipe(qc, j, row);
    if (row->enabled.i && t->plan->options)
        add_device(qc, j, row);
    if (row->enabled.i)
        add_lowered(qc, j, t, r);
    if (r->factors)
        add_factors(qc, j, r);
    if (r->edge)
        add_edge(qc, j, t, r->edge, r->factors->count);
    if (r->join)
        add_join(qc, j, t, r->join);
    else if (r->factors)
        cJSON_AddStringToObject(j, "no_join", text_of(qc, r->join_why));
    return j;
}

static void add_input(struct qc *qc, cJSON *to, enum qc_input input,
                      const struct qc_file *f)
{
    struct qc_origin origin = qc_origin_of(f);
    cJSON *j;

    if (!f)
        return;
    j = cJSON_AddObjectToObject(to, qc_input_word(input));
    cJSON_AddStringToObject(j, "file", qc_cstr(qc, origin.name));
    cJSON_AddStringToObject(
        j, "crc32", qc_format(qc, "%08lx", (unsigned long)origin.crc).ptr);
}

bool qc_emit_plan(struct qc_out *o, const struct qc_tables *t)
{
    cJSON_Hooks hooks = {qc_need, free};
    struct qc *qc = o->qc;
    cJSON *root, *inputs, *layers;
    char *text;
    size_t i;

    cJSON_InitHooks(&hooks);
    root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "generator", "quantc " QC_VERSION);
    cJSON_AddNumberToObject(root, "tables_version", QRT_TABLES_VERSION);
    cJSON_AddStringToObject(root, "hash", hex64(qc, t->hash));
    inputs = cJSON_AddObjectToObject(root, "inputs");
    add_input(qc, inputs, QC_INPUT_CONFIG, t->plan->config);
    add_input(qc, inputs, QC_INPUT_MODEL, t->plan->model->file);
    add_input(qc, inputs, QC_INPUT_RECORD, t->plan->record);
    add_input(qc, inputs, QC_INPUT_OPTIONS, t->plan->options);
    add_setting(qc, root, "batch_num", &t->plan->batch_num);
    cJSON_AddNumberToObject(root, "batches", (double)t->plan->batch_num.i);
    layers = cJSON_AddArrayToObject(root, "layers");
    for (i = 0; i < t->count; i++)
        cJSON_AddItemToArray(layers, layer_json(qc, t, &t->rows[i]));
    text = cJSON_Print(root);
    qc_puts(o, text ? text : "");
    qc_puts(o, "\n");
    cJSON_free(text);
    cJSON_Delete(root);
    return text != NULL;
}

#endif
