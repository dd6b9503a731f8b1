/* runtime/softf32.c against the host's binary32 arithmetic. */
#include "cmocka_all.h"

#include "softf32.h"
#include "vectors.h"

/* Pairs that stress one thing each: any, close together, denormal, ties,
 * exponents apart by about a mantissa. */
static void draw(uint64_t *seed, int i, uint32_t *a, uint32_t *b)
{
    *a = vec_random(seed);
    *b = vec_random(seed);
    switch (i % 6) {
    case 1:
        *b = *a + vec_random(seed) % 7 - 3;
        break;
    case 2:
        *a &= 0x80ffffff;
        *b &= 0x80ffffff;
        break;
    case 3:
        *a &= 0xffff8000;
        *b &= 0xfff00000;
        break;
    case 4:
        *b = (*b & 0x807fffff) |
             ((*a & 0x7f800000) - ((vec_random(seed) % 30) << 23)) % 0x7f800000;
        break;
    case 5:
        *b = (*a ^ 0x80000000) + vec_random(seed) % 3;
        break;
    default:
        break;
    }
}

static bool same(uint32_t got, float want)
{
    return isnan(want) ? !qrt_f32_is_finite(got) : got == vec_bits(want);
}

static void four_operations_round_as_the_host(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint32_t a, b;
        float x, y;

        draw(&seed, i, &a, &b);
        x = vec_float((int32_t)a);
        y = vec_float((int32_t)b);
        if (!qrt_f32_is_finite(a) || !qrt_f32_is_finite(b)) {
            continue;
        }
        assert_true(same(qrt_f32_add(a, b), x + y));
        assert_true(same(qrt_f32_sub(a, b), x - y));
        assert_true(same(qrt_f32_mul(a, b), x * y));
        if (y != 0) {
            assert_true(same(qrt_f32_div(a, b), x / y));
        }
    }
}

static void what_is_not_finite_stays_so(void **state)
{
    static const uint32_t bad[] = {QRT_F32_INF, QRT_F32_NAN, 0xff800000u};

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_false(qrt_f32_is_finite(bad[i]));
        assert_false(qrt_f32_is_finite(qrt_f32_add(bad[i], QRT_F32_ONE)));
        assert_false(qrt_f32_is_finite(qrt_f32_mul(QRT_F32_ONE, bad[i])));
        assert_false(qrt_f32_is_finite(qrt_f32_div(QRT_F32_ONE, bad[i])));
    }
    assert_false(qrt_f32_is_finite(qrt_f32_div(QRT_F32_ONE, 0)));
    assert_true(qrt_f32_mul(0x7f7fffff, 0x40000000) == QRT_F32_INF);
    assert_true(qrt_f32_add(0xff7fffff, 0xff7fffff) == 0xff800000u);
}

static void zero_keeps_its_sign(void **state)
{
    (void)state;
    assert_true(qrt_f32_add(0x80000000u, 0x80000000u) == 0x80000000u);
    assert_true(qrt_f32_add(0x80000000u, 0) == 0);
    assert_true(qrt_f32_sub(QRT_F32_ONE, QRT_F32_ONE) == 0);
    assert_true(qrt_f32_mul(0x80000000u, QRT_F32_ONE) == 0x80000000u);
    assert_true(qrt_f32_div(0, 0xbf800000u) == 0x80000000u);
}

static void conversions_round_as_the_host(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        int32_t x = (int32_t)vec_random(&seed) >> (vec_random(&seed) % 32);
        int frac = (int)(vec_random(&seed) % 300) - 120;
        uint32_t a = vec_random(&seed) & 0xcfffffff;
        double v = rint(ldexp(vec_float((int32_t)a), 7));

        assert_true(
            same(qrt_f32_from_fixed(x, frac), (float)ldexp((double)x, -frac)));
        if (qrt_f32_is_finite(a) && fabs(v) < 9e18) {
            assert_true(qrt_f32_to_fixed(a, 7) == (int64_t)v);
        }
    }
    assert_int_equal(qrt_f32_to_s32(0x4f000000), INT32_MAX); /* 2^31 */
    assert_int_equal(qrt_f32_to_s32(0xcf000000), INT32_MIN);
    assert_int_equal(qrt_f32_to_s32(0x3f000000), 0);  /* 0.5 */
    assert_int_equal(qrt_f32_to_s32(0x3fc00000), 2);  /* 1.5 */
    assert_int_equal(qrt_f32_to_s32(0xc0200000), -2); /* -2.5 */
}

static void order_is_that_of_the_values(void **state)
{
    uint64_t seed = 6;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint32_t a = vec_random(&seed) & 0xbfffffff;
        uint32_t b = vec_random(&seed) & 0xbfffffff;
        float x = vec_float((int32_t)a), y = vec_float((int32_t)b);

        assert_true((qrt_f32_order(a) < qrt_f32_order(b)) == (x < y));
        assert_true(qrt_f32_of_order(qrt_f32_order(a)) == a);
    }
    assert_int_equal(qrt_f32_order(0x80000000u), qrt_f32_order(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_operations_round_as_the_host),
        cmocka_unit_test(what_is_not_finite_stays_so),
        cmocka_unit_test(zero_keeps_its_sign),
        cmocka_unit_test(conversions_round_as_the_host),
        cmocka_unit_test(order_is_that_of_the_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
