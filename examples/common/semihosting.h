/* The two requests that the examples send to a debugger, or to QEMU started
 * with -semihosting-config enable=on. Without either, `bkpt` faults: a real
 * board replaces these functions by its own console. */
#ifndef EXAMPLES_SEMIHOSTING_H
#define EXAMPLES_SEMIHOSTING_H

#include <stdint.h>

/* Writes a string to the debugger's console (QEMU: its standard error). */
void semihosting_write(const char *text);

/* Ends the program with an exit status; does not return. */
void semihosting_exit(uint32_t status);

#endif
