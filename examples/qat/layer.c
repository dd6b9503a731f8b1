/* The layer of layer.h: ARQ and ULQ are the library's, the loops are plain. */
#include "layer.h"

#include <string.h>

#define MOMENTUM 0.9f

int layer_inputs(const struct layer *l)
{
    return l->shape.in * l->shape.in_side * l->shape.in_side;
}

int layer_outputs(const struct layer *l)
{
    return l->shape.out * l->shape.out_side * l->shape.out_side;
}

int layer_weights(const struct layer *l)
{
    return l->shape.out * (l->shape.in / l->shape.group) * l->shape.kernel *
           l->shape.kernel;
}

void layer_init(struct layer *l, const struct layer_shape *shape,
                const struct qrt_layer *recipe, const float *weight,
                const float *bias)
{
    memset(l, 0, sizeof *l);
    l->shape = *shape;
    l->recipe = recipe;
    memcpy(l->value.weight, weight, (size_t)layer_weights(l) * sizeof(float));
    memcpy(l->value.bias, bias, (size_t)l->shape.out * sizeof(float));
    l->ulq.bits = l->recipe->act_bits;
    l->ulq.asymmetric = l->recipe->act_asymmetric;
    l->ulq.fixed_min = l->recipe->ulq->fixed_min;
}

void layer_set_clips(struct layer *l, float clip_max, float clip_min)
{
    l->value.clip_max = l->ulq.clip_max_pre = clip_max;
    l->value.clip_min = l->ulq.clip_min_pre = clip_min;
}

enum qrt_status layer_quantize_weights(struct layer *l)
{
    const struct qrt_arq *arq = l->recipe->arq;
    struct qrt_shape shape = {1, 0, 0, 1};
    enum qrt_status status;

    shape.channels = (uint32_t)l->shape.out;
    shape.inner = (uint32_t)(layer_weights(l) / l->shape.out);
    status =
        qrt_arq_f32_scale(l->value.weight, &shape, arq->bits, arq->per_channel,
                          false, l->scale_w, l->offset_w, NULL);
    if (status != QRT_OK)
        return status;
    return qrt_arq_f32_fake(l->value.weight, &shape, arq->bits,
                            arq->per_channel, l->scale_w, l->offset_w,
                            l->weight);
}

/* The window that one output element sees. */
struct window {
    int first;     /* first input channel of the group      */
    int top, left; /* corner in the image, -pad and more    */
    int weight;    /* index of the first weight             */
};

static struct window window_of(const struct layer *l, int o, int y, int x)
{
    int channels = l->shape.in / l->shape.group;
    struct window w;

    w.first = o / (l->shape.out / l->shape.group) * channels;
    w.top = y * l->shape.stride - l->shape.pad;
    w.left = x * l->shape.stride - l->shape.pad;
    w.weight = o * channels * l->shape.kernel * l->shape.kernel;
    return w;
}

/* Index of the input element under tap (c, ky, kx); -1 in the padding. */
static int under(const struct layer *l, const struct window *w, int c, int ky,
                 int kx)
{
    int y = w->top + ky, x = w->left + kx;

    if (y < 0 || y >= l->shape.in_side || x < 0 || x >= l->shape.in_side)
        return -1;
    return ((w->first + c) * l->shape.in_side + y) * l->shape.in_side + x;
}

static float output_of(const struct layer *l, const struct window *w,
                       const float *in, const float *weight)
{
    float sum = 0;
    int c, ky, kx, at;

    weight += w->weight;
    for (c = 0; c < l->shape.in / l->shape.group; c++)
        for (ky = 0; ky < l->shape.kernel; ky++)
            for (kx = 0; kx < l->shape.kernel; kx++, weight++)
                if ((at = under(l, w, c, ky, kx)) >= 0)
                    sum += in[at] * *weight;
    return sum;
}

static void output_gradient(struct layer *l, const struct window *w, float g,
                            float *grad_in)
{
    const float *weight = l->weight + w->weight;
    float *grad_weight = l->gradient.weight + w->weight;
    int c, ky, kx, at;

    for (c = 0; c < l->shape.in / l->shape.group; c++)
        for (ky = 0; ky < l->shape.kernel; ky++)
            for (kx = 0; kx < l->shape.kernel; kx++, weight++, grad_weight++)
                if ((at = under(l, w, c, ky, kx)) >= 0) {
                    *grad_weight += g * l->quantized[at];
                    grad_in[at] += g * *weight;
                }
}

enum qrt_status layer_forward(struct layer *l, int quantize)
{
    const float *in = quantize ? l->quantized : l->input;
    const float *weight = quantize ? l->weight : l->value.weight;
    float *out = l->output;
    int o, y, x;

    if (quantize) {
        enum qrt_status status = qrt_ulq_f32_forward(
            &l->ulq, l->input, (size_t)layer_inputs(l), &l->value.clip_max,
            &l->value.clip_min, &l->scale_d, &l->offset_d, l->quantized);

        if (status != QRT_OK)
            return status;
    }
    for (o = 0; o < l->shape.out; o++)
        for (y = 0; y < l->shape.out_side; y++)
            for (x = 0; x < l->shape.out_side; x++, out++) {
                struct window w = window_of(l, o, y, x);

                *out = output_of(l, &w, in, weight) + l->value.bias[o];
                if (l->shape.relu && !(*out > 0.0f))
                    *out = 0.0f;
            }
    return QRT_OK;
}

enum qrt_status layer_backward(struct layer *l, float *grad)
{
    float grad_in[LAYER_LARGEST] = {0};
    const float *out = l->output, *g = grad;
    double clip_max, clip_min;
    enum qrt_status status;
    int o, y, x;

    for (o = 0; o < l->shape.out; o++)
        for (y = 0; y < l->shape.out_side; y++)
            for (x = 0; x < l->shape.out_side; x++, out++, g++) {
                struct window w = window_of(l, o, y, x);

                if (l->shape.relu && *out == 0.0f)
                    continue;
                l->gradient.bias[o] += *g;
                output_gradient(l, &w, *g, grad_in);
            }
    status = qrt_ulq_f32_backward(
        &l->ulq, l->input, grad_in, (size_t)layer_inputs(l), l->value.clip_max,
        l->value.clip_min, grad, &clip_max, &clip_min);
    if (status == QRT_OK) {
        l->gradient.clip_max += (float)clip_max;
        l->gradient.clip_min += (float)clip_min;
    }
    return status;
}

static void step(float *value, float *momentum, float *gradient, int n,
                 float rate)
{
    int i;

    for (i = 0; i < n; i++) {
        momentum[i] = MOMENTUM * momentum[i] + gradient[i];
        value[i] -= rate * momentum[i];
        gradient[i] = 0;
    }
}

void layer_step(struct layer *l, float rate)
{
    struct parameters *v = &l->value, *m = &l->momentum, *g = &l->gradient;

    step(v->weight, m->weight, g->weight, layer_weights(l), rate);
    step(v->bias, m->bias, g->bias, l->shape.out, rate);
    step(&v->clip_max, &m->clip_max, &g->clip_max, 1, rate);
    step(&v->clip_min, &m->clip_min, &g->clip_min, 1, rate);
}
