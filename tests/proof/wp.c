/* What the helpers without loops promise, as ACSL contracts for Frama-C's WP.
 * A declaration with a contract before the definition binds the definition.
 * Run by tests/proof/run.sh. */
#include <stdbool.h>
#include <stdint.h>

/*@ requires lo <= hi;
    assigns \nothing;
    ensures lo <= \result <= hi;
    ensures lo <= v <= hi ==> \result == v;
    ensures v < lo ==> \result == lo;
    ensures v > hi ==> \result == hi; */
static inline int32_t qrt_clamp32(int32_t v, int32_t lo, int32_t hi);

/*@ requires n <= 31;
    assigns \nothing; */
static inline int32_t qrt_asr32(int32_t v, uint32_t n);

/*@ assigns \nothing;
    ensures INT32_MIN <= v <= INT32_MAX ==> \result == v;
    ensures v > INT32_MAX ==> \result == INT32_MAX;
    ensures v < INT32_MIN ==> \result == INT32_MIN; */
int32_t qrt_sat32(int64_t v);

/*@ assigns \nothing;
    ensures INT16_MIN <= v <= INT16_MAX ==> \result == v;
    ensures v > INT16_MAX ==> \result == INT16_MAX;
    ensures v < INT16_MIN ==> \result == INT16_MIN; */
static inline int16_t qrt_sat16(int32_t v);

/*@ assigns \nothing;
    ensures INT8_MIN <= v <= INT8_MAX ==> \result == v;
    ensures v > INT8_MAX ==> \result == INT8_MAX;
    ensures v < INT8_MIN ==> \result == INT8_MIN; */
static inline int8_t qrt_sat8(int32_t v);

/*@ assigns \nothing;
    ensures \result == (v < 0 ? -v : v); */
static inline uint32_t qrt_abs32(int32_t v);

/*@ assigns \nothing;
    ensures \result == (v < 0 ? -v : v); */
static inline uint64_t qrt_abs64(int64_t v);

/*@ requires v <= INT64_MAX;
    assigns \nothing;
    ensures \result == (negative ? -v : v); */
static inline int64_t qrt_signed64(uint64_t v, bool negative);

/*@ assigns \nothing;
    ensures \result == (v >> 32); */
static inline int32_t qrt_high32(int64_t v);

#include "fixed.c"
