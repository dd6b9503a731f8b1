/* Quantization-aware training of the digits network in plain C.
 *
 * config.json says how. quantc turned it into quant_tables.c, whose rows give
 * bits and granularity of the weights (arq_retrain) and the treatment of the
 * clips (ulq_quantize) of every layer. The program measures the network in
 * floating point, quantized without training, and after training, and writes
 * what it has learned: DIR/record.txt for quantc, DIR/weights.h for the
 * program that runs in integers.
 *
 * usage: qat DIR
 *
 * A host program: floating point, libm, stdio. */
#include "export.h"
#include "layer.h"
#include "quant_tables.h"

#include "../digits/float_weights.h"
#include "../digits/image.h"
#include "../digits/test_set.h"
#include "../digits/train_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CLASSES     10
#define EPOCHS      15
#define BATCH       32
#define RATE        0.02f
#define SMOOTHING   0.1f /* of the labels, as when the floats were trained */
#define CALIBRATION 128  /* images that set the first clips                */

/* In the order of the table, which is the order in which layers run. */
static struct layer net[QUANT_LAYER_COUNT];

/* clang-format off */
static const struct layer_shape shapes[QUANT_LAYER_COUNT] = {
    /*                name      in out grp side k  s  p side relu */
    [QUANT_CONV1] = {"conv1",   1, 16,  1,  8,  3, 1, 1, 8,  1},
    [QUANT_DW]    = {"dw",     16, 16, 16,  8,  3, 2, 1, 4,  1},
    [QUANT_PW]    = {"pw",     16, 24,  1,  4,  1, 1, 0, 4,  1},
    [QUANT_FC]    = {"fc",    384, 10,  1,  1,  1, 1, 0, 1,  0},
};
/* clang-format on */

static const float *const trained[QUANT_LAYER_COUNT][2] = {
    [QUANT_CONV1] = {conv1_weight_f, conv1_bias_f},
    [QUANT_DW] = {dw_weight_f,    dw_bias_f   },
    [QUANT_PW] = {pw_weight_f,    pw_bias_f   },
    [QUANT_FC] = {fc_weight_f,    fc_bias_f   },
};

static void check(const char *where, enum qrt_status status)
{
    if (status == QRT_OK)
        return;
    fprintf(stderr, "qat: %s: %s\n", where, qrt_status_name(status));
    exit(1);
}

/* ---- one image ---- */

static const float *run(const struct digits_image *image, int quantize)
{
    int i, k;

    for (k = 0; k < IMAGE_PIXELS; k++)
        net[0].input[k] = (float)image_grey(image, k) / (1 << IMAGE_FRAC);
    for (i = 0; i < QUANT_LAYER_COUNT; i++) {
        check(net[i].shape.name, layer_forward(&net[i], quantize));
        if (i + 1 < QUANT_LAYER_COUNT)
            for (k = 0; k < layer_outputs(&net[i]); k++)
                net[i + 1].input[k] = net[i].output[k];
    }
    return net[QUANT_LAYER_COUNT - 1].output;
}

/* Gradient of the cross entropy over a batch's mean. */
static void loss_gradient(const float *logits, int label, float *grad)
{
    float top = logits[0], sum = 0;
    int k;

    for (k = 1; k < CLASSES; k++)
        top = fmaxf(top, logits[k]);
    for (k = 0; k < CLASSES; k++)
        sum += grad[k] = expf(logits[k] - top);
    for (k = 0; k < CLASSES; k++) {
        float want = SMOOTHING / CLASSES + (k == label ? 1 - SMOOTHING : 0);

        grad[k] = (grad[k] / sum - want) / BATCH;
    }
}

static void learn(const struct digits_image *image)
{
    static float grad[LAYER_LARGEST];
    int i;

    loss_gradient(run(image, 1), image->label, grad);
    for (i = QUANT_LAYER_COUNT - 1; i >= 0; i--)
        check(net[i].shape.name, layer_backward(&net[i], grad));
}

static void quantize_weights(void)
{
    int i;

    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        check(net[i].shape.name, layer_quantize_weights(&net[i]));
}

/* ---- the first clips ---- */

/* IFMR with its defaults over the inputs of the layer. */
static void find_clips(struct layer *l, const float *samples, size_t n)
{
    static uint64_t state[256 * 1024];
    static float ratios[61];
    struct qrt_ifmr_f32_config config = {0};
    struct qrt_ifmr_f32_result found;

    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
    config.bits = l->ulq.bits;
    config.asymmetric = l->ulq.asymmetric;
    config.ratios = ratios;
    config.ratio_count = qrt_ifmr_f32_ratio_count(0.7, 1.3, 0.01);
    config.max_percentile = config.min_percentile = 0.999999;
    check(l->shape.name, qrt_ifmr_f32_search(state, sizeof state, &config,
                                             samples, n, &found));
    layer_set_clips(l, found.clip_max, found.clip_min);
}

static void set_clips(struct layer *l)
{
    static float samples[CALIBRATION * LAYER_LARGEST];
    size_t n = 0;
    int i, k;

    for (i = 0; i < CALIBRATION; i++) {
        run(&train_set[i], 0);
        for (k = 0; k < layer_inputs(l); k++)
            samples[n++] = l->input[k];
    }
    find_clips(l, samples, n);
}

/* ---- training ---- */

/* A permutation that depends on the epoch only. */
static void shuffle(int *order, int n, uint32_t *seed)
{
    int i;

    for (i = n - 1; i > 0; i--) {
        int j, t = order[i];

        *seed = *seed * 1664525u + 1013904223u;
        j = (int)((uint64_t)*seed * (uint32_t)(i + 1) >> 32);
        order[i] = order[j];
        order[j] = t;
    }
}

static void train_batch(const int *order, float rate)
{
    int i;

    quantize_weights();
    for (i = 0; i < BATCH; i++)
        learn(&train_set[order[i]]);
    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        layer_step(&net[i], rate);
}

static void train(void)
{
    static int order[TRAIN_SET_COUNT];
    uint32_t seed = 1;
    int steps = TRAIN_SET_COUNT / BATCH;
    int epoch, i;

    for (i = 0; i < TRAIN_SET_COUNT; i++)
        order[i] = i;
    for (epoch = 0; epoch < EPOCHS; epoch++) {
        shuffle(order, TRAIN_SET_COUNT, &seed);
        for (i = 0; i < steps; i++)
            train_batch(order + i * BATCH,
                        RATE * (1 - (float)(epoch * steps + i) /
                                        (float)(EPOCHS * steps)));
    }
    quantize_weights();
}

/* ---- results ---- */

static void print_accuracy(const char *what, int quantize)
{
    int correct = 0;
    int i, k;

    for (i = 0; i < TEST_SET_COUNT; i++) {
        const float *logits = run(&test_set[i], quantize);
        int best = 0;

        for (k = 1; k < CLASSES; k++)
            if (logits[k] > logits[best])
                best = k;
        correct += best == test_set[i].label;
    }
    printf("%-28s %d of %d correct, %.1f %%\n", what, correct, TEST_SET_COUNT,
           100.0 * correct / TEST_SET_COUNT);
}

static void print_layers(void)
{
    int i;

    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        printf("  %-6s weights %2d bit, inputs %2d bit, clips %.4f .. %.4f\n",
               net[i].shape.name, net[i].recipe->arq->bits,
               net[i].recipe->act_bits, (double)net[i].value.clip_min + 0.0,
               (double)net[i].value.clip_max);
}

int main(int argc, char **argv)
{
    int i;

    if (argc != 2) {
        fprintf(stderr, "usage: qat DIR\n");
        return 2;
    }
    check("quant_tables", qrt_tables_check(&quant_tables, QUANT_TABLES_HASH));
    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        layer_init(&net[i], &shapes[i], &quant_layers[i], trained[i][0],
                   trained[i][1]);
    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        set_clips(&net[i]);
    quantize_weights();
    print_accuracy("floating point:", 0);
    print_accuracy("quantized, not retrained:", 1);
    print_layers();
    train();
    print_accuracy("quantized, retrained:", 1);
    print_layers();
    if (export_record(argv[1], net, QUANT_LAYER_COUNT) != 0 ||
        export_weights(argv[1], net, QUANT_LAYER_COUNT) != 0)
        return 1;
    return 0;
}
