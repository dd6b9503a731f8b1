/* Reader of the protobuf text format, between scanner and parser.
 *
 * Words pass through text_lex on their way to the parser. By one word of
 * look-ahead it tells a name that begins a field from a word that is a value,
 * which makes the grammar free of conflicts and gives errors a sure place to
 * go on. It keeps the open brackets, so the parser never sees a closing one
 * that closes nothing, and takes out what the grammar should not know:
 * extensions, numbers and quotes as names, parentheses. */
#include "text_reader.h"
#include "text.tab.h"

#include <string.h>

#define LINE_LOOK 200 /* how far a ')' is looked for */

static void scan(struct text_reader *r, struct text_word *w)
{
    text_scan(w, r->scanner);
    w->dirty = r->fault_end > r->scanned && r->fault_end <= w->at &&
               !text_has_newline(r, r->fault_end, w->at);
    r->scanned = w->end;
}

static void take(struct text_reader *r, struct text_word *w)
{
    if (!r->has_ahead) {
        scan(r, w);
        return;
    }
    *w = r->ahead;
    r->has_ahead = false;
}

static int peek(struct text_reader *r)
{
    if (!r->has_ahead) {
        scan(r, &r->ahead);
        r->has_ahead = true;
    }
    return r->ahead.kind;
}

static bool in_list(const struct text_reader *r)
{
    return r->depth && r->open[r->depth - 1].sign == '[';
}

static bool after_colon(const struct text_reader *r)
{
    return r->now.kind == TEXT_KEY || r->now.kind == '=';
}

/* A name without colon, and its value on the same line. */
static bool after_bare_name(const struct text_reader *r, uint32_t at)
{
    return r->now.kind == TEXT_NAME && !text_has_newline(r, r->now.end, at);
}

static bool wants_value(const struct text_reader *r, uint32_t at)
{
    return in_list(r) || after_colon(r) || after_bare_name(r, at);
}

/* A ')' that is near, on the same line. */
static bool closes_soon(const struct text_reader *r, uint32_t at)
{
    uint32_t stop = at;

    while (stop < r->file->size && stop - at < LINE_LOOK &&
           r->text[stop] != '\n' && r->text[stop] != ')')
        stop++;
    return stop < r->file->size && r->text[stop] == ')';
}

static bool begins_value(struct text_reader *r, const struct text_word *w)
{
    int next = peek(r);

    /* a: word, and a bracket on a line of its own */
    if (after_colon(r) && next != ':' &&
        text_has_newline(r, w->end, r->ahead.at))
        return false;
    if (next == '(')
        return !closes_soon(r, r->ahead.at);
    return next == ':' || next == '{' || next == '<' || next == '[';
}

static void cut_lists(struct text_reader *r)
{
    while (in_list(r)) {
        r->depth--;
        r->cut = true;
    }
}

/* The word begins a field; begins_value has looked at what follows. */
static void as_field(struct text_reader *r, struct text_word *w)
{
    w->kind = TEXT_FIELD;
    w->poisoned |= w->dirty && r->fault_end == w->at;
    if (r->ahead.kind == ':') {
        r->has_ahead = false;
        w->kind = TEXT_KEY;
    }
    cut_lists(r);
    r->recovering = false;
}

/* nn.Conv2d as a name: the first character that cannot be. */
static void check_odd(struct text_reader *r, struct text_word *w)
{
    uint32_t i;

    for (i = w->at; i < w->end; i++)
        if (r->text[i] == '.' || r->text[i] == '/')
            break;
    if (i == w->end)
        return; /* batch-num: an unknown field with a near name */
    qc_report(r->qc, QC_LEX_BAD_CHAR, text_loc(r, i, i + 1),
              "unexpected character '%c' in a field name", r->text[i]);
    w->poisoned = true;
}

static bool name_word(struct text_reader *r, struct text_word *w)
{
    if (begins_value(r, w)) {
        as_field(r, w);
    } else if (wants_value(r, w->at) ||
               (r->recovering && w->at < r->line_end)) {
        w->kind = TEXT_WORD;
        w->poisoned |= w->dirty;
        return true;
    } else {
        r->recovering = false;
        w->poisoned |= w->dirty;
    }
    if (w->odd)
        check_odd(r, w);
    return true;
}

static void json_help(struct text_reader *r, struct qc_diag *d)
{
    qc_help(r->qc, d,
            "for a config.json file use --kind=json-calib or "
            "--kind=json-retrain");
}

/* "name": value, as JSON writes it. */
static void quoted_name(struct text_reader *r, const struct text_word *w)
{
    struct qc_diag *d;

    if (r->quoted_name)
        return;
    r->quoted_name = true;
    d = qc_report(r->qc, QC_SYN_JSON_LIKE, text_loc(r, w->at, w->end),
                  "field names are written without quotes");
    if (w->at == 0)
        json_help(r, d);
}

static bool string_word(struct text_reader *r, struct text_word *w)
{
    if (peek(r) == ':') {
        quoted_name(r, w);
        as_field(r, w);
    }
    w->poisoned |= w->dirty || w->kind == TEXT_KEY;
    return true;
}

static bool number_word(struct text_reader *r, struct text_word *w)
{
    if (!wants_value(r, w->at) && begins_value(r, w) && peek(r) != '[') {
        if (!w->poisoned && !w->dirty)
            qc_report(r->qc, QC_SCH_FIELD_NUMBER, text_loc(r, w->at, w->end),
                      "fields are written by name, not by number");
        as_field(r, w);
        w->poisoned = true;
    }
    w->poisoned |= w->dirty;
    return true;
}

/* ---- brackets ---- */

/* Drops words until `depth` brackets are closed; the last closing one stays
 * ahead when `keep` says so. */
static void skip_brackets(struct text_reader *r, size_t depth, bool keep)
{
    while (peek(r) != 0) {
        int kind = r->ahead.kind;

        if (kind == '{' || kind == '<' || kind == '[')
            depth++;
        if (kind == '}' || kind == '>' || kind == ']')
            depth--;
        if (depth == 0 && keep)
            return;
        r->has_ahead = false;
        if (depth == 0)
            return;
    }
}

static void push(struct text_reader *r, char sign)
{
    r->cut = false;
    r->open[r->depth].sign = sign;
    r->open[r->depth].stand_in = false;
    r->depth++;
    if (r->depth == TEXT_DEPTH)
        skip_brackets(r, 1, true);
}

static void stop(struct text_reader *r, struct text_word *w)
{
    struct qc_diag *d = qc_report(
        r->qc, QC_SYN_JSON_LIKE, text_loc(r, w->at, w->end),
        "this looks like JSON; a text-format configuration was expected");

    qc_help(r->qc, d, "fields are written without quotes: batch_num : 1");
    json_help(r, d);
    r->stop = true;
    w->kind = 0;
}

/* A group without a name. */
static void nameless(struct text_reader *r, const struct text_word *w)
{
    bool whole = r->now.end == 0;
    struct qc_diag *d = NULL;

    if (!w->dirty)
        d = qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME,
                      text_loc(r, w->at, w->end),
                      "expected a field name, found '%c'", r->text[w->at]);
    if (whole && w->kind == '{')
        qc_help(r->qc, d,
                "the file is the body of the message: write it "
                "without these braces");
    r->group[r->groups - 1]->torn = true;
    skip_brackets(r, 1, false);
    r->fault_end = r->scanned; /* <xml>text</xml>: one mistake */
}

static bool open_group(struct text_reader *r, struct text_word *w)
{
    int before = r->now.kind;

    if (r->now.end == 0 && w->kind == '{' && peek(r) == TEXT_STRING) {
        stop(r, w);
        return true;
    }
    if (r->recovering && before != TEXT_FIELD) {
        skip_brackets(r, 1, false);
        return false;
    }
    if (before != TEXT_FIELD && !after_colon(r) && !in_list(r)) {
        nameless(r, w);
        return false;
    }
    push(r, (char)w->kind);
    return true;
}

static void unmatched(struct text_reader *r, const struct text_word *w)
{
    if (r->mismatches)
        r->mismatches--;
    else if (!w->dirty)
        qc_report(r->qc, QC_SYN_UNMATCHED_CLOSE, text_loc(r, w->at, w->end),
                  "'%c' closes nothing", r->text[w->at]);
}

static bool close_group(struct text_reader *r, struct text_word *w)
{
    unsigned depth = r->depth;

    while (depth && r->open[depth - 1].sign == '[')
        depth--;
    if (depth == 0) {
        unmatched(r, w);
        return false;
    }
    r->depth = depth - 1;
    r->cut = false;
    return true;
}

/* [a.b] or [type.url/name] in a field's place; a list that got there by
 * mistake as well. */
static bool extension(struct text_reader *r, struct text_word *w)
{
    uint32_t end = w->end;
    struct qc_diag *d;
    bool alone;

    while (peek(r) && r->ahead.kind != ']' &&
           !text_has_newline(r, end, r->ahead.at)) {
        end = r->ahead.end;
        r->has_ahead = false;
    }
    if (peek(r) == ']' && !text_has_newline(r, end, r->ahead.at)) {
        end = r->ahead.end;
        r->has_ahead = false;
    }
    alone = peek(r) == 0 || text_has_newline(r, end, r->ahead.at);
    d = qc_report(r->qc, QC_SYN_EXTENSION, text_loc(r, w->at, end),
                  "extensions and Any values are not supported");
    if (r->now.kind == ']')
        qc_help(r->qc, d, "put all elements into one list: [\"a\", \"b\"]");
    else if (alone && r->text[end - 1] == ']' && end - w->at > 2)
        qc_help(r->qc, d, "a group is written with braces: %s { ... }",
                text_shown(r, w->at + 1, end - 1));
    w->end = end;
    w->poisoned = true;
    if (!begins_value(r, w) || peek(r) == '[' || peek(r) == '(') {
        r->group[r->groups - 1]->torn = true;
        return false;
    }
    as_field(r, w);
    return true;
}

static bool open_list(struct text_reader *r, struct text_word *w)
{
    int next;

    if (r->now.kind == TEXT_FIELD || after_colon(r) || in_list(r)) {
        push(r, '[');
        return true;
    }
    next = peek(r);
    if (r->now.end == 0 && (next == '{' || next == TEXT_STRING)) {
        stop(r, w);
        return true;
    }
    return extension(r, w);
}

static bool close_list(struct text_reader *r, struct text_word *w)
{
    if (in_list(r)) {
        r->depth--;
        return true;
    }
    if (after_colon(r))
        return true; /* the parser says what is missing */
    if (!r->recovering && !r->cut)
        unmatched(r, w);
    r->cut = false;
    return false;
}

/* "(a, b)" on one line counts as one value; a lone '(' as the brace that was
 * probably meant. */
static bool open_parenthesis(struct text_reader *r, struct text_word *w)
{
    bool value = wants_value(r, w->at);

    w->poisoned = true;
    text_bad_chars(r, w->at, w->end);
    if (closes_soon(r, w->at)) {
        while (peek(r) && r->ahead.kind != ')')
            r->has_ahead = false;
        w->end = r->ahead.end;
        r->has_ahead = false;
        r->fault_end = w->end;
        w->kind = TEXT_NUMBER;
        return value;
    }
    if (r->now.kind != TEXT_FIELD && !after_colon(r))
        return false;
    w->kind = '{';
    w->dirty = true;
    push(r, '{');
    r->open[r->depth - 1].stand_in = true;
    return true;
}

static bool close_parenthesis(struct text_reader *r, struct text_word *w)
{
    if (r->depth && r->open[r->depth - 1].stand_in) {
        w->kind = '}';
        r->depth--;
        return true;
    }
    text_bad_chars(r, w->at, w->end);
    return false;
}

/* What the word is at its place; false when the parser shall not see it. */
static bool classify(struct text_reader *r, struct text_word *w)
{
    switch (w->kind) {
    case TEXT_NAME:
        return name_word(r, w);
    case TEXT_STRING:
        return string_word(r, w);
    case TEXT_NUMBER:
        return number_word(r, w);
    case '{':
    case '<':
        return open_group(r, w);
    case '}':
    case '>':
        return close_group(r, w);
    case '[':
        return open_list(r, w);
    case ']':
        return close_list(r, w);
    case '(':
        return open_parenthesis(r, w);
    case ')':
        return close_parenthesis(r, w);
    default:
        return true;
    }
}

int text_lex(TEXT_STYPE *value, struct text_span *loc, struct text_reader *r)
{
    struct text_word w;

    if (r->stop)
        return 0;
    do
        take(r, &w);
    while (!classify(r, &w));
    r->now = value->word = w;
    loc->at = w.at;
    loc->end = w.end;
    return w.kind;
}
