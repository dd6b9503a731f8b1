/* The exact IFMR search: runtime/ifmr_*f32.c. */
#include "vectors_f32.h"

#include "qrt_f32.h"

#include <math.h>

#if defined(__has_include)
#if __has_include(<cjson/cJSON.h>)
#include <cjson/cJSON.h>
#define HAVE_CJSON 1
#endif
#endif

static void *state_mem, *other_mem;
static size_t state_cap;

static int set_up(void **state)
{
    (void)state;
    state_cap = qrt_ifmr_f32_state_size(2000);
    state_mem = malloc(state_cap);
    other_mem = malloc(state_cap);
    return state_mem && other_mem ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(state_mem);
    free(other_mem);
    return 0;
}

static enum qrt_status search(const struct qrt_ifmr_f32_config *c,
                              const float *x, size_t n,
                              struct qrt_ifmr_f32_result *r)
{
    return qrt_ifmr_f32_search(state_mem, state_cap, c, x, n, r);
}

/* ----------------------------------------------------- recorded results */

static void check_case(struct vf *v)
{
    size_t n, count, k;
    double *p = vf_doubles(v, "percentile", NULL);
    double *s = vf_doubles(v, "search", NULL);
    float *x = vf_floats(v, "data", &n), ours[2000];
    struct qrt_ifmr_f32_config c = {(uint32_t)vf_int(v, "bits"),
                                    vf_int(v, "asymmetric"),
                                    false,
                                    ours,
                                    0,
                                    p[0],
                                    p[1]};
    struct qrt_ifmr_f32_result r;
    c.ratio_count = qrt_ifmr_f32_ratio_count(s[0], s[1], s[2]);
    assert_in_range(c.ratio_count, 1, 2000);
    qrt_ifmr_f32_ratios(s[0], s[2], c.ratio_count, ours);
    if (!x)
        return;
    if (vf_has(v, "error")) {
        assert_int_equal(search(&c, x, n, &r), QRT_ERR_NOT_FINITE);
        return;
    }
    double *loss = vf_doubles(v, "loss", &k);
    float *scales = vf_floats(v, "scales", NULL);
    c.ratios = vf_floats(v, "ratios", &count);
    if (!loss || !scales || !c.ratios)
        return;
    assert_int_equal(count, c.ratio_count);
    for (size_t i = 0; i < count; i++)
        assert_true(vf_ulp(c.ratios[i], ours[i]) <= 1);
    assert_int_equal(search(&c, x, n, &r), QRT_OK);
    int32_t *rank = vf_ints(v, "rank", NULL),
            *index = vf_ints(v, "index", NULL);
    vf_check_bits(v, "limit", (float[]){r.max, r.min}, 2);
    assert_true((int64_t)r.rank_max == rank[0] &&
                (int64_t)r.rank_min == rank[1]);
    double least = loss[0], squares = 0;
    for (size_t i = 1; i < k; i++)
        least = loss[i] < least ? loss[i] : least;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    double base = fmax(least, 1e-9 * squares / (double)n);
    if (loss[r.index] - least > 1e-6 * base && (int32_t)r.index != index[0] &&
        (int32_t)r.index != index[1])
        fail_msg("%s: index %u, not %d", v->id, r.index, index[1]);
    assert_true(vf_ulp(r.scale, scales[r.index]) == 0);
    if (c.asymmetric) {
        float half = ldexpf(1.0f, (int)c.bits - 1);
        assert_true((float)r.offset == -rintf(r.min / r.scale) - half);
    } else {
        assert_int_equal(r.offset, 0);
    }
    if ((int32_t)r.index == index[0])
        vf_check_bits(v, "offset", (float[]){(float)r.offset}, 1);
    if (fabs(r.loss - loss[r.index]) > r.loss_error + 1e-6 * loss[r.index])
        fail_msg("%s: loss %.9g, not %.9g +- %.3g", v->id, r.loss,
                 loss[r.index], r.loss_error);
}

static void result_is_that_of_amct(void **state)
{
    struct vf v;
    (void)state;
    vf_open(&v, "ifmr_f32.txt");
    while (vf_next(&v))
        check_case(&v);
    assert_int_equal(v.cases, 84);
    vf_close(&v);
}

#ifdef HAVE_CJSON
static cJSON *read_json(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    char *text;
    cJSON *json;
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    json = cJSON_Parse(text);
    free(text);
    return json;
}

static double number(const cJSON *o, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(o, name));
}

static void check_layer(const char *dir, const cJSON *layer, const cJSON *want)
{
    struct vf v = {.file = dir, .id = want->string};
    const cJSON *e = cJSON_GetObjectItem(layer, "effective");
    const char *file =
        cJSON_GetStringValue(cJSON_GetObjectItem(layer, "activation_file"));
    float ratios[2000];
    double start = number(e, "search_range_start"),
           end = number(e, "search_range_end"), step = number(e, "search_step");
    struct qrt_ifmr_f32_config c = {
        8,
        cJSON_IsTrue(cJSON_GetObjectItem(e, "asymmetric")),
        false,
        ratios,
        qrt_ifmr_f32_ratio_count(start, end, step),
        number(e, "max_percentile"),
        number(e, "min_percentile")};
    struct qrt_ifmr_f32_result r;
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "../models/%s/%s", dir, file);
    float *x = (float *)(void *)vf_npy(&v, path, &size);
    assert_non_null(x);
    assert_int_equal(c.ratio_count, (uint32_t)number(want, "candidates"));
    qrt_ifmr_f32_ratios(start, step, c.ratio_count, ratios);
    assert_int_equal(search(&c, x, size / 4, &r), QRT_OK);
    if (r.index != (uint32_t)number(want, "index") ||
        r.offset != (int32_t)number(want, "offset") ||
        vf_ulp(r.scale, (float)number(want, "scale")) > 2)
        fail_msg("%s, %s: index %u, offset %d, scale %.9g", dir, want->string,
                 r.index, r.offset, (double)r.scale);
    assert_true(r.max == (float)number(want, "max") &&
                r.min == (float)number(want, "min"));
    vf_drop(&v);
}
#endif

static void layers_of_the_stored_models_agree(void **state)
{
#ifdef HAVE_CJSON
    static const char *const models[] = {
        "awkward_names", "conv1d_fsdd", "denoise_ae", "dscnn_fsdd",
        "lenet_mnist",   "mlp_digits",  "mlperf_kws", "mlperf_resnet8",
        "mlperf_sww",    "resnet_fsdd",
    };
    unsigned layers = 0;
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s/layers.json", vf_shared(),
                 models[m]);
        cJSON *all = read_json(path), *want, *layer, *detail;
        snprintf(path, sizeof path, "%s/models/%s/expect/ifmr_detail.json",
                 vf_shared(), models[m]);
        detail = read_json(path);
        if (!all || !detail) {
            printf("skipped: stored models: no folder %s/models\n",
                   vf_shared());
            skip();
        }
        cJSON *list = cJSON_GetObjectItem(all, "layers");
        list = list ? list : all;
        cJSON_ArrayForEach(want, detail)
        {
            cJSON_ArrayForEach(layer, list)
            {
                const char *name =
                    cJSON_GetStringValue(cJSON_GetObjectItem(layer, "name"));
                if (strcmp(name, want->string) == 0) {
                    check_layer(models[m], layer, want);
                    layers++;
                }
            }
        }
        cJSON_Delete(all);
        cJSON_Delete(detail);
    }
    assert_int_equal(layers, 73);
#else
    (void)state;
    printf("skipped: stored models: no cJSON\n");
    skip();
#endif
}

/* ------------------------------------------------------- random samples */

static uint64_t seed;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* The first draws after a small seed are all near 0. */
static void start(uint64_t value)
{
    seed = value + 1;
    for (int i = 0; i < 40; i++)
        (void)uniform();
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform() + 1e-300)) *
           cos(6.283185307179586 * uniform());
}

enum { KINDS = 14 };

static double draw(int kind)
{
    double g = normal(), u;
    switch (kind) {
    case 0:
        return g;
    case 1: /* ReLU */
        return g > 0 ? g : 0;
    case 2: /* Laplace */
        u = uniform() - 0.5;
        return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u) + 1e-300);
    case 3: /* heavy tail */
        u = normal();
        return g / sqrt((u * u + pow(normal(), 2) + pow(normal(), 2)) / 3);
    case 4:
        return uniform() * 2 - 1;
    case 5: /* ReLU6 */
        g *= 3;
        return g < 0 ? 0 : g > 6 ? 6 : g;
    case 6: /* GELU */
        return 0.5 * g * (1 + erf(g / 1.4142135623730951));
    case 7: /* sigmoid */
        return 1 / (1 + exp(-g));
    case 8: /* lattice */
        return rint(g * 20) / 16;
    case 9: /* SiLU with outliers */
        g = uniform() < 0.001 ? 20 * g : g;
        return g / (1 + exp(-g));
    case 10: /* two heaps */
        return uniform() < 0.5 ? g * 0.3 - 2 : g * 0.5 + 3;
    case 11: /* below zero */
        return -fabs(g) - 0.25;
    case 12: /* mostly zeros, heavy single values */
        return uniform() < 0.9 ? 0 : uniform() < 0.3 ? 1.7 : g;
    default: /* over many octaves */
        return g * exp(6 * normal());
    }
}

static float samples[70000];

static void fill(int kind, size_t n)
{
    float unit = ldexpf((float)(1 + uniform()), (int)(uniform() * 40) - 20);
    for (size_t i = 0; i < n; i++)
        samples[i] = (float)draw(kind) * unit;
}

/* The definition, one candidate at a time: AMCT's binary32 elements, summed in
 * binary64. */
static double direct_loss(const struct qrt_ifmr_f32_config *c, uint32_t i,
                          float max, float min, size_t n, float *step)
{
    float half = ldexpf(1, (int)c->bits - 1), hi, lo, s;
    if (c->asymmetric) {
        hi = c->ratios[i] * max;
        lo = min;
        s = (hi - lo) / (2 * half - 1);
    } else {
        hi = c->ratios[i] * fmaxf(max, -min);
        lo = -hi;
        s = hi / (max < -min ? half : half - 1);
    }
    if (s < ldexpf(1, -23))
        s = 1;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        float x = samples[k], q = x < lo ? lo : x > hi ? hi : x;
        float d = nearbyintf(q / s) * s - x;
        sum += (double)(d * d);
    }
    *step = s;
    return sum;
}

static int descending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Percentile limits by sorting. */
static void direct_limits(const struct qrt_ifmr_f32_config *c, size_t n,
                          float *max, float *min)
{
    static float sorted[70000];
    double p = c->max_percentile, q = c->min_percentile;
    size_t a = 1 - p < 1.192092896e-7 ? 1 : n - (size_t)(p * (double)n);
    size_t b = 1 - q < 1.192092896e-7 ? 1 : n - (size_t)(q * (double)n);
    memcpy(sorted, samples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, descending);
    *max = fmaxf(0, sorted[a - 1]);
    *min = fminf(0, sorted[n - b]);
}

static unsigned decided_at_once;

static void check_against_definition(const struct qrt_ifmr_f32_config *c,
                                     size_t n, const char *what)
{
    struct qrt_ifmr_f32_result r;
    double least = INFINITY, chosen = 0;
    uint32_t index = 0;
    float max, min, step, chosen_step = 0;
    enum qrt_status st = search(c, samples, n, &r);
    if (st != QRT_OK)
        fail_msg("%s: status %d", what, (int)st);
    direct_limits(c, n, &max, &min);
    if (r.max != max || r.min != min)
        fail_msg("%s: limits %.9g %.9g, not %.9g %.9g", what, (double)r.max,
                 (double)r.min, (double)max, (double)min);
    for (uint32_t i = 0; i < c->ratio_count; i++) {
        double loss = direct_loss(c, i, max, min, n, &step);
        if (loss < least) {
            least = loss;
            index = i;
        }
        if (i == r.index) {
            chosen = loss;
            chosen_step = step;
        }
    }
    /* Sums that agree to 13 digits may be equal: first of equals. */
    if (r.index != index && chosen > least * (1 + 1e-13))
        fail_msg("%s: index %u, not %u: loss %.17g, not %.17g", what, r.index,
                 index, chosen, least);
    assert_true(r.scale == chosen_step);
    chosen /= (double)n;
    if (fabs(chosen - r.loss) > r.loss_error + 1e-9 * chosen)
        fail_msg("%s: loss %.17g, not %.17g +- %.3g", what, r.loss, chosen,
                 r.loss_error);
    if (r.decided == 1)
        decided_at_once++;
}

static float ratios61[61];

static struct qrt_ifmr_f32_config usual(uint32_t bits, bool asymmetric)
{
    struct qrt_ifmr_f32_config c = {bits, asymmetric, false,   ratios61,
                                    61,   0.999999,   0.999999};
    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios61);
    return c;
}

/* 1,288 runs: 14 distributions, both modes, 46 seeds. */
static void the_exact_minimum_is_chosen(void **state)
{
    unsigned runs = 0;
    (void)state;
    decided_at_once = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 92; k++, runs++) {
            char what[80];
            size_t n = 1 + (size_t)(uniform() * (k < 4 ? 12 : 2500));
            struct qrt_ifmr_f32_config c = usual(8, k & 1);
            start(88172645463325252u + (uint64_t)(1000 * kind + k));
            fill(kind, n);
            snprintf(what, sizeof what, "kind %d, seed %d, n %zu", kind, k, n);
            check_against_definition(&c, n, what);
        }
    assert_true(runs >= 1280);
    /* The bounds decide nearly all: a looser one would show here. */
    assert_true(decided_at_once * 100 >= runs * 94);
}

static void other_widths_choose_the_exact_minimum(void **state)
{
    static const uint32_t widths[] = {2, 3, 4, 6, 10, 12, 16};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            char what[80];
            size_t n = 700;
            struct qrt_ifmr_f32_config c = usual(widths[w], kind & 1);
            start(12345u + (uint64_t)(1000 * kind) + w);
            fill(kind, n);
            snprintf(what, sizeof what, "kind %d, %u bits", kind, widths[w]);
            check_against_definition(&c, n, what);
        }
}

static void long_data_choose_the_exact_minimum(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        char what[80];
        struct qrt_ifmr_f32_config c = usual(8, !(kind & 1));
        start(777u + (uint64_t)kind);
        fill(kind, 70000);
        snprintf(what, sizeof what, "kind %d, long", kind);
        check_against_definition(&c, 70000, what);
    }
}

/* Ranks far below the largest ones that are kept, down to the bin that holds
 * everything small, and past the values of a sign. */
static void percentiles_are_exact_order_statistics(void **state)
{
    static const double p[] = {0.51, 0.7, 0.9, 0.95, 0.99, 0.997, 0.05, 1.0};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 8; i++) {
            char what[80];
            struct qrt_ifmr_f32_config c = usual(8, true);
            c.max_percentile = p[i];
            c.min_percentile = p[(i + (size_t)kind) % 8];
            start(4242u + (uint64_t)kind);
            fill(kind, 3000);
            snprintf(what, sizeof what, "kind %d, percentile %g", kind, p[i]);
            check_against_definition(&c, 3000, what);
        }
}

/* 0.99999 is not "as good as 1": of 280,000 samples it drops two. */
static void ranks_are_those_of_amct(void **state)
{
    struct qrt_ifmr_f32_config c = usual(8, true);
    struct qrt_ifmr_f32_result r;
    (void)state;
    start(17);
    fill(0, 70000);
    c.max_percentile = 0.99999;
    c.min_percentile = 1.0 - 1e-7;
    qrt_ifmr_f32_init(state_mem, state_cap, &c);
    do {
        for (int i = 0; i < 4; i++)
            assert_int_equal(qrt_ifmr_f32_add(state_mem, samples, 70000, NULL),
                             QRT_OK);
        assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_OK);
    } while (r.again);
    assert_true(r.samples == 280000 && r.rank_max == 3 && r.rank_min == 1);
}

/* IFMR rounds min / s first, ARQ after subtracting: they differ here. */
static void zero_point_is_rounded_before_the_subtraction(void **state)
{
    static const uint32_t x[2] = {0x42bc9667, 0xbfd8d1bc};
    const float one = 1.0f;
    struct qrt_ifmr_f32_config c = {8, true, false, &one, 1, 1.0, 1.0};
    struct qrt_ifmr_f32_result r;
    (void)state;
    memcpy(samples, x, sizeof x);
    assert_int_equal(search(&c, samples, 2, &r), QRT_OK);
    assert_int_equal(r.offset, -123);
}

static void equal_candidates_leave_no_gap(void **state)
{
    const float twice[] = {0.9f, 0.9f, 1.0f, 1.0f};
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        struct qrt_ifmr_f32_config c = {8, true, exact, twice, 4, 1.0, 1.0};
        struct qrt_ifmr_f32_result r;
        start(23);
        fill(0, 5000);
        assert_int_equal(search(&c, samples, 5000, &r), QRT_OK);
        assert_true(r.gap == 0.0 && r.index % 2 == 0 && r.loss > 0.0);
    }
}

static void exact_loss_is_exact(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct qrt_ifmr_f32_config c = usual(8, kind & 1);
        struct qrt_ifmr_f32_result a, b;
        c.exact_loss = true;
        start(99u + (uint64_t)kind);
        fill(kind, 2000);
        check_against_definition(&c, 2000, "exact loss");
        assert_int_equal(search(&c, samples, 2000, &a), QRT_OK);
        assert_true(a.loss_error <= ldexp(a.data_max, -56) * a.data_max ||
                    a.loss_error <= ldexp(a.data_min, -56) * a.data_min);
        assert_true(a.passes >= 2);
        c.exact_loss = false;
        assert_int_equal(search(&c, samples, 2000, &b), QRT_OK);
        assert_int_equal(a.index, b.index);
        assert_true(fabs(a.loss - b.loss) <= b.loss_error + 1e-12 * a.loss);
    }
}

/* --------------------------------------------------- splits and machines */

static uint8_t *bytes_of(void *state, size_t *len)
{
    uint8_t *out;
    assert_int_equal(qrt_ifmr_f32_save(state, NULL, 0, len), QRT_OK);
    out = malloc(*len);
    assert_int_equal(qrt_ifmr_f32_save(state, out, *len - 1, len),
                     QRT_ERR_SCRATCH);
    assert_int_equal(qrt_ifmr_f32_save(state, out, *len, len), QRT_OK);
    return out;
}

/* The same pass over shards: part of the samples in the state itself, part in
 * a state that went through bytes. */
static void add_in_shards(const uint8_t *request, size_t request_len, size_t n)
{
    size_t cut = (size_t)(uniform() * (double)n), len;
    for (size_t i = cut; i < n;) {
        size_t m = 1 + (size_t)(uniform() * 700);
        m = m > n - i ? n - i : m;
        assert_int_equal(qrt_ifmr_f32_add(state_mem, samples + i, m, NULL),
                         QRT_OK);
        i += m;
    }
    assert_int_equal(
        qrt_ifmr_f32_load(other_mem, state_cap, request, request_len), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(other_mem, samples, cut, NULL), QRT_OK);
    if (uniform() < 0.7) {
        uint8_t *shard = bytes_of(other_mem, &len);
        memset(other_mem, 0x5a, state_cap);
        assert_int_equal(qrt_ifmr_f32_load(other_mem, state_cap, shard, len),
                         QRT_OK);
        free(shard);
    }
    assert_int_equal(qrt_ifmr_f32_merge(state_mem, other_mem), QRT_OK);
}

static void splits_give_the_same_bytes_and_result(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int mode = 0; mode < 3; mode++) {
            struct qrt_ifmr_f32_config c = usual(mode == 1 ? 16 : 8, kind & 1);
            struct qrt_ifmr_f32_result whole, r = {0};
            size_t n = 5000;
            start(31u + (uint64_t)(kind * 3 + mode));
            fill(kind, n);
            c.exact_loss = mode == 0;
            c.max_percentile = mode == 2 ? 0.9 : 0.999999;
            c.min_percentile = mode == 2 ? 0.6 : 0.999999;
            assert_int_equal(search(&c, samples, n, &whole), QRT_OK);
            assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &c),
                             QRT_OK);
            do {
                size_t len, empty_len, whole_len;
                uint8_t *empty = bytes_of(state_mem, &empty_len), *a, *b;
                assert_int_equal(qrt_ifmr_f32_saved_count(empty, empty_len),
                                 61);
                add_in_shards(empty, empty_len, n);
                a = bytes_of(state_mem, &len);
                /* All samples, in the other order. */
                assert_int_equal(
                    qrt_ifmr_f32_load(other_mem, state_cap, empty, empty_len),
                    QRT_OK);
                for (size_t i = n; i-- > 0;)
                    assert_int_equal(
                        qrt_ifmr_f32_add(other_mem, samples + i, 1, NULL),
                        QRT_OK);
                b = bytes_of(other_mem, &whole_len);
                assert_int_equal(len, whole_len);
                assert_memory_equal(a, b, len);
                free(a), free(b), free(empty);
                assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_OK);
            } while (r.again);
            assert_memory_equal(&r, &whole, sizeof r);
        }
}

/* The lowest bin of the table keeps its sum whether its samples came before or
 * after the largest one. */
static void the_lowest_bin_does_not_depend_on_the_order(void **state)
{
    struct qrt_ifmr_f32_config c = usual(8, true);
    uint8_t *bytes[2];
    size_t len[2];
    const uint32_t low = (((127u + 2u - 16u) << 11) + 1u) << 12 | 0x123u;
    (void)state;
    for (int order = 0; order < 2; order++) {
        float x[2] = {1.0f, 0.0f};
        memcpy(x + 1, &low, 4);
        qrt_ifmr_f32_init(state_mem, state_cap, &c);
        qrt_ifmr_f32_add(state_mem, x + order, 1, NULL);
        qrt_ifmr_f32_add(state_mem, x + 1 - order, 1, NULL);
        bytes[order] = bytes_of(state_mem, len + order);
    }
    assert_int_equal(len[0], len[1]);
    assert_memory_equal(bytes[0], bytes[1], len[0]);
    free(bytes[0]), free(bytes[1]);
}

/* A saved state of each stage. */
static uint8_t *saved_at(int stage, size_t *len)
{
    struct qrt_ifmr_f32_config c = usual(8, true);
    struct qrt_ifmr_f32_result r;
    start(5);
    fill(0, 3000);
    c.exact_loss = stage == 2;
    c.max_percentile = stage == 1 ? 0.8 : 1.0;
    assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &c), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(state_mem, samples, 3000, NULL), QRT_OK);
    if (stage > 0) {
        assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_OK);
        assert_int_equal(r.again, 1);
        assert_int_equal(qrt_ifmr_f32_add(state_mem, samples, 1000, NULL),
                         QRT_OK);
    }
    return bytes_of(state_mem, len);
}

/* Every damaged file is refused or is a valid state: whatever happens next,
 * nothing is read or written out of bounds (run under a sanitizer). */
static void damaged_bytes_do_no_harm(void **state)
{
    (void)state;
    for (int stage = 0; stage < 3; stage++) {
        size_t len;
        uint8_t *good = saved_at(stage, &len), *bad = malloc(len);
        unsigned refused = 0, tried = 0;
        for (size_t cut = 0; cut < len; cut += 1 + len / 60)
            assert_int_not_equal(
                qrt_ifmr_f32_load(state_mem, state_cap, good, cut), QRT_OK);
        for (size_t i = 0; i < len; i += i < 120 ? 1 : 1 + len / 100) {
            struct qrt_ifmr_f32_result r;
            memcpy(bad, good, len);
            bad[i] ^= (uint8_t)(1u << (i % 8));
            tried++;
            if (qrt_ifmr_f32_load(state_mem, state_cap, bad, len) != QRT_OK) {
                refused++;
                assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r),
                                 QRT_ERR_STATE);
                continue;
            }
            (void)qrt_ifmr_f32_add(state_mem, samples, 2000, NULL);
            (void)qrt_ifmr_f32_finish(state_mem, &r);
        }
        assert_true(refused > 0 && refused < tried);
        free(good), free(bad);
    }
}

static void different_searches_do_not_merge(void **state)
{
    struct qrt_ifmr_f32_config a = usual(8, true), b;
    float ratios[61];
    (void)state;
    memcpy(ratios, ratios61, sizeof ratios);
    ratios[60] = 1.31f;
    const enum qrt_ifmr_f32_field want[] = {
        QRT_IFMR_F32_BITS,           QRT_IFMR_F32_ASYMMETRIC,
        QRT_IFMR_F32_MAX_PERCENTILE, QRT_IFMR_F32_MIN_PERCENTILE,
        QRT_IFMR_F32_RATIOS,         QRT_IFMR_F32_RATIOS,
        QRT_IFMR_F32_EXACT_LOSS};
    for (int k = 0; k < 7; k++) {
        b = a;
        b.bits = k == 0 ? 4 : 8;
        b.asymmetric = k != 1;
        b.max_percentile = k == 2 ? 0.5 : b.max_percentile;
        b.min_percentile = k == 3 ? 0.5 : b.min_percentile;
        b.ratio_count = k == 4 ? 60 : 61;
        b.ratios = k == 5 ? ratios : b.ratios;
        b.exact_loss = k == 6;
        assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &a), QRT_OK);
        assert_int_equal(qrt_ifmr_f32_init(other_mem, state_cap, &b), QRT_OK);
        assert_int_equal(qrt_ifmr_f32_compare(state_mem, other_mem), want[k]);
        assert_int_equal(qrt_ifmr_f32_merge(state_mem, other_mem),
                         QRT_ERR_MISMATCH);
    }
    free(saved_at(1, &(size_t){0}));
    memcpy(other_mem, state_mem, state_cap);
    free(saved_at(2, &(size_t){0}));
    assert_int_not_equal(qrt_ifmr_f32_compare(state_mem, other_mem),
                         QRT_IFMR_F32_SAME);
}

/* ---------------------------------------------------------------- errors */

static void a_bad_sample_is_named(void **state)
{
    struct qrt_ifmr_f32_config c = usual(8, true);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    start(3);
    fill(0, 10000);
    for (size_t at = 0; at < 10000; at += 1111)
        for (int k = 0; k < 3; k++) {
            float keep = samples[at];
            size_t found = 0;
            samples[at] = bad[k];
            qrt_ifmr_f32_init(state_mem, state_cap, &c);
            assert_int_equal(
                qrt_ifmr_f32_add(state_mem, samples, 10000, &found),
                QRT_ERR_NOT_FINITE);
            assert_int_equal(found, at);
            assert_int_equal(qrt_ifmr_f32_add(state_mem, samples, 1, NULL),
                             QRT_ERR_STATE);
            samples[at] = keep;
        }
}

static void misuse_is_refused(void **state)
{
    struct qrt_ifmr_f32_config c = usual(8, true), bad;
    struct qrt_ifmr_f32_result r;
    (void)state;
    memset(state_mem, 0, state_cap);
    assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_f32_init(NULL, state_cap, &c), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_f32_init((char *)state_mem + 4, state_cap, &c),
                     QRT_ERR_RANGE);
    assert_int_equal(
        qrt_ifmr_f32_init(state_mem, qrt_ifmr_f32_state_size(61) - 1, &c),
        QRT_ERR_SCRATCH);
    bad = c, bad.bits = 17;
    assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &bad),
                     QRT_ERR_RANGE);
    bad = c, bad.max_percentile = NAN;
    assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &bad),
                     QRT_ERR_RANGE);
    bad = c, bad.ratio_count = 0;
    assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &bad),
                     QRT_ERR_RANGE);
    assert_int_equal(qrt_ifmr_f32_init(state_mem, state_cap, &c), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_ERR_EMPTY);
    assert_int_equal(qrt_ifmr_f32_merge(state_mem, state_mem), QRT_ERR_STATE);
}

static void another_pass_wants_the_same_samples(void **state)
{
    struct qrt_ifmr_f32_config c = usual(16, true);
    struct qrt_ifmr_f32_result r;
    (void)state;
    start(8);
    fill(0, 1000);
    qrt_ifmr_f32_init(state_mem, state_cap, &c);
    qrt_ifmr_f32_add(state_mem, samples, 1000, NULL);
    assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_OK);
    assert_true(r.again == 1 && r.samples == 1000);
    qrt_ifmr_f32_add(state_mem, samples, 999, NULL);
    assert_int_equal(qrt_ifmr_f32_finish(state_mem, &r), QRT_ERR_SIZE);
    assert_int_equal(qrt_ifmr_f32_add(state_mem, samples, 2, NULL),
                     QRT_ERR_FULL);
    float far = 1e30f;
    assert_int_equal(qrt_ifmr_f32_add(state_mem, &far, 1, NULL),
                     QRT_ERR_MISMATCH);
}

static void a_step_that_overflows_is_an_error(void **state)
{
    struct qrt_ifmr_f32_config c = usual(8, true);
    struct qrt_ifmr_f32_result r;
    const float x[2] = {3e38f, -3e38f};
    (void)state;
    assert_int_equal(search(&c, x, 2, &r), QRT_ERR_NOT_FINITE);
}

static void candidates_are_counted_as_amct_does(void **state)
{
    (void)state;
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, 1.3, 0.01), 61);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.8, 1.2, 0.02), 20);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.75, 1.25, 0.5), 1);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, 0.7, 0.01), 0);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, 1.3, 0.0), 0);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, 1.3, 1e-9), 0);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, NAN, 0.1), 0);
    assert_int_equal(qrt_ifmr_f32_ratio_count(0.7, INFINITY, 0.1), 0);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    assert_true(qrt_ifmr_f32_state_size(61) <= 1536 * 1024);
    assert_true(qrt_ifmr_f32_state_size(4096) <= 1536 * 1024);
    assert_int_equal(qrt_ifmr_f32_state_size(0), 0);
    assert_int_equal(qrt_ifmr_f32_state_size(65536), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_is_that_of_amct),
        cmocka_unit_test(layers_of_the_stored_models_agree),
        cmocka_unit_test(the_exact_minimum_is_chosen),
        cmocka_unit_test(other_widths_choose_the_exact_minimum),
        cmocka_unit_test(long_data_choose_the_exact_minimum),
        cmocka_unit_test(percentiles_are_exact_order_statistics),
        cmocka_unit_test(ranks_are_those_of_amct),
        cmocka_unit_test(zero_point_is_rounded_before_the_subtraction),
        cmocka_unit_test(equal_candidates_leave_no_gap),
        cmocka_unit_test(exact_loss_is_exact),
        cmocka_unit_test(splits_give_the_same_bytes_and_result),
        cmocka_unit_test(the_lowest_bin_does_not_depend_on_the_order),
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(different_searches_do_not_merge),
        cmocka_unit_test(a_bad_sample_is_named),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(another_pass_wants_the_same_samples),
        cmocka_unit_test(a_step_that_overflows_is_an_error),
        cmocka_unit_test(candidates_are_counted_as_amct_does),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
