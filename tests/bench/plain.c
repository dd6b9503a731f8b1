/* Integer loops as they are written first, to compare with. Built with -O2, as
 * the integer kernels are. */
#include "plain.h"

void plain_requantize(const int32_t *acc, size_t rows, size_t channels,
                      const int32_t *mult, const uint8_t *shift, int32_t zero,
                      int8_t *q)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < channels; c++) {
            int64_t v = (int64_t)*acc++ * mult[c];
            v = ((v + ((int64_t)1 << (shift[c] - 1))) >> shift[c]) + zero;
            v = v < -128 ? -128 : v > 127 ? 127 : v;
            *q++ = (int8_t)v;
        }
}

void plain_requantize_even(const int32_t *acc, size_t rows, size_t channels,
                           const int32_t *mult, const uint8_t *shift,
                           int32_t zero, int8_t *q)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < channels; c++) {
            int64_t p = (int64_t)*acc++ * mult[c];
            int64_t half = (int64_t)1 << (shift[c] - 1);
            int64_t rest = p & (2 * half - 1);
            int64_t v = (p >> shift[c]) + zero;
            v += (rest > half) | ((rest == half) & (v & 1));
            v = v < -128 ? -128 : v > 127 ? 127 : v;
            *q++ = (int8_t)v;
        }
}

void plain_pack4(const int8_t *codes, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i += 2)
        *out++ =
            (uint8_t)((codes[i] & 15) | (unsigned)(codes[i + 1] & 15) << 4);
}

void plain_unpack4(const uint8_t *packed, size_t n, int8_t *codes)
{
    for (size_t i = 0; i < n; i += 2, packed++) {
        codes[i] = (int8_t)(((*packed & 15) ^ 8) - 8);
        codes[i + 1] = (int8_t)(((*packed >> 4) ^ 8) - 8);
    }
}
