/* Lets calls into the system fail: preloaded, LD_PRELOAD.
 *
 *   SHIM_CALL  which call: alloc, or one of write, close, rename, fsync, mkdir,
 *              open, fchmod, link, unlink, read, mmap, any; output: one
 *              that changes a file or folder
 *   SHIM_AT    which one of them, from 1; 0: none, they are counted
 *   SHIM_DO    fail (default): the call fails with SHIM_ERRNO (default 28);
 *              every: it and all later ones fail; short: write writes half;
 *              signal: number SHIM_SIGNAL (default SIGTERM) before the call
 *   SHIM_COUNT a file that gets the number of calls at the end
 *
 * alloc: malloc, calloc, realloc and anonymous mmap. Each allocation is tried
 * in one run: the process is copied, the copy's allocation fails, and the
 * original waits for the copy's end, looks that nothing was changed in the
 * folder SHIM_DIR, and goes on. The copy has to end with status 4, or to do
 * without and end as the original does. Findings go to SHIM_COUNT: a line
 * "N allocations, M failed well", and a line for each one that did not.
 *
 * Once main has returned nothing is counted: what then calls into the system
 * is the C library, or gcov. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static long calls, fail_at, failed_well;
static const char *which = "", *action = "fail";
static int error_number = ENOSPC, signal_number = SIGTERM;
static int report = -1;
static pid_t self;
static bool ready, busy, over;
static int statuses[256];

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    char text[200];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (report >= 0 && n > 0)
        syscall(SYS_write, report, text, (size_t)n);
}

static const char *setting(const char *name, const char *otherwise)
{
    const char *v = getenv(name);

    return v ? v : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
    const char *count = getenv("SHIM_COUNT");

    which = setting("SHIM_CALL", "");
    action = setting("SHIM_DO", "fail");
    fail_at = strtol(setting("SHIM_AT", "0"), NULL, 10);
    error_number = (int)strtol(setting("SHIM_ERRNO", "28"), NULL, 10);
    signal_number = (int)strtol(setting("SHIM_SIGNAL", "15"), NULL, 10);
    if (count)
        report = (int)syscall(SYS_openat, AT_FDCWD, count,
                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    self = getpid();
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    int i;

    if (!ready || getpid() != self)
        return;
    if (strcmp(which, "alloc") != 0) {
        say("%ld\n", calls);
        return;
    }
    say("%ld allocations, %ld failed well\n", calls, failed_well);
    for (i = 0; i < 256; i++)
        if (statuses[i] && i != 4)
            say("status %d: %d\n", i, statuses[i]);
}

static int (*program)(int, char **, char **);

static int until_it_returns(int argc, char **argv, char **envp)
{
    int status = program(argc, argv, envp);

    over = getpid() == self;
    return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*at_exit)(void), void *stack);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*at_exit)(void), void *stack)
{
    __typeof__(&__libc_start_main) next =
        (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");

    program = main;
    return next(until_it_returns, argc, argv, init, fini, at_exit, stack);
}

/* ---- calls that fail ---- */

static bool is_meant(const char *name)
{
    if (strcmp(which, "output") == 0)
        return strcmp(name, "read") != 0 && strcmp(name, "open") != 0 &&
               strcmp(name, "mmap") != 0 && strcmp(name, "close") != 0;
    return strcmp(which, name) == 0 || strcmp(which, "any") == 0;
}

/* True when this call is to fail; may not return. */
static bool fails(const char *name)
{
    long n;

    if (!ready || over || !is_meant(name))
        return false;
    n = ++calls;
    if (n == fail_at && strcmp(action, "signal") == 0)
        raise(signal_number);
    else if (n == fail_at ||
             (fail_at && n > fail_at && strcmp(action, "every") == 0)) {
        errno = error_number;
        return strcmp(action, "short") != 0;
    }
    return false;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t n)
{
    if (fails("write"))
        return -1;
    if (calls == fail_at && strcmp(action, "short") == 0 && n > 1)
        n /= 2;
    return syscall(SYS_write, fd, p, n);
}

ssize_t read(int fd, void *p, size_t n)
{
    return fails("read") ? -1 : syscall(SYS_read, fd, p, n);
}

int close(int fd)
{
    bool fail = fails("close");
    int err = errno, status = (int)syscall(SYS_close, fd);

    errno = fail ? err : errno;
    return fail ? -1 : status;
}

int rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : NEXT(rename)(from, to);
}

int fsync(int fd)
{
    return fails("fsync") ? -1 : NEXT(fsync)(fd);
}

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir") ? -1 : NEXT(mkdir)(path, mode);
}

int fchmod(int fd, mode_t mode)
{
    return fails("fchmod") ? -1 : NEXT(fchmod)(fd, mode);
}

int link(const char *from, const char *to)
{
    return fails("link") ? -1 : NEXT(link)(from, to);
}

int unlink(const char *path)
{
    return fails("unlink") ? -1 : NEXT(unlink)(path);
}

int mkstemp(char *path)
{
    bool output = strcmp(which, "output") == 0;

    return fails(output ? "mkstemp" : "open") ? -1 : NEXT(mkstemp)(path);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    int mode;

    va_start(ap, flags);
    mode = flags & O_CREAT ? va_arg(ap, int) : 0;
    va_end(ap);
    return fails("open")
               ? -1
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---- allocations ---- */

/* A number that changes when anything in the folder does. */
static uint64_t look(const char *folder)
{
    uint64_t sum = 1;
    struct dirent *e;
    DIR *d;

    busy = true;
    d = folder ? opendir(folder) : NULL;
    while (d && (e = readdir(d)) != NULL) {
        const char *p = e->d_name;
        uint64_t h = 1;
        struct stat st;

        if (strcmp(p, "..") == 0 || fstatat(dirfd(d), p, &st, 0) != 0)
            continue;
        while (*p)
            h = h * 31 + (unsigned char)*p++;
        sum += h * (uint64_t)(st.st_size + 1) *
               (uint64_t)(st.st_mtim.tv_nsec + st.st_mtim.tv_sec + 1);
    }
    if (d)
        closedir(d);
    busy = false;
    return sum;
}

/* In the copy true: the allocation fails. */
static bool try_failing(void)
{
    const char *folder;
    uint64_t before;
    int status = 0;
    pid_t child;

    if (!ready || busy || over || strcmp(which, "alloc") != 0 ||
        getpid() != self)
        return false;
    calls++;
    if (fail_at && calls % fail_at != 0)
        return false;
    folder = getenv("SHIM_DIR");
    before = look(folder);
    child = fork();
    if (child == 0) {
        int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0);

        dup2(null, 1);
        dup2(null, 2);
        errno = ENOMEM;
        return true;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status))
        say("allocation %ld: signal %d\n", calls, WTERMSIG(status));
    else if (WEXITSTATUS(status) == 4 && look(folder) != before)
        say("allocation %ld: something was written\n", calls);
    else
        failed_well++;
    if (WIFEXITED(status))
        statuses[WEXITSTATUS(status)]++;
    return false;
}

void *malloc(size_t size)
{
    return try_failing() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return try_failing() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return try_failing() ? NULL : __libc_realloc(p, size);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    if (fd < 0 ? try_failing() : fails("mmap")) {
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, off);
}
