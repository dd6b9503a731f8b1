/* The form of a job: what every backend and every kernel may rely on. */
#include "qrt_offload.h"

uint32_t qrt_dtype_size(uint32_t dtype)
{
    /* One nibble per type: 0, F32 4, F16 2, I8 1, U8 1, I16 2, I32 4, I4P 1,
     * Q16_16 4, BOOL8 1, U64 8. */
    return dtype < QRT_T_KINDS
               ? (uint32_t)((UINT64_C(0x81414211240) >> (4U * dtype)) & 15U)
               : 0U;
}

/* A slot in bytes: [from, from + bytes). */
struct span {
    uintptr_t from;
    uintptr_t bytes;
};

/* False for a malformed slot; an unused one has no bytes. */
static bool span_of(const void *ptr, uint32_t count, uint32_t dtype,
                    struct span *s)
{
    uint32_t size = qrt_dtype_size(dtype);

    s->from = (uintptr_t)ptr;
    s->bytes = (uintptr_t)count * size;
    if (dtype == QRT_T_NONE) {
        return ptr == NULL && count == 0;
    }
    return size != 0 && ptr != NULL && count != 0 && count <= INT32_MAX &&
           s->bytes / size == count && (s->from & (size - 1U)) == 0 &&
           s->bytes - 1U <= UINTPTR_MAX - s->from;
}

static bool overlap(const struct span *a, const struct span *b)
{
    return a->from < b->from ? b->from - a->from < a->bytes
                             : a->from - b->from < b->bytes;
}

/* No output may meet an input or an earlier output. */
static bool buffers_ok(const struct qrt_off_job *job)
{
    struct span s[8];

    for (uint32_t i = 0; i < 8; i++) {
        const struct qrt_off_in *in = &job->in[i & 3U];
        const struct qrt_off_out *out = &job->out[i & 3U];
        bool ok = i < 4 ? span_of(in->ptr, in->count, in->dtype, &s[i])
                        : span_of(out->ptr, out->count, out->dtype, &s[i]);

        if (!ok) {
            return false;
        }
        for (uint32_t j = 0; i >= 4 && j < i; j++) {
            if (overlap(&s[j], &s[i])) {
                return false;
            }
        }
    }
    return s[0].bytes != 0 && s[4].bytes != 0;
}

int32_t qrt_job_check(const struct qrt_off_job *job)
{
    uint64_t n;

    if (job == NULL || job->size < sizeof *job || job->op >= QRT_JOB_KINDS ||
        job->need > QRT_EX_ANY ||
        (job->params == NULL) != (job->params_size == 0)) {
        return QRT_OFF_EARG;
    }
    n = (uint64_t)job->outer * job->channels;
    if (n == 0 || n > INT32_MAX) {
        return QRT_OFF_EARG;
    }
    n *= job->inner;
    if (n == 0 || n > INT32_MAX || !buffers_ok(job)) {
        return QRT_OFF_EARG;
    }
    return QRT_OFF_OK;
}
