/* Models: wire format, graph, layers, weights, tables. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const layers[] = {"layers", "fuzz.onnx", NULL};
    static const char *const compile[] = {
        "compile", "ok.cfg",    "--model",  "fuzz.onnx", "-o",
        "out",     "--weights", "--layout", "cmsis",     NULL};
    static const char *const explain[] = {"explain",   "ok.cfg", "--model",
                                          "fuzz.onnx", "--json", NULL};
    static const char config[] =
        "common_config { arq_quantize { channel_wise: true } }";

    fuzz_file("fuzz.onnx", data, size);
    fuzz_file("ok.cfg", config, sizeof(config) - 1);
    fuzz_quantc(layers);
    fuzz_quantc(compile);
    if (size % 4 == 0)
        fuzz_quantc(explain);
    fuzz_end();
    return 0;
}
