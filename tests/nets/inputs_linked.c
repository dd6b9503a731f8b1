/* Inputs that are part of the image (little endian, as the core). */
#include "inputs.h"

extern const uint32_t inputs_data[];

static const uint32_t *at;
static uint32_t left, size;

bool inputs_next(uint32_t *numbers, uint32_t room, uint32_t *label)
{
    uint32_t i;

    if (left == 0 || size > room)
        return false;
    left--;
    for (i = 0; i < size; i++)
        numbers[i] = *at++;
    *label = *at++;
    return true;
}

int main(void)
{
    left = inputs_data[0];
    size = inputs_data[1];
    at = inputs_data + 2;
    return run_all();
}
