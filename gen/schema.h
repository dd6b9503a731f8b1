/* Descriptors of messages, as schemac writes them from proto/ into
 * build/schema_tables.[ch], and the bound values they describe.
 *
 * A message M of a .proto becomes `struct M` with one member per field:
 *
 *     scalar, singular    struct qc_value   name;
 *     scalar, repeated    struct qc_values  name;
 *     message, singular   struct T         *name;   null when absent
 *     message, repeated   struct T_list     name;   {at, count}
 *
 * and a `const struct qc_message qc_M`. Member 0 of every struct is
 * `const struct qc_node *node`, the tree it was bound from. */
#ifndef QC_SCHEMA_H
#define QC_SCHEMA_H

#include "qc.h"

enum qc_type {
    QC_BOOL,
    QC_INT32,
    QC_INT64,
    QC_UINT32,
    QC_UINT64,
    QC_FLOAT,
    QC_DOUBLE,
    QC_STRING,
    QC_BYTES,
    QC_ENUM,
    QC_MESSAGE
};

enum qc_label { QC_OPTIONAL, QC_REQUIRED, QC_REPEATED };

struct qc_enum_value {
    const char *name;
    int32_t number;
    const char *doc;
};

struct qc_enumeration {
    const char *name;
    const struct qc_enum_value *values;
    size_t count;
};

/* Dialect marks; a field without a mark stands in all of them. */
enum qc_dialect {
    QC_UNION,
    QC_MINDSPORE,
    QC_PYTORCH,
    QC_ONNX,
    QC_CAFFE,
    QC_TENSORFLOW
};

struct qc_field {
    const char *name;
    uint32_t number;
    enum qc_label label;
    enum qc_type type;
    const struct qc_message *message;    /* type QC_MESSAGE                 */
    const struct qc_enumeration *values; /* type QC_ENUM                    */
    const char *choice;                  /* name of its oneof, or null      */
    const char *default_text;            /* as in the .proto, or null       */
    const char *range;                   /* "(0.5, 1]", "{4, 8}", or null   */
    unsigned dialects;                   /* bit per enum qc_dialect, 0: all */
    bool unsupported;                    /* known to AMCT, not served here  */
    bool inline_keys;                    /* JSON: unknown keys are entries  */
    bool is_map;                         /* entries of a map<>: key, value  */
    const char *doc;
    size_t offset; /* of the member in struct M       */
};

struct qc_message {
    const char *name;
    const char *doc;
    const struct qc_field *fields; /* in the order of the .proto */
    size_t count;
    size_t size; /* sizeof(struct M)           */
};

/* One value as written, checked against its field. */
struct qc_value {
    bool set;
    bool poisoned;          /* reported already: use nothing of it          */
    struct qc_str text;     /* as written; a string's text after unescaping */
    struct qc_loc loc;      /* of the value                                 */
    struct qc_loc name_loc; /* of the field name (the list's, in a list)    */
    union {
        bool b;
        int64_t i;  /* QC_INT32, QC_INT64                           */
        uint64_t u; /* QC_UINT32, QC_UINT64                         */
        double f;   /* QC_FLOAT: the binary64 before the cast       */
        int32_t e;  /* QC_ENUM: the number                          */
    } as;
};

struct qc_values {
    struct qc_value *at;
    size_t count;
};

/* ---- schema.c ---- */

const struct qc_field *qc_find_field(const struct qc_message *m,
                                     struct qc_str name);
const struct qc_field *qc_find_number(const struct qc_message *m,
                                      uint32_t number);
const struct qc_enum_value *qc_find_enum(const struct qc_enumeration *e,
                                         struct qc_str name);
const struct qc_enum_value *qc_find_enum_number(const struct qc_enumeration *e,
                                                int32_t number);
/* Whether a dialect has the field (enum qc_dialect). */
bool qc_field_in(const struct qc_field *f, int dialect);
/* "string", "float", "enum FMRQuantize.CalibrationDataType": the type's name
 * in a .proto. */
const char *qc_type_name(const struct qc_field *f);
/* One line of help: "clip_min (float, below 0): lower bound of the clip
 * range". */
const char *qc_field_help(struct qc *qc, const struct qc_field *f);

/* A range of a .proto: "(0.5, 1]", "[1, inf)", "{4, 6, 7, 8}". */
#define QC_RANGE_MEMBERS 8
struct qc_range {
    double low, high; /* an interval; infinite: no bound   */
    bool open_low, open_high;
    double member[QC_RANGE_MEMBERS]; /* a set, when count is not 0        */
    unsigned count;
};

/* False when the text is malformed or the interval empty. out may be null. */
bool qc_range_parse(const char *range, struct qc_range *out);
/* False for NaN and for infinities. */
bool qc_range_has(const struct qc_range *r, double v);
/* True without a range; false for NaN and for infinities. Bounds and value are
 * binary64, each the one nearest to its decimal text: the comparison agrees
 * with that of the texts, up to 15 digits. */
bool qc_in_range(const char *range, double v);
/* "below 0", "in (0.5, 1]", "4, 6, 7 or 8", "from 1 to 4294967295". */
const char *qc_range_words(struct qc *qc, const char *range);

/* ---- wire.c ---- */

/* Limits of the wire format; each has a test. */
#define QC_MAX_WIRE_DEPTH 100u       /* messages inside messages */
#define QC_MAX_WIRE_NODES (2u << 20) /* values of a file         */

/* Reads a file in protobuf's wire format as message m. Fields that m does not
 * have are skipped. In the tree a message is a group; a string, bytes and a
 * packed list are a QC_TEXT that is a slice of the file; a number is a
 * QC_NUMBER with its bits. Reports the first fault and returns null: behind it
 * nothing in the file has a meaning. */
struct qc_node *qc_parse_wire(struct qc *qc, struct qc_file *f,
                              const struct qc_message *m);
/* One varint at *at; false when it is cut off or longer than 64 bits. */
bool qc_varint(struct qc_str s, size_t *at, uint64_t *v);

#endif
