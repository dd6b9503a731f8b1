/* State of the exact IFMR search, shared by its files.
 *
 * ifmr_f32.c        the stages: collect, select, decide
 * ifmr_hist_f32.c   the table of the first pass, scalar on purpose
 * ifmr_bound_f32.c  bounds of every candidate's loss from the table
 * ifmr_loss_f32.c   exact losses, element by element
 * ifmr_save_f32.c   the state as portable bytes
 *
 * The table. A sample's magnitude pattern without its low 12 bits is its key:
 * 2048 keys per octave. Bin i > 0 of a sign counts the key base + i and sums
 * the low 12 bits of its samples, so count and sum of the values are exact
 * integers, whatever the order. Bin 0 counts everything at or below base. The
 * bins reach 16 octaves down; base follows the largest magnitude so that its
 * octave is the second from the top, and nothing but the largest magnitude
 * decides what the bins hold in the end. */
#ifndef QRT_IFMR_F32_PRIVATE_H
#define QRT_IFMR_F32_PRIVATE_H

#include "qrt_f32.h"
#include "f32.h"

#define IFMR_LOW_BITS 12u
#define IFMR_LOW_MASK 0xfffu
#define IFMR_OCTAVE   11u /* log2 of the bins per octave                   */
#define IFMR_OCTAVES  16
#define IFMR_BINS     32768u /* per sign                                   */
#define IFMR_TABLE    (2u * IFMR_BINS)
#define IFMR_LARGEST  16u   /* largest magnitudes kept per sign             */
#define IFMR_DIGIT    12u   /* bits that one selection pass finds           */
#define IFMR_BLOCK    4096u /* samples that are handled at a time          */
#define IFMR_PENDING  0x3ffffffu /* samples that fit the work table        */
#define IFMR_COUNT_AT 38u /* work table: count above, sum of low bits below */
#define IFMR_MAGIC    0x51494632u
#define IFMR_RATIOS   65535u

enum ifmr_stage {
    IFMR_COLLECT = 1, /* first pass: the table                             */
    IFMR_SELECT,      /* percentile limits that the table only encloses    */
    IFMR_DECIDE,      /* exact losses of the candidates that are left      */
    IFMR_DONE
};

enum ifmr_mark {
    IFMR_OUT,  /* its bound is above another candidate's                   */
    IFMR_LEFT, /* compared exactly                                         */
    IFMR_SAME  /* the same function as its predecessor                     */
};

/* A percentile limit on its way: the rank-th largest magnitude of a sign among
 * those that begin with prefix. */
struct ifmr_select {
    uint64_t rank;
    uint32_t prefix;
    uint32_t shift; /* bits not known yet; 0: done, prefix is the pattern  */
};

/* One sign's sums over the bins from i up, while the candidates are bounded. */
struct ifmr_sums {
    double count[IFMR_BINS + 1u];
    double sum[IFMR_BINS + 1u]; /* of the magnitudes */
};

struct ifmr_state {
    uint32_t magic;
    uint32_t stage;
    uint32_t bits;
    uint32_t asymmetric;
    uint32_t exact_loss;
    uint32_t ratio_count;
    double percentile[2]; /* of the maximum, of the minimum                */

    uint64_t samples; /* of the first pass                                 */
    uint64_t seen;    /* of the present pass, when it is a later one       */
    uint32_t passes;
    uint32_t pending; /* samples in the work table                         */
    int32_t base;     /* key of bin 0; may be negative                     */
    uint32_t largest_count[2];
    float max, min; /* extremes                                          */
    float limit[2]; /* max(0, percentile maximum), min(0, minimum)       */
    uint64_t rank[2];
    struct ifmr_select select[2];
    uint32_t largest[2][IFMR_LARGEST]; /* heaps, smallest pattern first    */
    struct qrt_ifmr_f32_result result; /* when done                        */

    uint64_t low[IFMR_TABLE];   /* sums of low bits; negative ones behind  */
    uint32_t count[IFMR_TABLE]; /* samples                                 */
    union {
        uint64_t table[IFMR_TABLE];           /* collect: count and sum */
        uint64_t digits[2][1u << IFMR_DIGIT]; /* select                 */
        struct ifmr_sums sums;                /* while bounding         */
    } work;
    double tail[]; /* [ratio_count] of bound, estimate, 2 sums, ratio, mark */
};

/* A candidate: its step, and the levels that its clip limits leave. */
struct ifmr_candidate {
    float scale;
    float lo, hi;       /* clip limits, real                               */
    int32_t kmin, kmax; /* their levels                                    */
    bool degenerate;    /* the step was replaced by 1                      */
};

static inline double *ifmr_bound(struct ifmr_state *s)
{
    return s->tail;
}

static inline double *ifmr_estimate(struct ifmr_state *s)
{
    return s->tail + s->ratio_count;
}

/* While the candidates are bounded: the lower sums. Later the exact ones. */
static inline double *ifmr_lower(struct ifmr_state *s)
{
    return s->tail + 2u * (size_t)s->ratio_count;
}

/* Exact sums of squares, two words each: high + low * 2^-30. */
static inline int64_t *ifmr_sum(struct ifmr_state *s)
{
    return (int64_t *)(void *)(s->tail + 2u * (size_t)s->ratio_count);
}

static inline float *ifmr_ratio(struct ifmr_state *s)
{
    return (float *)(void *)(s->tail + 4u * (size_t)s->ratio_count);
}

static inline uint8_t *ifmr_marks(struct ifmr_state *s)
{
    return (uint8_t *)(ifmr_ratio(s) + s->ratio_count);
}

/* Lower end of bin i >= 1 whose key is not negative. */
static inline float ifmr_edge(const struct ifmr_state *s, uint32_t i)
{
    return f32_from_bits((uint32_t)(s->base + (int32_t)i) << IFMR_LOW_BITS);
}

/* ifmr_f32.c: the state behind a caller's pointer, or null. */
struct ifmr_state *ifmr_state_of(void *state);
bool ifmr_config_ok(const struct qrt_ifmr_f32_config *cfg);
/* Brings the table into the form that only the samples decide. */
void ifmr_settle(struct ifmr_state *s);
enum qrt_status ifmr_candidate_at(struct ifmr_state *s, uint32_t i,
                                  struct ifmr_candidate *c);
int32_t ifmr_base_for(float max, float min);
uint64_t ifmr_rank(const struct ifmr_state *s, uint32_t side);
/* Bounds and marks as ifmr_bound_all, and empty exact sums. */
enum qrt_status ifmr_prepare_decide(struct ifmr_state *s, uint32_t *left,
                                    double *error);
/* e such that an error times 2^-e is at most 2; [-126, 127]. */
int32_t ifmr_error_exponent(const struct ifmr_state *s);

/* ifmr_hist_f32.c: adds n finite samples, none above the top of the table. */
void ifmr_histogram(const float *x, size_t n, int32_t base, uint64_t *table);

/* ifmr_bound_f32.c: sets bounds, estimates and marks; *left candidates are
 * marked IFMR_LEFT; *error bounds estimate - true sum of squares. */
enum qrt_status ifmr_bound_all(struct ifmr_state *s, uint32_t *left,
                               double *error);
/* Samples outside [lo, hi], lo < 0 < hi. */
double ifmr_outside(const struct ifmr_state *s, double lo, double hi);

/* ifmr_loss_f32.c: adds the squared errors of a candidate over n samples. */
void ifmr_add_loss(const float *x, size_t n, const struct ifmr_candidate *c,
                   float factor, int64_t sum[2]);

#endif
