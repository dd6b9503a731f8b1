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

/* ---- emit_plan.c ---- */

/* plan.json: the same plan for programs. False when built without cJSON. */
bool qc_emit_plan(struct qc_out *o, const struct qc_tables *t);

#endif
