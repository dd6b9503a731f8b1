/* See conformance.h. Comparisons are written here once more, plainly, so that
 * a fault of qrt_verify does not hide one of a backend. */
#include "conformance.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAP      65536 /* bytes of a buffer                                 */
#define GUARD    64    /* bytes around outputs and ctx                      */
#define CTX_CAP  (1 << 20)
#define CHANNELS 64

static const struct conf_subject *subject;
static struct conf_report *report;
static bool loud;

/* ------------------------------------------------------------- report */

static void enter(const char **list, const char *name)
{
    for (int i = 0; i < CONF_NAMES; i++) {
        if (list[i] == NULL) {
            list[i] = name;
            return;
        }
        if (strcmp(list[i], name) == 0) {
            return;
        }
    }
}

static bool check_at(bool ok, const char *name, int line)
{
    report->checks++;
    if (!ok) {
        report->failures++;
        enter(report->failed, name);
        if (loud) {
            printf("%s: %s (line %d)\n", subject->backend->name, name, line);
        }
    }
    return ok;
}
#define CHECK(ok, name) check_at(ok, name, __LINE__)

static void leave_out(const char *name)
{
    report->skips++;
    enter(report->skipped, name);
}

bool conf_failed(const struct conf_report *r, const char *name)
{
    for (int i = 0; i < CONF_NAMES && r->failed[i] != NULL; i++) {
        if (strcmp(r->failed[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* --------------------------------------------------------- one attachment */

static _Alignas(64) uint8_t ctx_memory[CTX_CAP + 2 * GUARD];
static uint8_t *const ctx = ctx_memory + GUARD;
static struct qrt_offload off;

static const qrt_cpu_fn cpu[QRT_JOB_KINDS] = {QRT_CPU_ALL_F32};

static bool ctx_guarded(void)
{
    uint32_t size = subject->backend->ctx_size;

    for (int i = 0; i < GUARD; i++) {
        if (ctx_memory[i] != 0xA5 || ctx[size + (uint32_t)i] != 0xA5) {
            return false;
        }
    }
    return true;
}

static void fresh_object(void)
{
    memset(&off, 0, sizeof off);
    off.cpu = cpu;
    off.timeout_ms = 20;
}

static void fresh(void)
{
    fresh_object();
    memset(ctx_memory, 0xA5, subject->backend->ctx_size + 2 * GUARD);
}

static int32_t attach(void)
{
    fresh();
    return qrt_offload_attach(&off, subject->backend, ctx,
                              subject->backend->ctx_size, NULL, subject->cfg);
}

static void begin(void)
{
    subject->reset();
    CHECK(attach() == QRT_OFF_OK, "B.open");
}

static void end(void)
{
    qrt_offload_detach(&off);
    CHECK(ctx_guarded(), "B.ctx-guard");
    CHECK(subject->live() == 0, "B.close-releases");
}

/* ------------------------------------------------------------------ jobs */

/* A job with its buffers. Outputs lie between guards. */
struct bench {
    struct qrt_off_job job;
    struct qrt_off_quant quant;
    struct qrt_antiquantize antiquant;
    struct qrt_off_ulq ulq;
    struct qrt_off_ifmr ifmr;
    struct qrt_real scale[CHANNELS], recip[CHANNELS];
    int32_t zero[CHANNELS];
    _Alignas(8) uint8_t in[4][CAP];
    _Alignas(8) uint8_t out[4][CAP + 2 * GUARD];
    _Alignas(8) uint8_t ref[4][CAP + 2 * GUARD];
};

static struct bench a_bench, more[8];
static _Alignas(8) uint8_t ifmr_scratch[4u << 20];
static uint32_t ifmr_ratios[61];
static uint64_t seed;

static uint32_t random_bits(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) ^ (uint32_t)(seed >> 11);
}

static float random_float(float magnitude)
{
    return ((float)(random_bits() & 0xffffff) / 8388608.0f - 1.0f) * magnitude;
}

static uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

/* An input slot of n elements; returns its memory. */
static void *input(struct bench *b, int k, uint32_t dtype, uint32_t n)
{
    b->job.in[k].ptr = b->in[k];
    b->job.in[k].count = n;
    b->job.in[k].dtype = (uint8_t)dtype;
    return b->in[k];
}

static void output(struct bench *b, int k, uint32_t dtype, uint32_t n)
{
    b->job.out[k].ptr = b->out[k] + GUARD;
    b->job.out[k].count = n;
    b->job.out[k].dtype = (uint8_t)dtype;
}

static void start_job(struct bench *b, uint32_t op, uint32_t rule,
                      uint32_t outer, uint32_t channels, uint32_t inner)
{
    memset(&b->job, 0, sizeof b->job);
    b->job.size = sizeof b->job;
    b->job.op = (uint8_t)op;
    b->job.rule = (uint8_t)rule;
    b->job.need = QRT_EX_ANY;
    b->job.bits = 8;
    b->job.outer = outer;
    b->job.channels = channels;
    b->job.inner = inner;
    memset(b->out, 0x5A, sizeof b->out);
    memset(b->ref, 0x5A, sizeof b->ref);
}

/* Steps that are no powers of two but for the first; zero points of both
 * parities and signs. */
static void factors(struct bench *b, uint32_t channels, uint32_t variant)
{
    static const float step[] = {0.5f, 0.0371f, 1.0f / 3, 0.1f, 2.7f, 0.0078f};
    static const int32_t zero[] = {0, 1, -1, -7, 24, -128, 127};

    for (uint32_t c = 0; c < channels; c++) {
        (void)qrt_real_from_f32(bits_of(step[(c + variant) % 6]), &b->scale[c]);
        (void)qrt_real_reciprocal(b->scale[c], &b->recip[c]);
        b->zero[c] = zero[(c + variant) % 7];
    }
}

/* Ties, saturation, zeros, denormals, and random values around the range. */
static void real_values(float *x, uint32_t n, float step)
{
    static const float special[] = {0.0f,    -0.0f,    1e-40f, -1e-45f,
                                    3.4e38f, -3.4e38f, 1e9f,   -1e9f};

    for (uint32_t i = 0; i < n; i++) {
        if (i % 3 == 0) {
            x[i] =
                ((float)((int32_t)(random_bits() % 600) - 300) + 0.5f) * step;
        } else {
            x[i] = random_float(200 * step);
        }
        if (i % 29 == 7) {
            x[i] = special[random_bits() % 8];
        }
        if (i % 31 == 11 && !subject->finite_only) {
            x[i] = i & 1 ? NAN : i & 2 ? INFINITY : -INFINITY;
        }
    }
}

static void quant_job(struct bench *b, uint32_t op, uint32_t rule,
                      uint32_t outer, uint32_t channels, uint32_t inner,
                      uint32_t variant)
{
    static const float step[] = {0.5f, 0.0371f, 1.0f / 3, 0.1f, 2.7f, 0.0078f};
    uint32_t n = outer * channels * inner;

    start_job(b, op, rule, outer, channels, inner);
    factors(b, channels, variant);
    b->quant.scale = b->scale;
    b->quant.recip = b->recip;
    b->quant.zero_point = b->zero;
    b->quant.frac = 0;
    real_values(input(b, 0, QRT_T_F32, n), n, step[variant % 6]);
    output(b, 0, QRT_T_I8, n);
    b->job.params = &b->quant;
    b->job.params_size = sizeof b->quant;
}

static void antiquant_job(struct bench *b, uint32_t rule, uint32_t outer,
                          uint32_t channels, uint32_t inner, uint32_t dtype,
                          uint32_t variant)
{
    uint32_t n = outer * channels * inner;
    int8_t *q;

    start_job(b, QRT_JOB_ANTIQUANT, rule, outer, channels, inner);
    factors(b, channels, variant);
    b->antiquant.scale = b->scale;
    b->antiquant.offset = b->zero;
    b->antiquant.frac = 0;
    b->antiquant.sqrt_mode = (variant & 4) != 0;
    q = input(b, 0, QRT_T_I8, n);
    for (uint32_t i = 0; i < n; i++) {
        q[i] = (int8_t)(i < 256 ? i : random_bits());
    }
    output(b, 0, dtype, n);
    b->job.params = &b->antiquant;
    b->job.params_size = sizeof b->antiquant;
}

static void masks(struct bench *b, int k, uint32_t n)
{
    uint8_t *m = input(b, k, QRT_T_BOOL8, n);

    for (uint32_t i = 0; i < n; i++) {
        m[i] = random_bits() % 4 != 0;
    }
}

static void gradient_job(struct bench *b, uint32_t op, uint32_t rule,
                         uint32_t n)
{
    float *g;

    start_job(b, op, rule, 1, 1, n);
    g = input(b, 0, QRT_T_F32, n);
    for (uint32_t i = 0; i < n; i++) {
        g[i] = random_float(3.0f);
    }
    masks(b, 1, n);
    if (op == QRT_JOB_ULQ_GRAD_X) {
        masks(b, 2, n);
        output(b, 0, QRT_T_F32, n);
        return;
    }
    g = input(b, 2, QRT_T_F32, n);
    for (uint32_t i = 0; i < n; i++) {
        g[i] = random_float(0.5f / 255);
    }
    output(b, 0, QRT_T_F32, 1);
}

static void ulq_job(struct bench *b, uint32_t rule, uint32_t n,
                    uint32_t variant)
{
    float *clips, *step;

    start_job(b, QRT_JOB_ULQ_FWD, rule, 1, 1, n);
    memset(&b->ulq, 0, sizeof b->ulq);
    b->ulq.asymmetric = 1;
    b->ulq.fixed_min = (variant & 1) != 0;
    b->ulq.max_init_bits = bits_of(1.0f);
    b->ulq.min_init_bits = bits_of(-1.0f);
    clips = input(b, 1, QRT_T_F32, 2);
    clips[0] = 2.5f + (float)variant;
    clips[1] = -1.25f;
    step = input(b, 2, QRT_T_F32, 1);
    *step = (clips[0] - (b->ulq.fixed_min ? 0.0f : clips[1])) / 255;
    real_values(input(b, 0, QRT_T_F32, n), n, *step);
    output(b, 0, QRT_T_F32, n);
    output(b, 1, QRT_T_BOOL8, n);
    output(b, 2, QRT_T_BOOL8, n);
    output(b, 3, QRT_T_F32, n);
    b->job.params = &b->ulq;
    b->job.params_size = sizeof b->ulq;
}

/* Binary64 bits of a constant. */
static uint64_t wide_bits(double d)
{
    uint64_t u;

    memcpy(&u, &d, sizeof u);
    return u;
}

static void ifmr_job(struct bench *b, uint32_t rule, uint32_t n)
{
    const uint32_t bins = 512;
    float *x, *range;
    int32_t *sum;

    start_job(b, QRT_JOB_IFMR, rule, 1, 1, n);
    memset(&b->ifmr, 0, sizeof b->ifmr);
    for (uint32_t i = 0; i < 61; i++) {
        ifmr_ratios[i] = bits_of((float)(0.7 + 0.01 * i));
    }
    b->ifmr.ratios = ifmr_ratios;
    b->ifmr.ratio_count = 61;
    b->ifmr.asymmetric = 1;
    b->ifmr.max_percentile = b->ifmr.min_percentile = wide_bits(0.999999);
    b->ifmr.scratch = ifmr_scratch;
    b->ifmr.scratch_size = sizeof ifmr_scratch;
    b->ifmr.start_bits = bits_of(0.7f);
    b->ifmr.end_bits = bits_of(1.3f);
    b->ifmr.step_bits = bits_of(0.01f);
    x = input(b, 0, QRT_T_F32, n);
    range = input(b, 1, QRT_T_F32, 2);
    sum = input(b, 2, QRT_T_I32, bins);
    memset(sum, 0, bins * sizeof *sum);
    range[0] = range[1] = 0;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = random_float(1) * random_float(2) + 0.25f;
        range[0] = i == 0 || x[i] < range[0] ? x[i] : range[0];
        range[1] = i == 0 || x[i] > range[1] ? x[i] : range[1];
    }
    for (uint32_t i = 0; i < n; i++) {
        float width = range[1] - range[0];
        uint32_t bin =
            width > 0 ? (uint32_t)((x[i] - range[0]) / width * (float)bins) : 0;

        sum[bin < bins ? bin : bins - 1]++;
    }
    for (uint32_t i = 1; i < bins; i++) {
        sum[i] += sum[i - 1];
    }
    output(b, 0, QRT_T_F32, 1);
    output(b, 1, QRT_T_I32, 1);
    b->job.params = &b->ifmr;
    b->job.params_size = sizeof b->ifmr;
}

/* ------------------------------------------------------------ comparison */

/* The CPU's results, in b->ref. */
static int32_t reference(struct bench *b)
{
    struct qrt_off_job ref = b->job;

    for (int k = 0; k < 4; k++) {
        if (ref.out[k].ptr != NULL) {
            ref.out[k].ptr =
                b->ref[k] + ((uint8_t *)ref.out[k].ptr - b->out[k]);
        }
    }
    return cpu[ref.op](&ref);
}

static int64_t ordered(uint32_t u, uint32_t sign)
{
    return (u & sign) ? -(int64_t)(u & (sign - 1)) : (int64_t)u;
}

static int64_t gap(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Whether element i of output k is within the class. */
static bool within(const struct bench *b, int k, uint32_t i, uint32_t tol)
{
    const void *x = b->out[k] + GUARD, *y = b->ref[k] + GUARD;

    switch (b->job.out[k].dtype) {
    case QRT_T_I8:
        return gap(((const int8_t *)x)[i], ((const int8_t *)y)[i]) <= tol;
    case QRT_T_I32:
        return gap(((const int32_t *)x)[i], ((const int32_t *)y)[i]) <= tol;
    case QRT_T_F16: {
        uint16_t p = ((const uint16_t *)x)[i], q = ((const uint16_t *)y)[i];
        return gap(ordered(p, 0x8000), ordered(q, 0x8000)) <= tol;
    }
    case QRT_T_F32: {
        float p = ((const float *)x)[i], q = ((const float *)y)[i];

        if (b->job.op == QRT_JOB_ULQ_FWD && k == 0) {
            float step = *(const float *)b->job.in[2].ptr;

            return fabsf(p - q) <= (float)tol * step * 1.00001f;
        }
        if (b->job.op == QRT_JOB_ULQ_FWD) {
            const float *yd = (const void *)(b->out[0] + GUARD);
            const float *yr = (const void *)(b->ref[0] + GUARD);

            return yd[i] != yr[i] || fabsf(p - q) <= (float)tol * 0x1p-24f;
        }
        return (isnan(p) && isnan(q)) ||
               gap(ordered(bits_of(p), 0x80000000u),
                   ordered(bits_of(q), 0x80000000u)) <= tol;
    }
    default:
        if (b->job.op == QRT_JOB_ULQ_FWD) {
            const float *yd = (const void *)(b->out[0] + GUARD);
            const float *yr = (const void *)(b->ref[0] + GUARD);

            if (yd[i] != yr[i]) {
                return true;
            }
        }
        return ((const uint8_t *)x)[i] == ((const uint8_t *)y)[i];
    }
}

static uint32_t bytes_of(const struct qrt_off_out *out)
{
    return out->count * qrt_dtype_size(out->dtype);
}

static bool agrees(const struct bench *b, const struct qrt_off_reply *reply)
{
    for (int k = 0; k < 4; k++) {
        const struct qrt_off_out *out = &b->job.out[k];

        if (out->ptr == NULL || reply->exact == QRT_EX_ANY) {
            continue;
        }
        if (reply->exact == QRT_EX_BITEXACT) {
            if (memcmp(b->out[k] + GUARD, b->ref[k] + GUARD, bytes_of(out))) {
                return false;
            }
            continue;
        }
        for (uint32_t i = 0; i < out->count; i++) {
            if (!within(b, k, i, reply->tol)) {
                return false;
            }
        }
    }
    return true;
}

static const struct qrt_off_reply exactly = {QRT_EX_BITEXACT, 0, 0};

/* Whether the outputs still hold the pattern they started with. */
static bool untouched(const struct bench *b)
{
    for (size_t i = 0; i < sizeof b->out; i++) {
        if (((const uint8_t *)b->out)[i] != 0x5A) {
            return false;
        }
    }
    return true;
}

static bool guarded(const struct bench *b)
{
    for (int k = 0; k < 4; k++) {
        uint32_t used = b->job.out[k].ptr ? bytes_of(&b->job.out[k]) : 0;

        for (uint32_t i = 0; i < GUARD; i++) {
            if (b->out[k][i] != 0x5A || b->out[k][GUARD + used + i] != 0x5A) {
                return false;
            }
        }
    }
    return true;
}

/* ------------------------------------------------------------- A: table */

static int32_t attach_with(const struct qrt_off_backend *backend, void *memory,
                           size_t size)
{
    int32_t status;

    subject->reset();
    fresh();
    status =
        qrt_offload_attach(&off, backend, memory, size, NULL, subject->cfg);
    if (status == QRT_OFF_OK) {
        qrt_offload_detach(&off);
    } else {
        CHECK(off.state == QRT_OFF_ABSENT, "A.refused-stays-absent");
    }
    return status;
}

static void table(void)
{
    const struct qrt_off_backend *t = subject->backend;
    struct qrt_off_backend other = *t;

    CHECK(t->abi == QRT_OFF_ABI && t->size == sizeof *t, "A.version");
    CHECK(t->name != NULL && t->name[0] != '\0', "A.name");
    CHECK(t->op_mask != 0 && t->op_mask >> QRT_JOB_KINDS == 0, "A.mask");
    CHECK(t->ctx_align != 0 && (t->ctx_align & (t->ctx_align - 1)) == 0 &&
              t->ctx_align <= 64 && t->ctx_size <= CTX_CAP,
          "A.ctx");
    CHECK(t->max_inflight >= 1, "A.inflight");
    CHECK(t->open && t->close && t->query && t->submit && t->wait && t->quiesce,
          "A.members");
    CHECK(attach_with(t, ctx, t->ctx_size) == QRT_OFF_OK, "A.attach");
    CHECK(attach_with(NULL, ctx, CTX_CAP) == QRT_OFF_ENODEV, "A.null");
    CHECK(attach_with(t, ctx, t->ctx_size - 1) == QRT_OFF_ENOMEM,
          "A.ctx-short");
    if (t->ctx_align > 1) {
        CHECK(attach_with(t, ctx + 1, t->ctx_size) == QRT_OFF_ENOMEM,
              "A.ctx-misaligned");
    }
    other.abi = t->abi + (1u << 16);
    CHECK(attach_with(&other, ctx, CTX_CAP) == QRT_OFF_EABI, "A.major");
    other = *t;
    other.size--;
    CHECK(attach_with(&other, ctx, CTX_CAP) == QRT_OFF_EABI, "A.size");
    other = *t;
    other.quiesce = NULL;
    CHECK(attach_with(&other, ctx, CTX_CAP) == QRT_OFF_EABI, "A.mandatory");
    other = *t;
    other.max_inflight = 0;
    CHECK(attach_with(&other, ctx, CTX_CAP) == QRT_OFF_EABI, "A.inflight-zero");
    subject->reset();
    CHECK(attach() == QRT_OFF_OK &&
              qrt_offload_attach(&off, t, ctx, t->ctx_size, NULL,
                                 subject->cfg) == QRT_OFF_EARG,
          "A.twice");
    qrt_offload_detach(&off);
}

/* -------------------------------------------------------------- B: life */

static uint32_t open_files(void)
{
    uint32_t n = 0;

    for (int fd = 0; fd < 64; fd++) {
        n += lseek(fd, 0, SEEK_CUR) >= 0 || dup2(fd, fd) == fd;
    }
    return n;
}

/* A job any QUANT backend takes, and its answer. */
static bool one_job(void)
{
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 33, 1);
    return reference(&a_bench) == QRT_OK &&
           qrt_run(&off, &a_bench.job) == QRT_OFF_OK &&
           agrees(&a_bench, &exactly);
}

static void *one_job_thread(void *ok)
{
    *(bool *)ok = one_job();
    return NULL;
}

static void fails_to_open(enum conf_fault fault, int32_t expected)
{
    subject->reset();
    if (!subject->inject(fault)) {
        leave_out("B.open-fails");
        return;
    }
    CHECK(attach() == expected, "B.open-status");
    CHECK(off.state == QRT_OFF_ABSENT, "B.open-state");
    CHECK(subject->live() == 0, "B.open-fails-clean");
    CHECK(ctx_guarded(), "B.ctx-guard");
    CHECK(one_job() && off.n_cpu == 1 && off.n_dev == 0, "B.open-cpu");
    qrt_offload_detach(&off);
}

static void life(void)
{
    bool ok = false;
    uint32_t files;
    pthread_t thread;

    begin();
    end();
    files = open_files();
    for (int i = 0; i < 100; i++) {
        (void)attach();
        ok = one_job();
        qrt_offload_detach(&off);
        if (subject->live() != 0 || !ok) {
            break;
        }
    }
    CHECK(ok, "B.reopen");
    CHECK(subject->live() == 0, "B.close-releases");
    CHECK(open_files() == files, "B.files");
    fails_to_open(CONF_OPEN_NODEV, QRT_OFF_ENODEV);
    fails_to_open(CONF_OPEN_NOMEM, QRT_OFF_ENOMEM);
    begin();
    CHECK(one_job() && off.n_dev == 1, "B.first-thread");
    if (pthread_create(&thread, NULL, one_job_thread, &ok) == 0) {
        pthread_join(thread, NULL);
        CHECK(ok && off.n_dev == 2, "B.second-thread");
    }
    end();
    begin();
    if (subject->inject(CONF_CLOSE_FAILS)) {
        qrt_offload_detach(&off);
        CHECK(off.state == QRT_OFF_ABSENT, "B.close-fails");
    } else {
        qrt_offload_detach(&off);
        leave_out("B.close-fails");
    }
}

/* ------------------------------------------------------- C: correctness */

static uint32_t accepted[QRT_JOB_KINDS];

static void count(const struct qrt_off_reply *reply, int32_t answer)
{
    if (answer != QRT_OFF_OK) {
        report->declined++;
    } else if (reply->exact == QRT_EX_BITEXACT) {
        report->bitexact++;
    } else if (reply->exact == QRT_EX_BOUNDED) {
        report->bounded++;
    } else {
        report->any++;
    }
}

/* Runs the job twice and holds the result against what was promised. */
static void correct(struct bench *b)
{
    static uint8_t in[4][CAP];
    static uint8_t first[4][CAP + 2 * GUARD];
    struct qrt_off_reply reply = {QRT_EX_ANY, 0, 0};
    uint32_t done = off.n_dev, jobs = subject->jobs();
    int32_t answer = off.backend->query(off.ctx, &b->job, &reply);

    count(&reply, answer);
    if (answer != QRT_OFF_OK) {
        CHECK(answer == QRT_OFF_DECLINED, "C.answer");
        CHECK(untouched(b), "D.untouched");
        return;
    }
    accepted[b->job.op]++;
    memcpy(in, b->in, sizeof in);
    CHECK(reply.exact <= QRT_EX_ANY, "C.class");
    CHECK(reference(b) == QRT_OK, "C.reference");
    CHECK(qrt_run(&off, &b->job) == QRT_OFF_OK, "C.status");
    CHECK(off.n_dev == done + 1, "C.done-by-device");
    CHECK(subject->jobs() == jobs + 1, "F.hits");
    CHECK(agrees(b, &reply), "C.result");
    CHECK(guarded(b), "C.guard");
    CHECK(memcmp(in, b->in, sizeof in) == 0, "C.inputs");
    memcpy(first, b->out, sizeof first);
    CHECK(qrt_run(&off, &b->job) == QRT_OFF_OK &&
              memcmp(first, b->out, sizeof first) == 0,
          "C.repeat");
}

static void correct_quant(void)
{
    static const uint32_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 997, 1000};
    static const uint32_t shapes[][3] = {
        {2, 3,  5},
        {1, 7,  9},
        {4, 16, 1}
    };
    static const uint8_t ops[] = {QRT_JOB_QUANT, QRT_JOB_WQUANT};

    for (uint32_t o = 0; o < 2; o++) {
        if ((subject->backend->op_mask >> ops[o] & 1) == 0) {
            continue;
        }
        for (uint32_t rule = 0; rule < QRT_RULE_KINDS; rule++) {
            for (uint32_t i = 0; i < 10; i++) {
                quant_job(&a_bench, ops[o], rule, 1, 1, sizes[i], i);
                correct(&a_bench);
            }
            for (uint32_t i = 0; i < 3; i++) {
                quant_job(&a_bench, ops[o], rule, shapes[i][0], shapes[i][1],
                          shapes[i][2], i);
                correct(&a_bench);
            }
            quant_job(&a_bench, ops[o], rule, 1, 1, subject->largest, 2);
            correct(&a_bench);
            quant_job(&a_bench, ops[o], rule, 1, 1, 64, 2);
            a_bench.quant.zero_point = NULL;
            correct(&a_bench);
        }
    }
}

static void correct_others(void)
{
    static const uint32_t sizes[] = {1, 31, 32, 33, 256, 997};
    uint32_t mask = subject->backend->op_mask;

    for (uint32_t rule = QRT_RULE_AMCT; rule <= QRT_RULE_CANN; rule += 2) {
        for (uint32_t i = 0; i < 6; i++) {
            if (mask >> QRT_JOB_ANTIQUANT & 1) {
                antiquant_job(&a_bench, rule, 1, 1, sizes[i], QRT_T_F32, i);
                correct(&a_bench);
                antiquant_job(&a_bench, rule, 1, 1, sizes[i], QRT_T_F16, i);
                correct(&a_bench);
                antiquant_job(&a_bench, rule, sizes[i], 3, 1, QRT_T_F16, i);
                correct(&a_bench);
            }
            for (uint32_t op = QRT_JOB_ULQ_GRAD_X; op < QRT_JOB_KINDS; op++) {
                if (mask >> op & 1) {
                    gradient_job(&a_bench, op, rule, sizes[i]);
                    correct(&a_bench);
                }
            }
            if (mask >> QRT_JOB_ULQ_FWD & 1) {
                ulq_job(&a_bench, rule, sizes[i], i);
                correct(&a_bench);
            }
            if (mask >> QRT_JOB_IFMR & 1) {
                ifmr_job(&a_bench, rule, sizes[i]);
                correct(&a_bench);
            }
        }
    }
}

/* Codes to misaligned memory: taken or not, never wrong. */
static void correct_unaligned(void)
{
    for (uint32_t shift = 1; shift < 4; shift++) {
        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 65, 1);
        a_bench.job.out[0].ptr = (uint8_t *)a_bench.job.out[0].ptr + shift;
        CHECK(qrt_run(&off, &a_bench.job) == QRT_OFF_OK, "C.unaligned");
        CHECK(reference(&a_bench) == QRT_OK &&
                  memcmp(a_bench.out[0], a_bench.ref[0],
                         sizeof a_bench.out[0]) == 0,
              "C.unaligned");
    }
}

static void correctness(void)
{
    memset(accepted, 0, sizeof accepted);
    begin();
    correct_quant();
    correct_others();
    correct_unaligned();
    for (uint32_t op = 0; op < QRT_JOB_KINDS; op++) {
        if (subject->backend->op_mask >> op & 1) {
            CHECK(accepted[op] != 0, "C.mask-is-true");
        }
    }
    CHECK(off.n_failed == 0, "C.no-failure");
    end();
}

/* ----------------------------------------------------------- D: decline */

/* A job that must be refused without a trace. */
static void refused(struct bench *b, const char *name)
{
    struct qrt_off_reply reply = {QRT_EX_ANY, 0, 0};
    uint32_t ticket = 0, calls = subject->calls();
    const struct qrt_off_backend *t = off.backend;
    int32_t answer = t->query(off.ctx, &b->job, &reply);

    CHECK(answer == QRT_OFF_DECLINED, name);
    CHECK(subject->calls() == calls, "D.calls");
    if (answer == QRT_OFF_DECLINED) {
        answer = t->submit(off.ctx, &b->job, &ticket);
        CHECK(answer == QRT_OFF_DECLINED, "D.submit");
        if (answer == QRT_OFF_OK) {
            (void)t->wait(off.ctx, ticket, 20);
        }
    }
    CHECK(untouched(b), "D.untouched");
}

static void plain(struct bench *b)
{
    quant_job(b, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 33, 1);
}

static void decline(void)
{
    struct bench *b = &a_bench;
    struct qrt_off_reply reply;
    uint32_t live;

    begin();
    plain(b);
    b->job.rule = 255;
    refused(b, "D.rule");
    plain(b);
    b->job.bits = 5;
    refused(b, "D.bits");
    plain(b);
    b->job.params_size = 0;
    refused(b, "D.params");
    plain(b);
    b->job.params_size--;
    refused(b, "D.params");
    plain(b);
    b->job.in[0].dtype = QRT_T_U64;
    refused(b, "D.dtype-in");
    plain(b);
    b->job.out[0].dtype = QRT_T_U64;
    refused(b, "D.dtype-out");
    plain(b);
    b->job.in[0].count = 0;
    refused(b, "D.count");
    plain(b);
    b->job.out[0].count--;
    refused(b, "D.count");
    plain(b);
    b->job.op = 31;
    refused(b, "D.op");
    if ((subject->largest + 1) * sizeof(float) <= CAP) {
        quant_job(b, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, subject->largest + 1,
                  1);
        refused(b, "D.largest");
    }
    plain(b);
    live = subject->live();
    for (int i = 0; i < 10000; i++) {
        (void)off.backend->query(off.ctx, &b->job, &reply);
    }
    CHECK(subject->live() == live, "D.query-pure");
    b->job.rule = 255;
    for (int i = 0; i < 10000; i++) {
        b->job.rule = 255;
        (void)qrt_run(&off, &b->job);
    }
    CHECK(subject->live() == live && off.n_dev == 0, "D.decline-pure");
    CHECK(off.state == QRT_OFF_READY, "D.state");
    plain(b);
    CHECK(one_job() && off.n_dev == 1, "D.query-pure");
    end();
}

/* --------------------------------------------------- several jobs at once */

static const uint32_t forward[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint32_t slots(void)
{
    uint32_t n = subject->backend->max_inflight;

    return n > 8 ? 8 : n;
}

/* n jobs started one after the other, finished in some order. */
static void in_order(uint32_t n, const uint32_t *order, const char *name)
{
    uint32_t ticket[8];

    for (uint32_t i = 0; i < n; i++) {
        quant_job(&more[i], QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 64, i);
        CHECK(reference(&more[i]) == QRT_OK &&
                  qrt_start(&off, &more[i].job, &ticket[i]) == QRT_OFF_OK,
              name);
    }
    if (n == off.backend->max_inflight) {
        uint32_t none;

        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 64, 5);
        CHECK(qrt_start(&off, &a_bench.job, &none) == QRT_OFF_BUSY && none == 0,
              name);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = order[i];

        CHECK(qrt_finish(&off, &more[k].job, ticket[k]) == QRT_OFF_OK &&
                  agrees(&more[k], &exactly),
              name);
    }
    CHECK(off.busy == 0, name);
}

/* ---------------------------------------------------------- E: failures */

/* What a fault must lead to, from state READY with max_streak 3. */
struct expectation {
    enum conf_fault fault;
    const char *name;
    uint8_t state;      /* after the job                                  */
    uint8_t failed;     /* n_failed                                       */
    uint8_t declined;   /* n_declined                                     */
    bool device;        /* the result comes from the device               */
    uint8_t more;       /* further jobs that fail                         */
    uint8_t last_state; /* after these                                    */
};

static const struct expectation expectations[] = {
    {CONF_NO_ROOM,          "E.no-room",          QRT_OFF_READY,   0, 1, false, 0, QRT_OFF_READY  },
    {CONF_LAUNCH_FAILS,     "E.launch-fails",     QRT_OFF_SUSPECT, 1, 0, false, 0,
     QRT_OFF_SUSPECT                                                                              },
    {CONF_LAUNCH_LOST,      "E.launch-lost",      QRT_OFF_DEAD,    1, 0, false, 0,
     QRT_OFF_DEAD                                                                                 },
    {CONF_JOB_FAILS,        "E.job-fails",        QRT_OFF_SUSPECT, 1, 0, false, 0,
     QRT_OFF_SUSPECT                                                                              },
    {CONF_JOB_LOST,         "E.job-lost",         QRT_OFF_DEAD,    1, 0, false, 0, QRT_OFF_DEAD   },
    {CONF_JOBS_FAIL,        "E.jobs-fail",        QRT_OFF_SUSPECT, 1, 0, false, 2,
     QRT_OFF_DEAD                                                                                 },
    {CONF_UNKNOWN_ONCE,     "E.unknown-once",     QRT_OFF_SUSPECT, 1, 0, false, 0,
     QRT_OFF_SUSPECT                                                                              },
    {CONF_UNKNOWN_TWICE,    "E.unknown-twice",    QRT_OFF_SUSPECT, 1, 0, false, 1,
     QRT_OFF_DEAD                                                                                 },
    {CONF_TIMEOUT_CONSUMED, "E.timeout-consumed", QRT_OFF_SUSPECT, 1, 0, false,
     0,                                                                            QRT_OFF_SUSPECT},
    {CONF_TIMEOUT_DONE,     "E.timeout-done",     QRT_OFF_SUSPECT, 1, 0, true,  0,
     QRT_OFF_SUSPECT                                                                              },
    {CONF_TIMEOUT_NEVER,    "E.timeout-never",    QRT_OFF_DEAD,    1, 0, false, 0,
     QRT_OFF_DEAD                                                                                 },
};

/* One job; the outputs must not be touched before it is finished. */
static int32_t halves(struct bench *b)
{
    uint32_t ticket;
    int32_t status = qrt_start(&off, &b->job, &ticket);

    if ((subject->backend->flags & QRT_OFF_DIRECT_OUT) == 0) {
        CHECK(untouched(b), "E.written-too-early");
    }
    return status == QRT_OFF_OK ? qrt_finish(&off, &b->job, ticket)
                                : qrt_run(&off, &b->job);
}

/* A job with data of its own: a late or stale result of another one cannot
 * pass for it. */
static bool job_by(int32_t (*run)(struct bench *b), uint32_t i)
{
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 40 + i, i);
    return reference(&a_bench) == QRT_OK && run(&a_bench) == QRT_OFF_OK &&
           agrees(&a_bench, &exactly) && guarded(&a_bench);
}

static bool next_job(uint32_t i)
{
    return job_by(halves, i);
}

static int32_t whole(struct bench *b)
{
    return qrt_run(&off, &b->job);
}

static void after_loss(void)
{
    uint32_t calls = subject->calls(), dev = off.n_dev, ticket = 0;
    struct qrt_off_reply reply;

    for (uint32_t i = 0; i < 5; i++) {
        CHECK(next_job(i), "E.result");
    }
    CHECK(subject->calls() == calls, "E.calls-after-loss");
    CHECK(off.n_dev == dev && off.state == QRT_OFF_DEAD, "E.sticky");
    plain(&a_bench);
    CHECK(off.backend->query(off.ctx, &a_bench.job, &reply) != QRT_OFF_OK ||
              off.backend->submit(off.ctx, &a_bench.job, &ticket) != QRT_OFF_OK,
          "E.backend-sticky");
    CHECK(subject->calls() == calls, "E.calls-after-loss");
}

/* Whether a loss was the device's word, not the dispatcher's count. */
static bool by_device(const struct expectation *e)
{
    return e->last_state == QRT_OFF_DEAD && e->fault != CONF_JOBS_FAIL;
}

static void fails(const struct expectation *e, uint32_t earlier)
{
    begin();
    for (uint32_t i = 0; i < earlier; i++) {
        CHECK(next_job(i), "E.result");
    }
    CHECK(off.n_dev == earlier, "E.before");
    if (!subject->inject(e->fault)) {
        leave_out(e->name);
        end();
        return;
    }
    CHECK(job_by(whole, earlier), "E.result");
    CHECK(off.state == e->state, e->name);
    CHECK(off.n_failed == e->failed && off.n_declined == e->declined &&
              off.n_dev == earlier + e->device &&
              off.n_cpu == (e->device ? 0u : 1u),
          "E.counters");
    for (uint32_t i = 0; i < e->more; i++) {
        CHECK(job_by(whole, i + 3), "E.result");
    }
    CHECK(off.state == e->last_state, e->name);
    if (by_device(e)) {
        after_loss();
    } else if (e->last_state != QRT_OFF_DEAD) {
        uint32_t dev = off.n_dev;

        for (uint32_t i = 0; i < subject->backend->max_inflight + 2u; i++) {
            CHECK(next_job(i), "E.result");
        }
        CHECK(off.state == QRT_OFF_READY && off.streak == 0, "E.recovers");
        CHECK(off.n_dev == dev + subject->backend->max_inflight + 2u,
              "E.recovers");
        in_order(slots(), forward, "E.slots");
    }
    end();
}

/* The device goes with all slots in use. */
static void lost_in_flight(enum conf_fault fault)
{
    uint32_t n = slots(), ticket[8];

    begin();
    for (uint32_t i = 0; i < n; i++) {
        quant_job(&more[i], QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 50 + i, i);
        CHECK(reference(&more[i]) == QRT_OK &&
                  qrt_start(&off, &more[i].job, &ticket[i]) == QRT_OFF_OK,
              "E.in-flight-start");
    }
    if (!subject->inject(fault)) {
        leave_out("E.in-flight");
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        CHECK(qrt_finish(&off, &more[i].job, ticket[i]) == QRT_OFF_OK &&
                  agrees(&more[i], &exactly),
              "E.in-flight");
    }
    if (n != 0) {
        CHECK(off.state == QRT_OFF_DEAD && off.busy == 0 && off.n_failed == n,
              "E.in-flight-state");
    }
    end();
}

static void forked(void)
{
    int status = 0;
    uint32_t calls;
    pid_t child;

    if (!subject->process_bound) {
        leave_out("E.fork");
        return;
    }
    begin();
    CHECK(next_job(0), "E.result");
    calls = subject->calls();
    fflush(stdout);
    child = fork();
    if (child == 0) {
        bool ok = next_job(1) && off.state == QRT_OFF_DEAD && off.n_dev == 1;

        qrt_offload_detach(&off);
        _exit(ok && subject->calls() == calls ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child &&
              WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "E.fork");
    CHECK(next_job(2) && off.n_dev == 2, "E.fork-parent");
    end();
}

static void failures(void)
{
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        fails(&expectations[i], 0);
        fails(&expectations[i], 2);
    }
    lost_in_flight(CONF_JOB_LOST);
    lost_in_flight(CONF_TIMEOUT_NEVER);
    forked();
}

/* ----------------------------------------------------------- F: honesty */

static void caught(enum conf_fault fault, const char *name)
{
    static struct qrt_off_job ref;

    begin();
    CHECK(next_job(0), "F.before");
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 100, 3);
    ref = a_bench.job;
    ref.out[0].ptr = a_bench.ref[0] + GUARD;
    CHECK(qrt_verify(&off, &a_bench.job, &ref) == QRT_OFF_OK, "F.verify");
    CHECK(next_job(1), "F.before"); /* other data in the device's memory */
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 100, 3);
    if (subject->inject(fault)) {
        CHECK(qrt_verify(&off, &a_bench.job, &ref) == QRT_OFF_MISMATCH, name);
        CHECK(off.state == QRT_OFF_QUARANTINE, "F.quarantine");
        CHECK(next_job(1) && off.state == QRT_OFF_QUARANTINE, "F.quarantine");
    } else {
        leave_out(name);
    }
    end();
}

static void honesty(void)
{
    begin();
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(next_job(i), "F.result");
    }
    CHECK(subject->jobs() == off.n_dev, "F.hits");
    CHECK(off.n_dev == 20 && off.n_cpu == 0, "F.counters");
    end();
    caught(CONF_OFF_BY_ONE, "F.off-by-one");
    caught(CONF_STALE, "F.stale");
}

/* ------------------------------------------------------------- G: order */

static void order(void)
{
    uint32_t n = slots(), index[8] = {7, 6, 5, 4, 3, 2, 1, 0};

    if (n < 2) {
        leave_out("G.order");
    }
    begin();
    in_order(n, forward, "G.order");
    in_order(n, index + 8 - n, "G.order");
    memcpy(index, forward, sizeof index);
    for (uint32_t turn = 0; turn < 20; turn++) {
        for (uint32_t i = n - 1; i > 0; i--) {
            uint32_t k = random_bits() % (i + 1), t = index[i];

            index[i] = index[k];
            index[k] = t;
        }
        in_order(n, index, "G.order");
    }
    CHECK(off.n_failed == 0 && off.n_dev == 22 * n, "G.counters");
    end();
}

void conf_run(const struct conf_subject *s, bool echo, struct conf_report *r)
{
    memset(r, 0, sizeof *r);
    subject = s;
    report = r;
    loud = echo;
    seed = 20;
    table();
    life();
    correctness();
    decline();
    failures();
    honesty();
    order();
    subject->reset();
}
