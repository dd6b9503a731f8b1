/* An IFMR state as bytes that any machine reads: little endian whatever the
 * host, numbers of seven bits per byte for counts, empty bins left out. Equal
 * states have equal bytes: the table is brought into the form that only the
 * samples decide before it is written.
 *
 *   magic 4, version 1, stage 1, bits 1, asymmetric 1, exact_loss 1
 *   ratio_count u32, percentiles 2 x u64, ratios u32 each
 *   passes u32, samples u64, seen u64, max u32, min u32
 *   per sign: number of largest magnitudes, their patterns u32
 *   per sign: (distance to the next bin, count, sum of low bits)..., 0
 *   select    per sign: prefix u32, shift u8, rank u64; then per open sign
 *             (distance, count)..., 0
 *   decide    per sign: pattern of the limit u32; then per candidate that is
 *             left two sums u64
 *
 * What follows from these (base, bounds, marks) is computed again. */
#include "ifmr_f32.h"

#define VERSION 1u

/* ---------------------------------------------------------------- writing */

struct writer {
    uint8_t *out; /* null: count only */
    size_t cap, len;
};

static void put(struct writer *w, uint64_t v, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        if (w->out && w->len < w->cap)
            w->out[w->len] = (uint8_t)(v >> (8u * i) & 0xffu);
        w->len++;
    }
}

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static void put_number(struct writer *w, uint64_t v)
{
    for (; v > 0x7fu; v >>= 7)
        put(w, (v & 0x7fu) | 0x80u, 1);
    put(w, v, 1);
}

static void put_header(struct writer *w, struct ifmr_state *s)
{
    put(w, IFMR_MAGIC, 4);
    put(w, VERSION, 1);
    put(w, s->stage, 1);
    put(w, s->bits, 1);
    put(w, s->asymmetric, 1);
    put(w, s->exact_loss, 1);
    put(w, s->ratio_count, 4);
    put(w, f64_bits(s->percentile[0]), 8);
    put(w, f64_bits(s->percentile[1]), 8);
    for (uint32_t i = 0; i < s->ratio_count; i++)
        put(w, f32_bits(ifmr_ratio(s)[i]), 4);
    put(w, s->passes, 4);
    put(w, s->samples, 8);
    put(w, s->seen, 8);
    put(w, f32_bits(s->max), 4);
    put(w, f32_bits(s->min), 4);
}

static void put_largest(struct writer *w, const struct ifmr_state *s,
                        uint32_t side)
{
    uint32_t n = s->largest_count[side], first = 0;
    while (first < n && s->largest[side][first] == 0)
        first++;
    put_number(w, n - first);
    for (uint32_t i = first; i < n; i++)
        put(w, s->largest[side][i], 4);
}

static void put_bins(struct writer *w, const struct ifmr_state *s,
                     uint32_t side)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < IFMR_BINS; i++) {
        uint32_t at = side * IFMR_BINS + i;
        if (s->count[at] == 0)
            continue;
        put_number(w, i + 1u - last);
        put_number(w, s->count[at]);
        put_number(w, s->low[at]);
        last = i + 1u;
    }
    put_number(w, 0);
}

static void put_select(struct writer *w, const struct ifmr_state *s)
{
    for (uint32_t side = 0; side < 2u; side++) {
        const struct ifmr_select *sel = &s->select[side];
        put(w, sel->prefix, 4);
        put(w, sel->shift, 1);
        put(w, sel->rank, 8);
        if (sel->shift == 0)
            continue;
        uint32_t last = 0;
        for (uint32_t i = 0; i < 1u << IFMR_DIGIT; i++) {
            if (s->work.digits[side][i] == 0)
                continue;
            put_number(w, i + 1u - last);
            put_number(w, s->work.digits[side][i]);
            last = i + 1u;
        }
        put_number(w, 0);
    }
}

static void put_decide(struct writer *w, struct ifmr_state *s)
{
    put(w, f32_bits(s->limit[0]), 4);
    put(w, f32_bits(s->limit[1]), 4);
    for (uint32_t i = 0; i < s->ratio_count; i++) {
        if (ifmr_marks(s)[i] != IFMR_LEFT)
            continue;
        put(w, (uint64_t)ifmr_sum(s)[2u * (size_t)i], 8);
        put(w, (uint64_t)ifmr_sum(s)[2u * (size_t)i + 1u], 8);
    }
}

enum qrt_status qrt_ifmr_f32_save(void *state, uint8_t *out, size_t cap,
                                  size_t *len)
{
    struct ifmr_state *s = ifmr_state_of(state);
    if (!state || !len)
        return QRT_ERR_NULL;
    if (!s || s->stage == IFMR_DONE)
        return QRT_ERR_STATE;
    struct writer w = {out, cap, 0};
    ifmr_settle(s);
    put_header(&w, s);
    for (uint32_t side = 0; side < 2u; side++)
        put_largest(&w, s, side);
    for (uint32_t side = 0; side < 2u; side++)
        put_bins(&w, s, side);
    if (s->stage == IFMR_SELECT)
        put_select(&w, s);
    if (s->stage == IFMR_DECIDE)
        put_decide(&w, s);
    *len = w.len;
    return out && w.len > cap ? QRT_ERR_SCRATCH : QRT_OK;
}

/* ---------------------------------------------------------------- reading */

struct reader {
    const uint8_t *in;
    size_t len, at;
    enum qrt_status status; /* the first thing that was wrong */
};

static void fail(struct reader *r, enum qrt_status status)
{
    if (r->status == QRT_OK)
        r->status = status;
}

static uint64_t get(struct reader *r, uint32_t bytes)
{
    uint64_t v = 0;
    if (r->len - r->at < bytes) {
        fail(r, QRT_ERR_SIZE);
        r->at = r->len;
        return 0;
    }
    for (uint32_t i = 0; i < bytes; i++)
        v |= (uint64_t)r->in[r->at++] << (8u * i);
    return v;
}

static uint32_t get32(struct reader *r)
{
    return (uint32_t)get(r, 4);
}

static uint64_t get_number(struct reader *r)
{
    uint64_t v = 0, b = 0x80u;
    for (uint32_t shift = 0; b & 0x80u; shift += 7u) {
        b = get(r, 1);
        if (shift > 56u) {
            fail(r, QRT_ERR_STATE);
            return 0;
        }
        v |= (b & 0x7fu) << shift;
    }
    return v;
}

static float get_finite(struct reader *r)
{
    float v = f32_from_bits(get32(r));
    if (!f32_finite(v))
        fail(r, QRT_ERR_STATE);
    return f32_finite(v) ? v : 0.0f;
}

static void require(struct reader *r, bool condition)
{
    if (!condition)
        fail(r, QRT_ERR_STATE);
}

/* Up to the ratio count; the ratios themselves follow. */
struct saved_config {
    struct qrt_ifmr_f32_config cfg;
    uint32_t stage;
};

static void get_config(struct reader *r, struct saved_config *c)
{
    if (get32(r) != IFMR_MAGIC)
        fail(r, r->status == QRT_OK ? QRT_ERR_STATE : r->status);
    if (get(r, 1) != VERSION)
        fail(r, QRT_ERR_VERSION);
    c->stage = (uint32_t)get(r, 1);
    c->cfg.bits = (uint32_t)get(r, 1);
    uint64_t asymmetric = get(r, 1), exact = get(r, 1);
    require(r, asymmetric <= 1u && exact <= 1u);
    require(r, c->stage >= IFMR_COLLECT && c->stage <= IFMR_DECIDE);
    c->cfg.asymmetric = asymmetric != 0;
    c->cfg.exact_loss = exact != 0;
    c->cfg.ratio_count = get32(r);
    c->cfg.max_percentile = f64_from_bits(get(r, 8));
    c->cfg.min_percentile = f64_from_bits(get(r, 8));
    require(r, c->cfg.ratio_count >= 1u && c->cfg.ratio_count <= IFMR_RATIOS);
}

uint32_t qrt_ifmr_f32_saved_count(const uint8_t *in, size_t len)
{
    struct reader r = {in, in ? len : 0, 0, QRT_OK};
    struct saved_config c = {{0}, 0};
    get_config(&r, &c);
    return r.status == QRT_OK ? c.cfg.ratio_count : 0;
}

static void get_samples(struct reader *r, struct ifmr_state *s)
{
    s->passes = get32(r);
    s->samples = get(r, 8);
    s->seen = get(r, 8);
    s->max = get_finite(r);
    s->min = get_finite(r);
    require(r, s->samples <= UINT32_MAX && s->seen <= s->samples);
    require(r, s->min <= s->max);
    if (s->stage == IFMR_COLLECT)
        require(r, s->seen == 0 && s->passes == 0);
    else
        require(r, s->samples > 0 && s->passes > 0);
    s->base = ifmr_base_for(s->max, s->min);
}

static void get_largest(struct reader *r, struct ifmr_state *s, uint32_t side)
{
    uint32_t n = s->largest_count[side], last = 0;
    uint64_t k = get_number(r);
    require(r, k <= n);
    for (uint32_t i = 0; r->status == QRT_OK && i < k; i++) {
        uint32_t v = get32(r);
        require(r, v >= last && v > 0 && v < F32_INF);
        last = v;
        s->largest[side][n - (uint32_t)k + i] = v;
    }
}

/* The position after `at` (0: before the first) that a distance leads to. */
static uint32_t get_position(struct reader *r, uint32_t at, uint32_t limit)
{
    uint64_t step = get_number(r);
    require(r, step <= limit - at);
    return r->status == QRT_OK && step ? at + (uint32_t)step : 0;
}

static uint64_t get_bins(struct reader *r, struct ifmr_state *s, uint32_t side)
{
    uint64_t total = 0;
    for (uint32_t at = get_position(r, 0, IFMR_BINS); at;
         at = get_position(r, at, IFMR_BINS)) {
        uint32_t i = side * IFMR_BINS + at - 1u;
        uint64_t n = get_number(r), low = get_number(r);
        require(r, n <= UINT32_MAX && low <= n * IFMR_LOW_MASK);
        require(r, at > 1u || low == 0);
        require(r, s->base + (int32_t)at - 1 >= 0);
        if (r->status != QRT_OK)
            break;
        s->count[i] = (uint32_t)n;
        s->low[i] = low;
        total += n;
    }
    return total;
}

static void get_select(struct reader *r, struct ifmr_state *s)
{
    for (uint32_t side = 0; side < 2u; side++) {
        struct ifmr_select *sel = &s->select[side];
        sel->prefix = get32(r);
        sel->shift = (uint32_t)get(r, 1);
        sel->rank = get(r, 8);
        require(r, sel->shift <= 31u && sel->rank <= s->samples);
        require(r, (uint64_t)sel->prefix << sel->shift < F32_INF);
        if (r->status != QRT_OK || sel->shift == 0)
            continue;
        uint32_t limit = 1u
                         << (sel->shift < IFMR_DIGIT ? sel->shift : IFMR_DIGIT);
        uint64_t total = 0;
        for (uint32_t at = get_position(r, 0, limit); at;
             at = get_position(r, at, limit)) {
            uint64_t n = get_number(r);
            require(r, n <= s->seen - total);
            if (r->status != QRT_OK)
                break;
            s->work.digits[side][at - 1u] = n;
            total += n;
        }
    }
    require(r, s->select[0].shift || s->select[1].shift);
}

static void get_decide(struct reader *r, struct ifmr_state *s)
{
    uint32_t left = 0;
    double error;
    s->limit[0] = get_finite(r);
    s->limit[1] = get_finite(r);
    s->select[0].prefix = f32_bits(s->limit[0]) & F32_ABS;
    s->select[1].prefix = f32_bits(s->limit[1]) & F32_ABS;
    require(r, s->limit[0] >= 0.0f && s->limit[1] <= 0.0f);
    if (r->status != QRT_OK)
        return;
    enum qrt_status st = ifmr_prepare_decide(s, &left, &error);
    require(r, st == QRT_OK);
    for (uint32_t i = 0; r->status == QRT_OK && i < s->ratio_count; i++) {
        if (ifmr_marks(s)[i] != IFMR_LEFT)
            continue;
        uint64_t high = get(r, 8), low = get(r, 8);
        /* Per sample each is 2^30 at most, but for rounding. */
        require(r, high <= s->seen << 31 && low <= s->seen << 31);
        ifmr_sum(s)[2u * (size_t)i] = (int64_t)high;
        ifmr_sum(s)[2u * (size_t)i + 1u] = (int64_t)low;
    }
}

static enum qrt_status load(struct ifmr_state *s, struct reader *r,
                            uint32_t stage)
{
    s->stage = stage;
    get_samples(r, s);
    uint64_t total = 0;
    for (uint32_t side = 0; side < 2u; side++)
        get_largest(r, s, side);
    for (uint32_t side = 0; side < 2u; side++)
        total += get_bins(r, s, side);
    require(r, total == s->samples);
    s->rank[0] = ifmr_rank(s, 0);
    s->rank[1] = ifmr_rank(s, 1);
    if (r->status == QRT_OK && stage == IFMR_SELECT)
        get_select(r, s);
    if (r->status == QRT_OK && stage == IFMR_DECIDE)
        get_decide(r, s);
    if (r->at != r->len)
        fail(r, QRT_ERR_SIZE);
    return r->status;
}

enum qrt_status qrt_ifmr_f32_load(void *state, size_t size, const uint8_t *in,
                                  size_t len)
{
    if (!state || !in)
        return QRT_ERR_NULL;
    if ((uintptr_t)state % sizeof(uint64_t))
        return QRT_ERR_RANGE;
    struct reader r = {in, len, 0, QRT_OK};
    struct saved_config c = {{0}, 0};
    get_config(&r, &c);
    if (r.status != QRT_OK)
        return r.status;
    if (size < qrt_ifmr_f32_state_size(c.cfg.ratio_count))
        return QRT_ERR_SCRATCH;
    struct ifmr_state *s = state;
    s->ratio_count = c.cfg.ratio_count;
    for (uint32_t i = 0; i < c.cfg.ratio_count; i++)
        ifmr_ratio(s)[i] = f32_from_bits(get32(&r));
    c.cfg.ratios = ifmr_ratio(s); /* init reads each before it writes it */
    if (r.status != QRT_OK)
        return r.status;
    enum qrt_status st = qrt_ifmr_f32_init(state, size, &c.cfg);
    if (st == QRT_ERR_RANGE)
        st = QRT_ERR_STATE;
    if (st == QRT_OK)
        st = load(s, &r, c.stage);
    if (st != QRT_OK)
        s->magic = 0;
    return st;
}
