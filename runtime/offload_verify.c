/* Comparison of a device with the CPU kernel, job by job. In a file of its own:
 * a program that does not verify does not pay for it. */
#include "qrt_offload.h"

#if QRT_OFFLOAD

#include "softf32.h"

/* One element of an output, as an integer whose difference counts units. */
static int32_t element(const void *p, uint32_t dtype, uint32_t i)
{
    switch (dtype) {
    case QRT_T_I8:
        return ((const int8_t *)p)[i];
    case QRT_T_I16:
        return ((const int16_t *)p)[i];
    case QRT_T_I32:
    case QRT_T_Q16_16:
        return ((const int32_t *)p)[i];
    case QRT_T_F32:
        return qrt_f32_order(((const uint32_t *)p)[i]);
    case QRT_T_F16: {
        uint32_t h = ((const uint16_t *)p)[i];

        return (h & 0x8000U) != 0 ? -(int32_t)(h & 0x7fffU) : (int32_t)h;
    }
    default: /* U8, BOOL8, pairs of nibbles */
        return ((const uint8_t *)p)[i];
    }
}

/* Above infinity: a NaN of the type. */
static bool is_nan(int32_t v, uint32_t dtype)
{
    int32_t inf = 0;

    if (dtype == QRT_T_F32) {
        inf = (int32_t)QRT_F32_INF;
    } else if (dtype == QRT_T_F16) {
        inf = 0x7c00;
    }
    return inf != 0 && (v > inf || v < -inf);
}

static uint32_t distance(int32_t a, int32_t b)
{
    return a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b;
}

/* Largest difference of two pairs of 4 bits. */
static uint32_t distance4(uint32_t a, uint32_t b)
{
    uint32_t low, high;

    a ^= 0x88U; /* two's complement in the order of unsigned numbers */
    b ^= 0x88U;
    low = distance((int32_t)(a & 15U), (int32_t)(b & 15U));
    high = distance((int32_t)(a >> 4), (int32_t)(b >> 4));
    return low > high ? low : high;
}

/* |a - b| <= (tol + 1/2) * unit for binary32 patterns. The values are whole
 * units, rounded: the half takes up what the rounding leaves. */
static bool near(uint32_t a, uint32_t b, uint32_t unit, uint32_t tol)
{
    uint32_t gap = qrt_f32_abs(qrt_f32_sub(a, b));

    return qrt_f32_is_finite(gap) &&
           gap <= qrt_f32_mul(unit,
                              qrt_f32_from_fixed((int32_t)(2U * tol + 1U), 1));
}

static bool element_ok(const struct qrt_off_out *a, const struct qrt_off_out *b,
                       uint32_t i, uint32_t tol)
{
    int32_t x = element(a->ptr, a->dtype, i);
    int32_t y = element(b->ptr, b->dtype, i);
    bool nan = is_nan(x, a->dtype);

    if (nan || is_nan(y, a->dtype)) {
        return nan && is_nan(y, a->dtype);
    }
    if (a->dtype == QRT_T_I4P) {
        return distance4((uint32_t)x, (uint32_t)y) <= tol;
    }
    if (a->dtype == QRT_T_BOOL8) {
        tol = 0;
    }
    return distance(x, y) <= tol;
}

/* An element of ULQ_FWD: y counts in steps, since a flipped tie is a whole
 * one; where it is flipped, loss and masks belong to another level. The loss
 * counts in 2^-24, the last place of x / s over the number of levels. */
static bool ulq_element_ok(const struct qrt_off_job *dev,
                           const struct qrt_off_job *ref, uint32_t k,
                           uint32_t i, uint32_t tol)
{
    const uint32_t *a = dev->out[k].ptr, *b = ref->out[k].ptr;
    const uint32_t *y_dev = dev->out[0].ptr, *y_ref = ref->out[0].ptr;

    if (k == 0) {
        const uint32_t *step = dev->in[2].ptr;

        return a[i] == b[i] || near(a[i], b[i], *step, tol);
    }
    if (y_dev[i] != y_ref[i]) {
        return true;
    }
    return k == 3 ? near(a[i], b[i], 0x33800000U, tol)
                  : element_ok(&dev->out[k], &ref->out[k], i, tol);
}

/* Whether an output counts in steps. */
static bool in_steps(const struct qrt_off_job *job)
{
    return job->op == QRT_JOB_ULQ_FWD && job->out[0].dtype == QRT_T_F32 &&
           job->in[2].dtype == QRT_T_F32 &&
           (job->out[3].dtype == QRT_T_NONE || job->out[3].dtype == QRT_T_F32);
}

static bool bytes_equal(const uint8_t *a, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static bool output_ok(const struct qrt_off_job *dev,
                      const struct qrt_off_job *ref, uint32_t k,
                      const struct qrt_off_reply *reply)
{
    const struct qrt_off_out *a = &dev->out[k], *b = &ref->out[k];
    bool steps = in_steps(dev);

    if (reply->exact == QRT_EX_BITEXACT || a->dtype == QRT_T_U64) {
        return bytes_equal(a->ptr, b->ptr,
                           (size_t)a->count * qrt_dtype_size(a->dtype));
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (steps ? !ulq_element_ok(dev, ref, k, i, reply->tol)
                  : !element_ok(a, b, i, reply->tol)) {
            return false;
        }
    }
    return true;
}

/* Whether the two jobs differ in their output pointers only, as far as it can
 * be told without reading through them. */
static bool same_job(const struct qrt_off_job *a, const struct qrt_off_job *b)
{
    bool same = a->op == b->op && a->bits == b->bits && a->rule == b->rule &&
                a->outer == b->outer && a->channels == b->channels &&
                a->inner == b->inner && a->params == b->params;

    for (uint32_t k = 0; k < 4; k++) {
        same = same && a->in[k].ptr == b->in[k].ptr &&
               a->in[k].count == b->in[k].count &&
               a->out[k].dtype == b->out[k].dtype &&
               a->out[k].count == b->out[k].count &&
               (a->out[k].ptr != b->out[k].ptr || a->out[k].ptr == NULL);
    }
    return same;
}

int32_t qrt_verify(struct qrt_offload *o, const struct qrt_off_job *dev,
                   const struct qrt_off_job *ref)
{
    struct qrt_off_reply reply = {QRT_EX_ANY, 0, 0};
    uint32_t before;
    int32_t status;

    if (o == NULL || qrt_job_check(dev) != QRT_OFF_OK ||
        qrt_job_check(ref) != QRT_OFF_OK || !same_job(dev, ref)) {
        return QRT_OFF_EARG;
    }
    if (o->cpu == NULL || o->cpu[dev->op] == NULL ||
        (o->state != QRT_OFF_READY && o->state != QRT_OFF_SUSPECT) ||
        o->backend->query(o->ctx, dev, &reply) != QRT_OFF_OK) {
        return QRT_OFF_DECLINED;
    }
    before = o->n_dev;
    status = qrt_run(o, dev);
    if (status != QRT_OFF_OK) {
        return status;
    }
    if (o->n_dev == before) {
        return QRT_OFF_DECLINED;
    }
    o->n_cpu++;
    status = o->cpu[ref->op](ref);
    if (status != QRT_OFF_OK || reply.exact == QRT_EX_ANY) {
        return status;
    }
    for (uint32_t k = 0; k < 4; k++) {
        if (!output_ok(dev, ref, k, &reply)) {
            o->state = QRT_OFF_QUARANTINE;
            return QRT_OFF_MISMATCH;
        }
    }
    return QRT_OFF_OK;
}

#endif
