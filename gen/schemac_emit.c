/* schemac: writes what schemac.c resolved: descriptors in C, tables for
 * people. The order is that of the .proto files, so the output depends on
 * nothing else. */
#include "schemac.h"

#include <string.h>

/* A field whose name C or C++ keeps for itself, or that collides with member
 * 0, gets an underscore. */
static const char *const taken[] = {
    "auto",    "bool",     "break",    "case",   "char",     "class",
    "const",   "continue", "default",  "delete", "do",       "double",
    "else",    "enum",     "extern",   "float",  "for",      "goto",
    "if",      "inline",   "int",      "long",   "new",      "node",
    "private", "public",   "register", "return", "short",    "signed",
    "sizeof",  "static",   "struct",   "switch", "template", "this",
    "typedef", "union",    "unsigned", "void",   "volatile", "while",
};

static const char *member_suffix(const struct proto_field *f)
{
    size_t i;

    for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (qc_equalz(f->name.text, taken[i]))
            return "_";
    return "";
}

/* A C string literal. */
static void put_string(FILE *to, struct qc_str s)
{
    size_t i;

    fputc('"', to);
    for (i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ')
            fprintf(to, "\\%03o", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void put_option(FILE *to, const char *member,
                       const struct proto_option *o)
{
    if (!o)
        return;
    fprintf(to, ", .%s = ", member);
    put_string(to, o->value.text);
}

static bool is_true(const struct proto_option *o)
{
    return o && qc_equalz(o->value.text, "true");
}

/* ---- schema_tables.h ---- */

static void put_enum(FILE *to, const struct proto_enum *e)
{
    const struct proto_value *v;

    fprintf(to, "\n/* %.*s */\nenum %.*s {\n", QC_ARG(e->name.doc),
            QC_ARG(e->cname));
    for (v = e->values; v; v = v->next)
        fprintf(to, "    %.*s_%.*s = %d%s\n", QC_ARG(e->cname),
                QC_ARG(v->name.text), (int)v->number, v->next ? "," : "");
    fputs("};\n", to);
}

static void put_member(FILE *to, const struct proto_field *f)
{
    bool list = f->label == PROTO_REPEATED;

    fputs("    ", to);
    if (!f->message)
        fputs(list ? "struct qc_values " : "struct qc_value ", to);
    else
        fprintf(to, "struct %.*s%s", QC_ARG(f->message->cname),
                list ? "_list " : " *");
    fprintf(to, "%.*s%s;\n", QC_ARG(f->name.text), member_suffix(f));
}

void emit_header(FILE *to, const struct proto *p, const char *sources)
{
    const struct proto_message *m;
    const struct proto_enum *e;
    const struct proto_field *f;

    fprintf(to,
            "/* Made by schemac from %s */\n"
            "#ifndef QC_SCHEMA_TABLES_H\n"
            "#define QC_SCHEMA_TABLES_H\n\n"
            "#include \"schema.h\"\n",
            sources);
    for (e = p->enums; e; e = e->next)
        put_enum(to, e);
    fputc('\n', to);
    for (m = p->messages; m; m = m->next)
        if (!m->extension)
            fprintf(to,
                    "struct %.*s_list {\n    struct %.*s *at;\n"
                    "    size_t count;\n};\n",
                    QC_ARG(m->cname), QC_ARG(m->cname));
    for (m = p->messages; m; m = m->next) {
        if (m->extension)
            continue;
        fprintf(to, "\n/* %.*s */\nstruct %.*s {\n", QC_ARG(m->name.doc),
                QC_ARG(m->cname));
        fputs("    const struct qc_node *node;\n", to);
        for (f = m->fields; f; f = f->next)
            put_member(to, f);
        fputs("};\n", to);
    }
    fputc('\n', to);
    for (e = p->enums; e; e = e->next)
        fprintf(to, "extern const struct qc_enumeration qc_%.*s;\n",
                QC_ARG(e->cname));
    for (m = p->messages; m; m = m->next)
        if (!m->extension)
            fprintf(to, "extern const struct qc_message qc_%.*s;\n",
                    QC_ARG(m->cname));
    fputs("\n#endif\n", to);
}

/* ---- schema_tables.c ---- */

static void put_enum_table(FILE *to, const struct proto_enum *e)
{
    const struct proto_value *v;

    fprintf(to, "\nstatic const struct qc_enum_value values_of_%.*s[] = {\n",
            QC_ARG(e->cname));
    for (v = e->values; v; v = v->next) {
        fprintf(to, "    {\"%.*s\", %d, ", QC_ARG(v->name.text),
                (int)v->number);
        put_string(to, v->name.doc);
        fputs("},\n", to);
    }
    fprintf(to,
            "};\n"
            "const struct qc_enumeration qc_%.*s = {\n"
            "    \"%.*s\", values_of_%.*s,\n"
            "    sizeof(values_of_%.*s) / sizeof(values_of_%.*s[0])};\n",
            QC_ARG(e->cname), QC_ARG(e->name.text), QC_ARG(e->cname),
            QC_ARG(e->cname), QC_ARG(e->cname));
}

static void put_field(FILE *to, const struct proto_message *m,
                      const struct proto_field *f)
{
    static const char *const labels[] = {"QC_OPTIONAL", "QC_REQUIRED",
                                         "QC_REPEATED"};
    unsigned dialects = proto_dialects(f);

    fprintf(to, "    {.name = \"%.*s\", .number = %u, .label = %s, .type = %s",
            QC_ARG(f->name.text), (unsigned)f->number, labels[f->label],
            f->message  ? "QC_MESSAGE"
            : f->values ? "QC_ENUM"
                        : f->scalar);
    if (f->message)
        fprintf(to, ", .message = &qc_%.*s", QC_ARG(f->message->cname));
    if (f->values)
        fprintf(to, ", .values = &qc_%.*s", QC_ARG(f->values->cname));
    if (f->choice.len)
        fprintf(to, ", .choice = \"%.*s\"", QC_ARG(f->choice));
    put_option(to, "default_text", proto_find_option(f, "default"));
    put_option(to, "range", proto_find_option(f, "qc.range"));
    if (dialects)
        fprintf(to, ", .dialects = 0x%02x", dialects);
    if (is_true(proto_find_option(f, "qc.unsupported")))
        fputs(", .unsupported = true", to);
    if (is_true(proto_find_option(f, "qc.inline_keys")))
        fputs(", .inline_keys = true", to);
    if (f->message && f->message->entry)
        fputs(", .is_map = true", to);
    fputs(",\n     .doc = ", to);
    put_string(to, f->doc);
    fprintf(to, ",\n     .offset = offsetof(struct %.*s, %.*s%s)},\n",
            QC_ARG(m->cname), QC_ARG(f->name.text), member_suffix(f));
}

static void put_message_table(FILE *to, const struct proto_message *m)
{
    const struct proto_field *f;

    if (m->count) {
        fprintf(to, "\nstatic const struct qc_field fields_of_%.*s[] = {\n",
                QC_ARG(m->cname));
        for (f = m->fields; f; f = f->next)
            put_field(to, m, f);
        fputs("};\n", to);
    }
    fprintf(to, "const struct qc_message qc_%.*s = {\n    \"%.*s\",\n    ",
            QC_ARG(m->cname), QC_ARG(m->name.text));
    put_string(to, m->name.doc);
    if (m->count)
        fprintf(to, ",\n    fields_of_%.*s, %zu", QC_ARG(m->cname), m->count);
    else
        fputs(",\n    NULL, 0", to);
    fprintf(to, ", sizeof(struct %.*s)};\n", QC_ARG(m->cname));
}

void emit_tables(FILE *to, const struct proto *p, const char *sources)
{
    const struct proto_message *m;
    const struct proto_enum *e;

    fprintf(to,
            "/* Made by schemac from %s */\n"
            "#include \"schema_tables.h\"\n",
            sources);
    for (e = p->enums; e; e = e->next)
        put_enum_table(to, e);
    for (m = p->messages; m; m = m->next)
        if (!m->extension)
            put_message_table(to, m);
}

/* ---- docs ---- */

/* Text inside a cell of a Markdown table. */
static void put_cell(FILE *to, struct qc_str s)
{
    size_t i;

    for (i = 0; i < s.len; i++) {
        if (s.ptr[i] == '|' || s.ptr[i] == '<' || s.ptr[i] == '*' ||
            s.ptr[i] == '_')
            fputc('\\', to);
        fputc(s.ptr[i], to);
    }
}

static void put_code(FILE *to, struct qc_str s)
{
    if (s.len)
        fprintf(to, "`%.*s`", QC_ARG(s));
}

static void put_doc_row(FILE *to, const struct proto_field *f)
{
    static const char *const labels[] = {"optional", "required", "repeated"};
    const struct proto_option *d = proto_find_option(f, "default");
    const struct proto_option *range = proto_find_option(f, "qc.range");
    const struct proto_option *dialects = proto_find_option(f, "qc.dialects");

    fprintf(to, "| `%.*s` | ", QC_ARG(f->name.text));
    if (f->message && f->message->entry)
        fprintf(to, "map of %.*s", QC_ARG(f->message->fields->next->type.text));
    else
        fprintf(to, "%.*s", QC_ARG(f->type.text));
    if (f->choice.len)
        fprintf(to, " | one of `%.*s`", QC_ARG(f->choice));
    else
        fprintf(to, " | %s", labels[f->label]);
    fputs(" | ", to);
    put_code(to, d ? d->value.text : QC_STR(""));
    fputs(" | ", to);
    put_code(to, range ? range->value.text : QC_STR(""));
    fputs(" | ", to);
    put_cell(to, dialects ? dialects->value.text : QC_STR("all"));
    fputs(" | ", to);
    if (is_true(proto_find_option(f, "qc.unsupported")))
        fputs("*Not supported.* ", to);
    put_cell(to, f->doc);
    fputs(" |\n", to);
}

static void put_doc_message(FILE *to, const struct proto_message *m)
{
    const struct proto_field *f;

    fprintf(to, "\n### %.*s\n\n%.*s\n\n", QC_ARG(m->name.text),
            QC_ARG(m->name.doc));
    fputs("| field | type | label | default | range | dialects | meaning |\n"
          "|---|---|---|---|---|---|---|\n",
          to);
    for (f = m->fields; f; f = f->next)
        put_doc_row(to, f);
}

static void put_doc_enum(FILE *to, const struct proto_enum *e)
{
    const struct proto_value *v;

    fprintf(to, "\n### %.*s\n\n%.*s\n\n| value | number | meaning |\n",
            QC_ARG(e->name.text), QC_ARG(e->name.doc));
    fputs("|---|---|---|\n", to);
    for (v = e->values; v; v = v->next) {
        fprintf(to, "| `%.*s` | %d | ", QC_ARG(v->name.text), (int)v->number);
        put_cell(to, v->name.doc);
        fputs(" |\n", to);
    }
}

/* The comment that opens a file. */
static void put_file_doc(FILE *to, const struct qc_file *file)
{
    const char *s = file->text, *end = s + file->size;

    while (end - s > 2 && s[0] == '/' && s[1] == '/') {
        const char *line = memchr(s, '\n', (size_t)(end - s));

        if (!line)
            line = end;
        s += s[2] == ' ' ? 3 : 2;
        fprintf(to, "%.*s\n", (int)(line - s), s);
        s = line < end ? line + 1 : end;
    }
}

void emit_docs(FILE *to, const struct proto *p, const char *sources)
{
    const struct proto_message *m;
    const struct proto_enum *e;
    const struct qc_file *file;

    fprintf(to,
            "<!-- Made by schemac from %s; edit those. -->\n"
            "# File formats\n\n"
            "Every field of every file that quantc reads. Ranges: `(` and `)` "
            "exclude the bound,\n`[` and `]` include it, `{}` lists the legal "
            "values.\n",
            sources);
    for (file = p->qc->files; file; file = file->next) {
        const char *slash = strrchr(file->name, '/');

        for (m = p->messages; m && m->name.loc.file != file;)
            m = m->next;
        if (!m || m->extension)
            continue;
        fprintf(to, "\n## %s\n\n", slash ? slash + 1 : file->name);
        put_file_doc(to, file);
        for (m = p->messages; m; m = m->next)
            if (m->name.loc.file == file && !m->entry && !m->extension)
                put_doc_message(to, m);
        for (e = p->enums; e; e = e->next)
            if (e->name.loc.file == file)
                put_doc_enum(to, e);
    }
}
