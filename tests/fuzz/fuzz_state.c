/* State files of calibration: alone, or two behind each other. Length and checksum
 * are put right three times out of four. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 24

/* Makes length and checksum right, unless the size says not to. */
static void put_right(uint8_t *data, size_t size)
{
    if (size < HEAD || size % 4 == 0)
        return;
    fuzz_store(data, 16, size - HEAD, 8);
    fuzz_crc(data, 12, HEAD, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const alone[] = {"merge",
                                        "a.qobs",
                                        "-o",
                                        "rec.txt",
                                        "--report",
                                        "rep.json",
                                        "--allow-uncalibrated",
                                        NULL};
    static const char *const two[] = {"merge", "a.qobs",  "b.qobs",
                                      "-o",    "rec.txt", NULL};
    static const char line[] = "\n====\n";
    uint8_t *copy = malloc(size ? size : 1), *second = copy;

    memcpy(copy, data, size);
    while (second < copy + size &&
           ((size_t)(copy + size - second) < sizeof(line) ||
            memcmp(second, line, sizeof(line) - 1) != 0))
        second++;
    put_right(copy, (size_t)(second - copy));
    fuzz_file("a.qobs", copy, (size_t)(second - copy));
    if (second < copy + size) {
        second += sizeof(line) - 1;
        put_right(second, (size_t)(copy + size - second));
        fuzz_file("b.qobs", second, (size_t)(copy + size - second));
        fuzz_quantc(two);
    } else {
        fuzz_quantc(alone);
    }
    fuzz_end();
    free(copy);
    return 0;
}
