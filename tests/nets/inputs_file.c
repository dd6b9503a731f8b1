/* Inputs from a file: inputs_file FILE [COUNT AT MOST] */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *file;
static uint32_t left, size;

static bool word(uint32_t *v)
{
    unsigned char b[4];

    if (fread(b, 1, 4, file) != 4)
        return false;
    *v = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
         (uint32_t)b[3] << 24;
    return true;
}

bool inputs_next(uint32_t *numbers, uint32_t room, uint32_t *label)
{
    uint32_t i;

    if (left == 0 || size > room)
        return false;
    left--;
    for (i = 0; i < size; i++)
        if (!word(&numbers[i]))
            return false;
    return word(label);
}

int main(int argc, char **argv)
{
    file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file || !word(&left) || !word(&size))
        return 2;
    if (argc > 2 && (uint32_t)atoi(argv[2]) < left)
        left = (uint32_t)atoi(argv[2]);
    return run_all();
}
