/* runtime/real.c: mantissa-exponent numbers. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

__extension__ typedef unsigned __int128 wide;

static double value(struct qrt_real r)
{
    return ldexp(r.m, r.e - 31);
}

static struct qrt_real scale_of(uint64_t *seed, int span)
{
    struct qrt_real r;

    r.m = (1 << 30) | (int32_t)(vec_random(seed) >> 2);
    r.e = (int32_t)(vec_random(seed) % (2u * (unsigned)span)) - span;
    return r;
}

static void every_binary32_survives(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = vec_random(&seed);
        struct qrt_real r;

        if (i % 4 == 0) {
            bits &= 0x807fffff; /* denormals */
        }
        if ((bits & 0x7f800000) == 0x7f800000) {
            continue;
        }
        assert_int_equal(qrt_real_from_f32(bits, &r), QRT_OK);
        assert_true(value(r) == vec_float((int32_t)bits));
        assert_true(qrt_real_to_f32(r) == (bits == 0x80000000u ? 0 : bits));
        assert_true(r.m == 0 ? r.e == 0 : (labs((long)r.m) >> 30) == 1);
    }
}

static void ends_of_the_range(void **state)
{
    struct qrt_real r;

    (void)state;
    assert_int_equal(qrt_real_from_f32(1, &r), QRT_OK); /* 2^-149 */
    assert_int_equal(r.m, 1 << 30);
    assert_int_equal(r.e, -148);
    assert_int_equal(qrt_real_from_f32(0xff7fffff, &r), QRT_OK);
    assert_int_equal(r.m, -0x7fffff80);
    assert_int_equal(r.e, 128);
    assert_int_equal(qrt_real_from_f32(0x7f800000, &r), QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_real_from_f32(0x7fc00001, &r), QRT_ERR_NOT_FINITE);
    assert_int_equal(r.m, -0x7fffff80); /* untouched */
    assert_int_equal(qrt_real_from_f32(0, NULL), QRT_ERR_NULL);
}

static void reciprocal_is_the_nearest_of_31_bits(void **state)
{
    uint64_t seed = 8;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct qrt_real a = scale_of(&seed, 100), r;
        uint64_t m =
            (((uint64_t)1 << 61) + ((uint32_t)a.m >> 1)) / (uint32_t)a.m;
        int e = 1 - a.e;

        if (i < 3) {
            a.m = i == 0 ? 1 << 30 : i == 1 ? (1 << 30) + 1 : INT32_MAX;
            m = (((uint64_t)1 << 61) + ((uint32_t)a.m >> 1)) / (uint32_t)a.m;
        }
        if (m >> 31) {
            m >>= 1;
            e++;
        }
        assert_int_equal(qrt_real_reciprocal(a, &r), QRT_OK);
        assert_true((uint64_t)r.m == m);
        assert_int_equal(r.e, e);
    }
}

/* |got - exact| <= half a unit of the 31 bits, for exact = n / d * 2^e. */
static void check_nearest(struct qrt_real got, wide n, wide d, int e)
{
    wide g = (uint32_t)got.m;
    int shift = got.e - 31 - e;
    wide difference;

    if (shift >= 0) {
        g <<= shift;
    } else {
        n <<= -shift;
        shift = 0;
    }
    g *= d;
    difference = g > n ? g - n : n - g;
    assert_true(2 * difference <= d << shift);
    assert_true(got.m >= 1 << 30);
}

static void product_and_quotient_round_once(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct qrt_real a = scale_of(&seed, 50), b = scale_of(&seed, 50), r;

        if (i % 5 == 0) {
            b.m = i % 2 ? 1 << 30 : INT32_MAX;
        }
        assert_int_equal(qrt_real_mul(a, b, &r), QRT_OK);
        check_nearest(r, (wide)(uint32_t)a.m * (uint32_t)b.m, 1,
                      a.e + b.e - 62);
        assert_int_equal(qrt_real_div(a, b, &r), QRT_OK);
        check_nearest(r, (uint32_t)a.m, (uint32_t)b.m, a.e - b.e);
    }
}

static void product_ties_go_to_even(void **state)
{
    /* (2^30 + 1) * 1.5 = 1610612737.5 in units of the result */
    struct qrt_real a = {(1 << 30) + 1, 1}, b = {3 << 29, 1}, r;

    (void)state;
    assert_int_equal(qrt_real_mul(a, b, &r), QRT_OK);
    assert_int_equal(r.m, 1610612738);
    a.m += 2; /* ... 740.5 */
    assert_int_equal(qrt_real_mul(a, b, &r), QRT_OK);
    assert_int_equal(r.m, 1610612740);
}

static void a_product_may_round_to_the_next_power_of_two(void **state)
{
    /* 2^61 - 2 in 62 bits: 0.5 to 31 of them */
    struct qrt_real a = {(1 << 30) + 1, 0}, b = {INT32_MAX - 1, 0}, r;

    (void)state;
    assert_int_equal(qrt_real_mul(a, b, &r), QRT_OK);
    assert_int_equal(r.m, 1 << 30);
    assert_int_equal(r.e, 0);
    a.e = 128; /* where there is no next one */
    b.e = 1;
    assert_int_equal(qrt_real_mul(a, b, &r), QRT_ERR_RANGE);
}

static void what_is_no_scale_is_refused(void **state)
{
    struct qrt_real good = {1 << 30, 0}, r = {5, 5};
    struct qrt_real bad[] = {
        {0,          0   },
        {1,          0   },
        {-(1 << 30), 0   },
        {1 << 29,    0   },
        {1 << 30,    -149},
        {1 << 30,    129 }
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(qrt_real_reciprocal(bad[i], &r), QRT_ERR_RANGE);
        assert_int_equal(qrt_real_mul(bad[i], good, &r), QRT_ERR_RANGE);
        assert_int_equal(qrt_real_mul(good, bad[i], &r), QRT_ERR_RANGE);
        assert_int_equal(qrt_real_div(good, bad[i], &r), QRT_ERR_RANGE);
    }
    good.e = 128;
    assert_int_equal(qrt_real_mul(good, good, &r), QRT_ERR_RANGE);
    assert_int_equal(r.m, 5);
    assert_int_equal(qrt_real_mul(good, good, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_real_div(good, good, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_real_reciprocal(good, NULL), QRT_ERR_NULL);
}

static void fixed_point_values_are_exact(void **state)
{
    static const int32_t x[] = {0, 1, -1, 5, INT32_MAX, INT32_MIN, -1000};
    struct qrt_real r;

    (void)state;
    for (int frac = -96; frac <= 117; frac++) {
        for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
            assert_int_equal(qrt_real_from_fixed(x[i], frac, &r), QRT_OK);
            assert_true(value(r) == ldexp(x[i], -frac));
        }
    }
    assert_int_equal(qrt_real_from_fixed(1, -97, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_real_from_fixed(1, 118, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_real_from_fixed(1, 0, NULL), QRT_ERR_NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_binary32_survives),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(reciprocal_is_the_nearest_of_31_bits),
        cmocka_unit_test(product_and_quotient_round_once),
        cmocka_unit_test(product_ties_go_to_even),
        cmocka_unit_test(a_product_may_round_to_the_next_power_of_two),
        cmocka_unit_test(what_is_no_scale_is_refused),
        cmocka_unit_test(fixed_point_values_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
