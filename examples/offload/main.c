/* Quantizes ten batches with the help of an NPU that breaks half way. The codes
 * are those of the CPU throughout; the counters tell who made them. */
#include <stdio.h>
#include <string.h>

#include "npu_backend.h"
#include "npu_model.h"

#define N       1000
#define BATCHES 10

/* Only the kernel named here is linked. */
static const qrt_cpu_fn cpu[QRT_JOB_KINDS] = {QRT_CPU_QUANT_F32};
static struct qrt_offload npu = {.cpu = cpu};
static struct npu_context context;

/* A generated table has the same in struct qrt_factors. */
static const struct qrt_real step = {1274746240, -4}; /* 0.0371 in 24 bits */
static const int32_t zero_point = -7;
static const struct qrt_off_quant quant = {&step, NULL, &zero_point, 0};

static float x[N];
static int8_t codes[N], expected[N];

static struct qrt_off_job job_to(int8_t *out)
{
    struct qrt_off_job job = {.size = sizeof job,
                              .op = QRT_JOB_QUANT,
                              .need = QRT_EX_BITEXACT,
                              .bits = 8,
                              .rule = QRT_RULE_CANN,
                              .outer = 1,
                              .channels = 1,
                              .inner = N,
                              .in = {{x, N, QRT_T_F32, {0}}},
                              .out = {{out, N, QRT_T_I8, {0}}},
                              .params = &quant,
                              .params_size = sizeof quant};

    return job;
}

int main(void)
{
    static const char *const state[] = {"absent", "ready", "suspect", "dead",
                                        "quarantine"};
    struct qrt_off_job job = job_to(codes), check = job_to(expected);
    uint32_t wrong = 0;
    int32_t status = qrt_offload_attach(&npu, &npu_backend, &context,
                                        sizeof context, NULL, NULL);

    printf("attach %d, verify %d\n", (int)status,
           (int)qrt_verify(&npu, &job, &check));
    npu_breaks_at = 6;
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        for (uint32_t i = 0; i < N; i++) {
            x[i] = (float)((i * 7919 + batch * 104729) % 2001) * 0.005f - 5.0f;
        }
        status = qrt_run(&npu, &job);
        (void)cpu[QRT_JOB_QUANT](&check);
        wrong += status != QRT_OFF_OK || memcmp(codes, expected, N) != 0;
    }
    printf("%d batches, %u wrong; device %u, CPU %u, declined %u, failed %u, "
           "state %s, native error %d\n",
           BATCHES, (unsigned)wrong, (unsigned)npu.n_dev, (unsigned)npu.n_cpu,
           (unsigned)npu.n_declined, (unsigned)npu.n_failed, state[npu.state],
           (int)npu.native);
    qrt_offload_detach(&npu);
    return wrong != 0;
}
