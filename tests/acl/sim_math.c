/* The operators, from their formulas, one element at a time. Nothing here is
 * shared with the library that is tested. Built without contraction. */
#include "sim.h"

#include <math.h>
#include <string.h>

/* To the nearest, ties to even, within int32. */
static double nearest(float x)
{
    double r = nearbyint((double)x);

    return r > 2147483647.0    ? 2147483647.0
           : r < -2147483648.0 ? -2147483648.0
                               : r;
}

static int8_t saturate(double r)
{
    return (int8_t)(r > 127.0 ? 127 : r < -128.0 ? -128 : (int)r);
}

static uint16_t half_of(float y)
{
    double a = fabs((double)y);
    int sign = signbit(y) ? 0x8000 : 0, e;

    if (a == 0) {
        return (uint16_t)sign;
    }
    (void)frexp(a, &e); /* 2^(e-1) <= a < 2^e */
    if (e < -13) {
        e = -13;
    }
    a = nearbyint(ldexp(a, 11 - e)); /* 11 significant bits */
    if (a >= 65536.0 || e > 16) {
        return (uint16_t)(sign | 0x7c00);
    }
    /* 1024..2048 with exponent field e + 14; a carry runs into it by itself */
    return (uint16_t)(sign |
                      (a < 1024 ? (int)a : ((e + 14) << 10) + ((int)a - 1024)));
}

static uint32_t channel(const struct sim_job *j, uint32_t i)
{
    return i / j->inner % j->channels;
}

static void quant(const struct sim_job *j, const float *x, const float *scale,
                  const float *offset, int8_t *y)
{
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t c = channel(j, i);
        volatile float product = x[i] * scale[c];
        volatile float sum = product + (offset != NULL ? offset[c] : 0.0f);

        y[i] = isnan((float)sum) ? 0 : saturate(nearest(sum));
    }
}

static void antiquant(const struct sim_job *j, const int8_t *x,
                      const float *scale, const float *offset, uint16_t *y)
{
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t c = channel(j, i);
        volatile float v = (float)x[i] + (offset != NULL ? offset[c] : 0.0f);

        v = v * scale[c];
        if (j->sqrt_mode) {
            v = v * scale[c];
        }
        y[i] = half_of(v);
    }
}

static void ulq(const struct sim_job *j, const float *x, float cmin, float cmax,
                float *y, uint8_t *m0, uint8_t *m1, float *loss)
{
    const float inv = 1.0f / 255.0f;
    float m = j->fixed_min ? 0.0f : fminf(cmin, 0.0f);
    float top = fmaxf(cmax, 255.0f * 1.1920929e-7f);
    volatile float s = (top - m) * inv;
    volatile float ratio = m / s;
    float z = (float)nearbyint((double)ratio);
    volatile float lo = s * z, hi = s * (z + 255.0f);
    volatile float outside = (z - ratio) * inv;

    for (uint32_t i = 0; i < j->n; i++) {
        float xc = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
        volatile float r = xc / s;
        float n = (float)nearbyint((double)r);
        volatile float e = (n - r) * inv;

        m0[i] = x[i] >= lo;
        m1[i] = x[i] <= hi;
        y[i] = n * s;
        loss[i] = m0[i] && m1[i] ? e : outside;
    }
}

/* A sum in one of three orders, in binary32 as a device would. */
static float add_up(const float *t, uint32_t n, int32_t order)
{
    float lane[16] = {0}, sum = 0;

    if (order == 1 && n > 1) {
        return add_up(t, n / 2, order) + add_up(t + n / 2, n - n / 2, order);
    }
    for (uint32_t i = 0; i < n; i++) {
        lane[order == 2 ? i % 16 : 0] += t[i];
    }
    for (int i = 0; i < 16; i++) {
        sum += lane[i];
    }
    return sum;
}

static float gradient(const struct sim_job *j, const float *g,
                      const uint8_t *mask, const float *loss, int32_t order,
                      bool older)
{
    static float t[1 << 16];
    uint32_t n = j->n < 1 << 16 ? j->n : 1 << 16;

    for (uint32_t i = 0; i < n; i++) {
        float m = (float)mask[i];
        volatile float w;

        if (j->op == SIM_GRAD_MAX) {
            w = loss[i] + (older ? 1.0f - m : m);
        } else {
            w = (1.0f - m) - loss[i];
        }
        t[i] = g[i] * w;
    }
    return add_up(t, n, order);
}

static void ifmr(const struct sim_job *j, const float *x, float lo, float hi,
                 const int32_t *sum, float *scale, float *offset)
{
    float width = hi - lo, best = INFINITY;
    uint32_t above = 0, below = 0;
    int steps = (int)nearbyint((double)((j->end - j->start) / j->step)) + 1;

    for (uint32_t i = 0; i < j->bins; i++) {
        float share = (float)sum[i] / (float)j->n;

        above += share < j->max_percentile;
        below += share < 1.0f - j->min_percentile;
    }
    hi = (float)above / (float)j->bins * width + lo;
    lo = (float)below / (float)j->bins * width + lo;
    hi = j->with_offset ? fmaxf(hi, 0) : fmaxf(hi, fabsf(lo));
    lo = fminf(lo, 0);
    for (int k = 0; k < steps; k++) {
        float c = hi * (j->start + j->step * (float)k), loss = 0;
        float s = j->with_offset ? (c - lo) / 255.0f : c / 127.0f;
        float o = j->with_offset ? -(float)nearbyint((double)(lo / s)) - 128.0f
                                 : 0.0f;

        for (uint32_t i = 0; i < j->n; i++) {
            float q = (float)saturate(nearest(x[i] / s + o));
            float d = (q - o) * s - x[i];

            loss += d * d;
        }
        if (k == 0 || loss < best) {
            best = loss;
            *scale = s;
            *offset = o;
        }
    }
}

void sim_compute(const struct sim_job *j, void *const in[4], void *const out[4],
                 int32_t sum_order, bool older)
{
    switch (j->op) {
    case SIM_QUANT:
        quant(j, in[0], in[1], in[2], out[0]);
        break;
    case SIM_ANTIQUANT:
        antiquant(j, in[0], in[1], in[2], out[0]);
        break;
    case SIM_IFMR:
        ifmr(j, in[0], *(float *)in[1], *(float *)in[2], in[3], out[0], out[1]);
        break;
    case SIM_ULQ:
        ulq(j, in[0], *(float *)in[1], *(float *)in[2], out[0], out[1], out[2],
            out[3]);
        break;
    case SIM_GRAD_X:
        for (uint32_t i = 0; i < j->n; i++) {
            ((float *)out[0])[i] =
                ((float *)in[0])[i] *
                ((float)((uint8_t *)in[1])[i] * (float)((uint8_t *)in[2])[i]);
        }
        break;
    default:
        *(float *)out[0] = gradient(j, in[0], in[1], in[2], sum_order, older);
        break;
    }
}
