/* Syntax errors in the text format: what could have come, and what came. */
#include "text_reader.h"
#include "text.tab.h"

#include <string.h>

#define BLANKS_MAX 200 /* looked through for a separator */

static const char *found(struct text_reader *r)
{
    const struct text_word *w = &r->now;
    const char *text = text_shown(r, w->at, w->end);

    switch (w->kind) {
    case 0:
        return "the end of the file";
    case TEXT_KEY:
    case TEXT_FIELD:
        return qc_format(r->qc, "the field '%s'", text).ptr;
    case TEXT_NAME:
    case TEXT_WORD:
        return qc_format(r->qc, "the word '%s'", text).ptr;
    case TEXT_NUMBER:
        return qc_format(r->qc, "the number %s", text).ptr;
    case TEXT_STRING:
        return "a string";
    default:
        return qc_format(r->qc, "'%s'", text).ptr;
    }
}

struct qc_loc text_now(const struct text_reader *r)
{
    return text_loc(r, r->now.at, r->now.end);
}

static void missing_value(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    struct qc_diag *d;

    if (top->kind == QC_LIST) {
        d = qc_report(r->qc, QC_SYN_EXPECTED_VALUE, text_now(r),
                      "expected a list element, found %s", found(r));
        qc_note(r->qc, d, top->loc, "the list begins here");
        return;
    }
    d = qc_report(r->qc, QC_SYN_EXPECTED_VALUE, text_now(r),
                  "expected the value of '%s', found %s",
                  qc_shown(r->qc, r->name), found(r));
    qc_note(r->qc, d, r->name_loc, "'%s' is here", qc_shown(r->qc, r->name));
}

void text_no_comma(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    struct qc_diag *d;

    if (r->now.kind == 0)
        d = qc_report(r->qc, QC_SYN_LIST_UNCLOSED, text_now(r),
                      "the list is not closed: expected ']' before the end of "
                      "the file");
    else
        d = qc_report(r->qc, QC_SYN_LIST_COMMA, text_now(r),
                      "expected ',' or ']' in the list, found %s", found(r));
    qc_note(r->qc, d, top->loc, "the list begins here");
}

static void not_closed(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    char close = r->text[top->loc.at] == '<' ? '>' : '}';
    struct qc_diag *d = qc_report(
        r->qc, QC_SYN_UNCLOSED_BRACE, text_now(r),
        "'%s' is not closed: expected '%c' before the end of the file",
        qc_shown(r->qc, top->name), close);

    qc_note(r->qc, d, top->loc, "opened here");
}

/* `"a", "b"` and `1,000` without brackets. */
static void help_with_commas(struct text_reader *r, struct qc_diag *d)
{
    const struct qc_node *n = r->last;
    uint32_t at = r->now.at;

    if (!n || at == 0 || n->loc.file != r->file)
        return;
    if (r->now.kind == TEXT_STRING && n->kind == QC_TEXT) {
        qc_help(r->qc, d, "several values need brackets: [\"a\", \"b\"]");
    } else if (r->now.kind == TEXT_NUMBER && n->kind == QC_NUMBER &&
               r->text[at - 1] == ',' && n->end == at - 1) {
        bool whole = r->now.end - at == 3 &&
                     memchr(n->text.ptr, '.', n->text.len) == NULL;

        if (whole && !(n->text.len == 1 && n->text.ptr[0] == '0'))
            qc_help(r->qc, d, "numbers have no separators: %.*s%.*s",
                    QC_ARG(n->text), QC_ARG(text_slice(r, at, r->now.end)));
        else
            qc_help(r->qc, d, "the decimal point is '.': %.*s.%.*s",
                    QC_ARG(n->text), QC_ARG(text_slice(r, at, r->now.end)));
    }
}

static void no_field(struct text_reader *r, int before)
{
    struct qc_diag *d;

    if ((r->now.kind == TEXT_COMMA || r->now.kind == ';') &&
        (before == TEXT_COMMA || before == ';')) {
        d = qc_report(r->qc, QC_SYN_DOUBLE_SEPARATOR, text_now(r),
                      "only one ',' or ';' may follow a field");
        qc_fix(r->qc, d, text_now(r), QC_STR(""));
        return;
    }
    d = qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME, text_now(r),
                  "expected a field name, found %s", found(r));
    if (before == TEXT_COMMA)
        help_with_commas(r, d);
    if (r->now.kind == ';' &&
        (r->now.at == 0 || r->text[r->now.at - 1] == '\n'))
        qc_help(r->qc, d, "a comment begins with '#'");
    text_doubt(r, r->now.at);
}

/* The last character of the text before the word, blanks left out, when it is
 * a separator. */
static int separator_before(const struct text_reader *r)
{
    uint32_t at = r->now.at;

    while (at && r->now.at - at < BLANKS_MAX &&
           (r->text[at - 1] == ' ' || r->text[at - 1] == '\t'))
        at--;
    if (at == 0)
        return 0;
    return r->text[at - 1] == ','   ? TEXT_COMMA
           : r->text[at - 1] == ';' ? ';'
                                    : 0;
}

void text_syntax_error(struct text_reader *r, enum text_want want)
{
    const char *p = r->text + r->now.at, *eof = r->text + r->file->size;

    r->recovering = true;
    if (r->now.at >= r->line_end) {
        p = memchr(p, '\n', (size_t)(eof - p));
        r->line_end = (uint32_t)((p ? p : eof) - r->text);
    }
    if (r->stop || r->now.dirty)
        return;
    if (want == TEXT_WANT_NOTHING)
        qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME, text_now(r), "fault");
    else if (want == TEXT_WANT_VALUE)
        missing_value(r);
    else if (want == TEXT_WANT_COMMA)
        text_no_comma(r);
    else if (want == TEXT_WANT_FIELD && r->now.kind == 0)
        not_closed(r);
    else
        no_field(r, separator_before(r));
}
