/* The loops that the observer is built around: one sample into its bin. In a
 * file of their own so that they are compiled on their own, with all registers.
 *
 * Whatever type a value comes in, it has to arrive at the same place: rounded
 * to 24 bits, ties to even, as binary32 are (int32 only), then to 14, ties up. */
#include "ifmr_cells.h"

#include "fixed.h"

/* A sample more in the cell. In halves: the compiler for a Cortex-M0 makes a
 * number of 64 bits in memory first. */
QRT_INLINE void count(uint64_t *cell, uint32_t rest)
{
    uint64_t contents = *cell;
    uint32_t low = (uint32_t)contents + rest;
    uint32_t high = (uint32_t)(contents >> 32) + (low < rest);

    high += (uint32_t)(QRT_IFMR_ONE_SAMPLE >> 32);
    *cell = (uint64_t)high << 32 | low;
}

const void *qrt_ifmr_count_bits(const struct qrt_ifmr_lanes *l, const void *x,
                                const void *end)
{
    const uint32_t *at = x;
    const uint32_t least = l->least;

    do {
        int32_t sign = qrt_asr32((int32_t)*at, 31);
        const struct qrt_ifmr_lane *lane = &l->side[1] + sign;
        uint32_t key = *at << 1;
        /* 2^24 * octave of the bin + fraction, already rounded */
        uint32_t above = key - least;

        if (above < lane->span) {
            uint32_t mantissa =
                QRT_IFMR_ONE_BIN + (above << 8 >> (32U - QRT_IFMR_REST_BITS));
            uint32_t place = mantissa << (above >> 24);

            count(&lane->first[sign ^ (int32_t)QRT_IFMR_PLACE_BIN(place)],
                  QRT_IFMR_PLACE_REST(place));
        } else if (key != 0) {
            break;
        }
    } while (++at != end);
    return at;
}

const void *qrt_ifmr_count_s16(const struct qrt_ifmr_lanes *l, const void *x,
                               const void *end)
{
    const int16_t *at = x;
    const uint32_t shift = l->shift;

    do {
        int32_t v = *at * (int32_t)QRT_IFMR_ONE_BIN;
        int32_t sign = qrt_asr32(v, 31);
        const struct qrt_ifmr_lane *lane = &l->side[1] + sign;
        /* |v| or, which is the same place, |v| + 1 */
        uint32_t place = (uint32_t)(v ^ sign) + 1U;
        /* The last of 15 bits: 14 are left. */
        uint32_t last = place >> 27 << QRT_IFMR_REST_BITS;

        place = ((place + last) & ~last) >> shift;
        if (place - QRT_IFMR_ONE_BIN < lane->span) {
            count(&lane->first[sign ^ (int32_t)QRT_IFMR_PLACE_BIN(place)],
                  QRT_IFMR_PLACE_REST(place));
        } else if (v != 0) {
            break;
        }
    } while (++at != end);
    return at;
}

/* Both roundings of more than 14 bits in one. With d the last bit that the first
 * one leaves, the second starts from d * (n + 1/2), n odd, and what the first
 * rounds up to there is what reaches d * n: half a d below. */
static inline uint32_t rounded(uint32_t v)
{
    uint32_t half;

    if (v >> 14 == 0) {
        return v;
    }
    half = (uint32_t)1 << (qrt_bit_length32(v >> 14) - 1U);
    return (v + half + (half >> 10)) & (0U - 2U * half);
}

const void *qrt_ifmr_count_s32(const struct qrt_ifmr_lanes *l, const void *x,
                               const void *end)
{
    const int32_t *at = x;
    const uint32_t shift = l->shift;

    do {
        int32_t sign = qrt_asr32(*at, 31);
        const struct qrt_ifmr_lane *lane = &l->side[1] + sign;
        uint32_t v = rounded(qrt_abs32(*at));
        uint32_t bin = v >> shift; /* a place may have too many bits */

        if (bin - 1U < QRT_IFMR_PLACE_BIN(lane->span)) {
            count(&lane->first[sign ^ (int32_t)bin],
                  v << (32U - shift) >> (32U - QRT_IFMR_REST_BITS));
        } else if (v != 0) {
            break;
        }
    } while (++at != end);
    return at;
}
