/* Classifies the test images in integers and prints what came out: the same
 * source runs on a host and on a Cortex-M, and must print the same. */
#include "io.h"
#include "net.h"
#include "test_set.h"

#include "quant_tables.h"

static void print_score(const char *what, int32_t correct)
{
    int32_t tenths = (correct * 1000 + TEST_SET_COUNT / 2) / TEST_SET_COUNT;

    io_text(what);
    io_int(correct);
    io_text(" of ");
    io_int(TEST_SET_COUNT);
    io_text(" correct, ");
    io_int(tenths / 10);
    io_text(".");
    io_int(tenths % 10);
    io_text(" %\n");
}

/* FNV-1a over the logits, low byte first. */
static uint32_t checksum(uint32_t hash, const int32_t logits[NET_CLASSES])
{
    int i, shift;

    for (i = 0; i < NET_CLASSES; i++)
        for (shift = 0; shift < 32; shift += 8)
            hash = (hash ^ ((uint32_t)logits[i] >> shift & 255)) * 16777619u;
    return hash;
}

static void print_logits(const int32_t logits[NET_CLASSES])
{
    int i;

    io_text("first image:");
    for (i = 0; i < NET_CLASSES; i++) {
        io_text(" ");
        io_int(logits[i]);
    }
    io_text("\n");
}

/* Wrong tables or a kernel that refuses them. */
static int fail(const char *where, enum qrt_status status)
{
    io_text(where);
    io_text(": ");
    io_text(qrt_status_name(status));
    io_text("\n");
    return 1;
}

int main(void)
{
    static struct net_memory memory;
    int32_t logits[NET_CLASSES];
    uint32_t hash = 2166136261u;
    int32_t correct = 0;
    enum qrt_status status = qrt_tables_check(&quant_tables, QUANT_TABLES_HASH);
    int i;

    if (status != QRT_OK)
        return fail("quant_tables", status);
    for (i = 0; i < TEST_SET_COUNT; i++) {
        status = net_run(&test_set[i], &memory, logits);
        if (status != QRT_OK)
            return fail("net_run", status);
        if (i == 0)
            print_logits(logits);
        correct += net_class(logits) == test_set[i].label;
        hash = checksum(hash, logits);
    }
    print_score("float: ", TEST_SET_FLOAT_CORRECT);
    print_score("int8:  ", correct);
    io_text("checksum of all logits: ");
    io_hex(hash);
    io_text("\n");
    return correct * 100 < (TEST_SET_FLOAT_CORRECT * 100 - TEST_SET_COUNT);
}
