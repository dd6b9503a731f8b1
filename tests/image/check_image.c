/* An image against the tables that were made from the same inputs, and what is
 * left of it after thousands of mutations. Built with sanitizers where the
 * compiler has them; with WEIGHTS against quant_weights.h too, whose layers
 * stand in weights.def as W(name).
 *
 *   check_image IMAGE RUNS */
#include "quant_tables.h"
#ifdef WEIGHTS
#include "quant_weights.h"
#endif

#include "qrt_image.h"
#include "qrt_selftest.h"

#include "image_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned passed, failed;

static void expect(int ok, const char *what)
{
    if (ok)
        passed++;
    else {
        failed++;
        printf("FAILED: %s\n", what);
    }
}

static int same_reals(const struct qrt_real *a, const struct qrt_real *b,
                      uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++)
        if (a[i].m != b[i].m || a[i].e != b[i].e)
            return 0;
    return 1;
}

static int same_words(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    uint32_t i;

    for (i = 0; a && b && i < n; i++)
        if (a[i] != b[i])
            return 0;
    return !a == !b;
}

static int same_factors(const struct qrt_factors *a,
                        const struct qrt_factors *b)
{
    uint32_t n;

    if (!a || !b)
        return !a && !b;
    n = a->scale_count;
    return n == b->scale_count && same_reals(&a->scale_d, &b->scale_d, 1) &&
           same_reals(&a->recip_d, &b->recip_d, 1) &&
           a->offset_d == b->offset_d &&
           same_reals(a->scale_w, b->scale_w, n) &&
           same_reals(a->dequant, b->dequant, n) &&
           same_words(a->word_dequant, b->word_dequant, n) &&
           same_words(a->word_fixpipe, b->word_fixpipe, n);
}

static int same_edge(const struct qrt_edge *a, const struct qrt_edge *b,
                     uint32_t count)
{
    if (!a || !b)
        return !a && !b;
    return a->zero_point == b->zero_point && a->code_min == b->code_min &&
           a->code_max == b->code_max && a->next == b->next &&
           same_reals(a->requant, b->requant, count);
}

static int same_term(const struct qrt_term *a, const struct qrt_term *b)
{
    return a->layer == b->layer && a->is_code == b->is_code &&
           a->zero_point == b->zero_point && a->low == b->low &&
           a->high == b->high && a->scale_count == b->scale_count &&
           !a->scale == !b->scale &&
           same_reals(a->scale, b->scale, a->scale_count);
}

/* Kinds of joins seen, means and tables, and edges of their own. */
static unsigned seen[4], means, functions, own_edges;

static int same_join(const struct qrt_join *a, const struct qrt_join *b)
{
    const struct qrt_layer *from;
    uint32_t i;

    if (!a || !b)
        return !a && !b;
    if (a->kind != b->kind || a->frac != b->frac || a->mean != b->mean ||
        a->term_count != b->term_count || a->low != b->low ||
        a->high != b->high || a->zero_point != b->zero_point ||
        a->code_min != b->code_min || a->code_max != b->code_max ||
        !a->table != !b->table)
        return 0;
    for (i = 0; i < a->term_count; i++)
        if (!same_term(&a->terms[i], &b->terms[i]))
            return 0;
    from = &quant_layers[b->terms[0].layer];
    seen[b->kind]++;
    means += b->mean;
    functions += b->table != NULL;
    own_edges += b->edge != NULL && b->edge != from->edge;
    return (!a->table || memcmp(a->table, b->table, 256) == 0) &&
           same_edge(a->edge, b->edge, from->factors->scale_count);
}

static int same_recipe(const struct qrt_layer *a, const struct qrt_layer *b)
{
    uint32_t i;

    if (!a->arq != !b->arq || !a->ifmr != !b->ifmr || !a->hfmg != !b->hfmg ||
        !a->ulq != !b->ulq)
        return 0;
    if (a->arq && (a->arq->bits != b->arq->bits ||
                   a->arq->per_channel != b->arq->per_channel ||
                   a->arq->algo != b->arq->algo))
        return 0;
    if (a->ifmr) {
        if (a->ifmr->ratio_count != b->ifmr->ratio_count ||
            a->ifmr->max_percentile != b->ifmr->max_percentile ||
            a->ifmr->min_percentile != b->ifmr->min_percentile)
            return 0;
        for (i = 0; i < a->ifmr->ratio_count; i++)
            if (a->ifmr->ratios[i] != b->ifmr->ratios[i])
                return 0;
    }
    if (a->ulq && (a->ulq->fixed_min != b->ulq->fixed_min ||
                   a->ulq->has_clip != b->ulq->has_clip ||
                   !same_reals(&a->ulq->clip_max, &b->ulq->clip_max, 1) ||
                   !same_reals(&a->ulq->clip_min, &b->ulq->clip_min, 1)))
        return 0;
    return 1;
}

/* A buffer of exactly the size: what is written behind it is seen. */
static void *exactly(size_t size)
{
    return size ? malloc(size) : NULL;
}

static uint64_t sum_of(const struct qrt_real *r, uint32_t n)
{
    uint64_t sum = 0;

    while (r && n--)
        sum += (uint32_t)r[n].m + (uint32_t)r[n].e;
    return sum;
}

static uint64_t look_join(const struct qrt_join *j,
                          const struct qrt_layer *layers)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < j->term_count; i++)
        sum += sum_of(j->terms[i].scale, j->terms[i].scale_count);
    for (i = 0; j->table && i < 256; i++)
        sum += (uint8_t)j->table[i];
    if (j->edge)
        sum += sum_of(j->edge->requant,
                      layers[j->terms[0].layer].factors->scale_count);
    return sum;
}

/* The sum keeps it from being optimised away, and makes the sanitizer look at
 * every array. */
static uint64_t look(const struct qrt_layer *l, const struct qrt_layer *layers)
{
    const struct qrt_factors *f = l->factors;
    uint64_t sum = strlen(l->name);
    uint32_t c;

    if (f)
        sum += sum_of(f->scale_w, f->scale_count) +
               sum_of(f->dequant, f->scale_count);
    for (c = 0; f && c < f->scale_count; c++) {
        sum += f->word_dequant ? f->word_dequant[c] : 0;
        sum += f->word_fixpipe ? f->word_fixpipe[c] : 0;
    }
    if (l->edge)
        sum += sum_of(l->edge->requant, f->scale_count);
    for (c = 0; l->ifmr && c < l->ifmr->ratio_count; c++)
        sum += l->ifmr->ratios[c];
    return l->join ? sum + look_join(l->join, layers) : sum;
}

static uint64_t look_weights(const struct qrt_image *im, uint32_t i)
{
    size_t need = qrt_image_weights_scratch(im, i);
    void *buffer = exactly(need);
    struct qrt_image_weights w;
    uint64_t sum = 0;
    uint32_t c;

    if (qrt_image_weights(im, i, buffer, need, &w) == QRT_OK) {
        for (c = 0; c < w.bytes; c++)
            sum += w.codes ? (uint8_t)w.codes[c] : w.pairs[c];
        for (c = 0; c < w.channels; c++)
            sum += (uint32_t)w.bias[c] ^ (uint32_t)w.bias_zp[c];
    }
    free(buffer);
    return sum;
}

/* Every layer of an open image is served, one by one and all at once. */
static uint64_t serve(const struct qrt_image *im)
{
    size_t need = qrt_image_tables_scratch(im);
    void *all = malloc(need);
    struct qrt_tables tables;
    uint64_t sum = 0, at_once = 0;
    uint32_t i;

    if (qrt_image_tables(im, all, need, &tables) != QRT_OK ||
        qrt_tables_check(&tables, im->hash) != QRT_OK)
        abort();
    for (i = 0; i < im->layer_count; i++) {
        void *buffer;
        struct qrt_image_layer view;

        need = qrt_image_layer_scratch(im, i);
        buffer = exactly(need);
        if (qrt_image_layer(im, i, buffer, need, &view) != QRT_OK)
            abort();
        sum += look(&view.layer, tables.layers);
        at_once += look(&tables.layers[i], tables.layers);
        free(buffer);
        look_weights(im, i);
    }
    if (sum != at_once)
        abort();
    free(all);
    return sum;
}

/* ---- the same as the tables ---- */

static void same_layer(const struct qrt_layer *have,
                       const struct qrt_layer *want)
{
    expect(strcmp(have->name, want->name) == 0, "name");
    expect(have->op == want->op && have->enabled == want->enabled &&
               have->act_bits == want->act_bits &&
               have->act_asymmetric == want->act_asymmetric &&
               have->out_channels == want->out_channels &&
               have->rule == want->rule && have->exactness == want->exactness,
           "row");
    expect(same_recipe(have, want), "recipe");
    expect(same_factors(have->factors, want->factors), "factors");
    expect(same_edge(have->edge, want->edge,
                     want->factors ? want->factors->scale_count : 0),
           "edge");
    expect(same_join(have->join, want->join), "join");
}

static void same_tables(const struct qrt_image *im)
{
    size_t need = qrt_image_tables_scratch(im);
    void *buffer = malloc(need);
    struct qrt_tables t;
    uint32_t i, at;

    expect(qrt_image_tables(im, buffer, need - 1, &t) == QRT_ERR_SCRATCH,
           "a buffer too small");
    expect(qrt_image_tables(im, NULL, need, &t) == QRT_ERR_SCRATCH,
           "no buffer");
    expect(qrt_image_tables(im, (char *)buffer + 4, need, &t) ==
               QRT_ERR_SCRATCH,
           "alignment of the buffer");
    expect(qrt_image_tables(NULL, buffer, need, &t) == QRT_ERR_NULL &&
               qrt_image_tables(im, buffer, need, NULL) == QRT_ERR_NULL,
           "null arguments");
    expect(qrt_image_tables(im, buffer, need, &t) == QRT_OK, "tables");
    expect(qrt_tables_check(&t, QUANT_TABLES_HASH) == QRT_OK, "check");
    for (i = 0; i < t.layer_count; i++) {
        same_layer(&t.layers[i], &quant_layers[i]);
        expect(qrt_find_layer(&t, quant_layers[i].name, &at) == QRT_OK &&
                   at == i,
               "find in tables");
    }
#ifdef SELFTEST
    {
        struct qrt_selftest_fault fault;

        expect(qrt_selftest(&t, &quant_selftest, &fault) == QRT_OK,
               "linked vectors on the image's tables");
    }
#endif
    free(buffer);
}

#ifdef WEIGHTS
static const struct {
    uint32_t row, bytes, channels;
    const void *codes;
    const int32_t *bias, *bias_zp;
} weights[] = {
#define W(n)                                                                   \
    {QUANT_##n,        sizeof(quant_weight_##n), sizeof(quant_bias_##n) / 4,   \
     quant_weight_##n, quant_bias_##n,           quant_bias_zp_##n},
#include "weights.def"
};

static void same_weights(const struct qrt_image *im)
{
    size_t i, n = sizeof(weights) / sizeof(*weights);

    for (i = 0; i < n; i++) {
        size_t need = qrt_image_weights_scratch(im, weights[i].row);
        void *buffer = exactly(need);
        struct qrt_image_weights w;

        expect(qrt_image_weights(im, weights[i].row, buffer, need, &w) ==
                   QRT_OK,
               "weights");
        expect(w.bytes == weights[i].bytes &&
                   w.channels == weights[i].channels && w.layout == LAYOUT &&
                   !w.codes == !!w.pairs,
               "their head");
        expect(memcmp(w.pairs ? (const void *)w.pairs : w.codes,
                      weights[i].codes, w.bytes) == 0,
               "codes");
        expect(!w.pairs == (quant_layers[weights[i].row].arq->bits != 4),
               "pairs");
        expect(memcmp(w.bias, weights[i].bias, 4 * w.channels) == 0, "bias");
        expect(memcmp(w.bias_zp, weights[i].bias_zp, 4 * w.channels) == 0,
               "bias_zp");
        free(buffer);
    }
}
#else
static void same_weights(const struct qrt_image *im)
{
    struct qrt_image_weights w;

    expect(qrt_image_weights(im, 0, NULL, 0, &w) == QRT_ERR_NOT_FOUND,
           "an image without weights");
    expect(qrt_image_weights_scratch(im, 0) == 0, "nor a buffer for them");
    expect(qrt_image_weights(im, im->layer_count, NULL, 0, &w) == QRT_ERR_RANGE,
           "weights of no layer");
    expect(qrt_image_weights(NULL, 0, NULL, 0, &w) == QRT_ERR_NULL &&
               qrt_image_weights(im, 0, NULL, 0, NULL) == QRT_ERR_NULL,
           "weights: null");
}
#endif

static void compare(const struct qrt_image *im)
{
    uint32_t i, at;

    expect(im->layer_count == QUANT_LAYER_COUNT, "layer count");
    expect(im->hash == QUANT_TABLES_HASH, "hash");
    expect(im->config_crc32 == QUANT_TABLES_CONFIG_CRC32, "CRC of config");
    expect(im->model_crc32 == QUANT_TABLES_MODEL_CRC32, "CRC of model");
    expect(im->batch_num == quant_tables.batch_num, "batch_num");
    for (i = 0; i < im->layer_count; i++) {
        const struct qrt_layer *want = &quant_layers[i];
        size_t need = qrt_image_layer_scratch(im, i);
        void *buffer = exactly(need);
        struct qrt_image_layer view;

        expect(qrt_image_layer(im, i, buffer, need, &view) == QRT_OK, "layer");
        same_layer(&view.layer, want);
        if (need)
            expect(qrt_image_layer(im, i, buffer, need - 1, &view) ==
                       QRT_ERR_SCRATCH,
                   "a layer's buffer too small");
        expect(qrt_image_find(im, want->name, &at) == QRT_OK && at == i,
               "find");
        free(buffer);
    }
    expect(qrt_image_find(im, "no such layer", &at) == QRT_ERR_NOT_FOUND,
           "a name that is not there");
    expect(qrt_image_layer_scratch(im, im->layer_count) == 0 &&
               qrt_image_layer_scratch(NULL, 0) == 0,
           "no buffer for no layer");
    same_tables(im);
    same_weights(im);
}

/* ---- mutations ---- */

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void store32(unsigned char *p, uint32_t v)
{
    int i;

    for (i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t crc32_of(const unsigned char *p, size_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    size_t i;
    int k;

    for (i = 0; i < n; i++) {
        crc ^= p[i];
        for (k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

/* One to four changes: a byte, a word of interest, a copied piece, a cut. */
static size_t mutate(unsigned char *p, size_t size)
{
    static const uint32_t words[] = {
        0,      1,          7,          8,          64,         0xFF,
        0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF8, 0x40000000};
    unsigned n = 1 + next_random() % 4;

    while (n-- && size > IMG_HEADER_SIZE) {
        size_t at = next_random() % size;

        switch (next_random() % 4) {
        case 0:
            p[at] = (unsigned char)next_random();
            break;
        case 1:
            if ((at & ~(size_t)3) + 4 <= size)
                store32(p + (at & ~(size_t)3),
                        words[next_random() % 12] + next_random() % 3);
            break;
        case 2:
            memmove(p + at / 2, p + at, (size - at) / 2);
            break;
        default:
            if (next_random() % 8 == 0)
                size = IMG_HEADER_SIZE + at % (size - IMG_HEADER_SIZE + 1);
            break;
        }
    }
    return size;
}

static void mutate_many(const unsigned char *image, size_t size, long runs)
{
    unsigned long accepted = 0;
    uint64_t sum = 0;
    long i;

    for (i = 0; i < runs; i++) {
        /* A buffer of exactly the size: a read behind it is seen. */
        unsigned char *copy = malloc(size), *exact;
        struct qrt_image im;
        size_t n;

        memcpy(copy, image, size);
        n = mutate(copy, size);
        if (i % 4) { /* most get past the CRC, as an attacker's would */
            store32(copy + IMG_H_SIZE, (uint32_t)n);
            store32(copy + IMG_H_CRC,
                    crc32_of(copy + IMG_H_CRC + 4, n - IMG_H_CRC - 4));
        }
        exact = malloc(n);
        memcpy(exact, copy, n);
        if (qrt_image_open(exact, n, &im) == QRT_OK) {
            accepted++;
            sum += serve(&im);
        }
        free(exact);
        free(copy);
    }
    printf("%ld mutations, %lu still sound (%lx)\n", runs, accepted,
           (unsigned long)sum);
    expect(accepted > 0 && accepted < (unsigned long)runs,
           "some mutations are refused, some are harmless");
}

static void refuse_wrong(unsigned char *image, size_t size)
{
    struct qrt_image im;
    size_t n;

    memset(&im, 0x5A, sizeof(im));
    for (n = 0; n < size; n++)
        if (qrt_image_open(image, n, &im) == QRT_OK)
            break;
    expect(n == size, "every shorter image is refused");
    expect(im.layer_count == 0x5A5A5A5Au, "an error leaves the output alone");
    expect(qrt_image_open(NULL, size, &im) == QRT_ERR_NULL, "null image");
    expect(qrt_image_open(image, size, NULL) == QRT_ERR_NULL, "null output");
    expect(qrt_image_open(image + 1, size - 1, &im) == QRT_ERR_RANGE,
           "alignment");
    image[size - 1] ^= 1;
    expect(qrt_image_open(image, size, &im) == QRT_ERR_HASH, "CRC");
    image[size - 1] ^= 1;
    image[IMG_H_VERSION]++;
    expect(qrt_image_open(image, size, &im) == QRT_ERR_VERSION, "version");
    image[IMG_H_VERSION]--;
}

/* Which input moved; 0 stands for any. */
static void tell_what_moved(const struct qrt_image *im)
{
    uint32_t c = QUANT_TABLES_CONFIG_CRC32, m = QUANT_TABLES_MODEL_CRC32;

    expect(qrt_image_moved(im, c, m) == 0, "the firmware's own image");
    expect(qrt_image_moved(im, c ^ 1, m) == QRT_IMAGE_OTHER_CONFIG,
           "another configuration");
    expect(qrt_image_moved(im, c, m ^ 1) == QRT_IMAGE_OTHER_MODEL,
           "another model");
    expect(qrt_image_moved(im, c ^ 1, m ^ 1) ==
               (QRT_IMAGE_OTHER_CONFIG | QRT_IMAGE_OTHER_MODEL),
           "both are others");
    expect(qrt_image_moved(im, 0, m) == 0 && qrt_image_moved(im, c, 0) == 0,
           "what does not count");
}

/* ---- one wrong member at a time ---- */

static uint32_t load32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

struct subject {
    unsigned char *image;
    size_t size;
    uint32_t layer; /* for messages */
    unsigned tried;
};

/* The image with `bytes` other bytes at p is out of range. */
static void wrong(struct subject *s, unsigned char *p, size_t bytes,
                  uint32_t value, const char *what)
{
    unsigned char old[4], with[4];
    struct qrt_image im;

    store32(with, value);
    memcpy(old, p, bytes);
    if (memcmp(old, with, bytes) == 0)
        return;
    memcpy(p, with, bytes);
    store32(s->image + IMG_H_CRC,
            crc32_of(s->image + IMG_H_CRC + 4, s->size - IMG_H_CRC - 4));
    s->tried++;
    if (qrt_image_open(s->image, s->size, &im) != QRT_ERR_RANGE) {
        printf("layer %u: %s = %lu is taken\n", (unsigned)s->layer, what,
               (unsigned long)value);
        expect(0, "a wrong member");
    }
    memcpy(p, old, bytes);
}
#define WRONG(p, member, bytes, value)                                         \
    wrong(s, (p) + (member), bytes, (uint32_t)(value), #member)

/* An offset: of the header, unaligned, the end, far behind it. */
static void wrong_offset(struct subject *s, unsigned char *p, const char *what)
{
    uint32_t size = (uint32_t)s->size;

    wrong(s, p, 4, 8, what);
    wrong(s, p, 4, load32(p) + 4, what);
    wrong(s, p, 4, size / 8 * 8, what);
    wrong(s, p, 4, 0xFFFFFFF8u, what);
}

/* Every layer that has no factors, or, for an edge, none. */
static void wrong_source(struct subject *s, unsigned char *t, size_t member)
{
    unsigned char *l = s->image + load32(s->image + IMG_H_LAYERS);
    uint32_t i, count = load32(s->image + IMG_H_COUNT);

    for (i = 0; i < count; i++, l += IMG_LAYER_SIZE)
        if (!load32(l + member))
            WRONG(t, IMG_T_LAYER, 4, i);
}

static void wrong_term(struct subject *s, unsigned char *t, int sum)
{
    WRONG(t, IMG_T_LAYER, 4, 65535);
    wrong_source(s, t, IMG_L_FACTORS);
    if (!sum) {
        WRONG(t, IMG_T_SCALE, 4, load32(s->image + IMG_H_LAYERS));
        WRONG(t, IMG_T_COUNT, 4, 1);
        return;
    }
    WRONG(t, IMG_T_LAYER, 4, s->layer);
    WRONG(t, IMG_T_LAYER, 4, s->layer + 1);
    WRONG(t, IMG_T_CODE, 4, 2);
    WRONG(t, IMG_T_ZERO, 4, t[IMG_T_CODE] ? 32768 : 1);
    store32(t + IMG_T_LOW, load32(t + IMG_T_LOW) + 1);
    WRONG(t, IMG_T_HIGH, 4, load32(t + IMG_T_LOW) - 1);
    store32(t + IMG_T_LOW, load32(t + IMG_T_LOW) - 1);
    WRONG(t, IMG_T_COUNT, 4, 0);
    WRONG(t, IMG_T_COUNT, 4, load32(t + IMG_T_COUNT) + 1);
    if (load32(t + IMG_T_COUNT) > 2)
        WRONG(t, IMG_T_COUNT, 4, load32(t + IMG_T_COUNT) - 1);
    WRONG(t, IMG_T_SCALE, 4, 0);
    wrong_offset(s, t + IMG_T_SCALE, "IMG_T_SCALE");
    wrong(s, s->image + load32(t + IMG_T_SCALE), 4, 1 << 29, "its mantissa");
}

static void wrong_sum(struct subject *s, unsigned char *j)
{
    WRONG(j, IMG_J_FRAC, 1, 17);
    WRONG(j, IMG_J_MEAN, 1, 2);
    WRONG(j, IMG_J_EDGE, 4, load32(j + IMG_J_TERMS));
    WRONG(j, IMG_J_ZERO, 4, 32768);
    WRONG(j, IMG_J_ZERO, 4, -32769);
    WRONG(j, IMG_J_MIN, 4, load32(j + IMG_J_MAX) + 1);
    WRONG(j, IMG_J_MAX, 4, 32768);
    WRONG(j, IMG_J_MIN, 4, -32769);
    store32(j + IMG_J_LOW, load32(j + IMG_J_LOW) + 1);
    WRONG(j, IMG_J_HIGH, 4, load32(j + IMG_J_LOW) - 1);
    store32(j + IMG_J_LOW, load32(j + IMG_J_LOW) - 1);
    if (!load32(j + IMG_J_TABLE))
        return;
    WRONG(j, IMG_J_MAX, 4, 128);
    WRONG(j, IMG_J_MIN, 4, -129);
    wrong_offset(s, j + IMG_J_TABLE, "IMG_J_TABLE");
}

static void wrong_join(struct subject *s, unsigned char *l)
{
    unsigned char *j = s->image + load32(l + IMG_L_JOIN);
    unsigned char *t = s->image + load32(j + IMG_J_TERMS);
    int sum = j[IMG_J_KIND] >= QRT_JOIN_SUM;
    uint32_t i;

    wrong_offset(s, l + IMG_L_JOIN, "IMG_L_JOIN");
    WRONG(j, IMG_J_KIND, 1, 4);
    WRONG(j, IMG_J_COUNT, 1, 0);
    wrong_offset(s, j + IMG_J_TERMS, "IMG_J_TERMS");
    for (i = 0; i < j[IMG_J_COUNT]; i++)
        wrong_term(s, t + i * IMG_TERM_SIZE, sum);
    if (sum) {
        wrong_sum(s, j);
        return;
    }
    if (j[IMG_J_KIND] == QRT_JOIN_EDGE && !load32(j + IMG_J_EDGE))
        wrong_source(s, t, IMG_L_EDGE);
    WRONG(j, IMG_J_COUNT, 1, 2);
    WRONG(j, IMG_J_TABLE, 4, load32(s->image + IMG_H_LAYERS));
    if (j[IMG_J_KIND] == QRT_JOIN_SAME)
        WRONG(j, IMG_J_EDGE, 4, load32(s->image + IMG_H_LAYERS));
    else
        wrong_offset(s, j + IMG_J_EDGE, "IMG_J_EDGE");
}

static void wrong_weights(struct subject *s, unsigned char *l)
{
    unsigned char *w = s->image + load32(l + IMG_L_WEIGHTS);

    wrong_offset(s, l + IMG_L_WEIGHTS, "IMG_L_WEIGHTS");
    WRONG(w, IMG_W_PAIRS, 1, !w[IMG_W_PAIRS]);
    WRONG(w, IMG_W_LAYOUT, 1, 2);
    WRONG(w, IMG_W_CHANNELS, 4, 0);
    WRONG(w, IMG_W_CHANNELS, 4, load32(w + IMG_W_CHANNELS) + 1);
    WRONG(w, IMG_W_BYTES, 4, s->size);
    WRONG(w, IMG_W_BYTES, 4, 0xFFFFFFFFu);
    wrong_offset(s, w + IMG_W_CODES, "IMG_W_CODES");
    wrong_offset(s, w + IMG_W_BIAS, "IMG_W_BIAS");
    wrong_offset(s, w + IMG_W_BIAS_ZP, "IMG_W_BIAS_ZP");
}

/* Joins, or weights, without the factors that they go with. */
static void wrong_without_factors(struct subject *s, unsigned char *l)
{
    static const int others[] = {IMG_L_EDGE, IMG_L_JOIN, IMG_L_WEIGHTS};
    unsigned char old[IMG_LAYER_SIZE];
    int keep, i;

    memcpy(old, l, sizeof(old));
    for (keep = 0; keep < 3; keep++) {
        if (!load32(old + others[keep]))
            continue;
        for (i = 0; i < 3; i++)
            if (i != keep)
                store32(l + others[i], 0);
        WRONG(l, IMG_L_FACTORS, 4, 0);
        memcpy(l, old, sizeof(old));
    }
}

/* Joins and weights; the rest of the format is left to the mutations. */
static void refuse_members(unsigned char *image, size_t size, uint32_t layers)
{
    struct subject s = {image, size, 0, 0};
    unsigned char *l = image + load32(image + IMG_H_LAYERS);

    for (; s.layer < layers; s.layer++, l += IMG_LAYER_SIZE) {
        if (load32(l + IMG_L_JOIN))
            wrong_join(&s, l);
        if (load32(l + IMG_L_WEIGHTS))
            wrong_weights(&s, l);
        wrong_without_factors(&s, l);
        if (!l[IMG_L_ENABLED]) {
            uint32_t some = load32(image + IMG_H_LAYERS);

            wrong(&s, l + IMG_L_JOIN, 4, some, "join of a skipped layer");
            wrong(&s, l + IMG_L_WEIGHTS, 4, some, "weights of one");
        }
    }
    printf("%u wrong members\n", s.tried);
}

int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "rb");
    unsigned char *image = malloc(1 << 20);
    size_t size = f ? fread(image, 1, 1 << 20, f) : 0;
    struct qrt_image im;

    if (argc < 3 || !size)
        return 2;
    fclose(f);
    expect(qrt_image_open(image, size, &im) == QRT_OK, "open");
    if (failed)
        return 1;
    compare(&im);
    serve(&im);
    tell_what_moved(&im);
    printf("joins: %u same, %u edge, %u sum, %u concat; %u means, %u tables, "
           "%u edges of their own\n",
           seen[0] / 2, seen[1] / 2, seen[2] / 2, seen[3] / 2, means / 2,
           functions / 2, own_edges / 2);
    refuse_wrong(image, size);
    refuse_members(image, size, im.layer_count);
    mutate_many(image, size, atol(argv[2]));
    free(image);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
