/* Shared by the tests of the IFMR observer: random numbers, the stored
 * activations, AMCT's candidates and their exact losses in binary64. */
#ifndef IFMR_HELP_H
#define IFMR_HELP_H

#include "cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "qrt_ifmr.h"

/* binary64 pattern of 0.999999, AMCT's default. */
#define P_DEFAULT 0x3feffffde7210be9U
#define P_ONE     0x3ff0000000000000U

static uint64_t help_seed = 88172645463325252U;

static inline uint32_t help_random(void)
{
    help_seed ^= help_seed << 13;
    help_seed ^= help_seed >> 7;
    help_seed ^= help_seed << 17;
    return (uint32_t)(help_seed >> 32);
}

static inline uint32_t help_below(uint32_t n)
{
    return (uint32_t)((uint64_t)help_random() * n >> 32);
}

static inline double help_uniform(void)
{
    return (help_random() + 0.5) / 4294967296.0;
}

static inline double help_gauss(void)
{
    return sqrt(-2 * log(help_uniform())) *
           cos(6.283185307179586 * help_uniform());
}

static inline uint32_t help_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float help_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* AMCT's 61 ratios for 0.7, 1.3, 0.01. */
static inline const uint32_t *help_ratios(void)
{
    static uint32_t ratios[61];

    for (int i = 0; i < 61; i++) {
        ratios[i] = help_bits((float)(0.7 + i * 0.01));
    }
    return ratios;
}

static inline struct qrt_ifmr help_search(void)
{
    struct qrt_ifmr s = {help_ratios(), 61, P_DEFAULT, P_DEFAULT};

    return s;
}

static inline void help_shuffle(uint32_t *x, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = help_below((uint32_t)i);
        uint32_t t = x[j];

        x[j] = x[i - 1];
        x[i - 1] = t;
    }
}

/* ------------------------------------------------------------ exact losses */

static int help_by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Losses of the candidates, times n, for x ascending; mx and mn are the
 * percentile limits. */
static inline void help_losses(const float *x, size_t n, int bits, bool asym,
                               float mx, float mn, const uint32_t *ratios,
                               uint32_t count, double *loss)
{
    double *sum = malloc((n + 1) * sizeof *sum);
    double squares = 0;
    int half = 1 << (bits - 1);
    bool negative = !asym && mx < -mn;

    assert_non_null(sum);
    sum[0] = 0;
    for (size_t i = 0; i < n; i++) {
        sum[i + 1] = sum[i] + (double)x[i];
        squares += (double)x[i] * (double)x[i];
    }
    if (!asym) {
        mx = negative ? -mn : mx;
    }
    for (uint32_t c = 0; c < count; c++) {
        float limit = help_float(ratios[c]) * mx;
        float range = limit - mn;
        float s = asym ? range / (float)(2 * half - 1)
                       : limit / (float)(half - 1 + negative);
        int above, below;
        size_t from = 0;

        s = s < 0x1p-23f ? 1.0f : s;
        above = (int)rintf(limit / s);
        below = asym ? (int)rintf(-mn / s) : above;
        loss[c] = squares;
        for (int k = -below; k <= above; k++) {
            double level = (double)((float)k * s);
            double edge = (k + 0.5) * (double)s;
            size_t to = n, low = from;

            while (k < above && low < to) {
                size_t middle = (low + to) / 2;

                if ((double)x[middle] < edge) {
                    low = middle + 1;
                } else {
                    to = middle;
                }
            }
            loss[c] += level * (level * (double)(to - from) -
                                2 * (sum[to] - sum[from]));
            from = to;
        }
    }
    free(sum);
}

static inline double help_least(const double *loss, uint32_t n)
{
    double least = loss[0];

    for (uint32_t i = 1; i < n; i++) {
        least = loss[i] < least ? loss[i] : least;
    }
    return least;
}

/* How much more than the best candidate of AMCT's default search the one loses
 * that an observer with so much storage chooses; x ascending. */
static inline double help_excess(const float *x, size_t n, uint32_t bytes,
                                 int bits, bool asym, const double *loss)
{
    static uint64_t storage[QRT_IFMR_BYTES_MAX / 8];
    struct qrt_ifmr search = help_search();
    struct qrt_ifmr_observer o;
    struct qrt_ifmr_result r;
    double least = help_least(loss, search.ratio_count);

    if (qrt_ifmr_init(&o, storage, bytes) != QRT_OK ||
        qrt_ifmr_add_f32(&o, (const uint32_t *)(const void *)x, (uint32_t)n) !=
            QRT_OK ||
        qrt_ifmr_finish(&o, &search, (uint32_t)bits, asym, &r) != QRT_OK) {
        return INFINITY;
    }
    return loss[r.index] == least ? 0 : loss[r.index] / least - 1;
}

/* A list of excesses; the one that a share p of them does not exceed. */
struct help_list {
    double v[40000];
    size_t n;
};

static int help_by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double help_quantile(struct help_list *l, double p)
{
    qsort(l->v, l->n, sizeof *l->v, help_by_double);
    return l->v[(size_t)(p * (double)(l->n - 1))];
}

/* Excesses of both modes at several sizes of storage, 8 bits, AMCT's default
 * percentiles for n below 1e6. */
static inline void help_measure(const float *x, size_t n, const uint32_t *bytes,
                                int sizes, struct help_list *lists)
{
    double loss[61];

    for (int asym = 0; asym < 2; asym++) {
        help_losses(x, n, 8, asym, fmaxf(x[n - 1], 0), fminf(x[0], 0),
                    help_ratios(), 61, loss);
        for (int i = 0; i < sizes; i++) {
            lists[i].v[lists[i].n++] =
                help_excess(x, n, bytes[i], 8, asym, loss);
        }
    }
}

/* ------------------------------------------------------ stored activations */

struct help_tensor {
    char name[600];
    float *x; /* ascending */
    size_t n;
};

static inline const char *help_shared(void)
{
    const char *dir = getenv("QC_SHARED");

    return dir != NULL ? dir : "../shared";
}

/* The data of a little-endian float32 .npy of version 1; null if it is none. */
static inline float *help_npy(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    unsigned char head[10];
    float *x = NULL;
    long start, end;

    if (f == NULL) {
        return NULL;
    }
    if (fread(head, 1, 10, f) == 10 && memcmp(head, "\x93NUMPY\1", 7) == 0) {
        start = 10 + head[8] + 256L * head[9];
        fseek(f, 0, SEEK_END);
        end = ftell(f);
        *n = (size_t)(end - start) / sizeof *x;
        fseek(f, start, SEEK_SET);
        x = malloc(*n * sizeof *x + 1);
        if (x != NULL && fread(x, sizeof *x, *n, f) != *n) {
            free(x);
            x = NULL;
        }
    }
    fclose(f);
    return x;
}

static inline int help_by_name(const void *a, const void *b)
{
    return strcmp(((const struct help_tensor *)a)->name,
                  ((const struct help_tensor *)b)->name);
}

/* All stored activations with `least` values and more, by name; the count, 0
 * without the folder. */
static inline size_t help_activations(size_t least, struct help_tensor **out)
{
    char path[1024];
    DIR *models, *dir;
    struct dirent *m, *e;
    size_t count = 0;

    *out = NULL;
    snprintf(path, sizeof path, "%s/models", help_shared());
    models = opendir(path);
    while (models != NULL && (m = readdir(models)) != NULL) {
        snprintf(path, sizeof path, "%s/models/%s/activations", help_shared(),
                 m->d_name);
        dir = m->d_name[0] != '.' ? opendir(path) : NULL;
        while (dir != NULL && (e = readdir(dir)) != NULL) {
            struct help_tensor t;

            if (strlen(e->d_name) < 5 ||
                strcmp(e->d_name + strlen(e->d_name) - 4, ".npy") != 0) {
                continue;
            }
            snprintf(path, sizeof path, "%s/models/%s/activations/%s",
                     help_shared(), m->d_name, e->d_name);
            snprintf(t.name, sizeof t.name, "%s/%s", m->d_name, e->d_name);
            t.x = help_npy(path, &t.n);
            if (t.x == NULL || t.n < least) {
                free(t.x);
                continue;
            }
            qsort(t.x, t.n, sizeof *t.x, help_by_value);
            *out = realloc(*out, (count + 1) * sizeof **out);
            assert_non_null(*out);
            (*out)[count++] = t;
        }
        if (dir != NULL) {
            closedir(dir);
        }
    }
    if (models != NULL) {
        closedir(models);
    }
    if (count != 0) {
        qsort(*out, count, sizeof **out, help_by_name);
    }
    return count;
}

#endif
