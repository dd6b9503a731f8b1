/* Integer loops to compare with: plain.c. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stddef.h>
#include <stdint.h>

/* acc [rows, channels] * mult / 2^shift + zero, saturated; halves go up. */
void plain_requantize(const int32_t *acc, size_t rows, size_t channels,
                      const int32_t *mult, const uint8_t *shift, int32_t zero,
                      int8_t *q);

/* Halves go to the even code: the runtime's rounding. */
void plain_requantize_even(const int32_t *acc, size_t rows, size_t channels,
                           const int32_t *mult, const uint8_t *shift,
                           int32_t zero, int8_t *q);

/* n codes, n even; element 2k in the low nibble. */
void plain_pack4(const int8_t *codes, size_t n, uint8_t *out);
void plain_unpack4(const uint8_t *packed, size_t n, int8_t *codes);

#endif
