/* tanh and the logistic function as tables. libm's results differ in the last
 * place from host to host; sums, products and quotients of binary64 do not. */
#include "function.h"

#include <math.h>

#define LN2 0.693147180559945309417232

/* e^x for x in [-40, 0]: 2^-k e^r, r in (-ln 2, 0], by its series. Every
 * product has a statement of its own, so that no compiler fuses it into a sum.
 */
static double exponential(double x)
{
    int k = (int)(-x / LN2), i;
    double moved = (double)k * LN2, r = x + moved, sum = 1.0;

    for (i = 20; i > 0; i--) {
        double term = sum * r;
        double part = term / i;

        sum = 1.0 + part;
    }
    return ldexp(sum, -k);
}

double qc_function_at(const struct qc_function *f, double x)
{
    double a = x < 0 ? x : -x, e, y;

    if (f->is_tanh)
        a = a * 2;
    if (a < -40)
        a = -40;
    e = exponential(a);
    if (f->is_tanh) {
        y = (1.0 - e) / (1.0 + e);
        return x < 0 ? -y : y;
    }
    return x < 0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

static int32_t code_at(const struct qc_function *f, double x)
{
    double y = qc_function_at(f, x) / f->step;
    double c = rint(y + f->zero_point);

    return c < f->code_min   ? f->code_min
           : c > f->code_max ? f->code_max
                             : (int32_t)c;
}

/* The least x in [-20, 20] from which on the code is at least `code`. */
static double where(const struct qc_function *f, int32_t code)
{
    double low = -20, high = 20;
    int i;

    for (i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (code_at(f, middle) >= code)
            high = middle;
        else
            low = middle;
    }
    return high;
}

void qc_tabulate(struct qc_function *f, int8_t *table)
{
    int32_t least = code_at(f, -20), most = code_at(f, 20), i;
    double low = 0, high = 0, zero;

    if (most > least) {
        low = where(f, least + 1);
        high = where(f, most);
    }
    low = low < -0.0625 ? low : -0.0625;
    high = high > 0.0625 ? high : 0.0625;
    f->index_step = (double)(float)((high - low) / 253);
    zero = rint(-127 - low / f->index_step);
    f->index_zero = zero < -128 ? -128 : zero > 127 ? 127 : (int32_t)zero;
    for (i = 0; i < 256; i++)
        table[i] =
            (int8_t)code_at(f, (i - 128 - f->index_zero) * f->index_step);
}
