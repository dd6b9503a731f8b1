/* schemac: compiles .proto files into the descriptors of gen/schema.h and into
 * docs/formats.md. Runs while quantc is built.
 *
 * This file has the builders that grammar/proto.y calls, the resolving of
 * names and main; schemac_emit.c writes. */
#include "schemac.h"

#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 536870911u

void proto_error(struct proto *p, struct qc_loc loc, const char *fmt, ...)
{
    struct qc_position at = qc_position(p->qc, loc.file, loc.at);
    va_list ap;

    fprintf(stderr, "%s:%u:%u: error: ", loc.file->name, at.line, at.col);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    p->errors++;
}

/* ---- builders ---- */

static struct qc_str dotted(struct proto *p, struct qc_str a, struct qc_str b)
{
    return a.len ? qc_format(p->qc, "%.*s.%.*s", QC_ARG(a), QC_ARG(b)) : b;
}

void proto_syntax(struct proto *p, struct proto_word version)
{
    if (!qc_equalz(version.text, "proto2"))
        proto_error(p, version.loc, "the syntax must be \"proto2\"");
}

void proto_package(struct proto *p, struct proto_word name)
{
    p->package = name.text;
}

static struct proto_message *new_message(struct proto *p,
                                         struct proto_word name)
{
    struct proto_message *m = qc_alloc(p->qc, sizeof(*m));
    struct proto_message *in = p->scope;

    m->name = name;
    m->parent = in;
    m->full = dotted(p, in ? in->full : p->package, name.text);
    m->cname =
        in ? qc_format(p->qc, "%.*s_%.*s", QC_ARG(in->cname), QC_ARG(name.text))
           : name.text;
    m->fields_end = &m->fields;
    *p->messages_end = m;
    p->messages_end = &m->next;
    return m;
}

void proto_open_message(struct proto *p, struct proto_word name,
                        struct qc_str doc)
{
    name.doc = doc;
    p->scope = new_message(p, name);
}

void proto_open_extend(struct proto *p, struct proto_word name)
{
    p->scope = new_message(p, name);
    p->scope->extension = true;
}

void proto_close_message(struct proto *p)
{
    p->scope = p->scope->parent;
}

void proto_open_enum(struct proto *p, struct proto_word name, struct qc_str doc)
{
    struct proto_enum *e = qc_alloc(p->qc, sizeof(*e));
    struct proto_message *in = p->scope;

    e->name = name;
    e->name.doc = doc;
    e->full = dotted(p, in ? in->full : p->package, name.text);
    e->cname =
        in ? qc_format(p->qc, "%.*s_%.*s", QC_ARG(in->cname), QC_ARG(name.text))
           : name.text;
    e->values_end = &e->values;
    *p->enums_end = e;
    p->enums_end = &e->next;
    p->open_enum = e;
}

void proto_close_enum(struct proto *p)
{
    if (!p->open_enum->values)
        proto_error(p, p->open_enum->name.loc, "enum %.*s has no value",
                    QC_ARG(p->open_enum->name.text));
    p->open_enum = NULL;
}

void proto_add_value(struct proto *p, struct proto_word name,
                     struct proto_word number)
{
    struct proto_value *v = qc_alloc(p->qc, sizeof(*v)), *other;
    long long n = strtoll(qc_cstr(p->qc, number.text), NULL, 0);

    if (n < INT32_MIN || n > INT32_MAX)
        proto_error(p, number.loc, "enum values must fit 32 bits");
    for (other = p->open_enum->values; other; other = other->next)
        if (qc_equal(other->name.text, name.text))
            proto_error(p, name.loc, "value %.*s is given twice",
                        QC_ARG(name.text));
        else if (other->number == (int32_t)n)
            proto_error(p, number.loc, "number %lld is taken by %.*s", n,
                        QC_ARG(other->name.text));
    v->name = name;
    v->number = (int32_t)n;
    *p->open_enum->values_end = v;
    p->open_enum->values_end = &v->next;
}

static uint32_t field_number(struct proto *p, struct proto_word number)
{
    unsigned long long n = strtoull(qc_cstr(p->qc, number.text), NULL, 0);

    if (n < 1 || n > MAX_FIELD || (n >= 19000 && n <= 19999))
        proto_error(p, number.loc, "%.*s cannot be a field number",
                    QC_ARG(number.text));
    return (uint32_t)n;
}

static struct proto_field *add_field(struct proto *p, struct proto_message *m,
                                     struct proto_word type,
                                     struct proto_word name, uint32_t number)
{
    struct proto_field *f = qc_alloc(p->qc, sizeof(*f)), *other;

    for (other = m->fields; other; other = other->next)
        if (qc_equal(other->name.text, name.text))
            proto_error(p, name.loc, "field %.*s is given twice",
                        QC_ARG(name.text));
        else if (other->number == number)
            proto_error(p, name.loc, "field number %u is taken by %.*s", number,
                        QC_ARG(other->name.text));
    f->type = type;
    f->name = name;
    f->number = number;
    *m->fields_end = f;
    m->fields_end = &f->next;
    m->count++;
    return f;
}

void proto_add_field(struct proto *p, struct proto_word label,
                     struct proto_word type, struct proto_word name,
                     struct proto_word number, struct proto_option *options)
{
    struct proto_field *f =
        add_field(p, p->scope, type, name, field_number(p, number));

    f->doc = label.doc;
    f->label = qc_equalz(label.text, "repeated")   ? PROTO_REPEATED
               : qc_equalz(label.text, "required") ? PROTO_REQUIRED
                                                   : PROTO_OPTIONAL;
    f->options = options;
}

void proto_add_choice(struct proto *p, struct proto_word type,
                      struct proto_word name, struct proto_word number,
                      struct proto_option *options)
{
    struct proto_field *f =
        add_field(p, p->scope, type, name, field_number(p, number));

    f->doc = type.doc;
    f->choice = p->choice;
    f->options = options;
}

/* A map is a repeated message of key and value. */
void proto_add_map(struct proto *p, struct proto_word map,
                   struct proto_word key, struct proto_word value,
                   struct proto_word name, struct proto_word number,
                   struct proto_option *options)
{
    struct proto_message *entry;
    struct proto_word k = name, v = name;
    struct proto_field *f =
        add_field(p, p->scope, name, name, field_number(p, number));

    f->doc = map.doc;
    f->label = PROTO_REPEATED;
    f->options = options;
    k.text = qc_format(p->qc, "%.*s_entry", QC_ARG(name.text));
    entry = new_message(p, k);
    entry->name.doc = QC_STR("Key and value of a map.");
    entry->entry = true;
    k.text = QC_STR("key");
    v.text = QC_STR("value");
    add_field(p, entry, key, k, 1)->doc = QC_STR("The key.");
    add_field(p, entry, value, v, 2)->doc = QC_STR("The value.");
    f->message = entry;
}

struct proto_option *proto_option(struct proto *p, struct proto_word name,
                                  bool custom, struct proto_word value)
{
    struct proto_option *o = qc_alloc(p->qc, sizeof(*o));

    o->name = name;
    o->custom = custom;
    o->value = value;
    return o;
}

struct proto_word proto_join(struct proto *p, struct qc_loc start,
                             struct proto_word last)
{
    (void)p;
    last.loc = qc_span(start, last.loc);
    last.text.ptr = start.file->text + start.at;
    last.text.len = last.loc.len;
    return last;
}

struct proto_word proto_concat(struct proto *p, struct proto_word a,
                               struct proto_word b)
{
    a.text = qc_format(p->qc, "%.*s%.*s", QC_ARG(a.text), QC_ARG(b.text));
    a.loc = qc_span(a.loc, b.loc);
    return a;
}

/* ---- names ---- */

static const struct {
    const char *word, *type;
} scalars[] = {
    {"bool",   "QC_BOOL"  },
    {"int32",  "QC_INT32" },
    {"int64",  "QC_INT64" },
    {"uint32", "QC_UINT32"},
    {"uint64", "QC_UINT64"},
    {"float",  "QC_FLOAT" },
    {"double", "QC_DOUBLE"},
    {"string", "QC_STRING"},
    {"bytes",  "QC_BYTES" },
};

static bool find_type(struct proto *p, struct proto_field *f,
                      struct qc_str full)
{
    const struct proto_message *m;
    const struct proto_enum *e;

    for (m = p->messages; m; m = m->next)
        if (!m->extension && qc_equal(m->full, full))
            f->message = m;
    for (e = p->enums; e; e = e->next)
        if (qc_equal(e->full, full))
            f->values = e;
    return f->message || f->values;
}

/* Innermost scope first, as protobuf does. */
static void resolve_type(struct proto *p, const struct proto_message *m,
                         struct proto_field *f)
{
    struct qc_str scope = m->full, type = f->type.text;
    size_t i;

    if (f->message)
        return;
    for (i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
        if (qc_equalz(type, scalars[i].word)) {
            f->scalar = scalars[i].type;
            return;
        }
    if (type.ptr[0] == '.') {
        type.ptr++;
        type.len--;
        scope.len = 0;
    }
    while (!find_type(p, f, dotted(p, scope, type))) {
        if (scope.len == 0) {
            proto_error(p, f->type.loc, "type '%.*s' is not known",
                        QC_ARG(f->type.text));
            return;
        }
        while (scope.len && scope.ptr[scope.len - 1] != '.')
            scope.len--;
        scope.len -= scope.len > 0;
    }
}

const struct proto_option *proto_find_option(const struct proto_field *f,
                                             const char *name)
{
    const struct proto_option *o;

    for (o = f->options; o; o = o->next)
        if (qc_equalz(o->name.text, name))
            return o;
    return NULL;
}

static const char *const dialects[] = {"mindspore", "pytorch", "onnx", "caffe",
                                       "tensorflow"};

/* The next word of a text with blanks; empty at the end. */
static struct qc_str next_word(struct qc_str *text)
{
    struct qc_str w = *text;

    while (w.len && *w.ptr == ' ') {
        w.ptr++;
        w.len--;
    }
    text->len = w.len;
    text->ptr = w.ptr;
    while (text->len && *text->ptr != ' ') {
        text->ptr++;
        text->len--;
    }
    w.len -= text->len;
    return w;
}

static unsigned dialect_bit(struct qc_str word)
{
    unsigned i;

    for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (qc_equalz(word, dialects[i]))
            return 1u << (i + 1);
    return 0;
}

unsigned proto_dialects(const struct proto_field *f)
{
    const struct proto_option *o = proto_find_option(f, "qc.dialects");
    struct qc_str rest, word;
    unsigned bits = 0;

    if (!o)
        return 0;
    for (rest = o->value.text; (word = next_word(&rest)).len;)
        bits |= dialect_bit(word);
    return bits | 1u << QC_UNION;
}

static void check_dialects(struct proto *p, const struct proto_option *o)
{
    struct qc_str rest = o->value.text, word;

    while ((word = next_word(&rest)).len)
        if (!dialect_bit(word))
            proto_error(p, o->value.loc, "dialect '%.*s' is not known",
                        QC_ARG(word));
}

/* Is there a field of that name in an extend block? */
static bool is_declared(const struct proto *p, struct qc_str option)
{
    const struct proto_message *m;
    const struct proto_field *f;

    for (m = p->messages; m; m = m->next)
        for (f = m->fields; m->extension && f; f = f->next) {
            struct qc_str package = m->full;

            package.len -= m->name.text.len;
            if (option.len == package.len + f->name.text.len &&
                memcmp(option.ptr, package.ptr, package.len) == 0 &&
                memcmp(option.ptr + package.len, f->name.text.ptr,
                       f->name.text.len) == 0)
                return true;
        }
    return false;
}

static void check_enum_default(struct proto *p, const struct proto_field *f,
                               const struct proto_option *o)
{
    const struct proto_value *v;

    for (v = f->values ? f->values->values : NULL; v; v = v->next)
        if (qc_equal(v->name.text, o->value.text))
            return;
    if (f->values)
        proto_error(p, o->value.loc, "enum %.*s has no value '%.*s'",
                    QC_ARG(f->values->name.text), QC_ARG(o->value.text));
}

static void check_options(struct proto *p, const struct proto_field *f)
{
    const struct proto_option *o;

    for (o = f->options; o; o = o->next) {
        struct qc_str name = o->name.text;

        if (o->custom
                ? !is_declared(p, name)
                : !qc_equalz(name, "default") && !qc_equalz(name, "packed") &&
                      !qc_equalz(name, "deprecated"))
            proto_error(p, o->name.loc, "option '%.*s' is not known",
                        QC_ARG(name));
        if (qc_equalz(name, "qc.dialects"))
            check_dialects(p, o);
        if (qc_equalz(name, "qc.range") &&
            !qc_range_parse(qc_cstr(p->qc, o->value.text), NULL))
            proto_error(p, o->value.loc, "'%.*s' is no range",
                        QC_ARG(o->value.text));
        if (qc_equalz(name, "default")) {
            check_enum_default(p, f, o);
            if (f->label != PROTO_OPTIONAL || f->message)
                proto_error(p, o->name.loc, "this field has no default");
        }
    }
}

static void claim_cname(struct proto *p, struct qc_map *names,
                        struct qc_str cname, struct qc_loc loc)
{
    void **at = qc_map_at(p->qc, names, cname);

    if (*at)
        proto_error(p, loc, "'%.*s' is the C name of another type too",
                    QC_ARG(cname));
    *at = names;
}

static void check_doc(struct proto *p, struct qc_str doc, struct qc_loc loc)
{
    if (doc.len == 0)
        proto_error(p, loc,
                    "a comment that says what this is must stand "
                    "above it");
}

static void resolve(struct proto *p)
{
    struct proto_message *m;
    struct proto_enum *e;
    struct proto_field *f;
    struct proto_value *v;
    struct qc_map names = {0};

    for (m = p->messages; m; m = m->next) {
        for (f = m->fields; f; f = f->next) {
            resolve_type(p, m, f);
            check_options(p, f);
            check_doc(p, f->doc, f->name.loc);
        }
        if (m->extension)
            continue;
        claim_cname(p, &names, m->cname, m->name.loc);
        check_doc(p, m->name.doc, m->name.loc);
    }
    for (e = p->enums; e; e = e->next) {
        claim_cname(p, &names, e->cname, e->name.loc);
        check_doc(p, e->name.doc, e->name.loc);
        for (v = e->values; v; v = v->next)
            check_doc(p, v->name.doc, v->name.loc);
    }
}

/* ---- main ---- */

static void read_files(struct proto *p, char **paths, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        struct qc_file *file = qc_load(p->qc, paths[i], QC_MAX_FILE);

        if (!file) {
            if (qc_error_count(p->qc))
                fprintf(stderr, "schemac: %s: too large\n", paths[i]);
            continue;
        }
        p->package = QC_STR("");
        p->scope = NULL;
        qc_parse_proto(p, file);
    }
}

/* Writes one file; false when that failed. */
static bool write_file(const char *path, const struct proto *p,
                       const char *sources,
                       void (*emit)(FILE *, const struct proto *, const char *))
{
    FILE *to = fopen(path, "w");
    bool ok = to != NULL;

    if (to) {
        emit(to, p, sources);
        ok = !ferror(to);
        ok = fclose(to) == 0 && ok;
    }
    if (!ok)
        fprintf(stderr, "schemac: %s: cannot write: %s\n", path,
                strerror(errno));
    return ok;
}

/* The names of the input files, for the first line of the output. */
static const char *source_names(struct qc *qc)
{
    const struct qc_file *f;
    struct qc_str all = QC_STR("");

    for (f = qc->files; f; f = f->next)
        all =
            qc_format(qc, "%.*s%s%s", QC_ARG(all), all.len ? " " : "", f->name);
    return all.ptr;
}

static bool write_all(struct proto *p, const char *mode, const char *where)
{
    const char *sources = source_names(p->qc);
    const char *h = qc_format(p->qc, "%s/schema_tables.h", where).ptr;
    const char *c = qc_format(p->qc, "%s/schema_tables.c", where).ptr;

    if (strcmp(mode, "--docs") == 0)
        return write_file(where, p, sources, emit_docs);
    return write_file(h, p, sources, emit_header) &&
           write_file(c, p, sources, emit_tables);
}

int main(int argc, char **argv)
{
    struct qc qc = {0};
    struct proto p = {0};
    int status;

    if (argc < 4 ||
        (strcmp(argv[1], "--tables") != 0 && strcmp(argv[1], "--docs") != 0)) {
        fputs("usage: schemac --tables DIR FILE...\n"
              "       schemac --docs FILE FILE...\n",
              stderr);
        return QC_EXIT_USAGE;
    }
    qc_diag_init(&qc);
    p.qc = &qc;
    p.messages_end = &p.messages;
    p.enums_end = &p.enums;
    read_files(&p, argv + 3, argc - 3);
    p.errors += qc_error_count(&qc);
    if (p.errors == 0 && !qc.io_failed)
        resolve(&p);
    if (qc.io_failed)
        status = QC_EXIT_IO;
    else if (p.errors)
        status = QC_EXIT_INPUT;
    else
        status = write_all(&p, argv[1], argv[2]) ? QC_EXIT_OK : QC_EXIT_IO;
    qc_free_all(&qc);
    return status;
}
