/* The deployment image: the same tables as bytes, little endian on every
 * host. runtime/image_format.h names the offsets, docs/images.md explains
 * them. */
#include "emit_weights.h"

#include "emit.h"
#include "origin.h"

#include "image_format.h"
#include "qrt_image.h"

#include <string.h>

static void store(struct qc_out *o, size_t at, uint64_t v, unsigned bytes)
{
    unsigned i;

    for (i = 0; i < bytes; i++)
        o->text[at + i] = (char)(v >> 8 * i & 0xFF);
}

static void put8(struct qc_out *o, size_t at, uint32_t v)
{
    store(o, at, v, 1);
}

static void put32(struct qc_out *o, size_t at, uint32_t v)
{
    store(o, at, v, 4);
}

static void put_real(struct qc_out *o, size_t at, struct qrt_real r)
{
    put32(o, at, (uint32_t)r.m);
    put32(o, at + 4, (uint32_t)r.e);
}

/* A zeroed block at the end, aligned to 8; its offset. */
static uint32_t add(struct qc_out *o, size_t size)
{
    static const char zeros[64] = {0};
    size_t at = (o->size + 7) / 8 * 8, end = at + size;

    while (o->size < end)
        qc_put(o, zeros, end - o->size < 64 ? end - o->size : 64);
    return (uint32_t)at;
}

static uint32_t add_reals(struct qc_out *o, const struct qrt_real *r, size_t n)
{
    uint32_t at = add(o, n * 8);
    size_t i;

    for (i = 0; i < n; i++)
        put_real(o, at + 8 * i, r[i]);
    return at;
}

static uint32_t add_words(struct qc_out *o, const uint64_t *w, size_t n)
{
    uint32_t at = add(o, n * 8);
    size_t i;

    for (i = 0; i < n; i++)
        store(o, at + 8 * i, w[i], 8);
    return at;
}

/* ---- recipes ---- */

struct recipes {
    const struct qc_block_of *block;
    uint32_t kind, at;
};

static uint32_t add_ifmr(struct qc_out *o, const struct qc_tables *t,
                         const struct qc_block_of *b)
{
    const struct qc_ratios *r = &t->ratios[b->ratio_table];
    uint32_t at = add(o, IMG_IFMR_SIZE), ratios = add(o, r->count * 4u), i;

    store(o, at + IMG_I_MAX_P, b->as.ifmr.max_percentile, 8);
    store(o, at + IMG_I_MIN_P, b->as.ifmr.min_percentile, 8);
    put32(o, at + IMG_I_COUNT, r->count);
    put32(o, at + IMG_I_RATIOS, ratios);
    for (i = 0; i < r->count; i++)
        put32(o, ratios + 4 * i, r->bits[i]);
    return at;
}

static uint32_t add_hfmg(struct qc_out *o, const struct qc_block_of *b)
{
    uint32_t at = add(o, IMG_HFMG_SIZE);

    put32(o, at, b->as.hfmg.bins);
    return at;
}

static uint32_t add_ulq(struct qc_out *o, const struct qc_block_of *b)
{
    uint32_t at = add(o, IMG_ULQ_SIZE);

    put32(o, at + IMG_U_FIXED, b->as.ulq.fixed_min);
    put32(o, at + IMG_U_CLIP, b->as.ulq.has_clip);
    put_real(o, at + IMG_U_MAX, b->as.ulq.clip_max);
    put_real(o, at + IMG_U_MIN, b->as.ulq.clip_min);
    return at;
}

static size_t list_recipes(const struct qc_tables *t, struct recipes *r)
{
    const struct qc_block_of *b;
    size_t n = 0;

    for (b = t->ifmr.first; b; b = b->next, n++)
        r[n] = (struct recipes){b, IMG_IFMR, 0};
    for (b = t->hfmg.first; b; b = b->next, n++)
        r[n] = (struct recipes){b, IMG_HFMG, 0};
    for (b = t->ulq.first; b; b = b->next, n++)
        r[n] = (struct recipes){b, IMG_ULQ, 0};
    return n;
}

/* Writes the directory and the recipes; entry numbers go into `entries`. */
static void add_recipes(struct qc_out *o, const struct qc_tables *t,
                        struct qc_map *entries)
{
    struct recipes *r = qc_alloc(o->qc, (t->count + 1) * sizeof(*r));
    size_t n = list_recipes(t, r), i;
    uint32_t directory = add(o, n * IMG_RECIPE_SIZE);

    put32(o, IMG_H_RECIPES, directory);
    put32(o, IMG_H_RECIPE_N, (uint32_t)n);
    for (i = 0; i < n; i++) {
        uint32_t at = r[i].kind == IMG_IFMR   ? add_ifmr(o, t, r[i].block)
                      : r[i].kind == IMG_HFMG ? add_hfmg(o, r[i].block)
                                              : add_ulq(o, r[i].block);
        struct qc_str key = {(const char *)&r[i].block, sizeof(r[i].block)};

        put32(o, directory + i * IMG_RECIPE_SIZE + IMG_R_KIND, r[i].kind);
        put32(o, directory + i * IMG_RECIPE_SIZE + IMG_R_AT, at);
        *qc_map_at(o->qc, entries, key) = (void *)(uintptr_t)(i + 1);
    }
}

static uint32_t entry_of(const struct qc_map *entries,
                         const struct qc_low_row *r)
{
    const struct qc_block_of *b = r->ifmr   ? r->ifmr
                                  : r->hfmg ? r->hfmg
                                            : r->ulq;
    struct qc_str key = {(const char *)&b, sizeof(b)};

    return (uint32_t)((uintptr_t)qc_map_get(entries, key) - 1);
}

/* ---- layers ---- */

static uint32_t add_factors(struct qc_out *o, const struct qc_low_factors *f,
                            bool words)
{
    uint32_t at = add(o, IMG_FACTORS_SIZE);

    put_real(o, at + IMG_F_SCALE_D, f->scale_d);
    put_real(o, at + IMG_F_RECIP_D, f->recip_d);
    put32(o, at + IMG_F_OFFSET_D, (uint32_t)f->offset_d);
    put32(o, at + IMG_F_COUNT, (uint32_t)f->count);
    put32(o, at + IMG_F_SCALE_W, add_reals(o, f->scale_w, f->count));
    put32(o, at + IMG_F_DEQUANT, add_reals(o, f->dequant, f->count));
    if (words) {
        put32(o, at + IMG_F_WORD_D, add_words(o, f->word_dequant, f->count));
        put32(o, at + IMG_F_WORD_F, add_words(o, f->word_fixpipe, f->count));
    }
    return at;
}

static uint32_t add_edge(struct qc_out *o, const struct qc_low_edge *e,
                         size_t count)
{
    uint32_t at = add(o, IMG_EDGE_SIZE);

    put32(o, at + IMG_E_REQUANT, add_reals(o, e->requant, count));
    put32(o, at + IMG_E_ZERO, (uint32_t)e->zero_point);
    put32(o, at + IMG_E_MIN, (uint32_t)e->code_min);
    put32(o, at + IMG_E_MAX, (uint32_t)e->code_max);
    put32(o, at + IMG_E_NEXT, (uint32_t)e->next);
    return at;
}

static void put_term(struct qc_out *o, size_t at, const struct qc_low_term *t)
{
    if (t->scale) {
        put32(o, at + IMG_T_SCALE, add_reals(o, t->scale, t->scale_count));
        put32(o, at + IMG_T_COUNT, (uint32_t)t->scale_count);
    }
    put32(o, at + IMG_T_LAYER, (uint32_t)t->layer);
    put32(o, at + IMG_T_ZERO, (uint32_t)t->zero_point);
    put32(o, at + IMG_T_LOW, (uint32_t)t->low);
    put32(o, at + IMG_T_HIGH, (uint32_t)t->high);
    put32(o, at + IMG_T_CODE, t->is_code);
}

static uint32_t add_bytes(struct qc_out *o, const void *bytes, size_t n)
{
    uint32_t at = add(o, n);

    memcpy(o->text + at, bytes, n);
    return at;
}

static uint32_t add_join(struct qc_out *o, const struct qc_tables *t,
                         const struct qc_low_join *j)
{
    uint32_t at = add(o, IMG_JOIN_SIZE);
    uint32_t terms = add(o, j->term_count * IMG_TERM_SIZE);
    size_t i;

    put8(o, at + IMG_J_KIND, j->kind);
    put8(o, at + IMG_J_FRAC, j->frac);
    put8(o, at + IMG_J_MEAN, j->mean);
    put8(o, at + IMG_J_COUNT, (uint32_t)j->term_count);
    put32(o, at + IMG_J_TERMS, terms);
    for (i = 0; i < j->term_count; i++)
        put_term(o, terms + i * IMG_TERM_SIZE, &j->terms[i]);
    if (j->own_edge)
        put32(o, at + IMG_J_EDGE,
              add_edge(o, j->edge, t->rows[j->terms[0].layer].factors->count));
    if (j->table)
        put32(o, at + IMG_J_TABLE, add_bytes(o, j->table, IMG_TABLE_SIZE));
    put32(o, at + IMG_J_LOW, (uint32_t)j->low);
    put32(o, at + IMG_J_HIGH, (uint32_t)j->high);
    put32(o, at + IMG_J_ZERO, (uint32_t)j->zero_point);
    put32(o, at + IMG_J_MIN, (uint32_t)j->code_min);
    put32(o, at + IMG_J_MAX, (uint32_t)j->code_max);
    return at;
}

static uint32_t add_words32(struct qc_out *o, const int32_t *v, size_t n)
{
    uint32_t at = add(o, n * 4);
    size_t i;

    for (i = 0; i < n; i++)
        put32(o, at + 4 * i, (uint32_t)v[i]);
    return at;
}

static void add_weights(struct qc_out *o, size_t layers,
                        const struct qc_tables *t,
                        const struct qc_image_weights *all)
{
    size_t i;

    for (i = 0; i < all->count; i++) {
        const struct qc_low_weights *w = &all->at[i];
        uint32_t at = add(o, IMG_WEIGHTS_SIZE);

        put32(o,
              layers + (size_t)(w->row - t->rows) * IMG_LAYER_SIZE +
                  IMG_L_WEIGHTS,
              at);
        put32(o, at + IMG_W_CODES,
              add_bytes(o, w->packed ? (void *)w->packed : (void *)w->codes,
                        w->bytes));
        put32(o, at + IMG_W_BYTES, (uint32_t)w->bytes);
        put32(o, at + IMG_W_CHANNELS, (uint32_t)w->channels);
        put32(o, at + IMG_W_BIAS, add_words32(o, w->bias, w->channels));
        put32(o, at + IMG_W_BIAS_ZP, add_words32(o, w->bias_zp, w->channels));
        put8(o, at + IMG_W_PAIRS, w->packed != NULL);
        put8(o, at + IMG_W_LAYOUT,
             all->layout == QC_LAYOUT_CMSIS ? QRT_IMAGE_CMSIS : QRT_IMAGE_ONNX);
    }
}

static void put_layer(struct qc_out *o, size_t at, const struct qc_tables *t,
                      const struct qc_low_row *r, const struct qc_map *entries,
                      bool words)
{
    const struct qc_layer *l = r->row->layer;
    uint32_t name = (uint32_t)o->size;

    qc_put(o, l->name.ptr, l->name.len);
    qc_put(o, "", 1);
    put32(o, at + IMG_L_NAME, name);
    put8(o, at + IMG_L_OP, l->op < 0 ? QRT_OP_UNKNOWN : (uint32_t)l->op);
    put32(o, at + IMG_L_CHANNELS, (uint32_t)l->out_channels);
    if (!r->arq)
        return;
    put8(o, at + IMG_L_ENABLED, 1);
    put8(o, at + IMG_L_ACT_BITS, (uint32_t)r->row->act_bits.i);
    put8(o, at + IMG_L_ASYM, r->row->asymmetric.i != 0);
    put8(o, at + IMG_L_ARQ_BITS, r->arq->as.arq.bits);
    put8(o, at + IMG_L_ARQ_PER, r->arq->as.arq.per_channel);
    put8(o, at + IMG_L_ARQ_ALGO, r->arq->as.arq.algo);
    put32(o, at + IMG_L_ACT, entry_of(entries, r));
    put8(o, at + IMG_L_RULE, r->rule);
    put8(o, at + IMG_L_EXACT, r->exactness);
    if (r->factors)
        put32(o, at + IMG_L_FACTORS, add_factors(o, r->factors, words));
    if (r->edge)
        put32(o, at + IMG_L_EDGE, add_edge(o, r->edge, r->factors->count));
    if (r->join)
        put32(o, at + IMG_L_JOIN, add_join(o, t, r->join));
}

static void put_header(struct qc_out *o, const struct qc_tables *t)
{
    const struct qc_plan *p = t->plan;
    unsigned major = 0, minor = 0, patch = 0;
    const char *v = QC_VERSION;

    for (; *v != '.'; v++)
        major = major * 10 + (unsigned)(*v - '0');
    for (v++; *v != '.'; v++)
        minor = minor * 10 + (unsigned)(*v - '0');
    for (v++; *v >= '0' && *v <= '9'; v++)
        patch = patch * 10 + (unsigned)(*v - '0');
    put32(o, IMG_H_MAGIC, IMG_MAGIC);
    store(o, IMG_H_VERSION, QRT_IMAGE_VERSION, 2);
    store(o, IMG_H_HEAD, IMG_HEADER_SIZE, 2);
    store(o, IMG_H_HASH, t->hash, 8);
    put32(o, IMG_H_CONFIG, qc_file_crc32(p->config));
    put32(o, IMG_H_MODEL, qc_file_crc32(p->model->file));
    put32(o, IMG_H_RECORD, qc_file_crc32(p->record));
    put32(o, IMG_H_OPTIONS, qc_file_crc32(p->options));
    put32(o, IMG_H_TOOL, major << 16 | minor << 8 | patch);
    put32(o, IMG_H_COUNT, (uint32_t)t->count);
    put32(o, IMG_H_BATCH, (uint32_t)p->batch_num.i);
}

bool qc_emit_image(struct qc_out *o, const struct qc_tables *t, bool words,
                   const struct qc_image_weights *weights)
{
    struct qc_map entries = {0};
    uint32_t layers, by_name;
    size_t i;

    o->size = 0;
    qc_pad(o, 0, IMG_HEADER_SIZE);
    memset(o->text, 0, IMG_HEADER_SIZE);
    put_header(o, t);
    layers = add(o, t->count * IMG_LAYER_SIZE);
    by_name = add(o, t->count * 2);
    put32(o, IMG_H_LAYERS, layers);
    put32(o, IMG_H_BY_NAME, by_name);
    for (i = 0; i < t->count; i++)
        store(o, by_name + 2 * i, t->by_name[i], 2);
    add_recipes(o, t, &entries);
    for (i = 0; i < t->count; i++)
        put_layer(o, layers + i * IMG_LAYER_SIZE, t, &t->rows[i], &entries,
                  words);
    add_weights(o, layers, t, weights);
    add(o, 0);
    if (o->size > INT32_MAX) {
        qc_report(o->qc, QC_LIM_LAYERS,
                  (struct qc_loc){t->plan->model->file, 0, 0},
                  "the image would have %zu bytes; at most 2 GiB fit", o->size);
        return false;
    }
    put32(o, IMG_H_SIZE, (uint32_t)o->size);
    put32(o, IMG_H_CRC,
          qc_crc32((struct qc_str){o->text + IMG_H_CRC + 4,
                                   o->size - IMG_H_CRC - 4}));
    return true;
}
