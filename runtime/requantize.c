/* Requantize: accumulators to the codes of the next layer. */
#include "kernel.h"

/* The job in common terms, and its checks. */
static enum qrt_status prepare(const int32_t *acc,
                               const struct qrt_shape *shape,
                               const struct qrt_edge *edge, enum qrt_type to,
                               const void *out, struct qrt_coding *c)
{
    if (edge == NULL) {
        return QRT_ERR_NULL;
    }
    c->mult = edge->requant;
    c->span = 110;
    c->zero = &edge->zero_point;
    c->one_zero = true;
    c->frac = 0;
    c->lo = edge->code_min;
    c->hi = edge->code_max;
    c->round_first = false;
    return qrt_coding_check(acc, shape, c, to, out);
}

enum qrt_status qrt_requantize_any(const int32_t *acc,
                                   const struct qrt_shape *shape,
                                   const struct qrt_edge *edge,
                                   enum qrt_type to, void *out)
{
    struct qrt_coding c;
    enum qrt_status status = prepare(acc, shape, edge, to, out, &c);

    if (status == QRT_OK) {
        qrt_coding_run(QRT_S32, acc, shape, &c, to, out);
    }
    return status;
}

/* Requantizes [out, end), each with the next multiplier if step is 1, all
 * with the same if it is 0; exponents in [-31, -2]. */
static QRT_NOINLINE void row(const int32_t *acc, const struct qrt_real *r,
                             uint32_t step, const struct qrt_edge *edge,
                             int8_t *out, const int8_t *end)
{
    const int32_t zero = edge->zero_point;
    const int32_t lo = edge->code_min;
    const int32_t hi = edge->code_max;

    do {
        uint32_t j = (uint32_t)(-2 - r->e);
        int32_t v = qrt_mul_high_half_even(*acc++, r->m, j, zero, zero);

        r += step;
        *out++ = (int8_t)qrt_clamp32(v, lo, hi);
    } while (out != end);
}

enum qrt_status qrt_requantize_s8(const int32_t *acc,
                                  const struct qrt_shape *shape,
                                  const struct qrt_edge *edge, int8_t *out)
{
    struct qrt_coding c;
    struct qrt_walk walk = {0, 0, 0};
    uint32_t step, run;
    enum qrt_status status = prepare(acc, shape, edge, QRT_S8, out, &c);

    if (status != QRT_OK) {
        return status;
    }
    if (qrt_check_reals(edge->requant, c.channels, -31, -2) != QRT_OK) {
        qrt_coding_run(QRT_S32, acc, shape, &c, QRT_S8, out);
        return QRT_OK;
    }
    /* Channels innermost: one row per pixel instead of one per element. */
    step = shape->inner == 1 && shape->groups <= 1;
    run = step != 0 ? shape->channels : shape->inner;
    for (uint32_t i = 0; i < c.count; i += run) {
        row(acc + i, edge->requant + walk.channel, step, edge, out + i,
            out + i + run);
        if (step == 0) {
            qrt_walk_next(&walk, shape);
        }
    }
    return QRT_OK;
}
