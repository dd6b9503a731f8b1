/* Inside the Ascend backend: declarations of our own that fit the ABI of
 * AscendCL 1.0 to 9.2, and the state of one attachment. */
#ifndef ASCEND_H
#define ASCEND_H

#include "qrt_ascend.h"

#include <sys/types.h>

struct acl_buffer;
struct acl_desc;
struct acl_attr;
struct acl_handle;
struct acl_tensor;
struct acl_executor;

/* Numbers that are the same in every version. */
enum {
    ACL_FLOAT = 0, /* types */
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_BOOL = 12,
    ACL_ND = 2,             /* format                        */
    ACL_HOST_TO_DEVICE = 1, /* copies                        */
    ACL_DEVICE_TO_HOST = 2,
    ACL_DEVICE_TO_DEVICE = 3,
    ACL_HUGE_FIRST = 0,
    ACL_ON_DEVICE = 0, /* run mode: the program runs on the board */
    ACL_STREAM_COMPLETE = 0
};

/* Codes that are named in the code; the others stand in ascend_codes.c. */
enum {
    ACL_OK = 0,
    ACL_NOT_INITIALISED = 100001,
    ACL_REPEAT_INITIALISE = 100002,
    ACL_STUB = 100039,
    ACL_NO_CONTEXT = 107002,
    ACL_WRONG_CONTEXT = 107003,
    ACL_HOST_ALLOC = 200000,
    ACL_NO_TASK_TYPE = 507009,
    ACL_DEVICE_SETUP = 507033
};

struct ascend_calls {
#define CALL(library, need, type, name, parameters) type(*name) parameters;
#include "ascend_calls.def"
#undef CALL
};

/* Chips, in the order of the table in ascend_jobs.c. */
enum ascend_chip {
    ASCEND_310,
    ASCEND_310P,
    ASCEND_310B,
    ASCEND_910,
    ASCEND_910B,
    ASCEND_910_93,
    ASCEND_950,
    ASCEND_UNKNOWN
};

#define ASCEND_SLOTS     2U
#define ASCEND_LIBRARIES 6U
#define ASCEND_REFUSED   8U
#define ASCEND_BINS      8192U

/* A job in flight. */
struct ascend_slot {
    const struct qrt_off_job *job; /* null: free                          */
    uint32_t ticket;
    uint32_t faults; /* of the attachment when it was launched             */
    bool drained;    /* quiesce saw it end well                            */
    bool stopped;    /* quiesce ended it                                   */
    void *stream;
    uint8_t *arena;  /* device memory of inputs and outputs           */
    void *workspace; /* device memory of the operator                 */
    uint32_t used;   /* bytes of the arena                            */
    uint8_t *out[4]; /* where the outputs lie                         */
    struct acl_tensor *tensor[4];
    struct acl_buffer *buffer[8];
};

/* A shape that the library has refused. */
struct ascend_refusal {
    uint8_t op;
    uint32_t outer, channels, inner;
};

struct ascend {
    struct ascend_calls call;
    void *library[ASCEND_LIBRARIES];
    struct qrt_ascend_cfg cfg;
    const struct qrt_off_host *host;
    pid_t pid;
    enum ascend_chip chip;
    uint32_t ops; /* bits of enum qrt_job_op that are left                 */
    struct acl_handle *handle[QRT_ASCEND_MODELS];
    struct ascend_refusal refused[ASCEND_REFUSED];
    uint32_t refusals;
    struct ascend_slot slot[ASCEND_SLOTS];
    void *context, *callers; /* ours; what the thread had before           */
    uint32_t tickets;
    uint32_t faults;  /* codes other than 0 so far                         */
    int32_t native;   /* the last of them                                  */
    bool unknown;     /* it was one that nobody knows                      */
    bool initialised; /* aclInit is to be undone                           */
    bool device_set;
    bool on_board; /* one memory for host and device                       */
    bool rebuild;  /* context and streams are to be made anew              */
    bool lost;
};

/* ---- qrt_ascend_load.c ---- */

/* Opens the libraries and resolves every function before any is called. On
 * failure nothing stays open, and *what says why. */
bool qrt_ascend_load(struct ascend *a, const char **what);
void qrt_ascend_unload(struct ascend *a);
/* Whether loading and initialising survive in a child process. */
bool qrt_ascend_probe(void);

/* ---- ascend_codes.c ---- */

/* Our word for a code of the library. Everything but 0 is counted and kept;
 * what cannot be survived makes the attachment lost. */
int32_t qrt_ascend_status(struct ascend *a, int32_t code);
/* The same for a call that is a part of open. */
int32_t qrt_ascend_open_status(struct ascend *a, int32_t code);
bool qrt_ascend_is_loss(int32_t code);
/* The same in wait, where a job can only have failed. */
int32_t qrt_ascend_wait_status(struct ascend *a, int32_t code);
/* Tells the host, with the library's own text where it has one. */
void qrt_ascend_note(struct ascend *a, int32_t status, const char *what);

/* ---- ascend_jobs.c ---- */

enum ascend_chip qrt_ascend_chip_of(const char *soc);
/* The operators that chip and library have, before any model is asked for. */
uint32_t qrt_ascend_ops(const struct ascend *a);
/* Whether a job is taken, and with what guarantee. */
bool qrt_ascend_takes(const struct ascend *a, const struct qrt_off_job *job,
                      struct qrt_off_reply *reply);
/* The model of a job, or -1. */
int qrt_ascend_model_of(const struct ascend *a, const struct qrt_off_job *job);
/* Whether its numbers are such that the device's answer is known: finite, and
 * masks 0 or 1. */
bool qrt_ascend_is_plain(const struct qrt_off_job *job);
/* A library that does not have an operator after all, or not in this shape. */
void qrt_ascend_refuse(struct ascend *a, const struct qrt_off_job *job);

/* ---- ascend_stage.c ---- */

/* Device memory for one buffer; it is aligned and there is always room. */
uint8_t *qrt_ascend_place(struct ascend_slot *s, uint32_t bytes);
/* Bytes that one slot needs for the largest job. */
size_t qrt_ascend_arena_size(uint32_t max_elements);
/* An input: Q(frac) numbers as binary32, with ASCEND_AS_IT_IS everything as it
 * is; `invert` is for masks. OK or a status. */
#define ASCEND_AS_IT_IS INT32_MIN
int32_t qrt_ascend_put(struct ascend *a, uint8_t *to,
                       const struct qrt_off_in *in, int32_t frac, bool invert);
int32_t qrt_ascend_put_bytes(struct ascend *a, uint8_t *to, const void *from,
                             size_t bytes);
/* Factors of all channels as binary32: step or 1 / step; and offsets. */
int32_t qrt_ascend_put_steps(struct ascend *a, uint8_t *to,
                             const struct qrt_real *scale, uint32_t n,
                             bool reciprocal);
int32_t qrt_ascend_put_zeros(struct ascend *a, uint8_t *to, const int32_t *zero,
                             uint32_t n);
/* The outputs of a job that has ended well, to the caller's memory. */
int32_t qrt_ascend_get(struct ascend *a, const struct ascend_slot *s);

/* ---- ascend_aclnn.c ---- */

/* Copies the inputs and launches. Not OK: nothing is in flight. */
int32_t qrt_ascend_launch_aclnn(struct ascend *a, struct ascend_slot *s,
                                const struct qrt_off_job *job);

/* ---- ascend_aclop.c ---- */

/* Asks for all models of the configuration; what is not there loses its bit.
 * ACL_OK, or a code that means that the device is lost. */
int32_t qrt_ascend_find_models(struct ascend *a);
int32_t qrt_ascend_launch_aclop(struct ascend *a, struct ascend_slot *s,
                                const struct qrt_off_job *job);

/* ---- offload_ascend.c ---- */

/* Gives back what the library keeps for a launch. After a loss that waits for
 * close. */
void qrt_ascend_drop_objects(struct ascend *a, struct ascend_slot *s);

#endif
