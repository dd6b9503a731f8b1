/* The inputs of a network: numbers of binary32 and a label each. One file of
 * little-endian words: count, numbers in each, then for each the numbers and
 * the label. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdbool.h>
#include <stdint.h>

/* main.c; called by the main of the file that has the inputs. Returns the
 * program's exit status. */
int run_all(void);

/* False behind the last one. */
bool inputs_next(uint32_t *numbers, uint32_t room, uint32_t *label);

#endif
