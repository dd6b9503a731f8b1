/* CPU entries of ULQ_FWD on Q numbers and of ULQ_GRAD_X. */
#include "cpu_entry.h"

#include "kernel.h"
#include "softf32.h"

int32_t qrt_cpu_ulq_fwd(const struct qrt_off_job *job)
{
    const struct qrt_off_ulq *p = job->params;
    const uint32_t *learned = job->in[1].ptr;
    struct qrt_ulq_clips clips;
    struct qrt_ulq_step step;
    enum qrt_type type;
    int32_t frac;
    int32_t status = qrt_entry_check(job, sizeof *p);

    if (status != QRT_OK) {
        return status;
    }
    if (job->rule != QRT_RULE_FIXED ||
        !qrt_entry_type(job->in[0].dtype, &type) ||
        (type != QRT_S16 && type != QRT_S32) ||
        job->out[0].dtype != job->in[0].dtype ||
        !qrt_entry_in(&job->in[1], QRT_T_F32, 2) || job->out[1].ptr != NULL ||
        job->out[2].ptr != NULL || job->out[3].ptr != NULL) {
        return QRT_ERR_UNSUPPORTED;
    }
    frac = qrt_entry_frac(job->in[0].dtype, p->frac);
    if (qrt_real_from_f32(learned[0], &clips.max) != QRT_OK ||
        qrt_real_from_f32(learned[1], &clips.min) != QRT_OK ||
        qrt_real_from_f32(p->max_init_bits, &clips.max_init) != QRT_OK ||
        qrt_real_from_f32(p->min_init_bits, &clips.min_init) != QRT_OK) {
        return QRT_ERR_NOT_FINITE;
    }
    clips.bits = job->bits;
    clips.asymmetric = p->asymmetric != 0;
    clips.fixed_min = p->fixed_min != 0;
    clips.strict_width = p->strict_width != 0;
    status = qrt_ulq_prepare(&clips, &step);
    if (status == QRT_OK) {
        status = qrt_ulq_forward_any(type, job->in[0].ptr, qrt_entry_count(job),
                                     frac, &step, job->out[0].ptr);
    }
    return status;
}

/* What is left of a gradient outside the limits: AMCT selects 0, CANN's
 * operator multiplies by it. */
static int32_t outside(const struct qrt_off_job *job, int32_t g)
{
    if (job->rule != QRT_RULE_CANN || job->in[0].dtype != QRT_T_F32) {
        return 0;
    }
    return (int32_t)(qrt_f32_is_finite((uint32_t)g) ? (uint32_t)g & QRT_F32_SIGN
                                                    : QRT_F32_NAN);
}

int32_t qrt_cpu_ulq_grad_x(const struct qrt_off_job *job)
{
    const uint8_t *min_mask = job->in[1].ptr;
    const uint8_t *max_mask = job->in[2].ptr;
    uint32_t count = qrt_entry_count(job);
    enum qrt_type type;
    int32_t status = qrt_entry_check(job, 0);

    if (status != QRT_OK) {
        return status;
    }
    if (job->rule >= QRT_RULE_KINDS || job->out[0].dtype != job->in[0].dtype ||
        !qrt_entry_type(job->in[0].dtype, &type) || type == QRT_S4 ||
        type == QRT_S8 || !qrt_entry_in(&job->in[1], QRT_T_BOOL8, count) ||
        !qrt_entry_in(&job->in[2], QRT_T_BOOL8, count)) {
        return QRT_ERR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < count; i++) {
        int32_t g = qrt_load(type, job->in[0].ptr, i);
        bool pass = min_mask[i] != 0 && max_mask[i] != 0;

        qrt_store(type, job->out[0].ptr, i, pass ? g : outside(job, g));
    }
    return QRT_OK;
}
