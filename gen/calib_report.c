/* --report: what the comments of the record say, for programs. */
#include "calibrate.h"
#include "json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const algos[] = {"ifmr", "hfmg", "ulq_quantize"};

static void put_bits(struct qc_json *j, const char *key, uint32_t bits)
{
    char text[32];
    float f;

    memcpy(&f, &bits, sizeof(f));
    snprintf(text, sizeof(text), "%.9g", (double)f + 0.0); /* no -0 */
    qc_json_raw(j, key, qc_str(text));
}

static void put_count(struct qc_json *j, const char *key, uint64_t n)
{
    qc_json_int(j, key, (int64_t)n);
}

static void put_search(struct qc_json *j, const struct qc_search *s)
{
    qc_json_text(j, "act_algo", qc_str(algos[s->algo]));
    qc_json_int(j, "num_bits", s->act_bits);
    qc_json_bool(j, "asymmetric", s->asymmetric != 0);
    if (s->algo == QC_HFMG) {
        put_count(j, "num_of_bins", s->bins);
        return;
    }
    qc_json_float(j, "max_percentile", s->max_percentile);
    qc_json_float(j, "min_percentile", s->min_percentile);
}

static void put_choice(struct qc_json *j, const struct qc_calib_layer *l)
{
    const struct qc_found *f = &l->found;

    if (l->search.algo == QC_HFMG) {
        put_count(j, "left_bin", f->left);
        put_count(j, "right_bin", f->right);
    } else {
        put_count(j, "rank_max", f->rank_max);
        put_count(j, "rank_min", f->rank_min);
        put_count(j, "index", f->index);
        put_count(j, "candidates", f->candidates);
        put_bits(j, "ratio", f->ratio_bits);
        qc_json_float(j, "runner_up_gap", f->gap);
    }
    qc_json_float(j, "loss", f->loss);
    qc_json_float(j, "loss_error", f->loss_error);
    qc_json_float(j, "clipped", f->clipped);
}

static void put_found(struct qc_json *j, const struct qc_calib_layer *l)
{
    const struct qc_found *f = &l->found;

    put_bits(j, "scale_d", f->scale_bits);
    qc_json_int(j, "offset_d", f->offset);
    put_bits(j, "clip_max", f->clip_max_bits);
    put_bits(j, "clip_min", f->clip_min_bits);
    put_count(j, "samples", f->samples);
    if (!f->samples)
        return;
    put_count(j, "batches", l->batches);
    put_bits(j, "data_max", f->data_max_bits);
    put_bits(j, "data_min", f->data_min_bits);
    put_bits(j, "max", f->max_bits);
    put_bits(j, "min", f->min_bits);
    put_choice(j, l);
    qc_json_bool(j, "degenerate", f->degenerate != 0);
}

static void put_origin(struct qc_json *j, enum qc_input input,
                       const struct qc_origin *origin)
{
    if (!origin->name.len)
        return;
    qc_json_open(j, qc_input_word(input), '{');
    qc_json_text(j, "file", origin->name);
    qc_json_text(j, "crc32", qc_format(j->out->qc, "%08" PRIx32, origin->crc));
    qc_json_close(j, '}');
}

void qc_emit_calib_report(struct qc_out *o, const struct qc_calib *c)
{
    struct qc_json j = {0};
    size_t i;

    j.out = o;
    qc_json_open(&j, NULL, '{');
    qc_json_text(&j, "version", qc_str(QC_VERSION));
    qc_json_open(&j, "inputs", '{');
    put_origin(&j, QC_INPUT_CONFIG, &c->config);
    put_origin(&j, QC_INPUT_MODEL, &c->model);
    qc_json_close(&j, '}');
    put_count(&j, "batch_num", c->batch_num);
    qc_json_bool(&j, "exact_loss", c->exact_loss != 0);
    qc_json_open(&j, "layers", '{');
    for (i = 0; i < c->count; i++) {
        const struct qc_calib_layer *l = &c->layers[i];

        qc_json_key(&j, l->search.name);
        qc_json_open(&j, "", '{');
        put_search(&j, &l->search);
        qc_json_bool(&j, "calibrated", l->stage == QC_FOUND);
        if (l->stage == QC_FOUND)
            put_found(&j, l);
        qc_json_close(&j, '}');
    }
    qc_json_close(&j, '}');
    qc_json_close(&j, '}');
    qc_puts(o, "\n");
}
