/* runtime/pack4.c: golden/int4_pack and edges. */
#include "cmocka_all.h"

#include "qrt.h"
#include "vectors.h"

static int8_t codes[20000], back[20000];
static uint8_t packed[10000];

static void golden_bytes_and_back(void **state)
{
    FILE *f = vec_open("pack4.txt");
    static struct vec_case c;
    int cases = 0;

    (void)state;
    while (vec_next(f, &c)) {
        const struct vec_field *v = vec_get(&c, "codes");
        const int32_t *s = vec_get(&c, "shape")->v;
        struct qrt_shape shape = {(uint32_t)s[0], (uint32_t)s[1],
                                  (uint32_t)s[2], 0};

        assert_false(c.missing);
        for (size_t i = 0; i < v->n; i++) {
            codes[i] = (int8_t)v->v[i];
        }
        if (vec_has(&c, "error")) {
            assert_int_equal(qrt_pack4(codes, &shape, packed), QRT_ERR_SIZE);
        } else {
            assert_int_equal(qrt_pack4(codes, &shape, packed), QRT_OK);
            for (size_t i = 0; i < v->n / 2; i++) {
                assert_int_equal((int8_t)packed[i],
                                 vec_get(&c, "packed")->v[i]);
            }
            assert_int_equal(qrt_unpack4(packed, &shape, back), QRT_OK);
            assert_memory_equal(back, codes, v->n);
        }
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 12);
}

static void innermost_pairs_are_the_kernels_s4(void **state)
{
    const int8_t x[4] = {-8, 7, 0, -1};
    struct qrt_shape shape = {1, 4, 1, 0}, flat = {1, 1, 4, 0};
    const struct qrt_real one = {1 << 30, 1};
    struct qrt_dequantize d = {&one, NULL, 0};
    uint8_t p[2];
    int32_t y[4];

    (void)state;
    assert_int_equal(qrt_pack4(x, &shape, p), QRT_OK);
    assert_int_equal(qrt_dequantize_s4_s32(p, &flat, &d, y), QRT_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(y[i], x[i]);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    int8_t x[4] = {1, 2, 3, 8};
    struct qrt_shape shape = {1, 4, 1, 0}, groups = {1, 2, 1, 2},
                     none = {0, 4, 1, 0};
    uint8_t p[2] = {0x55, 0x55};

    (void)state;
    assert_int_equal(qrt_pack4(x, &shape, p), QRT_ERR_RANGE);
    x[3] = -9;
    assert_int_equal(qrt_pack4(x, &shape, p), QRT_ERR_RANGE);
    assert_int_equal(p[0], 0x55);
    assert_int_equal(qrt_pack4(x, &groups, p), QRT_ERR_RANGE);
    assert_int_equal(qrt_pack4(x, &none, p), QRT_ERR_RANGE);
    assert_int_equal(qrt_pack4(NULL, &shape, p), QRT_ERR_NULL);
    assert_int_equal(qrt_pack4(x, NULL, p), QRT_ERR_NULL);
    assert_int_equal(qrt_pack4(x, &shape, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_unpack4(NULL, &shape, x), QRT_ERR_NULL);
    shape.channels = 3;
    assert_int_equal(qrt_unpack4(p, &shape, x), QRT_ERR_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes_and_back),
        cmocka_unit_test(innermost_pairs_are_the_kernels_s4),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
