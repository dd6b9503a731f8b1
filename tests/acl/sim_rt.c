/* Initialising, devices, contexts, streams, memory, data buffers. */
#include "sim.h"
#include "sim_calls.h"

SIM_MARKER

#define ENTER(name)                                                            \
    int32_t entered = sim_enter(#name);                                        \
    if (entered != 0) {                                                        \
        return sim_leave(entered);                                             \
    }

#define CONTEXT_NEEDED()                                                       \
    if (sim_current() == NULL) {                                               \
        return sim_leave(107002);                                              \
    }

int aclInit(const char *path)
{
    ENTER(aclInit)
    (void)path;
    return sim_leave(sim_init());
}

int aclFinalize(void)
{
    ENTER(aclFinalize)
    return sim_leave(sim_finalise(false, NULL));
}

int aclFinalizeReference(uint64_t *left)
{
    ENTER(aclFinalizeReference)
    return sim_leave(sim_finalise(true, left));
}

int aclrtGetDeviceCount(uint32_t *count)
{
    ENTER(aclrtGetDeviceCount)
    *count = sim_devices();
    return sim_leave(0);
}

int aclrtSetDevice(int32_t device)
{
    ENTER(aclrtSetDevice)
    return sim_leave(sim_set_device(device));
}

int aclrtResetDevice(int32_t device)
{
    ENTER(aclrtResetDevice)
    return sim_leave(sim_reset_device(device));
}

const char *aclrtGetSocName(void)
{
    int32_t code = sim_enter("aclrtGetSocName");

    return sim_leave(code) == 0 ? sim_soc() : NULL;
}

const char *aclGetRecentErrMsg(void)
{
    int32_t code = sim_enter("aclGetRecentErrMsg");

    return sim_leave(code) == 0 ? sim_text() : NULL;
}

int aclrtGetRunMode(int *mode)
{
    ENTER(aclrtGetRunMode)
    CONTEXT_NEEDED()
    *mode = sim_switch(SIM_ON_BOARD) ? 0 : 1;
    return sim_leave(0);
}

int aclrtCreateContext(void **context, int32_t device)
{
    struct sim_object *o;

    ENTER(aclrtCreateContext)
    (void)device;
    o = sim_new(SIM_CONTEXT);
    sim_set_current(o);
    *context = o;
    return sim_leave(0);
}

int aclrtDestroyContext(void *context)
{
    struct sim_object *o;

    ENTER(aclrtDestroyContext)
    o = sim_get(context, SIM_CONTEXT);
    if (o == NULL || o->shared) {
        return sim_leave(107000);
    }
    o->dead = true;
    return sim_leave(0);
}

int aclrtSetCurrentContext(void *context)
{
    struct sim_object *o;

    ENTER(aclrtSetCurrentContext)
    o = sim_get(context, SIM_CONTEXT);
    if (o == NULL) {
        return sim_leave(107000);
    }
    sim_set_current(o);
    return sim_leave(0);
}

int aclrtGetCurrentContext(void **context)
{
    struct sim_object *o;

    ENTER(aclrtGetCurrentContext)
    o = sim_peek();
    if (o == NULL) {
        return sim_leave(107002);
    }
    *context = o;
    return sim_leave(0);
}

int aclrtCreateStream(void **stream)
{
    struct sim_object *o;

    ENTER(aclrtCreateStream)
    CONTEXT_NEEDED()
    o = sim_new(SIM_STREAM);
    o->context = sim_current();
    *stream = o;
    return sim_leave(0);
}

/* A stream of the current context; else a code. */
static int32_t stream_of(void *p, struct sim_object **stream)
{
    struct sim_object *context = sim_current();

    if (context == NULL) {
        return 107002;
    }
    *stream = sim_get(p, SIM_STREAM);
    if (*stream == NULL) {
        return 107017;
    }
    return (*stream)->context == context
               ? 0
               : sim_violation(SIM_V_WRONG_CONTEXT, 107003);
}

int aclrtDestroyStream(void *stream)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtDestroyStream)
    code = stream_of(stream, &o);
    if (code != 0) {
        return sim_leave(code);
    }
    if (!sim_is_idle(o)) {
        sim_violation(SIM_V_WOULD_HANG, 0);
    }
    sim_drop_jobs(o);
    o->dead = true;
    return sim_leave(0);
}

int aclrtDestroyStreamForce(void *stream)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtDestroyStreamForce)
    code = stream_of(stream, &o);
    if (code == 0) {
        sim_drop_jobs(o);
        o->dead = true;
    }
    return sim_leave(code);
}

int aclrtSynchronizeStream(void *stream)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtSynchronizeStream)
    code = stream_of(stream, &o);
    return sim_leave(code != 0 ? code : sim_synchronise(o, -1));
}

int aclrtSynchronizeStreamWithTimeout(void *stream, int32_t timeout)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtSynchronizeStreamWithTimeout)
    code = stream_of(stream, &o);
    return sim_leave(code != 0 ? code : sim_synchronise(o, timeout));
}

int aclrtStreamQuery(void *stream, int *state)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtStreamQuery)
    code = stream_of(stream, &o);
    if (code == 0) {
        *state = sim_is_idle(o) ? 0 : 1;
    }
    return sim_leave(code);
}

int aclrtStreamAbort(void *stream)
{
    struct sim_object *o = NULL;
    int32_t code;

    ENTER(aclrtStreamAbort)
    code = stream_of(stream, &o);
    if (code == 0 && !sim_soc_is("|910B|910_93|950|")) {
        code = 207000;
    }
    if (code == 0 &&
        (sim_switch(SIM_ABORT_FAILS) ||
         (o->first != NULL && o->first->fault == SIM_HANG_NEVER))) {
        code = 507000;
    }
    if (code == 0) {
        sim_drop_jobs(o);
    }
    return sim_leave(code);
}

int aclrtMalloc(void **p, size_t size, int policy)
{
    ENTER(aclrtMalloc)
    CONTEXT_NEEDED()
    if (policy < 0 || policy > 2) {
        return sim_leave(107000);
    }
    return sim_leave(sim_malloc(p, size));
}

int aclrtFree(void *p)
{
    ENTER(aclrtFree)
    CONTEXT_NEEDED()
    return sim_leave(sim_free(p));
}

int aclrtMemcpy(void *to, size_t room, const void *from, size_t n, int kind)
{
    ENTER(aclrtMemcpy)
    CONTEXT_NEEDED()
    return sim_leave(sim_copy(to, room, from, n, kind));
}

struct acl_buffer *aclCreateDataBuffer(void *p, size_t size)
{
    struct sim_object *o;

    if (sim_enter("aclCreateDataBuffer") != 0) {
        return sim_leave_with(NULL);
    }
    o = sim_new(SIM_BUFFER);
    o->arg.at = p;
    o->arg.bytes = size;
    return sim_leave_with(o);
}

int aclDestroyDataBuffer(const struct acl_buffer *buffer)
{
    struct sim_object *o;

    ENTER(aclDestroyDataBuffer)
    o = sim_get(buffer, SIM_BUFFER);
    if (o == NULL) {
        return sim_leave(100000);
    }
    o->dead = true;
    return sim_leave(0);
}
