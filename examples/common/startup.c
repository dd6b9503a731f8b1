/* Start of a Cortex-M image: vector table, memory, then main.
 *
 * For ARMv7-M with code at the reset address; mps2.ld names the symbols. The
 * image has no libc, so the four memory functions that gcc may call even in
 * freestanding code stand here too. */
#include "semihosting.h"

#include <stddef.h>
#include <stdint.h>

#define CPACR        (*(volatile uint32_t *)0xE000ED88u) /* coprocessor access */
#define FAULT_STATUS 99 /* what a faulting program exits with */

extern uint32_t stack_top[], data_start[], data_end[], bss_start[], bss_end[];
extern const uint32_t data_load[];

int main(void);
void reset_handler(void);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void reset_handler(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

#ifdef __ARM_FP
    CPACR |= 0xFu << 20; /* or the first FPU instruction faults */
    __asm__ volatile("dsb\n isb");
#endif
    for (to = data_start; to < data_end; to++)
        *to = *from++;
    for (to = bss_start; to < bss_end; to++)
        *to = 0;
    semihosting_exit((uint32_t)main());
}

static void fault_handler(void)
{
    semihosting_write("fault\n");
    semihosting_exit(FAULT_STATUS);
}

typedef void handler(void);

/* Word 0 is the initial stack pointer, the rest are handlers. */
struct vectors {
    uint32_t *stack;
    handler *handlers[15];
};

/* clang-format off */
__attribute__((section(".vectors"), used))
static const struct vectors table = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler}
};
/* clang-format on */

/* Keeps the compiler from turning a loop below into a call of itself. */
#define STAYS_A_LOOP __asm__ volatile("" ::: "memory")

void *memcpy(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;

    while (size-- != 0) {
        *t++ = *f++;
        STAYS_A_LOOP;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;

    if (t <= f)
        return memcpy(to, from, size);
    while (size-- != 0) {
        t[size] = f[size];
        STAYS_A_LOOP;
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    char *t = to;

    while (size-- != 0) {
        *t++ = (char)byte;
        STAYS_A_LOOP;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;

    for (; size != 0; size--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
