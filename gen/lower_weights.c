/* Weights and biases to integers, with the checks that only the compiler can
 * make: does every bias and every accumulator fit an int32? */
#include "emit_weights.h"

#include "weights.h"

#include "qrt_f32.h"

#include <string.h>

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* ---- codes ---- */

static bool quantize(struct qc *qc, const struct qc_low_row *r,
                     const struct qc_weights *w, int8_t *codes)
{
    const struct qc_low_factors *f = r->factors;
    float *scale = qc_alloc(qc, f->count * sizeof(*scale));
    int32_t *offset = qc_alloc(qc, f->count * sizeof(*offset));
    size_t c;

    for (c = 0; c < f->count; c++)
        scale[c] = float_of(f->scale_w_bits[c]);
    if (qrt_arq_f32_codes(w->w, &w->shape, (uint32_t)r->row->wts_bits.i,
                          f->count > 1, scale, offset, codes) == QRT_OK)
        return true;
    qc_report(qc, QC_MODEL_TENSOR, r->row->layer->weight->loc,
              "the weights of layer '%s' cannot be quantized to %d bits",
              qc_shown(qc, r->row->layer->name), (int)r->row->wts_bits.i);
    return false;
}

/* ---- layout ---- */

/* The model's weights as [group, out, in, space] with their strides; out and
 * in are those of one group. */
struct view {
    size_t groups, out, in, space, sg, so, si, ss;
};

static struct view view_of(const struct qc_layer *l, const struct qc_weights *w)
{
    const struct qrt_shape *s = &w->shape;
    size_t row = (size_t)s->channels * s->inner;

    if (l->op == QRT_OP_LINEAR && !l->trans_b) /* [in, out] */
        return (struct view){1, s->channels, s->outer, s->inner,
                             0, s->inner,    row,      1};
    if (s->outer * s->groups == 1) { /* [out, in of the group, space] */
        size_t in = l->rank > 1 ? (size_t)l->shape[1] : 1;
        size_t groups =
            l->group > 1 && s->channels % l->group == 0 ? (size_t)l->group : 1;
        size_t out = s->channels / groups;

        return (struct view){
            groups,   out,           in, s->inner / in, out * s->inner,
            s->inner, s->inner / in, 1};
    }
    /* transposed: [in, out of the group, space] */
    return (struct view){s->groups,      s->channels, s->outer, s->inner,
                         s->outer * row, s->inner,    row,      1};
}

/* [out, space, in of the group]; depthwise [space, out]. */
static int8_t *to_cmsis(struct qc *qc, const struct view *v,
                        const int8_t *codes, bool depthwise)
{
    size_t all = v->groups * v->out, c, i, s;
    int8_t *out = qc_alloc(qc, all * v->in * v->space);

    for (c = 0; c < all; c++) {
        const int8_t *from = codes + c / v->out * v->sg + c % v->out * v->so;

        for (s = 0; s < v->space; s++)
            for (i = 0; i < v->in; i++)
                out[depthwise ? s * all + c : (c * v->space + s) * v->in + i] =
                    from[i * v->si + s * v->ss];
    }
    return out;
}

static const char *layout_word(const struct qc_layer *l, bool cmsis,
                               bool depthwise)
{
    if (l->op == QRT_OP_LINEAR)
        return cmsis || l->trans_b ? "[out, in]" : "[in, out]";
    if (!cmsis)
        return qc_ops[l->op].out_axis ? "IO + space" : "OI + space";
    return depthwise ? "space + O" : "O + space + I";
}

static bool pack(struct qc *qc, const struct qc_layer *l, const struct view *v,
                 bool cmsis, struct qc_low_weights *out)
{
    struct qrt_shape s = {0, (uint32_t)v->in, 0, 1};

    if (cmsis) {
        s.outer = (uint32_t)(v->groups * v->out * v->space);
        s.inner = 1;
    } else if (v->si > v->so) { /* the input axis is the first */
        s.outer = 1;
        s.inner = (uint32_t)v->si;
    } else {
        s.outer = (uint32_t)(v->groups * v->out);
        s.inner = (uint32_t)v->si;
    }
    out->bytes = out->count / 2;
    out->packed = qc_alloc(qc, out->bytes + 1);
    if (qrt_pack4(out->codes, &s, out->packed) == QRT_OK)
        return true;
    qc_report(qc, QC_MODEL_TENSOR, l->weight->loc,
              "the 4-bit weights of layer '%s' cannot be packed in pairs: %zu "
              "input channels",
              qc_shown(qc, l->name), v->in);
    return false;
}

/* ---- bias and accumulator ---- */

static bool too_large(struct qc *qc, const struct qc_low_row *r, size_t c,
                      const char *what)
{
    const struct qc_factors *f = r->row->factors;

    qc_report(qc, QC_RES_OVERFLOW, f->scale_w[f->count_w > 1 ? c : 0].loc,
              "%s of layer '%s', channel %zu, does not fit 32 bits with these "
              "scales",
              what, qc_shown(qc, r->row->layer->name), c);
    return false;
}

static bool quantize_bias(struct qc *qc, const struct qc_low_row *r,
                          const struct qc_weights *w, int32_t *out)
{
    const struct qc_low_factors *f = r->factors;
    size_t c;

    for (c = 0; w->bias && c < w->channels; c++) {
        uint32_t bits;

        memcpy(&bits, &w->bias[c], sizeof(bits));
        if (qrt_bias_quantize(&bits, 1, &f->exact[f->count > 1 ? c : 0], 1,
                              &out[c]) != QRT_OK)
            return too_large(qc, r, c, "the bias");
    }
    return true;
}

/* Codes of channel c, one after the other. */
struct channel {
    const struct qrt_shape *shape;
    const int8_t *codes;
    size_t group, at;
};

static int64_t channel_sum(const struct channel *ch, int32_t low, int32_t high,
                           int64_t *least, int64_t *most)
{
    const struct qrt_shape *s = ch->shape;
    int64_t sum = 0;
    size_t o, i;

    for (o = 0; o < s->outer; o++) {
        const int8_t *p =
            ch->codes +
            ((ch->group * s->outer + o) * s->channels + ch->at) * s->inner;

        for (i = 0; i < s->inner; i++) {
            sum += p[i];
            *least += (int64_t)p[i] * (p[i] > 0 ? low : high);
            *most += (int64_t)p[i] * (p[i] > 0 ? high : low);
        }
    }
    return sum;
}

static bool fits32(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

/* bias_zp, and the extremes of the accumulator over all inputs. */
static bool check_channels(struct qc *qc, const struct qc_low_row *r,
                           const struct qc_weights *w, const int8_t *codes,
                           struct qc_low_weights *out)
{
    int32_t half = (int32_t)1 << (r->row->act_bits.i - 1);
    int32_t zero = r->factors->offset_d;
    size_t c;

    for (c = 0; c < w->channels; c++) {
        struct channel ch = {&w->shape, codes, c / w->shape.channels,
                             c % w->shape.channels};
        int64_t least = out->bias[c], most = least, zp;

        zp = out->bias[c] - zero * channel_sum(&ch, -half - zero,
                                               half - 1 - zero, &least, &most);
        if (!fits32(least) || !fits32(most))
            return too_large(qc, r, c, "the accumulator");
        /* The accumulator of an input of zeros: between the two. */
        out->bias_zp[c] = (int32_t)zp;
    }
    return true;
}

/* ---- one layer ---- */

static struct qc_str shape_text(struct qc *qc, const struct qc_layer *l)
{
    struct qc_str s = {"", 0};
    unsigned i;

    for (i = 0; i < l->rank; i++)
        s = qc_format(qc, "%.*s%s%lld", QC_ARG(s), i ? " x " : "",
                      (long long)l->shape[i]);
    return s;
}

static bool lower_layer(struct qc *qc, const struct qc_low_row *r,
                        const struct qc_weights *w, bool cmsis,
                        struct qc_low_weights *out)
{
    const struct qc_layer *l = r->row->layer;
    struct view v = view_of(l, w);
    bool depthwise = v.groups > 1 && v.in == 1 && v.out == 1;
    int8_t *codes = qc_alloc(qc, (size_t)w->count);

    out->row = r;
    out->count = out->bytes = (size_t)w->count;
    out->channels = w->channels;
    out->has_bias = w->bias != NULL;
    out->folded = w->folded;
    out->bias = qc_alloc(qc, w->channels * sizeof(*out->bias));
    out->bias_zp = qc_alloc(qc, w->channels * sizeof(*out->bias_zp));
    if (!quantize(qc, r, w, codes) || !quantize_bias(qc, r, w, out->bias) ||
        !check_channels(qc, r, w, codes, out))
        return false;
    out->codes = cmsis ? to_cmsis(qc, &v, codes, depthwise) : codes;
    out->shape =
        qc_format(qc, "%.*s in the model; stored %s", QC_ARG(shape_text(qc, l)),
                  layout_word(l, cmsis, depthwise));
    return r->row->wts_bits.i != 4 || pack(qc, l, &v, cmsis, out);
}

bool qc_lower_weights(struct qc *qc, const struct qc_tables *t,
                      enum qc_weight_layout layout, struct qc_low_weights **out,
                      size_t *count)
{
    bool ok = true;
    size_t i;

    *out = qc_alloc(qc, (t->count + 1) * sizeof(**out));
    *count = 0;
    for (i = 0; i < t->count; i++) {
        const struct qc_low_row *r = &t->rows[i];
        size_t before = qc_error_count(qc);
        const struct qc_weights *w;

        if (!r->factors)
            continue;
        w = qc_layer_weights(qc, r->row);
        if (!w) {
            ok = ok && qc_error_count(qc) == before;
            continue;
        }
        if (lower_layer(qc, r, w, layout == QC_LAYOUT_CMSIS, &(*out)[*count]))
            ++*count;
        else
            ok = false;
    }
    return ok;
}
