/* What grammar/proto.y makes of a .proto file, and the builders it calls.
 * gen/schemac.c implements them and resolves the names. */
#ifndef QC_PROTO_TREE_H
#define QC_PROTO_TREE_H

#include "qc.h"

/* A token and the comment right above it. A string's text is unescaped. */
struct proto_word {
    struct qc_str text;
    struct qc_loc loc;
    struct qc_str doc;
    bool quoted;
};

struct proto_option {
    struct proto_word name; /* "default", "qc.range"   */
    bool custom;            /* was written in brackets */
    struct proto_word value;
    struct proto_option *next;
};

struct proto_value {
    struct proto_word name;
    int32_t number;
    struct proto_value *next;
};

struct proto_enum {
    struct proto_word name;
    struct qc_str full;  /* "qc.calib.FMRQuantize.CalibrationDataType" */
    struct qc_str cname; /* "FMRQuantize_CalibrationDataType"          */
    struct proto_value *values, **values_end;
    struct proto_enum *next;
};

struct proto_field {
    struct qc_str doc;
    enum { PROTO_OPTIONAL, PROTO_REQUIRED, PROTO_REPEATED } label;
    struct proto_word type;
    struct proto_word map_key; /* type of the key; empty: no map */
    struct proto_word name;
    uint32_t number;
    struct qc_str choice; /* its oneof, or empty */
    struct proto_option *options;
    const struct proto_message *message; /* resolved type */
    const struct proto_enum *values;
    const char *scalar; /* "QC_BOOL" ... */
    struct proto_field *next;
};

struct proto_message {
    struct proto_word name;
    struct qc_str full, cname;
    bool extension; /* an extend block: its fields are options */
    bool entry;     /* made for a map                           */
    struct proto_field *fields, **fields_end;
    size_t count;
    struct proto_message *parent;
    struct proto_message *next;
};

/* All files of one run. */
struct proto {
    struct qc *qc;
    struct qc_file *file;         /* being read                        */
    struct qc_str package;        /* of that file                      */
    struct proto_message *scope;  /* open message, or null             */
    struct proto_enum *open_enum; /*                                   */
    struct qc_str choice;         /* open oneof                        */
    struct qc_str doc;            /* scanner: comment so far           */
    uint32_t at;                  /* scanner: offset of the next token */
    struct proto_message *messages, **messages_end;
    struct proto_enum *enums, **enums_end;
    size_t errors;
};

void proto_error(struct proto *p, struct qc_loc loc, const char *fmt, ...)
    QC_PRINTF(3, 4);
void proto_syntax(struct proto *p, struct proto_word version);
void proto_package(struct proto *p, struct proto_word name);
void proto_open_message(struct proto *p, struct proto_word name,
                        struct qc_str doc);
void proto_open_extend(struct proto *p, struct proto_word name);
void proto_close_message(struct proto *p);
void proto_open_enum(struct proto *p, struct proto_word name,
                     struct qc_str doc);
void proto_close_enum(struct proto *p);
void proto_add_value(struct proto *p, struct proto_word name,
                     struct proto_word number);
/* `label` carries the comment; in a choice the type does. */
void proto_add_field(struct proto *p, struct proto_word label,
                     struct proto_word type, struct proto_word name,
                     struct proto_word number, struct proto_option *options);
void proto_add_choice(struct proto *p, struct proto_word type,
                      struct proto_word name, struct proto_word number,
                      struct proto_option *options);
void proto_add_map(struct proto *p, struct proto_word map,
                   struct proto_word key, struct proto_word value,
                   struct proto_word name, struct proto_word number,
                   struct proto_option *options);
struct proto_option *proto_option(struct proto *p, struct proto_word name,
                                  bool custom, struct proto_word value);
/* The text from `start` to the end of `last` as one word. */
struct proto_word proto_join(struct proto *p, struct qc_loc start,
                             struct proto_word last);
/* Two string literals as one. */
struct proto_word proto_concat(struct proto *p, struct proto_word a,
                               struct proto_word b);

/* Reads one file; false when it has a syntax error. */
bool qc_parse_proto(struct proto *p, struct qc_file *file);

#endif
