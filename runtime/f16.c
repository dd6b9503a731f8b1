/* binary16 on bit patterns: what devices read and write beside binary32. */
#include "cpu_entry.h"

#include "softf32.h"

uint32_t qrt_f32_from_f16(uint32_t h)
{
    uint32_t sign = (h & 0x8000U) << 16;
    uint32_t exponent = (h >> 10) & 31U;
    uint32_t fraction = h & 0x3ffU;

    if (exponent == 31U) {
        return sign | QRT_F32_INF | fraction << 13;
    }
    if (exponent == 0) { /* denormal: fraction * 2^-24 */
        return sign | qrt_f32_from_fixed((int32_t)fraction, 24);
    }
    return sign | (exponent + 112U) << 23 | fraction << 13;
}

uint32_t qrt_f16_from_f32(uint32_t a)
{
    uint32_t sign = (a >> 16) & 0x8000U;
    uint32_t magnitude = qrt_f32_abs(a);
    uint32_t exponent = magnitude >> 23;

    if (magnitude > QRT_F32_INF) {
        return sign | 0x7e00U;
    }
    if (magnitude >= 0x477ff000U) { /* 65520: half a unit above the largest */
        return sign | 0x7c00U;
    }
    if (exponent < 113U) { /* denormal: a multiple of 2^-24 */
        return sign | (uint32_t)qrt_f32_to_fixed(magnitude, 24);
    }
    /* Ties to even; a carry counts the exponent up. */
    magnitude += 0xfffU + ((magnitude >> 13) & 1U);
    return sign | ((magnitude >> 13) - (112U << 10));
}
