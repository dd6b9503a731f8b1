/* The writers: each turns lowered tables or a plan into text. */
#ifndef QC_EMIT_H
#define QC_EMIT_H

#include "lower.h"
#include "out.h"

/* ---- emit_c.c ---- */

void qc_emit_header(struct qc_out *o, const struct qc_tables *t);
/* words: with the Ascend dequant words. */
void qc_emit_source(struct qc_out *o, const struct qc_tables *t, bool words);
/* A make depfile: targets depend on every file that was read. */
void qc_emit_depfile(struct qc_out *o, const char *const *targets,
                     size_t target_count);

/* Text inside a comment: nothing in it may end the comment, begin another,
 * splice lines or hide characters. */
void qc_put_comment(struct qc_out *o, struct qc_str s);
void qc_put_upper(struct qc_out *o, const char *z);

/* ---- emit_place.c ---- */

/* The macros of --align and --section; nothing without these. */
void qc_put_place(struct qc_out *o, const struct qc_tables *t);
/* Puts them before every object that o declares or defines. */
void qc_place_objects(struct qc_out *o, const struct qc_tables *t);

/* ---- emit_join.c ---- */

/* The joins of all layers, behind their edges. */
void qc_emit_joins(struct qc_out *o, const struct qc_tables *t);
/* Where the input of a calibrated layer comes from, in words. */
void qc_put_input(struct qc_out *o, const struct qc_tables *t,
                  const struct qc_low_row *r);

/* ---- emit_selftest.c ---- */

/* What qrt_selftest compares on the board: follows the tables. words: as in
 * qc_emit_source. */
void qc_emit_selftest(struct qc_out *o, const struct qc_tables *t, bool words);

/* ---- emit_image.c ---- */

struct qc_image_weights; /* emit_weights.h */

/* The deployment image of runtime/qrt_image.h. False (reported) when it would
 * be too large. */
bool qc_emit_image(struct qc_out *o, const struct qc_tables *t, bool words,
                   const struct qc_image_weights *weights);

/* ---- emit_plan.c ---- */

/* plan.json: the same plan for programs. False when built without cJSON. */
bool qc_emit_plan(struct qc_out *o, const struct qc_tables *t);

/* ---- emit_sbom.c ---- */

/* An SPDX document called name about outs, which are complete, and the files
 * that were read. False (reported): SOURCE_DATE_EPOCH is not a time. */
bool qc_emit_sbom(struct qc_out *o, const char *name,
                  struct qc_out *const *outs, size_t count);

/* ---- emit_config.c ---- */

/* The resolved config.json, byte for byte as AMCT writes it. */
void qc_emit_config(struct qc_out *o, const struct qc_plan *p);
/* What the configuration (or record) resolves to, as JSON. */
void qc_emit_effective(struct qc_out *o, const struct qc_plan *p);

/* ---- explain.c ---- */

/* All layers (subject null), one layer, or one field. Reports and returns
 * false when the subject is neither. */
bool qc_explain(struct qc_out *o, const struct qc_plan *p, const char *subject,
                bool json);

/* ---- emit_layers.c ---- */

/* The model as model.layers. */
void qc_emit_layers(struct qc_out *o, const struct qc_model *m);

/* ---- dump.c ---- */

/* The canonical values of a file. */
void qc_dump_json(struct qc_out *o, const struct qc_doc *d);

/* ---- emit_schema.c ---- */

/* JSON Schema of a form of config.json. */
void qc_emit_schema(struct qc_out *o, enum qc_kind kind);

#endif
