/* Self-test on the board: do the tables in its flash hold what quantc wrote,
 * and do the kernels, as compiled for this core, give what they give on the
 * host? `quantc compile --selftest` adds the expected values to the tables.
 *
 *     struct qrt_selftest_fault fault;
 *
 *     if (qrt_selftest(&quant_tables, &quant_selftest, &fault) != QRT_OK)
 *         report(fault.name, fault.step, fault.channel, fault.input);
 *
 * It costs 1.1 KiB of code beside the kernels, 160 bytes of stack beside
 * theirs, and at most 444 bytes of constants for a layer. Pointers and counts
 * of the tables are followed as they are: with a damaged one the test may fault
 * instead of returning. */
#ifndef QRT_SELFTEST_H
#define QRT_SELFTEST_H

#include "qrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is compared, in this order. */
enum qrt_selftest_step {
    QRT_SELFTEST_TABLE,      /* the digest of the layer's row: if it differs
                                the constants are damaged, or of another
                                build; the kernels are not to blame         */
    QRT_SELFTEST_QUANTIZE,   /* qrt_quantize_s32_s8, or _s16 for 16 bits    */
    QRT_SELFTEST_REQUANTIZE, /* qrt_requantize_s8, or _s16 for 16 bits      */
    QRT_SELFTEST_DEQUANTIZE, /* qrt_dequantize_s32_s32                      */
    QRT_SELFTEST_STEPS
};

/* The first thing that is not as it should be. */
struct qrt_selftest_fault {
    uint32_t layer;   /* index, [0, layer_count)                            */
    const char *name; /* of the layer; null if that pointer is damaged      */
    enum qrt_selftest_step step;
    uint32_t channel; /* of the weights; 0 for TABLE and QUANTIZE           */
    uint32_t input;   /* index of the input; 0 for TABLE                    */
    int32_t got;      /* code or number; of TABLE the digests               */
    int32_t expected;
};

/* Checks all layers, one after the other, and stops at the first fault.
 *
 * tables  of the program
 * test    made together with them
 * fault   written when QRT_ERR_MISMATCH is returned, else untouched
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_VERSION, QRT_ERR_HASH (tables and test
 * are of different builds), QRT_ERR_MISMATCH (see fault). */
enum qrt_status qrt_selftest(const struct qrt_tables *tables,
                             const struct qrt_selftest_tables *test,
                             struct qrt_selftest_fault *fault);

/* FNV-1a over every number that a row leads to, and its name: the same on all
 * machines, whatever their byte order and padding. Null pointers on the way
 * are allowed; `layer` is not null. */
uint32_t qrt_selftest_digest(const struct qrt_layer *layer);

/* What a step gives for the inputs of a test, on this machine: how quantc
 * makes the expected values and qrt_selftest the ones it compares.
 *
 * step     QUANTIZE, REQUANTIZE or DEQUANTIZE
 * channel  of the weights, below the layer's scale_count; not used by QUANTIZE
 * out      [QRT_SELFTEST_INPUTS]
 *
 * Returns QRT_OK, QRT_ERR_NULL (no factors, no edge, no inputs), and what the
 * kernels return. */
enum qrt_status qrt_selftest_values(const struct qrt_layer *layer,
                                    const struct qrt_selftest_layer *test,
                                    enum qrt_selftest_step step,
                                    uint32_t channel,
                                    int32_t out[QRT_SELFTEST_INPUTS]);

/* The i-th of the `tried` channels out of `count`: spread evenly, the first
 * and the last among them. i < tried <= count. */
uint32_t qrt_selftest_channel(uint32_t i, uint32_t tried, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
