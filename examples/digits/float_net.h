/* The digits network in floating point, for host programs. */
#ifndef DIGITS_FLOAT_NET_H
#define DIGITS_FLOAT_NET_H

#include "image.h"

#define FLOAT_NET_CLASSES 10

/* Logits of one image, with the trained weights, BatchNorm folded. */
void float_net_run(const struct digits_image *image,
                   float logits[FLOAT_NET_CLASSES]);

#endif
