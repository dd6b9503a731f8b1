/* Runs the integer kernels on this machine and compares what they give with
 * the committed values, kernel by kernel; then reads generated tables and lets
 * their self-test run. Needs no libc: the same program runs on hosts, under
 * user emulation and on every Cortex-M. */
#include "checksum.h"

#include "io.h"
#include "qrt_selftest.h"
#include "quant_tables.h"

uint32_t qrt_cross_checksum_ifmr(void);
uint32_t qrt_cross_checksum_join(void);

static uint32_t passed, failed;

static void compare(const char *name, uint32_t got, uint32_t expected)
{
    io_text(name);
    io_text(" ");
    io_hex(got);
    if (got == expected) {
        passed++;
        io_text("\n");
        return;
    }
    failed++;
    io_text(" FAILED, expected ");
    io_hex(expected);
    io_text("\n");
}

static void kernels(void)
{
    static const struct {
        const char *name;
        uint32_t expected;
    } parts[] = {
#define PART(name, expected) {name, expected},
#define WHOLE(expected)
#define OBSERVER(expected)
#define JOIN(expected)
#define LAYER(name, expected)
#include "expected.def"
#undef PART
#undef WHOLE
    };
    uint32_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        compare(parts[i].name, qrt_cross_part(i), parts[i].expected);
#define PART(name, expected)
#define WHOLE(expected) compare("all", qrt_cross_checksum(), expected);
#undef OBSERVER
#undef JOIN
#define JOIN(expected) compare("joins", qrt_cross_checksum_join(), expected);
#define OBSERVER(expected)                                                     \
    compare("observer and record", qrt_cross_checksum_ifmr(), expected);
#include "expected.def"
#undef PART
#undef WHOLE
#undef OBSERVER
#undef JOIN
#undef LAYER
}

/* A layer of the tables, looked up by the name it has in the model. */
static void layer(const char *name, uint32_t expected)
{
    uint32_t index = 0;
    uint32_t digest = 0;

    if (qrt_find_layer(&quant_tables, name, &index) == QRT_OK)
        digest = qrt_selftest_digest(&quant_tables.layers[index]);
    compare(name, digest, expected);
}

static void tables(void)
{
    struct qrt_selftest_fault fault;

    compare("tables",
            (uint32_t)qrt_tables_check(&quant_tables, QUANT_TABLES_HASH),
            QRT_OK);
#define PART(name, expected)
#define WHOLE(expected)
#define OBSERVER(expected)
#define JOIN(expected)
#define LAYER(name, expected) layer(name, expected);
#include "expected.def"
    compare("self-test",
            (uint32_t)qrt_selftest(&quant_tables, &quant_selftest, &fault),
            QRT_OK);
}

int main(void)
{
    kernels();
    tables();
    io_int((int32_t)passed);
    io_text(" passed, ");
    io_int((int32_t)failed);
    io_text(" failed\n");
    return failed != 0;
}
