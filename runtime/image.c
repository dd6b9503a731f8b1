/* Deployment images: all of one is checked once. image_view.c serves it. */
#include "image_read.h"

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
        if (!real_ok(img_real_at(c->im->base + at + 8 * i)))
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
    count = img_load32(p + IMG_I_COUNT);
    ratios = img_load32(p + IMG_I_RATIOS);
    if (count == 0 || count > 65535u || !claim(c, ratios, count, 4))
        return false;
    for (i = 0; i < count; i++)
        if (!ratio_ok(img_load32(c->im->base + ratios + 4 * i)))
            return false;
    return percentile_ok(img_load64(p + IMG_I_MAX_P)) &&
           percentile_ok(img_load64(p + IMG_I_MIN_P));
}

static bool hfmg_ok(struct checker *c, uint32_t at)
{
    uint32_t bins;

    if (!claim(c, at, 1, IMG_HFMG_SIZE))
        return false;
    bins = img_load32(c->im->base + at);
    return bins == 1024 || bins == 2048 || bins == 4096 || bins == 8192;
}

static bool ulq_ok(struct checker *c, uint32_t at)
{
    const uint8_t *p = c->im->base + at;
    struct qrt_real low;

    if (!claim(c, at, 1, IMG_ULQ_SIZE) || img_load32(p + IMG_U_FIXED) > 1 ||
        img_load32(p + IMG_U_CLIP) > 1)
        return false;
    if (!img_load32(p + IMG_U_CLIP))
        return true;
    low = img_real_at(p + IMG_U_MIN);
    return real_ok(img_real_at(p + IMG_U_MAX)) &&
           low.m <= -((int32_t)1 << 30) && low.e >= -148 && low.e <= 128;
}

static bool recipe_ok(struct checker *c, uint32_t entry)
{
    const uint8_t *p = img_recipe_at(c->im, entry);
    uint32_t at = img_load32(p + IMG_R_AT);

    switch (img_load32(p + IMG_R_KIND)) {
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
    count = img_load32(p + IMG_F_COUNT);
    return count >= 1 && (count == 1 || channels == 0 || count == channels) &&
           real_ok(img_real_at(p + IMG_F_SCALE_D)) &&
           real_ok(img_real_at(p + IMG_F_RECIP_D)) &&
           code_ok(img_signed32(p + IMG_F_OFFSET_D)) &&
           reals_ok(c, img_load32(p + IMG_F_SCALE_W), count) &&
           reals_ok(c, img_load32(p + IMG_F_DEQUANT), count) &&
           words_ok(c, img_load32(p + IMG_F_WORD_D), count) &&
           words_ok(c, img_load32(p + IMG_F_WORD_F), count);
}

/* Zero point and clamp stand one behind the other, in edges and joins. */
static bool codes_ok(const uint8_t *p)
{
    int32_t low = img_signed32(p + 4), high = img_signed32(p + 8);

    return code_ok(img_signed32(p)) && code_ok(low) && code_ok(high) &&
           low <= high;
}

static bool edge_ok(struct checker *c, uint32_t at, uint32_t factors)
{
    const uint8_t *p = c->im->base + at;

    return factors && claim(c, at, 1, IMG_EDGE_SIZE) &&
           codes_ok(p + IMG_E_ZERO) &&
           img_load32(p + IMG_E_NEXT) < c->im->layer_count &&
           reals_ok(c, img_load32(p + IMG_E_REQUANT),
                    img_load32(c->im->base + factors + IMG_F_COUNT));
}

/* A part of a sum: numbers of a layer with factors, before this one. */
static bool term_ok(struct checker *c, const uint8_t *p, uint32_t index)
{
    uint32_t from = img_load32(p + IMG_T_LAYER), factors;
    uint32_t count = img_load32(p + IMG_T_COUNT);
    uint32_t code = img_load32(p + IMG_T_CODE);
    int32_t zero = img_signed32(p + IMG_T_ZERO);

    if (from >= index || code > 1)
        return false;
    factors = img_load32(img_layer_at(c->im, from) + IMG_L_FACTORS);
    if (!factors)
        return false;
    return (count == 1 || (!code && count == img_load32(c->im->base + factors +
                                                        IMG_F_COUNT))) &&
           (code ? code_ok(zero) : zero == 0) &&
           img_signed32(p + IMG_T_LOW) <= img_signed32(p + IMG_T_HIGH) &&
           reals_ok(c, img_load32(p + IMG_T_SCALE), count);
}

static bool sum_ok(struct checker *c, const uint8_t *p, uint32_t index)
{
    const uint8_t *term = c->im->base + img_load32(p + IMG_J_TERMS);
    uint32_t table = img_load32(p + IMG_J_TABLE), i;

    if (p[IMG_J_FRAC] > 16 || p[IMG_J_MEAN] > 1 || img_load32(p + IMG_J_EDGE) ||
        !codes_ok(p + IMG_J_ZERO) ||
        img_signed32(p + IMG_J_LOW) > img_signed32(p + IMG_J_HIGH))
        return false;
    if (table && (!claim(c, table, 1, IMG_TABLE_SIZE) ||
                  img_layer_at(c->im, index)[IMG_L_ACT_BITS] != 8 ||
                  img_signed32(p + IMG_J_MIN) < -128 ||
                  img_signed32(p + IMG_J_MAX) > 127))
        return false;
    for (i = 0; i < p[IMG_J_COUNT]; i++)
        if (!term_ok(c, term + i * (uint32_t)IMG_TERM_SIZE, index))
            return false;
    return true;
}

/* Codes or the accumulator of one layer, with factors, as they are. The edge
 * of an accumulator may be the join's own. */
static bool one_ok(struct checker *c, const uint8_t *p)
{
    const uint8_t *term = c->im->base + img_load32(p + IMG_J_TERMS), *from;
    uint32_t layer = img_load32(term + IMG_T_LAYER), factors;
    uint32_t edge = img_load32(p + IMG_J_EDGE);

    if (p[IMG_J_COUNT] != 1 || layer >= c->im->layer_count ||
        img_load32(term + IMG_T_SCALE) || img_load32(term + IMG_T_COUNT) ||
        img_load32(p + IMG_J_TABLE))
        return false;
    from = img_layer_at(c->im, layer);
    factors = img_load32(from + IMG_L_FACTORS);
    if (p[IMG_J_KIND] == QRT_JOIN_SAME)
        return factors && !edge;
    return edge ? edge_ok(c, edge, factors)
                : img_load32(from + IMG_L_EDGE) != 0;
}

/* Joins look at other layers: these have been checked. */
static bool join_ok(struct checker *c, uint32_t index)
{
    const uint8_t *l = img_layer_at(c->im, index);
    uint32_t at = img_load32(l + IMG_L_JOIN);
    const uint8_t *p = c->im->base + at;

    if (!at)
        return true;
    if (!img_load32(l + IMG_L_FACTORS) || !claim(c, at, 1, IMG_JOIN_SIZE) ||
        p[IMG_J_COUNT] == 0 ||
        !claim(c, img_load32(p + IMG_J_TERMS), p[IMG_J_COUNT], IMG_TERM_SIZE))
        return false;
    if (p[IMG_J_KIND] == QRT_JOIN_SUM || p[IMG_J_KIND] == QRT_JOIN_CONCAT)
        return sum_ok(c, p, index);
    return p[IMG_J_KIND] <= QRT_JOIN_EDGE && one_ok(c, p);
}

static bool weights_ok(struct checker *c, uint32_t at, const uint8_t *l)
{
    const uint8_t *p = c->im->base + at;
    uint32_t out = img_load32(l + IMG_L_CHANNELS), channels;

    if (!img_load32(l + IMG_L_FACTORS) || !claim(c, at, 1, IMG_WEIGHTS_SIZE))
        return false;
    channels = img_load32(p + IMG_W_CHANNELS);
    return channels >= 1 && (out == 0 || channels == out) &&
           p[IMG_W_PAIRS] == (l[IMG_L_ARQ_BITS] == 4) &&
           p[IMG_W_LAYOUT] <= QRT_IMAGE_CMSIS &&
           claim(c, img_load32(p + IMG_W_CODES), img_load32(p + IMG_W_BYTES),
                 1) &&
           claim(c, img_load32(p + IMG_W_BIAS), channels, 4) &&
           claim(c, img_load32(p + IMG_W_BIAS_ZP), channels, 4);
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

/* A skipped layer has a name and a type, nothing else; joins and weights need
 * factors. */
static bool recipes_ok(const struct qrt_image *im, const uint8_t *p)
{
    if (!p[IMG_L_ENABLED])
        return !p[IMG_L_ARQ_BITS] && !img_load32(p + IMG_L_FACTORS) &&
               !img_load32(p + IMG_L_EDGE);
    return bits_ok(p[IMG_L_ARQ_BITS]) && bits_ok(p[IMG_L_ACT_BITS]) &&
           img_load32(p + IMG_L_ACT) < im->recipe_count;
}

static bool layer_ok(struct checker *c, uint32_t index)
{
    const uint8_t *p = img_layer_at(c->im, index);
    uint32_t factors = img_load32(p + IMG_L_FACTORS);
    uint32_t edge = img_load32(p + IMG_L_EDGE);
    uint32_t weights = img_load32(p + IMG_L_WEIGHTS);

    return (p[IMG_L_OP] < QRT_OP_KINDS || p[IMG_L_OP] == QRT_OP_UNKNOWN) &&
           p[IMG_L_ENABLED] <= 1 && p[IMG_L_ASYM] <= 1 &&
           p[IMG_L_ARQ_PER] <= 1 && p[IMG_L_ARQ_ALGO] <= QRT_ARQ_ULQ_SCALE &&
           p[IMG_L_RULE] < QRT_RULE_KINDS && p[IMG_L_EXACT] <= QRT_EX_ANY &&
           recipes_ok(c->im, p) && name_ok(c, img_load32(p + IMG_L_NAME)) &&
           (!factors ||
            factors_ok(c, factors, img_load32(p + IMG_L_CHANNELS))) &&
           (!edge || edge_ok(c, edge, factors)) &&
           (!weights || weights_ok(c, weights, p));
}

/* Strictly ascending names: the index is then a permutation. */
static bool index_ok(const struct qrt_image *im)
{
    uint32_t i;

    for (i = 0; i < im->layer_count; i++)
        if (img_sorted(im, i) >= im->layer_count)
            return false;
    for (i = 1; i < im->layer_count; i++)
        if (img_compare(img_name(im, img_sorted(im, i - 1)),
                        img_name(im, img_sorted(im, i))) >= 0)
            return false;
    return true;
}

static enum qrt_status check_header(const uint8_t *p, size_t size)
{
    uint32_t total;

    if (size < IMG_HEADER_SIZE)
        return QRT_ERR_SIZE;
    if (img_load32(p + IMG_H_MAGIC) != IMG_MAGIC ||
        img_load16(p + IMG_H_VERSION) != QRT_IMAGE_VERSION ||
        img_load16(p + IMG_H_HEAD) != IMG_HEADER_SIZE)
        return QRT_ERR_VERSION;
    total = img_load32(p + IMG_H_SIZE);
    if (total < IMG_HEADER_SIZE || total > size)
        return QRT_ERR_SIZE;
    if (crc32_of(p + IMG_H_CRC + 4, total - IMG_H_CRC - 4) !=
        img_load32(p + IMG_H_CRC))
        return QRT_ERR_HASH;
    return QRT_OK;
}

static void read_header(const uint8_t *p, struct qrt_image *im)
{
    im->base = p;
    im->size = img_load32(p + IMG_H_SIZE);
    im->layer_count = img_load32(p + IMG_H_COUNT);
    im->layers = img_load32(p + IMG_H_LAYERS);
    im->by_name = img_load32(p + IMG_H_BY_NAME);
    im->recipes = img_load32(p + IMG_H_RECIPES);
    im->recipe_count = img_load32(p + IMG_H_RECIPE_N);
    im->batch_num = img_load32(p + IMG_H_BATCH);
    im->tool = img_load32(p + IMG_H_TOOL);
    im->hash = img_load64(p + IMG_H_HASH);
    im->config_crc32 = img_load32(p + IMG_H_CONFIG);
    im->model_crc32 = img_load32(p + IMG_H_MODEL);
    im->record_crc32 = img_load32(p + IMG_H_RECORD);
    im->options_crc32 = img_load32(p + IMG_H_OPTIONS);
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
    for (i = 0; i < im->layer_count; i++)
        if (!join_ok(&c, i))
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
    out->options_crc32 = im.options_crc32;
    return QRT_OK;
}
