/* quantc show: a deployment image as text, through the runtime's own reader. */
#include "emit.h"

#include "qrt_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double real(struct qrt_real r)
{
    uint32_t bits = qrt_real_to_f32(r);
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

static double double_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static double ratio(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

static void show_recipe(struct qc_out *o, const struct qrt_layer *l)
{
    static const char *const algos[] = {"arq_quantize", "arq_retrain",
                                        "ulq_retrain"};

    qc_printf(o, "  weights      %s, %u bits, %s\n", algos[l->arq->algo],
              l->arq->bits, l->arq->per_channel ? "per channel" : "one scale");
    qc_printf(o, "  activations  %u bits, %s\n", l->act_bits,
              l->act_asymmetric ? "with zero point" : "symmetric");
    if (l->ifmr)
        qc_printf(o,
                  "  ifmr         %" PRIu32 " limits from %.9g to %.9g, "
                  "percentiles %.9g %.9g\n",
                  l->ifmr->ratio_count, ratio(l->ifmr->ratios[0]),
                  ratio(l->ifmr->ratios[l->ifmr->ratio_count - 1]),
                  double_of(l->ifmr->max_percentile),
                  double_of(l->ifmr->min_percentile));
    if (l->hfmg)
        qc_printf(o, "  hfmg         %" PRIu32 " bins\n", l->hfmg->bins);
    if (!l->ulq)
        return;
    qc_printf(o, "  ulq          %s", l->ulq->fixed_min ? "fixed_min" : "free");
    if (l->ulq->has_clip)
        qc_printf(o, ", clip %.9g to %.9g", real(l->ulq->clip_min),
                  real(l->ulq->clip_max));
    qc_puts(o, "\n");
}

static void show_factors(struct qc_out *o, const struct qrt_factors *f)
{
    uint32_t c;

    qc_printf(o, "  scale_d      %.9g\n  offset_d     %" PRId32 "\n",
              real(f->scale_d), f->offset_d);
    qc_printf(o, "  scale_w     ");
    for (c = 0; c < f->scale_count; c++)
        qc_printf(o, " %.9g", real(f->scale_w[c]));
    qc_puts(o, "\n");
}

static void show_layer(struct qc_out *o, const struct qrt_layer *l,
                       const struct qrt_image *im, size_t room, void *buffer)
{
    qc_printf(o, "\n%s\n", qc_shown(o->qc, qc_str(l->name)));
    qc_printf(o, "  type         %s",
              l->op == QRT_OP_UNKNOWN ? "unknown" : qc_ops[l->op].canonical);
    if (l->out_channels)
        qc_printf(o, ", %" PRIu32 " channels", l->out_channels);
    qc_puts(o, l->enabled ? "\n" : ", skipped\n");
    if (!l->enabled)
        return;
    show_recipe(o, l);
    if (l->factors)
        show_factors(o, l->factors);
    if (l->edge) {
        struct qrt_image_layer next;

        qc_printf(o, "  edge         codes %" PRId32 " to %" PRId32,
                  l->edge->code_min, l->edge->code_max);
        if (qrt_image_layer(im, l->edge->next, buffer, room, &next) == QRT_OK)
            qc_printf(o, ", then %s", next.layer.name);
        qc_puts(o, "\n");
    }
}

static const char *problem(enum qrt_status status)
{
    return status == QRT_ERR_VERSION
               ? "it is no image, or one of another version"
           : status == QRT_ERR_SIZE ? "it is shorter than it says"
           : status == QRT_ERR_HASH ? "its CRC does not fit: it is damaged"
                                    : "its content is not sound";
}

static void show_origin(struct qc_out *o, const char *word, uint32_t crc)
{
    if (crc)
        qc_printf(o, "  %-12s crc32 %08" PRIx32 "\n", word, crc);
}

bool qc_show_image(struct qc_out *o, const char *path)
{
    struct qc *qc = o->qc;
    struct qc_file *f = qc_load(qc, path, QC_MAX_FILE);
    struct qrt_image im;
    enum qrt_status status;
    uint64_t *copy;
    uint32_t i;

    if (!f || f->fatal)
        return false;
    f->binary = true;
    copy = qc_alloc(qc, f->size + 8);
    if (f->size)
        memcpy(copy, f->text, f->size);
    status = qrt_image_open(copy, f->size, &im);
    if (status != QRT_OK) {
        qc_report(qc, QC_IMAGE_DAMAGED, (struct qc_loc){f, 0, 0},
                  "this image cannot be used: %s", problem(status));
        return false;
    }
    qc_printf(o,
              "quantc image, %" PRIu32 " bytes, quantc %u.%u.%u, "
              "hash %016" PRIx64 "\n%" PRIu32 " layers, batch_num %" PRIu32
              "\n\ninputs\n",
              im.size, (unsigned)(im.tool >> 16),
              (unsigned)(im.tool >> 8 & 255), (unsigned)(im.tool & 255),
              im.hash, im.layer_count, im.batch_num);
    show_origin(o, "config", im.config_crc32);
    show_origin(o, "model", im.model_crc32);
    show_origin(o, "record", im.record_crc32);
    show_origin(o, "options", im.options_crc32);
    for (i = 0; i < im.layer_count; i++) {
        size_t need = qrt_image_layer_scratch(&im, i);
        void *buffer = qc_alloc(qc, need + 8);
        struct qrt_image_layer view;

        memset(&view, 0, sizeof(view));
        if (qrt_image_layer(&im, i, buffer, need, &view) != QRT_OK)
            return false;
        need = view.layer.edge
                   ? qrt_image_layer_scratch(&im, view.layer.edge->next)
                   : 0;
        show_layer(o, &view.layer, &im, need, qc_alloc(qc, need + 8));
    }
    return true;
}
