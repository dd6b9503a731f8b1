/* The searches: every layer's files are streamed through a state of
 * runtime/ifmr_f32.c or a histogram of runtime/hfmg_f32.c. A thread works on
 * one layer at a time with memory of its own; what is found depends on the
 * samples only. */
#define _DEFAULT_SOURCE /* getrusage, clock_gettime */
#include "calibrate.h"
#include "pool.h"

#include "qrt_f32.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PIECE       16384u /* samples read at once            */
#define STATE_ALIGN 8u /* what the searches ask for; 32-bit hosts give less */

/* What a thread owns. */
struct desk {
    void *state;
    size_t state_size;
    float *ratios;
    float *piece;
    uint32_t *counts, *scratch; /* HFMG; null: no layer asks for it */
};

struct run {
    struct qc_calib *calib;
    struct desk *desks;
    size_t *order; /* layers, the largest first          */
    bool partial;
    pthread_mutex_t lock; /* of the arena and of the following */
    uint64_t bytes_read;
    uint64_t bytes; /* in one pass                        */
    struct timespec start;
};

/* ---- small things ---- */

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

uint32_t qc_calib_ratio_count(const struct qc_search *s)
{
    return qrt_ifmr_f32_ratio_count(s->range_start, s->range_end, s->step);
}

void *qc_calib_state(struct qc *qc, size_t size)
{
    char *p = qc_alloc(qc, size + STATE_ALIGN);

    return p + (STATE_ALIGN - (uintptr_t)p % STATE_ALIGN) % STATE_ALIGN;
}

static bool fault(struct qc_calib_layer *l, enum qc_fault_kind kind,
                  const struct qc_npy *file, uint64_t index)
{
    l->fault.kind = kind;
    l->fault.file = file;
    l->fault.index = index;
    return false;
}

static bool read_fault(struct qc_calib_layer *l, const struct qc_npy *file,
                       int err)
{
    l->fault.err = err;
    return fault(l, QC_FAULT_READ, file, 0);
}

static bool not_finite(struct qc_calib_layer *l, const struct qc_npy *file,
                       uint64_t index, float value)
{
    l->fault.bits = bits_of(value);
    return fault(l, QC_FAULT_NOT_FINITE, file, index);
}

static bool status_fault(struct qc_calib_layer *l, const struct qc_npy *file,
                         enum qrt_status st)
{
    return fault(l,
                 st == QRT_ERR_FULL ? QC_FAULT_FULL
                 : st == QRT_ERR_MISMATCH || st == QRT_ERR_SIZE
                     ? QC_FAULT_CHANGED
                 : st == QRT_ERR_NOT_FINITE ? QC_FAULT_STEP
                                            : QC_FAULT_STATE,
                 file, 0);
}

/* ---- streaming ---- */

/* Takes n samples of a file, the first of which is its number `at`. */
typedef bool take_piece(struct qc_calib_layer *l, void *context,
                        const struct qc_npy *file, const float *x, size_t n,
                        uint64_t at);

static void count_bytes(struct run *r, uint64_t n)
{
    pthread_mutex_lock(&r->lock);
    r->bytes_read += n;
    pthread_mutex_unlock(&r->lock);
}

static bool stream_file(struct run *r, struct desk *k, struct qc_calib_layer *l,
                        const struct qc_npy *from, take_piece *take,
                        void *context)
{
    struct qc_npy file = *from;
    int err = qc_npy_reopen(&file);
    uint64_t at;
    bool ok = true;

    if (err)
        return read_fault(l, from, err);
    for (at = 0; ok && at < file.count; at += PIECE) {
        uint64_t left = file.count - at;
        size_t n = left < PIECE ? (size_t)left : PIECE;

        err = qc_npy_fetch(&file, at, k->piece, n);
        ok = err ? read_fault(l, from, err)
                 : take(l, context, from, k->piece, n, at);
        count_bytes(r, n * file.size);
    }
    qc_npy_close(&file);
    return ok;
}

static bool stream_all(struct run *r, struct desk *k, struct qc_calib_layer *l,
                       take_piece *take, void *context)
{
    size_t i;

    for (i = 0; l->data && i < l->data->count; i++)
        if (!stream_file(r, k, l, &l->data->at[i], take, context))
            return false;
    return true;
}

/* ---- IFMR ---- */

static bool take_ifmr(struct qc_calib_layer *l, void *context,
                      const struct qc_npy *file, const float *x, size_t n,
                      uint64_t at)
{
    size_t bad = 0;
    enum qrt_status st = qrt_ifmr_f32_add(context, x, n, &bad);

    if (st == QRT_ERR_NOT_FINITE)
        return not_finite(l, file, at + bad, x[bad]);
    return st == QRT_OK || status_fault(l, file, st);
}

enum qrt_status qc_calib_start(const struct qc_search *s, bool exact_loss,
                               float *ratios, void *state, size_t size)
{
    struct qrt_ifmr_f32_config cfg = {0};

    cfg.bits = s->act_bits;
    cfg.asymmetric = s->asymmetric != 0;
    cfg.exact_loss = exact_loss;
    cfg.ratio_count = qc_calib_ratio_count(s);
    cfg.ratios = ratios;
    cfg.max_percentile = s->max_percentile;
    cfg.min_percentile = s->min_percentile;
    qrt_ifmr_f32_ratios(s->range_start, s->step, cfg.ratio_count, ratios);
    return qrt_ifmr_f32_init(state, size, &cfg);
}

static bool start_ifmr(struct run *r, struct desk *k, struct qc_calib_layer *l)
{
    enum qrt_status st;

    if (l->stage == QC_WAITING)
        st = qrt_ifmr_f32_load(k->state, k->state_size,
                               (const uint8_t *)l->state.ptr, l->state.len);
    else
        st = qc_calib_start(&l->search, r->calib->exact_loss != 0, k->ratios,
                            k->state, k->state_size);
    return st == QRT_OK || status_fault(l, NULL, st);
}

/* The memory of the compiler is not made for threads. */
static void *shared_alloc(struct run *r, size_t size)
{
    void *p;

    pthread_mutex_lock(&r->lock);
    p = qc_alloc(r->calib->qc, size);
    pthread_mutex_unlock(&r->lock);
    return p;
}

static void save(struct run *r, struct desk *k, struct qc_calib_layer *l)
{
    enum qrt_status st;
    uint8_t *out;
    size_t len;

    qrt_ifmr_f32_save(k->state, NULL, 0, &len);
    out = shared_alloc(r, len);
    st = qrt_ifmr_f32_save(k->state, out, len, &len);
    l->state = (struct qc_str){(const char *)out, len};
    l->stage = QC_WAITING;
    if (st != QRT_OK)
        status_fault(l, NULL, st);
}

bool qc_calib_ulq(const struct qc_search *s, float max, float min,
                  struct qc_found *f)
{
    struct qrt_ulq_f32 cfg = {0};
    float scale;

    cfg.bits = s->act_bits;
    cfg.asymmetric = s->asymmetric != 0;
    cfg.fixed_min = s->fixed_min != 0;
    cfg.clip_max_pre = max;
    cfg.clip_min_pre = min;
    if (qrt_ulq_f32_clips(&cfg, &max, &min, &scale, &f->offset) != QRT_OK)
        return false;
    f->scale_bits = bits_of(scale);
    f->clip_max_bits = bits_of(max);
    f->clip_min_bits = bits_of(min);
    return true;
}

bool qc_calib_take(const struct qc_search *s, const void *result,
                   struct qc_found *f)
{
    const struct qrt_ifmr_f32_result *r = result;
    float ratio;

    f->samples = r->samples;
    f->scale_bits = bits_of(r->scale);
    f->offset = r->offset;
    f->clip_max_bits = bits_of(r->clip_max);
    f->clip_min_bits = bits_of(r->clip_min);
    f->max_bits = bits_of(r->max);
    f->min_bits = bits_of(r->min);
    f->data_max_bits = bits_of(r->data_max);
    f->data_min_bits = bits_of(r->data_min);
    f->rank_max = r->rank_max;
    f->rank_min = r->rank_min;
    f->index = r->index;
    f->candidates = qc_calib_ratio_count(s);
    ratio = (float)(s->range_start + (double)r->index * s->step);
    f->ratio_bits = bits_of(ratio);
    f->degenerate = r->degenerate;
    f->loss = r->loss;
    f->loss_error = r->loss_error;
    f->gap = r->gap;
    f->clipped = r->clipped;
    return s->algo != QC_ULQ || qc_calib_ulq(s, r->clip_max, r->clip_min, f);
}

static void observe_ifmr(struct run *r, struct desk *k,
                         struct qc_calib_layer *l)
{
    struct qrt_ifmr_f32_result result;
    enum qrt_status st;

    if (!start_ifmr(r, k, l))
        return;
    do {
        if (!stream_all(r, k, l, take_ifmr, k->state))
            return;
        if (r->partial) {
            save(r, k, l);
            return;
        }
        st = qrt_ifmr_f32_finish(k->state, &result);
        if (st != QRT_OK) {
            status_fault(l, NULL, st);
            return;
        }
    } while (result.again);
    l->stage = QC_FOUND;
    if (!qc_calib_take(&l->search, &result, &l->found))
        status_fault(l, NULL, QRT_ERR_NOT_FINITE);
}

/* ---- HFMG ---- */

struct extremes {
    float max, min;
    bool any;
};

static bool take_extremes(struct qc_calib_layer *l, void *context,
                          const struct qc_npy *file, const float *x, size_t n,
                          uint64_t at)
{
    struct extremes *e = context;
    size_t i;

    for (i = 0; i < n; i++) {
        if (!(x[i] - x[i] == 0.0f))
            return not_finite(l, file, at + i, x[i]);
        if (!e->any || x[i] > e->max)
            e->max = x[i];
        if (!e->any || x[i] < e->min)
            e->min = x[i];
        e->any = true;
    }
    return true;
}

static bool take_counts(struct qc_calib_layer *l, void *context,
                        const struct qc_npy *file, const float *x, size_t n,
                        uint64_t at)
{
    enum qrt_status st = qrt_hfmg_f32_count(context, x, n);

    (void)at;
    return st == QRT_OK || status_fault(l, file, st);
}

static bool observe_batch(struct run *r, struct desk *k,
                          struct qc_calib_layer *l, const struct qc_npy *file,
                          struct qrt_hfmg_f32 *h)
{
    struct extremes e = {0};
    enum qrt_status st;

    if (!file->count)
        return true;
    if (!stream_file(r, k, l, file, take_extremes, &e))
        return false;
    st = qrt_hfmg_f32_widen(h, e.min, e.max);
    return st == QRT_OK ? stream_file(r, k, l, file, take_counts, h)
                        : status_fault(l, file, st);
}

/* Samples in the bins that were given up. */
static double share_outside(const struct qrt_hfmg_f32 *h, uint32_t left,
                            uint32_t right, uint64_t samples)
{
    uint64_t n = 0;
    uint32_t i;

    for (i = 0; i < h->bins; i++)
        if (i < left || i > right)
            n += h->counts[i];
    return (double)n / (double)samples;
}

static void observe_hfmg(struct run *r, struct desk *k,
                         struct qc_calib_layer *l)
{
    struct qrt_hfmg_f32_result found;
    struct qrt_hfmg_f32 h = {0};
    struct qc_found *f = &l->found;
    enum qrt_status st;
    size_t i;

    h.bins = l->search.bins;
    h.counts = k->counts;
    h.scratch = k->scratch;
    for (i = 0; i < l->data->count; i++)
        if (!observe_batch(r, k, l, &l->data->at[i], &h))
            return;
    st = qrt_hfmg_f32_search(&h, l->search.act_bits, l->search.asymmetric != 0,
                             &found);
    if (st != QRT_OK) {
        status_fault(l, NULL, st);
        return;
    }
    f->samples = l->data->samples;
    f->scale_bits = bits_of(found.scale);
    f->offset = found.offset;
    f->clip_max_bits = bits_of(found.clip_max);
    f->clip_min_bits = bits_of(found.clip_min);
    f->max_bits = f->data_max_bits = bits_of(h.max);
    f->min_bits = f->data_min_bits = bits_of(h.min);
    f->left = found.left;
    f->right = found.right;
    f->loss = found.loss / (double)f->samples;
    f->clipped = share_outside(&h, found.left, found.right, f->samples);
    f->degenerate = !(h.max > h.min) && found.scale == 1.0f;
    l->stage = QC_FOUND;
}

/* ---- threads and progress ---- */

static void observe(void *context, unsigned worker, size_t item)
{
    struct run *r = context;
    struct qc_calib_layer *l = &r->calib->layers[r->order[item]];
    bool samples = l->data && l->data->samples;

    if (l->stage == QC_FOUND || (l->stage == QC_NO_SAMPLES && !samples))
        return;
    if (l->search.algo == QC_HFMG)
        observe_hfmg(r, &r->desks[worker], l);
    else
        observe_ifmr(r, &r->desks[worker], l);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* One line on the terminal, written over and over. */
static void show_progress(void *context, size_t done)
{
    struct run *r = context;
    double seconds = seconds_since(&r->start), rate;
    uint64_t bytes;

    pthread_mutex_lock(&r->lock);
    bytes = r->bytes_read;
    pthread_mutex_unlock(&r->lock);
    if (done == r->calib->count || seconds < 0.5) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        return;
    }
    rate = (double)bytes / seconds;
    fprintf(stderr, "\r%zu/%zu layers, %.1f MB read, %.0f MB/s", done,
            r->calib->count, (double)bytes * 1e-6, rate * 1e-6);
    if (bytes && bytes < r->bytes)
        fprintf(stderr, ", %.0f s left", (double)(r->bytes - bytes) / rate);
    else if (bytes)
        fputs(", some once more", stderr);
    fputs("\033[K", stderr);
    fflush(stderr);
}

static void show_stats(const struct run *r, unsigned threads)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    fprintf(stderr,
            "quantc: %zu layer%s, %.1f MB of samples, %.1f MB read, %.3f s, "
            "%u thread%s, %.1f MiB at most\n",
            r->calib->count, r->calib->count == 1 ? "" : "s",
            (double)r->bytes * 1e-6, (double)r->bytes_read * 1e-6,
            seconds_since(&r->start), threads, threads == 1 ? "" : "s",
            (double)u.ru_maxrss / 1024);
}

static uint64_t layer_bytes(const struct qc_calib_layer *l)
{
    uint64_t n = 0;
    size_t i;

    for (i = 0; l->data && i < l->data->count; i++)
        n += l->data->at[i].count * l->data->at[i].size;
    return l->stage == QC_FOUND ? 0 : n;
}

/* The largest layer first, so that no thread is left with it at the end. */
static void order_layers(struct run *r)
{
    const struct qc_calib_layer *l = r->calib->layers;
    size_t n = r->calib->count, gap, i, k;

    r->order = qc_alloc(r->calib->qc, (n + 1) * sizeof(*r->order));
    for (i = 0; i < n; i++)
        r->order[i] = i;
    for (gap = n / 2; gap > 0; gap /= 2) {
        for (i = gap; i < n; i++) {
            size_t x = r->order[i];

            for (k = i; k >= gap &&
                        layer_bytes(&l[r->order[k - gap]]) < layer_bytes(&l[x]);
                 k -= gap)
                r->order[k] = r->order[k - gap];
            r->order[k] = x;
        }
    }
}

static void furnish(struct run *r, unsigned threads)
{
    struct qc *qc = r->calib->qc;
    uint32_t ratios = 0, bins = 0;
    unsigned i;
    size_t n;

    for (n = 0; n < r->calib->count; n++) {
        const struct qc_search *s = &r->calib->layers[n].search;
        uint32_t count = s->algo == QC_HFMG ? 0 : qc_calib_ratio_count(s);

        ratios = count > ratios ? count : ratios;
        bins = s->algo == QC_HFMG && s->bins > bins ? s->bins : bins;
    }
    r->desks = qc_alloc(qc, threads * sizeof(*r->desks));
    for (i = 0; i < threads; i++) {
        struct desk *k = &r->desks[i];

        k->piece = qc_alloc(qc, PIECE * sizeof(*k->piece));
        if (ratios) {
            k->ratios = qc_alloc(qc, ratios * sizeof(*k->ratios));
            k->state_size = qrt_ifmr_f32_state_size(ratios);
            k->state = qc_calib_state(qc, k->state_size);
        }
        if (bins) {
            k->counts = qc_alloc(qc, bins * sizeof(*k->counts));
            k->scratch = qc_alloc(qc, bins * sizeof(*k->scratch));
        }
    }
}

void qc_calib_run(struct qc_calib *c, unsigned threads, bool partial,
                  bool stats)
{
    struct run r = {0};
    size_t i;

    r.calib = c;
    r.partial = partial;
    if (threads > c->count)
        threads = c->count ? (unsigned)c->count : 1;
    for (i = 0; i < c->count; i++)
        r.bytes += layer_bytes(&c->layers[i]);
    order_layers(&r);
    furnish(&r, threads);
    pthread_mutex_init(&r.lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &r.start);
    qc_pool(threads, c->count, observe,
            isatty(STDERR_FILENO) ? show_progress : NULL, &r);
    pthread_mutex_destroy(&r.lock);
    if (stats)
        show_stats(&r, threads);
}
