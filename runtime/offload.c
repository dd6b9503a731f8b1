/* The dispatcher: device if it takes the job and succeeds, else CPU.
 *
 * Two rules are not obvious. A failure is never the caller's problem, since
 * jobs are pure and can be done again; the one exception is a device that
 * writes or reads the job's own memory and cannot be stopped. And once the
 * device is DEAD no event brings it back: only detach does. */
#include "qrt_offload.h"

#if QRT_OFFLOAD

#define DEFAULT_STREAK     3U
#define DEFAULT_TIMEOUT_MS 1000U

static bool usable(const struct qrt_offload *o)
{
    return o->state == QRT_OFF_READY || o->state == QRT_OFF_SUSPECT;
}

/* ------------------------------------------------------ attach and detach */

/* Whether a table can be used at all. The first two members stand in every
 * version; the others only once the size is known to cover them. */
static bool table_ok(const struct qrt_off_backend *b)
{
    return b->abi >> 16 == QRT_OFF_ABI_MAJOR && b->size >= sizeof *b &&
           b->max_inflight != 0 && b->ctx_align != 0 &&
           (b->ctx_align & (b->ctx_align - 1U)) == 0 && b->open != NULL &&
           b->close != NULL && b->query != NULL && b->submit != NULL &&
           b->wait != NULL && b->quiesce != NULL;
}

int32_t qrt_offload_attach(struct qrt_offload *o,
                           const struct qrt_off_backend *backend, void *ctx,
                           size_t ctx_size, const struct qrt_off_host *host,
                           const void *cfg)
{
    int32_t status;

    if (o == NULL || o->state != QRT_OFF_ABSENT) {
        return QRT_OFF_EARG;
    }
    if (backend == NULL) {
        return QRT_OFF_ENODEV;
    }
    if (!table_ok(backend)) {
        return QRT_OFF_EABI;
    }
    if (ctx_size < backend->ctx_size ||
        (ctx == NULL && backend->ctx_size != 0) ||
        ((uintptr_t)ctx & (backend->ctx_align - 1U)) != 0) {
        return QRT_OFF_ENOMEM;
    }
    status = backend->open(ctx, host, cfg);
    if (status == QRT_OFF_OK) {
        o->backend = backend;
        o->ctx = ctx;
        o->state = QRT_OFF_READY;
        o->streak = 0;
        o->busy = 0;
        return QRT_OFF_OK;
    }
    return status == QRT_OFF_ENODEV || status == QRT_OFF_ENOMEM ||
                   status == QRT_OFF_EABI
               ? status
               : QRT_OFF_LOST;
}

void qrt_offload_detach(struct qrt_offload *o)
{
    if (o != NULL && o->state != QRT_OFF_ABSENT) {
        o->backend->close(o->ctx);
        o->backend = NULL;
        o->ctx = NULL;
        o->state = QRT_OFF_ABSENT;
        o->streak = 0;
        o->busy = 0;
    }
}

/* --------------------------------------------------------------- failures */

static void failed(struct qrt_offload *o)
{
    o->n_failed++;
    if (o->backend->last_native != NULL) {
        o->native = o->backend->last_native(o->ctx);
    }
}

/* The device is gone. */
static void lose(struct qrt_offload *o)
{
    if (usable(o)) {
        o->state = QRT_OFF_DEAD;
    }
}

/* One job failed; too many in a row are a loss. */
static void strike(struct qrt_offload *o)
{
    uint32_t max = o->max_streak != 0 ? o->max_streak : DEFAULT_STREAK;

    if (usable(o)) {
        o->state = ++o->streak >= max ? QRT_OFF_DEAD : QRT_OFF_SUSPECT;
    }
}

/* ---------------------------------------------------------------- one job */

static int32_t on_cpu(struct qrt_offload *o, const struct qrt_off_job *job)
{
    if (o->cpu == NULL || o->cpu[job->op] == NULL) {
        return QRT_OFF_DECLINED;
    }
    o->n_cpu++;
    return o->cpu[job->op](job);
}

/* Whether what the backend guarantees is enough for the job. */
static bool good_enough(const struct qrt_off_job *job,
                        const struct qrt_off_reply *reply)
{
    return reply->exact <= job->need &&
           (reply->exact != QRT_EX_BOUNDED || job->need != QRT_EX_BOUNDED ||
            reply->tol <= job->tol);
}

/* Asks and submits: OK, DECLINED, BUSY, or what went wrong. */
static int32_t offer(struct qrt_offload *o, const struct qrt_off_job *job,
                     uint32_t *ticket)
{
    const struct qrt_off_backend *b = o->backend;
    struct qrt_off_reply reply = {QRT_EX_ANY, 0, 0};
    int32_t status;

    if ((b->op_mask >> job->op & 1U) == 0) {
        return QRT_OFF_DECLINED;
    }
    if (o->busy >= b->max_inflight) {
        return QRT_OFF_BUSY;
    }
    status = b->query(o->ctx, job, &reply);
    if (status != QRT_OFF_OK) {
        return status == QRT_OFF_EXEC ? QRT_OFF_LOST : status;
    }
    if (!good_enough(job, &reply)) {
        return QRT_OFF_DECLINED;
    }
    status = b->submit(o->ctx, job, ticket);
    return status == QRT_OFF_OK && *ticket == 0 ? QRT_OFF_LOST : status;
}

/* Starts a job on the device: OK, or DECLINED or BUSY and nothing is going
 * on. Everything that went wrong is counted here and then is a refusal. */
static int32_t start(struct qrt_offload *o, const struct qrt_off_job *job,
                     uint32_t *ticket)
{
    int32_t status;

    *ticket = 0;
    if (!usable(o)) {
        return QRT_OFF_DECLINED;
    }
    status = offer(o, job, ticket);
    if (status == QRT_OFF_OK) {
        o->busy++;
        return QRT_OFF_OK;
    }
    *ticket = 0;
    if (status == QRT_OFF_BUSY || status == QRT_OFF_DECLINED ||
        status == QRT_OFF_ENOMEM) {
        o->n_declined++;
        return status == QRT_OFF_BUSY ? QRT_OFF_BUSY : QRT_OFF_DECLINED;
    }
    failed(o);
    if (status == QRT_OFF_EXEC) {
        strike(o);
    } else {
        lose(o);
    }
    return QRT_OFF_DECLINED;
}

/* What became of a job that was started. */
enum outcome {
    CLEAN, /* the device's result is good                               */
    LATE,  /* the same, but it took being stopped                       */
    AGAIN, /* it failed and has let go of the job                       */
    GONE,  /* so has the device                                         */
    WILD   /* the device is gone and may still use the job's memory     */
};

static enum outcome outcome_of(struct qrt_offload *o, uint32_t ticket)
{
    const struct qrt_off_backend *b = o->backend;
    bool direct = (b->flags & (QRT_OFF_DIRECT_OUT | QRT_OFF_DIRECT_IN)) != 0;
    uint32_t patience = 0;
    int32_t status;

    if (usable(o)) {
        patience = o->timeout_ms != 0 ? o->timeout_ms : DEFAULT_TIMEOUT_MS;
    }
    status = b->wait(o->ctx, ticket, patience);
    if (status == QRT_OFF_OK) {
        return CLEAN;
    }
    if (status == QRT_OFF_EXEC) {
        return AGAIN;
    }
    if (status == QRT_OFF_PENDING || status == QRT_OFF_TIMEOUT) {
        if (b->quiesce(o->ctx) != QRT_OFF_OK) {
            return direct ? WILD : GONE;
        }
        status = b->wait(o->ctx, ticket, 0);
        if (status == QRT_OFF_OK) {
            return LATE;
        }
        return status == QRT_OFF_EXEC ? AGAIN : GONE;
    }
    return direct && b->quiesce(o->ctx) != QRT_OFF_OK ? WILD : GONE;
}

static int32_t finish(struct qrt_offload *o, const struct qrt_off_job *job,
                      uint32_t ticket)
{
    bool clean = usable(o);
    enum outcome outcome = outcome_of(o, ticket);

    if (o->busy != 0) {
        o->busy--;
    }
    if (outcome == CLEAN && clean) {
        o->n_dev++;
        o->streak = 0;
        o->state = QRT_OFF_READY;
        return QRT_OFF_OK;
    }
    failed(o);
    if (outcome >= GONE) {
        lose(o);
    } else {
        strike(o);
    }
    if (outcome == WILD) {
        return QRT_OFF_LOST;
    }
    if (outcome <= LATE && o->state != QRT_OFF_QUARANTINE) {
        o->n_dev++;
        return QRT_OFF_OK;
    }
    return on_cpu(o, job);
}

/* -------------------------------------------------------------- interface */

int32_t qrt_start(struct qrt_offload *o, const struct qrt_off_job *job,
                  uint32_t *ticket)
{
    if (o == NULL || ticket == NULL || qrt_job_check(job) != QRT_OFF_OK) {
        return QRT_OFF_EARG;
    }
    return start(o, job, ticket);
}

int32_t qrt_finish(struct qrt_offload *o, const struct qrt_off_job *job,
                   uint32_t ticket)
{
    if (o == NULL || ticket == 0 || qrt_job_check(job) != QRT_OFF_OK) {
        return QRT_OFF_EARG;
    }
    if (o->state == QRT_OFF_ABSENT) { /* detached meanwhile */
        return on_cpu(o, job);
    }
    return finish(o, job, ticket);
}

int32_t qrt_run(struct qrt_offload *o, const struct qrt_off_job *job)
{
    uint32_t ticket;

    if (o == NULL || qrt_job_check(job) != QRT_OFF_OK) {
        return QRT_OFF_EARG;
    }
    if (start(o, job, &ticket) == QRT_OFF_OK) {
        return finish(o, job, ticket);
    }
    return on_cpu(o, job);
}

#endif
