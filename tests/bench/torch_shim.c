/* ARQ and the exact IFMR search with plain arguments, for bench_torch.py. */
#include "qrt_f32.h"

#include <stdlib.h>

/* w [channels, inner], symmetric, 8 bits, per channel. fake may be null. One
 * channel at a time, which then is in the cache when its codes are made. */
int bench_arq(const float *w, uint32_t channels, uint32_t inner, float *scale,
              int32_t *offset, int8_t *q, float *fake)
{
    struct qrt_shape shape = {1, 1, inner, 1};
    enum qrt_status st = QRT_OK;
    for (size_t c = 0; c < channels && st == QRT_OK; c++) {
        const float *x = w + c * inner;
        st = qrt_arq_f32_scale(x, &shape, 8, true, false, scale + c, offset + c,
                               NULL);
        if (st == QRT_OK)
            st = qrt_arq_f32_codes(x, &shape, 8, true, scale + c, offset + c,
                                   q + c * inner);
        if (st == QRT_OK && fake)
            st = qrt_arq_f32_fake(x, &shape, 8, true, scale + c, offset + c,
                                  fake + c * inner);
    }
    return st;
}

/* Index of the candidate that was chosen, or -1. */
int bench_ifmr(const float *x, size_t n, float *ratios, uint32_t count,
               float *scale)
{
    static void *state;
    static size_t size;
    struct qrt_ifmr_f32_config cfg = {8, true, false, ratios, count, 1.0, 1.0};
    struct qrt_ifmr_f32_result r;
    if (size < qrt_ifmr_f32_state_size(count)) {
        free(state);
        size = qrt_ifmr_f32_state_size(count);
        state = malloc(size);
    }
    if (!state || qrt_ifmr_f32_search(state, size, &cfg, x, n, &r) != QRT_OK)
        return -1;
    *scale = r.scale;
    return (int)r.index;
}
