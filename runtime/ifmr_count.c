/* The loop that the observer is built around: one sample into its bin. In a
 * file of its own so that it is compiled on its own, with all registers. */
#include "ifmr_cells.h"

#include "fixed.h"
#include "softf32.h"

const uint32_t *qrt_ifmr_count_run(const struct qrt_ifmr_lanes *l,
                                   const uint32_t *x, const uint32_t *end)
{
    do {
        uint32_t bits = *x;
        /* 2^24 * octave of the bin + fraction, already rounded */
        uint32_t place = (bits << 1) - l->least;

        if (place < l->side[bits >> 31].span) {
            uint32_t shift = QRT_IFMR_REST_BITS - (place >> 24);
            uint32_t mantissa = ((uint32_t)1 << QRT_IFMR_REST_BITS) +
                                (place << 8 >> (32U - QRT_IFMR_REST_BITS));
            uint32_t bin = mantissa >> shift;
            uint32_t rest = mantissa - (bin << shift);

            l->side[bits >> 31]
                .first[qrt_asr32((int32_t)bits, 31) ^ (int32_t)bin] +=
                QRT_IFMR_ONE_SAMPLE | rest;
        } else if (qrt_f32_abs(bits) != 0) {
            break;
        }
    } while (++x != end);
    return x;
}
