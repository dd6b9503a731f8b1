/* The 64-bit parameter words of Ascend's dequantization units. */
#include "qrt.h"

#include "fixed.h"
#include "softf32.h"

#define S19_MASK      0xffffe000U
#define SIGNED_RESULT ((uint64_t)1 << 46)

uint32_t qrt_cast_to_s19(uint32_t scale_bits, enum qrt_s19 mode)
{
    uint32_t field = scale_bits & QRT_F32_INF;

    if (mode == QRT_S19_NEAREST && field != QRT_F32_INF) {
        if (field == 0) {
            return scale_bits & QRT_F32_SIGN;
        }
        /* The carry runs into the exponent, up to infinity. */
        scale_bits += 0xfffU + ((scale_bits >> 13) & 1U);
    }
    return scale_bits & S19_MASK;
}

uint64_t qrt_word_dequant(uint32_t scale_bits, int8_t offset_w)
{
    return (uint64_t)(uint8_t)offset_w << 32 | scale_bits;
}

uint64_t qrt_word_fixpipe(uint32_t scale_bits, int32_t offset,
                          enum qrt_s19 mode)
{
    uint32_t field = (uint32_t)qrt_clamp32(offset, -256, 255) & 511U;

    return SIGNED_RESULT | (uint64_t)field << 37 |
           qrt_cast_to_s19(scale_bits, mode);
}
