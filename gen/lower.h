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
    const struct qrt_real *exact; /* dequant before hardware_scale */
    uint64_t *word_dequant, *word_fixpipe;
};

struct qc_low_edge {
    struct qrt_real *requant;
    int32_t zero_point, code_min, code_max;
    size_t next; /* row                                    */
};

struct qc_low_term {
    struct qrt_real *scale;
    size_t scale_count;
    size_t layer; /* row                                    */
    int32_t zero_point, low, high;
    bool is_code;
};

struct qc_low_join {
    enum qrt_join_kind kind;
    uint8_t frac;
    bool mean;
    struct qc_low_term *terms;
    size_t term_count;
    const struct qc_low_edge *edge; /* kind EDGE                        */
    bool own_edge;                  /* it is not that of the other layer */
    int32_t low, high, zero_point, code_min, code_max;
    int8_t *table; /* [256], or null                         */
    struct qc_str function;
};

struct qc_low_row {
    const struct qc_row *row;
    struct qc_str ident;
    const struct qc_block_of *arq, *ifmr, *hfmg, *ulq;
    const struct qc_low_factors *factors;
    const struct qc_low_edge *edge;
    const struct qc_low_join *join;
    struct qc_str join_why;  /* without a join, of a calibrated layer    */
    uint8_t rule, exactness; /* enum qrt_rule, enum qrt_exactness      */
};

/* Of --align and --section; null: not asked for. */
struct qc_place {
    const char *align, *section;
};

struct qc_tables {
    const struct qc_plan *plan;
    struct qc_place place;
    const char *prefix; /* "quant"                                */
    uint64_t hash;
    struct qc_low_row *rows;
    uint16_t *by_name;
    size_t count;
    size_t enabled, calibrated;
    struct qc_blocks arq, ifmr, hfmg, ulq;
    struct qc_ratios *ratios;
    size_t ratio_count;
    bool selftest; /* with vectors for qrt_selftest          */
};

struct qc_lower_options {
    const char *prefix;
};

/* Null after an error; everything wrong is reported. */
struct qc_tables *qc_lower(struct qc *qc, const struct qc_plan *plan,
                           const struct qc_lower_options *o);

/* ---- lower_edge.c, lower_join.c ---- */

/* Edges from, and joins into, every layer; factors are lowered. */
void qc_lower_edges(struct qc *qc, struct qc_tables *t, const size_t *row_of);
void qc_lower_joins(struct qc *qc, struct qc_tables *t, const size_t *row_of);
/* Limits of the input code of a layer (zero_point is set), narrowed by what
 * stands before it. */
void qc_edge_limits(struct qc_low_edge *e, const struct qc_limits *limits,
                    const struct qc_low_row *next);
/* The multipliers from an accumulator of `from` to steps of `step`; null when
 * one is out of range. fused: the product of both scales is one scale of the
 * device; else the accumulator's is, and what follows is exact. */
struct qrt_real *qc_requant(struct qc *qc, const struct qc_low_row *from,
                            struct qrt_real step, bool fused);
/* A scale as the device of a layer holds it. False: nothing is left of it. */
bool qc_device_scale(const struct qc_row *row, struct qrt_real *s);
/* A BatchNormalization that is not folded stands between the accumulator and
 * whatever follows. */
bool qc_has_own_bn(const struct qc_row *row);
/* Do two layers read equal codes for equal numbers? */
bool qc_same_code(const struct qc_low_row *a, const struct qc_low_row *b);

/* The binary32 pattern nearest to v. */
uint32_t qc_bits_of(double v);
/* crc32 (the one of zip and PNG) of bytes. */
uint32_t qc_crc32(struct qc_str s);
/* That of a and s in a row; crc is that of a, 0 at the start. */
uint32_t qc_crc32_add(uint32_t crc, struct qc_str s);

#endif
