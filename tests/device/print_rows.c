/* Rule and exactness of every row. */
#include <stdio.h>

#include "quant_tables.h"

int main(void)
{
    for (int i = 0; i < QUANT_LAYER_COUNT; i++) {
        printf("%s %d %d\n", quant_layers[i].name, quant_layers[i].rule,
               quant_layers[i].exactness);
    }
    return 0;
}
