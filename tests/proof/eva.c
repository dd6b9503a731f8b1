/* Every helper of fixed.h and rounding of fixed.c on all arguments that its
 * contract allows, for Frama-C's Eva: no overflow, no bad shift, no division by
 * zero, nothing read before it was written. Run by tests/proof/run.sh. */
#include "fixed.h"

#include "__fc_builtin.h"

static int32_t any32(void)
{
    return Frama_C_interval(INT32_MIN, INT32_MAX);
}

static int64_t any64(int64_t low, int64_t high)
{
    return Frama_C_long_long_interval(low, high);
}

static uint32_t upto(uint32_t high)
{
    return Frama_C_unsigned_int_interval(0, high);
}

static void shifts(void)
{
    (void)qrt_asr32(any32(), upto(31));
    (void)qrt_asr64(any64(INT64_MIN, INT64_MAX), upto(63));
    (void)qrt_high32(any64(INT64_MIN, INT64_MAX));
    (void)qrt_shl64(any64(INT64_MIN, INT64_MAX), upto(63));
}

static void saturations(void)
{
    (void)qrt_clamp32(any32(), any32(), any32());
    (void)qrt_sat32(any64(INT64_MIN, INT64_MAX));
    (void)qrt_sat16(any32());
    (void)qrt_sat8(any32());
    (void)qrt_abs32(any32());
    (void)qrt_abs64(any64(INT64_MIN, INT64_MAX));
    (void)qrt_signed64((uint64_t)any64(0, INT64_MAX), upto(1) != 0);
    (void)qrt_bit_length32((uint32_t)any32());
    (void)qrt_bit_length64((uint64_t)any64(INT64_MIN, INT64_MAX));
}

static void roundings(void)
{
    const int32_t edge = (1 << 29) - 1;
    const int64_t wide = ((int64_t)1 << 62) - 1;
    uint32_t rest;

    (void)qrt_mul_high_half_even(any32(), Frama_C_interval(0, INT32_MAX),
                                 upto(29), Frama_C_interval(-edge, edge),
                                 Frama_C_interval(-edge, edge));
    (void)qrt_mul_shift_half_even(any32(), Frama_C_interval(0, INT32_MAX),
                                  Frama_C_interval(-1000, 1000),
                                  Frama_C_interval(-edge, edge));
    (void)qrt_rshift_half_even(any64(-wide, wide),
                               Frama_C_interval(-1000, 1000),
                               Frama_C_interval(-edge, edge));
    (void)qrt_udiv64((uint64_t)any64(INT64_MIN, INT64_MAX),
                     upto(UINT32_MAX), &rest);
}

int main(void)
{
    shifts();
    saturations();
    roundings();
    return 0;
}
