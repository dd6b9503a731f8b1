/* Deployment images: the runtime's view of every layer, `show`, `diff`. Sizes
 * and CRC are put right three times out of four. What begins as a comment in C
 * stands for quant_tables.c, as an object for plan.json: `show` reads both. */
#include "fuzz.h"

#include "image_format.h"
#include "qrt_image.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const struct qrt_real *r, uint32_t n)
{
    uint64_t sum = 0;

    while (r && n--)
        sum += (uint32_t)r[n].m;
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

static uint64_t look(const struct qrt_layer *l, const struct qrt_layer *layers)
{
    const struct qrt_factors *f = l->factors;
    uint64_t sum = strlen(l->name);
    uint32_t c;

    for (c = 0; f && c < f->scale_count; c++) {
        sum += f->word_dequant ? f->word_dequant[c] : 0;
        sum += f->word_fixpipe ? f->word_fixpipe[c] : 0;
    }
    if (f)
        sum += sum_of(f->scale_w, f->scale_count) +
               sum_of(f->dequant, f->scale_count);
    if (l->edge)
        sum += sum_of(l->edge->requant, f->scale_count);
    for (c = 0; l->ifmr && c < l->ifmr->ratio_count; c++)
        sum += l->ifmr->ratios[c];
    return l->join ? sum + look_join(l->join, layers) : sum;
}

static uint64_t look_weights(const struct qrt_image *im, uint32_t i)
{
    struct qrt_image_weights w;
    uint64_t sum = 0;
    uint32_t c;

    if (qrt_image_weights(im, i, NULL, 0, &w) != QRT_OK)
        return 0;
    for (c = 0; c < w.bytes; c++)
        sum += w.codes ? (uint8_t)w.codes[c] : w.pairs[c];
    for (c = 0; c < w.channels; c++)
        sum += (uint32_t)w.bias[c] ^ (uint32_t)w.bias_zp[c];
    return sum;
}

/* Every layer is served alone and in a table; buffers have no byte to spare. */
static void serve(const struct qrt_image *im)
{
    size_t need = qrt_image_tables_scratch(im);
    void *all = malloc(need);
    volatile uint64_t sum = 0;
    struct qrt_tables t;
    uint32_t i;

    if (qrt_image_tables(im, all, need, &t) != QRT_OK)
        abort();
    for (i = 0; i < im->layer_count; i++) {
        void *buffer;
        struct qrt_image_layer view;

        need = qrt_image_layer_scratch(im, i);
        buffer = need ? malloc(need) : NULL;
        if (qrt_image_layer(im, i, buffer, need, &view) != QRT_OK)
            abort();
        sum = sum + look(&view.layer, t.layers) - look(&t.layers[i], t.layers);
        free(buffer);
        look_weights(im, i);
    }
    if (sum)
        abort();
    free(all);
}

static void show_tables(const uint8_t *data, size_t size)
{
    static const char *const show[] = {"show", "quant_tables.c", NULL};
    static const char *const diff[] = {"diff", "quant_tables.h",
                                       "quant_tables.c", NULL};

    fuzz_file("quant_tables.c", data, size);
    fuzz_text_file("quant_tables.h",
                   "/* quant_tables.h */\n#if QRT_TABLES_VERSION != 1\n"
                   "#define QUANT_TABLES_HASH 0xC8A887D2F9E49910u\n");
    if (fuzz_quantc(show) == 0) /* else it may be no tables at all */
        fuzz_quantc(diff);
    fuzz_end();
}

static void show_plan(const uint8_t *data, size_t size)
{
    static const char *const show[] = {"show", "plan.json", NULL};

    fuzz_file("plan.json", data, size);
    fuzz_quantc(show);
    fuzz_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const show[] = {"show", "fuzz.img", NULL};
    static const char *const diff[] = {"diff", "fuzz.img", "fuzz.img", NULL};
    uint8_t *copy = malloc(size ? size : 1);
    struct qrt_image im;

    if (size > 2 && (data[0] == '/' || data[0] == '{')) {
        (data[0] == '/' ? show_tables : show_plan)(data, size);
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    if (size >= IMG_HEADER_SIZE && size % 4) {
        fuzz_store(copy, IMG_H_SIZE, size, 4);
        fuzz_crc(copy, IMG_H_CRC, IMG_H_CRC + 4, size);
    }
    if (qrt_image_open(copy, size, &im) == QRT_OK)
        serve(&im);
    fuzz_file("fuzz.img", copy, size);
    fuzz_quantc(show);
    fuzz_quantc(diff);
    fuzz_end();
    free(copy);
    return 0;
}
