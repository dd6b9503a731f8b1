/* The network as the compiler sees it: layers in graph order with the facts
 * that configuration and lowering ask for. Filled by model.c from an ONNX
 * graph or by layers.c from model.layers / layers.json. */
#ifndef QC_MODEL_H
#define QC_MODEL_H

#include "qc.h"

#include "qrt_tables.h"

#define QC_MAX_RANK 8

enum qc_elem {
    QC_ELEM_NONE,
    QC_ELEM_F32,
    QC_ELEM_F16,
    QC_ELEM_F64,
    QC_ELEM_I64,
    QC_ELEM_I32,
    QC_ELEM_I8,
    QC_ELEM_OTHER
};

/* A constant: a slice of the mapped file (or of its external data file),
 * little endian, never copied. */
struct qc_tensor {
    struct qc_str name;
    enum qc_elem elem;
    int64_t dims[QC_MAX_RANK];
    unsigned rank;
    uint64_t count;     /* elements; the product of dims, checked     */
    struct qc_str data; /* raw bytes; empty: not known (layer list)   */
    struct qc_loc loc;
};

/* BatchNormalization that follows a layer and is its only consumer. */
struct qc_bn {
    struct qc_str node_name;
    const struct qc_tensor *scale, *bias, *mean, *var;
    uint32_t epsilon_bits; /* binary32 */
};

enum qc_act { QC_ACT_NONE, QC_ACT_RELU, QC_ACT_CLIP, QC_ACT_OTHER };

/* Where an output goes: the next quantizable layer, through operations that
 * keep the scale (activation, max pooling, reshaping, padding with zero). */
struct qc_edge {
    size_t layer;      /* index in the model                           */
    bool relu;         /* a Relu (or Clip from 0) stands on the way    */
    bool has_max;      /* a Clip's upper limit stands on the way       */
    uint32_t max_bits; /* binary32                                     */
};

/* Limits that stand on a way: Relu, Clip from 0. */
struct qc_limits {
    bool relu;
    bool has_max;
    uint32_t max_bits; /* binary32 */
};

/* A tensor that is at hand when a layer is to run: the input of an earlier
 * one, or the result of one (behind its bias Add and BatchNormalization). */
struct qc_at_hand {
    size_t layer; /* index in the model                               */
    bool is_input;
    struct qc_limits limits; /* from there on                          */
};

/* One operand of an Add or Concat: where its numbers can be had, nearest
 * first. */
struct qc_operand {
    const struct qc_at_hand *from; /* [count], at least 1              */
    size_t count;
};

/* How a layer's input comes from earlier layers; model_join.c. Seen from the
 * front: operands, added or put one behind the other; limits; a mean; limits;
 * a function of one number; limits. */
struct qc_join {
    const char *why_not; /* set: it does not; for a person, and `what`  */
    struct qc_str what;  /* the operation or tensor that why_not is about */
    bool concat;
    const struct qc_operand *operands; /* [count] */
    size_t count;
    bool mean;               /* ReduceMean, GlobalAveragePool          */
    struct qc_limits inner;  /* before the mean                        */
    struct qc_limits middle; /* before the function; all, without one  */
    struct qc_str function;  /* Tanh, Sigmoid; "": none                */
    struct qc_limits outer;  /* behind the function                    */
};

struct qc_layer {
    struct qc_str name;      /* as quantc prints it (config.md G.3)   */
    struct qc_str node_name; /* ONNX node; else the name              */
    struct qc_str *aliases;  /* every way to address it               */
    size_t alias_count;
    struct qc_loc loc;          /* where it is listed                    */
    struct qc_str type;         /* type word: Conv, Conv2d, nn.Dense ... */
    int op;                     /* enum qrt_op, -1: not a quantizable type */
    bool quantizable;           /* op >= 0 and nothing of E.2 against it */
    const char *why_not;        /* else the reason, for a person         */
    bool zero_padding;          /* padding_mode zeros                    */
    int64_t shape[QC_MAX_RANK]; /* weights, as stored                    */
    unsigned rank;              /* 0: no weights or not known            */
    bool trans_b;               /* linear: stored (out, in)              */
    int64_t group;
    int64_t dilation[3];  /* by axis; 0: not given, so 1           */
    int64_t out_channels; /* 0: not known                          */
    int64_t in_channels;  /* of the whole layer; 0: not known      */
    bool bias_known, has_bias;
    bool bias_is_add; /* bias from a separate Add node         */
    const struct qc_tensor *weight, *bias; /* null: no data                 */
    bool weight_transposed;   /* reached through a Transpose           */
    const struct qc_bn *bn;   /* null: none                            */
    enum qc_act act;          /* what follows (after the BN)           */
    struct qc_str act_type;   /* its op type                           */
    bool producer_is_relu;    /* the input comes from a ReLU           */
    struct qc_str producer;   /* op type that makes the input, "" = net input */
    struct qc_str data_input; /* tensor name                           */
    const struct qc_edge *edges; /* where the output goes                 */
    size_t edge_count;
    bool output_escapes; /* it also reaches something else        */
    const struct qc_join *join; /* null: not known (layer lists)      */
    const void *input_tensor;   /* equal: the same tensor; null: not known */
    int64_t window; /* average pooling: numbers in a mean; 0: not constant */
};

struct qc_model {
    const struct qc_file *file;
    bool graph_known; /* an ONNX graph, or facts given in the list */
    bool from_record; /* layers are the record's keys: types unknown */
    enum qc_model_source {
        QC_MODEL_ONNX,
        QC_MODEL_LAYERS,
        QC_MODEL_LAYERS_JSON,
        QC_MODEL_CONFIG,
        QC_MODEL_RECORD
    } source;
    struct qc_layer *layers; /* graph order, not quantizable ones too */
    size_t count;
    int64_t batch;           /* images in the network's input; 0: unknown */
    struct qc_map names;     /* alias -> struct qc_layer *            */
    struct qc_map ambiguous; /* aliases that two layers share         */
};

/* ---- ops.c: what qrt_ops.def says ---- */

struct qc_op {
    const char *id; /* "CONV2D": the enum's name             */
    const char *canonical;
    const char *words[5]; /* by dialect: pytorch, mindspore, onnx,
                                      caffe, tensorflow; '|' separates       */
    int axes, out_axis, in_axis;
    bool per_channel, asymmetric;
    int act16; /* 0 no, 1 yes, 2 only with bias         */
    bool bits67, fusable;
    int balancer; /* 0 no, 1 yes, 2 layer override only    */
    bool retrain;
};
extern const struct qc_op qc_ops[QRT_OP_KINDS];
/* Bits 1 << enum qrt_op of the types a word stands for in a dialect (enum
 * qc_dialect; QC_UNION: any column). 0: no quantizable type. */
unsigned qc_types_of_word(struct qc_str word, int dialect);

/* ---- model.c, layers.c ---- */

struct qc_model *qc_read_onnx(struct qc *qc, const char *path);
/* model.layers (text) or layers.json, told apart by content. */
struct qc_model *qc_read_layers(struct qc *qc, const char *path, int dialect);
/* By any alias; reports nothing. Null also for an ambiguous alias. */
struct qc_layer *qc_find_layer(const struct qc_model *m, struct qc_str name);
/* The same from a file that has been read with QC_KIND_LAYERS: struct
 * ModelLayers for text, the tree for JSON. Null after errors. */
struct qc_model *qc_model_of_layers(struct qc *qc, const struct qc_doc *doc,
                                    int dialect);
/* Layers that a dialect (enum qc_dialect) does not quantize become not
 * quantizable: a type it has no word for; for mindspore also dilation and
 * groups that nn.Conv2d does not take. */
void qc_limit_to_dialect(struct qc *qc, struct qc_model *m, int dialect);
/* Enters an alias that is found by rule `rank`. Ranks must come in order: an
 * earlier one wins; two layers of one rank make the alias ambiguous. `ranks`
 * starts empty. */
void qc_enter_alias(struct qc *qc, struct qc_model *m, struct qc_map *ranks,
                    struct qc_layer *l, struct qc_str alias, unsigned rank);

#endif
