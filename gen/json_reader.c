/* The sense of JSON: what a word is at its place, strings, brackets, and the
 * messages about all that is not JSON. The scanner calls the first half, the
 * parser the second. */
#include "json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gram/json.tab.h"

void json_out_of_memory(void)
{
    fputs("quantc: out of memory\n", stderr);
    exit(QC_EXIT_FATAL);
}

/* ---- places and text ---- */

static struct qc_str text_at(const struct json_reader *r, struct qc_loc loc)
{
    return (struct qc_str){r->file->text + loc.at, loc.len};
}

static struct qc_loc part(struct qc_loc loc, size_t from, size_t len)
{
    return (struct qc_loc){loc.file, loc.at + (uint32_t)from, (uint32_t)len};
}

static const char *shown(const struct json_reader *r, struct qc_loc loc)
{
    return qc_shown(r->qc, text_at(r, loc));
}

/* A key as messages show it: always in quotes. */
static const char *quoted(const struct json_reader *r, struct qc_str key)
{
    return qc_format(r->qc, "\"%s\"", qc_shown(r->qc, key)).ptr;
}

/* What stands at loc, for "found ...". */
static const char *found(const struct json_reader *r, struct qc_loc loc)
{
    char c;

    if (loc.at >= r->file->size)
        return "the end of the file";
    c = r->file->text[loc.at];
    if (c == '"')
        return qc_format(r->qc, "%s", shown(r, loc)).ptr;
    return qc_format(r->qc, "'%s'", shown(r, loc)).ptr;
}

static const char *skip_comment(const char *p, const char *end)
{
    const char *stop;

    if (*p == '#' || (end - p > 1 && p[0] == '/' && p[1] == '/')) {
        stop = memchr(p, '\n', (size_t)(end - p));
        return stop ? stop : end;
    }
    if (end - p < 2 || p[0] != '/' || p[1] != '*')
        return p;
    for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++)
        ;
    return end - p > 1 ? p + 2 : end;
}

/* The next character that is no blank and no comment, or the end. */
static const char *next_char(const struct json_reader *r, uint32_t at)
{
    const char *p = r->file->text + at, *end = r->file->text + r->file->size;

    while (p < end) {
        const char *skipped;

        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
            p++;
        if (p == end)
            break;
        skipped = skip_comment(p, end);
        if (skipped == p)
            break;
        p = skipped;
    }
    return p;
}

#define WIDE_COLON "\xEF\xBC\x9A"

static bool colon_follows(const struct json_reader *r, struct qc_loc loc)
{
    const char *p = next_char(r, loc.at + loc.len),
               *end = r->file->text + r->file->size;

    return p < end &&
           (*p == ':' || (end - p >= 3 && memcmp(p, WIDE_COLON, 3) == 0));
}

/* ---- which token a word is ---- */

static const struct json_bracket *innermost(const struct json_reader *r)
{
    return r->depth ? &r->open[r->depth - 1] : NULL;
}

static bool in_object(const struct json_reader *r)
{
    return r->depth && innermost(r)->open == '{';
}

static bool in_list_of_object(const struct json_reader *r)
{
    unsigned i;

    if (!r->depth || innermost(r)->open == '{')
        return false;
    for (i = r->depth; i-- > 0;)
        if (r->open[i].open == '{')
            return true;
    return false;
}

static int take(struct json_reader *r, int token)
{
    r->begun = true;
    r->value_due =
        token == ':' || token == LONE || (token == JUNK && r->value_due);
    return token;
}

static int take_key(struct json_reader *r, const struct json_word *w, int token)
{
    r->key = w->text;
    return take(r, token);
}

static int take_value(struct json_reader *r, int token)
{
    if (!r->depth)
        r->done = true;
    return take(r, token);
}

/* A key inside a list: the list has lost its closing bracket. It is closed
 * here; the key waits until then. */
static int close_list_before(struct json_reader *r, struct json_word *key,
                             struct qc_loc *at)
{
    struct qc_loc loc = *at;
    const struct json_bracket *b = innermost(r);
    struct qc_diag *d;

    if (!r->damaged && !key->poisoned) {
        d = qc_report(r->qc, QC_JSON_UNCLOSED, loc,
                      "expected ']' before the key %s", shown(r, loc));
        qc_note(r->qc, d, b->loc, "the list begins here");
    }
    r->held = true;
    r->held_word = *key;
    r->held_loc = loc;
    return json_held(r, key, at);
}

/* A scalar that may turn out to be a key. */
static int take_scalar(struct json_reader *r, struct json_word *w,
                       struct qc_loc *at, int token)
{
    struct qc_loc loc = *at;

    if (in_object(r)) {
        bool string = token == STRING;

        if ((string || !r->value_due) && colon_follows(r, loc)) {
            if (!string && !w->poisoned) {
                struct qc_diag *d = qc_report(
                    r->qc, QC_JSON_EXPECTED_KEY, loc,
                    "a key needs double quotes, found '%s'", shown(r, loc));

                qc_help(r->qc, d, "write \"%s\"", shown(r, loc));
                w->poisoned = true;
            }
            return take_key(r, w, KEY);
        }
        if (string && !r->value_due)
            return take_key(r, w, LONE);
    } else if (token == STRING && in_list_of_object(r) &&
               colon_follows(r, loc)) {
        return close_list_before(r, w, at);
    }
    return take_value(r, token);
}

int json_held(struct json_reader *r, struct json_word *out, struct qc_loc *loc)
{
    if (innermost(r)->open == '[') {
        *loc = part(r->held_loc, 0, 0);
        r->depth--;
        return take(r, ']');
    }
    r->held = false;
    *out = r->held_word;
    *loc = r->held_loc;
    return take_key(r, out, KEY);
}

/* ---- strings ---- */

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
    out->text = text_at(r, part(loc, 1, loc.len - 2));
    out->poisoned = false;
    check_length(r, out, loc);
    return take_scalar(r, out, at, STRING);
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
    return part(u->loc, (size_t)(from - (u->r->file->text + u->loc.at)),
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
                  shown(u->r, escape_loc(u, from, end)));
        return;
    }
    end = from + 1 + qc_utf8(from + 1, u->end, &code);
    if (end == from + 1)
        end++;
    d = qc_report(qc, QC_LEX_BAD_ESCAPE, escape_loc(u, from, end),
                  "unknown escape '%s' in a string",
                  shown(u->r, escape_loc(u, from, end)));
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
              shown(u->r, loc));
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

    if (u->bad_control)
        return;
    u->bad_control = true;
    d = qc_report(qc, *u->p == '\r' ? QC_LEX_LONE_CR : QC_LEX_CONTROL_CHAR,
                  escape_loc(u, u->p, u->p + 1),
                  "control character U+%04X inside a string",
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
    out->text = unescaped(r, part(loc, 1, loc.len - 2), &out->poisoned);
    check_length(r, out, loc);
    return take_scalar(r, out, at, STRING);
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
    out->text = text_at(r, part(loc, 1, loc.len - 1));
    out->poisoned = true;
    r->damaged = true; /* it may have swallowed some */
    return take_scalar(r, out, at, STRING);
}

/* A string in quotes of `size` bytes that JSON does not have. */
static void take_inside(struct json_reader *r, struct json_word *out,
                        struct qc_loc loc, size_t open, size_t close)
{
    if (open + close > loc.len)
        close = 0;
    out->text = text_at(r, part(loc, open, loc.len - open - close));
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
    return take_scalar(r, out, at, STRING);
}

int json_curly_quoted(struct json_reader *r, struct json_word *out,
                      struct qc_loc *at)
{
    struct qc_loc loc = *at;
    const char *end = r->file->text + loc.at + loc.len;
    struct qc_loc quote = part(loc, 0, 3);
    struct qc_diag *d;
    uint32_t code;

    qc_utf8(r->file->text + loc.at, end, &code);
    d = qc_report(r->qc, QC_LEX_FULLWIDTH, quote, "curly quote '%s' (U+%04X)",
                  shown(r, quote), (unsigned)code);
    qc_help(r->qc, d, "write the ASCII character '\"'");
    take_inside(r, out, loc, 3, loc.len < 6 ? 0 : end[-1] == '"' ? 1 : 3);
    return take_scalar(r, out, at, STRING);
}

/* ---- numbers and words ---- */

int json_number(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    struct qc_loc loc = *at;
    out->text = text_at(r, loc);
    out->poisoned = false;
    return take_scalar(r, out, at, NUMBER);
}

static bool is_nan_word(struct qc_str s)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t i;

    while (s.len && (*s.ptr == '-' || *s.ptr == '+'))
        s.ptr++, s.len--;
    for (i = 0; i < 3; i++) {
        size_t n = strlen(words[i]), k = 0;

        while (k < n && k < s.len && (s.ptr[k] | 0x20) == words[i][k])
            k++;
        if (k == n && s.len == n)
            return true;
    }
    return false;
}

static void report_nan(struct json_reader *r, struct qc_loc loc)
{
    struct qc_diag *d = qc_report(r->qc, QC_JSON_NAN, loc,
                                  "'%s' is not a JSON number", shown(r, loc));

    qc_help(r->qc, d, "only finite numbers are possible");
}

/* The number without what makes it wrong, when that is plain; else empty. */
static struct qc_str better_number(struct json_reader *r, struct qc_str s)
{
    struct qc_str out = qc_copy(r->qc, s.ptr, s.len);
    char *to = (char *)(uintptr_t)out.ptr;
    size_t i = 0, digits = 0;

    out.len = 0;
    if (i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-')) {
        if (s.ptr[i] == '-')
            to[out.len++] = '-';
        i++;
    }
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t'))
        i++;
    while (i + 1 < s.len && s.ptr[i] == '0' && s.ptr[i + 1] >= '0' &&
           s.ptr[i + 1] <= '9')
        i++;
    for (; i < s.len; i++) {
        if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            to[out.len++] = s.ptr[i];
            digits++;
        } else if (s.ptr[i] != '_' &&
                   !(i + 1 == s.len && strchr("fFlLuU", s.ptr[i]))) {
            return QC_STR("");
        }
    }
    return digits && digits < 20 ? out : QC_STR("");
}

int json_bad_number(struct json_reader *r, struct json_word *out,
                    struct qc_loc *at)
{
    struct qc_loc loc = *at;
    struct qc_str better;
    struct qc_diag *d;

    out->text = text_at(r, loc);
    out->poisoned = true;
    if (is_nan_word(out->text)) {
        report_nan(r, loc);
        return take_scalar(r, out, at, NUMBER);
    }
    d = qc_report(r->qc, QC_JSON_NUMBER, loc, "malformed number '%s'",
                  shown(r, loc));
    better = better_number(r, out->text);
    if (better.len) {
        qc_help(r->qc, d, "write %.*s", QC_ARG(better));
        qc_fix(r->qc, d, loc, better);
    }
    return take_scalar(r, out, at, NUMBER);
}

int json_literal(struct json_reader *r, struct json_word *out,
                 struct qc_loc *at)
{
    struct qc_loc loc = *at;
    out->text = text_at(r, loc);
    out->poisoned = false;
    return take_scalar(r, out, at, WORD);
}

/* The first word of the file and what follows it: a quant.cfg? */
static bool looks_like_text(struct json_reader *r, struct qc_loc loc)
{
    static const enum qc_key none[] = {QC_KEY_COUNT};
    const char *p = next_char(r, loc.at + loc.len);
    struct qc_diag *d;

    if (r->begun || p == r->file->text + r->file->size || !strchr(":{<[", *p))
        return false;
    qc_unreport(r->qc, r->file, 0, loc.at, none); /* comments above it */
    r->comment = NULL;
    d = qc_report(r->qc, QC_JSON_TEXTPROTO, loc,
                  "this looks like the text format; JSON was expected");
    qc_help(r->qc, d, "keys are written in double quotes: \"batch_num\": 1");
    qc_help(r->qc, d,
            "for a quant.cfg file use --kind=calib, for a retrain.cfg file "
            "--kind=retrain");
    return true;
}

static void help_bare_word(struct json_reader *r, struct qc_diag *d,
                           struct qc_loc loc, bool key)
{
    static const struct qc_str words[] = {
        {"true",  4},
        {"false", 5},
        {"null",  4}
    };
    struct qc_str near = qc_nearest(text_at(r, loc), words, 3);

    if (!key && near.len) {
        qc_help(r->qc, d, "did you mean '%.*s'?", QC_ARG(near));
        qc_fix(r->qc, d, loc, near);
    } else if (!key && qc_equalz(text_at(r, loc), "None")) {
        qc_help(r->qc, d, "Python's None is null in JSON");
    } else {
        qc_help(r->qc, d, "add quotes: \"%s\"", shown(r, loc));
        qc_fix(r->qc, d, loc,
               qc_format(r->qc, "\"%.*s\"", QC_ARG(text_at(r, loc))));
    }
}

int json_bare_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *at)
{
    struct qc_loc loc = *at;
    bool key = in_object(r) && !r->value_due;

    out->text = text_at(r, loc);
    out->poisoned = true;
    if (looks_like_text(r, loc))
        return END;
    if (is_nan_word(out->text) && !key)
        report_nan(r, loc);
    else
        help_bare_word(r,
                       qc_report(r->qc, QC_JSON_BAREWORD, loc,
                                 "unexpected word '%s'", shown(r, loc)),
                       loc, key);
    return take_scalar(r, out, at, WORD);
}

int json_dots(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    struct qc_loc loc = *at;
    struct qc_diag *d = qc_report(r->qc, QC_JSON_ELLIPSIS, loc,
                                  "'%s' is not JSON", shown(r, loc));

    (void)out;
    qc_help(r->qc, d,
            "the printed sample uses '...' for left-out layers: delete this "
            "line");
    return r->depth ? take(r, DOTS) : JSON_NO_TOKEN;
}

/* ---- full-width and foreign characters ---- */

/* The ASCII twin of a full-width character. */
static char twin(uint32_t code)
{
    switch (code) {
    case 0x3000:
        return ' ';
    case 0x3001:
    case 0x3002:
        return ',';
    default:
        return (char)(code - 0xFEE0);
    }
}

static char report_wide(struct json_reader *r, struct qc_loc loc)
{
    struct qc_loc first;
    struct qc_diag *d;
    uint32_t code;
    char c;

    first = part(
        loc, 0,
        qc_utf8(r->file->text + loc.at, r->file->text + r->file->size, &code));
    c = twin(code);
    d = qc_report(r->qc, QC_LEX_FULLWIDTH, first,
                  "full-width character '%s' (U+%04X)", shown(r, first),
                  (unsigned)code);
    if (c == ' ')
        qc_help(r->qc, d, "write an ASCII blank");
    else
        qc_help(r->qc, d, "write the ASCII character '%c'", c);
    qc_fix(r->qc, d, first, qc_copy(r->qc, &c, 1));
    return c;
}

int json_wide_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *at)
{
    struct qc_loc loc = *at;
    report_wide(r, loc);
    out->text = text_at(r, loc);
    out->poisoned = true;
    return take_scalar(r, out, at, WORD);
}

int json_wide_char(struct json_reader *r, struct qc_loc loc)
{
    char c = report_wide(r, loc);

    if (c == ' ')
        return JSON_NO_TOKEN;
    if (c == '{' || c == '[')
        return json_open(r, loc, c);
    if (c == '}' || c == ']')
        return json_close(r, loc, c);
    return take(r, c == ':' || c == ',' ? c : JUNK);
}

void json_bad_chars(struct json_reader *r, struct qc_loc loc)
{
    struct qc_loc first;
    uint32_t code;

    first = part(
        loc, 0,
        qc_utf8(r->file->text + loc.at, r->file->text + r->file->size, &code));
    qc_report(r->qc, QC_LEX_BAD_CHAR, loc, "unexpected character '%s' (U+%04X)",
              shown(r, first), (unsigned)code);
}

void json_control_chars(struct json_reader *r, struct qc_loc loc)
{
    qc_report(r->qc, QC_LEX_CONTROL_CHAR, loc, "control character U+%04X",
              (unsigned)(unsigned char)r->file->text[loc.at]);
}

void json_comment(struct json_reader *r, struct qc_loc loc, bool closed)
{
    r->comments++;
    if (!closed)
        r->damaged = true;
    if (r->comments > 1)
        return;
    r->comment = qc_report(r->qc, QC_JSON_COMMENT, loc, "JSON has no comments");
}

/* ---- brackets ---- */

int json_open(struct json_reader *r, struct qc_loc loc, char open)
{
    struct json_bracket *b;

    if (r->depth == QC_MAX_DEPTH) {
        qc_report(r->qc, QC_LIM_DEPTH, loc, "more than %u open brackets",
                  QC_MAX_DEPTH);
        return END;
    }
    b = &r->open[r->depth++];
    b->open = open;
    b->close = open == '{' ? '}' : ']';
    b->loc = loc;
    b->key = r->value_due ? r->key : QC_STR("");
    return take(r, open);
}

int json_close(struct json_reader *r, struct qc_loc loc, char close)
{
    const struct json_bracket *b = innermost(r);
    struct qc_diag *d;

    if (!b)
        return take(r, JUNK);
    if (b->close != close && !r->damaged) {
        d = qc_report(r->qc, QC_JSON_MISMATCHED, loc,
                      "expected '%c', found '%c'", b->close, close);
        qc_note(r->qc, d, b->loc, "'%c' is here", b->open);
    }
    if (b->close != close)
        r->damaged = true;
    r->depth--;
    r->end = loc;
    return take_value(r, b->close);
}

static void report_unclosed(struct json_reader *r, struct qc_loc loc)
{
    const struct json_bracket *b = innermost(r);
    const char *what = b->key.len       ? quoted(r, b->key)
                       : b->open == '{' ? "the object"
                                        : "the list";
    struct qc_diag *d =
        qc_report(r->qc, QC_JSON_UNCLOSED, loc,
                  "%s is not closed: expected '%c' before the end of the file",
                  what, b->close);

    qc_note(r->qc, d, b->loc, "opened here");
}

int json_end(struct json_reader *r, struct qc_loc *loc)
{
    if (r->comments > 1) {
        qc_help(r->qc, r->comment, "the file has %zu comments", r->comments);
        r->comments = 0;
    }
    if (!r->depth)
        return END;
    if (!r->damaged)
        report_unclosed(r, *loc);
    r->damaged = true;
    r->depth--;
    return take_value(r, r->open[r->depth].close);
}

int json_garbage(struct json_reader *r, struct qc_loc loc)
{
    char c = r->file->text[loc.at];
    struct qc_diag *d;

    if (r->damaged)
        return END;
    if (c == '}' || c == ']') {
        d = qc_report(r->qc, QC_JSON_GARBAGE, loc, "'%c' closes nothing", c);
    } else {
        d = qc_report(r->qc, QC_JSON_GARBAGE, loc,
                      "the file goes on after the end of its value");
        if (c == ':')
            qc_help(r->qc, d, "is a '{' missing at the beginning?");
    }
    if (r->end.file)
        qc_note(r->qc, d, r->end, "the value ends here");
    return END;
}

int json_mark(struct json_reader *r, int token)
{
    return take(r, token);
}

/* ---- for the parser ---- */

struct qc_node *json_scalar(struct json_reader *r, enum qc_node_kind kind,
                            struct json_word w, struct qc_loc loc)
{
    struct qc_node *n = qc_node(r->qc, kind, loc, w.text);

    n->poisoned = w.poisoned;
    return n;
}

struct json_items json_items(struct json_reader *r, enum qc_node_kind kind,
                             struct qc_loc open)
{
    struct json_items items = {0};

    items.node = qc_node(r->qc, kind, open, QC_STR(""));
    return items;
}

static struct qc_loc last_loc(const struct json_items *items)
{
    return (struct qc_loc){items->node->loc.file, items->at, items->len};
}

static void set_last(struct json_items *items, struct qc_loc loc)
{
    items->at = loc.at;
    items->len = loc.len;
}

/* At the end of the file and after a fatal fault all has been said. */
static bool at_end(const struct json_reader *r, struct qc_loc loc)
{
    return r->file->fatal || loc.at >= r->file->size;
}

static void report_no_comma(struct json_reader *r, struct json_items *items,
                            struct qc_loc loc, const char *where)
{
    struct qc_loc gap;
    struct qc_diag *d;

    items->bad = true;
    if (at_end(r, loc))
        return;
    d = qc_report(r->qc, QC_JSON_EXPECTED_COMMA, loc, "expected ',' %s %s",
                  where, found(r, loc));
    gap = part(last_loc(items), items->len, 0);
    qc_fix(r->qc, d, gap, QC_STR(","));
}

/* The whole of a value. */
static struct qc_loc extent(const struct qc_node *n)
{
    return (struct qc_loc){n->loc.file, n->loc.at, n->end - n->loc.at};
}

static void take_item(struct json_items *items, struct qc_node *n,
                      struct qc_loc loc)
{
    items->last = JSON_ITEM;
    set_last(items, n ? extent(n) : loc);
    if (!n || n->poisoned)
        items->bad = true;
    if (n)
        qc_append(items->node, n);
}

struct json_items json_member(struct json_reader *r, struct json_items items,
                              struct json_word key, struct qc_loc key_loc,
                              struct qc_node *value)
{
    bool bad = items.bad;

    items.bad = false;
    if (items.last == JSON_ITEM && !bad && !key.poisoned) {
        report_no_comma(r, &items, key_loc, "before");
        items.bad = false;
    }
    if (value) {
        qc_named(value, key.text, key_loc);
        value->poisoned = value->poisoned || key.poisoned;
    }
    take_item(&items, value, key_loc);
    return items;
}

struct json_items json_no_value(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at)
{
    struct qc_diag *d;

    if (!at_end(r, at)) {
        bool is_key = r->file->text[at.at] == '"';

        d = qc_report(r->qc, QC_JSON_EXPECTED_VALUE, at,
                      "expected the value of %s, found %s%s",
                      quoted(r, key.text), is_key ? "the key " : "",
                      found(r, at));
        qc_note(r->qc, d, key_loc, "%s is here", quoted(r, key.text));
    }
    return json_member(r, items, key, key_loc, NULL);
}

void json_before_value(struct json_reader *r, struct json_word key,
                       struct qc_loc junk)
{
    qc_report(r->qc, QC_JSON_EXPECTED_VALUE, junk,
              "expected the value of %s, found '%s'", quoted(r, key.text),
              shown(r, junk));
}

struct json_items json_no_colon(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at)
{
    /* ':' is there when characters before it have been reported. */
    bool quiet = (items.bad && items.last != JSON_COMMA) || key.poisoned ||
                 at_end(r, at) || r->file->text[at.at] == ':';

    if (items.last == JSON_ITEM && !quiet)
        report_no_comma(r, &items, key_loc, "before");
    else if (!quiet)
        qc_report(r->qc, QC_JSON_EXPECTED_COLON, at, "expected ':' after %s",
                  quoted(r, key.text));
    take_item(&items, NULL, key_loc);
    return items;
}

struct json_items json_stray(struct json_reader *r, struct json_items items,
                             struct qc_node *value, struct qc_loc loc)
{
    if (!items.bad && !value->poisoned) {
        if (items.last == JSON_ITEM)
            report_no_comma(r, &items, part(loc, 0, loc.len), "before");
        else
            qc_report(r->qc, QC_JSON_EXPECTED_KEY, value->loc,
                      "expected a key in double quotes, found %s",
                      found(r, value->loc));
    }
    if (value->kind == QC_GROUP)
        r->damaged = true; /* one '{' too many? */
    take_item(&items, NULL, loc);
    return items;
}

struct json_items json_element(struct json_reader *r, struct json_items items,
                               struct qc_node *value, struct qc_loc loc)
{
    if (!value)
        return json_ellipsis(items, loc);
    if (items.last == JSON_ITEM && !items.bad && !value->poisoned)
        report_no_comma(r, &items, value->loc, "before");
    take_item(&items, value, loc);
    return items;
}

static void report_no_item(struct json_reader *r, struct json_items *items,
                           struct qc_loc loc)
{
    struct qc_diag *d;

    if (items->bad)
        return;
    items->bad = true;
    if (items->node->kind == QC_GROUP)
        d = qc_report(r->qc, QC_JSON_EXPECTED_KEY, loc,
                      "expected a key, found '%s'", shown(r, loc));
    else
        d = qc_report(r->qc, QC_JSON_EXPECTED_VALUE, loc,
                      "expected a value, found '%s'", shown(r, loc));
    if (r->file->text[loc.at] == ',')
        qc_help(r->qc, d, "remove this comma");
}

struct json_items json_comma(struct json_reader *r, struct json_items items,
                             struct qc_loc loc)
{
    if (items.last == JSON_NONE || items.last == JSON_COMMA)
        report_no_item(r, &items, loc);
    else if (items.node->kind == QC_LIST)
        items.bad = false;
    items.last = JSON_COMMA;
    set_last(&items, loc);
    return items;
}

struct json_items json_ellipsis(struct json_items items, struct qc_loc loc)
{
    items.last = JSON_DOTS;
    set_last(&items, loc);
    return items;
}

struct json_items json_junk(struct json_reader *r, struct json_items items,
                            struct qc_loc loc)
{
    if (items.last != JSON_ITEM) {
        report_no_item(r, &items, loc);
        return items;
    }
    if (!items.bad)
        qc_report(r->qc, QC_JSON_EXPECTED_COMMA, loc,
                  "expected ',', found '%s'", shown(r, loc));
    items.last = JSON_COMMA;
    set_last(&items, loc);
    items.bad = true;
    return items;
}

/* ---- the end of an object or list ---- */

static void report_duplicate(struct json_reader *r, const struct qc_node *first,
                             const struct qc_node *again)
{
    /* Every object in the outermost one is a layer: the depth is known only
     * to the bracket stack, where the innermost has been taken off. */
    bool layer =
        r->depth == 0 && first->kind == QC_GROUP && again->kind == QC_GROUP;
    struct qc_diag *d;

    if (layer)
        d = qc_report(r->qc, QC_JSON_DUPLICATE_KEY, again->name_loc,
                      "layer name %s is used twice; layer names must be unique",
                      quoted(r, again->name));
    else
        d = qc_report(r->qc, QC_JSON_DUPLICATE_KEY, again->name_loc,
                      "key %s is used twice", quoted(r, again->name));
    qc_note(r->qc, d, first->name_loc, "first used here");
}

#define FEW 8u /* keys that are compared one by one */

static void check_few_keys(struct json_reader *r, const struct qc_node *group)
{
    const struct qc_node *a, *b;

    for (b = group->first; b; b = b->next)
        for (a = group->first; a != b; a = a->next)
            if (qc_equal(a->name, b->name)) {
                report_duplicate(r, a, b);
                break;
            }
}

static void check_many_keys(struct json_reader *r, struct qc_node *group)
{
    struct qc_map map = {0};
    struct qc_node *n;

    for (n = group->first; n; n = n->next) {
        void **at = qc_map_at(r->qc, &map, n->name);

        if (*at)
            report_duplicate(r, *at, n);
        else
            *at = n;
    }
}

struct qc_node *json_closed(struct json_reader *r, struct json_items items,
                            struct qc_loc close)
{
    struct qc_node *n = items.node;
    struct qc_diag *d;

    if (items.last == JSON_COMMA && !items.bad && !r->damaged) {
        d = qc_report(r->qc, QC_JSON_TRAILING_COMMA, close,
                      "a comma may not come before '%s'", shown(r, close));
        qc_note(r->qc, d, last_loc(&items), "remove this comma");
        qc_fix(r->qc, d, last_loc(&items), QC_STR(""));
    }
    n->closed = close.len != 0;
    n->end = close.at + close.len;
    if (n->kind == QC_GROUP && n->count <= FEW)
        check_few_keys(r, n);
    else if (n->kind == QC_GROUP)
        check_many_keys(r, n);
    return n;
}

void json_no_document(struct json_reader *r)
{
    struct qc_loc end = {r->file, (uint32_t)r->file->size, 0};

    if (!r->file->errors)
        qc_report(r->qc, QC_JSON_EMPTY, end,
                  r->file->size ? "the file holds no value, only blanks"
                                : "the file is empty");
}

void json_unexpected(struct json_reader *r, struct qc_loc loc)
{
    if (!r->file->fatal && r->depth == 0 && !r->done)
        qc_report(r->qc, QC_JSON_EXPECTED_VALUE, loc,
                  "expected a JSON value, found %s", found(r, loc));
}
