/* Deployment images: checked once, then served without copying. */
#include "qrt_image.h"

#include "image_format.h"

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static uint32_t load16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint64_t load64(const uint8_t *p)
{
    return (uint64_t)load32(p) | (uint64_t)load32(p + 4) << 32;
}

/* Two's complement without an implementation-defined conversion. */
static int32_t signed32(const uint8_t *p)
{
    uint32_t u = load32(p);

    return u <= INT32_MAX ? (int32_t)u
                          : (int32_t)(u - (uint32_t)INT32_MAX - 1u) + INT32_MIN;
}

static struct qrt_real real_at(const uint8_t *p)
{
    struct qrt_real r;

    r.m = signed32(p);
    r.e = signed32(p + 4);
    return r;
}

static bool little_endian(void)
{
    static const uint16_t one = 1;

    return *(const uint8_t *)&one == 1;
}

/* The CRC-32 of zip, half a byte at a time. */
static uint32_t crc32_of(const uint8_t *p, uint32_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = 0xFFFFFFFFu, i;

    for (i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15u];
        crc = crc >> 4 ^ table[crc & 15u];
    }
    return ~crc;
}

/* ---- checking ---- */

/* The image and how many of its bytes have been checked. Nothing is shared,
 * so a sound image never claims more bytes than it has; a hostile one that
 * points everywhere at the same large array runs out. */
struct checker {
    const struct qrt_image *im;
    uint32_t left;
};

/* [at, at + count * each) lies behind the header and inside the image, and
 * has not been claimed too often. */
static bool claim(struct checker *c, uint32_t at, uint32_t count, uint32_t each)
{
    if (at < IMG_HEADER_SIZE || at % 8u != 0 || at > c->im->size ||
        count > (c->im->size - at) / each || count * each > c->left)
        return false;
    c->left -= count * each;
    return true;
}

static bool real_ok(struct qrt_real r)
{
    return r.m >= (int32_t)1 << 30 && r.e >= -148 && r.e <= 128;
}

static bool reals_ok(struct checker *c, uint32_t at, uint32_t count)
{
    uint32_t i;

    if (!claim(c, at, count, 8))
        return false;
    for (i = 0; i < count; i++)
        if (!real_ok(real_at(c->im->base + at + 8 * i)))
            return false;
    return true;
}

/* A positive, finite binary32. */
static bool ratio_ok(uint32_t bits)
{
    return bits > 0 && bits < 0x7F800000u;
}

/* In (0.5, 1]: its bits are ordered like its values. */
static bool percentile_ok(uint64_t bits)
{
    return bits > 0x3FE0000000000000u && bits <= 0x3FF0000000000000u;
}

static bool ifmr_ok(struct checker *c, uint32_t at)
{
    const uint8_t *p = c->im->base + at;
    uint32_t count, ratios, i;

    if (!claim(c, at, 1, IMG_IFMR_SIZE))
        return false;
    count = load32(p + IMG_I_COUNT);
    ratios = load32(p + IMG_I_RATIOS);
    if (count == 0 || count > 65535u || !claim(c, ratios, count, 4))
        return false;
    for (i = 0; i < count; i++)
        if (!ratio_ok(load32(c->im->base + ratios + 4 * i)))
            return false;
    return percentile_ok(load64(p + IMG_I_MAX_P)) &&
           percentile_ok(load64(p + IMG_I_MIN_P));
}

static bool hfmg_ok(struct checker *c, uint32_t at)
{
    uint32_t bins;

    if (!claim(c, at, 1, IMG_HFMG_SIZE))
        return false;
    bins = load32(c->im->base + at);
    return bins == 1024 || bins == 2048 || bins == 4096 || bins == 8192;
}

static bool ulq_ok(struct checker *c, uint32_t at)
{
    const uint8_t *p = c->im->base + at;
    struct qrt_real low;

    if (!claim(c, at, 1, IMG_ULQ_SIZE) || load32(p + IMG_U_FIXED) > 1 ||
        load32(p + IMG_U_CLIP) > 1)
        return false;
    if (!load32(p + IMG_U_CLIP))
        return true;
    low = real_at(p + IMG_U_MIN);
    return real_ok(real_at(p + IMG_U_MAX)) && low.m <= -((int32_t)1 << 30) &&
           low.e >= -148 && low.e <= 128;
}

static const uint8_t *recipe_at(const struct qrt_image *im, uint32_t entry)
{
    return im->base + im->recipes + entry * (uint32_t)IMG_RECIPE_SIZE;
}

static bool recipe_ok(struct checker *c, uint32_t entry)
{
    const uint8_t *p = recipe_at(c->im, entry);
    uint32_t at = load32(p + IMG_R_AT);

    switch (load32(p + IMG_R_KIND)) {
    case IMG_IFMR:
        return ifmr_ok(c, at);
    case IMG_HFMG:
        return hfmg_ok(c, at);
    case IMG_ULQ:
        return ulq_ok(c, at);
    default:
        return false;
    }
}

/* A code of at most 16 bits. */
static bool code_ok(int32_t v)
{
    return v >= -32768 && v <= 32767;
}

static bool words_ok(struct checker *c, uint32_t at, uint32_t count)
{
    return at == 0 || claim(c, at, count, 8);
}

static bool factors_ok(struct checker *c, uint32_t at, uint32_t channels)
{
    const uint8_t *p = c->im->base + at;
    uint32_t count;

    if (!claim(c, at, 1, IMG_FACTORS_SIZE))
        return false;
    count = load32(p + IMG_F_COUNT);
    return count >= 1 && (count == 1 || channels == 0 || count == channels) &&
           real_ok(real_at(p + IMG_F_SCALE_D)) &&
           real_ok(real_at(p + IMG_F_RECIP_D)) &&
           code_ok(signed32(p + IMG_F_OFFSET_D)) &&
           reals_ok(c, load32(p + IMG_F_SCALE_W), count) &&
           reals_ok(c, load32(p + IMG_F_DEQUANT), count) &&
           words_ok(c, load32(p + IMG_F_WORD_D), count) &&
           words_ok(c, load32(p + IMG_F_WORD_F), count);
}

static bool edge_ok(struct checker *c, uint32_t at, uint32_t factors)
{
    const uint8_t *p = c->im->base + at;
    int32_t low, high;

    if (!factors || !claim(c, at, 1, IMG_EDGE_SIZE))
        return false;
    low = signed32(p + IMG_E_MIN);
    high = signed32(p + IMG_E_MAX);
    return code_ok(low) && code_ok(high) && low <= high &&
           code_ok(signed32(p + IMG_E_ZERO)) &&
           load32(p + IMG_E_NEXT) < c->im->layer_count &&
           reals_ok(c, load32(p + IMG_E_REQUANT),
                    load32(c->im->base + factors + IMG_F_COUNT));
}

/* Ends inside the image, and claims its bytes. */
static bool name_ok(struct checker *c, uint32_t at)
{
    if (at < IMG_HEADER_SIZE)
        return false;
    for (; at < c->im->size && c->left > 0; at++, c->left--)
        if (c->im->base[at] == 0)
            return true;
    return false;
}

static bool bits_ok(uint32_t b)
{
    return b == 4 || b == 6 || b == 7 || b == 8 || b == 16;
}

static const uint8_t *layer_at(const struct qrt_image *im, uint32_t index)
{
    return im->base + im->layers + index * (uint32_t)IMG_LAYER_SIZE;
}

/* A skipped layer has a name and a type, nothing else. */
static bool recipes_ok(const struct qrt_image *im, const uint8_t *p)
{
    if (!p[IMG_L_ENABLED])
        return !p[IMG_L_ARQ_BITS] && !load32(p + IMG_L_FACTORS) &&
               !load32(p + IMG_L_EDGE);
    return bits_ok(p[IMG_L_ARQ_BITS]) && bits_ok(p[IMG_L_ACT_BITS]) &&
           load32(p + IMG_L_ACT) < im->recipe_count;
}

static bool layer_ok(struct checker *c, uint32_t index)
{
    const uint8_t *p = layer_at(c->im, index);
    uint32_t factors = load32(p + IMG_L_FACTORS);
    uint32_t edge = load32(p + IMG_L_EDGE);

    return (p[IMG_L_OP] < QRT_OP_KINDS || p[IMG_L_OP] == QRT_OP_UNKNOWN) &&
           p[IMG_L_ENABLED] <= 1 && p[IMG_L_ASYM] <= 1 &&
           p[IMG_L_ARQ_PER] <= 1 && p[IMG_L_ARQ_ALGO] <= QRT_ARQ_ULQ_SCALE &&
           p[IMG_L_RULE] < QRT_RULE_KINDS && p[IMG_L_EXACT] <= QRT_EX_ANY &&
           recipes_ok(c->im, p) && name_ok(c, load32(p + IMG_L_NAME)) &&
           (!factors || factors_ok(c, factors, load32(p + IMG_L_CHANNELS))) &&
           (!edge || edge_ok(c, edge, factors));
}

static const char *name_of(const struct qrt_image *im, uint32_t index)
{
    return (const char *)im->base + load32(layer_at(im, index) + IMG_L_NAME);
}

static int compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (int)(uint8_t)*a - (int)(uint8_t)*b;
}

static uint32_t sorted(const struct qrt_image *im, uint32_t i)
{
    return load16(im->base + im->by_name + 2 * i);
}

/* Strictly ascending names: the index is then a permutation. */
static bool index_ok(const struct qrt_image *im)
{
    uint32_t i;

    for (i = 0; i < im->layer_count; i++)
        if (sorted(im, i) >= im->layer_count)
            return false;
    for (i = 1; i < im->layer_count; i++)
        if (compare(name_of(im, sorted(im, i - 1)),
                    name_of(im, sorted(im, i))) >= 0)
            return false;
    return true;
}

static enum qrt_status check_header(const uint8_t *p, size_t size)
{
    uint32_t total;

    if (size < IMG_HEADER_SIZE)
        return QRT_ERR_SIZE;
    if (load32(p + IMG_H_MAGIC) != IMG_MAGIC ||
        load16(p + IMG_H_VERSION) != QRT_IMAGE_VERSION ||
        load16(p + IMG_H_HEAD) != IMG_HEADER_SIZE)
        return QRT_ERR_VERSION;
    total = load32(p + IMG_H_SIZE);
    if (total < IMG_HEADER_SIZE || total > size)
        return QRT_ERR_SIZE;
    if (crc32_of(p + IMG_H_CRC + 4, total - IMG_H_CRC - 4) !=
        load32(p + IMG_H_CRC))
        return QRT_ERR_HASH;
    return QRT_OK;
}

static void read_header(const uint8_t *p, struct qrt_image *im)
{
    im->base = p;
    im->size = load32(p + IMG_H_SIZE);
    im->layer_count = load32(p + IMG_H_COUNT);
    im->layers = load32(p + IMG_H_LAYERS);
    im->by_name = load32(p + IMG_H_BY_NAME);
    im->recipes = load32(p + IMG_H_RECIPES);
    im->recipe_count = load32(p + IMG_H_RECIPE_N);
    im->batch_num = load32(p + IMG_H_BATCH);
    im->tool = load32(p + IMG_H_TOOL);
    im->hash = load64(p + IMG_H_HASH);
    im->config_crc32 = load32(p + IMG_H_CONFIG);
    im->model_crc32 = load32(p + IMG_H_MODEL);
    im->record_crc32 = load32(p + IMG_H_RECORD);
}

static bool image_ok(const struct qrt_image *im)
{
    struct checker c;
    uint32_t i;

    c.im = im;
    c.left = im->size;
    if (im->layer_count == 0 || im->layer_count > 65535u ||
        !claim(&c, im->layers, im->layer_count, IMG_LAYER_SIZE) ||
        !claim(&c, im->by_name, im->layer_count, 2) ||
        !claim(&c, im->recipes, im->recipe_count, IMG_RECIPE_SIZE))
        return false;
    for (i = 0; i < im->recipe_count; i++)
        if (!recipe_ok(&c, i))
            return false;
    for (i = 0; i < im->layer_count; i++)
        if (!layer_ok(&c, i))
            return false;
    return index_ok(im);
}

enum qrt_status qrt_image_open(const void *image, size_t size,
                               struct qrt_image *out)
{
    struct qrt_image im;
    enum qrt_status status;

    if (!image || !out)
        return QRT_ERR_NULL;
    if ((uintptr_t)image % 8u != 0)
        return QRT_ERR_RANGE;
    status = check_header(image, size);
    if (status != QRT_OK)
        return status;
    read_header(image, &im);
    if (!image_ok(&im))
        return QRT_ERR_RANGE;
    out->base = im.base;
    out->size = im.size;
    out->layer_count = im.layer_count;
    out->layers = im.layers;
    out->by_name = im.by_name;
    out->recipes = im.recipes;
    out->recipe_count = im.recipe_count;
    out->batch_num = im.batch_num;
    out->tool = im.tool;
    out->hash = im.hash;
    out->config_crc32 = im.config_crc32;
    out->model_crc32 = im.model_crc32;
    out->record_crc32 = im.record_crc32;
    return QRT_OK;
}

/* ---- serving ---- */

/* Hands out arrays: in place, or copied into the buffer where the target's
 * byte order is the other one. */
struct arrays {
    const struct qrt_image *im;
    uint8_t *buffer;
    size_t used;
};

static const void *words32(struct arrays *a, uint32_t at, uint32_t count)
{
    uint32_t *to, i;

    if (little_endian())
        return a->im->base + at;
    to = (uint32_t *)(void *)(a->buffer + a->used);
    for (i = 0; i < count; i++)
        to[i] = load32(a->im->base + at + 4 * i);
    a->used += ((size_t)count * 4 + 7) / 8 * 8;
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
    to = (uint64_t *)(void *)(a->buffer + a->used);
    for (i = 0; i < count; i++)
        to[i] = load64(a->im->base + at + 8 * i);
    a->used += (size_t)count * 8;
    return to;
}

static void serve_recipe(struct arrays *a, uint32_t entry,
                         struct qrt_image_layer *out)
{
    const uint8_t *r = recipe_at(a->im, entry);
    const uint8_t *p = a->im->base + load32(r + IMG_R_AT);
    uint32_t kind = load32(r + IMG_R_KIND);

    if (kind == IMG_IFMR) {
        out->ifmr.max_percentile = load64(p + IMG_I_MAX_P);
        out->ifmr.min_percentile = load64(p + IMG_I_MIN_P);
        out->ifmr.ratio_count = load32(p + IMG_I_COUNT);
        out->ifmr.ratios =
            words32(a, load32(p + IMG_I_RATIOS), out->ifmr.ratio_count);
        out->layer.ifmr = &out->ifmr;
    } else if (kind == IMG_HFMG) {
        out->hfmg.bins = load32(p);
        out->layer.hfmg = &out->hfmg;
    } else if (kind == IMG_ULQ) {
        out->ulq.fixed_min = p[IMG_U_FIXED] != 0;
        out->ulq.has_clip = p[IMG_U_CLIP] != 0;
        out->ulq.clip_max = real_at(p + IMG_U_MAX);
        out->ulq.clip_min = real_at(p + IMG_U_MIN);
        out->layer.ulq = &out->ulq;
    }
}

static void serve_factors(struct arrays *a, uint32_t at,
                          struct qrt_image_layer *out)
{
    const uint8_t *p = a->im->base + at;
    struct qrt_factors *f = &out->factors;

    f->scale_d = real_at(p + IMG_F_SCALE_D);
    f->recip_d = real_at(p + IMG_F_RECIP_D);
    f->offset_d = signed32(p + IMG_F_OFFSET_D);
    f->scale_count = load32(p + IMG_F_COUNT);
    f->scale_w = reals(a, load32(p + IMG_F_SCALE_W), f->scale_count);
    f->dequant = reals(a, load32(p + IMG_F_DEQUANT), f->scale_count);
    f->word_dequant = words64(a, load32(p + IMG_F_WORD_D), f->scale_count);
    f->word_fixpipe = words64(a, load32(p + IMG_F_WORD_F), f->scale_count);
    out->layer.factors = f;
}

static void serve_edge(struct arrays *a, uint32_t at,
                       struct qrt_image_layer *out)
{
    const uint8_t *p = a->im->base + at;
    struct qrt_edge *e = &out->edge;

    e->requant = reals(a, load32(p + IMG_E_REQUANT), out->factors.scale_count);
    e->zero_point = signed32(p + IMG_E_ZERO);
    e->code_min = signed32(p + IMG_E_MIN);
    e->code_max = signed32(p + IMG_E_MAX);
    e->next = load32(p + IMG_E_NEXT);
    out->layer.edge = e;
}

static void serve_head(const struct qrt_image *im, uint32_t index,
                       struct qrt_image_layer *out)
{
    const uint8_t *p = layer_at(im, index);
    struct qrt_layer *l = &out->layer;

    l->name = name_of(im, index);
    l->op = p[IMG_L_OP];
    l->enabled = p[IMG_L_ENABLED];
    l->act_bits = p[IMG_L_ACT_BITS];
    l->act_asymmetric = p[IMG_L_ASYM];
    l->out_channels = load32(p + IMG_L_CHANNELS);
    l->arq = NULL;
    l->ifmr = NULL;
    l->hfmg = NULL;
    l->ulq = NULL;
    l->factors = NULL;
    l->edge = NULL;
    l->join = NULL; /* not in an image */
    l->rule = p[IMG_L_RULE];
    l->exactness = p[IMG_L_EXACT];
    if (!l->enabled)
        return;
    out->arq.bits = p[IMG_L_ARQ_BITS];
    out->arq.per_channel = p[IMG_L_ARQ_PER];
    out->arq.algo = p[IMG_L_ARQ_ALGO];
    out->arq.reserved = 0;
    l->arq = &out->arq;
}

static size_t round8(size_t n)
{
    return (n + 7) / 8 * 8;
}

size_t qrt_image_layer_scratch(const struct qrt_image *im, uint32_t index)
{
    const uint8_t *p, *f;
    size_t need = 0, count;

    if (!im || index >= im->layer_count || little_endian())
        return 0;
    p = layer_at(im, index);
    f = recipe_at(im, load32(p + IMG_L_ACT));
    if (p[IMG_L_ENABLED] && load32(f + IMG_R_KIND) == IMG_IFMR)
        need += round8((size_t)4 *
                       load32(im->base + load32(f + IMG_R_AT) + IMG_I_COUNT));
    if (load32(p + IMG_L_FACTORS)) {
        f = im->base + load32(p + IMG_L_FACTORS);
        count = load32(f + IMG_F_COUNT);
        need += count * 16;
        need += load32(f + IMG_F_WORD_D) ? count * 8 : 0;
        need += load32(f + IMG_F_WORD_F) ? count * 8 : 0;
        need += load32(p + IMG_L_EDGE) ? count * 8 : 0;
    }
    return need;
}

enum qrt_status qrt_image_layer(const struct qrt_image *im, uint32_t index,
                                void *buffer, size_t buffer_size,
                                struct qrt_image_layer *out)
{
    struct arrays a;
    const uint8_t *p;

    if (!im || !out)
        return QRT_ERR_NULL;
    if (index >= im->layer_count)
        return QRT_ERR_RANGE;
    if (qrt_image_layer_scratch(im, index) > (buffer ? buffer_size : 0) ||
        (uintptr_t)buffer % 8u != 0)
        return QRT_ERR_SCRATCH;
    a.im = im;
    a.buffer = buffer;
    a.used = 0;
    p = layer_at(im, index);
    serve_head(im, index, out);
    if (p[IMG_L_ENABLED])
        serve_recipe(&a, load32(p + IMG_L_ACT), out);
    if (load32(p + IMG_L_FACTORS))
        serve_factors(&a, load32(p + IMG_L_FACTORS), out);
    if (load32(p + IMG_L_EDGE))
        serve_edge(&a, load32(p + IMG_L_EDGE), out);
    return QRT_OK;
}

enum qrt_status qrt_image_find(const struct qrt_image *im, const char *name,
                               uint32_t *index)
{
    uint32_t low = 0, high;

    if (!im || !name || !index)
        return QRT_ERR_NULL;
    high = im->layer_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int c = compare(name_of(im, sorted(im, mid)), name);

        if (c == 0) {
            *index = sorted(im, mid);
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
