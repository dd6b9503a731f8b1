/* Offload: jobs that an accelerator may take over from the CPU kernels.
 *
 *     static const qrt_cpu_fn cpu[QRT_JOB_KINDS] = {QRT_CPU_QUANT};
 *     static struct qrt_offload npu = {.cpu = cpu};
 *
 *     qrt_offload_attach(&npu, &backend, ctx, sizeof ctx, NULL, NULL);
 *     qrt_run(&npu, &job);                device if it can, else CPU
 *
 * A backend is a const struct of functions and a block of memory of the
 * caller. It may decline any job; a device that fails is a job that runs on
 * the CPU, and a device that fails for good is not asked again. The CPU kernel
 * is the definition of every result.
 *
 * QRT_OFFLOAD must be 1, or 0 to compile the facility away: qrt_run is then one
 * indirect call. The library is built with `make QRT_OFFLOAD=...`.
 *
 * docs/offload.md tells how to use it and what was tested where. */
#ifndef QRT_OFFLOAD_H
#define QRT_OFFLOAD_H

#include "qrt.h"

/* By pasting, so that a word that is no number does not pass for 0. */
#define QRT_OFFLOAD_IS_0     1
#define QRT_OFFLOAD_IS_1     1
#define QRT_OFFLOAD_PASTE(a) QRT_OFFLOAD_IS_##a
#define QRT_OFFLOAD_KNOWN(a) QRT_OFFLOAD_PASTE(a)
#if !defined(QRT_OFFLOAD)
#error "define QRT_OFFLOAD to 1, or to 0 to compile offloading away"
#elif !QRT_OFFLOAD_KNOWN(QRT_OFFLOAD)
#error "QRT_OFFLOAD must be 0 or 1"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of everything below. A backend of another major version is refused;
 * a minor version appends members. */
#define QRT_OFF_ABI_MAJOR 1U
#define QRT_OFF_ABI_MINOR 0U
#define QRT_OFF_ABI       ((QRT_OFF_ABI_MAJOR << 16) | QRT_OFF_ABI_MINOR)

/* Results. The numbers do not meet those of enum qrt_status, since qrt_run
 * returns the one or the other. */
enum qrt_off_status {
    QRT_OFF_OK = 0,
    QRT_OFF_PENDING = 1,    /* wait: still running                          */
    QRT_OFF_DECLINED = -32, /* will not do this job; nothing happened       */
    QRT_OFF_BUSY = -33,     /* no free slot; nothing happened               */
    QRT_OFF_EARG = -34,     /* malformed job or call, found by the dispatcher */
    QRT_OFF_EXEC = -35,     /* this job failed, the device is usable        */
    QRT_OFF_LOST = -36,     /* device or driver gone; sticky                */
    QRT_OFF_TIMEOUT = -37,  /* not known to have ended                      */
    QRT_OFF_EABI = -38,     /* versions or mandatory members do not match   */
    QRT_OFF_ENODEV = -39,   /* no driver, library or device here            */
    QRT_OFF_ENOMEM = -40,   /* ctx too small, or device memory exhausted    */
    QRT_OFF_MISMATCH = -41  /* device result outside its promised class     */
};

/* ---------------------------------------------------------------- jobs */

/* Operators. The numbers are ABI: append only, at most 32. All inputs and
 * outputs are dense, row-major [outer, channels, inner] of the job unless a
 * shape in brackets says otherwise; n is the product of the three.
 *
 *  operator  in[0..3]                        out[0..3]          params
 *  QUANT     x                               codes              qrt_off_quant
 *  DEQUANT   codes or accumulators           x                  qrt_dequantize
 *  REQUANT   accumulators                    codes              qrt_edge
 *  ANTIQUANT codes                           x                  qrt_antiquantize
 *  WQUANT    weights                         codes              qrt_off_quant
 *  ARQ       weights                         fake-quantized weights,
 *                                            scale [C], offset [C]
 *                                                               qrt_off_arq
 *  IFMR      samples, [2] their min and max, scale [1], offset [1]
 *            cumulated histogram [bins]                         qrt_off_ifmr
 *  ULQ_FWD   x, [2] learned max and min,     y, min mask, max mask, loss
 *            [1] step (for qrt_verify)                          qrt_off_ulq
 *  ULQ_GRAD_X    gradient, min mask, max mask    gradient       -
 *  ULQ_GRAD_MAX  gradient, max mask, loss        [1]            -
 *  ULQ_GRAD_MIN  gradient, min mask, loss        [1]            -
 *
 * docs/offload.md has types, rules and the unit of QRT_EX_BOUNDED of each. */
enum qrt_job_op {
    QRT_JOB_QUANT = 0,
    QRT_JOB_DEQUANT = 1,
    QRT_JOB_REQUANT = 2,
    QRT_JOB_ANTIQUANT = 3,
    QRT_JOB_WQUANT = 4,
    QRT_JOB_ARQ = 5,
    QRT_JOB_IFMR = 6,
    QRT_JOB_ULQ_FWD = 7,
    QRT_JOB_ULQ_GRAD_X = 8,
    QRT_JOB_ULQ_GRAD_MAX = 9,
    QRT_JOB_ULQ_GRAD_MIN = 10,
    QRT_JOB_KINDS = 11
};

/* Element types of buffers. The numbers are ABI. */
enum qrt_dtype {
    QRT_T_NONE = 0, /* unused slot: pointer and count are 0 too            */
    QRT_T_F32 = 1,
    QRT_T_F16 = 2,
    QRT_T_I8 = 3,
    QRT_T_U8 = 4,
    QRT_T_I16 = 5,
    QRT_T_I32 = 6,
    QRT_T_I4P = 7,    /* pairs as QRT_S4; count is in bytes                */
    QRT_T_Q16_16 = 8, /* int32_t with 16 bits of fraction                  */
    QRT_T_BOOL8 = 9,  /* 0 or 1 in a byte                                  */
    QRT_T_U64 = 10,
    QRT_T_KINDS = 11
};

struct qrt_off_in {
    const void *ptr; /* aligned to its element                            */
    uint32_t count;  /* elements; of I4P bytes                            */
    uint8_t dtype;   /* enum qrt_dtype                                    */
    uint8_t reserved[3];
};

struct qrt_off_out {
    void *ptr;
    uint32_t count;
    uint8_t dtype;
    uint8_t reserved[3];
};

/* A job is a pure function: outputs depend on in[], params and the numbers
 * below only, and no output overlaps an input or another output. So it may be
 * done again, on the CPU, after any failure. The caller keeps everything it
 * points to unchanged until the job has ended. */
struct qrt_off_job {
    uint16_t size; /* sizeof(struct qrt_off_job)                        */
    uint8_t op;    /* enum qrt_job_op                                   */
    uint8_t need;  /* weakest enum qrt_exactness that will do           */
    uint16_t tol;  /* with QRT_EX_BOUNDED: largest difference, in the
                         unit of the operator                              */
    uint8_t bits;  /* of the codes                                      */
    uint8_t rule;  /* enum qrt_rule: arithmetic of the CPU kernel       */
    uint32_t outer, channels, inner; /* each >= 1, product < 2^31          */
    struct qrt_off_in in[4];
    struct qrt_off_out out[4];
    const void *params;   /* row of the operator, see enum qrt_job_op      */
    uint32_t params_size; /* its sizeof; 0 with a null pointer             */
};

/* ---- params. Arrays have [channels] of the job. ---- */

/* QUANT, WQUANT. With the binary32 rules step and reciprocal are those of
 * qrt_real_to_f32(scale), so `recip` may be null, and Q(frac) inputs are
 * rounded to binary32 first. */
struct qrt_off_quant {
    const struct qrt_real *scale; /* step, e in [-110, 110]; may be null
                                     with the FIXED rules                  */
    const struct qrt_real *recip; /* 1 / step for the FIXED rules          */
    const int32_t *zero_point;    /* codes; null: all 0                    */
    int32_t frac;                 /* x I16, I32: Q(frac) [-160, 160]       */
};

struct qrt_off_arq {
    uint32_t asymmetric; /* 1: with zero points                           */
};

/* IFMR. The samples of all batches, in one buffer. */
struct qrt_off_ifmr {
    const uint32_t *ratios;  /* [ratio_count], binary32 bits, ascending    */
    uint32_t ratio_count;    /* candidates                       [1, 65535] */
    uint32_t asymmetric;     /* 1: with zero point                         */
    uint64_t max_percentile; /* binary64 bits                      (0.5, 1] */
    uint64_t min_percentile; /* binary64 bits                      (0.5, 1] */
    int32_t frac;            /* samples I16, I32: Q(frac)                  */
    uint32_t scratch_size;   /* bytes                                      */
    void *scratch;           /* of the CPU kernel, aligned to 8; may be null
                                with rule CANN                             */
    uint32_t start_bits;     /* rule CANN: the grid as the operator takes  */
    uint32_t end_bits;       /* it, binary32 bits                          */
    uint32_t step_bits;
};

/* ULQ_FWD. */
struct qrt_off_ulq {
    uint32_t max_init_bits; /* fallback limits, binary32 bits              */
    uint32_t min_init_bits;
    int32_t frac;         /* x I16, I32: Q(frac), [-96, 117]               */
    uint8_t asymmetric;   /* 1: with zero point                            */
    uint8_t fixed_min;    /* 1: the lower limit is 0                       */
    uint8_t strict_width; /* as in struct qrt_ulq_clips                    */
    uint8_t reserved;     /* 0                                             */
};

/* Bytes of an element; 0 for QRT_T_NONE and unknown types. */
uint32_t qrt_dtype_size(uint32_t dtype);

/* Whether a job is well formed: sizes, types, alignment, no overlap. What an
 * operator accepts is for backend and kernel to say.
 *
 * Returns QRT_OFF_OK, QRT_OFF_EARG. */
int32_t qrt_job_check(const struct qrt_off_job *job);

/* ---------------------------------------------------------- CPU kernels */

/* Runs one job. Returns enum qrt_status: QRT_ERR_UNSUPPORTED for a type, a
 * rule or a params_size that the kernel does not have, QRT_ERR_SIZE for counts
 * that do not fit the shape, otherwise what the kernel of qrt.h says. Outputs
 * are untouched on error, but for scale and offset of ARQ. */
typedef int32_t (*qrt_cpu_fn)(const struct qrt_off_job *job);

int32_t qrt_cpu_quant(const struct qrt_off_job *job);
int32_t qrt_cpu_dequant(const struct qrt_off_job *job);
int32_t qrt_cpu_requant(const struct qrt_off_job *job);
int32_t qrt_cpu_antiquant(const struct qrt_off_job *job);
int32_t qrt_cpu_ifmr(const struct qrt_off_job *job);
int32_t qrt_cpu_ulq_fwd(const struct qrt_off_job *job);
int32_t qrt_cpu_ulq_grad_x(const struct qrt_off_job *job);

/* In libquantrt-f32.a. The first has the bits of qrt_cpu_quant and is faster
 * where there is an FPU. */
int32_t qrt_cpu_quant_f32(const struct qrt_off_job *job);
int32_t qrt_cpu_arq_f32(const struct qrt_off_job *job);
int32_t qrt_cpu_ifmr_f32(const struct qrt_off_job *job);
int32_t qrt_cpu_ulq_fwd_f32(const struct qrt_off_job *job);
int32_t qrt_cpu_ulq_grad_max_f32(const struct qrt_off_job *job);
int32_t qrt_cpu_ulq_grad_min_f32(const struct qrt_off_job *job);

/* Entries of a table `const qrt_cpu_fn cpu[QRT_JOB_KINDS]`, in any order. What
 * is not named is not linked. C only. */
/* clang-format off */
#define QRT_CPU_QUANT        [QRT_JOB_QUANT] = qrt_cpu_quant
#define QRT_CPU_DEQUANT      [QRT_JOB_DEQUANT] = qrt_cpu_dequant
#define QRT_CPU_REQUANT      [QRT_JOB_REQUANT] = qrt_cpu_requant
#define QRT_CPU_ANTIQUANT    [QRT_JOB_ANTIQUANT] = qrt_cpu_antiquant
#define QRT_CPU_WQUANT       [QRT_JOB_WQUANT] = qrt_cpu_quant
#define QRT_CPU_IFMR         [QRT_JOB_IFMR] = qrt_cpu_ifmr
#define QRT_CPU_ULQ_FWD      [QRT_JOB_ULQ_FWD] = qrt_cpu_ulq_fwd
#define QRT_CPU_ULQ_GRAD_X   [QRT_JOB_ULQ_GRAD_X] = qrt_cpu_ulq_grad_x

#define QRT_CPU_QUANT_F32        [QRT_JOB_QUANT] = qrt_cpu_quant_f32
#define QRT_CPU_WQUANT_F32       [QRT_JOB_WQUANT] = qrt_cpu_quant_f32
#define QRT_CPU_ARQ_F32          [QRT_JOB_ARQ] = qrt_cpu_arq_f32
#define QRT_CPU_IFMR_F32         [QRT_JOB_IFMR] = qrt_cpu_ifmr_f32
#define QRT_CPU_ULQ_FWD_F32      [QRT_JOB_ULQ_FWD] = qrt_cpu_ulq_fwd_f32
#define QRT_CPU_ULQ_GRAD_MAX_F32 [QRT_JOB_ULQ_GRAD_MAX] = qrt_cpu_ulq_grad_max_f32
#define QRT_CPU_ULQ_GRAD_MIN_F32 [QRT_JOB_ULQ_GRAD_MIN] = qrt_cpu_ulq_grad_min_f32

#define QRT_CPU_ALL_INTEGER                                                  \
    QRT_CPU_QUANT, QRT_CPU_DEQUANT, QRT_CPU_REQUANT, QRT_CPU_ANTIQUANT,      \
    QRT_CPU_WQUANT, QRT_CPU_IFMR, QRT_CPU_ULQ_FWD, QRT_CPU_ULQ_GRAD_X
#define QRT_CPU_ALL_F32                                                      \
    QRT_CPU_QUANT_F32, QRT_CPU_DEQUANT, QRT_CPU_REQUANT, QRT_CPU_ANTIQUANT,  \
    QRT_CPU_WQUANT_F32, QRT_CPU_ARQ_F32, QRT_CPU_IFMR_F32,                   \
    QRT_CPU_ULQ_FWD_F32, QRT_CPU_ULQ_GRAD_X, QRT_CPU_ULQ_GRAD_MAX_F32,       \
    QRT_CPU_ULQ_GRAD_MIN_F32
/* clang-format on */

/* ------------------------------------------------------------- backends */

/* What a backend guarantees for exactly the job it was asked about. */
struct qrt_off_reply {
    uint8_t exact; /* enum qrt_exactness                                   */
    uint8_t reserved;
    uint16_t tol; /* with QRT_EX_BOUNDED                                   */
};

/* Services lent to a backend; lives until close. */
struct qrt_off_host {
    uint32_t size;               /* sizeof(struct qrt_off_host)           */
    uint32_t (*now_ms)(void *u); /* may be null: waits are bounded without */
    void (*note)(void *u, int32_t status, int32_t native, const char *what);
    /* may be null; native: vendor code or 0 */
    void *u;
};

/* A backend: const, so it lies in flash.
 *
 * open     OK, ENODEV, ENOMEM, EABI. ctx is uninitialised. May be slow. After
 *          a failure nothing is left behind.
 * close    After every successful open, also after LOST. Blocks until no job
 *          memory is in use, releases everything, never hangs.
 * query    OK and the reply, DECLINED, BUSY, LOST. No device work, no copy, no
 *          allocation. OK promises that submit will not decline for a reason
 *          that can be seen in the job.
 * submit   OK and a ticket that is not 0, DECLINED, BUSY, ENOMEM, EXEC, LOST.
 *          On anything but OK nothing is in flight and no output is touched.
 * wait     OK: all outputs are written and the ticket is retired. EXEC, LOST:
 *          retired, outputs will not be touched again (LOST: see quiesce).
 *          PENDING, TIMEOUT: undecided, the ticket stays valid. Timeout 0
 *          polls. Returns within the timeout and a stated bound. A backend
 *          that stages outputs writes them here only, after the device has
 *          reported success. OK after a TIMEOUT needs proof for this very job;
 *          a later success of the driver is none.
 * quiesce  OK: the device touches no host memory any more, and wait(t, 0)
 *          decides every ticket at once. LOST: no such promise.
 * last_native  the vendor's code of the last failure, for logs; may be null. */
struct qrt_off_backend {
    uint32_t abi;  /* QRT_OFF_ABI it was compiled with                     */
    uint32_t size; /* sizeof(struct qrt_off_backend), likewise             */
    const char *name;
    uint32_t op_mask;      /* bit clear: the operator is never asked       */
    uint32_t ctx_size;     /* bytes of state that the caller provides      */
    uint16_t ctx_align;    /* power of two                                 */
    uint16_t max_inflight; /* >= 1                                         */
    uint32_t flags;        /* QRT_OFF_DIRECT_*                             */
    int32_t (*open)(void *ctx, const struct qrt_off_host *host,
                    const void *cfg);
    void (*close)(void *ctx);
    int32_t (*query)(void *ctx, const struct qrt_off_job *job,
                     struct qrt_off_reply *reply);
    int32_t (*submit)(void *ctx, const struct qrt_off_job *job,
                      uint32_t *ticket);
    int32_t (*wait)(void *ctx, uint32_t ticket, uint32_t timeout_ms);
    int32_t (*quiesce)(void *ctx);
    int32_t (*last_native)(void *ctx);
};

/* The device itself writes out[], reads in[]. If such a device cannot be
 * stopped its job is not done again: the caller gets QRT_OFF_LOST. */
#define QRT_OFF_DIRECT_OUT 1U
#define QRT_OFF_DIRECT_IN  2U

/* ------------------------------------------------------------ dispatcher */

enum qrt_off_state {
    QRT_OFF_ABSENT,    /* no backend attached: all jobs to the CPU         */
    QRT_OFF_READY,     /*                                                  */
    QRT_OFF_SUSPECT,   /* the last job failed; jobs still go to the device */
    QRT_OFF_DEAD,      /* lost: all jobs to the CPU until detach           */
    QRT_OFF_QUARANTINE /* gave a wrong result: the same                    */
};

/* State of one dispatcher. Set cpu (and limits), everything else 0. One thread
 * at a time. */
struct qrt_offload {
    const struct qrt_off_backend *backend;
    void *ctx;
    const qrt_cpu_fn *cpu; /* [QRT_JOB_KINDS]; null entry: no such kernel  */
    uint8_t state;         /* enum qrt_off_state                           */
    uint8_t streak;        /* failures since the last clean result         */
    uint8_t max_streak;    /* that many make it DEAD; 0: 3                 */
    uint8_t reserved;
    uint16_t busy; /* jobs in flight                                 */
    uint16_t reserved2;
    uint32_t timeout_ms; /* of one wait; 0: 1000                           */
    uint32_t n_dev;      /* results that came from the device              */
    uint32_t n_cpu;      /* kernel calls on the CPU                        */
    uint32_t n_declined; /* jobs an attached backend did not take          */
    uint32_t n_failed;   /* jobs that failed on it                         */
    int32_t native;      /* vendor code of the last failure                */
};

#if QRT_OFFLOAD

/* Attaches a backend and opens it.
 *
 * backend  null is allowed and gives QRT_OFF_ENODEV
 * ctx      [ctx_size] bytes as backend->ctx_size and ctx_align ask
 * host     null, or services that live until detach
 * cfg      for the backend; null: its defaults
 *
 * Returns QRT_OFF_OK; QRT_OFF_EARG (o, or attached already), QRT_OFF_EABI,
 * QRT_OFF_ENOMEM, QRT_OFF_ENODEV, or QRT_OFF_LOST (an answer of open that is
 * not allowed). On failure o is as before and runs everything on the CPU. */
int32_t qrt_offload_attach(struct qrt_offload *o,
                           const struct qrt_off_backend *backend, void *ctx,
                           size_t ctx_size, const struct qrt_off_host *host,
                           const void *cfg);

/* Closes the backend. Jobs in flight end; finishing them later runs them on
 * the CPU. The counters stay. */
void qrt_offload_detach(struct qrt_offload *o);

/* Runs a job to its end: on the device if it takes it and succeeds, else on
 * the CPU.
 *
 * Returns QRT_OFF_OK; QRT_OFF_EARG; QRT_OFF_DECLINED (no kernel for it);
 * QRT_OFF_LOST (a QRT_OFF_DIRECT_* device could not be stopped: the outputs
 * must not be used or reused); or the kernel's enum qrt_status. */
int32_t qrt_run(struct qrt_offload *o, const struct qrt_off_job *job);

/* The two halves of qrt_run, to overlap a job with other work. Every QRT_OFF_OK
 * of qrt_start needs one qrt_finish with the same job.
 *
 * qrt_start returns QRT_OFF_OK and a ticket, or QRT_OFF_DECLINED, QRT_OFF_BUSY
 * (nothing started: call qrt_run, or try later), QRT_OFF_EARG.
 * qrt_finish returns what qrt_run does. */
int32_t qrt_start(struct qrt_offload *o, const struct qrt_off_job *job,
                  uint32_t *ticket);
int32_t qrt_finish(struct qrt_offload *o, const struct qrt_off_job *job,
                   uint32_t ticket);

/* Runs a job on the device and the same job on the CPU, and compares by the
 * class that the backend announces for it. In a file of its own.
 *
 * dev, ref  equal but for their output pointers
 *
 * Returns QRT_OFF_OK; QRT_OFF_MISMATCH, and the backend is in quarantine until
 * detach; QRT_OFF_DECLINED (the device did not do it); QRT_OFF_EARG; or what
 * qrt_run does. */
int32_t qrt_verify(struct qrt_offload *o, const struct qrt_off_job *dev,
                   const struct qrt_off_job *ref);

#else

static inline int32_t qrt_run(struct qrt_offload *o,
                              const struct qrt_off_job *job)
{
    if (job->op >= QRT_JOB_KINDS) {
        return QRT_OFF_EARG;
    }
    return o->cpu[job->op] != NULL ? o->cpu[job->op](job) : QRT_OFF_DECLINED;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
