/* Checks that the CPU entries of jobs share. */
#include "cpu_entry.h"

int32_t qrt_entry_factors(const struct qrt_real *scale, const int32_t *zero,
                          uint32_t channels, int32_t span, int32_t lo,
                          int32_t hi)
{
    if (scale == NULL) {
        return QRT_ERR_NULL;
    }
    for (uint32_t c = 0; c < channels; c++) {
        int32_t z = zero != NULL ? zero[c] : 0;

        if (scale[c].m < (int32_t)1 << 30 || scale[c].e < -span ||
            scale[c].e > span || (zero != NULL && (z < lo || z > hi))) {
            return QRT_ERR_RANGE;
        }
    }
    return QRT_OK;
}
