/* Harness of the timed comparisons, see bench.h. */
#define _DEFAULT_SOURCE
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ROUND_SECONDS 2e-4
#define ROW_SECONDS   0.3 /* 1 where there is a target */
#define ROUNDS_LEAST  9
#define LARGE_PAGE    ((size_t)1 << 21)

volatile uint32_t bench_sink;

/* Of this process: others may be busy. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double once(bench_fn *f, void *arg, unsigned repeat)
{
    double t = now();
    for (unsigned i = 0; i < repeat; i++)
        f(arg);
    return (now() - t) / repeat;
}

/* Calls per half round; the first call warms up. */
static unsigned repeats(bench_fn *f, void *arg)
{
    once(f, arg, 1);
    double t = once(f, arg, 1);
    return t >= ROUND_SECONDS ? 1 : (unsigned)(ROUND_SECONDS / (t + 1e-9)) + 1;
}

static const char *verdict(const struct bench_row *row, double ratio)
{
    if (!(row->must > 0))
        return "";
    if (row->at_most ? ratio > row->must : ratio < row->must)
        return "SHORT";
    if (!(row->goal > 0))
        return "ok";
    return (row->at_most ? ratio > row->goal : ratio < row->goal) ? "ok"
                                                                  : "ok, goal";
}

static void target(double t, const char *sign)
{
    if (t > 0)
        printf(" %s%5.4g", sign, t);
    else
        printf("       -");
}

static void print_targets(const struct bench_row *row, double ratio)
{
    printf(" %8.2f", ratio);
    target(row->must, row->at_most ? "<=" : ">=");
    target(row->goal, row->at_most ? "<=" : ">=");
    printf("  %s\n", verdict(row, ratio));
    fflush(stdout);
}

void bench_compare(const struct bench_row *row, bench_fn *ours, bench_fn *other,
                   void *arg, size_t n)
{
    unsigned a_times = repeats(ours, arg), b_times = repeats(other, arg);
    double a = 1e9, b = 1e9, end = now() + (row->must > 0 ? 1.0 : ROW_SECONDS);
    for (int i = 0; i < ROUNDS_LEAST || now() < end; i++) {
        double t = once(ours, arg, a_times);
        a = t < a ? t : a;
        t = once(other, arg, b_times);
        b = t < b ? t : b;
    }
    printf("%-52s %8.3f %8.3f", row->what, 1e9 * a / (double)n,
           1e9 * b / (double)n);
    print_targets(row, row->at_most ? a / b : b / a);
}

void bench_size(const struct bench_row *row, double have)
{
    printf("%-52s %8s %8s", row->what, "", "");
    print_targets(row, have);
}

void bench_head(const char *what)
{
    printf("%-52s %8s %8s %8s %7s %7s\n", what, "ours", "other", "ratio",
           "must", "goal");
}

void *bench_alloc(size_t bytes)
{
    size_t size = (bytes + LARGE_PAGE) / LARGE_PAGE * LARGE_PAGE;
    void *p = NULL;
    if (posix_memalign(&p, LARGE_PAGE, size) != 0) {
        fprintf(stderr, "no %zu bytes of memory\n", size);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(p, size, MADV_HUGEPAGE);
#endif
    memset(p, 0, size);
    return p;
}

void bench_free(void *p)
{
    free(p);
}

/* The sum of twelve uniform draws. */
static float draw(uint64_t *seed)
{
    float sum = -6.0f;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (float)(*seed >> 40) / 16777216.0f;
    }
    return sum;
}

void bench_fill(float *x, size_t n)
{
    size_t first = n < 1000000 ? n : 1000000;
    uint64_t seed = 2;
    for (size_t i = 0; i < first; i++)
        x[i] = draw(&seed);
    for (size_t i = first; i < n; i += first)
        memcpy(x + i, x, 4 * (n - i < first ? n - i : first));
}
