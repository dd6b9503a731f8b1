/* Text that becomes a file only when the whole run has succeeded. */
#ifndef QC_OUT_H
#define QC_OUT_H

#include "qc.h"

struct qc_out {
    struct qc *qc;
    const char *path; /* null: standard output                        */
    bool renew;       /* write even when the content is the same      */
    char *text;
    size_t size, room;
    /* While it is being written: */
    char *temporary, *backup; /* names                                  */
    bool direct;              /* standard output, a device or a pipe    */
    bool written, has_backup; /* which of the two exist                 */
    bool replaced, is_new;    /* the target is ours; was not there      */
};

struct qc_out *qc_out_new(struct qc *qc, const char *path);
void qc_put(struct qc_out *o, const char *ptr, size_t len);
void qc_puts(struct qc_out *o, const char *z);
void qc_printf(struct qc_out *o, const char *fmt, ...) QC_PRINTF(2, 3);
/* A string of the protobuf text format, in quotes. UTF-8 stays as it is. */
void qc_put_string(struct qc_out *o, struct qc_str s);
/* Blanks until o->size is from + width: aligns a column. */
void qc_pad(struct qc_out *o, size_t from, size_t width);

/* Writes all or none: temporaries first, renames last. On failure reports,
 * removes the temporaries and puts old files back in place. What goes to
 * standard output, devices and pipes is written first. */
bool qc_commit(struct qc_out **outs, size_t count);
/* mkdir -p. */
bool qc_make_folder(struct qc *qc, const char *path);

#endif
