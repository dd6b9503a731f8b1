/* What the contracts of runtime/qrt_f32.h refuse: every pointer that may not be
 * null, one at a time, every range at both ends. Outputs stay as they were. */
#include "cmocka_all.h"

#include "qrt_f32.h"

#include <math.h>

/* All outputs of a call, so that one comparison sees any write. */
static struct {
    int8_t q8[8];
    int16_t q16[8];
    float y[8], s[8], o[8];
    int32_t offset[8];
    uint8_t mask[2][8];
    double sum[2];
} out, before;

static const float w[8] = {-1, 1, -2, 2, 0.5f, 0, 3, -3};
static const float scales[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static const struct qrt_shape shape = {2, 2, 2, 1};

static void outputs_anew(void)
{
    for (size_t i = 0; i < 8; i++) {
        out.y[i] = out.s[i] = out.o[i] = 0.5f;
        out.q8[i] = 77;
        out.q16[i] = 777;
        out.offset[i] = 7;
        out.mask[0][i] = out.mask[1][i] = 7;
    }
    out.sum[0] = out.sum[1] = 7;
    before = out;
}

#define REFUSED(status, call)                                                  \
    do {                                                                       \
        outputs_anew();                                                        \
        assert_int_equal(call, status);                                        \
        assert_memory_equal(&out, &before, sizeof out);                        \
    } while (0)
#define IS_NULL(call)       REFUSED(QRT_ERR_NULL, call)
#define IS_RANGE(call)      REFUSED(QRT_ERR_RANGE, call)
#define IS_NOT_FINITE(call) REFUSED(QRT_ERR_NOT_FINITE, call)
#define IS_SIZE(call)       REFUSED(QRT_ERR_SIZE, call)

static void scale_of_a_range(void **state)
{
    (void)state;
    IS_NULL(qrt_scale_f32(1, -1, 8, true, NULL, out.offset));
    IS_NULL(qrt_scale_f32(1, -1, 8, true, out.s, NULL));
    IS_RANGE(qrt_scale_f32(1, -1, 1, true, out.s, out.offset));
    IS_RANGE(qrt_scale_f32(1, -1, 17, false, out.s, out.offset));
    IS_NOT_FINITE(qrt_scale_f32(INFINITY, -1, 8, true, out.s, out.offset));
    IS_NOT_FINITE(qrt_scale_f32(1, NAN, 8, false, out.s, out.offset));
    IS_NOT_FINITE(qrt_scale_f32(3e38f, -3e38f, 8, true, out.s, out.offset));
}

static void codes_of_values(void **state)
{
    const float bad[] = {0, -1, INFINITY, NAN};

    (void)state;
    IS_NULL(qrt_quantize_f32_s8(NULL, 8, 1, 0, 8, out.q8));
    IS_NULL(qrt_quantize_f32_s8(w, 8, 1, 0, 8, NULL));
    IS_NULL(qrt_quantize_f32_s16(NULL, 8, 1, 0, 8, out.q16));
    IS_NULL(qrt_fake_quantize_f32(w, 8, 1, 0, 8, NULL));
    IS_NULL(qrt_quantize_f32__module(NULL, 8, 1, 0, 8, out.y));
    IS_NULL(qrt_fake_quantize_f32__module(NULL, 8, 1, 0, 8, out.y));
    IS_RANGE(qrt_quantize_f32_s8(w, 8, 1, 0, 1, out.q8));
    IS_RANGE(qrt_quantize_f32_s8(w, 8, 1, 0, 9, out.q8));
    IS_RANGE(qrt_quantize_f32_s16(w, 8, 1, 0, 17, out.q16));
    for (int i = 0; i < 4; i++) {
        IS_RANGE(qrt_quantize_f32_s8(w, 8, bad[i], 0, 8, out.q8));
        IS_RANGE(qrt_fake_quantize_f32(w, 8, bad[i], 0, 8, out.y));
    }
    IS_RANGE(qrt_quantize_f32_s8(w, 8, 1, 128, 8, out.q8));
    IS_RANGE(qrt_fake_quantize_f32__module(w, 8, 1, -129, 8, out.y));
    /* the ends themselves are codes; nothing needs no pointer */
    assert_int_equal(qrt_quantize_f32_s8(w, 8, 1, 127, 8, out.q8), QRT_OK);
    assert_int_equal(qrt_quantize_f32_s16(w, 8, 1, -32768, 16, out.q16),
                     QRT_OK);
    assert_int_equal(qrt_quantize_f32_s8(NULL, 0, 1, 0, 8, NULL), QRT_OK);
}

static void codes_of_ascend_quant(void **state)
{
    (void)state;
    for (int r = QRT_ROUND_EVEN; r <= QRT_ROUND_TRUNC; r++) {
        IS_NULL(qrt_quantize_f32_s8__ascend(w, 8, 1, 0, 8, false,
                                            (enum qrt_round)r, NULL));
        IS_RANGE(qrt_quantize_f32_s8__ascend(w, 8, 1, 0, 9, false,
                                             (enum qrt_round)r, out.q8));
    }
    IS_RANGE(qrt_quantize_f32_s8__ascend(w, 8, 1, 0, 8, false,
                                         (enum qrt_round)4, out.q8));
}

static void values_of_codes(void **state)
{
    static const int8_t q[8] = {1, -1};
    static const int16_t q16[8] = {1, -1};
    static const int32_t acc[8] = {1, -1};
    const float bad[8] = {1, 0, NAN, 1, 1, 1, 1, 1};

    (void)state;
    IS_NULL(qrt_dequantize_s8_f32(NULL, 8, 1, 0, out.y));
    IS_NULL(qrt_dequantize_s16_f32(q16, 8, 1, 0, NULL));
    IS_RANGE(qrt_dequantize_s8_f32(q, 8, 0, 0, out.y));
    IS_NULL(qrt_dequantize_s8_f32__ascend(NULL, 8, 1, 0, true, out.y));
    IS_NULL(qrt_dequantize_s8_f32__ascend(q, 8, 1, 0, true, NULL));
    IS_RANGE(qrt_dequantize_s8_f32__ascend(q, 8, -1, 0, true, out.y));
    IS_RANGE(qrt_dequantize_s8_f32__ascend(q, 8, 1, 257, true, out.y));
    IS_RANGE(qrt_dequantize_s8_f32__ascend(q, 8, 1, -257, true, out.y));
    IS_NULL(qrt_dequantize_s32_f32(NULL, 4, 2, scales, out.y));
    IS_NULL(qrt_dequantize_s32_f32(acc, 4, 2, NULL, out.y));
    IS_NULL(qrt_dequantize_s32_f32(acc, 4, 2, scales, NULL));
    IS_RANGE(qrt_dequantize_s32_f32(acc, 4, 0, scales, out.y));
    IS_RANGE(qrt_dequantize_s32_f32(acc, 4, 2, bad, out.y));
    IS_NULL(qrt_requantize_s32_s8__f32(NULL, 4, 2, scales, 0, false, out.q8));
    IS_RANGE(qrt_requantize_s32_s8__f32(acc, 4, 2, bad + 1, 0, false, out.q8));
    IS_RANGE(qrt_requantize_s32_s8__f32(acc, 4, 2, scales, 256, false, out.q8));
    IS_RANGE(qrt_requantize_s32_s8__f32(acc, 4, 2, scales, -257, true, out.q8));
}

static void weights(void **state)
{
    const struct qrt_shape none = {2, 0, 2, 1};
    static const int32_t zero[8] = {0}, far[8] = {0, 128};
    const float bad[8] = {1, INFINITY};

    (void)state;
    IS_NULL(qrt_arq_f32_scale(NULL, &shape, 8, true, true, out.s, out.offset,
                              NULL));
    IS_NULL(qrt_arq_f32_scale(w, NULL, 8, true, true, out.s, out.offset, NULL));
    IS_NULL(
        qrt_arq_f32_scale(w, &shape, 8, true, true, NULL, out.offset, NULL));
    IS_NULL(qrt_arq_f32_scale(w, &shape, 8, true, true, out.s, NULL, NULL));
    IS_RANGE(
        qrt_arq_f32_scale(w, &shape, 17, true, true, out.s, out.offset, NULL));
    IS_SIZE(
        qrt_arq_f32_scale(w, &none, 8, true, true, out.s, out.offset, NULL));

    IS_NULL(qrt_arq_f32_codes(NULL, &shape, 8, true, scales, zero, out.q8));
    IS_NULL(qrt_arq_f32_codes(w, NULL, 8, true, scales, zero, out.q8));
    IS_NULL(qrt_arq_f32_codes(w, &shape, 8, true, NULL, zero, out.q8));
    IS_NULL(qrt_arq_f32_codes(w, &shape, 8, true, scales, NULL, out.q8));
    IS_NULL(qrt_arq_f32_codes(w, &shape, 8, true, scales, zero, NULL));
    IS_RANGE(qrt_arq_f32_codes(w, &shape, 1, true, scales, zero, out.q8));
    IS_RANGE(qrt_arq_f32_codes(w, &shape, 9, true, scales, zero, out.q8));
    IS_RANGE(qrt_arq_f32_codes(w, &shape, 8, true, bad, zero, out.q8));
    IS_RANGE(qrt_arq_f32_codes(w, &shape, 8, true, scales, far, out.q8));
    IS_SIZE(qrt_arq_f32_codes(w, &none, 8, true, scales, zero, out.q8));

    IS_NULL(qrt_arq_f32_fake(NULL, &shape, 8, true, scales, zero, out.y));
    IS_NULL(qrt_arq_f32_fake(w, NULL, 8, true, scales, zero, out.y));
    IS_NULL(qrt_arq_f32_fake(w, &shape, 8, true, NULL, zero, out.y));
    IS_NULL(qrt_arq_f32_fake(w, &shape, 8, true, scales, NULL, out.y));
    IS_NULL(qrt_arq_f32_fake(w, &shape, 8, true, scales, zero, NULL));
    IS_RANGE(qrt_arq_f32_fake(w, &shape, 1, true, scales, zero, out.y));
    IS_RANGE(qrt_arq_f32_fake(w, &shape, 17, true, scales, zero, out.y));
    IS_RANGE(qrt_arq_f32_fake(w, &shape, 8, true, scales, far, out.y));
    IS_SIZE(qrt_arq_f32_fake(w, &none, 8, false, scales, zero, out.y));
    /* one scale: what stands behind it is not looked at */
    assert_int_equal(qrt_arq_f32_codes(w, &shape, 8, false, bad, far, out.q8),
                     QRT_OK);
}

static void weights_of_cann(void **state)
{
    (void)state;
    IS_NULL(qrt_wts_arq_cann_f32(NULL, 8, -3, 3, false, out.s, out.o, out.y));
    IS_NULL(qrt_wts_arq_cann_f32(w, 8, -3, 3, false, out.s, out.o, NULL));
    IS_NULL(qrt_wts_arq_cann_f32(w, 8, -3, 3, false, NULL, out.o, out.y));
    IS_NULL(qrt_wts_arq_cann_f32(w, 8, -3, 3, true, out.s, NULL, out.y));
    IS_NOT_FINITE(
        qrt_wts_arq_cann_f32(w, 8, -INFINITY, 3, true, out.s, out.o, out.y));
    IS_NOT_FINITE(
        qrt_wts_arq_cann_f32(w, 8, -3, NAN, false, out.s, out.o, out.y));
}

static void learned_clips(void **state)
{
    const struct qrt_ulq_f32 cfg = {8, true, false, false, 1, -1};
    struct qrt_ulq_f32 bad = cfg;

    (void)state;
    for (bad.bits = 1; bad.bits <= 17; bad.bits += 16) {
        IS_RANGE(qrt_ulq_f32_clips(&bad, out.y, out.y + 1, out.s, out.offset));
        IS_RANGE(qrt_ulq_f32_backward(&bad, w, w, 8, 1, -1, out.y, out.sum,
                                      out.sum + 1));
    }
    IS_NULL(qrt_ulq_f32_clips(NULL, out.y, out.y + 1, out.s, out.offset));
    IS_NULL(qrt_ulq_f32_clips(&cfg, NULL, out.y + 1, out.s, out.offset));
    IS_NULL(qrt_ulq_f32_clips(&cfg, out.y, NULL, out.s, out.offset));
    IS_NULL(qrt_ulq_f32_clips(&cfg, out.y, out.y + 1, NULL, out.offset));
    IS_NULL(qrt_ulq_f32_clips(&cfg, out.y, out.y + 1, out.s, NULL));
    IS_NULL(qrt_ulq_f32_forward(&cfg, NULL, 8, out.o, out.o + 1, out.s,
                                out.offset, out.y));
    IS_NULL(qrt_ulq_f32_forward(&cfg, w, 8, out.o, out.o + 1, out.s, out.offset,
                                NULL));
    IS_NULL(qrt_ulq_f32_forward(NULL, w, 8, out.o, out.o + 1, out.s, out.offset,
                                out.y));
    IS_NULL(qrt_ulq_f32_backward(&cfg, NULL, w, 8, 1, -1, out.y, out.sum,
                                 out.sum + 1));
    IS_NULL(qrt_ulq_f32_backward(&cfg, w, NULL, 8, 1, -1, out.y, out.sum,
                                 out.sum + 1));
    IS_NULL(
        qrt_ulq_f32_backward(&cfg, w, w, 8, 1, -1, NULL, out.sum, out.sum + 1));
    IS_NULL(qrt_ulq_f32_backward(&cfg, w, w, 8, 1, -1, out.y, NULL, out.sum));
    IS_NULL(qrt_ulq_f32_backward(&cfg, w, w, 8, 1, -1, out.y, out.sum, NULL));
    IS_NULL(qrt_ulq_f32_backward(NULL, w, w, 8, 1, -1, out.y, out.sum,
                                 out.sum + 1));
    IS_NOT_FINITE(qrt_ulq_f32_backward(&cfg, w, w, 8, NAN, -1, out.y, out.sum,
                                       out.sum + 1));
    bad = cfg; /* a fallback that is no number is met when it is needed */
    bad.clip_max_pre = INFINITY;
    outputs_anew();
    out.o[0] = -1;
    out.o[1] = -2;
    before = out;
    assert_int_equal(qrt_ulq_f32_forward(&bad, w, 8, out.o, out.o + 1, out.s,
                                         out.offset, out.y),
                     QRT_ERR_NOT_FINITE);
    assert_memory_equal(&out, &before, sizeof out);
}

static void learned_clips_of_cann(void **state)
{
    static const uint8_t one[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
#define FORWARD(x, lo, hi)                                                     \
    qrt_acts_ulq_cann_f32(x, 8, lo, hi, false, out.y, out.mask[0],             \
                          out.mask[1], out.s, NULL)
    IS_NULL(FORWARD(NULL, -1, 1));
    IS_NOT_FINITE(FORWARD(w, NAN, 1));
    IS_NOT_FINITE(FORWARD(w, -1, INFINITY));
    IS_NOT_FINITE(FORWARD(w, -3e38f, 3e38f)); /* their difference is not */
    IS_NULL(qrt_acts_ulq_cann_f32_input_grad(NULL, 8, one, one, out.y));
    IS_NULL(qrt_acts_ulq_cann_f32_input_grad(w, 8, NULL, one, out.y));
    IS_NULL(qrt_acts_ulq_cann_f32_input_grad(w, 8, one, NULL, out.y));
    IS_NULL(qrt_acts_ulq_cann_f32_input_grad(w, 8, one, one, NULL));
    IS_NULL(qrt_acts_ulq_cann_f32_max_grad(NULL, 8, one, w, true, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_max_grad(w, 8, NULL, w, true, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_max_grad(w, 8, one, NULL, true, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_max_grad(w, 8, one, w, true, NULL));
    IS_NULL(qrt_acts_ulq_cann_f32_min_grad(NULL, 8, one, w, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_min_grad(w, 8, NULL, w, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_min_grad(w, 8, one, NULL, out.sum));
    IS_NULL(qrt_acts_ulq_cann_f32_min_grad(w, 8, one, w, NULL));
}

static void learned_steps(void **state)
{
    float bad[4] = {1, NAN, 1, -1}; /* scales */

    (void)state;
#define BACKWARD(w, g, bits, s, n, grad)                                       \
    qrt_ulq_scale_f32_backward(w, g, 4, 2, bits, false, s, n, grad)
#define STEPS(w, bits, init, s, n, y)                                          \
    qrt_ulq_scale_f32_forward(w, 4, 2, bits, init, false, s, n, y)
    IS_NULL(STEPS(NULL, 8, true, out.s, 4, out.y));
    IS_NULL(STEPS(w, 8, true, NULL, 4, out.y));
    IS_NULL(STEPS(w, 8, true, out.s, 4, NULL));
    IS_RANGE(STEPS(w, 1, true, out.s, 4, out.y));
    IS_RANGE(STEPS(w, 17, true, out.s, 4, out.y));
    IS_SIZE(STEPS(w, 8, true, out.s, 3, out.y));
    IS_SIZE(
        qrt_ulq_scale_f32_forward(w, 0, 2, 8, true, false, out.s, 1, out.y));
    IS_NOT_FINITE(STEPS(w, 8, false, bad, 4, out.y));
    bad[1] = 1;
    IS_RANGE(STEPS(w, 8, false, bad, 4, out.y));
    bad[3] = 0; /* 1 / step is not finite */
    IS_NOT_FINITE(STEPS(w, 8, false, bad, 4, out.y));
    IS_NOT_FINITE(BACKWARD(w, w, 8, bad, 4, out.sum));
    IS_NULL(BACKWARD(NULL, w, 8, scales, 1, out.sum));
    IS_NULL(BACKWARD(w, NULL, 8, scales, 1, out.sum));
    IS_NULL(BACKWARD(w, w, 8, NULL, 1, out.sum));
    IS_NULL(BACKWARD(w, w, 8, scales, 1, NULL));
    IS_RANGE(BACKWARD(w, w, 1, scales, 1, out.sum));
    IS_SIZE(BACKWARD(w, w, 8, scales, 2, out.sum));
}

static void ifmr_of_cann(void **state)
{
    static const int32_t cumsum[4] = {2, 4, 6, 8};
    const struct qrt_ifmr_cann_f32_config good = {1,    1,    0.7f, 1.3f,
                                                  0.1f, true, 8};
    struct qrt_ifmr_cann_f32_result r = {.steps = 7};

    (void)state;
#define SEARCH(x, n, lo, hi, sums, bins, c, to)                                \
    qrt_ifmr_cann_f32(x, n, lo, hi, sums, bins, c, NULL, to)
    IS_NULL(SEARCH(NULL, 8, -3, 3, cumsum, 4, &good, &r));
    IS_NULL(SEARCH(w, 8, -3, 3, NULL, 4, &good, &r));
    IS_NULL(SEARCH(w, 8, -3, 3, cumsum, 4, NULL, &r));
    IS_NULL(SEARCH(w, 8, -3, 3, cumsum, 4, &good, NULL));
    IS_RANGE(SEARCH(w, 0, -3, 3, cumsum, 4, &good, &r));
    IS_RANGE(SEARCH(w, 8, -3, 3, cumsum, 0, &good, &r));
    IS_RANGE(SEARCH(w, 8, -3, 3, cumsum, 8193, &good, &r));
    IS_RANGE(SEARCH(w, 8, 3, -3, cumsum, 4, &good, &r));
    IS_RANGE(SEARCH(w, 8, -3, INFINITY, cumsum, 4, &good, &r));
    for (int i = 0; i < 8; i++) {
        struct qrt_ifmr_cann_f32_config c = good;

        c.max_percentile = i == 0 ? 0.5f : 1;
        c.min_percentile = i == 1 ? 1.001f : 1;
        c.start = i == 2 ? 0 : i == 3 ? 1.3f : 0.7f;
        c.end = i == 4 ? INFINITY : 1.3f;
        c.step = i == 5 ? 0 : i == 6 ? 0.0001f : 0.1f;
        c.bits = i == 7 ? 4 : 8;
        IS_RANGE(SEARCH(w, 8, -3, 3, cumsum, 4, &c, &r));
    }
    assert_int_equal(r.steps, 7);
    assert_int_equal(SEARCH(w, 8, -3, 3, cumsum, 4, &good, &r), QRT_OK);
    assert_int_equal(r.steps, 7);
}

static void hfmg(void **state)
{
    uint32_t counts[4] = {0}, scratch[4];
    struct qrt_hfmg_f32 h = {4, 0, 0, 0, counts, scratch}, bad;
    struct qrt_hfmg_f32_result r;

    (void)state;
    for (int i = 0; i < 4; i++) {
        enum qrt_status st = i < 2 ? QRT_ERR_NULL : QRT_ERR_RANGE;

        bad = h;
        bad.counts = i == 0 ? NULL : counts;
        bad.scratch = i == 1 ? NULL : scratch;
        bad.bins = i == 2 ? 3 : i == 3 ? 8193 : 4;
        assert_int_equal(qrt_hfmg_f32_add(&bad, w, 8), st);
        assert_int_equal(qrt_hfmg_f32_widen(&bad, 0, 1), st);
        assert_int_equal(qrt_hfmg_f32_count(&bad, w, 8), st);
        assert_int_equal(qrt_hfmg_f32_search(&bad, 8, true, &r), st);
    }
    assert_int_equal(qrt_hfmg_f32_add(NULL, w, 8), QRT_ERR_NULL);
    assert_int_equal(qrt_hfmg_f32_add(&h, NULL, 8), QRT_ERR_NULL);
    assert_int_equal(qrt_hfmg_f32_add(&h, w, 0), QRT_ERR_EMPTY);
    assert_int_equal(qrt_hfmg_f32_count(&h, w, 8), QRT_ERR_EMPTY);
    assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, &r), QRT_ERR_EMPTY);
    assert_int_equal(h.batches, 0);
    assert_int_equal(qrt_hfmg_f32_add(&h, w, 8), QRT_OK);
    bad = h;
    assert_int_equal(qrt_hfmg_f32_count(&h, NULL, 8), QRT_ERR_NULL);
    assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_hfmg_f32_search(&h, 1, true, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_hfmg_f32_search(&h, 17, true, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_hfmg_f32_widen(&h, 1, 0), QRT_ERR_RANGE);
    assert_int_equal(qrt_hfmg_f32_widen(&h, NAN, 0), QRT_ERR_NOT_FINITE);
    counts[0] = counts[2] = counts[3] = 0;
    counts[1] = 0xfffffff8u; /* room for 7 more */
    memcpy(scratch, counts, sizeof scratch);
    assert_int_equal(qrt_hfmg_f32_add(&h, w, 8), QRT_ERR_FULL);
    assert_int_equal(qrt_hfmg_f32_count(&h, w, 8), QRT_ERR_FULL);
    assert_memory_equal(counts, scratch, sizeof counts);
    assert_memory_equal(&h, &bad, sizeof h);
}

/* A search whose steps overflow has no scale to give. */
static void hfmg_of_a_range_too_wide(void **state)
{
    uint32_t counts[4] = {0}, scratch[4];
    struct qrt_hfmg_f32 h = {4, 0, 0, 0, counts, scratch};
    struct qrt_hfmg_f32_result r = {.scale = 7};

    (void)state;
    assert_int_equal(qrt_hfmg_f32_widen(&h, -3e38f, 3e38f), QRT_ERR_NOT_FINITE);
    assert_int_equal(h.batches, 0);
    assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, &r), QRT_ERR_EMPTY);
    assert_true(r.scale == 7);
}

static void ifmr(void **state)
{
    static uint64_t memory[200000];
    static const float ratios[3] = {0.9f, 1, 1.1f};
    const struct qrt_ifmr_f32_config cfg = {8, true, false, ratios, 3, 1, 1};
    struct qrt_ifmr_f32_result r = {0}, again = {0};
    size_t size = qrt_ifmr_f32_state_size(3), len = 0;
    static uint8_t bytes[4096];

    (void)state;
    assert_true(size != 0 && size <= sizeof memory);
    assert_int_equal(qrt_ifmr_f32_init(NULL, size, &cfg), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_init(memory, size, NULL), QRT_ERR_NULL);
    /* not set up */
    assert_int_equal(qrt_ifmr_f32_add(memory, w, 8, NULL), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_finish(memory, &r), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_save(memory, NULL, 0, &len), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_init(memory, size - 1, &cfg),
                     QRT_ERR_SCRATCH);
    assert_int_equal(qrt_ifmr_f32_init(memory, size, &cfg), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(NULL, w, 8, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_add(memory, NULL, 8, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_merge(memory, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_merge(NULL, memory), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_finish(NULL, &r), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_finish(memory, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_save(NULL, NULL, 0, &len), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_save(memory, NULL, 0, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_save(memory, bytes, sizeof bytes, &len),
                     QRT_OK);
    assert_int_equal(qrt_ifmr_f32_search(memory, size, &cfg, NULL, 8, &r),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_search(memory, size, &cfg, w, 8, NULL),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_load(NULL, size, bytes, len), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_load(memory, size, NULL, len), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_load((uint8_t *)memory + 4, size, bytes, len),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_f32_load(memory, size - 1, bytes, len),
                     QRT_ERR_SCRATCH);
    /* one that is decided takes no more, and says again what it found */
    assert_int_equal(qrt_ifmr_f32_search(memory, size, &cfg, w, 8, &r), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(memory, w, 8, NULL), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_save(memory, bytes, sizeof bytes, &len),
                     QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_finish(memory, &again), QRT_OK);
    assert_memory_equal(&r, &again, sizeof r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_of_a_range),
        cmocka_unit_test(codes_of_values),
        cmocka_unit_test(codes_of_ascend_quant),
        cmocka_unit_test(values_of_codes),
        cmocka_unit_test(weights),
        cmocka_unit_test(weights_of_cann),
        cmocka_unit_test(learned_clips),
        cmocka_unit_test(learned_clips_of_cann),
        cmocka_unit_test(learned_steps),
        cmocka_unit_test(ifmr_of_cann),
        cmocka_unit_test(hfmg),
        cmocka_unit_test(hfmg_of_a_range_too_wide),
        cmocka_unit_test(ifmr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
