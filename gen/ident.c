/* Layer names as C identifiers.
 *
 * The map looks at one name only, so an identifier never changes when other
 * layers come and go, and it can be undone, so no two names meet:
 *
 *     a-z 0-9 _     A-Z 0-9 _        conv_1          CONV_1
 *     .             p                layer1.0.conv1  LAYER1p0pCONV1
 *     /             s                block/conv      BLOCKsCONV
 *     -             m                conv-1          CONVm1
 *     A-Z           c and the letter MatMul          cMATcMUL
 *     other ASCII   x and 2 digits   a b             Ax20B
 *     other         u and 4 or w and 6 hex digits of the code point
 *     bad byte      y and 2 digits
 *
 * A name that would meet a word of the generated files (layer_count) writes its
 * first letter as x and 2 digits. Small letters are marks only. What would be longer than 63 characters, the
 * length every C compiler must keep apart, ends in h and a 64-bit hash. */
#include "qc.h"

#include <stdio.h>
#include <string.h>

#define IDENT_MAX  63u
#define IDENT_KEEP (IDENT_MAX - 17u) /* before h and 16 digits */

static size_t put_ascii(char *out, char c)
{
    if (c >= 'a' && c <= 'z')
        return (size_t)sprintf(out, "%c", c - 'a' + 'A');
    if ((c >= '0' && c <= '9') || c == '_')
        return (size_t)sprintf(out, "%c", c);
    if (c >= 'A' && c <= 'Z')
        return (size_t)sprintf(out, "c%c", c);
    if (c == '.' || c == '/' || c == '-')
        return (size_t)sprintf(out, "%c",
                               c == '.'   ? 'p'
                               : c == '/' ? 's'
                                          : 'm');
    return (size_t)sprintf(out, "x%02X", (unsigned char)c);
}

/* One character of the name; returns the bytes it takes there. */
static unsigned put_char(char *out, size_t *used, const char *p,
                         const char *end)
{
    uint32_t code;
    unsigned n = qc_utf8(p, end, &code);

    if (n == 0)
        *used += (size_t)sprintf(out + *used, "y%02X", (unsigned char)*p);
    else if (n == 1)
        *used += put_ascii(out + *used, *p);
    else if (code < 0x10000)
        *used += (size_t)sprintf(out + *used, "u%04X", (unsigned)code);
    else
        *used += (size_t)sprintf(out + *used, "w%06X", (unsigned)code);
    return n ? n : 1;
}

/* Names that the generated files use themselves. */
static bool reserved(const char *out, size_t len)
{
    static const char *const words[] = {
        "LAYER_COUNT", "TABLES_HASH",        "TABLES_CONFIG_CRC32",
        "TABLES_H",    "TABLES_RECORD_HEAD", "TABLES_MODEL_CRC32",
        "WEIGHTS_H"};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], out, len) == 0)
            return true;
    return false;
}

struct qc_str qc_ident(struct qc *qc, size_t prefix_len, struct qc_str name)
{
    char *out = qc_alloc(qc, name.len * 4 + 32);
    const char *p = name.ptr, *end = qc_end(name);
    size_t room = prefix_len < IDENT_KEEP ? IDENT_MAX - prefix_len : 17;
    size_t used = 0, keep = 0;

    while (p < end) {
        p += put_char(out, &used, p, end);
        if (used + 17 <= room)
            keep = used;
    }
    if (reserved(out, used)) { /* no other name begins with x and a letter */
        char first[4];

        sprintf(first, "x%02X", (unsigned char)name.ptr[0]);
        memmove(out + 3, out + 1, used - 1);
        memcpy(out, first, 3);
        used += 2;
    }
    if (used > room) {
        uint64_t h = qc_hash(name);

        used = keep;
        used += (size_t)sprintf(out + used, "h%08X%08X", (unsigned)(h >> 32),
                                (unsigned)(h & 0xFFFFFFFFu));
    }
    return (struct qc_str){out, used};
}
