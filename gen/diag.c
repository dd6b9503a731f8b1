/* Diagnostics: collected here, file by file, so that they can be sorted,
 * taken back and printed in one piece by diag_print.c. */
#include "qc.h"

#include <string.h>

/* Kept per file; beyond it errors are only counted. A hostile file must not
 * fill the memory with messages of which 20 are shown. What the parser finds
 * may be taken back later, so it must not use up all of it. */
#define KEPT_MAX         4096u
#define KEPT_MAX_PARSING 3072u

static const struct {
    const char *key;
    uint8_t normal, amct;
    const char *doc;
} keys[] = {
#define QC_KEY(id, key, normal, amct, doc) {key, QC_##normal, QC_##amct, doc},
#include "keys.def"
#undef QC_KEY
};

void qc_diag_init(struct qc *qc)
{
    size_t i;

    qc->files_end = &qc->files;
    qc->max_errors = QC_MAX_ERRORS;
    for (i = 0; i < QC_KEY_COUNT; i++)
        qc->severity[i] = keys[i].normal;
}

void qc_use_amct_mode(struct qc *qc)
{
    size_t i;

    qc->amct = true;
    for (i = 0; i < QC_KEY_COUNT; i++)
        if (qc->severity[i] == keys[i].normal)
            qc->severity[i] = keys[i].amct;
}

bool qc_set_severity(struct qc *qc, const char *key, enum qc_severity s)
{
    bool found = false;
    size_t i;

    for (i = 0; i < QC_KEY_COUNT; i++) {
        if (strcmp(keys[i].key, key) != 0)
            continue;
        found = true;
        if (qc->severity[i] != QC_FATAL)
            qc->severity[i] = (uint8_t)s;
    }
    return found;
}

const char *qc_key_name(enum qc_key key)
{
    return keys[key].key;
}

const char *qc_key_doc(enum qc_key key)
{
    return keys[key].doc;
}

static enum qc_severity severity_now(const struct qc *qc, enum qc_key key)
{
    enum qc_severity s = (enum qc_severity)qc->severity[key];

    return s == QC_WARNING && qc->werror ? QC_ERROR : s;
}

bool qc_keeps(const struct qc_file *f)
{
    return f->kept < (f->parsing ? KEPT_MAX_PARSING : KEPT_MAX);
}

struct qc_diag *qc_report(struct qc *qc, enum qc_key key, struct qc_loc loc,
                          const char *fmt, ...)
{
    struct qc_file *f = (struct qc_file *)(uintptr_t)loc.file;
    enum qc_severity severity = severity_now(qc, key);
    struct qc_diag *d;
    va_list ap;

    if (severity == QC_IGNORE)
        return NULL;
    if (severity >= QC_ERROR)
        f->errors++;
    else
        f->warnings++;
    if (severity == QC_FATAL)
        f->fatal = true;
    f->seen++;
    if (!qc_keeps(f))
        return NULL;
    f->kept++;
    d = qc_alloc(qc, sizeof(*d));
    d->key = key;
    d->severity = severity;
    d->loc = loc;
    va_start(ap, fmt);
    d->text = qc_vformat(qc, fmt, ap).ptr;
    va_end(ap);
    d->notes_end = &d->notes;
    d->helps_end = &d->helps;
    d->seq = f->seen;
    *f->diags_end = d;
    f->diags_end = &d->next;
    return d;
}

bool qc_is_error(const struct qc_diag *d)
{
    return d && d->severity >= QC_ERROR;
}

static struct qc_note *new_note(struct qc *qc, struct qc_loc loc,
                                struct qc_str text)
{
    struct qc_note *n = qc_alloc(qc, sizeof(*n));

    n->loc = loc;
    n->text = text.ptr;
    return n;
}

void qc_note(struct qc *qc, struct qc_diag *d, struct qc_loc loc,
             const char *fmt, ...)
{
    va_list ap;

    if (!d)
        return;
    va_start(ap, fmt);
    *d->notes_end = new_note(qc, loc, qc_vformat(qc, fmt, ap));
    va_end(ap);
    d->notes_end = &(*d->notes_end)->next;
}

void qc_help(struct qc *qc, struct qc_diag *d, const char *fmt, ...)
{
    va_list ap;

    if (!d)
        return;
    va_start(ap, fmt);
    *d->helps_end = new_note(qc, d->loc, qc_vformat(qc, fmt, ap));
    va_end(ap);
    d->helps_end = &(*d->helps_end)->next;
}

void qc_fix(struct qc *qc, struct qc_diag *d, struct qc_loc loc,
            struct qc_str text)
{
    (void)qc;
    if (!d)
        return;
    d->has_fix = true;
    d->fix_loc = loc;
    d->fix_text = text;
}

static bool kept(enum qc_key key, const enum qc_key *keep)
{
    for (; *keep != QC_KEY_COUNT; keep++)
        if (*keep == key)
            return true;
    return false;
}

/* Whether `at` lies in one of the extents, which are in order. */
static bool covered(const struct qc_extent *e, size_t count, uint32_t at)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (e[mid].from <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low && at < e[low - 1].to;
}

void qc_unreport_all(struct qc *qc, struct qc_file *file,
                     const struct qc_extent *at, size_t count,
                     const enum qc_key *keep)
{
    struct qc_diag **p = &file->diags;

    (void)qc;
    while (*p) {
        struct qc_diag *d = *p;

        if (!covered(at, count, d->loc.at) || kept(d->key, keep)) {
            p = &d->next;
            continue;
        }
        if (d->severity >= QC_ERROR)
            file->errors--;
        else
            file->warnings--;
        file->kept--;
        *p = d->next;
    }
    file->diags_end = p;
}

void qc_unreport(struct qc *qc, struct qc_file *file, uint32_t from,
                 uint32_t to, const enum qc_key *keep)
{
    struct qc_extent one;

    one.from = from;
    one.to = to;
    qc_unreport_all(qc, file, &one, 1, keep);
}

size_t qc_error_count(const struct qc *qc)
{
    const struct qc_file *f;
    size_t n = 0;

    for (f = qc->files; f; f = f->next)
        n += f->errors;
    return n;
}
