/* Tensor descriptions, and single-operator models. A model is a text here:
 * "aclsim-om NAME ELEMENTS BINS". */
#include "sim.h"
#include "sim_calls.h"

#include <stdio.h>
#include <string.h>

SIM_MARKER

#define ENTER(name)                                                            \
    int32_t entered = sim_enter(#name);                                        \
    if (entered != 0) {                                                        \
        return sim_leave(entered);                                             \
    }

#define MODELS 64

static struct model {
    char name[32];
    uint32_t n, bins;
    const void *blob;
    size_t size;
    uint32_t sum;
    uint32_t life;
} models[MODELS];

static uint32_t sum_of(const uint8_t *p, size_t n)
{
    uint32_t sum = 1;

    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + p[i];
    }
    return sum;
}

struct acl_desc *aclCreateTensorDesc(int type, int axes, const int64_t *size,
                                     int format)
{
    struct sim_object *o;

    if (sim_enter("aclCreateTensorDesc") != 0 || axes < 0 || axes > 8 ||
        (axes != 0 && size == NULL) || format != 2) {
        return sim_leave_with(NULL);
    }
    o = sim_new(SIM_DESC);
    o->type = type;
    o->axes = axes;
    for (int i = 0; i < axes; i++) {
        o->size[i] = size[i];
    }
    return sim_leave_with(o);
}

void aclDestroyTensorDesc(const struct acl_desc *desc)
{
    if (sim_enter("aclDestroyTensorDesc") == 0) {
        struct sim_object *o = sim_get(desc, SIM_DESC);

        if (o != NULL) {
            o->dead = true;
        }
    }
    (void)sim_leave(0);
}

struct acl_attr *aclopCreateAttr(void)
{
    return sim_enter("aclopCreateAttr") != 0
               ? sim_leave_with(NULL)
               : sim_leave_with(sim_new(SIM_ATTR));
}

void aclopDestroyAttr(const struct acl_attr *attr)
{
    if (sim_enter("aclopDestroyAttr") == 0) {
        struct sim_object *o = sim_get(attr, SIM_ATTR);

        if (o != NULL) {
            o->dead = true;
        }
    }
    (void)sim_leave(0);
}

static int32_t set(void *attr, const char *name, double a, double b)
{
    struct sim_object *o = sim_get(attr, SIM_ATTR);

    for (int i = 0; o != NULL && i < 8; i++) {
        if (o->attr[i].name == NULL) {
            o->attr[i].name = name; /* literals of the caller */
            o->attr[i].value[0] = a;
            o->attr[i].value[1] = b;
            return 0;
        }
    }
    return 100000;
}

int aclopSetAttrBool(struct acl_attr *attr, const char *name, uint8_t value)
{
    ENTER(aclopSetAttrBool)
    return sim_leave(value > 1 ? 100000 : set(attr, name, value, 0));
}

int aclopSetAttrInt(struct acl_attr *attr, const char *name, int64_t value)
{
    ENTER(aclopSetAttrInt)
    return sim_leave(set(attr, name, (double)value, 0));
}

int aclopSetAttrFloat(struct acl_attr *attr, const char *name, float value)
{
    ENTER(aclopSetAttrFloat)
    return sim_leave(set(attr, name, (double)value, 0));
}

int aclopSetAttrListFloat(struct acl_attr *attr, const char *name, int n,
                          const float *value)
{
    ENTER(aclopSetAttrListFloat)
    return sim_leave(
        n == 2 ? set(attr, name, (double)value[0], (double)value[1]) : 100000);
}

int aclopSetModelDir(const char *path)
{
    ENTER(aclopSetModelDir)
    (void)path;
    return sim_leave(100003); /* no such folder here */
}

int aclopLoad(const void *blob, size_t size)
{
    struct model m = {{0}, 0, 0, blob, size, 0, sim_life()};
    char text[96] = {0};

    ENTER(aclopLoad)
    if (blob == NULL || size == 0 || size >= sizeof text) {
        return sim_leave(100003);
    }
    memcpy(text, blob, size);
    if (sscanf(text, "aclsim-om %31s %u %u", m.name, &m.n, &m.bins) != 3) {
        return sim_leave(100003);
    }
    m.sum = sum_of(blob, size);
    for (int i = 0; i < MODELS; i++) {
        if (models[i].life != m.life || strcmp(models[i].name, m.name) == 0) {
            if (models[i].life == m.life &&
                (models[i].n != m.n || models[i].bins != m.bins)) {
                continue;
            }
            models[i] = m;
            return sim_leave(0);
        }
    }
    return sim_leave(300000);
}

/* ------------------------------------------------------------- handles */

enum extent { ALL, ONE, BINS };

static const struct op {
    const char *name;
    enum sim_op op;
    const char *chips;
    int inputs, outputs;
    struct {
        int type;
        enum extent extent;
    } in[4], out[4];
} ops[] = {
    {"IFMR",
     SIM_IFMR,     "|910B|",
     4, 2,
     {{0, ALL}, {0, ONE}, {0, ONE}, {3, BINS}},
     {{0, ONE}, {0, ONE}}                      },
    {"ActsULQ",
     SIM_ULQ,      "|910B|910_93|",
     3, 4,
     {{0, ALL}, {0, ONE}, {0, ONE}},
     {{0, ALL}, {12, ALL}, {12, ALL}, {0, ALL}}},
    {"ActsULQInputGrad",
     SIM_GRAD_X,   "|910B|910_93|310P|910|",
     3, 1,
     {{0, ALL}, {12, ALL}, {12, ALL}},
     {{0, ALL}}                                },
    {"ActULQClampMaxGrad",
     SIM_GRAD_MAX, "|910B|910_93|",
     3, 1,
     {{0, ALL}, {12, ALL}, {0, ALL}},
     {{0, ONE}}                                },
    {"ActULQClampMinGrad",
     SIM_GRAD_MIN, "|910B|910_93|",
     3, 1,
     {{0, ALL}, {12, ALL}, {0, ALL}},
     {{0, ONE}}                                }
};

static int64_t size_of(const struct sim_object *d)
{
    int64_t n = 1;

    for (int i = 0; i < d->axes; i++) {
        n *= d->size[i];
    }
    return n;
}

static bool fits(const void *desc, int type, enum extent extent,
                 const struct model *m, int scalar_axes)
{
    const struct sim_object *d = sim_get(desc, SIM_DESC);
    int64_t n = extent == ALL ? m->n : extent == BINS ? m->bins : 1;

    return d != NULL && d->type == type && size_of(d) == n &&
           (extent != ONE || scalar_axes < 0 || d->axes == scalar_axes);
}

static const double *value_of(const struct sim_object *attr, const char *name)
{
    for (int i = 0; attr != NULL && i < 8; i++) {
        if (attr->attr[i].name != NULL &&
            strcmp(attr->attr[i].name, name) == 0) {
            return attr->attr[i].value;
        }
    }
    return NULL;
}

/* Attributes of a model; false when one that is required is missing or wrong. */
static bool attributes(struct sim_job *j, const struct sim_object *attr)
{
    const double *bits =
        value_of(attr, j->op == SIM_IFMR ? "quant_bits" : "num_bits");
    const double *offset = value_of(attr, "with_offset");
    const double *range = value_of(attr, "search_range");
    const double *step = value_of(attr, "search_step");
    const double *hi = value_of(attr, "max_percentile");
    const double *lo = value_of(attr, "min_percentile");
    const double *fixed = value_of(attr, "fixed_min");

    if (bits != NULL && *bits != 8) {
        return false;
    }
    j->fixed_min = fixed != NULL && *fixed != 0;
    if (j->op != SIM_IFMR) {
        return true;
    }
    if (!offset || !range || !step || !hi || !lo || !(*step > 0) ||
        !(range[0] > 0) || !(range[1] > range[0]) || !(*hi > 0.5) ||
        !(*hi <= 1) || !(*lo > 0.5) || !(*lo <= 1)) {
        return false;
    }
    j->with_offset = *offset != 0;
    j->start = (float)range[0];
    j->end = (float)range[1];
    j->step = (float)*step;
    j->max_percentile = (float)*hi;
    j->min_percentile = (float)*lo;
    return true;
}

static int32_t match(const struct op *op, const struct model *m, int inputs,
                     const struct acl_desc *const *in, int outputs,
                     const struct acl_desc *const *out)
{
    int axes = sim_switch(SIM_SCALAR_ROWS) ? 1 : 0;

    if (inputs != op->inputs) {
        return 100021;
    }
    if (outputs != op->outputs) {
        return 100022;
    }
    for (int i = 0; i < inputs; i++) {
        if (!fits(in[i], op->in[i].type, op->in[i].extent, m, -1)) {
            return 100021;
        }
    }
    for (int i = 0; i < outputs; i++) {
        if (!fits(out[i], op->out[i].type, op->out[i].extent, m, axes)) {
            return 100022;
        }
    }
    return 0;
}

static int32_t create(const struct op *op, int inputs,
                      const struct acl_desc *const *in, int outputs,
                      const struct acl_desc *const *out, const void *attr,
                      struct acl_handle **handle)
{
    int32_t code = 100024;

    for (int i = 0; code != 0 && i < MODELS; i++) {
        if (models[i].life != sim_life() ||
            strcmp(models[i].name, op->name) != 0) {
            continue;
        }
        code = match(op, &models[i], inputs, in, outputs, out);
        if (code == 0) {
            struct sim_object *h;
            struct sim_job job = {0};

            job.op = op->op;
            job.n = models[i].n;
            job.bins = models[i].bins;
            job.channels = job.inner = 1;
            if (!attributes(&job, sim_get(attr, SIM_ATTR))) {
                return 100023;
            }
            h = sim_new(SIM_HANDLE);
            h->job = job;
            h->axes = i;
            *handle = (void *)h;
        }
    }
    return code;
}

int aclopCreateHandle(const char *type, int inputs,
                      const struct acl_desc *const *in, int outputs,
                      const struct acl_desc *const *out,
                      const struct acl_attr *attr, struct acl_handle **handle)
{
    ENTER(aclopCreateHandle)
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(ops[i].name, type) == 0) {
            return sim_leave(
                !sim_soc_is(ops[i].chips)
                    ? 100024
                    : create(&ops[i], inputs, in, outputs, out, attr, handle));
        }
    }
    return sim_leave(100024);
}

void aclopDestroyHandle(struct acl_handle *handle)
{
    if (sim_enter("aclopDestroyHandle") == 0) {
        struct sim_object *o = sim_get(handle, SIM_HANDLE);

        if (o != NULL) {
            o->dead = true;
        }
    }
    (void)sim_leave(0);
}

static bool take(struct sim_arg *a, const void *buffer, int type, uint32_t n)
{
    const struct sim_object *o = sim_get(buffer, SIM_BUFFER);

    if (o == NULL || o->arg.bytes < (size_t)n * (type == 12 ? 1 : 4)) {
        return false;
    }
    *a = o->arg;
    return true;
}

int aclopExecWithHandle(struct acl_handle *handle, int inputs,
                        const struct acl_buffer *const *in, int outputs,
                        struct acl_buffer *const *out, void *stream)
{
    struct sim_object *h, *s;
    const struct op *op = NULL;
    const struct model *m;
    struct sim_job job;

    ENTER(aclopExecWithHandle)
    h = sim_get(handle, SIM_HANDLE);
    s = sim_get(stream, SIM_STREAM);
    if (h == NULL || s == NULL) {
        return sim_leave(107017);
    }
    m = &models[h->axes];
    if (sum_of(m->blob, m->size) != m->sum) {
        return sim_leave(sim_violation(SIM_V_MODEL_MEMORY, 500001));
    }
    job = h->job;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (ops[i].op == job.op) {
            op = &ops[i];
        }
    }
    if (op == NULL || inputs != op->inputs || outputs != op->outputs) {
        return sim_leave(100021);
    }
    for (int i = 0; i < 4; i++) {
        uint32_t n = op->in[i].extent == ALL    ? job.n
                     : op->in[i].extent == BINS ? job.bins
                                                : 1;

        if (i < inputs && !take(&job.in[i], in[i], op->in[i].type, n)) {
            return sim_leave(100021);
        }
        n = op->out[i].extent == ALL ? job.n : 1;
        if (i < outputs && !take(&job.out[i], out[i], op->out[i].type, n)) {
            return sim_leave(100022);
        }
    }
    return sim_leave(sim_launch(s, &job));
}
