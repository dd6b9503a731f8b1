/* Prints the layers of a generated table: the smallest program that needs
 * both the tables and the runtime. The build systems beside it all build this
 * file. */
#include "qrt.h"
#include "quant_tables.h"

#include <stdio.h>

int main(void)
{
    uint32_t i, index;

    if (qrt_tables_check(&quant_tables, QUANT_TABLES_HASH) != QRT_OK)
        return 1;
    for (i = 0; i < QUANT_LAYER_COUNT; i++)
        printf("%s %s\n", quant_layers[i].name,
               quant_layers[i].factors ? "calibrated" : "recipe only");
    return qrt_find_layer(&quant_tables, "conv1", &index) != QRT_OK;
}
