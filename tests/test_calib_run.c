/* Layers streamed from files against the searches of runtime/ on memory:
 * gen/calib_run.c. */
#include "cmocka_all.h"

#include "calibrate.h"

#include "qrt_f32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCHES 3u
#define SAMPLES 40000u /* of a batch: several pieces */

static struct qc qc;
static char paths[BATCHES][40];
static float x[BATCHES][SAMPLES];
static struct qc_batches batches;

static void write_npy(const char *path, const float *values, size_t n)
{
    static const uint16_t one = 1;
    char head[80];
    FILE *f = fopen(path, "wb");
    int len;

    assert_non_null(f);
    len = snprintf(head, sizeof(head),
                   "{'descr': '%cf4', 'fortran_order': False, "
                   "'shape': (%u,), }\n",
                   *(const char *)&one ? '<' : '>', (unsigned)n);
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(len, f);
    fputc(0, f);
    fwrite(head, 1, (size_t)len, f);
    assert_int_equal(fwrite(values, sizeof(*values), n, f), n);
    fclose(f);
}

/* Three batches whose range grows. */
static int set_up(void **state)
{
    uint32_t seed = 1;
    size_t b, i;

    (void)state;
    qc_diag_init(&qc);
    batches.at = qc_alloc(&qc, BATCHES * sizeof(*batches.at));
    batches.count = BATCHES;
    batches.samples = BATCHES * SAMPLES;
    for (b = 0; b < BATCHES; b++) {
        for (i = 0; i < SAMPLES; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[b][i] =
                ((float)(seed >> 8) / 16777216.0f - 0.3f) * (float)(b + 1);
            x[b][i] *= x[b][i] * x[b][i];
        }
        snprintf(paths[b], sizeof(paths[b]), "/tmp/test_calib_run.XXXXXX");
        close(mkstemp(paths[b]));
        write_npy(paths[b], x[b], SAMPLES);
        assert_true(qc_npy_open(&qc, paths[b], &batches.at[b]));
        qc_npy_close(&batches.at[b]);
    }
    return 0;
}

static int tear_down(void **state)
{
    size_t b;

    (void)state;
    for (b = 0; b < BATCHES; b++)
        unlink(paths[b]);
    qc_free_all(&qc);
    return 0;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

/* A layer on these files; ifmr with a rank of 1200, which takes a second
 * pass. */
static struct qc_calib_layer layer(uint32_t algo, uint32_t bits,
                                   bool asymmetric)
{
    struct qc_calib_layer l;

    memset(&l, 0, sizeof(l));
    l.search.algo = algo;
    l.search.act_bits = bits;
    l.search.asymmetric = asymmetric;
    l.search.bins = 1024;
    l.search.range_start = 0.7;
    l.search.range_end = 1.3;
    l.search.step = 0.01;
    l.search.max_percentile = l.search.min_percentile = 0.99;
    l.data = &batches;
    return l;
}

static void run(struct qc_calib_layer *l, size_t count, unsigned threads)
{
    struct qc_calib c;

    memset(&c, 0, sizeof(c));
    c.qc = &qc;
    c.layers = l;
    c.count = count;
    qc_calib_run(&c, threads, false, false);
}

static void hfmg_is_that_of_whole_batches(void **state)
{
    static uint32_t counts[1024], scratch[1024];
    struct qrt_hfmg_f32 h = {1024, 0, 0, 0, counts, scratch};
    struct qrt_hfmg_f32_result r;
    struct qc_calib_layer l = layer(QC_HFMG, 8, true);
    size_t b, i, out = 0;

    (void)state;
    for (b = 0; b < BATCHES; b++)
        assert_int_equal(qrt_hfmg_f32_add(&h, x[b], SAMPLES), QRT_OK);
    assert_int_equal(qrt_hfmg_f32_search(&h, 8, true, &r), QRT_OK);
    run(&l, 1, 1);
    assert_int_equal(l.stage, QC_FOUND);
    assert_int_equal(l.found.scale_bits, bits_of(r.scale));
    assert_int_equal(l.found.offset, r.offset);
    assert_int_equal(l.found.left, r.left);
    assert_int_equal(l.found.right, r.right);
    assert_int_equal(l.found.data_max_bits, bits_of(h.max));
    assert_true(l.found.loss == r.loss / (BATCHES * SAMPLES));
    for (i = 0; i < 1024; i++)
        out += i < r.left || i > r.right ? counts[i] : 0;
    assert_true(out > 0 && r.right < 1023);
    assert_true(l.found.clipped == (double)out / (BATCHES * SAMPLES));
}

static void ifmr_is_that_of_memory(void **state)
{
    static const uint32_t bits[] = {4, 8, 16};
    size_t size = qrt_ifmr_f32_state_size(61), i;
    void *memory = qc_calib_state(&qc, size);
    float ratios[61];

    (void)state;
    for (i = 0; i < 6; i++) {
        struct qc_calib_layer l = layer(QC_IFMR, bits[i / 2], i % 2);
        struct qrt_ifmr_f32_config cfg;
        struct qrt_ifmr_f32_result r;

        memset(&cfg, 0, sizeof(cfg));
        cfg.bits = bits[i / 2];
        cfg.asymmetric = i % 2;
        cfg.ratios = ratios;
        cfg.ratio_count = 61;
        cfg.max_percentile = cfg.min_percentile = 0.99;
        qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
        assert_int_equal(qrt_ifmr_f32_search(memory, size, &cfg, x[0],
                                             BATCHES * SAMPLES, &r),
                         QRT_OK);
        run(&l, 1, 1);
        assert_int_equal(l.stage, QC_FOUND);
        assert_int_equal(l.found.scale_bits, bits_of(r.scale));
        assert_int_equal(l.found.offset, r.offset);
        assert_int_equal(l.found.index, r.index);
        assert_int_equal(l.found.rank_max, 1200);
        assert_int_equal(l.found.ratio_bits, bits_of(ratios[r.index]));
        assert_true(l.found.loss == r.loss && l.found.gap == r.gap);
        assert_true(l.found.clipped == r.clipped);
    }
}

/* Limits of ULQ: those of IFMR, or the lower one pinned to 0. */
static void first_limits_of_ulq(void **state)
{
    struct qc_calib_layer l[2] = {layer(QC_ULQ, 8, true),
                                  layer(QC_ULQ, 8, true)};
    float max, min, scale;

    (void)state;
    l[1].search.fixed_min = 1;
    run(l, 2, 2);
    memcpy(&max, &l[0].found.clip_max_bits, sizeof(max));
    memcpy(&min, &l[0].found.clip_min_bits, sizeof(min));
    memcpy(&scale, &l[0].found.scale_bits, sizeof(scale));
    assert_true(min < 0 && max > 0);
    assert_int_equal(bits_of((max - min) / 255.0f), bits_of(scale));
    assert_int_equal(l[1].found.clip_max_bits, l[0].found.clip_max_bits);
    assert_int_equal(l[1].found.offset, -128);
    assert_int_equal(l[1].found.scale_bits, bits_of(max / 255.0f));
}

static void a_file_that_goes_away_is_a_fault(void **state)
{
    struct qc_calib_layer l[2] = {layer(QC_IFMR, 8, true),
                                  layer(QC_HFMG, 8, true)};

    (void)state;
    unlink(paths[1]);
    run(l, 2, 1);
    assert_int_equal(l[0].fault.kind, QC_FAULT_READ);
    assert_ptr_equal(l[0].fault.file, &batches.at[1]);
    assert_int_equal(l[1].fault.kind, QC_FAULT_READ);
    assert_int_not_equal(l[1].stage, QC_FOUND);
}

static void a_file_that_shrinks_is_a_fault(void **state)
{
    struct qc_calib_layer l = layer(QC_IFMR, 8, true);

    (void)state;
    assert_int_equal(truncate(paths[2], 1000), 0);
    run(&l, 1, 1);
    assert_int_equal(l.fault.kind, QC_FAULT_READ);
    assert_ptr_equal(l.fault.file, &batches.at[2]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(hfmg_is_that_of_whole_batches),
        TEST(ifmr_is_that_of_memory),
        TEST(first_limits_of_ulq),
        TEST(a_file_that_goes_away_is_a_fault),
        TEST(a_file_that_shrinks_is_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
