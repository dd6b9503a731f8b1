/* record.txt against a model and a configuration: which layers have factors,
 * whether there are as many as channels, and whether they were made with the
 * configuration at hand. */
#include "resolve.h"

#include "decimal.h"

#include <string.h>

/* Shared by the functions that look at one entry. */
struct entry {
    struct qc_resolver *r;
    const struct MapFiledEntry *e;
    const struct SingleLayerRecord *v;
    const struct qc_layer *layer;
    const char *name; /* quoted */
};

/* ---- which layer ---- */

/* "conv1:0" names an input tensor of conv1 in other editions. */
static const struct qc_layer *tensor_of(const struct qc_resolver *r,
                                        struct qc_str key)
{
    size_t n = key.len;

    while (n && key.ptr[n - 1] >= '0' && key.ptr[n - 1] <= '9')
        n--;
    if (n == key.len || n < 2 || key.ptr[n - 1] != ':')
        return NULL;
    return qc_find_layer(r->m, (struct qc_str){key.ptr, n - 1});
}

static bool find_layer(struct entry *x)
{
    const struct qc_value *key = &x->e->key;
    const struct qc_layer *tensor;

    if (!key->set || key->poisoned)
        return false;
    x->name = qc_quoted(x->r->qc, key->loc.file, key->text);
    if (!qc_find_layer(x->r->m, key->text) &&
        (tensor = tensor_of(x->r, key->text)) != NULL) {
        qc_report(x->r->qc, QC_RES_RECORD_TENSOR, key->loc,
                  "%s is an input of the layer '%s': its factors are not used",
                  x->name, qc_shown(x->r->qc, tensor->name));
        return false;
    }
    x->layer = qc_want_layer(x->r, key);
    if (!x->layer)
        return false;
    if (x->layer->quantizable)
        return true;
    qc_report(x->r->qc, QC_RES_UNSUPPORTED_LAYER, key->loc,
              "the layer %s cannot be quantized%s%s",
              qc_layer_words(x->r->qc, key->loc.file, x->layer),
              x->layer->why_not ? ": " : "",
              x->layer->why_not ? x->layer->why_not : "");
    return false;
}

/* ---- what it holds ---- */

static bool all_zero(const struct qc_values *v, bool is_float)
{
    size_t i;

    for (i = 0; i < v->count; i++)
        if (is_float ? v->at[i].as.f < 0 || v->at[i].as.f > 0
                     : v->at[i].as.i != 0)
            return false;
    return true;
}

/* Nothing, or nothing but zeros: AMCT passes over such an entry. */
static bool holds_nothing(const struct SingleLayerRecord *v)
{
    bool scale = v->scale_d.set && (v->scale_d.poisoned ||
                                    v->scale_d.as.f > 0 || v->scale_d.as.f < 0);
    bool offset = v->offset_d.set && v->offset_d.as.i != 0;

    return !scale && !offset && all_zero(&v->scale_w, true) &&
           all_zero(&v->offset_w, false) && !v->tensor_balance_factor.count;
}

static bool is_complete(const struct entry *x)
{
    const struct {
        const char *name;
        bool there;
    } need[] = {
        {"scale_d",  x->v->scale_d.set        },
        {"offset_d", x->v->offset_d.set       },
        {"scale_w",  x->v->scale_w.count != 0 },
        {"offset_w", x->v->offset_w.count != 0},
    };
    const char *missing = NULL;
    size_t i;

    for (i = 0; i < sizeof(need) / sizeof(*need); i++)
        if (!need[i].there)
            missing =
                missing
                    ? qc_format(x->r->qc, "%s, '%s'", missing, need[i].name).ptr
                    : qc_format(x->r->qc, "'%s'", need[i].name).ptr;
    if (!missing)
        return true;
    qc_report(x->r->qc, QC_RES_INCOMPLETE_RECORD, x->v->node->name_loc,
              "the entry of layer %s lacks %s", x->name, missing);
    return false;
}

static bool is_poisoned(const struct SingleLayerRecord *v)
{
    size_t i;

    for (i = 0; i < v->scale_w.count; i++)
        if (v->scale_w.at[i].poisoned)
            return true;
    for (i = 0; i < v->offset_w.count; i++)
        if (v->offset_w.at[i].poisoned)
            return true;
    return v->scale_d.poisoned || v->offset_d.poisoned;
}

/* One scale, or one for each output channel. */
static bool count_fits(const struct entry *x)
{
    size_t n = x->v->scale_w.count;
    int64_t channels = x->layer->out_channels;

    if (n != x->v->offset_w.count)
        return false; /* a fault of the file alone, reported */
    if (n == 1)
        return true;
    if (!qc_traits_of(x->r, x->layer).per_channel) {
        qc_report(x->r->qc, QC_RES_COUNT_MISMATCH, x->v->scale_w.at[0].loc,
                  "layer %s has one scale for all weights, the record gives "
                  "%zu 'scale_w'",
                  x->name, n);
        return false;
    }
    if (channels == 0 || (uint64_t)channels == n)
        return true;
    qc_report(x->r->qc, QC_RES_COUNT_MISMATCH, x->v->scale_w.at[0].loc,
              "layer %s has %lld output channels, the record gives %zu "
              "'scale_w'",
              x->name, (long long)channels, n);
    return false;
}

#define BALANCE_LOW  1.1920928955078125e-07 /* 2^-23 */
#define BALANCE_HIGH 8388608.0              /* 2^23  */

static void check_balance(const struct entry *x)
{
    const struct qc_values *b = &x->v->tensor_balance_factor;
    int64_t in = x->layer->in_channels;
    size_t i;

    if (!b->count)
        return;
    if (!qc_traits_of(x->r, x->layer).balancer) {
        qc_report(x->r->qc, QC_RES_BALANCE_FACTOR, b->at[0].loc,
                  "layer %s cannot have 'tensor_balance_factor'", x->name);
        return;
    }
    if (in > 0 && (uint64_t)in != b->count)
        qc_report(x->r->qc, QC_RES_COUNT_MISMATCH, b->at[0].loc,
                  "layer %s has %lld input channels, the record gives %zu "
                  "'tensor_balance_factor'",
                  x->name, (long long)in, b->count);
    for (i = 0; i < b->count; i++) {
        if (b->at[i].poisoned ||
            (b->at[i].as.f >= BALANCE_LOW && b->at[i].as.f <= BALANCE_HIGH))
            continue;
        qc_report(x->r->qc, QC_RES_BALANCE_FACTOR, b->at[i].loc,
                  "'tensor_balance_factor' (%.*s) of layer %s must be from "
                  "2^-23 to 2^23",
                  QC_ARG(b->at[i].text), x->name);
        return;
    }
}

/* ---- values that deserve a look ---- */

static void check_scale(const struct entry *x, const struct qc_value *v,
                        const char *field)
{
    /* What AMCT's writer keeps to is wider than what 32-bit arithmetic likes. */
    bool wide = x->r->qc->amct;
    double low = wide ? 2.220446049250313e-16 : BALANCE_LOW;
    double high = wide ? 4503599627370496.0 : BALANCE_HIGH;

    if (v->poisoned || (v->as.f >= low && v->as.f <= high))
        return;
    qc_report(x->r->qc, QC_RES_SCALE_RANGE, v->loc,
              "'%s' (%.*s) of layer %s is outside 2^-%d to 2^%d", field,
              QC_ARG(v->text), x->name, wide ? 52 : 23, wide ? 52 : 23);
}

static bool is_one(const struct qc_value *v)
{
    return qc_f32_bits(v->as.f) == 0x3F800000u;
}

static void check_dead_channels(const struct entry *x)
{
    const struct qc_values *w = &x->v->scale_w;
    const char *list = NULL;
    size_t dead = 0, first = 0, i;

    for (i = 0; i < w->count; i++) {
        if (!is_one(&w->at[i]))
            continue;
        first = dead ? first : i;
        if (dead++ < 8)
            list = list ? qc_format(x->r->qc, "%s, %zu", list, i).ptr
                        : qc_format(x->r->qc, "%zu", i).ptr;
    }
    if (!dead)
        return;
    qc_report(x->r->qc, QC_RES_DEAD_CHANNEL, w->at[first].loc,
              w->count == 1
                  ? "'scale_w' of layer %s is 1, as for weights that are all 0"
                  : "'scale_w' of layer %s is 1 for the channels %s%s, as for "
                    "weights that are all 0",
              x->name, list, dead > 8 ? " ..." : "");
}

static void check_dead_input(const struct entry *x)
{
    int64_t offset = x->v->offset_d.as.i;

    if (is_one(&x->v->scale_d) &&
        (offset == 0 || offset == -128 || offset == -32768))
        qc_report(x->r->qc, QC_RES_DEAD_CHANNEL, x->v->scale_d.loc,
                  "'scale_d' of layer %s is 1, as for an input that is all 0",
                  x->name);
}

static void look_at_values(const struct entry *x)
{
    size_t i;

    check_scale(x, &x->v->scale_d, "scale_d");
    for (i = 0; i < x->v->scale_w.count; i++)
        check_scale(x, &x->v->scale_w.at[i], "scale_w");
    if (x->layer->op != QRT_OP_AVGPOOL)
        check_dead_channels(x);
    check_dead_input(x);
}

/* ---- entries ---- */

/* Room for the factors of a layer. A second entry takes the first one's place:
 * two of one spelling are a fault of the file alone, which AMCT forgives. */
static struct qc_factors *factors_of(const struct entry *x,
                                     struct qc_factors **slot)
{
    struct qc_plan *p = x->r->plan;
    struct qc_diag *d;

    if (!*slot) {
        *slot = &p->factors[p->factor_count++];
    } else if (!qc_equal((*slot)->key, x->e->key.text)) {
        d = qc_report(x->r->qc, QC_RES_SAME_LAYER, x->e->key.loc,
                      "%s is another name of a layer that has an entry",
                      x->name);
        qc_note(x->r->qc, d, (*slot)->key_loc, "the first one");
    }
    return *slot;
}

static void keep_from_fusion(const struct entry *x)
{
    struct qc_plan *p = x->r->plan;
    const struct qc_value *v = &x->v->skip_fusion;

    if (!v->set || v->poisoned || !v->as.b ||
        !qc_traits_of(x->r, x->layer).fusable)
        return;
    x->r->skip_fusion[x->layer - x->r->m->layers] = v;
    p->record_skip_fusion[p->record_skip_fusion_count++] = &x->e->key;
}

static void read_entry(struct entry *x, struct qc_factors **slots)
{
    struct qc_factors *f;

    if (!find_layer(x))
        return;
    if (!x->v) {
        qc_report(x->r->qc, QC_RES_INCOMPLETE_RECORD, x->e->node->name_loc,
                  "the entry of layer %s has no 'value'", x->name);
        return;
    }
    keep_from_fusion(x);
    if (holds_nothing(x->v) || !is_complete(x) || is_poisoned(x->v))
        return;
    check_balance(x);
    if (!count_fits(x))
        return;
    look_at_values(x);
    f = factors_of(x, &slots[x->layer - x->r->m->layers]);
    f->layer = x->layer;
    f->value = x->v;
    f->node = x->e->node;
    f->key = x->e->key.text;
    f->key_loc = x->e->key.loc;
    f->scale_d = &x->v->scale_d;
    f->offset_d = &x->v->offset_d;
    f->scale_w = x->v->scale_w.at;
    f->offset_w = x->v->offset_w.at;
    f->count_w = x->v->scale_w.count;
}

void qc_read_record(struct qc_resolver *r, const struct ScaleOffsetRecord *rec)
{
    struct qc_plan *p = r->plan;
    struct qc_factors **slots =
        qc_alloc(r->qc, (r->m->count + 1) * sizeof(struct qc_factors *));
    size_t n = rec->record.count, i;

    p->factors = qc_alloc(r->qc, (n + 1) * sizeof(*p->factors));
    p->record_skip_fusion =
        qc_alloc(r->qc, (n + 1) * sizeof(*p->record_skip_fusion));
    for (i = 0; i < n; i++) {
        struct entry x = {r, &rec->record.at[i], rec->record.at[i].value, NULL,
                          NULL};

        read_entry(&x, slots);
    }
    if (n == 0 && r->clean)
        qc_report(r->qc, QC_RES_EMPTY_RECORD, (struct qc_loc){p->record, 0, 0},
                  "the record has no entry");
}

/* ---- a record and a configuration ---- */

static int64_t bits_of(const struct qc_value *word)
{
    static const struct {
        const char *name;
        int64_t bits;
    } words[] = {
        {"INT4",  4 },
        {"INT6",  6 },
        {"INT7",  7 },
        {"INT8",  8 },
        {"INT16", 16}
    };
    size_t i;

    for (i = 0; word->set && i < sizeof(words) / sizeof(*words); i++)
        if (qc_equalz(word->text, words[i].name))
            return words[i].bits;
    return 8; /* left out */
}

static void note_setting(struct qc_resolver *r, struct qc_diag *d,
                         const struct qc_row *row, const struct qc_setting *s)
{
    const struct qc_setting *from = s->loc.file || !s->was ? s : s->was;

    if (from->loc.file)
        qc_note(r->qc, d, from->loc, "the configuration says so here");
    else if (row->loc.file)
        qc_note(r->qc, d, row->loc, "this decides the layer, by default");
    qc_help(r->qc, d,
            "calibrate again, or use the configuration that the "
            "record was made with");
}

/* Without types, the default of channel_wise is a guess, and what
 * common_config asks may be withdrawn for this layer's type: the record
 * knows. */
static bool was_guessed(const struct qc_resolver *r, const struct qc_row *row)
{
    return !r->types_known && (row->channel_wise.level == QC_BY_DEFAULT ||
                               row->channel_wise.level == QC_BY_COMMON);
}

static void compare_count(struct qc_resolver *r, struct qc_row *row,
                          const struct qc_factors *f, bool configured)
{
    struct qc_setting *c = &row->channel_wise;
    bool has = f->count_w > 1;
    const char *name;
    struct qc_diag *d;

    if (was_guessed(r, row)) {
        *c = qc_setting_bool(QC_BY_RULE, f->scale_w[0].loc, has);
        c->why = "as the record has it";
        return;
    }
    if (has == (c->i != 0) || (!has && row->layer->out_channels == 1))
        return;
    name = qc_quoted(r->qc, f->key_loc.file, row->layer->name);
    if (configured) {
        d = has ? qc_report(r->qc, QC_RES_STALE_RECORD, f->scale_w[0].loc,
                            "the record has %zu 'scale_w' for layer %s, the "
                            "configuration wants one",
                            f->count_w, name)
                : qc_report(r->qc, QC_RES_STALE_RECORD, f->scale_w[0].loc,
                            "the record has one 'scale_w' for layer %s, the "
                            "configuration wants one for each channel",
                            name);
        note_setting(r, d, row, c);
    }
    qc_force(r->qc, c, has, has ? "true" : "false", "as the record has it");
}

static void compare_bits(struct qc_resolver *r, struct qc_row *row,
                         struct qc_setting *s, const struct qc_value *word,
                         const struct qc_factors *f, const char *what)
{
    int64_t bits = bits_of(word);
    struct qc_diag *d;

    if (s->i == bits)
        return;
    d = qc_report(
        r->qc, QC_RES_STALE_RECORD, word->set ? word->loc : f->key_loc,
        "the record holds %d-bit %s for layer %s, the configuration "
        "wants %d bits",
        (int)bits, what, qc_quoted(r->qc, f->key_loc.file, row->layer->name),
        (int)s->i);
    note_setting(r, d, row, s);
    qc_force(r->qc, s, bits, qc_format(r->qc, "%d", (int)bits).ptr,
             "as the record has it");
}

static void compare(struct qc_resolver *r, struct qc_row *row,
                    const struct qc_factors *f, bool configured)
{
    struct qc_diag *d;

    compare_count(r, row, f, configured);
    if (!configured)
        return;
    compare_bits(r, row, &row->act_bits, &f->value->act_type, f, "activations");
    compare_bits(r, row, &row->wts_bits,
                 f->value->wts_type.set ? &f->value->wts_type
                                        : &f->value->dst_type,
                 f, "weights");
    if (r->retrain || row->asymmetric.i || f->offset_d->as.i == 0)
        return;
    d = qc_report(r->qc, QC_RES_STALE_OFFSET, f->offset_d->loc,
                  "layer %s has the offset %.*s, but its activations are "
                  "symmetric",
                  qc_quoted(r->qc, f->key_loc.file, row->layer->name),
                  QC_ARG(f->offset_d->text));
    note_setting(r, d, row, &row->asymmetric);
}

static void report_missing(struct qc_resolver *r,
                           const struct qc_layers_hit *missing)
{
    const struct qc_file *f = r->plan->record ? r->plan->record : r->file;
    struct qc_loc whole = {f, 0, 0};

    if (!missing->count || f->errors)
        return;
    if (r->plan->record)
        qc_report(r->qc, QC_RES_NOT_CALIBRATED, whole,
                  "no factors for %zu layer%s that %s quantized: %s",
                  missing->count, missing->count == 1 ? "" : "s",
                  missing->count == 1 ? "is" : "are",
                  qc_hit_names(r->qc, f, missing));
    else if (r->qc->severity[QC_RES_NOT_CALIBRATED] >= QC_ERROR)
        qc_report(r->qc, QC_RES_NOT_CALIBRATED, whole,
                  "factors are required, and no record is given");
}

void qc_attach_record(struct qc_resolver *r, bool configured)
{
    struct qc_plan *p = r->plan;
    const struct qc_factors **of =
        qc_alloc(r->qc, (r->m->count + 1) * sizeof(struct qc_factors *));
    struct qc_layers_hit missing = {NULL, 0, 0};
    size_t i;

    for (i = 0; i < p->factor_count; i++)
        of[p->factors[i].layer - r->m->layers] = &p->factors[i];
    qc_compare_origin(r, of, configured);
    for (i = 0; i < p->count; i++) {
        struct qc_row *row = &p->rows[i];
        const struct qc_factors *f = of[row->layer - r->m->layers];

        if (!f && row->enabled.i)
            qc_hit(r->qc, &missing, row->layer);
        if (!f)
            continue;
        if (!row->enabled.i) {
            struct qc_diag *d =
                qc_report(r->qc, QC_RES_RECORD_UNUSED, f->key_loc,
                          "layer %s is not quantized: its factors are not used",
                          qc_quoted(r->qc, f->key_loc.file, row->layer->name));

            if (row->enabled.loc.file)
                qc_note(r->qc, d, row->enabled.loc, "disabled here");
            continue;
        }
        compare(r, row, f, configured);
        row->factors = f;
    }
    report_missing(r, &missing);
}
