/* The digits network in integers. */
#ifndef DIGITS_NET_H
#define DIGITS_NET_H

#include "image.h"
#include "qrt.h"

#define NET_CLASSES    10
#define NET_LARGEST    1024 /* elements of the largest activation: 16 x 8 x 8 */
#define NET_LOGIT_FRAC 16

/* Memory of one inference: 5 KiB. */
struct net_memory {
    int8_t codes[NET_LARGEST]; /* input of the layer being computed */
    int32_t acc[NET_LARGEST];  /* its output, before requantization */
};

/* Classifies one image.
 *
 * logits  one number per class in Q16; the class is the largest
 *
 * Returns QRT_OK, or what a kernel reports: a table that does not fit. */
enum qrt_status net_run(const struct digits_image *image,
                        struct net_memory *memory, int32_t logits[NET_CLASSES]);

/* The largest logit's index. */
int net_class(const int32_t logits[NET_CLASSES]);

#endif
