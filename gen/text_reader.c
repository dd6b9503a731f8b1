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

struct qc_loc text_loc(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return (struct qc_loc){r->file, at, end - at};
}

static struct qc_str slice(const struct text_reader *r, uint32_t at,
                           uint32_t end)
{
    return (struct qc_str){r->text + at, end - at};
}

static const char *shown(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return qc_shown(r->qc, slice(r, at, end));
}

/* ---- faults of characters ---- */

static bool has_newline(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return end > at && memchr(r->text + at, '\n', end - at) != NULL;
}

/* What was dropped behind a value on its line leaves the value in doubt: 70%,
 * 1/2. */
static void doubt_value(struct text_reader *r, uint32_t at)
{
    if (r->last && r->last->end <= at && !has_newline(r, r->last->end, at))
        r->last->trailed = true;
}

/* Faults that touch are one fault. */
static bool touches_fault(struct text_reader *r, uint32_t at, uint32_t end)
{
    bool touches = r->fault_end && r->fault_end == at;

    doubt_value(r, at);
    r->fault_end = end;
    return touches;
}

static bool is_blank_code(uint32_t code)
{
    return code == 0xA0 || code == 0x85 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200B) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x2060;
}

void text_bad_chars(struct text_reader *r, uint32_t at, uint32_t end)
{
    uint32_t before = r->fault_end, code;
    struct qc_diag *d;

    if (touches_fault(r, at, end))
        return;
    if (!qc_utf8(r->text + at, r->text + end, &code))
        code = 0xFFFD;
    if (is_blank_code(code)) {
        bool invisible = code == 0x200B || code == 0x2060;

        d = qc_report(r->qc, QC_LEX_BAD_CHAR, text_loc(r, at, end),
                      invisible ? "invisible character U+%04X"
                                : "unexpected blank U+%04X",
                      (unsigned)code);
        qc_help(r->qc, d, invisible ? "delete it" : "write an ordinary space");
        qc_fix(r->qc, d, text_loc(r, at, end),
               invisible ? QC_STR("") : QC_STR(" "));
        r->fault_end = before; /* a blank all the same */
    } else if (code >= 0x80) {
        qc_report(r->qc, QC_LEX_BAD_CHAR, text_loc(r, at, end),
                  "unexpected character '%s' (U+%04X)", shown(r, at, end),
                  (unsigned)code);
    } else {
        bool quoted = r->text[at] == '`' && end - at > 1;

        d = qc_report(r->qc, QC_LEX_BAD_CHAR, text_loc(r, at, end),
                      "unexpected %s '%s'",
                      end - at == 1 || quoted ? "character" : "characters",
                      shown(r, at, quoted ? at + 1 : end));
        if (quoted)
            qc_help(r->qc, d, "a string is written in quotes: \"");
    }
}

void text_control(struct text_reader *r, uint32_t at, uint32_t end)
{
    unsigned c = (unsigned char)r->text[at];
    struct qc_diag *d;

    if (touches_fault(r, at, end))
        return;
    d = qc_report(r->qc, QC_LEX_CONTROL_CHAR, text_loc(r, at, end),
                  "control character (0x%02X)", c);
    if (c == 0x1A)
        qc_help(r->qc, d, "this is the end-of-file mark of DOS: delete it");
}

/* The number without what makes it malformed; empty when nobody knows. */
static struct qc_str repaired_number(struct text_reader *r, uint32_t at,
                                     uint32_t end)
{
    char *out = qc_alloc(r->qc, end - at + 1);
    size_t n = 0, digits = 0;
    uint32_t i;

    if (r->text[at] == '+')
        at++;
    for (i = at; i < end; i++) {
        char c = r->text[i];

        if (c == '_')
            continue;
        if ((c == 'F' || c == 'f' || c == 'd' || c == 'D' || c == 'L' ||
             c == 'l' || c == 'u' || c == 'U') &&
            digits)
            break;
        if (c == '0' && digits == 0 && i + 1 < end && r->text[i + 1] >= '0' &&
            r->text[i + 1] <= '9')
            continue; /* 08 */
        if ((c < '0' || c > '9') && c != '.' && !(c == '-' && i == at))
            return QC_STR("");
        digits += c != '.' && c != '-';
        out[n++] = c;
    }
    for (i++; i < end; i++) /* nothing but suffixes behind the first */
        if (!strchr("fFdDlLuU", r->text[i]))
            return QC_STR("");
    if (!digits || memchr(out, '.', n) != strrchr(out, '.'))
        return QC_STR("");
    return (struct qc_str){out, n};
}

void text_bad_number(struct text_reader *r, uint32_t at, uint32_t end)
{
    struct qc_str better = repaired_number(r, at, end);
    struct qc_diag *d;

    d = qc_report(r->qc, QC_LEX_BAD_NUMBER, text_loc(r, at, end),
                  "malformed number '%s'", shown(r, at, end));
    if (better.len) {
        qc_help(r->qc, d, "write %s", qc_shown(r->qc, better));
        qc_fix(r->qc, d, text_loc(r, at, end), better);
    }
}

void text_stray_minus(struct text_reader *r, uint32_t at, uint32_t end)
{
    struct qc_diag *d;

    if (touches_fault(r, at, end))
        return;
    d = qc_report(r->qc, QC_LEX_STRAY_MINUS, text_loc(r, at, end),
                  "a minus sign must touch its number");
    /* - "a" on a line of its own: YAML */
    while (at && (r->text[at - 1] == ' ' || r->text[at - 1] == '\t'))
        at--;
    if ((at == 0 || r->text[at - 1] == '\n') && end < r->file->size &&
        r->text[end] == ' ')
        qc_help(r->qc, d, "a list is written in brackets: [\"a\", \"b\"]");
}

void text_comment_style(struct text_reader *r, uint32_t at, uint32_t end)
{
    bool dashes = r->text[at] == '-', block = r->text[at + 1] == '*';
    bool open = block && (end - at < 4 || r->text[end - 1] != '/');
    struct qc_diag *d =
        qc_report(r->qc, dashes ? QC_LEX_STRAY_MINUS : QC_LEX_COMMENT_STYLE,
                  text_loc(r, at, end), "%s",
                  dashes  ? "'--' does not begin a comment"
                  : open  ? "this comment is not closed, and has the wrong form"
                  : block ? "a comment is not written with '/*'"
                          : "a comment is not written with '//'");

    qc_help(r->qc, d, "a comment begins with '#' and ends with the line");
    if (dashes || open)
        r->fault_end = end;
}

void text_comment_end(struct text_reader *r, uint32_t end)
{
    const char *p = r->text + end, *eof = r->text + r->file->size;
    struct qc_diag *d;

    if (p == eof || *p != '\r' || (p + 1 < eof && p[1] == '\n') ||
        r->comment_cr)
        return;
    r->comment_cr = true; /* once: such files have no other line ends */
    d = qc_report(r->qc, QC_LEX_LONE_CR, text_loc(r, end, end + 1),
                  "a carriage return without a line feed in a comment");
    qc_help(r->qc, d, "save the file with LF or CRLF line ends");
}

void text_ellipsis(struct text_reader *r, uint32_t at, uint32_t end)
{
    struct qc_diag *d;

    if (touches_fault(r, at, end))
        return;
    d = qc_report(r->qc, QC_SYN_ELLIPSIS, text_loc(r, at, end),
                  "'...' is not part of a configuration");
    qc_help(r->qc, d,
            "printed samples use '...' for left-out lines: delete it");
    qc_fix(r->qc, d, text_loc(r, at, end), QC_STR(""));
}

void text_conflict(struct text_reader *r, uint32_t at, uint32_t end)
{
    bool known = r->conflict && r->text[at] != '<';
    struct qc_diag *d;

    r->conflict = r->text[at] != '>';
    r->fault_end = end;
    if (known)
        return;
    d = qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME, text_loc(r, at, end),
                  "this is a conflict marker of version control");
    qc_help(r->qc, d, "decide which of the two versions stays");
}

/* ---- faults in strings ---- */

static const char *encode_utf8(struct qc *qc, uint32_t c)
{
    char *p = qc_alloc(qc, 5);

    if (c < 0x80) {
        p[0] = (char)c;
    } else if (c < 0x800) {
        p[0] = (char)(0xC0 | c >> 6);
        p[1] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        p[0] = (char)(0xE0 | c >> 12);
        p[1] = (char)(0x80 | (c >> 6 & 0x3F));
        p[2] = (char)(0x80 | (c & 0x3F));
    } else {
        p[0] = (char)(0xF0 | c >> 18);
        p[1] = (char)(0x80 | (c >> 12 & 0x3F));
        p[2] = (char)(0x80 | (c >> 6 & 0x3F));
        p[3] = (char)(0x80 | (c & 0x3F));
    }
    return p;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return (unsigned)((c | 0x20) - 'a' + 10);
}

/* The character of a complete \u or \U, when it can stand in a literal. */
static const char *unicode_escape(struct text_reader *r, uint32_t at,
                                  uint32_t end)
{
    uint32_t code = 0, i;

    if (end - at != (r->text[at + 1] == 'u' ? 6u : 10u))
        return NULL;
    for (i = at + 2; i < end; i++)
        code = code << 4 | digit_value(r->text[i]);
    if (code < 0x20 || code == '"' || code == '\'' || code == '\\' ||
        (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) ||
        code > 0x10FFFF)
        return NULL;
    return encode_utf8(r->qc, code);
}

void text_bad_escape(struct text_reader *r, uint32_t at, uint32_t end)
{
    char c = r->text[at + 1];
    const char *letter =
        c == 'u' || c == 'U' ? unicode_escape(r, at, end) : NULL;
    struct qc_diag *d;

    r->string_bad = true;
    d = qc_report(r->qc, QC_LEX_BAD_ESCAPE, text_loc(r, at, end),
                  "unknown escape '%s' in a string", shown(r, at, end));
    if (letter) {
        qc_help(r->qc, d, "write the character itself: %s", letter);
        qc_fix(r->qc, d, text_loc(r, at, end), qc_str(letter));
    } else if (c >= '4' && c <= '7') {
        qc_help(r->qc, d, "octal escapes end at \\377");
    } else if (c == '?' || c == '#' || c == ' ') {
        qc_help(r->qc, d, "this character needs no backslash");
    } else {
        qc_help(r->qc, d,
                "for a backslash write '\\\\'; known escapes are \\a \\b \\f "
                "\\n \\r \\t \\v \\\\ \\' \\\" \\ooo \\xhh");
    }
}

void text_string_cr(struct text_reader *r, uint32_t at)
{
    struct qc_diag *d;

    r->string_bad = true;
    if (r->string_cr)
        return;
    r->string_cr = true;
    d = qc_report(r->qc, QC_LEX_LONE_CR, text_loc(r, at, at + 1),
                  "a carriage return without a line feed in a string");
    qc_help(r->qc, d, "write \\r, or save the file with LF line ends");
}

void text_unterminated(struct text_reader *r, uint32_t at, uint32_t end)
{
    struct qc_diag *d =
        qc_report(r->qc, QC_LEX_UNTERMINATED, text_loc(r, at, end),
                  "the string is not closed on this line");

    r->string_bad = true;
    qc_help(r->qc, d, "add %c at the end; a string cannot span lines",
            r->text[at]);
}

/* ---- full-width characters ---- */

/* ASCII for U+FF01..FF5E and U+3000, else the bytes as they are. */
static struct qc_str narrowed(struct text_reader *r, uint32_t at, uint32_t end)
{
    const char *p = r->text + at, *stop = r->text + end;
    char *out = qc_alloc(r->qc, end - at + 1);
    size_t n = 0;

    while (p < stop) {
        uint32_t code;
        unsigned len = qc_utf8(p, stop, &code);

        if (len && code >= 0xFF01 && code <= 0xFF5E)
            out[n++] = (char)(code - 0xFF00 + 0x20);
        else if (len && code == 0x3000)
            out[n++] = ' ';
        else
            out[n++] = *p;
        p += len ? len : 1;
    }
    return (struct qc_str){out, n};
}

/* The first full-width character of a run is the place. */
static uint32_t first_wide(const struct text_reader *r, uint32_t at)
{
    while ((unsigned char)r->text[at] < 0x80)
        at++;
    return at;
}

int text_wide(struct text_reader *r, uint32_t at, uint32_t end)
{
    uint32_t first = first_wide(r, at), code = 0;
    struct qc_str ascii = narrowed(r, at, end);
    struct qc_diag *d;
    char c = ascii.ptr[0];

    qc_utf8(r->text + first, r->text + end, &code);
    if (code == 0x3000) {
        d = qc_report(r->qc, QC_LEX_FULLWIDTH, text_loc(r, at, end),
                      "full-width space (U+3000)");
        qc_help(r->qc, d, "write an ordinary space");
        qc_fix(r->qc, d, text_loc(r, at, end), QC_STR(" "));
        return 0;
    }
    d = qc_report(r->qc, QC_LEX_FULLWIDTH, text_loc(r, first, end),
                  "full-width character '%s' (U+%04X)",
                  shown(r, first, first + 3), (unsigned)code);
    if (ascii.len == 1)
        qc_help(r->qc, d, "write the ASCII character '%c'", c);
    else
        qc_help(r->qc, d, "write '%s' in ASCII", qc_shown(r->qc, ascii));
    qc_fix(r->qc, d, text_loc(r, at, end), ascii);
    if (c >= '0' && c <= '9')
        return TEXT_NUMBER;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return TEXT_NAME;
    if (c == ',')
        return TEXT_COMMA;
    if (c != '\0' && strchr(":;=[]{}<>", c))
        return c;
    if (c == '_')
        return TEXT_NAME;
    if (c != '#')
        r->fault_end = end;
    return 0;
}

void text_curly(struct text_reader *r, uint32_t at, uint32_t end)
{
    uint32_t code = 0;
    struct qc_diag *d;

    qc_utf8(r->text + at, r->text + end, &code);
    d = qc_report(r->qc, QC_LEX_FULLWIDTH, text_loc(r, at, end),
                  "typographic quote '%s' (U+%04X)", shown(r, at, at + 3),
                  (unsigned)code);
    qc_help(r->qc, d, "write ordinary quotes: \"");
}

/* ---- from the scanner to the parser ---- */

static void scan(struct text_reader *r, struct text_word *w)
{
    text_scan(w, r->scanner);
    w->dirty = r->fault_end > r->scanned && r->fault_end <= w->at &&
               !has_newline(r, r->fault_end, w->at);
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
    return r->now.kind == TEXT_NAME && !has_newline(r, r->now.end, at);
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
    if (after_colon(r) && next != ':' && has_newline(r, w->end, r->ahead.at))
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
           !has_newline(r, end, r->ahead.at)) {
        end = r->ahead.end;
        r->has_ahead = false;
    }
    if (peek(r) == ']' && !has_newline(r, end, r->ahead.at)) {
        end = r->ahead.end;
        r->has_ahead = false;
    }
    alone = peek(r) == 0 || has_newline(r, end, r->ahead.at);
    d = qc_report(r->qc, QC_SYN_EXTENSION, text_loc(r, w->at, end),
                  "extensions and Any values are not supported");
    if (r->now.kind == ']')
        qc_help(r->qc, d, "put all elements into one list: [\"a\", \"b\"]");
    else if (alone && r->text[end - 1] == ']' && end - w->at > 2)
        qc_help(r->qc, d, "a group is written with braces: %s { ... }",
                shown(r, w->at + 1, end - 1));
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

/* ---- syntax errors ---- */

static const char *found(struct text_reader *r)
{
    const struct text_word *w = &r->now;
    const char *text = shown(r, w->at, w->end);

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

static struct qc_loc now_loc(const struct text_reader *r)
{
    return text_loc(r, r->now.at, r->now.end);
}

static void missing_value(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    struct qc_diag *d;

    if (top->kind == QC_LIST) {
        d = qc_report(r->qc, QC_SYN_EXPECTED_VALUE, now_loc(r),
                      "expected a list element, found %s", found(r));
        qc_note(r->qc, d, top->loc, "the list begins here");
        return;
    }
    d = qc_report(r->qc, QC_SYN_EXPECTED_VALUE, now_loc(r),
                  "expected the value of '%s', found %s",
                  qc_shown(r->qc, r->name), found(r));
    qc_note(r->qc, d, r->name_loc, "'%s' is here", qc_shown(r->qc, r->name));
}

static void missing_comma(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    struct qc_diag *d;

    if (r->now.kind == 0)
        d = qc_report(r->qc, QC_SYN_LIST_UNCLOSED, now_loc(r),
                      "the list is not closed: expected ']' before the end of "
                      "the file");
    else
        d = qc_report(r->qc, QC_SYN_LIST_COMMA, now_loc(r),
                      "expected ',' or ']' in the list, found %s", found(r));
    qc_note(r->qc, d, top->loc, "the list begins here");
}

static void not_closed(struct text_reader *r)
{
    const struct qc_node *top = r->group[r->groups - 1];
    char close = r->text[top->loc.at] == '<' ? '>' : '}';
    struct qc_diag *d = qc_report(
        r->qc, QC_SYN_UNCLOSED_BRACE, now_loc(r),
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
                    QC_ARG(n->text), QC_ARG(slice(r, at, r->now.end)));
        else
            qc_help(r->qc, d, "the decimal point is '.': %.*s.%.*s",
                    QC_ARG(n->text), QC_ARG(slice(r, at, r->now.end)));
    }
}

static void no_field(struct text_reader *r, int before)
{
    struct qc_diag *d;

    if ((r->now.kind == TEXT_COMMA || r->now.kind == ';') &&
        (before == TEXT_COMMA || before == ';')) {
        d = qc_report(r->qc, QC_SYN_DOUBLE_SEPARATOR, now_loc(r),
                      "only one ',' or ';' may follow a field");
        qc_fix(r->qc, d, now_loc(r), QC_STR(""));
        return;
    }
    d = qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME, now_loc(r),
                  "expected a field name, found %s", found(r));
    if (before == TEXT_COMMA)
        help_with_commas(r, d);
    if (r->now.kind == ';' &&
        (r->now.at == 0 || r->text[r->now.at - 1] == '\n'))
        qc_help(r->qc, d, "a comment begins with '#'");
    doubt_value(r, r->now.at);
}

/* The last character of the text before the word, blanks left out, when it is
 * a separator. */
static int separator_before(const struct text_reader *r)
{
    uint32_t at = r->now.at;

    while (at && r->now.at - at < LINE_LOOK &&
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
        qc_report(r->qc, QC_SYN_EXPECTED_FIELD_NAME, now_loc(r), "fault");
    else if (want == TEXT_WANT_VALUE)
        missing_value(r);
    else if (want == TEXT_WANT_COMMA)
        missing_comma(r);
    else if (want == TEXT_WANT_FIELD && r->now.kind == 0)
        not_closed(r);
    else
        no_field(r, separator_before(r));
}

/* ---- building the tree ---- */

void text_field(struct text_reader *r, struct text_word w, bool colon)
{
    r->name = slice(r, w.at, w.end);
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
    struct qc_node *n = qc_node(r->qc, QC_MISSING, now_loc(r), QC_STR(""));

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
    struct qc_node *n =
        qc_node(r->qc, kind, text_loc(r, s.at, s.end), slice(r, s.at, s.end));

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
        missing_comma(r);
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

/* ---- the value of literals ---- */

struct literals {
    const char *p, *end;
    const char *from; /* where the last byte was written */
    char quote;       /* of the literal that p stands in; 0: between literals */
};

/* To the first character of the next literal; false at the end. */
static bool next_literal(struct literals *l)
{
    while (l->p < l->end) {
        char c = *l->p++;

        if (c == '"' || c == '\'') {
            l->quote = c;
            return true;
        }
        while (c == '#' && l->p < l->end && *l->p != '\n' && *l->p != '\r')
            l->p++;
    }
    return false;
}

static unsigned char escaped(struct literals *l)
{
    static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    char c = *l->p++;
    const char *name = strchr(names, c);
    unsigned v = 0, n;

    if (c == 'x') {
        for (n = 0; n < 2 && l->p < l->end && *l->p != l->quote &&
                    strchr("0123456789abcdefABCDEF", *l->p);
             n++)
            v = v << 4 | digit_value(*l->p++);
        return (unsigned char)v;
    }
    if (c >= '0' && c <= '7') {
        v = (unsigned)(c - '0');
        for (n = 1; n < 3 && l->p < l->end && *l->p >= '0' && *l->p <= '7'; n++)
            v = v << 3 | (unsigned)(*l->p++ - '0');
        return (unsigned char)v;
    }
    return (unsigned char)(name ? values[name - names] : c);
}

/* The next byte of the value; false at the end. */
static bool next_byte(struct literals *l, unsigned char *byte)
{
    while (l->quote == 0 || l->p == l->end || *l->p == l->quote) {
        if (l->quote && l->p < l->end)
            l->p++;
        l->quote = 0;
        if (!next_literal(l))
            return false;
    }
    l->from = l->p;
    if (*l->p == '\\' && l->p + 1 < l->end) {
        l->p++;
        *byte = escaped(l);
    } else {
        *byte = (unsigned char)*l->p++;
    }
    return true;
}

/* One literal without escapes. */
static bool is_plain(const char *p, size_t len)
{
    return len >= 2 && memchr(p + 1, *p, len - 1) == p + len - 1 &&
           !memchr(p, '\\', len);
}

struct qc_str qc_text_string(struct qc *qc, const struct qc_file *f,
                             uint32_t at, uint32_t end)
{
    struct literals l = {0};
    size_t n = 0;
    char *out;
    unsigned char byte;

    l.p = f->text + at;
    l.end = f->text + end;
    if (is_plain(l.p, end - at))
        return (struct qc_str){l.p + 1, end - at - 2};
    out = qc_alloc(qc, end - at + 1);
    while (next_byte(&l, &byte))
        out[n++] = (char)byte;
    return (struct qc_str){out, n};
}

struct qc_loc qc_text_string_loc(const struct qc_file *f, uint32_t at,
                                 uint32_t end, size_t index)
{
    struct literals l = {0};
    unsigned char byte;

    l.p = f->text + at;
    l.end = f->text + end;
    while (next_byte(&l, &byte) && index-- > 0)
        ;
    return (struct qc_loc){f, (uint32_t)(l.from - f->text),
                           (uint32_t)(l.p - l.from)};
}
