/* What quantc wrote, read back: images, tables in C and plans come to the same
 * struct, and so to the same text. */
#ifndef QC_SHOW_H
#define QC_SHOW_H

#include "origin.h"
#include "out.h"

#include "qrt_tables.h"

struct qc_shown_weights {
    uint32_t bytes, channels; /* bytes 0: none      */
    bool pairs, cmsis;
    uint32_t codes_crc, bias_crc; /* the bias as little endian words */
};

struct qc_shown_plan {
    struct qc_str title;      /* "quantc image, 3384 bytes, quantc 0.1.0"  */
    struct qrt_tables tables; /* every index and count has been checked    */
    uint32_t crc[4];          /* of inputs, by enum qc_input; 0: none      */
    struct qc_map origins;    /* "layer\n  key" -> struct qc_str: the place
                                 that decided a line; empty for an image   */
    /* Of each layer; null: this form holds no weights. */
    const struct qc_shown_weights *weights;
    bool is_plan;  /* which has the dequant words in any case, and of
                      candidate ratios the first and the last only */
    bool no_words; /* they are not shown                      */
};

enum qc_shown_kind {
    QC_SHOWN_NONE,
    QC_SHOWN_IMAGE,
    QC_SHOWN_TABLES,
    QC_SHOWN_FOLDER, /* tables */
    QC_SHOWN_PLAN,   /* plan.json */
    QC_SHOWN_NOWHERE /* it cannot be opened */
};

/* ---- show.c ---- */

/* Told from the first bytes. NONE: something else. */
enum qc_shown_kind qc_shown_kind(const char *path);
/* An image, tables (quant_tables.c, .h or their folder) or a plan.json. False
 * after a fault, which is reported. */
bool qc_load_shown(struct qc *qc, const char *path, struct qc_shown_plan *out);
void qc_show(struct qc_out *o, const struct qc_shown_plan *p);

/* ---- c_reader.c ---- */

/* One object of generated C: its values as a tree of lists, numbers, words
 * (names of other objects, with or without '&') and texts. A value's name is
 * the comment behind it; several comments with what is between them. */
struct qc_c_object {
    struct qc_str type; /* "qrt_real", "uint32_t"                        */
    struct qc_node *value;
};

struct qc_c_file {
    struct qc_file *file;
    struct qc_str title;   /* the first comment                           */
    struct qc_map objects; /* by name                                     */
    size_t values;         /* numbers, words and texts in all of them     */
};

/* Reads what emit_c.c writes, and no other C. False after a fault, which is
 * reported. */
bool qc_read_c(struct qc *qc, const char *path, struct qc_c_file *out);

/* ---- c_tables.c ---- */

/* path: quant_tables.c, .h, or with `folder` where they lie; of another prefix
 * too, but for a folder. */
bool qc_load_tables(struct qc *qc, const char *path, bool folder,
                    struct qc_shown_plan *out);

/* ---- plan_shown.c ---- */

bool qc_load_plan(struct qc *qc, const char *path, struct qc_shown_plan *out);

#endif
