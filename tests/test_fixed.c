/* runtime/fixed.h: roundings against 128-bit arithmetic. */
#include "cmocka_all.h"

#include "fixed.h"
#include "vectors.h"

__extension__ typedef __int128 wide;

/* v / 2^sh to nearest, ties to the even result + off, without any shortcut. */
static wide half_even(wide v, int sh, int off)
{
    wide unit, q, rest;

    if (sh > 120) {
        return 0;
    }
    if (sh <= 0) {
        return v * ((wide)1 << -sh);
    }
    unit = (wide)1 << sh;
    q = v / unit;
    rest = v % unit;
    if (rest < 0) {
        rest += unit;
        q -= 1;
    }
    if (2 * rest > unit || (2 * rest == unit && ((q + off) & 1) != 0)) {
        q += 1;
    }
    return q;
}

static wide saturated(wide v, wide lo, wide hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static const int64_t edges[] = {0,          1,          2,
                                3,          5,          INT32_MAX,
                                0x40000000, 0x60000000, (1LL << 32) - 1,
                                1LL << 32,  3LL << 31,  (1LL << 62) - 1,
                                1LL << 62,  INT64_MAX};

static void rshift_agrees_with_128_bits(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 300000; i++) {
        int64_t v =
            (int64_t)((uint64_t)vec_random(&seed) << 32 | vec_random(&seed));
        int sh = (int)(vec_random(&seed) % 90) - 20;
        int off = (int)(vec_random(&seed) % 7) - 3;

        if (i % 3 == 0) { /* small numbers, many ties */
            v >>= vec_random(&seed) % 64;
        } else if (i % 3 == 1) {
            v = edges[(size_t)i % 14] * (v < 0 ? -1 : 1);
        }
        v = (int64_t)((uint64_t)v << 1) >> 1; /* |v| <= 2^62 */
        if (v == 1LL << 62 || v == -(1LL << 62)) {
            v /= 3;
        }
        assert_true(qrt_rshift_half_even(v, sh, off) ==
                    (int64_t)saturated(half_even(v, sh, off),
                                       v < 0 ? -(wide)INT64_MAX : INT64_MIN,
                                       INT64_MAX));
    }
}

static void ties_go_to_the_even_sum(void **state)
{
    (void)state;
    assert_int_equal(qrt_rshift_half_even(3, 1, 0), 2);
    assert_int_equal(qrt_rshift_half_even(5, 1, 0), 2);
    assert_int_equal(qrt_rshift_half_even(3, 1, 1), 1);
    assert_int_equal(qrt_rshift_half_even(5, 1, -3), 3);
    assert_int_equal(qrt_rshift_half_even(-3, 1, 0), -2);
    assert_int_equal(qrt_rshift_half_even(-5, 1, 0), -2);
    assert_int_equal(qrt_rshift_half_even(-5, 1, 1), -3);
}

static void large_shifts_give_zero_and_negative_ones_saturate(void **state)
{
    (void)state;
    assert_int_equal(qrt_rshift_half_even((1LL << 62) - 1, 64, 0), 0);
    assert_int_equal(qrt_rshift_half_even((1LL << 62) - 1, 63, 0), 0);
    assert_int_equal(qrt_rshift_half_even((1LL << 62) - 1, 62, 0), 1);
    assert_int_equal(qrt_rshift_half_even(-INT64_MAX, 1000, 0), 0);
    assert_true(qrt_rshift_half_even(1, -62, 0) == 1LL << 62);
    assert_true(qrt_rshift_half_even(1, -63, 0) == INT64_MAX);
    assert_true(qrt_rshift_half_even(-1, -1000, 0) == -INT64_MAX);
    assert_int_equal(qrt_rshift_half_even(0, -1000, 0), 0);
}

static void multiplication_agrees_with_128_bits(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int i = 0; i < 500000; i++) {
        int32_t x = (int32_t)vec_random(&seed);
        int32_t m = (int32_t)(vec_random(&seed) >> 1);
        int sh = (int)(vec_random(&seed) % 80) - 10;
        int off = (int)(vec_random(&seed) % 513) - 256;
        wide exact;

        if (i % 4 == 0) { /* powers of two: ties */
            m = 1 << 30;
            x >>= vec_random(&seed) % 31;
        } else if (i % 4 == 1) {
            x = i % 8 == 1 ? INT32_MIN : INT32_MAX;
        }
        exact = half_even((wide)x * m, sh, off);
        assert_int_equal(qrt_mul_shift_half_even(x, m, sh, off),
                         (int32_t)saturated(exact, INT32_MIN, INT32_MAX));
        if (sh >= 33 && sh <= 62) {
            assert_int_equal(
                qrt_mul_high_half_even(x, m, (uint32_t)sh - 33, off, 77),
                (int32_t)exact + 77);
        }
    }
}

static void division_agrees_with_the_operator(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t n = (uint64_t)vec_random(&seed) << 32 | vec_random(&seed);
        uint32_t d = vec_random(&seed);
        uint32_t rest = 0;

        n >>= vec_random(&seed) % 64;
        d = (d >> vec_random(&seed) % 32) | 1;
        assert_true(qrt_udiv64(n, d, &rest) == n / d);
        assert_true(rest == n % d);
    }
}

static void ratio_agrees_with_128_bits(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint32_t b = (uint32_t)1 << 30 | vec_random(&seed) >> 2;
        uint32_t a = (vec_random(&seed) >> (1 + vec_random(&seed) % 28)) | 1;
        int32_t e = 5;
        uint64_t q;
        wide scaled;

        a = i % 3 == 0 ? b - 1 + (uint32_t)i % 5 : a;
        q = qrt_ratio(a, b, &e);
        scaled = (wide)a << (4 - e); /* a / b * 2^5 = q * 2^e */
        assert_true(q >> 32 == 1);
        assert_true((wide)(q >> 1) == scaled / b);
        assert_true((q & 1) == (scaled % b != 0));
    }
}

static void products_agree_with_128_bits(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = (uint64_t)vec_random(&seed) << 32 | vec_random(&seed);
        uint32_t b = vec_random(&seed);
        uint32_t c = vec_random(&seed);
        uint32_t shift = vec_random(&seed) % 64;
        wide product;
        uint64_t sum = a >> 1;

        a >>= 32 - shift % 33;
        product = (wide)a * b >> shift;
        if (product >> 64 == 0) {
            assert_true(qrt_mul_shift64(a, b, shift) == (uint64_t)product);
        }
        a = sum;
        qrt_add_product(&sum, b, c >> 1);
        assert_true(sum == a + (uint64_t)b * (c >> 1));
    }
}

static void bit_length_of_every_power(void **state)
{
    (void)state;
    assert_int_equal(qrt_bit_length32(0), 0);
    assert_int_equal(qrt_bit_length64(0), 0);
    for (unsigned n = 0; n < 64; n++) {
        uint64_t v = (uint64_t)1 << n;

        assert_int_equal(qrt_bit_length64(v), n + 1);
        assert_int_equal(qrt_bit_length64(v | (v - 1)), n + 1);
        if (n < 32) {
            assert_int_equal(qrt_bit_length32((uint32_t)v), n + 1);
        }
    }
}

static void saturation_stops_at_the_ends(void **state)
{
    (void)state;
    assert_int_equal(qrt_sat8(128), 127);
    assert_int_equal(qrt_sat8(-129), -128);
    assert_int_equal(qrt_sat8(-128), -128);
    assert_int_equal(qrt_sat16(32768), 32767);
    assert_int_equal(qrt_sat16(-32769), -32768);
    assert_int_equal(qrt_sat32((int64_t)INT32_MAX + 1), INT32_MAX);
    assert_int_equal(qrt_sat32((int64_t)INT32_MIN - 1), INT32_MIN);
    assert_int_equal(qrt_sat32(-5), -5);
    assert_true(qrt_abs32(INT32_MIN) == 0x80000000u);
    assert_true(qrt_abs64(INT64_MIN) == (uint64_t)1 << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rshift_agrees_with_128_bits),
        cmocka_unit_test(ties_go_to_the_even_sum),
        cmocka_unit_test(large_shifts_give_zero_and_negative_ones_saturate),
        cmocka_unit_test(multiplication_agrees_with_128_bits),
        cmocka_unit_test(division_agrees_with_the_operator),
        cmocka_unit_test(ratio_agrees_with_128_bits),
        cmocka_unit_test(products_agree_with_128_bits),
        cmocka_unit_test(bit_length_of_every_power),
        cmocka_unit_test(saturation_stops_at_the_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
