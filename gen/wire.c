/* Reader of protobuf's wire format, driven by descriptors: bytes to tree.
 *
 * The file is mapped and may be hostile. Every length is checked against the
 * end of the message it stands in before it is used, nesting and the number of
 * values are limited, and nothing is copied, so time and memory are linear in
 * the size of the file. */
#include "schema.h"

#include <string.h>

enum wire { VARINT, FIXED64, BYTES, GROUP_START, GROUP_END, FIXED32 };

struct reader {
    struct qc *qc;
    const struct qc_file *file;
    size_t nodes;
};

struct span {
    size_t at, end; /* offsets in the file */
};

bool qc_varint(struct qc_str s, size_t *at, uint64_t *v)
{
    unsigned shift;

    *v = 0;
    for (shift = 0; shift < 64 && *at < s.len; shift += 7) {
        unsigned char byte = (unsigned char)s.ptr[(*at)++];

        if (shift == 63 && byte > 1)
            return false;
        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static struct qc_loc place(const struct reader *r, size_t at, size_t len)
{
    return (struct qc_loc){r->file, (uint32_t)at, (uint32_t)len};
}

static bool cut_off(const struct reader *r, size_t at, const char *what)
{
    qc_report(r->qc, QC_WIRE_TRUNCATED, place(r, at, 0),
              "%s goes beyond the end of the message around it: the file is "
              "cut off or damaged",
              what);
    return false;
}

static bool read_varint(const struct reader *r, struct span *s, uint64_t *v)
{
    struct qc_str text = {r->file->text, s->end};
    size_t start = s->at;

    if (qc_varint(text, &s->at, v))
        return true;
    if (s->at == s->end && s->end - start < 10)
        return cut_off(r, start, "a number");
    qc_report(r->qc, QC_WIRE_VARINT, place(r, start, s->at - start),
              "a number of more than 64 bits: the file is damaged");
    return false;
}

static bool read_fixed(const struct reader *r, struct span *s, unsigned size,
                       uint64_t *v)
{
    unsigned i;

    if (s->end - s->at < size)
        return cut_off(r, s->at, "a number");
    *v = 0;
    for (i = 0; i < size; i++)
        *v |= (uint64_t)(unsigned char)r->file->text[s->at + i] << 8 * i;
    s->at += size;
    return true;
}

/* The bytes behind a length; moves *s behind them. */
static bool read_bytes(const struct reader *r, struct span *s,
                       struct span *inside)
{
    size_t start = s->at;
    uint64_t len;

    if (!read_varint(r, s, &len))
        return false;
    if (len > s->end - s->at)
        return cut_off(r, start, "a field");
    inside->at = s->at;
    inside->end = s->at + (size_t)len;
    s->at = inside->end;
    return true;
}

/* One value of whatever kind; `inside` is set for BYTES, `v` for the others.
 * Moves *s behind the value. */
static bool read_value(const struct reader *r, struct span *s, unsigned wire,
                       struct span *inside, uint64_t *v)
{
    size_t at = s->at;

    switch (wire) {
    case VARINT:
        return read_varint(r, s, v);
    case FIXED64:
        return read_fixed(r, s, 8, v);
    case FIXED32:
        return read_fixed(r, s, 4, v);
    case BYTES:
        return read_bytes(r, s, inside);
    case GROUP_START:
    case GROUP_END:
        qc_report(r->qc, QC_WIRE_GROUP, place(r, at, 0),
                  "a group, which no ONNX model contains: the file is damaged");
        return false;
    default:
        qc_report(r->qc, QC_WIRE_TAG, place(r, at, 0),
                  "wire type %u does not exist: the file is damaged", wire);
        return false;
    }
}

static unsigned wire_of(enum qc_type t)
{
    switch (t) {
    case QC_FLOAT:
        return FIXED32;
    case QC_DOUBLE:
        return FIXED64;
    case QC_STRING:
    case QC_BYTES:
    case QC_MESSAGE:
        return BYTES;
    default:
        return VARINT;
    }
}

static bool is_value(unsigned wire)
{
    return wire < GROUP_START || wire == FIXED32;
}

/* A list of numbers may be packed whatever the schema says. */
static bool wire_fits(const struct qc_field *f, unsigned wire)
{
    return wire == wire_of(f->type) ||
           (wire == BYTES && f->label == QC_REPEATED);
}

static struct qc_node *new_node(struct reader *r, enum qc_node_kind kind,
                                const struct qc_field *f, struct span s)
{
    struct qc_loc loc = place(r, s.at, s.end - s.at);
    struct qc_str text = {r->file->text + s.at, s.end - s.at};
    struct qc_node *n;

    if (++r->nodes > QC_MAX_WIRE_NODES) {
        qc_report(r->qc, QC_LIM_WIRE_NODES, loc,
                  "the model holds more than %u values", QC_MAX_WIRE_NODES);
        return NULL;
    }
    n = qc_node(r->qc, kind, loc, text);
    if (f)
        qc_named(n, qc_str(f->name), loc);
    return n;
}

/* A field's descriptor, null for one that is skipped. False after a fault. */
static bool read_tag(const struct reader *r, const struct qc_message *m,
                     struct span *s, const struct qc_field **f, unsigned *wire)
{
    size_t start = s->at;
    uint64_t tag;

    if (!read_varint(r, s, &tag))
        return false;
    *wire = (unsigned)(tag & 7);
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
        qc_report(r->qc, QC_WIRE_TAG, place(r, start, s->at - start),
                  "field number %llu does not exist: the file is damaged",
                  (unsigned long long)(tag >> 3));
        return false;
    }
    *f = qc_find_number(m, (uint32_t)(tag >> 3));
    if (*f && is_value(*wire) && !wire_fits(*f, *wire)) {
        qc_report(r->qc, QC_WIRE_TYPE, place(r, start, s->at - start),
                  "field %s of %s has wire type %u, not %u: the file is "
                  "damaged, or no ONNX model",
                  (*f)->name, m->name, *wire, wire_of((*f)->type));
        return false;
    }
    return true;
}

static bool read_message(struct reader *r, const struct qc_message *m,
                         struct span s, struct qc_node *to, unsigned depth)
{
    if (depth > QC_MAX_WIRE_DEPTH) {
        qc_report(r->qc, QC_LIM_WIRE_DEPTH, place(r, s.at, 0),
                  "messages are nested deeper than %u", QC_MAX_WIRE_DEPTH);
        return false;
    }
    while (s.at < s.end) {
        const struct qc_field *f;
        struct qc_node *n;
        unsigned wire;
        size_t start;
        struct span inside;
        uint64_t v = 0;

        if (!read_tag(r, m, &s, &f, &wire))
            return false;
        start = s.at;
        if (!read_value(r, &s, wire, &inside, &v))
            return false;
        if (!f)
            continue;
        if (wire != BYTES)
            inside = (struct span){start, s.at};
        n = new_node(r,
                     f->type == QC_MESSAGE ? QC_GROUP
                     : wire == BYTES       ? QC_TEXT
                                           : QC_NUMBER,
                     f, inside);
        if (!n)
            return false;
        n->bits = v;
        qc_append(to, n);
        if (f->type == QC_MESSAGE &&
            !read_message(r, f->message, inside, n, depth + 1))
            return false;
    }
    return true;
}

struct qc_node *qc_parse_wire(struct qc *qc, struct qc_file *f,
                              const struct qc_message *m)
{
    struct reader r = {qc, f, 0};
    struct span all = {0, f->size};
    struct qc_node *root = new_node(&r, QC_GROUP, NULL, all);

    return read_message(&r, m, all, root, 1) ? root : NULL;
}
