/* An image against the tables that were made from the same inputs, and what is
 * left of it after thousands of mutations. Built with sanitizers where the
 * compiler has them.
 *
 *   check_image IMAGE RUNS */
#include "quant_tables.h"

#include "qrt_image.h"

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

    for (i = 0; i < n; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
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

static int same_edge(const struct qrt_layer *a, const struct qrt_layer *b)
{
    if (!a->edge || !b->edge)
        return !a->edge && !b->edge;
    return a->edge->zero_point == b->edge->zero_point &&
           a->edge->code_min == b->edge->code_min &&
           a->edge->code_max == b->edge->code_max &&
           a->edge->next == b->edge->next &&
           same_reals(a->edge->requant, b->edge->requant,
                      a->factors->scale_count);
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

/* Every layer of an open image is served; the sum keeps it from being
 * optimised away, and makes the sanitizer look at every array. */
static uint64_t serve(const struct qrt_image *im)
{
    uint64_t sum = 0;
    uint32_t i, c;

    for (i = 0; i < im->layer_count; i++) {
        size_t need = qrt_image_layer_scratch(im, i);
        void *buffer = malloc(need + 8);
        struct qrt_image_layer view;
        const struct qrt_layer *l = &view.layer;

        if (qrt_image_layer(im, i, buffer, need, &view) != QRT_OK)
            abort();
        sum += strlen(l->name);
        for (c = 0; l->factors && c < l->factors->scale_count; c++) {
            sum += (uint32_t)l->factors->scale_w[c].m +
                   (uint32_t)l->factors->dequant[c].m;
            if (l->factors->word_dequant)
                sum += l->factors->word_dequant[c];
            if (l->factors->word_fixpipe)
                sum += l->factors->word_fixpipe[c];
            if (l->edge)
                sum += (uint32_t)l->edge->requant[c].m;
        }
        for (c = 0; l->ifmr && c < l->ifmr->ratio_count; c++)
            sum += l->ifmr->ratios[c];
        free(buffer);
    }
    return sum;
}

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
        void *buffer = malloc(need + 8);
        struct qrt_image_layer view;

        expect(qrt_image_layer(im, i, buffer, need, &view) == QRT_OK, "layer");
        expect(strcmp(view.layer.name, want->name) == 0, "name");
        expect(view.layer.op == want->op &&
                   view.layer.enabled == want->enabled &&
                   view.layer.act_bits == want->act_bits &&
                   view.layer.act_asymmetric == want->act_asymmetric &&
                   view.layer.out_channels == want->out_channels &&
                   view.layer.rule == want->rule &&
                   view.layer.exactness == want->exactness,
               "row");
        expect(same_recipe(&view.layer, want), "recipe");
        expect(same_factors(view.layer.factors, want->factors), "factors");
        expect(same_edge(&view.layer, want), "edge");
        expect(qrt_image_find(im, want->name, &at) == QRT_OK && at == i,
               "find");
        free(buffer);
    }
    expect(qrt_image_find(im, "no such layer", &at) == QRT_ERR_NOT_FOUND,
           "a name that is not there");
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
    refuse_wrong(image, size);
    mutate_many(image, size, atol(argv[2]));
    free(image);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
