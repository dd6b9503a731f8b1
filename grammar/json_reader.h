/* What the JSON scanner and parser share: the state of one reading and the
 * builders that their actions call. json.l cuts characters into words,
 * json_reader.c decides what a word is at its place, json.y puts them
 * together.
 *
 * The parser sees balanced brackets only: a wrong closing bracket is reported
 * and exchanged, missing ones are added at the end of the file. */
#ifndef QC_JSON_READER_H
#define QC_JSON_READER_H

#include "qc.h"

#define JSON_MAX_VALUES (4u << 20) /* of a file: half a gigabyte of tree */

/* A key or string as the scanner found it. */
struct json_word {
    struct qc_str text; /* unescaped */
    bool poisoned;      /* reported already */
};

struct json_bracket {
    char open, close;
    struct qc_loc loc;
    struct qc_str key; /* of the value it begins; empty: none */
};

struct json_reader {
    struct qc *qc;
    struct qc_file *file;
    const char *base; /* the scanner's copy of the text */
    struct qc_node *root;
    struct json_bracket open[QC_MAX_DEPTH];
    unsigned depth;
    bool begun;        /* a token has been read                           */
    bool colon_due;    /* the ':' of the last key has not been scanned */
    bool value_due;    /* in an object: a value must follow, not a key    */
    bool done;         /* the value of the file is complete               */
    bool damaged;      /* a bracket was wrong: none is missed at the end  */
    bool swallowed;    /* some may lie in a broken string: trust none     */
    struct qc_str key; /* the last key                                    */
    struct qc_loc end; /* the bracket that ended the value of the file    */
    bool held;         /* a key waits until the lists around it are closed */
    struct json_word held_word;
    struct qc_loc held_loc;
    uint32_t values;
    struct qc_diag *comment; /* the first */
    size_t comments;
};

enum json_last { JSON_NONE, JSON_ITEM, JSON_COMMA, JSON_DOTS };

/* Members of an object or elements of a list, while they are read. Small: the
 * parser copies it with every token. */
struct json_items {
    struct qc_node *node; /* the group or list                      */
    uint32_t at, len;     /* of the last item or comma              */
    uint8_t last;         /* enum json_last                         */
    bool bad;             /* reported after the last good item      */
};

/* ---- json_reader.c: text and places ---- */

struct qc_str json_text(const struct json_reader *r, struct qc_loc loc);
struct qc_loc json_part(struct qc_loc loc, size_t from, size_t len);
/* As messages show it. */
const char *json_shown(const struct json_reader *r, struct qc_loc loc);
/* A key: always in quotes. */
const char *json_quoted(const struct json_reader *r, struct qc_str key);
/* For "found ...". */
const char *json_found(const struct json_reader *r, struct qc_loc loc);
/* The first character. */
uint32_t json_code(const struct json_reader *r, struct qc_loc loc);

/* ---- for the scanner: each returns the token, END also after a fatal fault;
 * *loc may become that of a bracket which goes before the word ---- */

#define JSON_NO_TOKEN (-1)

/* The key that was held back, or a bracket before it. */
int json_held(struct json_reader *r, struct json_word *out, struct qc_loc *loc);
/* A scalar that may turn out to be a key. */
int json_take_scalar(struct json_reader *r, struct json_word *w,
                     struct qc_loc *loc, int token);
/* ---- json_string.c ---- */

/* loc: the word with its quotes. Plain: no escapes, no control characters. */
int json_plain_string(struct json_reader *r, struct json_word *out,
                      struct qc_loc *loc);
int json_string(struct json_reader *r, struct json_word *out,
                struct qc_loc *loc);
int json_unterminated(struct json_reader *r, struct json_word *out,
                      struct qc_loc *loc);
int json_torn(struct json_reader *r, struct json_word *out, struct qc_loc *loc);
int json_single_quoted(struct json_reader *r, struct json_word *out,
                       struct qc_loc *loc);
int json_curly_quoted(struct json_reader *r, struct json_word *out,
                      struct qc_loc *loc);
/* ---- json_reader.c ---- */

int json_number(struct json_reader *r, struct json_word *out,
                struct qc_loc *loc);
int json_bad_number(struct json_reader *r, struct json_word *out,
                    struct qc_loc *loc);
int json_literal(struct json_reader *r, struct json_word *out,
                 struct qc_loc *loc);
int json_bare_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *loc);
int json_dots(struct json_reader *r, struct json_word *out, struct qc_loc *loc);
int json_wide_word(struct json_reader *r, struct json_word *out,
                   struct qc_loc *loc);
/* A full-width character: the token of its ASCII twin. */
int json_wide_char(struct json_reader *r, struct qc_loc loc);
int json_open(struct json_reader *r, struct qc_loc loc, char open);
int json_close(struct json_reader *r, struct qc_loc loc, char close);
int json_mark(struct json_reader *r, int token);
int json_end(struct json_reader *r, struct qc_loc *loc);
int json_garbage(struct json_reader *r, struct qc_loc loc);
/* Brackets may have been lost in a broken string or comment. */
void json_swallowed(struct json_reader *r);
void json_comment(struct json_reader *r, struct qc_loc loc, bool closed);
void json_bad_chars(struct json_reader *r, struct qc_loc loc);
void json_control_chars(struct json_reader *r, struct qc_loc loc);

/* ---- json_tree.c: for the parser ---- */

struct qc_node *json_scalar(struct json_reader *r, enum qc_node_kind kind,
                            struct json_word w, struct qc_loc loc);
struct json_items json_items(struct json_reader *r, enum qc_node_kind kind,
                             struct qc_loc open);
/* A member; the value is null where none could be read. */
struct json_items json_member(struct json_reader *r, struct json_items items,
                              struct json_word key, struct qc_loc key_loc,
                              struct qc_node *value);
/* A member without a value; `at` stands in its place. */
struct json_items json_no_value(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at);
/* A member whose key lacks its ':'; `at` stands in its place. */
struct json_items json_no_colon(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at);
/* Something between ':' and the value. */
void json_before_value(struct json_reader *r, struct json_word key,
                       struct qc_loc junk);
/* A value where a key is needed. */
struct json_items json_stray(struct json_reader *r, struct json_items items,
                             struct qc_node *value, struct qc_loc loc);
struct json_items json_element(struct json_reader *r, struct json_items items,
                               struct qc_node *value, struct qc_loc loc);
struct json_items json_comma(struct json_reader *r, struct json_items items,
                             struct qc_loc loc);
struct json_items json_ellipsis(struct json_items items, struct qc_loc loc);
/* A sign that can stand nowhere. */
struct json_items json_junk(struct json_reader *r, struct json_items items,
                            struct qc_loc loc);
struct qc_node *json_closed(struct json_reader *r, struct json_items items,
                            struct qc_loc close);
/* The file has no value. */
void json_no_document(struct json_reader *r);
/* A token that the grammar has no rule for. */
void json_unexpected(struct json_reader *r, struct qc_loc loc);

#endif
