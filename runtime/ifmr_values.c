/* The squared error of a candidate over single values: those of the exact
 * table, and the bins where there are more levels than bins (over 8 bits).
 *
 *   sum of count * (v/s - k)^2
 *
 * in squares of the step s, k the level next to v inside the limits. A sample
 * of a bin that is not clipped loses 1/12. docs/ifmr-device.md proves the
 * widths. */
#include "ifmr_cells.h"

#include "fixed.h"
#include "softf32.h"

#define ROOT_OF_TWELFTH 0x49e69d16U /* Q32 */

/* How values turn into steps: a magnitude with exponent field e and mantissa m
 * is high32(2^8 * m * recip) * 2^-(exponent - e + fraction) steps. */
struct ruler {
    uint32_t recip;
    uint32_t exponent; /* not below that of any value */
    uint32_t fraction;
    uint64_t high, low; /* the sum: high * 2^32 + low, both up to 2^57 */
};

static bool set_ruler(const struct qrt_ifmr_observer *o, struct qrt_real step,
                      struct ruler *r)
{
    uint32_t a = o->extreme[0], b = o->extreme[1];
    int32_t largest = (int32_t)(qrt_ifmr_rounded(a > b ? a : b) >> 23);
    struct qrt_real recip;
    int32_t whole; /* exponent field of values that have no fraction */

    if (qrt_real_reciprocal(step, &recip) != QRT_OK) {
        return false;
    }
    whole = 157 - recip.e;
    largest = largest > whole - 31 ? largest : whole - 31;
    r->recip = (uint32_t)recip.m;
    r->exponent = (uint32_t)largest;
    r->fraction = whole > largest ? (uint32_t)(whole - largest) : 0;
    r->high = 0;
    r->low = 0;
    return true;
}

/* Adds n * gap^2, gap < 2^31. All n together are below 2^25, so that low stays
 * below 2^57 and high below 2^55. */
static QRT_NOINLINE void add_loss(struct ruler *r, uint32_t gap, uint32_t n)
{
    uint64_t square = (uint64_t)gap * gap;

    r->low += (square & 0xffffffffU) * n;
    r->high += (square >> 32) * n;
}

/* Adds `cells` values of a side. */
static void weigh(struct ruler *r, const uint64_t *cell, uint32_t cells,
                  uint32_t levels)
{
    const uint32_t recip = r->recip;
    const uint32_t fraction = r->fraction;
    const uint32_t half = ((uint32_t)1 << fraction) >> 1;

    for (; cells != 0; cells--) {
        uint32_t magnitude = (uint32_t)*cell;
        uint32_t mantissa = (magnitude << 8) | QRT_F32_SIGN;
        uint32_t shift = r->exponent - (magnitude >> 23);
        uint32_t steps = (uint32_t)(((uint64_t)mantissa * recip) >> 32);
        uint32_t level, gap;

        steps = shift > 31 ? 0 : steps >> shift;
        level = (steps + half) >> fraction;
        level = level < levels ? level : levels;
        gap = qrt_abs32((int32_t)(steps - (level << fraction)));
        add_loss(r, gap, qrt_ifmr_count(*cell++));
    }
}

/* Adds the bins of a side: those whose middle is clipped as values. */
static void weigh_bins(const struct qrt_ifmr_observer *o, uint32_t side,
                       const struct qrt_ifmr_candidate *c, struct ruler *r)
{
    uint32_t limit =
        qrt_f32_mul(qrt_f32_from_fixed((int32_t)(2U * c->levels[side] + 1U), 1),
                    c->step_bits);
    uint32_t i = qrt_ifmr_used(o, side);
    uint32_t middle = limit + 1U, inside = 0;

    for (; i-- != 0;) {
        uint64_t cell = *qrt_ifmr_cell(o, side, i);

        if (middle > limit) {
            middle = qrt_f32_from_fixed((int32_t)(2U * i + 1U),
                                        151 - (int32_t)o->top);
        }
        if (middle > limit) {
            cell &= ~QRT_IFMR_REST_MASK;
            cell |= middle;
            weigh(r, &cell, 1, c->levels[side]);
        } else {
            inside += qrt_ifmr_count(cell);
        }
    }
    add_loss(r, ROOT_OF_TWELFTH / 2U >> (31U - r->fraction), inside);
}

uint32_t qrt_ifmr_loss(const struct qrt_ifmr_observer *o,
                       const struct qrt_ifmr_candidate *c)
{
    struct ruler r;
    int32_t e;

    if (!set_ruler(o, c->step, &r)) {
        return QRT_F32_INF;
    }
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t used = qrt_ifmr_used(o, side);
        uint64_t extreme = QRT_IFMR_ONE_SAMPLE * o->extreme_count[side];

        extreme |= o->extreme[side];
        weigh(&r, &extreme, 1, c->levels[side]);
        if (o->top != 0) {
            weigh_bins(o, side, c, &r);
        } else {
            weigh(&r, o->cells + (side != 0 ? o->cell_count - used : 0), used,
                  c->levels[side]);
        }
    }
    r.high += r.low >> 32;
    e = 32 - 2 * (int32_t)r.fraction;
    if (r.high >> 30 == 0) { /* below 2^62 */
        r.high = (r.high << 32) | (uint32_t)r.low;
        e -= 32;
    }
    return qrt_f32_round(false, r.high, e);
}
