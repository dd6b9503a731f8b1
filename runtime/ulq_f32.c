/* ULQ on activations: quantization between learned clips, forward and
 * backward, in AMCT's operation order. */
#include "qrt_f32.h"
#include "f32.h"

#define LANES 8u /* of the sums of gradients */

static enum qrt_status check_config(const struct qrt_ulq_f32 *cfg)
{
    if (!cfg)
        return QRT_ERR_NULL;
    return cfg->bits < 2u || cfg->bits > 16u ? QRT_ERR_RANGE : QRT_OK;
}

/* AMCT writes `(max - min).all() <= eps`; all() is true for any width but 0,
 * and true <= eps is false, so only a width of 0 is caught. */
static bool no_width(const struct qrt_ulq_f32 *cfg, float max, float min)
{
    float width = max - min;
    if (cfg->strict_width)
        return width <= F32_EPS;
    return (f32_bits(width) & F32_ABS) == 0;
}

enum qrt_status qrt_ulq_f32_clips(const struct qrt_ulq_f32 *cfg,
                                  float *clip_max, float *clip_min,
                                  float *scale, int32_t *offset)
{
    enum qrt_status st = check_config(cfg);
    if (st != QRT_OK)
        return st;
    if (!clip_max || !clip_min || !scale || !offset)
        return QRT_ERR_NULL;
    float max = *clip_max, min = cfg->fixed_min ? 0.0f : *clip_min;
    if (no_width(cfg, max, min)) {
        max = cfg->clip_max_pre;
        min = cfg->clip_min_pre;
    } else if (max < 0.0f) {
        max = cfg->clip_max_pre;
    } else if (min > 0.0f) {
        min = cfg->clip_min_pre;
    }
    st = qrt_scale_f32(max, min, cfg->bits, cfg->asymmetric, scale, offset);
    if (st != QRT_OK)
        return st;
    *clip_max = max;
    *clip_min = min;
    return QRT_OK;
}

enum qrt_status qrt_ulq_f32_forward(const struct qrt_ulq_f32 *cfg,
                                    const float *x, size_t n, float *clip_max,
                                    float *clip_min, float *scale,
                                    int32_t *offset, float *y)
{
    if (n && (!x || !y))
        return QRT_ERR_NULL;
    enum qrt_status st =
        qrt_ulq_f32_clips(cfg, clip_max, clip_min, scale, offset);
    if (st != QRT_OK)
        return st;
    return qrt_fake_quantize_f32(x, n, *scale, *offset, cfg->bits, y);
}

struct backward {
    float scale, upper, lower; /* step, limits of what is passed on        */
    float max, min, levels;    /* clips, D                                 */
};

/* What the samples of a row add, in lanes of binary64. */
struct sums {
    double max[LANES], min[LANES];
};

/* n <= LANES samples; copies, because grad_x may be g. */
static inline void backward_lanes(const struct backward *p, const float *x,
                                  const float *g, size_t n, float *grad_x,
                                  struct sums *s)
{
    float in[LANES], grad[LANES];
    for (size_t j = 0; j < n; j++) {
        in[j] = x[j];
        grad[j] = g[j];
    }
    for (size_t j = 0; j < n; j++) {
        float up = in[j] > p->upper ? 1.0f : 0.0f;
        float lo = in[j] < p->lower ? 1.0f : 0.0f;
        float v = in[j] > p->upper ? p->max : in[j];
        v = (in[j] < p->lower ? p->min : v) / p->scale;
        float e = (f32_rne_any(v) - v) / p->levels;
        s->max[j] += (double)((e + up) * grad[j]);
        s->min[j] += (double)((lo - e) * grad[j]);
        grad[j] = up + lo > 0.0f ? 0.0f : grad[j];
    }
    for (size_t j = 0; j < n; j++)
        grad_x[j] = grad[j];
}

F32_ROW static void backward_row(const struct backward *row, const float *x,
                                 const float *g, size_t n, float *grad_x,
                                 double *sum_max, double *sum_min)
{
    const struct backward p = *row;
    struct sums s = {{0}, {0}};
    size_t i = 0;
    for (; n - i >= LANES; i += LANES)
        backward_lanes(&p, x + i, g + i, LANES, grad_x + i, &s);
    backward_lanes(&p, x + i, g + i, n - i, grad_x + i, &s);
    for (size_t j = 0; j < LANES; j++) {
        *sum_max += s.max[j];
        *sum_min += s.min[j];
    }
}

enum qrt_status qrt_ulq_f32_backward(const struct qrt_ulq_f32 *cfg,
                                     const float *x, const float *g, size_t n,
                                     float clip_max, float clip_min,
                                     float *grad_x, double *grad_max,
                                     double *grad_min)
{
    enum qrt_status st = check_config(cfg);
    if (st != QRT_OK)
        return st;
    if ((n && (!x || !g || !grad_x)) || !grad_max || !grad_min)
        return QRT_ERR_NULL;
    float scale;
    int32_t offset;
    st = qrt_scale_f32(clip_max, clip_min, cfg->bits, cfg->asymmetric, &scale,
                       &offset);
    if (st != QRT_OK)
        return st;
    int32_t half = (int32_t)(1u << (cfg->bits - 1u));
    struct backward p = {scale,
                         scale * (float)(half - 1 - offset),
                         scale * (float)(-half - offset),
                         clip_max,
                         clip_min,
                         (float)((1u << cfg->bits) - 1u)};
    double a = 0.0, b = 0.0;
    backward_row(&p, x, g, n, grad_x, &a, &b);
    *grad_max = a;
    *grad_min = b;
    return QRT_OK;
}
