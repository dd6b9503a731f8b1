/* See device.h. */
#include "device.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define BUFFERS 96
#define BYTES   16384
#define TASKS   16

enum task_state { FREE, QUEUED, HUNG, DROPPED, DONE };

static struct {
    pthread_mutex_t lock;
    uint32_t users, calls, jobs, buffers;
    bool gone;
    int fault; /* enum conf_fault, or -1 */
    int left;  /* how often it is still to happen */
    uint8_t memory[BUFFERS][BYTES];
    bool used[BUFFERS];
    uint32_t size[BUFFERS];
    struct dev_task task[TASKS];
    enum task_state state[TASKS];
    int hang; /* fault behind the hung tasks */
} dev = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -------------------------------------------------------------- arithmetic */

static uint16_t half_of(float x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double a = fabs((double)x);
    int e;
    long m;

    if (isnan(x)) {
        return 0x7e00;
    }
    if (a == 0 || isinf(x)) {
        return sign | (a == 0 ? 0 : 0x7c00);
    }
    e = ilogb(a) < -14 ? -14 : ilogb(a);
    m = lrint(ldexp(a, 10 - e));
    if (m == 2048) {
        m = 1024;
        e++;
    }
    if (e > 15) {
        return sign | 0x7c00;
    }
    return (uint16_t)(sign | (m < 1024 ? m : ((e + 14) << 10) + m));
}

static int8_t quant_one(float x, float m, float o, int32_t lo, int32_t hi)
{
    volatile float product = x * m; /* two roundings, whatever the compiler */
    float t = rintf(product + o);

    if (!(t > (float)lo)) {
        return (int8_t)lo;
    }
    return (int8_t)(t < (float)hi ? (int32_t)t : hi);
}

static float antiquant_one(int8_t q, float o, float s, bool twice)
{
    volatile float y = ((float)q + o) * s;

    return twice ? y * s : y;
}

static float sum(const struct dev_task *t, const float *g, const uint8_t *mask,
                 const float *loss)
{
    volatile float total = 0; /* one after the other, in binary32 */

    for (uint32_t i = 0; i < t->n; i++) {
        float outside = mask[i] ? 0.0f : 1.0f;
        float w = t->op == DEV_GRAD_MAX ? loss[i] + outside : outside - loss[i];

        total = total + g[i] * w;
    }
    return total;
}

static void compute(const struct dev_task *t)
{
    const void *a = dev.memory[t->in[0]];
    const void *b = dev.memory[t->in[1]], *c = dev.memory[t->in[2]];
    void *out = dev.memory[t->out];

    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t channel = i / t->inner % t->channels;

        if (t->op == DEV_QUANT) {
            ((int8_t *)out)[i] =
                quant_one(((const float *)a)[i], ((const float *)b)[channel],
                          ((const float *)c)[channel], t->lo, t->hi);
        } else if (t->op == DEV_ANTIQUANT) {
            float y = antiquant_one(((const int8_t *)a)[i],
                                    ((const float *)c)[channel],
                                    ((const float *)b)[channel], t->twice);

            if (t->half) {
                ((uint16_t *)out)[i] = half_of(y);
            } else {
                ((float *)out)[i] = y;
            }
        } else if (t->op == DEV_GRAD_X) {
            ((float *)out)[i] =
                ((const float *)a)[i] *
                (float)(((const uint8_t *)b)[i] * ((const uint8_t *)c)[i]);
        }
    }
    if (t->op == DEV_GRAD_MAX || t->op == DEV_GRAD_MIN) {
        *(float *)out = sum(t, a, b, c);
    }
}

/* ---------------------------------------------------------------- failures */

/* Whether this fault strikes now. */
static bool strikes(enum conf_fault fault)
{
    if (dev.fault != (int)fault || dev.left == 0) {
        return false;
    }
    dev.left--;
    return true;
}

static int lose(void)
{
    dev.gone = true;
    return DEV_GONE;
}

bool dev_inject(enum conf_fault fault)
{
    dev.fault = (int)fault;
    dev.left = fault == CONF_UNKNOWN_TWICE ? 2 : 1;
    if (fault == CONF_JOBS_FAIL) {
        dev.left = 1 << 30;
    }
    return true;
}

void dev_reset(void)
{
    dev.users = dev.calls = dev.jobs = dev.buffers = 0;
    dev.gone = false;
    dev.fault = -1;
    dev.left = 0;
    memset(dev.memory, 0x77, sizeof dev.memory);
    memset(dev.used, 0, sizeof dev.used);
    memset(dev.state, 0, sizeof dev.state);
}

uint32_t dev_calls(void)
{
    return dev.calls;
}

uint32_t dev_jobs(void)
{
    return dev.jobs;
}

uint32_t dev_live(void)
{
    uint32_t tasks = 0;

    for (int i = 0; i < TASKS; i++) {
        tasks += dev.state[i] != FREE;
    }
    return dev.users + dev.buffers + (dev.users == 0 ? tasks : 0);
}

/* ------------------------------------------------------------------- calls */

static void enter_call(void)
{
    pthread_mutex_lock(&dev.lock);
    dev.calls++;
}

static int leave(int code)
{
    pthread_mutex_unlock(&dev.lock);
    return code;
}

int dev_open(void)
{
    enter_call();
    if (dev.gone || strikes(CONF_OPEN_NODEV)) {
        return leave(DEV_NO_DEVICE);
    }
    dev.users++;
    return leave(DEV_OK);
}

int dev_close(void)
{
    enter_call();
    if (dev.users == 0) {
        return leave(DEV_BAD_ARGUMENT);
    }
    if (--dev.users == 0) {
        memset(dev.state, 0, sizeof dev.state);
    }
    return leave(strikes(CONF_CLOSE_FAILS) ? DEV_EXEC : DEV_OK);
}

int dev_alloc(uint32_t bytes, int *buffer)
{
    enter_call();
    /* Late enough that there is something to give back. */
    if (dev.buffers >= 3 && strikes(CONF_OPEN_NOMEM)) {
        return leave(DEV_NO_MEMORY);
    }
    for (int i = 1; i < BUFFERS; i++) {
        if (!dev.used[i] && bytes <= BYTES) {
            dev.used[i] = true;
            dev.size[i] = bytes;
            dev.buffers++;
            *buffer = i;
            return leave(DEV_OK);
        }
    }
    return leave(DEV_NO_MEMORY);
}

int dev_free(int buffer)
{
    enter_call();
    if (buffer <= 0 || buffer >= BUFFERS || !dev.used[buffer]) {
        return leave(DEV_BAD_ARGUMENT);
    }
    dev.used[buffer] = false;
    dev.buffers--;
    return leave(DEV_OK);
}

static bool fits(int buffer, uint32_t bytes)
{
    return buffer > 0 && buffer < BUFFERS && dev.used[buffer] &&
           bytes <= dev.size[buffer];
}

int dev_write(int buffer, const void *src, uint32_t bytes)
{
    enter_call();
    if (dev.gone || !fits(buffer, bytes)) {
        return leave(dev.gone ? DEV_GONE : DEV_BAD_ARGUMENT);
    }
    memcpy(dev.memory[buffer], src, bytes);
    return leave(DEV_OK);
}

int dev_read(int buffer, void *dst, uint32_t bytes)
{
    enter_call();
    if (dev.gone || !fits(buffer, bytes)) {
        return leave(dev.gone ? DEV_GONE : DEV_BAD_ARGUMENT);
    }
    memcpy(dst, dev.memory[buffer], bytes);
    return leave(DEV_OK);
}

int dev_launch(const struct dev_task *task, int *id)
{
    enter_call();
    if (dev.gone || strikes(CONF_LAUNCH_LOST)) {
        return leave(lose());
    }
    if (strikes(CONF_LAUNCH_FAILS)) {
        return leave(DEV_LAUNCH);
    }
    for (int i = 0; i < TASKS && !strikes(CONF_NO_ROOM); i++) {
        if (dev.state[i] == FREE) {
            dev.task[i] = *task;
            dev.state[i] = QUEUED;
            *id = i + 1;
            return leave(DEV_OK);
        }
    }
    return leave(DEV_NO_ROOM);
}

/* Runs a queued task, with what may go wrong there. */
static int run(int i)
{
    struct dev_task *t = &dev.task[i];

    if (strikes(CONF_JOB_FAILS) || strikes(CONF_JOBS_FAIL)) {
        dev.state[i] = DROPPED;
        return DEV_EXEC;
    }
    if (strikes(CONF_JOB_LOST)) {
        return lose();
    }
    if (strikes(CONF_UNKNOWN_ONCE) || strikes(CONF_UNKNOWN_TWICE)) {
        dev.state[i] = DROPPED;
        return 999999;
    }
    if (strikes(CONF_TIMEOUT_CONSUMED) || strikes(CONF_TIMEOUT_DONE) ||
        strikes(CONF_TIMEOUT_NEVER)) {
        dev.hang = dev.fault;
        dev.state[i] = HUNG;
        return DEV_TIMEOUT;
    }
    dev.state[i] = DONE;
    dev.jobs++;
    if (!strikes(CONF_STALE)) {
        compute(t);
    }
    if (strikes(CONF_OFF_BY_ONE)) {
        dev.memory[t->out][t->n / 2] ^= 1;
    }
    return DEV_OK;
}

int dev_sync(int id, uint32_t ms)
{
    enum task_state state;
    int code = DEV_OK;

    (void)ms;
    enter_call();
    if (dev.gone || id < 1 || id > TASKS) {
        return leave(dev.gone ? DEV_GONE : DEV_BAD_ARGUMENT);
    }
    state = dev.state[id - 1];
    if (state == QUEUED) {
        code = run(id - 1);
    } else if (state == HUNG) {
        code = DEV_TIMEOUT;
    }
    /* A dropped task has had its error reported: success, from now on. */
    if (dev.state[id - 1] != HUNG && dev.state[id - 1] != QUEUED) {
        dev.state[id - 1] = FREE;
    }
    return leave(code);
}

int dev_stop(void)
{
    enter_call();
    for (int i = 0; i < TASKS && !dev.gone; i++) {
        if (dev.state[i] == HUNG && dev.hang == CONF_TIMEOUT_NEVER) {
            return leave(lose());
        }
        if (dev.state[i] == HUNG && dev.hang == CONF_TIMEOUT_DONE) {
            compute(&dev.task[i]);
            dev.jobs++;
            dev.state[i] = DONE;
        } else if (dev.state[i] != FREE) {
            dev.state[i] = DROPPED;
        }
    }
    return leave(dev.gone ? DEV_GONE : DEV_OK);
}

int dev_done(int id, bool *done)
{
    enter_call();
    if (dev.gone || id < 1 || id > TASKS) {
        return leave(dev.gone ? DEV_GONE : DEV_BAD_ARGUMENT);
    }
    *done = dev.state[id - 1] == DONE;
    return leave(DEV_OK);
}
