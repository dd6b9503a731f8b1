/* Runs all inputs through a network and prints how many are classified right
 * and a checksum over all logits: of the first ten, and of all. */
#include "inputs.h"
#include "io.h"
#include "net.h"

#define MAX_INPUT   3072
#define MAX_CLASSES 16
#define FIRST       10

static uint32_t checksum(uint32_t hash, const int32_t *logits)
{
    uint32_t i, shift;

    for (i = 0; i < net_classes; i++)
        for (shift = 0; shift < 32; shift += 8)
            hash = (hash ^ ((uint32_t)logits[i] >> shift & 255)) * 16777619u;
    return hash;
}

static uint32_t best(const int32_t *logits)
{
    uint32_t b = 0, i;

    for (i = 1; i < net_classes; i++)
        if (logits[i] > logits[b])
            b = i;
    return b;
}

static void report(uint32_t count, uint32_t right, uint32_t hash)
{
    io_int((int32_t)count);
    io_text(" inputs: ");
    io_int((int32_t)right);
    io_text(" right, logits ");
    io_hex(hash);
    io_text("\n");
}

int run_all(void)
{
    static uint32_t input[MAX_INPUT];
    static int32_t logits[MAX_CLASSES];
    uint32_t hash = 2166136261u, right = 0, i, label;
    enum qrt_status status = net_open();

    for (i = 0; status == QRT_OK && inputs_next(input, MAX_INPUT, &label);) {
        status = net_run(input, logits);
        right += best(logits) == label;
        hash = checksum(hash, logits);
        if (++i == FIRST)
            report(i, right, hash);
    }
    if (status != QRT_OK) {
        io_text(qrt_status_name(status));
        io_text("\n");
        return 1;
    }
    if (i != FIRST)
        report(i, right, hash);
    return 0;
}
