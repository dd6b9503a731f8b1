/* Counts instructions of the kernels on an emulated Cortex-M: SysTick under
 * QEMU's -icount, where every instruction takes 64 ns. Prints a kernel per
 * line, its instructions in tenths: per element as the slope between two sizes,
 * per candidate of the IFMR search as the whole call divided.
 *
 * Instructions, not cycles. A measurement may last 10 million of them, as the
 * counter has 24 bits. */
#include "io.h"
#include "qrt_ifmr.h"
#ifdef __ARM_FP
#include "qrt_f32.h"
#endif

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)

enum {
    TICK_NS = 40, /* of the boards mps2-an385 and mps2-an386 */
    INSTRUCTION_NS = 64,
    CHANNELS = 32,
    LARGE = 2048,
    SMALL = 1024,
    RATIOS = 61,
    OBSERVED = 40 /* times LARGE */
};

static int32_t numbers[LARGE];
static uint32_t patterns[LARGE];
static int16_t narrow[LARGE];
static int32_t wide[LARGE];
static int8_t codes[LARGE];
static int32_t reals[LARGE];
static struct qrt_real scales[CHANNELS];
static int32_t zeros[CHANNELS];
static uint64_t storage[QRT_IFMR_STORAGE(8192)];
static struct qrt_ifmr_observer observer;
static enum qrt_status status;

/* Instructions since start(). */
static void start(void)
{
    SYST_RVR = 0xffffff;
    SYST_CVR = 0;
    SYST_CSR = 5;
}

static uint32_t stop(void)
{
    uint32_t ticks = (0xffffffu - SYST_CVR) & 0xffffffu;

    return (uint32_t)((uint64_t)ticks * TICK_NS / INSTRUCTION_NS);
}

static void print(const char *name, uint32_t tenths)
{
    io_text(name);
    io_text(" ");
    io_int((int32_t)tenths);
    io_text(status == QRT_OK ? "\n" : " FAILED\n");
}

static struct qrt_shape channels_last(uint32_t n)
{
    struct qrt_shape s = {n / CHANNELS, CHANNELS, 1, 1};

    return s;
}

static struct qrt_shape channels_first(uint32_t n)
{
    struct qrt_shape s = {1, CHANNELS, n / CHANNELS, 1};

    return s;
}

static void requantize(uint32_t n, struct qrt_shape shape)
{
    struct qrt_edge edge = {scales, 3, -128, 127, 0};

    (void)n;
    status = qrt_requantize_s8(numbers, &shape, &edge, codes);
}

static void requantize_last(uint32_t n)
{
    requantize(n, channels_last(n));
}

static void requantize_first(uint32_t n)
{
    requantize(n, channels_first(n));
}

static void quantize_patterns(uint32_t n)
{
    struct qrt_shape shape = {1, 1, 0, 1};
    struct qrt_quantize p = {scales, zeros, 0, 8, QRT_ADD_THEN_ROUND};

    shape.inner = n;
    status = qrt_quantize_bits_s8(patterns, &shape, &p, codes);
}

static void quantize_s16(uint32_t n)
{
    struct qrt_shape shape = {1, 1, 0, 1};
    struct qrt_quantize p = {scales, zeros, 10, 8, QRT_ADD_THEN_ROUND};

    shape.inner = n;
    status = qrt_quantize_s16_s8(narrow, &shape, &p, codes);
}

static void dequantize_s8(uint32_t n)
{
    struct qrt_shape shape = {1, 1, 0, 1};
    struct qrt_dequantize p = {scales, zeros, 16};

    shape.inner = n;
    status = qrt_dequantize_s8_s32(codes, &shape, &p, reals);
}

static void observe(uint32_t n)
{
    status = qrt_ifmr_add_f32(&observer, patterns, n);
}

static void observe_s16(uint32_t n)
{
    status = qrt_ifmr_add_s16(&observer, narrow, n, 10);
}

static void observe_s32(uint32_t n)
{
    status = qrt_ifmr_add_s32(&observer, wide, n, 24);
}

#ifdef __ARM_FP
static void quantize_fpu(uint32_t n)
{
    status =
        qrt_quantize_f32_s8((const float *)patterns, n, 0.02f, 3, 8, codes);
}
#endif

/* Two instructions a turn, to check the clock itself. */
static void known_loop(uint32_t n)
{
    status = QRT_OK;
    __asm__ volatile(".syntax unified\n"
                     "1: subs %0, #1\n"
                     "   bne 1b\n"
                     : "+l"(n)
                     :
                     : "cc");
}

static uint32_t cost(void (*kernel)(uint32_t n), uint32_t n)
{
    start();
    kernel(n);
    return stop();
}

static void slope(const char *name, void (*kernel)(uint32_t n))
{
    uint32_t large, small;

    kernel(SMALL); /* an observer takes what is new, once */
    large = cost(kernel, LARGE);
    small = cost(kernel, SMALL);
    print(name, ((large - small) * 10 + (LARGE - SMALL) / 2) / (LARGE - SMALL));
}

/* Numbers of up to 2^16 and a half-normal kind of floating point, both signs.
 */
static void make_data(void)
{
    uint32_t seed = 1, i, k;

    for (i = 0; i < LARGE; i++) {
        int32_t sum = 0;

        for (k = 0; k < 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            sum += (int32_t)(seed >> 18) - 8192;
        }
        numbers[i] = sum;
        narrow[i] = (int16_t)(sum >= 32767 ? 32767 : sum);
        wide[i] = narrow[i] * 16384 + (int32_t)i;
    }
}

/* The same as binary32 patterns of about +-3: an exact conversion. */
static void make_patterns(uint32_t round)
{
    const struct qrt_shape whole = {1, 1, LARGE, 1};
    const struct qrt_real step = {1717986918 - (int32_t)round * 1000003, -12};
    struct qrt_dequantize p = {0};

    p.scale = &step;
    status = qrt_dequantize_s32_bits(numbers, &whole, &p, patterns);
}

static void make_scales(void)
{
    uint32_t i;

    for (i = 0; i < CHANNELS; i++) {
        scales[i].m = (int32_t)(0x40000000u + i * 0x01234567u);
        scales[i].e = -7 - (int32_t)(i % 3);
        zeros[i] = 3;
    }
}

static void search(void)
{
    static uint32_t ratios[RATIOS];
    struct qrt_ifmr p = {ratios, RATIOS, 0x3FEFFFFDE7210BE9u,
                         0x3FEFFFFDE7210BE9u};
    struct qrt_ifmr_result result;
    uint32_t i;

    for (i = 0; i < RATIOS; i++)
        ratios[i] = 0x3F333333u + i * 0x28000u; /* 0.7 and up */
    start();
    status = qrt_ifmr_finish(&observer, &p, 8, true, &result);
    print("ifmr-candidate", stop() / RATIOS * 10);
    if (result.method != QRT_IFMR_HISTOGRAM)
        io_text("ifmr-candidate: not a histogram FAILED\n");
}

int main(void)
{
    uint32_t i;

    make_data();
    make_scales();
    make_patterns(0);
    slope("known-loop", known_loop);
    slope("requantize", requantize_last);
    slope("requantize-planes", requantize_first);
    scales[0].e = 6; /* 1 / step of about 0.02 */
    slope("quantize-patterns", quantize_patterns);
    slope("quantize-s16", quantize_s16);
    scales[0].e = -5;
    slope("dequantize", dequantize_s8);
#ifdef __ARM_FP
    slope("quantize-fpu", quantize_fpu);
#endif
    status = qrt_ifmr_init(&observer, storage, sizeof storage);
    for (i = OBSERVED; i-- != 0;) { /* all bins in use, extremes known */
        make_patterns(i);
        observe(LARGE);
    }
    slope("ifmr-add", observe);
    slope("ifmr-add-s16", observe_s16);
    slope("ifmr-add-s32", observe_s32);
    search();
    return 0;
}
