/* CANN's IFMR operator: percentiles from a cumulated histogram, then a search
 * with full quantization (reciprocal, offset, integer clamp) in the loss. */
#include "qrt_f32.h"
#include "f32.h"

#define MAX_STEPS 4096u
#define MAX_BINS  8192u

struct candidate {
    float scale, offset;
};

static enum qrt_status check(const float *x, size_t n, const int32_t *cumsum,
                             uint32_t bins, float data_min, float data_max,
                             const struct qrt_ifmr_cann_f32_config *c,
                             const struct qrt_ifmr_cann_f32_result *result)
{
    if (!x || !cumsum || !c || !result)
        return QRT_ERR_NULL;
    if (n == 0 || (uint64_t)n > 0x80000000u || bins == 0 || bins > MAX_BINS)
        return QRT_ERR_RANGE;
    if (!f32_finite(data_min) || !f32_finite(data_max) ||
        !(data_min <= data_max))
        return QRT_ERR_RANGE;
    if (!(c->max_percentile > 0.5f) || !(c->max_percentile <= 1.0f) ||
        !(c->min_percentile > 0.5f) || !(c->min_percentile <= 1.0f))
        return QRT_ERR_RANGE;
    if (!f32_finite(c->end) || !(c->start > 0.0f) || !(c->start < c->end) ||
        !(c->step > 0.0f) || (c->bits != 8u && c->bits != 16u))
        return QRT_ERR_RANGE;
    /* Also keeps the conversion to an integer in range. */
    return (c->end - c->start) / c->step < (float)MAX_STEPS - 0.5f
               ? QRT_OK
               : QRT_ERR_RANGE;
}

/* Bins below a share of the samples. */
static uint32_t bins_below(const int32_t *cumsum, uint32_t bins, float scale,
                           float share)
{
    uint32_t k = 0;
    for (uint32_t j = 0; j < bins; j++)
        k += (float)cumsum[j] * scale < share ? 1u : 0u;
    return k;
}

/* Where the bins put the ends of the data. */
static void limits(const struct qrt_ifmr_cann_f32_config *c, float data_min,
                   float data_max, float per_bin,
                   struct qrt_ifmr_cann_f32_result *r)
{
    float width = data_max - data_min;
    float hi = (float)r->max_bin * per_bin * width + data_min;
    float lo = (float)r->min_bin * per_bin * width + data_min;
    if (c->with_offset) {
        hi = hi > 0.0f ? hi : 0.0f;
        lo = lo < 0.0f ? lo : 0.0f;
    } else {
        float a = f32_abs(lo);
        hi = hi > a ? hi : a;
    }
    r->init_max = hi;
    r->init_min = lo;
}

static struct candidate candidate(const struct qrt_ifmr_cann_f32_config *c,
                                  const struct qrt_ifmr_cann_f32_result *r,
                                  uint32_t i)
{
    float half = (float)(1u << (c->bits - 1u));
    float levels = (float)((1u << c->bits) - 1u);
    float max = (c->start + c->step * (float)i) * r->init_max;
    struct candidate k = {0.0f, 0.0f};
    if (c->with_offset) {
        k.scale = (max - r->init_min) * (1.0f / levels);
        k.offset = -f32_rne_any(r->init_min / k.scale) - half;
    } else {
        k.scale = max * (1.0f / (half - 1.0f));
    }
    return k;
}

/* Sum of squares in 8 lanes of binary64. NaN data counts as the lowest code. */
F32_ROW static double loss_of(const float *x, size_t n, struct candidate k,
                              float lo, float hi)
{
    const float recip = 1.0f / k.scale, s = k.scale, o = k.offset;
    double sum[8] = {0}, total = 0.0;
    for (size_t i = 0; i < n; i++) {
        float q = f32_rne(f32_clamp(x[i] * recip + o, lo, hi));
        float d = (q - o) * s - x[i];
        sum[i & 7u] += (double)(d * d);
    }
    for (size_t j = 0; j < 8; j++)
        total += sum[j];
    return total;
}

enum qrt_status qrt_ifmr_cann_f32(const float *x, size_t n, float data_min,
                                  float data_max, const int32_t *cumsum,
                                  uint32_t bins,
                                  const struct qrt_ifmr_cann_f32_config *cfg,
                                  double *losses,
                                  struct qrt_ifmr_cann_f32_result *result)
{
    enum qrt_status st =
        check(x, n, cumsum, bins, data_min, data_max, cfg, result);
    if (st != QRT_OK)
        return st;
    struct qrt_ifmr_cann_f32_result r = {0};
    float half = (float)(1u << (cfg->bits - 1u)), per = 1.0f / (float)n;
    r.steps = (uint32_t)((cfg->end - cfg->start) / cfg->step + 0.5f) + 1u;
    r.max_bin = bins_below(cumsum, bins, per, cfg->max_percentile);
    r.min_bin = bins_below(cumsum, bins, per, 1.0f - cfg->min_percentile);
    limits(cfg, data_min, data_max, 1.0f / (float)bins, &r);
    for (uint32_t i = 0; i < r.steps; i++) {
        struct candidate k = candidate(cfg, &r, i);
        double loss = loss_of(x, n, k, -half, half - 1.0f);
        if (losses)
            losses[i] = loss;
        if (i == 0 || loss < r.loss) {
            r.index = i;
            r.loss = loss;
            r.scale = k.scale;
            r.offset = k.offset;
        }
    }
    /* The guard comes after the search, for the winner only. */
    if (r.scale < F32_EPS) {
        r.scale = 1.0f;
        r.offset = cfg->with_offset ? -half : 0.0f;
    }
    *result = r;
    return QRT_OK;
}
