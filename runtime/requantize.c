/* Requantize: accumulators to the codes of the next layer. */
#include "kernel.h"

/* The call in common terms, and its checks. */
static enum qrt_status prepare(struct qrt_coding *c, const int32_t *acc,
                               const struct qrt_shape *shape,
                               const struct qrt_edge *edge)
{
    if (edge == NULL) {
        return QRT_ERR_NULL;
    }
    c->from = QRT_S32;
    c->x = acc;
    c->shape = shape;
    c->mult = edge->requant;
    c->span = 110;
    c->zero = &edge->zero_point;
    c->one_zero = true;
    c->frac = 0;
    c->lo = edge->code_min;
    c->hi = edge->code_max;
    c->round_first = false;
    return qrt_coding_check(c, c->to);
}

enum qrt_status qrt_requantize_any(const int32_t *acc,
                                   const struct qrt_shape *shape,
                                   const struct qrt_edge *edge,
                                   enum qrt_type to, void *out)
{
    struct qrt_coding c;
    enum qrt_status status;

    c.to = to;
    c.out = out;
    status = prepare(&c, acc, shape, edge);
    if (status == QRT_OK) {
        qrt_coding_run(&c, qrt_code_fixed);
    }
    return status;
}

/* A row whose multipliers have exponents in [-31, -2]. All elements have the
 * same one or, if the row has all channels, each has the next. */
static void row(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                uint32_t end)
{
    const int32_t *acc = (const int32_t *)c->x + i;
    const int8_t *last = (const int8_t *)c->out + end;
    const struct qrt_real *r = c->mult + channel;
    const uint32_t step = c->pixels;
    const int32_t zero = *c->zero;
    const int32_t lo = c->lo;
    const int32_t hi = c->hi;
    int8_t *out = (int8_t *)c->out + i;

    do {
        uint32_t j = (uint32_t)(-2 - r->e);
        int32_t v = qrt_mul_high_half_even(*acc++, r->m, j, zero, zero);

        r += step;
        *out++ = (int8_t)qrt_clamp32(v, lo, hi);
    } while (out != last);
}

enum qrt_status qrt_requantize_s8(const int32_t *acc,
                                  const struct qrt_shape *shape,
                                  const struct qrt_edge *edge, int8_t *out)
{
    struct qrt_coding c;
    struct qrt_shape rows;
    qrt_code_row *code = row;
    enum qrt_status status;

    c.to = QRT_S8;
    c.out = out;
    status = prepare(&c, acc, shape, edge);
    if (status != QRT_OK) {
        return status;
    }
    c.pixels = shape->inner == 1 && shape->groups <= 1;
    if (qrt_check_reals(c.mult, c.channels, -31, -2) != QRT_OK) {
        code = qrt_code_fixed;
    } else if (c.pixels) { /* one row per pixel, not one per element */
        rows.channels = 1;
        rows.outer = shape->outer;
        rows.inner = shape->channels;
        c.shape = &rows;
    }
    qrt_coding_run(&c, code);
    return QRT_OK;
}
