/* The self-test: a digest of each row, then kernels against stored values. */
#include "qrt_selftest.h"

#include "kernel.h"

/* ---------------------------------------------------------------- digest */

static uint32_t mix(uint32_t hash, uint32_t v)
{
    for (uint32_t i = 0; i < 4; i++) {
        hash = (hash ^ (v & 255U)) * 0x01000193U;
        v >>= 8;
    }
    return hash;
}

static uint32_t mix64(uint32_t hash, uint64_t v)
{
    return mix(mix(hash, (uint32_t)v), (uint32_t)(v >> 32));
}

/* `count` reals, or none behind a null pointer. */
static uint32_t mix_reals(uint32_t hash, const struct qrt_real *a,
                          uint32_t count)
{
    for (; a != NULL && count != 0; count--, a++) {
        hash = mix(mix(hash, (uint32_t)a->m), (uint32_t)a->e);
    }
    return hash;
}

static uint32_t mix_words(uint32_t hash, const uint64_t *w, uint32_t count)
{
    for (; w != NULL && count != 0; count--) {
        hash = mix64(hash, *w++);
    }
    return hash;
}

static uint32_t mix_name(uint32_t hash, const char *name)
{
    while (name != NULL && *name != '\0') {
        hash = mix(hash, (uint8_t)*name++);
    }
    return hash;
}

/* How the layer is to be quantized. */
static uint32_t mix_recipe(uint32_t hash, const struct qrt_layer *layer)
{
    if (layer->arq != NULL) {
        hash = mix(hash, layer->arq->bits);
        hash = mix(hash, layer->arq->per_channel);
        hash = mix(hash, layer->arq->algo);
    }
    if (layer->ifmr != NULL) {
        const struct qrt_ifmr *search = layer->ifmr;

        for (uint32_t i = 0; i < search->ratio_count; i++) {
            hash = mix(hash, search->ratios[i]);
        }
        hash = mix64(hash, search->max_percentile);
        hash = mix64(hash, search->min_percentile);
    }
    if (layer->hfmg != NULL) {
        hash = mix(hash, layer->hfmg->bins);
    }
    if (layer->ulq != NULL) {
        hash = mix(hash, layer->ulq->fixed_min);
        hash = mix(hash, layer->ulq->has_clip);
        hash = mix_reals(hash, &layer->ulq->clip_max, 1);
        hash = mix_reals(hash, &layer->ulq->clip_min, 1);
    }
    return hash;
}

/* What calibration found. */
static uint32_t mix_factors(uint32_t hash, const struct qrt_factors *f)
{
    hash = mix_reals(hash, &f->scale_d, 1);
    hash = mix_reals(hash, &f->recip_d, 1);
    hash = mix(hash, (uint32_t)f->offset_d);
    hash = mix(hash, f->scale_count);
    hash = mix_reals(hash, f->scale_w, f->scale_count);
    hash = mix_reals(hash, f->dequant, f->scale_count);
    hash = mix_words(hash, f->word_dequant, f->scale_count);
    return mix_words(hash, f->word_fixpipe, f->scale_count);
}

static uint32_t mix_edge(uint32_t hash, const struct qrt_edge *edge,
                         uint32_t count)
{
    hash = mix_reals(hash, edge->requant, count);
    hash = mix(hash, (uint32_t)edge->zero_point);
    hash = mix(hash, (uint32_t)edge->code_min);
    hash = mix(hash, (uint32_t)edge->code_max);
    return mix(hash, edge->next);
}

/* Of an edge, the first multiplier: it is that of the other layer, as a rule,
 * which covers all of them; their number is known there only. */
static uint32_t mix_join(uint32_t hash, const struct qrt_join *j)
{
    hash = mix(hash, j->kind);
    hash = mix(hash, j->frac);
    hash = mix(hash, j->mean);
    for (uint32_t i = 0; i < j->term_count; i++) {
        const struct qrt_term *t = &j->terms[i];

        hash = mix_reals(hash, t->scale, t->scale_count);
        hash = mix(hash, t->layer);
        hash = mix(hash, (uint32_t)t->zero_point);
        hash = mix(hash, (uint32_t)t->low);
        hash = mix(hash, (uint32_t)t->high);
        hash = mix(hash, t->is_code);
    }
    if (j->edge != NULL) {
        hash = mix_edge(hash, j->edge, 1);
    }
    hash = mix(hash, (uint32_t)j->low);
    hash = mix(hash, (uint32_t)j->high);
    hash = mix(hash, (uint32_t)j->zero_point);
    hash = mix(hash, (uint32_t)j->code_min);
    hash = mix(hash, (uint32_t)j->code_max);
    for (uint32_t i = 0; j->table != NULL && i < 256; i++) {
        hash = mix(hash, (uint8_t)j->table[i]);
    }
    return hash;
}

uint32_t qrt_selftest_digest(const struct qrt_layer *layer)
{
    uint32_t hash = mix_name(0x811c9dc5U, layer->name);

    hash = mix(hash, layer->op);
    hash = mix(hash, layer->enabled);
    hash = mix(hash, layer->act_bits);
    hash = mix(hash, layer->act_asymmetric);
    hash = mix(hash, layer->out_channels);
    hash = mix(hash, layer->rule);
    hash = mix(hash, layer->exactness);
    hash = mix_recipe(hash, layer);
    if (layer->factors != NULL) {
        hash = mix_factors(hash, layer->factors);
        if (layer->edge != NULL) {
            hash = mix_edge(hash, layer->edge, layer->factors->scale_count);
        }
    }
    if (layer->join != NULL) {
        hash = mix_join(hash, layer->join);
    }
    return hash;
}

/* --------------------------------------------------------------- kernels */

static const struct qrt_shape inputs = {1, 1, QRT_SELFTEST_INPUTS, 1};

static enum qrt_status run_quantize(const struct qrt_layer *layer,
                                    const struct qrt_selftest_layer *test,
                                    int16_t *out)
{
    struct qrt_quantize p;

    p.recip = &layer->factors->recip_d;
    p.zero_point = &layer->factors->offset_d;
    p.frac = test->frac;
    p.bits = layer->act_bits;
    p.order =
        layer->rule == QRT_RULE_MODULE || layer->rule == QRT_RULE_FIXED_MODULE
            ? QRT_ROUND_THEN_ADD
            : QRT_ADD_THEN_ROUND;
    return qrt_quantize_s32_s16(test->x, &inputs, &p, out);
}

static enum qrt_status run_requantize(const struct qrt_layer *layer,
                                      const struct qrt_selftest_layer *test,
                                      uint32_t channel, int16_t *out)
{
    int8_t codes[QRT_SELFTEST_INPUTS];
    struct qrt_edge edge;
    enum qrt_status status;

    edge.requant = layer->edge->requant + channel;
    edge.zero_point = layer->edge->zero_point;
    edge.code_min = layer->edge->code_min;
    edge.code_max = layer->edge->code_max;
    edge.next = 0;
    if (edge.code_min < INT8_MIN || edge.code_max > INT8_MAX) {
        return qrt_requantize_s16(test->acc, &inputs, &edge, out);
    }
    status = qrt_requantize_s8(test->acc, &inputs, &edge, codes);
    for (uint32_t i = 0; status == QRT_OK && i < QRT_SELFTEST_INPUTS; i++) {
        out[i] = codes[i];
    }
    return status;
}

static enum qrt_status run_dequantize(const struct qrt_layer *layer,
                                      const struct qrt_selftest_layer *test,
                                      uint32_t channel, int32_t *out)
{
    struct qrt_dequantize p;

    p.scale = layer->factors->dequant + channel;
    p.zero_point = NULL;
    p.frac = test->real_frac;
    return qrt_dequantize_s32_s32(test->acc, &inputs, &p, out);
}

enum qrt_status qrt_selftest_values(const struct qrt_layer *layer,
                                    const struct qrt_selftest_layer *test,
                                    enum qrt_selftest_step step,
                                    uint32_t channel,
                                    int32_t out[QRT_SELFTEST_INPUTS])
{
    int16_t codes[QRT_SELFTEST_INPUTS];
    enum qrt_status status;

    if (layer->factors == NULL ||
        (step == QRT_SELFTEST_REQUANTIZE && layer->edge == NULL)) {
        return QRT_ERR_NULL;
    }
    if (step == QRT_SELFTEST_DEQUANTIZE) {
        return run_dequantize(layer, test, channel, out);
    }
    status = step == QRT_SELFTEST_QUANTIZE
                 ? run_quantize(layer, test, codes)
                 : run_requantize(layer, test, channel, codes);
    for (uint32_t i = 0; status == QRT_OK && i < QRT_SELFTEST_INPUTS; i++) {
        out[i] = codes[i];
    }
    return status;
}

uint32_t qrt_selftest_channel(uint32_t i, uint32_t tried, uint32_t count)
{
    return i + 1U == tried ? count - 1U : count / tried * i;
}

/* ------------------------------------------------------------------ test */

/* Whether a step of one channel gives what is stored; a kernel that refuses
 * its arguments gives INT32_MIN for its first input. */
static bool agrees(const struct qrt_layer *layer,
                   const struct qrt_selftest_layer *test, const void *stored,
                   uint32_t at, struct qrt_selftest_fault *fault)
{
    int32_t out[QRT_SELFTEST_INPUTS];
    bool ran = qrt_selftest_values(layer, test, fault->step, fault->channel,
                                   out) == QRT_OK;

    for (uint32_t i = 0; i < QRT_SELFTEST_INPUTS; i++) {
        fault->input = i;
        fault->got = ran ? out[i] : INT32_MIN;
        fault->expected =
            qrt_load(fault->step == QRT_SELFTEST_DEQUANTIZE ? QRT_S32 : QRT_S16,
                     stored, at + i);
        if (!ran || fault->got != fault->expected) {
            return false;
        }
    }
    return true;
}

static bool layer_agrees(const struct qrt_layer *layer,
                         const struct qrt_selftest_layer *test,
                         struct qrt_selftest_fault *fault)
{
    const void *stored[QRT_SELFTEST_STEPS];

    stored[QRT_SELFTEST_QUANTIZE] = test->codes;
    stored[QRT_SELFTEST_REQUANTIZE] = test->requant;
    stored[QRT_SELFTEST_DEQUANTIZE] = test->real;
    fault->step = QRT_SELFTEST_TABLE;
    fault->channel = 0;
    fault->input = 0;
    fault->got = (int32_t)qrt_selftest_digest(layer);
    fault->expected = (int32_t)test->digest;
    if (fault->got != fault->expected) {
        return false;
    }
    for (uint32_t s = QRT_SELFTEST_QUANTIZE; s < QRT_SELFTEST_STEPS; s++) {
        uint32_t tried = s == QRT_SELFTEST_QUANTIZE ? 1U : test->channels;

        fault->step = (enum qrt_selftest_step)s;
        for (uint32_t i = 0; stored[s] != NULL && i < tried; i++) {
            fault->channel =
                qrt_selftest_channel(i, tried, layer->factors->scale_count);
            if (s == QRT_SELFTEST_QUANTIZE) {
                fault->channel = 0;
            }
            if (!agrees(layer, test, stored[s], i * QRT_SELFTEST_INPUTS,
                        fault)) {
                return false;
            }
        }
    }
    return true;
}

enum qrt_status qrt_selftest(const struct qrt_tables *tables,
                             const struct qrt_selftest_tables *test,
                             struct qrt_selftest_fault *fault)
{
    struct qrt_selftest_fault seen;

    if (tables == NULL || test == NULL || fault == NULL ||
        tables->layers == NULL || test->layers == NULL) {
        return QRT_ERR_NULL;
    }
    if (tables->version != QRT_TABLES_VERSION) {
        return QRT_ERR_VERSION;
    }
    if (tables->hash != test->hash ||
        tables->layer_count != test->layer_count) {
        return QRT_ERR_HASH;
    }
    for (uint32_t i = 0; i < tables->layer_count; i++) {
        if (!layer_agrees(&tables->layers[i], &test->layers[i], &seen)) {
            fault->layer = i;
            fault->name = tables->layers[i].name;
            fault->step = seen.step;
            fault->channel = seen.channel;
            fault->input = seen.input;
            fault->got = seen.got;
            fault->expected = seen.expected;
            return QRT_ERR_MISMATCH;
        }
    }
    return QRT_OK;
}
