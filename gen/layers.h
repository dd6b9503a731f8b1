/* What the readers of layer lists share. */
#ifndef QC_LAYERS_H
#define QC_LAYERS_H

#include "model.h"
#include "schema_tables.h"

/* ---- layers_json.c ---- */

/* layers.json as the message of model.layers. Keys that do not matter here are
 * skipped. Null when the file is not a list of layers. */
struct ModelLayers *qc_bind_layers_json(struct qc *qc,
                                        const struct qc_file *file,
                                        const struct qc_node *root);

#endif
