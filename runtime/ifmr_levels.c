/* What a candidate gains over quantizing everything to 0, from a histogram.
 *
 *   N * loss = sum x^2 - 2 s * sum over the levels k of G((k - 1/2) s)
 *
 * G(t) being the sum of what lies above t, on both sides. The first sum is the
 * same for all candidates, so the largest second one wins. A bin that no
 * boundary between levels crosses counts exactly. docs/ifmr-device.md derives
 * this and proves the widths. */
#include "ifmr_cells.h"

#include "fixed.h"
#include "softf32.h"

/* Positions on a side count bins in Q19, so that 4096 bins fit; sums count
 * them in Q13, the finest unit of a cell's rest. */
#define POSITION_BITS 19U
#define POSITION_MORE (POSITION_BITS - QRT_IFMR_REST_BITS)
#define ONE_BIN       ((uint32_t)1 << POSITION_BITS)

/* Collects what lies above the boundary between the levels k and k - 1. */
static void cross(struct qrt_ifmr_walk *w, uint32_t boundary, uint32_t k)
{
    uint32_t f = (ONE_BIN - boundary % ONE_BIN) >> POSITION_MORE;
    uint32_t unit = 1, count;
    uint64_t rest;

    qrt_ifmr_walk_to(w, boundary >> POSITION_BITS);
    count = qrt_ifmr_count(w->cells);
    w->sum += w->cells & QRT_IFMR_REST_MASK;
    w->sum_bins += w->bins;
    qrt_add_product(&w->sum_bins, w->edge, count);
    qrt_add_product(&w->paid, 2U * k - 1U, count);
    count = qrt_ifmr_count(*w->next);
    rest = *w->next & QRT_IFMR_REST_MASK;
    if (count >= 65536) { /* 16 bits of it are enough */
        unit = 512;
        count /= 512U;
        rest /= 512U;
    }
    qrt_add_product(&w->sum, unit,
                    qrt_ifmr_above_in_bin(count, (uint32_t)rest, f));
}

static void walk_side(const struct qrt_ifmr_observer *o, uint32_t side,
                      uint32_t levels, uint32_t step, struct qrt_ifmr_walk *w)
{
    uint32_t extreme = (uint32_t)qrt_f32_to_fixed(
        o->extreme[side], (int32_t)(150U + POSITION_BITS) - (int32_t)o->top);
    uint32_t count = o->extreme_count[side];
    uint32_t left = extreme + step / 2U;
    uint32_t reached = 0;

    if (count == 0) {
        return;
    }
    /* Boundaries above every value add nothing; all others have the extreme
     * above them. No division: there are 255 levels at most. */
    for (; left >= step && reached != levels; left -= step) {
        reached++;
    }
    w->edge = qrt_ifmr_used(o, side);
    w->next = qrt_ifmr_cell(o, side, w->edge - 1U);
    w->stride = side != 0 ? -1 : 1;
    /* The extreme is behind, wherever it lies in or below the first bin. */
    w->cells = QRT_IFMR_ONE_SAMPLE * count;
    qrt_add_product(&w->cells, count, extreme % ONE_BIN >> POSITION_MORE);
    w->bins = 0U - (uint64_t)((w->edge - (extreme >> POSITION_BITS)) * count);
    for (; reached != 0; reached--) {
        cross(w, reached * step - step / 2U, reached);
    }
}

uint64_t qrt_ifmr_gain(const struct qrt_ifmr_observer *o,
                       const struct qrt_ifmr_candidate *c, int32_t exponent)
{
    /* A step is m * 2^-down units of 2^-13 bins, down the same for all
     * candidates. One of 4096 bins and more gains nothing here. */
    uint32_t down = o->top - 132U - (uint32_t)exponent;
    uint32_t behind = (uint32_t)(exponent - c->step.e);
    struct qrt_ifmr_walk w;
    uint32_t m, step;

    if (down - POSITION_MORE > 31U - POSITION_MORE || behind > 30) {
        return 0;
    }
    m = (uint32_t)c->step.m >> behind;
    step = m >> (down - POSITION_MORE);
    if (step < 2) {
        return 0;
    }
    w.sum_bins = 0;
    w.sum = 0;
    w.paid = 0;
    for (uint32_t side = 0; side < 2; side++) {
        walk_side(o, side, c->levels[side], step, &w);
    }
    w.sum += w.sum_bins << QRT_IFMR_REST_BITS;
    w.paid = qrt_mul_shift64(w.paid, m, down + 1U);
    return w.sum > w.paid ? qrt_mul_shift64(w.sum - w.paid, m, 32) : 0;
}
