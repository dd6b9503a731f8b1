/* The resolved configuration: one row per layer, every value with the place
 * that decided it. resolve.c fills it, lower.c and the emitters read it. */
#ifndef QC_PLAN_H
#define QC_PLAN_H

#include "model.h"
#include "schema.h"

/* Who decided a value, weakest first. */
enum qc_level {
    QC_BY_DEFAULT, /* built in                                        */
    QC_BY_GLOBAL,  /* a global field: activation_offset, batch_num    */
    QC_BY_COMMON,  /* common_config, or retrain_*_quant_config        */
    QC_BY_TYPE,    /* override_layer_types                            */
    QC_BY_LAYER,   /* override_layer_configs, or the layer's own JSON */
    QC_BY_GRAPH,   /* facts of the model (fixed_min)                  */
    QC_BY_RULE,    /* a downgrade or a forced value; `why` says which */
    QC_BY_OPTION   /* the command line                                */
};

/* "common_config" ...; settings.c */
const char *qc_level_name(enum qc_level level);

/* A value and its history. `was` leads to what it overrode. */
struct qc_setting {
    enum qc_level level;
    bool set;           /* false: the value does not exist           */
    struct qc_loc loc;  /* value as written; no file: built in       */
    struct qc_str text; /* as written, or the default's text         */
    int64_t i;          /* bools, enums, integers                    */
    double f;           /* floats, after config.md E.7               */
    const char *why;    /* QC_BY_RULE, QC_BY_GRAPH: for a person     */
    const struct qc_setting *was;
};

enum qc_act_algo { QC_IFMR, QC_HFMG, QC_ULQ };
enum qc_wts_algo { QC_ARQ, QC_ARQ_RETRAIN, QC_ULQ_RETRAIN };

/* Factors of one layer as a record gives them. */
struct qc_factors {
    const struct qc_layer *layer;
    const struct SingleLayerRecord *value; /* schema_tables.h               */
    const struct qc_node *node; /* the record { } entry             */
    struct qc_str key;
    struct qc_loc key_loc;
    const struct qc_value *scale_d, *offset_d;
    const struct qc_value *scale_w;  /* [count_w]                        */
    const struct qc_value *offset_w; /* [count_w]                        */
    size_t count_w;                  /* 1 or output channels             */
};

struct qc_row {
    const struct qc_layer *layer;
    struct qc_loc loc;   /* the block that decided: its name    */
    enum qc_level level; /* and its level                       */
    const char *block;   /* "common_config", ... for comments   */
    struct qc_setting enabled;
    enum qc_act_algo act_algo;
    struct qc_setting act_bits;   /* 4, 8, 16                            */
    struct qc_setting asymmetric; /* post-training                       */
    struct qc_setting search_range_start, search_range_end, search_step;
    struct qc_setting max_percentile, min_percentile;
    struct qc_setting num_of_bins; /* hfmg                                */
    struct qc_setting clip_max, clip_min, fixed_min; /* ulq                 */
    enum qc_wts_algo wts_algo;
    struct qc_setting wts_bits; /* 4, 6, 7, 8, 16                      */
    struct qc_setting channel_wise;
    struct qc_setting dmq_balancer; /* migration_strength                  */
    struct qc_setting fuse;         /* BatchNorm folded into this layer    */
    struct qc_setting rule, exactness, hardware_scale; /* quantc.options      */
    const struct qc_factors *factors; /* null: not calibrated               */
};

struct qc_plan {
    const struct qc_model *model;
    const struct qc_file *config, *record;        /* null when not given */
    const struct qc_file *options;                /* quantc.options, likewise */
    const struct qc_doc *config_doc, *record_doc; /* the same, with values */
    enum qc_kind kind; /* of the configuration; AUTO: there is none       */
    int dialect;
    bool retrain;
    struct qc_setting batch_num, activation_offset, do_fusion;
    struct qc_setting fakequant_precision_mode;
    const struct qc_value **skip_fusion; /* in file order */
    size_t skip_fusion_count;
    struct qc_factors *factors; /* of the record, in file order           */
    size_t factor_count;
    const struct qc_value **record_skip_fusion; /* keys, in file order     */
    size_t record_skip_fusion_count;
    struct qc_row *rows; /* quantizable layers, model order (retrain
                             config.json: file order, then model order) */
    size_t count;
};

/* ---- resolve.c ---- */

struct qc_resolve_options {
    int dialect; /* enum qc_dialect                     */
    /* Without a configuration: AMCT's API arguments; null when not given. */
    const char *skip_layers; /* "A,B"                               */
    const char *batch_num;
    const char *activation_offset; /* "true", "false"                     */
    const struct qc_doc *device;   /* quantc.options; may be null         */
};

/* Decides every value of every layer. config, record and model may each be
 * null as far as the others can stand in. Null after a fatal fault; all other
 * faults are reported and the plan must then not be used. */
struct qc_plan *qc_resolve(struct qc *qc, const struct qc_doc *config,
                           const struct qc_doc *record, struct qc_model *model,
                           const struct qc_resolve_options *o);

#endif
