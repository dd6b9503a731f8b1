/* Any input file: which kind it is, then characters, grammar, names, values. */
#include "bind.h"
#include "json.h"
#include "origin.h"
#include "parse.h"
#include "schema_tables.h"

#include <string.h>

#define LOOK_MAX 200 /* fields that are looked at to tell the kind */

static const struct {
    const char *word;
    enum qc_kind kind;
    const struct qc_message *m; /* null: not in text format */
} kinds[] = {
    {"calib",        QC_KIND_CALIB,        &qc_AMCTConfig       },
    {"retrain",      QC_KIND_RETRAIN,      &qc_AMCTRetrainConfig},
    {"record",       QC_KIND_RECORD,       &qc_ScaleOffsetRecord},
    {"layers",       QC_KIND_LAYERS,       &qc_ModelLayers      },
    {"options",      QC_KIND_OPTIONS,      &qc_QuantcOptions    },
    {"json-calib",   QC_KIND_JSON_CALIB,   NULL                 },
    {"json-retrain", QC_KIND_JSON_RETRAIN, NULL                 },
    {"json-syntax",  QC_KIND_JSON_SYNTAX,  NULL                 },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

enum qc_kind qc_kind_of_word(const char *word)
{
    size_t i;

    for (i = 0; word && i < KINDS; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return kinds[i].kind;
    return QC_KIND_AUTO;
}

static const struct qc_message *message_of(enum qc_kind kind)
{
    size_t i;

    for (i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind)
            return kinds[i].m;
    return NULL;
}

/* ---- which kind ---- */

/* Text format has no bracket in front; before one there may be what JSON does
 * not allow. */
static bool begins_like_json(const struct qc_file *f)
{
    const char *p = f->text, *end = p + f->size;

    if (f->size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (p < end && ((*p && strchr(" \t\r\n#", *p)) ||
                       (end - p > 1 && memcmp(p, "//", 2) == 0))) {
        if (*p == '#' || *p == '/')
            p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return false;
        p++;
    }
    return p < end && (*p == '{' || *p == '[');
}

static bool looks_like_json(const struct qc_file *f)
{
    size_t len = strlen(f->name);

    return begins_like_json(f) ||
           (len > 5 && strcmp(f->name + len - 5, ".json") == 0);
}

/* How many of the first fields, and of the fields inside them, a message
 * knows. */
static unsigned known_fields(const struct qc_message *m,
                             const struct qc_node *root)
{
    unsigned known = 0, seen = 0;
    const struct qc_node *n, *inner;

    for (n = root->first; n && seen < LOOK_MAX; n = n->next, seen++) {
        const struct qc_field *f = qc_find_field(m, n->name);

        known += f != NULL;
        if (!f || f->type != QC_MESSAGE)
            continue;
        for (inner = n->first; inner && seen < LOOK_MAX;
             inner = inner->next, seen++)
            known += qc_find_field(f->message, inner->name) != NULL;
    }
    return known;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum qc_kind text_kind_by_name(const char *path)
{
    const char *name = base_name(path);

    return strstr(name, "retrain")          ? QC_KIND_RETRAIN
           : strstr(name, "record")         ? QC_KIND_RECORD
           : strstr(name, "layers")         ? QC_KIND_LAYERS
           : strstr(name, "quantc.options") ? QC_KIND_OPTIONS
                                            : QC_KIND_CALIB;
}

static enum qc_kind text_kind(const struct qc_file *f,
                              const struct qc_node *root)
{
    enum qc_kind best = QC_KIND_AUTO, by_name = text_kind_by_name(f->name);
    unsigned most = 0;
    size_t i;

    for (i = 0; root && i < KINDS && kinds[i].m; i++) {
        unsigned known = known_fields(kinds[i].m, root);

        if (known > most || (known == most && kinds[i].kind == by_name)) {
            most = known;
            best = kinds[i].kind;
        }
    }
    return most ? best : by_name;
}

static bool begins_with(struct qc_str s, const char *z)
{
    size_t len = strlen(z);

    return s.len >= len && memcmp(s.ptr, z, len) == 0;
}

/* The form that a key of config.json belongs to. */
static enum qc_kind kind_of_key(struct qc_str key)
{
    static const char *const calib[] = {
        "activation_offset", "do_fusion",           "skip_fusion_layers",
        "quant_enable",      "activation_quant_pa", "weight_quant_params",
        "dmq_balancer_param"};
    size_t i;

    if (begins_with(key, "retrain_"))
        return QC_KIND_JSON_RETRAIN;
    for (i = 0; i < sizeof(calib) / sizeof(*calib); i++)
        if (begins_with(key, calib[i]))
            return QC_KIND_JSON_CALIB;
    return QC_KIND_AUTO;
}

static enum qc_kind json_kind(const struct qc_file *f,
                              const struct qc_node *root)
{
    const struct qc_node *n, *inner;
    unsigned seen = 0;
    enum qc_kind kind;

    /* layers.json, if anything: a list of objects with names. */
    if (root && root->kind == QC_LIST &&
        (!root->first || qc_child(root->first, "name")))
        return QC_KIND_LAYERS;
    for (n = root ? root->first : NULL; n && seen < LOOK_MAX;
         n = n->next, seen++) {
        kind = kind_of_key(n->name);
        for (inner = n->kind == QC_GROUP ? n->first : NULL;
             inner && kind == QC_KIND_AUTO && seen < LOOK_MAX;
             inner = inner->next, seen++)
            kind = kind_of_key(inner->name);
        if (kind != QC_KIND_AUTO)
            return kind;
    }
    return strstr(base_name(f->name), "quant") ||
                   strstr(base_name(f->name), "ptq") ||
                   strstr(base_name(f->name), "calib")
               ? QC_KIND_JSON_CALIB
               : QC_KIND_JSON_RETRAIN;
}

/* ---- reading ---- */

static void read_json(struct qc *qc, struct qc_doc *d, int dialect,
                      bool syntax_only)
{
    d->file->json = true;
    d->root = qc_parse_json(qc, d->file);
    if (d->kind == QC_KIND_AUTO)
        d->kind = json_kind(d->file, d->root);
    /* A missing comma must not become an unknown key. */
    if (!d->root || d->file->errors || d->kind == QC_KIND_JSON_SYNTAX ||
        d->kind == QC_KIND_LAYERS)
        return;
    d->bound = qc_bind_json(qc, d->root, d->kind, dialect);
    if (d->bound && !syntax_only)
        qc_check_json(qc, d->file, d->kind, d->bound);
}

static void read_text(struct qc *qc, struct qc_doc *d, int dialect,
                      bool syntax_only)
{
    d->root = qc_parse_text(qc, d->file);
    if (d->kind == QC_KIND_AUTO)
        d->kind = text_kind(d->file, d->root);
    if (!d->root)
        return;
    d->bound = qc_bind_text(qc, message_of(d->kind), d->root, dialect);
    if (syntax_only)
        return;
    qc_check_text(qc, d->kind, d->bound);
    if (d->kind == QC_KIND_RECORD)
        qc_check_origin_lines(qc, d->file);
}

struct qc_doc *qc_read(struct qc *qc, const char *path, enum qc_kind kind,
                       int dialect, bool syntax_only)
{
    struct qc_doc *d;
    struct qc_file *f = qc_load(qc, path, QC_MAX_FILE);
    bool json = kind >= QC_KIND_JSON_CALIB;

    if (!f)
        return NULL;
    d = qc_alloc(qc, sizeof(*d));
    d->file = f;
    d->kind = kind;
    if (kind == QC_KIND_AUTO || kind == QC_KIND_LAYERS)
        json = looks_like_json(f);
    f->json = json;
    if (!qc_check_encoding(qc, f)) {
        if (kind == QC_KIND_AUTO)
            d->kind = json ? json_kind(f, NULL) : text_kind(f, NULL);
        return d;
    }
    if (json)
        read_json(qc, d, dialect, syntax_only);
    else
        read_text(qc, d, dialect, syntax_only);
    return d;
}
