/* HFMG: runtime/hfmg_f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

static uint32_t counts[8192], scratch[8192];

static struct qrt_hfmg_f32 start(uint32_t bins)
{
    struct qrt_hfmg_f32 h = {bins, 0, 0, 0, counts, scratch};
    return h;
}

static void check_case(struct vf *v)
{
    size_t n, n2 = 0;
    float *x = vf_floats(v, "data", &n), *x2 = NULL;
    if (vf_has(v, "data2"))
        x2 = vf_floats(v, "data2", &n2);
    if (v->missing)
        return;
    struct qrt_hfmg_f32 h = start((uint32_t)vf_int(v, "bins"));
    struct qrt_hfmg_f32_result r;
    assert_int_equal(qrt_hfmg_f32_add(&h, x, n), QRT_OK);
    if (x2)
        assert_int_equal(qrt_hfmg_f32_add(&h, x2, n2), QRT_OK);
    vf_check_ints(v, "histogram", (int32_t *)counts, h.bins);
    vf_check_bits(v, "hist_min", &h.min, 1);
    vf_check_bits(v, "hist_max", &h.max, 1);
    assert_int_equal(qrt_hfmg_f32_search(&h, (uint32_t)vf_int(v, "bits"),
                                         vf_int(v, "asymmetric"), &r),
                     QRT_OK);
    float want = vf_float(v, "scale");
    if (fabsf(r.scale - want) > 2e-6f * want)
        fail_msg("%s: scale %.9g %.9g", v->id, (double)r.scale, (double)want);
    assert_int_equal(r.offset, vf_int(v, "offset"));
    want = vf_float(v, "clip_max");
    assert_true(fabsf(r.clip_max - want) <= 2e-6f * fabsf(want));
    want = vf_float(v, "clip_min");
    assert_true(fabsf(r.clip_min - want) <= 2e-6f * fabsf(want));
}

static void histogram_and_scale_are_those_of_amct(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "hfmg_f32.txt");
    while (vf_next(&v))
        check_case(&v);
    assert_int_equal(v.cases, 6);
    vf_close(&v);
}

static uint64_t total(uint32_t bins)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < bins; i++)
        n += counts[i];
    return n;
}

static void no_sample_is_lost_when_the_range_grows(void **state)
{
    struct qrt_hfmg_f32 h = start(1024);
    static float x[1000];
    (void)state;
    for (int batch = 1; batch <= 12; batch++) {
        for (int i = 0; i < 1000; i++)
            x[i] = ldexpf((float)(i * 7919 % 1000) - 300.0f, batch % 5);
        assert_int_equal(qrt_hfmg_f32_add(&h, x, 1000), QRT_OK);
        assert_true(total(1024) == 1000u * (unsigned)batch);
        assert_true(counts[1023] > 0);
    }
}

static void constant_data_have_a_result(void **state)
{
    const float values[] = {0.0f, 5.0f, -3.0f};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct qrt_hfmg_f32 h = start(1024);
        struct qrt_hfmg_f32_result r;
        float x[50];
        for (size_t i = 0; i < 50; i++)
            x[i] = values[k];
        assert_int_equal(qrt_hfmg_f32_add(&h, x, 50), QRT_OK);
        assert_int_equal(qrt_hfmg_f32_add(&h, x, 50), QRT_OK);
        assert_true(total(1024) == 100);
        assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, &r), QRT_OK);
        float want = values[k] == 0.0f ? 1.0f : fabsf(values[k]) / 255.0f;
        assert_true(r.scale == want);
        /* A wider batch takes the old counts in. */
        x[0] = values[k] + 1.0f;
        x[1] = values[k] - 1.0f;
        assert_int_equal(qrt_hfmg_f32_add(&h, x, 50), QRT_OK);
        assert_true(total(1024) == 150);
    }
}

/* Batches that grow, that stay inside, and one equal to the range. */
static void a_batch_in_pieces_is_the_batch(void **state)
{
    static uint32_t pieces[8192], room[8192];
    static float x[1000];
    struct qrt_hfmg_f32 h = start(1024);
    struct qrt_hfmg_f32 p = {1024, 0, 0, 0, pieces, room};
    (void)state;
    for (int batch = 1; batch <= 8; batch++) {
        float min = INFINITY, max = -INFINITY;
        for (int i = 0; i < 1000; i++) {
            x[i] = ldexpf((float)(i * 7919 % 1000) - 300.0f, batch * 3 % 5);
            min = fminf(min, x[i]);
            max = fmaxf(max, x[i]);
        }
        assert_int_equal(qrt_hfmg_f32_add(&h, x, 1000), QRT_OK);
        assert_int_equal(qrt_hfmg_f32_widen(&p, min, max), QRT_OK);
        for (size_t at = 0, n = 1; at < 1000; at += n, n = n * 3 % 200 + 1)
            assert_int_equal(
                qrt_hfmg_f32_count(&p, x + at, n < 1000 - at ? n : 1000 - at),
                QRT_OK);
        assert_memory_equal(counts, pieces, 1024 * sizeof(*counts));
        assert_true(h.min == p.min && h.max == p.max);
        assert_int_equal(h.batches, p.batches);
    }
    x[1] = h.max * 2.0f;
    assert_int_equal(qrt_hfmg_f32_count(&p, x, 2), QRT_ERR_MISMATCH);
    assert_int_equal(qrt_hfmg_f32_widen(&p, 1.0f, 0.0f), QRT_ERR_RANGE);
    assert_int_equal(qrt_hfmg_f32_widen(&p, 1.0f, NAN), QRT_ERR_NOT_FINITE);
    p.batches = 0;
    assert_int_equal(qrt_hfmg_f32_count(&p, x, 1), QRT_ERR_EMPTY);
}

static void bad_input_leaves_the_histogram_alone(void **state)
{
    struct qrt_hfmg_f32 h = start(1024);
    struct qrt_hfmg_f32_result r;
    float x[3] = {1.0f, 2.0f, NAN};
    (void)state;
    assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, &r), QRT_ERR_EMPTY);
    assert_int_equal(qrt_hfmg_f32_add(&h, x, 3), QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_hfmg_f32_add(&h, x, 0), QRT_ERR_EMPTY);
    assert_int_equal(h.batches, 0);
    assert_int_equal(qrt_hfmg_f32_add(&h, x, 2), QRT_OK);
    x[0] = 3e38f;
    x[1] = -3e38f;
    assert_int_equal(qrt_hfmg_f32_add(&h, x, 2), QRT_ERR_NOT_FINITE);
    assert_true(total(1024) == 2 && h.batches == 1);
    assert_int_equal(qrt_hfmg_f32_search(&h, 1, true, &r), QRT_ERR_RANGE);
    h.bins = 3;
    assert_int_equal(qrt_hfmg_f32_add(&h, x, 2), QRT_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histogram_and_scale_are_those_of_amct),
        cmocka_unit_test(no_sample_is_lost_when_the_range_grows),
        cmocka_unit_test(constant_data_have_a_result),
        cmocka_unit_test(a_batch_in_pieces_is_the_batch),
        cmocka_unit_test(bad_input_leaves_the_histogram_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
