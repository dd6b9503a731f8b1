/* The IFMR observer: collects activations in a storage of fixed size, first
 * as distinct values with their counts, then as a histogram that grows.
 *
 * Everything kept is a function of the multiset of the samples: order, split
 * and merge order cannot be seen in it. That decides the layout (a sorted
 * table; a bin width that depends on the extremes only; sums whose unit does
 * not depend on the bin width, see ifmr_cells.h) and the handling of the
 * extremes, which stay outside as point masses until a larger one comes. */
#include "qrt_ifmr.h"

#include "fixed.h"
#include "ifmr_cells.h"
#include "kernel.h"
#include "softf32.h"

#define FRAC_MAX 90

enum qrt_status qrt_ifmr_init(struct qrt_ifmr_observer *o, uint64_t *storage,
                              uint32_t bytes)
{
    uint32_t cells = bytes / 8U;

    if (o == NULL || storage == NULL) {
        return QRT_ERR_NULL;
    }
    if (bytes < QRT_IFMR_BYTES_MIN || bytes > QRT_IFMR_BYTES_MAX) {
        return QRT_ERR_SIZE;
    }
    for (uint32_t i = 0; i < cells; i++) {
        storage[i] = 0;
    }
    o->cells = storage;
    o->cell_count = cells;
    o->samples = 0;
    o->rejected = 0;
    o->top = 0;
    for (uint32_t side = 0; side < 2; side++) {
        o->distinct[side] = 0;
        o->extreme[side] = 0;
        o->extreme_count[side] = 0;
    }
    return QRT_OK;
}

/* ------------------------------------------------------------- histogram */

uint64_t *qrt_ifmr_cell(const struct qrt_ifmr_observer *o, uint32_t side,
                        uint32_t i)
{
    return o->cells + (side != 0 ? o->cell_count - 1U - i : i);
}

uint32_t qrt_ifmr_place(uint32_t magnitude, uint32_t top)
{
    /* 2^23 * octave of the bin + fraction */
    uint32_t key = qrt_ifmr_rounded(magnitude) - ((top - 23U) << 23);
    uint32_t place = (key >> QRT_IFMR_DROP_BITS) & (QRT_IFMR_ONE_BIN - 1U);

    return key >> 31 != 0 ? QRT_IFMR_REST_BIN_0
                          : (place | QRT_IFMR_ONE_BIN) << (key >> 23);
}

uint32_t qrt_ifmr_bins(uint32_t extreme, uint32_t top)
{
    return extreme == 0 ? 0
                        : QRT_IFMR_PLACE_BIN(qrt_ifmr_place(extreme, top)) + 1U;
}

uint32_t qrt_ifmr_used(const struct qrt_ifmr_observer *o, uint32_t side)
{
    return o->top == 0 ? o->distinct[side]
                       : qrt_ifmr_bins(o->extreme[side], o->top);
}

/* The least top, not below `top`, with which sides of these extremes fit. */
static uint32_t fitting_top(uint32_t a, uint32_t b, uint32_t top,
                            uint32_t cells)
{
    uint32_t larger = qrt_ifmr_rounded(a > b ? a : b) >> 23;

    if (top < larger + 12U) {
        top = larger + 12U; /* 4096 bins, or half of them */
    }
    while (qrt_ifmr_bins(a, top) + qrt_ifmr_bins(b, top) > cells) {
        top++;
    }
    return top;
}

/* Adds n samples at a place. */
static void add_samples(const struct qrt_ifmr_observer *o, uint32_t side,
                        uint32_t place, uint32_t n)
{
    uint64_t *cell = qrt_ifmr_cell(o, side, QRT_IFMR_PLACE_BIN(place));

    *cell += QRT_IFMR_ONE_SAMPLE * n;
    qrt_add_product(cell, QRT_IFMR_PLACE_REST(place), n);
}

/* Adds the contents of bin i of bins that are 2^-coarser as wide. */
static void add_bin(struct qrt_ifmr_observer *o, uint32_t side, uint32_t i,
                    uint32_t coarser, uint64_t contents)
{
    uint32_t place = (i << QRT_IFMR_REST_BITS) >> coarser;
    uint32_t bin = QRT_IFMR_PLACE_BIN(place);

    if (bin == 0) {
        place = QRT_IFMR_REST_BIN_0;
    } else {
        *qrt_ifmr_cell(o, side, bin) +=
            qrt_mul_shift64(contents & QRT_IFMR_REST_MASK, 1, coarser);
    }
    add_samples(o, side, place, qrt_ifmr_count(contents));
}

/* Adds the bins of a histogram, which may be the observer's own: then they
 * move to their cells for a larger top. */
static void add_bins(struct qrt_ifmr_observer *o,
                     const struct qrt_ifmr_observer *from, uint32_t top)
{
    uint32_t coarser = top - from->top;

    if (coarser > 12) {
        coarser = 12; /* one bin is left of any number */
    }
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t used = qrt_ifmr_used(from, side);

        for (uint32_t i = 0; i < used; i++) {
            uint64_t *cell = qrt_ifmr_cell(from, side, i);
            uint64_t contents = *cell;

            if (from == o) {
                *cell = 0;
            }
            add_bin(o, side, i, coarser, contents);
        }
    }
}

/* ----------------------------------------------------------- exact values */

/* Returns false when the value is new and the table full. */
static bool add_to_table(struct qrt_ifmr_observer *o, uint32_t side,
                         uint32_t magnitude, uint32_t n)
{
    uint64_t more = QRT_IFMR_ONE_SAMPLE * n;
    uint32_t at = 0, end = o->distinct[side];
    uint64_t *cell;

    while (at < end) {
        uint32_t middle = (at + end) / 2U;

        cell = qrt_ifmr_cell(o, side, middle);
        if ((uint32_t)*cell == magnitude) {
            *cell += more;
            return true;
        }
        if ((uint32_t)*cell < magnitude) {
            at = middle + 1U;
        } else {
            end = middle;
        }
    }
    if (o->distinct[0] + o->distinct[1] == o->cell_count) {
        return false;
    }
    more |= magnitude;
    o->distinct[side] += 1U;
    for (; at < o->distinct[side]; at++) {
        uint64_t next;

        cell = qrt_ifmr_cell(o, side, at);
        next = *cell;
        *cell = more;
        more = next;
    }
    return true;
}

/* Makes a cell a bin: it carries the mark then. Returns the value it held, 0 for
 * none. */
static uint64_t take(uint64_t *cell)
{
    uint64_t entry = *cell;

    if ((entry & QRT_IFMR_MARK) != 0) {
        return 0;
    }
    *cell = QRT_IFMR_MARK;
    return entry;
}

/* Turns the table into bins in place. A value goes to its bin; the value that
 * lies in that cell goes on to its own, and so forth. */
static void to_histogram(struct qrt_ifmr_observer *o)
{
    const uint32_t positive = o->distinct[0];

    o->top = fitting_top(o->extreme[0], o->extreme[1], 0, o->cell_count);
    o->distinct[0] = 0;
    o->distinct[1] = 0;
    for (uint32_t i = 0; i < o->cell_count; i++) {
        uint64_t *cell = o->cells + i;
        uint64_t entry = take(cell);

        while (entry != 0) {
            uint32_t side = cell >= o->cells + positive;
            uint32_t place = qrt_ifmr_place((uint32_t)entry, o->top);
            uint32_t n = qrt_ifmr_count(entry);

            cell = qrt_ifmr_cell(o, side, QRT_IFMR_PLACE_BIN(place));
            entry = take(cell);
            add_samples(o, side, place, n);
        }
    }
    for (uint32_t i = 0; i < o->cell_count; i++) {
        o->cells[i] &= ~QRT_IFMR_MARK;
    }
}

/* --------------------------------------------------------------- samples */

static void set_extreme(struct qrt_ifmr_observer *o, uint32_t side,
                        uint32_t magnitude, uint32_t n)
{
    if (o->top != 0) {
        uint32_t top = fitting_top(magnitude, o->extreme[1U - side], o->top,
                                   o->cell_count);

        if (top != o->top) {
            add_bins(o, o, top);
            o->top = top;
        }
    }
    o->extreme[side] = magnitude;
    o->extreme_count[side] = n;
}

/* n samples of one finite value, whatever state the observer is in. */
static void observe(struct qrt_ifmr_observer *o, uint32_t side,
                    uint32_t magnitude, uint32_t n)
{
    uint32_t extreme = o->extreme[side];
    uint32_t displaced = o->extreme_count[side];

    if (magnitude < QRT_IFMR_TINY) {
        return;
    }
    if (magnitude == extreme) {
        o->extreme_count[side] += n;
        return;
    }
    if (magnitude > extreme) {
        set_extreme(o, side, magnitude, n);
        if (displaced == 0) {
            return;
        }
        magnitude = extreme;
        n = displaced;
    }
    if (o->top == 0) {
        if (add_to_table(o, side, magnitude, n)) {
            return;
        }
        to_histogram(o);
    }
    add_samples(o, side, qrt_ifmr_place(magnitude, o->top), n);
}

/* a - b, 0 if it is not positive. */
static uint32_t above(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

/* Counts the samples of [x, end) that need not be looked at, up to the first
 * one that does. The observer has bins. */
static const void *count_run(const struct qrt_ifmr_observer *o,
                             enum qrt_type type, const void *x, const void *end,
                             int32_t frac)
{
    struct qrt_ifmr_lanes l;
    qrt_ifmr_count_run *run = qrt_ifmr_count_bits;
    uint32_t positive = 2U * o->extreme[0];
    uint32_t negative = 2U * o->extreme[1];

    l.side[1].first = o->cells;
    l.side[0].first = o->cells + o->cell_count;
    l.least = ((o->top - 23U) << 24) - 2U * QRT_IFMR_DROP_ROUND;
    l.shift = o->top - 150U + (uint32_t)frac;
    if (type != QRT_BITS) {
        if (l.shift - 1U > 30U) {
            return x;
        }
        run = QRT_IFMR_RUNS_OF_S32 && type == QRT_S32 ? qrt_ifmr_count_s32
                                                      : qrt_ifmr_count_s16;
        l.least = QRT_IFMR_ONE_BIN;
        positive = qrt_ifmr_place(o->extreme[0], o->top);
        negative = qrt_ifmr_place(o->extreme[1], o->top);
    }
    l.side[1].span = above(positive, l.least);
    l.side[0].span = above(negative, l.least);
    return run(&l, x, end);
}

static enum qrt_status check_add(const struct qrt_ifmr_observer *o,
                                 enum qrt_type type, const void *x, uint32_t n,
                                 int32_t frac)
{
    if (o == NULL || x == NULL) {
        return QRT_ERR_NULL;
    }
    if (o->cells == NULL) {
        return QRT_ERR_STATE;
    }
    if (type < QRT_S16 || frac < -FRAC_MAX || frac > FRAC_MAX) {
        return QRT_ERR_RANGE;
    }
    return n > QRT_IFMR_SAMPLES_MAX - o->samples ? QRT_ERR_FULL : QRT_OK;
}

enum qrt_status qrt_ifmr_add_any(struct qrt_ifmr_observer *o,
                                 enum qrt_type type, const void *x, uint32_t n,
                                 int32_t frac)
{
    const uint8_t *at = x;
    const uint8_t *end;
    uint32_t size = 4;
    uint32_t rejected = 0;
    enum qrt_status status = check_add(o, type, x, n, frac);

    if (status != QRT_OK) {
        return status;
    }
    if (type == QRT_S16) {
        size = 2;
    }
    for (end = at + n * size; at != end; at += size) {
        uint32_t bits;

        if (o->top != 0 && (QRT_IFMR_RUNS_OF_S32 || type != QRT_S32)) {
            at = count_run(o, type, at, end, frac);
            if (at == end) {
                break;
            }
        }
        bits = (uint32_t)qrt_load(type, at, 0);
        if (type != QRT_BITS) {
            bits = qrt_f32_from_fixed((int32_t)bits, frac);
        }
        if (qrt_f32_is_finite(bits)) {
            observe(o, bits >> 31, qrt_f32_abs(bits), 1);
        } else {
            rejected += 1U;
        }
    }
    o->samples += n - rejected;
    o->rejected += rejected;
    return rejected == 0 ? QRT_OK : QRT_ERR_NOT_FINITE;
}

enum qrt_status qrt_ifmr_merge(struct qrt_ifmr_observer *o,
                               const struct qrt_ifmr_observer *other)
{
    if (o == NULL || other == NULL) {
        return QRT_ERR_NULL;
    }
    if (o->cells == NULL || other->cells == NULL) {
        return QRT_ERR_STATE;
    }
    if (o->cell_count != other->cell_count || o->cells == other->cells) {
        return QRT_ERR_MISMATCH;
    }
    if (other->samples > QRT_IFMR_SAMPLES_MAX - o->samples) {
        return QRT_ERR_FULL;
    }
    o->samples += other->samples;
    o->rejected += other->rejected;
    for (uint32_t side = 0; side < 2; side++) {
        observe(o, side, other->extreme[side], other->extreme_count[side]);
        for (uint32_t i = 0; i < other->distinct[side]; i++) {
            uint64_t entry = *qrt_ifmr_cell(other, side, i);

            observe(o, side, (uint32_t)entry, qrt_ifmr_count(entry));
        }
    }
    if (other->top != 0) {
        if (o->top == 0) {
            to_histogram(o);
        }
        add_bins(o, other, o->top);
    }
    return QRT_OK;
}
