/* Quantize, dequantize, requantize in binary32: runtime/quantize_f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

enum { APPLY, FAKE, MODULE, ASCEND };

struct row {
    float *x, scale;
    int32_t offset;
    uint32_t bits;
    size_t n, at;
};

static void run_row(struct vf *v, int op, const struct row *r, int8_t *q,
                    float *y, float *product)
{
    switch (op) {
    case APPLY:
        assert_int_equal(qrt_quantize_f32_s8(r->x, r->n, r->scale, r->offset,
                                             r->bits, q + r->at),
                         QRT_OK);
        break;
    case FAKE:
        assert_int_equal(qrt_fake_quantize_f32(r->x, r->n, r->scale, r->offset,
                                               r->bits, y + r->at),
                         QRT_OK);
        break;
    case MODULE:
        assert_int_equal(qrt_quantize_f32__module(r->x, r->n, r->scale,
                                                  r->offset, r->bits,
                                                  y + r->at),
                         QRT_OK);
        assert_int_equal(qrt_fake_quantize_f32__module(r->x, r->n, r->scale,
                                                       r->offset, r->bits,
                                                       product + r->at),
                         QRT_OK);
        for (size_t i = r->at; i < r->at + r->n; i++)
            assert_true(product[i] == y[i] * r->scale);
        break;
    default:
        assert_int_equal(qrt_quantize_f32_s8__ascend(
                             r->x, r->n, r->scale, r->offset, r->bits,
                             vf_int(v, "sqrt_mode"),
                             (enum qrt_round)vf_int(v, "mode"), q + r->at),
                         QRT_OK);
    }
}

static void all_operation_orders_are_those_of_their_origin(void **state)
{
    struct vf v;
    int seen[4] = {0};
    (void)state;
    vf_open(&v, "quant.txt");
    while (vf_next(&v)) {
        size_t n, scales;
        int op = vf_int(&v, "op");
        int32_t *shape = vf_ints(&v, "shape", NULL);
        float *x = vf_floats(&v, "x", &n);
        float *scale = vf_floats(&v, "scale", &scales);
        int32_t *zero = vf_ints(&v, "zero", NULL);
        int8_t *q = vf_own(&v, n);
        float *y = vf_own(&v, n * 4), *product = vf_own(&v, n * 4);
        size_t per = n / (size_t)shape[1];
        for (size_t c = 0; c < scales; c++) {
            struct row r = {x + c * per, scale[c],
                            zero[c],     (uint32_t)vf_int(&v, "bits"),
                            per,         c * per};
            run_row(&v, op, &r, q, y, product);
        }
        if (op == APPLY || op == ASCEND)
            vf_check_codes(&v, "q", q, n);
        if (op == FAKE)
            vf_check_bits(&v, "y", y, n);
        if (op == MODULE)
            vf_check_bits(&v, "q_minus_zero", y, n);
        seen[op]++;
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(seen[i], 12);
    vf_close(&v);
}

static void accumulators_and_codes_dequantize_as_their_origin(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "requant.txt");
    while (vf_next(&v)) {
        size_t n, k;
        int32_t *shape = vf_ints(&v, "shape", NULL);
        int32_t *x = vf_ints(&v, "x", &n), offset = vf_int(&v, "offset");
        int8_t *x8 = vf_codes(&v, "x8", &k);
        float *scale = vf_floats(&v, "scale", NULL);
        int8_t *q = vf_own(&v, n), *qo = vf_own(&v, n);
        float *y = vf_own(&v, n * 4), *anti = vf_own(&v, n * 4);
        float *sqrt_mode = vf_own(&v, n * 4);
        bool relu = vf_int(&v, "relu");
        size_t channels = (size_t)shape[1], per = n / channels;
        assert_int_equal(k, n);
        for (size_t c = 0; c < channels; c++) {
            size_t at = c * per;
            qrt_requantize_s32_s8__f32(x + at, per, 1, scale + c, 0, relu,
                                       q + at);
            qrt_requantize_s32_s8__f32(x + at, per, 1, scale + c, offset, false,
                                       qo + at);
            qrt_dequantize_s32_f32(x + at, per, 1, scale + c, y + at);
            qrt_dequantize_s8_f32__ascend(x8 + at, per, scale[0], offset, false,
                                          anti + at);
            qrt_dequantize_s8_f32__ascend(x8 + at, per, scale[0], offset, true,
                                          sqrt_mode + at);
        }
        vf_check_codes(&v, "requant", q, n);
        vf_check_codes(&v, "requant_offset", qo, n);
        vf_check_bits(&v, "dequant", y, n);
        vf_check_bits(&v, "anti", anti, n);
        vf_check_bits(&v, "anti_sqrt", sqrt_mode, n);
    }
    assert_int_equal(v.cases, 20);
    vf_close(&v);
}

static uint64_t seed = 1;

static uint32_t random32(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

/* Any pattern but NaN. */
static float random_float(void)
{
    uint32_t u;
    float f;
    do {
        u = random32();
    } while ((u & 0x7fffffffu) > 0x7f800000u);
    memcpy(&f, &u, 4);
    return f;
}

static double limit(double t, double lo, double hi)
{
    return t < lo ? lo : t > hi ? hi : t;
}

/* Against libm, on values of every size. */
static void rounding_without_libm_is_rint(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        enum { N = 150 }; /* two blocks and a rest */
        float x[N], fake[N], module[N];
        int8_t q[N], a[4][N];
        int16_t wide[N];
        uint32_t bits = 2 + random32() % 7;
        int32_t half = 1 << (bits - 1);
        int32_t o = (int32_t)(random32() % (2 * (uint32_t)half)) - half;
        float s = ldexpf(1.0f + (float)(random32() % 1000) / 1000.0f,
                         (int)(random32() % 40) - 20);
        for (size_t i = 0; i < N; i++)
            x[i] = i & 1 ? random_float()
                         : s * 0.5f * (float)((int)(random32() % 600) - 300);
        qrt_quantize_f32_s8(x, N, s, o, bits, q);
        qrt_quantize_f32_s16(x, N, s, o, bits, wide);
        qrt_fake_quantize_f32(x, N, s, o, bits, fake);
        qrt_quantize_f32__module(x, N, s, o, bits, module);
        for (int m = 0; m < 4; m++)
            qrt_quantize_f32_s8__ascend(x, N, s, o, bits, false,
                                        (enum qrt_round)m, a[m]);
        for (size_t i = 0; i < N; i++) {
            float t = x[i] / s + (float)o, u = x[i] * s + (float)o;
            double lo = -half, hi = half - 1;
            double want = limit(rint(t), lo, hi);
            assert_true(q[i] == want && wide[i] == want);
            assert_true(fake[i] == (float)(want - o) * s);
            want = limit(rint(x[i] * (1.0f / s)), lo - o, hi - o);
            assert_true(module[i] == want);
            assert_true(a[0][i] == limit(rint(u), lo, hi));
            assert_true(a[1][i] == limit(floor(u), lo, hi));
            assert_true(a[2][i] == limit(ceil(u), lo, hi));
            assert_true(a[3][i] == limit(trunc(u), lo, hi));
        }
    }
}

/* Quotients a few ulps around every half, where a reciprocal would err. */
static void quotients_near_a_tie_round_as_divisions(void **state)
{
    static const uint32_t mantissa[] = {0, 1, 0x3504f3, 0x7ffffe, 0x7fffff};
    enum { N = 7 * 258 };
    (void)state;
    for (uint32_t k = 0; k < 60; k++) {
        float x[N], s;
        int8_t q[N];
        uint32_t m = k < 5 ? mantissa[k] : random32() & 0x7fffff;
        uint32_t exponent = k < 10 ? 127 : 40 + random32() % 170;
        uint32_t u = exponent << 23 | m;
        int32_t o = k & 1 ? 0 : (int32_t)(random32() % 256) - 128;
        memcpy(&s, &u, 4);
        for (size_t i = 0; i < N; i++) {
            x[i] = ((float)(i / 7) - 129.5f - (float)o) * s;
            for (size_t j = 3; j < i % 7; j++)
                x[i] = nextafterf(x[i], INFINITY);
            for (size_t j = i % 7; j < 3; j++)
                x[i] = nextafterf(x[i], -INFINITY);
        }
        assert_int_equal(qrt_quantize_f32_s8(x, N, s, o, 8, q), QRT_OK);
        for (size_t i = 0; i < N; i++) {
            volatile float t = x[i] / s;
            t += (float)o;
            assert_true(q[i] == limit(rint(t), -128, 127));
        }
    }
}

/* Steps where x / s or its limits leave the normal numbers. */
static void steps_of_any_size_are_taken(void **state)
{
    static const float step[] = {1e-45f, 3e-39f,   1.2e-38f, 8.6e-19f,
                                 9e-19f, 1.1e18f,  1.2e18f,  1e36f,
                                 3e38f,  0x1p-60f, 0x1p60f};
    enum { N = 130 };
    (void)state;
    for (size_t k = 0; k < sizeof step / sizeof step[0]; k++)
        for (int32_t o = -128; o < 128; o += 51) {
            float x[N], s = step[k];
            int8_t q[N];
            for (size_t i = 0; i < N; i++)
                x[i] = i % 3 == 0   ? random_float()
                       : i % 3 == 1 ? s * (float)((int)(random32() % 700) - 350)
                       : i & 1      ? INFINITY
                                    : -INFINITY;
            assert_int_equal(qrt_quantize_f32_s8(x, N, s, o, 8, q), QRT_OK);
            for (size_t i = 0; i < N; i++) {
                volatile float t = x[i] / s;
                t += (float)o;
                assert_true(q[i] == limit(rint(t), -128, 127));
            }
        }
}

static void length_does_not_change_a_code(void **state)
{
    enum { N = 200 };
    float x[N], scale = 0.003f;
    int32_t acc[N];
    int8_t all[3][N], q[N + 1];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        acc[i] = (int32_t)random32() >> 14;
        x[i] = (float)acc[i] * 1e-5f;
    }
    for (size_t i = 0; i < N; i++) {
        qrt_quantize_f32_s8(x + i, 1, 0.01f, 5, 8, all[0] + i);
        qrt_quantize_f32_s8__ascend(x + i, 1, 99.0f, 5, 8, false,
                                    QRT_ROUND_EVEN, all[1] + i);
        qrt_requantize_s32_s8__f32(acc + i, 1, 1, &scale, 5, false, all[2] + i);
    }
    for (size_t n = 0; n <= N; n++)
        for (int k = 0; k < 3; k++) {
            q[n] = 77;
            if (k == 0)
                qrt_quantize_f32_s8(x, n, 0.01f, 5, 8, q);
            if (k == 1)
                qrt_quantize_f32_s8__ascend(x, n, 99.0f, 5, 8, false,
                                            QRT_ROUND_EVEN, q);
            if (k == 2)
                qrt_requantize_s32_s8__f32(acc, n, 1, &scale, 5, false, q);
            assert_memory_equal(q, all[k], n);
            assert_int_equal(q[n], 77);
        }
}

static void not_a_number_becomes_the_lowest_code(void **state)
{
    (void)state;
    float x[3] = {NAN, INFINITY, -INFINITY}, y[3], many[99];
    int8_t q[99];
    qrt_quantize_f32_s8(x, 3, 0.5f, 3, 8, q);
    assert_true(q[0] == -128 && q[1] == 127 && q[2] == -128);
    for (size_t i = 0; i < 99; i++)
        many[i] = NAN;
    qrt_quantize_f32_s8(many, 99, 0.5f, 3, 8, q);
    for (size_t i = 0; i < 99; i++)
        assert_int_equal(q[i], -128);
    qrt_quantize_f32__module(x, 3, 0.5f, 3, 8, y);
    assert_true(y[0] == -131.0f && y[1] == 124.0f && y[2] == -131.0f);
}

static void channels_innermost_equal_channels_one_by_one(void **state)
{
    (void)state;
    int32_t acc[5 * 7], column[5];
    float scale[7], y[5 * 7], one[5];
    int8_t q[5 * 7], q1[5];
    for (size_t i = 0; i < 35; i++)
        acc[i] = (int32_t)random32() >> (random32() % 24);
    for (size_t c = 0; c < 7; c++)
        scale[c] = 1e-4f * (float)(c + 1);
    assert_int_equal(qrt_dequantize_s32_f32(acc, 5, 7, scale, y), QRT_OK);
    assert_int_equal(qrt_requantize_s32_s8__f32(acc, 5, 7, scale, -7, true, q),
                     QRT_OK);
    for (size_t c = 0; c < 7; c++) {
        for (size_t r = 0; r < 5; r++)
            column[r] = acc[r * 7 + c];
        qrt_dequantize_s32_f32(column, 5, 1, scale + c, one);
        qrt_requantize_s32_s8__f32(column, 5, 1, scale + c, -7, true, q1);
        for (size_t r = 0; r < 5; r++)
            assert_true(y[r * 7 + c] == one[r] && q[r * 7 + c] == q1[r]);
    }
}

static void dequantize_undoes_every_code(void **state)
{
    (void)state;
    int8_t q[256], again[256];
    int16_t w[256], w2[256];
    float y[256];
    for (int i = 0; i < 256; i++) {
        q[i] = (int8_t)(i - 128);
        w[i] = (int16_t)(i * 257 - 32768);
    }
    qrt_dequantize_s8_f32(q, 256, 0.37f, -41, y);
    qrt_quantize_f32_s8(y, 256, 0.37f, -41, 8, again);
    assert_memory_equal(q, again, sizeof q);
    qrt_dequantize_s16_f32(w, 256, 0.01f, 1234, y);
    qrt_quantize_f32_s16(y, 256, 0.01f, 1234, 16, w2);
    assert_memory_equal(w, w2, sizeof w);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    float x[1] = {1}, y[1];
    int8_t q[1];
    assert_int_equal(qrt_quantize_f32_s8(NULL, 1, 1, 0, 8, q), QRT_ERR_NULL);
    assert_int_equal(qrt_quantize_f32_s8(NULL, 0, 1, 0, 8, NULL), QRT_OK);
    assert_int_equal(qrt_quantize_f32_s8(x, 1, 0, 0, 8, q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_f32_s8(x, 1, NAN, 0, 8, q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_f32_s8(x, 1, INFINITY, 0, 8, q),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_f32_s8(x, 1, 1, 128, 8, q), QRT_ERR_RANGE);
    assert_int_equal(qrt_quantize_f32_s8(x, 1, 1, 0, 9, q), QRT_ERR_RANGE);
    assert_int_equal(qrt_fake_quantize_f32(x, 1, 1, 0, 17, y), QRT_ERR_RANGE);
    assert_int_equal(
        qrt_quantize_f32_s8__ascend(x, 1, 1, 0, 8, false, (enum qrt_round)9, q),
        QRT_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_operation_orders_are_those_of_their_origin),
        cmocka_unit_test(accumulators_and_codes_dequantize_as_their_origin),
        cmocka_unit_test(rounding_without_libm_is_rint),
        cmocka_unit_test(quotients_near_a_tie_round_as_divisions),
        cmocka_unit_test(steps_of_any_size_are_taken),
        cmocka_unit_test(length_does_not_change_a_code),
        cmocka_unit_test(not_a_number_becomes_the_lowest_code),
        cmocka_unit_test(channels_innermost_equal_channels_one_by_one),
        cmocka_unit_test(dequantize_undoes_every_code),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
