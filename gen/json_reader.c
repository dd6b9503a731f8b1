/* Reading JSON, the scanner's side: what a word is at its place, brackets, and
 * messages about characters, words and numbers that JSON does not have. */
#include "json_reader.h"

#include <string.h>

#include "gram/json.tab.h"

/* ---- places and text ---- */

struct qc_str json_text(const struct json_reader *r, struct qc_loc loc)
{
    return (struct qc_str){r->file->text + loc.at, loc.len};
}

struct qc_loc json_part(struct qc_loc loc, size_t from, size_t len)
{
    return (struct qc_loc){loc.file, loc.at + (uint32_t)from, (uint32_t)len};
}

const char *json_shown(const struct json_reader *r, struct qc_loc loc)
{
    return qc_shown(r->qc, json_text(r, loc));
}

/* A key as messages show it: always in quotes. */
const char *json_quoted(const struct json_reader *r, struct qc_str key)
{
    return qc_format(r->qc, "\"%s\"", qc_shown(r->qc, key)).ptr;
}

/* What stands at loc, for "found ...". */
const char *json_found(const struct json_reader *r, struct qc_loc loc)
{
    char c;

    if (loc.at >= r->file->size)
        return "the end of the file";
    c = r->file->text[loc.at];
    if (c == '"')
        return qc_format(r->qc, "%s", json_shown(r, loc)).ptr;
    return qc_format(r->qc, "'%s'", json_shown(r, loc)).ptr;
}

uint32_t json_code(const struct json_reader *r, struct qc_loc loc)
{
    uint32_t code = 0;

    qc_utf8(r->file->text + loc.at, r->file->text + loc.at + loc.len, &code);
    return code;
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
    const char *p = r->file->text + loc.at + loc.len,
               *end = r->file->text + r->file->size;

    if (p < end && *p == ':')
        return true; /* as nearly always */
    p = next_char(r, loc.at + loc.len);
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
        token == KEY || token == LONE || (token == JUNK && r->value_due);
    return token;
}

static int take_key(struct json_reader *r, const struct json_word *w, int token)
{
    r->key = w->text;
    r->colon_due = token == KEY;
    return take(r, token);
}

/* ':' belongs to the key before it. */
static int take_mark(struct json_reader *r, int token)
{
    if (token == ':' && r->colon_due) {
        r->colon_due = false;
        return JSON_NO_TOKEN;
    }
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

    if (!r->swallowed && !key->poisoned) {
        d = qc_report(r->qc, QC_JSON_UNCLOSED, loc,
                      "expected ']' before the key %s", json_shown(r, loc));
        qc_note(r->qc, d, b->loc, "the list begins here");
    }
    r->held = true;
    r->held_word = *key;
    r->held_word.poisoned = true; /* no comma is missed before it */
    r->held_loc = loc;
    return json_held(r, key, at);
}

/* A scalar that may turn out to be a key. */
int json_take_scalar(struct json_reader *r, struct json_word *w,
                     struct qc_loc *at, int token)
{
    struct qc_loc loc = *at;

    if (in_object(r)) {
        bool string = token == STRING;

        if ((string || !r->value_due) && colon_follows(r, loc)) {
            if (!string && !w->poisoned) {
                struct qc_diag *d =
                    qc_report(r->qc, QC_JSON_EXPECTED_KEY, loc,
                              "a key needs double quotes, found '%s'",
                              json_shown(r, loc));

                qc_help(r->qc, d, "write \"%s\"", json_shown(r, loc));
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
        *loc = json_part(r->held_loc, 0, 0);
        r->depth--;
        return take(r, ']');
    }
    r->held = false;
    *out = r->held_word;
    *loc = r->held_loc;
    return take_key(r, out, KEY);
}

/* ---- numbers and words ---- */

int json_number(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    struct qc_loc loc = *at;

    out->text = json_text(r, loc);
    out->poisoned = false;
    return json_take_scalar(r, out, at, NUMBER);
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
    struct qc_diag *d =
        qc_report(r->qc, QC_JSON_NAN, loc, "'%s' is not a JSON number",
                  json_shown(r, loc));

    qc_help(r->qc, d, "only finite numbers are possible");
}

static size_t copy_digits(char *to, const char **p, const char *end)
{
    size_t n = 0;

    for (; *p < end && (**p == '_' || (**p >= '0' && **p <= '9')); ++*p)
        if (**p != '_')
            to[n++] = **p;
    return n;
}

/* The number without what makes it wrong, when that is plain: a plus sign,
 * blanks, leading zeros, '_', a missing digit beside the point, the suffix of
 * another language. Empty when nobody knows. */
static struct qc_str better_number(struct json_reader *r, struct qc_str s)
{
    char *text = qc_alloc(r->qc, s.len + 4), *to = text;
    const char *p = s.ptr, *end = qc_end(s);
    size_t n, digits;

    if (*p == '-')
        *to++ = '-';
    if (*p == '-' || *p == '+')
        p++;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end - p > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9')
        p++;
    digits = n = copy_digits(to, &p, end);
    if (!n)
        to[n++] = '0';
    to += n;
    if (p < end && *p == '.') {
        *to++ = *p++;
        digits += n = copy_digits(to, &p, end);
        if (!n)
            to[n++] = '0';
        to += n;
    }
    if (end - p == 1 && strchr("fFdDlLuU", *p))
        p++;
    return digits && digits < 30 && p == end
               ? (struct qc_str){text, (size_t)(to - text)}
               : QC_STR("");
}

int json_bad_number(struct json_reader *r, struct json_word *out,
                    struct qc_loc *at)
{
    struct qc_loc loc = *at;
    struct qc_str better;
    struct qc_diag *d;

    out->text = json_text(r, loc);
    out->poisoned = true;
    if (is_nan_word(out->text)) {
        report_nan(r, loc);
        return json_take_scalar(r, out, at, NUMBER);
    }
    d = qc_report(r->qc, QC_JSON_NUMBER, loc, "malformed number '%s'",
                  json_shown(r, loc));
    better = better_number(r, out->text);
    if (better.len) {
        qc_help(r->qc, d, "write %.*s", QC_ARG(better));
        qc_fix(r->qc, d, loc, better);
    }
    return json_take_scalar(r, out, at, NUMBER);
}

int json_literal(struct json_reader *r, struct json_word *out,
                 struct qc_loc *at)
{
    struct qc_loc loc = *at;

    out->text = json_text(r, loc);
    out->poisoned = false;
    return json_take_scalar(r, out, at, WORD);
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
    struct qc_str near = qc_nearest(json_text(r, loc), words, 3);

    if (!key && near.len) {
        qc_help(r->qc, d, "did you mean '%.*s'?", QC_ARG(near));
        qc_fix(r->qc, d, loc, near);
    } else if (!key && qc_equalz(json_text(r, loc), "None")) {
        qc_help(r->qc, d, "Python's None is null in JSON");
    } else {
        qc_help(r->qc, d, "add quotes: \"%s\"", json_shown(r, loc));
        qc_fix(r->qc, d, loc,
               qc_format(r->qc, "\"%.*s\"", QC_ARG(json_text(r, loc))));
    }
}

int json_bare_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *at)
{
    struct qc_loc loc = *at;
    bool key = in_object(r) && !r->value_due;

    out->text = json_text(r, loc);
    out->poisoned = true;
    if (looks_like_text(r, loc))
        return END;
    if (is_nan_word(out->text) && !key)
        report_nan(r, loc);
    else
        help_bare_word(r,
                       qc_report(r->qc, QC_JSON_BAREWORD, loc,
                                 "unexpected word '%s'", json_shown(r, loc)),
                       loc, key);
    return json_take_scalar(r, out, at, WORD);
}

int json_dots(struct json_reader *r, struct json_word *out, struct qc_loc *at)
{
    struct qc_loc loc = *at;
    struct qc_diag *d = qc_report(r->qc, QC_JSON_ELLIPSIS, loc,
                                  "'%s' is not JSON", json_shown(r, loc));

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
    uint32_t code = json_code(r, loc);
    struct qc_diag *d;
    char c = twin(code);

    if (c == ' ') {
        d = qc_report(r->qc, QC_LEX_FULLWIDTH, loc, "full-width space (U+%04X)",
                      (unsigned)code);
        qc_help(r->qc, d, "write an ordinary space");
    } else {
        loc.len = 3;
        d = qc_report(r->qc, QC_LEX_FULLWIDTH, loc,
                      "full-width character '%s' (U+%04X)", json_shown(r, loc),
                      (unsigned)code);
        qc_help(r->qc, d, "write the ASCII character '%c'", c);
    }
    qc_fix(r->qc, d, loc, qc_copy(r->qc, &c, 1));
    return c;
}

int json_wide_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *at)
{
    struct qc_loc loc = *at;

    report_wide(r, loc);
    out->text = json_text(r, loc);
    out->poisoned = true;
    return json_take_scalar(r, out, at, WORD);
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
    return take_mark(r, c == ':' || c == ',' ? c : JUNK);
}

static bool is_blank_code(uint32_t code)
{
    return code == 0x85 || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200B) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x2060;
}

void json_bad_chars(struct json_reader *r, struct qc_loc loc)
{
    uint32_t code = json_code(r, loc);

    if (is_blank_code(code)) {
        qc_help(r->qc,
                qc_report(r->qc, QC_LEX_BAD_CHAR, loc,
                          "unexpected blank U+%04X", (unsigned)code),
                "write an ordinary space");
        return;
    }
    qc_report(r->qc, QC_LEX_BAD_CHAR, loc, "unexpected character '%s' (U+%04X)",
              json_shown(r, json_part(loc, 0,
                                      code < 0x800     ? 2
                                      : code < 0x10000 ? 3
                                                       : 4)),
              (unsigned)code);
}

void json_control_chars(struct json_reader *r, struct qc_loc loc)
{
    qc_report(r->qc, QC_LEX_CONTROL_CHAR, loc, "control character (0x%02X)",
              (unsigned)(unsigned char)r->file->text[loc.at]);
}

void json_comment(struct json_reader *r, struct qc_loc loc, bool closed)
{
    r->comments++;
    if (!closed)
        json_swallowed(r);
    if (r->comments > 1)
        return;
    r->comment = qc_report(r->qc, QC_JSON_COMMENT, loc, "JSON has no comments");
}

/* ---- brackets ---- */

void json_swallowed(struct json_reader *r)
{
    r->swallowed = r->damaged = true;
}

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
    if (b->close != close && !r->swallowed) {
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
    const char *what = b->key.len       ? json_quoted(r, b->key)
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
    return take_mark(r, token);
}
