/* Output and exit through the debugger of a Cortex-M. */
#include "io.h"
#include "semihosting.h"

enum {
    SYS_WRITE0 = 0x04,
    SYS_EXIT_EXTENDED = 0x20,
    STOPPED_APPLICATION_EXIT = 0x20026
};

static void request(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void semihosting_write(const char *text)
{
    request(SYS_WRITE0, text);
}

void semihosting_exit(uint32_t status)
{
    uint32_t block[2];

    block[0] = STOPPED_APPLICATION_EXIT;
    block[1] = status;
    for (;;)
        request(SYS_EXIT_EXTENDED, block);
}

void io_text(const char *text)
{
    semihosting_write(text);
}
