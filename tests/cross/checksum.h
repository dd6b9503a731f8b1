/* One number over all integer results of the runtime: equal on every target. */
#ifndef CROSS_CHECKSUM_H
#define CROSS_CHECKSUM_H

#include <stdint.h>

/* Runs every integer kernel on pseudo-random and edge data and folds all
 * outputs and statuses into one value. No libc, about 6 KiB of stack. */
uint32_t qrt_cross_checksum(void);

/* The number of parts, and the value of each part: tells which kernel differs
 * when the checksums do. */
enum { QRT_CROSS_PARTS = 10 };
uint32_t qrt_cross_part(uint32_t part);

#endif
