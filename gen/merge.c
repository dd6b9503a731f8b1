/* quantc merge: shards of one calibration become a record; or, where their
 * states cannot tell, a file that says what to look for in a second round. */
#include "calibrate.h"
#include "lower.h"
#include "pool.h"

#include "qrt_f32.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct shard {
    const char *name;
    struct qc_file *file;
    struct qc_calib *calib;
    uint32_t sum;
};

/* What went wrong with a layer in a thread. */
struct trouble {
    size_t shard; /* in which one       */
    enum { NONE, DAMAGED, OTHER_ROUND, FULL, CHANGED, STEP } kind;
};

struct merge {
    struct qc *qc;
    struct shard *shards;
    size_t count;
    struct qc_calib *all; /* what comes out */
    struct trouble *trouble;
    void **into, **from; /* [threads] states     */
    float **ratios;      /* [threads] candidates */
    size_t state_size;
    pthread_mutex_t lock; /* of the arena */
};

/* ---- reading ---- */

static struct qc_loc at_start(const struct shard *s)
{
    return (struct qc_loc){s->file, 0, 0};
}

static bool has_samples(const struct qc_calib *c)
{
    size_t i;

    for (i = 0; i < c->count; i++)
        if (c->layers[i].stage == QC_WAITING && c->layers[i].batches)
            return true;
    return false;
}

/* A shard that is given twice would count twice. Shards without any samples
 * are alike and do no harm. */
static void refuse_twins(struct merge *m)
{
    struct qc_map seen = {0};
    size_t i;

    for (i = 0; i < m->count; i++) {
        struct shard *s = &m->shards[i], *other;
        void **slot;

        if (!s->calib || !has_samples(s->calib))
            continue;
        slot = qc_map_at(
            m->qc, &seen,
            qc_format(m->qc, "%lx,%zx", (unsigned long)s->sum, s->file->size));
        other = *slot;
        if (other &&
            memcmp(other->file->text, s->file->text, s->file->size) == 0)
            qc_report(m->qc, QC_SHARD_TWICE, at_start(s),
                      "%s has the same content: a shard must be given once",
                      other->name);
        *slot = s;
    }
}

static bool read_shards(struct merge *m, const char *const *files)
{
    size_t i, first = m->count;

    for (i = 0; i < m->count; i++) {
        struct shard *s = &m->shards[i];

        s->name = files[i];
        s->calib = qc_read_partial(m->qc, files[i], &s->file);
        if (!s->calib)
            continue;
        s->sum = qc_crc32((struct qc_str){s->file->text, s->file->size});
        if (first == m->count) {
            first = i;
            continue;
        }
        if (!qc_same_calibration(m->shards[first].calib, m->shards[first].name,
                                 s->calib, s->name, at_start(s)))
            continue;
        if (s->calib->round != m->shards[first].calib->round)
            qc_report(m->qc, QC_SHARD_ROUND, at_start(s),
                      "this is from round %lu, %s is from round %lu",
                      (unsigned long)s->calib->round + 1, m->shards[first].name,
                      (unsigned long)m->shards[first].calib->round + 1);
    }
    refuse_twins(m);
    return !qc_error_count(m->qc) && !m->qc->io_failed;
}

/* ---- one layer ---- */

static bool trouble(struct merge *m, size_t layer, size_t shard, int kind)
{
    m->trouble[layer].shard = shard;
    m->trouble[layer].kind = kind;
    return false;
}

/* Whether a state searches what the layer's description says. */
static bool fits(struct merge *m, unsigned worker, size_t layer)
{
    enum qrt_ifmr_f32_field field;

    if (qc_calib_start(&m->all->layers[layer].search, m->all->exact_loss != 0,
                       m->ratios[worker], m->from[worker],
                       m->state_size) != QRT_OK)
        return false;
    field = qrt_ifmr_f32_compare(m->into[worker], m->from[worker]);
    return field == QRT_IFMR_F32_SAME || field == QRT_IFMR_F32_STAGE;
}

/* The samples of a shard into the state of all. */
static bool add_shard(struct merge *m, unsigned worker, size_t layer,
                      size_t shard, bool first)
{
    struct qc_str s = m->shards[shard].calib->layers[layer].state;
    void *into = first ? m->into[worker] : m->from[worker];
    enum qrt_status st =
        qrt_ifmr_f32_load(into, m->state_size, (const uint8_t *)s.ptr, s.len);

    if (st != QRT_OK)
        return trouble(m, layer, shard, DAMAGED);
    if (first)
        return fits(m, worker, layer) || trouble(m, layer, shard, DAMAGED);
    st = qrt_ifmr_f32_merge(m->into[worker], into);
    return st == QRT_OK ||
           trouble(m, layer, shard, st == QRT_ERR_FULL ? FULL : OTHER_ROUND);
}

/* All shards know the result already, from a round before. */
static bool take_found(struct merge *m, size_t layer)
{
    const struct qc_calib_layer *first = &m->shards[0].calib->layers[layer];
    size_t i;

    for (i = 0; i < m->count; i++) {
        const struct qc_calib_layer *l = &m->shards[i].calib->layers[layer];

        if (l->stage != QC_FOUND || !qc_same_found(&l->found, &first->found))
            return trouble(m, layer, i, OTHER_ROUND);
    }
    m->all->layers[layer].stage = QC_FOUND;
    m->all->layers[layer].found = first->found;
    m->all->layers[layer].batches = first->batches;
    return true;
}

static void keep_state(struct merge *m, unsigned worker, size_t layer)
{
    struct qc_calib_layer *l = &m->all->layers[layer];
    uint8_t *out;
    size_t len;

    qrt_ifmr_f32_save(m->into[worker], NULL, 0, &len);
    pthread_mutex_lock(&m->lock);
    out = qc_alloc(m->qc, len);
    pthread_mutex_unlock(&m->lock);
    qrt_ifmr_f32_save(m->into[worker], out, len, &len);
    l->state = (struct qc_str){(const char *)out, len};
    l->stage = QC_WAITING;
}

static void finish(struct merge *m, unsigned worker, size_t layer)
{
    struct qc_calib_layer *l = &m->all->layers[layer];
    struct qrt_ifmr_f32_result result;
    enum qrt_status st = qrt_ifmr_f32_finish(m->into[worker], &result);

    if (st == QRT_ERR_EMPTY)
        return;
    if (st != QRT_OK) {
        trouble(m, layer, 0, st == QRT_ERR_NOT_FINITE ? STEP : CHANGED);
    } else if (result.again) {
        keep_state(m, worker, layer);
    } else {
        l->stage = QC_FOUND;
        if (!qc_calib_take(&l->search, &result, &l->found))
            trouble(m, layer, 0, STEP);
    }
}

static void merge_layer(void *context, unsigned worker, size_t layer)
{
    struct merge *m = context;
    bool first = true;
    size_t i;

    for (i = 0; i < m->count; i++) {
        const struct qc_calib_layer *l = &m->shards[i].calib->layers[layer];

        if (l->stage == QC_NO_SAMPLES)
            continue;
        if (l->stage == QC_FOUND) {
            take_found(m, layer);
            return;
        }
        if (!add_shard(m, worker, layer, i, first))
            return;
        m->all->layers[layer].batches += l->batches;
        first = false;
    }
    if (!first)
        finish(m, worker, layer);
}

/* ---- all layers ---- */

static void prepare(struct merge *m, unsigned threads)
{
    size_t n = m->all->count, i;
    uint32_t ratios = 1;
    unsigned t;

    m->trouble = qc_alloc(m->qc, (n + 1) * sizeof(*m->trouble));
    for (i = 0; i < n; i++) {
        uint32_t count = qc_calib_ratio_count(&m->all->layers[i].search);

        ratios = count > ratios ? count : ratios;
    }
    m->state_size = qrt_ifmr_f32_state_size(ratios);
    m->into = qc_alloc(m->qc, threads * sizeof(*m->into));
    m->from = qc_alloc(m->qc, threads * sizeof(*m->from));
    m->ratios = qc_alloc(m->qc, threads * sizeof(*m->ratios));
    for (t = 0; t < threads; t++) {
        m->into[t] = qc_calib_state(m->qc, m->state_size);
        m->from[t] = qc_calib_state(m->qc, m->state_size);
        m->ratios[t] = qc_alloc(m->qc, ratios * sizeof(**m->ratios));
    }
}

static void report(struct merge *m, size_t layer)
{
    const struct trouble *t = &m->trouble[layer];
    const struct shard *s = &m->shards[t->shard];
    const char *name = qc_shown(m->qc, m->all->layers[layer].search.name);
    /* Faults of one file are told apart by their place. */
    struct qc_loc at = {s->file, (uint32_t)layer, 0};

    switch (t->kind) {
    case NONE:
        break;
    case DAMAGED:
        qc_report(m->qc, QC_SHARD_DAMAGED, at,
                  "the state of layer '%s' cannot be used", name);
        break;
    case OTHER_ROUND:
        qc_report(m->qc, QC_SHARD_ROUND, at,
                  "layer '%s' does not come from the same round as in %s", name,
                  m->shards[t->shard ? 0 : m->count - 1].name);
        break;
    case FULL:
        qc_report(m->qc, QC_DATA_UNUSABLE, at,
                  "layer '%s' has more than 4294967295 samples", name);
        break;
    case CHANGED:
        qc_report(m->qc, QC_SHARD_ROUND, at,
                  "layer '%s' has not the samples of the round before: a shard "
                  "is missing, or its files have changed",
                  name);
        break;
    case STEP:
        qc_report(m->qc, QC_DATA_UNUSABLE, at,
                  "the samples of layer '%s' are too large for binary32", name);
        break;
    }
}

/* More batches than asked for are used all the same: which of them to leave
 * out cannot be known here. */
static void check_batches(struct merge *m)
{
    size_t i;

    for (i = 0; i < m->all->count; i++) {
        const struct qc_calib_layer *l = &m->all->layers[i];

        if (l->stage != QC_FOUND || !l->batches ||
            l->batches == m->all->batch_num)
            continue;
        qc_report(m->qc,
                  l->batches < m->all->batch_num ? QC_DATA_FEW_BATCHES
                                                 : QC_DATA_BATCHES,
                  at_start(&m->shards[0]),
                  "the shards hold %llu batches of layer '%s', 'batch_num' is "
                  "%lu: all are used",
                  (unsigned long long)l->batches,
                  qc_shown(m->qc, l->search.name),
                  (unsigned long)m->all->batch_num);
        return;
    }
}

static size_t waiting(const struct qc_calib *c)
{
    size_t i, n = 0;

    for (i = 0; i < c->count; i++)
        n += c->layers[i].stage == QC_WAITING;
    return n;
}

/* Another round: what is known and what is not, for all shards. */
static bool ask_again(struct merge *m, const struct qc_calib_options *o,
                      size_t open)
{
    const char *path = o->again;
    struct qc_out *out;
    size_t i;

    if (!path)
        path = o->out && strcmp(o->out, "-") != 0
                   ? qc_format(m->qc, "%s.again.qobs", o->out).ptr
                   : "record.txt.again.qobs";
    m->all->round++;
    for (i = 0; i < m->all->count; i++)
        if (m->all->layers[i].stage != QC_FOUND)
            m->all->layers[i].batches = 0;
    out = qc_out_new(m->qc, path);
    qc_put_partial(out, m->all);
    if (!qc_commit(&out, 1))
        return false;
    fprintf(stderr,
            "quantc: %zu of %zu layers need the samples once more: "
            "run 'quantc calibrate' on every shard with --resume %s\n",
            open, m->all->count, path);
    return true;
}

/* What comes out begins as what the first shard says about configuration. */
static void begin(struct merge *m)
{
    const struct qc_calib *c = m->shards[0].calib;
    size_t i;

    m->all = qc_alloc(m->qc, sizeof(*m->all));
    *m->all = *c;
    m->all->layers = qc_alloc(m->qc, (c->count + 1) * sizeof(*c->layers));
    for (i = 0; i < c->count; i++)
        m->all->layers[i].search = c->layers[i].search;
}

bool qc_merge(struct qc *qc, const char *const *files, size_t count,
              const struct qc_calib_options *o)
{
    struct merge m = {0};
    unsigned threads = qc_calib_threads(o);
    size_t i, open;

    m.qc = qc;
    m.count = count;
    m.shards = qc_alloc(qc, count * sizeof(*m.shards));
    if (!read_shards(&m, files))
        return false;
    begin(&m);
    if (threads > m.all->count)
        threads = m.all->count ? (unsigned)m.all->count : 1;
    prepare(&m, threads);
    pthread_mutex_init(&m.lock, NULL);
    qc_pool(threads, m.all->count, merge_layer, NULL, &m);
    pthread_mutex_destroy(&m.lock);
    for (i = 0; i < m.all->count; i++)
        report(&m, i);
    if (qc_error_count(qc))
        return false;
    open = waiting(m.all);
    if (open)
        return ask_again(&m, o, open);
    check_batches(&m);
    qc_calib_review(m.all, at_start(&m.shards[0]));
    if (!qc_error_count(qc))
        qc_calib_write(m.all, o);
    return false;
}
