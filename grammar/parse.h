/* Readers of the text formats. Each turns the characters of a file into the
 * tree of gen/qc.h and reports faults of characters and grammar; what the names
 * mean is for bind_*.c. Call qc_check_encoding first. */
#ifndef QC_PARSE_H
#define QC_PARSE_H

#include "qc.h"

/* Protobuf text format. The result is a group that holds the fields of the
 * file, whatever was wrong with it; null when nothing of it can be trusted (a
 * JSON file, for instance). */
struct qc_node *qc_parse_text(struct qc *qc, struct qc_file *f);

/* The value of one or more adjacent literals in [at, end) of a text-format
 * file, escapes resolved: a slice of the file when it is one literal without
 * escapes, else a copy. The text must have passed the scanner. */
struct qc_str qc_text_string(struct qc *qc, const struct qc_file *f,
                             uint32_t at, uint32_t end);
/* Where byte `index` of that value was written: a character, or the escape that
 * makes it. */
struct qc_loc qc_text_string_loc(const struct qc_file *f, uint32_t at,
                                 uint32_t end, size_t index);

/* JSON. Null when the file has no value. */
struct qc_node *qc_parse_json(struct qc *qc, struct qc_file *f);

#endif
