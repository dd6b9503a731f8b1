/* Values of the text kinds, one by one: finite, in range, fit to be a name. */
#include "checks.h"
#include "decimal.h"
#include "parse.h"

#include <string.h>

/* Whose range is violated: the key of a field's range, by its name. */
static const struct {
    const char *field;
    enum qc_key key;
} range_keys[] = {
    {"batch_num",          QC_SEM_BATCH_NUM   },
    {"search_range_start", QC_SEM_RANGE_ORDER },
    {"search_range_end",   QC_SEM_RANGE_ORDER },
    {"search_step",        QC_SEM_SEARCH_STEP },
    {"max_percentile",     QC_SEM_PERCENTILE  },
    {"min_percentile",     QC_SEM_PERCENTILE  },
    {"num_of_bins",        QC_SEM_NUM_OF_BINS },
    {"clip_max",           QC_SEM_CLIP        },
    {"clip_min",           QC_SEM_CLIP        },
    {"scale_d",            QC_SEM_SCALE       },
    {"scale_w",            QC_SEM_SCALE       },
    {"scale_h",            QC_SEM_SCALE       },
    {"scale_r",            QC_SEM_SCALE       },
    {"offset_d",           QC_SEM_OFFSET_RANGE},
    {"offset_w",           QC_SEM_OFFSET_W    },
    {"shift_bit",          QC_SEM_SHIFT_BIT   },
};

/* Strings that name a layer or a type of layer. */
static const char *const names[] = {
    "layer_name",
    "layer_type",
    "key",
    "name",
    "type",
    "layer",
    "alias",
    "skip_layers",
    "skip_layer_types",
    "skip_fusion_layers",
    "quant_skip_layers",
    "quant_skip_types",
    "regular_prune_skip_layers",
    "regular_prune_skip_types",
};

bool qc_usable(const struct qc_value *v)
{
    return v->set && !v->poisoned;
}

const char *qc_of_layer(const struct qc_checker *c)
{
    if (!c->layer.len)
        return "";
    return qc_format(c->qc, " of layer '%s'", qc_shown(c->qc, c->layer)).ptr;
}

const char *qc_shown_float(struct qc *qc, double v)
{
    char text[QC_DECIMAL_ROOM];

    return qc_copy(qc, text, strlen(qc_shown_f32(qc_f32_bits(v), text))).ptr;
}

struct qc_str qc_amct_text(struct qc *qc, double v)
{
    char text[QC_DECIMAL_ROOM];

    return qc_copy(qc, text, strlen(qc_shortest_f32(qc_f32_bits(v), text)));
}

/* ---- ranges ---- */

static enum qc_key range_key(const char *field)
{
    size_t i;

    for (i = 0; i < sizeof(range_keys) / sizeof(*range_keys); i++)
        if (strcmp(range_keys[i].field, field) == 0)
            return range_keys[i].key;
    return QC_SEM_RANGE;
}

static struct qc_limit *make_limits(struct qc_checker *c,
                                    const struct qc_message *m)
{
    struct qc_limit *l = qc_alloc(c->qc, m->count * sizeof(*l));
    size_t i;

    for (i = 0; i < m->count; i++) {
        l[i].f = &m->fields[i];
        l[i].key = range_key(l[i].f->name);
        l[i].ranged = l[i].f->range && qc_range_parse(l[i].f->range, &l[i].r);
    }
    return l;
}

static const struct qc_limit *limits_of(struct qc_checker *c,
                                        const struct qc_message *m)
{
    size_t room = c->message_room, i;

    for (i = 0; i < c->message_count; i++)
        if (c->messages[i] == m)
            return c->limits[i];
    c->limits = qc_grow(c->qc, c->limits, i, &room, sizeof(*c->limits));
    c->messages =
        qc_grow(c->qc, c->messages, i, &c->message_room, sizeof(*c->messages));
    c->messages[i] = m;
    c->limits[i] = make_limits(c, m);
    c->message_count++;
    return c->limits[i];
}

/* Well inside: rounding to binary32 cannot carry it over a bound. */
static bool clearly_inside(const struct qc_range *r, double v)
{
    const double margin = 2.5e-7; /* a binary32 has 24 bits */
    double low = r->low + (r->low < 0 ? -r->low : r->low) * margin;
    double high = r->high - (r->high < 0 ? -r->high : r->high) * margin;

    if (r->count || v > 1e30 || v < -1e30 || (v < 1e-30 && v > -1e-30))
        return false;
    return (r->low < -1e30 || v > low) && (r->high > 1e30 || v < high);
}

/* "greater than 0", "in (0.5, 1]", "at least 1". */
static const char *range_words(struct qc *qc, const struct qc_limit *l)
{
    const char *range = l->f->range;
    bool below = l->r.low<-1e300, above = l->r.high> 1e300;
    int len;

    if (l->r.count || (!below && !above))
        return qc_range_words(qc, range);
    if (below) {
        range = strchr(range, ',') + 1;
        len = (int)strcspn(range, ")]");
    } else {
        range++;
        len = (int)strcspn(range, ",");
    }
    while (len && *range == ' ') {
        range++;
        len--;
    }
    return qc_format(qc, "%s %.*s",
                     below ? (l->r.open_high ? "less than" : "at most")
                     : l->r.open_low ? "greater than"
                                     : "at least",
                     len, range)
        .ptr;
}

static void out_of_range(struct qc_checker *c, const struct qc_limit *l,
                         const struct qc_value *v, const char *shown)
{
    enum qc_key key = l->key == QC_SEM_SCALE ? c->scale_key : l->key;

    qc_report(c->qc, key, v->loc, "'%s' (%s)%s must be %s", l->f->name, shown,
              qc_of_layer(c), range_words(c->qc, l));
}

static void check_float(struct qc_checker *c, const struct qc_limit *l,
                        const struct qc_value *v)
{
    if (l->ranged && clearly_inside(&l->r, v->as.f))
        return;
    if (!qc_f32_is_finite(qc_f32_bits(v->as.f)))
        qc_report(c->qc, QC_SEM_NOT_FINITE, v->loc,
                  "'%s' (%s)%s must be a finite number", l->f->name,
                  qc_shown(c->qc, v->text), qc_of_layer(c));
    else if (l->ranged && !qc_in_range(l->f->range, qc_amct_value(v->as.f)))
        out_of_range(c, l, v, qc_shown_float(c->qc, v->as.f));
}

static void check_int(struct qc_checker *c, const struct qc_limit *l,
                      const struct qc_value *v)
{
    bool has_sign = l->f->type == QC_INT32 || l->f->type == QC_INT64;
    double d = has_sign ? (double)v->as.i : (double)v->as.u;

    if (!l->ranged || qc_in_range(l->f->range, d))
        return;
    out_of_range(
        c, l, v,
        has_sign ? qc_format(c->qc, "%lld", (long long)v->as.i).ptr
                 : qc_format(c->qc, "%llu", (unsigned long long)v->as.u).ptr);
}

/* ---- names ---- */

static bool is_name(const char *field)
{
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], field) == 0)
            return true;
    return false;
}

static void check_string(struct qc_checker *c, const struct qc_field *f,
                         const struct qc_value *v)
{
    const char *nul;

    if (v->text.len == 0) {
        if (is_name(f->name))
            qc_report(c->qc, QC_SEM_EMPTY_NAME, v->loc, "'%s' is empty",
                      f->name);
        return;
    }
    nul = memchr(v->text.ptr, '\0', v->text.len);
    if (nul)
        qc_report(c->qc, QC_SEM_NUL_IN_NAME,
                  qc_text_string_loc(v->loc.file, v->loc.at,
                                     v->loc.at + v->loc.len,
                                     (size_t)(nul - v->text.ptr)),
                  "'%s' holds a NUL character; names cannot", f->name);
}

/* ---- the walk ---- */

static void check_value(struct qc_checker *c, const struct qc_limit *l,
                        const struct qc_value *v)
{
    if (!qc_usable(v))
        return;
    switch (l->f->type) {
    case QC_FLOAT:
    case QC_DOUBLE:
        check_float(c, l, v);
        break;
    case QC_INT32:
    case QC_INT64:
    case QC_UINT32:
    case QC_UINT64:
        check_int(c, l, v);
        break;
    case QC_STRING:
        check_string(c, l->f, v);
        break;
    default:
        break;
    }
}

static void walk(struct qc_checker *c, const struct qc_message *m,
                 const char *base);

static void walk_groups(struct qc_checker *c, const struct qc_field *f,
                        const char *member)
{
    const struct {
        const char *at;
        size_t count;
    } *list = (const void *)member;
    const char *inner;
    size_t i;

    if (f->label == QC_REPEATED) {
        for (i = 0; i < list->count; i++)
            walk(c, f->message, list->at + i * f->message->size);
        return;
    }
    memcpy(&inner, member, sizeof(inner));
    if (inner)
        walk(c, f->message, inner);
}

static void walk(struct qc_checker *c, const struct qc_message *m,
                 const char *base)
{
    const struct qc_limit *limits = limits_of(c, m);
    qc_message_check rules = qc_rules_of(m);
    size_t i, j;

    if (rules)
        rules(c, base);
    for (i = 0; i < m->count; i++) {
        const struct qc_field *f = &m->fields[i];
        const char *member = base + f->offset;
        const struct qc_values *list = (const void *)member;

        if (f->type == QC_MESSAGE) {
            walk_groups(c, f, member);
        } else if (f->label == QC_REPEATED) {
            for (j = 0; j < list->count; j++)
                check_value(c, &limits[i], &list->at[j]);
        } else {
            check_value(c, &limits[i], (const void *)member);
        }
    }
}

void qc_check_text(struct qc *qc, enum qc_kind kind, const void *bound)
{
    static const struct qc_message *const tops[] = {
        [QC_KIND_CALIB] = &qc_AMCTConfig,
        [QC_KIND_RETRAIN] = &qc_AMCTRetrainConfig,
        [QC_KIND_RECORD] = &qc_ScaleOffsetRecord,
        [QC_KIND_LAYERS] = &qc_ModelLayers,
        [QC_KIND_OPTIONS] = &qc_QuantcOptions};
    struct qc_checker c = {0};
    const struct qc_node *root;

    c.qc = qc;
    c.kind = kind;
    memcpy(&root, bound, sizeof(root)); /* member 0 of every message */
    c.clean = root->loc.file->errors == 0;
    c.scale_key = QC_SEM_SCALE;
    walk(&c, tops[kind], bound);
}
