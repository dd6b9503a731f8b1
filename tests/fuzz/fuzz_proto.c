/* The reader of .proto files: schemac, which runs while quantc is built. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file("fuzz.proto", data, size);
    fuzz_schemac("fuzz.proto");
    fuzz_end();
    return 0;
}
