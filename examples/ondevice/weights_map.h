/* Puts the weights that `quantc compile --weights` has written in the place of
 * examples/digits/weights.h, which has the same include guard. */
#ifndef DIGITS_WEIGHTS_H
#define DIGITS_WEIGHTS_H

#include "quant_weights.h"

#define conv1_weight quant_weight_CONV1
#define conv1_bias   quant_bias_CONV1
#define dw_weight    quant_weight_DW
#define dw_bias      quant_bias_DW
#define pw_weight    quant_weight_PW
#define pw_bias      quant_bias_PW
#define fc_weight    quant_weight_FC
#define fc_bias      quant_bias_FC

#endif
