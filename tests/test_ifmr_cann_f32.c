/* CANN's IFMR: runtime/ifmr_cann_f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

static void check_losses(struct vf *v, const double *loss, uint32_t steps,
                         uint32_t index)
{
    size_t n;
    double *want = vf_doubles(v, "loss", &n), least;
    assert_int_equal(n, steps);
    least = want[0];
    for (size_t i = 0; i < n; i++) {
        if (isnan(want[i]))
            return; /* a scale of 0: every candidate is the same */
        if (fabs(loss[i] - want[i]) > 1e-6 * want[i])
            fail_msg("%s: loss %zu", v->id, i);
        least = want[i] < least ? want[i] : least;
    }
    if (want[index] > least * (1 + 1e-5))
        fail_msg("%s: index %u", v->id, (unsigned)index);
}

static void check_case(struct vf *v)
{
    size_t n, bins;
    float *x = vf_floats(v, "data", &n);
    int32_t *cumsum = vf_ints(v, "cumsum", &bins);
    double *s = vf_doubles(v, "search", NULL), loss[4096];
    struct qrt_ifmr_cann_f32_config cfg = {(float)s[3],
                                           (float)s[4],
                                           (float)s[0],
                                           (float)s[1],
                                           (float)s[2],
                                           vf_int(v, "with_offset"),
                                           (uint32_t)vf_int(v, "bits")};
    struct qrt_ifmr_cann_f32_result r;
    if (!x)
        return;
    assert_int_equal(qrt_ifmr_cann_f32(x, n, vf_float(v, "data_min"),
                                       vf_float(v, "data_max"), cumsum,
                                       (uint32_t)bins, &cfg, loss, &r),
                     QRT_OK);
    assert_int_equal(r.steps, vf_int(v, "steps"));
    vf_check_ints(v, "bins",
                  (int32_t[]){(int32_t)r.max_bin, (int32_t)r.min_bin}, 2);
    assert_true(vf_ulp(r.init_max, vf_float(v, "init_max")) <= 1);
    assert_true(vf_ulp(r.init_min, vf_float(v, "init_min")) <= 1);
    check_losses(v, loss, r.steps, r.index);
    if (r.index != (uint32_t)vf_int(v, "index"))
        return;
    assert_true(vf_ulp(r.scale, vf_float(v, "scale")) <= 2);
    assert_true(r.offset == vf_float(v, "offset"));
}

static void search_is_that_of_the_operator(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "ifmr_cann_f32.txt");
    while (vf_next(&v))
        check_case(&v);
    assert_int_equal(v.cases, 24);
    vf_close(&v);
}

static void bad_arguments_are_refused(void **state)
{
    const struct qrt_ifmr_cann_f32_config good = {1,     1,    0.7f, 1.3f,
                                                  0.01f, true, 8};
    struct qrt_ifmr_cann_f32_config c = good;
    struct qrt_ifmr_cann_f32_result r;
    const float x[2] = {-1, 1};
    const int32_t cumsum[2] = {1, 2};
    (void)state;
#define SEARCH() qrt_ifmr_cann_f32(x, 2, -1, 1, cumsum, 2, &c, NULL, &r)
    assert_int_equal(SEARCH(), QRT_OK);
    c.bits = 4;
    assert_int_equal(SEARCH(), QRT_ERR_RANGE);
    c = good;
    c.step = 0.0f;
    assert_int_equal(SEARCH(), QRT_ERR_RANGE);
    c.step = 1e-5f; /* too many candidates */
    assert_int_equal(SEARCH(), QRT_ERR_RANGE);
    c = good;
    c.max_percentile = 0.5f;
    assert_int_equal(SEARCH(), QRT_ERR_RANGE);
    c = good;
    c.start = NAN;
    assert_int_equal(SEARCH(), QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_cann_f32(x, 2, 1, -1, cumsum, 2, &good, NULL, &r),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_cann_f32(x, 0, -1, 1, cumsum, 2, &good, NULL, &r),
                     QRT_ERR_RANGE);
#undef SEARCH
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_is_that_of_the_operator),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
