/* Copies between the caller's memory and the device's. All are immediate: the
 * library never holds a pointer to the caller's memory. */
#include "ascend.h"

#include "cpu_entry.h"
#include "kernel.h"
#include "softf32.h"

#define PIECE 1024U /* values that are converted at a time */

/* Each buffer starts at a multiple of 64 and may be overrun by 32. */
static uint32_t padded(uint32_t bytes)
{
    return (((bytes + 31U) & ~31U) + 32U + 63U) & ~63U;
}

uint8_t *qrt_ascend_place(struct ascend_slot *s, uint32_t bytes)
{
    uint8_t *at = s->arena + s->used;

    s->used += padded(bytes);
    return at;
}

size_t qrt_ascend_arena_size(uint32_t max_elements)
{
    /* ULQ_FWD has most: x, y and loss of 4 bytes, two masks. Of the others
     * none has more than eight buffers, one a histogram. */
    return (size_t)14U * max_elements + 8U * 160U + 4U * ASCEND_BINS;
}

static int32_t copy(struct ascend *a, void *to, const void *from, size_t bytes,
                    int32_t kind)
{
    return a->call.aclrtMemcpy(to, bytes, from, bytes,
                               a->on_board ? ACL_DEVICE_TO_DEVICE : kind);
}

int32_t qrt_ascend_put_bytes(struct ascend *a, uint8_t *to, const void *from,
                             size_t bytes)
{
    return qrt_ascend_status(a, copy(a, to, from, bytes, ACL_HOST_TO_DEVICE));
}

static int32_t put_fixed(struct ascend *a, uint8_t *to,
                         const struct qrt_off_in *in, int32_t frac)
{
    uint32_t piece[PIECE];
    enum qrt_type type = QRT_S32;
    int32_t status = QRT_OFF_OK;

    (void)qrt_entry_type(in->dtype, &type);
    for (uint32_t i = 0; status == QRT_OFF_OK && i < in->count; i += PIECE) {
        uint32_t n = in->count - i < PIECE ? in->count - i : PIECE;

        for (uint32_t k = 0; k < n; k++) {
            piece[k] = qrt_f32_from_fixed(qrt_load(type, in->ptr, i + k), frac);
        }
        status = qrt_ascend_put_bytes(a, to + 4U * (size_t)i, piece, 4U * n);
    }
    return status;
}

static int32_t put_inverted(struct ascend *a, uint8_t *to,
                            const struct qrt_off_in *in)
{
    uint8_t piece[PIECE];
    int32_t status = QRT_OFF_OK;

    for (uint32_t i = 0; status == QRT_OFF_OK && i < in->count; i += PIECE) {
        uint32_t n = in->count - i < PIECE ? in->count - i : PIECE;

        for (uint32_t k = 0; k < n; k++) {
            piece[k] = ((const uint8_t *)in->ptr)[i + k] ^ 1U;
        }
        status = qrt_ascend_put_bytes(a, to + i, piece, n);
    }
    return status;
}

int32_t qrt_ascend_put(struct ascend *a, uint8_t *to,
                       const struct qrt_off_in *in, int32_t frac, bool invert)
{
    if (invert) {
        return put_inverted(a, to, in);
    }
    if (in->dtype == QRT_T_I16 || in->dtype == QRT_T_Q16_16 ||
        (in->dtype == QRT_T_I32 && frac != ASCEND_AS_IT_IS)) {
        return put_fixed(a, to, in, frac);
    }
    return qrt_ascend_put_bytes(a, to, in->ptr,
                                (size_t)in->count * qrt_dtype_size(in->dtype));
}

int32_t qrt_ascend_put_steps(struct ascend *a, uint8_t *to,
                             const struct qrt_real *scale, uint32_t n,
                             bool reciprocal)
{
    uint32_t piece[PIECE];
    int32_t status = QRT_OFF_OK;

    for (uint32_t i = 0; status == QRT_OFF_OK && i < n; i += PIECE) {
        uint32_t m = n - i < PIECE ? n - i : PIECE;

        for (uint32_t k = 0; k < m; k++) {
            piece[k] = qrt_real_to_f32(scale[i + k]);
            if (reciprocal) {
                piece[k] = qrt_f32_div(QRT_F32_ONE, piece[k]);
            }
        }
        status = qrt_ascend_put_bytes(a, to + 4U * (size_t)i, piece, 4U * m);
    }
    return status;
}

int32_t qrt_ascend_put_zeros(struct ascend *a, uint8_t *to, const int32_t *zero,
                             uint32_t n)
{
    uint32_t piece[PIECE];
    int32_t status = QRT_OFF_OK;

    for (uint32_t i = 0; status == QRT_OFF_OK && i < n; i += PIECE) {
        uint32_t m = n - i < PIECE ? n - i : PIECE;

        for (uint32_t k = 0; k < m; k++) {
            piece[k] = qrt_f32_from_fixed(zero[i + k], 0);
        }
        status = qrt_ascend_put_bytes(a, to + 4U * (size_t)i, piece, 4U * m);
    }
    return status;
}

/* IFMR's offset, which the device writes as binary32. */
static int32_t get_offset(struct ascend *a, const struct qrt_off_out *out,
                          const uint8_t *from)
{
    uint32_t bits;
    int32_t status = qrt_ascend_wait_status(
        a, copy(a, &bits, from, sizeof bits, ACL_DEVICE_TO_HOST));

    if (status != QRT_OFF_OK) {
        return status;
    }
    if (!qrt_f32_is_finite(bits) || qrt_f32_abs(bits) > 0x47800000U) {
        return QRT_OFF_EXEC; /* beyond 65536 */
    }
    *(int32_t *)out->ptr = qrt_f32_to_s32(bits);
    return QRT_OFF_OK;
}

int32_t qrt_ascend_get(struct ascend *a, const struct ascend_slot *s)
{
    int32_t status = QRT_OFF_OK;

    for (int k = 0; status == QRT_OFF_OK && k < 4; k++) {
        const struct qrt_off_out *out = &s->job->out[k];
        size_t bytes = (size_t)out->count * qrt_dtype_size(out->dtype);

        if (out->ptr == NULL) {
            continue;
        }
        status =
            s->job->op == QRT_JOB_IFMR && k == 1
                ? get_offset(a, out, s->out[k])
                : qrt_ascend_wait_status(a, copy(a, out->ptr, s->out[k], bytes,
                                                 ACL_DEVICE_TO_HOST));
    }
    return status;
}
