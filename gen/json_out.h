/* JSON in the layout of AMCT's config.json: four spaces, nothing behind ':'
 * and ',', one element of an array per line, no final line end. cJSON cannot
 * write this layout. */
#ifndef QC_JSON_OUT_H
#define QC_JSON_OUT_H

#include "out.h"

struct qc_json {
    struct qc_out *out;
    unsigned depth;
    bool has_members; /* of the innermost object or array */
};

/* A null key: the outermost value, or an element of an array. An empty one:
 * qc_json_key has written it. */
void qc_json_open(struct qc_json *j, const char *key, char bracket);
void qc_json_close(struct qc_json *j, char bracket);
void qc_json_key(struct qc_json *j, struct qc_str key);
void qc_json_bool(struct qc_json *j, const char *key, bool b);
void qc_json_int(struct qc_json *j, const char *key, int64_t i);
/* The shortest decimal that reads back, as Python writes it. */
void qc_json_float(struct qc_json *j, const char *key, double v);
/* A number as its text. */
void qc_json_raw(struct qc_json *j, const char *key, struct qc_str number);
void qc_json_text(struct qc_json *j, const char *key, struct qc_str s);

#endif
