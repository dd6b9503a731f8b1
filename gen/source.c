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
    qc->out_of_memory = qc->out_of_memory || err == ENOMEM;
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

/* Characters are counted from marks that stand this many bytes apart. */
#define MARK_STEP 4096u

/* What a place needs: where lines begin, and how many characters stand before
 * every mark. One pass, made when the first message asks for it. */
static void index_file(struct qc *qc, struct qc_file *f)
{
    const char *p = f->text, *end = p + f->size;
    uint32_t chars = 0;
    size_t n = 1, marks = 0, i;

    for (i = 0; i < f->size; i++)
        n += f->text[i] == '\n';
    f->lines = qc_alloc(qc, n * sizeof(*f->lines));
    f->marks = qc_alloc(qc, (f->size / MARK_STEP + 1) * sizeof(*f->marks));
    f->line_count = 1;
    while (p < end) {
        uint32_t code;
        unsigned len = qc_utf8(p, end, &code);

        if ((size_t)(p - f->text) >= marks * MARK_STEP) {
            f->marks[marks].at = (uint32_t)(p - f->text);
            f->marks[marks++].chars = chars;
        }
        if (*p == '\n')
            f->lines[f->line_count++] = (uint32_t)(p - f->text + 1);
        p += len ? len : 1;
        chars++;
    }
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

/* Characters before `at`; a malformed byte is one. */
static uint32_t chars_before(const struct qc_file *f, uint32_t at)
{
    size_t mark = at / MARK_STEP;
    const char *p, *end = f->text + at;
    uint32_t n;

    if (at == 0)
        return 0;
    /* The last mark of a file that ends on a multiple may not exist, and a
     * mark is moved to the character behind a split one. */
    while (mark && (f->marks[mark].at == 0 || f->marks[mark].at > at))
        mark--;
    p = f->text + f->marks[mark].at;
    n = f->marks[mark].chars;
    while (p < end) {
        uint32_t code;
        unsigned len = qc_utf8(p, end, &code);

        p += len ? len : 1;
        n++;
    }
    return n;
}

/* The index is a cache: making it does not change the file. */
static const struct qc_file *indexed(struct qc *qc, const struct qc_file *file)
{
    struct qc_file *f = (struct qc_file *)(uintptr_t)file;

    if (!f->lines)
        index_file(qc, f);
    return f;
}

struct qc_position qc_position(struct qc *qc, const struct qc_file *file,
                               uint32_t at)
{
    struct qc_position p;
    size_t line;

    if (file->binary)
        return (struct qc_position){1, at + 1, at + 1};
    file = indexed(qc, file);
    line = line_of(file, at);
    p.line = (uint32_t)(line + 1);
    p.byte_col = at - file->lines[line] + 1;
    p.col = chars_before(file, at) - chars_before(file, file->lines[line]) + 1;
    return p;
}

struct qc_loc qc_line_span(struct qc *qc, const struct qc_file *file,
                           uint32_t at)
{
    size_t line;
    uint32_t end;

    file = indexed(qc, file);
    line = line_of(file, at);
    end = line + 1 < file->line_count ? file->lines[line + 1] - 1
                                      : (uint32_t)file->size;
    return (struct qc_loc){file, file->lines[line], end - file->lines[line]};
}

uint32_t qc_line(struct qc *qc, struct qc_loc loc)
{
    /* No column: counting characters would dominate the emitters. */
    if (loc.file->binary)
        return 1;
    return (uint32_t)line_of(indexed(qc, loc.file), loc.at) + 1;
}

struct qc_str qc_place(struct qc *qc, struct qc_loc loc)
{
    if (!loc.file)
        return QC_STR("default");
    return qc_format(qc, "%s:%u", loc.file->name, (unsigned)qc_line(qc, loc));
}
