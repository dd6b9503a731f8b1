/* A network as the test runner sees it: layers in the order of the tables,
 * with the sizes that the tables do not hold. Where each layer's input comes
 * from is in the tables. */
#ifndef NET_H
#define NET_H

#include "qrt.h"

enum net_kind {
    NET_CONV,
    NET_LINEAR_IO, /* weights [in, out]; [out, in] is a convolution of 1x1  */
    NET_AVGPOOL
};

struct net_layer {
    uint16_t row; /* in the tables                                        */
    uint8_t kind; /* enum net_kind                                        */
    uint8_t acc;  /* accumulators go into buffer 0 or 1                   */
    uint16_t in, in_height, in_width;
    uint16_t out, out_height, out_width;
    uint8_t height, width, stride, top, left; /* kernel, and padding      */
    uint16_t group;
    uint8_t pool;         /* the input is max pooled by this; 1: not      */
    const int8_t *weight; /* as the model has them                        */
    const int32_t *bias;  /* [out]                                        */
};

/* With NET_IMAGE tables and weights come from a deployment image
 * (from_image.c), else they are linked. */
#ifdef NET_IMAGE
#define NET_CONST
#define NET_TABLES 0
#else
#define NET_CONST  const
#define NET_TABLES &quant_tables
#endif

/* Each net's own file defines these. */
extern NET_CONST struct net_layer net[];
extern const uint32_t net_size, net_classes;
extern const struct qrt_tables *NET_CONST net_tables;
/* Room for all inputs of layers, and for accumulators. */
extern int8_t net_codes[];
extern int32_t *const net_acc[2];

#define NET_OF(codes, acc_0, acc_1, classes)                                   \
    const uint32_t net_size = sizeof net / sizeof *net;                        \
    const uint32_t net_classes = (classes);                                    \
    const struct qrt_tables *NET_CONST net_tables = NET_TABLES;                \
    int8_t net_codes[codes];                                                   \
    static int32_t buffer_0[acc_0], buffer_1[acc_1];                           \
    int32_t *const net_acc[2] = {buffer_0, buffer_1};

#define NO_WEIGHTS 0, 0
#ifdef NET_IMAGE
#define W(name) NO_WEIGHTS
#else
#define W(name) quant_weight_##name, quant_bias_##name
#endif

/* Makes net_tables and the weights of net[] ready. */
#ifdef NET_IMAGE
enum qrt_status net_open(void);
#else
static inline enum qrt_status net_open(void)
{
    return qrt_tables_check(net_tables, 0);
}
#endif

/* Runs one input (binary32 patterns); logits [net_classes] are Q16. */
enum qrt_status net_run(const uint32_t *input, int32_t *logits);

#endif
