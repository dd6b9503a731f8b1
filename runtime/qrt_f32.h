/* libquantrt-f32: the kernels in binary32, for hosts and cores with an FPU.
 *
 * These follow AMCT bit for bit: each + - * / is one binary32 operation,
 * rounded to nearest even, in the order the contracts give; divisions are
 * divisions. The integer kernels of qrt.h are the definition on devices;
 * docs/fixed-point.md bounds the difference.
 *
 * Conventions as in qrt.h, and
 *   codes        b bits: [-H, H-1] with H = 2^(b-1); D = 2^b - 1
 *   rne(t)       nearest integer, ties to even
 *   clamp        to [-H, H-1] of the code
 *   NaN          where a contract does not refuse it: quantized like -infinity
 *   sums         of gradients and losses in binary64
 *   memory       no heap; a state is the caller's, aligned to 8 bytes
 *
 * Build with -ffp-contract=off (clang fuses x * s + o where the target can),
 * -O3 on hosts, and ifmr_hist_f32.c with -O2 -fno-tree-vectorize
 * -fno-tree-slp-vectorize: vectorising a histogram makes it 4 to 9 times
 * slower. 32-bit x86 needs -msse2 -mfpmath=sse. */
#ifndef QRT_F32_H
#define QRT_F32_H

#include "qrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------ scale and offset */

/* Step and zero point of a range; the float form of qrt_scale_step and
 * qrt_scale_zero_point (QRT_ZERO_ARQ), with the same bits.
 *
 *   asymmetric  max = max(max, 0), min = min(min, 0), s = (max - min) / D,
 *               o = rne(-H - min / s)
 *   symmetric   s = max(|max|, |min|) / (H - 1), or / H when |min| > |max|
 *   s < 2^-23   s = 1, o = -H (asymmetric) or 0
 *
 * bits    [2, 16]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_NOT_FINITE (an input,
 * or max - min overflows).
 * Source  AMCT custom_op/utils.py calculate_scale_offset, process_scale. */
enum qrt_status qrt_scale_f32(float max, float min, uint32_t bits,
                              bool asymmetric, float *scale, int32_t *offset);

/* --------------------------------------------- quantize and fake quantize */

/* q = clamp(rne(x / s + o)): AMCT's order for stored codes. True division.
 *
 * x       [n]
 * scale   finite, > 0
 * offset  code of the real zero, [-H, H-1]
 * bits    [2, 8] for s8, [2, 16] for s16
 * q       [n]
 *
 * Returns QRT_OK, QRT_ERR_NULL (n > 0), QRT_ERR_RANGE.
 * Source  AMCT custom_op/utils.py apply_true_quantize. */
enum qrt_status qrt_quantize_f32_s8(const float *x, size_t n, float scale,
                                    int32_t offset, uint32_t bits, int8_t *q);
enum qrt_status qrt_quantize_f32_s16(const float *x, size_t n, float scale,
                                     int32_t offset, uint32_t bits, int16_t *q);

/* y = (clamp(rne(x / s + o)) - o) * s: the value the code stands for.
 * bits [2, 16]; y may be x. Otherwise as qrt_quantize_f32_s8.
 * Source  AMCT apply_fake_quantize_and_anti_quantize. */
enum qrt_status qrt_fake_quantize_f32(const float *x, size_t n, float scale,
                                      int32_t offset, uint32_t bits, float *y);

/* y = clamp(rne(x * (1 / s)) + o) - o: an integer in a float, the order of
 * AMCT's exported fake-quantize module (reciprocal, round, then add). bits
 * [2, 16]; y may be x.
 * Source  AMCT custom_op/fake_quant/fake_quant.py FakeQuant. */
enum qrt_status qrt_quantize_f32__module(const float *x, size_t n, float scale,
                                         int32_t offset, uint32_t bits,
                                         float *y);

/* The same times s: AMCT's quant_dequant_tensor. */
enum qrt_status qrt_fake_quantize_f32__module(const float *x, size_t n,
                                              float scale, int32_t offset,
                                              uint32_t bits, float *y);

enum qrt_round {
    QRT_ROUND_EVEN,
    QRT_ROUND_FLOOR,
    QRT_ROUND_CEIL,
    QRT_ROUND_TRUNC
};

/* q = clamp(round(x * m + o)): AscendQuant, which multiplies.
 *
 * multiplier  m = 1 / s, finite, > 0; with sqrt_mode m * m is used
 * offset      added as a float, [-H, H-1]
 * bits        [2, 8]; AscendQuant has 8 and 4
 *
 * Source  CANN ascend_quant_v2. */
enum qrt_status qrt_quantize_f32_s8__ascend(const float *x, size_t n,
                                            float multiplier, int32_t offset,
                                            uint32_t bits, bool sqrt_mode,
                                            enum qrt_round round, int8_t *q);

/* y = (q - o) * s. scale finite, > 0.
 *
 * Returns QRT_OK, QRT_ERR_NULL (n > 0), QRT_ERR_RANGE (scale). */
enum qrt_status qrt_dequantize_s8_f32(const int8_t *q, size_t n, float scale,
                                      int32_t offset, float *y);
enum qrt_status qrt_dequantize_s16_f32(const int16_t *q, size_t n, float scale,
                                       int32_t offset, float *y);

/* y = (q + o) * s, with sqrt_mode ((q + o) * s) * s: AscendAntiQuant, whose
 * offset has the other sign: pass -o of the quantizer. */
enum qrt_status qrt_dequantize_s8_f32__ascend(const int8_t *q, size_t n,
                                              float scale, int32_t offset,
                                              bool sqrt_mode, float *y);

/* y = acc * scale[c]: accumulators [rows, channels] to reals; the scale is
 * f32(scale_w * scale_d). channels = 1 for one scale.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (a scale not finite or <= 0).
 * Source  AMCT FakeDeQuant. */
enum qrt_status qrt_dequantize_s32_f32(const int32_t *acc, size_t rows,
                                       size_t channels, const float *scale,
                                       float *y);

/* q = clamp8(rne(f32(acc) * scale[c] + o)), then max(q, 0) with relu:
 * accumulators [rows, channels] to int8 through float. Differs from
 * the integer requantization from |acc| = 2^24 on, where the float loses
 * bits, and in the last place at near-ties.
 *
 * offset  [-256, 255], the field of the VREQ8 word
 *
 * Source  CANN AscendRequant; VREQ8 for the offset. */
enum qrt_status qrt_requantize_s32_s8__f32(const int32_t *acc, size_t rows,
                                           size_t channels, const float *scale,
                                           int32_t offset, bool relu,
                                           int8_t *q);

/* ------------------------------------------------------------ ARQ weights */

/* Steps and zero points of weights.
 *
 * w           [shape]
 * bits        [2, 16]; AMCT uses 4 and 8
 * per_channel one scale per channel of every group, else one
 * asymmetric  AMCT: false when retraining, `weight_offset` otherwise
 * scale       [groups * channels] or [1]
 * offset      the same; 0 when symmetric
 * degenerate  null, or how many ranges were too small for a step (scale 1)
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE (an axis of 0,
 * or a product of 2^31 and more), QRT_ERR_NOT_FINITE (a weight,
 * or a scale); on error scale and offset hold nothing of use.
 * Source  AMCT custom_op/arq/arq_impl.py, arq_cali_pytorch. */
enum qrt_status qrt_arq_f32_scale(const float *w, const struct qrt_shape *shape,
                                  uint32_t bits, bool per_channel,
                                  bool asymmetric, float *scale,
                                  int32_t *offset, uint32_t *degenerate);

/* Codes of weights: q = clamp(rne(w / s + o)), in the order of w. Where a
 * channel is one row, both calls for a channel at a time read the memory once.
 *
 * bits    [2, 8]; 16 is refused: AMCT's own cast wraps there
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_SIZE.
 * Source  AMCT arq_real_pytorch. */
enum qrt_status qrt_arq_f32_codes(const float *w, const struct qrt_shape *shape,
                                  uint32_t bits, bool per_channel,
                                  const float *scale, const int32_t *offset,
                                  int8_t *q);

/* Fake-quantized weights (q - o) * s; bits [2, 16]; y may be w. The forward
 * pass of arq_retrain too, whose backward pass is the identity. */
enum qrt_status qrt_arq_f32_fake(const float *w, const struct qrt_shape *shape,
                                 uint32_t bits, bool per_channel,
                                 const float *scale, const int32_t *offset,
                                 float *y);

/* CANN's WtsARQ: scale, offset and fake-quantized weights of one channel.
 *
 * w            [n]
 * w_min, w_max the range; counted through 0
 *   offset_flag 0: s = max(|min| / 128, max / 127), o = 0
 *   offset_flag 1: s = max / 255 - min / 255, o = -rne(min / s) - 128
 *   s < 2^-23: s = 1; y = (clamp(rne(w / s) + o) - o) * s
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FINITE. */
enum qrt_status qrt_wts_arq_cann_f32(const float *w, size_t n, float w_min,
                                     float w_max, bool offset_flag,
                                     float *scale, float *offset, float *y);

/* -------------------------------------------------------- ULQ activations */

struct qrt_ulq_f32 {
    uint32_t bits;     /* 4, 8 or 16; [2, 16]                              */
    bool asymmetric;   /* with zero point                                  */
    bool fixed_min;    /* the lower clip is pinned to 0                    */
    bool strict_width; /* both fallbacks for every width <= 2^-23, as AMCT
                          intends; false: only for a width of exactly 0, as
                          AMCT computes                                    */
    float clip_max_pre, clip_min_pre; /* fallback clips                    */
};

/* Clips in force, and their step and zero point.
 *
 * clip_max, clip_min  in: learned clips; out: after fixed_min and the
 *                     fallbacks: equal clips take both fallbacks; clip_max < 0
 *                     takes clip_max_pre, else clip_min > 0 clip_min_pre
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_NOT_FINITE.
 * Source  AMCT custom_op/ulq_retrain/ulq_retrain_impl.py. */
enum qrt_status qrt_ulq_f32_clips(const struct qrt_ulq_f32 *cfg,
                                  float *clip_max, float *clip_min,
                                  float *scale, int32_t *offset);

/* Forward pass: qrt_ulq_f32_clips, then qrt_fake_quantize_f32. y may be x. */
enum qrt_status qrt_ulq_f32_forward(const struct qrt_ulq_f32 *cfg,
                                    const float *x, size_t n, float *clip_max,
                                    float *clip_min, float *scale,
                                    int32_t *offset, float *y);

/* Backward pass with the clips that forward has left.
 *
 *   up = x > s * (H - 1 - o), lo = x < s * (-H - o)
 *   v = (clip_max if up, clip_min if lo, else x) / s
 *   e = (rne(v) - v) / D
 *   grad_max = sum((e + up) * g), grad_min = sum((lo - e) * g)
 *   grad_x = g where neither, else 0; may be g
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_NOT_FINITE. */
enum qrt_status qrt_ulq_f32_backward(const struct qrt_ulq_f32 *cfg,
                                     const float *x, const float *g, size_t n,
                                     float clip_max, float clip_min,
                                     float *grad_x, double *grad_max,
                                     double *grad_min);

/* CANN's ActsULQ: 8 bit, clips through 0.
 *
 *   m = fixed_min ? 0 : min(clamp_min, 0), M = max(clamp_max, 255 * 2^-23)
 *   s = (M - m) * (1/255), z = rne(m / s), lo = s * z, hi = s * (z + 255)
 *   y = rne(clamp(x, lo, hi) / s) * s; min_mask = x >= lo, max_mask = x <= hi
 *   loss = (n - r) * (1/255) inside, (rne(m/s) - m/s) * (1/255) elsewhere
 *
 * x, y, min_mask, max_mask, loss  [n]; any of y, the masks, loss may be null
 * range   null, or what the operator derived
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_NOT_FINITE (clamps). */
struct qrt_acts_ulq_cann_f32 {
    float scale;
    float offset; /* z: zero point is -128 - z */
    float clip_min, clip_max;
};
enum qrt_status qrt_acts_ulq_cann_f32(const float *x, size_t n, float clamp_min,
                                      float clamp_max, bool fixed_min, float *y,
                                      uint8_t *min_mask, uint8_t *max_mask,
                                      float *loss,
                                      struct qrt_acts_ulq_cann_f32 *range);

/* grad_x = g * (min_mask * max_mask); grad_x may be g. */
enum qrt_status qrt_acts_ulq_cann_f32_input_grad(const float *g, size_t n,
                                                 const uint8_t *min_mask,
                                                 const uint8_t *max_mask,
                                                 float *grad_x);

/* sum(g * (loss + (1 - max_mask))): the older operator, which agrees with
 * AMCT. `current` adds max_mask instead, as the present operator does: a
 * caller of that operator who wants AMCT's gradient passes it the inverted
 * mask. */
enum qrt_status qrt_acts_ulq_cann_f32_max_grad(const float *g, size_t n,
                                               const uint8_t *max_mask,
                                               const float *loss, bool current,
                                               double *grad);

/* sum(g * ((1 - min_mask) - loss)). */
enum qrt_status qrt_acts_ulq_cann_f32_min_grad(const float *g, size_t n,
                                               const uint8_t *min_mask,
                                               const float *loss, double *grad);

/* -------------------------------------------- ULQ weights: learned step */

/* Forward pass of the learned step (LSQ form), symmetric.
 *
 * w          [rows, n]
 * scale      [scales], scales = rows or 1; in: steps (ignored with init), out:
 *            steps in force; with reciprocal both are 1 / step
 * init       first batch: steps from the extremes, qrt_scale_f32
 * y          [rows, n]; may be w
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (bits, a step not positive),
 * QRT_ERR_SIZE (scales), QRT_ERR_NOT_FINITE (a weight when init, a step).
 * Source  AMCT custom_op/ulq_scale_retrain/ulq_scale_retrain_impl.py. */
enum qrt_status qrt_ulq_scale_f32_forward(const float *w, size_t rows, size_t n,
                                          uint32_t bits, bool init,
                                          bool reciprocal, float *scale,
                                          size_t scales, float *y);

/* Backward pass: d = rne(w/s) - w/s inside the range, H - 1 above, -H below;
 * with reciprocal d = -d * s^2; grad = sum(d * f * g) with
 * f = 1 / sqrt(n * (H - 1)), per scale. The gradient of w is g itself.
 *
 * scale   [scales], as forward has left them
 * grad    [scales] */
enum qrt_status qrt_ulq_scale_f32_backward(const float *w, const float *g,
                                           size_t rows, size_t n, uint32_t bits,
                                           bool reciprocal, const float *scale,
                                           size_t scales, double *grad);

/* -------------------------------------------------------------- IFMR, exact */

/* Number of candidates: ceil((end - start) / step) in binary64, as AMCT
 * counts them: 61 for 0.7, 1.3, 0.01. 0 when it is not in [1, 65535] or an
 * argument is not finite or step <= 0. */
uint32_t qrt_ifmr_f32_ratio_count(double start, double end, double step);

/* ratios[i] = f32(start + i * step), i < count. */
void qrt_ifmr_f32_ratios(double start, double step, uint32_t count,
                         float *ratios);

/* What is searched. */
struct qrt_ifmr_f32_config {
    uint32_t bits;         /* 4, 8 or 16; [2, 16]                          */
    bool asymmetric;       /* with zero point                              */
    bool exact_loss;       /* spend one more pass to report the loss of the
                              best two candidates exactly                  */
    const float *ratios;   /* [ratio_count], finite, > 0                   */
    uint32_t ratio_count;  /* [1, 65535]                                   */
    double max_percentile; /* (0, 1]                                       */
    double min_percentile; /* (0, 1]                                       */
};

/* What was found. */
struct qrt_ifmr_f32_result {
    uint32_t again;   /* 1: the search needs the same samples once more:
                             add them all again, then finish. Nothing below
                             but samples and passes is set then             */
    uint32_t passes;  /* passes seen                                    */
    uint64_t samples; /* N                                              */
    float scale;      /* step                                           */
    int32_t offset;   /* zero point                                     */
    float clip_max;   /* (H - 1 - o) * s                                */
    float clip_min;   /* -(H + o) * s                                   */
    uint32_t index;   /* chosen candidate, the first of equals          */
    uint32_t decided; /* candidates that were compared exactly; 1: the
                             bounds of the first pass have left only one    */
    float max, min;   /* percentile limits, counted through 0           */
    float data_max;   /* extremes of the samples                        */
    float data_min;
    uint64_t rank_max;   /* max is the rank_max-th largest sample          */
    uint64_t rank_min;   /* min is the rank_min-th smallest                */
    double loss;         /* mean squared error of the candidate            */
    double loss_error;   /* the true mean lies within this of `loss`:
                             2^-59 of the squared largest sample where it was
                             compared exactly                               */
    double gap;          /* (loss of the runner-up - loss) / loss; 0 when
                             loss is 0 or another candidate is equal        */
    double clipped;      /* share of samples more than half a step outside
                             [clip_min, clip_max]; a bin that holds the limit
                             (1/2048 of its value wide) counts by parts */
    uint32_t degenerate; /* 1: the range was too small, scale is 1         */
};

/* Bytes of state for so many candidates: 1.3 MiB and 37 bytes for each. 0 for
 * a count outside [1, 65535]. */
size_t qrt_ifmr_f32_state_size(uint32_t ratio_count);

/* Starts a search.
 *
 * state   [size] bytes, aligned to 8
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (the configuration, alignment),
 * QRT_ERR_SCRATCH (size). */
enum qrt_status qrt_ifmr_f32_init(void *state, size_t size,
                                  const struct qrt_ifmr_f32_config *cfg);

/* Adds samples, in any number of calls; the result does not depend on how
 * they are split or ordered.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE (not set up, or already
 * decided), QRT_ERR_FULL (2^32 - 1 samples; in a later pass: more than in the
 * first). Part of the samples may be in after the following two, so the state
 * must be set up again: QRT_ERR_NOT_FINITE (*bad, unless bad is null, gets the
 * index), QRT_ERR_MISMATCH (not the samples of the first pass). */
enum qrt_status qrt_ifmr_f32_add(void *state, const float *x, size_t n,
                                 size_t *bad);

/* Adds what `from` has seen in this pass to `into`; from is not changed.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE, QRT_ERR_FULL,
 * QRT_ERR_MISMATCH (another configuration, or another stage of the search). */
enum qrt_status qrt_ifmr_f32_merge(void *into, const void *from);

/* Ends a pass. With result->again = 1 the state waits for the same samples
 * once more:
 *   - to find a percentile limit that is not among the 16 largest of its
 *     sign: one pass; three when it is below 2^-13 of the largest sample
 *   - to compare the candidates that the bounds leave: one pass, never needed
 *     for most data, always for 16 bits and with exact_loss
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE, QRT_ERR_EMPTY,
 * QRT_ERR_SIZE (this pass has seen fewer samples than the first). After these
 * the state must be set up again: QRT_ERR_NOT_FINITE (a candidate's step
 * overflows), QRT_ERR_MISMATCH (not the samples of the first pass).
 * Source  AMCT custom_op/ifmr/ifmr_impl.py; docs/ifmr.md. */
enum qrt_status qrt_ifmr_f32_finish(void *state,
                                    struct qrt_ifmr_f32_result *result);

/* All passes over samples in memory: init, add, finish until decided. */
enum qrt_status qrt_ifmr_f32_search(void *state, size_t size,
                                    const struct qrt_ifmr_f32_config *cfg,
                                    const float *x, size_t n,
                                    struct qrt_ifmr_f32_result *result);

/* A state as bytes that do not depend on the machine, for calibration that is
 * split over processes. The bytes of equal states are equal. Save with out =
 * null counts only.
 *
 * out     [cap]
 * len     bytes written (or needed)
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_STATE, QRT_ERR_SCRATCH (cap). */
enum qrt_status qrt_ifmr_f32_save(void *state, uint8_t *out, size_t cap,
                                  size_t *len);

/* The candidate count of saved bytes, for qrt_ifmr_f32_state_size; 0 when
 * they are not a saved state. */
uint32_t qrt_ifmr_f32_saved_count(const uint8_t *in, size_t len);

/* A state from saved bytes. Every field is checked; a file that was damaged
 * in a consistent way is not noticed: add a checksum around it.
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE (alignment), QRT_ERR_SCRATCH,
 * QRT_ERR_VERSION, QRT_ERR_SIZE (cut short, or too long), QRT_ERR_STATE
 * (contradictory content). */
enum qrt_status qrt_ifmr_f32_load(void *state, size_t size, const uint8_t *in,
                                  size_t len);

/* Which saved configurations differ, for a message. */
enum qrt_ifmr_f32_field {
    QRT_IFMR_F32_SAME,
    QRT_IFMR_F32_BITS,
    QRT_IFMR_F32_ASYMMETRIC,
    QRT_IFMR_F32_MAX_PERCENTILE,
    QRT_IFMR_F32_MIN_PERCENTILE,
    QRT_IFMR_F32_RATIOS,
    QRT_IFMR_F32_EXACT_LOSS,
    QRT_IFMR_F32_STAGE /* one of them waits for another pass */
};
enum qrt_ifmr_f32_field qrt_ifmr_f32_compare(const void *a, const void *b);

/* ---------------------------------------------------------- IFMR, CANN form */

struct qrt_ifmr_cann_f32_config {
    float max_percentile, min_percentile; /* (0.5, 1]                      */
    float start, end, step;               /* 0 < start < end, step > 0     */
    bool with_offset;
    uint32_t bits; /* 8 or 16                       */
};

struct qrt_ifmr_cann_f32_result {
    uint32_t steps;   /* candidates, [1, 4096]                            */
    uint32_t index;   /* chosen one                                       */
    uint32_t max_bin; /* number of bins below the percentiles             */
    uint32_t min_bin;
    float init_max, init_min;
    float scale, offset;
    double loss; /* sum of squares                                   */
};

/* The operator's search on data and the cumulated histogram of the same data.
 *
 * x           [n], n in [1, 2^31]
 * cumsum      [bins], bins in [1, 8192]; cumsum[bins - 1] = n
 * losses      null, or [steps]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE.
 * Source  CANN ops-nn quant/ifmr: reciprocal, integer clamp, sum. */
enum qrt_status qrt_ifmr_cann_f32(const float *x, size_t n, float data_min,
                                  float data_max, const int32_t *cumsum,
                                  uint32_t bins,
                                  const struct qrt_ifmr_cann_f32_config *cfg,
                                  double *losses,
                                  struct qrt_ifmr_cann_f32_result *result);

/* --------------------------------------------------------------------- HFMG */

/* A histogram that grows batch by batch, as AMCT keeps it: its content depends
 * on the order of the batches. */
struct qrt_hfmg_f32 {
    uint32_t bins;     /* [4, 8192]; AMCT 1024, 2048, 4096, 8192          */
    uint32_t batches;  /* 0 before the first batch                        */
    float min, max;    /* range of all batches                            */
    uint32_t *counts;  /* [bins], the caller's                            */
    uint32_t *scratch; /* [bins], the caller's                            */
};

/* Adds one batch: a histogram over the common range, into which the earlier
 * counts are spread (whole counts, the rest to the upper bin).
 *
 * x       [n], finite, n in [1, 2^32 - 1 - samples so far]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_EMPTY (n = 0),
 * QRT_ERR_FULL, QRT_ERR_NOT_FINITE (a sample, or max - min overflows).
 * Source  AMCT custom_op/hfmg, torch.histc. */
enum qrt_status qrt_hfmg_f32_add(struct qrt_hfmg_f32 *h, const float *x,
                                 size_t n);

/* The same for a batch that does not fit into memory: first its extremes, then
 * its samples in any number of pieces.
 *
 * min, max  of the whole batch, finite, min <= max
 *
 * widen returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_NOT_FINITE.
 * count returns QRT_OK, QRT_ERR_NULL, QRT_ERR_EMPTY (no batch has begun),
 * QRT_ERR_FULL, QRT_ERR_MISMATCH (a sample outside of the extremes, or NaN;
 * nothing of the piece is counted then). */
enum qrt_status qrt_hfmg_f32_widen(struct qrt_hfmg_f32 *h, float min,
                                   float max);
enum qrt_status qrt_hfmg_f32_count(struct qrt_hfmg_f32 *h, const float *x,
                                   size_t n);

struct qrt_hfmg_f32_result {
    float scale;
    int32_t offset;
    float clip_max, clip_min;
    uint32_t left, right; /* outer bins kept                               */
    double loss;
};

/* The range of bins with the least expected squared error.
 *
 * bits    [2, 16]
 *
 * Returns QRT_OK, QRT_ERR_NULL, QRT_ERR_RANGE, QRT_ERR_EMPTY,
 * QRT_ERR_NOT_FINITE. */
enum qrt_status qrt_hfmg_f32_search(const struct qrt_hfmg_f32 *h, uint32_t bits,
                                    bool asymmetric,
                                    struct qrt_hfmg_f32_result *result);

#ifdef __cplusplus
}
#endif

#endif
