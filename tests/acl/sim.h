/* A double of AscendCL for tests: libascendcl.so, libnnopbase.so and
 * libopapi.so, and behind them libaclsim_core.so with the state they share. It
 * is written from public documentation, computes with formulas of its own and
 * says nothing about a device.
 *
 * Device memory is memory of its own: the addresses handed out cannot be read
 * or written by the program, only by the simulator through a second mapping.
 * Everything a real library would crash or corrupt by is counted as a
 * violation. */
#ifndef ACL_SIM_H
#define ACL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- control, for test programs: dlsym(core, "aclsim_control") ---- */

enum aclsim_switch {
    SIM_SCHEDULER,    /* 0: jobs run when waited for; 1: at once, on a thread;
                          2: the same with pauses                           */
    SIM_SEED,         /* of the pauses                                     */
    SIM_DEVICES,      /* how many                                          */
    SIM_ON_BOARD,     /* 1: one memory                                     */
    SIM_STUB,         /* 1: every call returns 100039                      */
    SIM_COUNTED_INIT, /* 1: a second aclInit counts                        */
    SIM_KIND_DERIVED, /* 1: memcpy goes by the pointers                    */
    SIM_CAPACITY,     /* bytes of device memory                            */
    SIM_WORKSPACE,    /* bytes that aclnn asks for                         */
    SIM_BLOCK_OFFSET, /* added to each address, a multiple of 64           */
    SIM_SURFACE,      /* a failure shows 0: at the synchronise, once; 1: at
                          the next call of any kind; 2: at every synchronise */
    SIM_TIMEOUT_CODE, /* 107019 or 507046                                  */
    SIM_QUEUE_FULL,   /* the next n launches find no room                  */
    SIM_BAD_POINTER,  /* a wrong pointer: 0: 107000 at once; 1: 507015 later */
    SIM_ABORT_FAILS,  /* 1                                                 */
    SIM_SUM_ORDER,    /* 0 sequential, 1 pairwise, 2 in 16 lanes           */
    SIM_OLDER_MAX_GRAD, /* 1: the operator that adds 1 - mask                */
    SIM_SCALAR_ROWS,    /* 1: one-element outputs are rows of one            */
    SIM_NO_KERNELS,     /* 1: the operator package is missing (561112)       */
    SIM_LOST,           /* from now on every call returns this code          */
    SIM_SWITCHES
};

enum aclsim_fault {
    SIM_SOUND,
    SIM_FAIL,        /* fails with `code`                                   */
    SIM_FAIL_LOST,   /* and so does everything afterwards                   */
    SIM_HANG_LATE,   /* completes when looked at `code` times more          */
    SIM_HANG,        /* until it is aborted                                 */
    SIM_HANG_NEVER,  /* and cannot be aborted                               */
    SIM_WRITES_NONE, /* succeeds without writing                            */
    SIM_OFF_BY_ONE,  /* one element                                         */
    SIM_OVERRUN      /* writes 32 bytes more                                */
};

enum aclsim_violation {
    SIM_V_NOT_INITIALISED,
    SIM_V_FORKED, /* used in another process than initialised        */
    SIM_V_NO_CONTEXT,
    SIM_V_WRONG_CONTEXT,
    SIM_V_BAD_OBJECT,  /* freed, foreign or of another kind               */
    SIM_V_BAD_POINTER, /* host where device is wanted, or the reverse     */
    SIM_V_BAD_RANGE,   /* beyond the end of a block                       */
    SIM_V_BAD_KIND,    /* of a copy                                       */
    SIM_V_ALIGNMENT,
    SIM_V_FREE_IN_USE, /* of what a queued job uses                       */
    SIM_V_GUARD,       /* something was written beside a block            */
    SIM_V_EXECUTOR,    /* used twice, or by another operator              */
    SIM_V_WORKSPACE,   /* too small                                       */
    SIM_V_ZERO_TIMEOUT,
    SIM_V_WOULD_HANG,   /* waits without bound for a job that hangs        */
    SIM_V_RESET_LIVE,   /* device reset under live objects                 */
    SIM_V_MODEL_MEMORY, /* a loaded model was changed                      */
    SIM_V_OVER_FINALISED,
    SIM_V_KINDS
};

struct aclsim {
    void (*reset)(void); /* a new process, as far as the library goes; all
                            switches at their defaults                      */
    void (*set)(enum aclsim_switch s, int64_t value);
    void (*soc)(const char *name);  /* null: the call returns NULL         */
    void (*text)(const char *text); /* of errors; null: returns NULL       */
    /* Lets call `nth` (from 1) of a function and the `times - 1` after it fail
     * before it does anything. */
    void (*inject)(const char *function, uint32_t nth, uint32_t times,
                   int32_t code);
    void (*fault)(enum aclsim_fault f, int32_t code, uint32_t times);
    uint32_t (*calls)(void);
    uint32_t (*calls_of)(const char *function);
    const char *(*function)(uint32_t i); /* the i-th name called, or null   */
    uint32_t (*jobs)(void);              /* that have completed             */
    uint32_t (*live)(void); /* objects, references and violations     */
    void (*report)(void);   /* prints them                            */
    uint32_t (*violations)(enum aclsim_violation v);
    void (*expect)(enum aclsim_violation v); /* not counted by live         */
    int32_t (*other_init)(void); /* another user in this process           */
    int32_t (*other_finalise)(void);
    bool (*other_works)(void);
    uint32_t (*after_loss)(void); /* calls after one has returned SIM_LOST  */
};

/* ---- inside ---- */

enum sim_kind {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_BUFFER,
    SIM_DESC,
    SIM_ATTR,
    SIM_HANDLE,
    SIM_TENSOR,
    SIM_EXECUTOR,
    SIM_OBJECTS
};

enum sim_op {
    SIM_QUANT,
    SIM_ANTIQUANT,
    SIM_IFMR,
    SIM_ULQ,
    SIM_GRAD_X,
    SIM_GRAD_MAX,
    SIM_GRAD_MIN
};

/* A tensor or buffer of a job. */
struct sim_arg {
    uint8_t *at; /* null: not given */
    size_t bytes;
};

struct sim_job {
    enum sim_op op;
    struct sim_arg in[4], out[4], workspace;
    uint32_t n, channels, inner;
    bool sqrt_mode, fixed_min, with_offset;
    float min_percentile, max_percentile, start, end, step;
    uint32_t bins;
    /* set by the simulator */
    enum aclsim_fault fault;
    int32_t code;
    uint32_t seen;
    struct sim_job *next;
};

/* Object of the library. The fields a kind does not need are 0. */
struct sim_object {
    enum sim_kind kind;
    uint32_t index;
    bool dead, shared;
    struct sim_object *next;
    struct sim_object *context; /* of a stream                              */
    struct sim_job *first;      /* of a stream                              */
    int32_t error;              /* of a stream                              */
    bool unwaited;              /* of a stream: `job` has run, nobody waited  */
    struct sim_arg arg;         /* of a buffer, a tensor                    */
    int32_t type;               /* of a tensor, a desc                      */
    int64_t size[8];
    int axes;
    bool repeatable;    /* of an executor                           */
    const char *name;   /* of an executor, a handle: the operator   */
    struct sim_job job; /* of an executor, a handle                 */
    struct {
        const char *name;
        double value[2];
    } attr[8];
};

/* Every function of the library begins with sim_enter, which takes the lock
 * and returns 0 or the code to end with, and ends with sim_leave. */
int32_t sim_enter(const char *function);
int32_t sim_leave(int32_t code);
void *sim_leave_with(void *result);
int32_t sim_switch(enum aclsim_switch s);
int32_t sim_violation(enum aclsim_violation v, int32_t code);
struct sim_object *sim_new(enum sim_kind kind);
/* The object, or null and a violation. */
struct sim_object *sim_get(const void *p, enum sim_kind kind);
const char *sim_soc(void);
bool sim_soc_is(const char *names); /* "|910B|310P|" */

/* The thread's context: null and a violation; null. */
struct sim_object *sim_current(void);
struct sim_object *sim_peek(void);
uint32_t sim_life(void); /* counts resets */
void sim_set_current(struct sim_object *context);

int32_t sim_malloc(void **p, size_t size);
int32_t sim_free(void *p);
int32_t sim_copy(void *to, size_t room, const void *from, size_t n, int kind);
/* The simulator's view of device memory, or null and a violation. */
void *sim_view(const void *p, size_t bytes, size_t alignment);
bool sim_is_device(const void *p);

int32_t sim_launch(struct sim_object *stream, const struct sim_job *job);
int32_t sim_synchronise(struct sim_object *stream, int32_t timeout);
bool sim_is_idle(struct sim_object *stream);
void sim_drop_jobs(struct sim_object *stream);

/* Does the arithmetic on the simulator's views; sim_math.c. */
void sim_compute(const struct sim_job *job, void *const in[4],
                 void *const out[4], int32_t sum_order, bool older);

int32_t sim_init(void);
int32_t sim_finalise(bool reference, uint64_t *left);
int32_t sim_set_device(int32_t device);
int32_t sim_reset_device(int32_t device);
uint32_t sim_devices(void);
const char *sim_text(void);

#define SIM_MARKER                                                             \
    extern const int aclsim_marker;                                            \
    __attribute__((weak)) const int aclsim_marker = 1;

#endif
