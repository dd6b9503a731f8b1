/* Harness of the timed comparisons: two functions in one process, alternating
 * in short rounds, the best of each. Prints; never fails: times on a shared
 * machine prove nothing by themselves.
 *
 * Short rounds because somebody else's work between two of them then spoils
 * one round and not the measurement. Memory is aligned, on large pages where
 * the system has them, and written before anything is timed. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void bench_fn(void *);

/* What performance is compared with, and by how much. */
struct bench_row {
    const char *what; /* ours, against what                               */
    double must;      /* least ratio of times other / ours; 0: no target  */
    double goal;      /* 0: none                                          */
    bool at_most;     /* the targets are the largest of ours / other      */
};

/* Times `ours` and `other` on `arg`, n elements per call, and prints the row.
 * Each half round lasts 0.2 ms or one call; rounds for 1 s where there is a
 * target and 0.3 s elsewhere, 9 at least. */
void bench_compare(const struct bench_row *row, bench_fn *ours, bench_fn *other,
                   void *arg, size_t n);

/* A number that is not a time: `at_most` in the row is taken as true. */
void bench_size(const struct bench_row *row, double have);

/* Heading of a table. */
void bench_head(const char *what);

/* Zeroed memory as described above; ends the program when there is none. */
void *bench_alloc(size_t bytes);
void bench_free(void *p);

/* n samples, nearly normal, deviation 1; the same every time. From a million
 * on they repeat: drawing more would take longer than the measurement. */
void bench_fill(float *x, size_t n);

/* Cells that keep a compiler from dropping a loop. */
extern volatile uint32_t bench_sink;

#endif
