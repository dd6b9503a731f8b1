/* A convolution that is trained while it is quantized: fake-quantized weights
 * (ARQ) and inputs (ULQ) in the forward pass, straight-through gradients in
 * the backward pass. A fully connected layer is a convolution of 1x1 images. */
#ifndef QAT_LAYER_H
#define QAT_LAYER_H

#include "qrt_f32.h"

#define LAYER_LARGEST 1024 /* elements of the largest activation */
#define LAYER_WEIGHTS 3840 /* of the largest layer               */
#define LAYER_OUTPUTS 24   /* channels of the widest layer       */

/* What training changes, and its gradients and momentum: same shape each. */
struct parameters {
    float weight[LAYER_WEIGHTS]; /* [out, in / group, kernel, kernel] */
    float bias[LAYER_OUTPUTS];
    float clip_max, clip_min; /* of the input */
};

struct layer_shape {
    const char *name; /* as in the model */
    int in, out, group;
    int in_side, kernel, stride, pad, out_side;
    int relu;
};

struct layer {
    struct layer_shape shape;
    const struct qrt_layer *recipe; /* row of the table that quantc made */
    struct parameters value, momentum, gradient;
    struct qrt_ulq_f32 ulq;

    /* of the last forward pass */
    float input[LAYER_LARGEST];     /* before quantization           */
    float quantized[LAYER_LARGEST]; /* what the weights multiply     */
    float output[LAYER_LARGEST];    /* after the ReLU                */
    float weight[LAYER_WEIGHTS];    /* fake-quantized                */
    float scale_w[LAYER_OUTPUTS];
    int32_t offset_w[LAYER_OUTPUTS];
    float scale_d;
    int32_t offset_d;
};

int layer_inputs(const struct layer *l);
int layer_outputs(const struct layer *l);
int layer_weights(const struct layer *l);

/* A layer that has the trained weights, in the order of struct parameters. The
 * clips are 0: see layer_set_clips. */
void layer_init(struct layer *l, const struct layer_shape *shape,
                const struct qrt_layer *recipe, const float *weight,
                const float *bias);

/* First clips of the input, also the ones that ULQ falls back to. */
void layer_set_clips(struct layer *l, float clip_max, float clip_min);

/* Fake-quantizes the weights: once for a batch. */
enum qrt_status layer_quantize_weights(struct layer *l);

/* l->input to l->output. With quantize = 0 in floating point, with the
 * weights as they are. */
enum qrt_status layer_forward(struct layer *l, int quantize);

/* Adds to the gradients of the layer. grad comes in as that of l->output, and
 * leaves as that of l->input. */
enum qrt_status layer_backward(struct layer *l, float *grad);

/* One step of gradient descent with momentum; clears the gradients. */
void layer_step(struct layer *l, float rate);

#endif
