/* Files of factors and weights. */
#include "export.h"

#include <stdio.h>
#include <string.h>

static FILE *open_file(const char *dir, const char *name)
{
    char path[1024];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "w") : NULL;

    if (f == NULL)
        fprintf(stderr, "qat: cannot write %s/%s\n", dir, name);
    return f;
}

static int close_file(FILE *f)
{
    int failed = ferror(f);

    if (fclose(f) != 0 || failed) {
        fprintf(stderr, "qat: write error\n");
        return 1;
    }
    return 0;
}

static int scale_count(const struct layer *l)
{
    return l->recipe->arq->per_channel ? l->shape.out : 1;
}

/* ---- record.txt ---- */

static void write_entry(FILE *f, const struct layer *l)
{
    int k;

    fprintf(f, "record {\n  key: \"%s\"\n  value {\n", l->shape.name);
    fprintf(f, "    scale_d: %.9g\n    offset_d: %d\n", (double)l->scale_d,
            (int)l->offset_d);
    for (k = 0; k < scale_count(l); k++)
        fprintf(f, "    scale_w: %.9g\n", (double)l->scale_w[k]);
    for (k = 0; k < scale_count(l); k++)
        fprintf(f, "    offset_w: 0\n");
    fprintf(f, "    act_type: \"INT%d\"\n    wts_type: \"INT%d\"\n  }\n}\n",
            l->recipe->act_bits, l->recipe->arq->bits);
}

int export_record(const char *dir, const struct layer *layers, int count)
{
    FILE *f = open_file(dir, "record.txt");
    int i;

    if (f == NULL)
        return 1;
    for (i = 0; i < count; i++)
        write_entry(f, &layers[i]);
    return close_file(f);
}

/* ---- weights.h ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static enum qrt_status weight_codes(const struct layer *l, int8_t *codes)
{
    struct qrt_shape shape = {1, 0, 0, 1};

    shape.channels = (uint32_t)l->shape.out;
    shape.inner = (uint32_t)(layer_weights(l) / l->shape.out);
    return qrt_arq_f32_codes(l->value.weight, &shape, l->recipe->arq->bits,
                             l->recipe->arq->per_channel, l->scale_w,
                             l->offset_w, codes);
}

/* The bias in units of what one step of the accumulator is worth. */
static enum qrt_status bias_codes(const struct layer *l, int32_t *codes)
{
    struct qrt_real dequant[LAYER_OUTPUTS], scale_w, scale_d;
    uint32_t bias[LAYER_OUTPUTS];
    enum qrt_status status = qrt_real_from_f32(bits_of(l->scale_d), &scale_d);
    int k;

    for (k = 0; k < scale_count(l) && status == QRT_OK; k++) {
        status = qrt_real_from_f32(bits_of(l->scale_w[k]), &scale_w);
        if (status == QRT_OK)
            status = qrt_dequant_scale(scale_w, scale_d, &dequant[k]);
    }
    if (status != QRT_OK)
        return status;
    for (k = 0; k < l->shape.out; k++)
        bias[k] = bits_of(l->value.bias[k]);
    return qrt_bias_quantize(bias, (uint32_t)l->shape.out, dequant,
                             (uint32_t)scale_count(l), codes);
}

static enum qrt_status write_layer(FILE *f, const struct layer *l)
{
    static int8_t weight[LAYER_WEIGHTS];
    int32_t bias[LAYER_OUTPUTS];
    enum qrt_status status = weight_codes(l, weight);
    int i, n = layer_weights(l);

    if (status == QRT_OK)
        status = bias_codes(l, bias);
    if (status != QRT_OK)
        return status;
    fprintf(f, "\nstatic const int8_t %s_weight[%d] = {", l->shape.name, n);
    for (i = 0; i < n; i++)
        fprintf(f, "%s%d,", i % 16 ? " " : "\n    ", weight[i]);
    fprintf(f, "\n};\n\nstatic const int32_t %s_bias[%d] = {", l->shape.name,
            l->shape.out);
    for (i = 0; i < l->shape.out; i++)
        fprintf(f, "%s%ld,", i % 8 ? " " : "\n    ", (long)bias[i]);
    fprintf(f, "\n};\n");
    return QRT_OK;
}

int export_weights(const char *dir, const struct layer *layers, int count)
{
    FILE *f = open_file(dir, "weights.h");
    enum qrt_status status = QRT_OK;
    int i;

    if (f == NULL)
        return 1;
    fprintf(f, "/* Retrained weights and biases of the digits network, written "
               "by qat. */\n#ifndef DIGITS_WEIGHTS_H\n#define "
               "DIGITS_WEIGHTS_H\n\n#include <stdint.h>\n");
    for (i = 0; i < count && status == QRT_OK; i++)
        status = write_layer(f, &layers[i]);
    fprintf(f, "\n#endif\n");
    if (status != QRT_OK)
        fprintf(stderr, "qat: %s: %s\n", layers[i - 1].shape.name,
                qrt_status_name(status));
    return close_file(f) || status != QRT_OK;
}
