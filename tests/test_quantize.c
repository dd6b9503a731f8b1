/* runtime/quantize.c, quantize_bits.c: golden/quant and properties. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

enum op { TRUE_QUANTIZE, FAKE, MODULE, ASCEND };

static struct qrt_shape shape_of(const struct vec_case *c)
{
    const int32_t *v = vec_get(c, "shape")->v;
    struct qrt_shape s = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2],
                          (uint32_t)v[3]};

    return s;
}

/* 1 / s, or the multiplier itself. */
static void multipliers(const struct vec_case *c, int op, struct qrt_real *out)
{
    const struct vec_field *scale = vec_get(c, "scale");

    for (size_t i = 0; i < scale->n; i++) {
        float s = vec_float(scale->v[i]);
        struct qrt_real r;

        if (op == ASCEND) {
            s = vec_int(c, "sqrt_mode") ? s * s : s;
            assert_int_equal(qrt_real_from_f32(vec_bits(s), &out[i]), QRT_OK);
        } else {
            assert_int_equal(qrt_real_from_f32(vec_bits(s), &r), QRT_OK);
            assert_int_equal(qrt_real_reciprocal(r, &out[i]), QRT_OK);
        }
    }
}

/* The code that the recorded result stands for. */
static int expected(const struct vec_case *c, int op, size_t i, size_t channel)
{
    const struct vec_field *scale = vec_get(c, "scale");
    const struct vec_field *zero = vec_get(c, "zero");
    int z = zero->v[zero->n > 1 ? channel : 0];
    float s = vec_float(scale->v[scale->n > 1 ? channel : 0]);

    switch (op) {
    case FAKE:
        return (int)rintf(vec_float(vec_get(c, "y")->v[i]) / s) + z;
    case MODULE:
        return (int)vec_float(vec_get(c, "q_minus_zero")->v[i]) + z;
    default:
        return vec_get(c, "q")->v[i];
    }
}

/* Distance of the exact quotient from a tie. */
static double from_tie(double t)
{
    return fabs(t - floor(t) - 0.5);
}

static void one_case(const struct vec_case *c, bool as_bits, int *near_ties)
{
    int op = vec_int(c, "op");
    const struct vec_field *x = vec_get(c, "x");
    struct qrt_shape shape = shape_of(c);
    int frac = vec_frac(x, 31);
    int32_t *fixed = vec_fixed(x, frac, 31);
    struct qrt_real recip[8];
    const struct vec_field *zero = vec_get(c, "zero");
    struct qrt_quantize p = {recip, zero->v, frac, 0,
                             op == MODULE ? QRT_ROUND_THEN_ADD
                                          : QRT_ADD_THEN_ROUND};
    int8_t q[256];

    p.bits = (uint8_t)vec_int(c, "bits");
    multipliers(c, op, recip);
    assert_true(x->n <= 256);
    assert_int_equal(
        as_bits ? qrt_quantize_bits_s8((const uint32_t *)x->v, &shape, &p, q)
                : qrt_quantize_s32_s8(fixed, &shape, &p, q),
        QRT_OK);
    for (size_t i = 0; i < x->n; i++) {
        size_t channel = i / shape.inner;
        int want = expected(c, op, i, channel);
        double t = vec_float(x->v[i]) *
                       ldexp(recip[channel].m, recip[channel].e - 31) +
                   zero->v[channel];

        if (q[i] != want) {
            assert_true(abs(q[i] - want) == 1);
            assert_true(from_tie(t) < 2e-5 * fmax(1, fabs(t)));
            ++*near_ties;
        }
    }
    free(fixed);
}

static void golden_codes(void **state)
{
    FILE *f = vec_open("quant.txt");
    static struct vec_case c;
    int cases = 0, near_ties = 0, other_modes = 0;

    (void)state;
    while (vec_next(f, &c)) {
        if (vec_int(&c, "mode") != 0) { /* floor, ceil, trunc: not ours */
            other_modes++;
            continue;
        }
        one_case(&c, false, &near_ties);
        one_case(&c, true, &near_ties);
        cases++;
    }
    fclose(f);
    assert_int_equal(cases + other_modes, 48);
    assert_int_equal(other_modes, 6);
    assert_int_equal(near_ties, 0); /* as the reference model */
}

/* x / s + z, rounded and clamped, in long double (64 bits: exact enough for
 * the products of these tests). */
static int naive(float x, struct qrt_real recip, int z, int bits, int order)
{
    long double t = (long double)x * ldexpl(recip.m, recip.e - 31);
    long double half = 1 << (bits - 1);

    if (isnan(x)) {
        return (int)-half;
    }
    t = order == QRT_ADD_THEN_ROUND ? rintl(t + z) : rintl(t) + z;
    return (int)fmaxl(-half, fminl(half - 1, t));
}

static void any_pattern_gives_the_rounded_code(void **state)
{
    uint64_t seed = 20;

    (void)state;
    for (int i = 0; i < 400000; i++) {
        static const int width[] = {2, 4, 8, 12, 16};
        int bits = width[i % 5];
        struct qrt_real recip = {(1 << 30) | (int32_t)(vec_random(&seed) >> 2),
                                 (int32_t)(vec_random(&seed) % 221) - 110};
        uint32_t x = vec_random(&seed);
        int limit = bits == 16 || bits == 12 ? 32768 : 128;
        int32_t z =
            (int32_t)(vec_random(&seed) % (2u * (unsigned)limit)) - limit;
        struct qrt_quantize p = {&recip, &z, 0, (uint8_t)bits,
                                 (uint8_t)(i / 5 % 2)};
        struct qrt_shape shape = {1, 1, 1, 0};
        int16_t wide = 0;
        int8_t q = 0;
        int want;

        if (i % 2) { /* near the range of the codes, ties included */
            recip.m &= i % 4 == 1 ? -1 : 1 << 30;
            x = (x & 0x80ff0000) | (uint32_t)(127 - recip.e + bits / 2) << 23;
        }
        want = naive(vec_float((int32_t)x), recip, z, bits, p.order);
        assert_int_equal(qrt_quantize_bits_s16(&x, &shape, &p, &wide),
                         limit == 128 || bits > 8 ? QRT_OK : QRT_ERR_RANGE);
        assert_int_equal(wide, want);
        if (bits <= 8) {
            assert_int_equal(qrt_quantize_bits_s8(&x, &shape, &p, &q), QRT_OK);
            assert_int_equal(q, want);
        }
    }
}

static void special_patterns(void **state)
{
    static const uint32_t x[] = {0x7f800000, 0xff800000, 0x7fc00000,
                                 0xffc00000, 0,          0x80000000,
                                 1,          0x807fffff};
    static const int8_t want[] = {127, -128, -128, -128, 3, 3, 3, 3};
    static const int exponent[] = {-110, -5, 0, 5, 110};
    struct qrt_shape shape = {1, 1, 8, 0};
    int32_t z = 3;
    int8_t q[8];

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct qrt_real recip = {INT32_MAX, exponent[i]};
        struct qrt_quantize p = {&recip, &z, 0, 8, 0};

        assert_int_equal(qrt_quantize_bits_s8(x, &shape, &p, q), QRT_OK);
        assert_memory_equal(q, want, 8);
        assert_int_equal(qrt_quantize_any(QRT_BITS, x, &shape, &p, QRT_S8, q),
                         QRT_OK);
        assert_memory_equal(q, want, 8);
    }
}

static void order_decides_ties_with_an_odd_zero_point(void **state)
{
    const int32_t x[] = {1, 3, -1, -3}; /* halves */
    const int32_t odd = 1;
    const struct qrt_real one = {1 << 30, 1};
    struct qrt_quantize p = {&one, &odd, 1, 8, QRT_ADD_THEN_ROUND};
    struct qrt_shape shape = {1, 1, 4, 0};
    static const int8_t add_first[] = {2, 2, 0, 0},
                        round_first[] = {1, 3, 1, -1};
    int8_t q[4];

    (void)state;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_OK);
    assert_memory_equal(q, add_first, 4);
    p.order = QRT_ROUND_THEN_ADD;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_OK);
    assert_memory_equal(q, round_first, 4);
}

static void int16_and_int32_agree(void **state)
{
    uint64_t seed = 21;
    int16_t narrow[64];
    int32_t wide[64];
    int16_t a[64], b[64];
    struct qrt_real recip = {1500000000, 0};
    struct qrt_quantize p = {&recip, NULL, 5, 12, 0};
    struct qrt_shape shape = {1, 1, 64, 0};

    (void)state;
    for (int i = 0; i < 64; i++) {
        narrow[i] = (int16_t)vec_random(&seed);
        wide[i] = narrow[i];
    }
    for (recip.e = -10; recip.e < 20; recip.e++) {
        assert_int_equal(qrt_quantize_s16_s16(narrow, &shape, &p, a), QRT_OK);
        assert_int_equal(qrt_quantize_s32_s16(wide, &shape, &p, b), QRT_OK);
        assert_memory_equal(a, b, sizeof a);
        for (int i = 0; i < 64; i++) {
            assert_int_equal(a[i], naive(ldexpf(narrow[i], -5), recip, 0, 12,
                                         QRT_ADD_THEN_ROUND));
        }
    }
}

static void extreme_inputs_saturate(void **state)
{
    const int32_t x[] = {INT32_MAX, INT32_MIN, 1, -1, 0, 7};
    struct qrt_real recip = {INT32_MAX, 110};
    int32_t z = -128;
    struct qrt_quantize p = {&recip, &z, -160, 8, 0};
    struct qrt_shape shape = {1, 1, 6, 0};
    static const int8_t ends[] = {127, -128, 127, -128, -128, 127};
    int8_t q[6];

    (void)state;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_OK);
    assert_memory_equal(q, ends, 6);
    p.frac = 160;
    recip.e = -110;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(q[i], -128);
    }
}

/* Channel of element i by the definition of struct qrt_shape. */
static uint32_t channel_of(uint32_t i, const struct qrt_shape *s)
{
    uint32_t group = i / (s->outer * s->channels * s->inner);

    return group * s->channels + i / s->inner % s->channels;
}

static void each_element_uses_its_channel(void **state)
{
    static const struct qrt_shape shapes[] = {
        {1, 1, 24, 0},
        {1, 6, 4,  0},
        {4, 6, 1,  0},
        {2, 3, 4,  1},
        {2, 3, 2,  2},
        {3, 2, 1,  4}
    };
    uint64_t seed = 22;
    uint32_t x[24];
    int32_t zero[8];
    struct qrt_real recip[8];
    int8_t q[24], any[24];

    (void)state;
    for (int i = 0; i < 24; i++) {
        x[i] = 0x3f000000 + (vec_random(&seed) >> 6);
    }
    for (int i = 0; i < 8; i++) {
        zero[i] = 11 * i - 40;
        recip[i].m = (1 << 30) + i * 100000000;
        recip[i].e = 5;
    }
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct qrt_quantize p = {recip, zero, 0, 8, 0};

        assert_int_equal(qrt_quantize_bits_s8(x, &shapes[s], &p, q), QRT_OK);
        assert_int_equal(
            qrt_quantize_any(QRT_BITS, x, &shapes[s], &p, QRT_S8, any), QRT_OK);
        for (uint32_t i = 0; i < 24; i++) {
            uint32_t c = channel_of(i, &shapes[s]);

            assert_int_equal(
                q[i], naive(vec_float((int32_t)x[i]), recip[c], zero[c], 8, 0));
        }
        assert_memory_equal(q, any, 24);
    }
}

static void four_bits_are_packed_low_nibble_first(void **state)
{
    const int16_t x[] = {1, -2, 7, -8, 100, -100};
    const struct qrt_real one = {1 << 30, 1};
    struct qrt_quantize p = {&one, NULL, 0, 4, 0};
    struct qrt_shape shape = {1, 1, 6, 0};
    uint8_t q[3];

    (void)state;
    assert_int_equal(qrt_quantize_s16_s4(x, &shape, &p, q), QRT_OK);
    assert_int_equal(q[0], 0xe1);
    assert_int_equal(q[1], 0x87);
    assert_int_equal(q[2], 0x87);
}

static void bad_arguments_leave_the_output_alone(void **state)
{
    const int32_t x[4] = {100, 100, 100, 100};
    struct qrt_real recip[2] = {
        {1 << 30, 1},
        {1 << 30, 1}
    };
    int32_t zero[2] = {0, 0};
    struct qrt_quantize p = {recip, zero, 0, 8, 0}, bad = p;
    struct qrt_shape shape = {1, 2, 2, 0}, none = {1, 0, 4, 0},
                     huge = {1 << 15, 1 << 16, 1, 0}, odd = {1, 1, 3, 0};
    int8_t q[4] = {9, 9, 9, 9};
    uint8_t packed[2];

    (void)state;
    assert_int_equal(qrt_quantize_s32_s8(NULL, &shape, &p, q), QRT_ERR_NULL);
    assert_int_equal(qrt_quantize_s32_s8(x, NULL, &p, q), QRT_ERR_NULL);
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, NULL, q), QRT_ERR_NULL);
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_quantize_s32_s8(x, &none, &p, q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_s32_s8(x, &huge, &p, q), QRT_ERR_SIZE);
    bad.recip = NULL;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &bad, q), QRT_ERR_NULL);
    bad = p;
    bad.bits = 9;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &bad, q), QRT_ERR_RANGE);
    bad.bits = 1;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &bad, q), QRT_ERR_RANGE);
    bad = p;
    bad.order = 2;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &bad, q), QRT_ERR_RANGE);
    bad = p;
    bad.frac = 161;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &bad, q), QRT_ERR_RANGE);
    recip[1].e = 111; /* of the second channel */
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_ERR_RANGE);
    recip[1].e = 1;
    recip[1].m = 5;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_ERR_RANGE);
    recip[1].m = 1 << 30;
    zero[1] = 129;
    assert_int_equal(qrt_quantize_s32_s8(x, &shape, &p, q), QRT_ERR_RANGE);
    zero[1] = 0;
    bad = p;
    bad.bits = 4;
    assert_int_equal(qrt_quantize_s32_s4(x, &odd, &bad, packed), QRT_ERR_SIZE);
    assert_int_equal(qrt_quantize_s32_s4(x, &shape, &p, packed), QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_any(QRT_S8, x, &shape, &p, QRT_S8, q),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_any(QRT_S32, x, &shape, &p, QRT_S32, q),
                     QRT_ERR_RANGE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(q[i], 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_codes),
        cmocka_unit_test(any_pattern_gives_the_rounded_code),
        cmocka_unit_test(special_patterns),
        cmocka_unit_test(order_decides_ties_with_an_odd_zero_point),
        cmocka_unit_test(int16_and_int32_agree),
        cmocka_unit_test(extreme_inputs_saturate),
        cmocka_unit_test(each_element_uses_its_channel),
        cmocka_unit_test(four_bits_are_packed_low_nibble_first),
        cmocka_unit_test(bad_arguments_leave_the_output_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
