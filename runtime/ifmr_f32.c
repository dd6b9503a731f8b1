/* IFMR, AMCT's definition, exact for any number of samples in 1.3 MiB.
 *
 * First pass: a table of the samples (ifmr_f32.h), the extremes, and the
 * largest magnitudes of each sign. finish() derives the percentile limits and
 * the candidates, bounds every candidate's loss from the table and is done if
 * one is left, as a rule. Otherwise it asks for the samples once more: to
 * find a percentile limit inside a bin (select), to compare the candidates
 * that are left (decide). */
#include "ifmr_f32.h"

#define KEEP_PART 64u /* samples that are looked through for large ones */

/* ------------------------------------------------------------------ setup */

/* Not "x > 0 and x <= 1" so that NaN fails. */
static bool percentile_ok(double p)
{
    return p > 0.0 && p <= 1.0;
}

bool ifmr_config_ok(const struct qrt_ifmr_f32_config *cfg)
{
    if (cfg->bits < 2u || cfg->bits > 16u || cfg->ratio_count == 0 ||
        cfg->ratio_count > IFMR_RATIOS)
        return false;
    if (!percentile_ok(cfg->max_percentile) ||
        !percentile_ok(cfg->min_percentile))
        return false;
    for (uint32_t i = 0; i < cfg->ratio_count; i++)
        if (!f32_finite(cfg->ratios[i]) || !(cfg->ratios[i] > 0.0f))
            return false;
    return true;
}

uint32_t qrt_ifmr_f32_ratio_count(double start, double end, double step)
{
    double width = end - start;
    if (!(step > 0.0) || !(width > 0.0))
        return 0;
    double q = width / step;
    if (!(q <= (double)IFMR_RATIOS))
        return 0;
    uint32_t k = (uint32_t)q;
    return (double)k < q ? k + 1u : k;
}

void qrt_ifmr_f32_ratios(double start, double step, uint32_t count,
                         float *ratios)
{
    for (uint32_t i = 0; i < count; i++)
        ratios[i] = (float)(start + (double)i * step);
}

size_t qrt_ifmr_f32_state_size(uint32_t ratio_count)
{
    if (ratio_count == 0 || ratio_count > IFMR_RATIOS)
        return 0;
    return sizeof(struct ifmr_state) + (size_t)ratio_count * 37u;
}

static bool aligned(const void *p)
{
    return (uintptr_t)p % sizeof(uint64_t) == 0;
}

struct ifmr_state *ifmr_state_of(void *state)
{
    if (!state || !aligned(state))
        return NULL;
    struct ifmr_state *s = state;
    return s->magic == IFMR_MAGIC ? s : NULL;
}

/* 1 when a percentile is (nearly) 1, else what AMCT's int() leaves. */
static uint64_t rank_of(double percentile, uint64_t n)
{
    if (1.0 - percentile < 1.192092896e-7)
        return 1;
    return n - (uint64_t)(percentile * (double)n);
}

uint64_t ifmr_rank(const struct ifmr_state *s, uint32_t side)
{
    return rank_of(s->percentile[side], s->samples);
}

static void clear_work(struct ifmr_state *s)
{
    for (uint32_t i = 0; i < IFMR_TABLE; i++)
        s->work.table[i] = 0;
}

int32_t ifmr_base_for(float max, float min)
{
    uint32_t a = f32_bits(max) & F32_ABS, b = f32_bits(min) & F32_ABS;
    uint32_t octave = (a > b ? a : b) >> (IFMR_LOW_BITS + IFMR_OCTAVE);
    return ((int32_t)octave + 2 - IFMR_OCTAVES) * (int32_t)(1u << IFMR_OCTAVE);
}

static void copy_config(struct ifmr_state *s,
                        const struct qrt_ifmr_f32_config *cfg)
{
    s->bits = cfg->bits;
    s->asymmetric = cfg->asymmetric;
    s->exact_loss = cfg->exact_loss;
    s->ratio_count = cfg->ratio_count;
    s->percentile[0] = cfg->max_percentile;
    s->percentile[1] = cfg->min_percentile;
    float *ratio = ifmr_ratio(s);
    for (uint32_t i = 0; i < cfg->ratio_count; i++)
        ratio[i] = cfg->ratios[i];
}

static void clear_side(struct ifmr_state *s, uint32_t side)
{
    /* A percentile of 1 never asks for more than the largest. */
    bool one = rank_of(s->percentile[side], UINT32_MAX) == 1;
    s->largest_count[side] = one ? 1u : IFMR_LARGEST;
    for (uint32_t i = 0; i < IFMR_LARGEST; i++)
        s->largest[side][i] = 0;
    s->limit[side] = 0.0f;
    s->rank[side] = 0;
    s->select[side].rank = 0;
    s->select[side].prefix = 0;
    s->select[side].shift = 0;
}

enum qrt_status qrt_ifmr_f32_init(void *state, size_t size,
                                  const struct qrt_ifmr_f32_config *cfg)
{
    if (!state || !cfg || !cfg->ratios)
        return QRT_ERR_NULL;
    if (!aligned(state) || !ifmr_config_ok(cfg))
        return QRT_ERR_RANGE;
    if (size < qrt_ifmr_f32_state_size(cfg->ratio_count))
        return QRT_ERR_SCRATCH;
    struct ifmr_state *s = state;
    copy_config(s, cfg);
    s->samples = s->seen = 0;
    s->passes = s->pending = 0;
    s->base = ifmr_base_for(0.0f, 0.0f);
    s->max = s->min = 0.0f;
    clear_side(s, 0);
    clear_side(s, 1);
    for (uint32_t i = 0; i < IFMR_TABLE; i++) {
        s->low[i] = 0;
        s->count[i] = 0;
    }
    clear_work(s);
    s->stage = IFMR_COLLECT;
    s->magic = IFMR_MAGIC;
    return QRT_OK;
}

/* -------------------------------------------- the largest magnitudes kept */

/* Replaces the smallest of the heap. */
static void heap_push(uint32_t *heap, uint32_t n, uint32_t value)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2u * at + 1u;
        if (child >= n)
            break;
        if (child + 1u < n && heap[child + 1u] < heap[child])
            child += 1u;
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

static void keep(struct ifmr_state *s, uint32_t side, uint32_t magnitude)
{
    if (magnitude > s->largest[side][0])
        heap_push(s->largest[side], s->largest_count[side], magnitude);
}

/* Whether any of the values may be among the largest: a test that vectorises,
 * since nearly every block has one of them in its 4096 samples. */
F32_ROW static uint32_t any_beyond(const float *x, size_t n, float hi, float lo)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (uint32_t)(x[i] > hi) | (uint32_t)(x[i] < lo);
    return any;
}

static void keep_block(struct ifmr_state *s, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += KEEP_PART) {
        size_t m = n - i < KEEP_PART ? n - i : KEEP_PART;
        if (!any_beyond(x + i, m, f32_from_bits(s->largest[0][0]),
                        -f32_from_bits(s->largest[1][0])))
            continue;
        for (size_t j = 0; j < m; j++) {
            uint32_t u = f32_bits(x[i + j]);
            keep(s, u >> 31, u & F32_ABS);
        }
    }
}

/* Ascending order is a heap too, and the same for every order of arrival. */
static void sort_kept(struct ifmr_state *s, uint32_t side)
{
    uint32_t *a = s->largest[side];
    for (uint32_t i = 1; i < s->largest_count[side]; i++) {
        uint32_t v = a[i], j = i;
        for (; j > 0 && a[j - 1u] > v; j--)
            a[j] = a[j - 1u];
        a[j] = v;
    }
}

/* -------------------------------------------------------------- the table */

static void flush(struct ifmr_state *s)
{
    const uint64_t sum_mask = ((uint64_t)1 << IFMR_COUNT_AT) - 1u;
    for (uint32_t i = 0; i < IFMR_TABLE; i++) {
        uint64_t v = s->work.table[i];
        if (v == 0)
            continue;
        s->count[i] += (uint32_t)(v >> IFMR_COUNT_AT);
        s->low[i] += v & sum_mask;
        s->work.table[i] = 0;
    }
    s->low[0] = s->low[IFMR_BINS] = 0;
    s->pending = 0;
}

/* Moves one sign's bins down; what falls out is counted in bin 0. */
static void shift_side(struct ifmr_state *s, uint32_t side, uint32_t by)
{
    uint32_t *count = s->count + side * IFMR_BINS;
    uint64_t *low = s->low + side * IFMR_BINS;
    uint32_t gone = 0, kept = by < IFMR_BINS ? IFMR_BINS - by : 1u;
    for (uint32_t i = 0; i <= IFMR_BINS - kept; i++)
        gone += count[i];
    for (uint32_t i = 1; i < kept; i++)
        count[i] = count[i + by];
    for (uint32_t i = 1; i < kept; i++)
        low[i] = low[i + by];
    for (uint32_t i = kept; i < IFMR_BINS; i++) {
        count[i] = 0;
        low[i] = 0;
    }
    count[0] = gone;
}

/* Raises the base; an empty work table is the caller's business. */
static void raise_base(struct ifmr_state *s, int32_t base)
{
    if (base <= s->base)
        return;
    uint32_t by = (uint32_t)(base - s->base);
    s->base = base;
    shift_side(s, 0, by);
    shift_side(s, 1, by);
}

void ifmr_settle(struct ifmr_state *s)
{
    if (s->stage != IFMR_COLLECT)
        return;
    flush(s);
    raise_base(s, ifmr_base_for(s->max, s->min));
    sort_kept(s, 0);
    sort_kept(s, 1);
}

/* Makes room for magnitudes up to those of the block. */
static void make_room(struct ifmr_state *s, float max, float min)
{
    int32_t base = ifmr_base_for(max, min);
    /* The octave of the block is the second from the top of its own window, so
     * it still fits one octave further down. */
    if (base <= s->base + (int32_t)(1u << IFMR_OCTAVE))
        return;
    if (s->samples) {
        flush(s);
        raise_base(s, base);
    }
    s->base = base;
}

static float max_of(float a, float b)
{
    return a > b ? a : b;
}

static float min_of(float a, float b)
{
    return a < b ? a : b;
}

/* One block of the first pass; at most IFMR_BLOCK samples. */
static enum qrt_status collect_block(struct ifmr_state *s, const float *x,
                                     size_t n)
{
    struct f32_extremes e = {x[0], x[0], 0};
    f32_extremes(&e, x, n);
    if (e.mark)
        return QRT_ERR_NOT_FINITE;
    if (s->pending > IFMR_PENDING - (uint32_t)n)
        flush(s);
    make_room(s, e.max, e.min);
    /* + 0: which zero came first must not show. */
    s->max = (s->samples ? max_of(s->max, e.max) : e.max) + 0.0f;
    s->min = (s->samples ? min_of(s->min, e.min) : e.min) + 0.0f;
    if (e.max > f32_from_bits(s->largest[0][0]) ||
        -e.min > f32_from_bits(s->largest[1][0]))
        keep_block(s, x, n);
    ifmr_histogram(x, n, s->base, s->work.table);
    s->pending += (uint32_t)n;
    s->samples += n;
    return QRT_OK;
}

/* ------------------------------------------------------------ later passes */

static uint32_t digit_width(const struct ifmr_select *sel)
{
    return sel->shift < IFMR_DIGIT ? sel->shift : IFMR_DIGIT;
}

static void select_block(struct ifmr_state *s, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u = f32_bits(x[i]), side = u >> 31, m = u & F32_ABS;
        const struct ifmr_select *sel = &s->select[side];
        if (sel->shift == 0 || m >> sel->shift != sel->prefix)
            continue;
        uint32_t width = digit_width(sel);
        uint32_t digit = m >> (sel->shift - width) & ((1u << width) - 1u);
        s->work.digits[side][digit] += 1u;
    }
}

int32_t ifmr_error_exponent(const struct ifmr_state *s)
{
    /* No level is further than |x|: 0 is one. With |x| < 2^(e+1) an error times
     * 2^-e is at most 2, rounding included. */
    float a = max_of(f32_abs(s->max), f32_abs(s->min));
    int32_t e = (int32_t)(f32_bits(a) >> 23) - 127;
    return e < -126 ? -126 : e;
}

static void decide_block(struct ifmr_state *s, const float *x, size_t n)
{
    int32_t e = ifmr_error_exponent(s);
    /* 2^-127 has no normal pattern. */
    float factor =
        f32_from_bits(e < 127 ? (uint32_t)(127 - e) << 23 : 0x00400000u);
    const uint8_t *marks = ifmr_marks(s);
    int64_t *sum = ifmr_sum(s);
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        struct ifmr_candidate c;
        if (marks[i] != IFMR_LEFT || ifmr_candidate_at(s, i, &c) != QRT_OK)
            continue;
        ifmr_add_loss(x, n, &c, factor, sum + 2u * (size_t)i);
    }
}

static enum qrt_status later_block(struct ifmr_state *s, const float *x,
                                   size_t n)
{
    struct f32_extremes e = {x[0], x[0], 0};
    f32_extremes(&e, x, n);
    if (e.mark)
        return QRT_ERR_NOT_FINITE;
    if (e.max > s->max || e.min < s->min)
        return QRT_ERR_MISMATCH;
    if (s->stage == IFMR_SELECT)
        select_block(s, x, n);
    else
        decide_block(s, x, n);
    s->seen += n;
    return QRT_OK;
}

static size_t first_not_finite(const float *x, size_t n)
{
    size_t i = 0;
    while (i < n && f32_finite(x[i]))
        i++;
    return i;
}

enum qrt_status qrt_ifmr_f32_add(void *state, const float *x, size_t n,
                                 size_t *bad)
{
    struct ifmr_state *s = ifmr_state_of(state);
    if (!s)
        return state ? QRT_ERR_STATE : QRT_ERR_NULL;
    if (n && !x)
        return QRT_ERR_NULL;
    if (s->stage == IFMR_DONE)
        return QRT_ERR_STATE;
    bool first = s->stage == IFMR_COLLECT;
    uint64_t room = first ? UINT32_MAX - s->samples : s->samples - s->seen;
    if ((uint64_t)n > room)
        return QRT_ERR_FULL;
    for (size_t i = 0; i < n; i += IFMR_BLOCK) {
        size_t m = n - i < IFMR_BLOCK ? n - i : IFMR_BLOCK;
        enum qrt_status st =
            first ? collect_block(s, x + i, m) : later_block(s, x + i, m);
        if (st == QRT_OK)
            continue;
        if (st == QRT_ERR_NOT_FINITE && bad)
            *bad = i + first_not_finite(x + i, m);
        s->magic = 0; /* part of the call may be in: the state is spent */
        return st;
    }
    return QRT_OK;
}

/* ------------------------------------------------------------------ merge */

static void merge_table(struct ifmr_state *into, const struct ifmr_state *from)
{
    const uint64_t sum_mask = ((uint64_t)1 << IFMR_COUNT_AT) - 1u;
    flush(into);
    raise_base(into, from->base);
    uint32_t by = (uint32_t)(into->base - from->base);
    for (uint32_t i = 0; i < IFMR_TABLE; i++) {
        uint64_t w = from->work.table[i];
        uint32_t side = i & IFMR_BINS, k = i & (IFMR_BINS - 1u);
        uint32_t n = from->count[i] + (uint32_t)(w >> IFMR_COUNT_AT);
        bool folded = k <= by;
        into->count[side + (folded ? 0u : k - by)] += n;
        if (!folded)
            into->low[side + k - by] += from->low[i] + (w & sum_mask);
    }
}

static void merge_collected(struct ifmr_state *into,
                            const struct ifmr_state *from)
{
    if (from->samples == 0)
        return;
    merge_table(into, from);
    into->max = into->samples ? max_of(into->max, from->max) : from->max;
    into->min = into->samples ? min_of(into->min, from->min) : from->min;
    into->samples += from->samples;
    for (uint32_t side = 0; side < 2u; side++)
        for (uint32_t i = 0; i < from->largest_count[side]; i++)
            keep(into, side, from->largest[side][i]);
}

static void merge_later(struct ifmr_state *into, const struct ifmr_state *from)
{
    const int64_t *add =
        (const int64_t *)(const void *)(from->tail +
                                        2u * (size_t)from->ratio_count);
    int64_t *sum = ifmr_sum(into);
    if (into->stage == IFMR_SELECT)
        for (uint32_t i = 0; i < 2u << IFMR_DIGIT; i++)
            into->work.table[i] += from->work.table[i];
    else
        for (size_t i = 0; i < 2u * (size_t)into->ratio_count; i++)
            sum[i] += add[i];
    into->seen += from->seen;
}

static bool same_double(double a, double b)
{
    return f64_bits(a) == f64_bits(b);
}

static bool same_stage(const struct ifmr_state *a, const struct ifmr_state *b)
{
    if (a->stage != b->stage)
        return false;
    if (a->stage == IFMR_COLLECT)
        return true;
    bool same = a->samples == b->samples && a->passes == b->passes &&
                f32_bits(a->max) == f32_bits(b->max) &&
                f32_bits(a->min) == f32_bits(b->min);
    for (uint32_t i = 0; i < 2u; i++)
        same = same && a->select[i].prefix == b->select[i].prefix &&
               a->select[i].shift == b->select[i].shift &&
               (a->select[i].shift == 0 ||
                a->select[i].rank == b->select[i].rank) &&
               f32_bits(a->limit[i]) == f32_bits(b->limit[i]);
    return same;
}

enum qrt_ifmr_f32_field qrt_ifmr_f32_compare(const void *a, const void *b)
{
    const struct ifmr_state *s = a, *t = b;
    if (s->bits != t->bits)
        return QRT_IFMR_F32_BITS;
    if (s->asymmetric != t->asymmetric)
        return QRT_IFMR_F32_ASYMMETRIC;
    if (!same_double(s->percentile[0], t->percentile[0]))
        return QRT_IFMR_F32_MAX_PERCENTILE;
    if (!same_double(s->percentile[1], t->percentile[1]))
        return QRT_IFMR_F32_MIN_PERCENTILE;
    if (s->ratio_count != t->ratio_count)
        return QRT_IFMR_F32_RATIOS;
    const double *p = s->tail + 4u * (size_t)s->ratio_count;
    const double *q = t->tail + 4u * (size_t)t->ratio_count;
    const float *x = (const float *)(const void *)p;
    const float *y = (const float *)(const void *)q;
    for (uint32_t i = 0; i < s->ratio_count; i++)
        if (f32_bits(x[i]) != f32_bits(y[i]))
            return QRT_IFMR_F32_RATIOS;
    if (s->exact_loss != t->exact_loss)
        return QRT_IFMR_F32_EXACT_LOSS;
    return same_stage(s, t) ? QRT_IFMR_F32_SAME : QRT_IFMR_F32_STAGE;
}

enum qrt_status qrt_ifmr_f32_merge(void *into, const void *from)
{
    if (!into || !from)
        return QRT_ERR_NULL;
    struct ifmr_state *s = ifmr_state_of(into);
    const struct ifmr_state *t = from;
    if (!s || !aligned(from) || t->magic != IFMR_MAGIC || s == t ||
        s->stage == IFMR_DONE)
        return QRT_ERR_STATE;
    if (qrt_ifmr_f32_compare(s, t) != QRT_IFMR_F32_SAME)
        return QRT_ERR_MISMATCH;
    if (s->stage == IFMR_COLLECT) {
        if (t->samples > UINT32_MAX - s->samples)
            return QRT_ERR_FULL;
        merge_collected(s, t);
    } else {
        if (t->seen > s->samples - s->seen)
            return QRT_ERR_FULL;
        merge_later(s, t);
    }
    return QRT_OK;
}

/* ------------------------------------------------------- percentile limits */

/* Looks for the rank-th largest magnitude of a sign: among the largest that
 * are kept, else the bin, and the bits below a bin's are left to a pass. */
static void begin_select(struct ifmr_state *s, uint32_t side)
{
    struct ifmr_select *sel = &s->select[side];
    uint64_t rank = ifmr_rank(s, side), above = 0;
    s->rank[side] = rank;
    sel->shift = 0;
    sel->prefix = 0;
    if (rank <= s->largest_count[side]) {
        /* Zeros fill the place of values of the other sign. */
        sel->prefix = s->largest[side][s->largest_count[side] - (uint32_t)rank];
        return;
    }
    for (uint32_t i = IFMR_BINS; i-- > 0;) {
        uint32_t n = s->count[side * IFMR_BINS + i];
        if (above + n < rank) {
            above += n;
            continue;
        }
        /* Bin 0 holds many octaves: all bits are open there. */
        sel->shift = i ? IFMR_LOW_BITS : 31u;
        sel->prefix = i ? (uint32_t)(s->base + (int32_t)i) : 0u;
        sel->rank = i ? rank - above : rank;
        return;
    }
    /* Fewer values of this sign than the rank: the limit is 0. */
}

/* Takes the digit that a pass has counted. */
static enum qrt_status take_digit(struct ifmr_state *s, uint32_t side)
{
    struct ifmr_select *sel = &s->select[side];
    uint32_t width = digit_width(sel);
    if (sel->shift == 0)
        return QRT_OK;
    for (uint32_t d = 1u << width; d-- > 0;) {
        uint64_t n = s->work.digits[side][d];
        if (n < sel->rank) {
            sel->rank -= n;
            continue;
        }
        sel->prefix = sel->prefix << width | d;
        sel->shift -= width;
        return QRT_OK;
    }
    return QRT_ERR_MISMATCH; /* not the samples of the first pass */
}

/* ------------------------------------------------------------- candidates */

enum qrt_status ifmr_candidate_at(struct ifmr_state *s, uint32_t i,
                                  struct ifmr_candidate *c)
{
    float max = s->limit[0], min = s->limit[1], step;
    uint32_t half = 1u << (s->bits - 1u);
    if (s->asymmetric) {
        c->hi = ifmr_ratio(s)[i] * max;
        c->lo = min;
        step = (c->hi - min) / (float)((1u << s->bits) - 1u);
    } else {
        bool negative = max < -min;
        c->hi = ifmr_ratio(s)[i] * (negative ? -min : max);
        c->lo = -c->hi;
        step = c->hi / (float)(negative ? half : half - 1u);
    }
    if (!f32_finite(step))
        return QRT_ERR_NOT_FINITE;
    c->degenerate = step < F32_EPS;
    c->scale = c->degenerate ? 1.0f : step;
    c->kmax = f32_rne_int(c->hi / c->scale);
    c->kmin = f32_rne_int(c->lo / c->scale);
    return QRT_OK;
}

/* ----------------------------------------------------------------- result */

/* Marks only the least and the second least estimate for an exact pass. */
static void mark_best_two(struct ifmr_state *s, uint32_t *left)
{
    uint8_t *marks = ifmr_marks(s);
    const double *estimate = ifmr_estimate(s);
    uint32_t best = 0, second = 0;
    for (uint32_t i = 0; i < s->ratio_count; i++)
        best = marks[i] == IFMR_LEFT ? i : best;
    for (uint32_t i = 0; i < s->ratio_count; i++)
        if (marks[i] == IFMR_OUT &&
            (marks[second] != IFMR_OUT || estimate[i] < estimate[second]))
            second = i;
    if (marks[second] == IFMR_OUT) {
        marks[second] = IFMR_LEFT;
        *left += 1u;
    }
    marks[best] = IFMR_LEFT;
}

/* Orders two exact sums. */
static bool less(const int64_t *a, const int64_t *b)
{
    /* Both words are not negative; carry the low ones up. */
    uint64_t x = (uint64_t)a[0] + ((uint64_t)a[1] >> 30);
    uint64_t y = (uint64_t)b[0] + ((uint64_t)b[1] >> 30);
    uint64_t mask = ((uint64_t)1 << 30) - 1u;
    return x < y ||
           (x == y && ((uint64_t)a[1] & mask) < ((uint64_t)b[1] & mask));
}

/* 2^e, e in [-1022, 1023]. */
static double power_of_two(int32_t e)
{
    return f64_from_bits((uint64_t)(1023 + e) << 52);
}

/* Sum of squares of candidate i, exact where it was compared. */
static double square_sum(struct ifmr_state *s, uint32_t i)
{
    while (ifmr_marks(s)[i] == IFMR_SAME)
        i--;
    if (s->stage != IFMR_DECIDE || ifmr_marks(s)[i] != IFMR_LEFT)
        return ifmr_estimate(s)[i];
    const int64_t *sum = ifmr_sum(s) + 2u * (size_t)i;
    double units = (double)sum[0] + (double)sum[1] * power_of_two(-30);
    return units * power_of_two(2 * ifmr_error_exponent(s) - 28);
}

static uint32_t winner(struct ifmr_state *s)
{
    const int64_t *sum = ifmr_sum(s);
    const uint8_t *marks = ifmr_marks(s);
    uint32_t best = s->ratio_count;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        if (marks[i] != IFMR_LEFT)
            continue;
        if (best == s->ratio_count ||
            (s->stage == IFMR_DECIDE &&
             less(sum + 2u * (size_t)i, sum + 2u * (size_t)best)))
            best = i;
    }
    return best;
}

/* Distance to the best of the others, relative. */
static double gap_of(struct ifmr_state *s, uint32_t best, double loss)
{
    double gap = 0.0;
    bool any = false;
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        double d = square_sum(s, i) - loss;
        if (i == best || (any && d >= gap))
            continue;
        gap = d > 0.0 ? d : 0.0;
        any = true;
    }
    return loss > 0.0 ? gap / loss : 0.0;
}

static void set_factors(struct ifmr_state *s, uint32_t best,
                        struct qrt_ifmr_f32_result *r)
{
    struct ifmr_candidate c;
    float half = (float)(1u << (s->bits - 1u)), o = 0.0f;
    (void)ifmr_candidate_at(s, best, &c); /* was checked with all others */
    if (s->asymmetric)
        o = -f32_rne(s->limit[1] / c.scale) - half;
    r->index = best;
    r->scale = c.scale;
    r->offset = (int32_t)o;
    r->clip_max = (half - 1.0f - o) * c.scale;
    r->clip_min = (half + o) * -c.scale;
    r->degenerate = c.degenerate ? 1u : 0u;
}

static void set_result(struct ifmr_state *s, uint32_t left, double error)
{
    struct qrt_ifmr_f32_result r = {0};
    double n = (double)s->samples;
    uint32_t best = winner(s);
    double loss = square_sum(s, best);
    set_factors(s, best, &r);
    r.passes = s->passes;
    r.samples = s->samples;
    r.decided = s->stage == IFMR_DECIDE ? left : 1u;
    r.max = s->limit[0];
    r.min = s->limit[1];
    r.data_max = s->max;
    r.data_min = s->min;
    r.rank_max = s->rank[0];
    r.rank_min = s->rank[1];
    r.loss = loss / n;
    r.loss_error = error / n;
    if (s->stage == IFMR_DECIDE) /* half a unit of the low word per sample */
        r.loss_error = power_of_two(2 * ifmr_error_exponent(s) - 59);
    r.gap = gap_of(s, best, loss);
    double half = 0.5 * (double)r.scale;
    r.clipped =
        ifmr_outside(s, (double)r.clip_min - half, (double)r.clip_max + half) /
        n;
    s->result = r;
    s->stage = IFMR_DONE;
}

/* ----------------------------------------------------------------- finish */

enum qrt_status ifmr_prepare_decide(struct ifmr_state *s, uint32_t *left,
                                    double *error)
{
    enum qrt_status st = ifmr_bound_all(s, left, error);
    if (st != QRT_OK)
        return st;
    if (s->exact_loss && *left == 1u)
        mark_best_two(s, left);
    for (size_t i = 0; i < 2u * (size_t)s->ratio_count; i++)
        ifmr_sum(s)[i] = 0;
    return QRT_OK;
}

/* All limits known: bound, and be done or ask for the exact comparison. */
static enum qrt_status bound(struct ifmr_state *s)
{
    uint32_t left;
    double error;
    s->limit[0] = f32_from_bits(s->select[0].prefix);
    s->limit[1] = 0.0f - f32_from_bits(s->select[1].prefix); /* not -0 */
    enum qrt_status st = ifmr_prepare_decide(s, &left, &error);
    if (st != QRT_OK)
        return st;
    if (left == 1u && !s->exact_loss)
        set_result(s, left, error);
    else
        s->stage = IFMR_DECIDE;
    return QRT_OK;
}

static enum qrt_status select_or_bound(struct ifmr_state *s)
{
    s->seen = 0;
    if (s->select[0].shift == 0 && s->select[1].shift == 0)
        return bound(s);
    clear_work(s);
    s->stage = IFMR_SELECT;
    return QRT_OK;
}

static enum qrt_status end_pass(struct ifmr_state *s)
{
    enum qrt_status st = QRT_OK;
    uint32_t left = 0;
    s->passes += 1u;
    switch (s->stage) {
    case IFMR_COLLECT:
        ifmr_settle(s);
        begin_select(s, 0);
        begin_select(s, 1);
        return select_or_bound(s);
    case IFMR_SELECT:
        st = take_digit(s, 0);
        st = st == QRT_OK ? take_digit(s, 1) : st;
        return st == QRT_OK ? select_or_bound(s) : st;
    default:
        for (uint32_t i = 0; i < s->ratio_count; i++)
            left += ifmr_marks(s)[i] == IFMR_LEFT ? 1u : 0u;
        set_result(s, left, 0.0);
        return QRT_OK;
    }
}

enum qrt_status qrt_ifmr_f32_finish(void *state,
                                    struct qrt_ifmr_f32_result *result)
{
    struct ifmr_state *s = ifmr_state_of(state);
    if (!state || !result)
        return QRT_ERR_NULL;
    if (!s)
        return QRT_ERR_STATE;
    if (s->samples == 0)
        return QRT_ERR_EMPTY;
    if (s->stage == IFMR_DONE) {
        *result = s->result;
        return QRT_OK;
    }
    if (s->stage != IFMR_COLLECT && s->seen != s->samples)
        return QRT_ERR_SIZE;
    enum qrt_status st = end_pass(s);
    if (st != QRT_OK) {
        s->magic = 0;
        return st;
    }
    if (s->stage == IFMR_DONE) {
        *result = s->result;
        return QRT_OK;
    }
    *result = (struct qrt_ifmr_f32_result){0};
    result->again = 1;
    result->passes = s->passes;
    result->samples = s->samples;
    return QRT_OK;
}

enum qrt_status qrt_ifmr_f32_search(void *state, size_t size,
                                    const struct qrt_ifmr_f32_config *cfg,
                                    const float *x, size_t n,
                                    struct qrt_ifmr_f32_result *result)
{
    struct qrt_ifmr_f32_result r = {0};
    if (!result)
        return QRT_ERR_NULL;
    enum qrt_status st = qrt_ifmr_f32_init(state, size, cfg);
    do {
        st = st == QRT_OK ? qrt_ifmr_f32_add(state, x, n, NULL) : st;
        st = st == QRT_OK ? qrt_ifmr_f32_finish(state, &r) : st;
    } while (st == QRT_OK && r.again);
    if (st == QRT_OK)
        *result = r;
    return st;
}
