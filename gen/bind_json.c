/* config.json: checks the tree against the descriptors of config_json.proto
 * and fills the structs. A value of the wrong type is reported here and is
 * poisoned; whether a value is in its range is for checks_json.c. */
#include "json.h"

#include <string.h>

#include "decimal.h"
#include "schema_tables.h"

struct binder {
    struct qc *qc;
    enum qc_kind kind;
    int dialect;
    struct qc_json_where where;
    const struct qc_field *unsupported[8]; /* met before: reported once */
    unsigned unsupported_count;
};

/* ---- words for messages ---- */

static const char *quoted(struct qc *qc, struct qc_str s)
{
    return qc_format(qc, "\"%s\"", qc_shown(qc, s)).ptr;
}

static const char *of_layer(struct qc *qc, const struct qc_json_where *w)
{
    if (!w->layer.ptr)
        return "";
    return qc_format(qc, " of layer %s", quoted(qc, w->layer)).ptr;
}

const char *qc_json_name(struct qc *qc, const struct qc_json_where *w,
                         const char *key, const struct qc_value *value)
{
    if (!value)
        return qc_format(qc, "\"%s\"%s", key, of_layer(qc, w)).ptr;
    return qc_format(qc, "\"%s\" (%s)%s", key, qc_shown(qc, value->text),
                     of_layer(qc, w))
        .ptr;
}

static const char *found(struct qc *qc, const struct qc_node *n)
{
    switch (n->kind) {
    case QC_GROUP:
        return "an object";
    case QC_LIST:
        return "a list";
    case QC_TEXT:
        return "a string";
    default:
        return qc_shown(qc, n->text);
    }
}

static const char *list_of_enum(struct qc *qc, const struct qc_enumeration *e)
{
    struct qc_str all = QC_STR("");
    size_t i;

    for (i = 0; i < e->count; i++)
        all = qc_format(qc, "%.*s%s\"%s\"", QC_ARG(all), i ? ", " : "",
                        e->values[i].name);
    return all.ptr;
}

/* ---- scalars ---- */

static bool word_is(const struct qc_node *n, const char *z)
{
    return n->kind == QC_WORD && qc_equalz(n->text, z);
}

/* "true", "False", 1, 0: what was meant, or null. */
static const char *meant_bool(const struct qc_node *n)
{
    static const struct qc_str words[] = {
        {"true",  4},
        {"false", 5}
    };
    struct qc_str near;

    if (n->kind == QC_NUMBER)
        return qc_equalz(n->text, "1")   ? "true"
               : qc_equalz(n->text, "0") ? "false"
                                         : NULL;
    if (n->kind != QC_TEXT)
        return NULL;
    near = qc_nearest(n->text, words, 2);
    return near.len == 0 ? NULL : near.len == 4 ? "true" : "false";
}

static bool bind_bool(struct binder *b, const struct qc_field *f,
                      const struct qc_node *n, struct qc_value *v)
{
    const char *meant;
    struct qc_diag *d;

    v->as.b = word_is(n, "true");
    if (v->as.b || word_is(n, "false"))
        return true;
    meant = meant_bool(n);
    d = qc_report(
        b->qc, QC_CFG_TYPE_BOOL, n->loc, "%s needs true or false, found %s",
        qc_json_name(b->qc, &b->where, f->name, NULL), found(b->qc, n));
    if (!meant)
        return false;
    qc_help(b->qc, d, n->kind == QC_TEXT ? "remove the quotes: %s" : "write %s",
            meant);
    qc_fix(b->qc, d, n->loc, qc_str(meant));
    return false;
}

static bool is_integer(struct qc_str s)
{
    size_t i;

    for (i = 0; i < s.len; i++)
        if (s.ptr[i] == '.' || s.ptr[i] == 'e' || s.ptr[i] == 'E')
            return false;
    return true;
}

/* The integer that a string or fraction means; empty: none. */
static struct qc_str meant_integer(struct qc *qc, const struct qc_node *n)
{
    double v;
    size_t i;

    if (n->kind == QC_TEXT) {
        for (i = 0; i < n->text.len; i++)
            if (n->text.ptr[i] < '0' || n->text.ptr[i] > '9')
                return QC_STR("");
        return n->text;
    }
    if (n->kind != QC_NUMBER || !qc_parse_double(n->text, &v) || !(v > -1e9) ||
        !(v < 1e9) || (double)(int64_t)v < v || (double)(int64_t)v > v)
        return QC_STR("");
    return qc_format(qc, "%ld", (long)v);
}

/* Decimal digits; beyond 64 bits the largest value, which is in no range. */
static uint64_t magnitude(struct qc_str s)
{
    uint64_t v = 0;
    size_t i;

    for (i = s.len && s.ptr[0] == '-'; i < s.len; i++) {
        unsigned digit = (unsigned)(s.ptr[i] - '0');

        if (v > (UINT64_MAX - digit) / 10)
            return UINT64_MAX;
        v = v * 10 + digit;
    }
    return v;
}

static bool bind_int(struct binder *b, const struct qc_field *f,
                     const struct qc_node *n, struct qc_value *v)
{
    struct qc_str meant;
    struct qc_diag *d;

    if (n->kind == QC_NUMBER && is_integer(n->text)) {
        uint64_t size = magnitude(n->text);
        bool negative = n->text.ptr[0] == '-';

        if (f->type == QC_UINT32 || f->type == QC_UINT64)
            v->as.u = negative ? 0 : size; /* below 0: reported by range */
        else if (size > INT64_MAX)
            v->as.i = negative ? INT64_MIN : INT64_MAX;
        else
            v->as.i = negative ? -(int64_t)size : (int64_t)size;
        return true;
    }
    d = qc_report(
        b->qc, QC_CFG_TYPE_INT, n->loc, "%s needs an integer, found %s",
        qc_json_name(b->qc, &b->where, f->name, NULL), found(b->qc, n));
    meant = meant_integer(b->qc, n);
    if (!meant.len)
        return false;
    qc_help(b->qc, d,
            n->kind == QC_TEXT ? "remove the quotes: %.*s" : "write %.*s",
            QC_ARG(meant));
    qc_fix(b->qc, d, n->loc, meant);
    return false;
}

static bool is_number(struct qc_str s)
{
    double v;

    return s.len && (s.ptr[0] == '-' || (s.ptr[0] >= '0' && s.ptr[0] <= '9')) &&
           qc_parse_double(s, &v);
}

static bool bind_float(struct binder *b, const struct qc_field *f,
                       const struct qc_node *n, struct qc_value *v)
{
    struct qc_diag *d;

    if (n->kind == QC_NUMBER && qc_parse_double(n->text, &v->as.f))
        return true;
    d = qc_report(b->qc, QC_CFG_TYPE_FLOAT, n->loc, "%s needs %s, found %s",
                  qc_json_name(b->qc, &b->where, f->name, NULL),
                  f->label == QC_REPEATED ? "numbers" : "a number",
                  found(b->qc, n));
    if (n->kind == QC_TEXT && is_number(n->text)) {
        qc_help(b->qc, d, "remove the quotes: %s", qc_shown(b->qc, n->text));
        qc_fix(b->qc, d, n->loc, n->text);
    }
    return false;
}

static bool bind_string(struct binder *b, const struct qc_field *f,
                        const struct qc_node *n)
{
    struct qc_diag *d;

    if (n->kind == QC_TEXT)
        return true;
    d = qc_report(b->qc, QC_CFG_TYPE_STRING, n->loc, "%s needs %s, found %s",
                  qc_json_name(b->qc, &b->where, f->name, NULL),
                  f->label == QC_REPEATED ? "strings" : "a string",
                  found(b->qc, n));
    if (f->type == QC_ENUM)
        qc_help(b->qc, d, "values: %s", list_of_enum(b->qc, f->values));
    return false;
}

static void help_enum(struct binder *b, struct qc_diag *d,
                      const struct qc_enumeration *e, const struct qc_node *n)
{
    struct qc_str names[16], near;
    size_t i, count = e->count < 16 ? e->count : 16;

    for (i = 0; i < count; i++)
        names[i] = qc_str(e->values[i].name);
    near = qc_nearest(n->text, names, count);
    if (!near.len) {
        qc_help(b->qc, d, "values: %s", list_of_enum(b->qc, e));
        return;
    }
    qc_help(b->qc, d, "did you mean \"%.*s\"?", QC_ARG(near));
    qc_fix(b->qc, d, n->loc, qc_format(b->qc, "\"%.*s\"", QC_ARG(near)));
}

static bool bind_enum(struct binder *b, const struct qc_field *f,
                      const struct qc_node *n, struct qc_value *v)
{
    const struct qc_enum_value *e;

    if (!bind_string(b, f, n))
        return false;
    e = qc_find_enum(f->values, n->text);
    if (!e) {
        help_enum(b,
                  qc_report(b->qc, QC_CFG_ENUM, n->loc,
                            "%s is not a value of %s", quoted(b->qc, n->text),
                            qc_json_name(b->qc, &b->where, f->name, NULL)),
                  f->values, n);
        return false;
    }
    v->as.e = e->number;
    return true;
}

static void bind_value(struct binder *b, const struct qc_field *f,
                       const struct qc_node *n, struct qc_loc name_loc,
                       struct qc_value *v)
{
    bool good;

    v->set = true;
    v->text = n->text;
    v->loc = n->loc;
    v->name_loc = name_loc;
    switch (f->type) {
    case QC_BOOL:
        good = bind_bool(b, f, n, v);
        break;
    case QC_FLOAT:
    case QC_DOUBLE:
        good = bind_float(b, f, n, v);
        break;
    case QC_STRING:
    case QC_BYTES:
        good = bind_string(b, f, n);
        break;
    case QC_ENUM:
        good = bind_enum(b, f, n, v);
        break;
    default:
        good = bind_int(b, f, n, v);
    }
    v->poisoned = !good;
}

/* ---- lists ---- */

static bool is_list(struct binder *b, const struct qc_field *f,
                    const struct qc_node *n)
{
    if (n->kind != QC_LIST) {
        qc_report(b->qc, QC_CFG_TYPE_ARRAY, n->loc, "%s needs a list, found %s",
                  qc_json_name(b->qc, &b->where, f->name, NULL),
                  found(b->qc, n));
        return false;
    }
    /* The lists of numbers are pairs: first and last value of a range. */
    if (f->type == QC_DOUBLE && n->count != 2) {
        qc_report(
            b->qc, QC_CFG_LIST_LENGTH, n->loc, "%s needs 2 numbers, found %u",
            qc_json_name(b->qc, &b->where, f->name, NULL), (unsigned)n->count);
        return false;
    }
    return true;
}

static void bind_list(struct binder *b, const struct qc_field *f,
                      const struct qc_node *n, struct qc_values *out)
{
    const struct qc_node *e;

    if (!is_list(b, f, n))
        return;
    out->at = qc_alloc(b->qc, (n->count + 1) * sizeof(*out->at));
    for (e = n->first; e; e = e->next)
        bind_value(b, f, e, n->name_loc, &out->at[out->count++]);
}

/* ---- unknown and unsupported keys ---- */

static struct qc_str nearest_key(const struct qc_message *m, int dialect,
                                 struct qc_str key)
{
    struct qc_str names[32];
    size_t i, n = 0;

    for (i = 0; i < m->count && n < 32; i++)
        if (!m->fields[i].inline_keys && qc_field_in(&m->fields[i], dialect))
            names[n++] = qc_str(m->fields[i].name);
    return qc_nearest(key, names, n);
}

static const struct qc_field *known_key(const struct qc_message *m,
                                        struct qc_str key)
{
    const struct qc_field *f = qc_find_field(m, key);

    return f && !f->inline_keys ? f : NULL;
}

/* The object of a layer that has the key. */
static const struct qc_field *owner_of(const struct qc_message *layer,
                                       struct qc_str key)
{
    size_t i;

    for (i = 0; i < layer->count; i++) {
        const struct qc_field *f = &layer->fields[i];

        if (f->type == QC_MESSAGE && !f->unsupported &&
            known_key(f->message, key))
            return f;
    }
    return NULL;
}

struct form {
    const struct qc_message *root, *layer;
    const char *words;
};

static struct form form_of(enum qc_kind kind)
{
    static const struct form calib = {&qc_CalibJson, &qc_CalibLayer,
                                      "post-training form"},
                             retrain = {&qc_RetrainJson, &qc_RetrainLayer,
                                        "retraining form"};

    return kind == QC_KIND_JSON_CALIB ? calib : retrain;
}

static struct form other_form(enum qc_kind kind)
{
    return form_of(kind == QC_KIND_JSON_CALIB ? QC_KIND_JSON_RETRAIN
                                              : QC_KIND_JSON_CALIB);
}

/* The text file that has a field of this name at its top; null: none. */
static const char *text_file_of(struct qc_str key)
{
    if (known_key(&qc_AMCTConfig, key))
        return "quant.cfg";
    return known_key(&qc_AMCTRetrainConfig, key) ? "retrain.cfg" : NULL;
}

static void help_keys(struct qc *qc, struct qc_diag *d,
                      const struct qc_message *m, int dialect)
{
    struct qc_str all = QC_STR("");
    size_t i;

    for (i = 0; i < m->count; i++) {
        const struct qc_field *f = &m->fields[i];

        if (!f->inline_keys && !f->unsupported && qc_field_in(f, dialect))
            all = qc_format(qc, "%.*s%s\"%s\"", QC_ARG(all),
                            all.len ? ", " : "", f->name);
    }
    qc_help(qc, d, "keys: %s", all.ptr);
}

/* A key of another place, form or file; false when it is none. */
static bool help_elsewhere(struct binder *b, struct qc_diag *d,
                           struct qc_str key)
{
    struct form ours = form_of(b->kind), other = other_form(b->kind);
    const struct qc_field *owner = owner_of(ours.layer, key);
    const char *shown = quoted(b->qc, key);

    if (b->where.layer.ptr && text_file_of(b->where.layer)) {
        qc_help(b->qc, d, "%s is a field of %s, not of config.json",
                quoted(b->qc, b->where.layer), text_file_of(b->where.layer));
        return true;
    }
    if (owner)
        qc_help(b->qc, d, "%s is a key of \"%s\"", shown, owner->name);
    else if (known_key(ours.layer, key))
        qc_help(b->qc, d, "%s is a key of the layer itself", shown);
    else if (known_key(other.layer, key) || owner_of(other.layer, key) ||
             known_key(other.root, key))
        qc_help(b->qc, d, "%s is a key of the %s of config.json", shown,
                other.words);
    else if (!b->where.layer.ptr && text_file_of(key))
        qc_help(b->qc, d, "%s is a field of %s, not of config.json", shown,
                text_file_of(key));
    else
        return false;
    return true;
}

static const char *in_what(struct binder *b)
{
    const char *layer;

    if (!b->where.layer.ptr)
        return "";
    layer = quoted(b->qc, b->where.layer);
    if (!b->where.object.ptr)
        return qc_format(b->qc, " in layer %s", layer).ptr;
    return qc_format(b->qc, " in %s of layer %s",
                     quoted(b->qc, b->where.object), layer)
        .ptr;
}

static void report_unknown(struct binder *b, const struct qc_message *m,
                           const struct qc_node *n)
{
    bool dropped = b->kind == QC_KIND_JSON_RETRAIN && b->where.layer.ptr &&
                   !b->where.object.ptr;
    const struct qc_field *f = known_key(m, n->name);
    struct qc_str near = nearest_key(m, b->dialect, n->name);
    struct qc_diag *d;

    d = qc_report(
        b->qc, dropped ? QC_CFG_UNKNOWN_LAYER_KEY : QC_CFG_UNKNOWN_KEY,
        n->name_loc, "unknown key %s%s", quoted(b->qc, n->name), in_what(b));
    if (f) {
        qc_help(b->qc, d, "\"%s\" is not in this dialect", f->name);
    } else if (near.len) {
        qc_help(b->qc, d, "did you mean \"%.*s\"?", QC_ARG(near));
        qc_fix(b->qc, d, n->name_loc,
               qc_format(b->qc, "\"%.*s\"", QC_ARG(near)));
    } else if (!help_elsewhere(b, d, n->name)) {
        help_keys(b->qc, d, m, b->dialect);
    }
}

/* Once for each key: a file that prunes does so in every layer. */
static void report_unsupported(struct binder *b, const struct qc_field *f,
                               const struct qc_node *n)
{
    unsigned i;

    for (i = 0; i < b->unsupported_count; i++)
        if (b->unsupported[i] == f)
            return;
    if (i < sizeof(b->unsupported) / sizeof(b->unsupported[0]))
        b->unsupported[b->unsupported_count++] = f;
    qc_report(b->qc, QC_CFG_UNSUPPORTED, n->name_loc,
              "%s is known to AMCT but not supported here",
              qc_json_name(b->qc, &b->where, f->name, NULL));
}

/* ---- objects ---- */

static void *bind_object(struct binder *b, const struct qc_message *m,
                         const struct qc_node *n);

/* A member of type struct T *, for whatever T. */
static void put_pointer(void *member, void *pointer)
{
    memcpy(member, &pointer, sizeof(pointer));
}

/* Keys mostly stand in the order of the schema: look behind the last one
 * first. */
static const struct qc_field *next_field(const struct binder *b,
                                         const struct qc_message *m,
                                         struct qc_str key, size_t *at)
{
    size_t i, k;

    for (i = 0, k = *at; i < m->count; i++, k++) {
        const struct qc_field *f;

        if (k >= m->count)
            k = 0;
        f = &m->fields[k];
        if (!f->inline_keys && qc_equalz(key, f->name) &&
            qc_field_in(f, b->dialect)) {
            *at = k + 1;
            return f;
        }
    }
    return NULL;
}

static void bind_member(struct binder *b, const struct qc_field *f,
                        const struct qc_node *n, void *out)
{
    void *member = (char *)out + f->offset;
    struct qc_str outer = b->where.object;

    /* Those of ada_quantize, deeper down, are reported with it. */
    if (f->unsupported && !b->where.object.ptr)
        report_unsupported(b, f, n);
    if (f->type != QC_MESSAGE) {
        if (f->label == QC_REPEATED)
            bind_list(b, f, n, member);
        else
            bind_value(b, f, n, n->name_loc, member);
        return;
    }
    if (n->kind != QC_GROUP) {
        qc_report(
            b->qc, QC_CFG_TYPE_OBJECT, n->loc, "%s needs an object, found %s",
            qc_json_name(b->qc, &b->where, f->name, NULL), found(b->qc, n));
        return;
    }
    b->where.object = n->name;
    put_pointer(member, bind_object(b, f->message, n));
    b->where.object = outer;
}

static void *bind_object(struct binder *b, const struct qc_message *m,
                         const struct qc_node *n)
{
    void *out = qc_alloc(b->qc, m->size);
    const struct qc_node *c;
    size_t at = 0;

    *(const struct qc_node **)out = n;
    for (c = n->first; c; c = c->next) {
        const struct qc_field *f = next_field(b, m, c->name, &at);

        if (f)
            bind_member(b, f, c, out);
        else
            report_unknown(b, m, c);
    }
    return out;
}

/* ---- the whole file ---- */

/* What a global key is: "the format version" when its doc text says so. */
static const char *what_it_is(struct qc *qc, const struct qc_field *f)
{
    size_t len = strcspn(f->doc, ".");

    if (strncmp(f->doc, "The ", 4) != 0)
        return "a global key";
    return qc_format(qc, "the %.*s", (int)(len - 4), f->doc + 4).ptr;
}

static const char *what_it_needs(struct qc *qc, const struct qc_field *f)
{
    struct qc_range r;

    if (f->label == QC_REPEATED)
        return "a list of strings";
    if (f->type == QC_BOOL)
        return "true or false";
    if (f->type == QC_ENUM || f->type == QC_STRING)
        return "a string";
    if (f->range && qc_range_parse(f->range, &r) && r.count == 1)
        return qc_format(qc, "the integer %s", qc_range_words(qc, f->range))
            .ptr;
    return "an integer";
}

static void bind_global(struct binder *b, const struct qc_field *f,
                        const struct qc_node *n, void *out)
{
    struct qc_value *v = (void *)((char *)out + f->offset);

    if (n->kind != QC_GROUP) {
        bind_member(b, f, n, out);
        return;
    }
    qc_report(b->qc, QC_CFG_RESERVED_NAME, n->loc,
              "\"%s\" is %s and needs %s; a layer cannot have this name",
              f->name, what_it_is(b->qc, f), what_it_needs(b->qc, f));
    if (f->label != QC_REPEATED)
        v->set = v->poisoned = true;
}

/* A key that is neither global nor an object. */
static void report_no_layer(struct binder *b, const struct qc_message *m,
                            const struct qc_node *n)
{
    if (nearest_key(m, b->dialect, n->name).len || known_key(m, n->name) ||
        known_key(other_form(b->kind).root, n->name) || text_file_of(n->name))
        report_unknown(b, m, n);
    else
        qc_report(b->qc, QC_CFG_TYPE_OBJECT, n->loc,
                  "layer %s needs an object, found %s", quoted(b->qc, n->name),
                  found(b->qc, n));
}

/* An entry of the map of layers: key and value. */
static void bind_layer(struct binder *b, const struct qc_message *entry,
                       const struct qc_node *n, void *out)
{
    const struct qc_field *key = &entry->fields[0], *value = &entry->fields[1];
    struct qc_value *name = (void *)((char *)out + key->offset);

    *(const struct qc_node **)out = n;
    name->set = true;
    name->text = n->name;
    name->loc = name->name_loc = n->name_loc;
    b->where.layer = n->name;
    put_pointer((char *)out + value->offset, bind_object(b, value->message, n));
    b->where.layer.ptr = NULL;
}

/* {at, count} of a repeated message. */
struct any_list {
    void *at;
    size_t count;
};

static const struct qc_field *field_of_layers(const struct qc_message *m)
{
    const struct qc_field *f = m->fields;

    while (!f->inline_keys)
        f++;
    return f;
}

static void *bind_root(struct binder *b, const struct qc_message *m,
                       const struct qc_node *root)
{
    const struct qc_field *layers = field_of_layers(m);
    struct any_list list = {0};
    void *out = qc_alloc(b->qc, m->size);
    const struct qc_node *n;
    size_t at = 0;

    *(const struct qc_node **)out = root;
    list.at = qc_alloc(b->qc, root->count * layers->message->size + 1);
    for (n = root->first; n; n = n->next) {
        const struct qc_field *f = next_field(b, m, n->name, &at);

        if (f)
            bind_global(b, f, n, out);
        else if (n->kind != QC_GROUP)
            report_no_layer(b, m, n);
        else
            bind_layer(b, layers->message, n,
                       (char *)list.at + list.count++ * layers->message->size);
    }
    memcpy((char *)out + layers->offset, &list, sizeof(list));
    return out;
}

void *qc_bind_json(struct qc *qc, const struct qc_node *root, enum qc_kind kind,
                   int dialect)
{
    struct binder b = {0};

    b.qc = qc;
    b.kind = kind;
    b.dialect = dialect;
    if (root->kind != QC_GROUP) {
        qc_report(qc, QC_CFG_TOP_LEVEL, root->loc,
                  "config.json must hold an object, found %s", found(qc, root));
        return NULL;
    }
    return bind_root(&b, form_of(kind).root, root);
}

/* ---- meeting a model ---- */

static void raise_unsupported(struct qc_file *f)
{
    struct qc_diag *d;

    for (d = f->diags; d; d = d->next) {
        if (d->severity != QC_WARNING || d->key != QC_CFG_UNSUPPORTED)
            continue;
        d->severity = QC_ERROR;
        f->errors++;
        f->warnings--;
    }
}

void qc_json_meets_model(struct qc *qc, const struct qc_doc *doc,
                         const struct qc_model *model)
{
    static const enum qc_key none[] = {QC_KEY_COUNT};
    struct form form = form_of(doc->kind);
    struct binder b = {0};
    const struct qc_node *n;

    raise_unsupported(doc->file);
    if (!model || !doc->root || doc->root->kind != QC_GROUP)
        return;
    b.qc = qc;
    b.kind = doc->kind;
    for (n = doc->root->first; n; n = n->next) {
        if (n->kind == QC_GROUP || known_key(form.root, n->name) ||
            qc_find_layer(model, n->name))
            continue;
        qc_unreport(qc, doc->file, n->name_loc.at, n->end, none);
        report_unknown(&b, form.root, n);
    }
}
