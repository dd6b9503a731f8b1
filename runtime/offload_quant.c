/* CPU entries of QUANT, WQUANT and REQUANT, without an FPU in all rules: the
 * binary32 ones emulate every step. */
#include "cpu_entry.h"

#include "kernel.h"
#include "softf32.h"

/* A job of the binary32 rules. */
struct steps {
    const struct qrt_off_job *job;
    const struct qrt_real *real; /* steps, or multipliers of a requantization */
    const int32_t *zero;         /* null: all 0                              */
    uint32_t zeros;              /* 1: one zero point for all channels       */
    int32_t frac;                /* of the input                             */
    int32_t lo, hi;              /* clamp                                    */
    bool multipliers;            /* `real` multiplies                        */
};

/* The constants of one channel. */
struct channel {
    uint32_t factor; /* step or multiplier, a binary32 pattern */
    uint32_t offset; /* zero point as binary32                 */
    int32_t zero;
};

static void setup(struct channel *c, const struct steps *s, uint32_t index)
{
    c->factor = qrt_real_to_f32(s->real[index]);
    if (s->job->rule != QRT_RULE_AMCT && !s->multipliers) {
        c->factor = qrt_f32_div(QRT_F32_ONE, c->factor);
    }
    c->zero = s->zero == NULL ? 0 : s->zero[s->zeros == 1U ? 0 : index];
    c->offset = qrt_f32_from_fixed(c->zero, 0);
}

static uint32_t input(const struct steps *s, uint32_t i)
{
    const struct qrt_off_in *in = &s->job->in[0];
    enum qrt_type type;

    if (in->dtype == QRT_T_F16) {
        return qrt_f32_from_f16(((const uint16_t *)in->ptr)[i]);
    }
    if (in->dtype == QRT_T_F32 || !qrt_entry_type(in->dtype, &type)) {
        return ((const uint32_t *)in->ptr)[i];
    }
    return qrt_f32_from_fixed(qrt_load(type, in->ptr, i), s->frac);
}

static int32_t code_of(uint32_t x, const struct steps *s,
                       const struct channel *c)
{
    uint32_t t = x;

    if (qrt_f32_abs(x) > QRT_F32_INF) {
        return s->lo;
    }
    if (qrt_f32_is_finite(x)) {
        t = s->job->rule == QRT_RULE_AMCT ? qrt_f32_div(x, c->factor)
                                          : qrt_f32_mul(x, c->factor);
    }
    if (!qrt_f32_is_finite(t)) {
        return (t & QRT_F32_SIGN) != 0 ? s->lo : s->hi;
    }
    if (s->job->rule == QRT_RULE_MODULE) {
        return qrt_clamp32(qrt_f32_to_s32(t), s->lo - c->zero,
                           s->hi - c->zero) +
               c->zero;
    }
    return qrt_clamp32(qrt_f32_to_s32(qrt_f32_add(t, c->offset)), s->lo, s->hi);
}

static int32_t check(const struct steps *s, enum qrt_type to)
{
    int32_t limit = to == QRT_S16 ? 32768 : 128;

    limit = to == QRT_S4 ? 8 : limit;
    if (s->lo < -limit || s->hi >= limit || s->lo > s->hi || s->frac < -160 ||
        s->frac > 160 ||
        (s->zeros == 1U && (*s->zero < -limit || *s->zero >= limit))) {
        return QRT_ERR_RANGE;
    }
    return qrt_entry_factors(s->real, s->zeros == 1U ? NULL : s->zero,
                             s->job->channels, 110, -limit, limit - 1);
}

static int32_t run(const struct steps *s, enum qrt_type to)
{
    const struct qrt_shape shape = qrt_entry_shape(s->job);
    struct qrt_walk walk = {0, 0, 0};
    struct channel c = {0, 0, 0};
    uint32_t count = qrt_entry_count(s->job);
    uint32_t end = 0;
    int32_t status = check(s, to);

    for (uint32_t i = 0; status == QRT_OK && i < count; i++) {
        if (i == end) {
            setup(&c, s, walk.channel);
            qrt_walk_next(&walk, &shape);
            end += shape.inner;
        }
        qrt_store(to, s->job->out[0].ptr, i, code_of(input(s, i), s, &c));
    }
    return status;
}

/* The type of the codes; false for one that does not hold them. */
static bool codes_type(const struct qrt_off_job *job, enum qrt_type *to)
{
    return qrt_entry_type(job->out[0].dtype, to) && *to != QRT_S32 &&
           *to != QRT_BITS && (*to != QRT_S4 || job->bits == 4);
}

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
    return qrt_quantize_any(from, job->in[0].ptr, &shape, &q, to,
                            job->out[0].ptr);
}

static int32_t quant_steps(const struct qrt_off_job *job, enum qrt_type to)
{
    const struct qrt_off_quant *p = job->params;
    struct steps s;

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
    return run(&s, to);
}

int32_t qrt_cpu_quant(const struct qrt_off_job *job)
{
    uint32_t from = job->in[0].dtype;
    enum qrt_type to;
    int32_t status = qrt_entry_check(job, sizeof(struct qrt_off_quant));

    if (status != QRT_OK) {
        return status;
    }
    if (!codes_type(job, &to) || job->rule >= QRT_RULE_KINDS ||
        (from != QRT_T_F32 && from != QRT_T_F16 && from != QRT_T_I16 &&
         from != QRT_T_I32 && from != QRT_T_Q16_16)) {
        return QRT_ERR_UNSUPPORTED;
    }
    return job->rule == QRT_RULE_FIXED || job->rule == QRT_RULE_FIXED_MODULE
               ? quant_fixed(job, to)
               : quant_steps(job, to);
}

int32_t qrt_cpu_requant(const struct qrt_off_job *job)
{
    const struct qrt_edge *edge = job->params;
    const struct qrt_shape shape = qrt_entry_shape(job);
    enum qrt_type to;
    struct steps s;
    int32_t status = qrt_entry_check(job, sizeof *edge);

    if (status != QRT_OK) {
        return status;
    }
    if (job->in[0].dtype != QRT_T_I32 || !codes_type(job, &to) ||
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
    return run(&s, to);
}
