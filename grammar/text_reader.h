/* What the parts of the text-format reader share.
 *
 *     text.l         cuts the characters into words
 *     text_faults.c  faults in them
 *     text_reader.c  decides by the neighbours of a word what it is
 *     text.y         how words follow one another
 *     text_errors.c  what to say when they do not
 *     text_tree.c    the tree
 *     text_string.c  values of strings (parse.h) */
#ifndef QC_TEXT_READER_H
#define QC_TEXT_READER_H

#include "parse.h"

/* Deeper brackets stand inside something that no schema has: they are counted,
 * not parsed. */
#define TEXT_DEPTH 64

struct text_word {
    int kind; /* token; 0 at the end of the file */
    uint32_t at, end;
    bool poisoned; /* a fault in it was reported                      */
    bool odd;      /* a name with characters that names do not have   */
    bool dirty;    /* a fault on the same line right before it        */
};

struct text_span {
    uint32_t at, end;
};

struct text_bracket {
    char sign;     /* { < or [                  */
    bool stand_in; /* a parenthesis was written */
};

struct text_reader {
    struct qc *qc;
    struct qc_file *file;
    const char *text; /* of the file */
    void *scanner;
    const char *base; /* the scanner's copy */

    /* text.l: the literal being read. */
    uint32_t string_at;
    bool string_bad, string_cr;
    uint32_t fault_end; /* end of what was reported and dropped last */
    bool comment_cr;    /* a lone CR was reported in a comment       */

    /* text_reader.c: words on their way to the parser. */
    struct text_word now, ahead; /* sent last; scanned already */
    bool has_ahead;
    uint32_t scanned; /* end of the word that was scanned last */
    struct text_bracket open[TEXT_DEPTH];
    unsigned depth;
    bool cut;          /* a list ended without its bracket             */
    bool quoted_name;  /* reported: a name in quotes, once for a file  */
    bool recovering;   /* an error was found in this field             */
    uint32_t line_end; /* ... and the end of its line                 */
    size_t mismatches; /* wrong closing brackets: each may leave a right one
                          over */
    bool conflict;     /* between <<<<<<< and >>>>>>>                  */
    bool stop;         /* another language: nothing of the tree is of use */

    /* The parser's side: the tree under construction. */
    struct qc_node *group[TEXT_DEPTH + 2];
    size_t groups;
    struct qc_str name; /* of the field being read */
    struct qc_loc name_loc;
    bool name_poisoned, colon;
    struct qc_node *last; /* scalar that was built last */
};

/* ---- text.l ---- */

/* The next word as it is written; its kind. */
int text_scan(struct text_word *w, void *scanner);
/* Starts on the whole of r->file. */
void text_scan_start(struct text_reader *r);

/* ---- text_faults.c ---- */

struct qc_loc text_loc(const struct text_reader *r, uint32_t at, uint32_t end);
struct qc_str text_slice(const struct text_reader *r, uint32_t at,
                         uint32_t end);
const char *text_shown(const struct text_reader *r, uint32_t at, uint32_t end);
bool text_has_newline(const struct text_reader *r, uint32_t at, uint32_t end);
/* What stands behind a value on its line leaves the value in doubt: 70%, 1/2.
 * `at`: where that begins. */
void text_doubt(struct text_reader *r, uint32_t at);
/* Each reports one kind of fault; [at, end) is the faulty text. */
void text_bad_chars(struct text_reader *r, uint32_t at, uint32_t end);
void text_control(struct text_reader *r, uint32_t at, uint32_t end);
void text_bad_number(struct text_reader *r, uint32_t at, uint32_t end);
void text_stray_minus(struct text_reader *r, uint32_t at, uint32_t end);
void text_comment_style(struct text_reader *r, uint32_t at, uint32_t end);
void text_comment_end(struct text_reader *r, uint32_t end);
void text_ellipsis(struct text_reader *r, uint32_t at, uint32_t end);
void text_conflict(struct text_reader *r, uint32_t at, uint32_t end);
void text_bad_escape(struct text_reader *r, uint32_t at, uint32_t end);
void text_string_cr(struct text_reader *r, uint32_t at);
void text_unterminated(struct text_reader *r, uint32_t at, uint32_t end);
/* Full-width characters, U+3000, curly quotes: the kind of word that was
 * meant; 0 for a blank. */
int text_wide(struct text_reader *r, uint32_t at, uint32_t end);
void text_curly(struct text_reader *r, uint32_t at, uint32_t end);

/* ---- text_tree.c, for the parser ---- */

void text_field(struct text_reader *r, struct text_word w, bool colon);
void text_no_value(struct text_reader *r);
void text_scalar(struct text_reader *r, enum qc_node_kind kind,
                 struct text_span span, bool poisoned);
void text_open(struct text_reader *r, enum qc_node_kind kind,
               struct text_word bracket);
void text_close(struct text_reader *r, struct text_span bracket);
void text_mismatch(struct text_reader *r, struct text_span bracket);
/* Something else than a comma, or nothing, between two elements: r->now. */
void text_list_fault(struct text_reader *r);
void text_last_comma(struct text_reader *r, struct text_span comma,
                     struct text_span bracket);
/* After an error: back to the group that is number `groups`. */
void text_recover(struct text_reader *r, size_t groups);
/* ---- text_errors.c ---- */

/* What the parser could have taken instead of r->now. */
enum text_want {
    TEXT_WANT_FIELD, /* a field, or the end of the group */
    TEXT_WANT_VALUE,
    TEXT_WANT_COMMA, /* or the end of the list */
    TEXT_WANT_OTHER,
    TEXT_WANT_NOTHING /* faults are only counted by now */
};
void text_syntax_error(struct text_reader *r, enum text_want want);
/* r->now stands where a ',' is needed. */
void text_no_comma(struct text_reader *r);
struct qc_loc text_now(const struct text_reader *r);

#endif
