/* Quantized weights and biases as C arrays, or as a binary that the assembler
 * includes. */
#ifndef QC_EMIT_WEIGHTS_H
#define QC_EMIT_WEIGHTS_H

#include "lower.h"
#include "out.h"

enum qc_weight_form {
    QC_FORM_AUTO, /* decimal for small arrays, string for large ones      */
    QC_FORM_DECIMAL,
    QC_FORM_STRING, /* a string literal: compiles 11 times faster           */
    QC_FORM_INCBIN  /* .bin and .S, GNU assemblers                          */
};

enum qc_weight_layout {
    QC_LAYOUT_ONNX, /* as in the model: OIHW                                 */
    QC_LAYOUT_CMSIS /* OHWI; depthwise 1HWO; Linear [out, in]                */
};

/* The codes of one layer. */
struct qc_low_weights {
    const struct qc_low_row *row;
    int8_t *codes;       /* in the chosen layout; int4: one each          */
    uint8_t *packed;     /* int4: two each                                */
    size_t count;        /* codes                                         */
    size_t bytes;        /* of codes or packed                            */
    struct qc_str shape; /* "8, 1, 3, 3 OIHW", for people                 */
    int32_t *bias;       /* [channels] rne(bias / dequant)                */
    int32_t *bias_zp;    /* [channels] bias - offset_d * sum of codes     */
    size_t channels;
    bool has_bias, folded;
};

/* What an image takes. */
struct qc_image_weights {
    const struct qc_low_weights *at;
    size_t count; /* 0: none                                       */
    enum qc_weight_layout layout;
};

/* All enabled, calibrated layers with constant weights. False after an error:
 * a bias or an accumulator that does not fit int32 names layer and channel. */
bool qc_lower_weights(struct qc *qc, const struct qc_tables *t,
                      enum qc_weight_layout layout, struct qc_low_weights **out,
                      size_t *count);

void qc_emit_weights_header(struct qc_out *o, const struct qc_tables *t,
                            const struct qc_low_weights *w, size_t count);
void qc_emit_weights_source(struct qc_out *o, const struct qc_tables *t,
                            const struct qc_low_weights *w, size_t count,
                            enum qc_weight_form form);
/* QC_FORM_INCBIN: the codes of all layers, and the assembler file. */
void qc_emit_weights_binary(struct qc_out *bin, struct qc_out *assembler,
                            const struct qc_tables *t,
                            const struct qc_low_weights *w, size_t count);

#endif
