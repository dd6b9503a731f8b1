/* Runs a network in integers. The loops over weights are here, plain; every
 * step between real numbers, codes and accumulators is the runtime's. */
#include "net.h"

#define MAX_LAYERS 32
#define LOGIT_FRAC 16

static int8_t *codes_of[MAX_LAYERS];
static int8_t *codes_free;

static uint32_t in_size(const struct net_layer *l)
{
    return (uint32_t)l->in * l->in_height * l->in_width;
}

static uint32_t out_size(const struct net_layer *l)
{
    return (uint32_t)l->out * l->out_height * l->out_width;
}

static const struct qrt_layer *row_of(const struct net_layer *l)
{
    return &net_tables->layers[l->row];
}

/* Index in net[] of a row of the tables. */
static uint32_t index_of(uint32_t row)
{
    uint32_t i = 0;

    while (i < net_size - 1 && net[i].row != row)
        i++;
    return i;
}

/* ---- the layers ---- */

/* What one tap of the kernel adds to a channel. */
static void tap(const struct net_layer *l, const int8_t *in, int32_t zero,
                int32_t weight, int down, int right, int32_t *acc)
{
    int y, x;

    for (y = 0; y < l->out_height; y++) {
        int row = y * l->stride + down, first = 0, last = l->out_width;

        if (row < 0 || row >= l->in_height)
            continue;
        while (first < last && first * l->stride + right < 0)
            first++;
        while (first < last && (last - 1) * l->stride + right >= l->in_width)
            last--;
        for (x = first; x < last; x++)
            acc[y * l->out_width + x] +=
                weight * (in[row * l->in_width + x * l->stride + right] - zero);
    }
}

/* in: the first channel of the group. */
static void channel(const struct net_layer *l, const int8_t *in, int32_t zero,
                    const int8_t *weight, int32_t bias, int32_t *acc)
{
    int plane = l->out_height * l->out_width, i, y, x;

    for (i = 0; i < plane; i++)
        acc[i] = bias;
    for (i = 0; i < l->in / l->group; i++)
        for (y = 0; y < l->height; y++)
            for (x = 0; x < l->width; x++)
                tap(l, in + i * l->in_height * l->in_width, zero, *weight++,
                    y - l->top, x - l->left, acc);
}

static void convolve(const struct net_layer *l, const int8_t *in, int32_t zero,
                     int32_t *acc)
{
    int taps = l->in / l->group * l->height * l->width, o;
    int group_in = l->in / l->group * l->in_height * l->in_width;

    for (o = 0; o < l->out; o++)
        channel(l, in + o / (l->out / l->group) * group_in, zero,
                l->weight + o * taps, l->bias[o],
                acc + o * l->out_height * l->out_width);
}

static void multiply_io(const struct net_layer *l, const int8_t *in,
                        int32_t zero, int32_t *acc)
{
    int i, o;

    for (o = 0; o < l->out; o++) {
        acc[o] = l->bias[o];
        for (i = 0; i < l->in; i++)
            acc[o] += (in[i] - zero) * l->weight[i * l->out + o];
    }
}

/* The accumulator of a mean is the sum of its codes. */
static void sum_windows(const struct net_layer *l, const int8_t *in,
                        int32_t zero, int32_t *acc)
{
    int c, y, x;

    for (c = 0; c < l->out; c++) {
        int32_t *plane = acc + c * l->out_height * l->out_width;

        for (y = 0; y < l->out_height * l->out_width; y++)
            plane[y] = 0;
        for (y = 0; y < l->height; y++)
            for (x = 0; x < l->width; x++)
                tap(l, in + c * l->in_height * l->in_width, zero, 1, y - l->top,
                    x - l->left, plane);
    }
}

static void run_layer(const struct net_layer *l, const int8_t *in)
{
    int32_t zero = row_of(l)->factors->offset_d;

    if (l->kind == NET_CONV)
        convolve(l, in, zero, net_acc[l->acc]);
    else if (l->kind == NET_LINEAR_IO)
        multiply_io(l, in, zero, net_acc[l->acc]);
    else
        sum_windows(l, in, zero, net_acc[l->acc]);
}

/* ---- between the layers ---- */

static void max_pool(const struct net_layer *l, int8_t *codes)
{
    int width = l->in_width * l->pool, c, y, x, i;
    int8_t *out = codes;

    for (c = 0; c < l->in; c++)
        for (y = 0; y < l->in_height; y++)
            for (x = 0; x < l->in_width; x++) {
                const int8_t *in =
                    codes + ((c * l->in_height + y) * width + x) * l->pool;
                int8_t most = *in;

                for (i = 1; i < l->pool * l->pool; i++) {
                    int8_t v = in[i / l->pool * width + i % l->pool];

                    most = v > most ? v : most;
                }
                *out++ = most;
            }
}

static struct qrt_shape shape_of(const struct net_layer *l)
{
    struct qrt_shape s = {1, l->out, (uint32_t)l->out_height * l->out_width, 1};

    return s;
}

/* A factor for each channel, or one for all. */
static struct qrt_shape shape_for(const struct net_layer *l, uint32_t factors)
{
    struct qrt_shape s = shape_of(l);

    if (factors == 1) {
        s.inner *= s.channels;
        s.channels = 1;
    }
    return s;
}

/* Where a sum is made: over the first term's accumulator, else in the buffer
 * that the others do not use. */
static int32_t *sum_buffer(const struct qrt_join *j)
{
    const struct qrt_term *last = &j->terms[j->term_count - 1];

    if (!j->terms[0].is_code)
        return net_acc[net[index_of(j->terms[0].layer)].acc];
    return last->is_code ? net_acc[0]
                         : net_acc[1 - net[index_of(last->layer)].acc];
}

static enum qrt_status make_sum(const struct net_layer *l,
                                const struct qrt_join *j, int8_t *codes)
{
    int32_t *sum = sum_buffer(j);
    enum qrt_status status = QRT_OK;
    uint32_t i, count = 0;

    for (i = 0; i < j->term_count && status == QRT_OK; i++) {
        const struct net_layer *from = &net[index_of(j->terms[i].layer)];
        struct qrt_shape shape = shape_of(from);

        if (j->terms[i].is_code) {
            shape.channels = 1;
            shape.inner = count = in_size(from);
            status = qrt_join_add_s8(j, i, codes_of[from - net], &shape, sum);
        } else {
            count = out_size(from);
            status = qrt_join_add_s32(j, i, net_acc[from->acc], &shape, sum);
        }
    }
    if (status == QRT_OK && j->mean) {
        status = qrt_join_mean(j, sum, l->in, count / l->in, sum);
        count = l->in;
    }
    return status == QRT_OK ? qrt_join_finish_s8(j, sum, count, codes) : status;
}

/* The network's input is given as binary32 patterns. */
static enum qrt_status quantize(const struct net_layer *l,
                                const uint32_t *input, int8_t *codes)
{
    const struct qrt_factors *f = row_of(l)->factors;
    const struct qrt_shape shape = {1, 1, in_size(l), 1};
    struct qrt_quantize p = {0};

    p.recip = &f->recip_d;
    p.zero_point = &f->offset_d;
    p.bits = row_of(l)->act_bits;
    p.order = QRT_ADD_THEN_ROUND;
    return qrt_quantize_bits_s8(input, &shape, &p, codes);
}

static enum qrt_status make_input(uint32_t i, const uint32_t *input)
{
    const struct net_layer *l = &net[i];
    const struct qrt_join *j = row_of(l)->join;
    enum qrt_status status;

    if (j != NULL && j->kind == QRT_JOIN_SAME) {
        codes_of[i] = codes_of[index_of(j->terms[0].layer)];
        return QRT_OK;
    }
    codes_of[i] = codes_free;
    codes_free += in_size(l) * l->pool * l->pool;
    if (j == NULL) {
        /* Real numbers are at hand before the first layer only. */
        status = i == 0 ? quantize(l, input, codes_of[i]) : QRT_ERR_STATE;
    } else if (j->kind == QRT_JOIN_EDGE) {
        const struct net_layer *from = &net[index_of(j->terms[0].layer)];
        struct qrt_shape shape =
            shape_for(from, row_of(from)->factors->scale_count);

        status =
            qrt_requantize_s8(net_acc[from->acc], &shape, j->edge, codes_of[i]);
    } else {
        status = make_sum(l, j, codes_of[i]);
    }
    if (status == QRT_OK && l->pool > 1)
        max_pool(l, codes_of[i]);
    return status;
}

enum qrt_status net_run(const uint32_t *input, int32_t *logits)
{
    const struct net_layer *last = &net[net_size - 1];
    const struct qrt_factors *f = row_of(last)->factors;
    struct qrt_shape shape = shape_for(last, f->scale_count);
    struct qrt_dequantize p = {0};
    enum qrt_status status = QRT_OK;
    uint32_t i;

    codes_free = net_codes;
    for (i = 0; i < net_size && status == QRT_OK; i++) {
        status = make_input(i, input);
        if (status == QRT_OK)
            run_layer(&net[i], codes_of[i]);
    }
    p.scale = f->dequant;
    p.frac = LOGIT_FRAC;
    return status == QRT_OK
               ? qrt_dequantize_s32_s32(net_acc[last->acc], &shape, &p, logits)
               : status;
}
