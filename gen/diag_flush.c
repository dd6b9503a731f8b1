/* The end of a run: diagnostics in the order of their places, one for a place,
 * in the form that was asked for. */
#include "qc.h"

#include <stdio.h>
#include <string.h>

static bool after(const struct qc_diag *a, const struct qc_diag *b)
{
    return a->loc.at != b->loc.at ? a->loc.at > b->loc.at : a->seq > b->seq;
}

static struct qc_diag *merge(struct qc_diag *a, struct qc_diag *b)
{
    struct qc_diag *head = NULL, **end = &head;

    while (a && b) {
        struct qc_diag **least = after(a, b) ? &b : &a;

        *end = *least;
        end = &(*least)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return head;
}

static struct qc_diag *sort(struct qc_diag *list)
{
    struct qc_diag *slow = list, *fast, *half;

    if (!list || !list->next)
        return list;
    for (fast = list->next; fast && fast->next; fast = fast->next->next)
        slow = slow->next;
    half = slow->next;
    slow->next = NULL;
    return merge(sort(list), sort(half));
}

static bool same_check(const struct qc_diag *a, const struct qc_diag *b)
{
    return strcmp(qc_key_name(a->key), qc_key_name(b->key)) == 0;
}

/* Whether an earlier diagnostic of the same place makes this one superfluous:
 * a second error, or a warning of a check that has spoken. */
static bool is_repeated(const struct qc_diag *first, const struct qc_diag *d)
{
    const struct qc_diag *e;

    for (e = first; e != d; e = e->next) {
        if (d->severity >= QC_ERROR ? e->severity >= QC_ERROR
                                    : same_check(e, d))
            return true;
    }
    /* A warning may stand before the error of its own check. */
    for (e = d->next; d->severity < QC_ERROR && e && e->loc.at == d->loc.at;
         e = e->next)
        if (e->severity >= QC_ERROR && same_check(e, d))
            return true;
    return false;
}

static void drop_repeated(struct qc_file *f)
{
    struct qc_diag **p = &f->diags;
    const struct qc_diag *first = f->diags;

    while (*p) {
        struct qc_diag *d = *p;

        if (first->loc.at != d->loc.at)
            first = d;
        if (d == first || !is_repeated(first, d)) {
            p = &d->next;
            continue;
        }
        if (d->severity >= QC_ERROR)
            f->errors--;
        else
            f->warnings--;
        *p = d->next;
    }
}

static void write_all(struct qc *qc)
{
    const struct qc_file *f;

    if (qc->diag_format == QC_DIAG_SARIF && qc_sarif_diags(qc))
        return;
    for (f = qc->files; f; f = f->next) {
        if (qc->diag_format == QC_DIAG_TEXT)
            qc_print_diags(qc, f);
        else
            qc_json_diags(qc, f);
    }
}

enum qc_exit qc_flush(struct qc *qc)
{
    bool errors = false;
    struct qc_file *f;

    for (f = qc->files; f; f = f->next) {
        f->diags = sort(f->diags);
        drop_repeated(f);
        errors = errors || f->errors;
    }
    write_all(qc);
    for (f = qc->files; f; f = f->next) {
        f->diags = NULL; /* printed once */
        f->diags_end = &f->diags;
        f->kept = 0;
    }
    fflush(stderr);
    if (qc->out_of_memory)
        return QC_EXIT_FATAL;
    if (qc->io_failed)
        return QC_EXIT_IO;
    return errors ? QC_EXIT_INPUT : QC_EXIT_OK;
}
