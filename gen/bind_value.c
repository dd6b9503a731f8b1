/* One scalar of a text-format file against its field. */
#include "bind.h"
#include "decimal.h"
#include "parse.h"

#include <string.h>

static const struct {
    int64_t low;
    uint64_t high;
} integers[] = {
    {0,         0         }, /* QC_BOOL */
    {INT32_MIN, INT32_MAX },
    {INT64_MIN, INT64_MAX },
    {0,         UINT32_MAX},
    {0,         UINT64_MAX}
};

static bool is_integer_type(enum qc_type t)
{
    return t >= QC_INT32 && t <= QC_UINT64;
}

static const char *limits(struct qc *qc, const struct qc_field *f)
{
    return qc_format(qc, "%lld to %llu", (long long)integers[f->type].low,
                     (unsigned long long)integers[f->type].high)
        .ptr;
}

static const char *enum_words(struct qc *qc, const struct qc_enumeration *e,
                              bool numbers)
{
    struct qc_str all = QC_STR("");
    size_t i;

    for (i = 0; i < e->count; i++) {
        all = qc_format(qc, "%.*s%s%s", QC_ARG(all), i ? ", " : "",
                        e->values[i].name);
        if (numbers)
            all = qc_format(qc, "%.*s (%d)", QC_ARG(all),
                            (int)e->values[i].number);
    }
    return all.ptr;
}

/* ---- numbers as text ---- */

struct integer {
    bool negative, octal, hex, too_large;
    uint64_t size; /* without its sign */
};

/* False when the text is no integer: it has a point, an exponent, an f. */
static bool scan_integer(struct qc_str s, struct integer *n)
{
    const char *p = s.ptr, *end = p + s.len;
    unsigned base = 10;

    memset(n, 0, sizeof(*n));
    if (p < end && *p == '-') {
        n->negative = true;
        p++;
    }
    if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
        base = 16;
        n->hex = true;
        p += 2;
    } else if (end - p > 1 && p[0] == '0' && p[1] != '.') {
        base = 8;
        n->octal = true;
    }
    if (p == end)
        return false;
    for (; p < end; p++) {
        unsigned d = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0')
                     : *p >= 'a' && *p <= 'z'
                         ? (unsigned)(*p - 'a' + 10)
                         : (unsigned)((unsigned char)*p - 'A' + 10);

        if (d >= base)
            return false;
        if (n->size > (UINT64_MAX - d) / base)
            n->too_large = true;
        n->size = n->size * base + d;
    }
    return true;
}

static bool fits(const struct qc_field *f, const struct integer *n)
{
    if (n->too_large)
        return false;
    if (!n->negative)
        return n->size <= integers[f->type].high;
    /* -0 is no spelling of an unsigned number. */
    return integers[f->type].low < 0 &&
           n->size <= (uint64_t)0 - (uint64_t)integers[f->type].low;
}

static bool word_is(struct qc_str s, const char *lower_case)
{
    size_t i, len = strlen(lower_case);

    if (s.len != len)
        return false;
    for (i = 0; i < len; i++)
        if ((s.ptr[i] | 0x20) != lower_case[i])
            return false;
    return true;
}

static bool is_special(struct qc_str s)
{
    return word_is(s, "inf") || word_is(s, "infinity") || word_is(s, "nan");
}

/* ---- what is there, and what was meant ---- */

static const char *found(struct qc *qc, const struct qc_node *n)
{
    switch (n->kind) {
    case QC_GROUP:
        return "a group";
    case QC_LIST:
        return "a list";
    case QC_TEXT:
        return "a string";
    case QC_NUMBER:
        return qc_format(qc, "the number %s", qc_shown(qc, n->text)).ptr;
    default:
        return qc_format(qc, "the word '%s'", qc_shown(qc, n->text)).ptr;
    }
}

static void suggest(struct qc *qc, struct qc_diag *d, const struct qc_node *n,
                    const char *how, struct qc_str text)
{
    qc_help(qc, d, "%s%s", how, qc_shown(qc, text));
    qc_fix(qc, d, n->loc, text);
}

/* true or false by another word; empty: neither. */
static struct qc_str meant_bool(struct qc_str s)
{
    static const char *const words[2][7] = {
        {"false", "f", "no",  "off", "disable", "none", "null"},
        {"true",  "t", "yes", "on",  "enable",  "1.0",  NULL  }
    };
    size_t i, j;

    for (i = 0; i < 2; i++)
        for (j = 0; j < 7 && words[i][j]; j++)
            if (word_is(s, words[i][j]))
                return i ? QC_STR("true") : QC_STR("false");
    if (qc_equalz(s, "0") || qc_equalz(s, "00") || qc_equalz(s, "0x0"))
        return QC_STR("false");
    if (qc_equalz(s, "1") || qc_equalz(s, "01") || qc_equalz(s, "0x1"))
        return QC_STR("true");
    return QC_STR("");
}

static void wrong_bool(struct qc *qc, const struct qc_field *f,
                       const struct qc_node *n)
{
    bool scalar = n->kind == QC_WORD || n->kind == QC_NUMBER;
    struct qc_str meant = QC_STR("");
    struct qc_diag *d =
        qc_report(qc, QC_SCH_TYPE_BOOL, n->loc,
                  "'%s' needs true or false, found %s", f->name,
                  scalar ? qc_format(qc, "'%s'", qc_shown(qc, n->text)).ptr
                         : found(qc, n));

    if (scalar || n->kind == QC_TEXT)
        meant = meant_bool(n->text);
    if (meant.len)
        suggest(qc, d, n, n->kind == QC_TEXT ? "remove the quotes: " : "write ",
                meant);
}

static void wrong_int(struct qc *qc, const struct qc_field *f,
                      const struct qc_node *n)
{
    struct qc_diag *d = qc_report(qc, QC_SCH_TYPE_INT, n->loc,
                                  "'%s' needs an integer from %s, found %s",
                                  f->name, limits(qc, f), found(qc, n));
    const char *point;
    struct integer i;

    if (n->kind == QC_TEXT && scan_integer(n->text, &i) && fits(f, &i))
        suggest(qc, d, n, "remove the quotes: ", n->text);
    if (n->kind != QC_NUMBER)
        return;
    /* 3.0, 3. and 3f are 3. */
    point = n->text.ptr;
    while (point < n->text.ptr + n->text.len &&
           (*point == '-' || (*point >= '0' && *point <= '9')))
        point++;
    for (i.size = (uint64_t)(point - n->text.ptr); i.size < n->text.len;
         i.size++)
        if (!strchr(".0f", n->text.ptr[i.size]))
            return;
    if (point > n->text.ptr && point[-1] != '-')
        suggest(qc, d, n, "write ",
                (struct qc_str){n->text.ptr, (size_t)(point - n->text.ptr)});
}

static void wrong_float(struct qc *qc, const struct qc_field *f,
                        const struct qc_node *n)
{
    struct qc_diag *d =
        qc_report(qc, QC_SCH_TYPE_FLOAT, n->loc,
                  "'%s' needs a number, found %s", f->name, found(qc, n));
    struct integer i;
    double v;

    if (n->kind == QC_TEXT && qc_parse_double(n->text, &v))
        suggest(qc, d, n, "remove the quotes: ", n->text);
    if (n->kind == QC_NUMBER && scan_integer(n->text, &i) && !i.too_large)
        qc_help(qc, d, "only decimal numbers may be fractions");
}

static void wrong_string(struct qc *qc, const struct qc_field *f,
                         const struct qc_node *n)
{
    struct qc_diag *d =
        qc_report(qc, QC_SCH_TYPE_STRING, n->loc,
                  "'%s' needs a string, found %s", f->name, found(qc, n));

    if (n->kind == QC_WORD || n->kind == QC_NUMBER)
        suggest(qc, d, n,
                "add quotes: ", qc_format(qc, "\"%.*s\"", QC_ARG(n->text)));
}

static void wrong_enum(struct qc *qc, const struct qc_field *f,
                       const struct qc_node *n)
{
    struct qc_diag *d =
        qc_report(qc, QC_SCH_TYPE_ENUM, n->loc, "'%s' needs %s %s, found %s",
                  f->name, f->values->count > 1 ? "one of" : "the word",
                  enum_words(qc, f->values, false), found(qc, n));

    if (n->kind == QC_TEXT && qc_find_enum(f->values, n->text))
        suggest(qc, d, n, "remove the quotes: ", n->text);
}

void qc_wrong_type(struct qc *qc, const struct qc_field *f,
                   const struct qc_node *n)
{
    switch (f->type) {
    case QC_BOOL:
        wrong_bool(qc, f, n);
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        wrong_float(qc, f, n);
        break;
    case QC_STRING:
    case QC_BYTES:
        wrong_string(qc, f, n);
        break;
    case QC_ENUM:
        wrong_enum(qc, f, n);
        break;
    case QC_MESSAGE:
        qc_report(qc, QC_SCH_TYPE_MESSAGE, n->loc,
                  "'%s' needs a group in { }, found %s", f->name, found(qc, n));
        break;
    default:
        wrong_int(qc, f, n);
    }
}

/* ---- the types ---- */

static bool bind_bool(struct qc *qc, const struct qc_field *f,
                      const struct qc_node *n, struct qc_value *v)
{
    static const char *const words[] = {"false", "False", "f", "true",
                                        "True",  "t",     NULL};
    size_t i;

    if (n->kind == QC_NUMBER && n->text.len == 1 &&
        (n->text.ptr[0] == '0' || n->text.ptr[0] == '1')) {
        v->as.b = n->text.ptr[0] == '1';
        return true;
    }
    for (i = 0; n->kind == QC_WORD && words[i]; i++)
        if (qc_equalz(n->text, words[i])) {
            v->as.b = i > 2;
            return true;
        }
    wrong_bool(qc, f, n);
    return false;
}

static bool bind_int(struct qc *qc, const struct qc_field *f,
                     const struct qc_node *n, struct qc_value *v)
{
    struct integer i;

    if (n->kind != QC_NUMBER || !scan_integer(n->text, &i)) {
        wrong_int(qc, f, n);
        return false;
    }
    if (!fits(f, &i)) {
        qc_report(qc, QC_SCH_INT_RANGE, n->loc, "%s does not fit '%s' (%s)",
                  qc_shown(qc, n->text), f->name, limits(qc, f));
        return false;
    }
    if (integers[f->type].low == 0)
        v->as.u = i.size;
    else if (i.negative) /* size may be 2^63: no plain negation */
        v->as.i = i.size ? -(int64_t)(i.size - 1) - 1 : 0;
    else
        v->as.i = (int64_t)i.size;
    return true;
}

static bool bind_float(struct qc *qc, const struct qc_field *f,
                       const struct qc_node *n, struct qc_value *v)
{
    struct integer i;
    bool number = n->kind == QC_NUMBER;

    /* 010 and 0x1 are integers only. */
    if (number && scan_integer(n->text, &i) && (i.hex || i.octal))
        number = false;
    if (!number && !(n->kind == QC_WORD && is_special(n->text))) {
        wrong_float(qc, f, n);
        return false;
    }
    if (!qc_parse_double(n->text, &v->as.f)) {
        wrong_float(qc, f, n);
        return false;
    }
    return true;
}

/* Bytes that escapes make must be UTF-8 in a string; those of the file have
 * been looked at. */
static bool check_utf8(struct qc *qc, const struct qc_node *n)
{
    const char *p = n->text.ptr, *end = p + n->text.len;
    const struct qc_file *file = n->loc.file;
    struct qc_loc loc;
    struct qc_diag *d;
    uint32_t code;

    if (p >= file->text && p <= file->text + file->size)
        return true;
    while (p < end) {
        unsigned len = qc_utf8(p, end, &code);

        if (!len)
            break;
        p += len;
    }
    if (p == end)
        return true;
    loc = qc_text_string_loc(file, n->loc.at, n->loc.at + n->loc.len,
                             (size_t)(p - n->text.ptr));
    if (file->text[loc.at] != '\\')
        return false; /* a byte of the file: reported before */
    d = qc_report(qc, QC_LEX_BAD_UTF8, loc,
                  "this escape (byte 0x%02X) makes the string invalid UTF-8",
                  (unsigned)(unsigned char)*p);
    qc_help(qc, d, "names are UTF-8; characters can be written as they are");
    return false;
}

static bool bind_string(struct qc *qc, const struct qc_field *f,
                        const struct qc_node *n)
{
    if (n->kind != QC_TEXT) {
        wrong_string(qc, f, n);
        return false;
    }
    return f->type == QC_BYTES || check_utf8(qc, n);
}

/* INT8 for int8, and for 8. */
static const char *meant_enum(const struct qc_enumeration *e, struct qc_str s)
{
    size_t i, j;

    for (i = 0; i < e->count; i++) {
        struct qc_str name = qc_str(e->values[i].name);

        j = name.len;
        while (j && name.ptr[j - 1] >= '0' && name.ptr[j - 1] <= '9')
            j--;
        if (qc_distance(s, name, 0) == 0 ||
            qc_equal(s, (struct qc_str){name.ptr + j, name.len - j}))
            return name.ptr;
    }
    return NULL;
}

static bool bind_enum(struct qc *qc, const struct qc_field *f,
                      const struct qc_node *n, struct qc_value *v)
{
    const struct qc_enum_value *e = NULL;
    const char *meant;
    struct qc_diag *d;
    struct integer i;

    if (n->kind == QC_WORD) {
        e = qc_find_enum(f->values, n->text);
    } else if (n->kind != QC_NUMBER || !scan_integer(n->text, &i)) {
        wrong_enum(qc, f, n);
        return false;
    } else if (!i.octal && !i.too_large && i.size <= INT32_MAX) {
        e = qc_find_enum_number(f->values, i.negative ? -(int32_t)i.size
                                                      : (int32_t)i.size);
    }
    if (e) {
        v->as.e = e->number;
        return true;
    }
    meant = meant_enum(f->values, n->text);
    d = qc_report(qc, QC_SCH_ENUM_UNKNOWN, n->loc,
                  n->kind == QC_WORD ? "'%s' is not a value of '%s'"
                                     : "%s is not a value of '%s'",
                  qc_shown(qc, n->text), f->name);
    if (meant) {
        qc_help(qc, d, "did you mean '%s'?", meant);
        qc_fix(qc, d, n->loc, qc_str(meant));
    }
    qc_help(qc, d, "values: %s", enum_words(qc, f->values, true));
    return false;
}

bool qc_bind_scalar(struct qc *qc, const struct qc_field *f,
                    const struct qc_node *n, struct qc_value *v)
{
    bool good = false;

    v->set = true;
    v->text = n->text;
    v->loc = n->loc;
    v->name_loc = n->name_loc;
    if (n->poisoned)
        ; /* reported already */
    else if (f->type == QC_BOOL)
        good = bind_bool(qc, f, n, v);
    else if (is_integer_type(f->type))
        good = bind_int(qc, f, n, v);
    else if (f->type == QC_FLOAT || f->type == QC_DOUBLE)
        good = bind_float(qc, f, n, v);
    else if (f->type == QC_ENUM)
        good = bind_enum(qc, f, n, v);
    else
        good = bind_string(qc, f, n);
    v->poisoned = !good || n->trailed;
    return good || n->poisoned;
}
