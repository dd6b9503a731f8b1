/* A device of our own for tests of offloading: memory apart from the host's,
 * jobs that run when somebody waits for them, and every kind of failure. Its
 * arithmetic is written without the runtime. */
#ifndef OFFLOAD_DEVICE_H
#define OFFLOAD_DEVICE_H

#include "conformance.h"

enum dev_code {
    DEV_OK = 0,
    DEV_NO_ROOM = 11,
    DEV_LAUNCH = 12,
    DEV_EXEC = 13,
    DEV_TIMEOUT = 14,
    DEV_GONE = 15,
    DEV_NO_DEVICE = 16,
    DEV_NO_MEMORY = 17,
    DEV_BAD_ARGUMENT = 18
};

enum dev_op {
    DEV_QUANT,
    DEV_ANTIQUANT,
    DEV_GRAD_X,
    DEV_GRAD_MAX,
    DEV_GRAD_MIN
};

/* Buffers are numbers; 0 is none. */
struct dev_task {
    enum dev_op op;
    int in[3], out;
    uint32_t n, channels, inner;
    int32_t lo, hi;   /* DEV_QUANT                                    */
    bool half, twice; /* DEV_ANTIQUANT: binary16 result; scale twice  */
};

int dev_open(void);
int dev_close(void);
int dev_alloc(uint32_t bytes, int *buffer);
int dev_free(int buffer);
int dev_write(int buffer, const void *src, uint32_t bytes);
int dev_read(int buffer, void *dst, uint32_t bytes);
int dev_launch(const struct dev_task *task, int *id);
int dev_sync(int id, uint32_t ms);
int dev_stop(void);
int dev_done(int id, bool *done); /* asks the job itself */

/* For the test. */
void dev_reset(void);
uint32_t dev_calls(void);
uint32_t dev_jobs(void);
uint32_t dev_live(void);
bool dev_inject(enum conf_fault fault);

#endif
