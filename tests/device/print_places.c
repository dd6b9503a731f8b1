/* Whether every object that the tables lead to has the alignment asked for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "quant_tables.h"
#include "quant_weights.h"

static unsigned long mask;
static int bad;

static void at(const void *p)
{
    bad |= p != NULL && ((uintptr_t)p & mask) != 0;
}

int main(int argc, char **argv)
{
    mask = argc > 1 ? strtoul(argv[1], NULL, 10) - 1 : 0;
    at(&quant_tables);
    at(quant_layers);
    at(quant_tables.by_name);
    for (int i = 0; i < QUANT_LAYER_COUNT; i++) {
        const struct qrt_layer *l = &quant_layers[i];

        at(l->arq);
        at(l->ifmr);
        at(l->ifmr->ratios);
        at(l->factors);
        at(l->factors->scale_w);
        at(l->factors->word_dequant);
        at(l->edge);
    }
    at(quant_weight_CONV1);
    at(quant_bias_CONV1);
    at(quant_weight_FC);
    return bad;
}
