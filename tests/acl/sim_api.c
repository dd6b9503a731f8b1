/* AscendQuant and AscendAntiQuant of aclnn. */
#include "sim.h"
#include "sim_calls.h"

#include <string.h>

SIM_MARKER

#define FIRST(name)                                                            \
    int32_t entered = sim_enter(#name);                                        \
    if (entered != 0) {                                                        \
        return sim_leave(entered);                                             \
    }

/* Shapes of one operator call; 0 or a code. */
static int32_t describe(struct sim_job *job, const void *x, const void *scale,
                        const void *offset, const void *y, int x_type,
                        int y_type, int axis)
{
    const struct sim_object *tx = sim_get(x, SIM_TENSOR);
    const struct sim_object *ts = sim_get(scale, SIM_TENSOR);
    const struct sim_object *to = offset ? sim_get(offset, SIM_TENSOR) : NULL;
    const struct sim_object *ty = sim_get(y, SIM_TENSOR);
    int64_t n = 1, last;

    if (!tx || !ts || !ty || (offset && !to)) {
        return 161001;
    }
    for (int i = 0; i < tx->axes; i++) {
        n *= tx->size[i];
    }
    axis = axis < 0 ? tx->axes + axis : axis;
    if (tx->type != x_type || ty->type != y_type || ts->type != 0 ||
        (to && to->type != 0) || tx->axes != ty->axes || axis < 0 ||
        axis < tx->axes - 2 || ts->axes != 1 ||
        memcmp(tx->size, ty->size, sizeof tx->size) != 0 ||
        (to && to->size[0] != ts->size[0])) {
        return 161002;
    }
    last = tx->size[axis];
    if (ts->size[0] != 1 && ts->size[0] != last) {
        return 161002;
    }
    job->n = (uint32_t)n;
    job->channels = (uint32_t)ts->size[0];
    job->inner = axis == tx->axes - 1 ? 1 : (uint32_t)tx->size[axis + 1];
    job->in[0] = tx->arg;
    job->in[1] = ts->arg;
    if (to) {
        job->in[2] = to->arg;
    }
    job->out[0] = ty->arg;
    return 0;
}

static int32_t executor_of(const struct sim_job *job, const char *name,
                           uint64_t *size, struct acl_executor **executor)
{
    struct sim_object *o;

    if (sim_switch(SIM_NO_KERNELS)) {
        return 561112;
    }
    o = sim_new(SIM_EXECUTOR);
    o->job = *job;
    o->name = name;
    *size = (uint64_t)sim_switch(SIM_WORKSPACE);
    o->job.workspace.bytes = (size_t)*size;
    *executor = (void *)o;
    return 0;
}

/* The second call uses the executor up, whatever becomes of it. */
static int32_t second(const char *name, void *workspace, uint64_t size,
                      void *executor, void *stream)
{
    int32_t entered = sim_enter(name);
    struct sim_object *o = sim_get(executor, SIM_EXECUTOR);
    struct sim_object *s = sim_get(stream, SIM_STREAM);

    if (o == NULL || strcmp(o->name, name) != 0) {
        return sim_leave(sim_violation(SIM_V_EXECUTOR, 561101));
    }
    o->dead = !o->repeatable;
    if (entered != 0) {
        return sim_leave(entered);
    }
    if (s == NULL) {
        return sim_leave(361001);
    }
    if (size < o->job.workspace.bytes || (size != 0 && workspace == NULL)) {
        return sim_leave(sim_violation(SIM_V_WORKSPACE, 161002));
    }
    o->job.workspace.at = size != 0 ? workspace : NULL;
    return sim_leave(sim_launch(s, &o->job));
}

int aclnnAscendQuantGetWorkspaceSize(const struct acl_tensor *x,
                                     const struct acl_tensor *scale,
                                     const struct acl_tensor *offset,
                                     bool sqrt_mode, const char *round,
                                     int32_t type, const struct acl_tensor *y,
                                     uint64_t *size,
                                     struct acl_executor **executor)
{
    struct sim_job job = {0};
    int32_t code;

    FIRST(aclnnAscendQuantGetWorkspaceSize)
    if (!sim_soc_is("|910B|910_93|310P|")) {
        return sim_leave(561003);
    }
    if (type != 2 || sqrt_mode || strcmp(round, "round") != 0) {
        return sim_leave(161002);
    }
    code = describe(&job, x, scale, offset, y, 0, 2, -1);
    return sim_leave(
        code ? code : executor_of(&job, "aclnnAscendQuant", size, executor));
}

int aclnnAscendQuant(void *workspace, uint64_t size,
                     struct acl_executor *executor, void *stream)
{
    return second("aclnnAscendQuant", workspace, size, executor, stream);
}

int aclnnAscendQuantV3GetWorkspaceSize(
    const struct acl_tensor *x, const struct acl_tensor *scale,
    const struct acl_tensor *offset, bool sqrt_mode, const char *round,
    int32_t type, int32_t axis, const struct acl_tensor *y, uint64_t *size,
    struct acl_executor **executor)
{
    struct sim_job job = {0};
    int32_t code;

    FIRST(aclnnAscendQuantV3GetWorkspaceSize)
    if (!sim_soc_is("|910B|910_93|310P|950|")) {
        return sim_leave(561003);
    }
    if (type != 2 || sqrt_mode || strcmp(round, "round") != 0 ||
        (axis == -2 && sim_soc_is("|310P|"))) {
        return sim_leave(161002);
    }
    code = describe(&job, x, scale, offset, y, 0, 2, axis);
    return sim_leave(
        code ? code : executor_of(&job, "aclnnAscendQuantV3", size, executor));
}

int aclnnAscendQuantV3(void *workspace, uint64_t size,
                       struct acl_executor *executor, void *stream)
{
    return second("aclnnAscendQuantV3", workspace, size, executor, stream);
}

int aclnnAscendAntiQuantGetWorkspaceSize(
    const struct acl_tensor *x, const struct acl_tensor *scale,
    const struct acl_tensor *offset, int64_t type, bool sqrt_mode,
    const struct acl_tensor *y, uint64_t *size, struct acl_executor **executor)
{
    struct sim_job job = {0};
    int32_t code;

    FIRST(aclnnAscendAntiQuantGetWorkspaceSize)
    if (!sim_soc_is("|910B|910_93|310P|")) {
        return sim_leave(561003);
    }
    if (type != 1) {
        return sim_leave(161002);
    }
    code = describe(&job, x, scale, offset, y, 2, 1, -1);
    job.op = SIM_ANTIQUANT;
    job.sqrt_mode = sqrt_mode;
    return sim_leave(
        code ? code
             : executor_of(&job, "aclnnAscendAntiQuant", size, executor));
}

int aclnnAscendAntiQuant(void *workspace, uint64_t size,
                         struct acl_executor *executor, void *stream)
{
    return second("aclnnAscendAntiQuant", workspace, size, executor, stream);
}
