/* ARQ on the device, and the layer in fixed point. */
#include "layer.h"

uint32_t layer_inputs(const struct layer *l)
{
    return (uint32_t)l->in * l->in_side * l->in_side;
}

/* A float in memory is its bit pattern; no FPU has to read it. */
static const uint32_t *patterns(const float *x)
{
    return (const uint32_t *)(const void *)x;
}

static enum qrt_status prepare_weights(struct layer *l,
                                       const struct qrt_arq *arq)
{
    uint32_t taps = (uint32_t)(l->in / l->group) * l->kernel * l->kernel;
    struct qrt_shape shape = {1, 1, 0, 1};
    struct qrt_arq_weights p = {0};
    struct qrt_arq_result result = {0};

    p.bits = arq->bits;
    p.per_channel = arq->per_channel != 0;
    shape.channels = l->out;
    shape.inner = taps;
    l->scale_count = p.per_channel ? l->out : 1;
    result.scale = l->scale_w;
    return qrt_arq_bits(patterns(l->weight), &shape, &p, &result, l->code);
}

enum qrt_status layer_prepare(struct layer *l, const struct qrt_arq *arq)
{
    const struct qrt_real input_step = {1 << 30, 1 - FRAC}; /* 2^-FRAC */
    struct qrt_real unit[MOST_OUT];
    enum qrt_status status = prepare_weights(l, arq);
    uint32_t i;

    for (i = 0; i < l->scale_count && status == QRT_OK; i++)
        status = qrt_dequant_scale(l->scale_w[i], input_step, &unit[i]);
    if (status == QRT_OK)
        status = qrt_bias_quantize(patterns(l->bias), l->out, unit,
                                   l->scale_count, l->bias_q);
    return status;
}

/* One kernel window of one input channel. */
static int32_t window(const struct layer *l, const int32_t *in,
                      const int8_t *weight, int top, int left)
{
    int32_t sum = 0;
    int y, x;

    for (y = top; y < top + l->kernel; y++)
        for (x = left; x < left + l->kernel; x++, weight++)
            if (y >= 0 && y < l->in_side && x >= 0 && x < l->in_side)
                sum += in[y * l->in_side + x] * *weight;
    return sum;
}

static void channel(const struct layer *l, int o, const int32_t *in,
                    int32_t *out)
{
    int group_in = l->in / l->group;
    int size = l->kernel * l->kernel;
    const int8_t *weight = l->code + o * group_in * size;
    int y, x, i;

    in += o / (l->out / l->group) * group_in * l->in_side * l->in_side;
    for (y = 0; y < l->out_side; y++) {
        for (x = 0; x < l->out_side; x++) {
            int32_t sum = l->bias_q[o];

            for (i = 0; i < group_in; i++)
                sum += window(l, in + i * l->in_side * l->in_side,
                              weight + i * size, y * l->stride - l->pad,
                              x * l->stride - l->pad);
            *out++ = sum;
        }
    }
}

enum qrt_status layer_run(const struct layer *l, const int32_t *in,
                          int32_t *out)
{
    uint32_t pixels = (uint32_t)l->out_side * l->out_side;
    struct qrt_shape shape = {1, 1, 0, 1};
    struct qrt_dequantize p = {0};
    enum qrt_status status;
    uint32_t i;
    int o;

    for (o = 0; o < l->out; o++)
        channel(l, o, in, out + (uint32_t)o * pixels);
    /* The sum counts scale_w * 2^-FRAC, so sum * scale_w counts 2^-FRAC. */
    shape.channels = l->scale_count;
    shape.inner = l->out * pixels / l->scale_count;
    p.scale = l->scale_w;
    status = qrt_dequantize_s32_s32(out, &shape, &p, out);
    for (i = 0; i < l->out * pixels; i++)
        out[i] = out[i] > 0 ? out[i] : 0;
    return status;
}
