/* Exact losses for the IFMR search: the squared errors of AMCT's own binary32
 * steps, summed without rounding.
 *
 * A squared error, scaled by a power of two to at most 4, is cut at 2^-28 and
 * rounded at 2^-58 into two integers. Their sums fit 64 bits for 2^32 samples
 * and do not depend on the order, so states of split data merge to the same
 * bytes. */
#include "ifmr_f32.h"

#define HIGH_UNITS 268435456.0f  /* 2^28: the high word counts 2^-28        */
#define LOW_UNITS  1073741824.0f /* 2^30: the low word counts 2^-58         */
#define LANES      16u

F32_ROW static void loss_row(const float *x, size_t n, float lo, float hi,
                             float scale, float factor, int64_t *sum)
{
    int64_t high[LANES] = {0}, low[LANES] = {0};
    for (size_t i = 0; i < n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            float q = f32_rne(f32_clamp(x[i + j], lo, hi) / scale) * scale;
            float d = (q - x[i + j]) * factor;
            float e = d * d * HIGH_UNITS;
            int32_t h = (int32_t)e;
            int32_t l = (int32_t)((e - (float)h) * LOW_UNITS + 0.5f);
            high[j] += h;
            low[j] += l;
        }
    for (size_t j = 0; j < LANES; j++) {
        sum[0] += high[j];
        sum[1] += low[j];
    }
}

void ifmr_add_loss(const float *x, size_t n, const struct ifmr_candidate *c,
                   float factor, int64_t sum[2])
{
    size_t whole = n - n % LANES;
    float rest[LANES] = {0}; /* zeros: their error is 0 */
    for (size_t i = whole; i < n; i++)
        rest[i - whole] = x[i];
    loss_row(x, whole, c->lo, c->hi, c->scale, factor, sum);
    if (whole < n)
        loss_row(rest, LANES, c->lo, c->hi, c->scale, factor, sum);
}
