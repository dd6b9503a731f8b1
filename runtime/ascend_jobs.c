/* Which jobs are taken, and what is promised for them.
 *
 * Chips differ in the operators that are documented for them, so nothing is
 * asked of a chip that its documentation does not name. The class follows the
 * arithmetic: the device multiplies by 1 / step, adds the zero point and rounds
 * once, which is rule CANN; every other rule is a rounding or a tie away. */
#include "ascend.h"

#include "cpu_entry.h"

#include <string.h>

#define BIT(op)   (1U << (op))
#define FORWARD   BIT(QRT_JOB_ULQ_FWD)
#define GRADIENT  BIT(QRT_JOB_ULQ_GRAD_X)
#define OF_LIMITS (BIT(QRT_JOB_ULQ_GRAD_MAX) | BIT(QRT_JOB_ULQ_GRAD_MIN))
#define ACLNN     (BIT(QRT_JOB_QUANT) | BIT(QRT_JOB_ANTIQUANT))
#define ACLOP     (FORWARD | GRADIENT | OF_LIMITS | BIT(QRT_JOB_IFMR))

/* Documented operators of each chip. Single-operator models are not executed
 * on the 950; IFMR is known from the operator store of the 910B alone. */
static const uint32_t chip_ops[ASCEND_UNKNOWN + 1] = {
    [ASCEND_310P] = ACLNN | GRADIENT,
    [ASCEND_910] = GRADIENT,
    [ASCEND_910B] = ACLNN | ACLOP,
    [ASCEND_910_93] = ACLNN | FORWARD | GRADIENT | OF_LIMITS,
    [ASCEND_950] = BIT(QRT_JOB_QUANT)};

enum ascend_chip qrt_ascend_chip_of(const char *soc)
{
    /* Longer names first. */
    static const struct {
        const char *start;
        enum ascend_chip chip;
    } names[] = {
        {"Ascend310P",   ASCEND_310P  },
        {"Ascend310B",   ASCEND_310B  },
        {"Ascend310",    ASCEND_310   },
        {"Ascend910B",   ASCEND_910B  },
        {"Ascend910_93", ASCEND_910_93},
        {"Ascend910",    ASCEND_910   },
        {"Ascend950",    ASCEND_950   }
    };

    for (size_t i = 0; soc != NULL && i < sizeof names / sizeof *names; i++) {
        if (strncmp(soc, names[i].start, strlen(names[i].start)) == 0) {
            return names[i].chip;
        }
    }
    return ASCEND_UNKNOWN;
}

/* AscendQuant is taken by its newest form on the chip that has no other. */
static bool has_quant(const struct ascend *a)
{
    const struct ascend_calls *c = &a->call;

    return a->chip == ASCEND_950
               ? c->aclnnAscendQuantV3GetWorkspaceSize && c->aclnnAscendQuantV3
               : c->aclnnAscendQuantGetWorkspaceSize && c->aclnnAscendQuant;
}

static bool has_aclop(const struct ascend_calls *c)
{
    return c->aclCreateDataBuffer && c->aclDestroyDataBuffer &&
           c->aclCreateTensorDesc && c->aclDestroyTensorDesc &&
           c->aclopCreateAttr && c->aclopDestroyAttr && c->aclopSetAttrBool &&
           c->aclopSetAttrInt && c->aclopSetAttrFloat &&
           c->aclopSetAttrListFloat && c->aclopCreateHandle &&
           c->aclopExecWithHandle && c->aclopDestroyHandle;
}

uint32_t qrt_ascend_ops(const struct ascend *a)
{
    const struct ascend_calls *c = &a->call;
    bool tensors = c->aclCreateTensor && c->aclDestroyTensor;
    uint32_t ops = chip_ops[a->chip];

    if (!tensors || !has_quant(a)) {
        ops &= ~BIT(QRT_JOB_QUANT);
    }
    if (!tensors || !c->aclnnAscendAntiQuantGetWorkspaceSize ||
        !c->aclnnAscendAntiQuant) {
        ops &= ~BIT(QRT_JOB_ANTIQUANT);
    }
    return has_aclop(c) ? ops : ops & ~ACLOP;
}

/* ------------------------------------------------------- forms of a job */

static bool has_in(const struct qrt_off_job *job, int k, uint32_t dtype,
                   uint32_t n)
{
    return job->in[k].dtype == dtype && job->in[k].count == n;
}

static bool has_out(const struct qrt_off_job *job, int k, uint32_t dtype,
                    uint32_t n)
{
    return job->out[k].dtype == dtype && job->out[k].count == n;
}

static bool may_have_out(const struct qrt_off_job *job, int k, uint32_t dtype,
                         uint32_t n)
{
    return job->out[k].ptr == NULL || has_out(job, k, dtype, n);
}

static bool params_ok(const struct qrt_off_job *job, size_t size)
{
    return job->params != NULL && job->params_size >= size;
}

/* One factor for all, or one per element of the last axis; of the axis before
 * it only where the newest form of AscendQuant exists. */
static bool channels_ok(const struct ascend *a, const struct qrt_off_job *job)
{
    if (job->channels == 1 || job->inner == 1) {
        return true;
    }
    return job->op == QRT_JOB_QUANT && a->chip != ASCEND_310P &&
           a->call.aclnnAscendQuantV3GetWorkspaceSize != NULL &&
           a->call.aclnnAscendQuantV3 != NULL;
}

static bool takes_quant(const struct ascend *a, const struct qrt_off_job *job,
                        uint32_t n)
{
    const struct qrt_off_quant *p = job->params;
    enum qrt_type type;
    int32_t frac;

    if (!params_ok(job, sizeof *p) || job->bits != 8 || p->scale == NULL ||
        !has_in(job, 0, job->in[0].dtype, n) || !has_out(job, 0, QRT_T_I8, n) ||
        !channels_ok(a, job) ||
        qrt_entry_factors(p->scale, p->zero_point, job->channels, 110, -128,
                          127) != QRT_OK) {
        return false;
    }
    switch (job->in[0].dtype) {
    case QRT_T_F32:
        return true;
    case QRT_T_I16:
    case QRT_T_I32:
    case QRT_T_Q16_16: /* as binary32; no denormals, no infinity */
        frac = qrt_entry_frac(job->in[0].dtype, p->frac);
        return qrt_entry_type(job->in[0].dtype, &type) && frac >= -64 &&
               frac <= 64;
    default:
        return false;
    }
}

/* Whether (code - zero) * scale is a normal binary16 or 0 for all codes. */
static bool fits_f16(const struct qrt_antiquantize *p, uint32_t channels)
{
    for (uint32_t c = 0; c < channels; c++) {
        int32_t e = p->scale[c].e; /* 2^(e-1) <= scale < 2^e */

        if (p->sqrt_mode ? e < -6 || e > 3 : e < -13 || e > 7) {
            return false;
        }
    }
    return true;
}

static bool takes_antiquant(const struct ascend *a,
                            const struct qrt_off_job *job, uint32_t n)
{
    const struct qrt_antiquantize *p = job->params;

    return params_ok(job, sizeof *p) && p->scale != NULL &&
           has_in(job, 0, QRT_T_I8, n) && has_out(job, 0, QRT_T_F16, n) &&
           channels_ok(a, job) &&
           qrt_entry_factors(p->scale, p->offset, job->channels, 110, -128,
                             128) == QRT_OK &&
           fits_f16(p, job->channels);
}

static bool takes_gradient(const struct qrt_off_job *job, uint32_t n)
{
    bool limit = job->op != QRT_JOB_ULQ_GRAD_X;

    return has_in(job, 0, QRT_T_F32, n) && has_in(job, 1, QRT_T_BOOL8, n) &&
           has_in(job, 2, limit ? QRT_T_F32 : QRT_T_BOOL8, n) &&
           has_out(job, 0, QRT_T_F32, limit ? 1 : n) &&
           (!limit || job->rule == QRT_RULE_CANN || job->rule == QRT_RULE_AMCT);
}

static bool takes_forward(const struct qrt_off_job *job, uint32_t n)
{
    return params_ok(job, sizeof(struct qrt_off_ulq)) && job->bits == 8 &&
           job->rule == QRT_RULE_CANN && has_in(job, 0, QRT_T_F32, n) &&
           has_in(job, 1, QRT_T_F32, 2) && has_out(job, 0, QRT_T_F32, n) &&
           may_have_out(job, 1, QRT_T_BOOL8, n) &&
           may_have_out(job, 2, QRT_T_BOOL8, n) &&
           may_have_out(job, 3, QRT_T_F32, n);
}

static bool takes_ifmr(const struct qrt_off_job *job, uint32_t n)
{
    return params_ok(job, sizeof(struct qrt_off_ifmr)) &&
           (job->bits == 8 || job->bits == 16) && job->rule == QRT_RULE_CANN &&
           has_in(job, 0, QRT_T_F32, n) && has_in(job, 1, QRT_T_F32, 2) &&
           has_in(job, 2, QRT_T_I32, job->in[2].count) &&
           job->in[2].count <= ASCEND_BINS && has_out(job, 0, QRT_T_F32, 1) &&
           has_out(job, 1, QRT_T_I32, 1);
}

/* ------------------------------------------------------------ models */

static bool same_ifmr(const struct qrt_off_ifmr *m,
                      const struct qrt_off_ifmr *p)
{
    return m != NULL && (m->asymmetric != 0) == (p->asymmetric != 0) &&
           m->max_percentile == p->max_percentile &&
           m->min_percentile == p->min_percentile &&
           m->start_bits == p->start_bits && m->end_bits == p->end_bits &&
           m->step_bits == p->step_bits;
}

static bool same_params(const struct qrt_ascend_model *m,
                        const struct qrt_off_job *job)
{
    const struct qrt_off_ulq *mine = m->params, *theirs = job->params;

    switch (job->op) {
    case QRT_JOB_IFMR:
        return m->bins == job->in[2].count && job->bits == 8 &&
               same_ifmr(m->params, job->params);
    case QRT_JOB_ULQ_FWD:
        return mine != NULL &&
               (mine->fixed_min != 0) == (theirs->fixed_min != 0);
    default:
        return true;
    }
}

int qrt_ascend_model_of(const struct ascend *a, const struct qrt_off_job *job)
{
    for (uint32_t i = 0; i < a->cfg.model_count; i++) {
        const struct qrt_ascend_model *m = &a->cfg.models[i];

        if (a->handle[i] != NULL && m->op == job->op &&
            m->count == job->in[0].count && same_params(m, job)) {
            return (int)i;
        }
    }
    return -1;
}

/* ------------------------------------------------------------- answers */

static bool is_refused(const struct ascend *a, const struct qrt_off_job *job)
{
    uint32_t n = a->refusals < ASCEND_REFUSED ? a->refusals : ASCEND_REFUSED;

    for (uint32_t i = 0; i < n; i++) {
        const struct ascend_refusal *r = &a->refused[i];

        if (r->op == job->op && r->outer == job->outer &&
            r->channels == job->channels && r->inner == job->inner) {
            return true;
        }
    }
    return false;
}

void qrt_ascend_refuse(struct ascend *a, const struct qrt_off_job *job)
{
    struct ascend_refusal *r = &a->refused[a->refusals++ % ASCEND_REFUSED];

    r->op = job->op;
    r->outer = job->outer;
    r->channels = job->channels;
    r->inner = job->inner;
    if (a->native >= 561003 || a->native == ACL_NO_TASK_TYPE) {
        a->ops &= ~BIT(job->op); /* no kernel for this chip is installed */
    }
}

static uint8_t class_of(const struct qrt_off_job *job)
{
    bool cann = job->rule == QRT_RULE_CANN;

    switch (job->op) {
    case QRT_JOB_QUANT:
    case QRT_JOB_ANTIQUANT:
    case QRT_JOB_ULQ_GRAD_X:
        return cann ? QRT_EX_BITEXACT : QRT_EX_BOUNDED;
    case QRT_JOB_ULQ_FWD:
        return QRT_EX_BOUNDED;
    default:
        /* A sum of terms of both signs has no bound in last places, and the
         * loss of IFMR is such a sum. */
        return QRT_EX_ANY;
    }
}

bool qrt_ascend_takes(const struct ascend *a, const struct qrt_off_job *job,
                      struct qrt_off_reply *reply)
{
    uint64_t n = (uint64_t)job->outer * job->channels * job->inner;
    uint32_t count = (uint32_t)n;
    bool takes;

    if (job->op >= QRT_JOB_KINDS || (a->ops >> job->op & 1U) == 0 ||
        job->rule >= QRT_RULE_KINDS || n == 0 || n > a->cfg.max_elements ||
        n < a->cfg.min_elements || is_refused(a, job)) {
        return false;
    }
    switch (job->op) {
    case QRT_JOB_QUANT:
        takes = takes_quant(a, job, count);
        break;
    case QRT_JOB_ANTIQUANT:
        takes = takes_antiquant(a, job, count);
        break;
    case QRT_JOB_ULQ_FWD:
        takes = takes_forward(job, count);
        break;
    case QRT_JOB_IFMR:
        takes = takes_ifmr(job, count);
        break;
    default:
        takes = takes_gradient(job, count);
        break;
    }
    if (!takes ||
        ((BIT(job->op) & ACLOP) != 0 && qrt_ascend_model_of(a, job) < 0)) {
        return false;
    }
    reply->exact = class_of(job);
    reply->reserved = 0;
    reply->tol = reply->exact == QRT_EX_BOUNDED ? 1 : 0;
    return true;
}

/* ------------------------------------------------------------ contents */

static bool all_finite(const uint32_t *x, uint32_t n)
{
    uint32_t bad = 0;

    for (uint32_t i = 0; i < n; i++) {
        bad |= (x[i] & 0x7f800000U) == 0x7f800000U;
    }
    return bad == 0;
}

static bool all_bits(const uint8_t *x, uint32_t n)
{
    uint32_t bad = 0;

    for (uint32_t i = 0; i < n; i++) {
        bad |= x[i] & 0xfeU;
    }
    return bad == 0;
}

bool qrt_ascend_is_plain(const struct qrt_off_job *job)
{
    for (int k = 0; k < 4; k++) {
        const struct qrt_off_in *in = &job->in[k];

        if ((in->dtype == QRT_T_F32 && !all_finite(in->ptr, in->count)) ||
            (in->dtype == QRT_T_BOOL8 && !all_bits(in->ptr, in->count))) {
            return false;
        }
    }
    return true;
}
