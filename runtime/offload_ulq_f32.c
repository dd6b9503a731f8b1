/* CPU entries of ULQ_FWD, ULQ_GRAD_MAX and ULQ_GRAD_MIN in binary32, in the
 * form of CANN's operators: the forward pass leaves two masks and a loss, the
 * gradients need nothing else. Rule AMCT fills the same buffers so that the
 * gradients are those of qrt_ulq_f32_backward. */
#include "cpu_entry.h"
#include "f32.h"
#include "qrt_f32.h"

/* Outputs beside y; each may be left out. */
struct extra {
    uint8_t *min_mask, *max_mask;
    float *loss;
};

/* Masks and loss of AMCT's backward pass: up = 1 - max_mask, lo = 1 -
 * min_mask, e = loss. */
static void amct_extra(const struct qrt_ulq_f32 *cfg, const float *x,
                       uint32_t n, float max, float min, float scale,
                       int32_t offset, const struct extra *out)
{
    int32_t half = (int32_t)(1u << (cfg->bits - 1u));
    float upper = scale * (float)(half - 1 - offset);
    float lower = scale * (float)(-half - offset);
    float levels = (float)((1u << cfg->bits) - 1u);
    for (uint32_t i = 0; i < n; i++) {
        bool up = x[i] > upper, lo = x[i] < lower;
        float v = up ? max : x[i];
        v = (lo ? min : v) / scale;
        if (out->min_mask)
            out->min_mask[i] = !lo;
        if (out->max_mask)
            out->max_mask[i] = !up;
        if (out->loss)
            out->loss[i] = (f32_rne_any(v) - v) / levels;
    }
}

static int32_t amct_forward(const struct qrt_off_job *job, uint32_t n,
                            const struct extra *extra)
{
    const struct qrt_off_ulq *p = job->params;
    const float *clips = job->in[1].ptr;
    const struct qrt_ulq_f32 cfg = {
        .bits = job->bits,
        .asymmetric = p->asymmetric != 0,
        .fixed_min = p->fixed_min != 0,
        .strict_width = p->strict_width != 0,
        .clip_max_pre = f32_from_bits(p->max_init_bits),
        .clip_min_pre = f32_from_bits(p->min_init_bits)};
    float max = clips[0], min = clips[1], scale;
    int32_t offset;
    int32_t st = qrt_ulq_f32_forward(&cfg, job->in[0].ptr, n, &max, &min,
                                     &scale, &offset, job->out[0].ptr);
    if (st == QRT_OK)
        amct_extra(&cfg, job->in[0].ptr, n, max, min, scale, offset, extra);
    return st;
}

/* An extra output: absent, or n of a type. */
static bool optional(const struct qrt_off_out *out, uint32_t dtype, uint32_t n)
{
    return out->ptr == NULL || qrt_entry_out(out, dtype, n);
}

int32_t qrt_cpu_ulq_fwd_f32(const struct qrt_off_job *job)
{
    const struct qrt_off_ulq *p = job->params;
    const struct extra extra = {job->out[1].ptr, job->out[2].ptr,
                                job->out[3].ptr};
    uint32_t n = qrt_entry_count(job);
    int32_t st = qrt_entry_check(job, sizeof *p);
    if (st != QRT_OK)
        return st;
    if (job->rule == QRT_RULE_FIXED)
        return qrt_cpu_ulq_fwd(job);
    if ((job->rule != QRT_RULE_AMCT && job->rule != QRT_RULE_CANN) ||
        job->in[0].dtype != QRT_T_F32 || job->out[0].dtype != QRT_T_F32 ||
        (job->rule == QRT_RULE_CANN && job->bits != 8))
        return QRT_ERR_UNSUPPORTED;
    if (!qrt_entry_in(&job->in[1], QRT_T_F32, 2) ||
        !optional(&job->out[1], QRT_T_BOOL8, n) ||
        !optional(&job->out[2], QRT_T_BOOL8, n) ||
        !optional(&job->out[3], QRT_T_F32, n))
        return QRT_ERR_SIZE;
    if (job->rule == QRT_RULE_AMCT)
        return amct_forward(job, n, &extra);
    const float *clips = job->in[1].ptr;
    return qrt_acts_ulq_cann_f32(
        job->in[0].ptr, n, clips[1], clips[0], p->fixed_min != 0,
        job->out[0].ptr, extra.min_mask, extra.max_mask, extra.loss, NULL);
}

/* A gradient of one limit: inputs g, mask, loss, output [1]. */
static int32_t check_sum(const struct qrt_off_job *job)
{
    uint32_t n = qrt_entry_count(job);
    if (!job->in[0].ptr || !job->out[0].ptr)
        return QRT_ERR_NULL;
    if (job->rule != QRT_RULE_AMCT && job->rule != QRT_RULE_CANN)
        return QRT_ERR_UNSUPPORTED;
    return qrt_entry_in(&job->in[0], QRT_T_F32, n) &&
                   qrt_entry_in(&job->in[1], QRT_T_BOOL8, n) &&
                   qrt_entry_in(&job->in[2], QRT_T_F32, n) &&
                   qrt_entry_out(&job->out[0], QRT_T_F32, 1)
               ? QRT_OK
               : QRT_ERR_SIZE;
}

int32_t qrt_cpu_ulq_grad_max_f32(const struct qrt_off_job *job)
{
    double sum;
    int32_t st = check_sum(job);
    if (st == QRT_OK)
        st = qrt_acts_ulq_cann_f32_max_grad(job->in[0].ptr, job->in[0].count,
                                            job->in[1].ptr, job->in[2].ptr,
                                            false, &sum);
    if (st == QRT_OK)
        *(float *)job->out[0].ptr = (float)sum;
    return st;
}

int32_t qrt_cpu_ulq_grad_min_f32(const struct qrt_off_job *job)
{
    double sum;
    int32_t st = check_sum(job);
    if (st == QRT_OK)
        st = qrt_acts_ulq_cann_f32_min_grad(job->in[0].ptr, job->in[0].count,
                                            job->in[1].ptr, job->in[2].ptr,
                                            &sum);
    if (st == QRT_OK)
        *(float *)job->out[0].ptr = (float)sum;
    return st;
}
