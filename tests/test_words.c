/* runtime/words.c: golden/dequant_word. */
#include "cmocka_all.h"

#include "qrt.h"
#include "softf32.h"
#include "vectors.h"

static uint64_t word(const struct vec_case *c, const char *name)
{
    const int32_t *v = vec_get(c, name)->v;

    return (uint64_t)(uint32_t)v[0] << 32 | (uint32_t)v[1];
}

static void golden_words(void **state)
{
    FILE *f = vec_open("words.txt");
    static struct vec_case c;
    int cases = 0;

    (void)state;
    while (vec_next(f, &c)) {
        uint32_t s = (uint32_t)vec_int(&c, "scale");
        int8_t o = (int8_t)vec_int(&c, "offset_w");
        uint32_t s19 = qrt_cast_to_s19(s, QRT_S19_TRUNCATE);
        /* The operator takes the offset as a float: rne, then clamp. */
        int32_t offset = qrt_f32_to_s32((uint32_t)vec_int(&c, "offset"));

        assert_true(s19 == (uint32_t)vec_int(&c, "s19"));
        assert_true(qrt_word_dequant(s, o) == word(&c, "amct"));
        assert_true(qrt_word_dequant(s19, o) == word(&c, "amct_s19"));
        assert_true(qrt_word_fixpipe(s, 0, QRT_S19_TRUNCATE) ==
                    word(&c, "round0"));
        assert_true(qrt_word_fixpipe(s, 0, QRT_S19_NEAREST) ==
                    word(&c, "round1"));
        assert_true(qrt_word_fixpipe(s, offset, QRT_S19_TRUNCATE) ==
                    word(&c, "round0_offset"));
        assert_true(qrt_word_fixpipe(s, offset, QRT_S19_NEAREST) ==
                    word(&c, "round1_offset"));
        cases++;
    }
    fclose(f);
    assert_int_equal(cases, 44);
}

static void nearest_is_to_even_and_carries(void **state)
{
    (void)state;
    assert_true(qrt_cast_to_s19(0x3f801000, QRT_S19_NEAREST) == 0x3f800000);
    assert_true(qrt_cast_to_s19(0x3f803000, QRT_S19_NEAREST) == 0x3f804000);
    assert_true(qrt_cast_to_s19(0x3f801001, QRT_S19_NEAREST) == 0x3f802000);
    assert_true(qrt_cast_to_s19(0x3fffffff, QRT_S19_NEAREST) == 0x40000000);
    assert_true(qrt_cast_to_s19(0x7f7fffff, QRT_S19_NEAREST) == 0x7f800000);
    assert_true(qrt_cast_to_s19(0x807fffff, QRT_S19_NEAREST) == 0x80000000);
    assert_true(qrt_cast_to_s19(0x807fffff, QRT_S19_TRUNCATE) == 0x807fe000);
    assert_true(qrt_cast_to_s19(0x7f801fff, QRT_S19_NEAREST) == 0x7f800000);
}

static void the_offset_saturates_to_nine_bits(void **state)
{
    (void)state;
    assert_true(qrt_word_fixpipe(0, 255, QRT_S19_TRUNCATE) ==
                0x00005fe000000000);
    assert_true(qrt_word_fixpipe(0, 300, QRT_S19_TRUNCATE) ==
                0x00005fe000000000);
    assert_true(qrt_word_fixpipe(0, -256, QRT_S19_TRUNCATE) ==
                0x0000600000000000);
    assert_true(qrt_word_fixpipe(0, INT32_MIN, QRT_S19_TRUNCATE) ==
                0x0000600000000000);
    assert_true(qrt_word_fixpipe(0, -1, QRT_S19_TRUNCATE) ==
                0x00007fe000000000);
    assert_true(qrt_word_dequant(0xffffffff, -1) == 0x000000ffffffffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_words),
        cmocka_unit_test(nearest_is_to_even_and_carries),
        cmocka_unit_test(the_offset_saturates_to_nine_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
