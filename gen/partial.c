/* State files (.qobs): what one shard has seen, for merge.c.
 *
 *   magic       8   "QOBS\r\n\x1a\n": a transfer as text damages it visibly
 *   version     u32
 *   checksum    u32  crc32 of all that follows
 *   length      u64  bytes that follow
 *   config      name (u32 length, bytes), crc32 u32; model likewise
 *   batch_num   u32, exact_loss u32, round u32, layers u32
 *   per layer   name (u32 length, bytes), the fields of struct qc_search,
 *               scale_w (u32 count, u32 each), batches u64, stage u32, then
 *               by stage nothing, a saved search (u32 length, bytes), or the
 *               fields of struct qc_found
 *
 * Little endian on any host; the same shard has the same bytes anywhere. */
#include "calibrate.h"

#include "lower.h"

#include <math.h>
#include <string.h>

#define VERSION    2u
#define HEAD       24u        /* bytes up to and with length */
#define FILE_MAX   (1u << 30) /* bytes of a state file       */
#define LAYERS_MAX 65535u

static const char magic[] = "QOBS\r\n\x1a\n";

enum type { U32, U64, F64 };

struct field {
    const char *name; /* as in quant.cfg, for messages */
    enum type type;
    size_t at;
};

#define S(member) offsetof(struct qc_search, member)
#define F(member) offsetof(struct qc_found, member)

static const struct field search_fields[] = {
    {"act_algo",           U32, S(algo)          },
    {"dst_type",           U32, S(act_bits)      },
    {"wts_type",           U32, S(wts_bits)      },
    {"asymmetric",         U32, S(asymmetric)    },
    {"channel_wise",       U32, S(channel_wise)  },
    {"skip_fusion_layers", U32, S(skip_fusion)   },
    {"fixed_min",          U32, S(fixed_min)     },
    {"search_range_start", F64, S(range_start)   },
    {"search_range_end",   F64, S(range_end)     },
    {"search_step",        F64, S(step)          },
    {"max_percentile",     F64, S(max_percentile)},
    {"min_percentile",     F64, S(min_percentile)},
    {"num_of_bins",        U32, S(bins)          },
    {"weights",            U32, S(weights)       },
    {"settings",           U32, S(settings)      },
};

static const struct field found_fields[] = {
    {"samples",    U64, F(samples)      },
    {"scale",      U32, F(scale_bits)   },
    {"offset",     U32, F(offset)       },
    {"clip_max",   U32, F(clip_max_bits)},
    {"clip_min",   U32, F(clip_min_bits)},
    {"max",        U32, F(max_bits)     },
    {"min",        U32, F(min_bits)     },
    {"data_max",   U32, F(data_max_bits)},
    {"data_min",   U32, F(data_min_bits)},
    {"rank_max",   U64, F(rank_max)     },
    {"rank_min",   U64, F(rank_min)     },
    {"index",      U32, F(index)        },
    {"candidates", U32, F(candidates)   },
    {"ratio",      U32, F(ratio_bits)   },
    {"left",       U32, F(left)         },
    {"right",      U32, F(right)        },
    {"degenerate", U32, F(degenerate)   },
    {"loss",       F64, F(loss)         },
    {"loss_error", F64, F(loss_error)   },
    {"gap",        F64, F(gap)          },
    {"clipped",    F64, F(clipped)      },
};

#define SEARCH_FIELDS (sizeof(search_fields) / sizeof(*search_fields))
#define FOUND_FIELDS  (sizeof(found_fields) / sizeof(*found_fields))

static unsigned size_of(enum type t)
{
    return t == U32 ? 4 : 8;
}

/* A member as a number of its width. */
static uint64_t value_of(const void *object, const struct field *f)
{
    const char *p = (const char *)object + f->at;
    uint32_t small;
    uint64_t v;

    if (f->type == U32) {
        memcpy(&small, p, sizeof(small));
        return small;
    }
    memcpy(&v, p, sizeof(v));
    return v;
}

static void set_value(void *object, const struct field *f, uint64_t v)
{
    char *p = (char *)object + f->at;
    uint32_t small = (uint32_t)v;

    if (f->type == U32)
        memcpy(p, &small, sizeof(small));
    else
        memcpy(p, &v, sizeof(v));
}

/* ---- writing ---- */

static void put(struct qc_out *o, uint64_t v, unsigned bytes)
{
    char out[8];
    unsigned i;

    for (i = 0; i < bytes; i++)
        out[i] = (char)(unsigned char)(v >> 8 * i & 0xFF);
    qc_put(o, out, bytes);
}

static void put_text(struct qc_out *o, struct qc_str s)
{
    put(o, s.len, 4);
    qc_put(o, s.ptr, s.len);
}

static void put_fields(struct qc_out *o, const void *object,
                       const struct field *f, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        put(o, value_of(object, &f[i]), size_of(f[i].type));
}

static void put_layer(struct qc_out *o, const struct qc_calib_layer *l)
{
    const struct qc_search *s = &l->search;
    uint32_t i;

    put_text(o, s->name);
    put_fields(o, s, search_fields, SEARCH_FIELDS);
    put(o, s->count_w, 4);
    for (i = 0; i < s->count_w; i++)
        put(o, s->scale_w[i], 4);
    put(o, l->batches, 8);
    put(o, (uint64_t)l->stage, 4);
    if (l->stage == QC_WAITING)
        put_text(o, l->state);
    if (l->stage == QC_FOUND)
        put_fields(o, &l->found, found_fields, FOUND_FIELDS);
}

void qc_put_partial(struct qc_out *o, const struct qc_calib *c)
{
    struct qc_out *body = qc_out_new(o->qc, NULL);
    size_t i;

    put_text(body, c->config.name);
    put(body, c->config.crc, 4);
    put_text(body, c->model.name);
    put(body, c->model.crc, 4);
    put(body, c->batch_num, 4);
    put(body, c->exact_loss, 4);
    put(body, c->round, 4);
    put(body, c->count, 4);
    for (i = 0; i < c->count; i++)
        put_layer(body, &c->layers[i]);
    qc_put(o, magic, 8);
    put(o, VERSION, 4);
    put(o, qc_crc32((struct qc_str){body->text, body->size}), 4);
    put(o, body->size, 8);
    qc_put(o, body->text, body->size);
}

/* ---- reading ---- */

struct reader {
    struct qc *qc;
    struct qc_file *file;
    size_t at;
    const char *why; /* the first fault */
};

static uint64_t get(struct reader *r, unsigned bytes)
{
    uint64_t v = 0;
    unsigned i;

    if (r->file->size - r->at < bytes) {
        r->why = r->why ? r->why : "it ends too early";
        r->at = r->file->size;
        return 0;
    }
    for (i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)r->file->text[r->at++] << 8 * i;
    return v;
}

static uint32_t get32(struct reader *r)
{
    return (uint32_t)get(r, 4);
}

static struct qc_str get_text(struct reader *r)
{
    size_t len = get32(r);
    struct qc_str s = {r->file->text + r->at, len};

    if (len > r->file->size - r->at) {
        r->why = r->why ? r->why : "it ends too early";
        len = s.len = 0;
    }
    r->at += len;
    return s;
}

static void get_fields(struct reader *r, void *object, const struct field *f,
                       size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        set_value(object, &f[i], get(r, size_of(f[i].type)));
}

static void require(struct reader *r, bool condition)
{
    if (!condition && !r->why)
        r->why = "it contradicts itself";
}

static bool is_flag(uint32_t v)
{
    return v <= 1;
}

static void check_search(struct reader *r, const struct qc_search *s)
{
    require(r, s->name.len > 0 && s->algo <= QC_ULQ);
    require(r, s->act_bits >= 2 && s->act_bits <= 16);
    require(r, s->wts_bits >= 2 && s->wts_bits <= 16);
    require(r, is_flag(s->asymmetric) && is_flag(s->channel_wise));
    require(r, is_flag(s->skip_fusion) && is_flag(s->fixed_min));
    require(r, is_flag(s->weights) && s->algo != QC_HFMG);
    require(r, qc_calib_ratio_count(s) > 0);
}

static void get_scales(struct reader *r, struct qc_search *s)
{
    uint32_t i;

    s->count_w = get32(r);
    require(r, s->count_w > 0 && s->count_w <= (r->file->size - r->at) / 4);
    if (r->why)
        return;
    s->scale_w = qc_alloc(r->qc, s->count_w * sizeof(*s->scale_w));
    for (i = 0; i < s->count_w; i++) {
        s->scale_w[i] = get32(r);
        require(r, s->scale_w[i] > 0 && s->scale_w[i] < 0x7F800000u);
    }
}

static void check_found(struct reader *r, const struct qc_found *f)
{
    require(r, f->scale_bits > 0 && f->scale_bits < 0x7F800000u);
    require(r, f->offset >= -32768 && f->offset <= 32767);
    require(r, is_flag(f->degenerate) && f->candidates <= 65535);
    require(r, isfinite(f->loss) && isfinite(f->loss_error));
    require(r, isfinite(f->gap) && isfinite(f->clipped));
}

static void get_layer(struct reader *r, struct qc_calib_layer *l)
{
    uint32_t stage;

    l->search.name = get_text(r);
    get_fields(r, &l->search, search_fields, SEARCH_FIELDS);
    get_scales(r, &l->search);
    l->batches = get(r, 8);
    stage = get32(r);
    require(r, stage <= QC_FOUND);
    if (r->why)
        return;
    l->stage = (enum qc_stage)stage;
    if (l->stage == QC_WAITING)
        l->state = get_text(r);
    if (l->stage == QC_FOUND) {
        get_fields(r, &l->found, found_fields, FOUND_FIELDS);
        check_found(r, &l->found);
    }
    check_search(r, &l->search);
}

static const char *check_head(struct reader *r)
{
    const struct qc_file *f = r->file;
    uint32_t version, crc;
    uint64_t length;

    if (f->size < 8 || memcmp(f->text, magic, 8) != 0)
        return "it is no state of a calibration";
    r->at = 8;
    version = get32(r);
    crc = get32(r);
    length = get(r, 8);
    if (!r->why && version != VERSION)
        return qc_format(r->qc,
                         "its form is version %u, this quantc reads version "
                         "%u: make it again",
                         (unsigned)version, VERSION)
            .ptr;
    if (r->why || length > f->size - HEAD)
        return "it ends too early";
    if (length < f->size - HEAD)
        return "something stands behind its end";
    if (crc != qc_crc32((struct qc_str){f->text + HEAD, f->size - HEAD}))
        return "its checksum does not fit: it was damaged";
    return NULL;
}

static void get_calib(struct reader *r, struct qc_calib *c)
{
    size_t i;

    c->config.name = get_text(r);
    c->config.crc = get32(r);
    c->model.name = get_text(r);
    c->model.crc = get32(r);
    c->batch_num = get32(r);
    c->exact_loss = get32(r);
    c->round = get32(r);
    c->count = get32(r);
    require(r, is_flag(c->exact_loss) && c->count <= LAYERS_MAX);
    if (r->why)
        return;
    c->layers = qc_alloc(r->qc, (c->count + 1) * sizeof(*c->layers));
    for (i = 0; !r->why && i < c->count; i++)
        get_layer(r, &c->layers[i]);
    require(r, r->at == r->file->size);
}

struct qc_calib *qc_parse_partial(struct qc *qc, struct qc_file *file)
{
    struct qc_calib *c = qc_alloc(qc, sizeof(*c));
    struct reader r = {0};

    r.qc = c->qc = qc;
    r.file = file;
    file->binary = true;
    r.why = check_head(&r);
    if (!r.why)
        get_calib(&r, c);
    if (!r.why)
        return c;
    qc_report(qc, QC_SHARD_DAMAGED, (struct qc_loc){file, 0, 0},
              "cannot use this file: %s", r.why);
    return NULL;
}

struct qc_calib *qc_read_partial(struct qc *qc, const char *path,
                                 struct qc_file **file)
{
    *file = qc_load(qc, path, FILE_MAX);
    return *file ? qc_parse_partial(qc, *file) : NULL;
}

/* ---- comparing ---- */

static const char *shown(struct qc *qc, const struct field *f, uint64_t v)
{
    double d;

    if (f->type != F64)
        return qc_format(qc, "%llu", (unsigned long long)v).ptr;
    memcpy(&d, &v, sizeof(d));
    return qc_format(qc, "%.9g", d).ptr;
}

/* Two calibrations, and what they are called. */
struct pair {
    struct qc *qc;
    const struct qc_calib *a, *b;
    const char *a_name, *b_name;
    struct qc_loc at;
};

static bool same_origin(const struct qc_origin *x, const struct qc_origin *y)
{
    return x->crc == y->crc && !x->name.len == !y->name.len;
}

static const char *shown_origin(struct qc *qc, const struct qc_origin *origin)
{
    if (!origin->name.len)
        return "not given";
    return qc_format(qc, "%s (crc32 %08lx)", qc_shown(qc, origin->name),
                     (unsigned long)origin->crc)
        .ptr;
}

static const char *moved(const struct pair *p, enum qc_input input,
                         const struct qc_origin *x, const struct qc_origin *y)
{
    return qc_format(p->qc, "the %s is %s in %s and %s in %s",
                     qc_input_word(input), shown_origin(p->qc, x), p->a_name,
                     shown_origin(p->qc, y), p->b_name)
        .ptr;
}

/* Under what differs: which of the inputs do. */
static bool differ(const struct pair *p, struct qc_diag *d)
{
    if (!same_origin(&p->a->config, &p->b->config))
        qc_help(p->qc, d, "%s",
                moved(p, QC_INPUT_CONFIG, &p->a->config, &p->b->config));
    if (!same_origin(&p->a->model, &p->b->model))
        qc_help(p->qc, d, "%s",
                moved(p, QC_INPUT_MODEL, &p->a->model, &p->b->model));
    return false;
}

static bool same_search(const struct pair *p, const struct qc_search *a,
                        const struct qc_search *b)
{
    struct qc *qc = p->qc;
    uint32_t i;

    for (i = 0; i + 1 < SEARCH_FIELDS; i++) {
        const struct field *f = &search_fields[i];
        uint64_t x = value_of(a, f), y = value_of(b, f);

        if (x != y)
            return differ(p, qc_report(qc, QC_SHARD_DIFFERS, p->at,
                                       "'%s' of layer '%s' is %s in %s and "
                                       "%s in %s",
                                       f->name, qc_shown(qc, a->name),
                                       shown(qc, f, x), p->a_name,
                                       shown(qc, f, y), p->b_name));
    }
    for (i = 0; i < a->count_w && i < b->count_w; i++)
        if (a->scale_w[i] != b->scale_w[i])
            break;
    if (i != a->count_w || i != b->count_w)
        return differ(p,
                      qc_report(qc, QC_SHARD_DIFFERS, p->at,
                                "'scale_w' of layer '%s' differs between "
                                "%s and %s",
                                qc_shown(qc, a->name), p->a_name, p->b_name));
    if (a->settings != b->settings)
        return differ(p,
                      qc_report(qc, QC_SHARD_DIFFERS, p->at,
                                "the clips or the fusion of layer '%s' "
                                "differ between %s and %s",
                                qc_shown(qc, a->name), p->a_name, p->b_name));
    return true;
}

static bool same_layers(const struct pair *p)
{
    const struct qc_calib *a = p->a, *b = p->b;
    size_t i;

    for (i = 0; i < a->count && i < b->count; i++) {
        const struct qc_search *x = &a->layers[i].search;
        const struct qc_search *y = &b->layers[i].search;

        if (!qc_equal(x->name, y->name))
            break;
        if (!same_search(p, x, y))
            return false;
    }
    if (i == a->count && i == b->count)
        return true;
    return differ(
        p,
        qc_report(
            p->qc, QC_SHARD_DIFFERS, p->at,
            "layer %zu is '%s' in %s and '%s' in %s", i + 1,
            i < a->count ? qc_shown(p->qc, a->layers[i].search.name) : "none",
            p->a_name,
            i < b->count ? qc_shown(p->qc, b->layers[i].search.name) : "none",
            p->b_name));
}

static bool same_number(const struct pair *p, const char *what, uint32_t x,
                        uint32_t y)
{
    return x == y || differ(p, qc_report(p->qc, QC_SHARD_DIFFERS, p->at,
                                         "%s is %lu in %s and %lu in %s", what,
                                         (unsigned long)x, p->a_name,
                                         (unsigned long)y, p->b_name));
}

/* The record has to name one configuration and one model, so theirs have to be
 * the same even where no setting differs. */
static bool same_input(const struct pair *p, enum qc_input input,
                       const struct qc_origin *x, const struct qc_origin *y)
{
    if (same_origin(x, y))
        return true;
    qc_report(p->qc, QC_SHARD_DIFFERS, p->at, "%s", moved(p, input, x, y));
    return false;
}

bool qc_same_calibration(const struct qc_calib *a, const char *a_name,
                         const struct qc_calib *b, const char *b_name,
                         struct qc_loc at)
{
    struct pair p = {a->qc, a, b, a_name, b_name, at};

    return same_number(&p, "'batch_num'", a->batch_num, b->batch_num) &&
           same_number(&p, "--exact-loss", a->exact_loss, b->exact_loss) &&
           same_layers(&p) &&
           same_input(&p, QC_INPUT_CONFIG, &a->config, &b->config) &&
           same_input(&p, QC_INPUT_MODEL, &a->model, &b->model);
}

bool qc_same_found(const struct qc_found *a, const struct qc_found *b)
{
    size_t i;

    for (i = 0; i < FOUND_FIELDS; i++)
        if (value_of(a, &found_fields[i]) != value_of(b, &found_fields[i]))
            return false;
    return true;
}
