/* Tensors and executors of aclnn. */
#include "sim.h"
#include "sim_calls.h"

SIM_MARKER

#define ENTER(name)                                                            \
    int32_t entered = sim_enter(#name);                                        \
    if (entered != 0) {                                                        \
        return sim_leave(entered);                                             \
    }

static size_t width(int type)
{
    return type == 0 || type == 3 ? 4 : type == 1 ? 2 : 1;
}

struct acl_tensor *aclCreateTensor(const int64_t *size, uint64_t axes, int type,
                                   const int64_t *step, int64_t offset,
                                   int format, const int64_t *storage,
                                   uint64_t storage_axes, void *address)
{
    struct sim_object *o;
    int64_t n = 1;

    if (sim_enter("aclCreateTensor") != 0 || axes == 0 || axes > 8 ||
        storage_axes != axes || format != 2 || offset != 0) {
        return sim_leave_with(NULL);
    }
    for (uint64_t i = axes; i-- > 0;) {
        if (step[i] != n || storage[i] != size[i]) {
            return sim_leave_with(NULL); /* only dense ones are simulated */
        }
        n *= size[i];
    }
    if (((uintptr_t)address & 31) != 0) {
        sim_violation(SIM_V_ALIGNMENT, 0);
    }
    o = sim_new(SIM_TENSOR);
    o->type = type;
    o->axes = (int)axes;
    for (uint64_t i = 0; i < axes; i++) {
        o->size[i] = size[i];
    }
    o->arg.at = address;
    o->arg.bytes = (size_t)n * width(type);
    return sim_leave_with(o);
}

int aclDestroyTensor(const struct acl_tensor *tensor)
{
    struct sim_object *o;

    ENTER(aclDestroyTensor)
    o = sim_get(tensor, SIM_TENSOR);
    if (o == NULL) {
        return sim_leave(161001);
    }
    o->dead = true;
    return sim_leave(0);
}

int aclSetAclOpExecutorRepeatable(struct acl_executor *executor)
{
    struct sim_object *o;

    ENTER(aclSetAclOpExecutorRepeatable)
    o = sim_get(executor, SIM_EXECUTOR);
    if (o == NULL) {
        return sim_leave(161001);
    }
    o->repeatable = true;
    return sim_leave(0);
}

int aclDestroyAclOpExecutor(struct acl_executor *executor)
{
    struct sim_object *o;

    ENTER(aclDestroyAclOpExecutor)
    o = sim_get(executor, SIM_EXECUTOR);
    if (o == NULL || !o->repeatable) {
        return sim_leave(sim_violation(SIM_V_EXECUTOR, 161002));
    }
    o->dead = true;
    return sim_leave(0);
}
