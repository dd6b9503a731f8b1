/* What the files that resolve share: who decides a layer, and how a value, a
 * name or a type of the configuration is looked up.
 *
 *     resolve.c          the order of work, rows, whole-file checks
 *     resolve_calib.c    quant.cfg, or no configuration at all
 *     resolve_retrain.c  retrain.cfg and config.json of retraining
 *     resolve_json.c     config.json of post-training quantization
 *     layer_names.c      layers and types by name, with suggestions
 *     settings.c         values with their history
 *     rules.c            what a type of layer allows
 *     unused.c           blocks that decide nothing
 *     record.c           factors of a record, checked and attached
 *     stale.c            what a record was made from
 *     device.c           quantc.options
 *     advice.c           warnings about a finished plan */
#ifndef QC_RESOLVE_H
#define QC_RESOLVE_H

#include "plan.h"
#include "schema_tables.h"

/* A growing list of layers, for one message about many. */
struct qc_layers_hit {
    const struct qc_layer **at;
    size_t count, room;
};

/* Rules that change or refuse a value which a block asks of a layer. */
enum qc_rule {
    QC_RULE_CHANNEL_WISE,
    QC_RULE_INT16,
    QC_RULE_INT16_NO_BIAS,
    QC_RULE_BITS67,
    QC_RULE_INT4,
    QC_RULE_BALANCER,
    QC_RULE_SYMMETRIC,
    QC_RULE_COUNT
};

/* A block of the configuration that decides layers: common_config, an
 * override, a layer's own JSON object, or nothing (built-in defaults). */
struct qc_source {
    enum qc_level level;
    const char *block;            /* "common_config", ...                    */
    const struct qc_value *name;  /* the layer or type it names; may be null */
    const struct qc_node *node;   /* null: built in                          */
    struct qc_loc loc;            /* its field name or key                   */
    struct qc_row v;              /* its values, defaults where it is silent */
    size_t users, enabled;        /* layers it decides; those not skipped    */
    const struct qc_row *skipped; /* one that is skipped                     */
    struct qc_layers_hit hit[QC_RULE_COUNT];
};

struct qc_resolver {
    struct qc *qc;
    struct qc_model *m;
    struct qc_plan *plan;
    const struct qc_file *file; /* what whole-file errors are about        */
    const struct qc_resolve_options *o;
    bool retrain;
    bool types_known;
    bool clean; /* no error before: whole-file checks make sense  */
    size_t op_count[QRT_OP_KINDS]; /* layers of a type that take part  */
    unsigned hints; /* searches for near names that are still allowed */
    struct qc_str *near_names; /* candidates, made at first use      */
    size_t near_count;
    struct qc_map parents, type_words;
    bool parents_known;

    struct qc_source *builtin;
    struct qc_source *common;              /* null when absent          */
    struct qc_source *by_op[QRT_OP_KINDS]; /* null when absent          */
    struct qc_source **by_layer;           /* [m->count], null: absent  */
    const struct qc_setting *skip_op[QRT_OP_KINDS];
    const struct qc_setting **skip_layer; /* [m->count] */
    const struct qc_value **skip_fusion;  /* [m->count] */
    struct qc_source **sources;           /* overrides, in file order  */
    size_t source_count, source_room;
};

/* What a layer can do; everything when its type is not known. */
struct qc_traits {
    bool per_channel, asymmetric, act16, bits67, fusable, balancer;
    bool no_bias; /* act16 fails only for want of a bias */
};

/* ---- layer_names.c ---- */

/* User text in the quotes of its file. */
const char *qc_quoted(struct qc *qc, const struct qc_file *f, struct qc_str s);
/* 'a', 'b' and 3 more. */
const char *qc_hit_names(struct qc *qc, const struct qc_file *f,
                         const struct qc_layers_hit *hit);
void qc_hit(struct qc *qc, struct qc_layers_hit *hit,
            const struct qc_layer *layer);
/* The layer that a value names. Reports and returns null when there is none,
 * or more than one. */
struct qc_layer *qc_want_layer(struct qc_resolver *r, const struct qc_value *v);
/* 'conv1' (Conv2d) */
const char *qc_layer_words(struct qc *qc, const struct qc_file *f,
                           const struct qc_layer *layer);
/* Types a value names, as bits; reported and 0 when there is none. */
unsigned qc_want_types(struct qc_resolver *r, const struct qc_value *v);
/* Warns when layers lie below a name as if it were their parent; `what` says
 * what happens to the layer that has the name. */
void qc_warn_parent(struct qc_resolver *r, const struct qc_value *v,
                    const char *what);
/* Is the layer one that the form at hand quantizes? */
bool qc_takes_part(const struct qc_resolver *r, const struct qc_layer *layer);
/* Does it have a type that the form quantizes, whatever else is wrong? */
bool qc_type_takes_part(const struct qc_resolver *r,
                        const struct qc_layer *layer);

/* ---- settings.c ---- */

struct qc_setting qc_setting_bool(enum qc_level level, struct qc_loc loc,
                                  bool b);
/* A field of a bound message (null: absent), or the default of the schema, as
 * a setting. Floats are taken as written, in binary64. */
struct qc_setting qc_field_setting(const struct qc_message *m,
                                   const void *bound, const char *field,
                                   enum qc_level level);
/* The same for a float that AMCT rounds by config.md E.7. */
struct qc_setting qc_amct_setting(const struct qc_message *m, const void *bound,
                                  const char *field, enum qc_level level);
/* dst_type: bits instead of the enum's number (4 << number). */
struct qc_setting qc_bits_setting(const struct qc_message *m, const void *bound,
                                  const char *field, enum qc_level level);
/* Replaces a setting by what a rule says; the old one becomes its history. */
void qc_force(struct qc *qc, struct qc_setting *s, int64_t i, const char *text,
              const char *why);
/* Sets the history of every value of `row` to the values of the block that it
 * replaces. */
void qc_link_row(struct qc_row *row, const struct qc_row *base);
struct qc_traits qc_traits_of_op(int op);
struct qc_traits qc_traits_of(const struct qc_resolver *r,
                              const struct qc_layer *layer);
/* Why 4-bit weights of a layer cannot be packed; null when they can. */
const char *qc_no_int4(const struct qc_layer *layer);

/* ---- resolve.c ---- */

struct qc_source *qc_new_source(struct qc_resolver *r, enum qc_level level,
                                const char *block, const struct qc_value *name,
                                const struct qc_node *node);
/* skip_layers, skip_layer_types and skip_fusion_layers. */
void qc_skip_layers(struct qc_resolver *r, const struct qc_values *names);
void qc_skip_types(struct qc_resolver *r, const struct qc_values *types);
void qc_skip_fusion(struct qc_resolver *r, const struct qc_values *names);
/* Makes s the block of the layer, or of the types, that it names. Null (or 0)
 * when there is none or it has one; reported. */
struct qc_layer *qc_override_layer(struct qc_resolver *r, struct qc_source *s);
unsigned qc_override_types(struct qc_resolver *r, struct qc_source *s);
/* The block that a layer's own override replaces. */
const struct qc_source *qc_weaker_source(const struct qc_resolver *r, int op);
/* Starts the row of a layer with the values of its block. */
struct qc_row *qc_add_row(struct qc_resolver *r, const struct qc_layer *layer,
                          struct qc_source *s);
/* One row for each layer that takes part, in model order; decide finishes it. */
void qc_make_rows(struct qc_resolver *r,
                  void (*decide)(struct qc_resolver *, struct qc_row *,
                                 struct qc_source *));
/* ---- rules.c ---- */

/* Rows, not enabled, for the layers that a config.json does not list. */
void qc_add_unlisted(struct qc_resolver *r, struct qc_source *s,
                     void (*decide)(struct qc_resolver *, struct qc_row *,
                                    struct qc_source *));
/* Values that the rules of E.3 and E.9 change: put right in the row, noted in
 * the block. What an override may not ask at all has been reported before. */
void qc_decide_channel_wise(struct qc_resolver *r, struct qc_row *row,
                            struct qc_source *s);
void qc_decide_bits(struct qc_resolver *r, struct qc_row *row,
                    struct qc_source *s);
void qc_decide_fusion(struct qc_resolver *r, struct qc_row *row);
/* One message for each block and rule that changed values of it. */
void qc_report_rules(struct qc_resolver *r);

/* ---- unused.c ---- */

/* Overrides that decide no layer, or skipped ones only. */
void qc_report_unused(struct qc_resolver *r);

/* ---- the forms ---- */

void qc_resolve_calib(struct qc_resolver *r, const struct AMCTConfig *c);
void qc_resolve_retrain(struct qc_resolver *r,
                        const struct AMCTRetrainConfig *c);
void qc_resolve_retrain_json(struct qc_resolver *r,
                             const struct RetrainJson *c);
void qc_resolve_calib_json(struct qc_resolver *r, const struct CalibJson *c);

/* ---- bare_model.c ---- */

/* The layers of a config.json, or the keys of a record, as a model whose types
 * are not known. */
struct qc_model *qc_model_of_config(struct qc *qc, const struct qc_doc *config,
                                    const struct qc_doc *record);
struct qc_model *qc_model_of_record(struct qc *qc, const struct qc_doc *record);

/* ---- record.c ---- */

/* Checks a record against the model: plan->factors. */
void qc_read_record(struct qc_resolver *r, const struct ScaleOffsetRecord *rec);
/* Gives the rows their factors; needs finished rows. */
void qc_attach_record(struct qc_resolver *r, bool configured);

/* ---- stale.c ---- */

/* Reports a record that was made from another model, or with a configuration
 * that calibrates a layer otherwise. of: [model layers] factors, or null;
 * needs rows that still say what the configuration says. */
void qc_compare_origin(struct qc_resolver *r,
                       const struct qc_factors *const *of, bool configured);

/* ---- device.c ---- */

/* rule, exactness and hardware_scale of all rows. doc may be null. */
void qc_resolve_device(struct qc_resolver *r, const struct qc_doc *doc);

/* ---- advice.c ---- */

void qc_advise(struct qc_resolver *r);

#endif
