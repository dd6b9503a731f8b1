/* ARQ: weights to codes, one step per channel or one for the whole tensor. */
#include "kernel.h"
#include "softf32.h"

/* One call, checked; the shape has a single channel if there is one step. */
struct job {
    const void *w;
    const struct qrt_arq_weights *p;
    struct qrt_shape shape;
    enum qrt_type from;
};

/* rne(f32(f32(w / s) + zero)), the steps of AMCT. */
static int32_t code_of_bits(uint32_t w, uint32_t step_bits, int32_t zero)
{
    uint32_t steps = qrt_f32_div(w, step_bits);

    return qrt_f32_to_s32(qrt_f32_add(steps, qrt_f32_from_fixed(zero, 0)));
}

/* The elements of one channel, twice: extremes first, then codes. */
struct channel {
    int32_t max, min; /* patterns by qrt_f32_order, or Q numbers */
    struct qrt_coder coder;
    uint32_t step_bits;
    int8_t *codes; /* null: the extremes are wanted */
};

static void visit(const struct job *job, struct channel *ch, uint32_t i)
{
    int32_t v = qrt_load(job->from, job->w, i);

    if (ch->codes != NULL) {
        if (job->from == QRT_BITS) {
            v = code_of_bits((uint32_t)v, ch->step_bits, ch->coder.zero);
            v = qrt_code_of_steps(v - ch->coder.zero, &ch->coder);
        } else {
            v = qrt_code_of_fixed(v, job->p->frac, &ch->coder);
        }
        ch->codes[i] = (int8_t)v;
        return;
    }
    if (job->from == QRT_BITS) {
        v = qrt_f32_order((uint32_t)v);
    }
    ch->max = v > ch->max ? v : ch->max;
    ch->min = v < ch->min ? v : ch->min;
}

/* All rows of the channel whose first element is i. */
static void visit_all(const struct job *job, struct channel *ch, uint32_t i)
{
    for (uint32_t o = 0; o < job->shape.outer; o++) {
        const uint32_t end = i + job->shape.inner;

        for (; i != end; i++) {
            visit(job, ch, i);
        }
        i += (job->shape.channels - 1U) * job->shape.inner;
    }
}

/* An extreme as a binary32 pattern. */
static QRT_NOINLINE uint32_t pattern(const struct job *job, int32_t extreme)
{
    return job->from == QRT_BITS ? qrt_f32_of_order(extreme)
                                 : qrt_f32_from_fixed(extreme, job->p->frac);
}

/* Step and zero point from the extremes of the channel that starts at i. NaN
 * and infinity are extremes, too. */
static enum qrt_status derive(const struct job *job, struct channel *ch,
                              uint32_t i, struct qrt_quant *quant)
{
    ch->max = INT32_MIN;
    ch->min = INT32_MAX;
    ch->codes = NULL;
    visit_all(job, ch, i);
    return qrt_scale_derive(pattern(job, ch->max), pattern(job, ch->min),
                            job->p->bits, job->p->asymmetric, QRT_ZERO_ARQ,
                            quant);
}

static void encode(const struct job *job, struct channel *ch, uint32_t i,
                   const struct qrt_quant *quant, int8_t *codes)
{
    const int32_t half = (int32_t)1 << (job->p->bits - 1U);

    qrt_coder_set(&ch->coder, &quant->recip, quant->zero_point, -half,
                  half - 1);
    ch->step_bits = qrt_real_to_f32(quant->scale);
    ch->codes = codes;
    visit_all(job, ch, i);
}

static enum qrt_status check(const struct job *job,
                             const struct qrt_arq_result *out,
                             const int8_t *codes)
{
    if (job->w == NULL || job->p == NULL || out == NULL || codes == NULL ||
        out->scale == NULL || (job->p->asymmetric && out->zero_point == NULL)) {
        return QRT_ERR_NULL;
    }
    if ((job->from != QRT_S16 && job->from != QRT_S32 &&
         job->from != QRT_BITS) ||
        job->p->bits < 2 || job->p->bits > 8 ||
        (job->from != QRT_BITS && (job->p->frac < -96 || job->p->frac > 117))) {
        return QRT_ERR_RANGE;
    }
    return QRT_OK;
}

static void store(struct qrt_arq_result *out, uint32_t index,
                  const struct qrt_quant *quant)
{
    out->scale[index].m = quant->scale.m;
    out->scale[index].e = quant->scale.e;
    if (out->zero_point != NULL) {
        out->zero_point[index] = quant->zero_point;
    }
    if (quant->degenerate != 0 && out->dead_count++ == 0) {
        out->dead_first = index;
    }
}

/* Every channel: its map, and unless this is the trial run its outputs. */
static enum qrt_status each(const struct job *job, uint32_t count, bool trial,
                            struct qrt_arq_result *out, int8_t *codes)
{
    const uint32_t group = job->shape.outer * job->shape.channels;
    struct qrt_quant quant;
    struct channel ch;
    uint32_t index = 0;

    for (uint32_t g = 0; g < count; g += group * job->shape.inner) {
        for (uint32_t c = 0; c < job->shape.channels; c++, index++) {
            uint32_t first = g + c * job->shape.inner;
            enum qrt_status status = derive(job, &ch, first, &quant);

            if (status != QRT_OK) {
                return status;
            }
            if (!trial) {
                store(out, index, &quant);
                encode(job, &ch, first, &quant, codes);
            }
        }
    }
    return QRT_OK;
}

enum qrt_status qrt_arq_any(enum qrt_type from, const void *w,
                            const struct qrt_shape *shape,
                            const struct qrt_arq_weights *p,
                            struct qrt_arq_result *out, int8_t *codes)
{
    struct job job;
    uint32_t channels = 0;
    uint32_t count = 0;
    enum qrt_status status;

    job.w = w;
    job.p = p;
    job.from = from;
    status = check(&job, out, codes);
    if (status == QRT_OK) {
        status = qrt_check_shape(shape, &channels, &count);
    }
    if (status != QRT_OK) {
        return status;
    }
    job.shape.outer = p->per_channel ? shape->outer : 1U;
    job.shape.channels = p->per_channel ? shape->channels : 1U;
    job.shape.inner = p->per_channel ? shape->inner : count;
    status = each(&job, count, true, out, codes);
    if (status == QRT_OK) {
        out->dead_count = 0;
        out->dead_first = 0;
        status = each(&job, count, false, out, codes);
    }
    return status;
}
