/* config.json and layers.json, in each reading, verdict mode and form of
 * messages; which of them, the size decides. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"json-calib", "json-retrain",
                                        "json-syntax"};
    static const char *const diags[] = {"text", "json", "sarif"};
    const char *check[] = {"check",
                           "--kind",
                           kinds[size % 3],
                           "--diag",
                           diags[size / 3 % 3],
                           "--max-errors",
                           "0",
                           "fuzz.json",
                           size & 1 ? "--compat" : NULL,
                           size & 1 ? "amct" : NULL,
                           NULL};
    const char *dump[] = {"dump",          "--json",    "--kind",
                          kinds[size % 2], "fuzz.json", NULL};
    const char *compile[] = {"compile",       "fuzz.json", "--kind",
                             kinds[size % 2], "-o",        "out",
                             "--plan",        "plan.json", NULL};
    const char *layers[] = {"compile", "ok.cfg", "--layers", "fuzz.json",
                            "-o",      "out",    NULL};

    fuzz_file("fuzz.json", data, size);
    fuzz_text_file("ok.cfg", ok_config);
    fuzz_quantc(check);
    fuzz_quantc(dump);
    fuzz_quantc(size && data[0] == '[' ? layers : compile);
    fuzz_end();
    return 0;
}
