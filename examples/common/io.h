/* Output for the examples: text to the host's standard output, or through the
 * debugger (semihosting) on a device. */
#ifndef EXAMPLES_IO_H
#define EXAMPLES_IO_H

#include <stdint.h>

/* Writes a string. io_stdio.c and io_semihosting.c each define it. */
void io_text(const char *text);

/* Writes a number, decimal or as eight hexadecimal digits. */
void io_int(int32_t value);
void io_hex(uint32_t value);

#endif
