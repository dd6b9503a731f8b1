/* Writes collected diagnostics: the message, the source line as written, a
 * caret under the first character and the extent of the fault. */
#include "qc.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX     40u /* characters of user text in a message         */
#define LINE_MAX_COLS 100u
#define LINE_KEEP     97u /* columns kept of a longer line, before "..."  */
#define LEAD_MAX      37u /* columns kept before the caret, after "..."   */
#define CARET_MAX     60u

/* ---- how one character looks ---- */

struct glyph {
    const char *ptr; /* bytes to print       */
    size_t len;
    unsigned cols; /* columns they take    */
    char own[16];  /* room for a rewriting */
};

static const struct {
    uint32_t from, to;
} wide[] =
    {
        {0x1100,  0x115F },
        {0x2E80,  0x303E },
        {0x3041,  0xA4CF },
        {0xAC00,  0xD7A3 },
        {0xF900,  0xFAFF },
        {0xFE30,  0xFE6F },
        {0xFF00,  0xFF60 },
        {0xFFE0,  0xFFE6 },
        {0x1F300, 0x1F64F},
        {0x1F900, 0x1F9FF},
        {0x20000, 0x3FFFD}
},
  narrow[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};

static unsigned columns(uint32_t c)
{
    size_t i;

    for (i = 0; i < sizeof(narrow) / sizeof(*narrow); i++)
        if (c >= narrow[i].from && c <= narrow[i].to)
            return 0;
    for (i = 0; i < sizeof(wide) / sizeof(*wide); i++)
        if (c >= wide[i].from && c <= wide[i].to)
            return 2;
    return 1;
}

static void rewritten(struct glyph *g, int len)
{
    g->len = (size_t)len;
    g->ptr = g->own;
    g->cols = (unsigned)g->len;
}

/* Reads one character at p; returns the bytes it takes in the source. */
static unsigned glyph_at(const char *p, const char *end, struct glyph *g)
{
    uint32_t c;
    unsigned n = qc_utf8(p, end, &c);

    g->ptr = p;
    g->len = n;
    if (n == 0)
        rewritten(g, sprintf(g->own, "<%02X>", (unsigned char)*p));
    else if (c == '\t')
        rewritten(g, sprintf(g->own, "    "));
    else if (c < 0x20 || c == 0x7F)
        rewritten(g, sprintf(g->own, "<%02X>", (unsigned)c));
    else if (qc_invisible(c))
        rewritten(g, sprintf(g->own, "<U+%04X>", (unsigned)c));
    else
        g->cols = columns(c);
    return n ? n : 1;
}

const char *qc_shown(struct qc *qc, struct qc_str s)
{
    char out[SHOWN_MAX * sizeof(((struct glyph *)0)->own) + 4];
    const char *p = s.ptr, *end = qc_end(s);
    size_t used = 0, count;

    for (count = 0; p < end && count < SHOWN_MAX; count++) {
        struct glyph g;

        p += glyph_at(p, end, &g);
        memcpy(out + used, g.ptr, g.len);
        used += g.len;
    }
    if (p < end) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    return qc_copy(qc, out, used).ptr;
}

/* ---- the source line ---- */

struct line {
    const char *start, *end; /* without its line end */
    const char *at, *stop;   /* the marked part      */
};

static struct line line_around(struct qc *qc, struct qc_loc loc)
{
    const char *text = loc.file->text, *eof = text + loc.file->size;
    struct qc_loc span = qc_line_span(qc, loc.file, loc.at);
    struct line l;

    l.at = text + (loc.at < loc.file->size ? loc.at : loc.file->size);
    l.start = text + span.at;
    l.end = l.start + span.len;
    l.stop = (size_t)(l.end - l.at) < loc.len ? l.end : l.at + loc.len;
    if (l.end < eof && l.end > l.start && l.end[-1] == '\r' &&
        l.end - 1 >= l.at)
        l.end--;
    if (l.stop > l.end)
        l.stop = l.end;
    return l;
}

static unsigned width(const char *p, const char *end)
{
    unsigned cols = 0;

    while (p < end) {
        struct glyph g;

        p += glyph_at(p, end, &g);
        cols += g.cols;
    }
    return cols;
}

/* Prints characters while they fit into `room` columns. */
static const char *print_some(FILE *out, const char *p, const char *end,
                              unsigned room)
{
    while (p < end) {
        struct glyph g;
        unsigned n = glyph_at(p, end, &g);

        if (g.cols > room)
            break;
        fwrite(g.ptr, 1, g.len, out);
        room -= g.cols;
        p += n;
    }
    return p;
}

/* The first character such that [result, at) takes at most LEAD_MAX columns;
 * looks back at most a few hundred bytes, so a line of megabytes is cheap. */
static const char *lead_start(const char *start, const char *at)
{
    const char *p = at - start > 400 ? at - 400 : start;
    unsigned cols;

    while (p > start && ((unsigned char)*p & 0xC0) == 0x80)
        p--;
    for (cols = width(p, at); cols > LEAD_MAX;) {
        struct glyph g;

        p += glyph_at(p, at, &g);
        cols -= g.cols;
    }
    return p;
}

/* True when [p, end) is wider than `limit`; stops looking there. */
static bool wider_than(const char *p, const char *end, unsigned limit)
{
    unsigned cols = 0;

    while (p < end && cols <= limit) {
        struct glyph g;

        p += glyph_at(p, end, &g);
        cols += g.cols;
    }
    return cols > limit;
}

static void print_carets(FILE *out, unsigned before, unsigned cols)
{
    unsigned i;

    fprintf(out, "      | %*s^", (int)before, "");
    if (cols > CARET_MAX)
        cols = CARET_MAX;
    for (i = 1; i < cols; i++)
        putc('~', out);
    putc('\n', out);
}

static unsigned caret_columns(const char *p, const char *stop)
{
    return wider_than(p, stop, CARET_MAX) ? CARET_MAX : width(p, stop);
}

static void print_source(struct qc *qc, FILE *out, struct qc_loc loc)
{
    struct line l;
    unsigned before = 0;
    const char *p;

    if (loc.file->binary)
        return;
    l = line_around(qc, loc);
    fprintf(out, "%5u | ", (unsigned)qc_line(qc, loc));
    if (l.start == l.end && l.at == loc.file->text + loc.file->size) {
        fputs("<end of file>\n", out);
        print_carets(out, 0, 1);
        return;
    }
    p = l.start;
    if (!wider_than(l.start, l.end, LINE_MAX_COLS)) {
        before = width(l.start, l.at);
        print_some(out, p, l.end, LINE_MAX_COLS);
    } else {
        unsigned room = LINE_KEEP;

        if (wider_than(l.start, l.at, LEAD_MAX + 3)) {
            p = lead_start(l.start, l.at);
            fputs("...", out);
            before = 3;
            room -= 3;
        }
        before += width(p, l.at);
        p = print_some(out, p, l.end, room);
        if (p < l.end)
            fputs("...", out);
    }
    putc('\n', out);
    print_carets(out, before, caret_columns(l.at, l.stop));
}

/* ---- messages ---- */

static const char *severity_word(enum qc_severity s)
{
    return s == QC_WARNING ? "warning"
           : s == QC_ERROR ? "error"
                           : "fatal error";
}

static void print_head(struct qc *qc, FILE *out, struct qc_loc loc,
                       const char *word, const char *colour, const char *text,
                       const char *key)
{
    struct qc_position p = qc_position(qc, loc.file, loc.at);
    const char *on = qc->colour ? colour : "",
               *off = qc->colour ? "\033[0m" : "";

    fprintf(out, "%s:%u:%u: %s%s:%s %s", loc.file->name, (unsigned)p.line,
            (unsigned)p.col, on, word, off, text);
    if (key)
        fprintf(out, " [%s]", key);
    putc('\n', out);
}

static void print_text(struct qc *qc, FILE *out, const struct qc_diag *d)
{
    const struct qc_note *n;

    print_head(qc, out, d->loc, severity_word(d->severity),
               d->severity == QC_WARNING ? "\033[1;35m" : "\033[1;31m", d->text,
               qc_key_name(d->key));
    print_source(qc, out, d->loc);
    for (n = d->helps; n; n = n->next)
        fprintf(out, "      = help: %s\n", n->text);
    for (n = d->notes; n; n = n->next) {
        print_head(qc, out, n->loc, "note", "\033[1;36m", n->text, NULL);
        print_source(qc, out, n->loc);
    }
}

static void print_count(FILE *out, const struct qc_file *f)
{
    fprintf(out, "quantc: %s: %zu error%s", f->name, f->errors,
            f->errors == 1 ? "" : "s");
    if (f->warnings)
        fprintf(out, ", %zu warning%s", f->warnings,
                f->warnings == 1 ? "" : "s");
    putc('\n', out);
}

void qc_print_diags(struct qc *qc, const struct qc_file *f)
{
    const struct qc_diag *d;
    size_t shown = 0;

    for (d = f->diags; d; d = d->next) {
        if (d->severity >= QC_ERROR && qc->max_errors &&
            shown++ == qc->max_errors) {
            fprintf(stderr, "quantc: %s: too many errors\n", f->name);
            break;
        }
        print_text(qc, stderr, d);
    }
    if (f->errors)
        print_count(stderr, f);
}
