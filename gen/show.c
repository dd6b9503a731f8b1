/* quantc show: an image, through the runtime's own reader, or tables as text.
 * What is equal in both has the same lines. */
#define _POSIX_C_SOURCE 200809L
#include "show.h"

#include "emit.h"

#include "qrt_image.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double real(struct qrt_real r)
{
    uint32_t bits = qrt_real_to_f32(r);
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

static double double_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static double ratio(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

static void show_recipe(struct qc_out *o, const struct qrt_layer *l,
                        bool is_plan)
{
    static const char *const algos[] = {"arq_quantize", "arq_retrain",
                                        "ulq_retrain"};
    static const char *const rules[] = {"fixed", "amct", "module", "cann",
                                        "fixed_module"};
    static const char *const exactness[] = {"bitexact", "bounded", "any"};

    qc_printf(o, "  weights      %s, %u bits, %s\n", algos[l->arq->algo],
              l->arq->bits, l->arq->per_channel ? "per channel" : "one scale");
    qc_printf(o, "  activations  %u bits, %s\n", l->act_bits,
              l->act_asymmetric ? "with zero point" : "symmetric");
    if (l->rule || l->exactness)
        qc_printf(o, "  arithmetic   %s, %s\n", rules[l->rule],
                  exactness[l->exactness]);
    if (l->ifmr)
        qc_printf(
            o,
            "  ifmr         %" PRIu32 " limits from %.9g to %.9g, "
            "percentiles %.9g %.9g\n",
            l->ifmr->ratio_count, ratio(l->ifmr->ratios[0]),
            ratio(l->ifmr->ratios[is_plan ? 1 : l->ifmr->ratio_count - 1]),
            double_of(l->ifmr->max_percentile),
            double_of(l->ifmr->min_percentile));
    if (l->hfmg)
        qc_printf(o, "  hfmg         %" PRIu32 " bins\n", l->hfmg->bins);
    if (!l->ulq)
        return;
    qc_printf(o, "  ulq          %s", l->ulq->fixed_min ? "fixed_min" : "free");
    if (l->ulq->has_clip)
        qc_printf(o, ", clip %.9g to %.9g", real(l->ulq->clip_min),
                  real(l->ulq->clip_max));
    qc_puts(o, "\n");
}

/* ---- factors and edges ---- */

/* Multipliers of 31 bits, which are no binary32. */
static void show_reals(struct qc_out *o, const char *key,
                       const struct qrt_real *r, uint32_t n)
{
    uint32_t i;

    qc_printf(o, "  %-12s", key);
    for (i = 0; i < n; i++)
        qc_printf(o, " %.11g", ldexp((double)r[i].m, (int)r[i].e - 31));
    qc_puts(o, "\n");
}

static void show_words(struct qc_out *o, const char *key, const uint64_t *w,
                       uint32_t n)
{
    uint32_t i;

    if (!w)
        return;
    qc_printf(o, "  %-12s", key);
    for (i = 0; i < n; i++)
        qc_printf(o, " %016" PRIX64, w[i]);
    qc_puts(o, "\n");
}

static void show_factors(struct qc_out *o, const struct qrt_factors *f)
{
    uint32_t c;

    qc_printf(o, "  scale_d      %.9g\n  offset_d     %" PRId32 "\n",
              real(f->scale_d), f->offset_d);
    qc_printf(o, "  scale_w     ");
    for (c = 0; c < f->scale_count; c++)
        qc_printf(o, " %.9g", real(f->scale_w[c]));
    qc_puts(o, "\n");
    show_reals(o, "dequant", f->dequant, f->scale_count);
}

static const char *name_at(struct qc_out *o, const struct qrt_tables *t,
                           uint32_t index)
{
    return qc_shown(o->qc, qc_str(t->layers[index].name));
}

static void show_codes(struct qc_out *o, int32_t low, int32_t high,
                       int32_t zero)
{
    qc_printf(o, "codes %" PRId32 " to %" PRId32 ", zero point %" PRId32, low,
              high, zero);
}

static void show_edge(struct qc_out *o, const struct qrt_tables *t,
                      const struct qrt_layer *l)
{
    const struct qrt_edge *e = l->edge;

    qc_puts(o, "  edge         ");
    show_codes(o, e->code_min, e->code_max, e->zero_point);
    qc_printf(o, ", then %s\n", name_at(o, t, e->next));
    show_reals(o, "requant", e->requant, l->factors->scale_count);
}

/* ---- joins ---- */

static bool same_edge(const struct qrt_edge *a, const struct qrt_edge *b,
                      uint32_t count)
{
    return b && a->zero_point == b->zero_point && a->code_min == b->code_min &&
           a->code_max == b->code_max &&
           memcmp(a->requant, b->requant, count * sizeof(*a->requant)) == 0;
}

static void show_term_name(struct qc_out *o, const struct qrt_tables *t,
                           const struct qrt_term *term)
{
    qc_printf(o, "%s of %s", term->is_code ? "input" : "accumulator",
              name_at(o, t, term->layer));
}

/* An edge that is not the earlier layer's own is shown here. */
static void show_join_edge(struct qc_out *o, const struct qrt_tables *t,
                           const struct qrt_join *j)
{
    const struct qrt_layer *from = &t->layers[j->terms->layer];
    uint32_t count = from->factors->scale_count;

    if (same_edge(j->edge, from->edge, count)) {
        qc_puts(o, ", by its edge\n");
        return;
    }
    qc_puts(o, ", ");
    show_codes(o, j->edge->code_min, j->edge->code_max, j->edge->zero_point);
    qc_puts(o, "\n");
    show_reals(o, "requant_in", j->edge->requant, count);
}

/* ", at least 0", ", at most 5": limits that are none are left out. */
static void show_limits(struct qc_out *o, int32_t low, int32_t high)
{
    if (low != INT32_MIN)
        qc_printf(o, ", at least %" PRId32, low);
    if (high != INT32_MAX)
        qc_printf(o, ", at most %" PRId32, high);
}

static void show_sum(struct qc_out *o, const struct qrt_join *j)
{
    uint32_t i;

    qc_printf(o, "  sum          Q%u", (unsigned)j->frac);
    if (j->mean)
        show_limits(o, j->low, j->high);
    qc_puts(o, ", ");
    show_codes(o, j->code_min, j->code_max, j->zero_point);
    qc_puts(o, "\n");
    for (i = 0; i < j->term_count; i++) {
        const struct qrt_term *t = &j->terms[i];

        qc_printf(o, "  term_%-7" PRIu32 " zero point %" PRId32, i,
                  t->zero_point);
        show_limits(o, t->low, t->high);
        qc_puts(o, "\n");
        show_reals(o, qc_format(o->qc, "scale_%" PRIu32, i).ptr, t->scale,
                   t->scale_count);
    }
    if (!j->table)
        return;
    qc_puts(o, "  table       ");
    for (i = 0; i < 256; i++)
        qc_printf(o, " %d", j->table[i]);
    qc_puts(o, "\n");
}

static void show_join(struct qc_out *o, const struct qrt_tables *t,
                      const struct qrt_join *j)
{
    uint32_t i;

    qc_puts(o, "  input        ");
    if (!j) {
        qc_puts(o, "quantized from real numbers\n");
        return;
    }
    if (j->kind == QRT_JOIN_SAME) {
        qc_printf(o, "the codes that %s reads\n",
                  name_at(o, t, j->terms->layer));
        return;
    }
    if (j->table)
        qc_puts(o, "a table of ");
    if (j->mean)
        qc_puts(o, "the mean of ");
    for (i = 0; i < j->term_count; i++) {
        if (i)
            qc_puts(o, j->kind == QRT_JOIN_CONCAT ? ", then " : " + ");
        show_term_name(o, t, &j->terms[i]);
    }
    if (j->kind == QRT_JOIN_EDGE) {
        show_join_edge(o, t, j);
        return;
    }
    qc_puts(o, "\n");
    show_sum(o, j);
}

/* ---- the whole ---- */

static void show_weights(struct qc_out *o, const struct qc_shown_weights *w)
{
    if (!w->bytes)
        return;
    qc_printf(o,
              "  codes        %" PRIu32 " bytes%s, order of %s, crc32 "
              "%08" PRIx32 "\n  bias         %" PRIu32 " channels, crc32 "
              "%08" PRIx32 "\n",
              w->bytes, w->pairs ? " of two" : "",
              w->cmsis ? "CMSIS-NN" : "the model", w->codes_crc, w->channels,
              w->bias_crc);
}

static void show_layer(struct qc_out *o, const struct qc_shown_plan *p,
                       const struct qrt_layer *l)
{
    const struct qrt_tables *t = &p->tables;
    const struct qrt_factors *f = l->factors;

    qc_printf(o, "\n%s\n", qc_shown(o->qc, qc_str(l->name)));
    qc_printf(o, "  type         %s",
              l->op == QRT_OP_UNKNOWN ? "unknown" : qc_ops[l->op].canonical);
    if (l->out_channels)
        qc_printf(o, ", %" PRIu32 " channels", l->out_channels);
    qc_puts(o, l->enabled ? "\n" : ", skipped\n");
    if (!l->enabled)
        return;
    show_recipe(o, l, p->is_plan);
    if (!f)
        return;
    show_factors(o, f);
    if (!p->no_words) {
        show_words(o, "word_dequant", f->word_dequant, f->scale_count);
        show_words(o, "word_fixpipe", f->word_fixpipe, f->scale_count);
    }
    if (l->edge)
        show_edge(o, t, l);
    show_join(o, t, l->join);
}

void qc_show(struct qc_out *o, const struct qc_shown_plan *p)
{
    const struct qrt_tables *t = &p->tables;
    uint32_t i;

    qc_printf(o,
              "%.*s, hash %016" PRIx64 "\n%" PRIu32
              " layers\n\ninputs\n  batch_num    %" PRIu32 "\n",
              QC_ARG(p->title), t->hash, t->layer_count, t->batch_num);
    for (i = 0; i < 4; i++)
        if (p->crc[i])
            qc_printf(o, "  %-12s crc32 %08" PRIx32 "\n",
                      qc_input_word((enum qc_input)i), p->crc[i]);
    for (i = 0; i < t->layer_count; i++) {
        show_layer(o, p, &t->layers[i]);
        if (p->weights)
            show_weights(o, &p->weights[i]);
    }
}

/* ---- images ---- */

static const char *problem(enum qrt_status status)
{
    return status == QRT_ERR_VERSION
               ? "it is no image, or one of another version, and no "
                 "quant_tables.c"
           : status == QRT_ERR_SIZE ? "it is shorter than it says"
           : status == QRT_ERR_HASH ? "its CRC does not fit: it is damaged"
                                    : "its content is not sound";
}

static uint32_t crc_of_words(struct qc *qc, const int32_t *v, uint32_t n)
{
    char *bytes = qc_alloc(qc, (size_t)n * 4 + 1);
    uint32_t i;

    for (i = 0; i < 4 * n; i++)
        bytes[i] = (char)((uint32_t)v[i / 4] >> 8 * (i % 4) & 0xFF);
    return qc_crc32((struct qc_str){bytes, (size_t)n * 4});
}

static const struct qc_shown_weights *weights_of(struct qc *qc,
                                                 const struct qrt_image *im)
{
    struct qc_shown_weights *all = qc_alloc(qc, im->layer_count * sizeof(*all));
    uint32_t i;

    for (i = 0; i < im->layer_count; i++) {
        size_t room = qrt_image_weights_scratch(im, i);
        struct qrt_image_weights w;
        struct qc_shown_weights *s = &all[i];

        if (qrt_image_weights(im, i, qc_alloc(qc, room + 8), room, &w) !=
            QRT_OK)
            continue;
        s->bytes = w.bytes;
        s->channels = w.channels;
        s->pairs = w.pairs != NULL;
        s->cmsis = w.layout == QRT_IMAGE_CMSIS;
        s->codes_crc = qc_crc32((struct qc_str){
            w.pairs ? (const char *)w.pairs : (const char *)w.codes, w.bytes});
        s->bias_crc = crc_of_words(qc, w.bias, w.channels);
    }
    return all;
}

static bool load_image(struct qc *qc, const char *path,
                       struct qc_shown_plan *out)
{
    struct qc_file *f = qc_load(qc, path, QC_MAX_FILE);
    struct qrt_image im;
    enum qrt_status status;
    uint64_t *copy;
    size_t room;

    if (!f || f->fatal)
        return false;
    f->binary = true;
    copy = qc_alloc(qc, f->size + 8);
    if (f->size)
        memcpy(copy, f->text, f->size);
    status = qrt_image_open(copy, f->size, &im);
    if (status != QRT_OK) {
        qc_report(qc, QC_IMAGE_DAMAGED, (struct qc_loc){f, 0, 0},
                  "this image cannot be used: %s", problem(status));
        return false;
    }
    out->title =
        qc_format(qc, "quantc image, %" PRIu32 " bytes, quantc %u.%u.%u",
                  im.size, (unsigned)(im.tool >> 16),
                  (unsigned)(im.tool >> 8 & 255), (unsigned)(im.tool & 255));
    out->crc[QC_INPUT_CONFIG] = im.config_crc32;
    out->crc[QC_INPUT_MODEL] = im.model_crc32;
    out->crc[QC_INPUT_RECORD] = im.record_crc32;
    out->crc[QC_INPUT_OPTIONS] = im.options_crc32;
    out->weights = weights_of(qc, &im);
    room = qrt_image_tables_scratch(&im);
    return qrt_image_tables(&im, qc_alloc(qc, room + 8), room, &out->tables) ==
           QRT_OK;
}

/* ---- what a file is ---- */

static enum qc_shown_kind kind_of(int fd)
{
    char head[256] = {0};
    const char *at;
    struct stat s;

    if (fstat(fd, &s) != 0)
        return QC_SHOWN_NONE;
    if (S_ISDIR(s.st_mode))
        return QC_SHOWN_FOLDER;
    if (!S_ISREG(s.st_mode) || read(fd, head, sizeof(head) - 1) < 4)
        return QC_SHOWN_NONE;
    if (memcmp(head, "QRTI", 4) == 0)
        return QC_SHOWN_IMAGE;
    if (memcmp(head, "/* ", 3) == 0 && strstr(head, "_tables."))
        return QC_SHOWN_TABLES;
    at = head + strspn(head, " \n\t\r{");
    return strncmp(at, "\"generator\"", 11) == 0 ? QC_SHOWN_PLAN
                                                 : QC_SHOWN_NONE;
}

enum qc_shown_kind qc_shown_kind(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum qc_shown_kind kind;

    if (fd < 0)
        return QC_SHOWN_NOWHERE;
    kind = kind_of(fd);
    close(fd);
    return kind;
}

bool qc_load_shown(struct qc *qc, const char *path, struct qc_shown_plan *out)
{
    enum qc_shown_kind kind = qc_shown_kind(path);
    bool ok;

    memset(out, 0, sizeof(*out));
    if (kind == QC_SHOWN_TABLES || kind == QC_SHOWN_FOLDER)
        ok = qc_load_tables(qc, path, kind == QC_SHOWN_FOLDER, out);
    else if (kind == QC_SHOWN_PLAN)
        ok = qc_load_plan(qc, path, out);
    else
        ok = load_image(qc, path, out);
    return ok && !qc_error_count(qc);
}
