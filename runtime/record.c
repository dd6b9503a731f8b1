/* Record entries as text, without libc. */
#include "qrt_record.h"

#include "fixed.h"
#include "softf32.h"

#define DIGITS 9U /* always enough for a binary32 */

struct sink {
    qrt_record_put *put;
    void *context;
};

static void put_text(const struct sink *s, const char *text)
{
    for (; *text != '\0'; text++) {
        s->put(s->context, *text);
    }
}

/* `least` digits or more. */
static void put_unsigned(const struct sink *s, uint32_t v, uint32_t least)
{
    char digits[10];
    uint32_t n = 0;

    for (; v != 0 || n < least; v /= 10U) {
        digits[n++] = (char)('0' + v % 10U);
    }
    while (n != 0) {
        s->put(s->context, digits[--n]);
    }
}

static void put_signed(const struct sink *s, int32_t v)
{
    if (v < 0) {
        s->put(s->context, '-');
    }
    put_unsigned(s, qrt_abs32(v), 1);
}

/* ----------------------------------------------------------------- steps */

/* v * 2^-places * 10^power, v * 2^-places in [10^8, 10^9). */
struct decimal {
    uint64_t v;
    uint64_t half[2]; /* half the way to the next binary32 below, above */
    uint32_t places;
    int32_t power;
};

/* Every turn of the loop is off by 2^-60 at most; there are 45 of them. */
static struct decimal decimal_of(uint32_t bits)
{
    uint32_t field = bits >> 23;
    uint32_t mantissa = (bits & 0x7fffffU) | (field != 0 ? 0x800000U : 0);
    int32_t places = 150 - (int32_t)(field != 0 ? field : 1);
    struct decimal d;
    uint32_t rest;

    d.v = mantissa;
    d.power = 0;
    for (;;) {
        uint32_t up = 64U - qrt_bit_length64(d.v);
        uint32_t whole;

        d.v <<= up;
        places += (int32_t)up;
        whole = places > 31 && places < 64
                    ? (uint32_t)(d.v >> 32 >> ((uint32_t)places - 32U))
                    : 0;
        if (places < 34 || whole >= 1000000000U) {
            d.v = qrt_udiv64(d.v, 10, &rest);
            d.power++;
        } else if (places > 37 || whole < 100000000U) {
            d.v = (d.v >> 4) * 10U;
            places -= 4;
            d.power--;
        } else {
            break;
        }
    }
    d.places = (uint32_t)places;
    d.half[1] = qrt_udiv64(d.v, 2U * mantissa, &rest);
    d.half[0] = d.half[1];
    if (mantissa == 0x800000U && field > 1U) {
        d.half[0] /= 2U; /* numbers are denser below a power of two */
    }
    return d;
}

/* The fewest digits that are surely nearer to the number than half the way to
 * its neighbours, without zeros at their end: digits * 10^*power. */
static uint32_t few_digits(uint32_t bits, int32_t *power)
{
    struct decimal d = decimal_of(bits);
    uint64_t unit = (uint64_t)100000000U << d.places;
    uint64_t left = d.v;
    uint32_t digits = 0;

    *power = d.power + 8;
    for (uint32_t n = 1;; n++) {
        uint64_t gap;
        uint32_t rest;
        bool up;

        for (; left >= unit; left -= unit) {
            digits++;
        }
        up = left > unit - left;
        gap = up ? unit - left : left;
        if (n == DIGITS || gap + (d.v >> 50) < d.half[up]) {
            digits += up;
            break;
        }
        digits *= 10U;
        unit = qrt_udiv64(unit, 10, &rest); /* there are 8 of these */
        *power -= 1;
    }
    for (; digits % 10U == 0; digits /= 10U) {
        *power += 1;
    }
    return digits;
}

/* Splits `digits`, of which there are n, by a point behind the first `whole`
 * ones, and writes at least one digit on either side. */
static void put_with_point(const struct sink *s, uint32_t digits, uint32_t n,
                           uint32_t whole)
{
    uint32_t one = 1;

    for (uint32_t i = whole; i < n; i++) {
        one *= 10U;
    }
    put_unsigned(s, digits / one, 1);
    put_text(s, ".");
    put_unsigned(s, digits % one, n > whole ? n - whole : 1);
}

static void put_step(const struct sink *s, uint32_t bits)
{
    int32_t power;
    uint32_t digits = few_digits(bits, &power);
    uint32_t n = 0;
    int32_t first; /* power of ten of the first digit */

    for (uint32_t v = digits; v != 0; v /= 10U) {
        n++;
    }
    first = power + (int32_t)n - 1;
    if (first < -5 || first >= (int32_t)DIGITS) {
        put_with_point(s, digits, n, 1);
        put_text(s, "e");
        put_signed(s, first);
    } else if (first < 0) {
        put_text(s, "0.");
        for (int32_t i = -1; i > first; i--) {
            put_text(s, "0");
        }
        put_unsigned(s, digits, 1);
    } else {
        for (; power > 0; power--, n++) {
            digits *= 10U;
        }
        put_with_point(s, digits, n, (uint32_t)first + 1U);
    }
}

/* ----------------------------------------------------------------- entry */

static void put_name(const struct sink *s, const char *name)
{
    for (; *name != '\0'; name++) {
        uint8_t c = (uint8_t)*name;

        if (c < 0x20 || c == 0x7f) {
            put_text(s, "\\");
            s->put(s->context, (char)('0' + (c >> 6)));
            s->put(s->context, (char)('0' + ((c >> 3) & 7U)));
            s->put(s->context, (char)('0' + (c & 7U)));
            continue;
        }
        if (c == '"' || c == '\\') {
            put_text(s, "\\");
        }
        s->put(s->context, *name);
    }
}

static void put_origin(const struct sink *s, const struct qrt_ifmr_result *r)
{
    put_text(s, "    # IFMR on ");
    put_unsigned(s, r->samples, 1);
    if (r->method == QRT_IFMR_EXACT) {
        put_text(s, " samples, exact");
    } else {
        put_text(s, " samples, histogram of ");
        put_unsigned(s, r->cells, 1);
        put_text(s, " bins");
    }
    if (r->rejected != 0) {
        put_text(s, "; ");
        put_unsigned(s, r->rejected, 1);
        put_text(s, " values that were not finite left out");
    }
    if (r->input == QRT_IFMR_DEAD) {
        put_text(s, "; all samples 0 or too small for a step");
    }
    put_text(s, "\n");
}

static void put_type(const struct sink *s, const char *field, uint32_t bits)
{
    if (bits != 0) {
        put_text(s, field);
        put_text(s, ": \"INT");
        put_unsigned(s, bits, 1);
        put_text(s, "\"\n");
    }
}

static void put_entry(const struct sink *s, const struct qrt_record *r)
{
    put_text(s, "record {\n  key: \"");
    put_name(s, r->name);
    put_text(s, "\"\n  value {\n");
    if (r->ifmr != NULL) {
        put_origin(s, r->ifmr);
    }
    put_text(s, "    scale_d: ");
    put_step(s, r->scale_d_bits);
    put_text(s, "\n    offset_d: ");
    put_signed(s, r->offset_d);
    for (uint32_t i = 0; i < r->scale_count; i++) {
        put_text(s, "\n    scale_w: ");
        put_step(s, qrt_real_to_f32(r->scale_w[i]));
    }
    for (uint32_t i = 0; i < r->scale_count; i++) {
        put_text(s, "\n    offset_w: 0");
    }
    put_text(s, "\n");
    put_type(s, "    act_type", r->act_bits);
    put_type(s, "    wts_type", r->wts_bits);
    put_text(s, "  }\n}\n");
}

static bool is_step(uint32_t bits)
{
    return bits != 0 && bits < QRT_F32_INF;
}

static bool is_one_of(uint32_t bits, uint32_t set)
{
    return bits < 32U && ((set >> bits) & 1U) != 0;
}

static enum qrt_status check(const struct qrt_record *r)
{
    int32_t half;

    if (r == NULL || r->name == NULL || r->scale_w == NULL) {
        return QRT_ERR_NULL;
    }
    if (r->name[0] == '\0' || r->scale_count == 0 ||
        !is_one_of(r->act_bits, 0x10111U) || !is_one_of(r->wts_bits, 0x1d1U)) {
        return QRT_ERR_RANGE;
    }
    half = (int32_t)1 << (r->act_bits != 0 ? r->act_bits - 1U : 7U);
    if (r->offset_d < -half || r->offset_d >= half ||
        !is_step(r->scale_d_bits)) {
        return QRT_ERR_RANGE;
    }
    for (uint32_t i = 0; i < r->scale_count; i++) {
        if (r->scale_w[i].m <= 0 || !is_step(qrt_real_to_f32(r->scale_w[i]))) {
            return QRT_ERR_RANGE;
        }
    }
    return QRT_OK;
}

enum qrt_status qrt_record_write(const struct qrt_record *r,
                                 qrt_record_put *put, void *context)
{
    struct sink s = {put, context};
    enum qrt_status status = check(r);

    if (status == QRT_OK && put == NULL) {
        status = QRT_ERR_NULL;
    }
    if (status == QRT_OK) {
        put_entry(&s, r);
    }
    return status;
}

static void count(void *context, char c)
{
    (void)c;
    *(uint32_t *)context += 1U;
}

static void append(void *context, char c)
{
    char **at = (char **)context;

    **at = c;
    *at += 1;
}

enum qrt_status qrt_record_format(const struct qrt_record *r, char *text,
                                  uint32_t size, uint32_t *length)
{
    uint32_t n = 0;
    enum qrt_status status = qrt_record_write(r, count, &n);

    if (status != QRT_OK) {
        return status;
    }
    if (length == NULL || (text == NULL && size != 0)) {
        return QRT_ERR_NULL;
    }
    *length = n;
    if (n >= size) {
        return QRT_ERR_SIZE;
    }
    status = qrt_record_write(r, append, &text);
    *text = '\0';
    return status;
}
