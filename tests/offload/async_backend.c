/* An asynchronous backend with staging, four slots, on the device of device.h:
 * every rule of qrt_offload.h for backend authors has its line here, and
 * MUTANT(x) breaks one of them on request. */
#include "device.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define SLOTS   4
#define LARGEST 4000

/* One deliberate fault each; ASYNC_SOUND is the backend as it should be. */
enum async_mutant {
    ASYNC_SOUND,
    ASYNC_NO_SYNC,         /* copies out without waiting                   */
    ASYNC_SYNC_IGNORED,    /* waits, does not look at the result           */
    ASYNC_OUT_IN_SUBMIT,   /* writes outputs before the job has ended      */
    ASYNC_NOT_INVERTED,    /* gives the step where 1 / step belongs        */
    ASYNC_ADD_AFTER,       /* adds the zero point after rounding           */
    ASYNC_EXACT_CLAIM,     /* claims AMCT's division bit for bit           */
    ASYNC_FIRST_CHANNEL,   /* uses the factors of channel 0 for all        */
    ASYNC_CPU_SILENTLY,    /* runs the CPU kernel instead                  */
    ASYNC_NO_FORK_CHECK,   /* goes on in a child process                   */
    ASYNC_UNKNOWN_OK,      /* takes an unknown code for success            */
    ASYNC_UNKNOWN_EXEC,    /* never gives up over unknown codes            */
    ASYNC_LOST_FORGOTTEN,  /* calls the driver after a loss                */
    ASYNC_LATE_SUCCESS,    /* believes a success after a timeout           */
    ASYNC_QUIESCE_LIES,    /* says stopped when it is not                  */
    ASYNC_SLOT_LEAK,       /* keeps the slot of a failed job               */
    ASYNC_BUFFER_LEAK,     /* forgets a buffer in close                    */
    ASYNC_OPEN_LEAK,       /* keeps what it had when open fails            */
    ASYNC_CTX_OVERRUN,     /* writes behind its state                      */
    ASYNC_OUT_OVERRUN,     /* writes one byte too many                     */
    ASYNC_INPUT_TOUCHED,   /* changes an input                             */
    ASYNC_RULE_IGNORED,    /* takes every rule                             */
    ASYNC_BITS_IGNORED,    /* takes every width                            */
    ASYNC_PARAMS_IGNORED,  /* does not look at params_size                 */
    ASYNC_COUNT_IGNORED,   /* takes more than fits                         */
    ASYNC_DTYPE_IGNORED,   /* takes every type of input                    */
    ASYNC_QUERY_WORKS,     /* talks to the device in query                 */
    ASYNC_DECLINE_WRITES,  /* writes an output, then declines              */
    ASYNC_WRONG_TICKET,    /* finishes another job than asked              */
    ASYNC_ZERO_TICKET,     /* hands out ticket 0                           */
    ASYNC_LOST_IS_BUSY,    /* reports a loss as busy                       */
    ASYNC_EXEC_IS_LOST,    /* gives up over one failed job                 */
    ASYNC_NO_ROOM_IS_LOST, /* gives up when there is no room               */
    ASYNC_STICKY_IN_CLOSE, /* does not release after a loss                */
    ASYNC_MUTANTS
};
static enum async_mutant async_mutant;
#define MUTANT(x) (async_mutant == ASYNC_##x)

struct async_slot {
    const struct qrt_off_job *job; /* null: free                       */
    uint32_t ticket;
    int in[3], out; /* device buffers                                   */
    int id;         /* of the launched task                             */
    bool late;      /* a wait has timed out                             */
    bool stopped;
};

struct async_ctx {
    struct async_slot slot[SLOTS];
    uint32_t next;
    int32_t native;
    int32_t unknown; /* codes nobody knows, in a row */
    bool lost;
    pid_t pid;
};

static bool async_usable(const struct async_ctx *c)
{
    return (!c->lost || MUTANT(LOST_FORGOTTEN)) &&
           (c->pid == getpid() || MUTANT(NO_FORK_CHECK));
}

/* Our word for a code of the driver. */
static int32_t async_status(struct async_ctx *c, int code)
{
    if (code != DEV_OK) {
        c->native = code;
    }
    switch (code) {
    case DEV_OK:
        return QRT_OFF_OK;
    case DEV_NO_ROOM:
        c->lost = c->lost || MUTANT(NO_ROOM_IS_LOST);
        return MUTANT(NO_ROOM_IS_LOST) ? QRT_OFF_LOST : QRT_OFF_BUSY;
    case DEV_LAUNCH:
    case DEV_EXEC:
        c->lost = c->lost || MUTANT(EXEC_IS_LOST);
        return MUTANT(EXEC_IS_LOST) ? QRT_OFF_LOST : QRT_OFF_EXEC;
    case DEV_TIMEOUT:
        return QRT_OFF_TIMEOUT;
    case DEV_GONE:
        c->lost = true;
        return MUTANT(LOST_IS_BUSY) ? QRT_OFF_BUSY : QRT_OFF_LOST;
    default:
        if (MUTANT(UNKNOWN_OK)) {
            return QRT_OFF_OK;
        }
        if (c->unknown++ == 0 || MUTANT(UNKNOWN_EXEC)) {
            return QRT_OFF_EXEC;
        }
        c->lost = true;
        return QRT_OFF_LOST;
    }
}

/* ------------------------------------------------------- open and close */

static void release(struct async_ctx *c)
{
    for (int i = 0; i < SLOTS; i++) {
        for (int k = 0; k < 3; k++) {
            if (c->slot[i].in[k] != 0) {
                (void)dev_free(c->slot[i].in[k]);
            }
        }
        if (c->slot[i].out != 0 && !(MUTANT(BUFFER_LEAK) && i == 2)) {
            (void)dev_free(c->slot[i].out);
        }
    }
    (void)dev_close();
}

static int32_t async_open(void *ctx, const struct qrt_off_host *host,
                          const void *cfg)
{
    struct async_ctx *c = ctx;
    int code = DEV_OK;

    (void)cfg;
    memset(c, 0, sizeof *c);
    if (MUTANT(CTX_OVERRUN)) {
        memset(c + 1, 0, 1);
    }
    c->pid = getpid();
    if (dev_open() != DEV_OK) {
        if (host != NULL && host->note != NULL) {
            host->note(host->u, QRT_OFF_ENODEV, DEV_NO_DEVICE, "no device");
        }
        return QRT_OFF_ENODEV;
    }
    for (int i = 0; code == DEV_OK && i < SLOTS; i++) {
        for (int k = 0; code == DEV_OK && k < 3; k++) {
            code = dev_alloc(4 * LARGEST, &c->slot[i].in[k]);
        }
        code = code == DEV_OK ? dev_alloc(4 * LARGEST, &c->slot[i].out) : code;
    }
    if (code == DEV_OK) {
        return QRT_OFF_OK;
    }
    if (!MUTANT(OPEN_LEAK)) {
        release(c);
    }
    return QRT_OFF_ENOMEM;
}

static void async_close(void *ctx)
{
    struct async_ctx *c = ctx;

    if (c->pid == getpid() && !(c->lost && MUTANT(STICKY_IN_CLOSE))) {
        (void)dev_stop();
        release(c);
    }
}

/* ----------------------------------------------------------------- query */

static bool takes(const struct qrt_off_job *job, uint32_t params_size,
                  uint32_t in, uint32_t out)
{
    uint64_t n = (uint64_t)job->outer * job->channels * job->inner;

    return (n <= LARGEST || MUTANT(COUNT_IGNORED)) && job->channels <= 64 &&
           (job->in[0].dtype == in || MUTANT(DTYPE_IGNORED)) &&
           job->in[0].count == n && job->out[0].dtype == out &&
           (job->params_size >= params_size || MUTANT(PARAMS_IGNORED));
}

static bool takes_masks(const struct qrt_off_job *job, uint32_t third)
{
    return takes(job, 0, QRT_T_F32, QRT_T_F32) &&
           job->in[1].dtype == QRT_T_BOOL8 &&
           job->in[1].count == job->in[0].count && job->in[2].dtype == third &&
           job->in[2].count == job->in[0].count;
}

/* The class for a job; QRT_EX_ANY + 1: not taken. */
static uint8_t class_of(const struct qrt_off_job *job, uint16_t *tol)
{
    const uint8_t no = QRT_EX_ANY + 1;
    bool cann = job->rule == QRT_RULE_CANN;

    *tol = 1;
    if (job->rule >= QRT_RULE_KINDS && !MUTANT(RULE_IGNORED)) {
        return no;
    }
    switch (job->op) {
    case QRT_JOB_QUANT:
    case QRT_JOB_WQUANT:
        if (!takes(job, sizeof(struct qrt_off_quant), QRT_T_F32, QRT_T_I8) ||
            job->out[0].count != job->in[0].count ||
            (job->bits != 8 && !MUTANT(BITS_IGNORED))) {
            return no;
        }
        return cann || (MUTANT(EXACT_CLAIM) && job->rule == QRT_RULE_AMCT)
                   ? QRT_EX_BITEXACT
                   : QRT_EX_BOUNDED;
    case QRT_JOB_ANTIQUANT:
        return takes(job, sizeof(struct qrt_antiquantize), QRT_T_I8,
                     job->out[0].dtype == QRT_T_F16 ? QRT_T_F16 : QRT_T_F32) &&
                       job->out[0].count == job->in[0].count
                   ? QRT_EX_BITEXACT
                   : no;
    case QRT_JOB_ULQ_GRAD_X:
        return cann && takes_masks(job, QRT_T_BOOL8) ? QRT_EX_BITEXACT : no;
    case QRT_JOB_ULQ_GRAD_MAX:
    case QRT_JOB_ULQ_GRAD_MIN: /* the order of the sum */
        *tol = 2000;
        return takes_masks(job, QRT_T_F32) && job->out[0].count == 1
                   ? QRT_EX_BOUNDED
                   : no;
    default:
        return no;
    }
}

static int32_t async_query(void *ctx, const struct qrt_off_job *job,
                           struct qrt_off_reply *reply)
{
    struct async_ctx *c = ctx;

    if (!async_usable(c)) {
        return QRT_OFF_LOST;
    }
    if (MUTANT(QUERY_WORKS)) {
        int id;
        struct dev_task task = {0};

        (void)dev_launch(&task, &id);
    }
    reply->exact = class_of(job, &reply->tol);
    if (reply->exact > QRT_EX_ANY) {
        if (MUTANT(DECLINE_WRITES)) {
            *(uint8_t *)job->out[0].ptr = 1;
        }
        return QRT_OFF_DECLINED;
    }
    return QRT_OFF_OK;
}

/* ---------------------------------------------------------------- submit */

static float float_of(struct qrt_real r)
{
    uint32_t bits = qrt_real_to_f32(r);
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Factors and offsets of all channels into the slot's buffers 1 and 2. */
static int write_factors(const struct qrt_off_job *job,
                         const struct async_slot *s,
                         const struct qrt_real *scale, const int32_t *zero,
                         bool invert)
{
    float a[64], b[64];
    int code;

    for (uint32_t i = 0; i < job->channels; i++) {
        uint32_t from = MUTANT(FIRST_CHANNEL) ? 0 : i;

        a[i] = float_of(scale[from]);
        a[i] = invert && !MUTANT(NOT_INVERTED) ? 1.0f / a[i] : a[i];
        b[i] = zero != NULL ? (float)zero[from] : 0.0f;
    }
    code = dev_write(s->in[1], a, job->channels * 4);
    return code == DEV_OK ? dev_write(s->in[2], b, job->channels * 4) : code;
}

static int write_input(const struct qrt_off_job *job,
                       const struct async_slot *s, int k)
{
    return dev_write(s->in[k], job->in[k].ptr,
                     job->in[k].count * qrt_dtype_size(job->in[k].dtype));
}

static int stage(const struct qrt_off_job *job, const struct async_slot *s,
                 struct dev_task *t)
{
    const struct qrt_off_quant *q = job->params;
    const struct qrt_antiquantize *a = job->params;
    int code = write_input(job, s, 0);

    memcpy(t->in, s->in, sizeof t->in);
    t->out = s->out;
    t->n = job->outer * job->channels * job->inner;
    t->channels = job->channels;
    t->inner = job->inner;
    t->lo = -128;
    t->hi = 127;
    if (code != DEV_OK) {
        return code;
    }
    if (job->op == QRT_JOB_QUANT || job->op == QRT_JOB_WQUANT) {
        t->op = DEV_QUANT;
        return write_factors(job, s, q->scale, q->zero_point, true);
    }
    if (job->op == QRT_JOB_ANTIQUANT) {
        t->op = DEV_ANTIQUANT;
        t->half = job->out[0].dtype == QRT_T_F16;
        t->twice = a->sqrt_mode;
        return write_factors(job, s, a->scale, a->offset, false);
    }
    t->op = job->op == QRT_JOB_ULQ_GRAD_X     ? DEV_GRAD_X
            : job->op == QRT_JOB_ULQ_GRAD_MAX ? DEV_GRAD_MAX
                                              : DEV_GRAD_MIN;
    code = write_input(job, s, 1);
    return code == DEV_OK ? write_input(job, s, 2) : code;
}

static int32_t async_submit(void *ctx, const struct qrt_off_job *job,
                            uint32_t *ticket)
{
    struct async_ctx *c = ctx;
    struct async_slot *s = NULL;
    struct dev_task task = {0};
    uint16_t tol;
    int32_t status;
    int code;

    if (!async_usable(c)) {
        return QRT_OFF_LOST;
    }
    if (class_of(job, &tol) > QRT_EX_ANY) {
        return QRT_OFF_DECLINED;
    }
    for (int i = 0; i < SLOTS; i++) {
        s = c->slot[i].job == NULL ? &c->slot[i] : s;
    }
    if (s == NULL) {
        return QRT_OFF_BUSY;
    }
    code = stage(job, s, &task);
    if (code == DEV_OK && MUTANT(ADD_AFTER) && task.op == DEV_QUANT) {
        static const float none[64];

        (void)dev_write(s->in[2], none, job->channels * 4);
    }
    if (code == DEV_OK) {
        code = dev_launch(&task, &s->id);
    }
    status = async_status(c, code);
    if (status != QRT_OFF_OK) {
        return status;
    }
    s->job = job;
    s->late = s->stopped = false;
    s->ticket = ++c->next;
    *ticket = MUTANT(ZERO_TICKET) ? 0 : s->ticket;
    if (MUTANT(OUT_IN_SUBMIT)) {
        (void)dev_read(s->out, job->out[0].ptr, job->out[0].count);
    }
    if (MUTANT(INPUT_TOUCHED)) {
        memset((uint8_t *)(uintptr_t)job->in[0].ptr, 0, 1);
    }
    return QRT_OFF_OK;
}

/* ------------------------------------------------------------------ wait */

/* For ASYNC_ADD_AFTER: what FakeQuant does, where AscendQuant was meant. */
static void add_after(const struct qrt_off_job *job)
{
    const struct qrt_off_quant *q = job->params;
    int8_t *code = job->out[0].ptr;

    for (uint32_t i = 0; i < job->out[0].count; i++) {
        uint32_t channel = i / job->inner % job->channels;
        int32_t zero = q->zero_point == NULL ? 0 : q->zero_point[channel];
        int32_t sum = code[i] + zero;

        code[i] = (int8_t)(sum < -128 ? -128 : sum > 127 ? 127 : sum);
    }
}

static int32_t fetch(struct async_ctx *c, struct async_slot *s)
{
    const struct qrt_off_job *job = s->job;
    uint32_t bytes = job->out[0].count * qrt_dtype_size(job->out[0].dtype);
    int32_t status;

    if (MUTANT(CPU_SILENTLY)) {
        return qrt_cpu_quant_f32(job) == QRT_OK ? QRT_OFF_OK : QRT_OFF_EXEC;
    }
    if (MUTANT(OUT_OVERRUN)) {
        bytes++;
    }
    status = async_status(c, dev_read(s->out, job->out[0].ptr, bytes));
    if (status == QRT_OFF_OK) {
        c->unknown = 0;
        if (MUTANT(ADD_AFTER) &&
            (job->op == QRT_JOB_QUANT || job->op == QRT_JOB_WQUANT)) {
            add_after(job);
        }
    }
    return status;
}

/* Decides a slot: the ticket is retired unless it is undecided. */
static int32_t decide(struct async_ctx *c, struct async_slot *s,
                      uint32_t timeout_ms)
{
    bool done = false;
    int32_t status;

    if (MUTANT(NO_SYNC) || MUTANT(CPU_SILENTLY)) {
        return fetch(c, s);
    }
    if (s->stopped) {
        /* The driver may have used up the error: only the job itself knows. */
        status = async_status(c, dev_done(s->id, &done));
        if (MUTANT(LATE_SUCCESS)) {
            done = true;
        }
        (void)dev_sync(s->id, 1);
        if (status != QRT_OFF_OK) {
            return status;
        }
        return done ? fetch(c, s) : QRT_OFF_EXEC;
    }
    status = async_status(c, dev_sync(s->id, timeout_ms));
    if (MUTANT(SYNC_IGNORED)) {
        status = QRT_OFF_OK;
    }
    return status == QRT_OFF_OK ? fetch(c, s) : status;
}

static int32_t async_wait(void *ctx, uint32_t ticket, uint32_t timeout_ms)
{
    struct async_ctx *c = ctx;
    struct async_slot *s = NULL;
    int32_t status;

    for (int i = 0; i < SLOTS; i++) {
        if (c->slot[i].job != NULL &&
            (c->slot[i].ticket == ticket || MUTANT(WRONG_TICKET))) {
            s = &c->slot[i];
        }
    }
    if (!async_usable(c) || s == NULL) {
        if (s != NULL) {
            s->job = NULL;
        }
        return QRT_OFF_LOST;
    }
    status = decide(c, s, timeout_ms);
    if (status == QRT_OFF_TIMEOUT) {
        s->late = true;
    } else if (status == QRT_OFF_OK || !MUTANT(SLOT_LEAK)) {
        s->job = NULL;
    }
    return status;
}

static int32_t async_quiesce(void *ctx)
{
    struct async_ctx *c = ctx;
    int32_t status;

    if (!async_usable(c)) {
        return QRT_OFF_LOST;
    }
    status = MUTANT(QUIESCE_LIES) ? QRT_OFF_OK : async_status(c, dev_stop());
    if (status != QRT_OFF_OK) {
        c->lost = true;
        return QRT_OFF_LOST;
    }
    for (int i = 0; i < SLOTS; i++) {
        c->slot[i].stopped = c->slot[i].job != NULL;
    }
    return QRT_OFF_OK;
}

static int32_t async_native(void *ctx)
{
    return ((struct async_ctx *)ctx)->native;
}

static const struct qrt_off_backend async_backend = {
    QRT_OFF_ABI,
    sizeof(struct qrt_off_backend),
    "async",
    1u << QRT_JOB_QUANT | 1u << QRT_JOB_WQUANT | 1u << QRT_JOB_ANTIQUANT |
        1u << QRT_JOB_ULQ_GRAD_X | 1u << QRT_JOB_ULQ_GRAD_MAX |
        1u << QRT_JOB_ULQ_GRAD_MIN,
    sizeof(struct async_ctx),
    8,
    SLOTS,
    0,
    async_open,
    async_close,
    async_query,
    async_submit,
    async_wait,
    async_quiesce,
    async_native};

static const struct conf_subject async_subject = {.backend = &async_backend,
                                                  .largest = LARGEST,
                                                  .process_bound = true,
                                                  .reset = dev_reset,
                                                  .calls = dev_calls,
                                                  .jobs = dev_jobs,
                                                  .live = dev_live,
                                                  .inject = dev_inject};
