/* The digits network in floating point: what the integers are compared with. */
#include "float_net.h"

#include "float_weights.h"

#include <stddef.h>

#define LARGEST 1024 /* elements of the largest activation */

struct shape {
    int in, out, group;
    int in_side, kernel, stride, pad, out_side;
    const float *weight, *bias;
};

/* clang-format off */
static const struct shape net[] = {
    /* in out group side k  s  p  side */
    {  1, 16,  1,   8,  3, 1, 1, 8, conv1_weight_f, conv1_bias_f},
    { 16, 16, 16,   8,  3, 2, 1, 4, dw_weight_f,    dw_bias_f   },
    { 16, 24,  1,   4,  1, 1, 0, 4, pw_weight_f,    pw_bias_f   },
    {384, 10,  1,   1,  1, 1, 0, 1, fc_weight_f,    fc_bias_f   },
};
/* clang-format on */

#define LAYERS (sizeof net / sizeof *net)

/* One output: windows of all input channels of the group. */
static float output(const struct shape *s, const float *in, int channel,
                    int top, int left)
{
    int group_in = s->in / s->group;
    int first = channel / (s->out / s->group) * group_in;
    const float *w = s->weight + channel * group_in * s->kernel * s->kernel;
    float sum = s->bias[channel];
    int i, y, x;

    for (i = first; i < first + group_in; i++)
        for (y = top; y < top + s->kernel; y++)
            for (x = left; x < left + s->kernel; x++, w++)
                if (y >= 0 && y < s->in_side && x >= 0 && x < s->in_side)
                    sum += in[(i * s->in_side + y) * s->in_side + x] * *w;
    return sum;
}

static void run_layer(const struct shape *s, const float *in, float *out)
{
    int o, y, x;

    for (o = 0; o < s->out; o++)
        for (y = 0; y < s->out_side; y++)
            for (x = 0; x < s->out_side; x++)
                *out++ = output(s, in, o, y * s->stride - s->pad,
                                x * s->stride - s->pad);
}

static void relu(float *x)
{
    int i;

    for (i = 0; i < LARGEST; i++)
        if (!(x[i] > 0.0f))
            x[i] = 0.0f;
}

void float_net_run(const struct digits_image *image,
                   float logits[FLOAT_NET_CLASSES])
{
    float memory[2][LARGEST] = {{0}};
    size_t i;

    for (i = 0; i < IMAGE_PIXELS; i++)
        memory[0][i] = (float)image_grey(image, (int)i) / (1 << IMAGE_FRAC);
    for (i = 0; i + 1 < LAYERS; i++) {
        run_layer(&net[i], memory[i & 1], memory[(i + 1) & 1]);
        relu(memory[(i + 1) & 1]);
    }
    run_layer(&net[i], memory[i & 1], logits);
}
