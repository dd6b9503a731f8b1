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

uint32_t qrt_ifmr_bins(uint32_t extreme, uint32_t top)
{
    uint32_t rounded = qrt_ifmr_rounded(extreme);
    uint32_t shift = top - (rounded >> 23);

    if (extreme == 0) {
        return 0;
    }
    return shift > 23 ? 1 : (qrt_ifmr_mantissa(rounded) >> shift) + 1U;
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

/* Adds n samples of one rest. */
static void add_samples(uint64_t *cell, uint32_t rest, uint32_t n)
{
    *cell += QRT_IFMR_ONE_SAMPLE * n;
    qrt_add_product(cell, rest, n);
}

/* Adds the contents of bin i of bins that are 2^-coarser as wide. */
static void add_bin(struct qrt_ifmr_observer *o, uint32_t side, uint32_t i,
                    uint32_t coarser, uint64_t contents)
{
    uint32_t bin = i >> coarser;
    uint64_t *cell = qrt_ifmr_cell(o, side, bin);
    uint32_t count = qrt_ifmr_count(contents);

    if (bin == 0) {
        add_samples(cell, QRT_IFMR_REST_BIN_0, count);
    } else {
        uint32_t octave = qrt_bit_length32(i) - 1U;
        uint32_t beyond = i - (bin << coarser);

        *cell += contents;
        qrt_add_product(cell, beyond << (QRT_IFMR_REST_BITS - octave), count);
    }
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

/* The cell of a value, and the rest it has there. */
static uint64_t *destination(const struct qrt_ifmr_observer *o, uint32_t side,
                             uint32_t magnitude, uint32_t *rest)
{
    uint32_t rounded = qrt_ifmr_rounded(magnitude);
    uint32_t mantissa = qrt_ifmr_mantissa(rounded);
    uint32_t shift = o->top - (rounded >> 23);
    uint32_t bin = 0;

    *rest = QRT_IFMR_REST_BIN_0;
    if (shift <= 23) {
        bin = mantissa >> shift;
        *rest = (mantissa - (bin << shift)) >> QRT_IFMR_DROP_BITS;
    }
    return qrt_ifmr_cell(o, side, bin);
}

/* ----------------------------------------------------------- exact values */

/* Returns false when the value is new and the table full. */
static bool add_to_table(struct qrt_ifmr_observer *o, uint32_t side,
                         uint32_t magnitude, uint32_t n)
{
    uint64_t *first = qrt_ifmr_cell(o, side, 0);
    ptrdiff_t stride = side != 0 ? -1 : 1;
    uint64_t entry = QRT_IFMR_ONE_SAMPLE * n | magnitude;
    uint32_t at = 0, end = o->distinct[side];

    while (at < end) {
        uint32_t middle = (at + end) / 2U;
        uint32_t there = (uint32_t)first[(ptrdiff_t)middle * stride];

        if (there == magnitude) {
            first[(ptrdiff_t)middle * stride] += QRT_IFMR_ONE_SAMPLE * n;
            return true;
        }
        if (there < magnitude) {
            at = middle + 1U;
        } else {
            end = middle;
        }
    }
    if (o->distinct[0] + o->distinct[1] == o->cell_count) {
        return false;
    }
    for (; at <= o->distinct[side]; at++) {
        uint64_t next = first[(ptrdiff_t)at * stride];

        first[(ptrdiff_t)at * stride] = entry;
        entry = next;
    }
    o->distinct[side] += 1U;
    return true;
}

/* Merges the values of each bin, at the beginning of the side, and marks the
 * cells that they belong to; returns how many there are. */
static uint32_t pack_side(struct qrt_ifmr_observer *o, uint32_t side)
{
    const uint64_t *last = NULL;
    uint64_t *packed = NULL;
    uint32_t used = 0;

    for (uint32_t i = 0; i < o->distinct[side]; i++) {
        uint64_t entry = *qrt_ifmr_cell(o, side, i);
        uint32_t rest;
        uint64_t *cell = destination(o, side, (uint32_t)entry, &rest);

        *cell |= QRT_IFMR_MARK;
        if (cell != last) {
            last = cell;
            packed = qrt_ifmr_cell(o, side, used);
            *packed &= QRT_IFMR_MARK;
            used += 1U;
        }
        add_samples(packed, rest, qrt_ifmr_count(entry & ~QRT_IFMR_MARK));
    }
    o->distinct[side] = 0;
    return used;
}

/* Moves what was packed to the marked ones of the side's first cells, the last
 * one first: magnitudes ascend, so contents never come from behind their cell. */
static void spread_side(struct qrt_ifmr_observer *o, uint32_t side,
                        uint32_t used, uint32_t cells)
{
    while (cells-- != 0) {
        uint64_t *cell = qrt_ifmr_cell(o, side, cells);
        uint64_t contents = 0;

        if ((*cell & QRT_IFMR_MARK) != 0) {
            used -= 1U;
            contents = *qrt_ifmr_cell(o, side, used);
        }
        *cell = contents & ~QRT_IFMR_MARK;
    }
}

/* Turns the table into bins in place. */
static void to_histogram(struct qrt_ifmr_observer *o)
{
    uint32_t above, below, bins;

    o->top = fitting_top(o->extreme[0], o->extreme[1], 0, o->cell_count);
    above = pack_side(o, 0);
    below = pack_side(o, 1);
    bins = qrt_ifmr_bins(o->extreme[1], o->top);
    spread_side(o, 0, above, o->cell_count - bins);
    spread_side(o, 1, below, bins);
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
    uint32_t rest;
    uint64_t *cell;

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
    cell = destination(o, side, magnitude, &rest);
    add_samples(cell, rest, n);
}

static void set_lanes(const struct qrt_ifmr_observer *o,
                      struct qrt_ifmr_lanes *l)
{
    l->least = UINT32_MAX; /* above every magnitude */
    if (o->top != 0) {
        l->least = ((o->top - 23U) << 24) - 2U * QRT_IFMR_DROP_ROUND;
    }
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t extreme = 2U * o->extreme[side];

        l->side[side].first = o->cells + side * o->cell_count;
        l->side[side].span = extreme > l->least ? extreme - l->least : 0;
    }
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

/* x * 2^-frac as a binary32, like qrt_f32_from_fixed but in a few steps. */
static uint32_t pattern_of(int32_t x, int32_t frac)
{
    uint32_t sign = (uint32_t)x & QRT_F32_SIGN;
    uint32_t v = qrt_abs32(x);
    uint32_t zeros, rest;

    if (v == 0) {
        return 0;
    }
    zeros = 32U - qrt_bit_length32(v);
    v <<= zeros;
    rest = v & 0xffU;
    v >>= 8;
    if (rest != 0) { /* more than 24 bits: to nearest, ties to even */
        v += rest + (v & 1U) > 0x80U;
    }
    return sign | (v + ((uint32_t)(157 - (int32_t)zeros - frac) << 23));
}

/* n samples as patterns; the caller has counted them and checked that there is
 * room. */
static enum qrt_status add_patterns(struct qrt_ifmr_observer *o,
                                    const uint32_t *x, uint32_t n)
{
    const uint32_t *end = x + n;
    uint32_t rejected = 0;
    struct qrt_ifmr_lanes l;

    while (x != end) {
        set_lanes(o, &l);
        x = qrt_ifmr_count_run(&l, x, end);
        if (x != end) {
            if (qrt_f32_is_finite(*x)) {
                observe(o, *x >> 31, qrt_f32_abs(*x), 1);
            } else {
                rejected += 1U;
            }
            x++;
        }
    }
    o->samples += n - rejected;
    o->rejected += rejected;
    return rejected == 0 ? QRT_OK : QRT_ERR_NOT_FINITE;
}

/* Integers go through a few patterns on the stack. */
#define CHUNK 32U

enum qrt_status qrt_ifmr_add_any(struct qrt_ifmr_observer *o,
                                 enum qrt_type type, const void *x, uint32_t n,
                                 int32_t frac)
{
    uint32_t patterns[CHUNK];
    uint32_t i = 0;
    enum qrt_status status = check_add(o, type, x, n, frac);

    if (status == QRT_OK && type == QRT_BITS) {
        return add_patterns(o, x, n);
    }
    while (status == QRT_OK && i < n) {
        uint32_t some = 0;

        for (; some < CHUNK && i < n; i++) {
            patterns[some++] =
                pattern_of(type == QRT_S16 ? ((const int16_t *)x)[i]
                                           : ((const int32_t *)x)[i],
                           frac);
        }
        status = add_patterns(o, patterns, some);
    }
    return status;
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
