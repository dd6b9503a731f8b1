/* Records from the device: writes what was calibrated as an entry of a record
 * file, the text that quantc and AMCT read.
 *
 *     record {
 *       key: "conv1"
 *       value {
 *         # IFMR on 131072 samples, histogram of 1024 bins
 *         scale_d: 0.008346456
 *         offset_d: -128
 *         scale_w: 0.0042565083
 *         offset_w: 0
 *         act_type: "INT8"
 *         wts_type: "INT8"
 *       }
 *     }
 *
 * Entries of several layers stand one after the other in one file. Before them
 * belongs QUANT_TABLES_RECORD_HEAD of the tables, a string: with it quantc
 * refuses the record for another model or configuration. */
#ifndef QRT_RECORD_H
#define QRT_RECORD_H

#include "qrt_ifmr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One entry. */
struct qrt_record {
    const char *name;               /* of the layer, UTF-8, not empty       */
    uint32_t scale_d_bits;          /* step of its input, pattern, > 0      */
    int32_t offset_d;               /* zero point of its input, in the range
                                       of act_bits                          */
    const struct qrt_real *scale_w; /* [scale_count] steps of the weights, > 0;
                                       their zero points are 0              */
    uint32_t scale_count;           /* 1 or the output channels             */
    uint8_t act_bits;               /* 4, 8, 16, or 0: 8, and no act_type   */
    uint8_t wts_bits;               /* 4, 6, 7, 8, or 0: 8, and no wts_type */
    const struct qrt_ifmr_result *ifmr; /* null, or how scale_d came about:
                                           written as a comment             */
};

/* Takes the text, character by character. */
typedef void qrt_record_put(void *context, char c);

/* Writes an entry to `put`.
 *
 * A step is written with as few digits as surely read back, through binary64
 * or directly, to the same binary32; nine at most. Quotes, backslashes and control
 * characters of the name are escaped.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (empty name, a step, offset,
 * count or width outside its range); nothing is written on error. */
enum qrt_status qrt_record_write(const struct qrt_record *r,
                                 qrt_record_put *put, void *context);

/* Writes an entry, with a zero at its end, into a buffer.
 *
 * text     [size]; null with size 0 to learn the length
 * length   the characters of the entry, without the zero; also written when
 *          the buffer is too small
 *
 * Returns QRT_OK, QRT_ERR_SIZE (size below length + 1; text is untouched), and
 * as qrt_record_write. */
enum qrt_status qrt_record_format(const struct qrt_record *r, char *text,
                                  uint32_t size, uint32_t *length);

#ifdef __cplusplus
}
#endif

#endif
