/* CPU entry of QUANT and WQUANT for cores with an FPU: binary32 to int8 in the
 * binary32 rules through the float kernels, everything else, with the same
 * bits, through the integer entry. */
#include "cpu_entry.h"
#include "f32.h"
#include "kernel.h"
#include "qrt_f32.h"

#define PIECE 64u /* values on the stack, for the rule that returns floats */

static enum qrt_status module_row(const float *x, uint32_t n, float scale,
                                  int32_t zero, uint32_t bits, int8_t *q)
{
    float y[PIECE];
    enum qrt_status st = QRT_OK;
    for (uint32_t i = 0; st == QRT_OK && i < n; i += PIECE) {
        uint32_t m = n - i < PIECE ? n - i : PIECE;
        st = qrt_quantize_f32__module(x + i, m, scale, zero, bits, y);
        for (uint32_t j = 0; st == QRT_OK && j < m; j++)
            q[i + j] = (int8_t)((int32_t)y[j] + zero);
    }
    return st;
}

/* The values of one channel that lie next to each other. */
static enum qrt_status row(const struct qrt_off_job *job, const float *x,
                           uint32_t n, float scale, int32_t zero, int8_t *q)
{
    switch (job->rule) {
    case QRT_RULE_AMCT:
        return qrt_quantize_f32_s8(x, n, scale, zero, job->bits, q);
    case QRT_RULE_MODULE:
        return module_row(x, n, scale, zero, job->bits, q);
    default:
        return qrt_quantize_f32_s8__ascend(x, n, 1.0f / scale, zero, job->bits,
                                           false, QRT_ROUND_EVEN, q);
    }
}

static bool fast(const struct qrt_off_job *job)
{
    return job->in[0].dtype == QRT_T_F32 && job->out[0].dtype == QRT_T_I8 &&
           (job->rule == QRT_RULE_AMCT || job->rule == QRT_RULE_MODULE ||
            job->rule == QRT_RULE_CANN);
}

int32_t qrt_cpu_quant_f32(const struct qrt_off_job *job)
{
    const struct qrt_off_quant *p = job->params;
    int32_t st = qrt_entry_check(job, sizeof *p);
    if (st != QRT_OK || !fast(job))
        return st != QRT_OK ? st : qrt_cpu_quant(job);
    if (job->bits < 2 || job->bits > 8)
        return QRT_ERR_RANGE;
    st = qrt_entry_factors(p->scale, p->zero_point, job->channels, 110, -128,
                           127);
    const struct qrt_shape shape = qrt_entry_shape(job);
    const float *x = job->in[0].ptr;
    int8_t *q = job->out[0].ptr;
    struct qrt_walk walk = {0, 0, 0};
    uint32_t count = qrt_entry_count(job);
    for (uint32_t i = 0; st == QRT_OK && i < count; i += shape.inner) {
        float scale = f32_from_bits(qrt_real_to_f32(p->scale[walk.channel]));
        int32_t zero = p->zero_point ? p->zero_point[walk.channel] : 0;
        st = row(job, x + i, shape.inner, scale, zero, q + i);
        qrt_walk_next(&walk, &shape);
    }
    return st;
}
