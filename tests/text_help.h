/* What the tests of the text format share: reading a text, and the diagnostics
 * of it as "LINE:COL KEY" words. */
#ifndef TEXT_HELP_H
#define TEXT_HELP_H

#include "cmocka_all.h"

#include "bind.h"
#include "parse.h"
#include "schema_tables.h"

#include <stdio.h>

struct reading {
    struct qc qc;
    struct qc_file *file;
    struct qc_node *root;
    void *bound;
};

enum depth { PARSE, BIND, CHECK };

static inline const struct qc_message *text_message(enum qc_kind kind)
{
    return kind == QC_KIND_CALIB     ? &qc_AMCTConfig
           : kind == QC_KIND_RETRAIN ? &qc_AMCTRetrainConfig
           : kind == QC_KIND_RECORD  ? &qc_ScaleOffsetRecord
                                     : &qc_ModelLayers;
}

static inline void read_bytes(struct reading *r, enum qc_kind kind,
                              enum depth depth, bool amct, int dialect,
                              const char *text, size_t size)
{
    memset(r, 0, sizeof(*r));
    qc_diag_init(&r->qc);
    if (amct)
        qc_use_amct_mode(&r->qc);
    r->file = qc_load_text(&r->qc, "quant.cfg", text, size);
    if (qc_check_encoding(&r->qc, r->file))
        r->root = qc_parse_text(&r->qc, r->file);
    if (depth == PARSE || !r->root)
        return;
    r->bound = qc_bind_text(&r->qc, text_message(kind), r->root, dialect);
    if (depth == CHECK)
        qc_check_text(&r->qc, kind, r->bound);
}

static inline void read_text(struct reading *r, enum qc_kind kind,
                             enum depth depth, const char *text)
{
    read_bytes(r, kind, depth, false, QC_UNION, text, strlen(text));
}

/* The diagnostics in the order of the file, at most one for a place. */
static inline const char *said(struct reading *r)
{
    static char all[4096];
    const struct qc_diag *d, *next;
    uint32_t from = 0;
    size_t used = 0;

    all[0] = '\0';
    for (;;) {
        struct qc_position p;

        next = NULL;
        for (d = r->file->diags; d; d = d->next)
            if (d->loc.at >= from && (!next || d->loc.at < next->loc.at))
                next = d;
        if (!next || used + 100 > sizeof(all))
            return all;
        p = qc_position(&r->qc, r->file, next->loc.at);
        used += (size_t)sprintf(
            all + used, "%s%u:%u %s%s", used ? ", " : "", (unsigned)p.line,
            (unsigned)p.col, qc_key_name(next->key),
            next->severity == QC_WARNING ? " (warning)" : "");
        from = next->loc.at + 1;
    }
}

static inline void expect_mode(enum qc_kind kind, enum depth depth, bool amct,
                               const char *text, const char *words)
{
    struct reading r;

    read_bytes(&r, kind, depth, amct, QC_UNION, text, strlen(text));
    if (strcmp(said(&r), words) != 0)
        print_error("%s\n%s\n", text, said(&r));
    assert_string_equal(said(&r), words);
    qc_free_all(&r.qc);
}

/* Reads, compares what was said, and forgets. */
static inline void expect_said(enum qc_kind kind, enum depth depth,
                               const char *text, const char *words)
{
    expect_mode(kind, depth, false, text, words);
}

/* A text made of a head, a piece many times, and a tail. */
static inline char *repeated(const char *head, const char *piece, size_t times,
                             const char *tail)
{
    size_t h = strlen(head), p = strlen(piece), i;
    char *text = malloc(h + p * times + strlen(tail) + 1);

    memcpy(text, head, h);
    for (i = 0; i < times; i++)
        memcpy(text + h + i * p, piece, p);
    strcpy(text + h + p * times, tail);
    return text;
}

#endif
