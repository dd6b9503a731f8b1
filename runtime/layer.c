/* Checks of a generated table, and look-up by original name. */
#include "qrt.h"

/* Order by byte value: < 0, 0, > 0. */
static int compare(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

enum qrt_status qrt_tables_check(const struct qrt_tables *tables, uint64_t hash)
{
    const char *previous = NULL;

    if (tables == NULL) {
        return QRT_ERR_NULL;
    }
    if (tables->version != QRT_TABLES_VERSION) {
        return QRT_ERR_VERSION;
    }
    if (hash != 0 && tables->hash != hash) {
        return QRT_ERR_HASH;
    }
    if (tables->layer_count != 0 &&
        (tables->layers == NULL || tables->by_name == NULL)) {
        return QRT_ERR_NULL;
    }
    for (uint32_t i = 0; i < tables->layer_count; i++) {
        uint32_t index = tables->by_name[i];
        const char *name;

        if (index >= tables->layer_count) {
            return QRT_ERR_RANGE;
        }
        name = tables->layers[index].name;
        if (name == NULL) {
            return QRT_ERR_NULL;
        }
        if (previous != NULL && compare(previous, name) >= 0) {
            return QRT_ERR_RANGE;
        }
        previous = name;
    }
    return QRT_OK;
}

enum qrt_status qrt_find_layer(const struct qrt_tables *tables,
                               const char *name, uint32_t *index)
{
    uint32_t low = 0;
    uint32_t high;

    if (tables == NULL || name == NULL || index == NULL) {
        return QRT_ERR_NULL;
    }
    high = tables->layer_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2U;
        uint32_t found = tables->by_name[middle];
        int order = compare(name, tables->layers[found].name);

        if (order == 0) {
            *index = found;
            return QRT_OK;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1U;
        }
    }
    return QRT_ERR_NOT_FOUND;
}
