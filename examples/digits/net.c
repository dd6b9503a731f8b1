/* The digits network in integers: the loops over weights are here, every step
 * between real numbers, accumulators and codes is a kernel of the runtime, fed
 * from the tables that quantc generated.
 *
 *   pixels -quantize-> codes -convolve-> accumulators -requantize-> codes ...
 *                                        accumulators -dequantize-> logits */
#include "net.h"

#include "quant_tables.h"
#include "weights.h"

/* Shape of a layer; a fully connected one is a convolution of 1x1 images. */
struct shape {
    uint16_t layer; /* enum quant_layer        */
    uint16_t in, out, group;
    uint16_t in_side, kernel, stride, pad, out_side;
    const int8_t *weight; /* [out, in / group, kernel, kernel] */
    const int32_t *bias;  /* [out], in accumulator units       */
};

/* clang-format off */
static const struct shape net[] = {
    /*                in  out group  side k  s  p  side */
    {QUANT_CONV1,  1, 16,  1,  8, 3, 1, 1, 8, conv1_weight, conv1_bias},
    {QUANT_DW,    16, 16, 16,  8, 3, 2, 1, 4, dw_weight,    dw_bias   },
    {QUANT_PW,    16, 24,  1,  4, 1, 1, 0, 4, pw_weight,    pw_bias   },
    {QUANT_FC,   384, 10,  1,  1, 1, 1, 0, 1, fc_weight,    fc_bias   },
};
/* clang-format on */

/* One kernel window of one input channel.
 *
 * The real zero has the code `zero`, so q - zero is what a weight multiplies,
 * and a tap in the padding adds nothing. */
static int32_t window(const struct shape *s, const int8_t *in,
                      const int8_t *weight, int32_t zero, int top, int left)
{
    int32_t sum = 0;
    int y, x;

    for (y = top; y < top + s->kernel; y++)
        for (x = left; x < left + s->kernel; x++, weight++)
            if (y >= 0 && y < s->in_side && x >= 0 && x < s->in_side)
                sum += (in[y * s->in_side + x] - zero) * *weight;
    return sum;
}

/* One output channel; `in` starts at the first channel of its group. */
static void channel(const struct shape *s, const int8_t *in,
                    const int8_t *weight, int32_t bias, int32_t zero,
                    int32_t *acc)
{
    int in_size = s->in_side * s->in_side;
    int weight_size = s->kernel * s->kernel;
    int y, x, i;

    for (y = 0; y < s->out_side; y++) {
        for (x = 0; x < s->out_side; x++) {
            int32_t sum = bias;

            for (i = 0; i < s->in / s->group; i++)
                sum +=
                    window(s, in + i * in_size, weight + i * weight_size, zero,
                           y * s->stride - s->pad, x * s->stride - s->pad);
            *acc++ = sum;
        }
    }
}

static void convolve(const struct shape *s, const int8_t *in, int32_t zero,
                     int32_t *acc)
{
    int group_in = s->in / s->group;
    int group_out = s->out / s->group;
    int o;

    for (o = 0; o < s->out; o++)
        channel(s, in + o / group_out * group_in * s->in_side * s->in_side,
                s->weight + o * group_in * s->kernel * s->kernel, s->bias[o],
                zero, acc + o * s->out_side * s->out_side);
}

/* Grey levels are multiples of 2^-IMAGE_FRAC: fixed point already. */
static enum qrt_status quantize_image(const struct digits_image *image,
                                      const struct qrt_factors *factors,
                                      struct net_memory *memory)
{
    const struct qrt_shape whole = {1, 1, IMAGE_PIXELS, 1};
    struct qrt_quantize p = {0};
    int i;

    for (i = 0; i < IMAGE_PIXELS; i++)
        memory->acc[i] = image_grey(image, i);
    p.recip = &factors->recip_d;
    p.zero_point = &factors->offset_d;
    p.frac = IMAGE_FRAC;
    p.bits = 8;
    p.order = QRT_ADD_THEN_ROUND;
    return qrt_quantize_s32_s8(memory->acc, &whole, &p, memory->codes);
}

/* Accumulators become the codes of the next layer, or logits after the last.
 * Both have one factor per output channel, or one for all. */
static enum qrt_status leave(const struct shape *s,
                             const struct qrt_layer *layer,
                             struct net_memory *memory, int32_t *logits)
{
    uint32_t pixels = (uint32_t)s->out_side * s->out_side;
    struct qrt_shape shape = {1, s->out, pixels, 1};
    struct qrt_dequantize p = {0};

    if (layer->factors->scale_count == 1) {
        shape.channels = 1;
        shape.inner = s->out * pixels;
    }
    if (layer->edge != NULL)
        return qrt_requantize_s8(memory->acc, &shape, layer->edge,
                                 memory->codes);
    p.scale = layer->factors->dequant;
    p.frac = NET_LOGIT_FRAC;
    return qrt_dequantize_s32_s32(memory->acc, &shape, &p, logits);
}

enum qrt_status net_run(const struct digits_image *image,
                        struct net_memory *memory, int32_t logits[NET_CLASSES])
{
    enum qrt_status status =
        quantize_image(image, quant_layers[net[0].layer].factors, memory);
    size_t i;

    for (i = 0; i < sizeof net / sizeof *net && status == QRT_OK; i++) {
        const struct qrt_layer *layer = &quant_layers[net[i].layer];

        convolve(&net[i], memory->codes, layer->factors->offset_d, memory->acc);
        status = leave(&net[i], layer, memory, logits);
    }
    return status;
}

int net_class(const int32_t logits[NET_CLASSES])
{
    int best = 0;
    int i;

    for (i = 1; i < NET_CLASSES; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}
