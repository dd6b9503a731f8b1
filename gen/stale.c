/* A record against the inputs at hand. What it was made from stands in its
 * comments, which emit_record.c and devices write:
 *
 *     #   config  quant.cfg (crc32 89abcdef)
 *     #   model   model.onnx (crc32 01234567)     (quantc layers, too)
 *     record {
 *       ...
 *         # settings crc32 76543210
 *
 * A model of other bytes is another model. A configuration may get other bytes
 * and calibrate as before: by a comment, by skipping a layer, or as the
 * config.json that was made of quant.cfg. So each layer's settings count where
 * a record tells them, and the bytes where it does not. */
#include "origin.h"
#include "resolve.h"

#include "lower.h"

#include <inttypes.h>
#include <string.h>

/* ---- settings ---- */

struct numbers {
    char at[16 * 8]; /* little endian */
    size_t size;
};

static void add(struct numbers *n, uint64_t v)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        n->at[n->size++] = (char)(unsigned char)(v >> 8 * i & 0xFF);
}

static void add_real(struct numbers *n, double v)
{
    uint64_t bits;

    v += 0.0; /* no -0 */
    memcpy(&bits, &v, sizeof(bits));
    add(n, bits);
}

static uint32_t crc_of(const struct qc_plan *p, const struct qc_row *row,
                       bool fused, bool fixed_min)
{
    struct numbers n = {{0}, 0};

    add(&n, (uint64_t)p->batch_num.i);
    add(&n, row->act_algo);
    add(&n, row->asymmetric.i != 0);
    add(&n, fused);
    if (row->act_algo == QC_HFMG)
        add(&n, (uint64_t)row->num_of_bins.i);
    if (row->act_algo == QC_IFMR) {
        add_real(&n, row->search_range_start.f);
        add_real(&n, row->search_range_end.f);
        add_real(&n, row->search_step.f);
        add_real(&n, row->max_percentile.f);
        add_real(&n, row->min_percentile.f);
    }
    if (row->act_algo == QC_ULQ) {
        add(&n, fixed_min);
        if (row->clip_max.set) {
            add_real(&n, row->clip_max.f);
            add_real(&n, row->clip_min.f);
        }
    }
    return qc_crc32((struct qc_str){n.at, n.size});
}

uint32_t qc_settings_crc32(const struct qc_plan *p, const struct qc_row *row)
{
    return crc_of(p, row, row->fuse.set && row->fuse.i, row->fixed_min.i != 0);
}

/* A list of layers need not tell whether a BatchNormalization follows, nor
 * what stands before: then either will do. */
static bool same_settings(const struct qc_resolver *r, const struct qc_row *row,
                          uint32_t crc)
{
    bool fused = row->fuse.set && row->fuse.i;
    bool open = row->fixed_min.level == QC_BY_GRAPH;

    if (r->m->graph_known)
        return crc == qc_settings_crc32(r->plan, row);
    return crc == crc_of(r->plan, row, fused, row->fixed_min.i != 0) ||
           crc == crc_of(r->plan, row, false, row->fixed_min.i != 0) ||
           (open && (crc == crc_of(r->plan, row, fused, true) ||
                     crc == crc_of(r->plan, row, false, true)));
}

/* ---- the lines of a record ---- */

struct line {
    enum line_kind {
        OTHER,
        CONFIG,
        MODEL,
        SETTINGS,
        BROKEN_INPUT,
        BROKEN_SETTINGS
    } kind;
    struct qc_str name; /* CONFIG, MODEL */
    uint32_t crc;
    struct qc_loc loc; /* from # to the last character */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct qc_str trimmed(struct qc_str s)
{
    while (s.len && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Takes a word and the blanks behind it. */
static bool take(struct qc_str *s, const char *word)
{
    size_t n = strlen(word);

    if (s->len <= n || memcmp(s->ptr, word, n) != 0 || !is_blank(s->ptr[n]))
        return false;
    *s = trimmed((struct qc_str){s->ptr + n, s->len - n});
    return true;
}

static bool eight_digits(const char *p, uint32_t *v)
{
    unsigned i;

    for (*v = 0, i = 0; i < 8; i++) {
        static const char digits[] = "0123456789abcdef";
        char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] + 'a' - 'A') : p[i];
        const char *d = c ? strchr(digits, c) : NULL;

        if (!d)
            return false;
        *v = *v << 4 | (uint32_t)(d - digits);
    }
    return true;
}

/* "NAME (crc32 01234567)"; without any "(crc32" it is an ordinary comment. */
static void read_origin(struct line *l, struct qc_str s, enum line_kind kind)
{
    static const char before[] = " (crc32 ";
    size_t n = sizeof(before) - 1, i;

    for (i = 0; i + n - 2 <= s.len; i++)
        if (memcmp(s.ptr + i, before + 1, n - 2) == 0)
            l->kind = BROKEN_INPUT;
    if (s.len < n + 10 || s.ptr[s.len - 1] != ')' ||
        memcmp(qc_end(s) - n - 9, before, n) != 0 ||
        !eight_digits(qc_end(s) - 9, &l->crc))
        return;
    l->kind = kind;
    l->name = trimmed((struct qc_str){s.ptr, s.len - n - 9});
}

static struct line read_comment(const struct qc_file *f, struct qc_str s)
{
    struct line l = {
        OTHER, {"", 0},
         0, { f, 0, 0}
    };

    s = trimmed(s);
    if (!s.len || s.ptr[0] != '#')
        return l;
    l.loc.at = (uint32_t)(s.ptr - f->text);
    l.loc.len = (uint32_t)s.len;
    s = trimmed((struct qc_str){s.ptr + 1, s.len - 1});
    if (take(&s, "config")) {
        read_origin(&l, s, CONFIG);
    } else if (take(&s, "model")) {
        read_origin(&l, s, MODEL);
    } else if (take(&s, "settings") && take(&s, "crc32")) {
        l.kind = s.len == 8 && eight_digits(s.ptr, &l.crc) ? SETTINGS
                                                           : BROKEN_SETTINGS;
    }
    return l;
}

/* The next line below `end` that says anything; false: there is none. */
static bool next_line(const struct qc_file *f, size_t *at, size_t end,
                      struct line *l)
{
    while (*at < end) {
        const char *p = f->text + *at;
        const char *feed = memchr(p, '\n', end - *at);
        size_t len = feed ? (size_t)(feed - p) : end - *at;

        *at += len + 1;
        *l = read_comment(f, (struct qc_str){p, len});
        if (l->kind != OTHER)
            return true;
    }
    return false;
}

void qc_check_origin_lines(struct qc *qc, const struct qc_file *record)
{
    struct qc_diag *d;
    struct line l;
    size_t at = 0;

    while (next_line(record, &at, record->size, &l)) {
        if (l.kind != BROKEN_INPUT && l.kind != BROKEN_SETTINGS)
            continue;
        d = qc_report(qc, QC_SEM_ORIGIN_LINE, l.loc,
                      "this line does not tell what the record was made from: "
                      "it is not compared");
        qc_help(qc, d, "its form is: %s",
                l.kind == BROKEN_SETTINGS
                    ? "# settings crc32 01234567"
                    : "#   model   NAME (crc32 01234567)");
    }
}

struct qc_origin qc_model_origin(const struct qc_model *m)
{
    struct line l;
    size_t at = 0;

    if (m->source == QC_MODEL_ONNX)
        return qc_origin_of(m->file);
    if (m->source == QC_MODEL_LAYERS)
        while (next_line(m->file, &at, m->file->size, &l))
            if (l.kind == MODEL)
                return (struct qc_origin){l.name, l.crc};
    return (struct qc_origin){
        {"", 0},
        0
    };
}

/* ---- comparing ---- */

static void help(struct qc *qc, struct qc_diag *d, const char *what)
{
    qc_help(qc, d,
            "calibrate again, or use the %s that the record was made with; "
            "-W res.stale-record takes it as it is",
            what);
}

static void compare_model(struct qc_resolver *r, const struct line *l)
{
    struct qc_origin now = qc_model_origin(r->m);
    struct qc_diag *d;

    if (!now.name.len || now.crc == l->crc)
        return;
    d = qc_report(r->qc, QC_RES_STALE_RECORD, l->loc,
                  "the record was made from another model: %s (crc32 "
                  "%08" PRIx32 "), now %s (crc32 %08" PRIx32 ")",
                  qc_shown(r->qc, l->name), l->crc, qc_shown(r->qc, now.name),
                  now.crc);
    help(r->qc, d, "model");
}

/* What the entries of a record say about settings. */
struct settings {
    bool any;                   /* one of them says something   */
    struct qc_layers_hit other; /* layers with other settings   */
    const struct qc_row *row;   /* of the first one             */
    struct line line;           /* and what its entry says      */
};

/* Cut short by the first line that is found, which stands before the factors.
 */
static bool settings_of(const struct qc_factors *f, struct line *l)
{
    size_t at = f->node->loc.at;

    while (next_line(f->key_loc.file, &at, f->node->end, l))
        if (l->kind == SETTINGS)
            return true;
    return false;
}

static struct settings compare_settings(const struct qc_resolver *r,
                                        const struct qc_factors *const *of)
{
    struct settings s = {
        false, {NULL,     0, 0  },
         NULL, { OTHER, {"", 0}, 0, {0}}
    };
    size_t i;

    for (i = 0; i < r->plan->count; i++) {
        const struct qc_row *row = &r->plan->rows[i];
        const struct qc_factors *f = of[row->layer - r->m->layers];
        struct line l;

        if (!f || !row->enabled.i || !settings_of(f, &l))
            continue;
        s.any = true;
        if (same_settings(r, row, l.crc))
            continue;
        if (!s.row) {
            s.row = row;
            s.line = l;
        }
        qc_hit(r->qc, &s.other, row->layer);
    }
    return s;
}

static void report_config(struct qc_resolver *r, const struct line *l,
                          const struct settings *s)
{
    struct qc_origin now = qc_origin_of(r->plan->config);
    const char *names =
        s->row ? qc_hit_names(r->qc, r->plan->record, &s->other) : "";
    struct qc_diag *d;

    if (l->kind == CONFIG)
        d = qc_report(r->qc, QC_RES_STALE_RECORD, l->loc,
                      "the record was made with another configuration: %s "
                      "(crc32 %08" PRIx32 "), now %s (crc32 %08" PRIx32 ")%s%s",
                      qc_shown(r->qc, l->name), l->crc,
                      qc_shown(r->qc, now.name), now.crc,
                      s->row ? ", which calibrates otherwise: " : "", names);
    else
        d = qc_report(r->qc, QC_RES_STALE_RECORD, l->loc,
                      "the record was made with other settings than those of "
                      "%s: %s",
                      r->plan->config->name, names);
    if (s->row && s->row->loc.file)
        qc_note(r->qc, d, s->row->loc, "this decides layer %s now",
                qc_quoted(r->qc, s->row->loc.file, s->row->layer->name));
    if (!s->row)
        qc_help(r->qc, d, "it does not tell which settings it was made with");
    help(r->qc, d, "configuration");
}

void qc_compare_origin(struct qc_resolver *r,
                       const struct qc_factors *const *of, bool configured)
{
    const struct qc_file *f = r->plan->record;
    struct line l, config = {
                       OTHER, {"", 0},
                        0, { NULL, 0, 0}
    };
    bool told = false;
    struct settings s;
    size_t at = 0;

    while (f && next_line(f, &at, f->size, &l)) {
        if (l.kind == MODEL)
            compare_model(r, &l);
        if (l.kind != CONFIG)
            continue;
        told = true;
        if (config.kind == OTHER && l.crc != qc_file_crc32(r->plan->config))
            config = l;
    }
    if (!f || !configured || !r->types_known || (told && config.kind == OTHER))
        return;
    s = compare_settings(r, of);
    if (s.row || (told && !s.any))
        report_config(r, told ? &config : &s.line, &s);
}
