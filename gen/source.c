/* Input files: mapped, never copied, with an index of lines for messages. */
#define _POSIX_C_SOURCE 200809L
#include "qc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void qc_io_error(struct qc *qc, const char *path, const char *verb, int err)
{
    fprintf(stderr, "quantc: %s: cannot %s: %s\n", path, verb, strerror(err));
    qc->io_failed = true;
}

static struct qc_file *add_file(struct qc *qc, const char *name,
                                const char *text, size_t size)
{
    struct qc_file *f = qc_alloc(qc, sizeof(*f));

    f->name = name;
    f->text = text;
    f->size = size;
    f->diags_end = &f->diags;
    *qc->files_end = f;
    qc->files_end = &f->next;
    return f;
}

struct qc_file *qc_load_text(struct qc *qc, const char *name, const char *text,
                             size_t size)
{
    return add_file(qc, name, text, size);
}

/* A pipe cannot be mapped: read it, up to the limit and one byte more. */
static struct qc_file *read_stream(struct qc *qc, const char *path, int fd,
                                   size_t limit)
{
    size_t room = 0, size = 0;
    char *text = NULL;

    for (;;) {
        ssize_t got;

        if (size == room) {
            char *more = qc_alloc(qc, room ? room * 2 : 65536);

            if (size)
                memcpy(more, text, size);
            text = more;
            room = room ? room * 2 : 65536;
        }
        got = read(fd, text + size, room - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            qc_io_error(qc, path, "read", errno);
            return NULL;
        }
        if (got == 0 || size > limit)
            return add_file(qc, path, text, size);
        size += (size_t)got;
    }
}

static struct qc_file *map_file(struct qc *qc, const char *path, int fd,
                                size_t size)
{
    void *p;

    if (size == 0)
        return add_file(qc, path, "", 0);
    p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        qc_io_error(qc, path, "read", errno);
        return NULL;
    }
    return add_file(qc, path, p, size);
}

struct qc_file *qc_load(struct qc *qc, const char *path, size_t limit)
{
    struct qc_file *f = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        qc_io_error(qc, path, "open", errno);
    else if (S_ISDIR(st.st_mode))
        qc_io_error(qc, path, "read", EISDIR);
    else if (!S_ISREG(st.st_mode))
        f = read_stream(qc, path, fd, limit);
    else if ((uint64_t)st.st_size > limit)
        f = add_file(qc, path, "", limit + 1); /* never read: too large */
    else
        f = map_file(qc, path, fd, (size_t)st.st_size);
    if (fd >= 0)
        close(fd);
    if (f && f->size > limit) {
        f->size = 0;
        f->text = "";
        f->fatal = true;
        qc_report(qc, QC_LIM_FILE, (struct qc_loc){f, 0, 0},
                  "the file is larger than %u MiB", (unsigned)(limit >> 20));
    }
    return f;
}

static void index_lines(struct qc *qc, struct qc_file *f)
{
    size_t n = 1, i;

    for (i = 0; i < f->size; i++)
        n += f->text[i] == '\n';
    f->lines = qc_alloc(qc, n * sizeof(*f->lines));
    f->line_count = 1;
    for (i = 0; i < f->size; i++)
        if (f->text[i] == '\n')
            f->lines[f->line_count++] = (uint32_t)(i + 1);
}

/* Index of the line that holds offset `at`. */
static size_t line_of(const struct qc_file *f, uint32_t at)
{
    size_t low = 0, high = f->line_count;

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (f->lines[mid] <= at)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint32_t count_chars(const char *p, const char *end)
{
    uint32_t n = 0;

    while (p < end) {
        uint32_t code;
        unsigned len = qc_utf8(p, end, &code);

        p += len ? len : 1;
        n++;
    }
    return n;
}

struct qc_position qc_position(struct qc *qc, const struct qc_file *file,
                               uint32_t at)
{
    /* The index is a cache: filling it does not change the file. */
    struct qc_file *f = (struct qc_file *)(uintptr_t)file;
    struct qc_position p;
    size_t line;

    if (f->binary)
        return (struct qc_position){1, at + 1, at + 1};
    if (!f->lines)
        index_lines(qc, f);
    line = line_of(f, at);
    p.line = (uint32_t)(line + 1);
    p.byte_col = at - f->lines[line] + 1;
    p.col = count_chars(f->text + f->lines[line], f->text + at) + 1;
    return p;
}

uint32_t qc_line(struct qc *qc, struct qc_loc loc)
{
    return qc_position(qc, loc.file, loc.at).line;
}

struct qc_str qc_place(struct qc *qc, struct qc_loc loc)
{
    if (!loc.file)
        return QC_STR("default");
    return qc_format(qc, "%s:%u", loc.file->name, (unsigned)qc_line(qc, loc));
}
