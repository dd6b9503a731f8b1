/* Comparing two inputs or outputs of quantc. */
#ifndef QC_DIFF_H
#define QC_DIFF_H

#include "out.h"
#include "plan.h"
#include "show.h"

/* Each writes what differs and returns how much; 0: equal. */
size_t qc_diff_plans(struct qc_out *o, const struct qc_plan *a,
                     const struct qc_plan *b);
size_t qc_diff_records(struct qc_out *o, const struct qc_doc *a,
                       const struct qc_doc *b);
/* Texts in the form of `quantc show`: a name, then indented lines that begin
 * with a key. */
size_t qc_diff_texts(struct qc_out *o, const struct qc_out *a,
                     const struct qc_out *b);
/* Images and tables, as `show` prints them; weights where both hold them, else
 * they are forgotten. */
size_t qc_diff_shown(struct qc_out *o, struct qc_shown_plan *a,
                     struct qc_shown_plan *b);
/* A plan.json in that form. False when it is not one. */
bool qc_plan_text(struct qc_out *o, const struct qc_doc *plan);

#endif
