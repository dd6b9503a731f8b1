/* Requantize accumulators, quantize binary32 patterns and quantize Q numbers, in
 * their order and in the other one, over all 2^32 inputs against 128-bit
 * arithmetic.
 *
 *   exhaustive [PAIR...]     pairs 0 to 9; without one: all
 *
 * Each pair is a (mantissa, exponent, zero point) and takes one or two minutes
 * for the three kernels together. Exit status 1 at the first difference. */
#include "qrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { BLOCK = 1 << 16, PAIRS = 10 };

static const struct {
    struct qrt_real r;
    int32_t zero;
} pair[PAIRS] = {
    {{1 << 30, -7},     0   }, /* powers of two: ties everywhere          */
    {{1 << 30, -7},     1   }, /* the parity is that of the code          */
    {{3 << 29, -24},    -128}, /* 2^-25 * 1.5: the whole range in codes   */
    {{INT32_MAX, -23},  127 },
    {{1 << 30, -1},     -3  }, /* the first shift outside the short way   */
    {{1 << 30, -2},     5   }, /* the first inside                        */
    {{1 << 30, -31},    0   }, /* the last inside: half of INT32_MIN      */
    {{1 << 30, -32},    7   }, /* below: everything is the zero point     */
    {{1518500250, 3},   11  }, /* above 1                                 */
    {{1073741825, -12}, -77 },
};

static int clamp(wide v)
{
    return v < -128 ? -128 : v > 127 ? 127 : (int)v;
}

/* clamp(rne(v / 2^sh + zero)), sh in [0, 120]; a tie goes to where the code
 * less `zero`, plus `tie`, is even. */
static int code(wide v, int sh, int zero, int tie)
{
    wide q = v >> sh; /* floor: gcc and clang shift arithmetically */
    wide rest = v - (q << sh);
    wide half = sh > 0 ? (wide)1 << (sh - 1) : 1;

    if (sh > 0 && (rest > half || (rest == half && ((q + tie) & 1)))) {
        q++;
    }
    return clamp(q + zero);
}

/* x = +-f * 2^(e - 150). */
static int code_of_bits(uint32_t x, const struct qrt_real *r, int zero)
{
    int e = (int)(x >> 23 & 255);
    wide f = x & 0x7fffff;
    int sh;

    if (e == 255) {
        return f != 0 || x >> 31 ? -128 : 127;
    }
    f = e != 0 ? f | 0x800000 : f;
    sh = 181 - (e != 0 ? e : 1) - r->e;
    f *= r->m;
    f = x >> 31 ? -f : f;
    if (sh < 0) {
        return f == 0 ? clamp(zero) : f > 0 ? 127 : -128;
    }
    return code(f, sh < 120 ? sh : 120, zero, zero);
}

static int differ(int i, const char *kernel, uint32_t x, int got, int want)
{
    printf("pair %d: %s(0x%08x) = %d, not %d\n", i, kernel, (unsigned)x, got,
           want);
    return 1;
}

static int run(int i)
{
    static int32_t acc[BLOCK];
    static uint32_t bits[BLOCK];
    static int8_t q[BLOCK], s[BLOCK], t[BLOCK];
    struct qrt_shape shape = {1, 1, BLOCK, 0};
    struct qrt_edge edge = {&pair[i].r, pair[i].zero, -128, 127, 0};
    struct qrt_quantize p = {&pair[i].r, &pair[i].zero, 0, 8,
                             QRT_ADD_THEN_ROUND};
    struct qrt_quantize other = {&pair[i].r, &pair[i].zero, 0, 8,
                                 QRT_ROUND_THEN_ADD};

    for (uint32_t block = 0; block < 1u << 16; block++) {
        for (uint32_t k = 0; k < BLOCK; k++) {
            bits[k] = block << 16 | k;
        }
        memcpy(acc, bits, sizeof acc);
        if (qrt_requantize_s8(acc, &shape, &edge, q) != QRT_OK ||
            qrt_quantize_bits_s8(bits, &shape, &p, s) != QRT_OK ||
            qrt_quantize_s32_s8(acc, &shape, &other, t) != QRT_OK) {
            return 1;
        }
        for (uint32_t k = 0; k < BLOCK; k++) {
            wide v = (wide)acc[k] * pair[i].r.m;
            int sh = 31 - pair[i].r.e;
            int zero = pair[i].zero;
            int want = code(v, sh, zero, zero);

            if (q[k] != want) {
                return differ(i, "requantize", bits[k], q[k], want);
            }
            want = code_of_bits(bits[k], &pair[i].r, zero);
            if (s[k] != want) {
                return differ(i, "quantize_bits", bits[k], s[k], want);
            }
            want = code(v, sh, zero, 0);
            if (t[k] != want) {
                return differ(i, "quantize_s32", bits[k], t[k], want);
            }
        }
    }
    printf("pair %d: 3 * 2^32 inputs, no difference\n", i);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? argc - 1 : PAIRS); i++) {
        int n = argc > 1 ? atoi(argv[i + 1]) : i;

        if (n < 0 || n >= PAIRS || run(n) != 0) {
            return 1;
        }
    }
    return 0;
}
