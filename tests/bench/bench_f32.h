/* What bench_f32.c and bench_search.c share. */
#ifndef BENCH_F32_H
#define BENCH_F32_H

#include "bench.h"
#include "qrt_f32.h"

/* A target for x86-64-v3, and the one for any other. */
#ifdef BENCH_V3
#define V3(v3, other) (v3)
#else
#define V3(v3, other) (other)
#endif

/* ARQ, ULQ, IFMR, HFMG. */
void bench_searches(void);

#endif
