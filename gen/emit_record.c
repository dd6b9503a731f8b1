/* record.txt: what calibration found, in the order and with the nine digits
 * that AMCT writes; in comments what it was made from, which stale.c reads, and
 * how it came about. The text depends on the samples, the model and the
 * configuration only: no paths, no times, no shards. */
#include "calibrate.h"

#include <inttypes.h>
#include <string.h>

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static void put_float(struct qc_out *o, uint32_t bits)
{
    qc_printf(o, "%.9g", (double)float_of(bits) + 0.0); /* no -0 */
}

static void put_range(struct qc_out *o, const char *what, uint32_t min,
                      uint32_t max)
{
    qc_printf(o, "%s [", what);
    put_float(o, min);
    qc_puts(o, ", ");
    put_float(o, max);
    qc_puts(o, "]");
}

/* ---- comments ---- */

static void put_samples(struct qc_out *o, const struct qc_calib_layer *l)
{
    const struct qc_found *f = &l->found;
    const char *algo = l->search.algo == QC_HFMG  ? "hfmg"
                       : l->search.algo == QC_ULQ ? "ulq, first limits by ifmr"
                                                  : "ifmr";

    qc_printf(o, "    # %s: %llu samples", algo,
              (unsigned long long)f->samples);
    put_range(o, " in", f->data_min_bits, f->data_max_bits);
    if (l->search.algo != QC_HFMG) {
        put_range(o, ", limits", f->min_bits, f->max_bits);
        if (f->rank_max > 1 || f->rank_min > 1)
            qc_printf(o, " (ranks %llu and %llu)",
                      (unsigned long long)f->rank_min,
                      (unsigned long long)f->rank_max);
    }
    qc_puts(o, "\n");
}

static void put_loss(struct qc_out *o, const struct qc_found *f)
{
    qc_printf(o, "loss %.6g", f->loss);
    if (f->loss_error > f->loss * 1e-6)
        qc_printf(o, " (+- %.1g)", f->loss_error);
}

static void put_choice(struct qc_out *o, const struct qc_calib_layer *l)
{
    const struct qc_found *f = &l->found;

    if (l->search.algo == QC_HFMG) {
        qc_printf(o, "    # bins %lu to %lu of %lu: ", (unsigned long)f->left,
                  (unsigned long)f->right, (unsigned long)l->search.bins);
        put_loss(o, f);
    } else {
        qc_printf(o, "    # candidate %lu of 0 to %lu, ratio ",
                  (unsigned long)f->index, (unsigned long)f->candidates - 1);
        qc_printf(o, "%.6g: ", (double)float_of(f->ratio_bits));
        put_loss(o, f);
        qc_printf(o, ", runner-up %+.3g %%", 100 * f->gap);
    }
    qc_printf(o, ", clipped %.3g %%\n", 100 * f->clipped);
}

static void put_comments(struct qc_out *o, const struct qc_calib_layer *l)
{
    const struct qc_found *f = &l->found;

    qc_printf(o, "    # settings crc32 %08" PRIx32 "\n", l->search.settings);
    if (f->samples) {
        put_samples(o, l);
        put_choice(o, l);
    }
    if (l->search.algo == QC_ULQ) {
        qc_puts(o, f->samples ? "    # clip_max: " : "    # given clip_max: ");
        put_float(o, f->clip_max_bits);
        qc_puts(o, ", clip_min: ");
        put_float(o, f->clip_min_bits);
        qc_puts(o, "\n");
    }
    if (!l->search.weights)
        qc_puts(o, "    # no weights: scale_w is 1\n");
}

/* ---- fields ---- */

static void put_layer(struct qc_out *o, const struct qc_calib_layer *l)
{
    const struct qc_search *s = &l->search;
    uint32_t i;

    qc_puts(o, "record {\n  key: ");
    qc_put_string(o, s->name);
    qc_puts(o, "\n  value {\n");
    put_comments(o, l);
    qc_puts(o, "    scale_d: ");
    put_float(o, l->found.scale_bits);
    qc_printf(o, "\n    offset_d: %ld\n", (long)l->found.offset);
    for (i = 0; i < s->count_w; i++) {
        qc_puts(o, "    scale_w: ");
        put_float(o, s->scale_w[i]);
        qc_puts(o, "\n");
    }
    for (i = 0; i < s->count_w; i++)
        qc_puts(o, "    offset_w: 0\n");
    if (s->skip_fusion)
        qc_puts(o, "    skip_fusion: true\n");
    qc_printf(o, "    act_type: \"INT%lu\"\n    wts_type: \"INT%lu\"\n",
              (unsigned long)s->act_bits, (unsigned long)s->wts_bits);
    qc_puts(o, "  }\n}\n");
}

void qc_emit_record(struct qc_out *o, const struct qc_calib *c)
{
    size_t i, found = 0;

    for (i = 0; i < c->count; i++)
        found += c->layers[i].stage == QC_FOUND;
    qc_printf(o, "# quantc " QC_VERSION " calibrate: %zu layer%s\n", found,
              found == 1 ? "" : "s");
    qc_put_record_head(o, &c->config, &c->model);
    for (i = 0; i < c->count; i++)
        if (c->layers[i].stage == QC_FOUND)
            put_layer(o, &c->layers[i]);
}
