/* Kernels that learn from data: ARQ, ULQ, IFMR and HFMG, against the obvious
 * loop and against one look at the data. */
#include "bench_f32.h"

#include <math.h>
#include <stdio.h>

static void read_words(const float *p, size_t n)
{
    const uint32_t *x = (const uint32_t *)(const void *)p;
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= x[i];
    bench_sink = any;
}

/* -------------------------------------------------------------------- ARQ */

struct weights {
    float *w;
    int8_t *q;
    struct qrt_shape shape;
    float scale[512];
    int32_t offset[512];
};

/* A channel at a time, which then is in the cache when its codes are made. */
static void arq(void *p)
{
    struct weights *w = p;
    const struct qrt_shape one = {1, 1, w->shape.inner, 1};
    for (size_t c = 0; c < w->shape.channels; c++) {
        const float *x = w->w + c * one.inner;
        qrt_arq_f32_scale(x, &one, 8, true, false, w->scale + c, w->offset + c,
                          NULL);
        qrt_arq_f32_codes(x, &one, 8, true, w->scale + c, w->offset + c,
                          w->q + c * one.inner);
    }
}

static void arq_naive(void *p)
{
    struct weights *w = p;
    const size_t n = w->shape.inner;
    for (size_t c = 0; c < w->shape.channels; c++) {
        const float *restrict x = w->w + c * n;
        int8_t *restrict q = w->q + c * n;
        float max = 0, min = 0;
        for (size_t i = 0; i < n; i++) {
            max = fmaxf(max, x[i]);
            min = fminf(min, x[i]);
        }
        float s = -min > max ? -min / 128.0f : max / 127.0f;
        w->scale[c] = s;
        for (size_t i = 0; i < n; i++) {
            long v = lrintf(x[i] / s);
            v = v < -128 ? -128 : v > 127 ? 127 : v;
            q[i] = (int8_t)v;
        }
    }
}

/* One pass of magnitude bits: the least that finding a scale can cost. */
static void abs_max(void *p)
{
    struct weights *w = p;
    const uint32_t *u = (const uint32_t *)(const void *)w->w;
    size_t n = (size_t)w->shape.channels * w->shape.inner;
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t m = u[i] & 0x7fffffffu;
        max = m > max ? m : max;
    }
    bench_sink = max;
}

/* Nothing but the division that codes cost where it is one. */
static void divide(void *p)
{
    const struct weights *w = p;
    const float *x = w->w, s = w->scale[0];
    const size_t n = (size_t)w->shape.channels * w->shape.inner;
    float lane[32] = {0};
    for (size_t i = 0; i + 32 <= n; i += 32)
        for (size_t j = 0; j < 32; j++)
            lane[j] += x[i + j] / s;
    for (size_t j = 0; j < 32; j++)
        bench_sink += (uint32_t)(int32_t)lane[j];
}

static void bench_arq(void)
{
    static const struct bench_row whole = {
        "ARQ 512x512x3x3 per channel, against a plain loop", 0, 0, false};
    static const struct bench_row cached = {
        "ARQ 8x512x3x3, in cache, against one abs-max pass", V3(4, 0), V3(3, 0),
        true};
    static const struct bench_row division = {
        "  the same, against a pass that only divides", 0, 0, true};
    static struct weights w;
    size_t n = 512u * 512u * 9u;
    w.w = bench_alloc(n * 4);
    w.q = bench_alloc(n);
    bench_fill(w.w, n);
    w.shape = (struct qrt_shape){1, 512, 512 * 9, 1};
    bench_compare(&whole, arq, arq_naive, &w, n);
    w.shape = (struct qrt_shape){1, 8, 512 * 9, 1};
    n = 8u * 512u * 9u;
    bench_compare(&cached, arq, abs_max, &w, n);
    bench_compare(&division, arq, divide, &w, n);
    bench_free(w.w);
    bench_free(w.q);
}

/* -------------------------------------------------------------------- ULQ */

struct ulq {
    struct qrt_ulq_f32 cfg;
    float *x, *g, *y;
    size_t n;
    double grad[2];
};

static void ulq_forward(void *p)
{
    struct ulq *u = p;
    float max = 2.5f, min = -2.0f, scale;
    int32_t offset;
    qrt_ulq_f32_forward(&u->cfg, u->x, u->n, &max, &min, &scale, &offset, u->y);
}

static void ulq_forward_naive(void *p)
{
    struct ulq *u = p;
    const float s = 4.5f / 255.0f, o = rintf(-128.0f + 2.0f / s);
    const float *restrict x = u->x;
    float *restrict y = u->y;
    for (size_t i = 0, n = u->n; i < n; i++) {
        float q = rintf(x[i] / s + o);
        q = q < -128.0f ? -128.0f : q > 127.0f ? 127.0f : q;
        y[i] = (q - o) * s;
    }
}

static void ulq_backward(void *p)
{
    struct ulq *u = p;
    qrt_ulq_f32_backward(&u->cfg, u->x, u->g, u->n, 2.5f, -2.0f, u->y, u->grad,
                         u->grad + 1);
}

static void ulq_backward_naive(void *p)
{
    struct ulq *u = p;
    const float s = 4.5f / 255.0f, o = rintf(-128.0f + 2.0f / s);
    const float upper = s * (127.0f - o), lower = s * (-128.0f - o);
    float *restrict y = u->y;
    double a = 0, b = 0;
    for (size_t i = 0, n = u->n; i < n; i++) {
        const float x = u->x[i], g = u->g[i];
        float v = (x > upper ? 2.5f : x < lower ? -2.0f : x) / s;
        float e = (rintf(v) - v) / 255.0f;
        a += (double)((e + (x > upper ? 1.0f : 0.0f)) * g);
        b += (double)(((x < lower ? 1.0f : 0.0f) - e) * g);
        y[i] = x > upper || x < lower ? 0.0f : g;
    }
    u->grad[0] = a;
    u->grad[1] = b;
}

static void bench_ulq(void)
{
    static const struct bench_row forward = {
        "ULQ forward, n = 1e6, against a plain loop", 0, 0, false};
    static const struct bench_row backward = {
        "ULQ backward, n = 1e6, against a plain loop", 0, 0, false};
    const size_t n = 1000000;
    struct ulq u = {
        {8,      true, false, false, 1.0f, -1.0f},
        bench_alloc(n * 4),
        bench_alloc(n * 4),
        bench_alloc(n * 4),
        n,
        {0, 0}
    };
    bench_fill(u.x, n);
    for (size_t i = 0; i < n; i++)
        u.g[i] = u.x[n - 1 - i];
    bench_compare(&forward, ulq_forward, ulq_forward_naive, &u, n);
    bench_compare(&backward, ulq_backward, ulq_backward_naive, &u, n);
    bench_free(u.x);
    bench_free(u.g);
    bench_free(u.y);
}

/* ------------------------------------------------------------------- IFMR */

struct ifmr {
    struct qrt_ifmr_f32_config cfg;
    struct qrt_ifmr_f32_result r;
    float *x;
    size_t n, size;
    void *state;
    uint32_t index;
};

static void ifmr(void *p)
{
    struct ifmr *f = p;
    qrt_ifmr_f32_search(f->state, f->size, &f->cfg, f->x, f->n, &f->r);
}

/* One pass per candidate, as the definition is read. */
static void ifmr_naive(void *p)
{
    struct ifmr *f = p;
    float max = 0, min = 0;
    double least = INFINITY;
    for (size_t i = 0; i < f->n; i++) {
        max = fmaxf(max, f->x[i]);
        min = fminf(min, f->x[i]);
    }
    for (uint32_t c = 0; c < f->cfg.ratio_count; c++) {
        float hi = f->cfg.ratios[c] * max, s = (hi - min) / 255.0f;
        double sum = 0;
        for (size_t i = 0; i < f->n; i++) {
            float x = f->x[i], t = x < min ? min : x > hi ? hi : x;
            float d = rintf(t / s) * s - x;
            sum += (double)(d * d);
        }
        if (sum < least) {
            least = sum;
            f->index = c;
        }
    }
}

static void ifmr_read(void *p)
{
    struct ifmr *f = p;
    read_words(f->x, f->n);
}

static void bench_ifmr_of(struct ifmr *f, size_t n)
{
    char what[80];
    struct bench_row row = {what, 0, 0, false};
    f->n = n;
    if (n <= 1000000) {
        snprintf(what, sizeof what,
                 "IFMR exact, n = %.0e, against 61 plain passes", (double)n);
        bench_compare(&row, ifmr, ifmr_naive, f, n);
        printf("  candidate %u, of 61 plain passes %u; %u pass(es)\n",
               f->r.index, f->index, f->r.passes);
        return;
    }
    snprintf(what, sizeof what, "IFMR exact, n = %.0e, against one read pass",
             (double)n);
    row = (struct bench_row){what, 20, 9.6, true};
    bench_compare(&row, ifmr, ifmr_read, f, n);
}

static void bench_ifmr(void)
{
    static const struct bench_row memory = {
        "IFMR exact, memory besides the data, MiB", 1.5, 1.3, true};
    static float ratios[61];
    const size_t most = 10000000;
    struct ifmr f = {.size = qrt_ifmr_f32_state_size(61)};
    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
    f.cfg = (struct qrt_ifmr_f32_config){8,  true,     false,   ratios,
                                         61, 0.999999, 0.999999};
    f.state = bench_alloc(f.size);
    f.x = bench_alloc(most * 4);
    bench_fill(f.x, most);
    for (size_t n = 100000; n <= most; n *= 10)
        bench_ifmr_of(&f, n);
    bench_size(&memory, (double)f.size / 1048576.0);
    bench_free(f.state);
    bench_free(f.x);
}

/* ------------------------------------------------------------------- HFMG */

#define BINS 4096u

struct hfmg {
    struct qrt_hfmg_f32 h;
    uint32_t counts[BINS], scratch[BINS];
    float *x;
    size_t n;
    struct qrt_hfmg_f32_result r;
};

static void hfmg_add(void *p)
{
    struct hfmg *f = p;
    f->h = (struct qrt_hfmg_f32){BINS, 0, 0, 0, f->counts, f->scratch};
    qrt_hfmg_f32_add(&f->h, f->x, f->n);
}

static void hfmg_search(void *p)
{
    struct hfmg *f = p;
    qrt_hfmg_f32_search(&f->h, 8, true, &f->r);
}

static void hfmg_read(void *p)
{
    struct hfmg *f = p;
    read_words(f->x, f->n);
}

static void bench_hfmg(void)
{
    static const struct bench_row add = {
        "HFMG, one batch of 1e6, against one read pass", 0, 0, true};
    static const struct bench_row search = {
        "HFMG, the search after it, against one read pass", 0, 0, true};
    static struct hfmg f;
    f.n = 1000000;
    f.x = bench_alloc(f.n * 4);
    bench_fill(f.x, f.n);
    bench_compare(&add, hfmg_add, hfmg_read, &f, f.n);
    bench_compare(&search, hfmg_search, hfmg_read, &f, f.n);
    bench_free(f.x);
}

void bench_searches(void)
{
    bench_arq();
    bench_ulq();
    bench_ifmr();
    bench_hfmg();
}
