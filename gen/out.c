/* Output files: written to a temporary name beside the target, flushed,
 * and renamed only when everything of a run has succeeded. A file whose
 * content stays the same is left alone, time stamp included. */
#define _XOPEN_SOURCE 700
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct qc_out *qc_out_new(struct qc *qc, const char *path)
{
    struct qc_out *o = qc_alloc(qc, sizeof(*o));

    o->qc = qc;
    o->path = path;
    return o;
}

void qc_put(struct qc_out *o, const char *ptr, size_t len)
{
    if (o->size + len > o->room) {
        size_t room = (o->size + len) * 2 + 4096;
        char *text = qc_alloc(o->qc, room);

        if (o->size)
            memcpy(text, o->text, o->size);
        o->text = text;
        o->room = room;
    }
    if (len)
        memcpy(o->text + o->size, ptr, len);
    o->size += len;
}

void qc_puts(struct qc_out *o, const char *z)
{
    qc_put(o, z, strlen(z));
}

void qc_printf(struct qc_out *o, const char *fmt, ...)
{
    char small[512];
    va_list ap, again;
    int len;

    va_start(ap, fmt);
    va_copy(again, ap);
    len = vsnprintf(small, sizeof(small), fmt, ap);
    if (len >= 0 && (size_t)len < sizeof(small)) {
        qc_put(o, small, (size_t)len);
    } else {
        struct qc_str s = qc_vformat(o->qc, fmt, again);

        qc_put(o, s.ptr, s.len);
    }
    va_end(again);
    va_end(ap);
}

void qc_pad(struct qc_out *o, size_t from, size_t width)
{
    while (o->size < from + width)
        qc_put(o, " ", 1);
}

/* ---- writing ---- */

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool same_content(const char *path, const struct qc_out *o)
{
    struct stat st;
    FILE *f;
    bool same = true;
    size_t at = 0;
    char buf[16384];

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size != o->size)
        return false;
    f = fopen(path, "rb");
    if (!f)
        return false;
    while (same && at < o->size) {
        size_t got = fread(buf, 1, sizeof(buf), f);

        same = got > 0 && got <= o->size - at &&
               memcmp(buf, o->text + at, got) == 0;
        at += got;
    }
    fclose(f);
    return same;
}

/* The temporary stands in the target's folder, so that rename is atomic. Its
 * mode is what an ordinary new file would get. */
static bool write_temporary(struct qc_out *o)
{
    mode_t mask = umask(0);
    int fd;
    bool ok;

    umask(mask);
    o->temporary = qc_format(o->qc, "%s.XXXXXX", o->path).ptr;
    fd = mkstemp((char *)(uintptr_t)o->temporary);
    if (fd < 0) {
        qc_io_error(o->qc, o->path, "write", errno);
        o->temporary = NULL;
        return false;
    }
    ok = write_all(fd, o->text, o->size) && fchmod(fd, 0666 & ~mask) == 0 &&
         fsync(fd) == 0;
    if (close(fd) != 0)
        ok = false;
    if (!ok)
        qc_io_error(o->qc, o->path, "write", errno);
    return ok;
}

static void remove_temporaries(struct qc_out **outs, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (outs[i]->temporary)
            unlink(outs[i]->temporary);
}

static bool write_stdout(struct qc_out *o)
{
    if (fwrite(o->text, 1, o->size, stdout) == o->size && fflush(stdout) == 0)
        return true;
    qc_io_error(o->qc, "standard output", "write", errno);
    return false;
}

/* A device or a pipe takes the text as it is: there is nothing to replace. */
static bool write_directly(struct qc_out *o)
{
    int fd = open(o->path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, o->text, o->size);

    if (fd >= 0 && close(fd) != 0)
        ok = false;
    if (!ok)
        qc_io_error(o->qc, o->path, "write", errno);
    return ok;
}

/* Looks at what stands in the target's place before anything is written, so
 * that the renames at the end do not fail. A link keeps pointing where it
 * points. */
static bool prepare(struct qc_out *o)
{
    char resolved[PATH_MAX];
    struct stat st;

    if (!o->path || lstat(o->path, &st) != 0)
        return true;
    if (S_ISLNK(st.st_mode) && realpath(o->path, resolved) &&
        stat(resolved, &st) == 0)
        o->path = qc_copy(o->qc, resolved, strlen(resolved)).ptr;
    if (S_ISDIR(st.st_mode)) {
        qc_io_error(o->qc, o->path, "write", EISDIR);
        return false;
    }
    o->direct = !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode);
    return true;
}

bool qc_commit(struct qc_out **outs, size_t count)
{
    bool ok = true;
    size_t i;

    for (i = 0; ok && i < count; i++)
        ok = prepare(outs[i]);
    for (i = 0; ok && i < count; i++) {
        if (!outs[i]->path || outs[i]->direct)
            continue;
        if (outs[i]->renew || !same_content(outs[i]->path, outs[i]))
            ok = write_temporary(outs[i]);
    }
    for (i = 0; ok && i < count; i++) {
        if (!outs[i]->path)
            ok = write_stdout(outs[i]);
        else if (outs[i]->direct)
            ok = write_directly(outs[i]);
        else if (outs[i]->temporary) {
            ok = rename(outs[i]->temporary, outs[i]->path) == 0;
            if (ok)
                outs[i]->temporary = NULL;
            else
                qc_io_error(outs[i]->qc, outs[i]->path, "write", errno);
        }
    }
    remove_temporaries(outs, count);
    return ok;
}

bool qc_make_folder(struct qc *qc, const char *path)
{
    char *p = (char *)(uintptr_t)qc_cstr(qc, qc_str(path)), *s;

    for (s = p + 1; *s; s++) {
        if (*s != '/')
            continue;
        *s = '\0';
        if (mkdir(p, 0777) != 0 && errno != EEXIST)
            break;
        *s = '/';
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    qc_io_error(qc, path, "create", errno);
    return false;
}
