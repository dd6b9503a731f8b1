/* config.json: from the tree to bound values, checks, and back to text. */
#ifndef QC_JSON_H
#define QC_JSON_H

#include "model.h"
#include "out.h"
#include "schema.h"

/* Where in config.json something stands, for messages. */
struct qc_json_where {
    struct qc_str layer;  /* null pointer: outside of the layers      */
    struct qc_str object; /* null pointer: not in an object of a layer */
};

/* ---- bind_json.c ---- */

/* Binds a config.json to struct RetrainJson or struct CalibJson, by kind. Null
 * when the root is no object. Call it only when the text had no fault. */
void *qc_bind_json(struct qc *qc, const struct qc_node *root, enum qc_kind kind,
                   int dialect);
/* `"clip_max" of layer "fc"`; value (may be null): `"clip_max" (3) of ...`. */
const char *qc_json_name(struct qc *qc, const struct qc_json_where *w,
                         const char *key, const struct qc_value *value);
/* A config.json that has been bound and now meets a model (null: it is
 * compiled without one): keys that are not served become errors; a key that is
 * neither a layer of the model nor an object is an unknown key. */
void qc_json_meets_model(struct qc *qc, const struct qc_doc *doc,
                         const struct qc_model *model);

/* ---- checks_json.c ---- */

/* The checks of values that need no model. */
void qc_check_json(struct qc *qc, const struct qc_file *f, enum qc_kind kind,
                   const void *bound);

/* ---- dump_json.c ---- */

/* The bound values as a config.json: keys in the order of the schema, layers
 * in that of the file, every value in its shortest form. Reading that gives
 * the same values. */
void qc_dump_config_json(struct qc_out *o, const struct qc_doc *d);
/* A string as Python's json.dump writes it. */
void qc_put_json_string(struct qc_out *o, struct qc_str s);

#endif
