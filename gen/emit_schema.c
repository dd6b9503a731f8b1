/* JSON Schema of the two forms of config.json, from the descriptors, so that
 * editors complete and check the file while it is written. What needs the
 * model, or looks at the whole file, only quantc can check. */
#include "emit.h"

#include "decimal.h"
#include "json.h"
#include "json_out.h"
#include "schema_tables.h"

#define DRAFT "https://json-schema.org/draft/2020-12/schema"

/* ---- rules across the keys of an object ---- */

/* clip_max and clip_min: both or none. */
static void put_clip_rule(struct qc_json *j)
{
    qc_json_open(j, "dependentRequired", '{');
    qc_json_open(j, "clip_max", '[');
    qc_json_text(j, NULL, QC_STR("clip_min"));
    qc_json_close(j, ']');
    qc_json_open(j, "clip_min", '[');
    qc_json_text(j, NULL, QC_STR("clip_max"));
    qc_json_close(j, ']');
    qc_json_close(j, '}');
}

static void put_required(struct qc_json *j, const char *key)
{
    qc_json_open(j, NULL, '{');
    qc_json_open(j, "required", '[');
    qc_json_text(j, NULL, qc_str(key));
    qc_json_close(j, ']');
    qc_json_close(j, '}');
}

/* "key has this value" */
static void put_has(struct qc_json *j, const char *key, const char *value)
{
    qc_json_open(j, NULL, '{');
    qc_json_open(j, "properties", '{');
    qc_json_open(j, key, '{');
    qc_json_text(j, "const", qc_str(value));
    qc_json_close(j, '}');
    qc_json_close(j, '}');
    qc_json_open(j, "required", '[');
    qc_json_text(j, NULL, qc_str(key));
    qc_json_close(j, ']');
    qc_json_close(j, '}');
}

static void put_keys_of_algo(struct qc_json *j, const char *key,
                             const char *value, const char *const *keys)
{
    qc_json_open(j, "anyOf", '[');
    put_has(j, key, value);
    for (; *keys; keys++)
        put_required(j, *keys);
    qc_json_close(j, ']');
}

/* Not the keys of two algorithms in one object. */
static void put_act_rule(struct qc_json *j)
{
    static const char *const ifmr[] = {"search_range", "search_step",
                                       "max_percentile", "min_percentile",
                                       NULL},
                             *const hfmg[] = {"num_of_bins", NULL};

    qc_json_open(j, "if", '{');
    put_keys_of_algo(j, "act_algo", "hfmg", hfmg);
    qc_json_close(j, '}');
    qc_json_open(j, "then", '{');
    qc_json_open(j, "not", '{');
    put_keys_of_algo(j, "act_algo", "ifmr", ifmr);
    qc_json_close(j, '}');
    qc_json_close(j, '}');
}

/* Keys of ada_quantize ask for that algorithm. */
static void put_wts_rule(struct qc_json *j)
{
    const struct qc_message *m = &qc_WeightQuantParams;
    size_t i;

    qc_json_open(j, "if", '{');
    qc_json_open(j, "anyOf", '[');
    for (i = 0; i < m->count; i++)
        if (m->fields[i].unsupported)
            put_required(j, m->fields[i].name);
    qc_json_close(j, ']');
    qc_json_close(j, '}');
    qc_json_open(j, "then", '{');
    qc_json_open(j, "allOf", '[');
    put_has(j, "wts_algo", "ada_quantize");
    qc_json_close(j, ']');
    qc_json_close(j, '}');
}

static const struct {
    const struct qc_message *message;
    void (*put)(struct qc_json *j);
} rules[] = {
    {&qc_RetrainDataConfig,     put_clip_rule},
    {&qc_ActivationQuantParams, put_act_rule },
    {&qc_WeightQuantParams,     put_wts_rule },
};

/* ---- one key ---- */

/* A bound of a range, as the integer it mostly is. */
static void put_bound(struct qc_json *j, const char *key, double v)
{
    if (v > -1e15 && v < 1e15 && !((double)(int64_t)v < v) &&
        !((double)(int64_t)v > v))
        qc_json_int(j, key, (int64_t)v);
    else if (qc_is_finite(v))
        qc_json_float(j, key, v);
}

static void put_range(struct qc_json *j, const struct qc_field *f)
{
    struct qc_range r;
    unsigned i;

    if (!f->range || !qc_range_parse(f->range, &r)) {
        if (f->type == QC_UINT32 || f->type == QC_UINT64)
            qc_json_int(j, "minimum", 0);
        return;
    }
    if (r.count) {
        qc_json_open(j, "enum", '[');
        for (i = 0; i < r.count; i++)
            put_bound(j, NULL, r.member[i]);
        qc_json_close(j, ']');
        return;
    }
    if (qc_is_finite(r.low))
        put_bound(j, r.open_low ? "exclusiveMinimum" : "minimum", r.low);
    if (qc_is_finite(r.high))
        put_bound(j, r.open_high ? "exclusiveMaximum" : "maximum", r.high);
}

static void put_enum(struct qc_json *j, const struct qc_enumeration *e)
{
    size_t i;

    qc_json_open(j, "enum", '[');
    for (i = 0; i < e->count; i++)
        qc_json_text(j, NULL, qc_str(e->values[i].name));
    qc_json_close(j, ']');
}

static struct qc_str reference(struct qc *qc, const struct qc_message *m)
{
    return qc_format(qc, "#/$defs/%s", m->name);
}

/* What one value of the field must be. */
static void put_type(struct qc_json *j, const struct qc_field *f)
{
    switch (f->type) {
    case QC_MESSAGE:
        qc_json_text(j, "$ref", reference(j->out->qc, f->message));
        break;
    case QC_BOOL:
        qc_json_text(j, "type", QC_STR("boolean"));
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        qc_json_text(j, "type", QC_STR("number"));
        put_range(j, f);
        break;
    case QC_STRING:
    case QC_BYTES:
        qc_json_text(j, "type", QC_STR("string"));
        break;
    case QC_ENUM:
        put_enum(j, f->values);
        break;
    default:
        qc_json_text(j, "type", QC_STR("integer"));
        put_range(j, f);
    }
}

static void put_list(struct qc_json *j, const struct qc_field *f)
{
    qc_json_text(j, "type", QC_STR("array"));
    qc_json_open(j, "items", '{');
    put_type(j, f);
    if (f->type == QC_STRING)
        qc_json_int(j, "minLength", 1);
    qc_json_close(j, '}');
    if (f->type == QC_STRING) {
        qc_json_bool(j, "uniqueItems", true);
        return;
    }
    qc_json_int(j, "minItems", 2); /* first and last value of a range */
    qc_json_int(j, "maxItems", 2);
}

/* The doc text, and those of the words that may stand here. */
static void put_description(struct qc_json *j, const struct qc_field *f)
{
    struct qc *qc = j->out->qc;
    struct qc_str s = qc_str(f->doc);
    size_t i;

    for (i = 0; f->type == QC_ENUM && i < f->values->count; i++)
        s = qc_format(qc, "%.*s %s: %s", QC_ARG(s), f->values->values[i].name,
                      f->values->values[i].doc);
    if (f->unsupported)
        s = qc_format(qc, "%.*s Known to AMCT, not supported by quantc.",
                      QC_ARG(s));
    qc_json_text(j, "description", s);
    if (f->unsupported)
        qc_json_bool(j, "deprecated", true);
}

static void put_default(struct qc_json *j, const struct qc_field *f)
{
    if (!f->default_text)
        return;
    if (f->type == QC_ENUM || f->type == QC_STRING)
        qc_json_text(j, "default", qc_str(f->default_text));
    else
        qc_json_raw(j, "default", qc_str(f->default_text));
}

static void put_key(struct qc_json *j, const struct qc_field *f)
{
    qc_json_open(j, f->name, '{');
    put_description(j, f);
    if (f->label == QC_REPEATED)
        put_list(j, f);
    else
        put_type(j, f);
    put_default(j, f);
    qc_json_close(j, '}');
}

/* ---- objects ---- */

static const struct qc_message *layer_of(const struct qc_field *entries)
{
    return entries->message->fields[1].message;
}

static void put_object(struct qc_json *j, const struct qc_message *m)
{
    const struct qc_field *entries = NULL;
    size_t i;

    qc_json_text(j, "description", qc_str(m->doc));
    qc_json_text(j, "type", QC_STR("object"));
    qc_json_open(j, "properties", '{');
    for (i = 0; i < m->count; i++) {
        if (m->fields[i].inline_keys)
            entries = &m->fields[i];
        else
            put_key(j, &m->fields[i]);
    }
    qc_json_close(j, '}');
    if (entries) {
        qc_json_open(j, "propertyNames", '{');
        qc_json_int(j, "minLength", 1);
        qc_json_close(j, '}');
        qc_json_open(j, "additionalProperties", '{');
        qc_json_text(j, "$ref", reference(j->out->qc, layer_of(entries)));
        qc_json_close(j, '}');
    } else {
        qc_json_bool(j, "additionalProperties", false);
    }
    for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].message == m)
            rules[i].put(j);
}

/* Definitions of the messages that m leads to, depth first; each is used in
 * one place only. */
static void put_definitions(struct qc_json *j, const struct qc_message *m)
{
    size_t i;

    for (i = 0; i < m->count; i++) {
        const struct qc_field *f = &m->fields[i];
        const struct qc_message *to;

        if (f->type != QC_MESSAGE)
            continue;
        to = f->inline_keys ? layer_of(f) : f->message;
        qc_json_open(j, to->name, '{');
        put_object(j, to);
        qc_json_close(j, '}');
        put_definitions(j, to);
    }
}

void qc_emit_schema(struct qc_out *o, enum qc_kind kind)
{
    const struct qc_message *root =
        kind == QC_KIND_JSON_CALIB ? &qc_CalibJson : &qc_RetrainJson;
    struct qc_json j = {o, 0, false};

    qc_json_open(&j, NULL, '{');
    qc_json_text(&j, "$schema", QC_STR(DRAFT));
    put_object(&j, root);
    qc_json_open(&j, "$defs", '{');
    put_definitions(&j, root);
    qc_json_close(&j, '}');
    qc_json_close(&j, '}');
    qc_puts(o, "\n");
}
