/* Dequantize and anti-quantize: codes to Q numbers or binary32 patterns. */
#include "kernel.h"
#include "softf32.h"

struct job {
    const struct qrt_real *scale;
    const int32_t *offset; /* subtracted, or added if `add` */
    int32_t frac;
    bool add;
    bool twice; /* multiply by the scale twice */
};

static enum qrt_status check(enum qrt_type from, const void *x,
                             const struct qrt_shape *shape,
                             const struct job *job, enum qrt_type to,
                             const void *out, uint32_t *count)
{
    uint32_t channels = 0;
    enum qrt_status status;

    if (x == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    if (from == QRT_BITS || (from == QRT_S32 && job->offset != NULL) ||
        (to != QRT_S32 && to != QRT_BITS) || job->frac < -160 ||
        job->frac > 160) {
        return QRT_ERR_RANGE;
    }
    status = qrt_check_shape(shape, &channels, count);
    if (status == QRT_OK && from == QRT_S4 && (*count & 1U) != 0) {
        status = QRT_ERR_SIZE;
    }
    if (status == QRT_OK) {
        status = qrt_check_reals(job->scale, channels, 160);
    }
    if (status == QRT_OK) {
        status = qrt_check_codes(job->offset, channels, -32768, 32768);
    }
    return status;
}

/* The parameters of one channel. */
struct channel {
    struct qrt_real real; /* scale, or its square */
    uint32_t bits;        /* scale                */
    int32_t offset;
};

static void setup(struct channel *c, const struct job *job, uint32_t index)
{
    c->real.m = job->scale[index].m;
    c->real.e = job->scale[index].e;
    c->bits = qrt_real_to_f32(c->real);
    if (job->twice) {
        (void)qrt_real_mul(c->real, c->real, &c->real);
    }
    c->offset = job->offset != NULL ? job->offset[index] : 0;
    if (job->add) {
        c->offset = -c->offset;
    }
}

static int32_t as_bits(int32_t v, const struct channel *c, bool twice)
{
    uint32_t y = qrt_f32_mul(qrt_f32_from_fixed(v, 0), c->bits);

    return (int32_t)(twice ? qrt_f32_mul(y, c->bits) : y);
}

static enum qrt_status run(enum qrt_type from, const void *x,
                           const struct qrt_shape *shape, const struct job *job,
                           enum qrt_type to, void *out)
{
    struct qrt_walk walk = {0, 0, 0};
    struct channel c;
    uint32_t count = 0;
    uint32_t end = 0;
    enum qrt_status status = check(from, x, shape, job, to, out, &count);

    for (uint32_t i = 0; status == QRT_OK && i < count; i++) {
        int32_t v;

        if (i == end) {
            setup(&c, job, walk.channel);
            qrt_walk_next(&walk, shape);
            end += shape->inner;
        }
        v = qrt_load(from, x, i) - c.offset;
        if (to == QRT_BITS) {
            v = as_bits(v, &c, job->twice);
        } else if (from == QRT_S32) {
            v = qrt_mul_shift_half_even(v, c.real.m, 31 - c.real.e - job->frac,
                                        0);
        } else {
            v = qrt_fixed_of_code(v, c.real, job->frac);
        }
        qrt_store(to, out, i, v);
    }
    return status;
}

enum qrt_status qrt_dequantize_any(enum qrt_type from, const void *x,
                                   const struct qrt_shape *shape,
                                   const struct qrt_dequantize *p,
                                   enum qrt_type to, void *out)
{
    struct job job;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    job.scale = p->scale;
    job.offset = p->zero_point;
    job.frac = p->frac;
    job.add = false;
    job.twice = false;
    return run(from, x, shape, &job, to, out);
}

enum qrt_status qrt_antiquantize_any(enum qrt_type from, const void *x,
                                     const struct qrt_shape *shape,
                                     const struct qrt_antiquantize *p,
                                     enum qrt_type to, void *out)
{
    struct job job;

    if (p == NULL) {
        return QRT_ERR_NULL;
    }
    if (from == QRT_S32) {
        return QRT_ERR_RANGE;
    }
    job.scale = p->scale;
    job.offset = p->offset;
    job.frac = p->frac;
    job.add = true;
    job.twice = p->sqrt_mode;
    return run(from, x, shape, &job, to, out);
}
