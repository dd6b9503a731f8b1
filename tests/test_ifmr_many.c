/* The exact IFMR search beyond what the other suites reach: more samples than
 * its work table holds, counters that are full, later passes over other
 * samples, saved states that contradict themselves. */
#include "cmocka_all.h"

#include "qrt_f32.h"

#include <math.h>

#define ROOM    200000u /* members of a state's memory */
#define RATIOS  3u
#define COUNT   29u                  /* of the ratios in saved bytes */
#define TOTALS  (COUNT + 4 * RATIOS) /* passes, samples, seen, max, min */
#define LARGEST (TOTALS + 28u)

static uint64_t memory[3][ROOM];
static const float ratios[RATIOS] = {0.9f, 1, 1.1f};
static struct qrt_ifmr_f32_config cfg;
static size_t size;

static int begin(void **state)
{
    (void)state;
    cfg = (struct qrt_ifmr_f32_config){8, true, false, ratios, RATIOS, 1, 1};
    size = qrt_ifmr_f32_state_size(RATIOS);
    assert_true(size <= sizeof memory[0]);
    return 0;
}

static void *fresh(int i)
{
    assert_int_equal(qrt_ifmr_f32_init(memory[i], size, &cfg), QRT_OK);
    return memory[i];
}

static size_t saved(void *state, uint8_t *to, size_t room)
{
    size_t n = 0;

    assert_int_equal(qrt_ifmr_f32_save(state, to, room, &n), QRT_OK);
    return n;
}

static void fill(float *x, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = scale * (float)((int)(i * 7919 % 2003) - 900) / 1000;
}

/* 2^26 and 8192 samples in one bin with all lower bits set: the fields of its
 * cell are full. Two halves, merged, have never come that far. */
static void more_samples_than_the_work_table_holds(void **state)
{
    enum { BLOCK = 8192, BLOCKS = 8193 };
    static float x[BLOCK];
    static uint8_t one[4096], two[4096];
    void *all = fresh(0), *left = fresh(1), *right = fresh(2);
    struct qrt_ifmr_f32_result r;
    size_t n;

    (void)state;
    for (size_t i = 0; i < BLOCK; i++)
        x[i] = nextafterf(2, 1);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(qrt_ifmr_f32_add(all, x, BLOCK, NULL), QRT_OK);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(qrt_ifmr_f32_add(i % 2 ? left : right, x, BLOCK, NULL),
                         QRT_OK);
    assert_int_equal(qrt_ifmr_f32_merge(left, right), QRT_OK);
    n = saved(all, one, sizeof one);
    assert_int_equal(saved(left, two, sizeof two), n);
    assert_memory_equal(one, two, n);
    assert_int_equal(qrt_ifmr_f32_finish(all, &r), QRT_OK);
    assert_int_equal(r.samples, (uint64_t)BLOCK * BLOCKS);
    assert_true(r.max == x[0] && r.data_min == x[0]);
}

/* Doubled until 2^32 - 1 is passed. */
static void counters_that_are_full_are_told(void **state)
{
    static float x[4096];
    void *into = fresh(0), *from = memory[1];

    (void)state;
    fill(x, 4096, 1);
    assert_int_equal(qrt_ifmr_f32_add(into, x, 4096, NULL), QRT_OK);
    for (int i = 13; i < 32; i++) {
        memcpy(from, into, size);
        assert_int_equal(qrt_ifmr_f32_merge(into, from), QRT_OK);
    }
    memcpy(from, into, size);
    assert_int_equal(qrt_ifmr_f32_merge(into, from), QRT_ERR_FULL);
    assert_memory_equal(into, from, size);
    assert_int_equal(qrt_ifmr_f32_merge(into, fresh(2)), QRT_OK); /* nothing */
    assert_memory_equal(into, from, size);
}

/* A later pass that both halves have seen whole. */
static void a_later_pass_has_no_more_samples_than_the_first(void **state)
{
    static float x[1000];
    void *a, *b = memory[1];
    struct qrt_ifmr_f32_result r;

    (void)state;
    cfg.exact_loss = true;
    a = fresh(0);
    fill(x, 1000, 1);
    assert_int_equal(qrt_ifmr_f32_add(a, x, 1000, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_finish(a, &r), QRT_OK);
    assert_int_equal(r.again, 1);
    memcpy(b, a, size);
    assert_int_equal(qrt_ifmr_f32_add(a, x, 1000, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(b, x, 1, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_merge(a, b), QRT_ERR_FULL);
    assert_int_equal(qrt_ifmr_f32_add(a, x, 1, NULL), QRT_ERR_FULL);
    assert_int_equal(qrt_ifmr_f32_finish(a, &r), QRT_OK);
    assert_int_equal(r.again, 0);
}

/* Until a limit is found, the search counts digits of the samples. */
static void *waits_for_a_limit(float *x, size_t n)
{
    struct qrt_ifmr_f32_result r;
    void *s;

    cfg.max_percentile = 0.9;
    s = fresh(0);
    fill(x, n, 1);
    assert_int_equal(qrt_ifmr_f32_add(s, x, n, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_finish(s, &r), QRT_OK);
    assert_int_equal(r.again, 1);
    return s;
}

static void a_later_pass_over_other_samples_is_noticed(void **state)
{
    static float x[1000];
    struct qrt_ifmr_f32_result r;
    size_t bad = 0;
    void *s = waits_for_a_limit(x, 1000);

    (void)state;
    x[7] = 2; /* above the first pass's largest */
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, NULL), QRT_ERR_MISMATCH);
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1, NULL), QRT_ERR_STATE);
    s = waits_for_a_limit(x, 1000);
    x[7] = NAN;
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, &bad), QRT_ERR_NOT_FINITE);
    assert_int_equal(bad, 7);
    s = waits_for_a_limit(x, 1000);
    for (int i = 0; i < 1000; i++)
        x[i] = 0.0f; /* none is where the limit must be */
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_finish(s, &r), QRT_ERR_MISMATCH);
    assert_int_equal(qrt_ifmr_f32_finish(s, &r), QRT_ERR_STATE);
}

static void damaged(uint8_t *bytes, size_t n, size_t at, const void *with,
                    size_t count)
{
    uint8_t before[16];
    enum qrt_status status;

    assert_true(at + count <= n && count <= sizeof before);
    memcpy(before, bytes + at, count);
    memcpy(bytes + at, with, count);
    status = qrt_ifmr_f32_load(memory[2], size, bytes, n);
    /* a length that is wrong may be what is noticed */
    assert_true(status == QRT_ERR_STATE || status == QRT_ERR_SIZE);
    memcpy(bytes + at, before, count);
    assert_int_equal(qrt_ifmr_f32_load(memory[2], size, bytes, n), QRT_OK);
}

static void contradictions_in_saved_bytes_are_noticed(void **state)
{
    static float x[1000];
    static uint8_t bytes[60000], again[60000];
    const uint8_t endless[10] = {128, 128, 128, 128, 128,
                                 128, 128, 128, 128, 128};
    const uint8_t infinite[4] = {0, 0, 0x80, 0x7f}, none[8] = {0};
    const uint8_t many[8] = {0xff, 0xff, 0xff, 0xff, 0xff};
    struct qrt_ifmr_f32_result r;
    void *s = fresh(0);
    size_t n;

    (void)state;
    fill(x, 1000, 1);
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, NULL), QRT_OK);
    n = saved(s, bytes, sizeof bytes);
    assert_int_equal(qrt_ifmr_f32_load(memory[2], size, bytes, n), QRT_OK);
    assert_int_equal(saved(memory[2], again, sizeof again), n);
    assert_memory_equal(bytes, again, n);
    damaged(bytes, n, TOTALS + 4, many, 8);      /* samples */
    damaged(bytes, n, TOTALS + 4, none, 8);      /* fewer than the bins hold */
    damaged(bytes, n, TOTALS + 12, many, 4);     /* seen, before any pass */
    damaged(bytes, n, TOTALS + 20, infinite, 4); /* max */
    damaged(bytes, n, TOTALS + 24, infinite, 4); /* min, above max */
    damaged(bytes, n, LARGEST, endless, 10);     /* a number without an end */
    damaged(bytes, n, LARGEST, "\x7f", 1);       /* more than are kept */
    damaged(bytes, n, 5, "\x09", 1);             /* stage */
    damaged(bytes, n, 7, "\x02", 1);             /* neither with nor without */

    s = waits_for_a_limit(x, 1000); /* digits are last: rank, distances */
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, NULL), QRT_OK);
    n = saved(s, bytes, sizeof bytes);
    assert_int_equal(qrt_ifmr_f32_load(memory[2], size, bytes, n), QRT_OK);
    damaged(bytes, n, n - 3, "\xff\x7f", 2); /* a digit counted too often */
    begin(NULL);
    cfg.exact_loss = true;
    s = fresh(0);
    fill(x, 1000, 1);
    assert_int_equal(qrt_ifmr_f32_add(s, x, 1000, NULL), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_finish(s, &r), QRT_OK);
    assert_int_equal(r.again, 1);
    n = saved(s, bytes, sizeof bytes);
    assert_int_equal(qrt_ifmr_f32_load(memory[2], size, bytes, n), QRT_OK);
    for (size_t at = LARGEST; at + 8 < n; at++) { /* where the limit stands */
        float limit;

        memcpy(&limit, bytes + at, 4);
        if (limit == r.max || limit == x[0]) {
            uint8_t wrong[4];

            limit = -1e30f;
            memcpy(wrong, &limit, 4);
            damaged(bytes, n, at, wrong, 4);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(more_samples_than_the_work_table_holds, begin),
        cmocka_unit_test_setup(counters_that_are_full_are_told, begin),
        cmocka_unit_test_setup(a_later_pass_has_no_more_samples_than_the_first,
                               begin),
        cmocka_unit_test_setup(a_later_pass_over_other_samples_is_noticed,
                               begin),
        cmocka_unit_test_setup(contradictions_in_saved_bytes_are_noticed,
                               begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
