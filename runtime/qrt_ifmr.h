/* On-device calibration of activations: an observer that collects samples in
 * storage of fixed size, and the IFMR search over what it has collected.
 *
 *     static uint64_t storage[QRT_IFMR_STORAGE(8192)];
 *     static struct qrt_ifmr_observer seen;
 *
 *     qrt_ifmr_init(&seen, storage, sizeof storage);
 *     qrt_ifmr_add_s16(&seen, activation, n, 12);         once per batch
 *     qrt_ifmr_finish(&seen, layer->ifmr, 8, true, &result);
 *
 * An observer keeps distinct values with their counts as long as they fit: the
 * search is then exact. When they do not, the same storage becomes a histogram
 * with power-of-two bins that widen with the data; each bin has the count and
 * the exact sum of its (rounded) values. Zero, the largest and the smallest
 * value stay outside the bins, with their counts.
 *
 * State and result are functions of the multiset of samples: the order, the
 * split into calls and between observers, the order of merging and the type
 * the samples came in cannot be seen in one byte of them.
 *
 * Loss above that of the best candidate, 8 bits, 1e5 samples and more,
 * storage of 4, 8, 16, 32 KiB: docs/ifmr-device.md has the measured table. */
#ifndef QRT_IFMR_H
#define QRT_IFMR_H

#include "qrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members of the storage array for so many bytes. */
#define QRT_IFMR_STORAGE(bytes) ((bytes) / 8U)

/* Bounds of the storage, in bytes. 4, 8, 16 and 32 KiB are what the quality
 * figures are for; less than 4096 is for 4 bits and for data of few values. */
#define QRT_IFMR_BYTES_MIN 512U
#define QRT_IFMR_BYTES_MAX 32768U

/* The most samples an observer takes. */
#define QRT_IFMR_SAMPLES_MAX (((uint32_t)1 << 25) - 1U)

/* An observer. Set up by qrt_ifmr_init; the members are for reading. To move
 * one to another machine send cell_count .. extreme_count and the cells. */
struct qrt_ifmr_observer {
    uint64_t *cells;           /* the caller's storage, see ifmr_cells.h    */
    uint32_t cell_count;       /* bytes of it / 8                           */
    uint32_t samples;          /* finite values seen                        */
    uint32_t rejected;         /* NaN and infinities, not counted above     */
    uint32_t distinct[2];      /* values > 0, < 0 in the table of cells; 0
                                  once a histogram                          */
    uint32_t top;              /* 0: exact, else bins are 2^(top - 150) wide */
    uint32_t extreme[2];       /* largest magnitude > 0, < 0, as binary32
                                  pattern without sign; 0 for none          */
    uint32_t extreme_count[2]; /* how often each was seen                   */
};

/* Sets up an observer that has seen nothing.
 *
 * storage  of the caller, in use as long as the observer; cleared
 * bytes    its size, [QRT_IFMR_BYTES_MIN, QRT_IFMR_BYTES_MAX]; a rest below
 *          8 is not used
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_SIZE. */
enum qrt_status qrt_ifmr_init(struct qrt_ifmr_observer *o, uint64_t *storage,
                              uint32_t bytes);

/* Adds n samples. The typed functions are the ones to call; qrt_ifmr_add_any
 * takes s16, s32 and patterns. x being
 *
 *   f32  [n] binary32 patterns. NaN and infinities are left out and counted in
 *        o->rejected, the finite values are added
 *   s16  [n] Q(frac)
 *   s32  [n] Q(frac), rounded to 24 significant bits
 *
 * frac   [-90, 90]; not used for patterns, 0. Magnitudes below 2^-64 count as 0.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE (not set up), QRT_ERR_RANGE
 * (frac, type), QRT_ERR_FULL (more than QRT_IFMR_SAMPLES_MAX samples in all; nothing
 * was added), QRT_ERR_NOT_FINITE (some samples were left out). */
enum qrt_status qrt_ifmr_add_any(struct qrt_ifmr_observer *o,
                                 enum qrt_type type, const void *x, uint32_t n,
                                 int32_t frac);

static inline enum qrt_status qrt_ifmr_add_f32(struct qrt_ifmr_observer *o,
                                               const uint32_t *x, uint32_t n)
{
    return qrt_ifmr_add_any(o, QRT_BITS, x, n, 0);
}

static inline enum qrt_status qrt_ifmr_add_s16(struct qrt_ifmr_observer *o,
                                               const int16_t *x, uint32_t n,
                                               int32_t frac)
{
    return qrt_ifmr_add_any(o, QRT_S16, x, n, frac);
}

static inline enum qrt_status qrt_ifmr_add_s32(struct qrt_ifmr_observer *o,
                                               const int32_t *x, uint32_t n,
                                               int32_t frac)
{
    return qrt_ifmr_add_any(o, QRT_S32, x, n, frac);
}

/* Adds to `o` what `other` has seen; `other` is not changed.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE, QRT_ERR_MISMATCH (storage of
 * different size, or the same storage), QRT_ERR_FULL (nothing was added). */
enum qrt_status qrt_ifmr_merge(struct qrt_ifmr_observer *o,
                               const struct qrt_ifmr_observer *other);

/* How a result came about. */
enum qrt_ifmr_method {
    QRT_IFMR_EXACT,    /* from all distinct values                          */
    QRT_IFMR_HISTOGRAM /* from bins: an approximation                       */
};

/* What the samples were. */
enum qrt_ifmr_input {
    QRT_IFMR_LIVE,
    QRT_IFMR_DEAD /* all 0, or no candidate has a step of 2^-23 and more: the
                     step was set to 1, as AMCT does                        */
};

/* A result; numbers named ..._bits are binary32 patterns. */
struct qrt_ifmr_result {
    uint32_t scale_bits;        /* step: scale_d of a record               */
    int32_t zero_point;         /* offset_d; 0 when symmetric              */
    uint32_t clip_max_bits;     /* (H - 1 - zero_point) * step, H = 2^(b-1) */
    uint32_t clip_min_bits;     /* -(H + zero_point) * step                */
    uint32_t max_bits;          /* percentile maximum, >= 0                */
    uint32_t min_bits;          /* percentile minimum, <= 0                */
    uint32_t index;             /* of the ratio in the search table        */
    uint32_t samples, rejected; /* as in the observer                      */
    uint32_t cells;             /* capacity: distinct values, or bins      */
    enum qrt_ifmr_method method;
    enum qrt_ifmr_input input;
};

/* Searches the clip limit with the smallest squared error. The observer is not
 * changed and may go on.
 *
 * search      ratios finite, > 0, ascending; percentiles in (0.5, 1]
 * bits        4, 8 or 16; any from 4 to 16 is computed
 * asymmetric  true: with zero point
 * out         untouched on error
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE, QRT_ERR_RANGE (bits, search),
 * QRT_ERR_EMPTY (no sample: the layer is not calibrated), QRT_ERR_NOT_FINITE
 * (a step is too large for a binary32).
 * Source  AMCT custom_op/ifmr/ifmr_impl.py; percentile ranks above 1 are
 * interpolated inside a bin. */
enum qrt_status qrt_ifmr_finish(const struct qrt_ifmr_observer *o,
                                const struct qrt_ifmr *search, uint32_t bits,
                                bool asymmetric, struct qrt_ifmr_result *out);

#ifdef __cplusplus
}
#endif

#endif
