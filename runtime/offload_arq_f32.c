/* CPU entry of ARQ: fake-quantized weights, steps and zero points. */
#include "cpu_entry.h"
#include "qrt_f32.h"

int32_t qrt_cpu_arq_f32(const struct qrt_off_job *job)
{
    const struct qrt_off_arq *p = job->params;
    const struct qrt_shape shape = qrt_entry_shape(job);
    int32_t st = qrt_entry_check(job, sizeof *p);
    if (st != QRT_OK)
        return st;
    if (job->rule != QRT_RULE_AMCT || job->in[0].dtype != QRT_T_F32 ||
        job->out[0].dtype != QRT_T_F32)
        return QRT_ERR_UNSUPPORTED;
    if (!qrt_entry_out(&job->out[1], QRT_T_F32, job->channels) ||
        !qrt_entry_out(&job->out[2], QRT_T_I32, job->channels))
        return QRT_ERR_SIZE;
    float *scale = job->out[1].ptr;
    int32_t *offset = job->out[2].ptr;
    st = qrt_arq_f32_scale(job->in[0].ptr, &shape, job->bits, true,
                           p->asymmetric != 0, scale, offset, NULL);
    if (st == QRT_OK)
        st = qrt_arq_f32_fake(job->in[0].ptr, &shape, job->bits, true, scale,
                              offset, job->out[0].ptr);
    return st;
}
