/* Files in memory, and the end of a run without the end of the process. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include "out.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES_MAX 8
#define MAPS_MAX  64

static struct {
    const char *name;
    int fd;
} files[FILES_MAX];
static size_t file_count;
static void *maps[MAPS_MAX];
static size_t map_count;
static jmp_buf leave;
static bool running, committed;

int __real_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void __real_exit(int status) QC_NORETURN;
void __wrap_exit(int status) QC_NORETURN;
bool __wrap_qc_commit(struct qc_out **outs, size_t count);
bool __wrap_qc_make_folder(struct qc *qc, const char *path);
int quantc_main(int argc, char **argv);
int schemac_main(int argc, char **argv);

/* ---- what is wrapped ---- */

static int open_any(const char *path, int flags, int mode)
{
    char again[40];
    size_t i;

    for (i = 0; i < file_count; i++)
        if (strcmp(files[i].name, path) == 0) {
            snprintf(again, sizeof(again), "/proc/self/fd/%d", files[i].fd);
            return __real_open(again, flags);
        }
    return __real_open(path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list ap;
    int mode;

    va_start(ap, flags);
    mode = flags & O_CREAT ? va_arg(ap, int) : 0;
    va_end(ap);
    return open_any(path, flags, mode);
}

/* Files with 64-bit offsets; nothing is created there. */
int __wrap_open64(const char *path, int flags, ...)
{
    return open_any(path, flags, 0);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    char *copy;
    size_t done = 0;

    if (fd < 0 || !running || map_count == MAPS_MAX)
        return __real_mmap(at, n, prot, flags, fd, off);
    copy = malloc(n);
    while (copy && done < n) {
        ssize_t got = pread(fd, copy + done, n - done, (off_t)done);

        if (got <= 0)
            abort();
        done += (size_t)got;
    }
    maps[map_count++] = copy;
    return copy ? copy : MAP_FAILED;
}

void __wrap_exit(int status)
{
    if (running)
        longjmp(leave, status + 1);
    __real_exit(status);
}

bool __wrap_qc_commit(struct qc_out **outs, size_t count)
{
    volatile char sum = 0;
    size_t i, k;

    for (i = 0; i < count; i++)
        for (k = 0; k < outs[i]->size; k++)
            sum = (char)(sum ^ outs[i]->text[k]);
    committed = true;
    return true;
}

bool __wrap_qc_make_folder(struct qc *qc, const char *path)
{
    (void)qc;
    (void)path;
    return true;
}

/* ---- runs ---- */

void fuzz_file(const char *name, const void *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (file_count == FILES_MAX || fd < 0 ||
        write(fd, data, size) != (ssize_t)size)
        abort();
    files[file_count].name = name;
    files[file_count++].fd = fd;
}

void fuzz_text_file(const char *name, const char *text)
{
    fuzz_file(name, text, strlen(text));
}

void fuzz_take(const char *name, const uint8_t **at, size_t *size,
               const char *otherwise)
{
    static const char line[] = "\n====\n";
    const size_t n = sizeof(line) - 1;
    size_t i = 0;

    while (i < *size && (*size - i < n || memcmp(*at + i, line, n) != 0))
        i++;
    if (i || !otherwise)
        fuzz_file(name, *at, i);
    else
        fuzz_text_file(name, otherwise);
    i += *size - i < n ? 0 : n;
    *at += i;
    *size -= i;
}

void fuzz_end(void)
{
    while (file_count)
        close(files[--file_count].fd);
}

/* Messages are made, but nobody wants to read them. */
static void quiet(void)
{
    static bool done;

    if (!done)
        stderr = fopen("/dev/null", "w");
    done = true;
}

static int run(int (*body)(int, char **), int argc, char **argv)
{
    int jumped, status = 0;

    quiet();
    committed = false;
    running = true;
    jumped = setjmp(leave);
    if (!jumped)
        status = body(argc, argv);
    else
        status = jumped - 1;
    running = false;
    while (map_count)
        free(maps[--map_count]);
    return status;
}

int fuzz_quantc(const char *const *args)
{
    char *argv[32] = {(char *)(uintptr_t) "quantc"};
    int argc = 1, status;

    for (; args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    status = run(quantc_main, argc, argv);
    /* Status 2 would mean that the target's own command line is wrong. */
    if (status == QC_EXIT_USAGE || (committed && status == QC_EXIT_INPUT))
        abort();
    return status;
}

int fuzz_schemac(const char *file)
{
    char *argv[] = {(char *)(uintptr_t) "schemac", (char *)(uintptr_t) "--docs",
                    (char *)(uintptr_t) "/dev/null", (char *)(uintptr_t)file};

    return run(schemac_main, 4, argv);
}

static void (*called)(void);

static int call(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    called();
    return 0;
}

void fuzz_call(void (*body)(void))
{
    called = body;
    run(call, 0, NULL);
}

void fuzz_store(uint8_t *data, size_t at, uint64_t v, unsigned bytes)
{
    unsigned i;

    for (i = 0; i < bytes; i++)
        data[at + i] = (uint8_t)(v >> 8 * i);
}

void fuzz_crc(uint8_t *data, size_t at, size_t from, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    size_t i;
    int k;

    for (i = from; i < size; i++) {
        crc ^= data[i];
        for (k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    fuzz_store(data, at, ~crc & 0xFFFFFFFFu, 4);
}

/* ---- inputs that are in order ---- */

const char ok_config[] =
    "batch_num: 2\nactivation_offset: true\nskip_layers: \"d\"\n"
    "common_config {\n arq_quantize { channel_wise: true }\n"
    " ifmr_quantize { search_step: 0.05 }\n}\n"
    "override_layer_types {\n layer_type: \"Gemm\"\n calibration_config {\n"
    "  arq_quantize { channel_wise: false }\n"
    "  hfmg_quantize { num_of_bins: 64 }\n }\n}\n";

const char ok_layers[] =
    "layer { name: \"a\" type: \"Conv\" weight_shape: [4, 1, 3, 3]\n"
    " bias: true batch_norm: \"bn\" activation: \"Relu\"\n"
    " next { layer: \"b/1\" relu: true } }\n"
    "layer { name: \"b/1\" type: \"Conv\" weight_shape: [2, 4, 1, 1]\n"
    " producer: \"Relu\" }\n"
    "layer { name: \"c.0\" type: \"Gemm\" weight_shape: [3, 8] }\n"
    "layer { name: \"d\" type: \"AveragePool\" }\n";

const char ok_record[] =
    "record { key: \"a\" value { scale_d: 0.01 offset_d: -128\n"
    " scale_w: [0.1, 0.2, 0.3, 0.4] offset_w: [0, 0, 0, 0] } }\n"
    "record { key: \"b/1\" value { scale_d: 0.02 offset_d: -128\n"
    " scale_w: [0.1, 0.2] offset_w: [0, 0] } }\n"
    "record { key: \"c.0\" value { scale_d: 0.5 offset_d: 3\n"
    " scale_w: 0.01 offset_w: 0 } }\n";
