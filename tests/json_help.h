/* What the tests of config.json share: reading text, and the diagnostics of it
 * as "LINE:COL KEY" words. */
#ifndef JSON_HELP_H
#define JSON_HELP_H

#include "cmocka_all.h"

#include "json.h"
#include "parse.h"
#include "qc.h"

#include <stdio.h>

struct reading {
    struct qc qc;
    struct qc_file *file;
    struct qc_node *root;
    void *bound;
};

enum depth { PARSE, BIND, CHECK };

static void read_json(struct reading *r, enum qc_kind kind, enum depth depth,
                      bool amct, const char *text, size_t size)
{
    memset(r, 0, sizeof(*r));
    qc_diag_init(&r->qc);
    if (amct)
        qc_use_amct_mode(&r->qc);
    r->file = qc_load_text(&r->qc, "config.json", text, size);
    if (qc_check_encoding(&r->qc, r->file))
        r->root = qc_parse_json(&r->qc, r->file);
    if (depth == PARSE || kind == QC_KIND_JSON_SYNTAX || !r->root ||
        r->file->errors)
        return;
    r->bound = qc_bind_json(&r->qc, r->root, kind, QC_UNION);
    if (r->bound && depth == CHECK)
        qc_check_json(&r->qc, r->file, kind, r->bound);
}

/* The diagnostics in the order of the file, at most one for a place. */
static const char *said(struct reading *r)
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

static bool is_said_at(const struct reading *r, enum qc_key key, size_t at)
{
    const struct qc_diag *d;

    for (d = r->file->diags; d; d = d->next)
        if (d->key == key && d->loc.at == at)
            return true;
    return false;
}

/* Applies each fix of a file by itself: its error must be gone. Returns how
 * many there were. */
static size_t try_fixes(enum qc_kind kind, const char *text, size_t size)
{
    const struct qc_diag *d;
    struct reading r, after;
    size_t fixes = 0, at, len;
    char *fixed;

    read_json(&r, kind, CHECK, false, text, size);
    for (d = r.file->diags; d; d = d->next) {
        if (!d->has_fix)
            continue;
        at = d->fix_loc.at;
        len = d->fix_loc.len;
        fixed = malloc(size + d->fix_text.len + 1);
        memcpy(fixed, text, at);
        memcpy(fixed + at, d->fix_text.ptr, d->fix_text.len);
        memcpy(fixed + at + d->fix_text.len, text + at + len, size - at - len);
        read_json(&after, kind, CHECK, false, fixed,
                  size - len + d->fix_text.len);
        if (is_said_at(&after, d->key,
                       d->loc.at < at + len
                           ? d->loc.at
                           : d->loc.at + d->fix_text.len - len))
            fail_msg("the fix does not help: %.*s, %s", (int)size, text,
                     qc_key_name(d->key));
        qc_free_all(&after.qc);
        free(fixed);
        fixes++;
    }
    qc_free_all(&r.qc);
    return fixes;
}

/* Reads, compares what was said, and forgets. */
static void expect_said(enum qc_kind kind, enum depth depth, bool amct,
                        const char *text, const char *words)
{
    struct reading r;

    read_json(&r, kind, depth, amct, text, strlen(text));
    if (strcmp(said(&r), words) != 0)
        print_error("%s\n%s\n", text, said(&r));
    assert_string_equal(said(&r), words);
    qc_free_all(&r.qc);
}

#endif
