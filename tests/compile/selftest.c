/* The self-test of the digits tables: passes as they are, and names what was
 * damaged. Run by tests/test_selftest.sh; a first argument "run" only runs the
 * self-test and prints its verdict. */
#include "qrt_selftest.h"
#include "quant_tables.h"

#include <stdio.h>
#include <string.h>

static int passed, failed;

static void expect(const char *what, int holds)
{
    if (holds)
        passed++;
    else
        failed++, printf("FAILED: %s\n", what);
}

/* A copy of everything that a test damages: row DW and what it leads to. */
static struct qrt_layer layers[QUANT_LAYER_COUNT];
static struct qrt_factors factors;
static struct qrt_edge edge;
static struct qrt_ifmr ifmr;
static struct qrt_arq arq;
static struct qrt_join join;
static struct qrt_real scale_w[64], dequant[64], requant[64];
static uint64_t words[64];
static uint32_t ratios[64];
static struct qrt_tables tables;
static struct qrt_selftest_layer tests[QUANT_LAYER_COUNT];
static struct qrt_selftest_tables test;
static struct qrt_selftest_fault fault;

static void fresh(void)
{
    struct qrt_layer *l = &layers[QUANT_DW];
    uint32_t n;

    memcpy(layers, quant_layers, sizeof layers);
    memcpy(tests, quant_selftest.layers, sizeof tests);
    factors = *l->factors;
    edge = *l->edge;
    ifmr = *l->ifmr;
    arq = *l->arq;
    join = *l->join;
    n = factors.scale_count;
    memcpy(scale_w, factors.scale_w, n * sizeof *scale_w);
    memcpy(dequant, factors.dequant, n * sizeof *dequant);
    memcpy(requant, edge.requant, n * sizeof *requant);
    memcpy(words, factors.word_dequant, n * sizeof *words);
    memcpy(ratios, ifmr.ratios, ifmr.ratio_count * sizeof *ratios);
    factors.scale_w = scale_w;
    factors.dequant = dequant;
    factors.word_dequant = words;
    edge.requant = requant;
    ifmr.ratios = ratios;
    l->factors = &factors;
    l->edge = &edge;
    l->ifmr = &ifmr;
    l->arq = &arq;
    l->join = &join;
    tables = quant_tables;
    tables.layers = layers;
    test = quant_selftest;
    test.layers = tests;
    memset(&fault, 0x55, sizeof fault);
}

static enum qrt_status run(void)
{
    return qrt_selftest(&tables, &test, &fault);
}

static void damaged(const char *what)
{
    expect(what, run() == QRT_ERR_MISMATCH && fault.layer == QUANT_DW &&
                     strcmp(fault.name, "dw") == 0 &&
                     fault.step == QRT_SELFTEST_TABLE);
    fresh();
    expect("a fresh copy passes", run() == QRT_OK);
}

/* One bit in each of these; the order of the struct members. */
static void every_part_of_a_row_counts(void)
{
    layers[QUANT_DW].op ^= 1, damaged("op");
    layers[QUANT_DW].enabled ^= 1, damaged("enabled");
    layers[QUANT_DW].act_asymmetric ^= 1, damaged("act_asymmetric");
    layers[QUANT_DW].out_channels ^= 1, damaged("out_channels");
    layers[QUANT_DW].rule ^= 1, damaged("rule");
    layers[QUANT_DW].exactness ^= 1, damaged("exactness");
    layers[QUANT_DW].edge = NULL, damaged("edge gone");
    arq.bits ^= 1, damaged("arq");
    ratios[60] ^= 1, damaged("last ratio");
    ifmr.max_percentile ^= 1, damaged("max_percentile");
    ifmr.min_percentile ^= (uint64_t)1 << 63, damaged("min_percentile");
    factors.scale_d.m ^= 1, damaged("scale_d");
    factors.recip_d.e ^= 1, damaged("recip_d");
    factors.offset_d ^= 1, damaged("offset_d");
    scale_w[15].m ^= 1, damaged("last scale_w");
    dequant[7].m ^= 1 << 30, damaged("a dequant");
    words[15] ^= (uint64_t)1 << 63, damaged("last word");
    requant[15].m ^= 1, damaged("last requant");
    edge.zero_point ^= 1, damaged("zero point of the edge");
    edge.code_max ^= 1, damaged("clamp of the edge");
    edge.next ^= 1, damaged("next");
    layers[QUANT_DW].join = NULL, damaged("join gone");
    join.kind ^= 1, damaged("kind of the join");
    join.code_min ^= 1, damaged("clamp of the join");
}

/* As if a kernel gave something else on this machine. */
static void another_result(enum qrt_selftest_step step)
{
    static int16_t codes[48];
    static int32_t real[48];
    struct qrt_selftest_layer *t = &tests[QUANT_PW];
    uint32_t channel = step == QRT_SELFTEST_QUANTIZE ? 0 : 12;
    uint32_t at = step == QRT_SELFTEST_QUANTIZE ? 11 : 2 * 12 + 11;

    memcpy(codes, step == QRT_SELFTEST_QUANTIZE ? t->codes : t->requant,
           (step == QRT_SELFTEST_QUANTIZE ? 12 : 48) * sizeof *codes);
    memcpy(real, t->real, sizeof real);
    codes[at % 48] ^= 1;
    real[at] ^= 1;
    if (step == QRT_SELFTEST_QUANTIZE)
        t->codes = codes;
    else if (step == QRT_SELFTEST_REQUANTIZE)
        t->requant = codes;
    else
        t->real = real;
    expect("a result that differs is placed",
           run() == QRT_ERR_MISMATCH && fault.layer == QUANT_PW &&
               strcmp(fault.name, "pw") == 0 && fault.step == step &&
               fault.input == 11 && fault.channel == channel &&
               (fault.got ^ fault.expected) == 1);
    fresh();
}

static void the_first_fault_wins(void)
{
    layers[QUANT_FC].rule ^= 1;
    dequant[0].m ^= 1;
    expect("first fault", run() == QRT_ERR_MISMATCH && fault.layer == QUANT_DW);
    fresh();
}

static void bad_arguments(void)
{
    expect("null tables", qrt_selftest(NULL, &test, &fault) == QRT_ERR_NULL);
    expect("null test", qrt_selftest(&tables, NULL, &fault) == QRT_ERR_NULL);
    expect("null fault", qrt_selftest(&tables, &test, NULL) == QRT_ERR_NULL);
    tables.version++;
    expect("version", run() == QRT_ERR_VERSION);
    fresh();
    test.hash ^= 1;
    expect("hash", run() == QRT_ERR_HASH);
    fresh();
    test.layer_count--;
    expect("count", run() == QRT_ERR_HASH);
    fresh();
    expect("fault untouched", fault.input == 0x55555555);
}

int main(int argc, char **argv)
{
    static const char *const steps[] = {"table", "quantize", "requantize",
                                        "dequantize"};

    fresh();
    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        if (run() == QRT_OK)
            return puts("ok") < 0;
        printf("%s %s\n", fault.name, steps[fault.step]);
        return 1;
    }
    expect("as generated", run() == QRT_OK);
    every_part_of_a_row_counts();
    another_result(QRT_SELFTEST_QUANTIZE);
    another_result(QRT_SELFTEST_REQUANTIZE);
    another_result(QRT_SELFTEST_DEQUANTIZE);
    the_first_fault_wins();
    bad_arguments();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
