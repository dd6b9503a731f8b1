/* CPU entries of DEQUANT and ANTIQUANT. A binary32 result is one or two
 * multiplications and the same in all rules; a Q number is rounded once and
 * has rule FIXED only. */
#include "cpu_entry.h"

#include "kernel.h"

/* The kernels' words for the types; false for a type or rule they lack. */
static bool types(const struct qrt_off_job *job, enum qrt_type *from,
                  enum qrt_type *to)
{
    if (!qrt_entry_type(job->in[0].dtype, from) ||
        job->in[0].dtype == QRT_T_F32 || job->in[0].dtype == QRT_T_Q16_16 ||
        !qrt_entry_type(job->out[0].dtype, to)) {
        return false;
    }
    return *to == QRT_BITS ? job->rule < QRT_RULE_KINDS
                           : *to == QRT_S32 && job->rule == QRT_RULE_FIXED;
}

int32_t qrt_cpu_dequant(const struct qrt_off_job *job)
{
    const struct qrt_shape shape = qrt_entry_shape(job);
    struct qrt_dequantize p;
    enum qrt_type from, to;
    int32_t status = qrt_entry_check(job, sizeof p);

    if (status != QRT_OK) {
        return status;
    }
    if (!types(job, &from, &to)) {
        return QRT_ERR_UNSUPPORTED;
    }
    p = *(const struct qrt_dequantize *)job->params;
    p.frac = qrt_entry_frac(job->out[0].dtype, p.frac);
    return to == QRT_BITS ? qrt_dequantize_bits(from, job->in[0].ptr, &shape,
                                                &p, job->out[0].ptr)
                          : qrt_dequantize_fixed(from, job->in[0].ptr, &shape,
                                                 &p, job->out[0].ptr);
}

/* The binary16 a device writes: the binary32 result, rounded again. */
static int32_t antiquant_f16(const struct qrt_off_job *job, enum qrt_type from)
{
    const struct qrt_antiquantize *p = job->params;
    const struct qrt_shape shape = qrt_entry_shape(job);
    const struct qrt_shape one = {1, 1, 1, 1};
    struct qrt_antiquantize q = *p;
    struct qrt_walk walk = {0, 0, 0};
    uint32_t count = qrt_entry_count(job);
    int32_t status = qrt_entry_factors(p->scale, p->offset, job->channels, 160,
                                       -32767, 32768);

    q.frac = 0; /* not used */
    for (uint32_t i = 0; status == QRT_OK && i < count; i++) {
        int16_t code = (int16_t)qrt_load(from, job->in[0].ptr, i);
        uint32_t y = 0;

        q.scale = p->scale + walk.channel;
        q.offset = p->offset != NULL ? p->offset + walk.channel : NULL;
        status = qrt_antiquantize_bits(QRT_S16, &code, &one, &q, &y);
        ((uint16_t *)job->out[0].ptr)[i] = (uint16_t)qrt_f16_from_f32(y);
        if ((i + 1U) % shape.inner == 0) {
            qrt_walk_next(&walk, &shape);
        }
    }
    return status;
}

int32_t qrt_cpu_antiquant(const struct qrt_off_job *job)
{
    const struct qrt_shape shape = qrt_entry_shape(job);
    struct qrt_antiquantize p;
    enum qrt_type from, to;
    int32_t status = qrt_entry_check(job, sizeof p);

    if (status != QRT_OK) {
        return status;
    }
    if (job->in[0].dtype == QRT_T_I32 || job->in[0].dtype == QRT_T_Q16_16) {
        return QRT_ERR_UNSUPPORTED;
    }
    if (job->out[0].dtype == QRT_T_F16 && job->rule < QRT_RULE_KINDS &&
        qrt_entry_type(job->in[0].dtype, &from) && from != QRT_BITS) {
        return antiquant_f16(job, from);
    }
    if (!types(job, &from, &to)) {
        return QRT_ERR_UNSUPPORTED;
    }
    p = *(const struct qrt_antiquantize *)job->params;
    p.frac = qrt_entry_frac(job->out[0].dtype, p.frac);
    return to == QRT_BITS ? qrt_antiquantize_bits(from, job->in[0].ptr, &shape,
                                                  &p, job->out[0].ptr)
                          : qrt_antiquantize_fixed(from, job->in[0].ptr, &shape,
                                                   &p, job->out[0].ptr);
}
