/* The state of the simulator: calls and injected errors, objects, memory,
 * streams. See sim.h. */
#define _GNU_SOURCE
#include "sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

SIM_MARKER

#define NAMES  96
#define POISON 0xC3
#define STALE  0xDB
#define GUARD  0x9D

struct block {
    uint8_t *base, *user, *view;
    size_t mapped, size; /* size: usable, as the library rounds it */
    bool dead;
    struct block *next;
};

struct injection {
    const char *name;
    uint32_t nth, times;
    int32_t code;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    pthread_t worker;
    bool working, stop;
    int64_t set[SIM_SWITCHES];
    char soc[64], message[5000];
    bool has_soc, has_message;
    struct {
        char name[48];
        uint32_t calls;
    } names[NAMES];
    uint32_t calls, jobs, after_loss;
    bool told;
    int32_t pending; /* a failure that shows at the next call */
    struct injection injected;
    enum aclsim_fault fault;
    int32_t fault_code;
    uint32_t faults;
    uint32_t violated[SIM_V_KINDS];
    bool expected[SIM_V_KINDS];
    struct sim_object *objects;
    uint32_t created;
    struct block *blocks;
    size_t allocated;
    uint32_t inits, others, device_refs;
    struct sim_object *shared; /* default context */
    pid_t pid;
    uint64_t random;
} S = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static _Thread_local struct sim_object *current;
static _Thread_local uint32_t current_life; /* contexts of an earlier reset */
static uint32_t life;

static const char *const violation_names[SIM_V_KINDS] = {
    "not initialised", "forked",        "no context", "wrong context",
    "bad object",      "bad pointer",   "bad range",  "bad kind",
    "alignment",       "free in use",   "guard",      "executor",
    "workspace",       "zero timeout",  "would hang", "reset live",
    "model memory",    "over-finalised"};

static const char *const kind_names[SIM_OBJECTS] = {
    "context",   "stream", "data buffer", "tensor description",
    "attribute", "handle", "tensor",      "executor"};

/* ------------------------------------------------------------- calls */

int32_t sim_switch(enum aclsim_switch s)
{
    return (int32_t)S.set[s];
}

int32_t sim_violation(enum aclsim_violation v, int32_t code)
{
    S.violated[v]++;
    if (getenv("ACLSIM_VERBOSE")) {
        fprintf(stderr, "aclsim: %s\n", violation_names[v]);
    }
    return code;
}

static uint32_t count_call(const char *name)
{
    S.calls++;
    for (int i = 0; i < NAMES; i++) {
        if (S.names[i].name[0] == '\0') {
            snprintf(S.names[i].name, sizeof S.names[i].name, "%s", name);
        }
        if (strcmp(S.names[i].name, name) == 0) {
            return ++S.names[i].calls;
        }
    }
    abort();
}

/* What still works when the device is gone. */
static bool releases(const char *name)
{
    return strstr(name, "Destroy") || strstr(name, "Free") ||
           strstr(name, "Reset") || strstr(name, "Finalize") ||
           strcmp(name, "aclrtSetCurrentContext") == 0;
}

static bool before_init(const char *name)
{
    return strcmp(name, "aclInit") == 0 || strstr(name, "Finalize") ||
           strcmp(name, "aclGetRecentErrMsg") == 0;
}

int32_t sim_enter(const char *name)
{
    struct injection *j = &S.injected;
    uint32_t nth;
    int32_t code;

    pthread_mutex_lock(&S.lock);
    nth = count_call(name);
    if (S.pid != 0 && S.pid != getpid()) {
        return sim_violation(SIM_V_FORKED, 507899);
    }
    if (S.set[SIM_STUB]) {
        return 100039;
    }
    if (j->name != NULL && strcmp(j->name, name) == 0 && nth >= j->nth &&
        nth - j->nth < j->times) {
        return j->code;
    }
    if (S.set[SIM_LOST] && !releases(name)) {
        S.after_loss += S.told;
        S.told = true;
        return (int32_t)S.set[SIM_LOST];
    }
    if (S.pending != 0 && !releases(name)) {
        code = S.pending;
        S.pending = 0;
        return code;
    }
    if (S.inits == 0 && !before_init(name)) {
        return sim_violation(SIM_V_NOT_INITIALISED, 100001);
    }
    return 0;
}

int32_t sim_leave(int32_t code)
{
    pthread_mutex_unlock(&S.lock);
    return code;
}

void *sim_leave_with(void *result)
{
    pthread_mutex_unlock(&S.lock);
    return result;
}

/* ------------------------------------------------------------ objects */

struct sim_object *sim_new(enum sim_kind kind)
{
    struct sim_object *o = calloc(1, sizeof *o);

    o->kind = kind;
    o->index = S.created++;
    o->next = S.objects;
    S.objects = o;
    return o;
}

struct sim_object *sim_get(const void *p, enum sim_kind kind)
{
    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        if (o == p && !o->dead && o->kind == kind) {
            return o;
        }
    }
    sim_violation(SIM_V_BAD_OBJECT, 0);
    return NULL;
}

struct sim_object *sim_peek(void)
{
    return current_life == life && current != NULL && !current->dead ? current
                                                                     : NULL;
}

struct sim_object *sim_current(void)
{
    struct sim_object *o = sim_peek();

    if (o == NULL) {
        sim_violation(SIM_V_NO_CONTEXT, 0);
    }
    return o;
}

uint32_t sim_life(void)
{
    return life;
}

void sim_set_current(struct sim_object *context)
{
    current = context;
    current_life = life;
}

/* ------------------------------------------------------------- memory */

static struct block *block_of(const void *p)
{
    const uint8_t *u = p;

    for (struct block *b = S.blocks; b != NULL; b = b->next) {
        if (u >= b->base && u < b->base + b->mapped) {
            return b;
        }
    }
    return NULL;
}

bool sim_is_device(const void *p)
{
    return block_of(p) != NULL;
}

int32_t sim_malloc(void **p, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t offset = (size_t)S.set[SIM_BLOCK_OFFSET];
    size_t usable = ((size + 31) & ~(size_t)31) + 32;
    struct block *b;
    int fd;

    if (p == NULL || size == 0) {
        return 107000;
    }
    if (S.allocated + usable > (size_t)S.set[SIM_CAPACITY]) {
        return 207001;
    }
    b = calloc(1, sizeof *b);
    b->size = usable;
    b->mapped = (offset + usable + page - 1) & ~(page - 1);
    fd = memfd_create("aclsim", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)b->mapped) != 0) {
        abort();
    }
    b->base = mmap(NULL, b->mapped,
                   S.set[SIM_ON_BOARD] ? PROT_READ | PROT_WRITE : PROT_NONE,
                   MAP_SHARED, fd, 0);
    b->view = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (b->base == MAP_FAILED || b->view == MAP_FAILED) {
        abort();
    }
    memset(b->view, GUARD, b->mapped);
    memset(b->view + offset, POISON, usable);
    b->user = b->base + offset;
    b->next = S.blocks;
    S.blocks = b;
    S.allocated += usable;
    *p = b->user;
    return 0;
}

static void check_guard(const struct block *b)
{
    size_t from = (size_t)(b->user - b->base);

    for (size_t i = 0; i < b->mapped; i++) {
        if ((i < from || i >= from + b->size) && b->view[i] != GUARD) {
            sim_violation(SIM_V_GUARD, 0);
            return;
        }
    }
}

static bool touches(const struct sim_arg *a, const struct block *b)
{
    return a->at != NULL && a->at >= b->base && a->at < b->base + b->mapped;
}

static bool is_queued(const struct block *b)
{
    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        for (struct sim_job *j = o->first; j != NULL; j = j->next) {
            for (int k = 0; k < 4; k++) {
                if (touches(&j->in[k], b) || touches(&j->out[k], b)) {
                    return true;
                }
            }
            if (touches(&j->workspace, b)) {
                return true;
            }
        }
    }
    return false;
}

int32_t sim_free(void *p)
{
    struct block *b = block_of(p);

    if (b == NULL || b->dead || b->user != p) {
        return sim_violation(SIM_V_BAD_POINTER, 107000);
    }
    if (is_queued(b)) {
        sim_violation(SIM_V_FREE_IN_USE, 0);
    }
    check_guard(b);
    memset(b->view, STALE, b->mapped);
    (void)mprotect(b->base, b->mapped, PROT_NONE);
    b->dead = true;
    S.allocated -= b->size;
    return 0;
}

void *sim_view(const void *p, size_t bytes, size_t alignment)
{
    struct block *b = block_of(p);
    size_t at;

    if (b == NULL) {
        sim_violation(SIM_V_BAD_POINTER, 0);
        return NULL;
    }
    at = (size_t)((const uint8_t *)p - b->base);
    if (b->dead) {
        sim_violation(SIM_V_FREE_IN_USE, 0);
    } else if (at < (size_t)(b->user - b->base) ||
               at + bytes > (size_t)(b->user - b->base) + b->size) {
        sim_violation(SIM_V_BAD_RANGE, 0);
        return NULL;
    }
    if (((uintptr_t)p & (alignment - 1)) != 0) {
        sim_violation(SIM_V_ALIGNMENT, 0);
    }
    return at + bytes <= b->mapped ? b->view + at : NULL;
}

int32_t sim_copy(void *to, size_t room, const void *from, size_t n, int kind)
{
    bool to_device = sim_is_device(to), from_device = sim_is_device(from);
    int wanted = to_device ? (from_device ? 3 : 1) : from_device ? 2 : 0;
    void *t = to;
    const void *f = from;

    if (room < n) {
        return sim_violation(SIM_V_BAD_RANGE, 107000);
    }
    if (n == 0) {
        return 0;
    }
    if (S.set[SIM_ON_BOARD]) {
        wanted = 3;
    }
    if (kind != wanted) {
        sim_violation(SIM_V_BAD_KIND, 0);
        if (!S.set[SIM_KIND_DERIVED]) {
            return 107000;
        }
    }
    if (to_device) {
        t = sim_view(to, room, 1);
    }
    if (from_device) {
        f = sim_view(from, n, 1);
    }
    if (t == NULL || f == NULL) {
        return 107000;
    }
    memcpy(t, f, n);
    return 0;
}

/* ------------------------------------------------------------- streams */

static bool runnable(const struct sim_job *j)
{
    return j->fault != SIM_HANG && j->fault != SIM_HANG_NEVER &&
           (j->fault != SIM_HANG_LATE || j->seen > (uint32_t)j->code);
}

static void fails(struct sim_object *stream, int32_t code)
{
    if (S.set[SIM_SURFACE] == 1) {
        S.pending = code;
    } else {
        stream->error = code;
    }
}

/* Views of a job's memory; false after a wrong pointer. */
static bool see(const struct sim_job *j, void *in[4], void *out[4])
{
    bool ok = true;

    for (int k = 0; k < 4; k++) {
        in[k] = out[k] = NULL;
        if (j->in[k].at != NULL) {
            in[k] = sim_view(j->in[k].at, j->in[k].bytes, 32);
            ok = ok && in[k] != NULL;
        }
        if (j->out[k].at != NULL) {
            out[k] = sim_view(j->out[k].at, j->out[k].bytes + 32, 32);
            ok = ok && out[k] != NULL;
        }
    }
    if (j->workspace.at != NULL) {
        void *w = sim_view(j->workspace.at, j->workspace.bytes, 32);

        ok = ok && w != NULL;
        if (w != NULL) {
            memset(w, 0xEE, j->workspace.bytes);
        }
    }
    return ok;
}

static void execute(struct sim_object *stream, struct sim_job *j)
{
    void *in[4], *out[4];

    if (j->fault == SIM_FAIL || j->fault == SIM_FAIL_LOST) {
        if (j->fault == SIM_FAIL_LOST) {
            S.set[SIM_LOST] = j->code;
            S.told = false;
        }
        fails(stream, j->code);
        return;
    }
    if (!see(j, in, out)) {
        fails(stream, 507015);
        return;
    }
    S.jobs++;
    if (j->fault == SIM_WRITES_NONE) {
        return;
    }
    sim_compute(j, in, out, (int32_t)S.set[SIM_SUM_ORDER],
                S.set[SIM_OLDER_MAX_GRAD] != 0);
    if (j->fault == SIM_OFF_BY_ONE) {
        ((int8_t *)out[0])[j->n / 2] ^= 1;
    } else if (j->fault == SIM_OVERRUN) {
        memset((uint8_t *)out[0] + j->out[0].bytes, 0x77, 32);
    }
}

static void run_first(struct sim_object *stream)
{
    struct sim_job *j = stream->first;

    execute(stream, j);
    stream->job = *j;
    stream->unwaited = true;
    stream->first = j->next;
    free(j);
}

void sim_drop_jobs(struct sim_object *stream)
{
    while (stream->first != NULL) {
        struct sim_job *j = stream->first;

        stream->first = j->next;
        free(j);
    }
    stream->error = 0;
}

static uint32_t random_number(void)
{
    S.random = S.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(S.random >> 33);
}

/* A stream whose next job can run; with several one of them at random. */
static struct sim_object *a_ready_stream(void)
{
    struct sim_object *found = NULL;
    uint32_t n = 0;

    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        if (o->kind == SIM_STREAM && !o->dead && o->first != NULL &&
            runnable(o->first) && random_number() % ++n == 0) {
            found = o;
        }
    }
    return found;
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&S.lock);
    while (!S.stop) {
        struct sim_object *o;

        if (S.set[SIM_SCHEDULER] == 2 && a_ready_stream() != NULL) {
            struct timespec t = {0, (long)(random_number() % 50) * 1000};

            pthread_mutex_unlock(&S.lock);
            nanosleep(&t, NULL);
            pthread_mutex_lock(&S.lock);
        }
        o = a_ready_stream();
        if (o != NULL) {
            run_first(o);
            pthread_cond_broadcast(&S.moved);
        } else if (!S.stop) {
            pthread_cond_wait(&S.moved, &S.lock);
        }
    }
    pthread_mutex_unlock(&S.lock);
    return NULL;
}

int32_t sim_launch(struct sim_object *stream, const struct sim_job *job)
{
    struct sim_job *j, **end = &stream->first;

    if (S.set[SIM_QUEUE_FULL] > 0) {
        S.set[SIM_QUEUE_FULL]--;
        return 507002;
    }
    if (stream->context != sim_current()) {
        return sim_violation(SIM_V_WRONG_CONTEXT, 107003);
    }
    for (int k = 0; k < 4 && S.set[SIM_BAD_POINTER] == 0; k++) {
        if ((job->in[k].at != NULL && !sim_is_device(job->in[k].at)) ||
            (job->out[k].at != NULL && !sim_is_device(job->out[k].at))) {
            return sim_violation(SIM_V_BAD_POINTER, 107000);
        }
    }
    j = malloc(sizeof *j);
    *j = *job;
    j->next = NULL;
    j->seen = 0;
    j->fault = SIM_SOUND;
    if (S.faults != 0) {
        S.faults--;
        j->fault = S.fault;
        j->code = S.fault_code;
    }
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = j;
    if (S.set[SIM_SCHEDULER] != 0) {
        if (!S.working) {
            S.stop = false;
            S.working = pthread_create(&S.worker, NULL, work, NULL) == 0;
        }
        pthread_cond_broadcast(&S.moved);
    }
    return 0;
}

/* Lets what can run of a stream run. */
static void let_run(struct sim_object *stream)
{
    while (stream->first != NULL && runnable(stream->first)) {
        if (S.working) {
            pthread_cond_broadcast(&S.moved);
            pthread_cond_wait(&S.moved, &S.lock);
        } else {
            run_first(stream);
        }
    }
}

int32_t sim_synchronise(struct sim_object *stream, int32_t timeout)
{
    int32_t code;

    if (timeout == 0) {
        sim_violation(SIM_V_ZERO_TIMEOUT, 0);
    }
    let_run(stream);
    if (stream->first != NULL && stream->first->seen++ > 0) {
        let_run(stream);
    }
    if (stream->first != NULL) {
        if (timeout < 0) {
            sim_violation(SIM_V_WOULD_HANG, 0);
        }
        return (int32_t)S.set[SIM_TIMEOUT_CODE];
    }
    for (struct block *b = S.blocks; b != NULL; b = b->next) {
        if (!b->dead) {
            check_guard(b);
        }
    }
    stream->unwaited = false;
    code = stream->error;
    if (S.set[SIM_SURFACE] != 2) {
        stream->error = 0;
    }
    return code;
}

bool sim_is_idle(struct sim_object *stream)
{
    let_run(stream);
    if (stream->first != NULL) {
        stream->first->seen++;
    }
    return stream->first == NULL;
}

/* ------------------------------------------------- process and device */

int32_t sim_init(void)
{
    if (S.inits == 0) {
        S.inits = 1;
        S.pid = getpid();
        return 0;
    }
    S.inits += S.set[SIM_COUNTED_INIT] != 0;
    return 100002;
}

static void die(void)
{
    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        if (!o->dead && o->kind == SIM_STREAM) {
            sim_drop_jobs(o);
        }
    }
    S.inits = 0;
    S.pid = 0;
}

int32_t sim_finalise(bool reference, uint64_t *left)
{
    if (S.inits == 0) {
        return sim_violation(SIM_V_OVER_FINALISED, 100037);
    }
    S.inits -= reference ? 1 : S.inits;
    if (left != NULL) {
        *left = S.inits;
    }
    if (S.inits == 0) {
        die();
    }
    return 0;
}

uint32_t sim_devices(void)
{
    return (uint32_t)S.set[SIM_DEVICES];
}

int32_t sim_set_device(int32_t device)
{
    if (device < 0 || device >= S.set[SIM_DEVICES]) {
        return 107001;
    }
    if (S.device_refs++ == 0 || S.shared == NULL) {
        S.shared = sim_new(SIM_CONTEXT);
        S.shared->shared = true;
    }
    sim_set_current(S.shared);
    return 0;
}

int32_t sim_reset_device(int32_t device)
{
    (void)device;
    if (S.device_refs == 0) {
        return 107001;
    }
    if (--S.device_refs != 0) {
        return 0;
    }
    S.shared->dead = true;
    S.shared = NULL;
    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        if (!o->dead && (o->kind == SIM_STREAM || o->kind == SIM_CONTEXT)) {
            return sim_violation(SIM_V_RESET_LIVE, 0);
        }
    }
    for (struct block *b = S.blocks; b != NULL; b = b->next) {
        if (!b->dead) {
            return sim_violation(SIM_V_RESET_LIVE, 0);
        }
    }
    return 0;
}

const char *sim_soc(void)
{
    return S.has_soc ? S.soc : NULL;
}

bool sim_soc_is(const char *names)
{
    char word[80];
    const char *chip = S.soc;
    int length = 3;

    if (strncmp(chip, "Ascend", 6) == 0) {
        chip += 6;
    }
    if (strncmp(chip, "910_93", 6) == 0) {
        length = 6;
    } else if (strncmp(chip, "310P", 4) == 0 || strncmp(chip, "310B", 4) == 0 ||
               strncmp(chip, "910B", 4) == 0) {
        length = 4;
    }
    snprintf(word, sizeof word, "|%.*s|", length, chip);
    return strstr(names, word) != NULL;
}

const char *sim_text(void)
{
    static _Thread_local char text[sizeof S.message];

    if (!S.has_message) {
        return NULL;
    }
    memcpy(text, S.message, sizeof text);
    return text;
}

/* ------------------------------------------------------------ control */

static void control_reset(void)
{
    pthread_mutex_lock(&S.lock);
    if (S.working) {
        S.stop = true;
        pthread_cond_broadcast(&S.moved);
        pthread_mutex_unlock(&S.lock);
        pthread_join(S.worker, NULL);
        pthread_mutex_lock(&S.lock);
        S.working = false;
    }
    while (S.objects != NULL) {
        struct sim_object *o = S.objects;

        sim_drop_jobs(o);
        S.objects = o->next;
        free(o);
    }
    while (S.blocks != NULL) {
        struct block *b = S.blocks;

        (void)munmap(b->base, b->mapped);
        (void)munmap(b->view, b->mapped);
        S.blocks = b->next;
        free(b);
    }
    memset(S.set, 0, sizeof S.set);
    memset(S.names, 0, sizeof S.names);
    memset(S.violated, 0, sizeof S.violated);
    memset(S.expected, 0, sizeof S.expected);
    memset(&S.injected, 0, sizeof S.injected);
    S.set[SIM_DEVICES] = 1;
    S.set[SIM_COUNTED_INIT] = 1;
    S.set[SIM_CAPACITY] = 64 << 20;
    S.set[SIM_TIMEOUT_CODE] = 107019;
    S.set[SIM_WORKSPACE] = 512;
    S.calls = S.jobs = S.after_loss = S.faults = S.created = 0;
    S.told = false;
    S.pending = 0;
    S.allocated = 0;
    S.inits = S.others = S.device_refs = 0;
    S.shared = NULL;
    S.pid = 0;
    S.random = 7;
    snprintf(S.soc, sizeof S.soc, "Ascend910B1");
    S.has_soc = true;
    snprintf(S.message, sizeof S.message, "EZ9999: %%s%%n inner error\n");
    S.has_message = true;
    life++;
    pthread_mutex_unlock(&S.lock);
}

static void control_set(enum aclsim_switch s, int64_t value)
{
    pthread_mutex_lock(&S.lock);
    S.set[s] = value;
    if (s == SIM_SEED) {
        S.random = (uint64_t)value;
    }
    if (s == SIM_LOST) {
        S.told = false;
    }
    pthread_mutex_unlock(&S.lock);
}

static void control_soc(const char *name)
{
    S.has_soc = name != NULL;
    snprintf(S.soc, sizeof S.soc, "%s", name != NULL ? name : "");
}

static void control_text(const char *text)
{
    S.has_message = text != NULL;
    snprintf(S.message, sizeof S.message, "%s", text != NULL ? text : "");
}

static void control_inject(const char *function, uint32_t nth, uint32_t times,
                           int32_t code)
{
    pthread_mutex_lock(&S.lock);
    S.injected = (struct injection){function, nth, times, code};
    pthread_mutex_unlock(&S.lock);
}

static void control_fault(enum aclsim_fault f, int32_t code, uint32_t times)
{
    pthread_mutex_lock(&S.lock);
    /* What is queued already is met first; a job that was quick enough to have
     * run is queued again. */
    for (struct sim_object *o = S.objects; o != NULL && times != 0;
         o = o->next) {
        if (o->unwaited && o->first == NULL && !o->dead) {
            o->first = malloc(sizeof *o->first);
            *o->first = o->job;
            o->first->next = NULL;
        }
        if (o->first != NULL && !o->dead && o->first->fault == SIM_SOUND) {
            o->first->fault = f;
            o->first->code = code;
            times--;
        }
    }
    S.fault = f;
    S.fault_code = code;
    S.faults = times;
    pthread_mutex_unlock(&S.lock);
}

static uint32_t control_calls(void)
{
    return S.calls;
}

static uint32_t control_calls_of(const char *function)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(S.names[i].name, function) == 0) {
            return S.names[i].calls;
        }
    }
    return 0;
}

static const char *control_function(uint32_t i)
{
    return i < NAMES && S.names[i].name[0] != '\0' ? S.names[i].name : NULL;
}

static uint32_t control_jobs(void)
{
    uint32_t n;

    pthread_mutex_lock(&S.lock);
    n = S.jobs;
    pthread_mutex_unlock(&S.lock);
    return n;
}

static uint32_t counted(bool print)
{
    uint32_t n = 0;

    for (struct sim_object *o = S.objects; o != NULL; o = o->next) {
        if (!o->dead && !o->shared) {
            n++;
            if (print) {
                printf("aclsim: %s, object %u, is left\n", kind_names[o->kind],
                       o->index);
            }
        }
    }
    for (struct block *b = S.blocks; b != NULL; b = b->next) {
        if (!b->dead) {
            n++;
            if (print) {
                printf("aclsim: %zu bytes are left\n", b->size);
            }
        }
    }
    for (int v = 0; v < SIM_V_KINDS; v++) {
        if (S.violated[v] != 0 && !S.expected[v]) {
            n += S.violated[v];
            if (print) {
                printf("aclsim: violation: %s, %u times\n", violation_names[v],
                       S.violated[v]);
            }
        }
        n += S.expected[v] && S.violated[v] == 0;
    }
    if (print && (S.inits != S.others || S.device_refs != 0)) {
        printf("aclsim: %u initialisations, %u devices are left\n",
               S.inits - S.others, S.device_refs);
    }
    return n + (S.inits > S.others ? S.inits - S.others : 0) + S.device_refs;
}

static uint32_t control_live(void)
{
    uint32_t n;

    pthread_mutex_lock(&S.lock);
    n = counted(false);
    pthread_mutex_unlock(&S.lock);
    return n;
}

static void control_report(void)
{
    pthread_mutex_lock(&S.lock);
    (void)counted(true);
    pthread_mutex_unlock(&S.lock);
}

static uint32_t control_violations(enum aclsim_violation v)
{
    return S.violated[v];
}

static void control_expect(enum aclsim_violation v)
{
    S.expected[v] = true;
}

static int32_t control_other_init(void)
{
    int32_t code = sim_init();

    S.others = S.others != 0 || code == 0 || S.set[SIM_COUNTED_INIT];
    return code;
}

static int32_t control_other_finalise(void)
{
    S.others = 0;
    return sim_finalise(false, NULL);
}

static bool control_other_works(void)
{
    return S.inits != 0;
}

static uint32_t control_after_loss(void)
{
    return S.after_loss;
}

extern const struct aclsim aclsim_control;
const struct aclsim aclsim_control = {
    control_reset,          control_set,         control_soc,
    control_text,           control_inject,      control_fault,
    control_calls,          control_calls_of,    control_function,
    control_jobs,           control_live,        control_report,
    control_violations,     control_expect,      control_other_init,
    control_other_finalise, control_other_works, control_after_loss};

__attribute__((constructor)) static void begin(void)
{
    control_reset();
}

/* What a test has left behind ends the process with an error, whatever its
 * asserts have said. */
__attribute__((destructor)) static void finish(void)
{
    if ((S.pid == 0 || S.pid == getpid()) && counted(false) != 0) {
        counted(true);
        fflush(stdout);
        _exit(3);
    }
}
