/* The whole way, from configuration, layers and record to everything that is
 * written. A line of four '=' separates the three files; those that are left
 * out are in order. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const dialects[] = {"pytorch", "mindspore", "onnx"};
    size_t s = size;
    const char *const dialect = dialects[s % 3];
    const char *compile[] = {"compile",
                             "fuzz.cfg",
                             "--layers",
                             "fuzz.layers",
                             "--record",
                             "fuzz.txt",
                             "-o",
                             "out",
                             "--plan",
                             "plan.json",
                             s & 1 ? "--selftest" : NULL,
                             NULL};
    const char *config[] = {"config",
                            "fuzz.cfg",
                            "--layers",
                            "fuzz.layers",
                            s & 1 ? "--effective" : NULL,
                            NULL};
    const char *explain[] = {"explain",
                             "fuzz.cfg",
                             "--layers",
                             "fuzz.layers",
                             s & 1 ? "--json" : NULL,
                             NULL};
    const char *check[] = {"check",     "fuzz.cfg",
                           "--layers",  "fuzz.layers",
                           "--dialect", dialect,
                           "--compat",  "amct",
                           "--diag",    s & 1 ? "sarif" : "text",
                           NULL};
    const char *image[] = {"image",       "fuzz.cfg", "--layers",
                           "fuzz.layers", "--record", "fuzz.txt",
                           "-o",          "fuzz.img", NULL};

    fuzz_take("fuzz.cfg", &data, &size, ok_config);
    fuzz_take("fuzz.layers", &data, &size, ok_layers);
    fuzz_take("fuzz.txt", &data, &size, ok_record);
    fuzz_quantc(compile);
    fuzz_quantc(s & 2 ? config : explain);
    fuzz_quantc(s & 4 ? check : image);
    fuzz_end();
    return 0;
}
