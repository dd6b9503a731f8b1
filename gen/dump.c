/* Canonical values of an input file: what is present, each value in one
 * spelling only. */
#include "bind.h"
#include "decimal.h"
#include "emit.h"
#include "json.h"
#include "json_out.h"
#include "layers.h"
#include "schema_tables.h"

#include <string.h>

static void dump_message(struct qc_json *j, const char *key,
                         const struct qc_message *m, const char *base);

/* Nine significant digits: as many as tell any two binary32 apart. */
static void dump_float(struct qc_json *j, const char *key, double v)
{
    char text[QC_DECIMAL_ROOM];

    qc_json_text(j, key, qc_str(qc_nine_digits_f32(qc_f32_bits(v), text)));
}

static void dump_bytes(struct qc_json *j, const char *key, struct qc_str s)
{
    static const char digits[] = "0123456789abcdef";
    char *out = qc_alloc(j->out->qc, s.len * 2 + 5);
    size_t n = 4, i;

    memcpy(out, "hex:", 4);
    for (i = 0; i < s.len; i++) {
        out[n++] = digits[(unsigned char)s.ptr[i] >> 4];
        out[n++] = digits[(unsigned char)s.ptr[i] & 15];
    }
    qc_json_text(j, key, (struct qc_str){out, n});
}

static void dump_unsigned(struct qc_json *j, const char *key, uint64_t u)
{
    if (u <= INT64_MAX)
        qc_json_int(j, key, (int64_t)u);
    else
        qc_json_text(j, key,
                     qc_format(j->out->qc, "%llu", (unsigned long long)u));
}

static void dump_value(struct qc_json *j, const char *key,
                       const struct qc_field *f, const struct qc_value *v)
{
    switch (f->type) {
    case QC_BOOL:
        qc_json_bool(j, key, v->as.b);
        break;
    case QC_INT32:
    case QC_INT64:
        qc_json_int(j, key, v->as.i);
        break;
    case QC_UINT32:
    case QC_UINT64:
        dump_unsigned(j, key, v->as.u);
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        dump_float(j, key, v->as.f);
        break;
    case QC_ENUM:
        qc_json_text(j, key,
                     qc_str(qc_find_enum_number(f->values, v->as.e)->name));
        break;
    case QC_BYTES:
        dump_bytes(j, key, v->text);
        break;
    default:
        qc_json_text(j, key, v->text);
    }
}

static void dump_list(struct qc_json *j, const struct qc_field *f,
                      const char *member)
{
    const struct {
        const char *at;
        size_t count;
    } *list = (const void *)member;
    size_t size =
        f->type == QC_MESSAGE ? f->message->size : sizeof(struct qc_value);
    size_t i;

    if (!list->count)
        return;
    qc_json_open(j, f->name, '[');
    for (i = 0; i < list->count; i++) {
        if (f->type == QC_MESSAGE)
            dump_message(j, NULL, f->message, list->at + i * size);
        else
            dump_value(j, NULL, f, (const void *)(list->at + i * size));
    }
    qc_json_close(j, ']');
}

static void dump_field(struct qc_json *j, const struct qc_field *f,
                       const char *member)
{
    const struct qc_value *v = (const void *)member;
    const char *inner;

    if (f->label == QC_REPEATED) {
        dump_list(j, f, member);
    } else if (f->type == QC_MESSAGE) {
        memcpy(&inner, member, sizeof(inner));
        if (inner)
            dump_message(j, f->name, f->message, inner);
    } else if (v->set) {
        dump_value(j, f->name, f, v);
    }
}

static void dump_message(struct qc_json *j, const char *key,
                         const struct qc_message *m, const char *base)
{
    size_t i;

    qc_json_open(j, key, '{');
    for (i = 0; i < m->count; i++)
        dump_field(j, &m->fields[i], base + m->fields[i].offset);
    qc_json_close(j, '}');
}

void qc_dump_json(struct qc_out *o, const struct qc_doc *d)
{
    static const struct qc_message *const messages[] = {
        [QC_KIND_CALIB] = &qc_AMCTConfig,
        [QC_KIND_RETRAIN] = &qc_AMCTRetrainConfig,
        [QC_KIND_RECORD] = &qc_ScaleOffsetRecord,
        [QC_KIND_LAYERS] = &qc_ModelLayers,
        [QC_KIND_OPTIONS] = &qc_QuantcOptions};
    const char *bound = d->bound;
    struct qc_json j = {0};

    j.out = o;
    if (d->kind == QC_KIND_JSON_CALIB || d->kind == QC_KIND_JSON_RETRAIN) {
        qc_dump_config_json(o, d);
        return;
    }
    if (d->kind == QC_KIND_LAYERS && d->file->json)
        bound = (const char *)qc_bind_layers_json(o->qc, d->file, d->root);
    if (!bound)
        return;
    dump_message(&j, NULL, messages[d->kind], bound);
    qc_puts(o, "\n");
}
