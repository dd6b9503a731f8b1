/* ARQ in binary32: runtime/arq_f32.c, scale_f32.c, wts_arq_cann_f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

static struct qrt_shape shape_of(struct vf *v)
{
    int32_t *s = vf_ints(v, "shape", NULL);
    struct qrt_shape shape = {(uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2],
                              (uint32_t)s[3]};
    return shape;
}

static void check_case(struct vf *v)
{
    size_t n;
    float *w = vf_floats(v, "w", &n), scale[512];
    struct qrt_shape shape = shape_of(v);
    uint32_t bits = (uint32_t)vf_int(v, "bits"), dead;
    bool per_channel = vf_int(v, "per_channel"),
         asymmetric = vf_int(v, "asymmetric");
    uint32_t groups = shape.groups ? shape.groups : 1;
    size_t scales = per_channel ? groups * shape.channels : 1;
    int32_t offset[512];
    enum qrt_status st;
    if (!w)
        return;
    st = qrt_arq_f32_scale(w, &shape, bits, per_channel, asymmetric, scale,
                           offset, &dead);
    if (vf_has(v, "error")) {
        assert_int_equal(st, QRT_ERR_NOT_FINITE);
        return;
    }
    assert_int_equal(st, QRT_OK);
    vf_check_bits(v, "scale", scale, scales);
    vf_check_ints(v, "zero", offset, scales);
    float *y = vf_own(v, n * 4);
    int8_t *q = vf_own(v, n);
    assert_int_equal(
        qrt_arq_f32_fake(w, &shape, bits, per_channel, scale, offset, y), 0);
    vf_check_hash(v, "fake", y, n);
    st = qrt_arq_f32_codes(w, &shape, bits, per_channel, scale, offset, q);
    assert_int_equal(st, bits > 8 ? QRT_ERR_RANGE : QRT_OK);
    if (vf_has(v, "q") && bits <= 8)
        vf_check_codes(v, "q", q, n);
}

static void scales_codes_and_fake_weights_are_those_of_amct(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "arq.txt");
    while (vf_next(&v))
        check_case(&v);
    assert_int_equal(v.cases, 75);
    vf_close(&v);
}

/* One value per output channel, whatever the layout. */
static void every_layout_finds_its_channels(void **state)
{
    static const struct qrt_shape shapes[] = {
        {1, 6,   5, 1},
        {7, 6,   1, 1},
        {3, 130, 1, 2},
        {4, 5,   3, 3},
        {1, 9,   1, 0}
    };
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct qrt_shape s = shapes[k];
        uint32_t groups = s.groups ? s.groups : 1;
        size_t n = (size_t)groups * s.outer * s.channels * s.inner;
        size_t count = (size_t)groups * s.channels;
        float *w = malloc(n * 4), *y = malloc(n * 4),
              *scale = malloc(count * 4);
        int32_t *offset = malloc(count * 4);
        int8_t *q = malloc(n);
        for (size_t i = 0; i < n; i++) {
            size_t row = i / s.inner, c = row % s.channels;
            size_t g = row / s.channels / s.outer;
            w[i] = (float)(g * s.channels + c + 1);
        }
        assert_int_equal(
            qrt_arq_f32_scale(w, &s, 8, true, false, scale, offset, NULL),
            QRT_OK);
        assert_int_equal(qrt_arq_f32_codes(w, &s, 8, true, scale, offset, q),
                         QRT_OK);
        assert_int_equal(qrt_arq_f32_fake(w, &s, 8, true, scale, offset, y),
                         QRT_OK);
        for (size_t c = 0; c < count; c++)
            assert_true(scale[c] == (float)(c + 1) / 127.0f);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(q[i], 127);
            assert_true(fabsf(y[i] - w[i]) < 1e-5f * w[i]);
        }
        free(w), free(y), free(scale), free(offset), free(q);
    }
}

static void a_bad_weight_anywhere_is_found(void **state)
{
    (void)state;
    float w[131];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t at = 0; at < 131; at++)
        for (size_t k = 0; k < 3; k++) {
            const struct qrt_shape row = {1, 1, 131, 1},
                                   column = {131, 1, 1, 1};
            float scale[1];
            int32_t offset[1];
            for (size_t i = 0; i < 131; i++)
                w[i] = 0.5f;
            w[at] = bad[k];
            assert_int_equal(
                qrt_arq_f32_scale(w, &row, 8, true, false, scale, offset, NULL),
                QRT_ERR_NOT_FINITE);
            assert_int_equal(qrt_arq_f32_scale(w, &column, 8, true, false,
                                               scale, offset, NULL),
                             QRT_ERR_NOT_FINITE);
        }
}

/* One sum tells that all are finite, unless it overflows itself. */
static void weights_may_add_up_to_infinity(void **state)
{
    (void)state;
    const struct qrt_shape row = {1, 1, 131, 1};
    float w[131], scale;
    int32_t offset;
    for (size_t i = 0; i < 131; i++)
        w[i] = 3e38f;
    assert_int_equal(
        qrt_arq_f32_scale(w, &row, 8, true, false, &scale, &offset, NULL),
        QRT_OK);
    assert_true(scale == 3e38f / 127.0f);
    w[77] = NAN;
    assert_int_equal(
        qrt_arq_f32_scale(w, &row, 8, true, false, &scale, &offset, NULL),
        QRT_ERR_NOT_FINITE);
}

static void dead_channels_are_counted(void **state)
{
    (void)state;
    const struct qrt_shape s = {1, 4, 2, 1};
    const float w[8] = {0, 0, 1e-9f, -1e-9f, 127, 127, 1, -1};
    float scale[4];
    int32_t offset[4];
    uint32_t dead;
    assert_int_equal(
        qrt_arq_f32_scale(w, &s, 8, true, false, scale, offset, &dead), QRT_OK);
    assert_int_equal(dead, 2);
    assert_int_equal(
        qrt_arq_f32_scale(w, &s, 8, true, true, scale, offset, &dead), QRT_OK);
    assert_int_equal(dead, 2);
    assert_int_equal(offset[0], -128);
}

static float pattern(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* The subtraction from -H rounds before the zero point does: exact rounding
 * would give one less in all three. */
static void zero_point_is_rounded_after_the_subtraction(void **state)
{
    const struct {
        uint32_t max, min;
        int32_t offset;
    } ranges[] = {
        {0x42bc9667, 0xbfd8d1bc, -124},
        {0x42a38663, 0xc1c712e6, -68 },
        {0x42480000, 0xc2480000, 0   }
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float scale;
        int32_t offset;
        assert_int_equal(qrt_scale_f32(pattern(ranges[i].max),
                                       pattern(ranges[i].min), 8, true, &scale,
                                       &offset),
                         QRT_OK);
        assert_int_equal(offset, ranges[i].offset);
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const struct qrt_shape s = {1, 1, 2, 1}, empty = {1, 0, 2, 1},
                           huge = {65536, 65536, 1, 1};
    const float w[2] = {1, 2};
    float scale[1] = {1}, zero[1] = {0};
    int32_t offset[1] = {0}, far[1] = {128};
    int8_t q[2];
    assert_int_equal(qrt_arq_f32_scale(NULL, &s, 8, 1, 0, scale, offset, NULL),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_arq_f32_scale(w, &s, 1, 1, 0, scale, offset, NULL),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_arq_f32_scale(w, &s, 17, 1, 0, scale, offset, NULL),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_arq_f32_scale(w, &empty, 8, 1, 0, scale, offset, NULL),
                     QRT_ERR_SIZE);
    assert_int_equal(qrt_arq_f32_scale(w, &huge, 8, 1, 0, scale, offset, NULL),
                     QRT_ERR_SIZE);
    assert_int_equal(qrt_arq_f32_codes(w, &s, 9, 1, scale, offset, q),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_arq_f32_codes(w, &s, 8, 1, zero, offset, q),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_arq_f32_codes(w, &s, 8, 1, scale, far, q),
                     QRT_ERR_RANGE);
}

static void wts_arq_is_that_of_cann(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "wts_arq_cann_f32.txt");
    while (vf_next(&v)) {
        int32_t *shape = vf_ints(&v, "shape", NULL);
        size_t channels = (size_t)shape[0], n = (size_t)shape[1], k;
        float *w = vf_floats(&v, "w", &k), *lo = vf_floats(&v, "w_min", NULL);
        float *hi = vf_floats(&v, "w_max", NULL), scale[64], offset[64];
        float *y = vf_own(&v, k * 4);
        assert_true(k == channels * n && channels <= 64);
        for (size_t c = 0; c < channels; c++)
            assert_int_equal(qrt_wts_arq_cann_f32(w + c * n, n, lo[c], hi[c],
                                                  vf_int(&v, "offset_flag"),
                                                  scale + c, offset + c,
                                                  y + c * n),
                             QRT_OK);
        vf_check_bits(&v, "scale", scale, channels);
        vf_check_bits(&v, "offset", offset, channels);
        vf_check_hash(&v, "y", y, k);
    }
    assert_int_equal(v.cases, 12);
    vf_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_codes_and_fake_weights_are_those_of_amct),
        cmocka_unit_test(every_layout_finds_its_channels),
        cmocka_unit_test(a_bad_weight_anywhere_is_found),
        cmocka_unit_test(weights_may_add_up_to_infinity),
        cmocka_unit_test(dead_channels_are_counted),
        cmocka_unit_test(zero_point_is_rounded_after_the_subtraction),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(wts_arq_is_that_of_cann),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
