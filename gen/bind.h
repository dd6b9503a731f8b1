/* From a tree to bound values: text format. */
#ifndef QC_BIND_H
#define QC_BIND_H

#include "schema.h"

/* ---- bind_text.c ---- */

/* Checks the tree of a text-format file against a message and fills the struct
 * that schema.h describes: names, types, presence. Whether a value is in its
 * range is for checks.c. A field that is given twice, a second member of a
 * choice and a missing required field are errors or, with their severity set
 * to a warning (--compat amct), merged as AMCT merges them.
 * dialect: enum qc_dialect; a field that it lacks is an unknown field. */
void *qc_bind_text(struct qc *qc, const struct qc_message *m,
                   struct qc_node *root, int dialect);

/* ---- bind_help.c ---- */

/* An open message, for messages about what does not fit into it. */
struct qc_frame {
    const struct qc_message *m;
    struct qc_node *node; /* its group                      */
    char *base;           /* struct M                       */
    int level;            /* 0: the file                    */
    size_t next;          /* where the next field is looked for first */
    bool torn;            /* something of it was lost to an error: what is
                             absent may have been written    */
    const struct qc_frame *parent;
};

/* Reports a field that the message does not have, with what was probably
 * meant. */
void qc_unknown_field(struct qc *qc, const struct qc_frame *f,
                      const struct qc_node *n, int dialect);
/* The innermost enclosing message that has the field, when the field stands
 * where that one's fields stand: a '}' is missing before it. */
const struct qc_frame *qc_escaped_from(const struct qc_frame *f,
                                       const struct qc_node *n, int dialect);
/* Reports such a field. */
void qc_escaped_field(struct qc *qc, const struct qc_frame *f,
                      const struct qc_frame *owner, const struct qc_node *n);

/* ---- bind_value.c ---- */

/* Checks a scalar against its field and stores it. False when it does not fit:
 * reported, and v is poisoned. */
bool qc_bind_scalar(struct qc *qc, const struct qc_field *f,
                    const struct qc_node *n, struct qc_value *v);
/* Reports a value of the wrong shape. */
void qc_wrong_type(struct qc *qc, const struct qc_field *f,
                   const struct qc_node *n);

/* ---- checks.c ---- */

/* The checks of values that need no model, for the text kinds. */
void qc_check_text(struct qc *qc, enum qc_kind kind, const void *bound);

#endif
