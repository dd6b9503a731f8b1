/* What something was made from: the inputs by name, without folders, and the
 * CRC-32 of their bytes. Tables, plan.json, images, records and state files
 * carry it, so that one which does not belong to the others is noticed. */
#ifndef QC_ORIGIN_H
#define QC_ORIGIN_H

#include "out.h"
#include "plan.h"

enum qc_input {
    QC_INPUT_CONFIG,
    QC_INPUT_MODEL,
    QC_INPUT_RECORD,
    QC_INPUT_OPTIONS
};

/* "config" ... */
const char *qc_input_word(enum qc_input input);

struct qc_origin {
    struct qc_str name; /* empty: there is no such input */
    uint32_t crc;       /* 0 then                        */
};

/* ---- origin.c ---- */

/* f may be null. A model's external data count as its bytes. */
uint32_t qc_file_crc32(const struct qc_file *f);
struct qc_origin qc_origin_of(const struct qc_file *f);
/* "config  quant.cfg (crc32 89abcdef)", without a line feed. */
void qc_put_origin(struct qc_out *o, enum qc_input input,
                   const struct qc_origin *origin);
/* The head of a record as comment lines. Either may have no name. */
void qc_put_record_head(struct qc_out *o, const struct qc_origin *config,
                        const struct qc_origin *model);

/* ---- stale.c ---- */

/* The settings of a layer that decide its factors and do not stand in a record
 * (unlike widths, numbers of scales, skip_fusion), as a checksum. */
uint32_t qc_settings_crc32(const struct qc_plan *p, const struct qc_row *row);
/* The ONNX file of a model, or what a list of layers says that it was printed
 * from; no name when neither is known. */
struct qc_origin qc_model_origin(const struct qc_model *m);
/* Reports lines of a record that begin like one about an input and go on
 * otherwise. */
void qc_check_origin_lines(struct qc *qc, const struct qc_file *record);

#endif
