/* Tables of functions of one number between quantized layers. */
#ifndef QC_FUNCTION_H
#define QC_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct qc_function {
    bool is_tanh;       /* else the logistic function                        */
    double step;        /* of the result's codes                             */
    int32_t zero_point; /* of the result's codes                             */
    int32_t code_min, code_max;
    double index_step;  /* out: of the index, exact in binary32              */
    int32_t index_zero; /* out: in [-128, 127]                               */
};

/* table[i + 128] = code of f((i - index_zero) * index_step). The index covers
 * the numbers for which the code still changes. */
void qc_tabulate(struct qc_function *f, int8_t *table);

/* The function itself: the same bits on every host, error below 1e-13. */
double qc_function_at(const struct qc_function *f, double x);

#endif
