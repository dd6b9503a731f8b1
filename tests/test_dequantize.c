/* runtime/dequantize.c: golden cases and properties. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

/* A code as recorded: int8. */
static void to_s8(const struct vec_field *f, int8_t *out)
{
    for (size_t i = 0; i < f->n; i++) {
        out[i] = (int8_t)f->v[i];
    }
}

static void same_bits(const uint32_t *got, const struct vec_field *want)
{
    for (size_t i = 0; i < want->n; i++) {
        uint32_t w = (uint32_t)want->v[i];

        assert_true(got[i] == w || ((got[i] | w) & 0x7fffffff) == 0);
    }
}

/* Relative 2^-23 and half a unit of the output. */
static void close_to(const int32_t *got, int frac, const struct vec_field *want)
{
    for (size_t i = 0; i < want->n; i++) {
        double w = vec_float(want->v[i]);

        assert_true(fabs(ldexp(got[i], -frac) - w) <=
                    ldexp(fabs(w), -23) + ldexp(0.5, -frac));
    }
}

static void golden_values(void **state)
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
        struct qrt_shape whole = {1, 1, (uint32_t)x->n, 0};
        struct qrt_real r[8];
        int32_t offset[8];
        struct qrt_dequantize d = {r, NULL, 10};
        struct qrt_antiquantize a = {r, offset, 10, false};
        int8_t x8[256];
        uint32_t bits[256];
        int32_t fixed[256];

        for (size_t i = 0; i < scale->n; i++) {
            assert_int_equal(qrt_real_from_f32((uint32_t)scale->v[i], &r[i]),
                             QRT_OK);
            offset[i] = vec_int(&c, "offset");
        }
        to_s8(vec_get(&c, "x8"), x8);
        assert_int_equal(qrt_dequantize_s32_bits(x->v, &shape, &d, bits),
                         QRT_OK);
        same_bits(bits, vec_get(&c, "dequant"));
        d.frac = vec_frac(vec_get(&c, "dequant"), 32);
        assert_int_equal(qrt_dequantize_s32_s32(x->v, &shape, &d, fixed),
                         QRT_OK);
        close_to(fixed, d.frac, vec_get(&c, "dequant"));
        /* Recorded with the first scale for all. */
        assert_int_equal(qrt_antiquantize_s8_bits(x8, &whole, &a, bits),
                         QRT_OK);
        same_bits(bits, vec_get(&c, "anti"));
        a.frac = 20;
        assert_int_equal(qrt_antiquantize_s8_s32(x8, &whole, &a, fixed),
                         QRT_OK);
        close_to(fixed, 20, vec_get(&c, "anti"));
        a.sqrt_mode = true;
        assert_int_equal(qrt_antiquantize_s8_bits(x8, &whole, &a, bits),
                         QRT_OK);
        same_bits(bits, vec_get(&c, "anti_sqrt"));
        assert_int_equal(qrt_antiquantize_s8_s32(x8, &whole, &a, fixed),
                         QRT_OK);
        close_to(fixed, 20, vec_get(&c, "anti_sqrt"));
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 20);
}

/* FakeQuant's q - o and AMCT's fake quantization, back to reals. */
static void golden_fake_quantization(void **state)
{
    FILE *f = vec_open("quant.txt");
    static struct vec_case c;
    int cases = 0;

    (void)state;
    while (vec_next(f, &c)) {
        const struct vec_field *q;
        struct qrt_shape shape = {1, 1, 0, 0};
        struct qrt_real r;
        struct qrt_dequantize d = {&r, NULL, 0};
        int32_t codes[256];
        uint32_t bits[256];

        if (!vec_has(&c, "dequant")) {
            continue;
        }
        q = vec_get(&c, "q_minus_zero");
        shape.inner = (uint32_t)q->n;
        for (size_t i = 0; i < q->n; i++) {
            codes[i] = (int32_t)vec_float(q->v[i]);
        }
        assert_int_equal(
            qrt_real_from_f32((uint32_t)vec_int(&c, "dequant_scale"), &r),
            QRT_OK);
        assert_int_equal(qrt_dequantize_s32_bits(codes, &shape, &d, bits),
                         QRT_OK);
        same_bits(bits, vec_get(&c, "dequant"));
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 12);
}

static void every_code_of_every_type(void **state)
{
    uint64_t seed = 40;
    struct qrt_shape shape = {1, 1, 1, 0}, pair = {1, 1, 2, 0};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct qrt_real r = {(1 << 30) | (int32_t)(vec_random(&seed) >> 2),
                             (int32_t)(vec_random(&seed) % 60) - 50};
        int32_t zero = (int32_t)(vec_random(&seed) & 0xffff) - 32768;
        int frac = (int)(vec_random(&seed) % 40) - 8;
        struct qrt_dequantize d = {&r, &zero, frac};
        int16_t x16 = (int16_t)vec_random(&seed);
        int8_t x8 = (int8_t)x16;
        uint8_t x4 = (uint8_t)x16;
        long double want;
        int32_t y[2];

        assert_int_equal(qrt_dequantize_s16_s32(&x16, &shape, &d, y), QRT_OK);
        want = rintl((x16 - zero) * ldexpl(r.m, r.e - 31 + frac));
        assert_int_equal(y[0], fmaxl(INT32_MIN, fminl(INT32_MAX, want)));
        assert_int_equal(qrt_dequantize_s8_s32(&x8, &shape, &d, y), QRT_OK);
        want = rintl((x8 - zero) * ldexpl(r.m, r.e - 31 + frac));
        assert_int_equal(y[0], fmaxl(INT32_MIN, fminl(INT32_MAX, want)));
        assert_int_equal(qrt_dequantize_s4_s32(&x4, &pair, &d, y), QRT_OK);
        want = rintl(((int8_t)x4 / 16 - ((int8_t)x4 % 16 < 0) - zero) *
                     ldexpl(r.m, r.e - 31 + frac));
        assert_int_equal(y[1], fmaxl(INT32_MIN, fminl(INT32_MAX, want)));
        want = rintl(((int8_t)(x4 << 4) / 16 - zero) *
                     ldexpl(r.m, r.e - 31 + frac));
        assert_int_equal(y[0], fmaxl(INT32_MIN, fminl(INT32_MAX, want)));
    }
}

static void channels_have_their_own_zero_points(void **state)
{
    const int8_t x[6] = {1, 2, 3, 4, 5, 6};
    const struct qrt_real r[3] = {
        {1 << 30, 1},
        {1 << 30, 2},
        {1 << 30, 3}
    };
    const int32_t zero[3] = {1, 0, -1};
    struct qrt_dequantize d = {r, zero, 1};
    struct qrt_shape shape = {2, 3, 1, 0};
    static const int32_t want[6] = {0, 8, 32, 6, 20, 56};
    int32_t y[6];

    (void)state;
    assert_int_equal(qrt_dequantize_s8_s32(x, &shape, &d, y), QRT_OK);
    assert_memory_equal(y, want, sizeof y);
}

static void antiquantize_undoes_with_the_negated_zero_point(void **state)
{
    int8_t x[256];
    const struct qrt_real r = {1234567890, -3};
    const int32_t zero = 17, offset = -17;
    struct qrt_dequantize d = {&r, &zero, 16};
    struct qrt_antiquantize a = {&r, &offset, 16, false};
    struct qrt_shape shape = {1, 1, 256, 0};
    int32_t y[256], z[256];

    (void)state;
    for (int i = 0; i < 256; i++) {
        x[i] = (int8_t)i;
    }
    assert_int_equal(qrt_dequantize_s8_s32(x, &shape, &d, y), QRT_OK);
    assert_int_equal(qrt_antiquantize_s8_s32(x, &shape, &a, z), QRT_OK);
    assert_memory_equal(y, z, sizeof y);
}

static void bad_arguments_leave_the_output_alone(void **state)
{
    const int32_t x[2] = {1, 2};
    const int8_t x8[2] = {1, 2};
    struct qrt_real r = {1 << 30, 1}, wrong = {1, 1};
    int32_t zero = 0, far = 40000;
    struct qrt_dequantize d = {&r, NULL, 0};
    struct qrt_antiquantize a = {&r, NULL, 0, true};
    struct qrt_shape shape = {1, 1, 2, 0}, odd = {1, 1, 1, 0};
    int32_t y[2] = {9, 9};

    (void)state;
    assert_int_equal(qrt_dequantize_s32_s32(NULL, &shape, &d, y), QRT_ERR_NULL);
    assert_int_equal(qrt_dequantize_s32_s32(x, NULL, &d, y), QRT_ERR_NULL);
    assert_int_equal(qrt_dequantize_s32_s32(x, &shape, NULL, y), QRT_ERR_NULL);
    assert_int_equal(qrt_dequantize_s32_s32(x, &shape, &d, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_antiquantize_s8_s32(x8, &shape, NULL, y),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_antiquantize_any(QRT_S32, x, &shape, &a, QRT_S32, y),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_dequantize_any(QRT_BITS, x, &shape, &d, QRT_S32, y),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_dequantize_any(QRT_S8, x8, &shape, &d, QRT_S8, y),
                     QRT_ERR_RANGE);
    d.zero_point = &zero; /* accumulators have none */
    assert_int_equal(qrt_dequantize_s32_s32(x, &shape, &d, y), QRT_ERR_RANGE);
    d.zero_point = &far;
    assert_int_equal(qrt_dequantize_s8_s32(x8, &shape, &d, y), QRT_ERR_RANGE);
    d.zero_point = NULL;
    d.frac = -161;
    assert_int_equal(qrt_dequantize_s8_s32(x8, &shape, &d, y), QRT_ERR_RANGE);
    d.frac = 0;
    d.scale = &wrong;
    assert_int_equal(qrt_dequantize_s8_s32(x8, &shape, &d, y), QRT_ERR_RANGE);
    d.scale = NULL;
    assert_int_equal(qrt_dequantize_s8_s32(x8, &shape, &d, y), QRT_ERR_NULL);
    d.scale = &r;
    assert_int_equal(qrt_dequantize_s4_s32((const uint8_t *)x8, &odd, &d, y),
                     QRT_ERR_SIZE);
    assert_int_equal(y[0], 9);
    assert_int_equal(y[1], 9);
}

static void types_known_at_run_time_are_the_named_functions(void **state)
{
    static const struct qrt_real r = {1431655765, -1}; /* a third */
    static const int8_t x[4] = {1, -128, 127, 0};
    static const int32_t zero = -5, plus = 5;
    const struct qrt_dequantize d = {&r, &zero, 12};
    const struct qrt_antiquantize a = {&r, &plus, 12, true};
    const struct qrt_shape shape = {1, 1, 4, 0};
    uint32_t bits[4], y[4];
    int32_t fixed[4], z[4];

    (void)state;
    assert_int_equal(qrt_dequantize_s8_bits(x, &shape, &d, bits), QRT_OK);
    assert_int_equal(qrt_dequantize_any(QRT_S8, x, &shape, &d, QRT_BITS, y),
                     QRT_OK);
    assert_memory_equal(y, bits, sizeof y);
    assert_int_equal(qrt_dequantize_s8_s32(x, &shape, &d, fixed), QRT_OK);
    assert_int_equal(qrt_dequantize_any(QRT_S8, x, &shape, &d, QRT_S32, z),
                     QRT_OK);
    assert_memory_equal(z, fixed, sizeof z);
    assert_int_equal(qrt_antiquantize_s8_bits(x, &shape, &a, bits), QRT_OK);
    assert_int_equal(qrt_antiquantize_any(QRT_S8, x, &shape, &a, QRT_BITS, y),
                     QRT_OK);
    assert_memory_equal(y, bits, sizeof y);
    assert_int_equal(qrt_antiquantize_s8_s32(x, &shape, &a, fixed), QRT_OK);
    assert_int_equal(qrt_antiquantize_any(QRT_S8, x, &shape, &a, QRT_S32, z),
                     QRT_OK);
    assert_memory_equal(z, fixed, sizeof z);
    assert_int_equal(qrt_antiquantize_any(QRT_S8, x, &shape, &a, QRT_S8, z),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_dequantize_any(QRT_S8, x, &shape, NULL, QRT_BITS, y),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_antiquantize_any(QRT_S8, x, &shape, NULL, QRT_BITS, y),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_antiquantize_any(QRT_S32, z, &shape, &a, QRT_BITS, y),
                     QRT_ERR_RANGE);
    assert_memory_equal(y, bits, sizeof y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(golden_fake_quantization),
        cmocka_unit_test(every_code_of_every_type),
        cmocka_unit_test(channels_have_their_own_zero_points),
        cmocka_unit_test(antiquantize_undoes_with_the_negated_zero_point),
        cmocka_unit_test(types_known_at_run_time_are_the_named_functions),
        cmocka_unit_test(bad_arguments_leave_the_output_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
