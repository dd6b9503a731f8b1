/* CPU entry of QUANT and WQUANT, without an FPU in all rules. */
#include "cpu_entry.h"

static int32_t quant_fixed(const struct qrt_off_job *job, enum qrt_type to)
{
    const struct qrt_off_quant *p = job->params;
    const struct qrt_shape shape = qrt_entry_shape(job);
    struct qrt_quantize q;
    enum qrt_type from;

    if (!qrt_entry_type(job->in[0].dtype, &from)) {
        return QRT_ERR_UNSUPPORTED;
    }
    q.recip = p->recip;
    q.zero_point = p->zero_point;
    q.frac = qrt_entry_frac(job->in[0].dtype, p->frac);
    q.bits = job->bits;
    q.order =
        job->rule == QRT_RULE_FIXED ? QRT_ADD_THEN_ROUND : QRT_ROUND_THEN_ADD;
    return from == QRT_BITS ? qrt_quantize_bits(job->in[0].ptr, &shape, &q, to,
                                                job->out[0].ptr)
                            : qrt_quantize_fixed(from, job->in[0].ptr, &shape,
                                                 &q, to, job->out[0].ptr);
}

static int32_t quant_steps(const struct qrt_off_job *job, enum qrt_type to)
{
    const struct qrt_off_quant *p = job->params;
    struct qrt_steps s;

    if (job->bits < 2 || job->bits > (to == QRT_S16 ? 16 : 8)) {
        return QRT_ERR_RANGE;
    }
    s.job = job;
    s.real = p->scale;
    s.zero = p->zero_point;
    s.zeros = 0;
    s.frac = qrt_entry_frac(job->in[0].dtype, p->frac);
    s.hi = ((int32_t)1 << (job->bits - 1U)) - 1;
    s.lo = -1 - s.hi;
    s.multipliers = false;
    return qrt_steps_run(&s, to);
}

int32_t qrt_cpu_quant(const struct qrt_off_job *job)
{
    uint32_t from = job->in[0].dtype;
    enum qrt_type to;
    int32_t status = qrt_entry_check(job, sizeof(struct qrt_off_quant));

    if (status != QRT_OK) {
        return status;
    }
    if (!qrt_entry_codes(job, &to) || job->rule >= QRT_RULE_KINDS ||
        (from != QRT_T_F32 && from != QRT_T_F16 && from != QRT_T_I16 &&
         from != QRT_T_I32 && from != QRT_T_Q16_16)) {
        return QRT_ERR_UNSUPPORTED;
    }
    return job->rule == QRT_RULE_FIXED || job->rule == QRT_RULE_FIXED_MODULE
               ? quant_fixed(job, to)
               : quant_steps(job, to);
}
