/* Faults of characters and words in the text format: what is wrong, and what
 * people mean who write it. */
#include "text_reader.h"
#include "text.tab.h"

#include <string.h>

struct qc_loc text_loc(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return (struct qc_loc){r->file, at, end - at};
}

struct qc_str text_slice(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return (struct qc_str){r->text + at, end - at};
}

const char *text_shown(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return qc_shown(r->qc, text_slice(r, at, end));
}

bool text_has_newline(const struct text_reader *r, uint32_t at, uint32_t end)
{
    return end > at && memchr(r->text + at, '\n', end - at) != NULL;
}

void text_doubt(struct text_reader *r, uint32_t at)
{
    if (r->last && r->last->end <= at && !text_has_newline(r, r->last->end, at))
        r->last->trailed = true;
}

/* Faults that touch are one fault. */
static bool touches_fault(struct text_reader *r, uint32_t at, uint32_t end)
{
    bool touches = r->fault_end && r->fault_end == at;

    text_doubt(r, at);
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
                  "unexpected character '%s' (U+%04X)", text_shown(r, at, end),
                  (unsigned)code);
    } else {
        bool quoted = r->text[at] == '`' && end - at > 1;

        d = qc_report(r->qc, QC_LEX_BAD_CHAR, text_loc(r, at, end),
                      "unexpected %s '%s'",
                      end - at == 1 || quoted ? "character" : "characters",
                      text_shown(r, at, quoted ? at + 1 : end));
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
                  "malformed number '%s'", text_shown(r, at, end));
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
                  "unknown escape '%s' in a string", text_shown(r, at, end));
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
                  text_shown(r, first, first + 3), (unsigned)code);
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
                  "typographic quote '%s' (U+%04X)", text_shown(r, at, at + 3),
                  (unsigned)code);
    qc_help(r->qc, d, "write ordinary quotes: \"");
}
