/* ARQ: scales of weights from their extremes, codes and fake-quantized weights,
 * for every layout that struct qrt_shape describes. */
#include "qrt_f32.h"
#include "f32.h"

/* Channels that are looked at together where the channel axis is innermost. */
#define TILE 64u

struct layout {
    size_t groups, outer, channels, inner;
};

static const float *channel_row(const float *w, const struct layout *l,
                                size_t g, size_t j, size_t c)
{
    return w + ((g * l->outer + j) * l->channels + c) * l->inner;
}

static enum qrt_status finish_range(const struct f32_extremes *e, uint32_t bits,
                                    bool asymmetric, float *scale,
                                    int32_t *offset, uint32_t *degenerate)
{
    if (e->mark)
        return QRT_ERR_NOT_FINITE;
    enum qrt_status st =
        qrt_scale_f32(e->max, e->min, bits, asymmetric, scale, offset);
    /* Weights below 1/2 have a step below 1, unless it was replaced. */
    if (st == QRT_OK && f32_abs(e->max) < 0.5f && f32_abs(e->min) < 0.5f &&
        !(*scale < 1.0f))
        *degenerate += 1;
    return st;
}

static enum qrt_status scale_channel(const float *w, const struct layout *l,
                                     size_t g, size_t c, uint32_t bits,
                                     bool asymmetric, float *scale,
                                     int32_t *offset, uint32_t *degenerate)
{
    const float first = *channel_row(w, l, g, 0, c);
    struct f32_extremes e = {first, first, 0};
    for (size_t j = 0; j < l->outer; j++)
        f32_extremes(&e, channel_row(w, l, g, j, c), l->inner);
    return finish_range(&e, bits, asymmetric, scale, offset, degenerate);
}

/* [outer, n] with n channels side by side, stride apart. */
F32_ROW static void extremes_columns(const float *w, size_t outer,
                                     size_t stride, size_t n, float *hi,
                                     float *lo, uint32_t *mark)
{
    for (size_t c = 0; c < n; c++) {
        hi[c] = lo[c] = w[c];
        mark[c] = 0;
    }
    for (size_t j = 0; j < outer; j++)
        for (size_t c = 0; c < n; c++) {
            float v = w[j * stride + c];
            hi[c] = v > hi[c] ? v : hi[c];
            lo[c] = v < lo[c] ? v : lo[c];
            mark[c] |= f32_not_finite_mark(v);
        }
}

static enum qrt_status scale_tile(const float *w, const struct layout *l,
                                  size_t g, size_t c0, size_t n, uint32_t bits,
                                  bool asymmetric, float *scale,
                                  int32_t *offset, uint32_t *degenerate)
{
    float hi[TILE], lo[TILE];
    uint32_t mark[TILE];
    extremes_columns(channel_row(w, l, g, 0, c0), l->outer, l->channels, n, hi,
                     lo, mark);
    for (size_t c = 0; c < n; c++) {
        struct f32_extremes e = {hi[c], lo[c], mark[c]};
        enum qrt_status st = finish_range(&e, bits, asymmetric, scale + c,
                                          offset + c, degenerate);
        if (st != QRT_OK)
            return st;
    }
    return QRT_OK;
}

static enum qrt_status scale_group(const float *w, const struct layout *l,
                                   size_t g, uint32_t bits, bool asymmetric,
                                   float *scale, int32_t *offset,
                                   uint32_t *degenerate)
{
    enum qrt_status st = QRT_OK;
    if (l->inner > 1 || l->outer == 1) {
        for (size_t c = 0; c < l->channels && st == QRT_OK; c++)
            st = scale_channel(w, l, g, c, bits, asymmetric, scale + c,
                               offset + c, degenerate);
        return st;
    }
    for (size_t c = 0; c < l->channels && st == QRT_OK; c += TILE) {
        size_t n = l->channels - c < TILE ? l->channels - c : TILE;
        st = scale_tile(w, l, g, c, n, bits, asymmetric, scale + c, offset + c,
                        degenerate);
    }
    return st;
}

/* The number of elements; 0 when an axis is 0 or the product too large. */
static size_t layout_of(const struct qrt_shape *shape, struct layout *l)
{
    const uint32_t axis[4] = {shape->groups ? shape->groups : 1u, shape->outer,
                              shape->channels, shape->inner};
    uint64_t n = 1;
    for (size_t i = 0; i < 4; i++) {
        n *= axis[i];
        if (n == 0 || n > INT32_MAX)
            return 0;
    }
    l->groups = axis[0];
    l->outer = axis[1];
    l->channels = axis[2];
    l->inner = axis[3];
    return (size_t)n;
}

enum qrt_status qrt_arq_f32_scale(const float *w, const struct qrt_shape *shape,
                                  uint32_t bits, bool per_channel,
                                  bool asymmetric, float *scale,
                                  int32_t *offset, uint32_t *degenerate)
{
    if (!w || !shape || !scale || !offset)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 16u)
        return QRT_ERR_RANGE;
    struct layout l;
    size_t n = layout_of(shape, &l);
    if (n == 0)
        return QRT_ERR_SIZE;
    uint32_t dead = 0;
    enum qrt_status st = QRT_OK;
    if (!per_channel) {
        struct f32_extremes e = {w[0], w[0], 0};
        f32_extremes(&e, w, n);
        st = finish_range(&e, bits, asymmetric, scale, offset, &dead);
    }
    for (size_t g = 0; per_channel && g < l.groups && st == QRT_OK; g++)
        st = scale_group(w, &l, g, bits, asymmetric, scale + g * l.channels,
                         offset + g * l.channels, &dead);
    if (st == QRT_OK && degenerate)
        *degenerate = dead;
    return st;
}

/* A row in which every element is of another channel. */
F32_ROW static void codes_columns(const float *restrict w, size_t n,
                                  const float *restrict scale,
                                  const int32_t *restrict offset, float lo,
                                  float hi, int8_t *restrict q)
{
    for (size_t c = 0; c < n; c++) {
        float t = w[c] / scale[c] + (float)offset[c];
        q[c] = (int8_t)f32_rne_int(f32_clamp(t, lo, hi));
    }
}

F32_ROW static void fake_columns(const float *w, size_t n, const float *scale,
                                 const int32_t *offset, float lo, float hi,
                                 float *y)
{
    for (size_t c = 0; c < n; c++) {
        float o = (float)offset[c];
        float q = f32_rne(f32_clamp(w[c] / scale[c] + o, lo, hi));
        y[c] = (q - o) * scale[c];
    }
}

/* Either q or y is written. */
struct target {
    int8_t *q;
    float *y;
    uint32_t bits;
};

static enum qrt_status write_row(const float *w, size_t at, size_t n,
                                 float scale, int32_t offset,
                                 const struct target *t)
{
    if (t->q)
        return qrt_quantize_f32_s8(w + at, n, scale, offset, t->bits,
                                   t->q + at);
    return qrt_fake_quantize_f32(w + at, n, scale, offset, t->bits, t->y + at);
}

static void write_columns(const float *w, size_t at, size_t n,
                          const float *scale, const int32_t *offset,
                          const struct target *t)
{
    float half = (float)(1u << (t->bits - 1u));
    if (t->q)
        codes_columns(w + at, n, scale, offset, -half, half - 1.0f, t->q + at);
    else
        fake_columns(w + at, n, scale, offset, -half, half - 1.0f, t->y + at);
}

static enum qrt_status check_scales(const float *scale, const int32_t *offset,
                                    size_t n, uint32_t bits)
{
    int32_t half = (int32_t)(1u << (bits - 1u));
    for (size_t c = 0; c < n; c++)
        if (!f32_finite(scale[c]) || !(scale[c] > 0.0f) || offset[c] < -half ||
            offset[c] >= half)
            return QRT_ERR_RANGE;
    return QRT_OK;
}

static enum qrt_status write_all(const float *w, const struct qrt_shape *shape,
                                 bool per_channel, const float *scale,
                                 const int32_t *offset, const struct target *t)
{
    struct layout l;
    size_t n = layout_of(shape, &l), channels = n ? l.groups * l.channels : 0;
    if (n == 0)
        return QRT_ERR_SIZE;
    enum qrt_status st =
        check_scales(scale, offset, per_channel ? channels : 1, t->bits);
    if (st != QRT_OK)
        return st;
    if (!per_channel)
        return write_row(w, 0, n, scale[0], offset[0], t);
    /* One row per (group, outer): channels of inner elements each. */
    size_t row = l.channels * l.inner;
    for (size_t r = 0; r < l.groups * l.outer; r++) {
        size_t first = r / l.outer * l.channels;
        if (l.inner == 1) {
            write_columns(w, r * row, l.channels, scale + first, offset + first,
                          t);
            continue;
        }
        for (size_t c = 0; c < l.channels; c++)
            (void)write_row(w, r * row + c * l.inner, l.inner, scale[first + c],
                            offset[first + c], t);
    }
    return QRT_OK;
}

enum qrt_status qrt_arq_f32_codes(const float *w, const struct qrt_shape *shape,
                                  uint32_t bits, bool per_channel,
                                  const float *scale, const int32_t *offset,
                                  int8_t *q)
{
    if (!w || !shape || !scale || !offset || !q)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 8u)
        return QRT_ERR_RANGE;
    struct target t = {q, NULL, bits};
    return write_all(w, shape, per_channel, scale, offset, &t);
}

enum qrt_status qrt_arq_f32_fake(const float *w, const struct qrt_shape *shape,
                                 uint32_t bits, bool per_channel,
                                 const float *scale, const int32_t *offset,
                                 float *y)
{
    if (!w || !shape || !scale || !offset || !y)
        return QRT_ERR_NULL;
    if (bits < 2u || bits > 16u)
        return QRT_ERR_RANGE;
    struct target t = {NULL, y, bits};
    return write_all(w, shape, per_channel, scale, offset, &t);
}
