/* A layer before calibration: its weights are codes already, made by ARQ on
 * the device, its activations are plain fixed-point numbers. */
#ifndef ONDEVICE_LAYER_H
#define ONDEVICE_LAYER_H

#include "qrt.h"

/* Activations are Q12 in an int32_t: with at most 384 taps of 8-bit weights no
 * sum leaves 32 bits while activations stay below 2^4. */
#define FRAC 12

#define LARGEST      1024 /* elements of the largest activation: 16 x 8 x 8 */
#define MOST_WEIGHTS 3840
#define MOST_OUT     24

struct layer {
    uint16_t row; /* enum quant_layer                             */
    uint16_t in, out, group;
    uint16_t in_side, kernel, stride, pad, out_side;
    const float *weight, *bias; /* read as bit patterns only      */
    /* filled by layer_prepare: */
    int8_t *code;
    struct qrt_real scale_w[MOST_OUT];
    uint32_t scale_count;
    int32_t bias_q[MOST_OUT]; /* in units of scale_w * 2^-FRAC     */
};

/* Weights to codes as layer->arq says, biases to the accumulator's unit. */
enum qrt_status layer_prepare(struct layer *l, const struct qrt_arq *arq);

/* One layer, with a ReLU: in and out are Q12. */
enum qrt_status layer_run(const struct layer *l, const int32_t *in,
                          int32_t *out);

/* The elements that a layer reads. */
uint32_t layer_inputs(const struct layer *l);

#endif
