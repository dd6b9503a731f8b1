/* Characters of a text file, before anything else looks at it: UTF-8 without
 * byte order mark and NUL, comments included. */
#include "qc.h"

#include <string.h>

#define HIGH_BITS ((uint64_t)0x8080808080808080u)

static struct qc_loc place(struct qc_file *f, const char *p, uint32_t len)
{
    return (struct qc_loc){f, (uint32_t)(p - f->text), len};
}

/* The next byte above 7F, or the end. */
static const char *next_high(const char *p, const char *end)
{
    while ((size_t)(end - p) >= sizeof(uint64_t)) {
        uint64_t eight;

        memcpy(&eight, p, sizeof(eight));
        if (eight & HIGH_BITS)
            break;
        p += sizeof(eight);
    }
    while (p < end && (unsigned char)*p < 0x80)
        p++;
    return p;
}

static bool is_utf16(const struct qc_file *f)
{
    return f->size >= 2 && (memcmp(f->text, "\xFF\xFE", 2) == 0 ||
                            memcmp(f->text, "\xFE\xFF", 2) == 0);
}

static void report_nul(struct qc *qc, struct qc_file *f, const char *nul)
{
    /* UTF-16 without a mark: every other byte of ASCII text is NUL. */
    bool wide = f->size >= 2 && (f->text[0] == '\0') != (f->text[1] == '\0');
    struct qc_diag *d =
        qc_report(qc, QC_LEX_NUL, place(f, nul, 1),
                  wide ? "NUL byte: this looks like UTF-16, not UTF-8"
                       : "NUL byte: this is not a text file");

    /* ir_version, then producer_name: how exporters begin a model. */
    if (f->size > 2 && f->text[0] == 0x08 && f->text[2] == 0x12)
        qc_help(qc, d, "an ONNX model is given with --model");
    if (wide)
        qc_help(qc, d, "save the file as UTF-8");
}

static void report_mark(struct qc *qc, struct qc_file *f, const char *p)
{
    struct qc_diag *d =
        qc_report(qc, QC_LEX_BOM, place(f, p, 3),
                  p == f->text ? "the file begins with a byte order mark"
                               : "byte order mark inside the file");

    qc_help(qc, d, "save the file as UTF-8 without a byte order mark");
    qc_fix(qc, d, place(f, p, 3), QC_STR(""));
}

static void report_byte(struct qc *qc, struct qc_file *f, const char *p)
{
    struct qc_diag *d =
        qc_report(qc, QC_LEX_BAD_UTF8, place(f, p, 1),
                  "this byte (0x%02X) is not valid UTF-8", (unsigned char)*p);

    qc_help(qc, d,
            "save the file as UTF-8 (it may be in GBK or another encoding)");
}

/* Reports marks, and one malformed sequence for each line. */
static void check_sequences(struct qc *qc, struct qc_file *f)
{
    const char *p = f->text, *end = p + f->size;

    while ((p = next_high(p, end)) < end) {
        uint32_t code;
        unsigned len = qc_utf8(p, end, &code);

        if (len) {
            if (code == 0xFEFF)
                report_mark(qc, f, p);
            p += len;
            continue;
        }
        report_byte(qc, f, p);
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return;
    }
}

bool qc_check_encoding(struct qc *qc, struct qc_file *f)
{
    const char *nul;

    if (f->fatal)
        return false;
    if (is_utf16(f)) {
        qc_help(qc,
                qc_report(qc, QC_LEX_UTF16, place(f, f->text, 2),
                          "the file is UTF-16; it must be UTF-8"),
                "save the file as UTF-8 without a byte order mark");
        return false;
    }
    nul = f->size ? memchr(f->text, '\0', f->size) : NULL;
    if (nul) {
        report_nul(qc, f, nul);
        return false;
    }
    check_sequences(qc, f);
    return true;
}
