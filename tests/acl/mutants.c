/* The backend with one deliberate fault at a time. The product's sources are
 * compiled as they are: a fault sits between them and the library (dlsym gives
 * out functions that misbehave) or between the dispatcher and their table. */
#define SUITE_MUTANTS
#include <stdint.h>

enum {
    SOUND,
    NO_SYNC,
    SYNC_IGNORED,
    OUT_IN_SUBMIT,
    HOST_POINTER,
    DEVICE_READ,
    WRONG_KIND,
    WRONG_ROOM,
    BLOCK_FREED,
    WORKSPACE_FREED,
    NO_CONTEXT_IN_WAIT,
    REPEAT_IS_FAILURE,
    NOT_OWNER,
    STUB_IS_SUCCESS,
    EXECUTOR_LEFT,
    SECOND_CALL_TWICE,
    TENSOR_LEFT,
    ATTRIBUTE_NOT_SET,
    NOT_INVERTED,
    ADD_AFTER_BUT_EXACT,
    COUNTERS_FAKED,
    CPU_SILENTLY,
    NO_FORK_CHECK,
    UNKNOWN_IS_OK,
    LOST_FORGOTTEN,
    /* beyond the list */
    LATE_SUCCESS,
    NO_REBUILD,
    MASK_NOT_INVERTED,
    OFFSET_SIGN,
    CONTEXT_KEPT,
    ZERO_TIMEOUT,
    EXECUTOR_NOT_DROPPED,
    REFUSAL_FORGOTTEN,
    NOT_FINITE_TAKEN,
    MUTANTS
};

static int mutant;
static int mutant_getpid(void);
static void *mutant_dlsym(void *handle, const char *name);

#include "suite.c"

#include <signal.h>

#define getpid  mutant_getpid
#define dlsym   mutant_dlsym
#define process ascend_process
#include "../../runtime/ascend_load.c"
#undef NEEDED
#undef CALL
#include "../../runtime/ascend_aclnn.c"
#define bytes_of port_bytes
#include "../../runtime/ascend_aclop.c"
#undef bytes_of
#include "../../runtime/ascend_codes.c"
#include "../../runtime/ascend_jobs.c"
#undef BIT
#include "../../runtime/ascend_stage.c"
#define launch launch_any
#define idle   ascend_idle
#define enter  ascend_enter
#define qrt_ascend_is_plain(job)                                               \
    (mutant == NOT_FINITE_TAKEN || qrt_ascend_is_plain(job))
#include "../../runtime/offload_ascend.c"
#undef launch
#undef enter
#undef qrt_ascend_is_plain
#undef getpid
#undef dlsym

/* --------------------------------------------- below: the library's calls */

static struct ascend_calls real;
static bool in_wait, failed_call;
static void *first_block;

static int32_t fake_sync(void *stream, int32_t timeout)
{
    int32_t code;

    if (mutant == NO_SYNC) {
        return 0;
    }
    code = real.aclrtSynchronizeStreamWithTimeout(
        stream, mutant == ZERO_TIMEOUT ? 0 : timeout);
    if (mutant == SYNC_IGNORED || (mutant == UNKNOWN_IS_OK && code == 999999)) {
        return 0;
    }
    return code;
}

static struct acl_tensor *fake_tensor(const int64_t *a, uint64_t b, int32_t c,
                                      const int64_t *d, int64_t e, int32_t f,
                                      const int64_t *g, uint64_t h, void *p)
{
    static _Alignas(64) uint8_t host[1 << 16];

    return real.aclCreateTensor(a, b, c, d, e, f, g, h,
                                mutant == HOST_POINTER ? host : p);
}

static int32_t fake_copy(void *to, size_t room, const void *from, size_t n,
                         int32_t kind)
{
    if (mutant == DEVICE_READ && kind == 1) {
        return *(volatile uint8_t *)to * 0;
    }
    if (mutant == WRONG_KIND) {
        kind = 3 - kind;
    }
    if (mutant == WRONG_ROOM) {
        room += 1 << 20;
    }
    return real.aclrtMemcpy(to, room, from, n, kind);
}

static int32_t fake_malloc(void **p, size_t n, int32_t policy)
{
    int32_t code = real.aclrtMalloc(p, n, policy);

    if (code == 0 && n > 10000) {
        first_block = *p;
    }
    return code;
}

static int32_t fake_second(void *workspace, uint64_t size,
                           struct acl_executor *executor, void *stream)
{
    int32_t code;

    if (mutant == EXECUTOR_LEFT) {
        return 500002;
    }
    code = real.aclnnAscendQuant(workspace, size, executor, stream);
    failed_call = code != 0;
    if (mutant == SECOND_CALL_TWICE) {
        (void)real.aclnnAscendQuant(workspace, size, executor, stream);
    } else if (mutant == BLOCK_FREED) {
        (void)real.aclrtFree(first_block);
    } else if (mutant == WORKSPACE_FREED && workspace != NULL) {
        (void)real.aclrtFree(workspace);
    }
    return code;
}

static int32_t fake_untensor(const struct acl_tensor *t)
{
    return failed_call ? 0 : real.aclDestroyTensor(t);
}

static int32_t fake_set_context(void *context)
{
    return in_wait ? 0 : real.aclrtSetCurrentContext(context);
}

static int32_t fake_get_context(void **context)
{
    (void)context;
    return 107002;
}

static int32_t fake_init(const char *path)
{
    int32_t code = real.aclInit(path);

    return code == 100002 ? 500000 : code;
}

static int32_t fake_finalise(uint64_t *left)
{
    (void)left;
    return real.aclFinalize();
}

static int32_t stub_init(const char *path)
{
    int32_t code = real.aclInit(path);

    return code == 100039 ? 0 : code;
}

static int32_t stub_count(uint32_t *n)
{
    int32_t code = real.aclrtGetDeviceCount(n);

    *n = code == 100039 ? 1 : *n;
    return code == 100039 ? 0 : code;
}

static const char *stub_name(void)
{
    return "Ascend910B1";
}

static int32_t stub_device(int32_t device)
{
    int32_t code = real.aclrtSetDevice(device);

    return code == 100039 ? 0 : code;
}

static int32_t stub_mode(int32_t *mode)
{
    int32_t code = real.aclrtGetRunMode(mode);

    return code == 100039 ? 0 : code;
}

static int32_t stub_context(void **context, int32_t device)
{
    int32_t code = real.aclrtCreateContext(context, device);

    return code == 100039 ? 0 : code;
}

static int32_t stub_stream(void **stream)
{
    int32_t code = real.aclrtCreateStream(stream);

    return code == 100039 ? 0 : code;
}

static int32_t stub_set(void *context)
{
    int32_t code = real.aclrtSetCurrentContext(context);

    return code == 100039 ? 0 : code;
}

static int32_t stub_malloc(void **p, size_t n, int32_t policy)
{
    int32_t code = real.aclrtMalloc(p, n, policy);

    return code == 100039 ? 0 : code;
}

static int32_t fake_bool(struct acl_attr *attr, const char *name, uint8_t value)
{
    return strcmp(name, "with_offset") == 0
               ? 0
               : real.aclopSetAttrBool(attr, name, value);
}

static int32_t fake_drop(struct acl_executor *executor)
{
    (void)executor;
    return 0;
}

#define FAKE(m, name, fake)                                                    \
    if (mutant == (m) && strcmp(wanted, #name) == 0) {                         \
        __typeof__(&(fake)) f = (fake);                                        \
        memcpy(&p, &f, sizeof p);                                              \
    }

static void *mutant_dlsym(void *handle, const char *wanted)
{
    void *p = dlsym(handle, wanted);

    if (p == NULL) {
        return NULL;
    }
#define CALL(library, need, type, name, parameters)                            \
    if (strcmp(wanted, #name) == 0) {                                          \
        memcpy(&real.name, &p, sizeof p);                                      \
    }
#include "../../runtime/ascend_calls.def"
#undef CALL
    FAKE(NO_SYNC, aclrtSynchronizeStreamWithTimeout, fake_sync)
    FAKE(SYNC_IGNORED, aclrtSynchronizeStreamWithTimeout, fake_sync)
    FAKE(UNKNOWN_IS_OK, aclrtSynchronizeStreamWithTimeout, fake_sync)
    FAKE(ZERO_TIMEOUT, aclrtSynchronizeStreamWithTimeout, fake_sync)
    FAKE(HOST_POINTER, aclCreateTensor, fake_tensor)
    FAKE(DEVICE_READ, aclrtMemcpy, fake_copy)
    FAKE(WRONG_KIND, aclrtMemcpy, fake_copy)
    FAKE(WRONG_ROOM, aclrtMemcpy, fake_copy)
    FAKE(BLOCK_FREED, aclrtMalloc, fake_malloc)
    FAKE(BLOCK_FREED, aclnnAscendQuant, fake_second)
    FAKE(WORKSPACE_FREED, aclnnAscendQuant, fake_second)
    FAKE(EXECUTOR_LEFT, aclnnAscendQuant, fake_second)
    FAKE(SECOND_CALL_TWICE, aclnnAscendQuant, fake_second)
    FAKE(TENSOR_LEFT, aclnnAscendQuant, fake_second)
    FAKE(TENSOR_LEFT, aclDestroyTensor, fake_untensor)
    FAKE(NO_CONTEXT_IN_WAIT, aclrtSetCurrentContext, fake_set_context)
    FAKE(CONTEXT_KEPT, aclrtGetCurrentContext, fake_get_context)
    FAKE(REPEAT_IS_FAILURE, aclInit, fake_init)
    FAKE(NOT_OWNER, aclFinalizeReference, fake_finalise)
    FAKE(STUB_IS_SUCCESS, aclInit, stub_init)
    FAKE(STUB_IS_SUCCESS, aclrtGetDeviceCount, stub_count)
    FAKE(STUB_IS_SUCCESS, aclrtGetSocName, stub_name)
    FAKE(STUB_IS_SUCCESS, aclrtSetDevice, stub_device)
    FAKE(STUB_IS_SUCCESS, aclrtGetRunMode, stub_mode)
    FAKE(STUB_IS_SUCCESS, aclrtCreateContext, stub_context)
    FAKE(STUB_IS_SUCCESS, aclrtCreateStream, stub_stream)
    FAKE(STUB_IS_SUCCESS, aclrtSetCurrentContext, stub_set)
    FAKE(STUB_IS_SUCCESS, aclrtMalloc, stub_malloc)
    FAKE(ATTRIBUTE_NOT_SET, aclopSetAttrBool, fake_bool)
    FAKE(EXECUTOR_NOT_DROPPED, aclDestroyAclOpExecutor, fake_drop)
    return p;
}

static int mutant_getpid(void)
{
    return mutant == NO_FORK_CHECK ? 4711 : (int)getpid();
}

/* ----------------------------------------- above: the backend's own table */

/* What was left undone on the device, and was done here. */
static const struct qrt_off_job *silent_job[8];
static uint32_t silent;

static int32_t bad_query(void *c, const struct qrt_off_job *job,
                         struct qrt_off_reply *reply)
{
    struct ascend *a = c;
    int32_t status;

    if (mutant == REFUSAL_FORGOTTEN) {
        a->refusals = 0;
        a->ops |= 1;
    }
    status = qrt_backend_ascend.query(c, job, reply);
    if (mutant == ADD_AFTER_BUT_EXACT && status == QRT_OFF_OK &&
        job->rule == QRT_RULE_MODULE) {
        reply->exact = QRT_EX_BITEXACT;
    }
    return status;
}

static int32_t submit_changed(void *c, const struct qrt_off_job *job,
                              uint32_t *ticket)
{
    static struct qrt_off_job other[8];
    static struct qrt_off_quant q;
    static struct qrt_antiquantize aq;
    static struct qrt_real recip[64];
    static int32_t negative[64];
    static uint8_t mask[4096];
    static uint32_t next;
    struct qrt_off_job *j = &other[next++ % 8];

    *j = *job;
    if (mutant == NOT_INVERTED && job->op == QRT_JOB_QUANT) {
        q = *(const struct qrt_off_quant *)job->params;
        for (uint32_t i = 0; i < job->channels && i < 64; i++) {
            (void)qrt_real_reciprocal(q.scale[i], &recip[i]);
        }
        q.scale = recip;
        j->params = &q;
    } else if (mutant == OFFSET_SIGN && job->op == QRT_JOB_ANTIQUANT) {
        aq = *(const struct qrt_antiquantize *)job->params;
        for (uint32_t i = 0; aq.offset && i < job->channels && i < 64; i++) {
            negative[i] = -aq.offset[i];
        }
        aq.offset = aq.offset ? negative : NULL;
        j->params = &aq;
    } else if (mutant == MASK_NOT_INVERTED && job->op == QRT_JOB_ULQ_GRAD_MAX) {
        for (uint32_t i = 0; i < job->in[1].count; i++) {
            mask[i] = ((const uint8_t *)job->in[1].ptr)[i] ^ 1;
        }
        j->in[1].ptr = mask;
    }
    return qrt_backend_ascend.submit(c, j, ticket);
}

static int32_t bad_submit(void *c, const struct qrt_off_job *job,
                          uint32_t *ticket)
{
    struct ascend *a = c;
    int32_t status;

    if (mutant == NOT_INVERTED || mutant == OFFSET_SIGN ||
        mutant == MASK_NOT_INVERTED) {
        return submit_changed(c, job, ticket);
    }
    if (mutant == CPU_SILENTLY || (mutant == COUNTERS_FAKED && silent % 2)) {
        struct qrt_off_reply reply;

        status = qrt_backend_ascend.query(c, job, &reply);
        if (status != QRT_OFF_OK) {
            return status;
        }
        silent_job[silent % 8] = job;
        *ticket = 0x80000000u + silent++;
        return QRT_OFF_OK;
    }
    silent++;
    if (mutant == NO_REBUILD) {
        a->rebuild = false;
    }
    status = qrt_backend_ascend.submit(c, job, ticket);
    if (mutant == OUT_IN_SUBMIT && status == QRT_OFF_OK) {
        memset(job->out[0].ptr, 0, 1);
    }
    if (mutant == LOST_FORGOTTEN) {
        a->lost = false;
    }
    return status;
}

static int32_t bad_wait(void *c, uint32_t ticket, uint32_t ms)
{
    struct ascend *a = c;
    int32_t status;

    if (ticket >= 0x80000000u) {
        const struct qrt_off_job *job = silent_job[(ticket & 0xffff) % 8];

        return cpu[job->op](job) == QRT_OK ? QRT_OFF_OK : QRT_OFF_EXEC;
    }
    if (mutant == LATE_SUCCESS) {
        for (uint32_t i = 0; i < ASCEND_SLOTS; i++) {
            a->slot[i].faults = a->faults;
            a->slot[i].stopped = false;
        }
    }
    in_wait = true;
    status = qrt_backend_ascend.wait(c, ticket, ms);
    in_wait = false;
    if (mutant == LOST_FORGOTTEN) {
        a->lost = false;
    }
    return status;
}

static int32_t bad_quiesce(void *c)
{
    struct ascend *a = c;
    int32_t status = qrt_backend_ascend.quiesce(c);

    if (mutant == LOST_FORGOTTEN) {
        a->lost = false;
    }
    return status;
}

/* ------------------------------------------------------------------ runs */

static const struct {
    int mutant;
    const char *name, *check;
} rows[] = {
    {NO_SYNC,              "no synchronise before copy out",  "C.result"           },
    {SYNC_IGNORED,         "result of synchronise ignored",   "E.result"           },
    {OUT_IN_SUBMIT,        "output written in submit",        "E.written-too-early"},
    {HOST_POINTER,         "host pointer given to a kernel",  "C.done-by-device"   },
    {DEVICE_READ,          "device pointer read by the host", "crash"              },
    {WRONG_KIND,           "wrong copy kind",                 "C.done-by-device"   },
    {WRONG_ROOM,           "destMax wrong",                   "C.done-by-device"   },
    {BLOCK_FREED,          "block freed before synchronise",  "B.close-releases"   },
    {WORKSPACE_FREED,      "workspace freed too early",       "B.close-releases"   },
    {NO_CONTEXT_IN_WAIT,   "context not set in wait",         "X.other-thread"     },
    {REPEAT_IS_FAILURE,    "100002 is a failure",             "X.repeat-init"      },
    {NOT_OWNER,            "aclFinalize although not owner",  "X.owner"            },
    {STUB_IS_SUCCESS,      "100039 is success",               "X.stub"             },
    {EXECUTOR_LEFT,        "executor not used up",            "B.close-releases"   },
    {SECOND_CALL_TWICE,    "phase 2 called twice",            "B.close-releases"   },
    {TENSOR_LEFT,          "tensor left on the error path",   "B.close-releases"   },
    {ATTRIBUTE_NOT_SET,    "attribute not set",               "C.mask-is-true"     },
    {NOT_INVERTED,         "scale not inverted",              "C.result"           },
    {ADD_AFTER_BUT_EXACT,  "MODULE claimed bit for bit",      "C.result"           },
    {COUNTERS_FAKED,       "jobs counted that were not done", "F.hits"             },
    {CPU_SILENTLY,         "CPU kernel run silently",         "F.hits"             },
    {NO_FORK_CHECK,        "fork check missing",              "E.fork"             },
    {UNKNOWN_IS_OK,        "unknown code is success",         "E.unknown-once"     },
    {LOST_FORGOTTEN,       "loss not sticky",                 "E.calls-after-loss" },
    {LATE_SUCCESS,         "late success believed",           "E.result"           },
    {NO_REBUILD,           "stream kept after a failure",     "X.arena"            },
    {MASK_NOT_INVERTED,    "mask not inverted",               "X.mask-inverted"    },
    {OFFSET_SIGN,          "sign of the offset",              "X.sign"             },
    {CONTEXT_KEPT,         "caller's context not restored",   "X.context-kept"     },
    {ZERO_TIMEOUT,         "timed call with 0",               "B.close-releases"   },
    {EXECUTOR_NOT_DROPPED, "executor of a refusal left",      "X.workspace"        },
    {REFUSAL_FORGOTTEN,    "refusals forgotten",              "X.no-kernels"       },
    {NOT_FINITE_TAKEN,     "not finite numbers are taken",    "X.not-finite"       }
};

static int out_pipe;

static void crashed(int signal)
{
    (void)signal;
    (void)!write(out_pipe, "crash\n", 6);
    _exit(0);
}

/* The ordinary suite, in a child; the names of the checks that failed. */
static void run_child(int to)
{
    static struct conf_report r;
    static struct qrt_off_backend bad;

    out_pipe = to;
    (void)signal(SIGSEGV, crashed);
    (void)signal(SIGALRM, crashed);
    bad = qrt_backend_ascend;
    bad.query = bad_query;
    bad.submit = bad_submit;
    bad.wait = bad_wait;
    bad.quiesce = bad_quiesce;
    backend = &bad;
    profile = plain_profile;
    ascend_subject.backend = backend;
    conf_run(&ascend_subject, false, &r);
    for (int i = 0; i < CONF_NAMES && r.failed[i] != NULL; i++) {
        (void)!write(to, r.failed[i], strlen(r.failed[i]));
        (void)!write(to, "\n", 1);
    }
    named(false);
    for (int i = 0; i < CONF_NAMES && own_report.failed[i] != NULL; i++) {
        (void)!write(to, own_report.failed[i], strlen(own_report.failed[i]));
        (void)!write(to, "\n", 1);
    }
    _exit(0);
}

static size_t run(int which, char *names, size_t room)
{
    int ends[2];
    size_t n = 0;
    ssize_t got;
    pid_t child;

    mutant = which;
    if (pipe(ends) != 0) {
        return 0;
    }
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(ends[1]);
    }
    close(ends[1]);
    while (n + 1 < room && (got = read(ends[0], names + n, room - 1 - n)) > 0) {
        n += (size_t)got;
    }
    close(ends[0]);
    names[n] = '\0';
    (void)waitpid(child, NULL, 0);
    return n;
}

static bool lists(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = names; (p = strstr(p, name)) != NULL; p += n) {
        if ((p == names || p[-1] == '\n') && p[n] == '\n') {
            return true;
        }
    }
    return false;
}

int main(void)
{
    static char names[1 << 16];
    int missed = 0;

    if (!find_simulator()) {
        puts("the simulator is not there");
        return 2;
    }
    make_models();
    if (run(SOUND, names, sizeof names) != 0) {
        printf("FAILED: the sound backend fails %s", names);
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool caught;

        (void)run(rows[i].mutant, names, sizeof names);
        caught = lists(names, rows[i].check);
        printf("%s: %s: %s\n", caught ? "caught" : "MISSED", rows[i].name,
               rows[i].check);
        if (!caught) {
            printf("    it fails: ");
            for (char *p = names; *p; p++) {
                putchar(*p == '\n' ? ' ' : *p);
            }
            puts("");
        }
        missed += !caught;
    }
    printf("%d of %d caught\n", (int)(sizeof rows / sizeof *rows) - missed,
           (int)(sizeof rows / sizeof *rows));
    return missed != 0;
}
