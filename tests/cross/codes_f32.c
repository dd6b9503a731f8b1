/* Codes of the float kernels against one division, one addition and one
 * rounding at a time, for compilers and processors on which the kernels take
 * other ways: fused multiply-add, either byte order, small code. Prints a
 * checksum, which is the same everywhere. */
#include "qrt_f32.h"

#include <stdio.h>
#include <string.h>

#define N 321u /* five blocks and one more */

static uint64_t seed = 7;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* t to nearest, ties to even, saturated; NaN to the lowest. */
static int32_t code(float t)
{
    if (!(t > -128.0f))
        return -128;
    if (t >= 127.0f)
        return 127;
    int32_t below = (int32_t)(t + 128.0f) - 128;
    double rest = (double)t - below;
    if (rest < 0) {
        below -= 1;
        rest += 1;
    }
    return below + (rest > 0.5 || (rest == 0.5 && (below & 1)));
}

/* A few ulps around the halves, or anything. */
static float sample(uint32_t i, float s, float o)
{
    if (i % 32 == 31)
        return from_bits(i & 32u ? 0x7f800000u : 0xff800000u);
    if (i % 16 == 15)
        return from_bits(draw());
    float x = ((float)(int32_t)(draw() % 270) - 135.5f - o) * s;
    return from_bits(to_bits(x) + i % 7 - 3u);
}

static int same(const float *x, float s, int32_t o, uint32_t *sum)
{
    int8_t divided[N], multiplied[N];
    qrt_quantize_f32_s8(x, N, s, o, 8, divided);
    qrt_quantize_f32_s8__ascend(x, N, s, o, 8, false, QRT_ROUND_EVEN,
                                multiplied);
    for (uint32_t i = 0; i < N; i++) {
        volatile float d = x[i] / s, m = x[i] * s;
        d += (float)o;
        m += (float)o;
        if (divided[i] != code(d) || multiplied[i] != code(m)) {
            printf("FAILED: x %08x, s %08x, o %d: %d for %d, %d for %d\n",
                   (unsigned)to_bits(x[i]), (unsigned)to_bits(s), (int)o,
                   divided[i], (int)code(d), multiplied[i], (int)code(m));
            return 0;
        }
        *sum = (*sum << 5 | *sum >> 27) ^ (uint8_t)divided[i] ^
               (uint32_t)(uint8_t)multiplied[i] << 8;
    }
    return 1;
}

int main(void)
{
    float x[N];
    uint32_t sum = 0;
    for (uint32_t round = 0; round < 600; round++) {
        uint32_t mantissa = round < 4 ? 0x7fffffu - round : draw() & 0x7fffffu;
        uint32_t exponent = 110u + draw() % 20u;
        if (round % 8 == 7)
            exponent = round & 8 ? draw() % 4u : 245u + draw() % 10u;
        float s = from_bits(exponent << 23 | (mantissa | !exponent));
        int32_t o = round & 1 ? (int32_t)(draw() % 256u) - 128 : 0;
        for (uint32_t i = 0; i < N; i++)
            x[i] = sample(i, s, (float)o);
        if (!same(x, s, o, &sum))
            return 1;
    }
    printf("%08x\n", (unsigned)sum);
    return 0;
}
