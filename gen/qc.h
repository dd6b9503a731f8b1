/* The map of the compiler: every type that files share, and every function
 * under the name of the file that defines it.
 *
 * Flow: source.c maps a file; grammar/ or wire.c turns it into a tree of
 * struct qc_node; bind_*.c checks the tree against a descriptor (schema.h);
 * checks.c looks across fields; model.c reads the network; resolve.c decides
 * for each layer which value wins; lower.c makes integers; emit_*.c write. */
#ifndef QC_QC_H
#define QC_QC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QC_VERSION "0.1.0"

#if defined(__GNUC__)
#define QC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define QC_NORETURN          __attribute__((noreturn))
#else
#define QC_PRINTF(fmt, args)
#define QC_NORETURN
#endif

/* Exit status, diagnostics.md section 3 as docs/guide.md restates it. */
enum qc_exit {
    QC_EXIT_OK = 0,
    QC_EXIT_INPUT = 1,
    QC_EXIT_USAGE = 2,
    QC_EXIT_IO = 3,
    QC_EXIT_FATAL = 4,
    QC_EXIT_AGAIN = 5 /* merge: no record yet, another round is needed */
};

/* Limits; each has a test. */
#define QC_MAX_FILE   (64u << 20) /* bytes of a text input                  */
#define QC_MAX_MODEL  (2u << 30)  /* bytes of a .onnx; protobuf's own limit */
#define QC_MAX_STRING (1u << 20)  /* bytes of a string after unescaping     */
#define QC_MAX_DEPTH  64u         /* JSON nesting                           */
#define QC_MAX_ERRORS 20u         /* shown per file unless --max-errors     */

/* ---- strings and places ---- */

/* A slice: of a mapped file or of the arena. Not NUL-terminated. */
struct qc_str {
    const char *ptr;
    size_t len;
};

/* Behind the last character; an empty slice may have no ptr to add to. */
static inline const char *qc_end(struct qc_str s)
{
    return s.len ? s.ptr + s.len : s.ptr;
}

#define QC_STR(literal) ((struct qc_str){(literal), sizeof(literal) - 1})
#define QC_ARG(s)       (int)(s).len, (s).ptr /* for "%.*s" */

/* A place: byte offset and length in a file. Line and column are computed
 * when somebody asks. file == null: no place (a built-in default). */
struct qc_loc {
    const struct qc_file *file;
    uint32_t at;
    uint32_t len;
};

struct qc_file {
    const char *name; /* as the user gave it                                 */
    const char *text; /* mapped; not NUL-terminated                          */
    size_t size;
    bool binary;     /* .onnx and tensor data: places are byte offsets      */
    bool json;       /* quotes user text with "" instead of ''              */
    bool fatal;      /* a fatal error ended this file                       */
    uint32_t *lines; /* offsets of line starts; built on first use          */
    size_t line_count;
    struct qc_mark {
        uint32_t at, chars;
    } * marks; /* characters before some offsets, for columns      */
    struct qc_diag *diags;
    struct qc_diag **diags_end;
    size_t errors, warnings;
    size_t seen, kept; /* reports ever; those in diags */
    bool parsing;      /* leave room for what comes after the grammar */
    const struct qc_file *data; /* a model's: files of external tensors, each
                                   the next one's                            */
    uint32_t crc;               /* origin.c: over this and data, once known  */
    bool has_crc;
    struct qc_file *next;
};

/* ---- the tree that all readers build ---- */

enum qc_node_kind {
    QC_GROUP,  /* message or JSON object  */
    QC_LIST,   /* [ ... ]                 */
    QC_TEXT,   /* string literal(s)       */
    QC_NUMBER, /* also -inf and the like  */
    QC_WORD,   /* bare word; true, null   */
    QC_MISSING /* text format: a name without a value; loc: what follows */
};

struct qc_node {
    struct qc_node *next;  /* sibling                                      */
    struct qc_node *first; /* children of a group or list                  */
    struct qc_node *last;
    uint32_t count;
    uint32_t end;       /* offset just behind the value                 */
    uint8_t kind;       /* enum qc_node_kind; small, like the rest:     */
                        /* large files have a million nodes             */
    bool poisoned;      /* a fault was reported inside: no more about it */
    bool closed;        /* group, list: has its closing bracket         */
    bool bad_name;      /* the name is a fault that was reported        */
    bool colon;         /* text format: ':' stood before the value      */
    bool torn;          /* group, list: a syntax error took something   */
    bool trailed;       /* scalar: a word that belongs to nothing follows */
    struct qc_str name; /* field name, unescaped key; empty in a list   */
    struct qc_loc name_loc;
    struct qc_str text; /* scalar as written; a string unescaped        */
    struct qc_loc loc;  /* scalar: all of it; group, list: the bracket  */
    uint64_t bits;      /* wire format: varint or fixed value           */
};

/* ---- diagnostics ---- */

enum qc_severity { QC_IGNORE, QC_WARNING, QC_ERROR, QC_FATAL };

/* Every check, one line each in keys.def. */
enum qc_key {
#define QC_KEY(id, key, normal, amct, doc) QC_##id,
#include "keys.def"
#undef QC_KEY
    QC_KEY_COUNT
};

struct qc_diag; /* diag.c */

enum qc_diag_format { QC_DIAG_TEXT, QC_DIAG_JSON, QC_DIAG_SARIF };

/* One run of the program. */
struct qc {
    struct qc_block *blocks; /* arena.c */
    struct qc_file *files;   /* in order of loading */
    struct qc_file **files_end;
    uint8_t severity[QC_KEY_COUNT]; /* enum qc_severity, from mode and -W  */
    bool werror;
    bool amct;         /* --compat amct                               */
    size_t max_errors; /* per file, 0: all                            */
    enum qc_diag_format diag_format;
    bool colour;
    bool io_failed;      /* something could not be read or written      */
    bool out_of_memory;  /* and that was why                            */
    uint64_t map_key[2]; /* str.c: drawn anew in each run               */
};

/* ---- arena.c: memory that is freed at exit; out of memory exits with 4 ---- */

void qc_out_of_memory(void) QC_NORETURN;
void *qc_alloc(struct qc *qc, size_t size); /* zeroed, aligned for anything */
/* Grows an array by doubling; old contents are copied, never freed. */
void *qc_grow(struct qc *qc, void *old, size_t count, size_t *room,
              size_t size);
struct qc_str qc_copy(struct qc *qc, const char *ptr, size_t len);
struct qc_str qc_format(struct qc *qc, const char *fmt, ...) QC_PRINTF(2, 3);
struct qc_str qc_vformat(struct qc *qc, const char *fmt, va_list ap)
    QC_PRINTF(2, 0);
const char *qc_cstr(struct qc *qc, struct qc_str s); /* NUL-terminated copy */
void qc_free_all(struct qc *qc);
/* malloc that does not return null: for cJSON, which otherwise leaves out what
 * it had no memory for. */
void *qc_need(size_t size);

/* ---- str.c ---- */

struct qc_str qc_str(const char *z);
bool qc_equal(struct qc_str a, struct qc_str b);
bool qc_equalz(struct qc_str a, const char *z);
int qc_compare(struct qc_str a, struct qc_str b); /* by byte value */
uint64_t qc_hash(struct qc_str s);
/* Edit distance (with transposition) when it is at most `limit`, else
 * limit + 1. Case, '-' and '_' differences only count 0 ("equal but for
 * spelling"). */
unsigned qc_distance(struct qc_str a, struct qc_str b, unsigned limit);
/* The candidate nearest to `word` within distance 2; empty when there is none
 * or the best is not unique. */
struct qc_str qc_nearest(struct qc_str word, const struct qc_str *names,
                         size_t count);
/* Decodes one UTF-8 sequence at p; length, or 0 when it is malformed. */
unsigned qc_utf8(const char *p, const char *end, uint32_t *code);
/* Characters that are not seen, or turn the text around them: 0x80 to 0x9F,
 * blanks that are no ASCII blank, zero width, directions. Shown as numbers. */
bool qc_invisible(uint32_t code);

/* A set of strings with a value each: for duplicate keys in linear time, even
 * when the keys were made to collide. Only for finding: slots are in no order
 * that a file may be told, it is another one in each run. */
struct qc_map {
    struct qc_map_slot *slots;
    size_t room, count;
    uint64_t key[2];
};
/* The value's place for key, null at first use of the key. */
void **qc_map_at(struct qc *qc, struct qc_map *map, struct qc_str key);
void *qc_map_get(const struct qc_map *map, struct qc_str key);

/* ---- ident.c ---- */

/* A layer name as the tail of a C identifier whose head has prefix_len
 * characters: injective, and a function of this name only. */
struct qc_str qc_ident(struct qc *qc, size_t prefix_len, struct qc_str name);

/* ---- source.c ---- */

/* Maps a file. On failure reports (exit status 3) and returns null. */
struct qc_file *qc_load(struct qc *qc, const char *path, size_t limit);
/* The same for text in memory (tests, built-in input). */
struct qc_file *qc_load_text(struct qc *qc, const char *name, const char *text,
                             size_t size);
/* A file that is not there although the command line names it. */
void qc_io_error(struct qc *qc, const char *path, const char *verb, int err);
/* Characters of a text file: NUL, byte order marks, invalid UTF-8. False after
 * a fatal fault. */
bool qc_check_encoding(struct qc *qc, struct qc_file *file);

struct qc_position {
    uint32_t line;     /* 1-based                        */
    uint32_t col;      /* 1-based, in code points        */
    uint32_t byte_col; /* 1-based, in bytes              */
};
struct qc_position qc_position(struct qc *qc, const struct qc_file *file,
                               uint32_t at);
uint32_t qc_line(struct qc *qc, struct qc_loc loc);
/* The line that holds `at`, without its line feed. */
struct qc_loc qc_line_span(struct qc *qc, const struct qc_file *file,
                           uint32_t at);
/* "quant.cfg:7", or "default" without a place. */
struct qc_str qc_place(struct qc *qc, struct qc_loc loc);

/* ---- diag.c: collects; diag_flush.c: puts into order and writes ---- */

void qc_diag_init(struct qc *qc);
/* Reports with the severity that mode and options give the key. Returns null
 * when it is off or another error stands at the same place; notes and help on
 * null are dropped. A file's text is quoted in '' or "" by the caller. */
struct qc_diag *qc_report(struct qc *qc, enum qc_key key, struct qc_loc loc,
                          const char *fmt, ...) QC_PRINTF(4, 5);
void qc_note(struct qc *qc, struct qc_diag *d, struct qc_loc loc,
             const char *fmt, ...) QC_PRINTF(4, 5);
void qc_help(struct qc *qc, struct qc_diag *d, const char *fmt, ...)
    QC_PRINTF(3, 4);
/* Replacing the text at loc by `text` makes the error go away. */
void qc_fix(struct qc *qc, struct qc_diag *d, struct qc_loc loc,
            struct qc_str text);
/* False when faults of the file are only counted by now. */
bool qc_keeps(const struct qc_file *f);
bool qc_is_error(const struct qc_diag *d); /* false for null and warnings */
/* Takes back what was reported in [from, to) of a file, except for keys in
 * `keep` (ended by QC_KEY_COUNT). */
void qc_unreport(struct qc *qc, struct qc_file *file, uint32_t from,
                 uint32_t to, const enum qc_key *keep);
/* The same for many places, in file order and apart from each other. */
struct qc_extent {
    uint32_t from, to;
};
void qc_unreport_all(struct qc *qc, struct qc_file *file,
                     const struct qc_extent *at, size_t count,
                     const enum qc_key *keep);
/* User text for a message: at most 40 characters, then "..."; control
 * characters and invalid bytes shown as in source lines. */
const char *qc_shown(struct qc *qc, struct qc_str s);
size_t qc_error_count(const struct qc *qc);
/* -W, -E, -Wno-: false when no check has that name. */
bool qc_set_severity(struct qc *qc, const char *key, enum qc_severity s);
void qc_use_amct_mode(struct qc *qc);
const char *qc_key_name(enum qc_key key);
const char *qc_key_doc(enum qc_key key);
/* Writes everything to standard error, file by file; exit status so far. */
enum qc_exit qc_flush(struct qc *qc);

/* ---- diag_print.c, diag_json.c: one way of writing each ---- */

/* Both write a file's diagnostics to standard error, up to max_errors. */
void qc_print_diags(struct qc *qc, const struct qc_file *f);
void qc_json_diags(struct qc *qc, const struct qc_file *f);
/* All files as one SARIF 2.1.0 log; false when built without cJSON. */
bool qc_sarif_diags(struct qc *qc);

/* What they read. */
struct qc_note {
    struct qc_loc loc;
    const char *text;
    struct qc_note *next;
};
struct qc_diag {
    enum qc_key key;
    enum qc_severity severity;
    struct qc_loc loc;
    const char *text;
    struct qc_note *notes, **notes_end; /* with a place */
    struct qc_note *helps, **helps_end; /* without      */
    bool has_fix;
    struct qc_loc fix_loc;
    struct qc_str fix_text;
    size_t seq;
    struct qc_diag *next;
};

/* ---- tree.c: builders, called by the grammars ---- */

struct qc_node *qc_node(struct qc *qc, enum qc_node_kind kind,
                        struct qc_loc loc, struct qc_str text);
struct qc_node *qc_named(struct qc_node *n, struct qc_str name,
                         struct qc_loc loc);
void qc_append(struct qc_node *parent, struct qc_node *child);
struct qc_node *qc_child(const struct qc_node *n, const char *name);
struct qc_loc qc_span(struct qc_loc a, struct qc_loc b);

/* ---- front.c: any input file, read and bound ---- */

enum qc_kind {
    QC_KIND_AUTO,         /* told from the content, else the file name     */
    QC_KIND_CALIB,        /* quant.cfg: struct AMCTConfig                  */
    QC_KIND_RETRAIN,      /* retrain.cfg: struct AMCTRetrainConfig         */
    QC_KIND_RECORD,       /* record.txt: struct ScaleOffsetRecord          */
    QC_KIND_LAYERS,       /* model.layers, layers.json                     */
    QC_KIND_OPTIONS,      /* quantc.options: struct QuantcOptions          */
    QC_KIND_JSON_CALIB,   /* config.json, post-training                    */
    QC_KIND_JSON_RETRAIN, /* config.json, retraining                       */
    QC_KIND_JSON_SYNTAX   /* any JSON text                                 */
};

struct qc_doc {
    enum qc_kind kind;
    struct qc_file *file;
    struct qc_node *root; /* null after a fatal error                      */
    void *bound;          /* the struct of the kind's message; null for
                             QC_KIND_JSON_SYNTAX or after a fatal error    */
};

/* Reads, parses, binds and (unless syntax_only) checks what needs no model.
 * dialect: enum qc_dialect. Null when the file could not be read. */
struct qc_doc *qc_read(struct qc *qc, const char *path, enum qc_kind kind,
                       int dialect, bool syntax_only);
/* "calib" -> QC_KIND_CALIB; QC_KIND_AUTO for null. */
enum qc_kind qc_kind_of_word(const char *word);

#endif
