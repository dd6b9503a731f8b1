/* Decimal text and binary floating point, exactly.
 *
 * Everything is done on integers: a value is digits * 10^p or m * 2^e, and a
 * conversion is one division whose remainder decides the rounding. Numbers that
 * fit into 64 bits take a short way; the rest uses `struct big`, which is slow
 * and bounded. No step asks the C library or the floating-point unit, so no
 * locale, rounding mode or x87 register can change a digit. */
#include "decimal.h"

#include <string.h>

#define DIGITS_MAX 800  /* digits kept; halfway cases need at most 767     */
#define LEAD_MAX   310  /* 10^310 and above is infinite                    */
#define LEAD_MIN   -330 /* below 10^-330 everything rounds to zero         */
#define TEN_MAX    19   /* 10^19 is the largest power in 64 bits           */

/* ---- integers of any size (bounded: 8192 bits are enough here) ---- */

#define LIMBS 256

struct big {
    uint32_t limb[LIMBS]; /* least significant first */
    unsigned n;           /* without leading zeros   */
};

static void big_set(struct big *b, uint64_t v)
{
    b->limb[0] = (uint32_t)v;
    b->limb[1] = (uint32_t)(v >> 32);
    b->n = v >> 32 ? 2u : v ? 1u : 0u;
}

static void big_scale(struct big *b, uint32_t factor, uint32_t carry)
{
    unsigned i;

    for (i = 0; i < b->n; i++) {
        uint64_t t = (uint64_t)b->limb[i] * factor + carry;

        b->limb[i] = (uint32_t)t;
        carry = (uint32_t)(t >> 32);
    }
    if (carry)
        b->limb[b->n++] = carry;
}

static void big_scale_ten(struct big *b, unsigned power)
{
    for (; power >= 9; power -= 9)
        big_scale(b, 1000000000u, 0);
    for (; power; power--)
        big_scale(b, 10u, 0);
}

static void big_shift(struct big *b, unsigned bits)
{
    unsigned limbs = bits / 32, i;

    if (b->n == 0)
        return;
    for (i = b->n; i-- > 0;)
        b->limb[i + limbs] = b->limb[i];
    for (i = 0; i < limbs; i++)
        b->limb[i] = 0;
    b->n += limbs;
    if (bits % 32)
        big_scale(b, (uint32_t)1 << bits % 32, 0);
}

static int big_compare(const struct big *a, const struct big *b)
{
    unsigned i;

    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void big_add(struct big *a, const struct big *b)
{
    uint64_t t = 0;
    unsigned i;

    for (i = 0; i < a->n || i < b->n || t; i++) {
        t += (i < a->n ? a->limb[i] : 0u);
        t += (i < b->n ? b->limb[i] : 0u);
        a->limb[i] = (uint32_t)t;
        t >>= 32;
    }
    if (a->n < i)
        a->n = i;
}

/* a -= b, which must not be larger. */
static void big_subtract(struct big *a, const struct big *b)
{
    uint32_t borrow = 0;
    unsigned i;

    for (i = 0; i < a->n; i++) {
        uint64_t t = (uint64_t)(i < b->n ? b->limb[i] : 0u) + borrow;

        borrow = a->limb[i] < t;
        a->limb[i] -= (uint32_t)t;
    }
    while (a->n && a->limb[a->n - 1] == 0)
        a->n--;
}

/* Of a number that is not 0. */
static unsigned leading_zeros(uint64_t v)
{
#ifdef __GNUC__
    return (unsigned)__builtin_clzll(v);
#else
    unsigned n = 0;

    for (; !(v >> 63); v <<= 1)
        n++;
    return n;
#endif
}

static unsigned big_bits(const struct big *b)
{
    return b->n ? b->n * 32 + 32 - leading_zeros(b->limb[b->n - 1]) : 0;
}

/* What a division leaves, compared with half of the divisor. */
enum rest { REST_NONE, REST_BELOW, REST_HALF, REST_ABOVE };

static enum rest rest_of(struct big *num, const struct big *den)
{
    int c;

    if (num->n == 0)
        return REST_NONE;
    big_shift(num, 1);
    c = big_compare(num, den);
    return c < 0 ? REST_BELOW : c == 0 ? REST_HALF : REST_ABOVE;
}

/* The quotient, which must fit into 64 bits; num becomes garbage. */
static uint64_t big_divide(struct big *num, struct big *den, enum rest *rest)
{
    unsigned nb = big_bits(num), db = big_bits(den), steps;
    uint64_t q = 0;

    steps = nb >= db ? nb - db + 1 : 0;
    /* Keep den as it is and shift num up, one bit for each bit of q: both stay
     * integers. num < den * 2^steps holds at the start. */
    if (steps)
        big_shift(den, steps - 1);
    for (; steps; steps--) {
        q <<= 1;
        if (big_compare(num, den) >= 0) {
            big_subtract(num, den);
            q |= 1;
        }
        if (steps > 1)
            big_shift(num, 1);
    }
    *rest = rest_of(num, den);
    return q;
}

/* ---- decimal text ---- */

struct decimal {
    bool negative, finite, nan;
    const char *digits, *end; /* from the first digit that counts; may hold
                                 a point; empty for zero                   */
    int64_t lead;             /* exponent of that digit: 7.5e3 has 3       */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    for (; p < end && *word; p++, word++)
        if (lower(*p) != *word)
            return false;
    return p == end && !*word;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits and their point; where they end, or null when there are none. */
static const char *scan_digits(const char *p, const char *end,
                               struct decimal *d)
{
    int64_t before = 0, zeros = 0; /* after the point, before a digit counts */
    bool point = false, any = false;

    d->digits = d->end = NULL;
    for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        if (*p != '0') {
            if (!d->digits)
                d->digits = p;
            d->end = p + 1;
        }
        if (!point && d->digits)
            before++;
        if (point && !d->digits)
            zeros++;
    }
    d->lead = before ? before - 1 : -zeros - 1;
    return any ? p : NULL;
}

static bool scan_exponent(const char *p, const char *end, struct decimal *d)
{
    const int64_t limit = 1000000000; /* far beyond any number of digits */
    bool negative = false;
    int64_t e = 0;

    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        if (e < limit)
            e = e * 10 + (*p - '0');
    }
    d->lead += negative ? -e : e;
    return true;
}

static bool scan(struct qc_str text, struct decimal *d)
{
    const char *p = text.ptr, *end = p + text.len;

    memset(d, 0, sizeof(*d));
    d->negative = p < end && *p == '-';
    p += d->negative;
    d->nan = is_word(p, end, "nan");
    if (d->nan || is_word(p, end, "inf") || is_word(p, end, "infinity"))
        return true;
    d->finite = true;
    if (end > p && end[-1] == 'f')
        end--;
    p = scan_digits(p, end, d);
    if (!p)
        return false;
    if (p < end && (*p == 'e' || *p == 'E'))
        return scan_exponent(p + 1, end, d);
    return p == end;
}

static bool is_zero(const struct decimal *d)
{
    return d->digits == NULL;
}

/* The next digit; the text is over when *p reaches d->end. */
static unsigned next_digit(const struct decimal *d, const char **p)
{
    unsigned digit;

    if (*p >= d->end)
        return 0;
    if (**p == '.')
        ++*p;
    digit = (unsigned)(**p - '0');
    ++*p;
    return digit;
}

/* ---- binary floating point from m * 2^e ---- */

/* One format: binary32 or binary64. */
struct format {
    int precision; /* bits of the significand, the hidden one included */
    int least;     /* exponent of the least bit of a subnormal         */
    int top;       /* largest exponent of a leading bit                */
};

static const struct format binary64 = {53, -1074, 1023};
static const struct format binary32 = {24, -149, 127};

/* The pattern, without sign, of the number nearest to q * 2^e; q has its top
 * bit set, `more` says that the true value lies above it, by less than 1. */
static uint64_t encode(const struct format *f, uint64_t q, int e, bool more)
{
    int lead = e + 63, drop = 64 - f->precision;
    uint64_t kept, lost, half;

    if (lead > f->top)
        return (uint64_t)(2 * f->top + 1) << (f->precision - 1);
    if (e + drop < f->least)
        drop = f->least - e;
    if (drop > 64)
        return 0;
    if (drop == 64) {
        kept = 0;
        lost = q;
    } else {
        kept = q >> drop;
        lost = q << (64 - drop);
    }
    half = (uint64_t)1 << 63;
    if (lost > half || (lost == half && (more || (kept & 1))))
        kept++;
    /* The hidden bit of a normal number counts as one in the exponent, and a
     * carry out of the fraction runs into it. */
    kept += (uint64_t)(e + drop - f->least) << (f->precision - 1);
    return kept;
}

static double from_bits(uint64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

#define SIGN64     ((uint64_t)1 << 63)
#define INFINITE64 ((uint64_t)0x7FF << 52)
#define NAN64      ((uint64_t)0xFFF << 51)
#define SIGN32     ((uint32_t)1 << 31)
/* Halfway between the largest binary32 and what would come next. */
#define LARGEST32_TIE (((uint64_t)1150 << 52) | ((uint64_t)0xFFFFFF << 28))
#define INFINITE32    ((uint32_t)0xFF << 23)

/* ---- text to binary ---- */

static uint64_t power_of_ten(unsigned p)
{
    static const uint64_t powers[TEN_MAX + 1] = {1u,
                                                 10u,
                                                 100u,
                                                 1000u,
                                                 10000u,
                                                 100000u,
                                                 1000000u,
                                                 10000000u,
                                                 100000000u,
                                                 1000000000u,
                                                 10000000000u,
                                                 100000000000u,
                                                 1000000000000u,
                                                 10000000000000u,
                                                 100000000000000u,
                                                 1000000000000000u,
                                                 10000000000000000u,
                                                 100000000000000000u,
                                                 1000000000000000000u,
                                                 10000000000000000000u};

    return powers[p];
}

/* One 32-bit digit of a long division: floor(rest:next / den) for rest < den,
 * den's top bit set. *rest becomes what is left. */
static uint32_t divide_step(uint64_t *rest, uint32_t next, uint64_t den)
{
    uint64_t q = *rest / (den >> 32), r = *rest % (den >> 32);

    /* The guess comes from the upper half of den: at most 2 too large. */
    while (q >> 32 || q * (den & 0xFFFFFFFF) > (r << 32 | next)) {
        q--;
        r += den >> 32;
        if (r >> 32)
            break;
    }
    *rest = (*rest << 32 | next) - q * den; /* modulo 2^64: it fits */
    return (uint32_t)q;
}

/* floor((high * 2^64 + low) / den) for high < den, den's top bit set. */
static uint64_t divide_128(uint64_t high, uint64_t low, uint64_t den,
                           bool *more)
{
    uint64_t q = (uint64_t)divide_step(&high, (uint32_t)(low >> 32), den) << 32;

    q |= divide_step(&high, (uint32_t)low, den);
    *more = high != 0;
    return q;
}

/* digits * 10^-power, digits not 0, power at most TEN_MAX. */
static uint64_t encode_fraction(const struct format *f, uint64_t digits,
                                unsigned power)
{
    unsigned up = leading_zeros(digits), den_up;
    uint64_t den = power_of_ten(power), q;
    bool more;
    int e;

    digits <<= up;
    den_up = leading_zeros(den);
    den <<= den_up;
    e = (int)den_up - (int)up;
    if (digits >= den) {
        q = divide_128(digits >> 1, digits << 63, den, &more);
        e -= 63;
    } else {
        q = divide_128(digits, 0, den, &more);
        e -= 64;
    }
    return encode(f, q, e, more);
}

/* num * 10^power, any size. */
static uint64_t encode_big(const struct format *f, struct big *num, int power)
{
    struct big den, probe;
    enum rest rest;
    int shift;
    uint64_t q;

    big_set(&den, 1);
    if (power > 0)
        big_scale_ten(num, (unsigned)power);
    else
        big_scale_ten(&den, (unsigned)-power);
    shift = (int)big_bits(&den) + 64 - (int)big_bits(num);
    if (shift > 0)
        big_shift(num, (unsigned)shift);
    else
        big_shift(&den, (unsigned)-shift);
    /* The quotient has 64 or 65 bits now: make it 64. */
    probe = den;
    big_shift(&probe, 64);
    if (big_compare(num, &probe) >= 0) {
        big_shift(&den, 1);
        shift--;
    }
    q = big_divide(num, &den, &rest);
    return encode(f, q, -shift, rest != REST_NONE);
}

static uint64_t encode_decimal(const struct format *f, const struct decimal *d)
{
    const char *p = d->digits;
    uint64_t digits = 0;
    struct big num;
    int count = 0, power;

    while (p < d->end && count < TEN_MAX) {
        digits = digits * 10 + next_digit(d, &p);
        count++;
    }
    power = (int)d->lead + 1 - count;
    if (p == d->end && power <= 0 && power >= -TEN_MAX)
        return encode_fraction(f, digits, (unsigned)-power);
    big_set(&num, digits);
    for (; p < d->end && count < DIGITS_MAX; count++)
        big_scale(&num, 10, next_digit(d, &p));
    if (p < d->end) { /* the last digit is not 0: there is more */
        big_scale(&num, 10, 1);
        count++;
    }
    return encode_big(f, &num, (int)d->lead + 1 - count);
}

bool qc_parse_double(struct qc_str text, double *out)
{
    struct decimal d;
    uint64_t bits;

    *out = 0;
    if (!scan(text, &d))
        return false;
    if (!d.finite)
        bits = d.nan ? NAN64 : INFINITE64;
    else if (is_zero(&d) || d.lead < LEAD_MIN)
        bits = 0;
    else if (d.lead > LEAD_MAX)
        bits = INFINITE64;
    else
        bits = encode_decimal(&binary64, &d);
    *out = from_bits(d.negative ? bits | SIGN64 : bits);
    return true;
}

/* ---- between the two formats ---- */

uint32_t qc_f32_bits(double v)
{
    uint64_t bits = to_bits(v), m = bits & (((uint64_t)1 << 52) - 1);
    uint32_t sign = bits & SIGN64 ? SIGN32 : 0;
    int e = (int)(bits >> 52 & 0x7FF);

    if (e == 0x7FF)
        return sign | INFINITE32 | (m ? (uint32_t)1 << 22 : 0);
    if (e == 0) /* zero, or far below half of the least binary32 */
        return sign;
    m |= (uint64_t)1 << 52;
    if ((bits & ~SIGN64) == LARGEST32_TIE)
        return sign | (INFINITE32 - 1);
    return sign | (uint32_t)encode(&binary32, m << 11, e - 1075 - 11, false);
}

double qc_f32_value(uint32_t bits)
{
    uint64_t m = bits & 0x7FFFFF, out;
    int e = (int)(bits >> 23 & 0xFF);

    if (e == 0xFF)
        out = m ? NAN64 : INFINITE64;
    else if (e == 0 && m == 0)
        out = 0;
    else if (e)
        out = ((uint64_t)(e + 896) << 52) | m << 29;
    else
        out = encode(&binary64, m << leading_zeros(m),
                     -149 - (int)leading_zeros(m), false);
    return from_bits(bits & SIGN32 ? out | SIGN64 : out);
}

bool qc_is_finite(double v)
{
    return (to_bits(v) & INFINITE64) != INFINITE64;
}

bool qc_f32_is_finite(uint32_t bits)
{
    return (bits & INFINITE32) != INFINITE32;
}

/* ---- binary to decimal ---- */

/* The first `count` digits of a positive number: digits * 10^(lead - count + 1)
 * is at most the number, with `rest` left in units of the last digit. */
struct expansion {
    uint64_t digits;
    int lead;
    enum rest rest;
};

/* floor(m * 2^e * 10^power). */
static uint64_t scaled(uint64_t m, int e, int power, enum rest *rest)
{
    struct big num, den;

    big_set(&num, m);
    big_set(&den, 1);
    big_scale_ten(power > 0 ? &num : &den,
                  (unsigned)(power > 0 ? power : -power));
    big_shift(e > 0 ? &num : &den, (unsigned)(e > 0 ? e : -e));
    return big_divide(&num, &den, rest);
}

/* The same when everything fits into 64 bits: small numbers with a small
 * denominator, the everyday case of binary32. */
static bool scaled_small(uint64_t m, int e, int power, uint64_t *q,
                         enum rest *rest)
{
    uint64_t num, lost, half;

    if (e > -1 || e < -62 || power < 0 || power > TEN_MAX ||
        leading_zeros(m) < 4u * (unsigned)power)
        return false;
    num = m * power_of_ten((unsigned)power);
    *q = num >> -e;
    lost = num & (((uint64_t)1 << -e) - 1);
    half = (uint64_t)1 << (-e - 1);
    *rest = lost == 0      ? REST_NONE
            : lost < half  ? REST_BELOW
            : lost == half ? REST_HALF
                           : REST_ABOVE;
    return true;
}

static struct expansion expand(uint64_t m, int e, int count)
{
    uint64_t limit = power_of_ten((unsigned)count);
    int top = e + 63 - (int)leading_zeros(m); /* 2^top <= number */
    struct expansion x;

    /* floor(top * log10(2)), give or take one. */
    x.lead = (top * 1233 - (top < 0 ? 4095 : 0)) / 4096;
    for (;;) {
        int power = count - 1 - x.lead;

        if (!scaled_small(m, e, power, &x.digits, &x.rest))
            x.digits = scaled(m, e, power, &x.rest);
        if (x.digits >= limit)
            x.lead++;
        else if (x.digits * 10 < limit)
            x.lead--;
        else
            return x;
    }
}

/* The pattern that digits * 10^power reads back to. */
static uint64_t read_back(const struct format *f, uint64_t digits, int power)
{
    struct big num;
    uint64_t bits;

    if (power <= 0 && power >= -TEN_MAX)
        bits = encode_fraction(&binary64, digits, (unsigned)-power);
    else {
        big_set(&num, digits);
        bits = encode_big(&binary64, &num, power);
    }
    /* Text becomes a binary32 by way of binary64, config.md E.7. */
    return f == &binary64 ? bits : qc_f32_bits(from_bits(bits));
}

/* True when the shorter number above is nearer than the one below. */
static bool upper_is_nearer(const struct expansion *x, uint64_t unit)
{
    uint64_t lost = x->digits % unit;

    if (unit == 1)
        return x->rest == REST_ABOVE ||
               (x->rest == REST_HALF && (x->digits & 1));
    if (lost * 2 != unit)
        return lost * 2 > unit;
    return x->rest != REST_NONE || (x->digits / unit & 1);
}

/* True when no number of this unit can read back: two neighbours of a normal
 * number differ from it by less than 2^(2 - precision) of its size. */
static bool too_coarse(const struct format *f, uint64_t bits,
                       const struct expansion *x, uint64_t unit)
{
    uint64_t lost = x->digits % unit, near = x->digits >> (f->precision - 2);

    return bits >> (f->precision - 1) && lost > near && unit - lost > near + 1;
}

/* Cuts x to the fewest digits that read back to `bits`. */
static void shorten(const struct format *f, uint64_t bits, struct expansion *x,
                    int count)
{
    int n;

    for (n = 1;; n++) {
        uint64_t unit = power_of_ten((unsigned)(count - n));
        uint64_t low = x->digits / unit, pick = 0;
        int power = x->lead + 1 - n;
        bool up = upper_is_nearer(x, unit);

        if (n < count && too_coarse(f, bits, x, unit))
            continue;
        if (read_back(f, low + up, power) == bits)
            pick = low + up;
        else if (low + !up && read_back(f, low + !up, power) == bits)
            pick = low + !up;
        if (!pick && n < count)
            continue;
        x->digits = pick ? pick : low + up;
        if (x->digits == power_of_ten((unsigned)n)) /* 9.99 became 10.0 */
            x->lead++;
        return;
    }
}

/* ---- layout ---- */

static char *put_exponent(char *o, int e)
{
    *o++ = 'e';
    *o++ = e < 0 ? '-' : '+';
    if (e < 0)
        e = -e;
    if (e > 99)
        *o++ = (char)('0' + e / 100);
    *o++ = (char)('0' + e / 10 % 10);
    *o++ = (char)('0' + e % 10);
    return o;
}

/* `digits` without trailing zeros; positional for exponents in
 * [-4, positional), else with an exponent. */
static char *put_number(char *o, const char *digits, int count, int lead,
                        int positional)
{
    bool scientific = lead < -4 || lead >= positional;
    int point = scientific ? 1 : lead + 1, i;

    if (point <= 0) {
        *o++ = '0';
        *o++ = '.';
        for (i = point; i < 0; i++)
            *o++ = '0';
    }
    for (i = 0; i < count || i < point; i++) {
        if (i == point && i > 0)
            *o++ = '.';
        *o++ = i < count ? digits[i] : '0';
    }
    return scientific ? put_exponent(o, lead) : o;
}

/* The digits of v as text; how many, trailing zeros left out. */
static int spell(uint64_t v, char text[24])
{
    char back[24];
    int n = 0, i;

    while (v && v % 10 == 0)
        v /= 10;
    for (; v; v /= 10)
        back[n++] = (char)('0' + v % 10);
    for (i = 0; i < n; i++)
        text[i] = back[n - 1 - i];
    return n;
}

/* Sign, and the words for what has no digits; true when that was all. */
static bool put_special(const struct format *f, uint64_t bits, char **o)
{
    uint64_t infinite = (uint64_t)(2 * f->top + 1) << (f->precision - 1);

    if (bits < infinite)
        return false;
    strcpy(*o, bits > infinite ? "nan" : "inf");
    return true;
}

static struct expansion expand_bits(const struct format *f, uint64_t bits,
                                    int count)
{
    uint64_t m = bits & (((uint64_t)1 << (f->precision - 1)) - 1);
    int e = (int)(bits >> (f->precision - 1));

    if (e)
        m |= (uint64_t)1 << (f->precision - 1);
    return expand(m, f->least + (e ? e - 1 : 0), count);
}

static const char *shortest(const struct format *f, uint64_t bits,
                            bool negative, bool point, char *out)
{
    int count = f == &binary64 ? 17 : 9, n;
    struct expansion x;
    char digits[24], *o = out, *start;

    if (negative && bits <= (uint64_t)(2 * f->top + 1) << (f->precision - 1))
        *o++ = '-';
    if (put_special(f, bits, &o))
        return out;
    start = o;
    if (bits == 0) {
        *o++ = '0';
    } else {
        x = expand_bits(f, bits, count);
        shorten(f, bits, &x, count);
        n = spell(x.digits, digits);
        o = put_number(o, digits, n, x.lead, 16);
    }
    *o = '\0';
    if (point && !strpbrk(start, ".e"))
        strcpy(o, ".0");
    return out;
}

const char *qc_shortest_f32(uint32_t bits, char out[QC_DECIMAL_ROOM])
{
    return shortest(&binary32, bits & ~SIGN32, bits & SIGN32, true, out);
}

const char *qc_shortest_f64(double v, char out[QC_DECIMAL_ROOM])
{
    uint64_t bits = to_bits(v);

    return shortest(&binary64, bits & ~SIGN64, bits & SIGN64, true, out);
}

const char *qc_shown_f32(uint32_t bits, char out[QC_DECIMAL_ROOM])
{
    return shortest(&binary32, bits & ~SIGN32, bits & SIGN32, false, out);
}

const char *qc_nine_digits_f32(uint32_t bits, char out[QC_DECIMAL_ROOM])
{
    uint32_t size = bits & ~SIGN32;
    struct expansion x;
    char digits[24], *o = out;

    if (bits & SIGN32 && size <= INFINITE32)
        *o++ = '-';
    if (put_special(&binary32, size, &o))
        return out;
    if (size == 0) {
        strcpy(o, "0");
        return out;
    }
    x = expand_bits(&binary32, size, 9);
    if (upper_is_nearer(&x, 1) && ++x.digits == 1000000000u)
        x.lead++;
    o = put_number(o, digits, spell(x.digits, digits), x.lead, 9);
    *o = '\0';
    return out;
}

/* ---- AMCT's values ---- */

double qc_amct_value(double v)
{
    char text[QC_DECIMAL_ROOM];
    uint32_t bits = qc_f32_bits(v);

    if (!qc_f32_is_finite(bits))
        return qc_f32_value(bits);
    qc_parse_double(qc_str(qc_shortest_f32(bits, text)), &v);
    return v;
}

bool qc_amct_float(struct qc_str text, double *out)
{
    if (!qc_parse_double(text, out))
        return false;
    *out = qc_amct_value(*out);
    return true;
}

/* ---- comparing texts ---- */

static int compare_sizes(const struct decimal *a, const struct decimal *b)
{
    const char *p = a->digits, *q = b->digits;

    if (is_zero(a) || is_zero(b))
        return (int)is_zero(b) - (int)is_zero(a);
    if (a->lead != b->lead)
        return a->lead < b->lead ? -1 : 1;
    while (p < a->end || q < b->end) {
        unsigned x = next_digit(a, &p), y = next_digit(b, &q);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void scan_finite(struct qc_str text, struct decimal *d)
{
    if (!scan(text, d) || !d->finite)
        memset(d, 0, sizeof(*d));
    if (is_zero(d))
        d->negative = false;
}

int qc_decimal_compare(struct qc_str a, struct qc_str b)
{
    struct decimal x, y;

    scan_finite(a, &x);
    scan_finite(b, &y);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    return x.negative ? compare_sizes(&y, &x) : compare_sizes(&x, &y);
}

/* sum += d * 10^-base, exactly for texts of a binary64. */
static void add_scaled(struct big *sum, const struct decimal *d, int base)
{
    const char *p = d->digits;
    struct big term;
    int power = (int)d->lead - base, n;

    if (is_zero(d) || d->lead > LEAD_MAX + 20 || d->lead < LEAD_MIN)
        return;
    big_set(&term, 0);
    for (n = 0; p < d->end && n < DIGITS_MAX && n <= power; n++)
        big_scale(&term, 10, next_digit(d, &p));
    big_scale_ten(&term, (unsigned)(power + 1 - n));
    big_add(sum, &term);
}

int qc_decimal_compare_difference(struct qc_str step, struct qc_str end,
                                  struct qc_str start)
{
    /* 10^base: below the last digit of any shortest text of a binary64. */
    const int base = LEAD_MIN - 20;
    struct qc_str text[3];
    struct big left, right;
    int i;

    text[0] = step;
    text[1] = start;
    text[2] = end;
    big_set(&left, 0);
    big_set(&right, 0);
    for (i = 0; i < 3; i++) {
        struct decimal d;

        scan_finite(text[i], &d);
        /* step + start against end: a negative term changes sides. */
        add_scaled((i < 2) != d.negative ? &left : &right, &d, base);
    }
    return big_compare(&left, &right);
}
