/* Records: on their own, as a list of layers, against layers. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const check[] = {
        "check", "--kind", "record", "fuzz.txt", "--diag", "json", NULL};
    static const char *const amct[] = {
        "check", "--kind", "record", "fuzz.txt", "--compat", "amct", NULL};
    static const char *const alone[] = {"compile", "--record", "fuzz.txt",
                                        "-o",      "out",      NULL};
    static const char *const compile[] = {
        "compile", "ok.cfg", "--layers", "ok.layers", "--record", "fuzz.txt",
        "-o",      "out",    "--plan",   "plan.json", NULL};

    fuzz_file("fuzz.txt", data, size);
    fuzz_text_file("ok.cfg", ok_config);
    fuzz_text_file("ok.layers", ok_layers);
    fuzz_quantc(size & 1 ? check : amct);
    fuzz_quantc(alone);
    fuzz_quantc(compile);
    fuzz_end();
    return 0;
}
