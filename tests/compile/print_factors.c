/* Prints what a generated table says about calibration, in the words of a
 * record: name, scale_d, offset_d, scale_w ... with the nine digits that name
 * a binary32. Built against any quant_tables.h; each layer is found by its
 * original name, as a firmware would. */
#include "quant_tables.h"

#include "qrt.h"

#include <stdio.h>
#include <string.h>

static float value(struct qrt_real r)
{
    uint32_t bits = qrt_real_to_f32(r);
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

int main(void)
{
    uint32_t i, c, found;

    if (qrt_tables_check(&quant_tables, QUANT_TABLES_HASH) != QRT_OK)
        return 2;
    for (i = 0; i < quant_tables.layer_count; i++) {
        const struct qrt_layer *l = &quant_layers[i];
        const struct qrt_factors *f = l->factors;

        if (qrt_find_layer(&quant_tables, l->name, &found) != QRT_OK ||
            found != i)
            return 3;
        if (!f)
            continue;
        printf("%s %.9g %ld", l->name, (double)value(f->scale_d),
               (long)f->offset_d);
        for (c = 0; c < f->scale_count; c++)
            printf(" %.9g", (double)value(f->scale_w[c]));
        printf("\n");
    }
    return 0;
}
