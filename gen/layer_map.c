/* Layers by name: which layer an alias leads to, and which aliases lead to more
 * than one. */
#include "model.h"

struct qc_layer *qc_find_layer(const struct qc_model *m, struct qc_str name)
{
    return qc_map_get(&m->names, name);
}

void qc_enter_alias(struct qc *qc, struct qc_model *m, struct qc_map *ranks,
                    struct qc_layer *l, struct qc_str alias, unsigned rank)
{
    void **layer = qc_map_at(qc, &m->names, alias);
    void **known = qc_map_at(qc, ranks, alias);

    if (!*known) {
        *known = (void *)(uintptr_t)rank;
        *layer = l;
    } else if ((uintptr_t)*known == rank && *layer && *layer != l) {
        *qc_map_at(qc, &m->ambiguous, alias) = *layer;
        *layer = NULL;
    }
}
