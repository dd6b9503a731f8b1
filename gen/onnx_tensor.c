/* Constants of an ONNX model: where the elements are, as a slice of the model
 * file or of an external data file. */
#include "npy.h"
#include "onnx.h"

#include "schema_tables.h"

#include <string.h>

/* Files that cannot be read are named one by one up to here. */
#define MAX_EXTERNAL_FAILURES 20u

struct onnx_value *onnx_origin(struct onnx_value *v)
{
    const struct onnx_node *n;
    int hops = 0;

    while ((n = onnx_made_by(v, "Identity")) && onnx_in(n, 0)) {
        if (++hops > ONNX_MAX_HOPS)
            return v;
        v = n->in[0];
    }
    return v;
}

/* ---- types ---- */

static const struct {
    int32_t type; /* TensorProto.DataType */
    enum qc_elem elem;
    unsigned size;     /* bytes of an element; 0: no fixed size      */
    const char *field; /* where elements are when not in raw_data    */
    bool fixed;        /* that field holds them as bytes             */
} types[] = {
    {TensorProto_DataType_FLOAT,    QC_ELEM_F32,   4, "float_data",  true },
    {TensorProto_DataType_DOUBLE,   QC_ELEM_F64,   8, "double_data", true },
    {TensorProto_DataType_FLOAT16,  QC_ELEM_F16,   2, "int32_data",  false},
    {TensorProto_DataType_INT64,    QC_ELEM_I64,   8, "int64_data",  false},
    {TensorProto_DataType_INT32,    QC_ELEM_I32,   4, "int32_data",  false},
    {TensorProto_DataType_INT8,     QC_ELEM_I8,    1, "int32_data",  false},
    {TensorProto_DataType_BFLOAT16, QC_ELEM_OTHER, 2, "int32_data",  false},
    {TensorProto_DataType_UINT8,    QC_ELEM_OTHER, 1, "int32_data",  false},
    {TensorProto_DataType_BOOL,     QC_ELEM_OTHER, 1, "int32_data",  false},
    {TensorProto_DataType_INT16,    QC_ELEM_OTHER, 2, "int32_data",  false},
    {TensorProto_DataType_UINT16,   QC_ELEM_OTHER, 2, "int32_data",  false},
    {TensorProto_DataType_UINT32,   QC_ELEM_OTHER, 4, "uint64_data", false},
    {TensorProto_DataType_UINT64,   QC_ELEM_OTHER, 8, "uint64_data", false},
};

static size_t find_type(const struct qc_node *tensor)
{
    const struct qc_node *c = onnx_field(tensor, "data_type");
    size_t i, n = sizeof(types) / sizeof(types[0]);

    for (i = 0; i < n; i++)
        if (c && (int64_t)c->bits == types[i].type)
            break;
    return i;
}

/* ---- shape ---- */

static bool read_dims(struct onnx *o, struct qc_tensor *t,
                      const struct qc_node *tensor)
{
    size_t rank = onnx_ints(tensor, "dims", t->dims, QC_MAX_RANK), i;

    if (rank > QC_MAX_RANK) {
        qc_report(o->qc, QC_MODEL_TENSOR, t->loc,
                  "tensor '%s' has %zu dimensions; at most %d can be read",
                  qc_shown(o->qc, t->name), rank, QC_MAX_RANK);
        return false;
    }
    t->rank = (unsigned)rank;
    t->count = 1;
    for (i = 0; i < rank; i++) {
        if (t->dims[i] < 0 ||
            (t->dims[i] && t->count > (uint64_t)(INT64_MAX / t->dims[i]))) {
            qc_report(o->qc, QC_MODEL_TENSOR, t->loc,
                      "tensor '%s' has an impossible shape",
                      qc_shown(o->qc, t->name));
            return false;
        }
        t->count *= (uint64_t)t->dims[i];
    }
    return true;
}

/* ---- elements ---- */

static bool wrong_size(struct onnx *o, const struct qc_tensor *t, uint64_t have,
                       const char *unit)
{
    qc_report(o->qc, QC_MODEL_TENSOR, t->loc,
              "tensor '%s' has %llu %s of data, which its shape does not allow",
              qc_shown(o->qc, t->name), (unsigned long long)have, unit);
    return false;
}

static size_t list_length(const struct qc_node *tensor, size_t type)
{
    const struct qc_node *c;
    size_t n = 0;

    if (!types[type].fixed)
        return onnx_ints(tensor, types[type].field, NULL, 0);
    for (c = tensor->first; c; c = c->next)
        if (qc_equalz(c->name, types[type].field))
            n += c->kind == QC_TEXT ? c->text.len / types[type].size : 1;
    return n;
}

static char *put_bytes(char *to, uint64_t v, unsigned size)
{
    unsigned b;

    for (b = 0; b < size; b++)
        *to++ = (char)(v >> 8 * b);
    return to;
}

static void copy_fixed(char *to, const struct qc_node *tensor, size_t type)
{
    const struct qc_node *c;
    unsigned size = types[type].size;

    for (c = tensor->first; c; c = c->next) {
        if (!qc_equalz(c->name, types[type].field))
            continue;
        if (c->kind != QC_TEXT) {
            to = put_bytes(to, c->bits, size);
            continue;
        }
        memcpy(to, c->text.ptr, c->text.len / size * size);
        to += c->text.len / size * size;
    }
}

static void copy_varints(struct onnx *o, char *to, const struct qc_node *tensor,
                         size_t type, size_t count)
{
    int64_t *v = qc_alloc(o->qc, count * sizeof(*v));
    size_t i;

    onnx_ints(tensor, types[type].field, v, count);
    for (i = 0; i < count; i++)
        to = put_bytes(to, (uint64_t)v[i], types[type].size);
}

/* Elements of a list of numbers as little-endian bytes. A list of numbers of
 * fixed size is packed in one piece as a rule, and then is a slice already. */
static bool list_data(struct onnx *o, struct qc_tensor *t,
                      const struct qc_node *tensor, size_t type)
{
    const struct qc_node *only = onnx_field(tensor, types[type].field);
    size_t count = list_length(tensor, type);
    char *to;

    if (count != t->count)
        return wrong_size(o, t, count, "elements");
    if (count == 0)
        return true;
    t->data.len = count * types[type].size;
    if (types[type].fixed && only->kind == QC_TEXT &&
        only->text.len == t->data.len) {
        t->data.ptr = only->text.ptr;
        return true;
    }
    t->data.ptr = to = qc_alloc(o->qc, t->data.len);
    if (types[type].fixed)
        copy_fixed(to, tensor, type);
    else
        copy_varints(o, to, tensor, type, count);
    return true;
}

/* ---- external data ---- */

static struct qc_str external_entry(const struct qc_node *tensor,
                                    const char *key)
{
    const struct qc_node *c;

    for (c = tensor->first; c; c = c->next)
        if (qc_equalz(c->name, "external_data") &&
            qc_equalz(onnx_text(c, "key"), key))
            return onnx_text(c, "value");
    return QC_STR("");
}

/* A relative path without "..", so that a model reaches nothing but files
 * beside it. */
static bool is_inside(struct qc_str path)
{
    size_t i, start = 0;

    if (path.len == 0 || path.ptr[0] == '/' ||
        memchr(path.ptr, '\\', path.len) || memchr(path.ptr, '\0', path.len))
        return false;
    for (i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/')
            continue;
        if (i - start == 2 && path.ptr[start] == '.' &&
            path.ptr[start + 1] == '.')
            return false;
        start = i + 1;
    }
    return true;
}

/* A data file, tried once. */
struct external {
    struct qc_file *file; /* null: cannot be read */
};

static struct qc_file *load_external(struct onnx *o, const struct qc_tensor *t,
                                     struct qc_str location)
{
    const char *slash = strrchr(o->file->name, '/');
    int folder = slash ? (int)(slash - o->file->name) + 1 : 0;
    struct qc_file *f = qc_load(
        o->qc,
        qc_format(o->qc, "%.*s%.*s", folder, o->file->name, QC_ARG(location))
            .ptr,
        SIZE_MAX / 2);

    if (f) {
        f->data = o->file->data;
        o->file->data = f;
        f->binary = true;
        return f;
    }
    o->external_failures++;
    qc_report(o->qc, QC_MODEL_EXTERNAL, t->loc,
              "the data of tensor '%s' are in the file '%s', which cannot be "
              "read",
              qc_shown(o->qc, t->name), qc_shown(o->qc, location));
    return NULL;
}

static struct qc_file *external_file(struct onnx *o, const struct qc_tensor *t,
                                     struct qc_str location)
{
    void **at = qc_map_at(o->qc, &o->external, location);
    struct external *e = *at;

    if (!e) {
        *at = e = qc_alloc(o->qc, sizeof(*e));
        if (o->external_failures < MAX_EXTERNAL_FAILURES)
            e->file = load_external(o, t, location);
    }
    return e->file;
}

/* A decimal number; empty: `otherwise`. False when it is none. */
static bool number(struct qc_str s, uint64_t otherwise, uint64_t *v)
{
    size_t i;

    *v = s.len ? 0 : otherwise;
    for (i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || *v > UINT64_MAX / 10 - 1)
            return false;
        *v = *v * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return true;
}

static bool external_data(struct onnx *o, struct qc_tensor *t,
                          const struct qc_node *tensor, uint64_t need)
{
    struct qc_str location = external_entry(tensor, "location");
    uint64_t offset, length;
    struct qc_file *f;

    if (!is_inside(location) ||
        !number(external_entry(tensor, "offset"), 0, &offset) ||
        !number(external_entry(tensor, "length"), need, &length)) {
        qc_report(o->qc, QC_MODEL_EXTERNAL, t->loc,
                  "tensor '%s' says that its data are in '%s': the place must "
                  "be a file in the folder of the model, with offset and "
                  "length in decimal",
                  qc_shown(o->qc, t->name), qc_shown(o->qc, location));
        return false;
    }
    if (length != need)
        return wrong_size(o, t, length, "bytes");
    f = external_file(o, t, location);
    if (!f)
        return false;
    if (offset > f->size || need > f->size - offset) {
        qc_report(o->qc, QC_MODEL_EXTERNAL, t->loc,
                  "the data of tensor '%s' are bytes %llu to %llu of '%s', "
                  "which has only %zu",
                  qc_shown(o->qc, t->name), (unsigned long long)offset,
                  (unsigned long long)offset + need, f->name, f->size);
        return false;
    }
    t->data = (struct qc_str){f->text + offset, (size_t)need};
    return true;
}

/* ---- tensors ---- */

static bool read_data(struct onnx *o, struct qc_tensor *t,
                      const struct qc_node *tensor)
{
    const struct qc_node *raw = onnx_field(tensor, "raw_data");
    const struct qc_node *where = onnx_field(tensor, "data_location");
    size_t type = find_type(tensor);
    uint64_t need;

    if (type == sizeof(types) / sizeof(types[0])) {
        t->elem = QC_ELEM_OTHER;
        return true;
    }
    t->elem = types[type].elem;
    if (t->count > (uint64_t)PTRDIFF_MAX / types[type].size)
        return wrong_size(o, t, 0, "bytes");
    need = t->count * types[type].size;
    if (where && where->bits == TensorProto_DataLocation_EXTERNAL)
        return external_data(o, t, tensor, need);
    if (!raw)
        return list_data(o, t, tensor, type);
    if (raw->text.len != need)
        return wrong_size(o, t, raw->text.len, "bytes");
    t->data = raw->text;
    return true;
}

static const struct qc_tensor *
read_tensor(struct onnx *o, const struct qc_node *tensor, struct qc_str name)
{
    struct qc_tensor *t = qc_alloc(o->qc, sizeof(*t));

    t->name = name;
    t->loc = tensor->loc;
    return read_dims(o, t, tensor) && read_data(o, t, tensor) ? t : NULL;
}

/* The other attributes of Constant: one number or a list of integers. */
static const struct qc_tensor *
number_constant(struct onnx *o, const struct onnx_node *n, struct qc_str name)
{
    const struct qc_node *i = onnx_field(onnx_attr(n, "value_int"), "i");
    const struct qc_node *f = onnx_field(onnx_attr(n, "value_float"), "f");
    size_t k, count = i || f ? 1 : onnx_attr_ints(n, "value_ints", NULL, 0);
    unsigned size = f ? 4 : 8;
    struct qc_tensor *t = qc_alloc(o->qc, sizeof(*t));
    int64_t *v = qc_alloc(o->qc, count * sizeof(*v));
    char *to = qc_alloc(o->qc, count * size);

    if (!count)
        return NULL;
    t->name = name;
    t->loc = n->tree->loc;
    t->elem = f ? QC_ELEM_F32 : QC_ELEM_I64;
    t->count = count;
    t->rank = i || f ? 0 : 1;
    t->dims[0] = (int64_t)count;
    t->data = (struct qc_str){to, count * size};
    onnx_attr_ints(n, "value_ints", v, count);
    if (i || f)
        v[0] = (int64_t)(i ? i : f)->bits;
    for (k = 0; k < count; k++)
        to = put_bytes(to, (uint64_t)v[k], size);
    return t;
}

static void read_constant(struct onnx *o, struct onnx_value *v)
{
    const struct onnx_node *n = onnx_made_by(v, "Constant");
    const struct qc_node *tensor =
        n ? onnx_field(onnx_attr(n, "value"), "t") : v->initializer;

    v->tensor_read = true;
    if (tensor && qc_equalz(tensor->name, "sparse_initializer"))
        return;
    if (tensor)
        v->tensor = read_tensor(o, tensor, v->name);
    else if (n)
        v->tensor = number_constant(o, n, v->name);
}

const struct qc_tensor *onnx_constant(struct onnx *o, struct onnx_value *v)
{
    struct onnx_value *from = onnx_origin(v);

    if (!from->tensor_read)
        read_constant(o, from);
    if (!v->tensor_read && from->tensor) {
        /* A copy goes by its own name. */
        struct qc_tensor *t = qc_alloc(o->qc, sizeof(*t));

        *t = *from->tensor;
        t->name = v->name;
        v->tensor = t;
    }
    v->tensor_read = true;
    return v->tensor;
}

/* ---- small constants ---- */

static uint64_t load(const char *p, unsigned size)
{
    uint64_t v = 0;
    unsigned i;

    for (i = 0; i < size; i++)
        v |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return v;
}

bool onnx_scalar(struct onnx *o, struct onnx_value *v, uint32_t *bits)
{
    const struct qc_tensor *t;
    const struct onnx_node *n;
    double d;
    float f;
    uint64_t u;
    int hops = 0;

    while ((n = onnx_made_by(v = onnx_origin(v), "Cast")) && onnx_in(n, 0))
        if (++hops > ONNX_MAX_HOPS)
            return false;
        else
            v = n->in[0];
    t = onnx_constant(o, v);
    if (!t || t->count != 1 || !t->data.len)
        return false;
    switch (t->elem) {
    case QC_ELEM_F32:
        *bits = (uint32_t)load(t->data.ptr, 4);
        return true;
    case QC_ELEM_F16:
        *bits = qc_f32_of_f16((uint16_t)load(t->data.ptr, 2));
        return true;
    case QC_ELEM_F64:
        u = load(t->data.ptr, 8);
        memcpy(&d, &u, sizeof(d));
        f = (float)d;
        break;
    case QC_ELEM_I64:
        f = (float)(int64_t)load(t->data.ptr, 8);
        break;
    case QC_ELEM_I32:
        f = (float)(int32_t)load(t->data.ptr, 4);
        break;
    default:
        return false;
    }
    memcpy(bits, &f, sizeof(f));
    return true;
}

size_t onnx_constant_ints(struct onnx *o, struct onnx_value *v, int64_t *to,
                          size_t max)
{
    const struct qc_tensor *t = v ? onnx_constant(o, v) : NULL;
    unsigned size;
    size_t i;

    if (!t || (t->elem != QC_ELEM_I64 && t->elem != QC_ELEM_I32) ||
        !t->data.len)
        return SIZE_MAX;
    size = t->elem == QC_ELEM_I64 ? 8 : 4;
    for (i = 0; i < t->count && i < max; i++) {
        uint64_t u = load(t->data.ptr + i * size, size);

        to[i] = size == 8 ? (int64_t)u : (int32_t)u;
    }
    return (size_t)t->count;
}
