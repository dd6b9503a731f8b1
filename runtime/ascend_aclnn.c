/* AscendQuant and AscendAntiQuant through aclnn: two calls, the first of which
 * makes an executor that the second uses up. */
#include "ascend.h"

#include "cpu_entry.h"

/* The view of a buffer, dense. */
struct view {
    int64_t size[3], step[3];
    uint64_t axes;
};

static struct view view_of(const struct qrt_off_job *job)
{
    struct view v = {{0}, {0}, 0};

    if (job->channels == 1) {
        v.size[v.axes++] = (int64_t)job->outer * job->inner;
    } else {
        v.size[v.axes++] = job->outer;
        v.size[v.axes++] = job->channels;
        if (job->inner != 1) {
            v.size[v.axes++] = job->inner;
        }
    }
    v.step[v.axes - 1] = 1;
    for (uint64_t i = v.axes - 1; i > 0; i--) {
        v.step[i - 1] = v.step[i] * v.size[i];
    }
    return v;
}

static struct view row_of(uint32_t n)
{
    struct view v = {{0}, {0}, 1};

    v.size[0] = n;
    v.step[0] = 1;
    return v;
}

static int32_t tensor(struct ascend *a, struct ascend_slot *s, int k,
                      const struct view *v, int32_t type, uint8_t *at)
{
    s->tensor[k] = a->call.aclCreateTensor(v->size, v->axes, type, v->step, 0,
                                           ACL_ND, v->size, v->axes, at);
    return s->tensor[k] != NULL ? QRT_OFF_OK
                                : qrt_ascend_status(a, ACL_HOST_ALLOC);
}

/* The four tensors of both operators: x, factors, offsets (may be none), y. */
static int32_t tensors(struct ascend *a, struct ascend_slot *s,
                       const struct qrt_off_job *job, uint8_t *const at[4])
{
    bool quant = job->op == QRT_JOB_QUANT;
    const struct view all = view_of(job), row = row_of(job->channels);
    int32_t status = tensor(a, s, 0, &all, quant ? ACL_FLOAT : ACL_INT8, at[0]);

    if (status == QRT_OFF_OK) {
        status = tensor(a, s, 1, &row, ACL_FLOAT, at[1]);
    }
    if (status == QRT_OFF_OK && at[2] != NULL) {
        status = tensor(a, s, 2, &row, ACL_FLOAT, at[2]);
    }
    return status == QRT_OFF_OK
               ? tensor(a, s, 3, &all, quant ? ACL_INT8 : ACL_FLOAT16, at[3])
               : status;
}

static int32_t put_quant(struct ascend *a, const struct qrt_off_job *job,
                         uint8_t *const at[4])
{
    const struct qrt_off_quant *p = job->params;
    int32_t status =
        qrt_ascend_put(a, at[0], &job->in[0],
                       qrt_entry_frac(job->in[0].dtype, p->frac), false);

    if (status == QRT_OFF_OK) {
        status = qrt_ascend_put_steps(a, at[1], p->scale, job->channels, true);
    }
    return status == QRT_OFF_OK && p->zero_point != NULL
               ? qrt_ascend_put_zeros(a, at[2], p->zero_point, job->channels)
               : status;
}

/* The parameters' offset is the operator's own, minus the zero point. */
static int32_t put_antiquant(struct ascend *a, const struct qrt_off_job *job,
                             uint8_t *const at[4])
{
    const struct qrt_antiquantize *p = job->params;
    int32_t status =
        qrt_ascend_put(a, at[0], &job->in[0], ASCEND_AS_IT_IS, false);

    if (status == QRT_OFF_OK) {
        status = qrt_ascend_put_steps(a, at[1], p->scale, job->channels, false);
    }
    return status == QRT_OFF_OK && p->offset != NULL
               ? qrt_ascend_put_zeros(a, at[2], p->offset, job->channels)
               : status;
}

/* The operator of a job. */
enum form { QUANT, QUANT_AXIS, ANTIQUANT };

static enum form form_of(const struct ascend *a, const struct qrt_off_job *job)
{
    if (job->op == QRT_JOB_ANTIQUANT) {
        return ANTIQUANT;
    }
    return a->chip == ASCEND_950 || (job->channels != 1 && job->inner != 1)
               ? QUANT_AXIS
               : QUANT;
}

static int32_t first_call(struct ascend *a, const struct ascend_slot *s,
                          const struct qrt_off_job *job, uint64_t *size,
                          struct acl_executor **executor)
{
    const struct qrt_antiquantize *p = job->params;
    struct acl_tensor *const *t = s->tensor;
    int32_t axis = job->channels != 1 && job->inner != 1 ? -2 : -1;

    switch (form_of(a, job)) {
    case QUANT:
        return a->call.aclnnAscendQuantGetWorkspaceSize(
            t[0], t[1], t[2], false, "round", ACL_INT8, t[3], size, executor);
    case QUANT_AXIS:
        return a->call.aclnnAscendQuantV3GetWorkspaceSize(
            t[0], t[1], t[2], false, "round", ACL_INT8, axis, t[3], size,
            executor);
    case ANTIQUANT:
    default:
        return a->call.aclnnAscendAntiQuantGetWorkspaceSize(
            t[0], t[1], t[2], ACL_FLOAT16, p->sqrt_mode, t[3], size, executor);
    }
}

static int32_t second_call(struct ascend *a, const struct ascend_slot *s,
                           const struct qrt_off_job *job, uint64_t size,
                           struct acl_executor *executor)
{
    void *workspace = size != 0 ? s->workspace : NULL;

    switch (form_of(a, job)) {
    case QUANT:
        return a->call.aclnnAscendQuant(workspace, size, executor, s->stream);
    case QUANT_AXIS:
        return a->call.aclnnAscendQuantV3(workspace, size, executor, s->stream);
    case ANTIQUANT:
    default:
        return a->call.aclnnAscendAntiQuant(workspace, size, executor,
                                            s->stream);
    }
}

/* An executor that will not be used. Only one that may be used repeatedly can
 * be given back; in versions without these it stays, once per shape. */
static int32_t drop(struct ascend *a, const struct qrt_off_job *job,
                    struct acl_executor *executor)
{
    int32_t status = QRT_OFF_OK;

    if (a->call.aclSetAclOpExecutorRepeatable != NULL &&
        a->call.aclDestroyAclOpExecutor != NULL) {
        status = qrt_ascend_status(
            a, a->call.aclSetAclOpExecutorRepeatable(executor));
        if (status == QRT_OFF_OK) {
            status =
                qrt_ascend_status(a, a->call.aclDestroyAclOpExecutor(executor));
        }
    }
    qrt_ascend_refuse(a, job);
    return status == QRT_OFF_OK ? QRT_OFF_DECLINED : status;
}

static int32_t launch(struct ascend *a, const struct ascend_slot *s,
                      const struct qrt_off_job *job)
{
    struct acl_executor *executor = NULL;
    uint64_t size = 0;
    int32_t status =
        qrt_ascend_status(a, first_call(a, s, job, &size, &executor));

    if (status != QRT_OFF_OK) {
        return status;
    }
    if (size > a->cfg.workspace) {
        return drop(a, job, executor);
    }
    return qrt_ascend_status(a, second_call(a, s, job, size, executor));
}

int32_t qrt_ascend_launch_aclnn(struct ascend *a, struct ascend_slot *s,
                                const struct qrt_off_job *job)
{
    bool quant = job->op == QRT_JOB_QUANT;
    const struct qrt_off_quant *q = job->params;
    const struct qrt_antiquantize *aq = job->params;
    bool offsets = quant ? q->zero_point != NULL : aq->offset != NULL;
    uint32_t n = job->in[0].count, row = 4U * job->channels;
    uint8_t *at[4] = {NULL, NULL, NULL, NULL};
    int32_t status;

    s->used = 0;
    at[0] = qrt_ascend_place(s, (quant ? 4U : 1U) * n);
    at[1] = qrt_ascend_place(s, row);
    at[2] = offsets ? qrt_ascend_place(s, row) : NULL;
    at[3] = qrt_ascend_place(s, (quant ? 1U : 2U) * n);
    s->out[0] = at[3];
    status = quant ? put_quant(a, job, at) : put_antiquant(a, job, at);
    if (status == QRT_OFF_OK) {
        status = tensors(a, s, job, at);
    }
    s->faults = a->faults;
    return status == QRT_OFF_OK ? launch(a, s, job) : status;
}
