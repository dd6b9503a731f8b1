/* Bounds for the loss of every IFMR candidate from the table of one pass.
 *
 * Moving x from level k to k + 1 of a step s changes its squared error by
 * -2 s (x - (k + 1/2) s). Summed over the levels, with
 * G(t) = sum of max(|x| - t, 0) over one sign,
 *
 *     N * loss = sum x^2 - 2 s * (sum_k G+((k + 1/2) s) + sum_k G-((k + 1/2) s))
 *
 * over the levels the clip limits leave. sum x^2 is common to all candidates.
 * All bins but the one that holds t give G(t) exactly; that bin, with n values
 * of sum S in [a, z), gives
 *
 *     max(0, S - n t)  <=  G_bin(t)  <=  (S - n a)(z - t) / (z - a)
 *
 * by convexity. So each candidate has an enclosure of its loss; a candidate
 * whose enclosure lies above another's cannot win. docs/fixed-point.md derives
 * the allowances below. */
#include "ifmr_f32.h"

/* Sums of 2^15 terms in binary64: relative 2^-38. */
#define SUM_ERROR 3.637978807091713e-12
/* AMCT's element is not ideal: product, difference and a quotient next to a
 * level boundary move its error by at most 2^-22 |x|. */
#define ELEMENT_ERROR 2.384185791015625e-07

struct bin {
    double n, sum;    /* samples, sum of their magnitudes */
    double low, high; /* [low, high)                      */
};

static struct bin bin_at(const struct ifmr_state *s, uint32_t side, uint32_t i)
{
    struct bin b = {0};
    uint32_t at = side * IFMR_BINS + i;
    b.n = (double)s->count[at];
    if (i == 0 || s->count[at] == 0)
        return b;
    b.low = (double)ifmr_edge(s, i);
    /* The edge above the largest finite key is infinity; 2^128 serves. */
    uint32_t key = (uint32_t)(s->base + (int32_t)i);
    float ulp = ifmr_edge(s, i);
    ulp = f32_from_bits((key << IFMR_LOW_BITS) + 1u) - ulp;
    b.sum = b.n * b.low + (double)s->low[at] * (double)ulp;
    b.high = b.low + 4096.0 * (double)ulp;
    return b;
}

/* What the samples give besides the cumulated sums. */
struct totals {
    double square;       /* sum x^2, each bin taken as evenly filled        */
    double uncertain;    /* bounds the error of that                        */
    double magnitude[2]; /* sum |x| per sign                               */
    double rest[2];      /* samples in bin 0                                */
    double rest_edge;    /* their upper end                                 */
    uint32_t top[2];     /* bins above this one are empty                   */
};

static void cumulate_side(struct ifmr_state *s, uint32_t side, struct totals *t)
{
    double count = 0.0, sum = 0.0;
    double *counts = s->work.sums.count[side], *sums = s->work.sums.sum[side];
    counts[IFMR_GROUPS] = sums[IFMR_GROUPS] = 0.0;
    t->top[side] = 0;
    for (uint32_t g = IFMR_GROUPS; g-- > 0;) {
        for (uint32_t i = (g + 1u) * IFMR_GROUP; i-- > g * IFMR_GROUP;) {
            if (s->count[side * IFMR_BINS + i] == 0 || i == 0)
                continue;
            struct bin b = bin_at(s, side, i);
            double width = b.high - b.low;
            count += b.n;
            sum += b.sum;
            t->square += b.sum / b.n * b.sum + b.n * width * width / 12.0;
            t->uncertain += b.n * width * width / 6.0;
            t->top[side] = t->top[side] ? t->top[side] : i;
        }
        counts[g] = count;
        sums[g] = sum;
    }
    t->magnitude[side] = sum;
    t->rest[side] = (double)s->count[side * IFMR_BINS];
    t->uncertain += t->rest[side] * t->rest_edge * t->rest_edge;
}

/* The bin of a threshold in (0, 2^128), which need not be a binary32: its key
 * is read from the binary64 pattern. 0 and less: in bin 0. */
static int32_t bin_of(const struct ifmr_state *s, double t)
{
    int64_t key = (int64_t)(f64_bits(t) >> (52u - IFMR_OCTAVE));
    return (int32_t)(key - ((int64_t)(1023 - 127) << IFMR_OCTAVE)) - s->base;
}

struct enclosure {
    double lo, hi, mid;
};

/* G_bin(t) of the bin that holds t. The middle is an evenly filled bin,
 * corrected by its mean. */
static void bin_excess(struct bin b, double t, struct enclosure *e)
{
    double over = b.sum - b.n * t, above = b.high - t;
    double lo = over > 0.0 ? over : 0.0;
    double width = b.high - b.low;
    double hi = (b.sum - b.n * b.low) * above / width;
    double even = b.n * above * above / (2.0 * width);
    double mid = even + 0.5 * (b.sum - b.n * 0.5 * (b.low + b.high));
    mid = mid > lo ? mid : lo;
    e->lo += lo;
    e->hi += hi;
    e->mid += mid < hi ? mid : hi;
}

/* Sum of G over the level boundaries of one sign. */
static void excess(const struct ifmr_state *s, uint32_t side,
                   const struct totals *tot, double scale, int32_t levels,
                   struct enclosure *e)
{
    const struct ifmr_sums *sums = &s->work.sums;
    for (int32_t k = 0; k < levels; k++) {
        double t = ((double)k + 0.5) * scale;
        int32_t at = bin_of(s, t);
        if (at > (int32_t)tot->top[side])
            return;
        uint32_t i = at > 0 ? (uint32_t)at : 0u;
        uint32_t g = i / IFMR_GROUP + 1u;
        double count = sums->count[side][g], sum = sums->sum[side][g];
        for (uint32_t j = i + 1u; j < g * IFMR_GROUP; j++) {
            if (s->count[side * IFMR_BINS + j] == 0)
                continue;
            struct bin b = bin_at(s, side, j);
            count += b.n;
            sum += b.sum;
        }
        double above = sum - t * count;
        e->lo += above;
        e->hi += above;
        e->mid += above;
        if (i == 0)
            e->hi += tot->rest[side] *
                     (tot->rest_edge > t ? tot->rest_edge - t : 0.0);
        else if (s->count[side * IFMR_BINS + i])
            bin_excess(bin_at(s, side, i), t, e);
    }
}

/* Square root, relative 2^-20 and better. */
static double square_root(double v)
{
    if (!(v > 0.0))
        return 0.0;
    double r = f64_from_bits((f64_bits(v) + f64_bits(1.0)) >> 1);
    for (uint32_t i = 0; i < 4u; i++)
        r = 0.5 * (r + v / r);
    return r;
}

/* How far the sum of squares of AMCT's binary32 elements, and our own sums,
 * may lie outside the enclosure. */
static double allowance(const struct totals *t, const struct ifmr_candidate *c,
                        double least)
{
    double scale = (double)c->scale;
    double square = t->square + t->uncertain;
    double loss = square - 2.0 * scale * least;
    loss = loss > 0.0 ? loss : 0.0;
    double sums =
        (double)c->kmax * t->magnitude[0] - (double)c->kmin * t->magnitude[1];
    return 2.0 * scale * SUM_ERROR * sums + ELEMENT_ERROR * loss +
           2.0 * ELEMENT_ERROR * square_root(loss * square) +
           ELEMENT_ERROR * ELEMENT_ERROR * square;
}

static bool same_function(const struct ifmr_candidate *a,
                          const struct ifmr_candidate *b)
{
    return f32_bits(a->scale) == f32_bits(b->scale) && a->kmin == b->kmin &&
           a->kmax == b->kmax;
}

/* Bounds of candidate i, relative to sum x^2; returns the upper one. *width
 * becomes the largest distance of two bounds. */
static double bound_one(struct ifmr_state *s, const struct totals *t,
                        uint32_t i, const struct ifmr_candidate *c,
                        double *width)
{
    struct enclosure e = {0};
    double scale = (double)c->scale;
    excess(s, 0, t, scale, c->kmax, &e);
    excess(s, 1, t, scale, -c->kmin, &e);
    double allow = allowance(t, c, e.lo);
    ifmr_bound(s)[i] = -2.0 * scale * e.hi - allow;
    double mid = t->square - 2.0 * scale * e.mid;
    ifmr_estimate(s)[i] = mid > 0.0 ? mid : 0.0;
    double upper = -2.0 * scale * e.lo + allow;
    *width =
        upper - ifmr_bound(s)[i] > *width ? upper - ifmr_bound(s)[i] : *width;
    return upper;
}

static void cumulate(struct ifmr_state *s, struct totals *t)
{
    t->square = t->uncertain = 0.0;
    t->rest_edge = s->base >= 0 ? (double)ifmr_edge(s, 1) : 0.0;
    cumulate_side(s, 0, t);
    cumulate_side(s, 1, t);
}

/* Levels denser than the bins: the table cannot tell, all are compared. */
static bool too_fine(const struct ifmr_state *s)
{
    return s->bits > 10u;
}

enum qrt_status ifmr_bound_all(struct ifmr_state *s, uint32_t *left,
                               double *error)
{
    struct totals t;
    cumulate(s, &t);
    struct ifmr_candidate c, last = {0};
    double least = 0.0, width = 0.0, *bound = ifmr_bound(s),
           *estimate = ifmr_estimate(s);
    uint8_t *marks = ifmr_marks(s);
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        enum qrt_status st = ifmr_candidate_at(s, i, &c);
        if (st != QRT_OK)
            return st;
        marks[i] = i && same_function(&c, &last) ? IFMR_SAME : IFMR_LEFT;
        last = c;
        if (marks[i] == IFMR_SAME) {
            bound[i] = bound[i - 1u];
            estimate[i] = estimate[i - 1u];
        } else if (too_fine(s)) {
            bound[i] = 0.0;
            estimate[i] = 0.0;
        } else {
            double upper = bound_one(s, &t, i, &c, &width);
            least = i == 0 || upper < least ? upper : least;
        }
    }
    *left = 0;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        if (marks[i] == IFMR_LEFT && bound[i] > least)
            marks[i] = IFMR_OUT;
        *left += marks[i] == IFMR_LEFT ? 1u : 0u;
    }
    *error = t.uncertain + width;
    return QRT_OK;
}

/* Samples of one sign above t > 0. */
static double above(const struct ifmr_state *s, uint32_t side, double t)
{
    int32_t at = bin_of(s, t);
    double n = 0.0;
    for (uint32_t i = at > 0 ? (uint32_t)at : 1u; i < IFMR_BINS; i++) {
        struct bin b = bin_at(s, side, i);
        if ((int32_t)i == at && b.n > 0.0)
            b.n *= (b.high - t) / (b.high - b.low);
        n += b.n;
    }
    return n;
}

double ifmr_outside(const struct ifmr_state *s, double lo, double hi)
{
    return above(s, 0, hi) + above(s, 1, -lo);
}
