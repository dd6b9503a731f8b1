/* struct qrt_real: exact conversions, product, quotient, reciprocal. */
#include "qrt.h"

#include "fixed.h"
#include "softf32.h"

#define MANTISSA_ONE ((int32_t)1 << 30)
#define EXPONENT_MIN (-148)
#define EXPONENT_MAX 128

static bool is_scale(struct qrt_real a)
{
    return a.m >= MANTISSA_ONE && a.e >= EXPONENT_MIN && a.e <= EXPONENT_MAX;
}

static enum qrt_status check(struct qrt_real a, struct qrt_real b,
                             const struct qrt_real *out)
{
    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    return is_scale(a) && is_scale(b) ? QRT_OK : QRT_ERR_RANGE;
}

/* Stores m * 2^e rounded to 31 bits; m in [1, 2^62), its last bit may be
 * sticky. */
static enum qrt_status store(uint64_t m, int32_t e, struct qrt_real *out)
{
    int32_t drop = (int32_t)qrt_bit_length64(m) - 31;
    int64_t q = qrt_rshift_half_even((int64_t)m, drop, 0);

    if (q > INT32_MAX) { /* rounded up to the next power of two */
        q = (int64_t)1 << 30;
        drop += 1;
    }
    e += drop + 31;
    if (e < EXPONENT_MIN || e > EXPONENT_MAX) {
        return QRT_ERR_RANGE;
    }
    out->m = (int32_t)q;
    out->e = e;
    return QRT_OK;
}

static enum qrt_status store_signed(bool negative, uint32_t m, int32_t e,
                                    struct qrt_real *out)
{
    enum qrt_status status = QRT_OK;

    if (m == 0) {
        out->m = 0;
        out->e = 0;
        return QRT_OK;
    }
    status = store(m, e, out);
    if (status == QRT_OK && negative) {
        out->m = -out->m;
    }
    return status;
}

enum qrt_status qrt_real_from_f32(uint32_t bits, struct qrt_real *out)
{
    uint32_t field = (bits >> 23) & 255U;
    uint32_t fraction = bits & 0x7fffffU;

    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    if (field == 255U) {
        return QRT_ERR_NOT_FINITE;
    }
    if (field != 0) {
        fraction |= 0x800000U;
        field -= 1U;
    }
    return store_signed((bits & QRT_F32_SIGN) != 0, fraction,
                        (int32_t)field - 149, out);
}

uint32_t qrt_real_to_f32(struct qrt_real a)
{
    return qrt_f32_from_fixed(a.m, 31 - a.e);
}

enum qrt_status qrt_real_from_fixed(int32_t x, int32_t frac,
                                    struct qrt_real *out)
{
    uint32_t magnitude = qrt_abs32(x);

    if (out == NULL) {
        return QRT_ERR_NULL;
    }
    if (frac < -96 || frac > 117) {
        return QRT_ERR_RANGE;
    }
    return store_signed(x < 0, magnitude, -frac, out);
}

enum qrt_status qrt_real_mul(struct qrt_real a, struct qrt_real b,
                             struct qrt_real *out)
{
    enum qrt_status status = check(a, b, out);

    if (status != QRT_OK) {
        return status;
    }
    return store((uint64_t)(uint32_t)a.m * (uint32_t)b.m, a.e + b.e - 62, out);
}

enum qrt_status qrt_real_div(struct qrt_real a, struct qrt_real b,
                             struct qrt_real *out)
{
    enum qrt_status status = check(a, b, out);
    int32_t e = a.e - b.e;
    uint64_t q;

    if (status != QRT_OK) {
        return status;
    }
    q = qrt_ratio((uint32_t)a.m, (uint32_t)b.m, &e);
    return store(q, e, out);
}

enum qrt_status qrt_real_reciprocal(struct qrt_real a, struct qrt_real *out)
{
    const struct qrt_real one = {MANTISSA_ONE, 1};

    return qrt_real_div(one, a, out);
}
