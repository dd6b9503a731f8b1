/* Decimal text and binary floating point, exactly: integers only, no libm, no
 * locale. What these functions return depends on their arguments alone.
 *
 * A decimal here is text of the form [-] digits [. digits] [(e|E) [+-] digits]
 * with at least one digit before or after the point; a final `f` (text format)
 * is ignored. Infinities and NaN are spelled inf, infinity, nan, in any case. */
#ifndef QC_DECIMAL_H
#define QC_DECIMAL_H

#include "qc.h"

/* Room for any text made here, NUL included. */
#define QC_DECIMAL_ROOM 32

/* The binary64 nearest to the text, ties to even; beyond the largest: an
 * infinity. False (and *out = 0) when the text is not a decimal. */
bool qc_parse_double(struct qc_str text, double *out);
/* The pattern of the binary32 nearest to v, ties to even: what (float)v has in
 * the default rounding mode. One value differs: 3.4028235677973366e38, halfway
 * above the largest binary32, gives that, as in protobuf's readers. */
uint32_t qc_f32_bits(double v);
double qc_f32_value(uint32_t bits); /* exact */
bool qc_is_finite(double v);
bool qc_f32_is_finite(uint32_t bits);

/* The shortest decimal that reads back to the same binary32 or binary64, the
 * nearest such to the value when there are several, laid out as Python's repr:
 * 0.7, 1.0, 1e-05, 1.5e+16, inf, nan. Returns out. */
const char *qc_shortest_f32(uint32_t bits, char out[QC_DECIMAL_ROOM]);
const char *qc_shortest_f64(double v, char out[QC_DECIMAL_ROOM]);
/* The same without ".0" and with signed exponents kept: how messages show a
 * number that the user may have written in many ways. */
const char *qc_shown_f32(uint32_t bits, char out[QC_DECIMAL_ROOM]);
/* Like printf's %.9g of a binary32: nine significant digits, exact rounding. */
const char *qc_nine_digits_f32(uint32_t bits, char out[QC_DECIMAL_ROOM]);

/* config.md E.7: text -> binary64 -> binary32 -> shortest decimal -> binary64.
 * False when the text is not a decimal; *out may be infinite or NaN. */
bool qc_amct_float(struct qc_str text, double *out);
/* The same from the first binary64 on, as a bound value carries it. */
double qc_amct_value(double v);

/* Exact comparison of two finite decimals: -1, 0 or 1; malformed text counts
 * as 0. */
int qc_decimal_compare(struct qc_str a, struct qc_str b);
/* Exact comparison of `step` with `end - start`. */
int qc_decimal_compare_difference(struct qc_str step, struct qc_str end,
                                  struct qc_str start);

#endif
