/* gen/weights.c, gen/lower_weights.c: codes, layouts, biases and packing of
 * every kind of layer, against the formulas written plainly. */
#define _POSIX_C_SOURCE 200809L
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "emit_weights.h"
#include "resolve.h"
#include "weights.h"

#define SCALE_D  0.03125f
#define SCALE_W  0.0078125f
#define OFFSET_D (-3)

static struct qc qc;
static char folder[] = "/tmp/quantc-weights-XXXXXX";
static const char *const names[] = {
    "conv", "depthwise", "grouped", "deconv", "deconv_grouped",
    "n10",  "gemm_oi",   "gemm_io", "plain",  "one_bias"};
#define NAMES (sizeof(names) / sizeof(*names))

static int begin(void **state)
{
    (void)state;
    memset(&qc, 0, sizeof(qc));
    qc_diag_init(&qc);
    return 0;
}

static int end(void **state)
{
    (void)state;
    qc_free_all(&qc);
    return 0;
}

static struct qc_doc *doc(const char *name, enum qc_kind kind, const char *text)
{
    const char *path = qc_format(&qc, "%s/%s", folder, name).ptr;
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return qc_read(&qc, path, kind, QC_UNION, false);
}

/* Scales per channel: SCALE_W, times 2 in channel 1. */
static struct qc_str scales(const char *name, const struct qc_model *m)
{
    const struct qc_layer *l = qc_find_layer(m, qc_str(name));
    struct qc_str s = {"", 0};
    int64_t n = l->op <= QRT_OP_DECONV2D ? l->out_channels : 1, c;

    for (c = 0; c < n; c++)
        s = qc_format(&qc, "%.*s scale_w: %s offset_w: 0", QC_ARG(s),
                      c == 1 ? "0.015625" : "0.0078125");
    return s;
}

/* wts_type of a record with 4-bit weights: layers with groups keep 8 bits. */
static const char *type_of(const struct qc_model *m, const char *name)
{
    const struct qc_layer *l = qc_find_layer(m, qc_str(name));

    return l->group > 1 ? "" : "wts_type: \"INT4\"";
}

static struct qc_tables *lower(const char *config, bool four)
{
    struct qc_model *m = qc_read_onnx(&qc, "tests/models/layouts.onnx");
    struct qc_resolve_options o = {0};
    struct qc_lower_options l = {"quant"};
    struct qc_str r = {"", 0};
    struct qc_plan *p;
    struct qc_tables *t;
    size_t i;

    for (i = 0; i < NAMES; i++)
        r = qc_format(&qc,
                      "%.*srecord { key: \"%s\" value { scale_d: 0.03125 "
                      "offset_d: -3 %s %.*s } }\n",
                      QC_ARG(r), names[i], four ? type_of(m, names[i]) : "",
                      QC_ARG(scales(names[i], m)));
    p = qc_resolve(&qc, doc("quant.cfg", QC_KIND_CALIB, config),
                   doc("record.txt", QC_KIND_RECORD, qc_cstr(&qc, r)), m, &o);
    assert_non_null(p);
    t = qc_lower(&qc, p, &l);
    assert_non_null(t);
    return t;
}

static struct qc_low_weights *all;
static size_t count;

static void make(const char *config, bool four, enum qc_weight_layout layout)
{
    assert_true(
        qc_lower_weights(&qc, lower(config, four), layout, &all, &count));
    if (qc_error_count(&qc)) {
        qc_flush(&qc);
        fail_msg("there are errors");
    }
    assert_int_equal(count, NAMES - 1); /* not the pooling */
}

static const char config[] = "activation_offset: true\n";

static const struct qc_low_weights *weights(const char *name)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (qc_equalz(all[i].row->row->layer->name, name))
            return &all[i];
    fail_msg("no weights of %s", name);
    return NULL;
}

static float scale_of(const struct qc_low_weights *w, size_t channel)
{
    return w->row->factors->count > 1 && channel == 1 ? 2 * SCALE_W : SCALE_W;
}

/* A layer as the model stores it: element [i, o, s] with these strides. */
struct form {
    const char *name;
    size_t groups, in, out, space; /* in and out of one group             */
    size_t to_in, to_out;          /* strides inside a group              */
    size_t group;                  /* stride of a group                   */
};

static const struct form forms[] = {
    {"conv",           1, 4, 6, 6, 6,  24, 0 },
    {"depthwise",      6, 1, 1, 9, 9,  9,  9 },
    {"grouped",        2, 3, 2, 1, 1,  3,  6 },
    {"deconv",         1, 4, 6, 4, 24, 4,  0 },
    {"deconv_grouped", 2, 3, 2, 4, 8,  4,  24},
    {"gemm_oi",        1, 4, 8, 1, 1,  4,  0 },
    {"gemm_io",        1, 8, 6, 1, 6,  1,  0 },
    {"plain",          1, 6, 4, 1, 4,  1,  0 },
    {"one_bias",       1, 4, 4, 1, 4,  1,  0 },
};
#define FORMS (sizeof(forms) / sizeof(*forms))

static float model_weight(const struct qc_low_weights *w, size_t at)
{
    return qc_tensor_f32(&qc, w->row->row->layer->weight)[at];
}

static int code_of(float w, float scale)
{
    float q = rintf(w / scale);

    return q < -128 ? -128 : q > 127 ? 127 : (int)q;
}

/* Calls f for every weight: group, in, out (of the group), space. */
static void each(const struct form *f, void (*call)(const struct form *, size_t,
                                                    size_t, size_t, size_t))
{
    size_t g, i, o, s;

    for (g = 0; g < f->groups; g++)
        for (i = 0; i < f->in; i++)
            for (o = 0; o < f->out; o++)
                for (s = 0; s < f->space; s++)
                    call(f, g, i, o, s);
}

static size_t stored_at(const struct form *f, size_t g, size_t i, size_t o,
                        size_t s)
{
    return g * f->group + i * f->to_in + o * f->to_out + s;
}

static void check_code(const struct form *f, size_t g, size_t i, size_t o,
                       size_t s)
{
    const struct qc_low_weights *w = weights(f->name);
    size_t at = stored_at(f, g, i, o, s);

    assert_int_equal(w->codes[at],
                     code_of(model_weight(w, at), scale_of(w, g * f->out + o)));
}

static void codes_are_arq_s_in_the_model_s_layout(void **state)
{
    size_t i;

    (void)state;
    make(config, false, QC_LAYOUT_ONNX);
    for (i = 0; i < FORMS; i++) {
        assert_int_equal(weights(forms[i].name)->count,
                         forms[i].groups * forms[i].in * forms[i].out *
                             forms[i].space);
        each(&forms[i], check_code);
    }
}

/* [out, space, in of the group]; depthwise [space, out]. */
static void check_cmsis(const struct form *f, size_t g, size_t i, size_t o,
                        size_t s)
{
    const struct qc_low_weights *w = weights(f->name);
    size_t at = stored_at(f, g, i, o, s), channel = g * f->out + o;
    size_t moved = strcmp(f->name, "depthwise") == 0
                       ? s * f->groups + channel
                       : (channel * f->space + s) * f->in + i;

    assert_int_equal(w->codes[moved],
                     code_of(model_weight(w, at), scale_of(w, channel)));
}

static void cmsis_layout_has_the_input_channel_last(void **state)
{
    size_t i;

    (void)state;
    make(config, false, QC_LAYOUT_CMSIS);
    for (i = 0; i < FORMS; i++)
        each(&forms[i], check_cmsis);
}

/* ---- biases ---- */

static int32_t sums[16];

static void add_code(const struct form *f, size_t g, size_t i, size_t o,
                     size_t s)
{
    sums[g * f->out + o] += weights(f->name)->codes[stored_at(f, g, i, o, s)];
}

static void biases_are_in_units_of_the_accumulator(void **state)
{
    size_t i, c;

    (void)state;
    make(config, false, QC_LAYOUT_ONNX);
    for (i = 0; i < FORMS; i++) {
        const struct qc_low_weights *w = weights(forms[i].name);
        const struct qc_tensor *b = w->row->row->layer->bias;
        const float *v = b ? qc_tensor_f32(&qc, b) : NULL;

        memset(sums, 0, sizeof(sums));
        each(&forms[i], add_code);
        assert_int_equal(w->channels, forms[i].groups * forms[i].out);
        assert_int_equal(w->has_bias, b != NULL);
        for (c = 0; c < w->channels; c++) {
            float unit = SCALE_D * scale_of(w, c);
            float real = v ? v[b->count == 1 ? 0 : c] : 0;

            assert_int_equal(w->bias[c], (int32_t)rintf(real / unit));
            assert_int_equal(w->bias_zp[c], w->bias[c] - OFFSET_D * sums[c]);
        }
    }
}

static void one_number_of_an_add_is_every_channel_s_bias(void **state)
{
    const struct qc_low_weights *w;
    size_t c;

    (void)state;
    make(config, false, QC_LAYOUT_ONNX);
    w = weights("one_bias");
    for (c = 0; c < 4; c++)
        assert_int_equal(w->bias[c], 3072); /* 0.75 * 2^12 */
    w = weights("plain");
    for (c = 0; c < 4; c++)
        assert_int_equal(w->bias[c], 0);
}

/* ---- 4 bits ---- */

static int nibble(const uint8_t *p, size_t at, size_t high)
{
    int v = p[at] >> (high ? 4 : 0) & 15;

    return v > 7 ? v - 16 : v;
}

static enum qc_weight_layout packed_layout;

/* Pairs of input channels: the stored input axis is half as long. */
static void check_packed(const struct form *f, size_t g, size_t i, size_t o,
                         size_t s)
{
    const struct qc_low_weights *w = weights(f->name);
    float real = model_weight(w, stored_at(f, g, i, o, s));
    float q = rintf(real / scale_of(w, o));
    int want = q < -8 ? -8 : q > 7 ? 7 : (int)q;
    size_t at;

    if (packed_layout == QC_LAYOUT_CMSIS)
        at = ((o * f->space + s) * f->in + i) / 2;
    else if (f->to_in > f->to_out)
        at = i / 2 * f->to_in + o * f->to_out + s;
    else
        at = o * f->to_out / 2 + i / 2 * f->to_in + s;
    assert_int_equal(nibble(w->packed, at, i % 2), want);
}

static void pairs_of_input_channels_share_a_byte(void **state)
{
    static const size_t even[] = {0, 3, 5, 6, 7, 8};
    size_t i;

    (void)state;
    for (packed_layout = QC_LAYOUT_ONNX; packed_layout <= QC_LAYOUT_CMSIS;
         packed_layout++) {
        make("common_config { arq_quantize { quant_bits: 4 } }\n", true,
             packed_layout);
        for (i = 0; i < sizeof(even) / sizeof(*even); i++) {
            const struct qc_low_weights *w = weights(forms[even[i]].name);

            assert_non_null(w->packed);
            assert_int_equal(w->bytes, w->count / 2);
            each(&forms[even[i]], check_packed);
        }
        /* groups stay at 8 bits */
        assert_null(weights("grouped")->packed);
        assert_null(weights("depthwise")->packed);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(codes_are_arq_s_in_the_model_s_layout),
        TEST(cmsis_layout_has_the_input_channel_last),
        TEST(biases_are_in_units_of_the_accumulator),
        TEST(one_number_of_an_add_is_every_channel_s_bias),
        TEST(pairs_of_input_channels_share_a_byte),
    };
    char path[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(path, sizeof(path), "%s/quant.cfg", folder);
    remove(path);
    snprintf(path, sizeof(path), "%s/record.txt", folder);
    remove(path);
    rmdir(folder);
    return failed;
}
