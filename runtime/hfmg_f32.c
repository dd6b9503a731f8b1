/* HFMG: clip limits from a histogram that is merged batch by batch.
 *
 * Steps in binary32 as AMCT takes them; sums of the loss in binary64, where
 * AMCT's own order of summation is not defined. */
#include "qrt_f32.h"
#include "f32.h"

#define SAMPLES_MAX  0xffffffffu
#define STEP_DIVISOR 100000.0 /* samples / this: what a search step drops  */
#define KEPT_DIVISOR 4u       /* the search keeps bins / this at least     */

static enum qrt_status check(const struct qrt_hfmg_f32 *h)
{
    if (!h || !h->counts || !h->scratch)
        return QRT_ERR_NULL;
    return h->bins < 4u || h->bins > 8192u ? QRT_ERR_RANGE : QRT_OK;
}

/* Ceiling of a quotient that fits. */
static uint64_t ceil_div(double a, double b)
{
    double q = a / b;
    uint64_t k = (uint64_t)q;
    return (double)k < q ? k + 1u : k;
}

static uint64_t total(const struct qrt_hfmg_f32 *h)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < h->bins; i++)
        n += h->counts[i];
    return n;
}

/* torch.histc: the upper end belongs to the last bin; a range of no width is
 * widened by 1 on both sides. Adds to counts. */
static void histogram(const float *x, size_t n, float min, float max,
                      uint32_t bins, uint32_t *counts)
{
    if (!(min < max)) {
        min -= 1.0f;
        max += 1.0f;
    }
    const float width = max - min, fbins = (float)bins;
    for (size_t i = 0; i < n; i++) {
        float pos = (x[i] - min) * fbins / width;
        uint32_t k = pos < fbins ? (uint32_t)pos : bins - 1u;
        counts[k < bins ? k : bins - 1u] += 1u;
    }
}

/* floor(a / b) of binary32 numbers, up to `last` < 2^16. Unless the quotient is
 * whole it is 2^-24 of itself over 2^16 away from a whole number at least, so
 * the one of binary64 has the same floor. */
static uint32_t floor_quotient(float a, float b, uint32_t last)
{
    double q = a > 0.0f ? (double)a / (double)b : 0.0;
    return q < (double)last ? (uint32_t)q : last;
}

/* Spreads the earlier counts over the bins of the common range. */
static void spread(const struct qrt_hfmg_f32 *h, float min, float max,
                   uint32_t *into)
{
    const float fbins = (float)h->bins;
    const float from_width = (h->max - h->min) / fbins;
    const float to_width = (max - min) / fbins;
    const uint32_t last = h->bins - 1u;
    for (uint32_t i = 0; i < h->bins; i++) {
        float lower = h->min + (float)i * from_width;
        float upper = h->min + (float)(i + 1u) * from_width;
        uint32_t a = floor_quotient(lower - min, to_width, last);
        uint32_t b = floor_quotient(upper - min, to_width, last);
        uint32_t n = h->counts[i], low = n;
        if (a != b) {
            float edge = min + (float)(a + 1u) * to_width;
            float share = (float)n * ((edge - lower) / (upper - lower));
            low =
                share < (float)n ? (uint32_t)(share > 0.0f ? share : 0.0f) : n;
        }
        into[a] += low;
        into[b] += n - low;
    }
}

static bool close_to(float a, float b)
{
    double d = (double)a - (double)b, m = (double)f32_abs(a);
    m = (double)f32_abs(b) > m ? (double)f32_abs(b) : m;
    d = d < 0.0 ? -d : d;
    return d <= 1e-9 * m || d <= (double)F32_EPS;
}

enum qrt_status qrt_hfmg_f32_widen(struct qrt_hfmg_f32 *h, float min, float max)
{
    enum qrt_status st = check(h);
    if (st != QRT_OK)
        return st;
    if (!(min <= max))
        return f32_finite(min) && f32_finite(max) ? QRT_ERR_RANGE
                                                  : QRT_ERR_NOT_FINITE;
    if (h->batches) {
        min = h->min < min ? h->min : min;
        max = h->max > max ? h->max : max;
    }
    if (!f32_finite(max - min))
        return QRT_ERR_NOT_FINITE;
    bool same = h->batches && close_to(min, h->min) && close_to(max, h->max);
    if (!same) {
        for (uint32_t i = 0; i < h->bins; i++)
            h->scratch[i] = 0;
        if (h->batches)
            spread(h, min, max, h->scratch);
        for (uint32_t i = 0; i < h->bins; i++)
            h->counts[i] = h->scratch[i];
    }
    h->min = min;
    h->max = max;
    h->batches += 1u;
    return QRT_OK;
}

enum qrt_status qrt_hfmg_f32_count(struct qrt_hfmg_f32 *h, const float *x,
                                   size_t n)
{
    enum qrt_status st = check(h);
    if (st != QRT_OK)
        return st;
    if (n && !x)
        return QRT_ERR_NULL;
    if (h->batches == 0)
        return QRT_ERR_EMPTY;
    if ((uint64_t)n > SAMPLES_MAX - total(h))
        return QRT_ERR_FULL;
    for (size_t i = 0; i < n; i++)
        if (!(x[i] >= h->min && x[i] <= h->max))
            return QRT_ERR_MISMATCH;
    histogram(x, n, h->min, h->max, h->bins, h->counts);
    return QRT_OK;
}

enum qrt_status qrt_hfmg_f32_add(struct qrt_hfmg_f32 *h, const float *x,
                                 size_t n)
{
    enum qrt_status st = check(h);
    if (st != QRT_OK)
        return st;
    if (n == 0)
        return QRT_ERR_EMPTY;
    if (!x)
        return QRT_ERR_NULL;
    if ((uint64_t)n > SAMPLES_MAX - (h->batches ? total(h) : 0))
        return QRT_ERR_FULL;
    struct f32_extremes e = {x[0], x[0], 0};
    f32_extremes(&e, x, n);
    if (e.mark)
        return QRT_ERR_NOT_FINITE;
    st = qrt_hfmg_f32_widen(h, e.min, e.max);
    return st == QRT_OK ? qrt_hfmg_f32_count(h, x, n) : st;
}

/* One state of the search: the bins left..right are kept. */
struct range {
    uint32_t left, right;
};

/* Drops the side that needs more bins to hold `step` samples; on a tie the
 * right one. */
static struct range narrower(const uint32_t *counts, struct range r,
                             uint64_t step)
{
    uint32_t left = r.left, right = r.right;
    uint64_t sum = 0;
    for (; left < right && sum < step; left++)
        sum += counts[left];
    sum = 0;
    for (; left < right && sum < step; right--)
        sum += counts[right];
    if (r.right - right >= left - r.left)
        r.right = right;
    else
        r.left = left;
    return r;
}

/* Integral of density * d^2 over [begin, end]. */
static float cubic(float begin, float end, float density)
{
    return (end * end * end - begin * begin * begin) / 3.0f * density;
}

/* Index of the destination bin, within [0, dst - 1]. */
static float dst_index(float at, float width, float last)
{
    if (!(at > 0.0f))
        return 0.0f;
    double q = (double)at / (double)width;
    if (q >= (double)last)
        return last;
    return (float)floor_quotient(at, width, (uint32_t)last);
}

/* Expected squared error when bins left..right are quantized to dst levels and
 * the rest is clipped; the data of a bin lie evenly. */
static double range_loss(const struct qrt_hfmg_f32 *h, struct range r,
                         float bin_width, float dst)
{
    const float width = bin_width * (float)(r.right - r.left + 1u) / dst;
    const float half = width / 2.0f, last = dst - 1.0f;
    if (width < F32_EPS)
        return 0.0;
    double loss = 0.0;
    for (uint32_t i = 0; i < h->bins; i++) {
        float density = (float)h->counts[i] / bin_width;
        float begin = ((float)i - (float)r.left) * bin_width;
        float end = begin + bin_width;
        float k0 = dst_index(begin, width, last);
        float k1 = dst_index(end, width, last);
        float from = begin - (k0 * width + half);
        if (k0 < k1) {
            loss += (double)cubic(from, half, density);
            loss += (double)((k1 - k0 - 1.0f) * cubic(-half, half, density));
            loss += (double)cubic(-half, end - k1 * width - half, density);
        } else {
            float to = end - (k0 * width + half);
            loss += (double)cubic(from, to, density);
        }
    }
    return loss;
}

enum qrt_status qrt_hfmg_f32_search(const struct qrt_hfmg_f32 *h, uint32_t bits,
                                    bool asymmetric,
                                    struct qrt_hfmg_f32_result *result)
{
    enum qrt_status st = check(h);
    if (st != QRT_OK)
        return st;
    if (!result)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 16u)
        return QRT_ERR_RANGE;
    if (h->batches == 0)
        return QRT_ERR_EMPTY;
    struct qrt_hfmg_f32_result best = {0};
    struct range r = {0, h->bins - 1u};
    uint64_t step = ceil_div((double)total(h), STEP_DIVISOR);
    uint32_t keep = (h->bins + KEPT_DIVISOR - 1u) / KEPT_DIVISOR;
    float bin_width = (h->max - h->min) / (float)h->bins;
    bool first = true;
    while (r.right - r.left > keep) {
        r = narrower(h->counts, r, step);
        double loss = range_loss(h, r, bin_width, (float)(1u << bits));
        if (first || loss < best.loss) {
            best.left = r.left;
            best.right = r.right;
            best.loss = loss;
        }
        first = false;
    }
    float lo = h->min + (float)best.left * bin_width;
    float hi = h->min + (float)(best.right + 1u) * bin_width;
    st = qrt_scale_f32(hi, lo, bits, asymmetric, &best.scale, &best.offset);
    if (st != QRT_OK)
        return st;
    float half = (float)(1u << (bits - 1u)), o = (float)best.offset;
    best.clip_max = (half - 1.0f - o) * best.scale;
    best.clip_min = (half + o) * -best.scale;
    *result = best;
    return QRT_OK;
}
