/* quantc diff: what changed between two configurations, records, plans or
 * images, layer by layer, with the lines that did it. */
#include "diff.h"

#include "lower.h"
#include "schema_tables.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- configurations ---- */

static const struct {
    const char *name;
    size_t at;
} settings[] = {
    {"enabled",            offsetof(struct qc_row, enabled)           },
    {"act_bits",           offsetof(struct qc_row, act_bits)          },
    {"asymmetric",         offsetof(struct qc_row, asymmetric)        },
    {"search_range_start", offsetof(struct qc_row, search_range_start)},
    {"search_range_end",   offsetof(struct qc_row, search_range_end)  },
    {"search_step",        offsetof(struct qc_row, search_step)       },
    {"max_percentile",     offsetof(struct qc_row, max_percentile)    },
    {"min_percentile",     offsetof(struct qc_row, min_percentile)    },
    {"num_of_bins",        offsetof(struct qc_row, num_of_bins)       },
    {"clip_max",           offsetof(struct qc_row, clip_max)          },
    {"clip_min",           offsetof(struct qc_row, clip_min)          },
    {"fixed_min",          offsetof(struct qc_row, fixed_min)         },
    {"wts_bits",           offsetof(struct qc_row, wts_bits)          },
    {"channel_wise",       offsetof(struct qc_row, channel_wise)      },
    {"dmq_balancer",       offsetof(struct qc_row, dmq_balancer)      },
    {"fuse",               offsetof(struct qc_row, fuse)              },
};

static const struct qc_setting *setting_at(const struct qc_row *row, size_t at)
{
    return (const struct qc_setting *)(const void *)((const char *)row + at);
}

static bool same_setting(const struct qc_setting *a, const struct qc_setting *b)
{
    if (!a->set || !b->set)
        return a->set == b->set;
    return a->i == b->i && memcmp(&a->f, &b->f, sizeof(a->f)) == 0;
}

static void put_setting(struct qc_out *o, const struct qc_setting *s)
{
    if (!s->set) {
        qc_puts(o, "none");
        return;
    }
    qc_printf(o, "%.*s (", QC_ARG(s->text));
    if (s->loc.file)
        qc_printf(o, "%.*s, ", QC_ARG(qc_place(o->qc, s->loc)));
    qc_printf(o, "%s)", qc_level_name(s->level));
}

/* The name of a layer, once, above its first difference. */
struct heading {
    struct qc_out *o;
    struct qc_str name;
    bool printed;
    size_t count;
};

static void begin(struct heading *h)
{
    if (!h->printed)
        qc_printf(h->o, "%s\n", qc_shown(h->o->qc, h->name));
    h->printed = true;
    h->count++;
}

static void diff_setting(struct heading *h, const char *name,
                         const struct qc_setting *a, const struct qc_setting *b)
{
    if (same_setting(a, b))
        return;
    begin(h);
    qc_printf(h->o, "  %-18s ", name);
    put_setting(h->o, a);
    qc_puts(h->o, " -> ");
    put_setting(h->o, b);
    qc_puts(h->o, "\n");
}

static size_t diff_row(struct qc_out *o, const struct qc_row *a,
                       const struct qc_row *b)
{
    static const char *const algos[] = {"ifmr", "hfmg", "ulq_quantize"};
    struct heading h = {o, a->layer->name, false, 0};
    size_t i;

    if (a->act_algo != b->act_algo) {
        begin(&h);
        qc_printf(o, "  %-18s %s -> %s\n", "algorithm", algos[a->act_algo],
                  algos[b->act_algo]);
    }
    for (i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        const struct qc_setting *sa = setting_at(a, settings[i].at);
        const struct qc_setting *sb = setting_at(b, settings[i].at);

        /* A skipped layer differs in that, not in what it would have been. */
        if (i > 0 && (!a->enabled.i || !b->enabled.i))
            break;
        diff_setting(&h, settings[i].name, sa, sb);
    }
    return h.count;
}

size_t qc_diff_plans(struct qc_out *o, const struct qc_plan *a,
                     const struct qc_plan *b)
{
    struct heading h = {o, QC_STR("all layers"), false, 0};
    struct qc_map rows = {0};
    size_t count, i;

    diff_setting(&h, "batch_num", &a->batch_num, &b->batch_num);
    diff_setting(&h, "do_fusion", &a->do_fusion, &b->do_fusion);
    count = h.count;
    for (i = 0; i < b->count; i++)
        *qc_map_at(o->qc, &rows, b->rows[i].layer->name) = &b->rows[i];
    for (i = 0; i < a->count; i++) {
        const struct qc_row *other = qc_map_get(&rows, a->rows[i].layer->name);

        if (other)
            count += diff_row(o, &a->rows[i], other);
    }
    return count;
}

/* ---- records ---- */

enum form { FLOAT, INTEGER, BOOLEAN, WORD };

static bool same_value(enum form form, const struct qc_value *a,
                       const struct qc_value *b)
{
    if (!a->set || !b->set)
        return a->set == b->set;
    return qc_equal(a->text, b->text) ||
           (form == FLOAT     ? qc_bits_of(a->as.f) == qc_bits_of(b->as.f)
            : form == INTEGER ? a->as.i == b->as.i
            : form == BOOLEAN ? a->as.b == b->as.b
                              : false);
}

static const char *value_words(struct qc *qc, const struct qc_value *v)
{
    return v->set ? qc_format(qc, "%s (%.*s)", qc_shown(qc, v->text),
                              QC_ARG(qc_place(qc, v->loc)))
                        .ptr
                  : "not given";
}

static void diff_value(struct heading *h, enum form form, const char *label,
                       const struct qc_value *a, const struct qc_value *b)
{
    struct qc *qc = h->o->qc;

    if (same_value(form, a, b))
        return;
    begin(h);
    qc_printf(h->o, "  %-18s %s -> %s\n", label, value_words(qc, a),
              value_words(qc, b));
}

static void diff_values(struct heading *h, enum form form, const char *name,
                        const struct qc_values *a, const struct qc_values *b)
{
    char label[48];
    size_t i;

    if (a->count != b->count) {
        begin(h);
        qc_printf(h->o, "  %-18s %zu value%s -> %zu value%s\n", name, a->count,
                  a->count == 1 ? "" : "s", b->count, b->count == 1 ? "" : "s");
        return;
    }
    for (i = 0; i < a->count; i++) {
        if (a->count > 1)
            snprintf(label, sizeof(label), "%s[%zu]", name, i);
        else
            snprintf(label, sizeof(label), "%s", name);
        diff_value(h, form, label, &a->at[i], &b->at[i]);
    }
}

#define ENTRY(member) #member, offsetof(struct SingleLayerRecord, member)

/* Everything that quantc reads of an entry. */
static const struct {
    const char *name;
    size_t at;
    enum form form;
    bool list;
} entry_fields[] = {
    {ENTRY(scale_d),               FLOAT,   false},
    {ENTRY(offset_d),              INTEGER, false},
    {ENTRY(scale_w),               FLOAT,   true },
    {ENTRY(offset_w),              INTEGER, true },
    {ENTRY(act_type),              WORD,    false},
    {ENTRY(wts_type),              WORD,    false},
    {ENTRY(dst_type),              WORD,    false},
    {ENTRY(skip_fusion),           BOOLEAN, false},
    {ENTRY(shift_bit),             INTEGER, true },
    {ENTRY(tensor_balance_factor), FLOAT,   true },
};

static void diff_entry(struct heading *h, const struct SingleLayerRecord *a,
                       const struct SingleLayerRecord *b)
{
    size_t i;

    for (i = 0; i < sizeof(entry_fields) / sizeof(*entry_fields); i++) {
        const void *va = (const char *)a + entry_fields[i].at;
        const void *vb = (const char *)b + entry_fields[i].at;

        if (entry_fields[i].list)
            diff_values(h, entry_fields[i].form, entry_fields[i].name, va, vb);
        else
            diff_value(h, entry_fields[i].form, entry_fields[i].name, va, vb);
    }
}

static void diff_only(struct qc_out *o, struct qc_str name, const char *where)
{
    qc_printf(o, "%s\n  only in %s\n", qc_shown(o->qc, name), where);
}

size_t qc_diff_records(struct qc_out *o, const struct qc_doc *a,
                       const struct qc_doc *b)
{
    const struct ScaleOffsetRecord *ra = a->bound, *rb = b->bound;
    struct qc_map entries = {0}, seen = {0};
    size_t count = 0, i;

    for (i = 0; i < rb->record.count; i++)
        *qc_map_at(o->qc, &entries, rb->record.at[i].key.text) =
            &rb->record.at[i];
    for (i = 0; i < ra->record.count; i++) {
        struct qc_str key = ra->record.at[i].key.text;
        const struct SingleLayerRecord *va = ra->record.at[i].value, *vb;
        const struct MapFiledEntry *other = qc_map_get(&entries, key);
        struct heading h = {o, key, false, 0};

        *qc_map_at(o->qc, &seen, key) = &ra->record.at[i];
        if (!other) {
            diff_only(o, key, a->file->name);
            count++;
            continue;
        }
        vb = other->value;
        if (!va || !vb)
            continue;
        diff_entry(&h, va, vb);
        count += h.count;
    }
    for (i = 0; i < rb->record.count; i++) {
        if (qc_map_get(&seen, rb->record.at[i].key.text))
            continue;
        diff_only(o, rb->record.at[i].key.text, b->file->name);
        count++;
    }
    return count;
}

/* ---- text against text: images through show, plans as JSON trees ---- */

static struct qc_str line_at(const struct qc_out *o, size_t *at)
{
    struct qc_str s = {o->text + *at, 0};

    while (*at + s.len < o->size && s.ptr[s.len] != '\n')
        s.len++;
    *at += s.len + (*at + s.len < o->size);
    return s;
}

/* Lines of a text by "layer, what": what stands first on the line. */
static void index_lines(struct qc *qc, const struct qc_out *o,
                        struct qc_map *map)
{
    struct qc_str layer = QC_STR("image");
    size_t at = 0;

    while (at < o->size) {
        struct qc_str line = line_at(o, &at), *copy, key;
        size_t n = 2;

        if (line.len && line.ptr[0] != ' ')
            layer = line;
        if (line.len < 3 || line.ptr[0] != ' ')
            continue;
        while (n < line.len && line.ptr[n] != ' ')
            n++;
        key = qc_format(qc, "%.*s\n%.*s", QC_ARG(layer), (int)n, line.ptr);
        copy = qc_alloc(qc, sizeof(*copy));
        *copy = line;
        *qc_map_at(qc, map, key) = copy;
    }
}

struct side {
    const struct qc_out *text;
    const struct qc_map *origins; /* by the keys of the lines; or null */
};

static void put_line(struct qc_out *o, char mark, struct qc_str line,
                     const struct side *side, struct qc_str key)
{
    const struct qc_str *origin =
        side->origins ? qc_map_get(side->origins, key) : NULL;

    qc_printf(o, "%c%.*s", mark, QC_ARG(line));
    if (origin && origin->len)
        qc_printf(o, " (%.*s)", QC_ARG(*origin));
    qc_puts(o, "\n");
}

/* The next word of a line; empty at its end. */
static struct qc_str next_word(struct qc_str line, size_t *at)
{
    struct qc_str w;

    while (*at < line.len && line.ptr[*at] == ' ')
        ++*at;
    w.ptr = line.ptr + *at;
    for (w.len = 0; *at < line.len && line.ptr[*at] != ' '; ++*at)
        w.len++;
    return w;
}

/* Of lists of numbers with as many words the words that differ, unless these
 * are so many that the lines say it better. 0: print the lines. */
#define FEW_WORDS 8u
static size_t few_words(struct qc_str a, struct qc_str b)
{
    size_t ia = 0, ib = 0, words = 0, differ = 0;
    struct qc_str wa, wb;

    next_word(a, &ia);
    next_word(b, &ib);
    do {
        wa = next_word(a, &ia);
        wb = next_word(b, &ib);
        if (wa.len && strspn(wa.ptr, "0123456789ABCDEFe+-.") < wa.len)
            return 0;
        words += wa.len > 0;
        differ += !qc_equal(wa, wb);
    } while (wa.len && wb.len);
    return wa.len == wb.len && words > 1 && differ <= FEW_WORDS ? differ : 0;
}

/* "-  scale_w[3]   0.5 (record.txt:9)", and the other one. */
static void put_word(struct qc_out *o, char mark, struct qc_str word,
                     const struct side *side, struct qc_str key, size_t index)
{
    struct qc_str at = qc_format(o->qc, "%.*s[%zu]", QC_ARG(key), index), name;
    const char *line = memchr(at.ptr, '\n', at.len);

    name = (struct qc_str){line + 1, (size_t)(qc_end(at) - line) - 1};
    put_line(o, mark,
             qc_format(o->qc, "%-14s %.*s", qc_cstr(o->qc, name), QC_ARG(word)),
             side, side->origins && qc_map_get(side->origins, at) ? at : key);
}

static void put_words(struct qc_out *o, struct qc_str a, const struct side *sa,
                      struct qc_str b, const struct side *sb, struct qc_str key)
{
    size_t ia = 0, ib = 0, i = 0;
    struct qc_str wa, wb;

    next_word(a, &ia);
    next_word(b, &ib);
    for (wa = next_word(a, &ia); wa.len; wa = next_word(a, &ia), i++) {
        wb = next_word(b, &ib);
        if (qc_equal(wa, wb))
            continue;
        put_word(o, '-', wa, sa, key, i);
        put_word(o, '+', wb, sb, key, i);
    }
}

/* Lines of `a` that b has not, and where `changes` those it has otherwise. */
static size_t diff_lines(struct qc_out *o, const struct side *a,
                         const struct qc_map *in_b, const struct side *b,
                         char mark, bool changes)
{
    struct heading h = {o, QC_STR("image"), false, 0};
    size_t at = 0, count = 0;

    while (at < a->text->size) {
        struct qc_str line = line_at(a->text, &at), key;
        const struct qc_str *other;
        size_t n = 2;

        if (line.len && line.ptr[0] != ' ')
            h = (struct heading){o, line, false, 0};
        if (line.len < 3 || line.ptr[0] != ' ')
            continue;
        while (n < line.len && line.ptr[n] != ' ')
            n++;
        key = qc_format(o->qc, "%.*s\n%.*s", QC_ARG(h.name), (int)n, line.ptr);
        other = qc_map_get(in_b, key);
        if (other && (!changes || qc_equal(*other, line)))
            continue;
        begin(&h);
        count++;
        if (other && few_words(line, *other)) {
            put_words(o, line, a, *other, b, key);
            continue;
        }
        put_line(o, mark, line, a, key);
        if (other)
            put_line(o, '+', *other, b, key);
    }
    return count;
}

/* Two texts and what decided their lines; either may be null. */
static size_t diff_texts(struct qc_out *o, const struct side *a,
                         const struct side *b)
{
    struct qc_map ia = {0}, ib = {0};

    index_lines(o->qc, a->text, &ia);
    index_lines(o->qc, b->text, &ib);
    return diff_lines(o, a, &ib, b, '-', true) +
           diff_lines(o, b, &ia, a, '+', false);
}

size_t qc_diff_texts(struct qc_out *o, const struct qc_out *a,
                     const struct qc_out *b)
{
    struct side sa = {a, NULL}, sb = {b, NULL};

    return diff_texts(o, &sa, &sb);
}

/* --no-words leaves them out of tables and images, not of a plan. */
static bool has_words(const struct qc_shown_plan *p)
{
    uint32_t i;

    for (i = 0; i < p->tables.layer_count; i++) {
        const struct qrt_factors *f = p->tables.layers[i].factors;

        if (f && f->word_dequant)
            return true;
    }
    return false;
}

size_t qc_diff_shown(struct qc_out *o, struct qc_shown_plan *a,
                     struct qc_shown_plan *b)
{
    struct qc_out *ta = qc_out_new(o->qc, NULL), *tb = qc_out_new(o->qc, NULL);
    struct side sa = {ta, &a->origins}, sb = {tb, &b->origins};

    if (!a->weights || !b->weights)
        a->weights = b->weights = NULL;
    a->no_words = b->no_words =
        (a->is_plan && !has_words(b)) || (b->is_plan && !has_words(a));
    qc_show(ta, a);
    qc_show(tb, b);
    return diff_texts(o, &sa, &sb);
}

/* Scalars below a node, as "  path  value". */
static void put_paths(struct qc_out *o, const struct qc_node *n,
                      struct qc_str path, unsigned depth)
{
    const struct qc_node *c;
    size_t i = 0;

    if (n->kind != QC_GROUP && n->kind != QC_LIST) {
        qc_printf(o, "  %.*s  %.*s\n", QC_ARG(path), QC_ARG(n->text));
        return;
    }
    for (c = n->first; c && depth < QC_MAX_DEPTH; c = c->next, i++) {
        struct qc_str below =
            n->kind == QC_LIST
                ? qc_format(o->qc, "%.*s[%zu]", QC_ARG(path), i)
                : qc_format(o->qc, "%.*s%s%.*s", QC_ARG(path),
                            path.len ? "." : "", QC_ARG(c->name));

        if (!qc_equalz(c->name, "layers"))
            put_paths(o, c, below, depth + 1);
    }
}

bool qc_plan_text(struct qc_out *o, const struct qc_doc *plan)
{
    const struct qc_node *layers, *l, *name;

    if (!plan->root || plan->root->kind != QC_GROUP)
        return false;
    layers = qc_child(plan->root, "layers");
    if (!layers || layers->kind != QC_LIST ||
        !qc_child(plan->root, "generator"))
        return false;
    qc_puts(o, "plan\n");
    put_paths(o, plan->root, (struct qc_str){"", 0}, 0);
    for (l = layers->first; l; l = l->next) {
        name = l->kind == QC_GROUP ? qc_child(l, "name") : NULL;
        if (!name)
            return false;
        qc_printf(o, "%s\n", qc_shown(o->qc, name->text));
        put_paths(o, l, (struct qc_str){"", 0}, 0);
    }
    return true;
}
