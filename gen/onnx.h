/* An ONNX model as an index over its tree: nodes in graph order, values by
 * name and scope, who makes and who uses each value. Between wire.c and
 * model.c. */
#ifndef QC_ONNX_H
#define QC_ONNX_H

#include "model.h"

struct onnx_use {
    struct onnx_node *node;
    size_t slot; /* index in the node's inputs */
    struct onnx_use *next;
};

/* A tensor by name: made by a node, an initializer, or an input. */
struct onnx_value {
    struct qc_str name;
    struct qc_loc loc;
    struct onnx_node *producer; /* null: not made by a node              */
    size_t slot;                /* index in the producer's outputs       */
    const struct qc_node *initializer; /* TensorProto, or null          */
    bool is_output;                    /* of its graph                   */
    struct onnx_use *uses, **uses_end;
    size_t use_count;
    bool tensor_read; /* `tensor` is final, null included            */
    const struct qc_tensor *tensor;
    struct qc_layer *weight_of; /* first layer that has it as weights */
    struct qc_layer *result_of; /* the layer that ends here           */
};

struct onnx_node {
    const struct qc_node *tree; /* NodeProto                             */
    struct qc_str name, op_type;
    bool standard; /* the type is ONNX's own, not of another domain     */
    bool in_loop;  /* inside the body of a Loop or Scan                 */
    struct onnx_value **in; /* [in_count]; null: left out               */
    size_t in_count;
    struct onnx_value **out; /* [out_count]; null: left out              */
    size_t out_count;
    const struct onnx_graph *graph;
    size_t number;             /* in its graph                              */
    struct qc_layer *layer;    /* model.c: null for constants            */
    struct onnx_value *result; /* behind the layer's bias Add and BN     */
};

struct onnx_graph {
    const struct onnx_graph *outer; /* names of outer graphs are visible */
    struct qc_map values;           /* name -> struct onnx_value         */
    struct onnx_node *nodes;        /* [count]                           */
    size_t count;
};

struct onnx {
    struct qc *qc;
    struct qc_file *file;
    const struct onnx_graph *root;
    struct onnx_node **nodes; /* all graphs; a branch behind its If      */
    size_t count, room;
    struct qc_map external; /* location -> struct qc_file            */
    unsigned external_failures;
};

/* ---- onnx.c ---- */

/* Null after a fault. */
struct onnx *qc_index_onnx(struct qc *qc, struct qc_file *file,
                           const struct qc_node *model);
/* The last field of that name (a repeated singular field counts once). */
const struct qc_node *onnx_field(const struct qc_node *n, const char *name);
struct qc_str onnx_text(const struct qc_node *n, const char *name);
/* An attribute, or null. */
const struct qc_node *onnx_attr(const struct onnx_node *n, const char *name);
int64_t onnx_attr_int(const struct onnx_node *n, const char *name,
                      int64_t otherwise);
/* binary32 bits. */
uint32_t onnx_attr_float(const struct onnx_node *n, const char *name,
                         uint32_t otherwise);
struct qc_str onnx_attr_text(const struct onnx_node *n, const char *name);
/* Integers of a list attribute: at most `max` are stored, the count of all is
 * returned. */
size_t onnx_attr_ints(const struct onnx_node *n, const char *name, int64_t *v,
                      size_t max);
/* The same for a repeated field of a message, packed or not. */
size_t onnx_ints(const struct qc_node *n, const char *name, int64_t *v,
                 size_t max);
/* Null when the node has no such input. */
struct onnx_value *onnx_in(const struct onnx_node *n, size_t slot);
bool onnx_is(const struct onnx_node *n, const char *op_type);
/* The producer when it is a node of that type, else null. */
const struct onnx_node *onnx_made_by(const struct onnx_value *v,
                                     const char *op_type);

/* ---- onnx_tensor.c ---- */

/* Links that a search for a constant follows: chains are made by people and
 * exporters and stay short. */
#define ONNX_MAX_HOPS 64

/* What v is a copy of, through Identity nodes. */
struct onnx_value *onnx_origin(struct onnx_value *v);
/* The constant behind v: initializer or Constant node, through Identity. Null
 * when it is computed, or after a fault, which is reported once. */
const struct qc_tensor *onnx_constant(struct onnx *o, struct onnx_value *v);
/* A constant scalar as binary32 bits, through Identity and Cast too. */
bool onnx_scalar(struct onnx *o, struct onnx_value *v, uint32_t *bits);
/* The first integers of a constant; the count of all, SIZE_MAX when it is no
 * integer constant. */
size_t onnx_constant_ints(struct onnx *o, struct onnx_value *v, int64_t *to,
                          size_t max);

/* ---- foreign.c ---- */

/* What a file that is no ONNX model looks like: "a ZIP archive ..."; null when
 * it may be one. */
const char *qc_foreign(const struct qc_file *f);

/* ---- model_names.c ---- */

/* Gives every layer its name and aliases (config.md G.3) and fills the maps.
 * Layer i belongs to nodes[i]. */
void qc_name_layers(struct onnx *o, struct qc_model *m,
                    struct onnx_node *const *nodes);
/* ---- model_join.c ---- */

/* Where the input of each layer comes from. Behind qc_find_neighbours. */
void qc_find_joins(struct onnx *o, struct qc_model *m,
                   struct onnx_node *const *nodes);
/* ---- model_flow.c ---- */

/* Does the operation keep the scale? Adds what it does to *limits. */
bool onnx_keeps_scale(struct onnx *o, const struct onnx_node *n,
                      struct qc_limits *limits);

/* Input, producer, bias Add, BatchNormalization, activation of a layer. */
void qc_find_neighbours(struct onnx *o, struct qc_layer *l,
                        struct onnx_node *n);
/* Edges of all layers; once it is known which of them can be quantized. */
void qc_find_edges(struct onnx *o, struct qc_model *m,
                   struct onnx_node *const *nodes);

#endif
