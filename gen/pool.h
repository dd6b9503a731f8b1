/* Work items shared out to threads. */
#ifndef QC_POOL_H
#define QC_POOL_H

#include <stddef.h>

/* Runs work(context, worker, item) once for each item in [0, count), items in
 * ascending order of start, at most `threads` at a time; worker is in
 * [0, threads) and never runs two items at once. Where threads cannot be
 * started it makes do with fewer.
 *
 * tick  null, or called by this thread about five times a second with the
 *       number of items done, and once at the end */
void qc_pool(unsigned threads, size_t count,
             void (*work)(void *context, unsigned worker, size_t item),
             void (*tick)(void *context, size_t done), void *context);

#endif
