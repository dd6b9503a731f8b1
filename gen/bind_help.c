/* What was probably meant by a field that its message does not have. */
#include "bind.h"
#include "schema_tables.h"

#include <string.h>

#define NEST_MAX 8 /* messages inside messages that are looked through */

/* Fields of AMCT that no schema here holds. */
static const char *const amct_only[] = {
    "version",
    "joint_quant",
    "weight_offset",
    "nuq_config",
    "tensor_quantize",
    "skip_approximation_layers",
    "conv_calibration_config",
    "fc_calibration_config",
    "weight_compress_only",
};

static const struct {
    const struct qc_message *m;
    const char *file;
} files[] = {
    {&qc_AMCTConfig,        "quant.cfg"   },
    {&qc_AMCTRetrainConfig, "retrain.cfg" },
    {&qc_ScaleOffsetRecord, "record.txt"  },
    {&qc_ModelLayers,       "model.layers"},
};

/* Field names from a message down to the message that has the field. */
struct path {
    const struct qc_field *step[NEST_MAX];
    size_t count;
};

/* Breadth first would find the nearest; the schemas are small and no name
 * stands on two levels of one branch. */
static const struct qc_message *holder(const struct qc_message *m,
                                       struct qc_str name, struct path *p)
{
    size_t i;

    if (qc_find_field(m, name))
        return m;
    for (i = 0; i < m->count && p->count < NEST_MAX; i++) {
        const struct qc_message *found;

        if (m->fields[i].type != QC_MESSAGE)
            continue;
        p->step[p->count++] = &m->fields[i];
        found = holder(m->fields[i].message, name, p);
        if (found)
            return found;
        p->count--;
    }
    return NULL;
}

static struct qc_str field_list(struct qc *qc, const struct qc_message *m,
                                int dialect)
{
    struct qc_str all = QC_STR("");
    size_t i;

    for (i = 0; i < m->count; i++)
        if (qc_field_in(&m->fields[i], dialect) && !m->fields[i].unsupported)
            all = qc_format(qc, "%.*s%s%s", QC_ARG(all), all.len ? ", " : "",
                            m->fields[i].name);
    return all;
}

static struct qc_str nearest_field(struct qc *qc, const struct qc_message *m,
                                   struct qc_str name, int dialect)
{
    struct qc_str *names = qc_alloc(qc, m->count * sizeof(*names));
    size_t n = 0, i;

    for (i = 0; i < m->count; i++)
        if (qc_field_in(&m->fields[i], dialect))
            names[n++] = qc_str(m->fields[i].name);
    return qc_nearest(name, names, n);
}

/* 'common_config { ifmr_quantize { } }' */
static const char *path_text(struct qc *qc, const struct path *p)
{
    struct qc_str text = QC_STR("");
    size_t i;

    for (i = 0; i < p->count; i++)
        text = qc_format(qc, "%.*s%s { ", QC_ARG(text), p->step[i]->name);
    for (i = 0; i < p->count; i++)
        text = qc_format(qc, "%.*s%s", QC_ARG(text), i ? " }" : "}");
    return text.ptr;
}

static bool is_amct_only(struct qc_str name)
{
    size_t i;

    for (i = 0; i < sizeof(amct_only) / sizeof(*amct_only); i++)
        if (qc_equalz(name, amct_only[i]))
            return true;
    return false;
}

static bool help_inside(struct qc *qc, struct qc_diag *d,
                        const struct qc_frame *f, struct qc_str name)
{
    struct path p = {{0}, 0};
    const struct qc_message *m = holder(f->m, name, &p);

    if (!m)
        return false;
    qc_help(qc, d, "'%.*s' is a field of %s: write it inside '%s'",
            QC_ARG(name), m->name, path_text(qc, &p));
    return true;
}

/* A field of an enclosing message, or of another one in the same file. */
static bool help_outside(struct qc *qc, struct qc_diag *d,
                         const struct qc_frame *f, struct qc_str name)
{
    const struct qc_frame *up;
    const struct qc_message *m;
    struct path p = {{0}, 0};

    for (up = f->parent; up; up = up->parent)
        if (qc_find_field(up->m, name)) {
            qc_help(qc, d, "'%.*s' is a field of %s: write it outside of '%s'",
                    QC_ARG(name), up->m->name, qc_shown(qc, f->node->name));
            return true;
        }
    for (up = f; up->parent;)
        up = up->parent;
    m = holder(up->m, name, &p);
    if (m)
        qc_help(qc, d, "'%.*s' is a field of %s: write it inside '%s'",
                QC_ARG(name), m->name, path_text(qc, &p));
    return m != NULL;
}

static bool help_other_file(struct qc *qc, struct qc_diag *d,
                            struct qc_str name)
{
    size_t i;

    for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct path p = {{0}, 0};
        const struct qc_message *m = holder(files[i].m, name, &p);

        if (m) {
            qc_help(qc, d, "'%.*s' is a field of %s (%s)", QC_ARG(name),
                    m->name, files[i].file);
            return true;
        }
    }
    return false;
}

static bool help_dialect(struct qc *qc, struct qc_diag *d,
                         const struct qc_message *m, struct qc_str name)
{
    static const char *const words[] = {"",     "mindspore", "pytorch",
                                        "onnx", "caffe",     "tensorflow"};
    const struct qc_field *f = qc_find_field(m, name);
    struct qc_str all = QC_STR("");
    int i;

    if (!f)
        return false;
    for (i = QC_MINDSPORE; i <= QC_TENSORFLOW; i++)
        if (qc_field_in(f, i))
            all = qc_format(qc, "%.*s%s%s", QC_ARG(all), all.len ? ", " : "",
                            words[i]);
    qc_help(qc, d, "the field exists in these dialects: %.*s", QC_ARG(all));
    return true;
}

void qc_unknown_field(struct qc *qc, const struct qc_frame *f,
                      const struct qc_node *n, int dialect)
{
    struct qc_str name = n->name, near;
    struct qc_diag *d =
        qc_report(qc, QC_SCH_UNKNOWN_FIELD, n->name_loc, "%s has no field '%s'",
                  f->m->name, qc_shown(qc, name));

    if (!d || help_dialect(qc, d, f->m, name))
        return;
    if (is_amct_only(name)) {
        qc_help(qc, d, "AMCT has this field, quantc does not support it");
        return;
    }
    near = nearest_field(qc, f->m, name, dialect);
    if (near.len) {
        qc_help(qc, d, "did you mean '%.*s'?", QC_ARG(near));
        qc_fix(qc, d, n->name_loc, near);
        return;
    }
    if (f->parent == NULL && qc_equalz(name, f->m->name)) {
        qc_help(qc, d, "the file is the body of %s: write its fields alone",
                f->m->name);
        return;
    }
    if (help_inside(qc, d, f, name) || help_outside(qc, d, f, name) ||
        help_other_file(qc, d, name))
        return;
    qc_help(qc, d, "fields of %s: %.*s", f->m->name,
            QC_ARG(field_list(qc, f->m, dialect)));
}

/* ---- a missing brace ---- */

/* Blanks before a name that is the first of its line, else -1. */
static int indentation(const struct qc_file *f, uint32_t at)
{
    uint32_t start = at;

    while (start && (f->text[start - 1] == ' ' || f->text[start - 1] == '\t'))
        start--;
    return start && f->text[start - 1] != '\n' ? -1 : (int)(at - start);
}

/* Whether a name stands at least `indent` bytes into its line. */
static bool stands_in(const struct qc_file *f, uint32_t at, int indent)
{
    for (; indent > 0; indent--, at--)
        if (at == 0 || f->text[at - 1] == '\n')
            return false;
    return true;
}

const struct qc_frame *qc_escaped_from(const struct qc_frame *f,
                                       const struct qc_node *n, int dialect)
{
    const struct qc_file *file = n->loc.file;
    const struct qc_frame *up;
    int indent;

    for (up = f->parent; up; up = up->parent) {
        const struct qc_field *known = qc_find_field(up->m, n->name);

        if (known && qc_field_in(known, dialect))
            break;
    }
    if (!up)
        return NULL;
    indent = indentation(file, n->name_loc.at);
    return indent >= 0 && stands_in(file, up->node->first->name_loc.at, indent)
               ? up
               : NULL;
}

void qc_escaped_field(struct qc *qc, const struct qc_frame *f,
                      const struct qc_frame *owner, const struct qc_node *n)
{
    struct qc_diag *d =
        qc_report(qc, QC_SCH_UNKNOWN_FIELD, n->name_loc, "%s has no field '%s'",
                  f->m->name, qc_shown(qc, n->name));

    qc_help(qc, d, "'%s' is a field of %s: is a '}' missing before this line?",
            qc_shown(qc, n->name), owner->m->name);
    qc_note(qc, d, f->node->loc, "'%s' is still open from here",
            qc_shown(qc, f->node->name));
}
