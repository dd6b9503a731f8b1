/* Runs the fuzz targets without a fuzzer: every file of a corpus, and mutations
 * that are the same in each run.
 *
 *   replay TARGET MUTATIONS FILE...     each file, then so many mutations
 *   replay TARGET FILE                  one file; for AFL++ too: FILE is @@
 *   replay pack FILE... >X.corpus       many small files as one,
 *   replay unpack X.corpus DIR          and back, for fuzzers
 *
 * A run of more than a second is a fault. On a fault the input is written to
 * ./crash.TARGET. */
#define _DEFAULT_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TARGETS(X)                                                             \
    X(text)                                                                    \
    X(json)                                                                    \
    X(proto)                                                                   \
    X(onnx)                                                                    \
    X(npy)                                                                     \
    X(record)                                                                  \
    X(image)                                                                   \
    X(state)                                                                   \
    X(compile)

#define DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
TARGETS(DECLARE)

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define ROW(name) {#name, fuzz_##name},
    TARGETS(ROW)};
#define TARGET_COUNT (sizeof(targets) / sizeof(*targets))

#define SIZE_MAX_SEED   (1u << 16)
#define SECONDS_PER_RUN 1.0

struct seed {
    uint8_t *data;
    size_t size;
};

static const char *target_name;
static const uint8_t *now; /* what is being run */
static size_t now_size;

/* ---- faults ---- */

static void save_input(void)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "crash.%s", target_name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, now, now_size) != (ssize_t)now_size)
        dprintf(1, "%s: cannot be written\n", path);
    else
        dprintf(1, "fault: the input is in %s (%zu bytes)\n", path, now_size);
    if (fd >= 0)
        close(fd);
}

static void on_signal(int number)
{
    save_input();
    signal(number, SIG_DFL);
    raise(number);
}

void __sanitizer_set_death_callback(void (*callback)(void))
    __attribute__((weak));

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static void run(size_t target, const uint8_t *data, size_t size)
{
    struct timespec from, to;
    double seconds;

    now = data;
    now_size = size;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    targets[target].run(data, size);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    seconds = (double)(to.tv_sec - from.tv_sec) +
              (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    if (seconds > SECONDS_PER_RUN) {
        dprintf(1, "a run took %.1f s\n", seconds);
        abort();
    }
}

/* ---- mutations ---- */

static uint64_t state = 88172645463325252u;

static size_t pick(size_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (size_t)(state >> 32) % below : 0;
}

/* What chance would take long to find. */
static const char *const pieces[] = {"{",
                                     "}",
                                     "<",
                                     ">",
                                     "[",
                                     "]",
                                     ":",
                                     ",",
                                     ";",
                                     "\"",
                                     "'",
                                     "#",
                                     "\n",
                                     "\r",
                                     "\t",
                                     "\\",
                                     "\\u0000",
                                     "\\377",
                                     "...",
                                     "//",
                                     "/*",
                                     "-",
                                     "null",
                                     "true",
                                     "1e400",
                                     "-1e-400",
                                     "0x1f",
                                     "18446744073709551616",
                                     "\xEF\xBC\x9A",
                                     "\xEF\xBB\xBF",
                                     "\xFF",
                                     "\xC2\xA0",
                                     "\x01",
                                     "\x7F",
                                     "\x80\x80\x80\x80\x10",
                                     "\xFF\xFF\xFF\xFF\x0F",
                                     "\xFF\xFF\xFF\xFF",
                                     "\xFF\xFF\xFF\x7F",
                                     "layer { ",
                                     "record { key: \"a\" value { ",
                                     "common_config { ",
                                     "layer_name: \"a\"",
                                     "scale_d: 1 ",
                                     "scale_w: [1, 2] ",
                                     "\"a\":",
                                     "{}",
                                     "====\n",
                                     "Conv",
                                     "Gemm",
                                     "Relu",
                                     "INT4",
                                     "message M { ",
                                     "optional ",
                                     "repeated ",
                                     "(qc.range) = ",
                                     "= 1;",
                                     "'<f2'",
                                     "(1, 2, 3)"};

static size_t put(uint8_t *data, size_t size, size_t at, size_t cut,
                  const void *with, size_t len)
{
    if (cut > size - at)
        cut = size - at;
    if (size - cut + len > SIZE_MAX_SEED)
        return size;
    memmove(data + at + len, data + at + cut, size - at - cut);
    memcpy(data + at, with, len);
    return size - cut + len;
}

static size_t mutate_once(uint8_t *data, size_t size, const struct seed *other)
{
    size_t at = pick(size + 1), from, len;
    uint8_t piece[64], byte;
    const char *p;

    switch (pick(8)) {
    case 0: /* a bit */
        if (at < size)
            data[at] ^= (uint8_t)(1u << pick(8));
        return size;
    case 1: /* a byte */
        byte = (uint8_t)pick(256);
        return put(data, size, at, 1, &byte, 1);
    case 2: /* something out */
        return put(data, size, at, 1 + pick(16), "", 0);
    case 3: /* the end off */
        return pick(4) ? size : at;
    case 4: /* something of another file in */
        from = pick(other->size + 1);
        len = pick(sizeof(piece));
        if (len > other->size - from)
            len = other->size - from;
        return put(data, size, at, pick(len + 1), other->data + from, len);
    case 5: /* something twice, or moved */
        len = pick(sizeof(piece));
        if (len > size - at)
            len = size - at;
        memcpy(piece, data + at, len);
        return put(data, size, pick(size + 1), pick(2) ? len : 0, piece, len);
    default:
        p = pieces[pick(sizeof(pieces) / sizeof(*pieces))];
        return put(data, size, at, pick(4), p, strlen(p));
    }
}

static void mutate_many(size_t target, const struct seed *seeds, size_t count,
                        size_t runs)
{
    uint8_t *data = malloc(SIZE_MAX_SEED), *exact;
    size_t i, n, size;

    for (i = 0; i < runs; i++) {
        const struct seed *s = &seeds[pick(count)];

        memcpy(data, s->data, s->size);
        size = s->size;
        for (n = 1 + pick(4); n > 0; n--)
            size = mutate_once(data, size, &seeds[pick(count)]);
        exact = malloc(size ? size : 1);
        memcpy(exact, data, size);
        run(target, exact, size);
        free(exact);
    }
    free(data);
}

/* ---- corpora ---- */

/* A file that ends in .corpus holds many: the length of each in decimal, a line
 * feed, its bytes, a line feed. */
struct seeds {
    struct seed *at;
    size_t count;
};

static void fail(const char *what)
{
    dprintf(1, "%s: cannot be used\n", what);
    exit(2);
}

static void add(struct seeds *s, const uint8_t *data, size_t size)
{
    struct seed *new;

    if (size > SIZE_MAX_SEED)
        size = SIZE_MAX_SEED;
    s->at = realloc(s->at, (s->count + 1) * sizeof(*s->at));
    new = &s->at[s->count++];
    new->data = malloc(size ? size : 1);
    new->size = size;
    memcpy(new->data, data, size);
}

static void load(struct seeds *s, const char *path)
{
    static uint8_t all[1u << 20];
    size_t n = strlen(path), at = 0, used;
    FILE *f = fopen(path, "rb");
    char *end;

    if (!f)
        fail(path);
    used = fread(all, 1, sizeof(all) - 1, f);
    all[used] = 0;
    fclose(f);
    if (n < 7 || strcmp(path + n - 7, ".corpus") != 0) {
        add(s, all, used);
        return;
    }
    while (at < used) {
        size_t size = strtoul((char *)all + at, &end, 10);

        at = (size_t)((uint8_t *)end - all) + 1;
        if (*end != '\n' || at > used || size > used - at)
            fail(path);
        add(s, all + at, size);
        at += size + 1;
    }
}

static void pack(const struct seeds *s)
{
    size_t i;

    for (i = 0; i < s->count; i++) {
        printf("%zu\n", s->at[i].size);
        fwrite(s->at[i].data, 1, s->at[i].size, stdout);
        putchar('\n');
    }
}

static void unpack(const struct seeds *s, const char *folder)
{
    char path[4096];
    size_t i;
    FILE *f;

    for (i = 0; i < s->count; i++) {
        snprintf(path, sizeof(path), "%s/%zu", folder, i);
        f = fopen(path, "wb");
        if (!f)
            fail(path);
        fwrite(s->at[i].data, 1, s->at[i].size, f);
        fclose(f);
    }
}

/* ---- main ---- */

static size_t target_of(const char *name)
{
    size_t t = 0;

    while (t < TARGET_COUNT && strcmp(targets[t].name, name) != 0)
        t++;
    if (t == TARGET_COUNT)
        fail(name);
    return t;
}

static void catch_faults(void)
{
    stderr = fopen("/dev/null", "w"); /* messages */
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(save_input);
    else
        signal(SIGSEGV, on_signal);
    signal(SIGABRT, on_signal);
}

static void replay(const char *name, const struct seeds *s, size_t mutations)
{
    size_t target = target_of(name), i;

    target_name = targets[target].name;
    catch_faults();
    for (i = 0; i < s->count; i++)
        run(target, s->at[i].data, s->at[i].size);
    mutate_many(target, s->at, s->count, mutations);
    dprintf(1, "%s: %zu files, %zu mutations\n", name, s->count, mutations);
}

int main(int argc, char **argv)
{
    struct seeds s = {0};
    bool packing = argc > 2 && strcmp(argv[1], "pack") == 0;
    bool unpacking = argc > 3 && strcmp(argv[1], "unpack") == 0;
    int i;

    if (argc < 3)
        return 2;
    for (i = packing || unpacking || argc == 3 ? 2 : 3; i < argc; i++)
        if (!unpacking || i == 2)
            load(&s, argv[i]);
    if (packing)
        pack(&s);
    else if (unpacking)
        unpack(&s, argv[3]);
    else
        replay(argv[1], &s, argc == 3 ? 0 : strtoul(argv[2], NULL, 10));
    while (s.count)
        free(s.at[--s.count].data);
    free(s.at);
    return 0;
}
