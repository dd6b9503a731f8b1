/* Looking things up in descriptors, ranges, the one-line help of a field. */
#include "schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct qc_field *qc_find_field(const struct qc_message *m,
                                     struct qc_str name)
{
    size_t i;

    for (i = 0; i < m->count; i++)
        if (qc_equalz(name, m->fields[i].name))
            return &m->fields[i];
    return NULL;
}

const struct qc_field *qc_find_number(const struct qc_message *m,
                                      uint32_t number)
{
    size_t i;

    for (i = 0; i < m->count; i++)
        if (m->fields[i].number == number)
            return &m->fields[i];
    return NULL;
}

const struct qc_enum_value *qc_find_enum(const struct qc_enumeration *e,
                                         struct qc_str name)
{
    size_t i;

    for (i = 0; i < e->count; i++)
        if (qc_equalz(name, e->values[i].name))
            return &e->values[i];
    return NULL;
}

const struct qc_enum_value *qc_find_enum_number(const struct qc_enumeration *e,
                                                int32_t number)
{
    size_t i;

    for (i = 0; i < e->count; i++)
        if (e->values[i].number == number)
            return &e->values[i];
    return NULL;
}

bool qc_field_in(const struct qc_field *f, int dialect)
{
    return f->dialects == 0 || (f->dialects >> dialect & 1u) != 0;
}

const char *qc_type_name(const struct qc_field *f)
{
    static const char *const names[] = {"bool",   "int32",  "int64",
                                        "uint32", "uint64", "float",
                                        "double", "string", "bytes"};

    if (f->type == QC_MESSAGE)
        return f->message->name;
    return f->type == QC_ENUM ? f->values->name : names[f->type];
}

/* The first sentence of a doc text as a phrase: no full stop, and a small
 * first letter unless the first word is an abbreviation. */
static struct qc_str phrase(struct qc *qc, const char *doc)
{
    const char *stop = strstr(doc, ". ");
    size_t len = stop ? (size_t)(stop - doc) : strlen(doc);
    char first = *doc;

    if (!stop && len && doc[len - 1] == '.')
        len--;
    if (len > 1 && first >= 'A' && first <= 'Z' &&
        (doc[1] == ' ' || (doc[1] >= 'a' && doc[1] <= 'z')))
        first = (char)(first - 'A' + 'a');
    return len ? qc_format(qc, "%c%.*s", first, (int)(len - 1), doc + 1)
               : QC_STR("");
}

const char *qc_field_help(struct qc *qc, const struct qc_field *f)
{
    const char *range = f->range ? qc_range_words(qc, f->range) : "";

    return qc_format(qc, "%s (%s%s%s): %s", f->name, qc_type_name(f),
                     *range ? ", " : "", range, phrase(qc, f->doc).ptr)
        .ptr;
}

/* ---- ranges ---- */

static const char *skip_blanks(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* A number and what follows it; null when there is none. */
static const char *bound(const char *s, double *v)
{
    char *end;

    *v = strtod(skip_blanks(s), &end);
    return end == skip_blanks(s) || isnan(*v) ? NULL : skip_blanks(end);
}

static bool parse_set(const char *s, struct qc_range *r)
{
    do {
        if (r->count == QC_RANGE_MEMBERS)
            return false;
        s = bound(s + 1, &r->member[r->count++]);
    } while (s && *s == ',');
    return s && s[0] == '}' && s[1] == '\0';
}

bool qc_range_parse(const char *range, struct qc_range *out)
{
    struct qc_range scratch = {0}, *r = out ? out : &scratch;
    const char *s = skip_blanks(range);

    memset(r, 0, sizeof(*r));
    if (*s == '{')
        return parse_set(s, r);
    if (*s != '(' && *s != '[')
        return false;
    r->open_low = *s == '(';
    s = bound(s + 1, &r->low);
    if (!s || *s != ',')
        return false;
    s = bound(s + 1, &r->high);
    if (!s || (*s != ')' && *s != ']') || s[1] != '\0')
        return false;
    r->open_high = *s == ')';
    if ((isinf(r->low) && !r->open_low) || (isinf(r->high) && !r->open_high))
        return false;
    return r->low < r->high ||
           (r->low <= r->high && !r->open_low && !r->open_high);
}

bool qc_range_has(const struct qc_range *r, double v)
{
    unsigned i;

    if (isnan(v) || isinf(v))
        return false;
    for (i = 0; i < r->count; i++)
        if (v >= r->member[i] && v <= r->member[i])
            return true;
    if (r->count)
        return false;
    return (r->open_low ? v > r->low : v >= r->low) &&
           (r->open_high ? v < r->high : v <= r->high);
}

bool qc_in_range(const char *range, double v)
{
    struct qc_range r;

    return !range || (qc_range_parse(range, &r) && qc_range_has(&r, v));
}

/* Text of a bound, as written. */
static struct qc_str bound_text(const char *s, const char *end)
{
    s = skip_blanks(s);
    while (end > s && end[-1] == ' ')
        end--;
    return (struct qc_str){s, (size_t)(end - s)};
}

static const char *set_words(struct qc *qc, const char *s, unsigned count)
{
    struct qc_str all = QC_STR("");
    unsigned i;

    for (i = 0; i < count; i++) {
        const char *end = s + 1 + strcspn(s + 1, ",}");
        struct qc_str t = bound_text(s + 1, end);

        all = qc_format(qc, "%.*s%s%.*s", QC_ARG(all),
                        i == 0           ? ""
                        : i == count - 1 ? " or "
                                         : ", ",
                        QC_ARG(t));
        s = end;
    }
    return all.ptr;
}

const char *qc_range_words(struct qc *qc, const char *range)
{
    const char *s = skip_blanks(range), *comma = strchr(s, ',');
    struct qc_str low, high;
    struct qc_range r;

    if (!qc_range_parse(range, &r))
        return range;
    if (r.count)
        return set_words(qc, s, r.count);
    low = bound_text(s + 1, comma);
    high = bound_text(comma + 1, comma + strcspn(comma, ")]"));
    if (isinf(r.low))
        return qc_format(qc, "%s %.*s", r.open_high ? "below" : "at most",
                         QC_ARG(high))
            .ptr;
    if (isinf(r.high))
        return qc_format(qc, "%s %.*s", r.open_low ? "above" : "at least",
                         QC_ARG(low))
            .ptr;
    if (!r.open_low && !r.open_high)
        return qc_format(qc, "from %.*s to %.*s", QC_ARG(low), QC_ARG(high))
            .ptr;
    return qc_format(qc, "in %s", range).ptr;
}
