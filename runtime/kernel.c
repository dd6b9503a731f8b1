/* Argument checks, and the general loop behind quantize and requantize. */
#include "kernel.h"

int32_t qrt_load(enum qrt_type type, const void *p, uint32_t i)
{
    if (type == QRT_S4) {
        uint32_t pair = ((const uint8_t *)p)[i >> 1];

        return (int32_t)(((pair >> (4U * (i & 1U))) & 15U) ^ 8U) - 8;
    }
    if (type == QRT_S8) {
        return ((const int8_t *)p)[i];
    }
    return type == QRT_S16 ? ((const int16_t *)p)[i] : ((const int32_t *)p)[i];
}

void qrt_store(enum qrt_type type, void *p, uint32_t i, int32_t v)
{
    if (type == QRT_S4) {
        uint8_t *pair = (uint8_t *)p + (i >> 1);
        uint32_t nibble = (uint32_t)v & 15U;

        *pair = (uint8_t)((i & 1U) == 0 ? nibble : *pair | nibble << 4);
    } else if (type == QRT_S8) {
        ((int8_t *)p)[i] = (int8_t)v;
    } else if (type == QRT_S16) {
        ((int16_t *)p)[i] = (int16_t)v;
    } else {
        ((int32_t *)p)[i] = v;
    }
}

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
                                int32_t lo, int32_t hi)
{
    if (a == NULL) {
        return QRT_ERR_NULL;
    }
    for (; count != 0; count--, a++) {
        if (a->m < (int32_t)1 << 30 || a->e < lo || a->e > hi) {
            return QRT_ERR_RANGE;
        }
    }
    return QRT_OK;
}

/* 2^(bits - 1) of the codes that fit a type; 0 where no codes are stored. */
static int32_t code_limit(enum qrt_type to)
{
    if (to == QRT_S4) {
        return 8;
    }
    if (to == QRT_S8) {
        return 128;
    }
    return to == QRT_S16 ? 32768 : 0;
}

enum qrt_status qrt_coding_check(struct qrt_coding *c, enum qrt_type codes)
{
    const int32_t limit = code_limit(codes);
    enum qrt_status status;

    if (c->x == NULL || c->out == NULL) {
        return QRT_ERR_NULL;
    }
    if (c->lo < -limit || c->hi >= limit || c->lo > c->hi || c->frac < -160 ||
        c->frac > 160) {
        return QRT_ERR_RANGE;
    }
    status = qrt_check_shape(c->shape, &c->channels, &c->count);
    if (status == QRT_OK && (c->from == QRT_S4 || c->to == QRT_S4) &&
        (c->count & 1U) != 0) {
        status = QRT_ERR_SIZE;
    }
    if (status == QRT_OK) {
        status = qrt_check_reals(c->mult, c->channels, -c->span, c->span);
    }
    for (uint32_t i = 0; status == QRT_OK && i < c->channels; i++) {
        int32_t zero = qrt_zero_of(c, i);

        if (zero < -limit || zero > limit) {
            status = QRT_ERR_RANGE;
        }
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

int32_t qrt_code_of_fixed(int32_t x, int32_t frac, const struct qrt_coder *c)
{
    return qrt_code_of_steps(
        qrt_mul_shift_half_even(x, c->m, c->base - 118 + frac, c->tie), c);
}

enum qrt_status qrt_coding_of_quantize(struct qrt_coding *c,
                                       const struct qrt_quantize *p)
{
    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    if (p->bits < 2 || p->bits > 16 || (c->to == QRT_S4 && p->bits != 4) ||
        p->order > QRT_ROUND_THEN_ADD) {
        return QRT_ERR_RANGE;
    }
    c->mult = p->recip;
    c->span = 110;
    c->zero = p->zero_point;
    c->one_zero = false;
    c->frac = p->frac;
    c->hi = ((int32_t)1 << (p->bits - 1U)) - 1;
    c->lo = -1 - c->hi;
    c->round_first = p->order == QRT_ROUND_THEN_ADD;
    return qrt_coding_check(c, c->to);
}

enum qrt_status qrt_coding_of_dequantize(struct qrt_coding *c)
{
    enum qrt_status status;

    if (c->from == QRT_BITS || (c->from == QRT_S32 && c->zero != NULL)) {
        return QRT_ERR_RANGE;
    }
    c->span = 148; /* any */
    c->one_zero = false;
    c->round_first = false;
    c->lo = 0;
    c->hi = 0;
    /* Any zero point of 16 bits, whatever the codes. */
    status = qrt_coding_check(c, QRT_S16);
    c->lo = INT32_MIN;
    c->hi = INT32_MAX;
    return status;
}

void qrt_coder_of(struct qrt_coder *coder, const struct qrt_coding *c,
                  uint32_t channel)
{
    qrt_coder_set(coder, &c->mult[channel],
                  c->to == QRT_S32 ? 0 : qrt_zero_of(c, channel), c->lo, c->hi);
    if (c->round_first) {
        coder->tie = 0;
    }
}

void qrt_coding_run(const struct qrt_coding *c, qrt_code_row *row)
{
    struct qrt_walk walk = {0, 0, 0};

    for (uint32_t i = 0; i < c->count; i += c->shape->inner) {
        row(c, walk.channel, i, i + c->shape->inner);
        qrt_walk_next(&walk, c->shape);
    }
}

void qrt_code_fixed(const struct qrt_coding *c, uint32_t channel, uint32_t i,
                    uint32_t end)
{
    int32_t zero = 0;
    int32_t frac = c->frac;
    uint32_t up = 0;
    struct qrt_coder coder;

    qrt_coder_of(&coder, c, channel);
    if (c->to == QRT_S32) {
        zero = qrt_zero_of(c, channel);
        up = c->from == QRT_S32 ? 0 : QRT_CODE_UP;
        frac = (int32_t)up - frac;
    }
    for (; i < end; i++) {
        int32_t v = (qrt_load(c->from, c->x, i) - zero) * (1 << up);

        qrt_store(c->to, c->out, i, qrt_code_of_fixed(v, frac, &coder));
    }
}
