/* Depthwise separable keyword net on 32 x 32 log-mel frames. */
#include "net.h"

#include "quant_tables.h"
#include "quant_weights.h"

/* clang-format off */
NET_CONST struct net_layer net[] = {
    /* row                kind     acc    in h   w    out h   w   kernel s pad   group pool */
    {QUANT_STEM,        NET_CONV,      0,   1, 32, 32,  32, 16, 16, 4, 6, 2, 1, 2,  1, 1, W(STEM)},
    {QUANT_BLOCKSp0pDW, NET_CONV,      0,  32, 16, 16,  32, 16, 16, 3, 3, 1, 1, 1, 32, 1, W(BLOCKSp0pDW)},
    {QUANT_BLOCKSp0pPW, NET_CONV,      0,  32, 16, 16,  32, 16, 16, 1, 1, 1, 0, 0,  1, 1, W(BLOCKSp0pPW)},
    {QUANT_BLOCKSp1pDW, NET_CONV,      0,  32, 16, 16,  32,  8,  8, 3, 3, 2, 1, 1, 32, 1, W(BLOCKSp1pDW)},
    {QUANT_BLOCKSp1pPW, NET_CONV,      0,  32,  8,  8,  48,  8,  8, 1, 1, 1, 0, 0,  1, 1, W(BLOCKSp1pPW)},
    {QUANT_BLOCKSp2pDW, NET_CONV,      0,  48,  8,  8,  48,  8,  8, 3, 3, 1, 1, 1, 48, 1, W(BLOCKSp2pDW)},
    {QUANT_BLOCKSp2pPW, NET_CONV,      0,  48,  8,  8,  48,  8,  8, 1, 1, 1, 0, 0,  1, 1, W(BLOCKSp2pPW)},
    {QUANT_BLOCKSp3pDW, NET_CONV,      0,  48,  8,  8,  48,  8,  8, 3, 3, 1, 1, 1, 48, 1, W(BLOCKSp3pDW)},
    {QUANT_BLOCKSp3pPW, NET_CONV,      0,  48,  8,  8,  64,  8,  8, 1, 1, 1, 0, 0,  1, 1, W(BLOCKSp3pPW)},
    {QUANT_GCONV,       NET_CONV,      0,  64,  8,  8,  64,  8,  8, 3, 3, 1, 1, 1,  4, 1, W(GCONV)},
    {QUANT_CLASSIFIER,  NET_CONV,      0,  64,  1,  1,  10,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(CLASSIFIER)},
};
/* clang-format on */
NET_OF(49152, 8192, 1, 10)
