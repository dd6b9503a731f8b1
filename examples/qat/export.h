/* What training has learned, as files. */
#ifndef QAT_EXPORT_H
#define QAT_EXPORT_H

#include "layer.h"

/* Writes DIR/record.txt: scales and zero points, the form that AMCT writes and
 * quantc reads. The layers hold the factors of their last forward pass.
 *
 * Returns 0, or 1 after a message. */
int export_record(const char *dir, const struct layer *layers, int count);

/* Writes DIR/weights.h: codes of the weights, biases in accumulator units, with
 * the names of examples/digits/weights.h.
 *
 * Returns 0, or 1 after a message. */
int export_weights(const char *dir, const struct layer *layers, int count);

#endif
