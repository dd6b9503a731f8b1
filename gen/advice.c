/* Warnings about a finished plan: nothing is wrong with the files, but one
 * of them is likely not what its author meant. */
#include "resolve.h"

/* ---- clip limits against the range that calibration saw ---- */

#define CLIP_LOW  0.3 /* of the maximum (or minimum), as AMCT's manual says */
#define CLIP_HIGH 1.7

static void check_clip(struct qc_resolver *r, const struct qc_row *row,
                       const struct qc_setting *clip, const char *field,
                       double seen)
{
    struct qc_diag *d;
    double ratio;

    if (!clip->set || !clip->loc.file || !(seen < 0 || seen > 0))
        return;
    ratio = clip->f / seen;
    if (ratio >= CLIP_LOW && ratio <= CLIP_HIGH)
        return;
    d = qc_report(r->qc, QC_RES_CLIP_RANGE, clip->loc,
                  "'%s' (%.*s) of layer %s is %.3g times what the record "
                  "shows, advised is 0.3 to 1.7",
                  field, QC_ARG(clip->text),
                  qc_quoted(r->qc, clip->loc.file, row->layer->name), ratio);
    qc_note(r->qc, d, row->factors->scale_d->loc,
            "this scale and offset reach %.6g", seen);
}

static void check_clips(struct qc_resolver *r, const struct qc_row *row)
{
    double scale, offset, half;

    if (!row->factors || !row->enabled.i)
        return;
    scale = row->factors->scale_d->as.f;
    offset = (double)row->factors->offset_d->as.i;
    half = (double)((int64_t)1 << (row->act_bits.i - 1));
    check_clip(r, row, &row->clip_max, "clip_max", scale * (half - 1 - offset));
    if (!row->fixed_min.i)
        check_clip(r, row, &row->clip_min, "clip_min",
                   scale * (-half - offset));
}

/* ---- fixed_min against the graph ---- */

/* Inputs that hold nothing negative: behind a ReLU, also when it is followed
 * by pooling. AMCT's own rule looks at the operation before the layer only. */
static const bool *never_negative(struct qc_resolver *r)
{
    bool *input = qc_alloc(r->qc, r->m->count + 1);
    size_t i, k;

    for (i = 0; i < r->m->count; i++) {
        const struct qc_layer *l = &r->m->layers[i];

        input[i] = input[i] || l->producer_is_relu;
        for (k = 0; k < l->edge_count; k++)
            if (l->edges[k].relu || (l->op == QRT_OP_AVGPOOL && input[i]))
                input[l->edges[k].layer] = true;
    }
    return input;
}

static void check_fixed_min(struct qc_resolver *r, const struct qc_row *row,
                            const bool *input)
{
    const struct qc_setting *s = &row->fixed_min;

    if (!r->m->graph_known || !s->set || !s->loc.file)
        return;
    if (s->i ? !input[row->layer - r->m->layers] : row->layer->producer_is_relu)
        qc_report(r->qc, QC_RES_FIXED_MIN, s->loc,
                  s->i ? "the input of layer %s does not come from a ReLU: "
                         "values below 0 will be lost"
                       : "the input of layer %s comes from a ReLU: "
                         "'fixed_min' should be true, or left out",
                  qc_quoted(r->qc, s->loc.file, row->layer->name));
}

/* ---- values that were guessed for want of a model ---- */

static void report_guess(struct qc_resolver *r, enum qc_key key,
                         const struct qc_layers_hit *hit, const char *text)
{
    struct qc_diag *d;

    if (!hit->count)
        return;
    d = qc_report(r->qc, key, (struct qc_loc){r->file, 0, 0}, "%s: %s", text,
                  qc_hit_names(r->qc, r->file, hit));
    if (r->types_known)
        qc_help(r->qc, d, "give --model, or 'producer' in the layer list");
    else
        qc_help(r->qc, d, "give --model or --layers");
}

static void report_guesses(struct qc_resolver *r)
{
    struct qc_layers_hit wise = {NULL, 0, 0}, min = {NULL, 0, 0};
    size_t i;

    for (i = 0; i < r->plan->count; i++) {
        const struct qc_row *row = &r->plan->rows[i];

        if (!row->enabled.i)
            continue;
        if (!r->types_known && row->channel_wise.level == QC_BY_DEFAULT)
            qc_hit(r->qc, &wise, row->layer);
        if (r->retrain && !r->m->graph_known &&
            row->fixed_min.level == QC_BY_GRAPH)
            qc_hit(r->qc, &min, row->layer);
    }
    report_guess(r, QC_RES_CHANNEL_WISE_GUESS, &wise,
                 "'channel_wise' is taken as true, which is wrong for linear "
                 "layers");
    report_guess(r, QC_RES_FIXED_MIN_GUESS, &min,
                 "'fixed_min' is taken as false, which is wrong behind a ReLU");
}

/* ---- calibration data ---- */

#define IMAGES_MAX 50 /* AMCT's manual: more cost time and win nothing */

static void check_calibration_size(struct qc_resolver *r)
{
    const struct qc_setting *s = &r->plan->batch_num;
    int64_t batch = r->m->batch;

    if (!s->loc.file || batch <= 0 || s->i <= IMAGES_MAX / batch)
        return;
    qc_report(r->qc, QC_RES_CALIBRATION_SIZE, s->loc,
              "%lld batches of %lld are more than the %d images that are "
              "advised for calibration",
              (long long)s->i, (long long)batch, IMAGES_MAX);
}

void qc_advise(struct qc_resolver *r)
{
    const bool *input = r->retrain ? never_negative(r) : NULL;
    size_t i;

    for (i = 0; input && i < r->plan->count; i++) {
        check_clips(r, &r->plan->rows[i]);
        check_fixed_min(r, &r->plan->rows[i], input);
    }
    if (qc_error_count(r->qc) == 0)
        report_guesses(r);
    check_calibration_size(r);
}
