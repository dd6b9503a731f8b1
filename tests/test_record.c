/* Records from the device: runtime/record.c. */
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>

#include "qrt_record.h"

static char text[100000];

static uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

static struct qrt_real real(float f)
{
    struct qrt_real r = {0, 0};

    assert_int_equal(qrt_real_from_f32(bits_of(f), &r), QRT_OK);
    return r;
}

static struct qrt_real one_step[] = {
    {1 << 30, 1}
};

static const char *format(const struct qrt_record *r)
{
    uint32_t length = 0;

    memset(text, '~', sizeof text);
    assert_int_equal(qrt_record_format(r, text, sizeof text, &length), QRT_OK);
    assert_int_equal(strlen(text), length);
    return text;
}

static void an_entry_looks_like_this(void **state)
{
    struct qrt_real w[2] = {real(0.00425650831f), real(0.5f)};
    struct qrt_ifmr_result origin;
    struct qrt_record r = {
        "conv1", bits_of(0.0083464561f), -128, w, 2, 8, 4, NULL,
    };

    (void)state;
    assert_string_equal(format(&r), "record {\n"
                                    "  key: \"conv1\"\n"
                                    "  value {\n"
                                    "    scale_d: 0.008346456\n"
                                    "    offset_d: -128\n"
                                    "    scale_w: 0.0042565083\n"
                                    "    scale_w: 0.5\n"
                                    "    offset_w: 0\n"
                                    "    offset_w: 0\n"
                                    "    act_type: \"INT8\"\n"
                                    "    wts_type: \"INT4\"\n"
                                    "  }\n"
                                    "}\n");
    memset(&origin, 0, sizeof origin);
    origin.samples = 131072;
    origin.cells = 1024;
    origin.method = QRT_IFMR_HISTOGRAM;
    r = (struct qrt_record){
        "fc", bits_of(3), 0, one_step, 1, 0, 0, &origin,
    };
    assert_string_equal(format(&r),
                        "record {\n"
                        "  key: \"fc\"\n"
                        "  value {\n"
                        "    # IFMR on 131072 samples, histogram of 1024 bins\n"
                        "    scale_d: 3.0\n"
                        "    offset_d: 0\n"
                        "    scale_w: 1.0\n"
                        "    offset_w: 0\n"
                        "  }\n"
                        "}\n");
    origin.method = QRT_IFMR_EXACT;
    origin.rejected = 7;
    origin.input = QRT_IFMR_DEAD;
    assert_non_null(strstr(format(&r),
                           "    # IFMR on 131072 samples, exact; 7 values that "
                           "were not finite left out; all samples 0 or too "
                           "small for a step\n"));
}

/* ----------------------------------------------------------------- steps */

static void step_text(uint32_t bits, char out[40])
{
    struct qrt_record r = {"x", bits, 0, one_step, 1, 0, 0, NULL};
    const char *at = strstr(format(&r), "scale_d: ");

    assert_non_null(at);
    assert_int_equal(sscanf(at + 9, "%39s", out), 1);
}

/* As both readers of the format read: binary64 first. */
static uint32_t read_back(const char *s)
{
    return bits_of((float)strtod(s, NULL));
}

static int digits_in(const char *s)
{
    int n = 0, zeros = 0;

    for (; *s != '\0' && *s != 'e'; s++) {
        if (*s == '.' || (n == 0 && *s == '0')) {
            continue;
        }
        zeros = *s == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

static int fewest_digits(uint32_t bits)
{
    char s[40];

    for (int n = 1; n < 9; n++) {
        snprintf(s, sizeof s, "%.*e", n - 1, (double)float_of(bits));
        if (read_back(s) == bits) {
            return n;
        }
    }
    return 9;
}

static uint64_t seed = 88172645463325252U;

static uint32_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static void a_step_reads_back_to_the_same_binary32(void **state)
{
    char s[40];
    int longer = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = random_bits() & 0x7fffffff;

        if (i < 255 * 4) { /* powers of two and their neighbours */
            bits = ((uint32_t)(i / 4) << 23) + (uint32_t)(i % 4) - 1;
        } else if (i < 3000) { /* denormals */
            bits >>= 8 + i % 24;
        } else if (i < 60000) { /* decimals of few digits */
            bits = bits_of((float)((bits % 9999 + 1) *
                                   pow(10, (int)(bits >> 13) % 40 - 22)));
        }
        if (bits == 0 || bits >= 0x7f800000) {
            continue;
        }
        step_text(bits, s);
        if (read_back(s) != bits) {
            fail_msg("%08x becomes %s", (unsigned)bits, s);
        }
        /* from 2^24 on a short decimal may be a tie: not used */
        if (bits < 0x4b800000 && digits_in(s) > fewest_digits(bits)) {
            longer++;
        }
        assert_true(digits_in(s) <= 9);
    }
    assert_true(longer <= 2);
}

static void steps_are_decimal_or_have_an_exponent(void **state)
{
    static const struct {
        float f;
        const char *text;
    } cases[] = {
        {1,               "1.0"          },
        {0.1f,            "0.1"          },
        {123456792,       "123456790.0"  },
        {1e9f,            "1.0e9"        },
        {16777216,        "16777216.0"   },
        {0.00001f,        "0.00001"      },
        {0.000001f,       "1.0e-6"       },
        {1.1920929e-07f,  "1.1920929e-7" },
        {3.40282347e38f,  "3.4028235e38" },
        {1.40129846e-45f, "1.0e-45"      },
        {1.17549435e-38f, "1.1754944e-38"},
        {9.99999975e-05f, "0.0001"       },
        {8388608.5f,      "8388608.0"    },
        {0.333333343f,    "0.33333334"   },
        {255,             "255.0"        },
    };
    char s[40];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        step_text(bits_of(cases[i].f), s);
        assert_string_equal(s, cases[i].text);
    }
}

/* ----------------------------------------------------------------- names */

/* Undoes what a text format reader undoes. */
static size_t unescape(const char *s, char *out)
{
    size_t n = 0;

    for (; *s != '"'; s++) {
        assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
        if (*s != '\\') {
            out[n++] = *s;
        } else if (s[1] == '"' || s[1] == '\\') {
            out[n++] = *++s;
        } else {
            int c = 0;

            for (int i = 0; i < 3; i++) {
                s++;
                assert_in_range(*s, '0', '7');
                c = c * 8 + *s - '0';
            }
            out[n++] = (char)c;
        }
    }
    return n;
}

static void any_name_comes_back(void **state)
{
    static const char *const names[] = {
        "layer1.0.conv1",
        "a \"quoted\" \\ name",
        "\xe5\x8d\xb7\xe7\xa7\xaf/1",
        "tab\there\nnew",
        "\x01\x7f\x1f"
        "7",
        "%s%n{head}$(x)//",
        "trailing ",
    };
    char back[100];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qrt_record r = {names[i], 0x3f800000, 0, one_step,
                               1,        0,          0, NULL};
        const char *at = strstr(format(&r), "key: \"");
        size_t n;

        assert_non_null(at);
        n = unescape(at + 6, back);
        assert_int_equal(n, strlen(names[i]));
        assert_memory_equal(back, names[i], n);
    }
}

/* --------------------------------------------------------------- buffers */

static void the_buffer_is_never_exceeded(void **state)
{
    struct qrt_record r = {"conv", bits_of(0.1f), 5, one_step, 1, 8, 8, NULL};
    uint32_t length = 0, need = 0;

    (void)state;
    assert_int_equal(qrt_record_format(&r, NULL, 0, &need), QRT_ERR_SIZE);
    assert_true(need > 50);
    for (uint32_t size = 0; size <= need + 2; size++) {
        memset(text, '~', need + 4);
        length = 0;
        assert_int_equal(qrt_record_format(&r, text, size, &length),
                         size > need ? QRT_OK : QRT_ERR_SIZE);
        assert_int_equal(length, need);
        assert_int_equal(text[size > need ? need + 1 : 0], '~');
        assert_int_equal(text[need] == '\0', size > need);
    }
}

static void collect(void *context, char c)
{
    char **at = context;

    *(*at)++ = c;
}

static void writing_gives_the_formatted_text(void **state)
{
    struct qrt_record r = {"conv", bits_of(0.1f), 5, one_step, 1, 8, 8, NULL};
    char direct[400], *at = direct;

    (void)state;
    assert_int_equal(qrt_record_write(&r, collect, &at), QRT_OK);
    *at = '\0';
    assert_string_equal(direct, format(&r));
}

static void arguments_are_checked(void **state)
{
    const struct qrt_record good = {"c", bits_of(0.1f), 5, one_step, 1, 8,
                                    8,   NULL};
    struct qrt_real bad_step[] = {
        {0,          0  },
        {-(1 << 30), 1  },
        {1 << 30,    129}
    };
    struct qrt_record r = good;
    uint32_t n = 77;

    (void)state;
    assert_int_equal(qrt_record_format(NULL, text, 9, &n), QRT_ERR_NULL);
    assert_int_equal(qrt_record_format(&good, text, 9, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_record_format(&good, NULL, 9, &n), QRT_ERR_NULL);
    assert_int_equal(qrt_record_write(&good, NULL, NULL), QRT_ERR_NULL);
    r.name = NULL;
    assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_NULL);
    r.name = "";
    assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_RANGE);
    r = good;
    r.scale_w = NULL;
    assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_NULL);
    r.scale_w = one_step;
    r.scale_count = 0;
    assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_RANGE);
    for (int i = 0; i < 3; i++) {
        r = good;
        r.scale_w = &bad_step[i];
        assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_RANGE);
    }
    for (int i = 0; i < 4; i++) {
        static const uint32_t bad[] = {0, 0x80000001, 0x7f800000, 0x7fc00000};

        r = good;
        r.scale_d_bits = bad[i];
        assert_int_equal(qrt_record_format(&r, text, 9, &n), QRT_ERR_RANGE);
    }
    for (uint32_t bits = 0; bits < 256; bits++) {
        bool act = bits == 0 || bits == 4 || bits == 8 || bits == 16;
        bool wts = bits == 0 || bits == 4 || (bits >= 6 && bits <= 8);

        r = good;
        r.act_bits = (uint8_t)bits;
        assert_int_equal(qrt_record_format(&r, text, 999, &n),
                         act ? QRT_OK : QRT_ERR_RANGE);
        r = good;
        r.wts_bits = (uint8_t)bits;
        assert_int_equal(qrt_record_format(&r, text, 999, &n),
                         wts ? QRT_OK : QRT_ERR_RANGE);
    }
    for (int32_t o = -40000; o <= 40000; o += 8) {
        r = good;
        r.offset_d = o;
        assert_int_equal(qrt_record_format(&r, text, 999, &n),
                         o >= -128 && o < 128 ? QRT_OK : QRT_ERR_RANGE);
        r.act_bits = 16;
        assert_int_equal(qrt_record_format(&r, text, 999, &n),
                         o >= -32768 && o < 32768 ? QRT_OK : QRT_ERR_RANGE);
    }
    n = 77;
    r.offset_d = INT32_MIN;
    assert_int_equal(qrt_record_format(&r, text, 999, &n), QRT_ERR_RANGE);
    assert_int_equal(n, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_looks_like_this),
        cmocka_unit_test(a_step_reads_back_to_the_same_binary32),
        cmocka_unit_test(steps_are_decimal_or_have_an_exponent),
        cmocka_unit_test(any_name_comes_back),
        cmocka_unit_test(the_buffer_is_never_exceeded),
        cmocka_unit_test(writing_gives_the_formatted_text),
        cmocka_unit_test(arguments_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
