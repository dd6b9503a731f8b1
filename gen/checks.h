/* Checks of values that need no model. A check is a small function with the
 * key of what it finds; checks.c walks the bound values and calls it. */
#ifndef QC_CHECKS_H
#define QC_CHECKS_H

#include "bind.h"
#include "schema_tables.h"

/* A range as checks use it: parsed once for a field. */
struct qc_limit {
    const struct qc_field *f;
    bool ranged;
    struct qc_range r;
    enum qc_key key;
};

struct qc_checker {
    struct qc *qc;
    enum qc_kind kind;
    bool clean;               /* no fault so far: what is absent is absent */
    struct qc_str layer;      /* of the record being checked; empty: none */
    enum qc_key scale_key;    /* of its scales: zeros may be meant        */
    struct qc_limit **limits; /* by message, then field */
    const struct qc_message **messages;
    size_t message_count, message_room;
};

/* ---- checks.c ---- */

/* A value that can be used: there, and not reported before. */
bool qc_usable(const struct qc_value *v);
/* " of layer 'conv1'" in a record, else "". */
const char *qc_of_layer(const struct qc_checker *c);
/* A float as messages show it: by its value, not by its spelling. */
const char *qc_shown_float(struct qc *qc, double v);
/* The shortest text of the value that AMCT makes of a float (config.md E.7). */
struct qc_str qc_amct_text(struct qc *qc, double v);

/* ---- checks_message.c ---- */

typedef void (*qc_message_check)(struct qc_checker *c, const void *bound);
/* The rules across the fields of a message, before its values; null: none. */
qc_message_check qc_rules_of(const struct qc_message *m);

#endif
