/* quantc calibrate: the enabled layers of a plan, with the scales of their
 * weights (ARQ) and the search for the scale of their inputs. */
#include "calibrate.h"

#include "weights.h"

#include "qrt_f32.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 256

/* First limits of training: IFMR with its built-in values. */
#define ULQ_START      0.7
#define ULQ_END        1.3
#define ULQ_STEP       0.01
#define ULQ_PERCENTILE 0.999999

/* ---- options ---- */

unsigned qc_calib_threads(const struct qc_calib_options *o)
{
    char *end;
    long n;

    if (!o->threads)
        return 1;
    errno = 0;
    n = strtol(o->threads, &end, 10);
    return errno || *end || n < 1 || n > THREADS_MAX ? 0 : (unsigned)n;
}

const char *qc_calib_options_fault(const struct qc_calib_options *o, bool merge)
{
    if (!qc_calib_threads(o))
        return "-j is a number of threads from 1 to 256";
    if (merge)
        return NULL;
    if (!o->data)
        return "--data DIR is missing";
    if (o->partial && (o->out || o->report))
        return "-o and --report belong to 'quantc merge' when there is "
               "--partial";
    if (o->resume && !o->partial)
        return "--resume needs --partial: only shards come back";
    return NULL;
}

/* ---- weights ---- */

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static void warn_flat(struct qc *qc, const struct qc_row *row, uint32_t count)
{
    if (count)
        qc_report(qc, QC_DATA_FLAT, row->layer->loc,
                  "%lu weight scale%s of layer '%s' would be 0 or nearly: 1 is "
                  "taken",
                  (unsigned long)count, count == 1 ? "" : "s",
                  qc_shown(qc, row->layer->name));
}

static bool arq(struct qc *qc, const struct qc_row *row,
                const struct qc_weights *w, struct qc_search *s)
{
    bool per_channel = row->channel_wise.i && w->channels > 1;
    size_t n = per_channel ? w->channels : 1, i;
    float *scale = qc_alloc(qc, n * sizeof(*scale));
    int32_t *offset = qc_alloc(qc, n * sizeof(*offset));
    uint32_t degenerate = 0;
    enum qrt_status st =
        qrt_arq_f32_scale(w->w, &w->shape, s->wts_bits, per_channel, false,
                          scale, offset, &degenerate);

    if (st != QRT_OK) {
        qc_report(qc, QC_DATA_UNUSABLE, row->layer->weight->loc,
                  "the weights of layer '%s' have no scale: %s",
                  qc_shown(qc, row->layer->name),
                  st == QRT_ERR_NOT_FINITE ? "one of them is not finite"
                                           : qrt_status_name(st));
        return false;
    }
    warn_flat(qc, row, degenerate);
    s->count_w = (uint32_t)n;
    s->scale_w = qc_alloc(qc, n * sizeof(*s->scale_w));
    for (i = 0; i < n; i++)
        s->scale_w[i] = bits_of(scale[i]);
    s->weights = 1;
    return true;
}

/* Pooling has no weights: its one factor is 1. */
static void no_weights(struct qc *qc, struct qc_search *s)
{
    s->count_w = 1;
    s->scale_w = qc_alloc(qc, sizeof(*s->scale_w));
    s->scale_w[0] = bits_of(1.0f);
}

static void find_scale_w(struct qc *qc, const struct qc_row *row,
                         struct qc_search *s)
{
    size_t before = qc_error_count(qc);
    const struct qc_weights *w;

    if (row->layer->op == QRT_OP_AVGPOOL) {
        no_weights(qc, s);
        return;
    }
    w = qc_layer_weights(qc, row);
    if (w)
        arq(qc, row, w, s);
    else if (qc_error_count(qc) == before)
        qc_report(qc, QC_DATA_NO_WEIGHTS, row->layer->loc,
                  "the model holds no weights of layer '%s'",
                  qc_shown(qc, row->layer->name));
}

/* ---- the search ---- */

static bool skips_fusion(const struct qc_plan *p, const struct qc_layer *l)
{
    size_t i;

    for (i = 0; i < p->skip_fusion_count; i++)
        if (qc_find_layer(p->model, p->skip_fusion[i]->text) == l)
            return true;
    return false;
}

static void set_ranges(struct qc_search *s, const struct qc_row *row)
{
    bool ulq = s->algo == QC_ULQ;

    s->range_start = ulq ? ULQ_START : row->search_range_start.f;
    s->range_end = ulq ? ULQ_END : row->search_range_end.f;
    s->step = ulq ? ULQ_STEP : row->search_step.f;
    s->max_percentile = ulq ? ULQ_PERCENTILE : row->max_percentile.f;
    s->min_percentile = ulq ? ULQ_PERCENTILE : row->min_percentile.f;
}

static void describe(struct qc *qc, const struct qc_plan *p,
                     const struct qc_row *row, struct qc_search *s)
{
    s->name = row->layer->name;
    s->algo = row->act_algo;
    s->act_bits = (uint32_t)row->act_bits.i;
    s->wts_bits = (uint32_t)row->wts_bits.i;
    s->channel_wise = row->channel_wise.i != 0;
    s->skip_fusion = skips_fusion(p, row->layer);
    s->asymmetric = row->asymmetric.i != 0;
    s->fixed_min = s->algo == QC_ULQ && row->fixed_min.i;
    s->settings = qc_settings_crc32(p, row);
    if (s->algo == QC_HFMG)
        s->bins = (uint32_t)row->num_of_bins.i;
    else
        set_ranges(s, row);
    if (s->algo != QC_HFMG && !qc_calib_ratio_count(s))
        qc_report(qc, QC_LIM_CANDIDATES, row->search_step.loc,
                  "'search_step' %.*s makes no number of candidates from 1 to "
                  "65535 between %.*s and %.*s",
                  QC_ARG(row->search_step.text),
                  QC_ARG(row->search_range_start.text),
                  QC_ARG(row->search_range_end.text));
    find_scale_w(qc, row, s);
}

/* ULQ whose clips are given needs no samples. */
static void take_clips(struct qc *qc, const struct qc_row *row,
                       struct qc_calib_layer *l)
{
    if (l->search.algo != QC_ULQ || !row->clip_max.set)
        return;
    l->stage = QC_FOUND;
    if (!qc_calib_ulq(&l->search, (float)row->clip_max.f,
                      (float)row->clip_min.f, &l->found))
        qc_report(qc, QC_DATA_UNUSABLE, row->clip_max.loc,
                  "the clips of layer '%s' have no step",
                  qc_shown(qc, row->layer->name));
}

static int by_layer(const void *a, const void *b)
{
    const struct qc_row *x = ((const struct qc_calib_layer *)a)->row;
    const struct qc_row *y = ((const struct qc_calib_layer *)b)->row;

    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

static struct qc_calib *begin(struct qc *qc, const struct qc_plan *p,
                              const struct qc_calib_options *o)
{
    struct qc_calib *c = qc_alloc(qc, sizeof(*c));
    size_t i;

    c->qc = qc;
    c->config = qc_origin_of(p->config);
    c->model = qc_origin_of(p->model->file);
    c->batch_num = (uint32_t)p->batch_num.i;
    c->exact_loss = o->exact_loss;
    c->layers = qc_alloc(qc, (p->count + 1) * sizeof(*c->layers));
    for (i = 0; i < p->count; i++)
        if (p->rows[i].enabled.i)
            c->layers[c->count++].row = &p->rows[i];
    if (c->count)
        qsort(c->layers, c->count, sizeof(*c->layers), by_layer);
    for (i = 0; i < c->count; i++) {
        describe(qc, p, c->layers[i].row, &c->layers[i].search);
        take_clips(qc, c->layers[i].row, &c->layers[i]);
    }
    return c;
}

/* ---- samples ---- */

/* batch_num says how many batches count: the first ones. A shard does not know
 * of the others and takes all it has. */
static const struct qc_batches *limit(struct qc *qc, const struct qc_batches *b,
                                      uint32_t batch_num)
{
    struct qc_batches *few;
    size_t i;

    if (b->count <= batch_num)
        return b;
    few = qc_alloc(qc, sizeof(*few));
    few->at = b->at;
    few->count = batch_num;
    for (i = 0; i < few->count; i++)
        few->samples += b->at[i].count;
    return few;
}

/* One message for all layers: they mostly have the same batches. */
static void report_batches(struct qc_calib *c, const struct qc_plan *p,
                           const struct qc_calib_layer *l, size_t have)
{
    const struct qc_setting *s = &p->batch_num;
    struct qc_loc at = s->loc;
    struct qc_diag *d;

    if (!at.file)
        at = (struct qc_loc){p->config ? p->config : p->model->file, 0, 0};
    if (have > c->batch_num)
        d = qc_report(c->qc, QC_DATA_BATCHES, at,
                      "'batch_num' is %lu: %zu of the %zu batches of layer "
                      "'%s' are not used",
                      (unsigned long)c->batch_num, have - c->batch_num, have,
                      qc_shown(c->qc, l->search.name));
    else
        d = qc_report(c->qc, QC_DATA_FEW_BATCHES, at,
                      "'batch_num' is %lu, layer '%s' has %zu batch%s",
                      (unsigned long)c->batch_num,
                      qc_shown(c->qc, l->search.name), have,
                      have == 1 ? "" : "es");
    qc_help(c->qc, d, "a batch is one .npy file");
}

static void report_missing(struct qc_calib *c, const struct qc_calib_layer *l,
                           const char *where)
{
    struct qc_diag *d = qc_report(c->qc, QC_DATA_MISSING, l->row->layer->loc,
                                  "no samples of the input of layer '%s'",
                                  qc_shown(c->qc, l->search.name));

    qc_help(c->qc, d, "%s", where ? where : "its files hold no elements");
}

static void find_samples(struct qc_calib *c, const struct qc_plan *p,
                         const struct qc_calib_options *o)
{
    struct qc_calib_data *d = qc_calib_data(c->qc, o->data, p->model);
    bool told = o->partial != NULL;
    uint64_t samples = 0;
    size_t i, open = 0;

    for (i = 0; d && i < c->count; i++) {
        struct qc_calib_layer *l = &c->layers[i];
        const struct qc_batches *b;
        const char *where;

        if (l->stage == QC_FOUND)
            continue;
        b = qc_calib_batches(d, l->row->layer, &where);
        if (b && b->count != c->batch_num && !told) {
            report_batches(c, p, l, b->count);
            told = true;
        }
        if (b && !o->partial)
            b = limit(c->qc, b, c->batch_num);
        l->data = b;
        open++;
        samples += b ? b->samples : 0;
        l->batches = b ? b->count : 0;
        if (!o->partial && (where || (b && !b->samples)))
            report_missing(c, l, where);
    }
    if (d && open && !samples && o->partial)
        qc_report(c->qc, QC_DATA_MISSING, (struct qc_loc){p->model->file, 0, 0},
                  "%s has samples of no layer: an empty shard", o->data);
}

static void refuse_hfmg(struct qc_calib *c)
{
    size_t i;

    for (i = 0; i < c->count; i++)
        if (c->layers[i].search.algo == QC_HFMG)
            qc_report(c->qc, QC_DATA_ORDER, c->layers[i].row->layer->loc,
                      "layer '%s' uses hfmg_quantize, which depends on the "
                      "order of batches: it cannot be split into shards",
                      qc_shown(c->qc, c->layers[i].search.name));
}

/* A further round: what all shards together have found so far. */
static void resume(struct qc_calib *c, const char *path, const char *config)
{
    struct qc_file *file;
    struct qc_calib *from = qc_read_partial(c->qc, path, &file);
    struct qc_loc at = {file, 0, 0};
    size_t i;

    if (!from || !qc_same_calibration(from, path, c, config, at))
        return;
    if (!from->round)
        qc_report(c->qc, QC_SHARD_ROUND, at,
                  "this is a shard; --resume takes what 'quantc merge' has "
                  "written");
    c->round = from->round;
    for (i = 0; i < c->count; i++) {
        struct qc_calib_layer *l = &c->layers[i];

        l->stage = from->layers[i].stage;
        l->found = from->layers[i].found;
        l->batches = from->layers[i].batches;
        l->state = from->layers[i].state;
    }
}

/* ---- results ---- */

static void report_fault(struct qc_calib *c, const struct qc_calib_layer *l)
{
    const struct qc_fault *f = &l->fault;
    const char *name = qc_shown(c->qc, l->search.name);
    struct qc_loc at = l->row->layer->loc;
    struct qc_file *file;
    float value;

    if (f->file && f->kind != QC_FAULT_READ) {
        file = qc_load_text(c->qc, f->file->path, "", 0);
        file->binary = true;
        at = (struct qc_loc){file, 0, 0};
    }
    switch (f->kind) {
    case QC_NO_FAULT:
        break;
    case QC_FAULT_READ:
        qc_io_error(c->qc, f->file->path, "read", f->err);
        break;
    case QC_FAULT_NOT_FINITE:
        memcpy(&value, &f->bits, sizeof(value));
        qc_report(c->qc, QC_DATA_NOT_FINITE, at,
                  "layer '%s': element %llu of %llu is %s", name,
                  (unsigned long long)f->index,
                  (unsigned long long)f->file->count,
                  isnan(value) ? "NaN"
                  : value > 0  ? "infinite"
                               : "minus infinite");
        break;
    case QC_FAULT_CHANGED:
        qc_report(c->qc, f->file ? QC_DATA_UNUSABLE : QC_SHARD_ROUND, at,
                  "layer '%s' has not the samples of the pass before", name);
        break;
    case QC_FAULT_FULL:
        qc_report(c->qc, QC_DATA_UNUSABLE, at,
                  "layer '%s' has more than 4294967295 samples", name);
        break;
    case QC_FAULT_STEP:
        qc_report(c->qc, QC_DATA_UNUSABLE, at,
                  "the samples of layer '%s' are too large for binary32", name);
        break;
    case QC_FAULT_STATE:
        qc_report(c->qc, QC_SHARD_DAMAGED, at,
                  "the state of layer '%s' cannot be used", name);
        break;
    }
}

void qc_calib_review(struct qc_calib *c, struct qc_loc at)
{
    size_t i;

    for (i = 0; i < c->count; i++) {
        const struct qc_calib_layer *l = &c->layers[i];

        /* Places tell the messages apart. */
        if (l->row)
            at = l->row->layer->loc;
        else
            at.at = (uint32_t)i;
        if (l->stage == QC_NO_SAMPLES && !l->row)
            qc_report(c->qc, QC_DATA_MISSING, at,
                      "no shard has samples of the input of layer '%s'",
                      qc_shown(c->qc, l->search.name));
        if (l->stage == QC_FOUND && l->found.degenerate)
            qc_report(c->qc, QC_DATA_FLAT, at,
                      "all samples of layer '%s' are zero, or nearly: its "
                      "scale is 1",
                      qc_shown(c->qc, l->search.name));
    }
}

void qc_calib_write(struct qc_calib *c, const struct qc_calib_options *o)
{
    const char *path = o->out ? o->out : "record.txt";
    struct qc_out *outs[2];
    size_t n = 0;

    outs[n] = qc_out_new(c->qc, strcmp(path, "-") == 0 ? NULL : path);
    qc_emit_record(outs[n++], c);
    if (o->report) {
        outs[n] = qc_out_new(c->qc, o->report);
        qc_emit_calib_report(outs[n++], c);
    }
    qc_commit(outs, n);
}

static bool good(const struct qc *qc)
{
    return !qc_error_count(qc) && !qc->io_failed;
}

static bool prepare(struct qc_calib *c, const struct qc_plan *p,
                    const struct qc_calib_options *o)
{
    if (o->partial)
        refuse_hfmg(c);
    if (o->resume && good(c->qc))
        resume(c, o->resume, p->config ? p->config->name : "the command line");
    if (good(c->qc))
        find_samples(c, p, o);
    return good(c->qc);
}

void qc_calibrate(struct qc *qc, const struct qc_plan *plan,
                  const struct qc_calib_options *o)
{
    struct qc_calib *c = begin(qc, plan, o);
    struct qc_out *out;
    size_t i;

    if (!prepare(c, plan, o))
        return;
    qc_calib_run(c, qc_calib_threads(o), o->partial != NULL, o->stats);
    for (i = 0; i < c->count; i++)
        report_fault(c, &c->layers[i]);
    qc_calib_review(c, (struct qc_loc){NULL, 0, 0});
    if (!good(qc))
        return;
    if (o->partial) {
        out = qc_out_new(qc, o->partial);
        qc_put_partial(out, c);
        qc_commit(&out, 1);
    } else {
        qc_calib_write(c, o);
    }
}
