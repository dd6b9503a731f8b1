/* CPU entry of IFMR on integers: an observer in the job's scratch. */
#include "cpu_entry.h"
#include "qrt_ifmr.h"

static int32_t observe(const struct qrt_off_job *job,
                       struct qrt_ifmr_observer *seen)
{
    const struct qrt_off_ifmr *p = job->params;
    const struct qrt_off_in *in = &job->in[0];
    uint32_t bytes = p->scratch_size < QRT_IFMR_BYTES_MAX ? p->scratch_size
                                                          : QRT_IFMR_BYTES_MAX;
    int32_t status;

    if (((uintptr_t)p->scratch & 7U) != 0) {
        return QRT_ERR_RANGE;
    }
    status = qrt_ifmr_init(seen, p->scratch, bytes);
    if (status != QRT_OK) {
        return status;
    }
    switch (in->dtype) {
    case QRT_T_F32:
        return qrt_ifmr_add_f32(seen, in->ptr, in->count);
    case QRT_T_I16:
        return qrt_ifmr_add_s16(seen, in->ptr, in->count, p->frac);
    case QRT_T_I32:
    case QRT_T_Q16_16:
        return qrt_ifmr_add_s32(seen, in->ptr, in->count,
                                qrt_entry_frac(in->dtype, p->frac));
    default:
        return QRT_ERR_UNSUPPORTED;
    }
}

int32_t qrt_cpu_ifmr(const struct qrt_off_job *job)
{
    const struct qrt_off_ifmr *p = job->params;
    struct qrt_ifmr_observer seen;
    struct qrt_ifmr_result result;
    struct qrt_ifmr search;
    int32_t status;

    if (job->in[0].ptr == NULL || p == NULL || job->out[0].ptr == NULL ||
        job->out[1].ptr == NULL) {
        return QRT_ERR_NULL;
    }
    if (job->params_size < sizeof *p || job->rule != QRT_RULE_FIXED) {
        return QRT_ERR_UNSUPPORTED;
    }
    if (job->in[0].count != qrt_entry_count(job) ||
        !qrt_entry_out(&job->out[0], QRT_T_F32, 1) ||
        !qrt_entry_out(&job->out[1], QRT_T_I32, 1)) {
        return QRT_ERR_SIZE;
    }
    search.ratios = p->ratios;
    search.ratio_count = p->ratio_count;
    search.max_percentile = p->max_percentile;
    search.min_percentile = p->min_percentile;
    status = observe(job, &seen);
    if (status == QRT_OK) {
        status = qrt_ifmr_finish(&seen, &search, job->bits, p->asymmetric != 0,
                                 &result);
    }
    if (status == QRT_OK) {
        *(uint32_t *)job->out[0].ptr = result.scale_bits;
        *(int32_t *)job->out[1].ptr = result.zero_point;
    }
    return status;
}
