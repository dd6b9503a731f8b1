/* The IFMR observer and its search: runtime/ifmr_*.c, the integer ones. */
#include "ifmr_help.h"
#include "vectors_f32.h"

#include "ifmr_cells.h"

static uint64_t storage[QRT_IFMR_BYTES_MAX / 8 + 2];
static uint64_t second[QRT_IFMR_BYTES_MAX / 8];

static void observe(struct qrt_ifmr_observer *o, uint32_t bytes, const float *x,
                    size_t n)
{
    assert_int_equal(qrt_ifmr_init(o, storage, bytes), QRT_OK);
    assert_int_equal(
        qrt_ifmr_add_f32(o, (const uint32_t *)(const void *)x, (uint32_t)n),
        QRT_OK);
}

/* What every result has to be, whatever the data. */
static void assert_consistent(const struct qrt_ifmr_result *r,
                              const struct qrt_ifmr *search, int bits,
                              bool asym)
{
    int half = 1 << (bits - 1);
    float s = help_float(r->scale_bits), mn = help_float(r->min_bits);
    float mx = help_float(r->max_bits);
    float zero = asym ? -rintf(mn / s) - (float)half : 0;

    assert_true(r->index < search->ratio_count);
    assert_true(s > 0 && mx >= 0 && mn <= 0);
    assert_true((float)r->zero_point == zero);
    assert_true(help_float(r->clip_max_bits) == ((float)(half - 1) - zero) * s);
    assert_true(help_float(r->clip_min_bits) == (-(float)half - zero) * s);
    if (asym) {
        mx *= help_float(search->ratios[r->index]);
        mx = (mx - mn) / (float)(2 * half - 1);
    } else {
        bool negative = mx < -mn;

        mx = help_float(search->ratios[r->index]) * fmaxf(mx, -mn);
        mx = mx / (float)(half - 1 + negative);
    }
    assert_true(s == (mx < 0x1p-23f ? 1 : mx));
}

/* ------------------------------------------------------ recorded results */

/* Excess of the loss that a histogram may have on these vectors. */
static double allowed(uint32_t bytes, int bits)
{
    if (bits == 16) {
        return 0.02;
    }
    return bytes <= 4096 ? 0.10 : bytes <= 16384 ? 0.002 : 0.0005;
}

static void check_golden(struct vf *v, uint32_t bytes, double *worst)
{
    size_t n, count, k;
    double *p = vf_doubles(v, "percentile", NULL);
    float *x = vf_floats(v, "data", &n);
    int bits = vf_int(v, "bits");
    bool asym = vf_int(v, "asymmetric");
    struct qrt_ifmr_observer o;
    struct qrt_ifmr_result r;
    struct qrt_ifmr search;
    double *loss, least, squares = 0, excess, tolerance;
    float *ratios, *scales, *limit;
    int32_t *rank, *index;

    if (x == NULL) {
        return;
    }
    if (vf_has(v, "error")) {
        assert_int_equal(qrt_ifmr_init(&o, storage, bytes), QRT_OK);
        assert_int_equal(
            qrt_ifmr_add_f32(&o, (uint32_t *)(void *)x, (uint32_t)n),
            QRT_ERR_NOT_FINITE);
        assert_int_equal(o.rejected, 1);
        assert_int_equal(o.samples, n - 1);
        return;
    }
    ratios = vf_floats(v, "ratios", &count);
    scales = vf_floats(v, "scales", NULL);
    loss = vf_doubles(v, "loss", &k);
    if (ratios == NULL || scales == NULL || loss == NULL) {
        return;
    }
    limit = vf_floats(v, "limit", NULL);
    rank = vf_ints(v, "rank", NULL);
    index = vf_ints(v, "index", NULL);
    search.ratios = (const uint32_t *)(const void *)ratios;
    search.ratio_count = (uint32_t)count;
    memcpy(&search.max_percentile, &p[0], 8);
    memcpy(&search.min_percentile, &p[1], 8);
    observe(&o, bytes, x, n);
    assert_int_equal(qrt_ifmr_finish(&o, &search, (uint32_t)bits, asym, &r),
                     QRT_OK);
    assert_consistent(&r, &search, bits, asym);

    bool exact = r.method == QRT_IFMR_EXACT;
    float width = exact ? 0 : ldexpf(1, (int)o.top - 150);
    float max = fmaxf(limit[0], 0), min = fminf(limit[1], 0);

    max = fabsf(help_float(r.max_bits) - max);
    min = fabsf(help_float(r.min_bits) - min);
    assert_true(max <= (rank[0] > 1 ? width : 0));
    assert_true(min <= (rank[1] > 1 ? width : 0));
    if (max == 0 && min == 0) {
        assert_true(vf_ulp(help_float(r.scale_bits), scales[r.index]) <= 2);
    }

    for (size_t i = 0; i < n; i++) {
        squares += (double)x[i] * (double)x[i] / (double)n;
    }
    least = help_least(loss, (uint32_t)count);
    excess = loss[r.index] - least;
    excess /= fmax(least, 1e-9 * squares) + 1e-300;
    tolerance = !exact ? allowed(bytes, bits) : bits == 16 ? 1e-2 : 1e-5;
    if (!(excess <= tolerance) && r.index != (uint32_t)index[0] &&
        r.index != (uint32_t)index[1]) {
        fail_msg("%s, %u bytes: candidate %u loses %g more than the best",
                 v->id, (unsigned)bytes, (unsigned)r.index, excess);
    }
    if (excess > worst[exact] && bits < 16) {
        worst[exact] = excess;
    }
}

static void recorded_results_of_amct(void **state)
{
    static const uint32_t bytes[] = {4096, 8192, 16384, 32768};

    (void)state;
    for (int i = 0; i < 4; i++) {
        double worst[2] = {0, 0};
        struct vf v;

        vf_open(&v, "ifmr_f32.txt");
        while (vf_next(&v)) {
            check_golden(&v, bytes[i], worst);
        }
        vf_close(&v);
        print_message("%5u bytes: worst excess %.4f %% in bins, %.1e exact\n",
                      (unsigned)bytes[i], 100 * worst[0], worst[1]);
    }
}

/* ---------------------------------------------------------- exact values */

static void few_values_are_searched_exactly(void **state)
{
    static float x[3000];
    struct qrt_ifmr search = help_search();

    (void)state;
    for (int round = 0; round < 120; round++) {
        size_t n = 1 + help_below(round % 2 == 0 ? 20 : 3000);
        int bits = round % 3 == 0 ? 4 : n < 20 && round % 3 == 1 ? 12 : 8;
        double scale = exp2((int)help_below(60) - 20), loss[61];

        for (size_t i = 0; i < n; i++) {
            double g = help_gauss();

            g = round % 5 == 0 ? rint(g * 4) / 4 : g;
            x[i] = (float)(scale * (round % 7 == 0 ? fabs(g) : g));
        }
        qsort(x, n, sizeof *x, help_by_value);
        for (int asym = 0; asym < 2; asym++) {
            struct qrt_ifmr_observer o;
            struct qrt_ifmr_result r;

            observe(&o, 32768, x, n);
            assert_int_equal(
                qrt_ifmr_finish(&o, &search, (uint32_t)bits, asym, &r), QRT_OK);
            assert_int_equal(r.method, QRT_IFMR_EXACT);
            assert_consistent(&r, &search, bits, asym);
            help_losses(x, n, bits, asym, fmaxf(x[n - 1], 0), fminf(x[0], 0),
                        search.ratios, 61, loss);
            assert_true(loss[r.index] <= help_least(loss, 61) * (1 + 1e-5) +
                                             1e-13 * (double)n * scale * scale);
        }
    }
}

static void multiplying_the_samples_keeps_the_choice(void **state)
{
    static float x[3000];
    struct qrt_ifmr search = help_search();

    (void)state;
    for (int round = 0; round < 24; round++) {
        struct qrt_ifmr_observer o, twin;
        struct qrt_ifmr_result r;
        uint32_t bytes = round % 3 == 0 ? 32768 : 512;
        double loss[61], before;

        for (int i = 0; i < 3000; i++) {
            x[i] = (float)(help_gauss() * (i % 5 == 0 ? 3 : 1));
            x[i] = round % 4 < 2 ? fabsf(x[i]) : x[i];
        }
        qsort(x, 3000, sizeof *x, help_by_value);
        help_losses(x, 3000, 8, round % 2, fmaxf(x[2999], 0), fminf(x[0], 0),
                    search.ratios, 61, loss);
        search.max_percentile = search.min_percentile = P_ONE;
        observe(&o, bytes, x, 3000);
        qrt_ifmr_finish(&o, &search, 8, round % 2, &r);
        before = loss[r.index];
        for (int i = 0; i < 13; i++) {
            twin = o;
            twin.cells = second;
            memcpy(second, storage, bytes);
            assert_int_equal(qrt_ifmr_merge(&o, &twin), QRT_OK);
        }
        qrt_ifmr_finish(&o, &search, 8, round % 2, &r);
        assert_int_equal(r.samples, 3000 << 13);
        assert_true(fabs(loss[r.index] / before - 1) <
                    (bytes == 512 ? 0.05 : 1e-5));
    }
}

static void the_table_holds_as_many_values_as_it_has_cells(void **state)
{
    struct qrt_ifmr_observer o;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;
    float x;

    (void)state;
    for (uint32_t bytes = 512; bytes <= 32768; bytes *= 2) {
        uint32_t cells = bytes / 8;

        storage[cells] = 0x1234567887654321U;
        assert_int_equal(qrt_ifmr_init(&o, storage, bytes), QRT_OK);
        /* the largest and zero stay outside the table */
        for (uint32_t i = 0; i <= cells + 1; i++) {
            x = (float)i;
            qrt_ifmr_add_f32(&o, (uint32_t *)(void *)&x, 1);
        }
        qrt_ifmr_finish(&o, &search, 8, true, &r);
        assert_int_equal(r.method, QRT_IFMR_EXACT);
        assert_int_equal(r.cells, cells);
        assert_int_equal(o.distinct[0], cells);
        x = 0.5f;
        qrt_ifmr_add_f32(&o, (uint32_t *)(void *)&x, 1);
        qrt_ifmr_finish(&o, &search, 8, true, &r);
        assert_int_equal(r.method, QRT_IFMR_HISTOGRAM);
        assert_int_equal(r.samples, cells + 3);
        assert_true(storage[cells] == 0x1234567887654321U);
    }
}

/* ------------------------------------------------------------ inside a bin */

static void a_bin_of_equal_values_is_weighed_exactly(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint32_t n = 1 + help_below(65536), at = help_below(8192);
        uint32_t f = 1 + help_below(8192);
        uint32_t got = qrt_ifmr_above_in_bin(n, n * at, f);
        uint32_t want = at > 8192 - f ? n * (at - (8192 - f)) : 0;

        /* not less; more only as a linear density has it */
        assert_true(got >= want);
        assert_true((double)got <= fmax(want, (double)n * at * f / 8192) + 8);
    }
}

static void a_bin_of_even_spread_is_weighed_exactly(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint32_t n = 1 + help_below(65536), f = 1 + help_below(8192);
        double want = n * (double)f * f / 16384;
        double got = qrt_ifmr_above_in_bin(n, n * 4096, f);

        assert_true(fabs(got - want) <= want / 1000 + n / 8 + 1);
    }
}

/* ------------------------------------------------------------ percentiles */

static uint64_t pattern(double p)
{
    uint64_t u;

    memcpy(&u, &p, 8);
    return u;
}

/* Values 1 .. 50 in equal numbers, 50 * 2^doublings in all, and 51 .. 60. */
static void equal_numbers(struct qrt_ifmr_observer *o, int doublings)
{
    struct qrt_ifmr_observer twin;
    float x[60];

    for (int i = 0; i < 60; i++) {
        x[i] = (float)(i + 1);
    }
    observe(o, 4096, x, 50);
    for (int i = 0; i < doublings; i++) {
        twin = *o;
        twin.cells = second;
        memcpy(second, storage, 4096);
        assert_int_equal(qrt_ifmr_merge(o, &twin), QRT_OK);
    }
    qrt_ifmr_add_f32(o, (const uint32_t *)(const void *)(x + 50), 10);
}

static double random_percentile(int round)
{
    double n = 100.0 * (1 + help_below(100000));

    switch (round % 4) {
    case 0:
        return nextafter(1.0 - (1 + help_below(50)) / n, round % 8);
    case 1:
        return 1.0 - (1 + help_below(99)) * 0.005;
    case 2:
        return 1.0 - ldexp(help_uniform() + 0.5, -(int)(1 + help_below(40)));
    default:
        return 1.0 - 0x1p-23 + ((int)help_below(5) - 2) * 0x1p-53;
    }
}

static void percentiles_are_the_ranks_of_amct(void **state)
{
    struct qrt_ifmr search = help_search();

    (void)state;
    for (int round = 0; round < 4000; round++) {
        static struct qrt_ifmr_observer o;
        struct qrt_ifmr_result r;
        double p = random_percentile(round);
        double n;
        int64_t k;
        uint32_t value;

        if (round % 200 == 0) {
            equal_numbers(&o, round / 200 % 20);
        }
        n = o.samples;
        p = p > 0.5 ? p : 0.75;
        k = 1.0 - p < 1.192092896e-7 ? 1 : (int64_t)n - (int64_t)(p * n);
        value =
            k <= 10
                ? (uint32_t)(61 - k)
                : (uint32_t)(50 - (k - 11) / (int64_t)((o.samples - 10) / 50));
        search.max_percentile = pattern(p);
        search.min_percentile = P_ONE;
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_OK);
        assert_int_equal(help_float(r.max_bits), value);
        assert_int_equal(r.min_bits, 0);
    }
}

static void percentiles_of_decimals_that_binary64_cannot_hold(void **state)
{
    struct qrt_ifmr_observer o;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;
    float x[100];

    (void)state;
    for (int i = 0; i < 100; i++) {
        x[i] = (float)(i + 1);
    }
    observe(&o, 4096, x, 100);
    search.max_percentile = pattern(0.57); /* 0.57 * 100 is 56.99999999999999 */
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_OK);
    assert_int_equal(help_float(r.max_bits), 100 - 44 + 1);
}

static void percentiles_in_bins_are_off_by_less_than_a_bin(void **state)
{
    static float x[20000];
    struct qrt_ifmr search = help_search();

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct qrt_ifmr_observer o;
        struct qrt_ifmr_result r;
        double p = 1 - exp2(-(1.0 + help_below(12))) * help_uniform();
        size_t k = 20000 - (size_t)(p * 20000);
        float width;

        for (int i = 0; i < 20000; i++) {
            x[i] = (float)(help_gauss() + (round % 3 - 1));
        }
        qsort(x, 20000, sizeof *x, help_by_value);
        observe(&o, 8192, x, 20000);
        search.max_percentile = search.min_percentile = pattern(p);
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_OK);
        width = ldexpf(1, (int)o.top - 150);
        assert_true(fabsf(help_float(r.max_bits) - fmaxf(x[20000 - k], 0)) <=
                    width);
        assert_true(fabsf(help_float(r.min_bits) - fminf(x[k - 1], 0)) <=
                    width);
    }
}

/* ------------------------------------------------------------- odd inputs */

static struct qrt_ifmr_result result_of(const float *x, size_t n, int bits,
                                        bool asym)
{
    struct qrt_ifmr_observer o;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;

    observe(&o, 4096, x, n);
    assert_int_equal(qrt_ifmr_finish(&o, &search, (uint32_t)bits, asym, &r),
                     QRT_OK);
    assert_consistent(&r, &search, bits, asym);
    return r;
}

static void no_sample_is_an_error(void **state)
{
    struct qrt_ifmr_observer o;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;
    uint32_t nan = 0x7fc00000;

    (void)state;
    memset(&r, 0x5a, sizeof r);
    qrt_ifmr_init(&o, storage, 4096);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_ERR_EMPTY);
    assert_int_equal(qrt_ifmr_add_f32(&o, &nan, 1), QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_ERR_EMPTY);
    assert_int_equal(r.scale_bits, 0x5a5a5a5a);
}

static void data_too_small_for_a_step_are_dead(void **state)
{
    static const float x[] = {0, -0.0f, 1e-7f, -3e-6f, 1e-30f, -1e-40f, 0};
    static const size_t ends[] = {1, 2, 4, 7};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct qrt_ifmr_result r = result_of(x, ends[i], 8, true);

        assert_int_equal(r.input, QRT_IFMR_DEAD);
        assert_int_equal(r.scale_bits, 0x3f800000);
        assert_int_equal(r.zero_point, -128);
        assert_int_equal(r.index, 0);
        r = result_of(x, ends[i], 8, false);
        assert_int_equal(r.input, QRT_IFMR_DEAD);
        assert_int_equal(r.zero_point, 0);
    }
}

static void a_constant_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        float x = ldexpf((float)help_gauss(), (int)help_below(100) - 10);
        float level, s;
        struct qrt_ifmr_result r = result_of(&x, 1, 8, true);

        s = help_float(r.scale_bits);
        level = rintf(x / s) * s;
        assert_int_equal(r.input, QRT_IFMR_LIVE);
        assert_true(fabsf(level - x) <= 0x1p-8f * s);
    }
}

static void only_negative_values_have_equal_candidates(void **state)
{
    static const float x[] = {-1, -2, -3.5f};
    struct qrt_ifmr_result r = result_of(x, 3, 8, true);

    (void)state;
    assert_int_equal(r.index, 0);
    assert_int_equal(r.max_bits, 0);
    assert_int_equal(r.zero_point, 127);
}

static void a_step_beyond_binary32_is_an_error(void **state)
{
    static const float x[] = {3e38f, -3e38f};
    struct qrt_ifmr_observer o;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;

    (void)state;
    memset(&r, 0x5a, sizeof r);
    observe(&o, 4096, x, 2);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r),
                     QRT_ERR_NOT_FINITE);
    assert_int_equal(r.scale_bits, 0x5a5a5a5a);
    /* 1.3 * max overflows as well */
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, false, &r),
                     QRT_ERR_NOT_FINITE);
}

static void values_that_are_not_finite_are_counted_and_left_out(void **state)
{
    static uint32_t x[3000], clean[3000];
    struct qrt_ifmr_observer a, b;
    uint32_t bad = 0, n = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        x[i] = help_bits((float)help_gauss());
        if (help_below(10) == 0) {
            x[i] = 0x7f800000U + (help_random() & 0x807fffffU);
            bad++;
        } else {
            clean[n++] = x[i];
        }
    }
    qrt_ifmr_init(&a, storage, 4096);
    qrt_ifmr_init(&b, second, 4096);
    assert_int_equal(qrt_ifmr_add_f32(&a, x, 3000), QRT_ERR_NOT_FINITE);
    assert_int_equal(qrt_ifmr_add_f32(&b, clean, n), QRT_OK);
    assert_int_equal(a.rejected, bad);
    assert_int_equal(a.samples, n);
    assert_memory_equal(storage, second, 4096);
}

static void the_counters_cannot_overflow(void **state)
{
    static const uint32_t x[2] = {0x3f800000, 0xbf800000};
    struct qrt_ifmr_observer o, twin;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;
    float y = 0.3f;

    (void)state;
    qrt_ifmr_init(&o, storage, 512);
    qrt_ifmr_add_f32(&o, x, 2);
    for (int i = 0; i < 70; i++) { /* leaves the table */
        y += 0.01f;
        qrt_ifmr_add_f32(&o, (uint32_t *)(void *)&y, 1);
    }
    while (o.samples <= QRT_IFMR_SAMPLES_MAX / 2) {
        twin = o;
        twin.cells = second;
        memcpy(second, storage, 512);
        assert_int_equal(qrt_ifmr_merge(&o, &twin), QRT_OK);
    }
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, true, &r), QRT_OK);
    twin = o;
    assert_int_equal(
        qrt_ifmr_add_f32(&o, x, QRT_IFMR_SAMPLES_MAX - o.samples + 1),
        QRT_ERR_FULL);
    assert_int_equal(qrt_ifmr_add_f32(&o, x, UINT32_MAX), QRT_ERR_FULL);
    assert_memory_equal(&o, &twin, sizeof o);
}

static void the_extreme_of_two_sides_may_be_far_apart(void **state)
{
    static float x[4000];

    (void)state;
    for (int e = 0; e < 60; e += 7) {
        struct qrt_ifmr_result r;

        for (int i = 0; i < 4000; i++) {
            x[i] = i % 2 == 0 ? (float)help_uniform()
                              : -ldexpf((float)help_uniform(), -e);
        }
        r = result_of(x, 4000, 8, true);
        assert_int_equal(r.method, QRT_IFMR_HISTOGRAM);
        assert_true(help_float(r.max_bits) > 0.99f);
        assert_true(help_float(r.min_bits) < -ldexpf(0.99f, -e));
    }
}

/* -------------------------------------------------------------- arguments */

static void arguments_are_checked(void **state)
{
    struct qrt_ifmr_observer o, unset;
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_result r;
    uint32_t x = 0x3f800000;
    int16_t y = 1;
    int32_t z = 1;

    (void)state;
    memset(&unset, 0, sizeof unset);
    assert_int_equal(qrt_ifmr_init(NULL, storage, 4096), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_init(&o, NULL, 4096), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_init(&o, storage, 511), QRT_ERR_SIZE);
    assert_int_equal(qrt_ifmr_init(&o, storage, 32769), QRT_ERR_SIZE);
    assert_int_equal(qrt_ifmr_init(&o, storage, 4096), QRT_OK);
    assert_int_equal(qrt_ifmr_add_f32(NULL, &x, 1), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_add_f32(&o, NULL, 1), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_add_s16(&o, NULL, 1, 0), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_add_s32(&o, NULL, 1, 0), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_add_f32(&unset, &x, 1), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_add_s16(&o, &y, 1, 91), QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_add_s32(&o, &z, 1, -91), QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_add_any(&o, QRT_S8, &y, 1, 0), QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_add_f32(&o, &x, 0), QRT_OK);
    assert_int_equal(o.samples, 0);
    qrt_ifmr_add_f32(&o, &x, 1);

    assert_int_equal(qrt_ifmr_finish(NULL, &search, 8, 1, &r), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_finish(&o, NULL, 8, 1, &r), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_finish(&unset, &search, 8, 1, &r), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 3, 1, &r), QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_finish(&o, &search, 17, 1, &r), QRT_ERR_RANGE);
}

static void the_search_table_is_checked(void **state)
{
    static const uint32_t falling[] = {0x3f800000, 0x3f000000};
    static const uint32_t zero[] = {0, 0x3f000000};
    static const uint32_t infinite[] = {0x3f800000, 0x7f800000};
    static const uint32_t negative[] = {0x3f800000, 0xbf800000};
    const uint32_t *const bad[] = {falling, zero, infinite, negative};
    static const double p[] = {0.5, 0, -0.9, 1.0000000000000002, NAN, 7};
    struct qrt_ifmr_observer o;
    struct qrt_ifmr_result r;
    uint32_t x = 0x3f800000;

    (void)state;
    qrt_ifmr_init(&o, storage, 4096);
    qrt_ifmr_add_f32(&o, &x, 1);
    for (int i = 0; i < 4; i++) {
        struct qrt_ifmr search = {bad[i], 2, P_DEFAULT, P_DEFAULT};

        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, &r), QRT_ERR_RANGE);
        search.ratios = help_ratios();
        search.ratio_count = 0;
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, &r), QRT_ERR_RANGE);
        search.ratios = NULL;
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, &r), QRT_ERR_NULL);
    }
    for (int i = 0; i < 6; i++) {
        struct qrt_ifmr search = help_search();

        search.max_percentile = pattern(p[i]);
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, &r), QRT_ERR_RANGE);
        search = help_search();
        search.min_percentile = pattern(p[i]);
        assert_int_equal(qrt_ifmr_finish(&o, &search, 8, 1, &r), QRT_ERR_RANGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_results_of_amct),
        cmocka_unit_test(few_values_are_searched_exactly),
        cmocka_unit_test(multiplying_the_samples_keeps_the_choice),
        cmocka_unit_test(a_bin_of_equal_values_is_weighed_exactly),
        cmocka_unit_test(a_bin_of_even_spread_is_weighed_exactly),
        cmocka_unit_test(the_table_holds_as_many_values_as_it_has_cells),
        cmocka_unit_test(percentiles_are_the_ranks_of_amct),
        cmocka_unit_test(percentiles_of_decimals_that_binary64_cannot_hold),
        cmocka_unit_test(percentiles_in_bins_are_off_by_less_than_a_bin),
        cmocka_unit_test(no_sample_is_an_error),
        cmocka_unit_test(data_too_small_for_a_step_are_dead),
        cmocka_unit_test(a_constant_is_kept),
        cmocka_unit_test(only_negative_values_have_equal_candidates),
        cmocka_unit_test(a_step_beyond_binary32_is_an_error),
        cmocka_unit_test(values_that_are_not_finite_are_counted_and_left_out),
        cmocka_unit_test(the_counters_cannot_overflow),
        cmocka_unit_test(the_extreme_of_two_sides_may_be_far_apart),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(the_search_table_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
