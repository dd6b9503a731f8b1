/* Who decides each layer, and everything about a configuration that only a
 * model can tell. The forms (quant.cfg, retrain.cfg, the two of config.json)
 * differ in what a block says; what blocks, rows and lists are is the same and
 * stands here. */
#include "resolve.h"

#include "json.h"

#include <string.h>

#define HINTS 32u /* searches for near names in one run: each looks at all */

static struct qc_loc whole_file(const struct qc_file *f)
{
    return (struct qc_loc){f, 0, 0};
}

/* ---- blocks ---- */

struct qc_source *qc_new_source(struct qc_resolver *r, enum qc_level level,
                                const char *block, const struct qc_value *name,
                                const struct qc_node *node)
{
    struct qc_source *s = qc_alloc(r->qc, sizeof(*s));

    s->level = level;
    s->block = block;
    s->name = name;
    s->node = node;
    if (node)
        s->loc = node->name_loc.file ? node->name_loc : node->loc;
    r->sources = qc_grow(r->qc, r->sources, r->source_count, &r->source_room,
                         sizeof(*r->sources));
    r->sources[r->source_count++] = s;
    return s;
}

/* Two entries of different spelling for one thing; equal spellings are a fault
 * of the file alone and have been reported. */
static void report_same(struct qc_resolver *r, const struct qc_source *s,
                        const struct qc_source *first, const char *what)
{
    struct qc_diag *d;

    if (qc_equal(s->name->text, first->name->text))
        return;
    d = qc_report(
        r->qc, QC_RES_SAME_LAYER, s->name->loc, "%s and %s mean the same %s",
        qc_quoted(r->qc, s->name->loc.file, s->name->text),
        qc_quoted(r->qc, first->name->loc.file, first->name->text), what);
    qc_note(r->qc, d, first->name->loc, "first given here");
}

struct qc_layer *qc_override_layer(struct qc_resolver *r, struct qc_source *s)
{
    struct qc_layer *l;
    struct qc_source **slot;

    if (!s->name || !s->name->set || s->name->poisoned)
        return NULL;
    l = qc_want_layer(r, s->name);
    if (!l)
        return NULL;
    slot = &r->by_layer[l - r->m->layers];
    if (*slot) {
        report_same(r, s, *slot, "layer");
        return NULL;
    }
    *slot = s;
    return l;
}

unsigned qc_override_types(struct qc_resolver *r, struct qc_source *s)
{
    unsigned types;
    int op;

    if (!s->name || !s->name->set || s->name->poisoned)
        return 0;
    types = qc_want_types(r, s->name);
    if (types && !r->types_known) {
        struct qc_diag *d =
            qc_report(r->qc, QC_RES_TYPES_UNKNOWN, s->name->loc,
                      "which layers are of type %s is not known",
                      qc_quoted(r->qc, s->name->loc.file, s->name->text));

        qc_help(r->qc, d, "give --model or --layers");
        return 0;
    }
    for (op = 0; op < QRT_OP_KINDS; op++) {
        if (!(types >> op & 1))
            continue;
        if (r->by_op[op]) {
            report_same(r, s, r->by_op[op], "type of layer");
            return 0;
        }
    }
    for (op = 0; op < QRT_OP_KINDS; op++)
        if (types >> op & 1)
            r->by_op[op] = s;
    return types;
}

const struct qc_source *qc_weaker_source(const struct qc_resolver *r, int op)
{
    if (op >= 0 && r->by_op[op])
        return r->by_op[op];
    return r->common ? r->common : r->builtin;
}

static struct qc_source *source_of(const struct qc_resolver *r,
                                   const struct qc_layer *l)
{
    size_t i = (size_t)(l - r->m->layers);

    if (r->by_layer[i])
        return r->by_layer[i];
    if (l->op >= 0 && r->by_op[l->op])
        return r->by_op[l->op];
    return r->common ? r->common : r->builtin;
}

/* ---- lists of names ---- */

static const struct qc_setting *skipped_by(struct qc_resolver *r,
                                           enum qc_level level,
                                           struct qc_loc loc, const char *why)
{
    struct qc_setting *s = qc_alloc(r->qc, sizeof(*s));

    *s = qc_setting_bool(level, loc, false);
    s->why = why;
    return s;
}

static void skip_layer(struct qc_resolver *r, const struct qc_value *v)
{
    struct qc_layer *l = qc_want_layer(r, v);

    if (!l)
        return;
    if (!qc_type_takes_part(r, l)) {
        qc_report(r->qc, QC_RES_UNSUPPORTED_LAYER, v->loc,
                  "the layer %s is not of a type that can be quantized",
                  qc_layer_words(r->qc, v->loc.file, l));
        return;
    }
    if (!l->quantizable)
        qc_report(r->qc, QC_RES_SKIP_UNUSED, v->loc,
                  "the layer %s could not be quantized anyway: %s",
                  qc_layer_words(r->qc, v->loc.file, l), l->why_not);
    qc_warn_parent(r, v, "skipped");
    r->skip_layer[l - r->m->layers] =
        skipped_by(r, QC_BY_LAYER, v->loc, "skip_layers");
}

void qc_skip_layers(struct qc_resolver *r, const struct qc_values *names)
{
    size_t i;

    for (i = 0; i < names->count; i++)
        if (!names->at[i].poisoned)
            skip_layer(r, &names->at[i]);
}

static void skip_types(struct qc_resolver *r, const struct qc_value *v)
{
    unsigned types = qc_want_types(r, v);
    const char *word = qc_quoted(r->qc, v->loc.file, v->text);
    size_t layers = 0;
    int op;

    if (!types)
        return;
    if (!r->types_known) {
        struct qc_diag *d = qc_report(
            r->qc, QC_RES_SKIP_TYPES_UNKNOWN, v->loc,
            "which layers are of type %s is not known: none is skipped", word);

        qc_help(r->qc, d, "give --model or --layers");
        return;
    }
    for (op = 0; op < QRT_OP_KINDS; op++) {
        if (!(types >> op & 1))
            continue;
        layers += r->op_count[op];
        r->skip_op[op] = skipped_by(r, QC_BY_TYPE, v->loc, "skip_layer_types");
    }
    if (!layers)
        qc_report(r->qc, QC_RES_SKIP_UNUSED, v->loc,
                  "the model has no layer of type %s that can be quantized",
                  word);
}

void qc_skip_types(struct qc_resolver *r, const struct qc_values *types)
{
    size_t i;

    for (i = 0; i < types->count; i++)
        if (!types->at[i].poisoned)
            skip_types(r, &types->at[i]);
}

static void skip_fusion(struct qc_resolver *r, const struct qc_value *v,
                        size_t *room)
{
    struct qc_layer *l = qc_want_layer(r, v);
    struct qc_plan *p = r->plan;

    if (!l)
        return;
    if (!qc_traits_of(r, l).fusable) {
        qc_report(r->qc, QC_RES_UNSUPPORTED_LAYER, v->loc,
                  "BatchNorm is never folded into the layer %s",
                  qc_layer_words(r->qc, v->loc.file, l));
        return;
    }
    if (r->m->graph_known && !l->bn && p->do_fusion.i)
        qc_report(r->qc, QC_RES_NO_EFFECT, v->loc,
                  "no BatchNorm follows the layer %s",
                  qc_layer_words(r->qc, v->loc.file, l));
    qc_warn_parent(r, v, "kept from fusion");
    p->skip_fusion = qc_grow(r->qc, p->skip_fusion, p->skip_fusion_count, room,
                             sizeof(*p->skip_fusion));
    p->skip_fusion[p->skip_fusion_count++] = v;
    r->skip_fusion[l - r->m->layers] = v;
}

void qc_skip_fusion(struct qc_resolver *r, const struct qc_values *names)
{
    size_t room = 0, i;

    for (i = 0; i < names->count; i++)
        if (!names->at[i].poisoned)
            skip_fusion(r, &names->at[i], &room);
    if (names->count && !r->plan->do_fusion.i) {
        struct qc_diag *d =
            qc_report(r->qc, QC_RES_NO_EFFECT, names->at[0].name_loc,
                      "nothing is fused, so that no layer can be kept from it");

        qc_note(r->qc, d, r->plan->do_fusion.loc, "do_fusion is false here");
    }
}

/* ---- rows ---- */

static struct qc_setting enabled_of(const struct qc_resolver *r,
                                    const struct qc_layer *l,
                                    const struct qc_source *s)
{
    const struct qc_setting *skip = r->skip_layer[l - r->m->layers];
    struct qc_setting on =
        qc_setting_bool(QC_BY_DEFAULT, (struct qc_loc){NULL, 0, 0}, true);

    if (!skip && l->op >= 0)
        skip = r->skip_op[l->op];
    if (!skip)
        return on;
    if (!r->retrain || s->level < QC_BY_TYPE)
        return *skip;
    on.level = s->level;
    on.loc = s->loc;
    on.why = "in retraining an override enables a skipped layer again";
    on.was = skip;
    return on;
}

struct qc_row *qc_add_row(struct qc_resolver *r, const struct qc_layer *layer,
                          struct qc_source *s)
{
    struct qc_row *row = &r->plan->rows[r->plan->count++];

    *row = s->v;
    row->layer = layer;
    row->loc = s->loc;
    row->level = s->level;
    row->block = s->block;
    row->enabled = enabled_of(r, layer, s);
    return row;
}

static void count_user(struct qc_source *s, const struct qc_row *row)
{
    s->users++;
    if (row->enabled.i)
        s->enabled++;
    else if (!s->skipped)
        s->skipped = row;
}

void qc_make_rows(struct qc_resolver *r,
                  void (*decide)(struct qc_resolver *, struct qc_row *,
                                 struct qc_source *))
{
    size_t i;

    for (i = 0; i < r->m->count; i++) {
        const struct qc_layer *l = &r->m->layers[i];
        struct qc_source *s;
        struct qc_row *row;

        if (!qc_takes_part(r, l))
            continue;
        s = source_of(r, l);
        row = qc_add_row(r, l, s);
        decide(r, row, s);
        count_user(s, row);
    }
}

void qc_add_unlisted(struct qc_resolver *r, struct qc_source *s,
                     void (*decide)(struct qc_resolver *, struct qc_row *,
                                    struct qc_source *))
{
    size_t i;

    for (i = 0; i < r->m->count; i++) {
        const struct qc_layer *l = &r->m->layers[i];
        struct qc_row *row;

        if (!qc_takes_part(r, l) || r->by_layer[i])
            continue;
        row = qc_add_row(r, l, s);
        row->enabled =
            qc_setting_bool(QC_BY_RULE, (struct qc_loc){NULL, 0, 0}, false);
        row->enabled.why = "config.json does not list the layer";
        decide(r, row, s);
    }
}

/* ---- the model ---- */

/* A layer called like a global key would be lost in config.json. */
static void check_reserved(struct qc_resolver *r, const struct qc_layer *l)
{
    const struct qc_message *m = r->retrain ? &qc_RetrainJson : &qc_CalibJson;
    const struct qc_field *f = qc_find_field(m, l->name);

    if (f && !f->is_map)
        qc_report(r->qc, QC_RES_RESERVED_NAME, l->loc,
                  "a layer may not be called %s: it is a global key of "
                  "config.json",
                  qc_quoted(r->qc, l->loc.file, l->name));
}

static void report_not_quantizable(struct qc_resolver *r)
{
    struct qc_layers_hit hit = {NULL, 0, 0};
    struct qc_diag *d;
    size_t i;

    for (i = 0; i < r->m->count; i++)
        if (qc_type_takes_part(r, &r->m->layers[i]) &&
            !r->m->layers[i].quantizable)
            qc_hit(r->qc, &hit, &r->m->layers[i]);
    if (!hit.count)
        return;
    d = qc_report(r->qc, QC_RES_NOT_QUANTIZABLE, hit.at[0]->loc,
                  "left out, because they cannot be quantized: %s",
                  qc_hit_names(r->qc, r->m->file, &hit));
    for (i = 0; i < hit.count && i < 6; i++)
        qc_help(r->qc, d, "%s: %s",
                qc_layer_words(r->qc, r->m->file, hit.at[i]),
                hit.at[i]->why_not);
}

static size_t check_model(struct qc_resolver *r)
{
    size_t count = 0, i;

    for (i = 0; i < r->m->count; i++) {
        const struct qc_layer *l = &r->m->layers[i];

        if (!qc_takes_part(r, l))
            continue;
        count++;
        if (l->op >= 0)
            r->op_count[l->op]++;
        check_reserved(r, l);
    }
    if (r->types_known)
        report_not_quantizable(r);
    return count;
}

static struct qc_model *model_of(struct qc *qc, const struct qc_doc *config,
                                 const struct qc_doc *record)
{
    struct qc_diag *d;

    if (config && (config->kind == QC_KIND_JSON_CALIB ||
                   config->kind == QC_KIND_JSON_RETRAIN))
        return qc_model_of_config(qc, config, record);
    if (record)
        return qc_model_of_record(qc, record);
    if (config) {
        d = qc_report(qc, QC_RES_NO_LAYERS, whole_file(config->file),
                      "%s does not name the layers of the model",
                      config->file->name);
        qc_help(qc, d,
                "give --model M.onnx, --layers M.layers, or --record "
                "R.txt to take the layers of a record");
    }
    return NULL;
}

/* ---- whole files ---- */

/* Known to AMCT, not served here: a warning about the file alone, an error as
 * soon as something depends on it. */
static void raise_unsupported(struct qc_file *f)
{
    struct qc_diag *d;

    for (d = f->diags; d; d = d->next) {
        if (d->severity != QC_WARNING ||
            strcmp(qc_key_name(d->key),
                   qc_key_name(QC_RES_UNSUPPORTED_FIELD)) != 0)
            continue;
        d->severity = QC_ERROR;
        f->errors++;
        f->warnings--;
    }
}

static void check_nothing(struct qc_resolver *r)
{
    size_t i;

    if (!r->plan->count) {
        qc_report(r->qc, QC_RES_NOTHING_QUANTIZABLE, whole_file(r->m->file),
                  "the model has no layer that can be quantized");
        return;
    }
    if (!r->clean || r->file->errors)
        return;
    for (i = 0; i < r->plan->count; i++)
        if (r->plan->rows[i].enabled.i)
            return;
    qc_report(r->qc, QC_RES_NOTHING_ENABLED, whole_file(r->file),
              "no layer is left to quantize");
}

static bool is_configuration(struct qc *qc, const struct qc_doc *d)
{
    bool layers = d->kind == QC_KIND_LAYERS;
    struct qc_diag *e;

    if (d->kind == QC_KIND_CALIB || d->kind == QC_KIND_RETRAIN ||
        d->kind == QC_KIND_JSON_CALIB || d->kind == QC_KIND_JSON_RETRAIN)
        return true;
    if (d->file->errors)
        return false;
    e = qc_report(qc, QC_RES_KIND, whole_file(d->file),
                  "%s is %s, not a configuration", d->file->name,
                  layers ? "a list of layers" : "of another kind");
    qc_help(qc, e,
            layers ? "give it with --layers; if it is a configuration, say so "
                     "with --kind"
                   : "say with --kind what it is");
    return false;
}

static void resolve_form(struct qc_resolver *r, const struct qc_doc *config)
{
    switch (r->plan->kind) {
    case QC_KIND_RETRAIN:
        qc_resolve_retrain(r, config->bound);
        break;
    case QC_KIND_JSON_RETRAIN:
        qc_resolve_retrain_json(r, config->bound);
        break;
    case QC_KIND_JSON_CALIB:
        qc_resolve_calib_json(r, config->bound);
        break;
    default:
        qc_resolve_calib(r, config ? config->bound : NULL);
        break;
    }
}

static void start(struct qc_resolver *r, const struct qc_doc *config,
                  const struct qc_doc *record)
{
    struct qc_plan *p = qc_alloc(r->qc, sizeof(*p));

    r->plan = p;
    r->hints = HINTS;
    r->types_known =
        r->m->source != QC_MODEL_CONFIG && r->m->source != QC_MODEL_RECORD;
    r->by_layer = qc_alloc(r->qc, (r->m->count + 1) * sizeof(*r->by_layer));
    r->skip_layer = qc_alloc(r->qc, (r->m->count + 1) * sizeof(*r->skip_layer));
    r->skip_fusion =
        qc_alloc(r->qc, (r->m->count + 1) * sizeof(*r->skip_fusion));
    p->model = r->m;
    p->config_doc = config;
    p->record_doc = record;
    p->config = config ? config->file : NULL;
    p->record = record ? record->file : NULL;
    p->kind = config ? config->kind : QC_KIND_AUTO;
    p->dialect = r->o->dialect;
    p->retrain = p->kind == QC_KIND_RETRAIN || p->kind == QC_KIND_JSON_RETRAIN;
    r->retrain = p->retrain;
    r->file = config ? config->file : record ? record->file : r->m->file;
}

struct qc_plan *qc_resolve(struct qc *qc, const struct qc_doc *config,
                           const struct qc_doc *record, struct qc_model *model,
                           const struct qc_resolve_options *o)
{
    struct qc_resolver r = {0};

    if ((config && !is_configuration(qc, config)) ||
        (config && !config->bound) || (record && !record->bound) ||
        (model && model->file->errors) || (o->device && !o->device->bound))
        return NULL;
    r.qc = qc;
    r.o = o;
    r.m = model ? model : model_of(qc, config, record);
    if (!r.m)
        return NULL;
    if (config && config->file->json)
        qc_json_meets_model(qc, config, model);
    else if (config)
        raise_unsupported(config->file);
    if (record)
        raise_unsupported(record->file);
    start(&r, config, record);
    r.clean = qc_error_count(qc) == 0;
    r.plan->rows = qc_alloc(qc, (check_model(&r) + 1) * sizeof(struct qc_row));
    if (record)
        qc_read_record(&r, record->bound);
    resolve_form(&r, config);
    qc_report_rules(&r);
    qc_report_unused(&r);
    check_nothing(&r);
    qc_attach_record(&r, config != NULL);
    qc_resolve_device(&r, o->device);
    qc_advise(&r);
    return r.plan;
}
