/* Numbers as text, without printf: a device image has no libc. */
#include "io.h"

void io_int(int32_t value)
{
    char text[12];
    char *at = text + sizeof text - 1;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;

    *at = '\0';
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0)
        *--at = '-';
    io_text(at);
}

void io_hex(uint32_t value)
{
    char text[9];
    int i;

    for (i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
    text[8] = '\0';
    io_text(text);
}
