/* The value of string literals of the text format: escapes resolved, adjacent
 * literals joined. */
#include "parse.h"

#include <string.h>

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

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
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
            v = v << 4 | hex_digit(*l->p++);
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
