/* Output files: written to a temporary name beside the target, flushed,
 * and renamed only when everything of a run has succeeded. A file whose
 * content stays the same is left alone, time stamp included.
 *
 * All memory is there before the first temporary is, so running out of it
 * leaves nothing behind; signals that would end the run wait until it has
 * either all of its outputs or none of them. */
#define _XOPEN_SOURCE 700
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

void qc_put_string(struct qc_out *o, struct qc_str s)
{
    size_t i;

    qc_puts(o, "\"");
    for (i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == '"' || c == '\\')
            qc_printf(o, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            qc_printf(o, "\\%03o", c);
        else
            qc_put(o, s.ptr + i, 1);
    }
    qc_puts(o, "\"");
}

/* ---- writing ---- */

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool same_content(const char *path, const struct qc_out *o)
{
    struct stat st;
    bool same = true;
    size_t at = 0;
    char buf[16384];
    int fd;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size != o->size)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (same && at < o->size) {
        ssize_t got = read(fd, buf, sizeof(buf));

        if (got < 0 && errno == EINTR)
            continue;
        same = got > 0 && (size_t)got <= o->size - at &&
               memcmp(buf, o->text + at, (size_t)got) == 0;
        at += same ? (size_t)got : 0;
    }
    close(fd);
    return same;
}

/* Standard output; a device or a pipe: they take the text as it is. */
static bool write_directly(struct qc_out *o)
{
    const char *path = o->path ? o->path : "standard output";
    int fd = o->path ? open(o->path, O_WRONLY | O_CLOEXEC) : STDOUT_FILENO;
    bool ok = fd >= 0 && write_all(fd, o->text, o->size);

    if (!ok)
        qc_io_error(o->qc, path, "write", errno);
    if (o->path && fd >= 0 && close(fd) != 0 && ok) {
        qc_io_error(o->qc, path, "write", errno);
        ok = false;
    }
    return ok;
}

/* The temporary stands in the target's folder, so that rename is atomic. Its
 * mode is what an ordinary new file would get. */
static bool write_temporary(struct qc_out *o)
{
    mode_t mask = umask(0);
    int fd, err = 0;

    umask(mask);
    fd = mkstemp(o->temporary);
    if (fd < 0) {
        qc_io_error(o->qc, o->path, "write", errno);
        return false;
    }
    o->written = true;
    if (!write_all(fd, o->text, o->size) || fchmod(fd, 0666 & ~mask) != 0 ||
        fsync(fd) != 0)
        err = errno;
    if (close(fd) != 0 && !err)
        err = errno;
    if (err)
        qc_io_error(o->qc, o->path, "write", err);
    return !err;
}

/* Looks at what stands in the target's place before anything is written, so
 * that the renames at the end do not fail. A link keeps pointing where it
 * points. */
static bool prepare(struct qc_out *o)
{
    char resolved[PATH_MAX];
    struct stat st;

    o->direct = !o->path;
    if (o->direct)
        return true;
    if (lstat(o->path, &st) == 0) {
        if (S_ISLNK(st.st_mode) && realpath(o->path, resolved) &&
            stat(resolved, &st) == 0)
            o->path = qc_copy(o->qc, resolved, strlen(resolved)).ptr;
        if (S_ISDIR(st.st_mode)) {
            qc_io_error(o->qc, o->path, "write", EISDIR);
            return false;
        }
        o->direct = !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode);
    }
    o->temporary =
        (char *)(uintptr_t)qc_format(o->qc, "%s.XXXXXX", o->path).ptr;
    o->backup = (char *)(uintptr_t)qc_format(o->qc, "%s.XXXXXX~", o->path).ptr;
    return true;
}

/* The old file keeps a second name until all new ones are in place. File
 * systems without links do without. */
static bool replace(struct qc_out *o)
{
    memcpy(o->backup, o->temporary, strlen(o->temporary));
    if (link(o->path, o->backup) == 0)
        o->has_backup = true;
    else
        o->is_new = errno == ENOENT;
    if (rename(o->temporary, o->path) != 0) {
        qc_io_error(o->qc, o->path, "write", errno);
        return false;
    }
    o->written = false;
    o->replaced = true;
    return true;
}

static void put_back(struct qc_out *o)
{
    if (o->has_backup && rename(o->backup, o->path) == 0)
        o->has_backup = false;
    else if (o->is_new)
        unlink(o->path);
}

/* What ends a run, unless whoever started it wants otherwise. */
static const int endings[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                              SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
#define ENDINGS (sizeof(endings) / sizeof(*endings))

/* Signals that would end the run have to wait. One that is ignored (nohup) or
 * was held up before would not: it does not count. */
static void hold_signals(sigset_t *waiting, sigset_t *before)
{
    struct sigaction now;
    size_t i;

    sigprocmask(SIG_BLOCK, NULL, before);
    sigemptyset(waiting);
    for (i = 0; i < ENDINGS; i++)
        if (sigismember(before, endings[i]) == 0 &&
            sigaction(endings[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(waiting, endings[i]);
    sigprocmask(SIG_BLOCK, waiting, NULL);
}

static bool is_interrupted(const sigset_t *waiting)
{
    sigset_t now;
    size_t i;

    sigpending(&now);
    for (i = 0; i < ENDINGS; i++)
        if (sigismember(waiting, endings[i]) == 1 &&
            sigismember(&now, endings[i]) == 1)
            return true;
    return false;
}

/* False also when a signal has come before the first new file was in place. */
static bool write_files(struct qc_out **outs, size_t count,
                        const sigset_t *waiting)
{
    bool ok = true;
    size_t i;

    for (i = 0; ok && i < count; i++)
        if (!outs[i]->direct &&
            (outs[i]->renew || !same_content(outs[i]->path, outs[i])))
            ok = write_temporary(outs[i]);
    ok = ok && !is_interrupted(waiting);
    for (i = 0; ok && i < count; i++)
        if (outs[i]->written)
            ok = replace(outs[i]);
    for (i = 0; i < count; i++) {
        if (!ok && outs[i]->replaced)
            put_back(outs[i]);
        if (outs[i]->written)
            unlink(outs[i]->temporary);
        if (outs[i]->has_backup)
            unlink(outs[i]->backup);
    }
    return ok;
}

bool qc_commit(struct qc_out **outs, size_t count)
{
    sigset_t waiting, before;
    bool ok = true;
    size_t i;

    signal(SIGXFSZ, SIG_IGN); /* too large a file: write says so */
    for (i = 0; ok && i < count; i++)
        ok = prepare(outs[i]);
    for (i = 0; ok && i < count; i++)
        if (outs[i]->direct)
            ok = write_directly(outs[i]);
    if (!ok)
        return false;
    hold_signals(&waiting, &before);
    ok = write_files(outs, count, &waiting);
    sigprocmask(SIG_SETMASK, &before, NULL);
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
