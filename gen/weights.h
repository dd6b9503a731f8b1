/* The weights of a layer as binary32, BatchNorm folded in where the plan says
 * so: what ARQ and the weight emitter work on. */
#ifndef QC_WEIGHTS_H
#define QC_WEIGHTS_H

#include "plan.h"

#include "qrt.h"

struct qc_weights {
    float *w; /* [count] in the model's layout               */
    uint64_t count;
    struct qrt_shape shape; /* channel axis of that layout                 */
    size_t channels;        /* output channels                             */
    float *bias;            /* [channels], after folding; null: none       */
    bool folded;
};

/* Null when the layer has no constant weights (pooling, layer lists), or after
 * a fault, which is reported. */
struct qc_weights *qc_layer_weights(struct qc *qc, const struct qc_row *row);

/* The elements of a constant as binary32. Null after a fault. */
float *qc_tensor_f32(struct qc *qc, const struct qc_tensor *t);

#endif
