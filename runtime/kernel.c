/* Argument checks, and the general loop behind quantize and requantize. */
#include "kernel.h"

enum qrt_status qrt_check_shape(const struct qrt_shape *shape,
                                uint32_t *channels, uint32_t *count)
{
    uint32_t axis[4];
    uint64_t product = 1;

    if (shape == NULL) {
        return QRT_ERR_NULL;
    }
    axis[0] = shape->groups != 0 ? shape->groups : 1U;
    axis[1] = shape->channels;
    axis[2] = shape->outer;
    axis[3] = shape->inner;
    for (uint32_t i = 0; i < 4; i++) {
        if (axis[i] == 0) {
            return QRT_ERR_RANGE;
        }
        product *= axis[i]; /* both factors below 2^32: no wrap */
        if (product > INT32_MAX) {
            return QRT_ERR_SIZE;
        }
    }
    *channels = axis[0] * axis[1];
    *count = (uint32_t)product;
    return QRT_OK;
}

enum qrt_status qrt_check_reals(const struct qrt_real *a, uint32_t count,
                                int32_t limit)
{
    if (a == NULL) {
        return QRT_ERR_NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].m < (int32_t)1 << 30 || a[i].e < -limit || a[i].e > limit) {
            return QRT_ERR_RANGE;
        }
    }
    return QRT_OK;
}

enum qrt_status qrt_check_codes(const int32_t *code, uint32_t count, int32_t lo,
                                int32_t hi)
{
    for (uint32_t i = 0; code != NULL && i < count; i++) {
        if (code[i] < lo || code[i] > hi) {
            return QRT_ERR_RANGE;
        }
    }
    return QRT_OK;
}

/* 2^(bits - 1) of the codes that fit a type; 0 where no codes are stored. */
static int32_t code_limit(enum qrt_type to)
{
    switch (to) {
    case QRT_S4:
        return 8;
    case QRT_S8:
        return 128;
    case QRT_S16:
        return 32768;
    case QRT_S32:
    case QRT_BITS:
        break;
    }
    return 0;
}

enum qrt_status qrt_coding_check(const void *x, const struct qrt_shape *shape,
                                 const struct qrt_coding *c, enum qrt_type to,
                                 const void *out, uint32_t *count)
{
    uint32_t channels = 0;
    int32_t limit = code_limit(to);
    enum qrt_status status;

    if (x == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    if (c->lo < -limit || c->hi >= limit || c->lo > c->hi || c->frac < -160 ||
        c->frac > 160) {
        return QRT_ERR_RANGE;
    }
    status = qrt_check_shape(shape, &channels, count);
    if (status == QRT_OK && to == QRT_S4 && (*count & 1U) != 0) {
        status = QRT_ERR_SIZE;
    }
    if (status == QRT_OK) {
        status = qrt_check_reals(c->mult, channels, 110);
    }
    if (status == QRT_OK) {
        status = qrt_check_codes(c->zero, c->zeros != 0 ? 1U : channels, -limit,
                                 limit - 1);
    }
    return status;
}

void qrt_coder_set(struct qrt_coder *coder, const struct qrt_real *mult,
                   int32_t zero, int32_t lo, int32_t hi)
{
    coder->m = mult->m;
    coder->base = 149 - mult->e;
    coder->zero = zero;
    coder->tie = zero;
    coder->lo = lo - zero;
    coder->hi = hi - zero;
}

void qrt_coder_setup(struct qrt_coder *coder, const struct qrt_coding *c,
                     uint32_t channel)
{
    int32_t zero = 0;

    if (c->zero != NULL) {
        zero = c->zero[c->zeros != 0 ? 0 : channel];
    }
    qrt_coder_set(coder, &c->mult[channel], zero, c->lo, c->hi);
    if (c->round_first) {
        coder->tie = 0;
    }
}

int32_t qrt_code_of_fixed(int32_t x, int32_t frac, const struct qrt_coder *c)
{
    return qrt_code_of_steps(
        qrt_mul_shift_half_even(x, c->m, c->base - 118 + frac, c->tie), c);
}

void qrt_coding_run(enum qrt_type from, const void *x,
                    const struct qrt_shape *shape, const struct qrt_coding *c,
                    enum qrt_type to, void *out, uint32_t count)
{
    struct qrt_walk walk = {0, 0, 0};
    struct qrt_coder coder;
    uint32_t end = 0;

    for (uint32_t i = 0; i < count; i++) {
        int32_t v = qrt_load(from, x, i);

        if (i == end) {
            qrt_coder_setup(&coder, c, walk.channel);
            qrt_walk_next(&walk, shape);
            end += shape->inner;
        }
        if (from == QRT_BITS) {
            v = qrt_code_of_steps(qrt_steps_of_bits((uint32_t)v, &coder),
                                  &coder);
        } else {
            v = qrt_code_of_fixed(v, c->frac, &coder);
        }
        qrt_store(to, out, i, v);
    }
}
