/* Residual net on 32 x 32 log-mel frames. */
#include "net.h"

#include "quant_tables.h"
#include "quant_weights.h"

/* clang-format off */
NET_CONST struct net_layer net[] = {
    /* row                          kind     acc    in h   w    out h   w   kernel s pad   group pool */
    {QUANT_CONV1,                 NET_CONV,      0,   1, 32, 32,  16, 16, 16, 3, 3, 2, 1, 1,  1, 1, W(CONV1)},
    {QUANT_LAYER1p0pCONV1,        NET_CONV,      0,  16, 16, 16,  16, 16, 16, 3, 3, 1, 1, 1,  1, 1, W(LAYER1p0pCONV1)},
    {QUANT_LAYER1p0pCONV2,        NET_CONV,      0,  16, 16, 16,  16, 16, 16, 3, 3, 1, 1, 1,  1, 1, W(LAYER1p0pCONV2)},
    {QUANT_LAYER1p1pCONV1,        NET_CONV,      0,  16, 16, 16,  16, 16, 16, 3, 3, 1, 1, 1,  1, 1, W(LAYER1p1pCONV1)},
    {QUANT_LAYER1p1pCONV2,        NET_CONV,      0,  16, 16, 16,  16, 16, 16, 3, 3, 1, 1, 1,  1, 1, W(LAYER1p1pCONV2)},
    {QUANT_LAYER2p0pDOWNSAMPLEp0, NET_CONV,      1,  16, 16, 16,  32,  8,  8, 1, 1, 2, 0, 0,  1, 1, W(LAYER2p0pDOWNSAMPLEp0)},
    {QUANT_LAYER2p0pCONV1,        NET_CONV,      0,  16, 16, 16,  32,  8,  8, 3, 3, 2, 1, 1,  1, 1, W(LAYER2p0pCONV1)},
    {QUANT_LAYER2p0pCONV2,        NET_CONV,      0,  32,  8,  8,  32,  8,  8, 3, 3, 1, 1, 1,  1, 1, W(LAYER2p0pCONV2)},
    {QUANT_LAYER3p0pDOWNSAMPLEp0, NET_CONV,      1,  32,  8,  8,  64,  4,  4, 1, 1, 2, 0, 0,  1, 1, W(LAYER3p0pDOWNSAMPLEp0)},
    {QUANT_LAYER3p0pCONV1,        NET_CONV,      0,  32,  8,  8,  64,  4,  4, 3, 3, 2, 1, 1,  1, 1, W(LAYER3p0pCONV1)},
    {QUANT_LAYER3p0pCONV2,        NET_CONV,      0,  64,  4,  4,  64,  4,  4, 3, 3, 1, 1, 1,  1, 1, W(LAYER3p0pCONV2)},
    {QUANT_FC,                    NET_CONV,      0,  64,  1,  1,  10,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(FC)},
};
/* clang-format on */
NET_OF(32768, 4096, 2048, 10)
