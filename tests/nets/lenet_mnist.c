/* LeNet-5 on 28 x 28 digits. */
#include "net.h"

#include "quant_tables.h"
#include "quant_weights.h"

/* clang-format off */
NET_CONST struct net_layer net[] = {
    /* row          kind     acc    in h   w    out h   w   kernel s pad   group pool */
    {QUANT_CONV1, NET_CONV,      0,   1, 28, 28,   6, 28, 28, 5, 5, 1, 2, 2,  1, 1, W(CONV1)},
    {QUANT_CONV2, NET_CONV,      0,   6, 14, 14,  16, 10, 10, 5, 5, 1, 0, 0,  1, 2, W(CONV2)},
    {QUANT_FC1,   NET_CONV,      0,  16,  5,  5, 120,  1,  1, 5, 5, 1, 0, 0,  1, 2, W(FC1)},
    {QUANT_FC2,   NET_CONV,      0, 120,  1,  1,  84,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(FC2)},
    {QUANT_FC3,   NET_CONV,      0,  84,  1,  1,  10,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(FC3)},
};
/* clang-format on */
NET_OF(8192, 4704, 1, 10)
