/* The driver of an imaginary NPU, as its vendor would deliver it: one job at a
 * time, and a call returns when the job has ended. */
#ifndef NPU_H
#define NPU_H

enum npu_error {
    NPU_OK = 0,
    NPU_NO_DEVICE = 1,  /* npu_open                                       */
    NPU_NO_MEMORY = 2,  /* npu_open                                       */
    NPU_QUEUE_FULL = 3, /* another program has the device, try later      */
    NPU_JOB_FAILED = 4, /* this job; the next may succeed                 */
    NPU_GONE = 5        /* the device does not answer any more            */
};

#define NPU_LARGEST 4096 /* values of a job */

int npu_open(void);
void npu_close(void);

/* q[i] = saturate(round_half_even(x[i] * multiplier + offset)), the product
 * rounded to float first. n in [1, NPU_LARGEST]. */
int npu_quantize(const float *x, unsigned n, float multiplier, float offset,
                 signed char *q);

#endif
