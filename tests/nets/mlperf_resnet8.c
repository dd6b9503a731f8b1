/* ResNet8 of MLPerf Tiny on 32 x 32 colour images. */
#include "net.h"

#include "quant_tables.h"
#include "quant_weights.h"

/* clang-format off */
NET_CONST struct net_layer net[] = {
    /* row                      kind     acc    in h   w    out h   w   kernel s pad   group pool */
    {QUANT_CONV2D,            NET_CONV,      0,   3, 32, 32,  16, 32, 32, 3, 3, 1, 1, 1,  1, 1, W(CONV2D)},
    {QUANT_CONV2D_1,          NET_CONV,      0,  16, 32, 32,  16, 32, 32, 3, 3, 1, 1, 1,  1, 1, W(CONV2D_1)},
    {QUANT_CONV2D_2,          NET_CONV,      0,  16, 32, 32,  16, 32, 32, 3, 3, 1, 1, 1,  1, 1, W(CONV2D_2)},
    {QUANT_CONV2D_3,          NET_CONV,      0,  16, 32, 32,  32, 16, 16, 3, 3, 2, 0, 0,  1, 1, W(CONV2D_3)},
    {QUANT_CONV2D_4,          NET_CONV,      0,  32, 16, 16,  32, 16, 16, 3, 3, 1, 1, 1,  1, 1, W(CONV2D_4)},
    {QUANT_CONV2D_5,          NET_CONV,      1,  16, 32, 32,  32, 16, 16, 1, 1, 2, 0, 0,  1, 1, W(CONV2D_5)},
    {QUANT_CONV2D_6,          NET_CONV,      0,  32, 16, 16,  64,  8,  8, 3, 3, 2, 0, 0,  1, 1, W(CONV2D_6)},
    {QUANT_CONV2D_7,          NET_CONV,      0,  64,  8,  8,  64,  8,  8, 3, 3, 1, 1, 1,  1, 1, W(CONV2D_7)},
    {QUANT_CONV2D_8,          NET_CONV,      1,  32, 16, 16,  64,  8,  8, 1, 1, 2, 0, 0,  1, 1, W(CONV2D_8)},
    {QUANT_AVERAGE_POOLING2D, NET_AVGPOOL,   0,  64,  8,  8,  64,  1,  1, 8, 8, 8, 0, 0,  1, 1, NO_WEIGHTS},
    {QUANT_DENSE,             NET_LINEAR_IO, 0,  64,  1,  1,  10,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(DENSE)},
};
/* clang-format on */
NET_OF(81920, 16384, 16384, 10)
