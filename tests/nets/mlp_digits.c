/* Four fully connected layers on 8 x 8 digits, a Tanh between two. */
#include "net.h"

#include "quant_tables.h"
#include "quant_weights.h"

/* clang-format off */
NET_CONST struct net_layer net[] = {
    /* row         kind     acc    in h   w    out h   w   kernel s pad   group pool */
    {QUANT_FC1,  NET_CONV,      0,  64,  1,  1,  48,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(FC1)},
    {QUANT_FC2,  NET_LINEAR_IO, 0,  48,  1,  1,  32,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(FC2)},
    {QUANT_PROJ, NET_LINEAR_IO, 0,  32,  1,  1,  32,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(PROJ)},
    {QUANT_OUT,  NET_LINEAR_IO, 0,  32,  1,  1,  10,  1,  1, 1, 1, 1, 0, 0,  1, 1, W(OUT)},
};
/* clang-format on */
NET_OF(256, 64, 1, 10)
