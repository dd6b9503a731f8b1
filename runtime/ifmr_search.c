/* The IFMR search: which clip limit loses least, from an observer's state. */
#include "ifmr_cells.h"

#include "fixed.h"
#include "softf32.h"

/* binary64 patterns and fields */
#define F64_HALF     0x3fe0000000000000U
#define F64_ONE      0x3ff0000000000000U
#define F64_FRACTION 0x000fffffffffffffU
#define F64_LEADING  0x0010000000000000U
#define TWO_POW_53   0x0020000000000000U

/* What is searched: limits are ratio * max above zero; below it, min
 * (asymmetric) or the same limit. */
struct problem {
    uint32_t max, min;
    uint32_t bits;
    bool asymmetric;
    bool negative; /* symmetric, and the negative side is the larger one */
};

/* ------------------------------------------------------------ percentiles */

/* AMCT's rank n - int(p * n), the product rounded as a binary64; p is the
 * pattern of a binary64 in (0.5, 1]. */
static uint32_t rank_of(uint64_t p, uint32_t n)
{
    uint64_t mantissa = (p & F64_FRACTION) | F64_LEADING;
    uint64_t fraction;
    uint32_t whole, unit;

    if (F64_ONE - p <= (uint64_t)1 << 30) {
        return 1; /* AMCT: 1 - p below 1.192092896e-7 */
    }
    whole = (uint32_t)qrt_mul_shift64(mantissa, n, 53);
    fraction = (mantissa * n) & (TWO_POW_53 - 1U);
    /* p * n has as many bits more than a binary64 as `whole` has; rounding
     * them makes the next integer if all others behind the point are ones. */
    unit = (uint32_t)1 << qrt_bit_length32(whole);
    return n - whole - (uint32_t)((fraction + unit / 2U) >> 53);
}

/* The k-th largest of the n samples of bin i, taken as evenly spread. */
static uint32_t inside_bin(const struct qrt_ifmr_observer *o, uint32_t i,
                           uint32_t n, uint32_t k)
{
    uint32_t over = 2U * (n - k) + 1U;
    uint64_t steps = over;
    uint32_t bins;

    qrt_add_product(&steps, 2U * n, i);
    bins = qrt_f32_div(qrt_f32_round(false, steps, 0),
                       qrt_f32_from_fixed((int32_t)(2U * n), 0));
    return bins + (o->top << 23) - ((uint32_t)150 << 23);
}

/* The k-th largest magnitude of a side, 0 if there are fewer. */
static uint32_t ranked(const struct qrt_ifmr_observer *o, uint32_t side,
                       uint32_t k)
{
    uint32_t found = o->extreme[side];
    uint32_t n = o->extreme_count[side];

    if (k <= n) {
        return found;
    }
    for (uint32_t i = qrt_ifmr_used(o, side); i-- != 0;) {
        uint64_t cell = *qrt_ifmr_cell(o, side, i);

        k -= n;
        n = qrt_ifmr_count(cell);
        if (k <= n) {
            uint32_t bits =
                o->top == 0 ? (uint32_t)cell : inside_bin(o, i, n, k);

            return bits < found ? bits : found;
        }
    }
    return 0;
}

/* ------------------------------------------------------------- candidates */

static uint32_t levels_of(uint32_t limit, uint32_t step)
{
    return qrt_abs32(qrt_f32_to_s32(qrt_f32_div(limit, step)));
}

static enum qrt_status derive(const struct problem *p, uint32_t ratio,
                              struct qrt_ifmr_candidate *c)
{
    uint32_t limit = qrt_f32_mul(ratio, p->max);
    uint32_t high = p->negative ? 0 : limit;
    uint32_t low = p->negative ? qrt_f32_neg(limit) : p->min;
    enum qrt_status status =
        qrt_scale_step(high, low, p->bits, p->asymmetric, &c->step_bits);

    if (status != QRT_OK) {
        return status;
    }
    c->levels[0] = levels_of(limit, c->step_bits);
    c->levels[1] =
        p->asymmetric ? levels_of(p->min, c->step_bits) : c->levels[0];
    return qrt_real_from_f32(c->step_bits, &c->step);
}

/* How good a candidate is, compared with `largest`, that of the last ratio. */
static uint64_t rate(const struct qrt_ifmr_observer *o, uint32_t bits,
                     const struct qrt_ifmr_candidate *c,
                     const struct qrt_ifmr_candidate *largest)
{
    uint32_t ratio, loss;

    if (o->top != 0 && bits <= QRT_IFMR_GAIN_BITS) {
        return qrt_ifmr_gain(o, c, largest->step.e);
    }
    ratio = qrt_f32_div(c->step_bits, largest->step_bits);
    loss = qrt_f32_mul(qrt_f32_mul(qrt_ifmr_loss(o, c), ratio), ratio);
    return 0xffffffffU - loss;
}

/* Fills index, scale_bits and input; nothing on error. */
static enum qrt_status search_limits(const struct qrt_ifmr_observer *o,
                                     const struct qrt_ifmr *search,
                                     const struct problem *p,
                                     struct qrt_ifmr_result *out)
{
    struct qrt_ifmr_candidate c, largest;
    uint64_t best = 0;
    enum qrt_status status =
        derive(p, search->ratios[search->ratio_count - 1U], &largest);

    /* Limits ascend: if the largest has a finite step, all have. */
    if (status != QRT_OK) {
        return status;
    }
    out->input = QRT_IFMR_DEAD;
    for (uint32_t i = 0; i < search->ratio_count; i++) {
        uint64_t rating = 0;

        (void)derive(p, search->ratios[i], &c);
        if (c.levels[0] + c.levels[1] != 0) {
            out->input = QRT_IFMR_LIVE;
            rating = rate(o, p->bits, &c, &largest);
        }
        if (i == 0 || rating > best) {
            best = rating;
            out->index = i;
            out->scale_bits = c.step_bits;
        }
    }
    return QRT_OK;
}

/* ----------------------------------------------------------------- finish */

static bool is_percentile(uint64_t p)
{
    return p > F64_HALF && p <= F64_ONE;
}

static QRT_NOINLINE enum qrt_status check(const struct qrt_ifmr_observer *o,
                                          const struct qrt_ifmr *search,
                                          uint32_t bits)
{
    uint32_t last = 0;

    if (o->cells == NULL) {
        return QRT_ERR_STATE;
    }
    if (bits < 4 || bits > 16 || search->ratio_count == 0 ||
        !is_percentile(search->max_percentile) ||
        !is_percentile(search->min_percentile)) {
        return QRT_ERR_RANGE;
    }
    for (uint32_t i = 0; i < search->ratio_count; i++) {
        if (search->ratios[i] <= last || search->ratios[i] >= QRT_F32_INF) {
            return QRT_ERR_RANGE;
        }
        last = search->ratios[i];
    }
    return o->samples == 0 ? QRT_ERR_EMPTY : QRT_OK;
}

enum qrt_status qrt_ifmr_finish(const struct qrt_ifmr_observer *o,
                                const struct qrt_ifmr *search, uint32_t bits,
                                bool asymmetric, struct qrt_ifmr_result *out)
{
    struct problem p;
    uint32_t above, below;
    int32_t half;
    enum qrt_status status;

    if (o == NULL || search == NULL || search->ratios == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    status = check(o, search, bits);
    if (status != QRT_OK) {
        return status;
    }
    above = ranked(o, 0, rank_of(search->max_percentile, o->samples));
    below = ranked(o, 1, rank_of(search->min_percentile, o->samples));
    p.bits = bits;
    p.asymmetric = asymmetric;
    p.negative = !asymmetric && above < below;
    p.max = p.negative ? below : above;
    p.min = asymmetric && below != 0 ? qrt_f32_neg(below) : 0;
    status = search_limits(o, search, &p, out);
    if (status != QRT_OK) {
        return status;
    }
    half = (int32_t)1 << (bits - 1U);
    out->zero_point = asymmetric ? qrt_scale_zero_point(p.min, out->scale_bits,
                                                        bits, QRT_ZERO_IFMR)
                                 : 0;
    out->clip_max_bits =
        qrt_f32_times(out->scale_bits, half - 1 - out->zero_point);
    out->clip_min_bits =
        qrt_f32_times(out->scale_bits, -half - out->zero_point);
    out->max_bits = above;
    out->min_bits = below != 0 ? qrt_f32_neg(below) : 0;
    out->samples = o->samples;
    out->rejected = o->rejected;
    out->cells = o->cell_count;
    out->method = o->top == 0 ? QRT_IFMR_EXACT : QRT_IFMR_HISTOGRAM;
    return QRT_OK;
}
