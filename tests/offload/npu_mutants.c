/* The example's backend with one deliberate fault each, put between it and the
 * dispatcher or between it and the driver. npu_backend.c itself is unchanged. */
#include "npu_double.c"

#include <string.h>

#include "../../examples/offload/npu_backend.h"

enum npu_mutant {
    NPU_SOUND,
    NPU_NOT_INVERTED,   /* gives the step where 1 / step belongs            */
    NPU_NO_OFFSET,      /* forgets the zero point                           */
    NPU_EXACT_CLAIM,    /* claims every rule bit for bit                    */
    NPU_CPU_SILENTLY,   /* runs the CPU kernel instead                      */
    NPU_RESULT_IGNORED, /* does not look at the driver's result             */
    NPU_UNKNOWN_OK,     /* takes an unknown code for success                */
    NPU_LOST_FORGOTTEN, /* calls the driver after a loss                    */
    NPU_OUT_IN_SUBMIT,  /* writes outputs before wait                       */
    NPU_OUT_OVERRUN,    /* writes one byte too many                         */
    NPU_CTX_OVERRUN,    /* writes behind its state                          */
    NPU_CLOSE_LEAK,     /* does not close the driver                        */
    NPU_RULE_IGNORED,   /* takes every rule                                 */
    NPU_BITS_IGNORED,   /* takes every width                                */
    NPU_QUERY_WORKS,    /* talks to the device in query                     */
    NPU_DECLINE_WRITES, /* writes an output, then declines                  */
    NPU_ZERO_TICKET,    /* hands out ticket 0                               */
    NPU_MUTANTS
};
static enum npu_mutant npu_mutant;

static int mutated_quantize(const float *x, unsigned n, float multiplier,
                            float offset, signed char *q)
{
    int error;

    multiplier =
        npu_mutant == NPU_NOT_INVERTED ? 1.0f / multiplier : multiplier;
    offset = npu_mutant == NPU_NO_OFFSET ? 0.0f : offset;
    error = npu_mutant == NPU_CPU_SILENTLY
                ? NPU_OK
                : npu_quantize(x, n, multiplier, offset, q);
    if (npu_mutant == NPU_RESULT_IGNORED ||
        (npu_mutant == NPU_UNKNOWN_OK && error > NPU_GONE)) {
        return NPU_OK;
    }
    return error == NPU_GONE && npu_mutant == NPU_LOST_FORGOTTEN
               ? NPU_JOB_FAILED
               : error;
}

static void mutated_close(void)
{
    if (npu_mutant != NPU_CLOSE_LEAK) {
        npu_close();
    }
}

#define npu_quantize mutated_quantize
#define npu_close    mutated_close
#include "../../examples/offload/npu_backend.c"
#undef npu_quantize
#undef npu_close

static int32_t mutated_open(void *ctx, const struct qrt_off_host *host,
                            const void *cfg)
{
    if (npu_mutant == NPU_CTX_OVERRUN) {
        memset((uint8_t *)ctx + sizeof(struct npu_context), 0, 1);
    }
    return npu_attach(ctx, host, cfg);
}

static int32_t mutated_query(void *ctx, const struct qrt_off_job *job,
                             struct qrt_off_reply *reply)
{
    struct qrt_off_job other = *job;
    int32_t status;

    if (npu_mutant == NPU_RULE_IGNORED) {
        other.rule = QRT_RULE_CANN;
    }
    if (npu_mutant == NPU_BITS_IGNORED) {
        other.bits = 8;
    }
    if (npu_mutant == NPU_QUERY_WORKS) {
        float x = 0;
        signed char q;

        (void)npu_quantize(&x, 1, 1, 0, &q);
    }
    status = npu_query(ctx, &other, reply);
    if (npu_mutant == NPU_EXACT_CLAIM) {
        reply->exact = QRT_EX_BITEXACT;
    }
    if (npu_mutant == NPU_DECLINE_WRITES && status == QRT_OFF_DECLINED) {
        memset(job->out[0].ptr, 1, 1);
    }
    return status;
}

static int32_t mutated_submit(void *ctx, const struct qrt_off_job *job,
                              uint32_t *ticket)
{
    struct qrt_off_job other = *job;
    int32_t status;

    if (npu_mutant == NPU_RULE_IGNORED || npu_mutant == NPU_BITS_IGNORED) {
        other.rule = QRT_RULE_CANN;
        other.bits = 8;
        status = npu_submit(ctx, &other, ticket);
        ((struct npu_context *)ctx)->job = status == QRT_OFF_OK ? job : NULL;
        return status;
    }
    status = npu_submit(ctx, job, ticket);
    if (status == QRT_OFF_OK && npu_mutant == NPU_CPU_SILENTLY) {
        other.out[0].ptr = ((struct npu_context *)ctx)->codes;
        (void)qrt_cpu_quant(&other);
    }
    if (status == QRT_OFF_OK && npu_mutant == NPU_OUT_IN_SUBMIT) {
        memset(job->out[0].ptr, 0, 1);
    }
    if (npu_mutant == NPU_ZERO_TICKET) {
        *ticket = 0;
    }
    return status;
}

static int32_t mutated_wait(void *ctx, uint32_t ticket, uint32_t timeout_ms)
{
    const struct qrt_off_job *job = ((struct npu_context *)ctx)->job;
    int32_t status = npu_wait(ctx, ticket, timeout_ms);

    if (status == QRT_OFF_OK && npu_mutant == NPU_OUT_OVERRUN) {
        memset((uint8_t *)job->out[0].ptr + job->out[0].count, 1, 1);
    }
    return status;
}

static const struct qrt_off_backend npu_mutated = {
    .abi = QRT_OFF_ABI,
    .size = sizeof(struct qrt_off_backend),
    .name = "npu",
    .op_mask = 1u << QRT_JOB_QUANT,
    .ctx_size = sizeof(struct npu_context),
    .ctx_align = 8,
    .max_inflight = 1,
    .open = mutated_open,
    .close = npu_detach,
    .query = mutated_query,
    .submit = mutated_submit,
    .wait = mutated_wait,
    .quiesce = npu_quiesce,
    .last_native = npu_native};

static const struct conf_subject npu_subject = {.backend = &npu_backend,
                                                .largest = NPU_LARGEST,
                                                .reset = npu_reset,
                                                .calls = npu_calls,
                                                .jobs = npu_jobs,
                                                .live = npu_live,
                                                .inject = npu_inject};

static const struct conf_subject npu_mutated_subject = {.backend = &npu_mutated,
                                                        .largest = NPU_LARGEST,
                                                        .reset = npu_reset,
                                                        .calls = npu_calls,
                                                        .jobs = npu_jobs,
                                                        .live = npu_live,
                                                        .inject = npu_inject};
