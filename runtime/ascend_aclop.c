/* IFMR and ULQ through single-operator models, which an installation may bring
 * for some shapes. What it has is asked for once, in open, by making a handle
 * of each model that the configuration names. */
#include "ascend.h"

#include "softf32.h"

#include <string.h>

/* Sizes of a buffer: a number of elements, or one of these. */
enum extent { ALL, ONE, BINS };

/* Inputs and outputs of an operator, in its own order. `slot` is the job's
 * input or output: of limits the first or second element (10, 11). */
struct port {
    int32_t type;
    enum extent extent;
    uint8_t slot;
};

struct op_model {
    uint8_t op;
    const char *name;
    int inputs, outputs;
    struct port in[4], out[4];
};

/* in[1] of the job has maximum and minimum of ULQ, minimum and maximum of
 * IFMR; the operators take the minimum first. */
static const struct op_model op_models[] = {
    {QRT_JOB_IFMR,
     "IFMR",               4,
     2, {{ACL_FLOAT, ALL, 0},
      {ACL_FLOAT, ONE, 10},
      {ACL_FLOAT, ONE, 11},
      {ACL_INT32, BINS, 2}},
     {{ACL_FLOAT, ONE, 0}, {ACL_FLOAT, ONE, 1}}},
    {QRT_JOB_ULQ_FWD,
     "ActsULQ",            3,
     4, {{ACL_FLOAT, ALL, 0}, {ACL_FLOAT, ONE, 11}, {ACL_FLOAT, ONE, 10}},
     {{ACL_FLOAT, ALL, 0},
      {ACL_BOOL, ALL, 1},
      {ACL_BOOL, ALL, 2},
      {ACL_FLOAT, ALL, 3}}                     },
    {QRT_JOB_ULQ_GRAD_X,
     "ActsULQInputGrad",   3,
     1, {{ACL_FLOAT, ALL, 0}, {ACL_BOOL, ALL, 1}, {ACL_BOOL, ALL, 2}},
     {{ACL_FLOAT, ALL, 0}}                     },
    {QRT_JOB_ULQ_GRAD_MAX,
     "ActULQClampMaxGrad", 3,
     1, {{ACL_FLOAT, ALL, 0}, {ACL_BOOL, ALL, 1}, {ACL_FLOAT, ALL, 2}},
     {{ACL_FLOAT, ONE, 0}}                     },
    {QRT_JOB_ULQ_GRAD_MIN,
     "ActULQClampMinGrad", 3,
     1, {{ACL_FLOAT, ALL, 0}, {ACL_BOOL, ALL, 1}, {ACL_FLOAT, ALL, 2}},
     {{ACL_FLOAT, ONE, 0}}                     }
};

static const struct op_model *op_model(uint32_t op)
{
    for (size_t i = 0; i < sizeof op_models / sizeof *op_models; i++) {
        if (op_models[i].op == op) {
            return &op_models[i];
        }
    }
    return NULL;
}

static uint32_t elements(const struct port *p, uint32_t count, uint32_t bins)
{
    switch (p->extent) {
    case ALL:
        return count;
    case BINS:
        return bins;
    case ONE:
    default:
        return 1;
    }
}

/* ----------------------------------------------------------- open: ask */

/* What a handle is asked for with; the library copies it. */
struct question {
    struct acl_desc *in[4], *out[4];
    struct acl_attr *attr;
};

static bool describe(struct ascend *a, const struct port *ports, int n,
                     const struct qrt_ascend_model *m, bool scalars,
                     struct acl_desc **desc)
{
    for (int i = 0; i < n; i++) {
        int64_t size = elements(&ports[i], m->count, m->bins);
        int axes = scalars && ports[i].extent == ONE ? 0 : 1;

        desc[i] =
            a->call.aclCreateTensorDesc(ports[i].type, axes, &size, ACL_ND);
        if (desc[i] == NULL) {
            return false;
        }
    }
    return true;
}

static float real32(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static float real64(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return (float)d;
}

static int32_t set_ifmr(struct ascend *a, struct acl_attr *attr,
                        const struct qrt_off_ifmr *p)
{
    const struct ascend_calls *c = &a->call;
    const float range[2] = {real32(p->start_bits), real32(p->end_bits)};
    int32_t code =
        c->aclopSetAttrFloat(attr, "min_percentile", real64(p->min_percentile));

    if (code == ACL_OK) {
        code = c->aclopSetAttrFloat(attr, "max_percentile",
                                    real64(p->max_percentile));
    }
    if (code == ACL_OK) {
        code = c->aclopSetAttrListFloat(attr, "search_range", 2, range);
    }
    if (code == ACL_OK) {
        code = c->aclopSetAttrFloat(attr, "search_step", real32(p->step_bits));
    }
    if (code == ACL_OK) {
        code = c->aclopSetAttrBool(attr, "with_offset", p->asymmetric != 0);
    }
    return code == ACL_OK ? c->aclopSetAttrInt(attr, "quant_bits", 8) : code;
}

static int32_t set_forward(struct ascend *a, struct acl_attr *attr,
                           const struct qrt_off_ulq *p)
{
    int32_t code =
        a->call.aclopSetAttrBool(attr, "fixed_min", p->fixed_min != 0);

    return code == ACL_OK ? a->call.aclopSetAttrInt(attr, "num_bits", 8) : code;
}

static int32_t set_attributes(struct ascend *a, struct acl_attr *attr,
                              const struct qrt_ascend_model *m)
{
    if (m->op == QRT_JOB_IFMR) {
        return m->params != NULL ? set_ifmr(a, attr, m->params) : ACL_OK;
    }
    return m->op == QRT_JOB_ULQ_FWD && m->params != NULL
               ? set_forward(a, attr, m->params)
               : ACL_OK;
}

static void forget(struct ascend *a, struct question *q)
{
    for (int i = 0; i < 4; i++) {
        if (q->in[i] != NULL) {
            a->call.aclDestroyTensorDesc(q->in[i]);
        }
        if (q->out[i] != NULL) {
            a->call.aclDestroyTensorDesc(q->out[i]);
        }
    }
    if (q->attr != NULL) {
        a->call.aclopDestroyAttr(q->attr);
    }
}

/* Whether the library has a model; its one-element outputs may have been
 * compiled as scalars or as rows of one. */
static int32_t ask(struct ascend *a, const struct qrt_ascend_model *m,
                   bool scalars, struct acl_handle **handle)
{
    const struct op_model *op = op_model(m->op);
    struct question q = {{NULL}, {NULL}, NULL};
    int32_t code = ACL_HOST_ALLOC;

    if (describe(a, op->in, op->inputs, m, false, q.in) &&
        describe(a, op->out, op->outputs, m, scalars, q.out)) {
        q.attr = a->call.aclopCreateAttr();
    }
    if (q.attr != NULL) {
        code = set_attributes(a, q.attr, m);
    }
    if (code == ACL_OK) {
        code = a->call.aclopCreateHandle(
            op->name, op->inputs, (const struct acl_desc *const *)q.in,
            op->outputs, (const struct acl_desc *const *)q.out, q.attr, handle);
        if (code != ACL_OK) {
            *handle = NULL;
        }
    }
    forget(a, &q);
    return code;
}

static bool is_model(const struct ascend *a, const struct qrt_ascend_model *m)
{
    return op_model(m->op) != NULL && (a->ops >> m->op & 1U) != 0 &&
           m->count != 0 && m->count <= a->cfg.max_elements &&
           (m->op != QRT_JOB_IFMR ||
            (m->bins != 0 && m->bins <= ASCEND_BINS && m->params != NULL));
}

static int32_t find_model(struct ascend *a, uint32_t i)
{
    const struct qrt_ascend_model *m = &a->cfg.models[i];
    int32_t code = ask(a, m, true, &a->handle[i]);

    if (code != ACL_OK) {
        code = ask(a, m, false, &a->handle[i]);
    }
    if (code == ACL_OK || m->blob == NULL || a->call.aclopLoad == NULL) {
        return code;
    }
    code = a->call.aclopLoad(m->blob, m->blob_size);
    if (code == ACL_OK) {
        code = ask(a, m, true, &a->handle[i]);
    }
    return code == ACL_OK ? code : ask(a, m, false, &a->handle[i]);
}

int32_t qrt_ascend_find_models(struct ascend *a)
{
    uint32_t found = (1U << QRT_JOB_QUANT) | (1U << QRT_JOB_ANTIQUANT);
    int32_t code = ACL_OK;

    if (a->cfg.model_dir != NULL && a->call.aclopSetModelDir != NULL &&
        a->cfg.model_count != 0) {
        /* Once per process: a second time it refuses, which is as good. */
        (void)a->call.aclopSetModelDir(a->cfg.model_dir);
    }
    for (uint32_t i = 0; i < a->cfg.model_count; i++) {
        if (is_model(a, &a->cfg.models[i]) && a->handle[i] == NULL) {
            code = find_model(a, i);
        }
        if (a->handle[i] != NULL) {
            found |= 1U << a->cfg.models[i].op;
        }
        if (qrt_ascend_is_loss(code)) {
            return code;
        }
    }
    a->ops &= found;
    return ACL_OK;
}

/* ----------------------------------------------------------------- launch */

static int32_t put_port(struct ascend *a, const struct qrt_off_job *job,
                        const struct port *p, uint8_t *at, bool invert)
{
    const float *limits = job->in[1].ptr;

    if (p->slot >= 10) {
        return qrt_ascend_put_bytes(a, at, &limits[p->slot - 10],
                                    sizeof *limits);
    }
    return qrt_ascend_put(a, at, &job->in[p->slot], ASCEND_AS_IT_IS, invert);
}

static uint32_t bytes_of(const struct port *p, const struct qrt_off_job *job)
{
    return elements(p, job->in[0].count, job->in[2].count) *
           (p->type == ACL_BOOL ? 1U : 4U);
}

static int32_t wrap(struct ascend *a, struct ascend_slot *s, int k, uint8_t *at,
                    uint32_t bytes)
{
    s->buffer[k] = a->call.aclCreateDataBuffer(at, bytes);
    return s->buffer[k] != NULL ? QRT_OFF_OK
                                : qrt_ascend_status(a, ACL_HOST_ALLOC);
}

static int32_t put_inputs(struct ascend *a, struct ascend_slot *s,
                          const struct qrt_off_job *job,
                          const struct op_model *op, bool older)
{
    int32_t status = QRT_OFF_OK;

    for (int i = 0; status == QRT_OFF_OK && i < op->inputs; i++) {
        uint32_t bytes = bytes_of(&op->in[i], job);
        uint8_t *at = qrt_ascend_place(s, bytes);
        /* The present operator adds the mask where the CPU kernel, AMCT and
         * its predecessor add 1 - mask. */
        bool invert = job->op == QRT_JOB_ULQ_GRAD_MAX && i == 1 && !older;

        status = put_port(a, job, &op->in[i], at, invert);
        if (status == QRT_OFF_OK) {
            status = wrap(a, s, i, at, bytes);
        }
    }
    return status;
}

int32_t qrt_ascend_launch_aclop(struct ascend *a, struct ascend_slot *s,
                                const struct qrt_off_job *job)
{
    const struct op_model *op = op_model(job->op);
    int model = qrt_ascend_model_of(a, job);
    int32_t status;

    s->used = 0;
    status = put_inputs(a, s, job, op, a->cfg.models[model].older != 0);
    for (int i = 0; status == QRT_OFF_OK && i < op->outputs; i++) {
        uint32_t bytes = bytes_of(&op->out[i], job);

        s->out[i] = qrt_ascend_place(s, bytes);
        status = wrap(a, s, 4 + i, s->out[i], bytes);
    }
    s->faults = a->faults;
    if (status != QRT_OFF_OK) {
        return status;
    }
    return qrt_ascend_status(
        a, a->call.aclopExecWithHandle(
               a->handle[model], op->inputs,
               (const struct acl_buffer *const *)s->buffer, op->outputs,
               (struct acl_buffer *const *)(s->buffer + 4), s->stream));
}
