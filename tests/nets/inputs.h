/* The inputs of a network: numbers of binary32 and a label each. One file of
 * little-endian words: count, numbers in each, then for each the numbers and
 * the label. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdbool.h>
#include <stdint.h>

/* Host: argv[1] is the file, argv[2] how many to read at most. Device: linked
 * in. */
bool inputs_open(int argc, char **argv);
bool inputs_next(uint32_t *numbers, uint32_t room, uint32_t *label);

#endif
