/* CPU entry of IFMR on binary32 samples: AMCT's exact search, or the search of
 * CANN's operator. */
#include "cpu_entry.h"
#include "f32.h"
#include "qrt_f32.h"

static int32_t amct(const struct qrt_off_job *job, float *scale,
                    int32_t *offset)
{
    const struct qrt_off_ifmr *p = job->params;
    const struct qrt_ifmr_f32_config cfg = {
        .bits = job->bits,
        .asymmetric = p->asymmetric != 0,
        .ratios = (const float *)(const void *)p->ratios,
        .ratio_count = p->ratio_count,
        .max_percentile = f64_from_bits(p->max_percentile),
        .min_percentile = f64_from_bits(p->min_percentile)};
    struct qrt_ifmr_f32_result result;
    int32_t st = qrt_ifmr_f32_search(p->scratch, p->scratch_size, &cfg,
                                     job->in[0].ptr, job->in[0].count, &result);
    if (st == QRT_OK) {
        *scale = result.scale;
        *offset = result.offset;
    }
    return st;
}

static int32_t cann(const struct qrt_off_job *job, float *scale,
                    int32_t *offset)
{
    const struct qrt_off_ifmr *p = job->params;
    const float *range = job->in[1].ptr;
    const struct qrt_ifmr_cann_f32_config cfg = {
        .max_percentile = (float)f64_from_bits(p->max_percentile),
        .min_percentile = (float)f64_from_bits(p->min_percentile),
        .start = f32_from_bits(p->start_bits),
        .end = f32_from_bits(p->end_bits),
        .step = f32_from_bits(p->step_bits),
        .with_offset = p->asymmetric != 0,
        .bits = job->bits};
    struct qrt_ifmr_cann_f32_result result;
    if (!qrt_entry_in(&job->in[1], QRT_T_F32, 2) ||
        !qrt_entry_in(&job->in[2], QRT_T_I32, job->in[2].count))
        return QRT_ERR_SIZE;
    int32_t st = qrt_ifmr_cann_f32(job->in[0].ptr, job->in[0].count, range[0],
                                   range[1], job->in[2].ptr, job->in[2].count,
                                   &cfg, NULL, &result);
    if (st == QRT_OK) {
        *scale = result.scale;
        *offset = (int32_t)result.offset;
    }
    return st;
}

int32_t qrt_cpu_ifmr_f32(const struct qrt_off_job *job)
{
    if (!job->in[0].ptr || !job->params || !job->out[0].ptr || !job->out[1].ptr)
        return QRT_ERR_NULL;
    if (job->params_size < sizeof(struct qrt_off_ifmr) ||
        job->in[0].dtype != QRT_T_F32 ||
        (job->rule != QRT_RULE_AMCT && job->rule != QRT_RULE_CANN))
        return QRT_ERR_UNSUPPORTED;
    if (job->in[0].count != qrt_entry_count(job) ||
        !qrt_entry_out(&job->out[0], QRT_T_F32, 1) ||
        !qrt_entry_out(&job->out[1], QRT_T_I32, 1))
        return QRT_ERR_SIZE;
    return (job->rule == QRT_RULE_AMCT ? amct : cann)(job, job->out[0].ptr,
                                                      job->out[1].ptr);
}
