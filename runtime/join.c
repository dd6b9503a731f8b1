/* Joins: sums, means and functions of one number between quantized layers. */
#include "kernel.h"

/* Parameters of the walk: one scale for a whole tensor, or one per channel. */
static enum qrt_status check_add(const struct qrt_join *join, uint32_t term,
                                 const void *x, const struct qrt_shape *shape,
                                 const int32_t *sum, uint32_t *count)
{
    const struct qrt_term *t;
    uint32_t channels;
    enum qrt_status status;

    if (join == NULL || join->terms == NULL || x == NULL || sum == NULL) {
        return QRT_ERR_NULL;
    }
    if ((join->kind != QRT_JOIN_SUM && join->kind != QRT_JOIN_CONCAT) ||
        term >= join->term_count || join->frac > 16) {
        return QRT_ERR_RANGE;
    }
    t = &join->terms[term];
    status = qrt_check_shape(shape, &channels, count);
    if (status != QRT_OK) {
        return status;
    }
    if (t->low > t->high || (t->is_code == 0 && t->zero_point != 0) ||
        t->zero_point < -32768 || t->zero_point > 32768) {
        return QRT_ERR_RANGE;
    }
    if (t->scale_count != 1 && t->scale_count != channels) {
        return QRT_ERR_SIZE;
    }
    return qrt_check_reals(t->scale, t->scale_count, -110, 110);
}

enum qrt_status qrt_join_add_any(const struct qrt_join *join, uint32_t term,
                                 enum qrt_type from, const void *x,
                                 const struct qrt_shape *shape, int32_t *sum)
{
    struct qrt_walk walk = {0, 0, 0};
    const struct qrt_term *t;
    uint32_t count;
    bool store;
    enum qrt_status status = check_add(join, term, x, shape, sum, &count);

    if (status != QRT_OK) {
        return status;
    }
    t = &join->terms[term];
    if ((from == QRT_S32) == (t->is_code != 0) || from == QRT_BITS) {
        return QRT_ERR_RANGE;
    }
    store = join->kind == QRT_JOIN_CONCAT || term == 0;
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = i + shape->inner;
        const struct qrt_real scale =
            t->scale[t->scale_count == 1 ? 0 : walk.channel];
        const int32_t shift = 31 - scale.e - join->frac;

        qrt_walk_next(&walk, shape);
        for (; i < end; i++) {
            int32_t v = qrt_load(from, x, i) - t->zero_point;

            v = qrt_mul_shift_half_even(v, scale.m, shift, 0);
            v = qrt_clamp32(v, t->low, t->high);
            sum[i] = store ? v : qrt_sat32((int64_t)sum[i] + v);
        }
    }
    return QRT_OK;
}

/* v / n to nearest, ties to even. |v| <= 2^31 * n, so the result fits. */
static int32_t mean_of(int64_t v, uint32_t n)
{
    uint32_t rest;
    uint64_t q = qrt_udiv64(qrt_abs64(v), n, &rest);

    if (2U * rest > n || (2U * rest == n && (q & 1U) != 0)) {
        q++;
    }
    return qrt_sat32(qrt_signed64(q, v < 0));
}

enum qrt_status qrt_join_mean(const struct qrt_join *join, const int32_t *sum,
                              uint32_t rows, uint32_t count, int32_t *out)
{
    const struct qrt_shape shape = {rows, 1, count, 1};
    uint32_t channels, total;
    enum qrt_status status;

    if (join == NULL || sum == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    status = qrt_check_shape(&shape, &channels, &total);
    if (status != QRT_OK) {
        return status;
    }
    if (join->low > join->high) {
        return QRT_ERR_RANGE;
    }
    for (uint32_t r = 0; r < rows; r++) {
        int64_t v = 0;

        for (uint32_t i = 0; i < count; i++) {
            v += qrt_clamp32(*sum++, join->low, join->high);
        }
        out[r] = mean_of(v, count);
    }
    return QRT_OK;
}

enum qrt_status qrt_join_finish_any(const struct qrt_join *join,
                                    const int32_t *sum, uint32_t count,
                                    enum qrt_type to, void *out)
{
    const struct qrt_shape shape = {1, 1, count, 1};
    const struct qrt_real one = {1 << 30, 1};
    struct qrt_coding c;
    enum qrt_status status;

    if (join == NULL) {
        return QRT_ERR_NULL;
    }
    if (join->frac > 16 || (join->table != NULL && to != QRT_S8)) {
        return QRT_ERR_RANGE;
    }
    c.from = QRT_S32;
    c.x = sum;
    c.shape = &shape;
    c.to = to;
    c.out = out;
    c.mult = &one;
    c.span = 110;
    c.zero = &join->zero_point;
    c.one_zero = true;
    c.frac = join->frac;
    c.lo = join->code_min;
    c.hi = join->code_max;
    c.round_first = false;
    status = qrt_coding_check(&c, to);
    if (status != QRT_OK) {
        return status;
    }
    qrt_coding_run(&c, qrt_code_fixed);
    if (join->table != NULL) {
        int8_t *code = out;

        for (uint32_t i = 0; i < count; i++) {
            code[i] = join->table[code[i] + 128];
        }
    }
    return QRT_OK;
}
