/* The two inner steps of weighing by levels, in a file of their own so that
 * each is compiled on its own, with all registers. */
#include "ifmr_cells.h"

#include "fixed.h"

void qrt_ifmr_walk_to(struct qrt_ifmr_walk *w, uint32_t bin)
{
    const uint64_t *next = w->next;
    uint64_t cells = w->cells;
    uint64_t bins = w->bins;
    uint32_t i = w->edge - 1U;

    for (; i > bin; i--) {
        bins += qrt_ifmr_count(cells);
        cells += *next;
        next -= w->stride;
    }
    w->next = next;
    w->edge = i + 1U;
    w->cells = cells;
    w->bins = bins;
}

/* a * b / 2^shift, rounded down, which fits. */
static int32_t times(int32_t a, uint32_t b, uint32_t shift)
{
    return (int32_t)qrt_asr64((int64_t)a * (int32_t)b, shift);
}

uint32_t qrt_ifmr_above_in_bin(uint32_t n, uint32_t rest, uint32_t f)
{
    int32_t half = (int32_t)(n << (QRT_IFMR_REST_BITS - 1U));
    int32_t lean = (int32_t)rest - half;
    int32_t least = (int32_t)rest - (int32_t)(n * (QRT_IFMR_ONE_BIN - f));
    int32_t linear =
        half + times(lean, 3U * QRT_IFMR_ONE_BIN - 2U * f, QRT_IFMR_REST_BITS);

    linear = times(linear, f * f >> 10, 16);
    linear = linear > least ? linear : least;
    return linear > 0 ? (uint32_t)linear : 0;
}
