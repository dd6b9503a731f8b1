/* Reads quant_tables.c back: a strict reader of what emit_c.c writes. It knows
 * objects with initialisers, and skips comments and directives. */
#include "show.h"

#include <stdio.h>
#include <string.h>

#define DEPTH 4u /* of braces: rows of a table of structs with a real */

struct reader {
    struct qc *qc;
    struct qc_c_file *out;
    const char *p, *end;
    struct qc_node *last; /* a comment behind it belongs to it   */
    unsigned depth;       /* of braces                           */
    bool failed;
};

static struct qc_loc place(const struct reader *r, const char *from,
                           const char *to)
{
    return (struct qc_loc){r->out->file, (uint32_t)(from - r->out->file->text),
                           (uint32_t)(to - from)};
}

/* The first fault only: the rest would follow from it. */
static void fault(struct reader *r, const char *what)
{
    struct qc_diag *d;
    const char *to = r->p < r->end ? r->p + 1 : r->p;

    if (!r->failed) {
        d = qc_report(r->qc, QC_TABLES_DAMAGED, place(r, r->p, to),
                      "these are not tables as quantc writes them: %s", what);
        qc_help(r->qc, d, "run 'quantc compile' again");
    }
    r->failed = true;
    r->p = r->end;
}

/* ---- tokens ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_line(struct reader *r)
{
    while (r->p < r->end && *r->p != '\n')
        r->p++;
}

static void skip_comment(struct reader *r)
{
    const char *from = r->p + 2, *p = from;

    while (p + 1 < r->end && !(p[0] == '*' && p[1] == '/'))
        p++;
    if (p + 1 >= r->end) {
        fault(r, "a comment has no end");
        return;
    }
    if (r->last && r->last->name.len)
        from = r->last->name.ptr; /* on a line of its own: more of it */
    if (r->last)
        r->last->name = (struct qc_str){from, (size_t)(p - from)};
    if (!r->out->title.ptr)
        r->out->title = (struct qc_str){from, (size_t)(p - from)};
    r->p = p + 2;
}

/* To the next token. */
static void skip(struct reader *r)
{
    while (r->p < r->end) {
        if (*r->p == '\n' && r->depth == 0)
            r->last = NULL;
        if (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')
            r->p++;
        else if (*r->p == '#')
            skip_line(r);
        else if (r->end - r->p > 1 && r->p[0] == '/' && r->p[1] == '*')
            skip_comment(r);
        else
            return;
    }
}

static bool accept(struct reader *r, char c)
{
    skip(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static void expect(struct reader *r, char c)
{
    char what[] = "'?' is expected";

    what[1] = c;
    if (!accept(r, c))
        fault(r, what);
}

/* Empty when there is none. */
static struct qc_str word(struct reader *r)
{
    const char *from;

    skip(r);
    from = r->p;
    if (r->p < r->end && is_letter(*r->p))
        while (r->p < r->end && (is_letter(*r->p) || is_digit(*r->p)))
            r->p++;
    return (struct qc_str){from, (size_t)(r->p - from)};
}

static bool accept_word(struct reader *r, const char *z)
{
    const char *from;
    struct qc_str w;

    skip(r);
    from = r->p;
    w = word(r);
    if (!qc_equalz(w, z))
        r->p = from;
    return r->p != from;
}

/* ---- values ---- */

static struct qc_node *leaf(struct reader *r, enum qc_node_kind kind,
                            const char *from, struct qc_str text)
{
    struct qc_node *n = qc_node(r->qc, kind, place(r, from, r->p), text);

    r->out->values++;
    r->last = n;
    return n;
}

static struct qc_node *number(struct reader *r)
{
    const char *from = r->p;

    if (*r->p == '-')
        r->p++;
    while (r->p < r->end && (is_digit(*r->p) || is_letter(*r->p)))
        r->p++;
    /* -2147483647 - 1: the least has no literal of its own type. */
    if (r->end - r->p > 4 && memcmp(r->p, " - 1", 4) == 0)
        r->p += 4;
    return leaf(r, QC_NUMBER, from,
                (struct qc_str){from, (size_t)(r->p - from)});
}

/* Behind the closing quote; null: there is none on this line. */
static const char *end_of_text(const struct reader *r)
{
    const char *p = r->p + 1;

    while (p < r->end && *p != '"' && *p != '\n')
        p += *p == '\\' && r->end - p > 1 ? 2 : 1;
    return p < r->end && *p == '"' ? p + 1 : NULL;
}

/* Escapes are those of put_literal: \" \\ and three octal digits. */
static struct qc_node *text(struct reader *r)
{
    const char *from = r->p, *p = from + 1, *end = end_of_text(r);
    char *to;
    size_t n = 0;

    if (!end) {
        fault(r, "a string has no end");
        return NULL;
    }
    to = qc_alloc(r->qc, (size_t)(end - from));
    while (p < end - 1) {
        if (*p == '\\' && end - p > 4 && is_digit(p[1])) {
            to[n++] = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + p[3] - '0');
            p += 4;
        } else {
            p += *p == '\\';
            to[n++] = *p++;
        }
    }
    r->p = end;
    return leaf(r, QC_TEXT, from, (struct qc_str){to, n});
}

static struct qc_node *value(struct reader *r);

static struct qc_node *list(struct reader *r)
{
    struct qc_node *n = qc_node(r->qc, QC_LIST, place(r, r->p, r->p + 1),
                                (struct qc_str){"", 0});

    r->p++;
    r->depth++;
    while (!r->failed && !accept(r, '}')) {
        struct qc_node *item = value(r);

        if (!item)
            break;
        qc_append(n, item);
        skip(r);
        if (r->p < r->end && *r->p != '}')
            expect(r, ',');
    }
    r->depth--;
    return r->failed ? NULL : n;
}

static struct qc_node *value(struct reader *r)
{
    const char *from;
    struct qc_str w;

    skip(r);
    from = r->p;
    if (r->p == r->end) {
        fault(r, "the file ends here");
        return NULL;
    }
    if (*r->p == '{' && r->depth < DEPTH)
        return list(r);
    if (*r->p == '"')
        return text(r);
    if (*r->p == '-' || is_digit(*r->p))
        return number(r);
    r->p += *r->p == '&';
    w = word(r);
    if (w.len)
        return leaf(r, QC_WORD, from, w);
    fault(r, "a value is expected");
    return NULL;
}

/* ---- objects ---- */

static bool ends_in(struct qc_str s, const char *z)
{
    size_t n = strlen(z);

    return s.len >= n && memcmp(qc_end(s) - n, z, n) == 0;
}

/* The macros of --align and --section. */
static void skip_placement(struct reader *r)
{
    const char *from;
    struct qc_str w;

    skip(r);
    from = r->p;
    w = word(r);
    if (!ends_in(w, "_PLACED") && !ends_in(w, "_PLACED_PTR"))
        r->p = from;
}

/* [static] const [struct] TYPE NAME [ "[" SIZE "]" ] = VALUE; */
static void object(struct reader *r)
{
    struct qc_c_object *o = qc_alloc(r->qc, sizeof(*o));
    struct qc_str name;
    void **slot;

    skip_placement(r);
    accept_word(r, "static");
    if (!accept_word(r, "const")) {
        fault(r, "'const' is expected");
        return;
    }
    accept_word(r, "struct");
    o->type = word(r);
    name = word(r);
    if (!o->type.len || !name.len) {
        fault(r, "a type and a name are expected");
        return;
    }
    slot = qc_map_at(r->qc, &r->out->objects, name);
    if (*slot) {
        fault(r, "a second object of this name stands before here");
        return;
    }
    if (accept(r, '[')) {
        skip(r);
        while (r->p < r->end && (is_letter(*r->p) || is_digit(*r->p)))
            r->p++;
        expect(r, ']');
    }
    expect(r, '=');
    if (r->failed)
        return;
    o->value = value(r);
    expect(r, ';');
    *slot = o;
}

bool qc_read_c(struct qc *qc, const char *path, struct qc_c_file *out)
{
    struct reader r = {0};

    memset(out, 0, sizeof(*out));
    out->file = qc_load(qc, path, QC_MAX_FILE);
    if (!out->file || !qc_check_encoding(qc, out->file))
        return false;
    r.qc = qc;
    r.out = out;
    r.p = out->file->text;
    r.end = r.p + out->file->size;
    skip(&r);
    while (!r.failed && r.p < r.end) {
        object(&r);
        skip(&r);
    }
    return !r.failed;
}
