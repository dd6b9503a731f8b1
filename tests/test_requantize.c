/* runtime/requantize.c: golden cases, and 128-bit arithmetic. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

__extension__ typedef __int128 wide;

/* clamp(rne(acc * m / 2^(31 - e) + zero)) without any shortcut. */
static int exact(int32_t acc, struct qrt_real r, int zero, int lo, int hi)
{
    int sh = 31 - r.e;
    wide v = (wide)acc * r.m, unit, q, rest;

    if (sh <= 0) {
        q = sh < -60 ? (v > 0) - (v < 0) : v * ((wide)1 << -sh);
        q = sh < -60 ? q * ((wide)1 << 60) : q;
    } else {
        unit = (wide)1 << (sh < 120 ? sh : 120);
        q = v / unit;
        rest = v % unit;
        if (rest < 0) {
            rest += unit;
            q--;
        }
        q += 2 * rest > unit || (2 * rest == unit && ((q + zero) & 1));
    }
    q += zero;
    return (int)(q < lo ? lo : q > hi ? hi : q);
}

static void golden_codes(void **state)
{
    FILE *f = vec_open("requant.txt");
    static struct vec_case c;
    int cases = 0;

    (void)state;
    while (vec_next(f, &c)) {
        const struct vec_field *x = vec_get(&c, "x");
        const struct vec_field *scale = vec_get(&c, "scale");
        struct qrt_shape shape = {1, (uint32_t)scale->n,
                                  (uint32_t)(x->n / scale->n), 0};
        struct qrt_real r[8];
        struct qrt_edge edge = {r, 0, -128, 127, 0};
        int8_t q[256];

        for (size_t i = 0; i < scale->n; i++) {
            assert_int_equal(qrt_real_from_f32((uint32_t)scale->v[i], &r[i]),
                             QRT_OK);
        }
        edge.code_min = vec_int(&c, "relu") ? 0 : -128;
        assert_int_equal(qrt_requantize_s8(x->v, &shape, &edge, q), QRT_OK);
        for (size_t i = 0; i < x->n; i++) {
            assert_int_equal(q[i], vec_get(&c, "requant")->v[i]);
        }
        edge.code_min = -128;
        edge.zero_point = vec_int(&c, "offset");
        assert_int_equal(qrt_requantize_s8(x->v, &shape, &edge, q), QRT_OK);
        for (size_t i = 0; i < x->n; i++) {
            assert_int_equal(q[i], vec_get(&c, "requant_offset")->v[i]);
        }
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 20);
}

static void random_multipliers_agree_with_128_bits(void **state)
{
    uint64_t seed = 30;
    struct qrt_shape shape = {1, 1, 1, 0};

    (void)state;
    for (int i = 0; i < 600000; i++) {
        struct qrt_real r = {(1 << 30) | (int32_t)(vec_random(&seed) >> 2),
                             (int32_t)(vec_random(&seed) % 221) - 110};
        struct qrt_edge edge = {&r, 0, -128, 127, 0};
        int32_t acc = (int32_t)vec_random(&seed) >> (vec_random(&seed) % 32);
        int16_t q16;
        int8_t q8, any;
        int want;

        if (i % 2) { /* results inside the codes, ties */
            r.e = -(int32_t)(vec_random(&seed) % 26);
            if (i % 4 == 1) {
                r.m = i % 8 == 1 ? 1 << 30 : 3 << 29;
            }
            acc = (int32_t)vec_random(&seed) >> (24 + r.e > 0 ? 24 + r.e : 0);
        }
        edge.zero_point = (int32_t)(vec_random(&seed) % 256) - 128;
        want = exact(acc, r, edge.zero_point, -128, 127);
        assert_int_equal(qrt_requantize_s8(&acc, &shape, &edge, &q8), QRT_OK);
        assert_int_equal(qrt_requantize_any(&acc, &shape, &edge, QRT_S8, &any),
                         QRT_OK);
        assert_int_equal(q8, want);
        assert_int_equal(any, want);
        edge.code_min = -32768;
        edge.code_max = 32767;
        edge.zero_point *= 250;
        assert_int_equal(qrt_requantize_s16(&acc, &shape, &edge, &q16), QRT_OK);
        assert_int_equal(q16, exact(acc, r, edge.zero_point, -32768, 32767));
    }
}

/* Every accumulator around every tie of a power of two, and the ends. */
static void ties_of_every_shift(void **state)
{
    struct qrt_shape shape = {1, 1, 1, 0};

    (void)state;
    for (int e = -45; e <= 40; e++) {
        for (int zero = -3; zero <= 3; zero++) {
            struct qrt_real r = {1 << 30, e};
            struct qrt_edge edge = {&r, 0, -128, 127, 0};

            edge.zero_point = zero;
            for (int k = -40; k <= 40; k++) {
                int64_t at = e <= 0 && e > -31 ? k * ((int64_t)1 << -e) : k;
                int8_t q;

                at = k == 40 ? INT32_MAX - 1 : k == -40 ? INT32_MIN + 1 : at;
                for (int64_t a = at - 1; a <= at + 1; a++) {
                    int32_t acc = (int32_t)a;

                    if (acc == a) {
                        assert_int_equal(
                            qrt_requantize_s8(&acc, &shape, &edge, &q), QRT_OK);
                        assert_int_equal(q, exact(acc, r, zero, -128, 127));
                    }
                }
            }
        }
    }
}

static uint32_t channel_of(uint32_t i, const struct qrt_shape *s)
{
    uint32_t group = i / (s->outer * s->channels * s->inner);

    return group * s->channels + i / s->inner % s->channels;
}

static void each_element_uses_its_channel(void **state)
{
    static const struct qrt_shape shapes[] = {
        {1,  1, 24, 0},
        {1,  6, 4,  0},
        {4,  6, 1,  0},
        {2,  3, 4,  1},
        {2,  3, 2,  2},
        {3,  2, 1,  4},
        {24, 1, 1,  0}
    };
    uint64_t seed = 31;
    int32_t acc[24];
    struct qrt_real r[8];
    struct qrt_edge edge = {r, 5, -100, 90, 0};
    int8_t q[24];

    (void)state;
    for (int i = 0; i < 24; i++) {
        acc[i] = (int32_t)vec_random(&seed) >> 16;
    }
    for (int slow = 0; slow < 2; slow++) { /* one multiplier above 1/4 */
        for (int i = 0; i < 8; i++) {
            r[i].m = (1 << 30) + i * 100000000;
            r[i].e = slow && i == 1 ? 3 : -8;
        }
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            assert_int_equal(qrt_requantize_s8(acc, &shapes[s], &edge, q),
                             QRT_OK);
            for (uint32_t i = 0; i < 24; i++) {
                assert_int_equal(
                    q[i],
                    exact(acc[i], r[channel_of(i, &shapes[s])], 5, -100, 90));
            }
        }
    }
}

static void the_clamp_includes_a_relu(void **state)
{
    const int32_t acc[] = {-1000, -1, 0, 1, 1000, 100000};
    const struct qrt_real r = {1 << 30, -2}; /* 1/8 */
    struct qrt_edge edge = {&r, -128, -128, 100, 0};
    struct qrt_shape shape = {1, 1, 6, 0};
    static const int8_t want[] = {-128, -128, -128, -128, -3, 100};
    int8_t q[6];

    (void)state;
    assert_int_equal(qrt_requantize_s8(acc, &shape, &edge, q), QRT_OK);
    assert_memory_equal(q, want, 6);
}

static void four_bits_are_packed(void **state)
{
    const int32_t acc[] = {10, -20, 70, -80};
    const struct qrt_real r = {1717986918, -3}; /* about 0.1 */
    struct qrt_edge edge = {&r, 0, -8, 7, 0};
    struct qrt_shape shape = {1, 1, 4, 0}, odd = {1, 1, 3, 0};
    uint8_t q[2];

    (void)state;
    assert_int_equal(qrt_requantize_s4(acc, &shape, &edge, q), QRT_OK);
    assert_int_equal(q[0], 0xe1);
    assert_int_equal(q[1], 0x87);
    assert_int_equal(qrt_requantize_s4(acc, &odd, &edge, q), QRT_ERR_SIZE);
}

static void bad_arguments_leave_the_output_alone(void **state)
{
    const int32_t acc[2] = {100, 100};
    struct qrt_real r[2] = {
        {1 << 30, 1},
        {1 << 30, 1}
    };
    const struct qrt_edge good = {r, 0, -128, 127, 0};
    struct qrt_edge bad[6];
    struct qrt_shape shape = {1, 2, 1, 0};
    int8_t q[2] = {9, 9};

    (void)state;
    for (int i = 0; i < 6; i++) {
        bad[i] = good;
    }
    bad[0].code_min = -129;
    bad[1].code_max = 128;
    bad[2].zero_point = 129;
    bad[3].zero_point = -130;
    bad[4].code_min = 5;
    bad[4].code_max = 4;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(qrt_requantize_s8(acc, &shape, &bad[i], q),
                         QRT_ERR_RANGE);
        assert_int_equal(qrt_requantize_any(acc, &shape, &bad[i], QRT_S8, q),
                         QRT_ERR_RANGE);
    }
    bad[5].requant = NULL;
    assert_int_equal(qrt_requantize_s8(acc, &shape, &bad[5], q), QRT_ERR_NULL);
    assert_int_equal(qrt_requantize_s8(NULL, &shape, &good, q), QRT_ERR_NULL);
    assert_int_equal(qrt_requantize_s8(acc, NULL, &good, q), QRT_ERR_NULL);
    assert_int_equal(qrt_requantize_s8(acc, &shape, NULL, q), QRT_ERR_NULL);
    assert_int_equal(qrt_requantize_s8(acc, &shape, &good, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_requantize_any(acc, &shape, &good, QRT_S32, q),
                     QRT_ERR_RANGE);
    r[1].m = -r[1].m;
    assert_int_equal(qrt_requantize_s8(acc, &shape, &good, q), QRT_ERR_RANGE);
    assert_int_equal(q[0], 9);
    assert_int_equal(q[1], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_codes),
        cmocka_unit_test(random_multipliers_agree_with_128_bits),
        cmocka_unit_test(ties_of_every_shift),
        cmocka_unit_test(each_element_uses_its_channel),
        cmocka_unit_test(the_clamp_includes_a_relu),
        cmocka_unit_test(four_bits_are_packed),
        cmocka_unit_test(bad_arguments_leave_the_output_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
