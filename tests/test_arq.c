/* runtime/arq.c: golden/arq on binary32 patterns (bit for bit) and on Q
 * numbers, layouts, edges. */
#include "cmocka_all.h"

#include "qrt.h"
#include "softf32.h"
#include "vectors.h"

static struct qrt_shape shape_of(const struct vec_case *c)
{
    const int32_t *v = vec_get(c, "shape")->v;
    struct qrt_shape s = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2],
                          (uint32_t)v[3]};

    return s;
}

static struct qrt_arq_weights how(const struct vec_case *c)
{
    struct qrt_arq_weights p = {0, (uint8_t)vec_int(c, "bits"),
                                vec_int(c, "asymmetric") != 0,
                                vec_int(c, "per_channel") != 0};

    return p;
}

/* Room for the largest case. */
static struct qrt_real scale[128];
static int32_t zero[128];
static int8_t codes[20000];
static uint32_t fake[20000];

static void same_maps(const struct vec_case *c)
{
    const struct vec_field *s = vec_get(c, "scale");

    for (size_t i = 0; i < s->n; i++) {
        assert_true(qrt_real_to_f32(scale[i]) == (uint32_t)s->v[i]);
        assert_int_equal(zero[i], vec_get(c, "zero")->v[i]);
    }
}

static void golden_patterns_have_amcts_bits(void **state)
{
    FILE *f = vec_open("arq.txt");
    static struct vec_case c;
    int cases = 0, skipped = 0, wide = 0;

    (void)state;
    while (vec_next(f, &c)) {
        struct qrt_shape shape = shape_of(&c);
        struct qrt_arq_weights p = how(&c);
        struct qrt_arq_result out = {scale, zero, 0, 0};
        struct qrt_dequantize d = {scale, zero, 0};
        const struct vec_field *w = vec_get(&c, "w");
        enum qrt_status status;

        if (c.missing) {
            printf("%s: needs ../shared/golden, skipped\n", c.id);
            skipped++;
            continue;
        }
        status = qrt_arq_bits((const uint32_t *)w->v, &shape, &p, &out, codes);
        if (vec_has(&c, "error")) {
            assert_int_equal(status, QRT_ERR_NOT_FINITE);
            cases++;
            continue;
        }
        if (p.bits > 8) { /* AMCT wraps the codes; we refuse */
            assert_int_equal(status, QRT_ERR_RANGE);
            wide++;
            continue;
        }
        assert_int_equal(status, QRT_OK);
        same_maps(&c);
        for (size_t i = 0; i < w->n; i++) {
            assert_int_equal(codes[i], vec_get(&c, "q")->v[i]);
        }
        if (!p.per_channel) {
            struct qrt_shape all = {1, 1, (uint32_t)w->n, 0};

            shape = all;
        }
        assert_int_equal(qrt_dequantize_s8_bits(codes, &shape, &d, fake),
                         QRT_OK);
        assert_true(vec_hash(fake, w->n) == (uint32_t)vec_int(&c, "fake"));
        cases++;
    }
    fclose(f);
    assert_int_equal(cases + skipped, 73);
    assert_int_equal(wide, 2);
}

/* 16 bit: step, zero point and fake-quantized weights still count. */
static void golden_16_bit_maps(void **state)
{
    FILE *f = vec_open("arq.txt");
    static struct vec_case c;
    int cases = 0;

    (void)state;
    while (vec_next(f, &c)) {
        const struct vec_field *w = vec_get(&c, "w");
        struct qrt_shape shape = shape_of(&c);
        bool asymmetric = how(&c).asymmetric;
        uint32_t run = how(&c).per_channel ? shape.inner : (uint32_t)w->n;

        if (vec_int(&c, "bits") != 16) {
            continue;
        }
        for (uint32_t i = 0; i < w->n; i++) {
            static struct qrt_quant q;
            uint32_t s, o;
            int32_t code;

            if (i % run == 0) {
                float mx = -1e30f, mn = 1e30f;

                for (uint32_t k = i; k < i + run; k++) {
                    mx = fmaxf(mx, vec_float(w->v[k]));
                    mn = fminf(mn, vec_float(w->v[k]));
                }
                assert_int_equal(qrt_scale_derive(vec_bits(mx), vec_bits(mn),
                                                  16, asymmetric, QRT_ZERO_ARQ,
                                                  &q),
                                 QRT_OK);
                assert_true(qrt_real_to_f32(q.scale) ==
                            (uint32_t)vec_get(&c, "scale")->v[i / run]);
                assert_int_equal(q.zero_point, vec_get(&c, "zero")->v[i / run]);
            }
            s = qrt_real_to_f32(q.scale);
            o = qrt_f32_from_fixed(q.zero_point, 0);
            code = qrt_f32_to_s32(
                qrt_f32_add(qrt_f32_div((uint32_t)w->v[i], s), o));
            code = code < -32768 ? -32768 : code > 32767 ? 32767 : code;
            fake[i] =
                qrt_f32_mul(qrt_f32_from_fixed(code - q.zero_point, 0), s);
        }
        assert_true(vec_hash(fake, w->n) == (uint32_t)vec_int(&c, "fake"));
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 2);
}

static void golden_on_fixed_point_weights(void **state)
{
    FILE *f = vec_open("arq.txt");
    static struct vec_case c;
    int cases = 0, differ = 0;

    (void)state;
    while (vec_next(f, &c)) {
        struct qrt_shape shape = shape_of(&c);
        struct qrt_arq_weights p = how(&c);
        struct qrt_arq_result out = {scale, zero, 0, 0};
        const struct vec_field *w = vec_get(&c, "w");
        int32_t *fixed;

        if (c.missing || vec_has(&c, "error") || p.bits > 8) {
            continue;
        }
        p.frac = vec_frac(w, 31);
        if (p.frac < -96 || p.frac > 117) { /* 3e38 */
            continue;
        }
        /* A per-tensor Q format must hold the extremes of every channel. */
        fixed = vec_fixed(w, p.frac, 31);
        assert_int_equal(qrt_arq_s32(fixed, &shape, &p, &out, codes), QRT_OK);
        for (size_t i = 0; i < vec_get(&c, "scale")->n; i++) {
            float s = vec_float(vec_get(&c, "scale")->v[i]);

            if (s > ldexpf(1, 26 - p.frac)) { /* steps well above an LSB */
                assert_true(qrt_real_to_f32(scale[i]) == vec_bits(s));
                assert_int_equal(zero[i], vec_get(&c, "zero")->v[i]);
            }
        }
        for (size_t i = 0; i < w->n; i++) {
            differ += codes[i] != vec_get(&c, "q")->v[i];
        }
        free(fixed);
        cases++;
    }
    fclose(f);
    assert_true(cases >= 60);
    assert_int_equal(differ, 0); /* as the reference model */
}

/* A channel of a layout, collected by the definition of the layout. */
static void layouts_name_the_same_channels(void **state)
{
    enum { O = 6, I = 4, K = 3 };
    static int16_t conv[O * I * K], deconv[I * O * K], matmul[I * O],
        linear[O * I], grouped[I * (O / 2) * K];
    struct qrt_arq_weights p = {10, 8, true, true};
    struct qrt_shape conv_shape = {1, O, I * K, 0}, deconv_shape = {I, O, K, 1};
    struct qrt_shape linear_shape = {1, O, I, 0}, matmul_shape = {I, O, 1, 0};
    struct qrt_shape grouped_shape = {I / 2, O / 2, K, 2};
    struct qrt_real s[2][O];
    int32_t z[2][O];
    struct qrt_arq_result a = {s[0], z[0], 0, 0}, b = {s[1], z[1], 0, 0};
    int8_t qa[O * I * K], qb[O * I * K];
    uint64_t seed = 50;

    (void)state;
    for (int i = 0; i < O * I * K; i++) {
        conv[i] = (int16_t)((int16_t)vec_random(&seed) >> (i % 7));
    }
    for (int o = 0; o < O; o++) {
        for (int i = 0; i < I; i++) {
            linear[o * I + i] = conv[o * I + i];
            matmul[i * O + o] = conv[o * I + i];
            for (int k = 0; k < K; k++) {
                deconv[(i * O + o) * K + k] = conv[(o * I + i) * K + k];
            }
        }
    }
    assert_int_equal(qrt_arq_s16(conv, &conv_shape, &p, &a, qa), QRT_OK);
    assert_int_equal(qrt_arq_s16(deconv, &deconv_shape, &p, &b, qb), QRT_OK);
    assert_memory_equal(s[0], s[1], sizeof s[0]);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    for (int n = 0; n < O * I * K; n++) {
        int k = n % K, i = n / K % I, o = n / K / I;

        assert_int_equal(qa[n], qb[(i * O + o) * K + k]);
    }
    assert_int_equal(qrt_arq_s16(linear, &linear_shape, &p, &a, qa), QRT_OK);
    assert_int_equal(qrt_arq_s16(matmul, &matmul_shape, &p, &b, qb), QRT_OK);
    assert_memory_equal(s[0], s[1], sizeof s[0]);
    /* Two groups: input i of group g feeds outputs g * O/2 ... only. */
    for (int n = 0; n < I * (O / 2) * K; n++) {
        int k = n % K, o = n / K % (O / 2), i = n / K / (O / 2);
        int channel = i / (I / 2) * (O / 2) + o;

        grouped[n] = (int16_t)((channel + 1) * 1000 * (k == 1 ? -1 : 1));
    }
    assert_int_equal(qrt_arq_s16(grouped, &grouped_shape, &p, &a, qa), QRT_OK);
    for (int c = 0; c < O; c++) {
        struct qrt_quant want;

        assert_int_equal(qrt_scale_derive_fixed((c + 1) * 1000, (c + 1) * -1000,
                                                10, 8, true, QRT_ZERO_ARQ,
                                                &want),
                         QRT_OK);
        assert_int_equal(s[0][c].m, want.scale.m);
        assert_int_equal(s[0][c].e, want.scale.e);
    }
}

static void int16_and_int32_weights_agree(void **state)
{
    int16_t narrow[60];
    int32_t wide[60];
    struct qrt_shape shape = {1, 5, 12, 0};
    struct qrt_arq_weights p = {14, 4, false, true};
    struct qrt_arq_result out = {scale, NULL, 0, 0};
    int8_t a[60], b[60];
    uint64_t seed = 51;

    (void)state;
    for (int i = 0; i < 60; i++) {
        narrow[i] = (int16_t)vec_random(&seed);
        wide[i] = narrow[i];
    }
    assert_int_equal(qrt_arq_s16(narrow, &shape, &p, &out, a), QRT_OK);
    assert_int_equal(qrt_arq_s32(wide, &shape, &p, &out, b), QRT_OK);
    assert_memory_equal(a, b, sizeof a);
}

static void dead_channels_are_counted(void **state)
{
    const int16_t w[9] = {5, -3, 2, 0, 0, 0, 0, 0, 0};
    struct qrt_shape shape = {1, 3, 3, 0};
    struct qrt_arq_weights p = {8, 8, false, true};
    struct qrt_arq_result out = {scale, zero, 77, 77};

    (void)state;
    for (int asymmetric = 0; asymmetric < 2; asymmetric++) {
        p.asymmetric = asymmetric != 0;
        assert_int_equal(qrt_arq_s16(w, &shape, &p, &out, codes), QRT_OK);
        assert_int_equal(out.dead_count, 2);
        assert_int_equal(out.dead_first, 1);
        assert_true(qrt_real_to_f32(scale[1]) == vec_bits(1));
        assert_int_equal(codes[4], asymmetric ? -128 : 0);
        assert_int_equal(zero[2], asymmetric ? -128 : 0);
    }
    p.per_channel = false;
    assert_int_equal(qrt_arq_s16(w, &shape, &p, &out, codes), QRT_OK);
    assert_int_equal(out.dead_count, 0);
}

static void an_error_in_the_last_channel_touches_nothing(void **state)
{
    const uint32_t w[4] = {0x3f800000, 0xbf800000, 0x3f800000, 0x7fc00000};
    struct qrt_shape shape = {1, 2, 2, 0};
    struct qrt_arq_weights p = {0, 8, true, true};
    struct qrt_real s[2] = {
        {7, 7},
        {7, 7}
    };
    int32_t z[2] = {7, 7};
    struct qrt_arq_result out = {s, z, 7, 7};
    int8_t q[4] = {7, 7, 7, 7};

    (void)state;
    assert_int_equal(qrt_arq_bits(w, &shape, &p, &out, q), QRT_ERR_NOT_FINITE);
    assert_int_equal(s[0].m, 7);
    assert_int_equal(z[0], 7);
    assert_int_equal(q[0], 7);
    assert_int_equal(out.dead_count, 7);
}

static void bad_arguments_are_refused(void **state)
{
    const int16_t w[4] = {1, 2, 3, 4};
    struct qrt_shape shape = {1, 2, 2, 0}, none = {1, 2, 0, 0};
    struct qrt_arq_weights p = {0, 8, true, true}, bad = p;
    struct qrt_arq_result out = {scale, zero, 0, 0};
    struct qrt_arq_result no_scale = {NULL, zero, 0, 0};
    struct qrt_arq_result no_zero = {scale, NULL, 0, 0};

    (void)state;
    assert_int_equal(qrt_arq_s16(NULL, &shape, &p, &out, codes), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, NULL, &p, &out, codes), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &shape, NULL, &out, codes), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &shape, &p, NULL, codes), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &shape, &p, &out, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &shape, &p, &no_scale, codes),
                     QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &shape, &p, &no_zero, codes), QRT_ERR_NULL);
    assert_int_equal(qrt_arq_s16(w, &none, &p, &out, codes), QRT_ERR_RANGE);
    bad.bits = 1;
    assert_int_equal(qrt_arq_s16(w, &shape, &bad, &out, codes), QRT_ERR_RANGE);
    bad.bits = 16;
    assert_int_equal(qrt_arq_s16(w, &shape, &bad, &out, codes), QRT_ERR_RANGE);
    bad.bits = 8;
    bad.frac = 118;
    assert_int_equal(qrt_arq_s16(w, &shape, &bad, &out, codes), QRT_ERR_RANGE);
    assert_int_equal(qrt_arq_any(QRT_S8, w, &shape, &p, &out, codes),
                     QRT_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_patterns_have_amcts_bits),
        cmocka_unit_test(golden_16_bit_maps),
        cmocka_unit_test(golden_on_fixed_point_weights),
        cmocka_unit_test(layouts_name_the_same_channels),
        cmocka_unit_test(int16_and_int32_weights_agree),
        cmocka_unit_test(dead_channels_are_counted),
        cmocka_unit_test(an_error_in_the_last_channel_touches_nothing),
        cmocka_unit_test(bad_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
