/* The example's NPU driver for tests: counts calls, fails on demand. */
#include "conformance.h"
#include "../../examples/offload/npu.h"

#include <math.h>

static struct {
    uint32_t calls, jobs, opened;
    bool gone;
    int fault; /* enum conf_fault, or -1 */
    int left;
} npu;

static bool npu_strikes(enum conf_fault fault)
{
    if (npu.fault != (int)fault || npu.left == 0) {
        return false;
    }
    npu.left--;
    return true;
}

int npu_open(void)
{
    npu.calls++;
    if (npu_strikes(CONF_OPEN_NODEV)) {
        return NPU_NO_DEVICE;
    }
    if (npu_strikes(CONF_OPEN_NOMEM)) {
        return NPU_NO_MEMORY;
    }
    npu.opened++;
    return NPU_OK;
}

void npu_close(void)
{
    npu.calls++;
    npu.opened--;
}

int npu_quantize(const float *x, unsigned n, float multiplier, float offset,
                 signed char *q)
{
    npu.calls++;
    if (npu.gone || npu_strikes(CONF_LAUNCH_LOST)) {
        npu.gone = true;
        return NPU_GONE;
    }
    if (npu_strikes(CONF_NO_ROOM)) {
        return NPU_QUEUE_FULL;
    }
    if (npu_strikes(CONF_LAUNCH_FAILS) || npu_strikes(CONF_JOBS_FAIL)) {
        return NPU_JOB_FAILED;
    }
    if (npu_strikes(CONF_UNKNOWN_ONCE) || npu_strikes(CONF_UNKNOWN_TWICE)) {
        return 999999;
    }
    npu.jobs++;
    for (unsigned i = 0; i < n && !npu_strikes(CONF_STALE); i++) {
        volatile float product = x[i] * multiplier;
        float t = rintf(product + offset);

        t = t > -128.0f ? t : -128.0f; /* NaN too */
        q[i] = (signed char)(t < 127.0f ? t : 127.0f);
    }
    if (npu_strikes(CONF_OFF_BY_ONE)) {
        q[n / 2] ^= 1;
    }
    return NPU_OK;
}

static void npu_reset(void)
{
    npu.calls = npu.jobs = npu.opened = 0;
    npu.gone = false;
    npu.fault = -1;
    npu.left = 0;
}

static uint32_t npu_calls(void)
{
    return npu.calls;
}

static uint32_t npu_jobs(void)
{
    return npu.jobs;
}

static uint32_t npu_live(void)
{
    return npu.opened;
}

/* A job of this driver has ended when its call returns: nothing can happen to
 * it afterwards. */
static bool npu_inject(enum conf_fault fault)
{
    if (fault == CONF_JOB_FAILS || fault == CONF_JOB_LOST ||
        fault == CONF_TIMEOUT_CONSUMED || fault == CONF_TIMEOUT_DONE ||
        fault == CONF_TIMEOUT_NEVER || fault == CONF_CLOSE_FAILS) {
        return false;
    }
    npu.fault = (int)fault;
    npu.left = fault == CONF_JOBS_FAIL       ? 1 << 30
               : fault == CONF_UNKNOWN_TWICE ? 2
                                             : 1;
    return true;
}
