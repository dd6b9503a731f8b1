/* What qrt_ops.def says, as a table, type words to types, and what a dialect
 * leaves out. */
#include "model.h"
#include "schema.h"

/* clang-format off */
const struct qc_op qc_ops[QRT_OP_KINDS] = {
#define QRT_OP(id, canonical, pytorch, mindspore, onnx, caffe, tensorflow,     \
               axes, out, in, per_ch, asym, act16, bits67, fuse, balance,      \
               retrain)                                                        \
    {#id, canonical, {pytorch, mindspore, onnx, caffe, tensorflow}, axes, out, \
     in, (per_ch) != 0, (asym) != 0, act16, (bits67) != 0, (fuse) != 0,        \
     balance, (retrain) != 0},
#include "qrt_ops.def"
#undef QRT_OP
};
/* clang-format on */

/* Columns of qc_op.words by dialect; the union looks at all. */
static int column(int dialect)
{
    switch (dialect) {
    case QC_PYTORCH:
        return 0;
    case QC_MINDSPORE:
        return 1;
    case QC_ONNX:
        return 2;
    case QC_CAFFE:
        return 3;
    case QC_TENSORFLOW:
        return 4;
    default:
        return -1;
    }
}

/* Is word one of those in "a|b|c"? */
static bool listed(const char *words, struct qc_str word)
{
    const char *end;

    for (; *words; words = *end ? end + 1 : end) {
        for (end = words; *end && *end != '|';)
            end++;
        if (qc_equal(word, (struct qc_str){words, (size_t)(end - words)}))
            return true;
    }
    return false;
}

/* The retrain reader of the mindspore edition also knows nn.Conv2D. */
static bool is_word(const struct qc_op *op, int col, struct qc_str word)
{
    return listed(op->words[col], word) ||
           (col == 1 && listed(op->words[col], QC_STR("nn.Conv2d")) &&
            qc_equalz(word, "nn.Conv2D"));
}

unsigned qc_types_of_word(struct qc_str word, int dialect)
{
    int only = column(dialect), op, col;
    unsigned types = 0;

    if (word.len == 0)
        return 0;
    for (op = 0; op < QRT_OP_KINDS; op++)
        for (col = 0; col < 5; col++)
            if ((only < 0 || col == only) && is_word(&qc_ops[op], col, word))
                types |= 1u << op;
    return types;
}

/* nn.Conv2d: dilation 1, and one group or as many as channels. */
static const char *not_mindspore(const struct qc_layer *l)
{
    if (l->op != QRT_OP_CONV2D)
        return NULL;
    if (l->dilation[0] > 1 || l->dilation[1] > 1)
        return "nn.Conv2d of mindspore is quantized with dilation 1 only";
    if (l->group > 1 &&
        (l->group != l->in_channels || l->group != l->out_channels))
        return "nn.Conv2d of mindspore is quantized with one group or as many "
               "groups as channels only";
    return NULL;
}

void qc_limit_to_dialect(struct qc *qc, struct qc_model *m, int dialect)
{
    int col = column(dialect);
    size_t i;

    for (i = 0; i < m->count && col >= 0; i++) {
        struct qc_layer *l = &m->layers[i];
        const char *why = NULL;

        if (l->op < 0)
            continue;
        if (!*qc_ops[l->op].words[col])
            why = qc_format(qc, "the dialect has no layer type %s",
                            qc_ops[l->op].canonical)
                      .ptr;
        else if (dialect == QC_MINDSPORE)
            why = not_mindspore(l);
        if (!why)
            continue;
        l->quantizable = false;
        if (!l->why_not)
            l->why_not = why;
    }
}
