/* Floats to integers: candidate tables, mantissas and exponents, dequant
 * words and requantization edges. Every number that a kernel could also
 * derive on the device comes from the runtime's own functions. */
#include "lower.h"

#include "qrt.h"

#include <float.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "binary32 and binary64 need exact arithmetic: add -msse2 -mfpmath=sse"
#endif

#define RATIOS_MAX 65535u

uint32_t qc_bits_of(double v)
{
    float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static uint64_t bits64(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

/* Half a byte at a time: table[i] is i shifted through the polynomial. */
uint32_t qc_crc32_add(uint32_t crc, struct qc_str s)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    size_t i;

    crc = ~crc;
    for (i = 0; i < s.len; i++) {
        crc ^= (unsigned char)s.ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t qc_crc32(struct qc_str s)
{
    return qc_crc32_add(0, s);
}

/* ---- recipes ---- */

/* A name for the block of a row: after what decided it. */
static struct qc_str block_name(struct qc *qc, const struct qc_row *row)
{
    switch (row->level) {
    case QC_BY_COMMON:
    case QC_BY_GLOBAL:
        return QC_STR("common");
    case QC_BY_TYPE:
        return qc_str(qc_ops[row->layer->op].canonical);
    case QC_BY_LAYER:
        return qc_ident(qc, 12, row->layer->name);
    default:
        return QC_STR("default");
    }
}

static struct qc_str free_name(struct qc *qc, struct qc_blocks *set,
                               struct qc_str name)
{
    struct qc_str s = name;
    unsigned n = 1;

    while (*qc_map_at(qc, &set->by_name, s))
        s = qc_format(qc, "%.*s_%u", QC_ARG(name), ++n);
    return s;
}

/* The block with these values (key: their bytes), new or shared. */
static struct qc_block_of *share(struct qc *qc, struct qc_blocks *set,
                                 const struct qc_row *row, struct qc_str key)
{
    void **slot = qc_map_at(qc, &set->by_value, key);
    struct qc_block_of *b = *slot;

    if (!b) {
        b = qc_alloc(qc, sizeof(*b));
        b->name = free_name(qc, set, block_name(qc, row));
        *qc_map_at(qc, &set->by_name, b->name) = b;
        b->row = row;
        if (!set->end)
            set->end = &set->first;
        *set->end = b;
        set->end = &b->next;
        *slot = b;
    }
    b->users++;
    return b;
}

static const struct qc_block_of *lower_arq(struct qc *qc, struct qc_tables *t,
                                           const struct qc_row *row)
{
    struct qc_block_of *b;
    struct qrt_arq a = {0};

    a.bits = (uint8_t)row->wts_bits.i;
    a.per_channel = row->channel_wise.i != 0;
    a.algo = row->wts_algo == QC_ARQ_RETRAIN   ? QRT_ARQ_RETRAIN
             : row->wts_algo == QC_ULQ_RETRAIN ? QRT_ARQ_ULQ_SCALE
                                               : QRT_ARQ_POST;
    b = share(qc, &t->arq, row,
              qc_format(qc, "%u,%u,%u", a.bits, a.per_channel, a.algo));
    b->as.arq = a;
    return b;
}

/* ceil((end - start) / step) in binary64, as numpy and torch count. */
static double ratio_count(const struct qc_row *row)
{
    double q = (row->search_range_end.f - row->search_range_start.f) /
               row->search_step.f;
    double whole;

    if (!(q <= RATIOS_MAX))
        return q;
    whole = (double)(uint32_t)q;
    return q > whole ? whole + 1 : whole;
}

static size_t ratio_table(struct qc *qc, struct qc_tables *t,
                          const struct qc_row *row, uint32_t count,
                          struct qc_map *seen, size_t *room)
{
    struct qc_str key = qc_format(
        qc, "%llx,%llx,%u",
        (unsigned long long)bits64(row->search_range_start.f),
        (unsigned long long)bits64(row->search_step.f), (unsigned)count);
    void **slot = qc_map_at(qc, seen, key);
    struct qc_ratios *r;
    uint32_t i;

    if (*slot)
        return (size_t)((uintptr_t)*slot - 1);
    t->ratios =
        qc_grow(qc, t->ratios, t->ratio_count, room, sizeof(*t->ratios));
    r = &t->ratios[t->ratio_count++];
    r->row = row;
    r->count = count;
    r->bits = qc_alloc(qc, count * sizeof(*r->bits));
    for (i = 0; i < count; i++)
        r->bits[i] = qc_bits_of(row->search_range_start.f +
                                (double)i * row->search_step.f);
    *slot = (void *)(uintptr_t)t->ratio_count;
    return t->ratio_count - 1;
}

struct ratio_cache {
    struct qc_map seen;
    size_t room;
};

/* The first of the three that somebody wrote. */
static struct qc_loc place_of_search(const struct qc_row *row)
{
    return row->search_step.loc.file        ? row->search_step.loc
           : row->search_range_end.loc.file ? row->search_range_end.loc
                                            : row->search_range_start.loc;
}

static const struct qc_block_of *lower_ifmr(struct qc *qc, struct qc_tables *t,
                                            const struct qc_row *row,
                                            struct ratio_cache *cache)
{
    double count = ratio_count(row);
    struct qc_block_of *b;
    size_t table;

    if (!(count >= 1 && count <= RATIOS_MAX)) {
        qc_report(qc, QC_LIM_CANDIDATES, place_of_search(row),
                  "'search_step' %.*s makes more than %u candidates between "
                  "%.*s and %.*s",
                  QC_ARG(row->search_step.text), RATIOS_MAX,
                  QC_ARG(row->search_range_start.text),
                  QC_ARG(row->search_range_end.text));
        return NULL;
    }
    table =
        ratio_table(qc, t, row, (uint32_t)count, &cache->seen, &cache->room);
    b = share(qc, &t->ifmr, row,
              qc_format(qc, "%zu,%llx,%llx", table,
                        (unsigned long long)bits64(row->max_percentile.f),
                        (unsigned long long)bits64(row->min_percentile.f)));
    b->ratio_table = table;
    b->as.ifmr.ratio_count = (uint32_t)count;
    b->as.ifmr.max_percentile = bits64(row->max_percentile.f);
    b->as.ifmr.min_percentile = bits64(row->min_percentile.f);
    return b;
}

static const struct qc_block_of *lower_hfmg(struct qc *qc, struct qc_tables *t,
                                            const struct qc_row *row)
{
    uint32_t bins = (uint32_t)row->num_of_bins.i;
    struct qc_block_of *b =
        share(qc, &t->hfmg, row, qc_format(qc, "%u", (unsigned)bins));

    b->as.hfmg.bins = bins;
    return b;
}

/* A clip limit as the kernels hold it: the binary32 behind the text. */
static struct qrt_real clip_real(const struct qc_setting *s)
{
    struct qrt_real r = {0, 0};

    if (s->set)
        qrt_real_from_f32(qc_bits_of(s->f), &r);
    return r;
}

static const struct qc_block_of *lower_ulq(struct qc *qc, struct qc_tables *t,
                                           const struct qc_row *row)
{
    struct qc_block_of *b;
    struct qrt_ulq u;

    memset(&u, 0, sizeof(u));
    u.fixed_min = row->fixed_min.i != 0;
    u.has_clip = row->clip_max.set;
    u.clip_max = clip_real(&row->clip_max);
    u.clip_min = clip_real(&row->clip_min);
    b = share(qc, &t->ulq, row,
              qc_format(qc, "%u,%u,%ld,%ld,%ld,%ld", u.fixed_min, u.has_clip,
                        (long)u.clip_max.m, (long)u.clip_max.e,
                        (long)u.clip_min.m, (long)u.clip_min.e));
    b->as.ulq = u;
    return b;
}

/* ---- factors ---- */

/* A scale as mantissa and exponent; reported when no kernel could use it. */
static bool scale_of(struct qc *qc, const struct qc_layer *layer,
                     const struct qc_value *v, const char *field,
                     uint32_t *bits, struct qrt_real *out)
{
    struct qrt_real recip;

    *bits = qc_bits_of(v->as.f);
    if (qrt_real_from_f32(*bits, out) == QRT_OK && out->m > 0 &&
        qrt_real_reciprocal(*out, &recip) == QRT_OK)
        return true;
    qc_report(qc, QC_SEM_SCALE_UNUSABLE, v->loc,
              "'%s' (%.*s) of layer '%s' has no usable reciprocal", field,
              QC_ARG(v->text), qc_shown(qc, layer->name));
    return false;
}

bool qc_device_scale(const struct qc_row *row, struct qrt_real *s)
{
    enum qrt_s19 mode =
        row->hardware_scale.i == 2 ? QRT_S19_NEAREST : QRT_S19_TRUNCATE;

    if (row->hardware_scale.i &&
        qrt_real_from_f32(qrt_cast_to_s19(qrt_real_to_f32(*s), mode), s) !=
            QRT_OK)
        return false;
    return s->m > 0;
}

/* What one channel's accumulator is worth, and the words that say so. */
static bool lower_channel(struct qc_low_factors *f, const struct qc_row *row,
                          struct qrt_real *exact, size_t c)
{
    uint32_t bits;

    if (qrt_dequant_scale(f->scale_w[c], f->scale_d, exact) != QRT_OK)
        return false;
    f->dequant[c] = *exact;
    if (!qc_device_scale(row, &f->dequant[c]))
        return false;
    bits = qrt_real_to_f32(f->dequant[c]);
    f->word_dequant[c] = qrt_word_dequant(bits, 0);
    f->word_fixpipe[c] = qrt_word_fixpipe(bits, 0, QRT_S19_TRUNCATE);
    return true;
}

static const struct qc_low_factors *lower_factors(struct qc *qc,
                                                  const struct qc_row *row)
{
    const struct qc_factors *in = row->factors;
    struct qc_low_factors *f = qc_alloc(qc, sizeof(*f));
    struct qrt_real *exact;
    size_t n = in->count_w, c;
    bool ok;

    f->count = n;
    f->offset_d = (int32_t)in->offset_d->as.i;
    f->scale_w_bits = qc_alloc(qc, n * sizeof(*f->scale_w_bits));
    f->scale_w = qc_alloc(qc, n * sizeof(*f->scale_w));
    f->dequant = qc_alloc(qc, n * sizeof(*f->dequant));
    f->exact = exact = qc_alloc(qc, n * sizeof(*exact));
    f->word_dequant = qc_alloc(qc, n * sizeof(*f->word_dequant));
    f->word_fixpipe = qc_alloc(qc, n * sizeof(*f->word_fixpipe));
    ok = scale_of(qc, row->layer, in->scale_d, "scale_d", &f->scale_d_bits,
                  &f->scale_d);
    for (c = 0; c < n; c++)
        ok = scale_of(qc, row->layer, &in->scale_w[c], "scale_w",
                      &f->scale_w_bits[c], &f->scale_w[c]) &&
             ok;
    if (!ok)
        return NULL;
    qrt_real_reciprocal(f->scale_d, &f->recip_d);
    for (c = 0; c < n; c++) {
        if (lower_channel(f, row, &exact[c], c))
            continue;
        qc_report(qc, QC_SEM_SCALE_UNUSABLE, in->scale_w[c].loc,
                  "scale_w * scale_d (%.*s * %.*s) of layer '%s' is outside "
                  "the range of a binary32",
                  QC_ARG(in->scale_w[c].text), QC_ARG(in->scale_d->text),
                  qc_shown(qc, row->layer->name));
        return NULL;
    }
    return f;
}

/* ---- the table ---- */

static void lower_row(struct qc *qc, struct qc_tables *t, struct qc_low_row *r,
                      struct ratio_cache *cache)
{
    const struct qc_row *row = r->row;

    r->ident = qc_ident(qc, strlen(t->prefix) + 1, row->layer->name);
    if (!row->enabled.i)
        return;
    t->enabled++;
    r->rule = (uint8_t)row->rule.i;
    r->exactness = (uint8_t)row->exactness.i;
    r->arq = lower_arq(qc, t, row);
    if (row->act_algo == QC_IFMR)
        r->ifmr = lower_ifmr(qc, t, row, cache);
    else if (row->act_algo == QC_HFMG)
        r->hfmg = lower_hfmg(qc, t, row);
    else
        r->ulq = lower_ulq(qc, t, row);
    if (row->factors)
        r->factors = lower_factors(qc, row);
    t->calibrated += r->factors != NULL;
}

/* Indices in ascending order of the names: bottom-up merge sort. */
static uint16_t *sort_names(struct qc *qc, const struct qc_tables *t)
{
    uint16_t *a = qc_alloc(qc, (t->count + 1) * sizeof(*a));
    uint16_t *b = qc_alloc(qc, (t->count + 1) * sizeof(*b)), *swap;
    size_t run, i, j, k, at;

    for (i = 0; i < t->count; i++)
        a[i] = (uint16_t)i;
    for (run = 1; run < t->count; run *= 2) {
        for (at = 0; at < t->count; at += 2 * run) {
            size_t mid = at + run < t->count ? at + run : t->count;
            size_t end = mid + run < t->count ? mid + run : t->count;

            for (i = at, j = mid, k = at; k < end; k++) {
                bool left = i < mid &&
                            (j == end ||
                             qc_compare(t->rows[a[i]].row->layer->name,
                                        t->rows[a[j]].row->layer->name) <= 0);

                b[k] = left ? a[i++] : a[j++];
            }
        }
        swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* FNV-1a over a length and the bytes, file after file, external data
 * included. */
static uint64_t add_hash(uint64_t h, const struct qc_file *f)
{
    do {
        uint64_t n = f ? f->size : 0;
        size_t i;

        for (i = 0; i < 8; i++)
            h = (h ^ (n >> (8 * i) & 0xFF)) * 0x100000001b3u;
        for (i = 0; i < n; i++)
            h = (h ^ (unsigned char)f->text[i]) * 0x100000001b3u;
        f = f ? f->data : NULL;
    } while (f);
    return h;
}

/* How numbers get from layer to layer. */
static void lower_ways(struct qc *qc, struct qc_tables *t)
{
    const struct qc_model *m = t->plan->model;
    size_t *row_of = qc_alloc(qc, (m->count + 1) * sizeof(*row_of)), i;

    for (i = 0; i < m->count; i++)
        row_of[i] = SIZE_MAX;
    for (i = 0; i < t->count; i++)
        row_of[t->rows[i].row->layer - m->layers] = i;
    qc_lower_edges(qc, t, row_of);
    qc_lower_joins(qc, t, row_of);
}

struct qc_tables *qc_lower(struct qc *qc, const struct qc_plan *plan,
                           const struct qc_lower_options *o)
{
    struct qc_tables *t = qc_alloc(qc, sizeof(*t));
    struct ratio_cache cache = {0};
    size_t before = qc_error_count(qc), i;

    t->plan = plan;
    t->prefix = o->prefix;
    t->count = plan->count;
    if (t->count > UINT16_MAX) {
        qc_report(qc, QC_LIM_LAYERS, (struct qc_loc){plan->model->file, 0, 0},
                  "%zu layers; a table holds at most %u", t->count, UINT16_MAX);
        return NULL;
    }
    t->rows = qc_alloc(qc, (t->count + 1) * sizeof(*t->rows));
    for (i = 0; i < t->count; i++) {
        t->rows[i].row = &plan->rows[i];
        lower_row(qc, t, &t->rows[i], &cache);
    }
    if (qc_error_count(qc) != before)
        return NULL;
    lower_ways(qc, t);
    t->by_name = sort_names(qc, t);
    t->hash = 0xcbf29ce484222325u;
    t->hash = add_hash(t->hash, plan->config);
    t->hash = add_hash(t->hash, plan->model->file);
    t->hash = add_hash(t->hash, plan->record);
    if (plan->options)
        t->hash = add_hash(t->hash, plan->options);
    return t;
}
