/* The Ascend backend: life cycle, and jobs in flight.
 *
 * A failure below may show at the call that caused it, at the synchronise, or
 * at any call in between, and a code that has been returned once may be gone.
 * Therefore every code other than 0 is counted, a job remembers the count at
 * its launch, and it has succeeded only if its stream has drained with 0 and
 * the count has not moved: then nothing that was returned can have been its
 * failure. That also settles the success that comes after a timeout. */
#define _POSIX_C_SOURCE 200809L
#include "ascend.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_ELEMENTS  (256U * 1024U)
#define DEFAULT_WORKSPACE (1024U * 1024U)
#define DEFAULT_GRACE_MS  100U

static bool usable(const struct ascend *a)
{
    return !a->lost && a->pid == getpid();
}

/* --------------------------------------------------- context of the thread */

/* Makes our context the thread's; its own comes back in leave. */
static int32_t enter(struct ascend *a)
{
    int32_t code;

    if (!usable(a)) {
        return QRT_OFF_LOST;
    }
    a->callers = NULL;
    code = a->call.aclrtGetCurrentContext(&a->callers);
    if (code == ACL_NO_CONTEXT) {
        a->callers = NULL;
    } else if (code != ACL_OK) {
        return qrt_ascend_status(a, code);
    }
    return a->callers == a->context
               ? QRT_OFF_OK
               : qrt_ascend_status(a,
                                   a->call.aclrtSetCurrentContext(a->context));
}

static void leave(struct ascend *a)
{
    if (!a->lost && a->callers != NULL && a->callers != a->context) {
        (void)qrt_ascend_status(a, a->call.aclrtSetCurrentContext(a->callers));
    }
}

/* ---------------------------------------------------------- device objects */

void qrt_ascend_drop_objects(struct ascend *a, struct ascend_slot *s)
{
    for (int i = 0; i < 4; i++) {
        if (!a->lost && s->tensor[i] != NULL) {
            (void)qrt_ascend_status(a, a->call.aclDestroyTensor(s->tensor[i]));
            s->tensor[i] = NULL;
        }
    }
    for (int i = 0; i < 8; i++) {
        if (!a->lost && s->buffer[i] != NULL) {
            (void)qrt_ascend_status(a,
                                    a->call.aclDestroyDataBuffer(s->buffer[i]));
            s->buffer[i] = NULL;
        }
    }
}

static int32_t slot_up(struct ascend *a, struct ascend_slot *s)
{
    int32_t code = a->call.aclrtCreateStream(&s->stream);
    void *p = NULL;

    if (code != ACL_OK) {
        s->stream = NULL;
        return code;
    }
    code = a->call.aclrtMalloc(&p, qrt_ascend_arena_size(a->cfg.max_elements),
                               ACL_HUGE_FIRST);
    if (code != ACL_OK) {
        return code;
    }
    s->arena = p;
    code = a->call.aclrtMalloc(&p, a->cfg.workspace, ACL_HUGE_FIRST);
    s->workspace = code == ACL_OK ? p : NULL;
    return code;
}

/* Context, streams and memory. What there is after a failure device_down takes
 * away again. */
static int32_t device_up(struct ascend *a)
{
    int32_t code = a->call.aclrtCreateContext(&a->context, a->cfg.device);

    if (code != ACL_OK) {
        a->context = NULL;
        return code;
    }
    code = a->call.aclrtSetCurrentContext(a->context);
    for (uint32_t i = 0; code == ACL_OK && i < ASCEND_SLOTS; i++) {
        code = slot_up(a, &a->slot[i]);
    }
    return code;
}

static void slot_down(struct ascend *a, struct ascend_slot *s, bool forced)
{
    const struct ascend_calls *c = &a->call;

    if (s->stream != NULL) {
        (void)(forced && c->aclrtDestroyStreamForce != NULL
                   ? c->aclrtDestroyStreamForce(s->stream)
                   : c->aclrtDestroyStream(s->stream));
    }
    for (int i = 0; i < 4; i++) {
        if (s->tensor[i] != NULL) {
            (void)c->aclDestroyTensor(s->tensor[i]);
        }
    }
    for (int i = 0; i < 8; i++) {
        if (s->buffer[i] != NULL) {
            (void)c->aclDestroyDataBuffer(s->buffer[i]);
        }
    }
    if (s->arena != NULL) {
        (void)c->aclrtFree(s->arena);
    }
    if (s->workspace != NULL) {
        (void)c->aclrtFree(s->workspace);
    }
    memset(s, 0, sizeof *s);
}

static void device_down(struct ascend *a, bool forced)
{
    for (uint32_t i = 0; i < QRT_ASCEND_MODELS; i++) {
        if (a->handle[i] != NULL) {
            a->call.aclopDestroyHandle(a->handle[i]);
            a->handle[i] = NULL;
        }
    }
    for (uint32_t i = 0; i < ASCEND_SLOTS; i++) {
        slot_down(a, &a->slot[i], forced);
    }
    if (a->context != NULL) {
        (void)a->call.aclrtDestroyContext(a->context);
        a->context = NULL;
    }
}

/* After a kernel that timed out, or a job that was stopped, nothing of the
 * old context is used again. */
static int32_t rebuild(struct ascend *a)
{
    if (a->callers == a->context) {
        a->callers = NULL;
    }
    device_down(a, true);
    a->rebuild = false;
    a->native = device_up(a);
    if (a->native == ACL_OK) {
        a->native = qrt_ascend_find_models(a);
    }
    if (a->native != ACL_OK) {
        a->lost = true;
        qrt_ascend_note(a, QRT_OFF_LOST, "ascend: cannot be set up again");
        return QRT_OFF_LOST;
    }
    return QRT_OFF_OK;
}

/* ------------------------------------------------------------- open, close */

/* Where aclFinalize is all there is it ends the library for the whole process,
 * so that it is called by the last attachment that closes. This is the one
 * writable object of the backend. */
static struct {
    pthread_mutex_t lock;
    uint32_t users;
    bool owned; /* the first aclInit of the process was ours */
} process = {PTHREAD_MUTEX_INITIALIZER, 0, false};

static int32_t initialise(struct ascend *a)
{
    int32_t code;

    (void)pthread_mutex_lock(&process.lock);
    code = a->call.aclInit(NULL);
    a->initialised = code == ACL_OK || code == ACL_REPEAT_INITIALISE;
    if (a->initialised) {
        process.users++;
        process.owned = process.owned || code == ACL_OK;
    }
    (void)pthread_mutex_unlock(&process.lock);
    return a->initialised ? ACL_OK : code;
}

static void finalise(struct ascend *a)
{
    uint64_t left = 0;

    (void)pthread_mutex_lock(&process.lock);
    process.users--;
    if (a->call.aclFinalizeReference != NULL) {
        (void)a->call.aclFinalizeReference(&left);
    } else if (process.users == 0 && process.owned) {
        (void)a->call.aclFinalize();
    }
    process.owned = process.owned && process.users != 0;
    (void)pthread_mutex_unlock(&process.lock);
    a->initialised = false;
}

static void pause_ms(uint32_t ms)
{
    const struct timespec t = {(time_t)(ms / 1000U),
                               (long)(ms % 1000U) * 1000000L};

    (void)nanosleep(&t, NULL);
}

static int32_t set_device(struct ascend *a)
{
    int32_t code = a->call.aclrtSetDevice(a->cfg.device);

    if (code == ACL_DEVICE_SETUP && a->cfg.retry_ms != 0) {
        pause_ms(a->cfg.retry_ms);
        code = a->call.aclrtSetDevice(a->cfg.device);
    }
    a->device_set = code == ACL_OK;
    return code;
}

/* Everything but the libraries; *what says what was being tried. */
static int32_t start(struct ascend *a, const char **what)
{
    uint32_t devices = 0;
    int32_t mode = 0;
    int32_t code;

    *what = "ascend: initialising";
    code = initialise(a);
    if (code != ACL_OK) {
        return qrt_ascend_open_status(a, code);
    }
    *what = "ascend: no device";
    code = a->call.aclrtGetDeviceCount(&devices);
    if (code == ACL_OK && (uint32_t)a->cfg.device >= devices) {
        return QRT_OFF_ENODEV;
    }
    *what = "ascend: setting the device";
    if (code == ACL_OK) {
        if (a->call.aclrtGetCurrentContext(&a->callers) != ACL_OK) {
            a->callers = NULL;
        }
        code = set_device(a);
    }
    if (code == ACL_OK) {
        code = a->call.aclrtGetRunMode(&mode);
    }
    a->on_board = mode == ACL_ON_DEVICE;
    if (code == ACL_OK) {
        *what = "ascend: context, streams, memory";
        code = device_up(a);
    }
    return qrt_ascend_open_status(a, code);
}

/* What chip there is, and what it can do here. */
static int32_t survey(struct ascend *a, const char **what)
{
    const char *soc = a->cfg.soc;

    if (soc == NULL && a->call.aclrtGetSocName != NULL) {
        soc = a->call.aclrtGetSocName();
    }
    a->chip = qrt_ascend_chip_of(soc);
    *what = "ascend: this chip is not known";
    if (a->chip == ASCEND_UNKNOWN) {
        return QRT_OFF_ENODEV;
    }
    a->ops = qrt_ascend_ops(a);
    *what = "ascend: device lost";
    if (qrt_ascend_find_models(a) != ACL_OK) {
        return QRT_OFF_ENODEV;
    }
    *what = "ascend: no operator for this chip";
    return a->ops != 0 ? QRT_OFF_OK : QRT_OFF_ENODEV;
}

/* Undoes whatever start has done. A lost device may hang in what waits for
 * its streams; without a call that does not, they are left alone. */
static void stop(struct ascend *a)
{
    void *back = a->callers != a->context ? a->callers : NULL;

    if (a->lost && a->call.aclrtDestroyStreamForce == NULL) {
        return;
    }
    if (a->context != NULL) {
        (void)a->call.aclrtSetCurrentContext(a->context);
    }
    device_down(a, a->lost);
    if (back != NULL && !a->lost) {
        (void)a->call.aclrtSetCurrentContext(back);
    }
    if (a->device_set) {
        (void)a->call.aclrtResetDevice(a->cfg.device);
    }
    if (a->initialised) {
        finalise(a);
    }
    qrt_ascend_unload(a);
}

static bool configure(struct ascend *a, const struct qrt_off_host *host,
                      const struct qrt_ascend_cfg *cfg)
{
    memset(a, 0, sizeof *a);
    a->host = host;
    a->pid = getpid();
    a->chip = ASCEND_UNKNOWN;
    if (cfg != NULL) {
        if (cfg->size < sizeof *cfg || cfg->model_count > QRT_ASCEND_MODELS ||
            (cfg->model_count != 0 && cfg->models == NULL)) {
            return false;
        }
        a->cfg = *cfg;
    }
    if (a->cfg.max_elements == 0) {
        a->cfg.max_elements = DEFAULT_ELEMENTS;
    }
    if (a->cfg.workspace == 0) {
        a->cfg.workspace = DEFAULT_WORKSPACE;
    }
    if (a->cfg.grace_ms == 0) {
        a->cfg.grace_ms = DEFAULT_GRACE_MS;
    }
    return a->cfg.max_elements <= UINT32_MAX / 16U;
}

static int32_t refuse(struct ascend *a, int32_t status, const char *what)
{
    qrt_ascend_note(a, status, what);
    return status;
}

static int32_t ascend_open(void *ctx, const struct qrt_off_host *host,
                           const void *cfg)
{
    struct ascend *a = ctx;
    const char *what = NULL;
    int32_t status;

    if (!configure(a, host, cfg)) {
        return refuse(a, QRT_OFF_EABI, "ascend: configuration");
    }
    if ((a->cfg.flags & QRT_ASCEND_PROBE) != 0 && !qrt_ascend_probe()) {
        return refuse(a, QRT_OFF_ENODEV, "ascend: the library ends processes");
    }
    if (!qrt_ascend_load(a, &what)) {
        return refuse(a, QRT_OFF_ENODEV, what);
    }
    if (a->call.aclrtSynchronizeStreamWithTimeout == NULL &&
        a->call.aclrtStreamQuery == NULL &&
        (a->cfg.flags & QRT_ASCEND_UNBOUNDED) == 0) {
        qrt_ascend_unload(a);
        return refuse(a, QRT_OFF_EABI, "ascend: no wait can be bounded");
    }
    status = start(a, &what);
    if (status == QRT_OFF_OK) {
        status = survey(a, &what);
    }
    if (status == QRT_OFF_OK) {
        leave(a);
        return QRT_OFF_OK;
    }
    qrt_ascend_note(a, status, what);
    stop(a);
    return status;
}

/* ----------------------------------------------------------- query, submit */

static int32_t ascend_query(void *ctx, const struct qrt_off_job *job,
                            struct qrt_off_reply *reply)
{
    const struct ascend *a = ctx;

    if (!usable(a)) {
        return QRT_OFF_LOST;
    }
    return qrt_ascend_takes(a, job, reply) ? QRT_OFF_OK : QRT_OFF_DECLINED;
}

static struct ascend_slot *free_slot(struct ascend *a)
{
    for (uint32_t i = 0; i < ASCEND_SLOTS; i++) {
        if (a->slot[i].job == NULL) {
            return &a->slot[i];
        }
    }
    return NULL;
}

static bool idle(const struct ascend *a)
{
    for (uint32_t i = 0; i < ASCEND_SLOTS; i++) {
        if (a->slot[i].job != NULL) {
            return false;
        }
    }
    return true;
}

/* With our context current: rebuilds if that is due, and launches. */
static int32_t launch(struct ascend *a, struct ascend_slot *s,
                      const struct qrt_off_job *job)
{
    int32_t status = QRT_OFF_OK;

    if (a->rebuild) {
        status = idle(a) ? rebuild(a) : QRT_OFF_BUSY;
    }
    if (status != QRT_OFF_OK) {
        return status;
    }
    status = job->op == QRT_JOB_QUANT || job->op == QRT_JOB_ANTIQUANT
                 ? qrt_ascend_launch_aclnn(a, s, job)
                 : qrt_ascend_launch_aclop(a, s, job);
    if (status == QRT_OFF_DECLINED) {
        qrt_ascend_refuse(a, job);
    }
    if (status != QRT_OFF_OK && status != QRT_OFF_DECLINED &&
        status != QRT_OFF_BUSY) {
        a->rebuild = true; /* a part of it may be in the stream */
    }
    qrt_ascend_drop_objects(a, s);
    return status == QRT_OFF_TIMEOUT ? QRT_OFF_EXEC : status;
}

static int32_t ascend_submit(void *ctx, const struct qrt_off_job *job,
                             uint32_t *ticket)
{
    struct ascend *a = ctx;
    struct ascend_slot *s = free_slot(a);
    struct qrt_off_reply reply;
    int32_t status;

    if (!usable(a)) {
        return QRT_OFF_LOST;
    }
    if (!qrt_ascend_takes(a, job, &reply) || !qrt_ascend_is_plain(job)) {
        return QRT_OFF_DECLINED;
    }
    if (s == NULL) {
        return QRT_OFF_BUSY;
    }
    status = enter(a);
    if (status == QRT_OFF_OK) {
        status = launch(a, s, job);
        leave(a);
    }
    if (status != QRT_OFF_OK) {
        if (status == QRT_OFF_EXEC) {
            qrt_ascend_note(a, status, "ascend: launch failed");
        }
        return a->lost ? QRT_OFF_LOST : status;
    }
    a->tickets = a->tickets == UINT32_MAX ? 1U : a->tickets + 1U;
    s->job = job;
    s->ticket = *ticket = a->tickets;
    s->drained = s->stopped = false;
    return QRT_OFF_OK;
}

/* ----------------------------------------------------------- wait, quiesce */

static uint32_t now_ms(const struct ascend *a)
{
    struct timespec t = {0, 0};

    if (a->host != NULL && a->host->now_ms != NULL) {
        return a->host->now_ms(a->host->u);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000U + (uint32_t)(t.tv_nsec / 1000000L);
}

/* Until the stream has drained as far as it can tell without waiting in the
 * library. */
static int32_t poll_stream(struct ascend *a, void *stream, uint32_t ms)
{
    uint32_t from = now_ms(a), rest_us = 20;

    for (;;) {
        int32_t state = ACL_STREAM_COMPLETE;
        int32_t code = a->call.aclrtStreamQuery(stream, &state);
        struct timespec t = {0, (long)rest_us * 1000L};

        if (code != ACL_OK) {
            return qrt_ascend_wait_status(a, code);
        }
        if (state == ACL_STREAM_COMPLETE) {
            return QRT_OFF_OK;
        }
        if (now_ms(a) - from >= ms) {
            return QRT_OFF_PENDING;
        }
        (void)nanosleep(&t, NULL);
        rest_us = rest_us < 1000U ? 2U * rest_us : rest_us;
    }
}

/* Waits for a stream: OK, PENDING or TIMEOUT, EXEC, LOST. The timed call does
 * not know a timeout of 0. */
static int32_t drain(struct ascend *a, void *stream, uint32_t ms)
{
    const struct ascend_calls *c = &a->call;
    int32_t status = QRT_OFF_OK;
    int32_t limit = ms > INT32_MAX ? INT32_MAX : (int32_t)ms;

    if (c->aclrtStreamQuery != NULL &&
        (ms == 0 || c->aclrtSynchronizeStreamWithTimeout == NULL)) {
        status = poll_stream(a, stream, ms);
    }
    if (status != QRT_OFF_OK) {
        return status;
    }
    if (c->aclrtSynchronizeStreamWithTimeout != NULL) {
        return qrt_ascend_wait_status(a, c->aclrtSynchronizeStreamWithTimeout(
                                             stream, limit > 0 ? limit : 1));
    }
    return qrt_ascend_wait_status(a, c->aclrtSynchronizeStream(stream));
}

/* What became of a job. */
static int32_t decide(struct ascend *a, struct ascend_slot *s, uint32_t ms)
{
    int32_t status = QRT_OFF_OK;

    if (s->stopped) {
        return QRT_OFF_EXEC;
    }
    if (!s->drained) {
        status = drain(a, s->stream, ms);
        /* Whatever failed, the job may still be in the stream. */
        a->rebuild = a->rebuild || status == QRT_OFF_EXEC;
    }
    if (status == QRT_OFF_OK && s->faults == a->faults) {
        status = qrt_ascend_get(a, s);
    }
    if (status == QRT_OFF_OK && s->faults != a->faults) {
        status = QRT_OFF_EXEC;
    }
    return status;
}

static int32_t ascend_wait(void *ctx, uint32_t ticket, uint32_t timeout_ms)
{
    struct ascend *a = ctx;
    struct ascend_slot *s = NULL;
    int32_t status;

    for (uint32_t i = 0; i < ASCEND_SLOTS; i++) {
        if (a->slot[i].job != NULL && a->slot[i].ticket == ticket) {
            s = &a->slot[i];
        }
    }
    if (s == NULL || !usable(a)) {
        status = QRT_OFF_LOST;
    } else {
        status = enter(a);
        if (status == QRT_OFF_OK) {
            status = decide(a, s, timeout_ms);
            leave(a);
        } else if (status != QRT_OFF_LOST) {
            status = QRT_OFF_EXEC;
            a->rebuild = true; /* it may still run */
        }
    }
    if (s != NULL && status == QRT_OFF_EXEC && a->native == ACL_NO_TASK_TYPE) {
        qrt_ascend_refuse(a, s->job);
    }
    if (s != NULL && status != QRT_OFF_PENDING && status != QRT_OFF_TIMEOUT) {
        s->job = NULL;
    }
    if (status == QRT_OFF_EXEC) {
        qrt_ascend_note(a, status, "ascend: job failed");
    }
    return status;
}

/* Stops or drains one stream. Only a job that ended by itself, with nothing
 * failing meanwhile, can still have a result. */
static bool halt(struct ascend *a, struct ascend_slot *s)
{
    bool abort = a->call.aclrtStreamAbort != NULL && a->chip >= ASCEND_910B;
    int32_t status;

    if (abort) {
        (void)qrt_ascend_status(a, a->call.aclrtStreamAbort(s->stream));
    }
    if (a->lost) {
        return false;
    }
    status = drain(a, s->stream, a->cfg.grace_ms);
    s->drained = status == QRT_OFF_OK && s->faults == a->faults && !abort;
    s->stopped = !s->drained;
    a->rebuild = a->rebuild || s->stopped;
    return status == QRT_OFF_OK || status == QRT_OFF_EXEC;
}

static int32_t ascend_quiesce(void *ctx)
{
    struct ascend *a = ctx;
    bool ok = enter(a) == QRT_OFF_OK;

    for (uint32_t i = 0; ok && i < ASCEND_SLOTS; i++) {
        if (a->slot[i].job != NULL) {
            ok = halt(a, &a->slot[i]);
        }
    }
    if (ok && !a->lost) {
        leave(a);
        return QRT_OFF_OK;
    }
    a->lost = true;
    return QRT_OFF_LOST;
}

static void ascend_close(void *ctx)
{
    struct ascend *a = ctx;

    if (a->pid != getpid()) { /* the device is the parent's */
        return;
    }
    if (!idle(a) && usable(a)) {
        (void)ascend_quiesce(a);
    }
    (void)enter(a);
    stop(a);
}

static int32_t ascend_native(void *ctx)
{
    const struct ascend *a = ctx;

    return a->native;
}

const struct qrt_off_backend qrt_backend_ascend = {
    .abi = QRT_OFF_ABI,
    .size = sizeof(struct qrt_off_backend),
    .name = "ascend",
    .op_mask = 1U << QRT_JOB_QUANT | 1U << QRT_JOB_ANTIQUANT |
               1U << QRT_JOB_IFMR | 1U << QRT_JOB_ULQ_FWD |
               1U << QRT_JOB_ULQ_GRAD_X | 1U << QRT_JOB_ULQ_GRAD_MAX |
               1U << QRT_JOB_ULQ_GRAD_MIN,
    .ctx_size = sizeof(struct ascend),
    .ctx_align = 16,
    .max_inflight = ASCEND_SLOTS,
    .flags = 0,
    .open = ascend_open,
    .close = ascend_close,
    .query = ascend_query,
    .submit = ascend_submit,
    .wait = ascend_wait,
    .quiesce = ascend_quiesce,
    .last_native = ascend_native};
