/* Deployment images: views of what image.c has checked. Nothing is copied
 * where the target is little-endian, but the terms of joins, which hold
 * pointers. */
#include "image_read.h"

static bool little_endian(void)
{
    static const uint16_t one = 1;

    return *(const uint8_t *)&one == 1;
}

static size_t round8(size_t n)
{
    return (n + 7u) / 8u * 8u;
}

/* ---- arrays ---- */

/* Hands out arrays: in place, or copied into the buffer where the target's
 * byte order is the other one. */
struct arrays {
    const struct qrt_image *im;
    uint8_t *buffer;
    size_t used;
};

static void *take(struct arrays *a, size_t bytes)
{
    uint8_t *p = a->buffer + a->used;

    a->used += round8(bytes);
    return p;
}

static const void *words32(struct arrays *a, uint32_t at, uint32_t count)
{
    uint32_t *to, i;

    if (little_endian())
        return a->im->base + at;
    to = take(a, (size_t)count * 4u);
    for (i = 0; i < count; i++)
        to[i] = img_load32(a->im->base + at + 4 * i);
    return to;
}

static const struct qrt_real *reals(struct arrays *a, uint32_t at,
                                    uint32_t count)
{
    return words32(a, at, 2 * count);
}

static const uint64_t *words64(struct arrays *a, uint32_t at, uint32_t count)
{
    uint64_t *to;
    uint32_t i;

    if (!at)
        return NULL;
    if (little_endian())
        return (const uint64_t *)(const void *)(a->im->base + at);
    to = take(a, (size_t)count * 8u);
    for (i = 0; i < count; i++)
        to[i] = img_load64(a->im->base + at + 8 * i);
    return to;
}

/* ---- a layer ---- */

/* A row, and the place of what it points at. */
struct view {
    struct qrt_layer *layer;
    struct qrt_image_parts *parts;
};

static void serve_recipe(struct arrays *a, uint32_t entry, struct view v)
{
    const uint8_t *r = img_recipe_at(a->im, entry);
    const uint8_t *p = a->im->base + img_load32(r + IMG_R_AT);
    uint32_t kind = img_load32(r + IMG_R_KIND);

    if (kind == IMG_IFMR) {
        struct qrt_ifmr *ifmr = &v.parts->ifmr;

        ifmr->max_percentile = img_load64(p + IMG_I_MAX_P);
        ifmr->min_percentile = img_load64(p + IMG_I_MIN_P);
        ifmr->ratio_count = img_load32(p + IMG_I_COUNT);
        ifmr->ratios =
            words32(a, img_load32(p + IMG_I_RATIOS), ifmr->ratio_count);
        v.layer->ifmr = ifmr;
    } else if (kind == IMG_HFMG) {
        v.parts->hfmg.bins = img_load32(p);
        v.layer->hfmg = &v.parts->hfmg;
    } else if (kind == IMG_ULQ) {
        v.parts->ulq.fixed_min = p[IMG_U_FIXED] != 0;
        v.parts->ulq.has_clip = p[IMG_U_CLIP] != 0;
        v.parts->ulq.clip_max = img_real_at(p + IMG_U_MAX);
        v.parts->ulq.clip_min = img_real_at(p + IMG_U_MIN);
        v.layer->ulq = &v.parts->ulq;
    }
}

static void serve_factors(struct arrays *a, uint32_t at, struct view v)
{
    const uint8_t *p = a->im->base + at;
    struct qrt_factors *f = &v.parts->factors;

    f->scale_d = img_real_at(p + IMG_F_SCALE_D);
    f->recip_d = img_real_at(p + IMG_F_RECIP_D);
    f->offset_d = img_signed32(p + IMG_F_OFFSET_D);
    f->scale_count = img_load32(p + IMG_F_COUNT);
    f->scale_w = reals(a, img_load32(p + IMG_F_SCALE_W), f->scale_count);
    f->dequant = reals(a, img_load32(p + IMG_F_DEQUANT), f->scale_count);
    f->word_dequant = words64(a, img_load32(p + IMG_F_WORD_D), f->scale_count);
    f->word_fixpipe = words64(a, img_load32(p + IMG_F_WORD_F), f->scale_count);
    v.layer->factors = f;
}

/* Channels of the factors of a layer that has some. */
static uint32_t factor_count(const struct qrt_image *im, uint32_t index)
{
    const uint8_t *l = img_layer_at(im, index);

    return img_load32(im->base + img_load32(l + IMG_L_FACTORS) + IMG_F_COUNT);
}

static void serve_edge(struct arrays *a, uint32_t at, uint32_t count,
                       struct qrt_edge *e)
{
    const uint8_t *p = a->im->base + at;

    e->requant = reals(a, img_load32(p + IMG_E_REQUANT), count);
    e->zero_point = img_signed32(p + IMG_E_ZERO);
    e->code_min = img_signed32(p + IMG_E_MIN);
    e->code_max = img_signed32(p + IMG_E_MAX);
    e->next = img_load32(p + IMG_E_NEXT);
}

static void serve_term(struct arrays *a, const uint8_t *p, struct qrt_term *t)
{
    uint32_t scale = img_load32(p + IMG_T_SCALE);

    t->scale_count = img_load32(p + IMG_T_COUNT);
    t->scale = scale ? reals(a, scale, t->scale_count) : NULL;
    t->layer = img_load32(p + IMG_T_LAYER);
    t->zero_point = img_signed32(p + IMG_T_ZERO);
    t->low = img_signed32(p + IMG_T_LOW);
    t->high = img_signed32(p + IMG_T_HIGH);
    t->is_code = img_load32(p + IMG_T_CODE);
}

static const uint8_t *term_at(const struct qrt_image *im, const uint8_t *join,
                              uint32_t i)
{
    return im->base + img_load32(join + IMG_J_TERMS) +
           i * (uint32_t)IMG_TERM_SIZE;
}

/* The edge of a join: its own, or that of the layer before. */
static uint32_t join_edge(const struct qrt_image *im, const uint8_t *join)
{
    uint32_t own = img_load32(join + IMG_J_EDGE);
    const uint8_t *l =
        img_layer_at(im, img_load32(term_at(im, join, 0) + IMG_T_LAYER));

    return own ? own : img_load32(l + IMG_L_EDGE);
}

static void serve_join(struct arrays *a, uint32_t at, struct view v)
{
    const uint8_t *p = a->im->base + at;
    struct qrt_join *j = &v.parts->join;
    struct qrt_term *terms;
    uint32_t i, table = img_load32(p + IMG_J_TABLE);

    j->kind = p[IMG_J_KIND];
    j->frac = p[IMG_J_FRAC];
    j->mean = p[IMG_J_MEAN];
    j->term_count = p[IMG_J_COUNT];
    terms = take(a, j->term_count * sizeof(*terms));
    for (i = 0; i < j->term_count; i++)
        serve_term(a, term_at(a->im, p, i), &terms[i]);
    j->terms = terms;
    j->edge = NULL;
    if (j->kind == QRT_JOIN_EDGE) {
        serve_edge(a, join_edge(a->im, p), factor_count(a->im, terms[0].layer),
                   &v.parts->join_edge);
        j->edge = &v.parts->join_edge;
    }
    j->low = img_signed32(p + IMG_J_LOW);
    j->high = img_signed32(p + IMG_J_HIGH);
    j->zero_point = img_signed32(p + IMG_J_ZERO);
    j->code_min = img_signed32(p + IMG_J_MIN);
    j->code_max = img_signed32(p + IMG_J_MAX);
    j->table = table ? (const int8_t *)(a->im->base + table) : NULL;
    v.layer->join = j;
}

static void serve_head(const struct qrt_image *im, uint32_t index,
                       struct view v)
{
    const uint8_t *p = img_layer_at(im, index);
    struct qrt_layer *l = v.layer;

    l->name = img_name(im, index);
    l->op = p[IMG_L_OP];
    l->enabled = p[IMG_L_ENABLED];
    l->act_bits = p[IMG_L_ACT_BITS];
    l->act_asymmetric = p[IMG_L_ASYM];
    l->out_channels = img_load32(p + IMG_L_CHANNELS);
    l->arq = NULL;
    l->ifmr = NULL;
    l->hfmg = NULL;
    l->ulq = NULL;
    l->factors = NULL;
    l->edge = NULL;
    l->join = NULL;
    l->rule = p[IMG_L_RULE];
    l->exactness = p[IMG_L_EXACT];
    if (!l->enabled)
        return;
    v.parts->arq.bits = p[IMG_L_ARQ_BITS];
    v.parts->arq.per_channel = p[IMG_L_ARQ_PER];
    v.parts->arq.algo = p[IMG_L_ARQ_ALGO];
    v.parts->arq.reserved = 0;
    l->arq = &v.parts->arq;
}

static void serve(struct arrays *a, uint32_t index, struct view v)
{
    const uint8_t *p = img_layer_at(a->im, index);
    uint32_t edge = img_load32(p + IMG_L_EDGE);

    serve_head(a->im, index, v);
    if (p[IMG_L_ENABLED])
        serve_recipe(a, img_load32(p + IMG_L_ACT), v);
    if (img_load32(p + IMG_L_FACTORS))
        serve_factors(a, img_load32(p + IMG_L_FACTORS), v);
    if (edge) {
        serve_edge(a, edge, v.parts->factors.scale_count, &v.parts->edge);
        v.layer->edge = &v.parts->edge;
    }
    if (img_load32(p + IMG_L_JOIN))
        serve_join(a, img_load32(p + IMG_L_JOIN), v);
}

/* ---- how much a layer takes of the buffer ---- */

/* Of arrays that a big-endian target copies. */
static size_t recipe_need(const struct qrt_image *im, const uint8_t *p)
{
    const uint8_t *r = img_recipe_at(im, img_load32(p + IMG_L_ACT));

    if (!p[IMG_L_ENABLED] || img_load32(r + IMG_R_KIND) != IMG_IFMR)
        return 0;
    r = im->base + img_load32(r + IMG_R_AT);
    return round8((size_t)4 * img_load32(r + IMG_I_COUNT));
}

static size_t factors_need(const struct qrt_image *im, const uint8_t *p)
{
    const uint8_t *f = im->base + img_load32(p + IMG_L_FACTORS);
    size_t arrays = 2;

    if (!img_load32(p + IMG_L_FACTORS))
        return 0;
    arrays += img_load32(f + IMG_F_WORD_D) != 0;
    arrays += img_load32(f + IMG_F_WORD_F) != 0;
    arrays += img_load32(p + IMG_L_EDGE) != 0;
    return arrays * 8 * img_load32(f + IMG_F_COUNT);
}

static size_t scales_need(const struct qrt_image *im, const uint8_t *join)
{
    size_t need = 0;
    uint32_t i;

    if (join[IMG_J_KIND] == QRT_JOIN_EDGE)
        need +=
            (size_t)8 *
            factor_count(im, img_load32(term_at(im, join, 0) + IMG_T_LAYER));
    for (i = 0; i < join[IMG_J_COUNT]; i++)
        if (img_load32(term_at(im, join, i) + IMG_T_SCALE))
            need += (size_t)8 * img_load32(term_at(im, join, i) + IMG_T_COUNT);
    return need;
}

size_t qrt_image_layer_scratch(const struct qrt_image *im, uint32_t index)
{
    const uint8_t *p, *join = NULL;
    size_t need = 0;

    if (!im || index >= im->layer_count)
        return 0;
    p = img_layer_at(im, index);
    if (img_load32(p + IMG_L_JOIN)) {
        join = im->base + img_load32(p + IMG_L_JOIN);
        need += round8(join[IMG_J_COUNT] * sizeof(struct qrt_term));
    }
    if (little_endian())
        return need;
    return need + recipe_need(im, p) + factors_need(im, p) +
           (join ? scales_need(im, join) : 0);
}

/* ---- views ---- */

static bool fits(size_t need, const void *buffer, size_t size)
{
    return need <= (buffer ? size : 0) && (uintptr_t)buffer % 8u == 0;
}

enum qrt_status qrt_image_layer(const struct qrt_image *im, uint32_t index,
                                void *buffer, size_t buffer_size,
                                struct qrt_image_layer *out)
{
    struct arrays a;
    struct view v;

    if (!im || !out)
        return QRT_ERR_NULL;
    if (index >= im->layer_count)
        return QRT_ERR_RANGE;
    if (!fits(qrt_image_layer_scratch(im, index), buffer, buffer_size))
        return QRT_ERR_SCRATCH;
    a.im = im;
    a.buffer = buffer;
    a.used = 0;
    v.layer = &out->layer;
    v.parts = &out->parts;
    serve(&a, index, v);
    return QRT_OK;
}

/* Rows, what they point at, and the order of the names. */
static size_t rows_need(const struct qrt_image *im)
{
    size_t n = im->layer_count;

    return round8(n * sizeof(struct qrt_layer)) +
           round8(n * sizeof(struct qrt_image_parts)) +
           (little_endian() ? 0 : round8(n * 2));
}

size_t qrt_image_tables_scratch(const struct qrt_image *im)
{
    size_t need;
    uint32_t i;

    if (!im)
        return 0;
    need = rows_need(im);
    for (i = 0; i < im->layer_count; i++)
        need += qrt_image_layer_scratch(im, i);
    return need;
}

static const uint16_t *names_of(struct arrays *a)
{
    uint16_t *to;
    uint32_t i;

    if (little_endian())
        return (const uint16_t *)(const void *)(a->im->base + a->im->by_name);
    to = take(a, (size_t)a->im->layer_count * 2u);
    for (i = 0; i < a->im->layer_count; i++)
        to[i] = (uint16_t)img_sorted(a->im, i);
    return to;
}

enum qrt_status qrt_image_tables(const struct qrt_image *im, void *buffer,
                                 size_t buffer_size, struct qrt_tables *out)
{
    struct qrt_layer *layers;
    struct qrt_image_parts *parts;
    struct arrays a;
    uint32_t i;

    if (!im || !out)
        return QRT_ERR_NULL;
    if (!fits(qrt_image_tables_scratch(im), buffer, buffer_size))
        return QRT_ERR_SCRATCH;
    a.im = im;
    a.buffer = buffer;
    a.used = 0;
    layers = take(&a, im->layer_count * sizeof(*layers));
    parts = take(&a, im->layer_count * sizeof(*parts));
    for (i = 0; i < im->layer_count; i++) {
        struct view v;

        v.layer = &layers[i];
        v.parts = &parts[i];
        serve(&a, i, v);
    }
    out->version = QRT_TABLES_VERSION;
    out->layer_count = im->layer_count;
    out->hash = im->hash;
    out->batch_num = im->batch_num;
    out->layers = layers;
    out->by_name = names_of(&a);
    return QRT_OK;
}

/* ---- weights ---- */

/* The weights' record, or null. */
static const uint8_t *weights_at(const struct qrt_image *im, uint32_t index)
{
    uint32_t at = img_load32(img_layer_at(im, index) + IMG_L_WEIGHTS);

    return at ? im->base + at : NULL;
}

size_t qrt_image_weights_scratch(const struct qrt_image *im, uint32_t index)
{
    const uint8_t *p;

    if (!im || index >= im->layer_count || little_endian())
        return 0;
    p = weights_at(im, index);
    return p ? 2 * round8((size_t)4 * img_load32(p + IMG_W_CHANNELS)) : 0;
}

enum qrt_status qrt_image_weights(const struct qrt_image *im, uint32_t index,
                                  void *buffer, size_t buffer_size,
                                  struct qrt_image_weights *out)
{
    struct arrays a;
    const uint8_t *p, *codes;

    if (!im || !out)
        return QRT_ERR_NULL;
    if (index >= im->layer_count)
        return QRT_ERR_RANGE;
    p = weights_at(im, index);
    if (!p)
        return QRT_ERR_NOT_FOUND;
    if (!fits(qrt_image_weights_scratch(im, index), buffer, buffer_size))
        return QRT_ERR_SCRATCH;
    a.im = im;
    a.buffer = buffer;
    a.used = 0;
    codes = im->base + img_load32(p + IMG_W_CODES);
    out->codes = p[IMG_W_PAIRS] ? NULL : (const int8_t *)codes;
    out->pairs = p[IMG_W_PAIRS] ? codes : NULL;
    out->bytes = img_load32(p + IMG_W_BYTES);
    out->channels = img_load32(p + IMG_W_CHANNELS);
    out->bias = words32(&a, img_load32(p + IMG_W_BIAS), out->channels);
    out->bias_zp = words32(&a, img_load32(p + IMG_W_BIAS_ZP), out->channels);
    out->layout = p[IMG_W_LAYOUT];
    return QRT_OK;
}

/* ---- names and inputs ---- */

enum qrt_status qrt_image_find(const struct qrt_image *im, const char *name,
                               uint32_t *index)
{
    uint32_t low = 0, high;

    if (!im || !name || !index)
        return QRT_ERR_NULL;
    high = im->layer_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int c = img_compare(img_name(im, img_sorted(im, mid)), name);

        if (c == 0) {
            *index = img_sorted(im, mid);
            return QRT_OK;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return QRT_ERR_NOT_FOUND;
}

uint32_t qrt_image_moved(const struct qrt_image *im, uint32_t config,
                         uint32_t model)
{
    uint32_t moved = 0;

    if (config != 0 && im->config_crc32 != config)
        moved |= QRT_IMAGE_OTHER_CONFIG;
    if (model != 0 && im->model_crc32 != model)
        moved |= QRT_IMAGE_OTHER_MODEL;
    return moved;
}
