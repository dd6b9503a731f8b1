/* Decimal arithmetic against the C library (in its C locale) as the second
 * opinion, and against the texts of config.md E.7. */
#include "decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double v)
{
    uint64_t b;

    memcpy(&b, &v, sizeof(b));
    return b;
}

static uint32_t float_bits(float v)
{
    uint32_t b;

    memcpy(&b, &v, sizeof(b));
    return b;
}

static uint64_t state = 88172645463325252u;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void assert_reads_like_strtod(const char *text)
{
    double v, want = strtod(text, NULL);

    assert_true(qc_parse_double(qc_str(text), &v));
    if (bits_of(v) != bits_of(want))
        fail_msg("%s: %a, should be %a", text, v, want);
}

static void parse_hard_cases(void **unused)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "0.0e5",
        "1",
        "4096",
        "0.7",
        "-.5",
        "2.",
        "1e3",
        "1E-3",
        "1.00000005960464477539062500000000001",
        "9007199254740993",
        "9007199254740992.9999999999999999999999999999",
        "1e22",
        "1e23",
        "179769313486231570814527423731704356798070e267",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e400",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "2.47032822920623272088284396434110686182e-324",
        "0.000000000000000000000000000000000000000000000000001e50",
        "100000000000000000000000000000000000000000000000000e-50",
        "8.5e-46",
        "7.0064923216240854e-46",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551617",
        "0.1e1",
        "12345678901234567890123",
        "9999999999999999999999e-22",
        "3.4028235677973366e38",
        "3.4028235677973367e38"};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_reads_like_strtod(cases[i]);
}

static void parse_random_texts(void **unused)
{
    char text[80];
    int i;

    (void)unused;
    for (i = 0; i < 60000; i++) {
        uint64_t a = random64(), b = random64();

        switch (i % 4) {
        case 0:
            sprintf(text, "%llu.%llue%d", (unsigned long long)a >> a % 60,
                    (unsigned long long)b, (int)(b % 700) - 350);
            break;
        case 1:
            sprintf(text, "%d.%d", (int)(a % 100), (int)(b % 1000000));
            break;
        case 2:
            sprintf(text, "0.%09d%llu", (int)(a % 1000000000),
                    (unsigned long long)b);
            break;
        default:
            sprintf(text, "%llue-%d", (unsigned long long)a, (int)(b % 30));
        }
        assert_reads_like_strtod(text);
    }
}

/* Exactly between two binary64 and one digit beyond, far down the text. */
static void parse_ties_of_any_length(void **unused)
{
    char text[900];
    double v;
    int zeros;

    (void)unused;
    for (zeros = 0; zeros < 850; zeros += 40) {
        strcpy(text, "9007199254740993.");
        memset(text + strlen(text), '0', (size_t)zeros);
        text[17 + zeros] = '\0';
        assert_true(qc_parse_double(qc_str(text), &v));
        assert_true(bits_of(v) == bits_of(9007199254740992.0));
        strcpy(text + 17 + zeros, "1");
        assert_true(qc_parse_double(qc_str(text), &v));
        assert_true(bits_of(v) == bits_of(9007199254740994.0));
    }
}

static void parse_a_long_text_in_linear_time(void **unused)
{
    size_t n = 4000000, i;
    char *text = malloc(n + 20);
    double v;

    (void)unused;
    memset(text, '0', n);
    text[1] = '.';
    sprintf(text + n, "7e%d", (int)n - 2);
    assert_true(qc_parse_double(qc_str(text), &v));
    assert_true(bits_of(v) == bits_of(0.7));
    for (i = 0; i < n; i++)
        text[i] = '9';
    sprintf(text + n, "e-%d", (int)n);
    assert_true(qc_parse_double(qc_str(text), &v));
    assert_true(bits_of(v) == bits_of(1.0));
    free(text);
}

static void parse_refuses_what_is_no_decimal(void **unused)
{
    static const char *const cases[] = {
        "",    "-",  ".",   "1e",   "1e+",  "0x10", "+1",   "1_0",
        "1,5", "1 ", "--1", "1e5x", "infi", "nano", "1.2.3"};
    double v;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_false(qc_parse_double(qc_str(cases[i]), &v));
}

static void parse_takes_words_and_the_f_suffix(void **unused)
{
    double v;

    (void)unused;
    assert_true(qc_parse_double(qc_str("-Infinity"), &v));
    assert_true(v < 0 && !qc_is_finite(v));
    assert_true(qc_parse_double(qc_str("NaN"), &v));
    assert_true(v != v);
    assert_true(qc_parse_double(qc_str("0.7f"), &v));
    assert_true(bits_of(v) == bits_of(0.7));
}

static void f32_bits_are_those_of_a_cast(void **unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 400000; i++) {
        uint64_t r = random64();
        double v;

        if (i % 2) /* exponents of binary32 and a little beyond */
            r = (r & ~((uint64_t)0x7FF << 52)) | (r % 300 + 870) << 52;
        if (i % 3 == 0) /* near a tie */
            r = (r & ~(((uint64_t)1 << 29) - 1)) | (uint64_t)1 << 28;
        memcpy(&v, &r, sizeof(v));
        if (v != v)
            continue;
        if (qc_f32_bits(v) != float_bits((float)v))
            fail_msg("%a: %08x", v, (unsigned)qc_f32_bits(v));
    }
    assert_true(qc_f32_bits(3.4028235677973366e38) == 0x7F7FFFFF);
    assert_true(qc_f32_bits(3.4028235677973370e38) == 0x7F800000);
    assert_true(qc_f32_bits(3.4028235677973362e38) == 0x7F7FFFFF);
}

static void f32_value_is_exact(void **unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 100000; i++) {
        uint32_t r = (uint32_t)random64();
        float f;

        if (i % 4 == 0)
            r &= 0x807FFFFF; /* subnormal */
        memcpy(&f, &r, sizeof(f));
        if (f == f)
            assert_true(bits_of(qc_f32_value(r)) == bits_of((double)f));
    }
}

static unsigned significant(const char *text)
{
    unsigned n = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        if (*text == '0')
            zeros += n != 0;
        else {
            n += zeros + 1;
            zeros = 0;
        }
    }
    return n;
}

/* Reads back, and printf with fewer digits does not. */
static void shortest_f32_is_shortest(void **unused)
{
    char text[QC_DECIMAL_ROOM], other[64];
    int i;

    (void)unused;
    for (i = 0; i < 100000; i++) {
        uint32_t r = (uint32_t)random64() & 0x7FFFFFFF;
        unsigned n;
        float f;

        if (i % 2)
            r = (r & 0x007FFFFF) | (110 + r % 20) << 23;
        if (r >= 0x7F800000 || r == 0)
            continue;
        memcpy(&f, &r, sizeof(f));
        qc_shortest_f32(r, text);
        if (float_bits((float)strtod(text, NULL)) != r)
            fail_msg("%08x: %s reads back to another number", r, text);
        n = significant(text);
        sprintf(other, "%.*e", (int)n - 2, (double)f);
        if (n > 1 && float_bits((float)strtod(other, NULL)) == r)
            fail_msg("%08x: %s, but %s is shorter", r, text, other);
        /* As near as printf with as many digits. */
        sprintf(other, "%.*e", (int)n - 1, (double)f);
        if (float_bits((float)strtod(other, NULL)) == r &&
            strtod(other, NULL) != strtod(text, NULL))
            fail_msg("%08x: %s, but %s is nearer", r, text, other);
    }
}

static void shortest_f64_is_shortest(void **unused)
{
    char text[QC_DECIMAL_ROOM], other[64];
    int i;

    (void)unused;
    for (i = 0; i < 20000; i++) {
        uint64_t r = random64() & ~((uint64_t)1 << 63);
        unsigned n;
        double v;

        if (i % 2)
            r = (r & (((uint64_t)1 << 52) - 1)) | (1000 + r % 40) << 52;
        memcpy(&v, &r, sizeof(v));
        if (v != v || v - v != 0)
            continue;
        qc_shortest_f64(v, text);
        if (bits_of(strtod(text, NULL)) != r)
            fail_msg("%a: %s reads back to another number", v, text);
        n = significant(text);
        sprintf(other, "%.*e", (int)n - 2, v);
        if (n > 1 && bits_of(strtod(other, NULL)) == r)
            fail_msg("%a: %s, but %s is shorter", v, text, other);
    }
}

static void shortest_has_the_layout_of_python(void **unused)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0.7,                    "0.7"                    },
        {1,                      "1.0"                    },
        {0,                      "0.0"                    },
        {-0.0,                   "-0.0"                   },
        {1e-4,                   "0.0001"                 },
        {1e-5,                   "1e-05"                  },
        {1.5e-7,                 "1.5e-07"                },
        {1e15,                   "1000000000000000.0"     },
        {1e16,                   "1e+16"                  },
        {1.5e300,                "1.5e+300"               },
        {123456790,              "123456790.0"            },
        {0.999999,               "0.999999"               },
        {5e-324,                 "5e-324"                 },
        {100,                    "100.0"                  },
        {-2.5,                   "-2.5"                   },
        {2.700000047683716,      "2.700000047683716"      },
        {9007199254740993.0,     "9007199254740992.0"     },
        {9.98e-206,              "9.98e-206"              },
        {1.7976931348623157e308, "1.7976931348623157e+308"}
    };
    char text[QC_DECIMAL_ROOM];
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(qc_shortest_f64(cases[i].v, text), cases[i].text);
    assert_string_equal(qc_shortest_f32(0x7F800000, text), "inf");
    assert_string_equal(qc_shortest_f32(0xFF800000, text), "-inf");
    assert_string_equal(qc_shortest_f32(0x7FC00000, text), "nan");
    assert_string_equal(qc_shortest_f32(1, text), "1e-45");
    assert_string_equal(qc_shown_f32(0, text), "0");
    assert_string_equal(qc_shown_f32(float_bits(-1), text), "-1");
    assert_string_equal(qc_shown_f32(float_bits(1.3f), text), "1.3");
}

static void nine_digits_are_those_of_printf(void **unused)
{
    char text[QC_DECIMAL_ROOM], want[64];
    int i;

    (void)unused;
    for (i = 0; i < 100000; i++) {
        uint32_t r = (uint32_t)random64();
        float f;

        if (i % 2)
            r = (r & 0x807FFFFF) | (100 + r % 60) << 23;
        memcpy(&f, &r, sizeof(f));
        if (f != f)
            continue;
        sprintf(want, "%.9g", (double)f);
        assert_string_equal(qc_nine_digits_f32(r, text), want);
    }
}

static void amct_floats(void **unused)
{
    static const char *const cases[][2] = {
        {"0.99999999",                            "1.0"        },
        {"0.9999999",                             "0.9999999"  },
        {"123456789",                             "123456790.0"},
        {"0.333333333",                           "0.33333334" },
        {"0.7",                                   "0.7"        },
        {"1e-4",                                  "0.0001"     },
        {"0.50000001",                            "0.5"        },
        {"1e39",                                  "inf"        },
        {"1e-46",                                 "0.0"        },
        {"0.010",                                 "0.01"       },
        {"1.00000005960464477539062500000000001", "1.0"        }
    };
    char text[QC_DECIMAL_ROOM];
    double v;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(qc_amct_float(qc_str(cases[i][0]), &v));
        assert_string_equal(qc_shortest_f64(v, text), cases[i][1]);
    }
}

static void compare_is_exact(void **unused)
{
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = {
        {"0.7",   "0.70",                                  0 },
        {"7e-1",  "0.7",                                   0 },
        {"0.7",   "0.70000000000000000000000000000000001", -1},
        {"-1",    "1",                                     -1},
        {"-2",    "-1",                                    -1},
        {"0",     "-0",                                    0 },
        {"0.0",   "1e-300",                                -1},
        {"10",    "9.99",                                  1 },
        {"1e100", "1e99",                                  1 },
        {"12.5",  "12.45",                                 1 },
        {"00012", "12",                                    0 },
        {"-0.5",  "0",                                     -1}
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int c = qc_decimal_compare(qc_str(cases[i].a), qc_str(cases[i].b));

        if (c != cases[i].want)
            fail_msg("%s ? %s: %d", cases[i].a, cases[i].b, c);
        assert_int_equal(
            qc_decimal_compare(qc_str(cases[i].b), qc_str(cases[i].a)),
            -cases[i].want);
    }
}

static int difference(const char *step, const char *end, const char *start)
{
    return qc_decimal_compare_difference(qc_str(step), qc_str(end),
                                         qc_str(start));
}

static void difference_is_decimal(void **unused)
{
    (void)unused;
    assert_int_equal(difference("0.2", "0.3", "0.1"), 0);
    assert_int_equal(difference("0.6", "1.3", "0.7"), 0);
    assert_int_equal(difference("0.61", "1.3", "0.7"), 1);
    assert_int_equal(difference("0.59", "1.3", "0.7"), -1);
    assert_int_equal(difference("1e-45", "3.4028235e+38", "1e-45"), -1);
    assert_int_equal(difference("0.5", "0.25", "-0.25"), 0);
    assert_int_equal(difference("-0.5", "-0.75", "-0.25"), 0);
    assert_int_equal(difference("5e-324", "1e+308", "1e+308"), 1);
    assert_int_equal(difference("0", "1", "1"), 0);
}

/* With a locale whose decimal point is a comma nothing changes. */
static void locale_does_not_matter(void **unused)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "ru_RU.UTF-8"};
    char text[QC_DECIMAL_ROOM];
    bool set = false;
    double v;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(names) / sizeof(*names) && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set)
        puts("no locale with a decimal comma is installed: C locale only");
    assert_true(qc_parse_double(qc_str("0.7"), &v));
    assert_string_equal(qc_shortest_f64(v, text), "0.7");
    assert_false(qc_parse_double(qc_str("0,7"), &v));
    setlocale(LC_ALL, "C");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_hard_cases),
        cmocka_unit_test(parse_random_texts),
        cmocka_unit_test(parse_ties_of_any_length),
        cmocka_unit_test(parse_a_long_text_in_linear_time),
        cmocka_unit_test(parse_refuses_what_is_no_decimal),
        cmocka_unit_test(parse_takes_words_and_the_f_suffix),
        cmocka_unit_test(f32_bits_are_those_of_a_cast),
        cmocka_unit_test(f32_value_is_exact),
        cmocka_unit_test(shortest_f32_is_shortest),
        cmocka_unit_test(shortest_f64_is_shortest),
        cmocka_unit_test(shortest_has_the_layout_of_python),
        cmocka_unit_test(nine_digits_are_those_of_printf),
        cmocka_unit_test(amct_floats),
        cmocka_unit_test(compare_is_exact),
        cmocka_unit_test(difference_is_decimal),
        cmocka_unit_test(locale_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
