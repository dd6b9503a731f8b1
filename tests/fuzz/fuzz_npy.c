/* Arrays of samples: header, shape, elements of both widths. */
#include "fuzz.h"

#include "npy.h"

#include <stdlib.h>

static void read_array(void)
{
    struct qc qc = {0};
    struct qc_npy npy;
    float buffer[64];
    uint64_t at;

    qc_diag_init(&qc);
    if (qc_npy_open(&qc, "fuzz.npy", &npy)) {
        for (at = 0; at < npy.count; at += 64) {
            size_t n = npy.count - at < 64 ? (size_t)(npy.count - at) : 64;

            if (!qc_npy_read(&qc, &npy, at, buffer, n))
                abort(); /* the header was accepted */
        }
        qc_npy_close(&npy);
    }
    qc_flush(&qc);
    qc_free_all(&qc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file("fuzz.npy", data, size);
    fuzz_call(read_array);
    fuzz_end();
    return 0;
}
