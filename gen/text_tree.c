/* The tree of a text-format file, built by the actions of text.y. Groups and
 * lists enter it as they open, so that an error loses nothing that was read. */
#include "text_reader.h"
#include "text.tab.h"

#include <string.h>

void text_field(struct text_reader *r, struct text_word w, bool colon)
{
    r->name = text_slice(r, w.at, w.end);
    r->name_loc = text_loc(r, w.at, w.end);
    r->name_poisoned = w.poisoned;
    r->colon = colon;
    r->last = NULL;
}

static void add(struct text_reader *r, struct qc_node *n)
{
    struct qc_node *top = r->group[r->groups - 1];

    if (top->kind == QC_GROUP) {
        qc_named(n, r->name, r->name_loc);
        n->colon = r->colon;
        n->bad_name = r->name_poisoned;
    }
    qc_append(top, n);
}

void text_no_value(struct text_reader *r)
{
    struct qc_node *n = qc_node(r->qc, QC_MISSING, text_now(r), QC_STR(""));

    n->poisoned = r->now.dirty;
    n->end = r->name_loc.at + r->name_loc.len;
    add(r, n);
}

static struct qc_str string_text(struct text_reader *r, struct qc_node *n,
                                 struct text_span s)
{
    struct qc_str text = qc_text_string(r->qc, r->file, s.at, s.end);

    if (text.len > QC_MAX_STRING) {
        qc_report(r->qc, QC_LIM_STRING, n->loc,
                  "the string has more than %u bytes", (unsigned)QC_MAX_STRING);
        n->poisoned = true;
    }
    return text;
}

void text_scalar(struct text_reader *r, enum qc_node_kind kind,
                 struct text_span s, bool poisoned)
{
    struct qc_node *n = qc_node(r->qc, kind, text_loc(r, s.at, s.end),
                                text_slice(r, s.at, s.end));

    n->poisoned = poisoned;
    if (kind == QC_TEXT)
        n->text = poisoned ? QC_STR("") : string_text(r, n, s);
    add(r, n);
    r->last = n;
}

void text_open(struct text_reader *r, enum qc_node_kind kind,
               struct text_word w)
{
    struct qc_node *top = r->group[r->groups - 1];
    struct qc_node *n =
        qc_node(r->qc, kind, text_loc(r, w.at, w.end), QC_STR(""));

    n->poisoned = w.dirty;
    if (kind == QC_LIST && top->kind == QC_LIST) {
        if (!top->poisoned)
            qc_report(r->qc, QC_SYN_NESTED_LIST, n->loc,
                      "a list cannot stand inside a list");
        top->poisoned = n->poisoned = true;
    }
    add(r, n);
    r->group[r->groups++] = n;
}

void text_close(struct text_reader *r, struct text_span bracket)
{
    struct qc_node *n = r->group[--r->groups];

    n->closed = true;
    n->end = bracket.end;
    r->last = NULL;
}

void text_mismatch(struct text_reader *r, struct text_span bracket)
{
    const struct qc_node *n = r->group[r->groups - 1];
    char open = r->text[n->loc.at];
    struct qc_diag *d = qc_report(r->qc, QC_SYN_MISMATCHED_CLOSE,
                                  text_loc(r, bracket.at, bracket.end),
                                  "expected '%c', found '%c'",
                                  open == '<' ? '>' : '}', r->text[bracket.at]);

    qc_note(r->qc, d, n->loc, "opened here");
    r->mismatches++;
    text_close(r, bracket);
}

/* One report for one list. */
static bool first_list_fault(struct text_reader *r)
{
    struct qc_node *n = r->group[r->groups - 1];
    bool first = !n->torn && !n->poisoned;

    n->torn = true;
    return first;
}

void text_list_fault(struct text_reader *r)
{
    if (first_list_fault(r) && !r->now.dirty)
        text_no_comma(r);
}

void text_last_comma(struct text_reader *r, struct text_span comma,
                     struct text_span bracket)
{
    const struct qc_node *n = r->group[r->groups - 1];
    struct qc_diag *d;

    if (!first_list_fault(r))
        return;
    d = qc_report(r->qc, QC_SYN_LIST_COMMA,
                  text_loc(r, bracket.at, bracket.end),
                  "a comma may not come before ']'");
    qc_note(r->qc, d, n->loc, "the list begins here");
    qc_fix(r->qc, d, text_loc(r, comma.at, comma.end), QC_STR(""));
}

void text_recover(struct text_reader *r, size_t groups)
{
    r->groups = groups;
    r->group[groups - 1]->torn = true;
    r->last = NULL;
}

struct qc_node *qc_parse_text(struct qc *qc, struct qc_file *f)
{
    struct text_reader r = {0};
    struct qc_node *root;

    r.qc = qc;
    r.file = f;
    r.text = f->text;
    root = qc_node(qc, QC_GROUP, (struct qc_loc){f, 0, 0}, QC_STR(""));
    root->end = (uint32_t)f->size;
    r.group[r.groups++] = root;
    text_scan_start(&r);
    f->parsing = true;
    text_parse(&r);
    f->parsing = false;
    return r.stop ? NULL : root;
}
