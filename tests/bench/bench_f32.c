/* Float kernels against the obvious loop, the memory and, where it is
 * installed, XNNPACK. Prints ratios; never fails: times on a shared machine
 * prove nothing by themselves.
 *
 * Two things are compared in one process, alternating, the best of several
 * rounds each. A ratio above 1 means that ours is faster. `must` is the least
 * ratio that docs/performance.md promises.
 *
 *   bench_f32 [LARGE]    elements of the rows that leave the caches (1e8)
 */
#define _POSIX_C_SOURCE 200809L
#include "qrt_f32.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__has_include) && defined(BENCH_XNNPACK)
#if __has_include(<xnnpack.h>)
#include <xnnpack.h>
#define HAVE_XNNPACK 1
#endif
#endif

#define ROUNDS 9

static double now(void)
{
    struct timespec t;
    /* Of this process: others may be busy. */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*run_fn)(void *);

/* Seconds of one call, repeated until the clock can tell. */
static double once(run_fn f, void *arg, unsigned repeat)
{
    double t = now();
    for (unsigned i = 0; i < repeat; i++)
        f(arg);
    return (now() - t) / repeat;
}

static void compare(const char *what, run_fn ours, run_fn other, void *arg,
                    size_t n, double must)
{
    double a = 1e9, b = 1e9, t = once(ours, arg, 1);
    unsigned repeat = t > 2e-3 ? 1 : (unsigned)(2e-3 / (t + 1e-9)) + 1;
    for (int i = 0; i < ROUNDS; i++) {
        t = once(ours, arg, repeat);
        a = t < a ? t : a;
        t = once(other, arg, repeat);
        b = t < b ? t : b;
    }
    printf("%-58s %8.3f %8.3f %7.2f %6.2f  %s\n", what, 1e9 * a / (double)n,
           1e9 * b / (double)n, b / a, must, b / a >= must ? "" : "below");
    fflush(stdout);
}

/* ---------------------------------------------------------------- streams */

struct stream {
    float *x, *y;
    int8_t *q;
    int32_t *acc;
    size_t n;
    float scale;
    uint32_t sink;
    void *op;
};

static void quantize_recip(void *p)
{
    struct stream *s = p;
    qrt_quantize_f32_s8__ascend(s->x, s->n, 1.0f / s->scale, 3, 8, false,
                                QRT_ROUND_EVEN, s->q);
}

static void quantize_exact(void *p)
{
    struct stream *s = p;
    qrt_quantize_f32_s8(s->x, s->n, s->scale, 3, 8, s->q);
}

/* What most people write first. */
static void quantize_naive(void *p)
{
    struct stream *s = p;
    float m = 1.0f / s->scale;
    for (size_t i = 0; i < s->n; i++) {
        long v = lrintf(s->x[i] * m) + 3;
        v = v < -128 ? -128 : v > 127 ? 127 : v;
        s->q[i] = (int8_t)v;
    }
}

static void dequantize(void *p)
{
    struct stream *s = p;
    qrt_dequantize_s8_f32(s->q, s->n, s->scale, 3, s->y);
}

static void dequantize_naive(void *p)
{
    struct stream *s = p;
    for (size_t i = 0; i < s->n; i++)
        s->y[i] = s->scale * ((float)s->q[i] - 3.0f);
}

static void requantize(void *p)
{
    struct stream *s = p;
    qrt_requantize_s32_s8__f32(s->acc, s->n, 1, &s->scale, 3, false, s->q);
}

static void requantize_naive(void *p)
{
    struct stream *s = p;
    for (size_t i = 0; i < s->n; i++) {
        long v = lrintf((float)s->acc[i] * s->scale) + 3;
        v = v < -128 ? -128 : v > 127 ? 127 : v;
        s->q[i] = (int8_t)v;
    }
}

/* The limit of the memory: reads 4 bytes an element, writes 1. */
static void read_write(void *p)
{
    struct stream *s = p;
    const uint32_t *x = (const uint32_t *)(const void *)s->x;
    for (size_t i = 0; i < s->n; i++)
        s->q[i] = (int8_t)x[i];
}

static void read_only(void *p)
{
    struct stream *s = p;
    const uint32_t *x = (const uint32_t *)(const void *)s->x;
    uint32_t any = 0;
    for (size_t i = 0; i < s->n; i++)
        any |= x[i];
    s->sink += any;
}

#ifdef HAVE_XNNPACK
static void xnn_run(void *p)
{
    struct stream *s = p;
    xnn_run_operator(s->op, NULL);
}

static void bench_xnnpack(struct stream *s)
{
    xnn_operator_t op = NULL;
    if (xnn_initialize(NULL) != xnn_status_success)
        return;
    if (xnn_create_convert_nc_f32_qs8(1, 1, 1, s->scale, 3, -128, 127, 0,
                                      &op) == xnn_status_success) {
        xnn_setup_convert_nc_f32_qs8(op, s->n, s->x, s->q, NULL);
        s->op = op;
        compare("f32 -> s8, reciprocal, against XNNPACK", quantize_recip,
                xnn_run, s, s->n, 0.5);
        xnn_delete_operator(op);
    }
    if (xnn_create_convert_nc_qs8_f32(1, 1, 1, s->scale, 3, 0, &op) ==
        xnn_status_success) {
        xnn_setup_convert_nc_qs8_f32(op, s->n, s->q, s->y, NULL);
        s->op = op;
        compare("s8 -> f32, against XNNPACK", dequantize, xnn_run, s, s->n,
                0.6);
        xnn_delete_operator(op);
    }
}
#endif

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static float normal(void)
{
    return (float)(sqrt(-2.0 * log(uniform() + 1e-300)) *
                   cos(6.283185307179586 * uniform()));
}

/* A long array repeats a million values: drawing more takes longer than the
 * measurement. */
static void fill(float *x, size_t n)
{
    size_t first = n < 1000000 ? n : 1000000;
    for (size_t i = 0; i < first; i++)
        x[i] = normal();
    for (size_t i = first; i < n; i += first)
        memcpy(x + i, x, 4 * (n - i < first ? n - i : first));
}

static bool stream_init(struct stream *s, size_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->scale = 0.03f;
    s->x = malloc(n * 4);
    s->q = malloc(n);
    s->y = malloc(n * 4);
    if (!s->x || !s->q || !s->y)
        return false;
    fill(s->x, n);
    memset(s->q, 0, n);
    memset(s->y, 0, n * 4);
    return true;
}

static void stream_free(struct stream *s)
{
    free(s->x);
    free(s->q);
    free(s->y);
    free(s->acc);
}

static void bench_streams(size_t large)
{
    struct stream s;
    if (stream_init(&s, 10000))
        compare("f32 -> s8, reciprocal, in cache, against lrintf",
                quantize_recip, quantize_naive, &s, s.n, 0.0);
    stream_free(&s);
    if (stream_init(&s, 1000000)) {
        double must = sizeof BENCH_ARCH > 1 ? 6.0 : 3.5;
        compare("f32 -> s8, reciprocal, n = 1e6, against lrintf",
                quantize_recip, quantize_naive, &s, s.n, must);
        compare("f32 -> s8, exact division, against lrintf", quantize_exact,
                quantize_naive, &s, s.n, 1.0);
        compare("s8 -> f32, against the plain loop", dequantize,
                dequantize_naive, &s, s.n, 0.8);
        s.acc = malloc(s.n * 4);
        for (size_t i = 0; s.acc && i < s.n; i++)
            s.acc[i] = (int32_t)(s.x[i] * 3000.0f);
        if (s.acc)
            compare("s32 -> s8 through float, against lrintf", requantize,
                    requantize_naive, &s, s.n, 1.0);
#ifdef HAVE_XNNPACK
        bench_xnnpack(&s);
#else
        puts("skipped: XNNPACK is not installed (libxnnpack-dev)");
#endif
    }
    stream_free(&s);
    if (stream_init(&s, large)) {
        compare("f32 -> s8, reciprocal, large, against read 4 write 1",
                quantize_recip, read_write, &s, s.n, 0.7);
        compare("f32 -> s8, exact, large, against the reciprocal form",
                quantize_exact, quantize_recip, &s, s.n, 0.85);
    }
    stream_free(&s);
}

/* -------------------------------------------------------------------- ARQ */

struct weights {
    float *w;
    int8_t *q;
    struct qrt_shape shape;
    float scale[1024];
    int32_t offset[1024];
    uint32_t sink;
};

static void arq(void *p)
{
    struct weights *w = p;
    qrt_arq_f32_scale(w->w, &w->shape, 8, true, false, w->scale, w->offset,
                      NULL);
    qrt_arq_f32_codes(w->w, &w->shape, 8, true, w->scale, w->offset, w->q);
}

static void arq_naive(void *p)
{
    struct weights *w = p;
    for (size_t c = 0; c < w->shape.channels; c++) {
        const float *x = w->w + c * w->shape.inner;
        float max = 0, min = 0;
        for (size_t i = 0; i < w->shape.inner; i++) {
            max = fmaxf(max, x[i]);
            min = fminf(min, x[i]);
        }
        float s = -min > max ? -min / 128.0f : max / 127.0f;
        w->scale[c] = s;
        for (size_t i = 0; i < w->shape.inner; i++) {
            long v = lrintf(x[i] / s);
            v = v < -128 ? -128 : v > 127 ? 127 : v;
            w->q[c * w->shape.inner + i] = (int8_t)v;
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
    w->sink += max;
}

static void bench_arq(void)
{
    static struct weights w;
    size_t n = 512u * 512u * 9u;
    w.w = malloc(n * 4);
    w.q = malloc(n);
    if (w.w && w.q) {
        fill(w.w, n);
        w.shape = (struct qrt_shape){1, 512, 512 * 9, 1};
        compare("ARQ 512x512x3x3 per channel, against the plain loop", arq,
                arq_naive, &w, n, 2.0);
        w.shape = (struct qrt_shape){1, 8, 512 * 9, 1};
        compare("ARQ 8x512x3x3, in cache, against one abs-max pass", arq,
                abs_max, &w, 8u * 512u * 9u, 0.25);
    }
    free(w.w);
    free(w.q);
}

/* ------------------------------------------------------------------- IFMR */

struct ifmr {
    struct stream s;
    struct qrt_ifmr_f32_config cfg;
    struct qrt_ifmr_f32_result r;
    void *state;
    size_t size;
    uint32_t index;
};

static void ifmr(void *p)
{
    struct ifmr *f = p;
    qrt_ifmr_f32_search(f->state, f->size, &f->cfg, f->s.x, f->s.n, &f->r);
}

/* One pass per candidate, as the definition is read. */
static void ifmr_naive(void *p)
{
    struct ifmr *f = p;
    float max = 0, min = 0;
    double least = INFINITY;
    for (size_t i = 0; i < f->s.n; i++) {
        max = fmaxf(max, f->s.x[i]);
        min = fminf(min, f->s.x[i]);
    }
    for (uint32_t c = 0; c < f->cfg.ratio_count; c++) {
        float hi = f->cfg.ratios[c] * max, s = (hi - min) / 255.0f;
        double sum = 0;
        for (size_t i = 0; i < f->s.n; i++) {
            float x = f->s.x[i], t = x < min ? min : x > hi ? hi : x;
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
    read_only(&((struct ifmr *)p)->s);
}

static void bench_ifmr(void)
{
    static float ratios[61];
    struct ifmr f = {.size = qrt_ifmr_f32_state_size(61)};
    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
    f.cfg = (struct qrt_ifmr_f32_config){8,  true,     false,   ratios,
                                         61, 0.999999, 0.999999};
    f.state = malloc(f.size);
    for (size_t n = 100000; f.state && n <= 10000000; n *= 10) {
        char what[80];
        if (!stream_init(&f.s, n))
            break;
        snprintf(what, sizeof what,
                 "IFMR exact, n = %zu, 61 candidates, against 61 passes", n);
        if (n <= 1000000) {
            compare(what, ifmr, ifmr_naive, &f, n, n == 1000000 ? 15.0 : 5.0);
            printf("  candidate %u, of 61 passes %u; %u pass(es)\n", f.r.index,
                   f.index, f.r.passes);
        }
        snprintf(what, sizeof what, "IFMR exact, n = %zu, against one read", n);
        compare(what, ifmr, ifmr_read, &f, n, n == 10000000 ? 0.05 : 0.0);
        stream_free(&f.s);
    }
    free(f.state);
}

int main(int argc, char **argv)
{
    size_t large = argc > 1 ? (size_t)strtod(argv[1], NULL) : 100000000u;
    printf("%-58s %8s %8s %7s %6s\n",
           "float kernels" BENCH_ARCH ", ns per element", "ours", "other",
           "ratio", "must");
    bench_streams(large);
    bench_arq();
    bench_ifmr();
    return 0;
}
