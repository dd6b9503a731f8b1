/* Offloading: the dispatcher's state machine, job checks, verify, CPU entries,
 * and two backends in the conformance suite, sound and with one fault each. */
#include "cmocka_all.h"

#ifndef QRT_OFFLOAD
#define QRT_OFFLOAD 1
#endif
#include "offload/conformance.c"
#include "offload/device.c"
#include "offload/async_backend.c"

#include "offload/npu_mutants.c"

#include "qrt_f32.h"

/* ------------------------------------------------------ conformance suite */

static void passes(const struct conf_subject *subject_of, uint32_t skips)
{
    static struct conf_report r;

    conf_run(subject_of, true, &r);
    printf("%s: %u checks; query: %u bit-exact, %u bounded, %u declined;"
           " skipped:",
           subject_of->backend->name, r.checks, r.bitexact, r.bounded,
           r.declined);
    for (int i = 0; i < CONF_NAMES && r.skipped[i] != NULL; i++) {
        printf(" %s", r.skipped[i]);
    }
    puts(r.skips ? "" : " nothing");
    assert_int_equal(r.failures, 0);
    assert_int_equal(r.skips, skips);
    assert_true(r.checks > 1000);
}

static void asynchronous_backend_conforms(void **state)
{
    (void)state;
    passes(&async_subject, 0);
}

/* A synchronous driver has no job that could fail or hang by itself. */
static void example_backend_conforms(void **state)
{
    (void)state;
    passes(&npu_subject, 15);
}

static void async_mutants_are_caught_by_name(void **state)
{
    static const struct {
        enum async_mutant mutant;
        const char *check;
    } rows[] = {
        {ASYNC_NO_SYNC,         "C.result"           },
        {ASYNC_SYNC_IGNORED,    "E.result"           },
        {ASYNC_OUT_IN_SUBMIT,   "E.written-too-early"},
        {ASYNC_NOT_INVERTED,    "C.result"           },
        {ASYNC_ADD_AFTER,       "C.result"           },
        {ASYNC_EXACT_CLAIM,     "C.result"           },
        {ASYNC_FIRST_CHANNEL,   "C.result"           },
        {ASYNC_CPU_SILENTLY,    "F.hits"             },
        {ASYNC_NO_FORK_CHECK,   "E.fork"             },
        {ASYNC_UNKNOWN_OK,      "E.unknown-once"     },
        {ASYNC_UNKNOWN_EXEC,    "E.unknown-twice"    },
        {ASYNC_LOST_FORGOTTEN,  "E.calls-after-loss" },
        {ASYNC_LATE_SUCCESS,    "E.result"           },
        {ASYNC_QUIESCE_LIES,    "E.timeout-never"    },
        {ASYNC_SLOT_LEAK,       "E.slots"            },
        {ASYNC_BUFFER_LEAK,     "B.close-releases"   },
        {ASYNC_OPEN_LEAK,       "B.open-fails-clean" },
        {ASYNC_CTX_OVERRUN,     "B.ctx-guard"        },
        {ASYNC_OUT_OVERRUN,     "C.guard"            },
        {ASYNC_INPUT_TOUCHED,   "C.inputs"           },
        {ASYNC_RULE_IGNORED,    "D.rule"             },
        {ASYNC_BITS_IGNORED,    "D.bits"             },
        {ASYNC_PARAMS_IGNORED,  "D.params"           },
        {ASYNC_COUNT_IGNORED,   "D.largest"          },
        {ASYNC_DTYPE_IGNORED,   "D.dtype-in"         },
        {ASYNC_QUERY_WORKS,     "D.calls"            },
        {ASYNC_DECLINE_WRITES,  "D.untouched"        },
        {ASYNC_WRONG_TICKET,    "G.order"            },
        {ASYNC_ZERO_TICKET,     "C.done-by-device"   },
        {ASYNC_LOST_IS_BUSY,    "E.launch-lost"      },
        {ASYNC_EXEC_IS_LOST,    "E.job-fails"        },
        {ASYNC_NO_ROOM_IS_LOST, "E.no-room"          },
        {ASYNC_STICKY_IN_CLOSE, "B.close-releases"   }
    };
    static struct conf_report r;

    (void)state;
    assert_int_equal(sizeof rows / sizeof *rows, ASYNC_MUTANTS - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        async_mutant = rows[i].mutant;
        conf_run(&async_subject, false, &r);
        if (!conf_failed(&r, rows[i].check)) {
            fail_msg("mutant %d passes %s", (int)rows[i].mutant, rows[i].check);
        }
    }
    async_mutant = ASYNC_SOUND;
}

static void example_mutants_are_caught_by_name(void **state)
{
    static const struct {
        enum npu_mutant mutant;
        const char *check;
    } rows[] = {
        {NPU_NOT_INVERTED,   "C.result"           },
        {NPU_NO_OFFSET,      "C.result"           },
        {NPU_EXACT_CLAIM,    "C.result"           },
        {NPU_CPU_SILENTLY,   "F.hits"             },
        {NPU_RESULT_IGNORED, "E.launch-fails"     },
        {NPU_UNKNOWN_OK,     "E.unknown-once"     },
        {NPU_LOST_FORGOTTEN, "E.calls-after-loss" },
        {NPU_OUT_IN_SUBMIT,  "E.written-too-early"},
        {NPU_OUT_OVERRUN,    "C.guard"            },
        {NPU_CTX_OVERRUN,    "B.ctx-guard"        },
        {NPU_CLOSE_LEAK,     "B.close-releases"   },
        {NPU_RULE_IGNORED,   "D.rule"             },
        {NPU_BITS_IGNORED,   "D.bits"             },
        {NPU_QUERY_WORKS,    "D.calls"            },
        {NPU_DECLINE_WRITES, "D.untouched"        },
        {NPU_ZERO_TICKET,    "C.done-by-device"   }
    };
    static struct conf_report r;

    (void)state;
    assert_int_equal(sizeof rows / sizeof *rows, NPU_MUTANTS - 1);
    npu_mutant = NPU_SOUND;
    conf_run(&npu_mutated_subject, true, &r);
    assert_int_equal(r.failures, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        npu_mutant = rows[i].mutant;
        conf_run(&npu_mutated_subject, false, &r);
        if (!conf_failed(&r, rows[i].check)) {
            fail_msg("mutant %d passes %s", (int)rows[i].mutant, rows[i].check);
        }
    }
    npu_mutant = NPU_SOUND;
}

/* --------------------------------------------------------- state machine */

#define DEVICE_CODE 42 /* what the scripted device writes */

/* A backend that answers what it is told. */
static struct {
    int32_t open, query, submit, wait[8], quiesce;
    uint32_t waits, timeout[8], quiesces, closes, submits;
    bool no_ticket;
    struct qrt_off_reply reply;
    const struct qrt_off_job *job[8];
} script;

static int32_t script_open(void *c, const struct qrt_off_host *host,
                           const void *cfg)
{
    (void)c, (void)host, (void)cfg;
    return script.open;
}

static void script_close(void *c)
{
    (void)c;
    script.closes++;
}

static int32_t script_query(void *c, const struct qrt_off_job *job,
                            struct qrt_off_reply *reply)
{
    (void)c, (void)job;
    *reply = script.reply;
    return script.query;
}

static int32_t script_submit(void *c, const struct qrt_off_job *job,
                             uint32_t *ticket)
{
    (void)c;
    script.job[script.submits % 8] = job;
    script.submits++;
    *ticket = script.no_ticket ? 0 : script.submits;
    return script.submit;
}

static int32_t script_wait(void *c, uint32_t ticket, uint32_t timeout_ms)
{
    const struct qrt_off_job *job = script.job[(ticket - 1) % 8];
    int32_t status = script.wait[script.waits % 8];

    (void)c;
    script.timeout[script.waits++ % 8] = timeout_ms;
    if (status == QRT_OFF_OK) {
        memset(job->out[0].ptr, DEVICE_CODE, job->out[0].count);
    }
    return status;
}

static int32_t script_quiesce(void *c)
{
    (void)c;
    script.quiesces++;
    return script.quiesce;
}

static int32_t script_native(void *c)
{
    (void)c;
    return 507014;
}

static struct qrt_off_backend scripted = {QRT_OFF_ABI,
                                          sizeof(struct qrt_off_backend),
                                          "scripted",
                                          1u << QRT_JOB_QUANT,
                                          8,
                                          8,
                                          2,
                                          0,
                                          script_open,
                                          script_close,
                                          script_query,
                                          script_submit,
                                          script_wait,
                                          script_quiesce,
                                          script_native};

static struct bench jobs[3];
static uint64_t script_ctx;

static void begin_script(uint32_t flags)
{
    static const struct conf_subject any = {.finite_only = true};

    subject = &any;
    memset(&script, 0, sizeof script);
    scripted.flags = flags;
    fresh_object();
    assert_int_equal(qrt_offload_attach(&off, &scripted, &script_ctx,
                                        sizeof script_ctx, NULL, NULL),
                     QRT_OFF_OK);
    for (int i = 0; i < 3; i++) {
        quant_job(&jobs[i], QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 16, 1);
        (void)reference(&jobs[i]);
    }
}

static bool from_device(const struct bench *b)
{
    return b->out[0][GUARD] == DEVICE_CODE &&
           b->out[0][GUARD + 15] == DEVICE_CODE;
}

static bool from_cpu(const struct bench *b)
{
    return agrees(b, &exactly);
}

static void counters(uint32_t dev_, uint32_t cpu_, uint32_t declined,
                     uint32_t failed)
{
    assert_int_equal(off.n_dev, dev_);
    assert_int_equal(off.n_cpu, cpu_);
    assert_int_equal(off.n_declined, declined);
    assert_int_equal(off.n_failed, failed);
    assert_int_equal(off.busy, 0);
}

/* Every event of one job, from READY: what it counts, whose result it is, and
 * the state it leaves. docs/offload.md, "When the device fails". */
static void one_job_follows_the_table(void **state)
{
    enum { DEV, CPU, NONE };
    static const struct {
        uint32_t flags;
        int32_t query, submit, wait, quiesce, wait2;
        uint8_t from, next;
        uint8_t declined, failed, quiesces;
    } rows[] = {
  /* clang-format off */
        {0, QRT_OFF_OK, QRT_OFF_OK, QRT_OFF_OK, 0, 0, DEV, QRT_OFF_READY, 0, 0, 0},
        {0, QRT_OFF_DECLINED, 0, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, QRT_OFF_BUSY, 0, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, QRT_OFF_ENOMEM, 0, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, QRT_OFF_LOST, 0, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, QRT_OFF_EXEC, 0, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, QRT_OFF_PENDING, 0, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, -99, 0, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, 0, QRT_OFF_DECLINED, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, 0, QRT_OFF_BUSY, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, 0, QRT_OFF_ENOMEM, 0, 0, 0, CPU, QRT_OFF_READY, 1, 0, 0},
        {0, 0, QRT_OFF_EXEC, 0, 0, 0, CPU, QRT_OFF_SUSPECT, 0, 1, 0},
        {0, 0, QRT_OFF_LOST, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, 0, 77, 0, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, 0, 0, QRT_OFF_EXEC, 0, 0, CPU, QRT_OFF_SUSPECT, 0, 1, 0},
        {0, 0, 0, QRT_OFF_LOST, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, 0, 0, -99, 0, 0, CPU, QRT_OFF_DEAD, 0, 1, 0},
        {0, 0, 0, QRT_OFF_PENDING, 0, 0, DEV, QRT_OFF_SUSPECT, 0, 1, 1},
        {0, 0, 0, QRT_OFF_TIMEOUT, 0, 0, DEV, QRT_OFF_SUSPECT, 0, 1, 1},
        {0, 0, 0, QRT_OFF_TIMEOUT, 0, QRT_OFF_EXEC, CPU, QRT_OFF_SUSPECT, 0, 1, 1},
        {0, 0, 0, QRT_OFF_TIMEOUT, 0, QRT_OFF_TIMEOUT, CPU, QRT_OFF_DEAD, 0, 1, 1},
        {0, 0, 0, QRT_OFF_TIMEOUT, QRT_OFF_LOST, 0, CPU, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_OUT, 0, 0, QRT_OFF_TIMEOUT, QRT_OFF_LOST, 0, NONE, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_IN, 0, 0, QRT_OFF_TIMEOUT, QRT_OFF_LOST, 0, NONE, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_OUT, 0, 0, QRT_OFF_LOST, QRT_OFF_LOST, 0, NONE, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_OUT, 0, 0, -99, QRT_OFF_LOST, 0, NONE, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_OUT, 0, 0, QRT_OFF_LOST, QRT_OFF_OK, 0, CPU, QRT_OFF_DEAD, 0, 1, 1},
        {QRT_OFF_DIRECT_OUT, 0, 0, QRT_OFF_EXEC, QRT_OFF_LOST, 0, CPU, QRT_OFF_SUSPECT, 0, 1, 0},
  /* clang-format on */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t status;

        begin_script(rows[i].flags);
        script.query = rows[i].query;
        script.submit = rows[i].submit;
        script.wait[0] = rows[i].wait;
        script.wait[1] = rows[i].wait2;
        script.quiesce = rows[i].quiesce;
        status = qrt_run(&off, &jobs[0].job);
        if (status != (rows[i].from == NONE ? QRT_OFF_LOST : QRT_OFF_OK) ||
            (rows[i].from == DEV && !from_device(&jobs[0])) ||
            (rows[i].from == CPU && !from_cpu(&jobs[0])) ||
            (rows[i].from == NONE && !untouched(&jobs[0])) ||
            off.state != rows[i].next || script.quiesces != rows[i].quiesces) {
            fail_msg("row %u: status %d, state %d", (unsigned)i, (int)status,
                     off.state);
        }
        counters(rows[i].from == DEV, rows[i].from == CPU, rows[i].declined,
                 rows[i].failed);
        assert_int_equal(off.native, rows[i].failed ? 507014 : 0);
        qrt_offload_detach(&off);
        assert_int_equal(script.closes, 1);
    }
}

static void three_failures_in_a_row_are_a_loss(void **state)
{
    (void)state;
    begin_script(0);
    script.wait[0] = script.wait[1] = QRT_OFF_EXEC;
    script.wait[3] = script.wait[4] = script.wait[5] = QRT_OFF_EXEC;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    }
    assert_int_equal(off.state, QRT_OFF_READY); /* the third was clean */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    }
    assert_int_equal(off.state, QRT_OFF_DEAD);
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    assert_int_equal(script.submits, 6);
    counters(1, 6, 0, 5);
}

static void limits_of_the_object_count(void **state)
{
    (void)state;
    begin_script(0);
    off.max_streak = 1;
    off.timeout_ms = 0;
    script.wait[0] = QRT_OFF_EXEC;
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    assert_int_equal(off.state, QRT_OFF_DEAD);
    assert_int_equal(script.timeout[0], 1000);
    begin_script(0);
    off.timeout_ms = 7;
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    assert_int_equal(script.timeout[0], 7);
}

static void ticket_zero_is_a_loss(void **state)
{
    uint32_t ticket;

    (void)state;
    begin_script(0);
    script.no_ticket = true;
    assert_int_equal(qrt_start(&off, &jobs[0].job, &ticket), QRT_OFF_DECLINED);
    assert_int_equal(off.state, QRT_OFF_DEAD);
    counters(0, 0, 0, 1);
    assert_int_equal(qrt_finish(&off, &jobs[0].job, 0), QRT_OFF_EARG);
}

/* Two jobs in flight: the first finds the device gone. What is known of the
 * second counts, but brings nothing back. */
static void late_success_does_not_revive(void **state)
{
    uint32_t a, b;

    (void)state;
    begin_script(0);
    assert_int_equal(qrt_start(NULL, &jobs[0].job, &a), QRT_OFF_EARG);
    assert_int_equal(qrt_start(&off, NULL, &a), QRT_OFF_EARG);
    assert_int_equal(qrt_start(&off, &jobs[0].job, NULL), QRT_OFF_EARG);
    assert_int_equal(script.submits, 0);
    assert_int_equal(qrt_start(&off, &jobs[0].job, &a), QRT_OFF_OK);
    assert_int_equal(qrt_start(&off, &jobs[1].job, &b), QRT_OFF_OK);
    assert_int_equal(qrt_start(&off, &jobs[2].job, &b), QRT_OFF_BUSY);
    b = 2;
    script.wait[0] = QRT_OFF_LOST;
    assert_int_equal(qrt_finish(&off, &jobs[0].job, a), QRT_OFF_OK);
    assert_true(from_cpu(&jobs[0]));
    assert_int_equal(qrt_finish(&off, &jobs[1].job, b), QRT_OFF_OK);
    assert_true(from_device(&jobs[1]));
    assert_int_equal(script.timeout[1], 0);
    assert_int_equal(off.state, QRT_OFF_DEAD);
    counters(1, 1, 1, 2);
}

static void jobs_in_flight_never_count_below_zero(void **state)
{
    uint32_t a, b;

    (void)state;
    begin_script(0);
    assert_int_equal(qrt_start(&off, &jobs[0].job, &a), QRT_OFF_OK);
    assert_int_equal(qrt_start(&off, &jobs[1].job, &b), QRT_OFF_OK);
    script.wait[0] = script.wait[2] = QRT_OFF_TIMEOUT;
    script.wait[1] = script.wait[3] = QRT_OFF_EXEC;
    assert_int_equal(qrt_finish(&off, &jobs[0].job, a), QRT_OFF_OK);
    assert_int_equal(qrt_finish(&off, &jobs[1].job, b), QRT_OFF_OK);
    assert_int_equal(off.busy, 0);
    assert_int_equal(qrt_finish(&off, &jobs[1].job, b), QRT_OFF_OK);
    assert_int_equal(off.busy, 0);
}

static void a_job_survives_detaching(void **state)
{
    uint32_t a;

    (void)state;
    begin_script(0);
    assert_int_equal(qrt_start(&off, &jobs[0].job, &a), QRT_OFF_OK);
    qrt_offload_detach(&off);
    assert_int_equal(qrt_finish(&off, &jobs[0].job, a), QRT_OFF_OK);
    assert_true(from_cpu(&jobs[0]));
    counters(0, 1, 0, 0);
}

static void quarantine_trusts_no_result(void **state)
{
    uint32_t a, b;

    (void)state;
    begin_script(0);
    assert_int_equal(qrt_start(&off, &jobs[0].job, &a), QRT_OFF_OK);
    assert_int_equal(qrt_start(&off, &jobs[1].job, &b), QRT_OFF_OK);
    off.state = QRT_OFF_QUARANTINE;
    assert_int_equal(qrt_finish(&off, &jobs[0].job, a), QRT_OFF_OK);
    assert_true(from_cpu(&jobs[0]));
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    assert_int_equal(script.submits, 2);
    script.wait[1] = QRT_OFF_LOST;
    assert_int_equal(qrt_finish(&off, &jobs[1].job, b), QRT_OFF_OK);
    assert_true(from_cpu(&jobs[1]));
    assert_int_equal(off.state, QRT_OFF_QUARANTINE);
    qrt_offload_detach(&off);
    assert_int_equal(off.state, QRT_OFF_ABSENT);
}

static void class_too_weak_is_declined(void **state)
{
    static const struct {
        uint8_t need;
        uint16_t tol;
        struct qrt_off_reply reply;
        bool taken;
    } rows[] = {
        {QRT_EX_BITEXACT, 0, {QRT_EX_BITEXACT, 0, 0}, true },
        {QRT_EX_BITEXACT, 9, {QRT_EX_BOUNDED, 0, 0},  false},
        {QRT_EX_BOUNDED,  1, {QRT_EX_BITEXACT, 0, 7}, true },
        {QRT_EX_BOUNDED,  1, {QRT_EX_BOUNDED, 0, 1},  true },
        {QRT_EX_BOUNDED,  1, {QRT_EX_BOUNDED, 0, 2},  false},
        {QRT_EX_BOUNDED,  1, {QRT_EX_ANY, 0, 0},      false},
        {QRT_EX_ANY,      0, {QRT_EX_BOUNDED, 0, 9},  true },
        {QRT_EX_ANY,      0, {QRT_EX_ANY, 0, 0},      true },
        {QRT_EX_ANY,      0, {QRT_EX_ANY + 1, 0, 0},  false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_script(0);
        script.reply = rows[i].reply;
        jobs[0].job.need = rows[i].need;
        jobs[0].job.tol = rows[i].tol;
        assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
        counters(rows[i].taken, !rows[i].taken, !rows[i].taken, 0);
        assert_int_equal(off.state, QRT_OFF_READY);
    }
}

static void operators_outside_the_mask_are_not_asked(void **state)
{
    (void)state;
    begin_script(0);
    script.query = QRT_OFF_LOST;
    jobs[0].job.op = QRT_JOB_WQUANT;
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_OK);
    counters(0, 1, 1, 0);
    assert_int_equal(off.state, QRT_OFF_READY);
}

static void answers_of_open_are_kept_or_a_loss(void **state)
{
    static const int32_t rows[][2] = {
        {QRT_OFF_ENODEV,   QRT_OFF_ENODEV},
        {QRT_OFF_ENOMEM,   QRT_OFF_ENOMEM},
        {QRT_OFF_EABI,     QRT_OFF_EABI  },
        {QRT_OFF_PENDING,  QRT_OFF_LOST  },
        {100039,           QRT_OFF_LOST  },
        {QRT_OFF_DECLINED, QRT_OFF_LOST  }
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_script(0);
        qrt_offload_detach(&off);
        script.closes = 0;
        script.open = rows[i][0];
        assert_int_equal(
            qrt_offload_attach(&off, &scripted, NULL, 8, NULL, NULL),
            QRT_OFF_ENOMEM);
        assert_int_equal(
            qrt_offload_attach(&off, &scripted, &script_ctx, 8, NULL, NULL),
            rows[i][1]);
        assert_int_equal(off.state, QRT_OFF_ABSENT);
        qrt_offload_detach(&off);
        assert_int_equal(script.closes, 0);
    }
}

static void without_kernel_and_device_a_job_is_declined(void **state)
{
    static const qrt_cpu_fn none[QRT_JOB_KINDS];

    (void)state;
    begin_script(0);
    script.query = QRT_OFF_DECLINED;
    off.cpu = none;
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_DECLINED);
    off.cpu = NULL;
    assert_int_equal(qrt_run(&off, &jobs[0].job), QRT_OFF_DECLINED);
    assert_int_equal(qrt_run(NULL, &jobs[0].job), QRT_OFF_EARG);
    assert_int_equal(qrt_run(&off, NULL), QRT_OFF_EARG);
}

/* ------------------------------------------------------------- job check */

static void malformed_jobs_are_refused(void **state)
{
    struct qrt_off_job *j = &jobs[0].job;
    struct qrt_off_job good;

    (void)state;
    begin_script(0);
    good = *j;
    assert_int_equal(qrt_job_check(j), QRT_OFF_OK);
#define REFUSED(statement)                                                     \
    do {                                                                       \
        statement;                                                             \
        assert_int_equal(qrt_job_check(j), QRT_OFF_EARG);                      \
        *j = good;                                                             \
    } while (0)
    REFUSED(j->size--);
    REFUSED(j->op = QRT_JOB_KINDS);
    REFUSED(j->need = QRT_EX_ANY + 1);
    REFUSED(j->outer = 0);
    REFUSED(j->channels = 0);
    REFUSED(j->inner = 0);
    REFUSED(j->inner = 0x80000000u);
    REFUSED((j->outer = 0x10000, j->channels = 0x10000));
    REFUSED((j->outer = 0x8000, j->channels = 0x100, j->inner = 0x100));
    REFUSED(j->in[0].ptr = NULL);
    REFUSED(j->in[0].count = 0);
    REFUSED(j->in[0].count = 0x80000000u);
    REFUSED(j->in[0].dtype = QRT_T_KINDS);
    REFUSED(j->in[0].dtype = QRT_T_NONE);
    REFUSED(j->in[0].ptr = jobs[0].in[0] + 2);
    REFUSED(j->in[1].ptr = jobs[0].in[1]);
    REFUSED(j->in[1].count = 1);
    REFUSED(j->out[0].ptr = NULL);
    REFUSED(memset(&j->in[0], 0, sizeof j->in[0]));
    REFUSED(memset(&j->out[0], 0, sizeof j->out[0]));
    REFUSED(j->params = NULL);
    REFUSED(j->params_size = 0);
    REFUSED(j->out[0].ptr = jobs[0].in[0]);
    REFUSED(j->out[0].ptr = jobs[0].in[0] + 63);
    REFUSED(j->in[0].ptr = (void *)(UINTPTR_MAX - 15)); /* wraps */
    j->out[0].ptr = jobs[0].in[0] + 64;                 /* next to the input */
    assert_int_equal(qrt_job_check(j), QRT_OFF_OK);
    j->out[1] = j->out[0];
    assert_int_equal(qrt_job_check(j), QRT_OFF_EARG);
    *j = good;
    j->size += 8; /* a newer producer */
    assert_int_equal(qrt_job_check(j), QRT_OFF_OK);
}

static void sizes_of_types(void **state)
{
    static const uint32_t size[QRT_T_KINDS + 1] = {0, 4, 2, 1, 1, 2,
                                                   4, 1, 4, 1, 8, 0};

    (void)state;
    for (uint32_t i = 0; i <= QRT_T_KINDS; i++) {
        assert_int_equal(qrt_dtype_size(i), size[i]);
    }
    assert_int_equal(qrt_dtype_size(255), 0);
}

/* ---------------------------------------------------------------- verify */

/* The device's result is `a`, the CPU's `b`: the verdict within tol. */
static const void *verify_a, *verify_b;
static uint32_t verify_bytes;

static int32_t verify_cpu(const struct qrt_off_job *job)
{
    memcpy(job->out[0].ptr, verify_b, verify_bytes);
    return QRT_OK;
}

static int32_t verify_wait(void *c, uint32_t ticket, uint32_t timeout_ms)
{
    (void)c, (void)ticket, (void)timeout_ms;
    memcpy(script.job[(script.submits - 1) % 8]->out[0].ptr, verify_a,
           verify_bytes);
    return QRT_OFF_OK;
}

static int32_t verdict(uint32_t dtype, uint32_t n, const void *a, const void *b,
                       uint8_t exact, uint16_t tol)
{
    static const qrt_cpu_fn table_of[QRT_JOB_KINDS] = {[QRT_JOB_QUANT] =
                                                           verify_cpu};
    static uint64_t x[2], dev_out[64], ref_out[64];
    struct qrt_off_backend backend = scripted;
    struct qrt_off_job job = {.size = sizeof job,
                              .op = QRT_JOB_QUANT,
                              .need = QRT_EX_ANY,
                              .outer = 1,
                              .channels = 1,
                              .inner = n,
                              .in = {{x, 1, QRT_T_U64, {0}}},
                              .out = {{dev_out, n, (uint8_t)dtype, {0}}}};
    struct qrt_off_job ref = job;
    struct qrt_offload o = {.cpu = table_of};
    int32_t status;

    ref.out[0].ptr = ref_out;
    backend.wait = verify_wait;
    memset(&script, 0, sizeof script);
    script.reply.exact = exact;
    script.reply.tol = tol;
    verify_a = a;
    verify_b = b;
    verify_bytes = n * qrt_dtype_size(dtype);
    assert_int_equal(
        qrt_offload_attach(&o, &backend, &script_ctx, 8, NULL, NULL),
        QRT_OFF_OK);
    status = qrt_verify(&o, &job, &ref);
    assert_int_equal(o.state, status == QRT_OFF_MISMATCH ? QRT_OFF_QUARANTINE
                                                         : QRT_OFF_READY);
    assert_int_equal(o.n_dev, 1);
    assert_int_equal(o.n_cpu, 1);
    return status;
}

#define EXACT(dtype, n, a, b)     verdict(dtype, n, a, b, QRT_EX_BITEXACT, 0)
#define NEAR(dtype, n, a, b, tol) verdict(dtype, n, a, b, QRT_EX_BOUNDED, tol)
#define SAME(call)                assert_int_equal(call, QRT_OFF_OK)
#define DIFFERENT(call)           assert_int_equal(call, QRT_OFF_MISMATCH)

static void verify_counts_integers_in_units(void **state)
{
    static const int8_t a8[] = {5, -128, 127}, b8[] = {5, -127, 127},
                        c8[] = {5, -128, 125};
    static const int16_t a16[] = {-32768, 7}, b16[] = {32767, 7};
    static const int32_t a32[] = {INT32_MIN, 3}, b32[] = {INT32_MIN + 1, 3},
                         c32[] = {INT32_MAX, 3};
    static const uint8_t a4[] = {0x87}, b4[] = {0x97}, c4[] = {0xF7},
                         d4[] = {0x07}, e4[] = {0x86};
    static const uint64_t a64[] = {1, 2}, b64[] = {1, 3};
    static const uint8_t t[] = {1, 0}, f[] = {1, 1};

    (void)state;
    SAME(EXACT(QRT_T_I8, 3, a8, a8));
    DIFFERENT(EXACT(QRT_T_I8, 3, a8, b8));
    SAME(NEAR(QRT_T_I8, 3, a8, b8, 1));
    DIFFERENT(NEAR(QRT_T_I8, 3, a8, c8, 1));
    SAME(NEAR(QRT_T_I8, 3, a8, c8, 2));
    SAME(NEAR(QRT_T_I16, 2, a16, b16, 65535));
    DIFFERENT(NEAR(QRT_T_I16, 2, a16, b16, 65534));
    SAME(NEAR(QRT_T_I32, 2, a32, b32, 1));
    DIFFERENT(NEAR(QRT_T_I32, 2, a32, c32, 65535));
    SAME(NEAR(QRT_T_I4P, 1, a4, b4, 1));      /* -8, -7 */
    DIFFERENT(NEAR(QRT_T_I4P, 1, a4, c4, 6)); /* -8, -1 */
    SAME(NEAR(QRT_T_I4P, 1, a4, c4, 7));
    DIFFERENT(NEAR(QRT_T_I4P, 1, a4, d4, 7)); /* -8, 0 */
    SAME(NEAR(QRT_T_I4P, 1, a4, e4, 1));
    DIFFERENT(NEAR(QRT_T_U64, 2, a64, b64, 9));
    DIFFERENT(NEAR(QRT_T_BOOL8, 2, t, f, 9));
    SAME(verdict(QRT_T_I8, 3, a8, c8, QRT_EX_ANY, 0));
}

static void verify_counts_floats_in_units_in_the_last_place(void **state)
{
    static const uint32_t one[] = {0x3f800000, 0}, next[] = {0x3f800001, 0},
                          minus0[] = {0x3f800000, 0x80000000},
                          tiny[] = {0x3f800000, 1},
                          minus[] = {0x3f800000, 0x80000001},
                          nan1[] = {0x7fc00000, 0}, nan2[] = {0xffc12345, 0},
                          inf[] = {0x7f800000, 0}, max[] = {0x7f7fffff, 0};
    static const uint16_t h1[] = {0x3c00}, h2[] = {0x3c02}, hn[] = {0xfe00},
                          hm[] = {0x7e01}, hi[] = {0xfc00};

    (void)state;
    SAME(NEAR(QRT_T_F32, 2, one, next, 1));
    DIFFERENT(NEAR(QRT_T_F32, 2, one, next, 0));
    SAME(NEAR(QRT_T_F32, 2, one, minus0, 0));
    DIFFERENT(EXACT(QRT_T_F32, 2, one, minus0));
    SAME(NEAR(QRT_T_F32, 2, tiny, minus, 2));
    DIFFERENT(NEAR(QRT_T_F32, 2, tiny, minus, 1));
    SAME(NEAR(QRT_T_F32, 2, nan1, nan2, 0));
    DIFFERENT(EXACT(QRT_T_F32, 2, nan1, nan2));
    DIFFERENT(NEAR(QRT_T_F32, 2, nan1, inf, 65535));
    DIFFERENT(NEAR(QRT_T_F32, 2, inf, nan1, 65535));
    SAME(NEAR(QRT_T_F32, 2, inf, max, 1));
    SAME(NEAR(QRT_T_F16, 1, h1, h2, 2));
    DIFFERENT(NEAR(QRT_T_F16, 1, h1, h2, 1));
    SAME(NEAR(QRT_T_F16, 1, hn, hm, 0));
    DIFFERENT(NEAR(QRT_T_F16, 1, hi, hn, 65535));
}

static void verify_needs_a_device_and_equal_jobs(void **state)
{
    struct qrt_off_job ref;

    (void)state;
    begin_script(0);
    ref = jobs[0].job;
    assert_int_equal(qrt_verify(&off, &jobs[0].job, &ref), QRT_OFF_EARG);
    assert_int_equal(qrt_finish(&off, &jobs[0].job, 0), QRT_OFF_EARG);
    assert_int_equal(qrt_finish(NULL, &jobs[0].job, 1), QRT_OFF_EARG);
    ref.out[0].ptr = jobs[0].ref[0] + GUARD;
    script.wait[0] = QRT_OFF_EXEC;
    assert_int_equal(qrt_verify(&off, &jobs[0].job, &ref), QRT_OFF_DECLINED);
    script.query = QRT_OFF_DECLINED;
    assert_int_equal(qrt_verify(&off, &jobs[0].job, &ref), QRT_OFF_DECLINED);
    ref.rule = QRT_RULE_AMCT;
    assert_int_equal(qrt_verify(&off, &jobs[0].job, &ref), QRT_OFF_EARG);
    ref.rule = jobs[0].job.rule;
    qrt_offload_detach(&off);
    assert_int_equal(qrt_verify(&off, &jobs[0].job, &ref), QRT_OFF_DECLINED);
}

/* A flipped tie of ULQ_FWD is a step, and takes its loss and masks along. */
static uint32_t ulq_flip, ulq_steps;

static int32_t ulq_wait(void *c, uint32_t ticket, uint32_t timeout_ms)
{
    const struct qrt_off_job *job = script.job[(script.submits - 1) % 8];
    float *y = job->out[0].ptr, *loss = job->out[3].ptr;
    uint8_t *mask = job->out[1].ptr;

    (void)c, (void)ticket, (void)timeout_ms;
    (void)qrt_cpu_ulq_fwd_f32(job);
    if (ulq_steps != 0) {
        y[ulq_flip] += (float)ulq_steps * *(const float *)job->in[2].ptr;
        loss[ulq_flip] = -loss[ulq_flip];
    }
    mask[ulq_flip] ^= 1;
    return QRT_OFF_OK;
}

static int32_t ulq_verdict(uint32_t steps, uint16_t tol)
{
    struct qrt_off_backend backend = scripted;
    struct qrt_off_job ref;

    begin_script(0);
    qrt_offload_detach(&off);
    backend.wait = ulq_wait;
    backend.op_mask = 1u << QRT_JOB_ULQ_FWD;
    ulq_job(&jobs[0], QRT_RULE_AMCT, 40, 0);
    ref = jobs[0].job;
    for (int k = 0; k < 4; k++) {
        ref.out[k].ptr = jobs[0].ref[k] + GUARD;
    }
    assert_int_equal(
        qrt_offload_attach(&off, &backend, &script_ctx, 8, NULL, NULL),
        QRT_OFF_OK);
    script.reply.exact = QRT_EX_BOUNDED;
    script.reply.tol = tol;
    ulq_flip = 5;
    ulq_steps = steps;
    return qrt_verify(&off, &jobs[0].job, &ref);
}

static void verify_counts_fake_quantized_values_in_steps(void **state)
{
    (void)state;
    SAME(ulq_verdict(1, 1));
    DIFFERENT(ulq_verdict(2, 1));
    SAME(ulq_verdict(2, 2));
    DIFFERENT(ulq_verdict(0, 1)); /* a mask alone is wrong */
}

/* ----------------------------------------------------------- CPU entries */

/* AMCT's two orders on every half-integer and 8-bit offset: 31100 of 205056
 * codes differ, the ties with an odd offset that do not saturate. */
static void rounding_before_or_after_the_offset(void **state)
{
    static int8_t a[801], b[801];
    static const struct qrt_real one = {1 << 30, 1};
    struct qrt_off_quant p = {&one, &one, NULL, 0};
    uint32_t differ = 0, fixed = 0;

    (void)state;
    subject = &npu_subject;
    quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_MODULE, 1, 1, 801, 0);
    for (int i = 0; i < 801; i++) {
        ((float *)a_bench.in[0])[i] = (float)(i - 400) / 2;
    }
    a_bench.job.params = &p;
    for (int32_t zero = -128; zero < 128; zero++) {
        struct qrt_off_job j = a_bench.job;

        p.zero_point = &zero;
        j.out[0].ptr = a;
        assert_int_equal(qrt_cpu_quant(&j), QRT_OK);
        j.out[0].ptr = b;
        j.rule = QRT_RULE_CANN;
        assert_int_equal(qrt_cpu_quant(&j), QRT_OK);
        for (int i = 0; i < 801; i++) {
            differ += a[i] != b[i];
        }
        /* Exact arithmetic: the FIXED rules give the same two answers. */
        j.rule = QRT_RULE_FIXED;
        assert_int_equal(qrt_cpu_quant(&j), QRT_OK);
        j.out[0].ptr = jobs[0].out[0];
        j.rule = QRT_RULE_FIXED_MODULE;
        assert_int_equal(qrt_cpu_quant(&j), QRT_OK);
        fixed += memcmp(a, jobs[0].out[0], 801) != 0;
        j.rule = QRT_RULE_CANN;
        assert_int_equal(qrt_cpu_quant(&j), QRT_OK);
        fixed += memcmp(b, jobs[0].out[0], 801) != 0;
    }
    assert_int_equal(differ, 31100);
    assert_int_equal(fixed, 0);
}

/* The integer entry emulates binary32: same bytes as the float kernels, with
 * NaN, infinities, denormals and ties, per tensor and per channel. */
static void emulated_steps_equal_float_steps(void **state)
{
    static const uint32_t shapes[][3] = {
        {1,  1,  5000},
        {3,  5,  40  },
        {50, 16, 1   },
        {1,  1,  1   },
        {1,  1,  65  }
    };

    (void)state;
    subject = &npu_subject;
    for (uint32_t rule = QRT_RULE_AMCT; rule <= QRT_RULE_CANN; rule++) {
        for (uint32_t i = 0; i < 60; i++) {
            const uint32_t *s = shapes[i % 5];
            struct qrt_off_job ref;

            quant_job(&a_bench, QRT_JOB_QUANT, rule, s[0], s[1], s[2], i);
            ref = a_bench.job;
            ref.out[0].ptr = a_bench.ref[0] + GUARD;
            if (i % 2 != 0) { /* any bits at all */
                for (uint32_t k = 0; k < s[0] * s[1] * s[2]; k++) {
                    ((uint32_t *)a_bench.in[0])[k] = random_bits();
                }
            }
            assert_int_equal(qrt_cpu_quant(&ref), QRT_OK);
            assert_int_equal(qrt_cpu_quant_f32(&a_bench.job), QRT_OK);
            assert_true(agrees(&a_bench, &exactly));
            assert_true(guarded(&a_bench));
        }
    }
}

/* Each rule against its own formula, spelled out. */
static void rules_are_their_formulas(void **state)
{
    (void)state;
    subject = &npu_subject;
    for (uint32_t v = 0; v < 42; v++) {
        float s, o;
        uint32_t bits;

        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_AMCT, 1, 1, 2000, v);
        bits = qrt_real_to_f32(a_bench.scale[0]);
        memcpy(&s, &bits, sizeof s);
        o = (float)a_bench.zero[0];
        for (uint32_t rule = QRT_RULE_AMCT; rule <= QRT_RULE_CANN; rule++) {
            volatile float r = 1.0f / s;

            a_bench.job.rule = (uint8_t)rule;
            assert_int_equal(qrt_cpu_quant(&a_bench.job), QRT_OK);
            for (uint32_t i = 0; i < 2000; i++) {
                float x = ((float *)a_bench.in[0])[i];
                volatile float t = rule == QRT_RULE_AMCT ? x / s : x * r;
                float q = rule == QRT_RULE_MODULE ? rintf(t) + o : rintf(t + o);

                q = q > -128 ? q : -128;
                q = q < 127 ? q : 127;
                assert_int_equal((int8_t)a_bench.out[0][GUARD + i], (int)q);
            }
        }
    }
}

static void other_input_types_quantize(void **state)
{
    static const struct qrt_real half = {1 << 30, 0}; /* 0.5 */
    static const struct qrt_real two = {1 << 30, 2};
    struct qrt_off_quant p = {&half, &two, NULL, 8};
    static const int16_t x16[] = {64, 128, -192, 320};          /* Q8 */
    static const int32_t q16[] = {16384, 32768, -49152, 81920}; /* Q16.16 */
    static const uint16_t f16[] = {0x3400, 0x3800, 0xba00, 0x3d00};
    static const int8_t expected[] = {0, 1, -2, 2};
    static const uint8_t packed[] = {0x10, 0x2e};
    static const struct {
        const void *x;
        uint8_t dtype;
    } in[] = {
        {x16, QRT_T_I16   },
        {q16, QRT_T_Q16_16},
        {f16, QRT_T_F16   }
    };

    (void)state;
    subject = &npu_subject;
    for (uint32_t rule = 0; rule < QRT_RULE_KINDS; rule++) {
        for (int i = 0; i < 3; i++) {
            struct qrt_off_job *j = &a_bench.job;

            quant_job(&a_bench, QRT_JOB_QUANT, rule, 1, 1, 4, 0);
            j->params = &p;
            j->in[0].ptr = in[i].x;
            j->in[0].dtype = in[i].dtype;
            if (in[i].dtype == QRT_T_F16 &&
                (rule == QRT_RULE_FIXED || rule == QRT_RULE_FIXED_MODULE)) {
                assert_int_equal(qrt_cpu_quant(j), QRT_ERR_UNSUPPORTED);
                continue;
            }
            assert_int_equal(qrt_cpu_quant(j), QRT_OK);
            assert_memory_equal(j->out[0].ptr, expected, 4);
            j->bits = 4;
            j->out[0].dtype = QRT_T_I4P;
            j->out[0].count = 2;
            assert_int_equal(qrt_cpu_quant(j), QRT_OK);
            assert_memory_equal(j->out[0].ptr, packed, 2);
            j->bits = 8;
            assert_int_equal(qrt_cpu_quant(j), QRT_ERR_UNSUPPORTED);
        }
    }
}

static void codes_become_reals(void **state)
{
    static const struct qrt_real s[2] = {
        {1 << 30,    0},
        {1610612736, 1}
    };
    static const int32_t zero[2] = {3, -2};
    static const int8_t x[] = {3, 0, 5, 127, -128, -2};
    static const float expected[] = {0, 3, 1, 193.5f, -65.5f, 0};
    static const uint16_t halves_[] = {0, 0x4200, 0x3c00, 0x5a0c, 0xd418, 0};
    static const int32_t q16[] = {0, 196608, 65536, 12681216, -4292608, 0};
    static const int32_t minus[2] = {-3, 2};
    struct qrt_dequantize d = {s, zero, 0};
    struct qrt_antiquantize a = {s, minus, 0, false};

    (void)state;
    subject = &npu_subject;
    start_job(&a_bench, QRT_JOB_DEQUANT, 0, 3, 2, 1);
    memcpy(input(&a_bench, 0, QRT_T_I8, 6), x, 6);
    output(&a_bench, 0, QRT_T_F32, 6);
    a_bench.job.params = &d;
    a_bench.job.params_size = sizeof d;
    assert_int_equal(qrt_cpu_dequant(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, expected, sizeof expected);
    a_bench.job.out[0].dtype = QRT_T_Q16_16;
    assert_int_equal(qrt_cpu_dequant(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, q16, sizeof q16);
    a_bench.job.rule = QRT_RULE_CANN;
    assert_int_equal(qrt_cpu_dequant(&a_bench.job), QRT_ERR_UNSUPPORTED);
    a_bench.job.op = QRT_JOB_ANTIQUANT;
    a_bench.job.params = &a;
    a_bench.job.params_size = sizeof a;
    a_bench.job.out[0].dtype = QRT_T_F16;
    assert_int_equal(qrt_cpu_antiquant(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, halves_, sizeof halves_);
    a_bench.job.out[0].dtype = QRT_T_F32;
    assert_int_equal(qrt_cpu_antiquant(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, expected, sizeof expected);
    a_bench.job.rule = QRT_RULE_FIXED;
    a_bench.job.out[0].dtype = QRT_T_Q16_16;
    assert_int_equal(qrt_cpu_antiquant(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, q16, sizeof q16);
}

/* binary16 is rounded as independent code rounds it, and comes back. */
uint32_t qrt_f32_from_f16(uint32_t h);
uint32_t qrt_f16_from_f32(uint32_t a);

static void binary16_rounds_to_even(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        bool nan = (h & 0x7fff) > 0x7c00;
        uint32_t bits = qrt_f32_from_f16(h);
        float f;

        memcpy(&f, &bits, sizeof f);
        assert_true(nan ? isnan(f) : qrt_f16_from_f32(bits) == h);
    }
    seed = 7;
    for (int i = 0; i < 300000; i++) {
        uint32_t bits = random_bits();
        float f;

        if (i % 2) { /* around the range, with ties */
            bits = (bits & 0x9fffe000) | (bits & 1 ? 0x1000 : bits & 0x1fff);
            bits =
                (bits & 0x80ffffff) | ((bits % 24 + 0x32) << 24 & 0x7f000000);
        }
        memcpy(&f, &bits, sizeof f);
        if (!isnan(f)) {
            assert_int_equal(qrt_f16_from_f32(bits), half_of(f));
        } else {
            assert_int_equal(qrt_f16_from_f32(bits),
                             (bits >> 16 & 0x8000) | 0x7e00);
        }
    }
}

static void accumulators_become_codes(void **state)
{
    static const struct qrt_real m = {1717986918, -3}; /* 0.1 */
    static const int32_t acc[] = {14, 15, 25, -15, 2000, -2000};
    static const int8_t expected[] = {4, 4,   6,
                                      2, 127, 0}; /* 1.5, 2.5 to even */
    struct qrt_edge edge = {&m, 3, 0, 127, 0};

    (void)state;
    start_job(&a_bench, QRT_JOB_REQUANT, 0, 1, 1, 6);
    memcpy(input(&a_bench, 0, QRT_T_I32, 6), acc, sizeof acc);
    output(&a_bench, 0, QRT_T_I8, 6);
    a_bench.job.params = &edge;
    a_bench.job.params_size = sizeof edge;
    assert_int_equal(qrt_cpu_requant(&a_bench.job), QRT_OK);
    /* 0.1 in 31 bits is below 0.1: 1.5 + 3 is not quite a tie */
    assert_int_equal(((int8_t *)a_bench.job.out[0].ptr)[0], expected[0]);
    assert_int_equal(((int8_t *)a_bench.job.out[0].ptr)[4], expected[4]);
    assert_int_equal(((int8_t *)a_bench.job.out[0].ptr)[5], expected[5]);
    a_bench.job.rule = QRT_RULE_CANN;
    assert_int_equal(qrt_cpu_requant(&a_bench.job), QRT_OK);
    for (int i = 0; i < 6; i++) {
        volatile float t = (float)acc[i] * 0.1f;
        float q = rintf(t + 3);

        q = q < 0 ? 0 : q > 127 ? 127 : q;
        assert_int_equal(((int8_t *)a_bench.job.out[0].ptr)[i], (int)q);
    }
    a_bench.job.rule = QRT_RULE_AMCT;
    assert_int_equal(qrt_cpu_requant(&a_bench.job), QRT_ERR_UNSUPPORTED);
}

/* Forward and the three gradients as jobs give what the kernel of AMCT's
 * backward pass gives at once. */
static void ulq_jobs_equal_the_kernel(void **state)
{
    enum { N = 500 };
    static float g[N], grad_x[N], grad[1];
    struct qrt_ulq_f32 cfg = {8, true, false, false, 1.0f, -1.0f};
    double max_sum, min_sum;
    struct qrt_off_job j;
    const float *clips;

    (void)state;
    subject = &npu_subject;
    ulq_job(&a_bench, QRT_RULE_AMCT, N, 2);
    assert_int_equal(qrt_cpu_ulq_fwd_f32(&a_bench.job), QRT_OK);
    clips = a_bench.job.in[1].ptr;
    for (int i = 0; i < N; i++) {
        g[i] = random_float(2);
        if (isnan(((float *)a_bench.in[0])[i])) {
            ((float *)a_bench.in[0])[i] = 0.1f;
        }
    }
    assert_int_equal(qrt_cpu_ulq_fwd_f32(&a_bench.job), QRT_OK);
    assert_int_equal(qrt_ulq_f32_backward(&cfg, a_bench.job.in[0].ptr, g, N,
                                          clips[0], clips[1], grad_x, &max_sum,
                                          &min_sum),
                     QRT_OK);
    memset(&j, 0, sizeof j);
    j.size = sizeof j;
    j.outer = j.channels = 1;
    j.inner = N;
    j.rule = QRT_RULE_AMCT;
    j.in[0] = (struct qrt_off_in){g, N, QRT_T_F32, {0}};
    j.in[1] = (struct qrt_off_in){a_bench.job.out[1].ptr, N, QRT_T_BOOL8, {0}};
    j.in[2] = (struct qrt_off_in){a_bench.job.out[2].ptr, N, QRT_T_BOOL8, {0}};
    j.out[0] = (struct qrt_off_out){jobs[0].out[0] + GUARD, N, QRT_T_F32, {0}};
    assert_int_equal(qrt_cpu_ulq_grad_x(&j), QRT_OK);
    assert_memory_equal(j.out[0].ptr, grad_x, sizeof grad_x);
    j.out[0] = (struct qrt_off_out){grad, 1, QRT_T_F32, {0}};
    j.in[2] = (struct qrt_off_in){a_bench.job.out[3].ptr, N, QRT_T_F32, {0}};
    assert_int_equal(qrt_cpu_ulq_grad_min_f32(&j), QRT_OK);
    assert_true(fabs(grad[0] - min_sum) <= 1e-6 * (1 + fabs(min_sum)));
    j.in[1].ptr = a_bench.job.out[2].ptr;
    assert_int_equal(qrt_cpu_ulq_grad_max_f32(&j), QRT_OK);
    assert_true(fabs(grad[0] - max_sum) <= 1e-6 * (1 + fabs(max_sum)));
    assert_true(fabs(max_sum) > 0.1 && fabs(min_sum) > 0.01);
}

/* CANN's forward pass, and the one on Q numbers. */
static void other_ulq_forwards_equal_their_kernels(void **state)
{
    enum { N = 200 };
    static float y[N], loss[N];
    static uint8_t min_mask[N], max_mask[N];
    static int32_t fixed[N], expected[N];
    struct qrt_ulq_clips clips = {.bits = 8, .asymmetric = true};
    struct qrt_ulq_step step;
    const float *c;
    struct qrt_off_job *j = &a_bench.job;

    (void)state;
    subject = &npu_subject;
    ulq_job(&a_bench, QRT_RULE_CANN, N, 4);
    c = j->in[1].ptr;
    assert_int_equal(qrt_job_check(j), QRT_OFF_OK);
    assert_int_equal(qrt_cpu_ulq_fwd_f32(j), QRT_OK);
    assert_int_equal(qrt_acts_ulq_cann_f32(j->in[0].ptr, N, c[1], c[0], false,
                                           y, min_mask, max_mask, loss, NULL),
                     QRT_OK);
    assert_memory_equal(j->out[0].ptr, y, sizeof y);
    assert_memory_equal(j->out[1].ptr, min_mask, sizeof min_mask);
    assert_memory_equal(j->out[2].ptr, max_mask, sizeof max_mask);
    assert_memory_equal(j->out[3].ptr, loss, sizeof loss);
    j->bits = 4;
    assert_int_equal(qrt_cpu_ulq_fwd_f32(j), QRT_ERR_UNSUPPORTED);
    for (int i = 0; i < N; i++) {
        fixed[i] = (i * 7919 % 1201 - 600) * 700;
    }
    j->bits = 8;
    j->rule = QRT_RULE_FIXED;
    j->in[0].ptr = fixed;
    j->in[0].dtype = j->out[0].dtype = QRT_T_Q16_16;
    assert_int_equal(qrt_cpu_ulq_fwd_f32(j), QRT_ERR_UNSUPPORTED); /* masks */
    memset(&j->out[1], 0, 3 * sizeof j->out[1]);
    assert_int_equal(qrt_cpu_ulq_fwd_f32(j), QRT_OK);
    (void)qrt_real_from_f32(bits_of(c[0]), &clips.max);
    (void)qrt_real_from_f32(bits_of(c[1]), &clips.min);
    (void)qrt_real_from_f32(bits_of(1.0f), &clips.max_init);
    (void)qrt_real_from_f32(bits_of(-1.0f), &clips.min_init);
    assert_int_equal(qrt_ulq_prepare(&clips, &step), QRT_OK);
    assert_int_equal(qrt_ulq_forward_s32(fixed, N, 16, &step, expected),
                     QRT_OK);
    assert_memory_equal(j->out[0].ptr, expected, sizeof expected);
}

static void arq_and_ifmr_jobs_equal_their_kernels(void **state)
{
    struct qrt_off_arq arq = {1};
    float scale[3], y[60];
    int32_t offset[3];
    const struct qrt_shape shape = {1, 3, 20, 1};
    struct qrt_ifmr_f32_result r;
    struct qrt_ifmr_f32_config cfg = {.bits = 8,
                                      .asymmetric = true,
                                      .ratios = (const float *)ifmr_ratios,
                                      .ratio_count = 61,
                                      .max_percentile = 0.999999,
                                      .min_percentile = 0.999999};

    (void)state;
    subject = &npu_subject;
    start_job(&a_bench, QRT_JOB_ARQ, QRT_RULE_AMCT, 1, 3, 20);
    for (int i = 0; i < 60; i++) {
        ((float *)input(&a_bench, 0, QRT_T_F32, 60))[i] = random_float(2);
    }
    output(&a_bench, 0, QRT_T_F32, 60);
    output(&a_bench, 1, QRT_T_F32, 3);
    output(&a_bench, 2, QRT_T_I32, 3);
    a_bench.job.params = &arq;
    a_bench.job.params_size = sizeof arq;
    assert_int_equal(qrt_job_check(&a_bench.job), QRT_OFF_OK);
    assert_int_equal(qrt_cpu_arq_f32(&a_bench.job), QRT_OK);
    assert_int_equal(qrt_arq_f32_scale(a_bench.job.in[0].ptr, &shape, 8, true,
                                       true, scale, offset, NULL),
                     QRT_OK);
    assert_int_equal(qrt_arq_f32_fake(a_bench.job.in[0].ptr, &shape, 8, true,
                                      scale, offset, y),
                     QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, y, sizeof y);
    assert_memory_equal(a_bench.job.out[1].ptr, scale, sizeof scale);
    assert_memory_equal(a_bench.job.out[2].ptr, offset, sizeof offset);
    ifmr_job(&a_bench, QRT_RULE_AMCT, 1500);
    assert_int_equal(qrt_cpu_ifmr_f32(&a_bench.job), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_search(ifmr_scratch, sizeof ifmr_scratch,
                                         &cfg, a_bench.job.in[0].ptr, 1500, &r),
                     QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, &r.scale, sizeof r.scale);
    assert_memory_equal(a_bench.job.out[1].ptr, &r.offset, sizeof r.offset);
    a_bench.job.rule = QRT_RULE_FIXED; /* few samples: the observer is exact */
    assert_int_equal(qrt_cpu_ifmr_f32(&a_bench.job), QRT_ERR_UNSUPPORTED);
    assert_int_equal(qrt_cpu_ifmr(&a_bench.job), QRT_OK);
    assert_memory_equal(a_bench.job.out[0].ptr, &r.scale, sizeof r.scale);
    assert_memory_equal(a_bench.job.out[1].ptr, &r.offset, sizeof r.offset);
    a_bench.job.rule = QRT_RULE_CANN;
    assert_int_equal(qrt_cpu_ifmr_f32(&a_bench.job), QRT_OK);
    assert_true(fabsf(*(float *)a_bench.job.out[0].ptr - r.scale) <
                0.2f * r.scale);
}

static void entries_refuse_what_they_cannot_do(void **state)
{
    struct qrt_off_job *j = &a_bench.job;

    (void)state;
    subject = &npu_subject;
    for (int i = 0; i < 11; i++) {
        int32_t expected = QRT_ERR_UNSUPPORTED;

        quant_job(&a_bench, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 16, 1);
        switch (i) {
        case 0:
            j->rule = QRT_RULE_KINDS;
            break;
        case 1:
            j->params_size--;
            break;
        case 2:
            j->in[0].dtype = QRT_T_I8;
            break;
        case 3:
            j->out[0].dtype = QRT_T_F32;
            break;
        case 4:
            j->in[0].count = 15;
            expected = QRT_ERR_SIZE;
            break;
        case 5:
            j->out[0].count = 17;
            expected = QRT_ERR_SIZE;
            break;
        case 6:
            j->bits = 9;
            expected = QRT_ERR_RANGE;
            break;
        case 7:
            j->in[0].ptr = NULL;
            expected = QRT_ERR_NULL;
            break;
        case 8:
            a_bench.quant.scale = NULL;
            expected = QRT_ERR_NULL;
            break;
        case 9:
            a_bench.zero[0] = 128;
            expected = QRT_ERR_RANGE;
            break;
        default:
            a_bench.scale[0].m = 5;
            expected = QRT_ERR_RANGE;
            break;
        }
        assert_int_equal(qrt_cpu_quant(j), expected);
        assert_int_equal(qrt_cpu_quant_f32(j), expected);
        assert_true(untouched(&a_bench));
    }
}

/* What one changed field of a good job makes of it. */
static void declines(int32_t (*entry)(const struct qrt_off_job *),
                     const struct qrt_off_job *job, int32_t status)
{
    memset(a_bench.out, 0x5A, sizeof a_bench.out);
    assert_int_equal(entry(job), status);
    assert_true(untouched(&a_bench));
}

static void dequant_entries_refuse(void **state)
{
    static const struct qrt_real s = {1 << 30, 1}, none = {5, 1};
    static const int32_t far = 40000;
    struct qrt_dequantize d = {&s, NULL, 0};
    struct qrt_antiquantize a = {&s, NULL, 0, false};
    struct qrt_off_job *j = &a_bench.job, good;

    (void)state;
    start_job(&a_bench, QRT_JOB_DEQUANT, 0, 1, 1, 4);
    (void)input(&a_bench, 0, QRT_T_I8, 4);
    output(&a_bench, 0, QRT_T_F32, 4);
    j->params = &d;
    j->params_size = sizeof d;
    good = *j;
    j->in[0].count = 5;
    declines(qrt_cpu_dequant, j, QRT_ERR_SIZE);
    *j = good;
    j->params_size--;
    declines(qrt_cpu_dequant, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    j->in[0].dtype = QRT_T_F32; /* reals already */
    declines(qrt_cpu_dequant, j, QRT_ERR_UNSUPPORTED);
    j->in[0].dtype = QRT_T_Q16_16;
    declines(qrt_cpu_dequant, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    j->out[0].dtype = QRT_T_I16;
    declines(qrt_cpu_dequant, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    d.scale = &none;
    declines(qrt_cpu_dequant, j, QRT_ERR_RANGE);

    j->op = QRT_JOB_ANTIQUANT;
    j->params = &a;
    j->params_size = sizeof a;
    good = *j;
    j->in[0].ptr = NULL;
    declines(qrt_cpu_antiquant, j, QRT_ERR_NULL);
    *j = good;
    j->in[0].dtype = QRT_T_I32; /* an accumulator is no code */
    declines(qrt_cpu_antiquant, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    j->out[0].dtype = QRT_T_I8;
    declines(qrt_cpu_antiquant, j, QRT_ERR_UNSUPPORTED);
    j->out[0].dtype = QRT_T_F16;
    a.offset = &far;
    declines(qrt_cpu_antiquant, j, QRT_ERR_RANGE);
}

static void requant_entry_refuses(void **state)
{
    static const struct qrt_real m = {1 << 30, 0};
    struct qrt_edge edge = {&m, 0, -128, 127, 0};
    struct qrt_off_job *j = &a_bench.job, good;

    (void)state;
    start_job(&a_bench, QRT_JOB_REQUANT, QRT_RULE_CANN, 1, 1, 4);
    (void)input(&a_bench, 0, QRT_T_I32, 4);
    output(&a_bench, 0, QRT_T_I8, 4);
    j->params = &edge;
    j->params_size = sizeof edge;
    good = *j;
    j->out[0].count = 3;
    declines(qrt_cpu_requant, j, QRT_ERR_SIZE);
    *j = good;
    j->in[0].dtype = QRT_T_I16;
    declines(qrt_cpu_requant, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    edge.code_max = 128;
    declines(qrt_cpu_requant, j, QRT_ERR_RANGE);
    edge.code_max = 127;
    edge.zero_point = 200;
    declines(qrt_cpu_requant, j, QRT_ERR_RANGE);
    edge.zero_point = 0;
    edge.code_min = 5;
    edge.code_max = 4;
    declines(qrt_cpu_requant, j, QRT_ERR_RANGE);
}

/* Accumulators become codes of 16 bits too. */
static void accumulators_become_wide_codes(void **state)
{
    static const struct qrt_real half = {1 << 30, 0};
    static const int32_t acc[] = {3, 5, -70000, 50001};
    static const int16_t expected[] = {102, 102, -32768, 25100};
    struct qrt_edge edge = {&half, 100, -32768, 32767, 0};

    (void)state;
    start_job(&a_bench, QRT_JOB_REQUANT, 0, 1, 1, 4);
    memcpy(input(&a_bench, 0, QRT_T_I32, 4), acc, sizeof acc);
    output(&a_bench, 0, QRT_T_I16, 4);
    a_bench.job.params = &edge;
    a_bench.job.params_size = sizeof edge;
    for (uint32_t rule = 0; rule < QRT_RULE_KINDS; rule++) {
        bool has = rule == QRT_RULE_FIXED || rule == QRT_RULE_CANN;

        a_bench.job.rule = (uint8_t)rule;
        assert_int_equal(qrt_cpu_requant(&a_bench.job),
                         has ? QRT_OK : QRT_ERR_UNSUPPORTED);
        if (has) {
            assert_memory_equal(a_bench.job.out[0].ptr, expected,
                                sizeof expected);
        }
    }
}

static void ulq_entries_refuse(void **state)
{
    enum { N = 8 };
    struct qrt_off_job *j = &a_bench.job, good, grad;

    (void)state;
    subject = &npu_subject;
    ulq_job(&a_bench, QRT_RULE_AMCT, N, 0);
    good = *j;
    j->inner = N - 1;
    declines(qrt_cpu_ulq_fwd_f32, j, QRT_ERR_SIZE);
    *j = good;
    j->rule = QRT_RULE_MODULE;
    declines(qrt_cpu_ulq_fwd_f32, j, QRT_ERR_UNSUPPORTED);
    for (int k = 1; k < 4; k++) {
        *j = good;
        j->out[k].count--;
        declines(qrt_cpu_ulq_fwd_f32, j, QRT_ERR_SIZE);
    }
    *j = good;
    j->in[1].count = 1;
    declines(qrt_cpu_ulq_fwd_f32, j, QRT_ERR_SIZE);

    *j = good; /* on Q numbers */
    j->rule = QRT_RULE_FIXED;
    j->in[0].dtype = j->out[0].dtype = QRT_T_Q16_16;
    memset(&j->out[1], 0, 3 * sizeof j->out[1]);
    good = *j;
    j->params = NULL;
    declines(qrt_cpu_ulq_fwd, j, QRT_ERR_NULL);
    *j = good;
    j->out[0].dtype = QRT_T_I32;
    declines(qrt_cpu_ulq_fwd, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    ((float *)a_bench.in[1])[0] = INFINITY;
    declines(qrt_cpu_ulq_fwd, j, QRT_ERR_NOT_FINITE);
    ((float *)a_bench.in[1])[0] = 1;
    j->bits = 1;
    declines(qrt_cpu_ulq_fwd, j, QRT_ERR_RANGE);

    memset(&grad, 0, sizeof grad);
    grad.size = sizeof grad;
    grad.outer = grad.channels = 1;
    grad.inner = N;
    grad.rule = QRT_RULE_CANN;
    grad.in[0] = (struct qrt_off_in){a_bench.in[0], N, QRT_T_F32, {0}};
    grad.in[1] = (struct qrt_off_in){a_bench.in[1], N, QRT_T_BOOL8, {0}};
    grad.in[2] = (struct qrt_off_in){a_bench.in[2], N, QRT_T_F32, {0}};
    grad.out[0] =
        (struct qrt_off_out){a_bench.out[0] + GUARD, 1, QRT_T_F32, {0}};
    good = grad;
    grad.out[0].ptr = NULL;
    declines(qrt_cpu_ulq_grad_max_f32, &grad, QRT_ERR_NULL);
    declines(qrt_cpu_ulq_grad_min_f32, &grad, QRT_ERR_NULL);
    grad = good;
    grad.rule = QRT_RULE_FIXED;
    declines(qrt_cpu_ulq_grad_max_f32, &grad, QRT_ERR_UNSUPPORTED);
    declines(qrt_cpu_ulq_grad_min_f32, &grad, QRT_ERR_UNSUPPORTED);
    grad = good;
    grad.in[1].dtype = QRT_T_F32; /* no mask */
    declines(qrt_cpu_ulq_grad_max_f32, &grad, QRT_ERR_SIZE);
    declines(qrt_cpu_ulq_grad_min_f32, &grad, QRT_ERR_SIZE);
    grad = good;
    grad.out[0].count = N; /* of x: one per element */
    grad.in[2].dtype = QRT_T_BOOL8;
    grad.out[0].dtype = QRT_T_I32;
    declines(qrt_cpu_ulq_grad_x, &grad, QRT_ERR_UNSUPPORTED);
    grad.in[0].count = 1;
    declines(qrt_cpu_ulq_grad_x, &grad, QRT_ERR_SIZE);
}

static void arq_entry_refuses(void **state)
{
    static struct qrt_off_arq arq = {1};
    struct qrt_off_job *j = &a_bench.job, good;

    (void)state;
    start_job(&a_bench, QRT_JOB_ARQ, QRT_RULE_AMCT, 1, 3, 4);
    memset(input(&a_bench, 0, QRT_T_F32, 12), 0, 48);
    output(&a_bench, 0, QRT_T_F32, 12);
    output(&a_bench, 1, QRT_T_F32, 3);
    output(&a_bench, 2, QRT_T_I32, 3);
    j->params = &arq;
    j->params_size = sizeof arq;
    good = *j;
    j->params = NULL;
    declines(qrt_cpu_arq_f32, j, QRT_ERR_NULL);
    *j = good;
    j->rule = QRT_RULE_CANN;
    declines(qrt_cpu_arq_f32, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    j->out[1].count = 1; /* a step per channel */
    declines(qrt_cpu_arq_f32, j, QRT_ERR_SIZE);
    *j = good;
    j->out[2].dtype = QRT_T_F32;
    declines(qrt_cpu_arq_f32, j, QRT_ERR_SIZE);
    *j = good;
    j->channels = 1U << 31; /* a product that fits nothing */
    declines(qrt_cpu_arq_f32, j, QRT_ERR_SIZE);
}

static void ifmr_entries_refuse(void **state)
{
    struct qrt_off_job *j = &a_bench.job, good;

    (void)state;
    for (int i = 0; i < 8; i++) {
        int32_t expected = QRT_ERR_UNSUPPORTED;

        ifmr_job(&a_bench, QRT_RULE_FIXED, 100);
        switch (i) {
        case 0:
            j->out[1].ptr = NULL;
            expected = QRT_ERR_NULL;
            break;
        case 1:
            j->params = NULL;
            expected = QRT_ERR_NULL;
            break;
        case 2:
            j->params_size--;
            break;
        case 3:
            j->rule = QRT_RULE_MODULE;
            break;
        case 4:
            j->in[0].count = 99;
            expected = QRT_ERR_SIZE;
            break;
        case 5:
            j->out[0].count = 2;
            expected = QRT_ERR_SIZE;
            break;
        case 6:
            a_bench.ifmr.scratch = (uint8_t *)a_bench.ifmr.scratch + 4;
            expected = QRT_ERR_RANGE;
            break;
        default:
            a_bench.ifmr.scratch_size = 8;
            expected = QRT_ERR_SIZE;
            break;
        }
        declines(qrt_cpu_ifmr, j, expected);
        if (i != 3) {
            j->rule = QRT_RULE_AMCT;
        }
        declines(qrt_cpu_ifmr_f32, j, i == 7 ? QRT_ERR_SCRATCH : expected);
    }
    ifmr_job(&a_bench, QRT_RULE_FIXED, 100);
    good = *j;
    j->in[0].dtype = QRT_T_I8; /* codes are not calibrated */
    declines(qrt_cpu_ifmr, j, QRT_ERR_UNSUPPORTED);
    *j = good;
    a_bench.ifmr.ratio_count = 0;
    declines(qrt_cpu_ifmr, j, QRT_ERR_RANGE);
    ifmr_job(&a_bench, QRT_RULE_CANN, 100);
    j->in[1].count = 1;
    declines(qrt_cpu_ifmr_f32, j, QRT_ERR_SIZE);
    j->in[1].count = 2;
    j->in[2].dtype = QRT_T_F32;
    declines(qrt_cpu_ifmr_f32, j, QRT_ERR_SIZE);
}

/* Samples of 16 bits, of 32 bits and in Q16.16 that mean the same numbers. */
static void ifmr_jobs_on_integers_agree(void **state)
{
    enum { N = 400 };
    static int16_t x16[N];
    static int32_t x32[N], q16[N];
    static float x[N];
    static const uint8_t types[] = {QRT_T_F32, QRT_T_I16, QRT_T_I32,
                                    QRT_T_Q16_16};
    const void *const samples[] = {x, x16, x32, q16};
    struct qrt_off_job *j = &a_bench.job;
    uint32_t scale = 0;
    int32_t offset = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        x16[i] = (int16_t)(i * 7919 % 1201 - 500);
        x32[i] = x16[i];
        q16[i] = x16[i] * 256;
        x[i] = (float)x16[i] / 256;
    }
    for (int i = 0; i < 4; i++) {
        ifmr_job(&a_bench, QRT_RULE_FIXED, N);
        j->in[0].ptr = samples[i];
        j->in[0].dtype = types[i];
        a_bench.ifmr.frac = 8; /* Q16.16 has its own */
        assert_int_equal(qrt_cpu_ifmr(j), QRT_OK);
        if (i == 0) {
            scale = *(uint32_t *)j->out[0].ptr;
            offset = *(int32_t *)j->out[1].ptr;
            assert_true(scale != 0x5A5A5A5A && offset != 0x5A5A5A5A);
        }
        assert_int_equal(*(uint32_t *)j->out[0].ptr, scale);
        assert_int_equal(*(int32_t *)j->out[1].ptr, offset);
    }
}

/* ---------------------------------------------------------------- threads */

struct worker {
    struct qrt_offload o;
    struct async_ctx state;
    struct bench *b;
    uint32_t wrong;
};

static int32_t lock_free_jobs(struct worker *w, uint32_t i)
{
    struct qrt_off_job ref = w->b->job;
    float *x = (float *)w->b->in[0];

    for (uint32_t k = 0; k < w->b->job.inner; k++) {
        x[k] = (float)((k * 37 + i * 11) % 400) * 0.31f - 60.0f;
    }
    ref.out[0].ptr = w->b->ref[0] + GUARD;
    (void)qrt_cpu_quant(&ref);
    w->wrong +=
        qrt_run(&w->o, &w->b->job) != QRT_OFF_OK || !agrees(w->b, &exactly);
    return QRT_OFF_OK;
}

static void *work(void *arg)
{
    for (uint32_t i = 0; i < 400; i++) {
        (void)lock_free_jobs(arg, i);
    }
    return NULL;
}

static void *work_once(void *arg)
{
    (void)lock_free_jobs(arg, 3);
    return NULL;
}

static void prepare(struct worker *w, struct bench *b, uint32_t variant)
{
    static const qrt_cpu_fn table_of[QRT_JOB_KINDS] = {QRT_CPU_QUANT};

    memset(w, 0, sizeof *w);
    w->b = b;
    w->o.cpu = table_of;
    quant_job(b, QRT_JOB_QUANT, QRT_RULE_CANN, 1, 1, 300, variant);
    assert_int_equal(qrt_offload_attach(&w->o, &async_backend, &w->state,
                                        sizeof w->state, NULL, NULL),
                     QRT_OFF_OK);
}

static void two_objects_on_two_threads(void **state)
{
    static struct worker w[2];
    pthread_t thread[2];

    (void)state;
    subject = &async_subject;
    dev_reset();
    for (uint32_t i = 0; i < 2; i++) {
        prepare(&w[i], &more[i], i + 1);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(w[i].wrong, 0);
        assert_int_equal(w[i].o.n_dev, 400);
        assert_int_equal(w[i].o.n_cpu, 0);
        qrt_offload_detach(&w[i].o);
    }
    assert_int_equal(dev_live(), 0);
}

static void one_object_on_many_threads_in_turn(void **state)
{
    static struct worker w;

    (void)state;
    subject = &async_subject;
    dev_reset();
    prepare(&w, &more[0], 1);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, work_once, &w), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(w.wrong, 0);
    assert_int_equal(w.o.n_dev, 20);
    qrt_offload_detach(&w.o);
    assert_int_equal(dev_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asynchronous_backend_conforms),
        cmocka_unit_test(example_backend_conforms),
        cmocka_unit_test(async_mutants_are_caught_by_name),
        cmocka_unit_test(example_mutants_are_caught_by_name),
        cmocka_unit_test(one_job_follows_the_table),
        cmocka_unit_test(three_failures_in_a_row_are_a_loss),
        cmocka_unit_test(limits_of_the_object_count),
        cmocka_unit_test(ticket_zero_is_a_loss),
        cmocka_unit_test(late_success_does_not_revive),
        cmocka_unit_test(jobs_in_flight_never_count_below_zero),
        cmocka_unit_test(a_job_survives_detaching),
        cmocka_unit_test(quarantine_trusts_no_result),
        cmocka_unit_test(class_too_weak_is_declined),
        cmocka_unit_test(operators_outside_the_mask_are_not_asked),
        cmocka_unit_test(answers_of_open_are_kept_or_a_loss),
        cmocka_unit_test(without_kernel_and_device_a_job_is_declined),
        cmocka_unit_test(malformed_jobs_are_refused),
        cmocka_unit_test(sizes_of_types),
        cmocka_unit_test(verify_counts_integers_in_units),
        cmocka_unit_test(verify_counts_floats_in_units_in_the_last_place),
        cmocka_unit_test(verify_needs_a_device_and_equal_jobs),
        cmocka_unit_test(verify_counts_fake_quantized_values_in_steps),
        cmocka_unit_test(rounding_before_or_after_the_offset),
        cmocka_unit_test(emulated_steps_equal_float_steps),
        cmocka_unit_test(rules_are_their_formulas),
        cmocka_unit_test(other_input_types_quantize),
        cmocka_unit_test(codes_become_reals),
        cmocka_unit_test(binary16_rounds_to_even),
        cmocka_unit_test(accumulators_become_codes),
        cmocka_unit_test(ulq_jobs_equal_the_kernel),
        cmocka_unit_test(other_ulq_forwards_equal_their_kernels),
        cmocka_unit_test(arq_and_ifmr_jobs_equal_their_kernels),
        cmocka_unit_test(entries_refuse_what_they_cannot_do),
        cmocka_unit_test(dequant_entries_refuse),
        cmocka_unit_test(requant_entry_refuses),
        cmocka_unit_test(accumulators_become_wide_codes),
        cmocka_unit_test(ulq_entries_refuse),
        cmocka_unit_test(arq_entry_refuses),
        cmocka_unit_test(ifmr_entries_refuse),
        cmocka_unit_test(ifmr_jobs_on_integers_agree),
        cmocka_unit_test(two_objects_on_two_threads),
        cmocka_unit_test(one_object_on_many_threads_in_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
