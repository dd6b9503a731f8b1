/* Values with their history: from a bound field, from the schema's default,
 * or from a rule that overrides both. */
#include "resolve.h"

#include "decimal.h"

#include <string.h>

struct qc_setting qc_setting_bool(enum qc_level level, struct qc_loc loc,
                                  bool b)
{
    struct qc_setting s = {0};

    s.level = level;
    s.set = true;
    s.loc = loc;
    s.text = b ? QC_STR("true") : QC_STR("false");
    s.i = b;
    return s;
}

/* The default of the schema; a field without one has no value. */
static void read_default(struct qc_setting *s, const struct qc_field *f)
{
    const struct qc_enum_value *e;

    s->level = QC_BY_DEFAULT;
    if (!f->default_text)
        return;
    s->set = true;
    s->text = qc_str(f->default_text);
    switch (f->type) {
    case QC_BOOL:
        s->i = qc_equalz(s->text, "true");
        break;
    case QC_ENUM:
        e = qc_find_enum(f->values, s->text);
        s->i = e ? e->number : 0;
        break;
    default:
        qc_parse_double(s->text, &s->f);
        s->i = (int64_t)s->f;
        break;
    }
}

static void read_value(struct qc_setting *s, const struct qc_field *f,
                       const struct qc_value *v)
{
    s->set = true;
    s->loc = v->loc;
    s->text = v->text;
    switch (f->type) {
    case QC_BOOL:
        s->i = v->as.b;
        break;
    case QC_UINT32:
    case QC_UINT64:
        s->i = (int64_t)v->as.u;
        break;
    case QC_ENUM:
        s->i = v->as.e;
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        s->f = v->as.f;
        break;
    default:
        s->i = v->as.i;
        break;
    }
}

struct qc_setting qc_field_setting(const struct qc_message *m,
                                   const void *bound, const char *field,
                                   enum qc_level level)
{
    const struct qc_field *f = qc_find_field(m, qc_str(field));
    struct qc_setting s = {0};
    const struct qc_value *v;

    v = bound ? (const void *)((const char *)bound + f->offset) : NULL;
    s.level = level;
    if (v && v->set && !v->poisoned)
        read_value(&s, f, v);
    else
        read_default(&s, f);
    return s;
}

struct qc_setting qc_amct_setting(const struct qc_message *m, const void *bound,
                                  const char *field, enum qc_level level)
{
    struct qc_setting s = qc_field_setting(m, bound, field, level);

    s.f = qc_amct_value(s.f);
    return s;
}

struct qc_setting qc_bits_setting(const struct qc_message *m, const void *bound,
                                  const char *field, enum qc_level level)
{
    struct qc_setting s = qc_field_setting(m, bound, field, level);

    s.i = (int64_t)4 << s.i;
    return s;
}

void qc_force(struct qc *qc, struct qc_setting *s, int64_t i, const char *text,
              const char *why)
{
    struct qc_setting *old = qc_alloc(qc, sizeof(*old));

    *old = *s;
    s->level = QC_BY_RULE;
    s->set = true;
    s->text = qc_str(text);
    s->i = i;
    s->f = (double)i;
    s->why = why;
    s->was = old;
}

/* A default that overrides nothing is no history. */
static void link_setting(struct qc_setting *s, const struct qc_setting *base)
{
    if (base->set && (base->level != QC_BY_DEFAULT || base->was))
        s->was = base;
    else
        s->was = base->was;
}

void qc_link_row(struct qc_row *row, const struct qc_row *base)
{
    static const size_t at[] = {
        offsetof(struct qc_row, act_bits),
        offsetof(struct qc_row, search_range_start),
        offsetof(struct qc_row, search_range_end),
        offsetof(struct qc_row, search_step),
        offsetof(struct qc_row, max_percentile),
        offsetof(struct qc_row, min_percentile),
        offsetof(struct qc_row, num_of_bins),
        offsetof(struct qc_row, clip_max),
        offsetof(struct qc_row, clip_min),
        offsetof(struct qc_row, fixed_min),
        offsetof(struct qc_row, wts_bits),
        offsetof(struct qc_row, channel_wise),
        offsetof(struct qc_row, dmq_balancer),
    };
    size_t i;

    for (i = 0; i < sizeof(at) / sizeof(*at); i++)
        link_setting(
            (struct qc_setting *)(void *)((char *)row + at[i]),
            (const struct qc_setting *)(const void *)((const char *)base +
                                                      at[i]));
}

/* ---- what layers can do ---- */

struct qc_traits qc_traits_of_op(int op)
{
    struct qc_traits t = {0};

    if (op < 0) { /* not a quantizable type */
        t.asymmetric = true;
        return t;
    }
    t.per_channel = qc_ops[op].per_channel;
    t.asymmetric = qc_ops[op].asymmetric;
    t.act16 = qc_ops[op].act16 != 0;
    t.bits67 = qc_ops[op].bits67;
    t.fusable = qc_ops[op].fusable;
    t.balancer = qc_ops[op].balancer == 1;
    return t;
}

struct qc_traits qc_traits_of(const struct qc_resolver *r,
                              const struct qc_layer *layer)
{
    static const struct qc_traits all = {true, true, true, true,
                                         true, true, false};
    struct qc_traits t;

    if (!r->types_known)
        return all;
    t = qc_traits_of_op(layer->op);
    if (layer->op >= 0) {
        t.balancer = qc_ops[layer->op].balancer != 0;
        t.no_bias = qc_ops[layer->op].act16 == 2 && layer->bias_known &&
                    !layer->has_bias;
        t.act16 = t.act16 && !t.no_bias;
    }
    return t;
}

const char *qc_no_int4(const struct qc_layer *layer)
{
    int64_t in;

    if (layer->op < 0 || layer->op == QRT_OP_AVGPOOL)
        return NULL;
    if (layer->group > 1)
        return "a grouped layer cannot hold packed 4-bit weights";
    in = layer->op == QRT_OP_LINEAR || layer->rank == 0
             ? layer->in_channels
             : layer->shape[qc_ops[layer->op].in_axis];
    if (in > 0 && in % 2)
        return "4-bit weights are packed in pairs of input channels, and "
               "their number is odd";
    return NULL;
}

const char *qc_level_name(enum qc_level level)
{
    static const char *const names[] = {
        [QC_BY_DEFAULT] = "default",
        [QC_BY_GLOBAL] = "global",
        [QC_BY_COMMON] = "common_config",
        [QC_BY_TYPE] = "override_layer_types",
        [QC_BY_LAYER] = "layer",
        [QC_BY_GRAPH] = "graph",
        [QC_BY_RULE] = "rule",
        [QC_BY_OPTION] = "command line",
    };

    return names[level];
}
