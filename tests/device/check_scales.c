/* What the tables of one configuration hold under the scales of a device.
 * Arguments: for each layer what became of its scale: "truncated" or "rounded"
 * to 19 bits, or "whole". */
#include <stdio.h>
#include <string.h>

#include "qrt.h"
#include "quant_tables.h"

static int bad;

#define WANT(x)                                                                \
    do {                                                                       \
        if (!(x)) {                                                            \
            printf("%s: %s\n", l->name, #x);                                   \
            bad = 1;                                                           \
        }                                                                      \
    } while (0)

/* The hardware: an accumulator times the scale of its word, as a binary32. */
static uint32_t hardware(int32_t acc, uint64_t word)
{
    uint32_t bits = (uint32_t)word;
    float scale, y;

    memcpy(&scale, &bits, sizeof scale);
    y = (float)acc * scale; /* |acc| < 2^24: exact in binary32 */
    memcpy(&bits, &y, sizeof bits);
    return bits;
}

static void check(const struct qrt_layer *l, const char *what)
{
    const enum qrt_s19 mode =
        what[0] == 't' ? QRT_S19_TRUNCATE : QRT_S19_NEAREST;
    const int bits = what[0] == 'w' ? 32 : 19;
    const struct qrt_factors *f = l->factors;
    const uint32_t low = 0x1fff;
    int cut = 0, whole = 0;

    for (uint32_t c = 0; c < f->scale_count; c++) {
        uint32_t scale = qrt_real_to_f32(f->dequant[c]);
        struct qrt_real exact;

        if (qrt_dequant_scale(f->scale_w[c], f->scale_d, &exact) != QRT_OK) {
            bad = 1;
        }
        whole += (qrt_real_to_f32(exact) & low) != 0;
        cut += (scale & low) == 0;
        WANT((uint32_t)f->word_dequant[c] == scale);
        if (bits == 19) {
            WANT(scale == qrt_cast_to_s19(qrt_real_to_f32(exact), mode));
            WANT((uint32_t)f->word_fixpipe[c] == scale);
        } else {
            WANT(scale == qrt_real_to_f32(exact));
        }
        for (int32_t acc = -9000000; acc < 9000000; acc += 77777) {
            const struct qrt_shape one = {1, 1, 1, 1};
            struct qrt_dequantize d = {&f->dequant[c], NULL, 0};
            uint32_t y;

            WANT(qrt_dequantize_s32_bits(&acc, &one, &d, &y) == QRT_OK);
            WANT(y == hardware(acc, f->word_dequant[c]));
            if (bits == 19) {
                WANT(y == hardware(acc, f->word_fixpipe[c]));
            }
        }
        if (l->edge != NULL) {
            uint32_t m = qrt_real_to_f32(l->edge->requant[c]);

            WANT(bits != 19 || (m & low) == 0);
        }
    }
    WANT(whole != 0); /* else nothing was tested */
    WANT(bits == 19 ? cut == (int)f->scale_count : cut != (int)f->scale_count);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < QUANT_LAYER_COUNT; i++) {
        if (i + 1 >= argc) {
            return 2;
        }
        check(&quant_layers[i], argv[i + 1]);
    }
    return bad;
}
