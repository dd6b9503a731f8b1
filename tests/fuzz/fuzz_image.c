/* Deployment images: the runtime's view of every layer, `show`, `diff`. Sizes
 * and CRC are put right three times out of four. */
#include "fuzz.h"

#include "image_format.h"
#include "qrt_image.h"

#include <stdlib.h>
#include <string.h>

static uint64_t look(const struct qrt_layer *l)
{
    uint64_t sum = strlen(l->name);
    uint32_t c;

    for (c = 0; l->factors && c < l->factors->scale_count; c++) {
        sum += (uint32_t)l->factors->scale_w[c].m +
               (uint32_t)l->factors->dequant[c].m;
        sum += l->factors->word_dequant ? l->factors->word_dequant[c] : 0;
        sum += l->factors->word_fixpipe ? l->factors->word_fixpipe[c] : 0;
        sum += l->edge ? (uint32_t)l->edge->requant[c].m : 0;
    }
    for (c = 0; l->ifmr && c < l->ifmr->ratio_count; c++)
        sum += l->ifmr->ratios[c];
    return sum;
}

static void serve(const struct qrt_image *im)
{
    volatile uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < im->layer_count; i++) {
        size_t need = qrt_image_layer_scratch(im, i);
        void *buffer = malloc(need ? need : 1);
        struct qrt_image_layer view;

        if (qrt_image_layer(im, i, buffer, need, &view) != QRT_OK)
            abort();
        sum = sum + look(&view.layer);
        free(buffer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const show[] = {"show", "fuzz.img", NULL};
    static const char *const diff[] = {"diff", "fuzz.img", "fuzz.img", NULL};
    uint8_t *copy = malloc(size ? size : 1);
    struct qrt_image im;

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
