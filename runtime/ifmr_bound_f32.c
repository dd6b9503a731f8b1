/* Bounds for the loss of every IFMR candidate from the table of one pass.
 *
 * Moving x from level k to k + 1 of a step s changes its squared error by
 * -2 s (x - (k + 1/2) s). Summed over the levels, with
 * G(t) = sum of max(|x| - t, 0) over one sign,
 *
 *     N * loss = sum x^2 - 2 s * sum_k (G+((k + 1/2) s) + G-((k + 1/2) s))
 *
 * over the levels the clip limits leave. sum x^2 is common to all candidates.
 * All bins but the one that holds t give G(t) exactly; that bin, with n values
 * of sum S in [a, z), gives
 *
 *     max(0, S - n t)  <=  G_bin(t)  <=  (S - n a)(z - t) / (z - a)
 *
 * by convexity. So each candidate has an enclosure of its loss; a candidate
 * whose enclosure lies above another's cannot win. One sign is done for all
 * candidates before the other: the cumulated sums of one fill the work area.
 * docs/ifmr.md derives the allowances below. */
#include "ifmr_f32.h"

/* Sums of 2^15 terms in binary64: relative 2^-38. */
#define SUM_ERROR 3.637978807091713e-12
/* AMCT's element is not ideal: product, difference and a quotient next to a
 * level boundary move its error by at most 2^-22 |x|. */
#define ELEMENT_ERROR 2.384185791015625e-07
#define BIN_UNITS     4096.0 /* units of the low bits in a bin */

/* What the samples give besides the cumulated sums. */
struct totals {
    double square;       /* sum x^2, each bin taken as evenly filled       */
    double uncertain;    /* bounds the error of that                       */
    double magnitude[2]; /* sum |x| per sign                               */
    double rest[2];      /* samples in bin 0                               */
    double rest_edge;    /* their upper end                                */
};

/* Bins of one octave: bin i starts at (first + 4096 * (i - from)) * ulp. */
struct octave {
    double first, ulp;
};

static struct octave octave_at(const struct ifmr_state *s, uint32_t i)
{
    uint32_t u = (uint32_t)(s->base + (int32_t)i) << IFMR_LOW_BITS;
    struct octave o;
    double low = (double)f32_from_bits(u);
    o.ulp = (double)f32_from_bits(u + 1u) - low;
    o.first = low / o.ulp;
    return o;
}

/* Cumulates the bins from..to - 1, which belong to one octave, on top of
 * count[to] and sum[to]. Values in units of the octave. */
static void cumulate_octave(struct ifmr_state *s, uint32_t side, uint32_t from,
                            uint32_t to, struct totals *t)
{
    const struct octave o = octave_at(s, from);
    const uint32_t *count = s->count + side * IFMR_BINS;
    const uint64_t *low = s->low + side * IFMR_BINS;
    double *counts = s->work.sums.count, *sums = s->work.sums.sum;
    double c = counts[to], base = sums[to], here = 0.0, square = 0.0;
    double edge = o.first + BIN_UNITS * (double)(to - from);
    for (uint32_t i = to; i-- > from;) {
        edge -= BIN_UNITS; /* exact */
        if (count[i]) {
            double n = (double)count[i];
            double v = n * edge + (double)(int64_t)low[i];
            c += n;
            here += v;
            square += v / n * v;
        }
        counts[i] = c;
        sums[i] = base + here * o.ulp;
    }
    double width = BIN_UNITS * o.ulp;
    double spread = (c - counts[to]) * width * width;
    t->square += square * o.ulp * o.ulp + spread * (1.0 / 12.0);
    t->uncertain += spread * (1.0 / 6.0);
}

static void cumulate(struct ifmr_state *s, uint32_t side, struct totals *t)
{
    const uint32_t per = 1u << IFMR_OCTAVE;
    s->work.sums.count[IFMR_BINS] = 0.0;
    s->work.sums.sum[IFMR_BINS] = 0.0;
    /* Bin 0 is no part of its octave: what is in it has no known value. */
    for (uint32_t to = IFMR_BINS; to > 0; to -= per)
        cumulate_octave(s, side, to - per + (to == per ? 1u : 0u), to, t);
    t->magnitude[side] = s->work.sums.sum[1];
    t->rest[side] = (double)s->count[side * IFMR_BINS];
    t->uncertain += t->rest[side] * t->rest_edge * t->rest_edge;
}

/* The bin of a threshold in (0, 2^128), which need not be a binary32: its key
 * is read from the binary64 pattern. */
static int32_t bin_of(const struct ifmr_state *s, double t)
{
    int64_t key = (int64_t)(f64_bits(t) >> (52u - IFMR_OCTAVE));
    return (int32_t)(key - ((int64_t)(1023 - 127) << IFMR_OCTAVE)) - s->base;
}

struct bin {
    double n, sum;    /* samples, sum of their magnitudes */
    double low, high; /* [low, high)                      */
};

static struct bin bin_at(const struct ifmr_state *s, uint32_t side, uint32_t i)
{
    uint32_t u = (uint32_t)(s->base + (int32_t)i) << IFMR_LOW_BITS;
    struct bin b;
    b.n = (double)s->count[side * IFMR_BINS + i];
    b.low = (double)f32_from_bits(u);
    double ulp = (double)f32_from_bits(u + 1u) - b.low;
    /* Signed: one instruction where an unsigned conversion takes ten. */
    int64_t units = (int64_t)s->low[side * IFMR_BINS + i];
    b.sum = b.n * b.low + (double)units * ulp;
    b.high = b.low + BIN_UNITS * ulp; /* 2^128 above the last finite key */
    return b;
}

/* The bin i > 0 that holds t, with its n samples: its lower end is t cut to the
 * bits of a key, its width one unit of them. */
static struct bin bin_around(const struct ifmr_state *s, uint32_t side,
                             uint32_t i, double n, double t)
{
    const uint64_t exponent = (uint64_t)0x7ff << 52;
    const uint64_t cut = ((uint64_t)1 << (52u - IFMR_OCTAVE)) - 1u;
    uint64_t u = f64_bits(t);
    int64_t units = (int64_t)s->low[side * IFMR_BINS + i];
    struct bin b;
    double width =
        f64_from_bits((u & exponent) - ((uint64_t)IFMR_OCTAVE << 52));
    b.n = n;
    b.low = f64_from_bits(u & ~cut);
    b.sum = n * b.low + (double)units * (width * (1.0 / BIN_UNITS));
    b.high = b.low + width;
    return b;
}

struct enclosure {
    double lo, hi, mid;
};

/* G_bin(t) of the bin that holds t. The middle is an evenly filled bin,
 * corrected by its mean. */
static void bin_excess(struct bin b, double t, struct enclosure *e)
{
    double over = b.sum - b.n * t, rest = b.high - t;
    double lo = over > 0.0 ? over : 0.0;
    double part = rest / (b.high - b.low);
    double hi = (b.sum - b.n * b.low) * part;
    double mid =
        0.5 * (b.n * rest * part + b.sum - 0.5 * b.n * (b.low + b.high));
    mid = mid > lo ? mid : lo;
    e->lo += lo;
    e->hi += hi;
    e->mid += mid < hi ? mid : hi;
}

/* Sum of G over the level boundaries of one sign. */
static struct enclosure excess(const struct ifmr_state *s, uint32_t side,
                               const struct totals *tot, double scale,
                               int32_t levels)
{
    const double *counts = s->work.sums.count, *sums = s->work.sums.sum;
    struct enclosure e = {0};
    double exact = 0.0;
    for (int32_t k = 0; k < levels; k++) {
        double t = ((double)k + 0.5) * scale;
        int32_t at = bin_of(s, t);
        /* Above all samples; the other levels are higher still. */
        if (at >= (int32_t)IFMR_BINS)
            break;
        uint32_t i = at > 0 ? (uint32_t)at : 0u;
        if (i && !(counts[i] > 0.0))
            break;
        exact += sums[i + 1u] - t * counts[i + 1u];
        double n = i ? counts[i] - counts[i + 1u] : tot->rest[side];
        if (i == 0 && t < tot->rest_edge)
            e.hi += n * (tot->rest_edge - t);
        else if (i && n > 0.0)
            bin_excess(bin_around(s, side, i, n, t), t, &e);
    }
    e.lo += exact;
    e.hi += exact;
    e.mid += exact;
    return e;
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

/* Adds one sign's sums of G to those of candidate i. */
static void add_excess(struct ifmr_state *s, uint32_t side,
                       const struct totals *t, uint32_t i,
                       const struct ifmr_candidate *c)
{
    struct enclosure e =
        excess(s, side, t, (double)c->scale, side ? -c->kmin : c->kmax);
    ifmr_lower(s)[i] += e.lo;
    ifmr_bound(s)[i] += e.hi;
    ifmr_estimate(s)[i] += e.mid;
}

static bool same_function(const struct ifmr_candidate *a,
                          const struct ifmr_candidate *b)
{
    return f32_bits(a->scale) == f32_bits(b->scale) && a->kmin == b->kmin &&
           a->kmax == b->kmax;
}

/* Checks all candidates; marks those that repeat their predecessor. */
static enum qrt_status mark_all(struct ifmr_state *s, uint32_t *left)
{
    struct ifmr_candidate c, last = {0};
    *left = 0;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        enum qrt_status st = ifmr_candidate_at(s, i, &c);
        if (st != QRT_OK)
            return st;
        bool same = i && same_function(&c, &last);
        ifmr_marks(s)[i] = same ? IFMR_SAME : IFMR_LEFT;
        ifmr_lower(s)[i] = ifmr_bound(s)[i] = ifmr_estimate(s)[i] = 0.0;
        *left += same ? 0u : 1u;
        last = c;
    }
    return QRT_OK;
}

static void add_side(struct ifmr_state *s, uint32_t side, struct totals *t)
{
    cumulate(s, side, t);
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        struct ifmr_candidate c;
        if (ifmr_marks(s)[i] == IFMR_LEFT &&
            ifmr_candidate_at(s, i, &c) == QRT_OK)
            add_excess(s, side, t, i, &c);
    }
}

/* Turns the sums of G of a candidate into bounds relative to sum x^2; returns
 * the upper one and widens *width to the distance of the two. */
static double bound_one(struct ifmr_state *s, const struct totals *t,
                        uint32_t i, const struct ifmr_candidate *c,
                        double *width)
{
    double twice = 2.0 * (double)c->scale, lower = ifmr_lower(s)[i];
    double allow = allowance(t, c, lower);
    double bound = -twice * ifmr_bound(s)[i] - allow;
    double upper = -twice * lower + allow;
    double mid = t->square - twice * ifmr_estimate(s)[i];
    ifmr_bound(s)[i] = bound;
    ifmr_estimate(s)[i] = mid > 0.0 ? mid : 0.0;
    *width = upper - bound > *width ? upper - bound : *width;
    return upper;
}

/* Bounds of all candidates; returns the least upper one. */
static double bound_each(struct ifmr_state *s, const struct totals *t,
                         double *width)
{
    double least = 0.0, *bound = ifmr_bound(s), *estimate = ifmr_estimate(s);
    *width = 0.0;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        struct ifmr_candidate c;
        if (ifmr_marks(s)[i] == IFMR_SAME) {
            bound[i] = bound[i - 1u];
            estimate[i] = estimate[i - 1u];
        } else if (ifmr_candidate_at(s, i, &c) == QRT_OK) {
            double upper = bound_one(s, t, i, &c, width);
            least = i == 0 || upper < least ? upper : least;
        }
    }
    return least;
}

enum qrt_status ifmr_bound_all(struct ifmr_state *s, uint32_t *left,
                               double *error)
{
    struct totals t = {0};
    double least, width;
    *error = 0.0;
    enum qrt_status st = mark_all(s, left);
    /* Levels denser than the bins: the table cannot tell, all are compared. */
    if (st != QRT_OK || (s->bits > 10u && *left > 1u))
        return st;
    t.rest_edge = s->base >= 0 ? (double)ifmr_edge(s, 1) : 0.0;
    add_side(s, 0, &t);
    add_side(s, 1, &t);
    least = bound_each(s, &t, &width);
    *left = 0;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        if (ifmr_marks(s)[i] == IFMR_LEFT && ifmr_bound(s)[i] > least)
            ifmr_marks(s)[i] = IFMR_OUT;
        *left += ifmr_marks(s)[i] == IFMR_LEFT ? 1u : 0u;
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
        if (s->count[side * IFMR_BINS + i] == 0)
            continue;
        struct bin b = bin_at(s, side, i);
        if ((int32_t)i == at)
            b.n *= (b.high - t) / (b.high - b.low);
        n += b.n;
    }
    return n;
}

double ifmr_outside(const struct ifmr_state *s, double lo, double hi)
{
    return above(s, 0, hi) + above(s, 1, -lo);
}
