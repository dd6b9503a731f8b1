/* The plan as integers: what emit_c.c prints and emit_plan.c lists. */
#ifndef QC_LOWER_H
#define QC_LOWER_H

#include "plan.h"

/* A recipe block: layers whose values are equal share one. */
struct qc_block_of {
    struct qc_str name;       /* "common", "linear", "CONV1"            */
    const struct qc_row *row; /* the first layer that uses it           */
    size_t users;
    union {
        struct qrt_arq arq;
        struct qrt_ifmr ifmr; /* ratios: see ratio_table                */
        struct qrt_hfmg hfmg;
        struct qrt_ulq ulq;
    } as;
    size_t ratio_table; /* ifmr: index into qc_tables.ratios      */
    struct qc_block_of *next;
};

struct qc_blocks {
    struct qc_block_of *first, **end;
    struct qc_map by_value, by_name;
};

struct qc_ratios {
    uint32_t *bits;
    uint32_t count;
    const struct qc_row *row;
};

struct qc_low_factors {
    uint32_t scale_d_bits;
    struct qrt_real scale_d, recip_d;
    int32_t offset_d;
    size_t count;
    uint32_t *scale_w_bits;
    struct qrt_real *scale_w, *dequant;
    uint64_t *word_dequant, *word_fixpipe;
};

struct qc_low_edge {
    struct qrt_real *requant;
    int32_t zero_point, code_min, code_max;
    size_t next; /* row                                    */
};

struct qc_low_row {
    const struct qc_row *row;
    struct qc_str ident;
    const struct qc_block_of *arq, *ifmr, *hfmg, *ulq;
    const struct qc_low_factors *factors;
    const struct qc_low_edge *edge;
    uint8_t rule, exactness; /* enum qrt_rule, enum qrt_exactness      */
};

struct qc_tables {
    const struct qc_plan *plan;
    const char *prefix; /* "quant"                                */
    uint64_t hash;
    struct qc_low_row *rows;
    uint16_t *by_name;
    size_t count;
    size_t enabled, calibrated;
    struct qc_blocks arq, ifmr, hfmg, ulq;
    struct qc_ratios *ratios;
    size_t ratio_count;
};

struct qc_lower_options {
    const char *prefix;
};

/* Null after an error; everything wrong is reported. */
struct qc_tables *qc_lower(struct qc *qc, const struct qc_plan *plan,
                           const struct qc_lower_options *o);

/* The binary32 pattern nearest to v. */
uint32_t qc_bits_of(double v);
/* crc32 (the one of zip and PNG) of a file's bytes. */
uint32_t qc_crc32(struct qc_str s);

#endif
