/* The imaginary NPU in software, so that the example runs anywhere. Jobs from
 * number npu_breaks_at on find it gone. */
#include "npu_model.h"

#include "npu.h"

unsigned npu_breaks_at = ~0u;
static unsigned jobs;

int npu_open(void)
{
    return NPU_OK;
}

void npu_close(void)
{
}

/* Half to even; |t| below 2^22. */
static int round_even(float t)
{
    volatile float shifted = t + 12582912.0f; /* 1.5 * 2^23 */

    return (int)(shifted - 12582912.0f);
}

int npu_quantize(const float *x, unsigned n, float multiplier, float offset,
                 signed char *q)
{
    if (++jobs >= npu_breaks_at) {
        return NPU_GONE;
    }
    for (unsigned i = 0; i < n; i++) {
        volatile float product = x[i] * multiplier; /* rounded to float */
        float t = product + offset;

        q[i] = (signed char)(!(t > -128.0f) ? -128
                             : t >= 127.0f  ? 127
                                            : round_even(t));
    }
    return NPU_OK;
}
