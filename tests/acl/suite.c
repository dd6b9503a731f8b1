/* Tests of the Ascend backend on the simulator. test_ascend.sh builds it in
 * several ways and runs it with LD_LIBRARY_PATH naming one of the simulator's
 * folders:
 *
 *   suite conformance     every profile of the folder through groups A to G
 *   suite named           what the groups do not ask
 *   suite inject [STEP]   every call fails in turn with every code
 *   suite threads         for the thread sanitizer
 *   suite absent          without a library; nothing of the simulator either
 *   suite open STATUS     attach gives this status and jobs are right
 *   suite probe           the same when loading ends the process
 *   suite hide FROM TO NAME   a copy of a library that lacks a function
 *   suite mutant N        (of the mutants' build) the checks that fail */
#include "../offload/conformance.c"

#include "qrt_ascend.h"
#include "sim.h"

#include <dlfcn.h>
#include <time.h>

static const struct aclsim *sim;
static const struct qrt_off_backend *backend = &qrt_backend_ascend;

/* ------------------------------------------------------------ subject */

#define LARGEST 4000
#define SIZES   6

static const uint32_t model_sizes[SIZES] = {1, 31, 32, 33, 256, 997};
static struct qrt_ascend_model models[5 * SIZES];
static char blobs[5 * SIZES][64];
static struct qrt_off_ulq model_ulq[2];
static struct qrt_off_ifmr model_ifmr;
static struct qrt_ascend_cfg cfg = {
    sizeof cfg, 0, 0, LARGEST, 0, 4096, 5, 0, NULL, NULL, models, 5 * SIZES};

static void make_models(void)
{
    static const struct {
        uint8_t op;
        const char *name;
    } rows[5] = {
        {QRT_JOB_IFMR,         "IFMR"              },
        {QRT_JOB_ULQ_FWD,      "ActsULQ"           },
        {QRT_JOB_ULQ_GRAD_X,   "ActsULQInputGrad"  },
        {QRT_JOB_ULQ_GRAD_MAX, "ActULQClampMaxGrad"},
        {QRT_JOB_ULQ_GRAD_MIN, "ActULQClampMinGrad"}
    };

    model_ulq[1].fixed_min = 1;
    model_ifmr.asymmetric = 1;
    model_ifmr.max_percentile = model_ifmr.min_percentile = wide_bits(0.999999);
    model_ifmr.start_bits = bits_of(0.7f);
    model_ifmr.end_bits = bits_of(1.3f);
    model_ifmr.step_bits = bits_of(0.01f);
    for (uint32_t i = 0; i < 5 * SIZES; i++) {
        struct qrt_ascend_model *m = &models[i];
        uint32_t size = model_sizes[i % SIZES];
        bool ifmr = rows[i / SIZES].op == QRT_JOB_IFMR;

        m->op = rows[i / SIZES].op;
        m->count = size;
        m->bins = ifmr ? 512 : 0;
        m->blob_size =
            (uint32_t)snprintf(blobs[i], sizeof blobs[i], "aclsim-om %s %u %u",
                               rows[i / SIZES].name, size, m->bins);
        m->blob = blobs[i];
        m->params = ifmr ? (const void *)&model_ifmr
                    : m->op == QRT_JOB_ULQ_FWD
                        ? (const void *)&model_ulq[i % SIZES & 1]
                        : NULL;
    }
}

/* A way for the simulator to behave. */
struct setting {
    enum aclsim_switch s;
    int64_t value;
};

static struct profile {
    const char *name;
    struct setting set[3];
    const char *soc; /* null: 910B */
    bool timed;      /* waits are timed in the library */
    bool aborts;     /* a stream can be aborted        */
    bool some_ops;   /* not all operators of the mask  */
} profile = {"", {{0, 0}}, NULL, true, true, false};

static void profile_reset(void)
{
    sim->reset();
    for (int i = 0; i < 3; i++) {
        if (profile.set[i].value != 0 || profile.set[i].s != 0) {
            sim->set(profile.set[i].s, profile.set[i].value);
        }
    }
    if (profile.soc != NULL) {
        sim->soc(profile.soc);
    }
}

static void next_launch(int32_t code)
{
    sim->inject("aclnnAscendQuant", sim->calls_of("aclnnAscendQuant") + 1, 1,
                code);
}

static bool inject(enum conf_fault fault)
{
    switch (fault) {
    case CONF_OPEN_NODEV:
        sim->set(SIM_DEVICES, 0);
        return true;
    case CONF_OPEN_NOMEM:
        sim->set(SIM_CAPACITY, 1000);
        return true;
    case CONF_NO_ROOM:
        sim->set(SIM_QUEUE_FULL, 1);
        return true;
    case CONF_LAUNCH_FAILS:
        next_launch(361001);
        return true;
    case CONF_LAUNCH_LOST:
        next_launch(507010);
        return true;
    case CONF_JOB_FAILS:
        sim->fault(SIM_FAIL, 507015, 1);
        return true;
    case CONF_JOB_LOST:
        sim->fault(SIM_FAIL_LOST, 507010, 2);
        return true;
    case CONF_JOBS_FAIL:
        sim->fault(SIM_FAIL, 507015, UINT32_MAX);
        return true;
    case CONF_UNKNOWN_ONCE:
        sim->fault(SIM_FAIL, 999999, 1);
        return true;
    case CONF_UNKNOWN_TWICE:
        sim->fault(SIM_FAIL, 999999, 2);
        return true;
    case CONF_TIMEOUT_CONSUMED:
        if (!profile.timed) {
            return false;
        }
        sim->fault(profile.aborts ? SIM_HANG : SIM_HANG_LATE, 1, 1);
        return true;
    case CONF_TIMEOUT_DONE: /* a timed wait has eaten the proof */
        if (profile.timed) {
            return false;
        }
        sim->fault(SIM_HANG_LATE, 60, 1);
        return true;
    case CONF_TIMEOUT_NEVER:
        sim->fault(SIM_HANG_NEVER, 0, 2);
        return true;
    case CONF_STALE:
        sim->fault(SIM_WRITES_NONE, 0, 1);
        return true;
    case CONF_OFF_BY_ONE:
        sim->fault(SIM_OFF_BY_ONE, 0, 1);
        return true;
    case CONF_CLOSE_FAILS:
        sim->inject("aclrtFree", sim->calls_of("aclrtFree") + 1, 9, 507000);
        return true;
    default:
        return false;
    }
}

static uint32_t calls(void)
{
    return sim->calls();
}

static uint32_t jobs(void)
{
    return sim->jobs();
}

static uint32_t live(void)
{
    return sim->live();
}

static struct conf_subject ascend_subject = {
    NULL, &cfg, LARGEST, true, true, profile_reset, calls, jobs, live, inject};

/* The suite's state without a run of its groups. */
static struct conf_report own_report;

static void begin_named(bool echo)
{
    memset(&own_report, 0, sizeof own_report);
    ascend_subject.backend = backend;
    subject = &ascend_subject;
    report = &own_report;
    loud = echo;
    seed = 20;
}

/* -------------------------------------------------------- conformance */

static const struct profile old_profiles[] = {
    {"lazy",         {{0, 0}},                            NULL,             true, true,  false},
    {"eager",        {{SIM_SCHEDULER, 1}},                NULL,             true, true,  false},
    {"random",       {{SIM_SCHEDULER, 2}, {SIM_SEED, 3}}, NULL,             true, true,  false},
    {"next call",    {{SIM_SURFACE, 1}},                  NULL,             true, true,  false},
    {"every sync",
     {{SIM_SURFACE, 2}, {SIM_SUM_ORDER, 2}},
     NULL,                                                                  true,
     true,                                                                               false},
    {"one pool",
     {{SIM_ON_BOARD, 1}, {SIM_SUM_ORDER, 1}},
     NULL,                                                                  true,
     true,                                                                               false},
    {"kind derived", {{SIM_KIND_DERIVED, 1}},             NULL,             true, true,  false},
    {"offset 64",    {{SIM_BLOCK_OFFSET, 64}},            NULL,             true, true,  false},
    {"no workspace", {{SIM_WORKSPACE, 0}},                NULL,             true, true,  false},
    {"507046",       {{SIM_TIMEOUT_CODE, 507046}},        NULL,             true, true,  false},
    {"rows of one",  {{SIM_SCALAR_ROWS, 1}},              NULL,             true, true,  false},
    {"no abort",     {{SIM_ABORT_FAILS, 1}},              NULL,             true, false, false},
    {"310P",         {{0, 0}},                            "Ascend310P3",    true, false, true },
    {"910_93",       {{0, 0}},                            "Ascend910_9391", true, true,  true }
};

static bool conforms(const struct profile *p, bool echo)
{
    static struct conf_report r;
    bool ok;

    profile = *p;
    ascend_subject.backend = backend;
    conf_run(&ascend_subject, echo && !p->some_ops, &r);
    ok = r.failures == 0;
    if (p->some_ops) {
        ok = r.failed[0] != NULL && r.failed[1] == NULL &&
             strcmp(r.failed[0], "C.mask-is-true") == 0;
    }
    printf("%s %s: %u checks; query: %u bit-exact, %u bounded, %u any, %u "
           "declined; skipped:",
           ok ? "ok" : "FAILED", p->name, r.checks, r.bitexact, r.bounded,
           r.any, r.declined);
    for (int i = 0; i < CONF_NAMES && r.skipped[i] != NULL; i++) {
        printf(" %s", r.skipped[i]);
    }
    puts(r.skips ? "" : " nothing");
    memcpy(&own_report, &r, sizeof r);
    return ok && r.checks > 1000;
}

static int conformance(const char *folder)
{
    static const struct profile v12 = {
        "v1.2", {{SIM_COUNTED_INIT, 0}}, NULL, true, false, true};
    static const struct profile poll = {
        "without timed waits", {{0, 0}}, NULL, false, false, false};
    bool ok = true;
    size_t n = sizeof old_profiles / sizeof *old_profiles;

    if (strcmp(folder, "v1.2") == 0) {
        struct profile p = v12;

        p.some_ops = false;
        return conforms(&p, true) ? 0 : 1;
    }
    if (strcmp(folder, "poll") == 0) {
        cfg.grace_ms = 1000; /* 60 looks at the stream, also when slowed */
        return conforms(&poll, true) ? 0 : 1;
    }
    if (strcmp(folder, "old") != 0) {
        return conforms(&old_profiles[0], true) ? 0 : 1;
    }
    for (size_t i = 0; i < n; i++) {
        ok = conforms(&old_profiles[i], true) && ok;
    }
    return ok ? 0 : 1;
}

/* ------------------------------------------------------- named checks */

static const struct profile plain_profile = {"plain", {{0, 0}}, NULL,
                                             true,    true,     false};

static char noted[400];
static uint32_t notes;
static int32_t noted_status, noted_native;

static void note(void *u, int32_t status, int32_t native, const char *what)
{
    (void)u;
    notes++;
    noted_status = status;
    noted_native = native;
    snprintf(noted, sizeof noted, "%s", what);
}

static const struct qrt_off_host noting = {sizeof noting, NULL, note, NULL};

static int32_t attach_noting(void)
{
    fresh();
    notes = 0;
    noted[0] = '\0';
    return qrt_offload_attach(&off, backend, ctx, backend->ctx_size, &noting,
                              subject->cfg);
}

/* One job of each operator, exact ones and sums; true when all are right and
 * all came from the device. */
static bool a_job_of(uint32_t op)
{
    uint32_t dev = off.n_dev;

    switch (op) {
    case QRT_JOB_QUANT:
        quant_job(&a_bench, op, QRT_RULE_CANN, 3, 5, 7, 1);
        break;
    case QRT_JOB_ANTIQUANT:
        antiquant_job(&a_bench, QRT_RULE_CANN, 9, 3, 1, QRT_T_F16, 0);
        break;
    case QRT_JOB_ULQ_FWD:
        ulq_job(&a_bench, QRT_RULE_CANN, 256, 4);
        break;
    case QRT_JOB_IFMR:
        ifmr_job(&a_bench, QRT_RULE_CANN, 997);
        break;
    default:
        gradient_job(&a_bench, op, QRT_RULE_CANN, 256);
        break;
    }
    return reference(&a_bench) == QRT_OK &&
           qrt_run(&off, &a_bench.job) == QRT_OFF_OK && off.n_dev == dev + 1;
}

static void framework_first(void)
{
    profile_reset();
    CHECK(sim->other_init() == 0, "X.other");
    CHECK(attach() == QRT_OFF_OK, "X.repeat-init");
    CHECK(one_job() && off.n_dev == 1, "X.repeat-init");
    qrt_offload_detach(&off);
    CHECK(sim->other_works(), "X.owner");
    CHECK(sim->live() == 0, "X.owner");
    (void)sim->other_finalise();
}

static void framework_second(void)
{
    profile_reset();
    CHECK(attach() == QRT_OFF_OK, "X.other");
    CHECK(sim->other_init() == 100002, "X.other");
    CHECK(one_job() && off.n_dev == 1, "X.other");
    qrt_offload_detach(&off);
    CHECK(sim->other_works(), "X.owner");
    (void)sim->other_finalise();
}

static void framework_ends_under_us(void)
{
    profile_reset();
    (void)sim->other_init();
    CHECK(attach() == QRT_OFF_OK, "X.other");
    (void)sim->other_finalise();
    sim->expect(SIM_V_NOT_INITIALISED);
    sim->expect(SIM_V_OVER_FINALISED);
    CHECK(one_job() && off.state == QRT_OFF_DEAD && off.native == 100001,
          "X.finalised-under-us");
    qrt_offload_detach(&off);
}

/* The caller's own context is current again after every call of ours. */
static void context_of_the_caller(void)
{
    void *handle = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
    int (*create)(void **, int32_t), (*current)(void **), (*set)(int32_t);
    int (*destroy)(void *), (*release)(int32_t);
    void *mine = NULL, *now = NULL, *p;

    if (handle == NULL) {
        leave_out("X.context-kept");
        return;
    }
    p = dlsym(handle, "aclrtCreateContext");
    memcpy(&create, &p, sizeof p);
    p = dlsym(handle, "aclrtGetCurrentContext");
    memcpy(&current, &p, sizeof p);
    p = dlsym(handle, "aclrtSetDevice");
    memcpy(&set, &p, sizeof p);
    p = dlsym(handle, "aclrtDestroyContext");
    memcpy(&destroy, &p, sizeof p);
    p = dlsym(handle, "aclrtResetDevice");
    memcpy(&release, &p, sizeof p);
    profile_reset();
    (void)sim->other_init();
    CHECK(set(0) == 0 && create(&mine, 0) == 0, "X.other");
    CHECK(attach() == QRT_OFF_OK, "X.other");
    CHECK(current(&now) == 0 && now == mine, "X.context-kept");
    CHECK(one_job() && current(&now) == 0 && now == mine, "X.context-kept");
    qrt_offload_detach(&off);
    CHECK(current(&now) == 0 && now == mine, "X.context-kept");
    CHECK(destroy(mine) == 0 && release(0) == 0, "X.other");
    (void)sim->other_finalise();
    CHECK(sim->live() == 0, "X.other");
    (void)dlclose(handle);
}

static void *finish_it(void *ticket)
{
    if (qrt_finish(&off, &a_bench.job, *(uint32_t *)ticket) != QRT_OFF_OK) {
        *(uint32_t *)ticket = 0;
    }
    return NULL;
}

static void waits_on_another_thread(void)
{
    uint32_t ticket = 0;
    pthread_t thread;

    begin();
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 77, 2);
    CHECK(reference(&a_bench) == QRT_OK &&
              qrt_start(&off, &a_bench.job, &ticket) == QRT_OFF_OK,
          "X.other-thread");
    if (pthread_create(&thread, NULL, finish_it, &ticket) == 0) {
        pthread_join(thread, NULL);
    }
    CHECK(ticket != 0 && off.n_dev == 1 && agrees(&a_bench, &exactly),
          "X.other-thread");
    end();
}

static void stub(void)
{
    profile_reset();
    sim->set(SIM_STUB, 1);
    CHECK(attach_noting() == QRT_OFF_ENODEV && off.state == QRT_OFF_ABSENT,
          "X.stub");
    CHECK(notes == 1 && noted_native == 100039, "X.stub");
    CHECK(one_job() && off.n_cpu == 1, "X.stub");
}

/* A chip that is not known, and what each of the known ones is asked. */
static void chips(void)
{
    static const struct {
        const char *soc;
        int32_t status;
        uint32_t ops;
    } rows[] = {
        {NULL,               QRT_OFF_ENODEV, 0                                     },
        {"",                 QRT_OFF_ENODEV, 0                                     },
        {"Ascend999",        QRT_OFF_ENODEV, 0                                     },
        {"KirinX90",         QRT_OFF_ENODEV, 0                                     },
        {"Ascend310",        QRT_OFF_ENODEV, 0                                     },
        {"Ascend310B4",      QRT_OFF_ENODEV, 0                                     },
        {"Ascend310P3",      QRT_OFF_OK,     1u << 0 | 1u << 3 | 1u << 8           },
        {"Ascend910ProB",    QRT_OFF_OK,     1u << 8                               },
        {"Ascend910B4-1",    QRT_OFF_OK,     1u << 0 | 1u << 3 | 1u << 6 | 15u << 7},
        {"Ascend910_9391",   QRT_OFF_OK,     1u << 0 | 1u << 3 | 15u << 7          },
        {"Ascend950PR_958b", QRT_OFF_OK,     1u << 0                               }
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        profile_reset();
        sim->soc(rows[i].soc);
        CHECK(attach() == rows[i].status, "X.chip");
        for (uint32_t op = 0; rows[i].status == 0 && op < QRT_JOB_KINDS; op++) {
            if (backend->op_mask >> op & 1) {
                if (op == QRT_JOB_QUANT) {
                    CHECK(one_job() && off.n_dev == (rows[i].ops & 1),
                          "X.chip");
                    off.n_dev = 0;
                } else {
                    CHECK(a_job_of(op) == (rows[i].ops >> op & 1), "X.chip");
                }
            }
        }
        CHECK(off.n_failed == 0, "X.chip");
        qrt_offload_detach(&off);
        CHECK(sim->live() == 0, "X.chip-clean");
    }
}

/* Rows of the table of failures: a code at a call, and what comes of it. */
enum outcome_of_row { OPEN, DECLINES, FAILS, LOSES, NOTHING };

static void table_of_failures(void)
{
    static const struct {
        const char *function;
        int32_t code;
        enum outcome_of_row what;
        int32_t status; /* OPEN */
    } rows[] = {
        {"aclInit",                          507008, OPEN,     QRT_OFF_ENODEV},
        {"aclInit",                          100039, OPEN,     QRT_OFF_ENODEV},
        {"aclrtGetDeviceCount",              207004, OPEN,     QRT_OFF_ENODEV},
        {"aclrtGetDeviceCount",              107001, OPEN,     QRT_OFF_ENODEV},
        {"aclrtSetDevice",                   507033, OPEN,     QRT_OFF_ENODEV},
        {"aclrtSetDevice",                   207006, OPEN,     QRT_OFF_ENODEV},
        {"aclrtCreateContext",               507000, OPEN,     QRT_OFF_ENODEV},
        {"aclrtCreateStream",                207008, OPEN,     QRT_OFF_ENODEV},
        {"aclrtMalloc",                      207001, OPEN,     QRT_OFF_ENOMEM},
        {"aclrtMalloc",                      207018, OPEN,     QRT_OFF_ENOMEM},
        {"aclrtMalloc",                      300000, OPEN,     QRT_OFF_ENOMEM},
        {"aclnnAscendQuantGetWorkspaceSize", 161001, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 161002, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 561003, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 561103, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 561107, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 561112, DECLINES, 0             },
        {"aclnnAscendQuantGetWorkspaceSize", 561000, FAILS,    0             },
        {"aclnnAscendQuant",                 207000, DECLINES, 0             },
        {"aclnnAscendQuant",                 507002, DECLINES, 0             },
        {"aclnnAscendQuant",                 361001, FAILS,    0             },
        {"aclnnAscendQuant",                 507009, FAILS,    0             },
        {"aclnnAscendQuant",                 500002, FAILS,    0             },
        {"aclrtMemcpy",                      507013, FAILS,    0             },
        {"aclrtMemcpy",                      507899, LOSES,    0             },
        {"aclrtGetCurrentContext",           107002, NOTHING,  0             },
        {"sync",                             507015, FAILS,    0             },
        {"sync",                             507035, FAILS,    0             },
        {"sync",                             507014, FAILS,    0             },
        {"sync",                             507034, FAILS,    0             },
        {"sync",                             507048, FAILS,    0             },
        {"sync",                             507011, FAILS,    0             },
        {"sync",                             507017, FAILS,    0             },
        {"sync",                             507018, FAILS,    0             },
        {"sync",                             207003, FAILS,    0             },
        {"sync",                             507010, LOSES,    0             },
        {"sync",                             507053, LOSES,    0             },
        {"sync",                             507054, LOSES,    0             },
        {"sync",                             507056, LOSES,    0             },
        {"sync",                             507900, LOSES,    0             },
        {"sync",                             507901, LOSES,    0             },
        {"sync",                             107022, LOSES,    0             },
        {"sync",                             107002, LOSES,    0             },
        {"sync",                             107003, LOSES,    0             }
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool again;

        profile_reset();
        if (rows[i].what == OPEN) {
            sim->inject(rows[i].function, 1, 9, rows[i].code);
            CHECK(attach_noting() == rows[i].status, "X.open-status");
            CHECK(notes == 1 && noted_native == rows[i].code, "X.open-note");
            CHECK(sim->live() == 0, "X.open-clean");
            continue;
        }
        CHECK(attach() == QRT_OFF_OK, "X.table");
        if (strcmp(rows[i].function, "sync") == 0) {
            sim->fault(SIM_FAIL, rows[i].code, 1);
        } else {
            sim->inject(rows[i].function, sim->calls_of(rows[i].function) + 1,
                        1, rows[i].code);
        }
        CHECK(one_job(), "X.table");
        CHECK(off.n_declined == (rows[i].what == DECLINES) &&
                  off.n_failed ==
                      (rows[i].what == FAILS || rows[i].what == LOSES) &&
                  (off.state == QRT_OFF_DEAD) == (rows[i].what == LOSES),
              "X.table");
        CHECK(off.native == (off.n_failed ? rows[i].code : 0), "X.native");
        again = one_job();
        CHECK(again &&
                  off.n_dev ==
                      (rows[i].what == NOTHING                           ? 2u
                       : rows[i].what == FAILS && rows[i].code != 507009 ? 1u
                       : rows[i].code == 507002                          ? 1u
                                                : off.n_dev),
              "X.table");
        qrt_offload_detach(&off);
        CHECK(sim->live() == 0, "X.table-clean");
    }
}

/* 507033 is tried once more if the configuration says so. */
static void device_retry(void)
{
    struct qrt_ascend_cfg patient = cfg;

    patient.retry_ms = 1;
    profile_reset();
    sim->inject("aclrtSetDevice", 1, 1, 507033);
    fresh();
    CHECK(qrt_offload_attach(&off, backend, ctx, backend->ctx_size, NULL,
                             &patient) == QRT_OFF_OK,
          "X.retry");
    qrt_offload_detach(&off);
    CHECK(sim->live() == 0, "X.retry");
}

/* An operator that the installation lacks is not asked for again; neither is
 * one that wants more workspace than there is, and its executor is not left. */
static void refusals(void)
{
    uint32_t asked;

    profile_reset();
    sim->set(SIM_NO_KERNELS, 1);
    CHECK(attach() == QRT_OFF_OK && one_job() && one_job(), "X.no-kernels");
    CHECK(off.n_declined == 2 && off.n_failed == 0 &&
              sim->calls_of("aclnnAscendQuantGetWorkspaceSize") == 1,
          "X.no-kernels");
    CHECK(a_job_of(QRT_JOB_ULQ_GRAD_X), "X.no-kernels");
    qrt_offload_detach(&off);
    CHECK(sim->live() == 0, "X.no-kernels");
    profile_reset();
    sim->set(SIM_WORKSPACE, 20 << 20);
    CHECK(attach() == QRT_OFF_OK && one_job(), "X.workspace");
    asked = sim->calls_of("aclnnAscendQuantGetWorkspaceSize");
    CHECK(one_job() && off.n_declined == 2 && off.n_dev == 0 &&
              sim->calls_of("aclnnAscendQuantGetWorkspaceSize") == asked,
          "X.workspace");
    qrt_offload_detach(&off);
    CHECK(sim->live() == 0, "X.workspace");
}

/* A configuration that cannot be read is refused before anything is opened;
 * none at all, or zeros, is the default. */
static void configurations(void)
{
    static const struct qrt_ascend_cfg zeros = {.size = sizeof zeros};
    struct qrt_ascend_cfg bad[3] = {cfg, cfg, cfg};
    const void *none[2] = {NULL, &zeros};

    bad[0].size--;
    bad[1].model_count = QRT_ASCEND_MODELS + 1;
    bad[2].models = NULL;
    for (int i = 0; i < 3; i++) {
        profile_reset();
        fresh();
        notes = 0;
        CHECK(qrt_offload_attach(&off, backend, ctx, backend->ctx_size, &noting,
                                 &bad[i]) == QRT_OFF_EABI,
              "X.configuration");
        CHECK(notes == 1 && strstr(noted, "configuration") != NULL &&
                  sim->live() == 0,
              "X.configuration");
    }
    for (int i = 0; i < 2; i++) {
        profile_reset();
        fresh();
        CHECK(qrt_offload_attach(&off, backend, ctx, backend->ctx_size, NULL,
                                 none[i]) == QRT_OFF_OK &&
                  a_job_of(QRT_JOB_QUANT),
              "X.defaults");
        qrt_offload_detach(&off);
        CHECK(sim->live() == 0, "X.defaults");
    }
}

/* A folder of models is named to the library once; where it has none of them
 * those of the program are taken. */
static void folder_of_models(void)
{
    struct qrt_ascend_cfg with_folder = cfg;

    with_folder.model_dir = "models";
    profile_reset();
    fresh();
    CHECK(qrt_offload_attach(&off, backend, ctx, backend->ctx_size, NULL,
                             &with_folder) == QRT_OFF_OK,
          "X.model-dir");
    CHECK(sim->calls_of("aclopSetModelDir") == 1 &&
              a_job_of(QRT_JOB_ULQ_GRAD_X),
          "X.model-dir");
    qrt_offload_detach(&off);
    CHECK(sim->live() == 0, "X.model-dir");
}

static uint32_t ticks;

static uint32_t slow_clock(void *u)
{
    (void)u;
    return ++ticks;
}

/* Two jobs at once and no more; closing does not leave them behind, and waits
 * go by the clock of the program if it has one. */
static void jobs_in_flight(void)
{
    static const struct qrt_off_host clocked = {sizeof clocked, slow_clock,
                                                NULL, NULL};
    static struct bench three[3];
    uint32_t ticket[3];

    profile_reset();
    fresh();
    ticks = 0;
    CHECK(qrt_offload_attach(&off, backend, ctx, backend->ctx_size, &clocked,
                             &cfg) == QRT_OFF_OK,
          "X.in-flight");
    for (int i = 0; i < 3; i++) {
        quant_job(&three[i], QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 33, 1);
        CHECK(qrt_start(&off, &three[i].job, &ticket[i]) ==
                  (i < 2 ? QRT_OFF_OK : QRT_OFF_BUSY),
              "X.in-flight");
    }
    CHECK(reference(&three[0]) == QRT_OK &&
              qrt_finish(&off, &three[0].job, ticket[0]) == QRT_OFF_OK &&
              agrees(&three[0], &exactly),
          "X.in-flight");
    qrt_offload_detach(&off); /* the second is on its way */
    CHECK(sim->live() == 0, "X.in-flight");
    CHECK(reference(&three[1]) == QRT_OK &&
              qrt_finish(&off, &three[1].job, ticket[1]) == QRT_OFF_OK &&
              agrees(&three[1], &exactly),
          "X.in-flight");
}

/* What is not finite has no known answer on a device. */
static void special_values(void)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000};

    begin();
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = sim->calls();

        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 65, 1);
        memcpy(a_bench.in[0] + 4 * 40, &special[i], 4);
        CHECK(reference(&a_bench) == QRT_OK &&
                  qrt_run(&off, &a_bench.job) == QRT_OFF_OK &&
                  agrees(&a_bench, &exactly) && off.n_dev == 0,
              "X.not-finite");
        CHECK(sim->calls() == n, "X.not-finite");
    }
    gradient_job(&a_bench, QRT_JOB_ULQ_GRAD_X, QRT_RULE_CANN, 256);
    a_bench.in[1][9] = 2;
    CHECK(qrt_run(&off, &a_bench.job) == QRT_OFF_OK && off.n_dev == 0,
          "X.mask-bytes");
    end();
}

/* Numbers in fixed point become binary32 on the way. */
static void fixed_point_inputs(void)
{
    static const uint8_t types[] = {QRT_T_I16, QRT_T_I32, QRT_T_Q16_16};

    begin();
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t rule = 0; rule < QRT_RULE_KINDS; rule++) {
            struct qrt_off_reply reply = {QRT_EX_ANY, 0, 0};

            quant_job(&a_bench, QRT_JOB_QUANT, rule, 2, 3, 400, i);
            a_bench.quant.frac = 9;
            for (uint32_t k = 0; k < 2400; k++) {
                if (types[i] == QRT_T_I16) {
                    ((int16_t *)a_bench.in[0])[k] = (int16_t)random_bits();
                } else {
                    ((int32_t *)a_bench.in[0])[k] =
                        (int32_t)random_bits() >> (k % 20);
                }
            }
            a_bench.job.in[0].dtype = types[i];
            (void)off.backend->query(off.ctx, &a_bench.job, &reply);
            CHECK(reply.exact == (rule == QRT_RULE_CANN ? QRT_EX_BITEXACT
                                                        : QRT_EX_BOUNDED),
                  "X.fixed-point");
            CHECK(reference(&a_bench) == QRT_OK &&
                      qrt_run(&off, &a_bench.job) == QRT_OFF_OK &&
                      agrees(&a_bench, &reply),
                  "X.fixed-point");
        }
    }
    CHECK(off.n_dev == 15, "X.fixed-point");
    end();
}

/* To quantize and back with a zero point: the sign of the offset. */
static void there_and_back(void)
{
    int8_t codes[60];
    const float *x = (const float *)(const void *)a_bench.in[0];
    float kept[60];
    uint16_t h;
    uint32_t wrong = 0;

    begin();
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 60, 0);
    a_bench.zero[0] = -7;
    for (uint32_t i = 0; i < 60; i++) {
        ((float *)(void *)a_bench.in[0])[i] = (float)((int)i - 30) * 0.5f;
    }
    memcpy(kept, x, sizeof kept);
    CHECK(qrt_run(&off, &a_bench.job) == QRT_OFF_OK, "X.sign");
    memcpy(codes, a_bench.out[0] + GUARD, sizeof codes);
    antiquant_job(&a_bench, QRT_RULE_CANN, 1, 1, 60, QRT_T_F16, 0);
    a_bench.zero[0] = 7;
    memcpy(a_bench.in[0], codes, sizeof codes);
    CHECK(qrt_run(&off, &a_bench.job) == QRT_OFF_OK && off.n_dev == 2,
          "X.sign");
    for (uint32_t i = 0; i < 60; i++) {
        int e, m;

        memcpy(&h, a_bench.out[0] + GUARD + 2 * i, 2);
        e = h >> 10 & 31;
        m = (h & 1023) | (e ? 1024 : 0);
        wrong += fabsf(kept[i]) != ldexpf((float)m, (e ? e : 1) - 25);
    }
    CHECK(wrong == 0, "X.sign");
    end();
}

/* The gradients of the limits against AMCT's, for the present operator and for
 * the one before it, in every order of summation. */
static void gradients_of_limits(void)
{
    for (int k = 0; k < 12; k++) {
        uint32_t op = k & 1 ? QRT_JOB_ULQ_GRAD_MAX : QRT_JOB_ULQ_GRAD_MIN;
        float dev, ref;
        double size = 0;

        profile_reset();
        sim->set(SIM_SUM_ORDER, k / 4);
        sim->set(SIM_OLDER_MAX_GRAD, k >> 1 & 1);
        for (uint32_t i = 0; i < 5 * SIZES; i++) {
            models[i].older = (uint8_t)(k >> 1 & 1);
        }
        CHECK(attach() == QRT_OFF_OK && a_job_of(op), "X.mask-inverted");
        memcpy(&dev, a_bench.out[0] + GUARD, 4);
        memcpy(&ref, a_bench.ref[0] + GUARD, 4);
        for (uint32_t i = 0; i < 256; i++) {
            size += fabs((double)((float *)(void *)a_bench.in[0])[i]);
        }
        CHECK(fabs((double)dev - (double)ref) <= size * 256 * 0x1p-24,
              "X.mask-inverted");
        qrt_offload_detach(&off);
    }
    for (uint32_t i = 0; i < 5 * SIZES; i++) {
        models[i].older = 0;
    }
}

/* IFMR: the same grid; the chosen candidate is as good to the CPU's eyes. */
static void ifmr_candidate(void)
{
    float scale, ref, ratio;
    int32_t offset, ref_offset;

    begin();
    CHECK(a_job_of(QRT_JOB_IFMR), "X.ifmr");
    memcpy(&scale, a_bench.out[0] + GUARD, 4);
    memcpy(&ref, a_bench.ref[0] + GUARD, 4);
    memcpy(&offset, a_bench.out[1] + GUARD, 4);
    memcpy(&ref_offset, a_bench.ref[1] + GUARD, 4);
    ratio = scale / ref;
    CHECK(ratio > 0.95f && ratio < 1.05f && abs(offset - ref_offset) <= 6,
          "X.ifmr");
    end();
}

static void texts(void)
{
    static char big[4097];
    static const char *const text[] = {NULL, "", "%s%s%n%n", "two\nlines\x01",
                                       big};

    memset(big, 'x', 4096);
    for (int i = 0; i < 5; i++) {
        bool printable = true;

        profile_reset();
        sim->text(text[i]);
        CHECK(attach_noting() == QRT_OFF_OK && notes == 0, "X.text");
        sim->fault(SIM_FAIL, 507015, 1);
        CHECK(one_job() && notes == 1 && noted_status == QRT_OFF_EXEC &&
                  noted_native == 507015,
              "X.text");
        for (size_t k = 0; noted[k] != '\0'; k++) {
            printable = printable && noted[k] >= ' ' && noted[k] <= '~';
        }
        CHECK(printable && strlen(noted) < 200, "X.text");
        CHECK(i != 2 || strstr(noted, "%s%s%n%n") != NULL, "X.text");
        qrt_offload_detach(&off);
    }
}

/* A late job that writes after it was given up, below a new job's data. */
static void late_writer(void)
{
    profile_reset();
    sim->set(SIM_ABORT_FAILS, 1);
    CHECK(attach() == QRT_OFF_OK, "X.late");
    for (uint32_t i = 0; i < 6; i++) {
        sim->fault(i % 2 == 0 ? SIM_HANG_LATE : SIM_SOUND, 1, i % 2 == 0);
        CHECK(next_job(i), "X.late");
    }
    CHECK(off.n_failed == 3 && off.n_dev == 3, "X.late");
    qrt_offload_detach(&off);
    CHECK(sim->live() == 0, "X.late");
}

/* A slot that held a long job is used for a short one whose inputs lie where
 * the first one's outputs were, while that may still be running. */
static void arena_is_not_shared(void)
{
    for (int k = 0; k < 2; k++) {
        profile_reset();
        CHECK(attach() == QRT_OFF_OK, "X.arena");
        sim->inject("aclrtSynchronizeStreamWithTimeout",
                    sim->calls_of("aclrtSynchronizeStreamWithTimeout") + 1, 1,
                    k ? 207000 : 507015);
        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 300, 1);
        CHECK(reference(&a_bench) == QRT_OK &&
                  qrt_run(&off, &a_bench.job) == QRT_OFF_OK &&
                  agrees(&a_bench, &exactly) && off.n_failed == 1,
              "X.arena");
        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 900, 2);
        CHECK(reference(&a_bench) == QRT_OK &&
                  qrt_run(&off, &a_bench.job) == QRT_OFF_OK &&
                  agrees(&a_bench, &exactly) && off.n_dev == 1,
              "X.arena");
        qrt_offload_detach(&off);
        CHECK(sim->live() == 0, "X.arena");
    }
}

static void overrun_is_padded(void)
{
    begin();
    sim->fault(SIM_OVERRUN, 0, UINT32_MAX);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(next_job(i), "X.overrun");
    }
    CHECK(off.n_dev == 20, "X.overrun");
    end();
}

static void named(bool echo)
{
    profile = plain_profile;
    begin_named(echo);
    framework_first();
    framework_second();
    framework_ends_under_us();
    context_of_the_caller();
    waits_on_another_thread();
    stub();
    chips();
    table_of_failures();
    device_retry();
    refusals();
    configurations();
    folder_of_models();
    jobs_in_flight();
    special_values();
    fixed_point_inputs();
    there_and_back();
    gradients_of_limits();
    ifmr_candidate();
    texts();
    late_writer();
    arena_is_not_shared();
    overrun_is_padded();
    profile_reset();
}

/* ------------------------------------------------- injection, everywhere */

static const int32_t codes[] = {
    100000, 100001, 100002, 100003, 100020, 100021, 100022, 100023, 100024,
    100025, 100026, 100027, 100029, 100036, 100037, 100039, 107000, 107001,
    107002, 107003, 107008, 107017, 107019, 107020, 107022, 107023, 107030,
    145000, 161001, 161002, 200000, 200001, 200002, 200003, 200004, 200005,
    200006, 207000, 207001, 207002, 207003, 207004, 207005, 207006, 207008,
    207012, 207015, 207018, 300000, 361001, 500000, 500001, 500002, 500003,
    500004, 507000, 507002, 507007, 507008, 507009, 507010, 507011, 507012,
    507013, 507014, 507015, 507017, 507018, 507033, 507034, 507035, 507046,
    507048, 507049, 507053, 507054, 507056, 507899, 507900, 507901, 545000,
    561000, 561001, 561002, 561003, 561101, 561103, 561107, 561108, 561112,
    561113, 561118, 999999};
#define CODES (sizeof codes / sizeof *codes)

struct tally {
    uint32_t runs, wrong, leaks, after_loss, counters, devices;
};

/* What may leak when it fails itself. */
static bool releases(const char *function)
{
    return strstr(function, "Destroy") || strstr(function, "Free") ||
           strstr(function, "Reset") || strstr(function, "Finalize") ||
           strcmp(function, "aclrtSetCurrentContext") == 0;
}

/* The one model they need: an attach makes fewer calls. */
static struct qrt_ascend_cfg inject_cfg;

/* Four jobs, one after the other; what is expected was computed before. */
static struct bench inject_bench[4];

static void prepare_jobs(void)
{
    inject_cfg = cfg;
    inject_cfg.max_elements = 128;
    inject_cfg.workspace = 512;
    inject_cfg.models = &models[2 * SIZES + 2];
    inject_cfg.model_count = 1;
    quant_job(&inject_bench[0], QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 70, 1);
    quant_job(&inject_bench[1], QRT_JOB_QUANT, QRT_RULE_CANN, 2, 3, 11, 2);
    antiquant_job(&inject_bench[2], QRT_RULE_CANN, 5, 3, 1, QRT_T_F16, 0);
    gradient_job(&inject_bench[3], QRT_JOB_ULQ_GRAD_X, QRT_RULE_CANN, 32);
    for (int i = 0; i < 4; i++) {
        inject_bench[i].job.need = QRT_EX_BITEXACT;
        (void)reference(&inject_bench[i]);
    }
}

static uint32_t injected_job;
static int32_t injected_code;

/* Attaches, runs the jobs, detaches; adds up what went wrong. */
static void scenario(struct tally *t, bool may_leak)
{
    uint32_t dead_at = 0, done = 0;
    bool wrong = false;

    t->runs++;
    memset(&off, 0, sizeof off);
    off.cpu = cpu;
    off.timeout_ms = 20;
    (void)qrt_offload_attach(&off, backend, ctx, backend->ctx_size, NULL,
                             &inject_cfg);
    for (int i = 0; i < 4; i++) {
        struct bench *b = &inject_bench[i];

        memset(b->out[0], 0x5A, GUARD * 2 + 1024);
        if (injected_code != 0 && injected_job == (uint32_t)i) {
            sim->fault(SIM_FAIL, injected_code, 1);
        }
        wrong = qrt_run(&off, &b->job) != QRT_OFF_OK || !agrees(b, &exactly) ||
                wrong;
        done++;
        if (off.state == QRT_OFF_DEAD) {
            if (dead_at != 0 && sim->calls() != dead_at) {
                t->after_loss++;
            }
            dead_at = sim->calls();
        }
    }
    t->wrong += wrong;
    t->counters += off.n_dev + off.n_cpu != done || off.n_dev > sim->jobs();
    t->devices += off.n_dev;
    qrt_offload_detach(&off);
    if (!may_leak && sim->live() != 0) {
        if (t->leaks++ == 0 && loud) {
            sim->report();
        }
    }
}

static void show(const char *what, const struct tally *t)
{
    if (loud) {
        printf("%s: %u runs, %u wrong results, %u leaks or violations, %u "
               "calls after loss, %u wrong counters; %u jobs by the device\n",
               what, t->runs, t->wrong, t->leaks, t->after_loss, t->counters,
               t->devices);
    }
}

/* Every call of every function of a clean run fails in turn, once and for
 * good; `step` leaves codes out, for slow surroundings. */
static void inject_calls(struct tally *t, uint32_t step)
{
    static char name[64][48];
    static uint32_t count_of[64];
    uint32_t n = 0, turn = 0;

    profile_reset();
    scenario(t, false);
    CHECK(off.n_dev == 4, "X.injection-clean");
    while (n < 64 && sim->function(n) != NULL) {
        snprintf(name[n], sizeof name[n], "%s", sim->function(n));
        count_of[n] = sim->calls_of(name[n]);
        n++;
    }
    for (uint32_t f = 0; f < n; f++) {
        for (uint32_t k = 1; k <= count_of[f]; k++) {
            for (uint32_t c = turn++ % step; c < CODES; c += step) {
                for (uint32_t good = 0; good < 2; good++) {
                    /* A false "already initialised" is not ours to see. */
                    bool lie =
                        strcmp(name[f], "aclInit") == 0 && codes[c] == 100002;

                    profile_reset();
                    sim->inject(name[f], k, good ? UINT32_MAX : 1, codes[c]);
                    scenario(t, lie || releases(name[f]));
                }
            }
        }
    }
}

/* Every job fails with every code where it is waited for, in each way in which
 * that may show. */
static void inject_jobs(struct tally *t, uint32_t step)
{
    for (uint32_t c = 0; c < CODES; c += step) {
        for (uint32_t job = 0; job < 4; job++) {
            for (int64_t surface = 0; surface < 3; surface++) {
                profile_reset();
                sim->set(SIM_SURFACE, surface);
                injected_job = job;
                injected_code = codes[c];
                scenario(t, false);
            }
        }
    }
    injected_code = 0;
}

static bool injection(uint32_t step, bool echo)
{
    struct tally at_calls = {0}, at_jobs = {0};

    profile = plain_profile;
    begin_named(echo);
    prepare_jobs();
    inject_calls(&at_calls, step);
    show("calls", &at_calls);
    inject_jobs(&at_jobs, step);
    show("jobs", &at_jobs);
    CHECK(at_calls.wrong + at_jobs.wrong == 0, "X.injection-results");
    CHECK(at_calls.leaks + at_jobs.leaks == 0, "X.injection-leaks");
    CHECK(at_calls.after_loss + at_jobs.after_loss == 0,
          "X.injection-after-loss");
    CHECK(at_calls.counters + at_jobs.counters == 0, "X.injection-counters");
    CHECK(step > 1 || at_calls.runs + at_jobs.runs > 3000, "X.injection-runs");
    profile_reset();
    return own_report.failures == 0;
}

/* ------------------------------------------------------------- threads */

struct worker {
    struct qrt_offload o;
    struct bench b;
    uint32_t wrong;
    _Alignas(16) uint8_t state[16384];
};
static struct worker workers[2];

static void work_on(struct worker *w, uint32_t i)
{
    struct qrt_off_job ref = w->b.job;
    float *x = (float *)(void *)w->b.in[0];

    for (uint32_t k = 0; k < w->b.job.inner; k++) {
        x[k] = (float)((k * 37 + i * 11) % 400) * 0.31f - 60.0f;
    }
    ref.out[0].ptr = w->b.ref[0] + GUARD;
    (void)qrt_cpu_quant(&ref);
    w->wrong +=
        qrt_run(&w->o, &w->b.job) != QRT_OFF_OK || !agrees(&w->b, &exactly);
}

static void *work_long(void *w)
{
    for (uint32_t i = 0; i < 300; i++) {
        work_on(w, i);
    }
    return NULL;
}

static void *work_once(void *w)
{
    work_on(w, 3);
    return NULL;
}

static bool work_begin(struct worker *w, uint32_t variant)
{
    memset(w, 0, sizeof *w);
    w->o.cpu = cpu;
    quant_job(&w->b, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 300, variant);
    return backend->ctx_size <= sizeof w->state &&
           qrt_offload_attach(&w->o, backend, w->state, sizeof w->state, NULL,
                              subject->cfg) == QRT_OFF_OK;
}

/* Two objects on two threads; then one that closes while the other works; one
 * object on many threads in turn. */
static void threads(void)
{
    pthread_t thread[2];

    for (int scheduler = 0; scheduler < 3; scheduler++) {
        profile_reset();
        sim->set(SIM_SCHEDULER, scheduler);
        CHECK(work_begin(&workers[0], 1) && work_begin(&workers[1], 2),
              "X.two-threads");
        for (int i = 0; i < 2; i++) {
            CHECK(pthread_create(&thread[i], NULL, work_long, &workers[i]) == 0,
                  "X.two-threads");
        }
        pthread_join(thread[0], NULL);
        qrt_offload_detach(&workers[0].o);
        pthread_join(thread[1], NULL);
        for (int i = 0; i < 20; i++) {
            CHECK(pthread_create(&thread[0], NULL, work_once, &workers[1]) == 0,
                  "X.many-threads");
            pthread_join(thread[0], NULL);
        }
        CHECK(workers[0].wrong == 0 && workers[0].o.n_dev == 300,
              "X.two-threads");
        CHECK(workers[1].wrong == 0 && workers[1].o.n_dev == 320,
              "X.many-threads");
        qrt_offload_detach(&workers[1].o);
        CHECK(sim->live() == 0, "X.two-threads");
    }
}

/* --------------------------------------------------- other installations */

static int absent(void)
{
    begin_named(true);
    CHECK(dlopen("libaclsim_core.so", RTLD_NOW) == NULL, "X.absent");
    CHECK(attach_noting() == QRT_OFF_ENODEV && notes == 1, "X.absent");
    printf("note: %s\n", noted);
    CHECK(one_job() && one_job() && off.n_cpu == 2 && off.n_dev == 0 &&
              notes == 1,
          "X.absent");
    return own_report.failures != 0;
}

/* Whatever the installation lacks: this status, right results, no leak. */
static int opens_with(int32_t status, uint32_t flags, const char *soc)
{
    int32_t got;

    cfg.flags = flags;
    cfg.soc = soc;
    begin_named(true);
    if (sim != NULL) {
        profile_reset();
    }
    got = attach_noting();
    if (got != status) {
        printf("status %d, expected %d: %s\n", (int)got, (int)status, noted);
    }
    CHECK(got == status && notes == (status != 0), "X.open-as");
    prepare_jobs();
    for (int i = 0; i < 4; i++) {
        CHECK(qrt_run(&off, &inject_bench[i].job) == QRT_OFF_OK &&
                  agrees(&inject_bench[i], &exactly),
              "X.open-as");
    }
    if (status == QRT_OFF_OK) {
        CHECK(off.n_failed == 0 && off.n_dev != 0, "X.open-as");
    } else if (sim != NULL && status != QRT_OFF_OK) {
        /* a function is missing: found out before any is called */
        CHECK(sim->calls() == 0 || strncmp(noted, "acl", 3) != 0,
              "X.calls-before-resolving");
    }
    qrt_offload_detach(&off);
    CHECK(sim == NULL || sim->live() == 0, "X.open-as");
    return own_report.failures != 0;
}

/* Copies a library with one function renamed, so that it cannot be found. */
static int hide(const char *from, const char *to, const char *name)
{
    static char bytes[1 << 20];
    FILE *f = fopen(from, "rb");
    size_t n = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0;
    size_t len = strlen(name) + 1, found = 0;

    if (f != NULL) {
        fclose(f);
    }
    for (size_t i = 1; i + len <= n; i++) {
        if (bytes[i - 1] == '\0' && memcmp(bytes + i, name, len) == 0) {
            bytes[i] = '_';
            found++;
        }
    }
    f = fopen(to, "wb");
    if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        return 2;
    }
    return found == 0;
}

static bool find_simulator(void)
{
    void *core = dlopen("libaclsim_core.so", RTLD_NOW | RTLD_LOCAL);
    void *p = core != NULL ? dlsym(core, "aclsim_control") : NULL;

    if (p == NULL || dlsym(core, "aclsim_marker") == NULL) {
        return false;
    }
    sim = p;
    return true;
}

#ifndef SUITE_MUTANTS
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool there = find_simulator();

    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    make_models();
    if (strcmp(what, "absent") == 0) {
        return absent();
    }
    if (strcmp(what, "hide") == 0 && argc == 5) {
        return hide(argv[2], argv[3], argv[4]);
    }
    if (strcmp(what, "open") == 0 && argc >= 3) {
        return opens_with(atoi(argv[2]), argc > 3 ? (uint32_t)atoi(argv[3]) : 0,
                          argc > 4 ? argv[4] : NULL);
    }
    if (!there) {
        puts("the simulator is not there");
        return 2;
    }
    if (strcmp(what, "conformance") == 0) {
        return conformance(argc > 2 ? argv[2] : "old");
    }
    if (strcmp(what, "named") == 0) {
        named(true);
        printf("%u checks, %u failures\n", own_report.checks,
               own_report.failures);
        return own_report.failures != 0;
    }
    if (strcmp(what, "inject") == 0) {
        return injection(argc > 2 ? (uint32_t)atoi(argv[2]) : 1, true) ? 0 : 1;
    }
    if (strcmp(what, "threads") == 0) {
        begin_named(true);
        profile = plain_profile;
        threads();
        profile_reset();
        return own_report.failures != 0;
    }
    return 2;
}
#endif
