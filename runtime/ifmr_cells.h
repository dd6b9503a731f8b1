/* How an IFMR observer uses the caller's storage: private to ifmr_*.c.
 *
 * Every cell is 64 bits wide and serves two purposes, one after the other.
 *
 *   exact       63 mark | 62..38 count | 30..0 magnitude   a value of the data
 *   histogram   63 mark | 62..38 count | 37..0 rest        a bin
 *
 * Both grow from the two ends: value or bin i of the positive side is cell i,
 * that of the negative side cell count - 1 - i, both with ascending magnitude.
 * So one-sided data have all cells for themselves, and two sides share them as
 * they need.
 *
 * Bin i of a side holds magnitudes in [i, i + 1) * 2^(top - 150), after
 * rounding to QRT_IFMR_REST_BITS bits behind the leading one; `rest` is the sum
 * of what its values exceed the lower edge of the bin by, in units of
 * 2^-QRT_IFMR_REST_BITS bins. When bins become twice as wide, what a value of
 * bin 2 and above exceeds the edge by is an even number of the old units: it
 * was rounded so. Therefore nothing is lost then, and the sums do not depend
 * on when the range grew. A sample of bin 0 has the rest of the middle. */
#ifndef QRT_IFMR_CELLS_H
#define QRT_IFMR_CELLS_H

#include "qrt_ifmr.h"

#define QRT_IFMR_COUNT_SHIFT 38
#define QRT_IFMR_ONE_SAMPLE  ((uint64_t)1 << QRT_IFMR_COUNT_SHIFT)
#define QRT_IFMR_MARK        ((uint64_t)1 << 63)
#define QRT_IFMR_REST_BITS   13U
#define QRT_IFMR_REST_MASK   (((uint64_t)1 << QRT_IFMR_COUNT_SHIFT) - 1U)

#define QRT_IFMR_ONE_BIN ((uint32_t)1 << QRT_IFMR_REST_BITS)

/* What a sample of bin 0 counts as. */
#define QRT_IFMR_REST_BIN_0 (QRT_IFMR_ONE_BIN / 2U)

/* What is dropped of a binary32 fraction, and half of its unit. */
#define QRT_IFMR_DROP_BITS  (23U - QRT_IFMR_REST_BITS)
#define QRT_IFMR_DROP_ROUND ((uint32_t)1 << (QRT_IFMR_DROP_BITS - 1U))

/* Magnitudes below 2^-64 count as 0: a step below 2^-23 is not used. */
#define QRT_IFMR_TINY ((uint32_t)63 << 23)

static inline uint32_t qrt_ifmr_count(uint64_t cell)
{
    return (uint32_t)(cell >> QRT_IFMR_COUNT_SHIFT);
}

/* The cell of value or bin i of a side. */
uint64_t *qrt_ifmr_cell(const struct qrt_ifmr_observer *o, uint32_t side,
                        uint32_t i);

/* A magnitude rounded to what bins distinguish; bits behind these are still to
 * be dropped. */
static inline uint32_t qrt_ifmr_rounded(uint32_t magnitude)
{
    return magnitude + QRT_IFMR_DROP_ROUND;
}

/* Where a magnitude lies when bins are 2^(top - 150) wide, the largest of all
 * below bin 2^13: bin * 2^QRT_IFMR_REST_BITS + rest. */
uint32_t qrt_ifmr_place(uint32_t magnitude, uint32_t top);

#define QRT_IFMR_PLACE_BIN(place)  ((place) >> QRT_IFMR_REST_BITS)
#define QRT_IFMR_PLACE_REST(place) ((place) & (QRT_IFMR_ONE_BIN - 1U))

/* Bins a side needs when bins are 2^(top - 150) wide and `extreme` is its
 * largest magnitude, 0 for none. */
uint32_t qrt_ifmr_bins(uint32_t extreme, uint32_t top);

/* Cells that a side has in use. */
uint32_t qrt_ifmr_used(const struct qrt_ifmr_observer *o, uint32_t side);

/* What the loops over samples need. A sample has a key that grows with its
 * magnitude: a pattern itself shifted left by one, which drops the sign; an
 * integer its place. It goes to a bin other than bin 0, and is below the extreme
 * of its side, if key - least < span. */
struct qrt_ifmr_lane {
    uint64_t *first; /* cell of bin 0 (positive), of bin -1 (negative) */
    uint32_t span;
};

struct qrt_ifmr_lanes {
    struct qrt_ifmr_lane side[2]; /* negative, positive */
    uint32_t least;
    uint32_t shift; /* integers: a bin has 2^shift of them, [1, 31] */
};

/* Counts the samples of [x, end), x < end, up to the first one that is neither
 * 0 nor goes to a bin as `l` says; returns that one, or end. */
typedef const void *qrt_ifmr_count_run(const struct qrt_ifmr_lanes *l,
                                       const void *x, const void *end);

/* binary32 patterns; integers */
qrt_ifmr_count_run qrt_ifmr_count_bits;
qrt_ifmr_count_run qrt_ifmr_count_s16;
qrt_ifmr_count_run qrt_ifmr_count_s32;

/* Without an instruction that counts leading zeros, int32 are looked at one by
 * one: where it is missing, flash is short as well. */
#if defined __arm__ && !defined __ARM_FEATURE_CLZ
#define QRT_IFMR_RUNS_OF_S32 false
#else
#define QRT_IFMR_RUNS_OF_S32 true
#endif

/* One clip limit of the search. */
struct qrt_ifmr_candidate {
    uint32_t step_bits;
    struct qrt_real step;
    uint32_t levels[2]; /* codes in use above and below zero */
};

/* The squared error of a candidate in squares of its step, as a binary32
 * pattern; an infinity if it cannot be represented. */
uint32_t qrt_ifmr_loss(const struct qrt_ifmr_observer *o,
                       const struct qrt_ifmr_candidate *c);

/* What a candidate of at most QRT_IFMR_GAIN_BITS bits gains over quantizing
 * everything to 0, in a unit that all candidates share; exponent is that of
 * the largest step. For a histogram only. */
uint64_t qrt_ifmr_gain(const struct qrt_ifmr_observer *o,
                       const struct qrt_ifmr_candidate *c, int32_t exponent);

#define QRT_IFMR_GAIN_BITS 8U

/* A walk down one side of a histogram; the bins from `edge` on are behind. */
struct qrt_ifmr_walk {
    const uint64_t *next; /* cell of bin edge - 1                          */
    ptrdiff_t stride;     /* to the cell of the bin above it               */
    uint32_t edge;
    uint64_t cells; /* sum of the cells behind                             */
    uint64_t bins;  /* what moving the edge down added, in samples * bins  */

    /* What the boundaries passed collected, of the samples above each: */
    uint64_t sum_bins; /* samples * bins                                   */
    uint64_t sum;      /* the remainder of their sum, in Q13 bins          */
    uint64_t paid;     /* (2 k - 1) * count, to be taken off by half steps */
};

/* Walks until bin edge - 1 is the one given. */
void qrt_ifmr_walk_to(struct qrt_ifmr_walk *w, uint32_t bin);

/* What n samples of a bin have above a boundary, in Q13 bins.
 *
 * n     [0, 2^16]
 * rest  their sum above the lower edge, Q13 bins
 * f     from the boundary to the upper edge, Q13 bins, (0, 1]
 *
 * The density is taken as linear, with the mean that the bin has. G is convex,
 * so there is no less than if all samples were at the mean. */
uint32_t qrt_ifmr_above_in_bin(uint32_t n, uint32_t rest, uint32_t f);

#endif
