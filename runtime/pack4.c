/* Pairs of 4-bit codes along any axis. */
#include "kernel.h"

static enum qrt_status check(const void *in, const struct qrt_shape *shape,
                             const void *out, uint32_t *count)
{
    uint32_t channels = 0;
    enum qrt_status status;

    if (in == NULL || out == NULL) {
        return QRT_ERR_NULL;
    }
    status = qrt_check_shape(shape, &channels, count);
    if (status == QRT_OK && shape->groups > 1) {
        status = QRT_ERR_RANGE;
    }
    if (status == QRT_OK && (shape->channels & 1U) != 0) {
        status = QRT_ERR_SIZE;
    }
    return status;
}

/* Both directions walk the pairs: `inner` neighbours of an even row, and the
 * row below it, `inner` further on. */
enum qrt_status qrt_pack4(const int8_t *codes, const struct qrt_shape *shape,
                          uint8_t *out)
{
    uint32_t count = 0;
    enum qrt_status status = check(codes, shape, out, &count);

    if (status != QRT_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i] < -8 || codes[i] > 7) {
            return QRT_ERR_RANGE;
        }
    }
    for (uint32_t i = 0; i < count; i += shape->inner) {
        for (uint32_t end = i + shape->inner; i < end; i++) {
            uint32_t low = (uint32_t)codes[i] & 15U;
            uint32_t high = (uint32_t)codes[i + shape->inner] & 15U;

            *out++ = (uint8_t)(low | high << 4);
        }
    }
    return QRT_OK;
}

enum qrt_status qrt_unpack4(const uint8_t *packed,
                            const struct qrt_shape *shape, int8_t *out)
{
    uint32_t count = 0;
    enum qrt_status status = check(packed, shape, out, &count);

    if (status != QRT_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i += shape->inner) {
        for (uint32_t end = i + shape->inner; i < end; i++, packed++) {
            out[i] = (int8_t)qrt_load(QRT_S4, packed, 0);
            out[i + shape->inner] = (int8_t)qrt_load(QRT_S4, packed, 1);
        }
    }
    return QRT_OK;
}
