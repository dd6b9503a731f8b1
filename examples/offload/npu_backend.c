/* A backend for a synchronous NPU: start here to write one for yours. It takes
 * one operator in one shape, QUANT of binary32 to int8 with one step for the
 * whole tensor, and declines the rest. */
#include "npu_backend.h"

/* The driver's errors in our words. What we do not know is a failed job once,
 * and a lost device when it happens again. */
static int32_t status_of(struct npu_context *c, int error)
{
    bool again = c->unknown;

    c->native = error != NPU_OK ? error : c->native;
    c->unknown = error < NPU_OK || error > NPU_GONE;
    switch (error) {
    case NPU_OK:
        return QRT_OFF_OK;
    case NPU_QUEUE_FULL:
        return QRT_OFF_BUSY;
    case NPU_JOB_FAILED:
        return QRT_OFF_EXEC;
    default:
        c->lost = error == NPU_GONE || again;
        return c->lost ? QRT_OFF_LOST : QRT_OFF_EXEC;
    }
}

static int32_t npu_attach(void *ctx, const struct qrt_off_host *host,
                          const void *cfg)
{
    struct npu_context *c = ctx;
    int error = npu_open();

    (void)cfg;
    c->job = NULL;
    c->native = error;
    c->unknown = false;
    c->lost = false;
    if (error == NPU_OK) {
        return QRT_OFF_OK;
    }
    if (host != NULL && host->note != NULL) {
        host->note(host->u, QRT_OFF_ENODEV, error, "npu: cannot open");
    }
    return error == NPU_NO_MEMORY ? QRT_OFF_ENOMEM : QRT_OFF_ENODEV;
}

static void npu_detach(void *ctx)
{
    (void)ctx;
    npu_close();
}

/* Every rule is one rounding or tie away from what the device computes; CANN's
 * is what it computes. */
static int32_t npu_query(void *ctx, const struct qrt_off_job *job,
                         struct qrt_off_reply *reply)
{
    const struct npu_context *c = ctx;

    if (c->lost) {
        return QRT_OFF_LOST;
    }
    if (job->op != QRT_JOB_QUANT || job->rule >= QRT_RULE_KINDS ||
        job->bits != 8 || job->channels != 1 ||
        job->params_size < sizeof(struct qrt_off_quant) ||
        ((const struct qrt_off_quant *)job->params)->scale == NULL ||
        job->in[0].dtype != QRT_T_F32 || job->out[0].dtype != QRT_T_I8 ||
        job->in[0].count > NPU_LARGEST || job->in[0].count == 0 ||
        job->in[0].count != job->outer * job->inner ||
        job->out[0].count != job->in[0].count) {
        return QRT_OFF_DECLINED;
    }
    reply->exact =
        job->rule == QRT_RULE_CANN ? QRT_EX_BITEXACT : QRT_EX_BOUNDED;
    reply->tol = 1;
    return QRT_OFF_OK;
}

/* The whole job: the call returns when the device is done. The result waits
 * in the context, so that a failed job leaves out[] alone. */
static int32_t npu_submit(void *ctx, const struct qrt_off_job *job,
                          uint32_t *ticket)
{
    struct npu_context *c = ctx;
    const struct qrt_off_quant *p = job->params;
    struct qrt_off_reply reply;
    union {
        uint32_t bits;
        float f;
    } step;
    int32_t status = npu_query(ctx, job, &reply);

    if (status != QRT_OFF_OK) {
        return status;
    }
    if (c->job != NULL) {
        return QRT_OFF_BUSY;
    }
    step.bits = qrt_real_to_f32(p->scale[0]);
    status = status_of(
        c, npu_quantize(job->in[0].ptr, job->in[0].count, 1.0f / step.f,
                        p->zero_point != NULL ? (float)p->zero_point[0] : 0.0f,
                        c->codes));
    if (status == QRT_OFF_OK) {
        c->job = job;
        *ticket = 1;
    }
    return status;
}

static int32_t npu_wait(void *ctx, uint32_t ticket, uint32_t timeout_ms)
{
    struct npu_context *c = ctx;
    int8_t *out;

    (void)timeout_ms;
    if (ticket != 1 || c->job == NULL) {
        return QRT_OFF_LOST;
    }
    out = c->job->out[0].ptr;
    for (uint32_t i = 0; i < c->job->out[0].count; i++) {
        out[i] = c->codes[i];
    }
    c->job = NULL;
    return QRT_OFF_OK;
}

/* Nothing runs between two calls. */
static int32_t npu_quiesce(void *ctx)
{
    (void)ctx;
    return QRT_OFF_OK;
}

static int32_t npu_native(void *ctx)
{
    const struct npu_context *c = ctx;

    return c->native;
}

const struct qrt_off_backend npu_backend = {
    .abi = QRT_OFF_ABI,
    .size = sizeof(struct qrt_off_backend),
    .name = "npu",
    .op_mask = 1u << QRT_JOB_QUANT,
    .ctx_size = sizeof(struct npu_context),
    .ctx_align = 8,
    .max_inflight = 1,
    .flags = 0,
    .open = npu_attach,
    .close = npu_detach,
    .query = npu_query,
    .submit = npu_submit,
    .wait = npu_wait,
    .quiesce = npu_quiesce,
    .last_native = npu_native,
};
