/* `quantc explain`: every effective value of a layer with the place that
 * decided it and what it overrode; or what a field means and where it is set. */
#include "emit.h"

#include "decimal.h"
#include "json_out.h"
#include "resolve.h"

#include <string.h>

/* ---- the values of a row ---- */

enum half { ACTIVATIONS, WEIGHTS, DEVICE }; /* the last: quantc.options */
enum form { FORM_TEXT, FORM_JSON, FORM_COUNT }; /* quant.cfg; config.json */

struct shown {
    const char *name[FORM_COUNT]; /* as the file calls it */
    enum half half;
    bool is_float, is_bool;
    unsigned algos; /* bits 1 << enum qc_act_algo, of activations */
    size_t at;
};

#define ROW(member) offsetof(struct qc_row, member)
#define IFMR        (1u << QC_IFMR)
#define HFMG        (1u << QC_HFMG)
#define ULQ         (1u << QC_ULQ)
#define POST        (IFMR | HFMG)

/* clang-format off */
static const struct shown values[] = {
    {{"dst_type",           "num_bits"},           ACTIVATIONS, false, false, POST,       ROW(act_bits)},
    {{"dst_type",           "dst_type"},           ACTIVATIONS, false, false, ULQ,        ROW(act_bits)},
    {{"asymmetric",         "asymmetric"},         ACTIVATIONS, false, true,  POST,       ROW(asymmetric)},
    {{"search_range_start", "search_range[0]"},    ACTIVATIONS, true,  false, IFMR,       ROW(search_range_start)},
    {{"search_range_end",   "search_range[1]"},    ACTIVATIONS, true,  false, IFMR,       ROW(search_range_end)},
    {{"search_step",        "search_step"},        ACTIVATIONS, true,  false, IFMR,       ROW(search_step)},
    {{"max_percentile",     "max_percentile"},     ACTIVATIONS, true,  false, IFMR,       ROW(max_percentile)},
    {{"min_percentile",     "min_percentile"},     ACTIVATIONS, true,  false, IFMR,       ROW(min_percentile)},
    {{"num_of_bins",        "num_of_bins"},        ACTIVATIONS, false, false, HFMG,       ROW(num_of_bins)},
    {{"clip_max",           "clip_max"},           ACTIVATIONS, true,  false, ULQ,        ROW(clip_max)},
    {{"clip_min",           "clip_min"},           ACTIVATIONS, true,  false, ULQ,        ROW(clip_min)},
    {{"fixed_min",          "fixed_min"},          ACTIVATIONS, false, true,  ULQ,        ROW(fixed_min)},
    {{"migration_strength", "dmq_balancer_param"}, ACTIVATIONS, true,  false, POST,       ROW(dmq_balancer)},
    {{"quant_bits",         "num_bits"},           WEIGHTS,     false, false, POST,       ROW(wts_bits)},
    {{"dst_type",           "dst_type"},           WEIGHTS,     false, false, ULQ,        ROW(wts_bits)},
    {{"channel_wise",       "channel_wise"},       WEIGHTS,     false, true,  POST | ULQ, ROW(channel_wise)},
    {{"do_fusion",          "do_fusion"},          WEIGHTS,     false, true,  POST | ULQ, ROW(fuse)},
    {{"rule",               "rule"},               DEVICE,      false, false, POST | ULQ, ROW(rule)},
    {{"exactness",          "exactness"},          DEVICE,      false, false, POST | ULQ, ROW(exactness)},
    {{"hardware_scale",     "hardware_scale"},     DEVICE,      false, false, POST | ULQ, ROW(hardware_scale)},
};
/* clang-format on */
#define VALUES (sizeof(values) / sizeof(*values))

static const struct qc_setting *setting(const struct qc_row *row,
                                        const struct shown *v)
{
    return (const void *)((const char *)row + v->at);
}

static bool applies(const struct qc_row *row, const struct shown *v)
{
    const struct qc_setting *s = setting(row, v);

    return v->algos >> row->act_algo & 1 && (s->set || s->was);
}

static enum form form_of(const struct qc_plan *p)
{
    return p->kind == QC_KIND_JSON_CALIB || p->kind == QC_KIND_JSON_RETRAIN
               ? FORM_JSON
               : FORM_TEXT;
}

static const char *const act_algos[] = {"ifmr", "hfmg", "ulq"};
static const char *const wts_algos[] = {"arq", "arq_retrain", "ulq_retrain",
                                        "ada"};
/* ---- words ---- */

static const char *value_words(struct qc *qc, const struct shown *v,
                               const struct qc_setting *s)
{
    char text[QC_DECIMAL_ROOM];

    if (!s->set)
        return "none";
    if (v->half == DEVICE)
        return qc_cstr(qc, s->text);
    if (v->is_float)
        return qc_format(qc, "%s", qc_shortest_f64(s->f, text)).ptr;
    if (v->is_bool)
        return s->i ? "true" : "false";
    return qc_format(qc, "%lld", (long long)s->i).ptr;
}

static const char *place(struct qc *qc, struct qc_loc loc)
{
    struct qc_position p = qc_position(qc, loc.file, loc.at);

    return qc_format(qc, "%s:%u:%u", loc.file->name, (unsigned)p.line,
                     (unsigned)p.col)
        .ptr;
}

/* The global field that decides a value. */
static const char *global_name(const struct shown *v)
{
    return v->at == ROW(asymmetric) ? "activation_offset"
           : v->at == ROW(fuse)     ? "do_fusion"
                                    : "global";
}

/* Who decided, without the place. */
static const char *who(const struct qc_plan *p, const struct shown *v,
                       const struct qc_setting *s)
{
    switch (s->level) {
    case QC_BY_DEFAULT:
        return v->at == ROW(asymmetric) || v->at == ROW(fuse) ? global_name(v)
                                                              : NULL;
    case QC_BY_GLOBAL:
        return global_name(v);
    case QC_BY_COMMON:
        if (v->half == DEVICE)
            return "common";
        return p->retrain ? "the global configuration" : "common_config";
    case QC_BY_TYPE:
        return "override_layer_types";
    case QC_BY_LAYER:
        if (v->at == ROW(fuse) || v->half == DEVICE)
            return NULL;
        return form_of(p) == FORM_JSON ? "the layer's own object"
                                       : "override_layer_configs";
    case QC_BY_OPTION:
        return "command line";
    default:
        return NULL;
    }
}

/* "quant.cfg:14:22, common_config" and the like. */
static void put_origin(struct qc_out *o, const struct qc_plan *p,
                       const struct shown *v, const struct qc_setting *s)
{
    const char *by = who(p, v, s), *comma = "";

    if (s->level == QC_BY_DEFAULT) {
        qc_puts(o, by ? "default of " : "default");
    } else if (s->loc.file && s->level != QC_BY_RULE) {
        qc_puts(o, place(o->qc, s->loc));
        comma = ", ";
    }
    if (by)
        qc_printf(o, "%s%s", s->level == QC_BY_DEFAULT ? "" : comma, by);
    if (s->why)
        qc_printf(o, "%s%s", by || *comma ? ": " : "", s->why);
}

static bool same_place(const struct qc_setting *a, const struct qc_setting *b)
{
    return a->loc.file == b->loc.file && a->loc.at == b->loc.at &&
           a->level == b->level;
}

/* ---- text ---- */

#define NAME_COLUMN  4
#define VALUE_COLUMN 24
#define WHERE_COLUMN 34

/* To a column of the line; at least one blank. */
static void column(struct qc_out *o, size_t line, size_t at)
{
    qc_pad(o, line, at - 1);
    qc_puts(o, " ");
}

static void put_history(struct qc_out *o, const struct qc_plan *p,
                        const struct shown *v, const struct qc_setting *s)
{
    const struct qc_setting *was;

    for (was = s->was; was; was = was->was) {
        size_t line = o->size;

        if (was->level != QC_BY_RULE && same_place(was, s))
            continue;
        column(o, line, WHERE_COLUMN);
        qc_printf(o, "%s %s: ", s->level == QC_BY_RULE ? "instead of" : "over",
                  value_words(o->qc, v, was));
        put_origin(o, p, v, was);
        qc_puts(o, "\n");
    }
}

static void put_value(struct qc_out *o, const struct qc_plan *p,
                      const struct qc_row *row, const struct shown *v)
{
    const struct qc_setting *s = setting(row, v);
    const char *value = value_words(o->qc, v, s);
    size_t line = o->size;

    column(o, line, NAME_COLUMN);
    qc_puts(o, v->name[form_of(p)]);
    column(o, line, VALUE_COLUMN);
    qc_puts(o, value);
    column(o, line, WHERE_COLUMN);
    put_origin(o, p, v, s);
    if (s->level == QC_BY_DEFAULT && s->was && row->level != QC_BY_DEFAULT)
        qc_printf(o, ", %s leaves it out", row->block);
    if (s->loc.file && s->level != QC_BY_RULE && !qc_equalz(s->text, value))
        qc_printf(o, ", written %s", qc_shown(o->qc, s->text));
    qc_puts(o, "\n");
    put_history(o, p, v, s);
}

static void put_half(struct qc_out *o, const struct qc_plan *p,
                     const struct qc_row *row, enum half half)
{
    size_t i;

    if (half == DEVICE)
        qc_printf(o, "  device: %s\n", p->options->name);
    else
        qc_printf(o, "  %s: %s\n", half == WEIGHTS ? "weights" : "activations",
                  half == WEIGHTS ? wts_algos[row->wts_algo]
                                  : act_algos[row->act_algo]);
    for (i = 0; i < VALUES; i++)
        if (values[i].half == half && applies(row, &values[i]))
            put_value(o, p, row, &values[i]);
}

static void put_facts(struct qc_out *o, const struct qc_layer *l)
{
    const char *comma = "  model: ";
    unsigned i;

    if (l->rank) {
        qc_printf(o, "%sweights ", comma);
        for (i = 0; i < l->rank; i++)
            qc_printf(o, "%s%lld", i ? "x" : "", (long long)l->shape[i]);
        comma = ", ";
    }
    if (l->group > 1) {
        qc_printf(o, "%s%lld groups", comma, (long long)l->group);
        comma = ", ";
    }
    if (l->bn) {
        qc_printf(o, "%sBatchNorm follows", comma);
        comma = ", ";
    }
    if (l->producer.len) {
        qc_printf(o, "%sinput from %s", comma, qc_shown(o->qc, l->producer));
        comma = ", ";
    }
    if (comma[0] == ',')
        qc_puts(o, "\n");
}

static void put_factors(struct qc_out *o, const struct qc_plan *p,
                        const struct qc_row *row)
{
    const struct qc_factors *f = row->factors;

    if (f)
        qc_printf(o, "  record: %s, scale_d %.*s, offset_d %.*s, %zu scale_w\n",
                  place(o->qc, f->key_loc), QC_ARG(f->scale_d->text),
                  QC_ARG(f->offset_d->text), f->count_w);
    else if (p->record && row->enabled.i)
        qc_printf(o, "  record: no factors in %s\n", p->record->name);
}

/* Integers all the way from earlier layers, or why not; nothing where a layer
 * list cannot tell. t: null without a record. */
static void put_way(struct qc_out *o, const struct qc_tables *t,
                    const struct qc_row *row)
{
    const struct qc_low_row *r = t ? &t->rows[row - t->plan->rows] : NULL;

    if (!r || !r->factors || (!r->join && !row->layer->join))
        return;
    qc_puts(o, "  input: ");
    qc_put_input(o, t, r);
    qc_puts(o, "\n");
}

static void put_row(struct qc_out *o, const struct qc_plan *p,
                    const struct qc_tables *t, const struct qc_row *row)
{
    const struct qc_setting *e = &row->enabled;

    qc_printf(o, "%s: %s", qc_layer_words(o->qc, NULL, row->layer),
              e->i ? "quantized" : "not quantized");
    if (e->why)
        qc_printf(o, ", %s", e->why);
    if (e->loc.file)
        qc_printf(o, " (%s)", place(o->qc, e->loc));
    qc_puts(o, "\n");
    put_facts(o, row->layer);
    if (row->loc.file)
        qc_printf(o, "  decided by %s, %s\n", row->block,
                  place(o->qc, row->loc));
    else
        qc_printf(o, "  decided by %s\n", row->block);
    put_half(o, p, row, ACTIVATIONS);
    put_half(o, p, row, WEIGHTS);
    if (p->options && row->enabled.i)
        put_half(o, p, row, DEVICE);
    put_factors(o, p, row);
    put_way(o, t, row);
}

/* ---- JSON ---- */

static void put_setting_json(struct qc_json *j, const struct qc_plan *p,
                             const struct shown *v, const struct qc_setting *s)
{
    const char *by = who(p, v, s);

    if (v->is_float && s->set)
        qc_json_float(j, "value", s->f);
    else if (v->half == DEVICE)
        qc_json_text(j, "value", s->text);
    else if (v->is_bool && s->set)
        qc_json_bool(j, "value", s->i);
    else if (s->set)
        qc_json_int(j, "value", s->i);
    qc_json_text(j, "level", qc_str(qc_level_name(s->level)));
    if (by)
        qc_json_text(j, "by", qc_str(by));
    if (s->why)
        qc_json_text(j, "why", qc_str(s->why));
    if (s->loc.file) {
        struct qc_position at = qc_position(j->out->qc, s->loc.file, s->loc.at);

        qc_json_text(j, "file", qc_str(s->loc.file->name));
        qc_json_int(j, "line", at.line);
        qc_json_int(j, "col", at.col);
        if (s->level != QC_BY_RULE)
            qc_json_text(j, "text", s->text);
    }
}

static void put_value_json(struct qc_json *j, const struct qc_plan *p,
                           const struct qc_row *row, const struct shown *v)
{
    const struct qc_setting *s = setting(row, v), *was;

    qc_json_key(j, qc_str(v->name[form_of(p)]));
    qc_json_open(j, "", '{');
    put_setting_json(j, p, v, s);
    if (s->was) {
        qc_json_open(j, "overrode", '[');
        for (was = s->was; was; was = was->was) {
            if (was->level != QC_BY_RULE && same_place(was, s))
                continue;
            qc_json_open(j, NULL, '{');
            put_setting_json(j, p, v, was);
            qc_json_close(j, '}');
        }
        qc_json_close(j, ']');
    }
    qc_json_close(j, '}');
}

static void put_way_json(struct qc_json *j, const struct qc_tables *t,
                         const struct qc_row *row)
{
    const struct qc_low_row *r = t ? &t->rows[row - t->plan->rows] : NULL;
    struct qc_out *words;

    if (!r || !r->factors || (!r->join && !row->layer->join))
        return;
    words = qc_out_new(j->out->qc, NULL);
    qc_put_input(words, t, r);
    qc_json_text(j, "input", (struct qc_str){words->text, words->size});
    qc_json_bool(j, "requantized", r->join != NULL);
}

static void put_row_json(struct qc_json *j, const struct qc_plan *p,
                         const struct qc_tables *t, const struct qc_row *row)
{
    static const struct shown enabled = {
        {"enabled", "enabled"},
        ACTIVATIONS, false, true, 7, ROW(enabled)
    };
    static const char *const halves[] = {"activations", "weights", "device"};
    int half;
    size_t i;

    qc_json_open(j, NULL, '{');
    qc_json_text(j, "name", row->layer->name);
    qc_json_text(j, "type", row->layer->type);
    qc_json_text(j, "decided_by", qc_str(row->block));
    put_value_json(j, p, row, &enabled);
    for (half = ACTIVATIONS; half <= (p->options ? DEVICE : WEIGHTS); half++) {
        qc_json_open(j, halves[half], '{');
        if (half != DEVICE)
            qc_json_text(j, "algo",
                         qc_str(half == WEIGHTS ? wts_algos[row->wts_algo]
                                                : act_algos[row->act_algo]));
        for (i = 0; i < VALUES; i++)
            if ((int)values[i].half == half && applies(row, &values[i]))
                put_value_json(j, p, row, &values[i]);
        qc_json_close(j, '}');
    }
    qc_json_bool(j, "calibrated", row->factors != NULL);
    put_way_json(j, t, row);
    qc_json_close(j, '}');
}

/* ---- layers ---- */

static void explain_rows(struct qc_out *o, const struct qc_plan *p,
                         const struct qc_layer *only, bool json)
{
    struct qc_json j = {o, 0, false};
    size_t i, shown = 0;
    struct qc_lower_options lower = {"quant"};
    const struct qc_tables *t =
        p->factor_count ? qc_lower(o->qc, p, &lower) : NULL;

    if (json) {
        qc_json_open(&j, NULL, '{');
        qc_json_open(&j, "layers", '[');
    }
    for (i = 0; i < p->count; i++) {
        if (only && p->rows[i].layer != only)
            continue;
        if (json)
            put_row_json(&j, p, t, &p->rows[i]);
        else if (shown++)
            qc_puts(o, "\n");
        if (!json)
            put_row(o, p, t, &p->rows[i]);
    }
    if (json) {
        qc_json_close(&j, ']');
        qc_json_close(&j, '}');
        qc_puts(o, "\n");
    }
}

static bool has_row(const struct qc_plan *p, const struct qc_layer *l)
{
    size_t i;

    for (i = 0; i < p->count; i++)
        if (p->rows[i].layer == l)
            return true;
    return false;
}

static void explain_layer(struct qc_out *o, const struct qc_plan *p,
                          const struct qc_layer *l, bool json)
{
    if (json || has_row(p, l))
        explain_rows(o, p, l, json);
    else
        qc_printf(o, "%s: not quantized, %s\n", qc_layer_words(o->qc, NULL, l),
                  l->why_not ? l->why_not : "no type that can be quantized");
}

/* ---- fields ---- */

#define SET_MAX 20u /* places listed */

struct places {
    struct qc_out *o;
    struct qc_json *j; /* null: text */
    struct qc_str field;
    size_t count;
};

static void put_one_place(struct places *x, const struct qc_node *n,
                          const char *path)
{
    struct qc_str text =
        n->kind == QC_GROUP || n->kind == QC_LIST ? QC_STR("") : n->text;
    struct qc_position at = qc_position(x->o->qc, n->loc.file, n->loc.at);

    if (x->j) {
        qc_json_open(x->j, NULL, '{');
        qc_json_text(x->j, "file", qc_str(n->loc.file->name));
        qc_json_int(x->j, "line", at.line);
        qc_json_int(x->j, "col", at.col);
        qc_json_text(x->j, "in", qc_str(path));
        qc_json_text(x->j, "text", text);
        qc_json_close(x->j, '}');
        return;
    }
    if (x->count > SET_MAX)
        return;
    qc_printf(x->o, "  set at %s", place(x->o->qc, n->loc));
    if (text.len)
        qc_printf(x->o, " to %s", qc_shown(x->o->qc, text));
    if (*path)
        qc_printf(x->o, ", in %s", path);
    qc_puts(x->o, "\n");
}

/* The layer or type that a block of the text format is about. */
static const char *step(struct qc *qc, const struct qc_node *n)
{
    const struct qc_node *name = qc_child(n, "layer_name");

    if (!name)
        name = qc_child(n, "layer_type");
    if (!name)
        name = qc_child(n, "key");
    if (!name || name->kind != QC_TEXT)
        return qc_format(qc, "%s", qc_shown(qc, n->name)).ptr;
    return qc_format(qc, "%s '%s'", qc_shown(qc, n->name),
                     qc_shown(qc, name->text))
        .ptr;
}

/* Trees are as deep as their schema, JSON at most QC_MAX_DEPTH. */
static void list_places(struct places *x, const struct qc_node *n,
                        const char *path)
{
    const struct qc_node *c;

    for (c = n->first; c; c = c->next) {
        if (qc_equal(c->name, x->field)) {
            x->count++;
            put_one_place(x, c, path);
        }
        if (c->kind == QC_GROUP)
            list_places(x, c,
                        qc_format(x->o->qc, "%s%s%s", path, *path ? ", " : "",
                                  step(x->o->qc, c))
                            .ptr);
    }
}

static void list_all_places(struct places *x, const struct qc_plan *p)
{
    if (p->config_doc && p->config_doc->root)
        list_places(x, p->config_doc->root, "");
    if (p->record_doc && p->record_doc->root)
        list_places(x, p->record_doc->root, "");
}

/* Fields of that name, each message once. */
struct fields {
    const struct qc_message *message[32];
    const struct qc_field *field[32];
    const struct qc_message *seen[64];
    size_t count, seen_count;
};

static void find_fields(struct fields *f, const struct qc_message *m,
                        struct qc_str name)
{
    size_t i;

    for (i = 0; i < f->seen_count; i++)
        if (f->seen[i] == m)
            return;
    if (f->seen_count == sizeof(f->seen) / sizeof(*f->seen))
        return;
    f->seen[f->seen_count++] = m;
    for (i = 0; i < m->count; i++) {
        if (qc_equalz(name, m->fields[i].name) &&
            f->count < sizeof(f->field) / sizeof(*f->field)) {
            f->message[f->count] = m;
            f->field[f->count++] = &m->fields[i];
        }
        if (m->fields[i].message)
            find_fields(f, m->fields[i].message, name);
    }
}

static const struct qc_message *message_of(enum qc_kind kind)
{
    switch (kind) {
    case QC_KIND_RETRAIN:
        return &qc_AMCTRetrainConfig;
    case QC_KIND_JSON_CALIB:
        return &qc_CalibJson;
    case QC_KIND_JSON_RETRAIN:
        return &qc_RetrainJson;
    default:
        return &qc_AMCTConfig;
    }
}

static void put_field(struct qc_out *o, const struct qc_message *m,
                      const struct qc_field *f)
{
    qc_printf(o, "%s: %s%s of %s\n", f->name,
              f->label == QC_REPEATED ? "repeated " : "", qc_type_name(f),
              m->name);
    if (f->doc)
        qc_printf(o, "  %s\n", f->doc);
    if (f->range)
        qc_printf(o, "  must be %s\n", qc_range_words(o->qc, f->range));
    if (f->default_text)
        qc_printf(o, "  default %s\n", f->default_text);
    if (f->unsupported)
        qc_puts(o, "  known to AMCT, not supported here\n");
}

static void put_field_json(struct qc_json *j, const struct qc_message *m,
                           const struct qc_field *f)
{
    qc_json_open(j, NULL, '{');
    qc_json_text(j, "message", qc_str(m->name));
    qc_json_text(j, "name", qc_str(f->name));
    qc_json_text(j, "type", qc_str(qc_type_name(f)));
    if (f->default_text)
        qc_json_text(j, "default", qc_str(f->default_text));
    if (f->range)
        qc_json_text(j, "range", qc_str(f->range));
    if (f->doc)
        qc_json_text(j, "doc", qc_str(f->doc));
    qc_json_bool(j, "supported", !f->unsupported);
    qc_json_close(j, '}');
}

static void explain_field(struct qc_out *o, const struct qc_plan *p,
                          const struct fields *f, struct qc_str name, bool json)
{
    struct qc_json j = {o, 0, false};
    struct places x = {o, json ? &j : NULL, name, 0};
    size_t i;

    if (json) {
        qc_json_open(&j, NULL, '{');
        qc_json_open(&j, "fields", '[');
    }
    for (i = 0; i < f->count; i++)
        if (json)
            put_field_json(&j, f->message[i], f->field[i]);
        else
            put_field(o, f->message[i], f->field[i]);
    if (json) {
        qc_json_close(&j, ']');
        qc_json_open(&j, "set", '[');
    }
    list_all_places(&x, p);
    if (json) {
        qc_json_close(&j, ']');
        qc_json_close(&j, '}');
        qc_puts(o, "\n");
    } else if (!x.count) {
        qc_puts(o, "  not set in the given files\n");
    } else if (x.count > SET_MAX) {
        qc_printf(o, "  and at %zu more places\n", x.count - SET_MAX);
    }
}

/* ---- anything ---- */

static void report_unknown(struct qc_out *o, const struct qc_plan *p,
                           struct qc_str subject, const struct fields *f)
{
    const struct qc_file *file =
        qc_load_text(o->qc, "command line", subject.ptr, subject.len);
    struct qc_str *names, near;
    size_t n = 0, i, k;
    struct qc_diag *d;

    d = qc_report(o->qc, QC_RES_NO_SUBJECT,
                  (struct qc_loc){file, 0, (uint32_t)subject.len},
                  "'%s' is neither a layer of the model nor a field",
                  qc_shown(o->qc, subject));
    for (i = 0; i < f->seen_count; i++)
        n += f->seen[i]->count;
    names = qc_alloc(o->qc, (n + p->count) * sizeof(*names));
    n = 0;
    for (i = 0; i < p->count; i++)
        names[n++] = p->rows[i].layer->name;
    for (i = 0; i < f->seen_count; i++)
        for (k = 0; k < f->seen[i]->count; k++)
            names[n++] = qc_str(f->seen[i]->fields[k].name);
    near = qc_nearest(subject, names, n);
    if (near.len)
        qc_help(o->qc, d, "did you mean '%s'?", qc_shown(o->qc, near));
}

bool qc_explain(struct qc_out *o, const struct qc_plan *p, const char *subject,
                bool json)
{
    struct fields f = {{NULL}, {NULL}, {NULL}, 0, 0};
    const struct qc_layer *l;

    if (!subject) {
        explain_rows(o, p, NULL, json);
        return true;
    }
    l = qc_find_layer(p->model, qc_str(subject));
    if (l) {
        explain_layer(o, p, l, json);
        return true;
    }
    find_fields(&f, message_of(p->kind), qc_str(subject));
    if (p->record)
        find_fields(&f, &qc_ScaleOffsetRecord, qc_str(subject));
    if (f.count) {
        explain_field(o, p, &f, qc_str(subject), json);
        return true;
    }
    report_unknown(o, p, qc_str(subject), &f);
    return false;
}
