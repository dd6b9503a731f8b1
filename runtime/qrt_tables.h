/* Layout of the tables that quantc generates: the only header that generated
 * code includes.
 *
 * Everything is const and holds integers only. A real number is a mantissa
 * and an exponent (struct qrt_real), or the bit pattern of a binary32 or
 * binary64 where a kernel works on bits. The member comments give meaning,
 * format and range; docs/fixed-point.md derives the formats. */
#ifndef QRT_TABLES_H
#define QRT_TABLES_H

#include <stdint.h>

/* Layout version of everything below. Generated headers test it, so a stale
 * table stops the build instead of misreading memory. */
#define QRT_TABLES_VERSION 1

/* Layer types, in the order of qrt_ops.def. */
enum qrt_op {
#define QRT_OP(id, canonical, pytorch, mindspore, onnx, caffe, tensorflow,     \
               axes, out, in, per_ch, asym, act16, bits67, fuse, balance,      \
               retrain)                                                        \
    QRT_OP_##id,
#include "qrt_ops.def"
#undef QRT_OP
    QRT_OP_KINDS,        /* number of types                                   */
    QRT_OP_UNKNOWN = 255 /* compiled without a model                          */
};

/* The arithmetic of a quantizing step. Numbers are stored in tables and known
 * to backends: append only. x input, s step, o zero point; the last three round
 * every operation to binary32. docs/fixed-point.md tells how often they
 * differ. */
enum qrt_rule {
    QRT_RULE_FIXED = 0,       /* rne(x / s + o), the sum rounded once        */
    QRT_RULE_AMCT = 1,        /* rne(x / s + o): AMCT's stored codes         */
    QRT_RULE_MODULE = 2,      /* rne(x * (1 / s)) + o: AMCT's FakeQuant      */
    QRT_RULE_CANN = 3,        /* rne(x * (1 / s) + o): AscendQuant; of other
                                 operators what CANN's operator computes     */
    QRT_RULE_FIXED_MODULE = 4, /* rne(x / s) + o, the quotient rounded once  */
    QRT_RULE_KINDS = 5
};

/* How far a result of an accelerator may be from that of the CPU kernel. */
enum qrt_exactness {
    QRT_EX_BITEXACT = 0, /* every byte equal                                 */
    QRT_EX_BOUNDED = 1,  /* within a number of units (a table means 1), see
                            docs/offload.md                                  */
    QRT_EX_ANY = 2       /* no promise                                       */
};

/* A real number: value = m * 2^(e - 31).
 *
 * Normalised: |m| in [2^30, 2^31), or m = 0 and e = 0. Exact for every finite
 * binary32. A scale (step: real = scale * code) is a positive one. */
struct qrt_real {
    int32_t m; /* mantissa, Q31                          */
    int32_t e; /* exponent of two               [-148, 128] */
};

/* ARQ: how the weights are quantized. */
struct qrt_arq {
    uint8_t bits;        /* 4, 6, 7, 8 or 16                            */
    uint8_t per_channel; /* 1: one scale per output channel, 0: one     */
    uint8_t algo;        /* enum qrt_arq_algo                           */
    uint8_t reserved;    /* 0                                           */
};

enum qrt_arq_algo {
    QRT_ARQ_POST,      /* arq_quantize: scale from the extremes         */
    QRT_ARQ_RETRAIN,   /* arq_retrain: the same, every training step    */
    QRT_ARQ_ULQ_SCALE  /* ulq_retrain: learned scale                    */
};

/* IFMR: try ratio_count clip limits, each ratio times the percentile maximum,
 * and keep the one with the smallest squared error. */
struct qrt_ifmr {
    const uint32_t *ratios;  /* [ratio_count] binary32 bits, ascending      */
    uint32_t ratio_count;    /* ceil((end - start) / step)       [1, 65535] */
    uint64_t max_percentile; /* binary64 bits                      (0.5, 1] */
    uint64_t min_percentile; /* binary64 bits                      (0.5, 1] */
};

/* HFMG: clip limits from a histogram. */
struct qrt_hfmg {
    uint32_t bins; /* 1024, 2048, 4096 or 8192 */
};

/* ULQ: learned clip limits. */
struct qrt_ulq {
    uint8_t fixed_min;        /* 1: lower limit pinned to 0                 */
    uint8_t has_clip;         /* 0: IFMR finds the first limits             */
    struct qrt_real clip_max; /* > 0; exact binary32; m = 0 without clip    */
    struct qrt_real clip_min; /* < 0; exact binary32; m = 0 without clip    */
};

/* Calibrated factors of one layer, from a record. Arrays over output channels
 * have scale_count entries. */
struct qrt_factors {
    struct qrt_real scale_d;         /* step of the layer's input           */
    struct qrt_real recip_d;         /* 1 / scale_d, for quantizing         */
    int32_t offset_d;                /* zero point of the input             */
    uint32_t scale_count;            /* 1 (whole tensor) or out_channels    */
    const struct qrt_real *scale_w;  /* step of the weights                 */
    const struct qrt_real *dequant;  /* f32(scale_w * scale_d): accumulator
                                        to real                             */
    const uint64_t *word_dequant;    /* Ascend dequant words, AscendDequant */
    const uint64_t *word_fixpipe;    /* the same for QuantMatmul, fix-pipe  */
};

/* What follows a layer: its accumulator becomes the input code of the next
 * quantized layer(s) by one multiplication. */
struct qrt_edge {
    const struct qrt_real *requant;  /* [scale_count] dequant / step of next */
    int32_t zero_point;              /* offset_d of the next layer          */
    int32_t code_min, code_max;      /* clamp; includes a ReLU on the way   */
    uint32_t next;                   /* index of the (first) next layer     */
};

/* A tensor that goes into a join: the accumulator of an earlier layer (bias
 * added), or the input codes that an earlier layer read. */
struct qrt_term {
    const struct qrt_real *scale; /* [scale_count] one unit, in steps of the
                                     join's result                         */
    uint32_t scale_count;         /* 1, or channels of the accumulator      */
    uint32_t layer;               /* index of the earlier layer             */
    int32_t zero_point;           /* of the codes; 0 for an accumulator     */
    int32_t low, high;            /* clamp of the scaled number, Q(frac)    */
    uint32_t is_code;             /* 1: input codes, 0: accumulator         */
};

enum qrt_join_kind {
    QRT_JOIN_SAME = 0,  /* the input codes of terms[0].layer, as they are   */
    QRT_JOIN_EDGE = 1,  /* the accumulator of terms[0].layer, by `edge`     */
    QRT_JOIN_SUM = 2,   /* the terms added                                  */
    QRT_JOIN_CONCAT = 3 /* the terms one behind the other                   */
};

/* Where a layer's input codes come from, without a real number in between.
 * Max pooling, reshaping and padding (with the code of zero) on the way are up
 * to the program: they keep codes what they are.
 *
 * SUM and CONCAT work in numbers t of Q(frac), in steps of the layer's input:
 *   t = clamp(rne((x - zero_point) * scale * 2^frac), low, high)  per term
 *   t = sum of the terms
 *   t = rne(sum of clamp(t, low, high) / count)                   if `mean`
 *   code = clamp(rne(t / 2^frac + zero_point), code_min, code_max)
 *   code = table[code + 128]                                      if `table`
 * With a table the steps and zero_point are those of the table's index. */
struct qrt_join {
    uint8_t kind;                 /* enum qrt_join_kind                     */
    uint8_t frac;                 /* 16; 8 for 16-bit codes                 */
    uint8_t mean;                 /* 1: means over what is pooled           */
    uint8_t term_count;           /* >= 1                                   */
    const struct qrt_term *terms; /* [term_count]                           */
    const struct qrt_edge *edge;  /* EDGE; else null                        */
    int32_t low, high;            /* before a mean, Q(frac)                 */
    int32_t zero_point;           /*                                        */
    int32_t code_min, code_max;   /* clamp; includes a ReLU on the way      */
    const int8_t *table;          /* [256]; null: none                      */
};

/* One layer. Exactly one of ifmr, hfmg, ulq is set when it is quantized. */
struct qrt_layer {
    const char *name;                  /* as in the model, UTF-8            */
    uint8_t op;                        /* enum qrt_op                       */
    uint8_t enabled;                   /* 0: skipped by the configuration   */
    uint8_t act_bits;                  /* 4, 8 or 16                        */
    uint8_t act_asymmetric;            /* 1: with zero point                */
    uint32_t out_channels;             /* 0: not known                      */
    const struct qrt_arq *arq;         /* weights; null when not enabled    */
    const struct qrt_ifmr *ifmr;       /* activations, post-training        */
    const struct qrt_hfmg *hfmg;       /* activations, post-training        */
    const struct qrt_ulq *ulq;         /* activations, retraining           */
    const struct qrt_factors *factors; /* null: not calibrated              */
    const struct qrt_edge *edge;       /* null: output is not requantized   */
    uint8_t rule;                      /* enum qrt_rule of the activations  */
    uint8_t exactness;                 /* enum qrt_exactness for offloading */
    const struct qrt_join *join;       /* null: its input is quantized from
                                          real numbers                      */
};

/* A whole table. */
struct qrt_tables {
    uint32_t version;               /* QRT_TABLES_VERSION of the generator  */
    uint32_t layer_count;           /*                                      */
    uint64_t hash;                  /* over all inputs of the generator     */
    uint32_t batch_num;             /* batches used for calibration   >= 1  */
    const struct qrt_layer *layers; /* [layer_count]                        */
    const uint16_t *by_name;        /* [layer_count] indices, names ascending
                                       by byte value                        */
};

/* What `quantc compile --selftest` adds: inputs, and what the kernels give for
 * them. qrt_selftest.h runs them on the board. */
#define QRT_SELFTEST_INPUTS   12
#define QRT_SELFTEST_CHANNELS 4 /* at most tried of a layer */

struct qrt_selftest_layer {
    uint32_t digest;        /* qrt_selftest_digest of the layer's row       */
    uint32_t channels;      /* of the weights that are tried, [0, 4]        */
    int32_t frac;           /* x is Q(frac)                                 */
    int32_t real_frac;      /* real is Q(real_frac)                         */
    const int32_t *x;       /* [12] inputs of the layer                     */
    const int32_t *acc;     /* [12] accumulators                            */
    const int16_t *codes;   /* [12] x quantized; null: not compared         */
    const int16_t *requant; /* [channels][12] acc requantized; or null      */
    const int32_t *real;    /* [channels][12] acc dequantized; or null      */
};

struct qrt_selftest_tables {
    uint64_t hash;        /* of the tables they belong to                   */
    uint32_t layer_count; /*                                                */
    const struct qrt_selftest_layer *layers; /* [layer_count]               */
};

#endif
