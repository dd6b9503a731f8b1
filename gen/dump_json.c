/* Bound values of a config.json, written back as a config.json. */
#include "json.h"

#include <string.h>

#include "decimal.h"
#include "json_out.h"
#include "schema_tables.h"

static void put_unit(struct qc_out *o, uint32_t unit)
{
    qc_printf(o, "\\u%04x", (unsigned)unit);
}

static void put_char(struct qc_out *o, uint32_t c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *at = c && c < 0x80 ? strchr(plain, (int)c) : NULL;

    if (at) {
        qc_printf(o, "\\%c", names[at - plain]);
    } else if (c >= 0x10000) {
        put_unit(o, 0xD800 + ((c - 0x10000) >> 10));
        put_unit(o, 0xDC00 + (c & 0x3FF));
    } else if (c < 0x20 || c >= 0x80) {
        put_unit(o, c);
    } else {
        qc_printf(o, "%c", (int)c);
    }
}

void qc_put_json_string(struct qc_out *o, struct qc_str s)
{
    const char *p = s.ptr, *end = qc_end(s);

    qc_puts(o, "\"");
    while (p < end) {
        uint32_t c = 0xFFFD; /* a name of a binary model may hold anything */
        unsigned len = qc_utf8(p, end, &c);

        put_char(o, len ? c : 0xFFFD);
        p += len ? len : 1;
    }
    qc_puts(o, "\"");
}

static void put_float(struct qc_json *j, const char *key,
                      const struct qc_value *v)
{
    /* Beyond binary64 only the text says what was meant. */
    if (qc_is_finite(v->as.f))
        qc_json_float(j, key, v->as.f);
    else
        qc_json_raw(j, key, v->text);
}

static void put_value(struct qc_json *j, const char *key,
                      const struct qc_field *f, const struct qc_value *v)
{
    switch (f->type) {
    case QC_BOOL:
        qc_json_bool(j, key, v->as.b);
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        put_float(j, key, v);
        break;
    case QC_STRING:
    case QC_BYTES:
    case QC_ENUM:
        qc_json_text(j, key, v->text);
        break;
    default: /* JSON has one text for each integer, but 0 */
        qc_json_raw(j, key, qc_equalz(v->text, "-0") ? QC_STR("0") : v->text);
    }
}

static void put_list(struct qc_json *j, const struct qc_field *f,
                     const struct qc_values *list)
{
    size_t i;

    qc_json_open(j, f->name, '[');
    for (i = 0; i < list->count; i++)
        put_value(j, NULL, f, &list->at[i]);
    qc_json_close(j, ']');
}

static void put_message(struct qc_json *j, const char *key,
                        const struct qc_message *m, const void *bound);

/* A map whose entries stand among the other keys. */
static void put_entries(struct qc_json *j, const struct qc_field *f,
                        const void *member)
{
    const struct qc_message *entry = f->message;
    struct {
        const char *at;
        size_t count;
    } list;
    size_t i;

    memcpy(&list, member, sizeof(list));
    for (i = 0; i < list.count; i++) {
        const char *e = list.at + i * entry->size;
        const struct qc_value *key =
            (const void *)(e + entry->fields[0].offset);
        const void *value;

        memcpy(&value, e + entry->fields[1].offset, sizeof(value));
        qc_json_key(j, key->text);
        put_message(j, "", entry->fields[1].message, value);
    }
}

static void put_field(struct qc_json *j, const struct qc_field *f,
                      const void *member)
{
    const struct qc_values *list = member;
    const struct qc_value *v = member;
    const void *inner;

    if (f->inline_keys) {
        put_entries(j, f, member);
    } else if (f->type == QC_MESSAGE) {
        memcpy(&inner, member, sizeof(inner));
        if (inner)
            put_message(j, f->name, f->message, inner);
    } else if (f->label == QC_REPEATED) {
        if (list->at)
            put_list(j, f, list);
    } else if (v->set) {
        put_value(j, f->name, f, v);
    }
}

static void put_message(struct qc_json *j, const char *key,
                        const struct qc_message *m, const void *bound)
{
    size_t i;

    qc_json_open(j, key, '{');
    for (i = 0; i < m->count; i++)
        put_field(j, &m->fields[i], (const char *)bound + m->fields[i].offset);
    qc_json_close(j, '}');
}

void qc_dump_config_json(struct qc_out *o, const struct qc_doc *d)
{
    struct qc_json j = {o, 0, false};

    put_message(&j, NULL,
                d->kind == QC_KIND_JSON_CALIB ? &qc_CalibJson : &qc_RetrainJson,
                d->bound);
    qc_puts(o, "\n");
}
