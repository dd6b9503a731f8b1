/* Memory of one run: blocks that only grow and are freed together at exit.
 *
 * Nothing else in the compiler calls malloc or free. Running out of memory is
 * the one fault that cannot be collected and reported later, so it prints and
 * exits here.
 *
 * With QC_ARENA_EXACT every allocation is a block of its own: a sanitizer then
 * sees a step beyond it, and a test can make each one fail. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "qc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A small run is content with its first block; what comes then asks the system
 * for huge pages. For a file of 4 MB that takes away 9,000 page faults and a
 * quarter of the time. */
#define FIRST_BLOCK ((size_t)256 << 10)
#define HUGE_PAGE   ((size_t)2 << 20)
#define LARGE_BLOCK (2 * HUGE_PAGE)
#define ALIGN       (sizeof(union any))

union any {
    long double f;
    uint64_t u;
    void *p;
};

struct qc_block {
    struct qc_block *next;
    void *map; /* what was mapped for it; null: it came from calloc */
    size_t mapped;
    size_t used, size;
    union any data[];
};

void qc_out_of_memory(void)
{
    fputs("quantc: out of memory\n", stderr);
    exit(QC_EXIT_FATAL);
}

void *qc_need(size_t size)
{
    void *p = malloc(size);

    if (!p)
        qc_out_of_memory();
    return p;
}

#ifdef QC_ARENA_EXACT

void *qc_alloc(struct qc *qc, size_t size)
{
    struct qc_block *b = NULL;

    if (size <= SIZE_MAX / 2)
        b = calloc(1, sizeof(*b) + size);
    if (!b)
        qc_out_of_memory();
    b->next = qc->blocks;
    qc->blocks = b;
    return b->data;
}

#else

/* Fresh pages, which are zero, aligned so that huge ones fit. */
static struct qc_block *map_block(size_t total)
{
    size_t mapped = total + HUGE_PAGE;
    char *map = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct qc_block *b;

    if (map == MAP_FAILED)
        return NULL;
    b = (void *)(map + (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE);
#ifdef MADV_HUGEPAGE
    madvise(b, total, MADV_HUGEPAGE);
#endif
    b->map = map;
    b->mapped = mapped;
    return b;
}

static struct qc_block *new_block(struct qc *qc, size_t size)
{
    size_t total = size + sizeof(struct qc_block);
    struct qc_block *b;

    if (size > SIZE_MAX / 2)
        qc_out_of_memory();
    if (!qc->blocks && total <= FIRST_BLOCK) {
        total = FIRST_BLOCK;
        b = calloc(1, total);
    } else {
        if (total < LARGE_BLOCK)
            total = LARGE_BLOCK;
        total = (total + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        b = map_block(total);
    }
    if (!b)
        qc_out_of_memory();
    b->size = total - sizeof(*b);
    b->next = qc->blocks;
    qc->blocks = b;
    return b;
}

void *qc_alloc(struct qc *qc, size_t size)
{
    struct qc_block *b = qc->blocks;
    size_t need;
    char *p;

    if (size > SIZE_MAX - ALIGN)
        qc_out_of_memory();
    need = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!b || b->size - b->used < need)
        b = new_block(qc, need);
    p = (char *)b->data + b->used;
    b->used += need;
    return p;
}

#endif

void *qc_grow(struct qc *qc, void *old, size_t count, size_t *room, size_t size)
{
    size_t want = *room ? *room * 2 : 8;
    void *p;

    if (count < *room)
        return old;
    if (want > SIZE_MAX / size)
        qc_out_of_memory();
    p = qc_alloc(qc, want * size);
    if (count)
        memcpy(p, old, count * size);
    *room = want;
    return p;
}

struct qc_str qc_copy(struct qc *qc, const char *ptr, size_t len)
{
    char *p = qc_alloc(qc, len + 1);

    if (len)
        memcpy(p, ptr, len);
    return (struct qc_str){p, len};
}

const char *qc_cstr(struct qc *qc, struct qc_str s)
{
    return qc_copy(qc, s.ptr, s.len).ptr;
}

struct qc_str qc_vformat(struct qc *qc, const char *fmt, va_list ap)
{
    va_list again;
    int len;
    char *p;

    va_copy(again, ap);
    len = vsnprintf(NULL, 0, fmt, ap);
    if (len < 0)
        qc_out_of_memory();
    p = qc_alloc(qc, (size_t)len + 1);
    vsnprintf(p, (size_t)len + 1, fmt, again);
    va_end(again);
    return (struct qc_str){p, (size_t)len};
}

struct qc_str qc_format(struct qc *qc, const char *fmt, ...)
{
    struct qc_str s;
    va_list ap;

    va_start(ap, fmt);
    s = qc_vformat(qc, fmt, ap);
    va_end(ap);
    return s;
}

void qc_free_all(struct qc *qc)
{
    while (qc->blocks) {
        struct qc_block *b = qc->blocks;

        qc->blocks = b->next;
        if (b->map)
            munmap(b->map, b->mapped);
        else
            free(b);
    }
}
