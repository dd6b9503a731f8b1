/* What the CPU entries of jobs share: from the words of a job to those of a
 * kernel. Private to runtime/offload_*.c. */
#ifndef QRT_CPU_ENTRY_H
#define QRT_CPU_ENTRY_H

#include "qrt_offload.h"

static inline struct qrt_shape qrt_entry_shape(const struct qrt_off_job *job)
{
    struct qrt_shape shape = {job->outer, job->channels, job->inner, 1};

    return shape;
}

/* Elements; the job's own check has bounded the product. A job that nobody
 * has checked gives a number that fits no count. */
static inline uint32_t qrt_entry_count(const struct qrt_off_job *job)
{
    uint64_t n = (uint64_t)job->outer * job->channels;

    if (n > INT32_MAX) {
        return UINT32_MAX;
    }
    n *= job->inner;
    return n > INT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The kernels' word for an element type; false where they have none. */
static inline bool qrt_entry_type(uint32_t dtype, enum qrt_type *type)
{
    switch (dtype) {
    case QRT_T_I4P:
        *type = QRT_S4;
        return true;
    case QRT_T_I8:
        *type = QRT_S8;
        return true;
    case QRT_T_I16:
        *type = QRT_S16;
        return true;
    case QRT_T_I32:
    case QRT_T_Q16_16:
        *type = QRT_S32;
        return true;
    case QRT_T_F32:
        *type = QRT_BITS;
        return true;
    default:
        return false;
    }
}

/* Whether a slot of this type and count holds n elements. */
static inline bool qrt_entry_holds(uint32_t dtype, uint32_t count, uint32_t n)
{
    return dtype == QRT_T_I4P ? (n & 1U) == 0 && count == n / 2U : count == n;
}

/* Checks the first slots of an elementwise job.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_UNSUPPORTED (params_size),
 * QRT_ERR_SIZE. */
static inline int32_t qrt_entry_check(const struct qrt_off_job *job,
                                      size_t params_size)
{
    uint32_t n = qrt_entry_count(job);

    if (job->in[0].ptr == NULL || job->out[0].ptr == NULL ||
        (params_size != 0 && job->params == NULL)) {
        return QRT_ERR_NULL;
    }
    if (job->params_size < params_size) {
        return QRT_ERR_UNSUPPORTED;
    }
    if (n == UINT32_MAX || n == 0 ||
        !qrt_entry_holds(job->in[0].dtype, job->in[0].count, n) ||
        !qrt_entry_holds(job->out[0].dtype, job->out[0].count, n)) {
        return QRT_ERR_SIZE;
    }
    return QRT_OK;
}

/* Bits of fraction of an input; a fixed format has its own. */
static inline int32_t qrt_entry_frac(uint32_t dtype, int32_t frac)
{
    return dtype == QRT_T_Q16_16 ? 16 : frac;
}

/* Whether a slot is one of so many elements of a type. */
static inline bool qrt_entry_in(const struct qrt_off_in *in, uint32_t dtype,
                                uint32_t count)
{
    return in->ptr != NULL && in->dtype == dtype && in->count == count;
}

static inline bool qrt_entry_out(const struct qrt_off_out *out, uint32_t dtype,
                                 uint32_t count)
{
    return out->ptr != NULL && out->dtype == dtype && out->count == count;
}

/* Checks the factors of [channels]: scale normalised, positive, exponent in
 * [-span, span], so that every step and its reciprocal is a normal binary32;
 * zero points (null: all 0) in [lo, hi].
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE. */
int32_t qrt_entry_factors(const struct qrt_real *scale, const int32_t *zero,
                          uint32_t channels, int32_t span, int32_t lo,
                          int32_t hi);

/* The type of the codes; false for one that does not hold them. */
static inline bool qrt_entry_codes(const struct qrt_off_job *job,
                                   enum qrt_type *to)
{
    return qrt_entry_type(job->out[0].dtype, to) && *to != QRT_S32 &&
           *to != QRT_BITS && (*to != QRT_S4 || job->bits == 4);
}

/* A job of the binary32 rules, qrt_steps_run. */
struct qrt_steps {
    const struct qrt_off_job *job;
    const struct qrt_real *real; /* steps, or multipliers of a requantization */
    const int32_t *zero;         /* null: all 0                              */
    uint32_t zeros;              /* 1: one zero point for all channels       */
    int32_t frac;                /* of the input                             */
    int32_t lo, hi;              /* clamp                                    */
    bool multipliers;            /* `real` multiplies                        */
};

/* Checks the factors, then computes out[0]. The types are checked.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE. */
int32_t qrt_steps_run(const struct qrt_steps *s, enum qrt_type to);

/* binary16 to binary32, exact. */
uint32_t qrt_f32_from_f16(uint32_t h);

/* binary32 to the nearest binary16, ties to even; NaN to a quiet NaN. */
uint32_t qrt_f16_from_f32(uint32_t a);

#endif
