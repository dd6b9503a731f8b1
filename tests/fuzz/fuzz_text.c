/* The text reader under mutation: characters, grammar, schema, values, dump
 * and messages, each kind, both verdict modes. Two ways to run it:
 *
 *     clang -fsanitize=fuzzer,address,undefined ...   with libFuzzer
 *     cc -DFUZZ_MAIN -fsanitize=address,undefined ... fuzz_text SECONDS FILE...
 *
 * The second mutates the given files on its own, with a fixed seed. It checks
 * nothing but what the sanitizers see, and that a rejected file has a message. */
#include "bind.h"
#include "emit.h"
#include "parse.h"
#include "schema_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum qc_kind kind;
    const struct qc_message *m;
} kinds[] = {
    {QC_KIND_CALIB,   &qc_AMCTConfig       },
    {QC_KIND_RETRAIN, &qc_AMCTRetrainConfig},
    {QC_KIND_RECORD,  &qc_ScaleOffsetRecord},
    {QC_KIND_LAYERS,  &qc_ModelLayers      },
};

static void read_as(size_t which, bool amct, const char *text, size_t size)
{
    struct qc qc = {0};
    struct qc_doc doc = {0};
    struct qc_file *f;

    qc_diag_init(&qc);
    if (amct)
        qc_use_amct_mode(&qc);
    f = qc_load_text(&qc, "fuzz.cfg", text, size);
    doc.kind = kinds[which].kind;
    doc.file = f;
    if (qc_check_encoding(&qc, f))
        doc.root = qc_parse_text(&qc, f);
    if (doc.root) {
        doc.bound = qc_bind_text(&qc, kinds[which].m, doc.root, QC_UNION);
        qc_check_text(&qc, doc.kind, doc.bound);
    }
    if (!doc.root && !f->errors)
        abort(); /* refused without a word */
    if (doc.root && !f->errors)
        qc_dump_json(qc_out_new(&qc, NULL), &doc);
    qc.diag_format = size % 3 ? QC_DIAG_TEXT : QC_DIAG_JSON;
    qc_flush(&qc);
    qc_free_all(&qc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;
    size_t which;

    if (size == 0)
        return 0;
    which = data[0] % 8;
    /* Exactly as long as it is: one byte too far is seen. */
    text = malloc(size - 1 ? size - 1 : 1);
    memcpy(text, data + 1, size - 1);
    read_as(which % 4, which >= 4, text, size - 1);
    free(text);
    return 0;
}

#ifdef FUZZ_MAIN
#include <time.h>

#define SIZE_MAX_TEXT 4096

static uint64_t state = 88172645463325252u;

static uint32_t pick(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (uint32_t)(state >> 32) % below : 0;
}

/* Pieces that a byte-wise mutation would take long to find. */
static const char *const pieces[] = {"{",
                                     "}",
                                     "<",
                                     ">",
                                     "[",
                                     "]",
                                     ":",
                                     ",",
                                     ";",
                                     "=",
                                     "\"",
                                     "'",
                                     "#",
                                     "\n",
                                     "\r",
                                     "\r\n",
                                     "\t",
                                     "\\",
                                     "\\x",
                                     "\\u4e2d",
                                     "\\377",
                                     "\\0",
                                     "...",
                                     "//",
                                     "/*",
                                     "*/",
                                     "--",
                                     "- ",
                                     "(",
                                     ")",
                                     "-inf",
                                     "nan",
                                     "1e400",
                                     "0x1f",
                                     "010",
                                     "1_000",
                                     "0.7f",
                                     "99999999999999999999",
                                     "\xEF\xBC\x9A",
                                     "\xEF\xBC\x91",
                                     "\xE3\x80\x80",
                                     "\xE2\x80\x9C",
                                     "\xE2\x80\x9D",
                                     "\xEF\xBB\xBF",
                                     "\xFF",
                                     "\xC2\xA0",
                                     "<<<<<<<",
                                     "[a.b]: 1",
                                     "1: 2",
                                     "\"a\": ",
                                     "batch_num: 1\n",
                                     "skip_layers: [\"a\"]",
                                     "common_config { ",
                                     "arq_quantize { channel_wise: true }",
                                     "layer_name: \"x\"",
                                     "key: \"k\" ",
                                     "value { scale_d: 1 }",
                                     "scale_w: [1, 2]",
                                     "dst_type: INT4 ",
                                     "no_such "};

static size_t replace(char *text, size_t size, size_t at, size_t cut,
                      const char *with, size_t len)
{
    if (cut > size - at)
        cut = size - at;
    if (size - cut + len > SIZE_MAX_TEXT)
        return size;
    memmove(text + at + len, text + at + cut, size - at - cut);
    memcpy(text + at, with, len);
    return size - cut + len;
}

static size_t mutate(char *text, size_t size, const char *other, size_t others)
{
    size_t at = pick((uint32_t)size + 1), from, len;
    char c = (char)pick(256);

    switch (pick(6)) {
    case 0:
        return replace(text, size, at, 1, &c, 1);
    case 1:
        return replace(text, size, at, pick(20), "", 0);
    case 2:
        from = pick((uint32_t)others + 1);
        len = pick(60);
        if (len > others - from)
            len = others - from;
        return replace(text, size, at, pick(4), other + from, len);
    default: {
        const char *p = pieces[pick(sizeof(pieces) / sizeof(*pieces))];

        return replace(text, size, at, pick(3), p, strlen(p));
    }
    }
}

struct seed {
    char *text;
    size_t size;
};

static struct seed load(const char *path)
{
    struct seed s = {0};
    FILE *f = fopen(path, "rb");

    s.text = calloc(1, SIZE_MAX_TEXT);
    if (f)
        s.size = fread(s.text, 1, SIZE_MAX_TEXT, f);
    if (f)
        fclose(f);
    return s;
}

int main(int argc, char **argv)
{
    long seconds = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    int count = argc - 2, i, n;
    static char data[SIZE_MAX_TEXT + 1];
    struct seed *seeds;
    unsigned long runs = 0;
    time_t end;

    if (count < 1)
        return 2;
    seeds = calloc((size_t)count, sizeof(*seeds));
    for (i = 0; i < count; i++)
        seeds[i] = load(argv[i + 2]);
    end = time(NULL) + seconds;
    if (!freopen("/dev/null", "w", stderr)) /* sanitizers use the descriptor */
        return 2;
    while (time(NULL) < end) {
        const struct seed *s = &seeds[pick((uint32_t)count)];
        const struct seed *o = &seeds[pick((uint32_t)count)];
        size_t size = s->size;

        memcpy(data + 1, s->text, size);
        for (n = (int)pick(8); n >= 0; n--)
            size = mutate(data + 1, size, o->text, o->size);
        data[0] = (char)pick(8);
        LLVMFuzzerTestOneInput((const uint8_t *)data, size + 1);
        runs++;
    }
    printf("%lu runs\n", runs);
    return 0;
}
#endif
