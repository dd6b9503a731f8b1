/* The binary32 rules without an FPU: every step emulated. */
#include "cpu_entry.h"

#include "kernel.h"
#include "softf32.h"

/* The constants of one channel. */
struct channel {
    uint32_t factor; /* step or multiplier, a binary32 pattern */
    uint32_t offset; /* zero point as binary32                 */
    int32_t zero;
};

static void setup(struct channel *c, const struct qrt_steps *s, uint32_t index)
{
    c->factor = qrt_real_to_f32(s->real[index]);
    if (s->job->rule != QRT_RULE_AMCT && !s->multipliers) {
        c->factor = qrt_f32_div(QRT_F32_ONE, c->factor);
    }
    c->zero = s->zero == NULL ? 0 : s->zero[s->zeros == 1U ? 0 : index];
    c->offset = qrt_f32_from_fixed(c->zero, 0);
}

static uint32_t input(const struct qrt_steps *s, uint32_t i)
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

static int32_t code_of(uint32_t x, const struct qrt_steps *s,
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

static int32_t check(const struct qrt_steps *s, enum qrt_type to)
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

int32_t qrt_steps_run(const struct qrt_steps *s, enum qrt_type to)
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
