/* Strings of JSON: escapes, and quotes that JSON does not have. */
#include "json_reader.h"

#include <string.h>

#include "gram/json.tab.h"

static void check_length(struct json_reader *r, struct json_word *w,
                         struct qc_loc loc)
{
    if (w->text.len <= QC_MAX_STRING)
        return;
    qc_report(r->qc, QC_LIM_STRING, loc,
              "the string has %zu bytes; at most %u are possible", w->text.len,
              QC_MAX_STRING);
    w->poisoned = true;
}

int json_plain_string(struct json_reader *r, struct json_word *out,
                      struct qc_loc *at)
{
    struct qc_loc loc = *at;

    out->text = json_text(r, json_part(loc, 1, loc.len - 2));
    out->poisoned = false;
    check_length(r, out, loc);
    return json_take_scalar(r, out, at, STRING);
}

/* Four hexadecimal digits at p, or -1. */
static long hex4(const char *p, const char *end)
{
    long v = 0;
    int i;

    if (end - p < 4)
        return -1;
    for (i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        v = v << 4 | digit;
    }
    return v;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xE0 | c >> 12);
        } else {
            *to++ = (char)(0xF0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (c & 0x3F));
    return to;
}

/* The string that is being unescaped. One fault of a sort is reported for each
 * string: the others have the same cause. */
struct unescape {
    struct json_reader *r;
    struct qc_loc loc; /* of the inside */
    const char *p, *end;
    char *to;
    bool bad_escape, bad_pair, bad_control;
};

static struct qc_loc escape_loc(const struct unescape *u, const char *from,
                                const char *to)
{
    return json_part(u->loc, (size_t)(from - (u->r->file->text + u->loc.at)),
                     (size_t)(to - from));
}

static void report_escape(struct unescape *u, const char *from)
{
    struct qc *qc = u->r->qc;
    const char *end = from + 2;
    struct qc_diag *d;
    uint32_t code;

    if (u->bad_escape)
        return;
    u->bad_escape = true;
    if (from[1] == 'u') {
        while (end < u->end && end < from + 6 &&
               strchr("0123456789abcdefABCDEF", *end))
            end++;
        qc_report(qc, QC_LEX_BAD_ESCAPE, escape_loc(u, from, end),
                  "'%s' needs four hexadecimal digits",
                  json_shown(u->r, escape_loc(u, from, end)));
        return;
    }
    end = from + 1 + qc_utf8(from + 1, u->end, &code);
    if (end == from + 1)
        end++;
    d = qc_report(qc, QC_LEX_BAD_ESCAPE, escape_loc(u, from, end),
                  "unknown escape '%s' in a string",
                  json_shown(u->r, escape_loc(u, from, end)));
    qc_help(qc, d,
            "for a backslash write '\\\\'; known escapes are \\\" \\\\ \\/ "
            "\\b \\f \\n \\r \\t \\uXXXX");
}

static void report_half(struct unescape *u, const char *from)
{
    struct qc_loc loc = escape_loc(u, from, from + 6);

    if (u->bad_pair)
        return;
    u->bad_pair = true;
    qc_report(u->r->qc, QC_JSON_LONE_SURROGATE, loc,
              "'%s' is half of a character pair; the other half is missing",
              json_shown(u->r, loc));
}

/* At the digits of \uXXXX. */
static void unescape_code(struct unescape *u, const char *from)
{
    long c = hex4(u->p, u->end), low = -1;

    if (c < 0) {
        report_escape(u, from);
        return;
    }
    u->p += 4;
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (u->end - u->p >= 6 && u->p[0] == '\\' && u->p[1] == 'u')
            low = hex4(u->p + 2, u->end);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            u->p += 6;
        }
    }
    if (c >= 0xD800 && c <= 0xDFFF)
        report_half(u, from);
    else
        u->to = put_utf8(u->to, (uint32_t)c);
}

static void unescape_one(struct unescape *u)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *from = u->p++, *name;
    char c = *u->p;

    if (c == 'u') {
        u->p++;
        unescape_code(u, from);
        return;
    }
    name = c ? strchr(names, c) : NULL;
    if (!name) {
        report_escape(u, from);
        return;
    }
    u->p++;
    *u->to++ = values[name - names];
}

static void report_control(struct unescape *u)
{
    static const char known[] = "\b\f\n\r\t", names[] = "bfnrt";
    const char *name = strchr(known, *u->p);
    struct qc *qc = u->r->qc;
    struct qc_diag *d;
    struct qc_loc loc;

    if (u->bad_control)
        return;
    u->bad_control = true;
    loc = escape_loc(u, u->p, u->p + 1);
    if (*u->p == '\r')
        d = qc_report(qc, QC_LEX_LONE_CR, loc,
                      "a carriage return without a line feed in a string");
    else
        d = qc_report(qc, QC_LEX_CONTROL_CHAR, loc,
                      "control character (0x%02X) in a string",
                      (unsigned)(unsigned char)*u->p);
    if (name)
        qc_help(qc, d, "write '\\%c'", names[name - known]);
    else
        qc_help(qc, d, "write '\\u%04x'", (unsigned)(unsigned char)*u->p);
}

/* Resolves the escapes of the text at `inside`. */
static struct qc_str unescaped(struct json_reader *r, struct qc_loc inside,
                               bool *bad)
{
    struct unescape u = {0};
    char *start;

    u.r = r;
    u.loc = inside;
    u.p = r->file->text + inside.at;
    u.end = u.p + inside.len;
    u.to = start = qc_alloc(r->qc, inside.len + 1);
    while (u.p < u.end) {
        if (*u.p == '\\' && u.end - u.p > 1) {
            unescape_one(&u);
            continue;
        }
        if ((unsigned char)*u.p < 0x20)
            report_control(&u);
        *u.to++ = *u.p++;
    }
    *bad = u.bad_escape || u.bad_pair || u.bad_control;
    return (struct qc_str){start, (size_t)(u.to - start)};
}

int json_string(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    struct qc_loc loc = *at;

    out->text = unescaped(r, json_part(loc, 1, loc.len - 2), &out->poisoned);
    check_length(r, out, loc);
    return json_take_scalar(r, out, at, STRING);
}

int json_unterminated(struct json_reader *r, struct json_word *out,
                      struct qc_loc *at)
{
    struct qc_loc loc = *at;
    struct qc_diag *d;

    if (loc.len > 1 && r->file->text[loc.at + loc.len - 1] == '\r')
        loc.len--;
    d = qc_report(r->qc, QC_LEX_UNTERMINATED, loc,
                  "the string is not closed on this line");
    qc_help(r->qc, d, "add \" at the end; a string cannot span lines");
    out->text = json_text(r, json_part(loc, 1, loc.len - 1));
    out->poisoned = true;
    json_swallowed(r);
    return json_take_scalar(r, out, at, STRING);
}

/* A string with a word directly behind it, and the rest of the line: nobody
 * knows where a quote is missing or too much. */
int json_torn(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    const char *start = r->file->text + at->at;
    const char *close = memchr(start + 1, '"', at->len - 1);
    struct qc_loc loc = json_part(*at, 0, (size_t)(close - start) + 1);

    qc_report(r->qc, QC_LEX_UNTERMINATED, loc,
              "a word follows this string directly: is a quote missing, or "
              "one too many?");
    out->text = json_text(r, json_part(loc, 1, loc.len - 2));
    out->poisoned = true;
    json_swallowed(r);
    return json_take_scalar(r, out, at, STRING);
}

/* The inside of quotes that JSON does not have. */
static void take_inside(struct json_reader *r, struct json_word *out,
                        struct qc_loc loc, size_t open, size_t close)
{
    if (open + close > loc.len)
        close = 0;
    out->text = json_text(r, json_part(loc, open, loc.len - open - close));
    out->poisoned = true;
}

int json_single_quoted(struct json_reader *r, struct json_word *out,
                       struct qc_loc *at)
{
    struct qc_loc loc = *at;
    const char *last = r->file->text + loc.at + loc.len - 1;
    bool closed = loc.len > 1 && *last == '\'';
    struct qc_diag *d = qc_report(r->qc, QC_JSON_SINGLE_QUOTE, loc,
                                  "a string needs double quotes");

    take_inside(r, out, loc, 1, closed);
    if (closed && !memchr(out->text.ptr, '"', out->text.len) &&
        !memchr(out->text.ptr, '\\', out->text.len)) {
        qc_help(r->qc, d, "write \"%s\"", qc_shown(r->qc, out->text));
        qc_fix(r->qc, d, loc, qc_format(r->qc, "\"%.*s\"", QC_ARG(out->text)));
    }
    return json_take_scalar(r, out, at, STRING);
}

int json_curly_quoted(struct json_reader *r, struct json_word *out,
                      struct qc_loc *at)
{
    struct qc_loc loc = *at;
    const char *end = r->file->text + loc.at + loc.len;
    struct qc_loc quote = json_part(loc, 0, 3);
    struct qc_diag *d;

    d = qc_report(r->qc, QC_LEX_FULLWIDTH, quote,
                  "typographic quote '%s' (U+%04X)", json_shown(r, quote),
                  (unsigned)json_code(r, quote));
    qc_help(r->qc, d, "write ordinary quotes: \"");
    take_inside(r, out, loc, 3, loc.len < 6 ? 0 : end[-1] == '"' ? 1 : 3);
    return json_take_scalar(r, out, at, STRING);
}
