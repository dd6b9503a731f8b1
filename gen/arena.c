/* Memory of one run: blocks that only grow and are freed together at exit.
 *
 * Nothing else in the compiler calls malloc or free. Running out of memory is
 * the one fault that cannot be collected and reported later, so it prints and
 * exits here. */
#include "qc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)256 << 10)
#define ALIGN      (sizeof(union any))

union any {
    long double f;
    uint64_t u;
    void *p;
};

struct qc_block {
    struct qc_block *next;
    size_t used, size;
    union any data[];
};

static void out_of_memory(void)
{
    fputs("quantc: out of memory\n", stderr);
    exit(QC_EXIT_FATAL);
}

static struct qc_block *new_block(struct qc *qc, size_t size)
{
    struct qc_block *b;

    if (size < BLOCK_SIZE)
        size = BLOCK_SIZE;
    if (size > SIZE_MAX - sizeof(*b))
        out_of_memory();
    b = calloc(1, sizeof(*b) + size);
    if (!b)
        out_of_memory();
    b->size = size;
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
        out_of_memory();
    need = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!b || b->size - b->used < need)
        b = new_block(qc, need);
    p = (char *)b->data + b->used;
    b->used += need;
    return p;
}

void *qc_grow(struct qc *qc, void *old, size_t count, size_t *room, size_t size)
{
    size_t want = *room ? *room * 2 : 8;
    void *p;

    if (count < *room)
        return old;
    if (want > SIZE_MAX / size)
        out_of_memory();
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
        out_of_memory();
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
        free(b);
    }
}
