/* Weights from the model: converted, given their channel axis, and with the
 * BatchNorm behind them folded in.
 *
 * Folding follows AMCT step by step in binary32, so that the scales come out
 * with its bits: factor = gamma / sqrt(variance + epsilon); each weight times
 * the factor of its output channel; bias = (bias - mean) * factor + beta. */
#include "weights.h"

#include "npy.h"

#include <math.h>
#include <string.h>

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Little-endian bytes of the file, on any host. */
static uint64_t load(const char *p, unsigned size)
{
    uint64_t v = 0;
    unsigned i;

    for (i = 0; i < size; i++)
        v |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return v;
}

static float element(const char *p, enum qc_elem elem)
{
    uint64_t v;
    double d;

    switch (elem) {
    case QC_ELEM_F32:
        return float_of((uint32_t)load(p, 4));
    case QC_ELEM_F16:
        return float_of(qc_f32_of_f16((uint16_t)load(p, 2)));
    default:
        v = load(p, 8);
        memcpy(&d, &v, sizeof(d));
        return (float)d;
    }
}

static unsigned size_of(enum qc_elem elem)
{
    return elem == QC_ELEM_F32   ? 4
           : elem == QC_ELEM_F16 ? 2
           : elem == QC_ELEM_F64 ? 8
                                 : 0;
}

float *qc_tensor_f32(struct qc *qc, const struct qc_tensor *t)
{
    unsigned size = size_of(t->elem);
    float *out;
    uint64_t i;

    if (!size || t->data.len / size < t->count) {
        qc_report(qc, QC_MODEL_TENSOR, t->loc,
                  "tensor '%s' holds no floating-point data that can be read",
                  qc_shown(qc, t->name));
        return NULL;
    }
    out = qc_alloc(qc, (size_t)t->count * sizeof(*out));
    for (i = 0; i < t->count; i++)
        out[i] = element(t->data.ptr + i * size, t->elem);
    return out;
}

/* ---- shape ---- */

static bool fits(uint64_t n)
{
    return n >= 1 && n <= INT32_MAX;
}

/* [groups, outer, channels, inner] of qrt.h for the layer's stored layout. */
static bool set_shape(struct qc_weights *w, const struct qc_layer *l)
{
    const struct qc_op *op = &qc_ops[l->op];
    uint64_t groups = 1, outer = 1, channels, inner = 1;
    unsigned i, axis = (unsigned)op->out_axis;

    if (l->op == QRT_OP_LINEAR)
        axis = l->trans_b ? 0 : 1;
    if (l->rank <= axis)
        return false;
    if (axis && l->op != QRT_OP_LINEAR)
        groups = (uint64_t)(l->group > 0 ? l->group : 1);
    for (i = 0; i < axis; i++)
        outer *= (uint64_t)l->shape[i];
    channels = (uint64_t)l->shape[axis];
    for (i = axis + 1; i < l->rank; i++)
        inner *= (uint64_t)l->shape[i];
    if (!fits(channels) || !fits(inner) || !fits(outer) || outer % groups)
        return false;
    w->shape.groups = (uint32_t)groups;
    w->shape.outer = (uint32_t)(outer / groups);
    w->shape.channels = (uint32_t)channels;
    w->shape.inner = (uint32_t)inner;
    w->channels = (size_t)(groups * channels);
    w->count = outer * channels * inner;
    return fits(w->count);
}

/* ---- folding ---- */

struct bn {
    const float *gamma, *beta, *mean, *variance;
};

static const float *bn_vector(struct qc *qc, const struct qc_tensor *t,
                              size_t channels)
{
    if (t && t->count == channels)
        return qc_tensor_f32(qc, t);
    if (t)
        qc_report(qc, QC_MODEL_TENSOR, t->loc,
                  "BatchNormalization tensor '%s' has %llu elements for %zu "
                  "channels",
                  qc_shown(qc, t->name), (unsigned long long)t->count,
                  channels);
    return NULL;
}

static bool read_bn(struct qc *qc, const struct qc_bn *from, size_t channels,
                    struct bn *bn)
{
    bn->gamma = bn_vector(qc, from->scale, channels);
    bn->beta = bn_vector(qc, from->bias, channels);
    bn->mean = bn_vector(qc, from->mean, channels);
    bn->variance = bn_vector(qc, from->var, channels);
    return bn->gamma && bn->beta && bn->mean && bn->variance;
}

static void scale_channel(struct qc_weights *w, size_t channel, float factor)
{
    size_t group = channel / w->shape.channels;
    size_t c = channel % w->shape.channels, o, i;

    for (o = 0; o < w->shape.outer; o++) {
        float *row =
            w->w + ((group * w->shape.outer + o) * w->shape.channels + c) *
                       w->shape.inner;

        for (i = 0; i < w->shape.inner; i++)
            row[i] *= factor;
    }
}

static bool fold(struct qc *qc, struct qc_weights *w, const struct qc_row *row)
{
    float epsilon = float_of(row->layer->bn->epsilon_bits);
    struct bn bn;
    size_t c;

    if (!read_bn(qc, row->layer->bn, w->channels, &bn))
        return false;
    if (!w->bias)
        w->bias = qc_alloc(qc, w->channels * sizeof(*w->bias));
    for (c = 0; c < w->channels; c++) {
        float deviation = sqrtf(bn.variance[c] + epsilon);
        float factor = bn.gamma[c] / deviation;
        float centred = w->bias[c] - bn.mean[c];
        float scaled = centred * factor;

        scale_channel(w, c, factor);
        w->bias[c] = scaled + bn.beta[c];
        if (isfinite(factor) && isfinite(w->bias[c]))
            continue;
        qc_report(qc, QC_MODEL_FOLD, row->layer->bn->var->loc,
                  "folding the BatchNormalization into layer '%s' gives no "
                  "finite value in channel %zu",
                  qc_shown(qc, row->layer->name), c);
        return false;
    }
    w->folded = true;
    return true;
}

/* One number per channel; that of an Add may be one for all. */
static bool read_bias(struct qc *qc, struct qc_weights *w,
                      const struct qc_layer *l)
{
    size_t c;

    if (l->bias->count != w->channels &&
        !(l->bias->count == 1 && l->bias_is_add)) {
        qc_report(qc, QC_MODEL_TENSOR, l->bias->loc,
                  "the bias of layer '%s' has %llu elements for %zu channels",
                  qc_shown(qc, l->name), (unsigned long long)l->bias->count,
                  w->channels);
        return false;
    }
    w->bias = qc_tensor_f32(qc, l->bias);
    if (w->bias && l->bias->count != w->channels) {
        float one = w->bias[0];

        w->bias = qc_alloc(qc, w->channels * sizeof(*w->bias));
        for (c = 0; c < w->channels; c++)
            w->bias[c] = one;
    }
    return w->bias != NULL;
}

static bool is_finite(const float *v, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* A kernel would make some code of a NaN without a word. */
static bool check_finite(struct qc *qc, const struct qc_weights *w,
                         const struct qc_layer *l)
{
    bool weights = is_finite(w->w, w->count);

    if (weights && (!w->bias || is_finite(w->bias, w->channels)))
        return true;
    qc_report(qc, QC_MODEL_TENSOR, (weights ? l->bias : l->weight)->loc,
              "the %s of layer '%s' hold%s a number that is not finite%s",
              weights ? "bias" : "weights", qc_shown(qc, l->name),
              weights ? "s" : "", w->folded ? " after folding" : "");
    return false;
}

struct qc_weights *qc_layer_weights(struct qc *qc, const struct qc_row *row)
{
    const struct qc_layer *l = row->layer;
    struct qc_weights *w = qc_alloc(qc, sizeof(*w));

    if (!l->weight || !l->weight->data.len)
        return NULL;
    if (!set_shape(w, l) || w->count != l->weight->count) {
        qc_report(qc, QC_MODEL_TENSOR, l->weight->loc,
                  "the weights of layer '%s' do not have its shape",
                  qc_shown(qc, l->name));
        return NULL;
    }
    w->w = qc_tensor_f32(qc, l->weight);
    if (!w->w)
        return NULL;
    if (l->bias && l->bias->data.len && !read_bias(qc, w, l))
        return NULL;
    if (row->fuse.set && row->fuse.i && l->bn && !fold(qc, w, row))
        return NULL;
    return check_finite(qc, w, l) ? w : NULL;
}
