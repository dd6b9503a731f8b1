/* CPU entry of REQUANT. */
#include "cpu_entry.h"

int32_t qrt_cpu_requant(const struct qrt_off_job *job)
{
    const struct qrt_edge *edge = job->params;
    const struct qrt_shape shape = qrt_entry_shape(job);
    enum qrt_type to;
    struct qrt_steps s;
    int32_t status = qrt_entry_check(job, sizeof *edge);

    if (status != QRT_OK) {
        return status;
    }
    if (job->in[0].dtype != QRT_T_I32 || !qrt_entry_codes(job, &to) ||
        (job->rule != QRT_RULE_FIXED && job->rule != QRT_RULE_CANN)) {
        return QRT_ERR_UNSUPPORTED;
    }
    if (job->rule == QRT_RULE_FIXED) {
        return to == QRT_S8 ? qrt_requantize_s8(job->in[0].ptr, &shape, edge,
                                                job->out[0].ptr)
                            : qrt_requantize_any(job->in[0].ptr, &shape, edge,
                                                 to, job->out[0].ptr);
    }
    s.job = job;
    s.real = edge->requant;
    s.zero = &edge->zero_point;
    s.zeros = 1;
    s.frac = 0;
    s.lo = edge->code_min;
    s.hi = edge->code_max;
    s.multipliers = true;
    return qrt_steps_run(&s, to);
}
