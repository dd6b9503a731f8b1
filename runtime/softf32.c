/* binary32 on bit patterns: unpack to integer mantissa and exponent, compute
 * exactly (or with a sticky bit below the last bit that matters), round once. */
#include "softf32.h"

#include "fixed.h"

/* a = +-mantissa * 2^exponent, also for denormals. */
static uint32_t mantissa(uint32_t a)
{
    uint32_t fraction = a & 0x7fffffU;

    return (a & QRT_F32_INF) != 0 ? fraction | 0x800000U : fraction;
}

static int32_t exponent(uint32_t a)
{
    int32_t field = (int32_t)((a >> 23) & 255U);

    return (field != 0 ? field : 1) - 150;
}

static bool both_finite(uint32_t a, uint32_t b)
{
    return qrt_f32_is_finite(a) && qrt_f32_is_finite(b);
}

uint32_t qrt_f32_round(bool negative, uint64_t m, int32_t e)
{
    uint32_t sign = negative ? QRT_F32_SIGN : 0U;
    int32_t drop = (int32_t)qrt_bit_length64(m) - 24;

    if (m == 0) {
        return sign;
    }
    if (drop < -149 - e) {
        drop = -149 - e; /* denormal: the last bit is worth 2^-149 */
    }
    m = drop <= 0 ? (uint32_t)m << (uint32_t)-drop
                  : (uint64_t)qrt_rshift_half_even((int64_t)m, drop, 0);
    if (e + drop > 104) {
        return sign | QRT_F32_INF;
    }
    /* The implicit bit, or the carry of the rounding, counts the exponent up. */
    return sign | (((uint32_t)(e + drop + 149) << 23) + (uint32_t)m);
}

uint32_t qrt_f32_add(uint32_t a, uint32_t b)
{
    uint32_t gap, large, small, kept;

    if (!both_finite(a, b)) {
        return QRT_F32_NAN;
    }
    if (qrt_f32_abs(a) < qrt_f32_abs(b)) {
        uint32_t t = a;

        a = b;
        b = t;
    }
    /* 31 bits each: the 7 below the mantissa hold what can still matter after
     * a loss of one leading bit; more is lost only if gap <= 1, exactly. */
    gap = (uint32_t)(exponent(a) - exponent(b));
    large = mantissa(a) << 7;
    small = mantissa(b) << 7;
    gap = gap < 31 ? gap : 31; /* as far as any: `small` has 31 bits */
    kept = small >> gap;
    kept |= kept << gap != small;
    large = ((a ^ b) & QRT_F32_SIGN) != 0 ? large - kept : large + kept;
    if (large == 0) { /* -0 only from two of them */
        return a & b & QRT_F32_SIGN;
    }
    return qrt_f32_round((a & QRT_F32_SIGN) != 0, large, exponent(a) - 7);
}

uint32_t qrt_f32_sub(uint32_t a, uint32_t b)
{
    return qrt_f32_add(a, qrt_f32_neg(b));
}

uint32_t qrt_f32_mul(uint32_t a, uint32_t b)
{
    if (!both_finite(a, b)) {
        return QRT_F32_NAN;
    }
    return qrt_f32_round(((a ^ b) & QRT_F32_SIGN) != 0,
                         (uint64_t)mantissa(a) * mantissa(b),
                         exponent(a) + exponent(b));
}

uint32_t qrt_f32_div(uint32_t a, uint32_t b)
{
    bool negative = ((a ^ b) & QRT_F32_SIGN) != 0;
    uint32_t divisor = mantissa(b) << 7;
    int32_t e = exponent(a) - exponent(b);
    uint64_t q = 0;

    if (!both_finite(a, b) || divisor == 0) {
        return QRT_F32_NAN;
    }
    for (; divisor >> 30 == 0; divisor <<= 1) {
        e += 1;
    }
    if (mantissa(a) != 0) {
        q = qrt_ratio(mantissa(a) << 7, divisor, &e);
    }
    return qrt_f32_round(negative, q, e);
}

uint32_t qrt_f32_from_fixed(int32_t x, int32_t frac)
{
    return qrt_f32_round(x < 0, qrt_abs32(x), -frac);
}

uint32_t qrt_f32_times(uint32_t a, int32_t x)
{
    return qrt_f32_mul(a, qrt_f32_from_fixed(x, 0));
}

int64_t qrt_f32_to_fixed(uint32_t a, int32_t frac)
{
    return qrt_rshift_half_even(
        qrt_signed64(mantissa(a), (a & QRT_F32_SIGN) != 0),
        -(exponent(a) + frac), 0);
}

int32_t qrt_f32_to_s32(uint32_t a)
{
    return qrt_sat32(qrt_f32_to_fixed(a, 0));
}
