/* From the tree of a text-format file to the structs of its schema: which field
 * a name is, how often it may stand, what shape its value must have. */
#include "bind.h"

#include <string.h>

#define WARNED_MAX 32 /* unsupported fields that are named once only */

struct binder {
    struct qc *qc;
    struct qc_file *file;
    int dialect;
    /* What the parser found inside of things that turned out to be unknown:
     * to be taken back. In file order. */
    struct qc_extent *skipped;
    size_t skipped_count, skipped_room;
    /* Fields that belong to the message of this level, because a '}' before
     * them is missing. */
    struct qc_node *escaped;
    int escaped_level;
    bool unclosed; /* explained by a field that escaped */
    const struct qc_field *warned[WARNED_MAX];
    size_t warned_count;
};

static void bind_fields(struct binder *b, struct qc_frame *f,
                        struct qc_node *n);

static void *member(const struct qc_frame *f, const struct qc_field *field)
{
    return f->base + field->offset;
}

/* A member that points to a message, whatever its type. */
static char *group_at(const struct qc_frame *f, const struct qc_field *field)
{
    char *inner;

    memcpy(&inner, member(f, field), sizeof(inner));
    return inner;
}

/* Member 0 of every message. */
static const struct qc_node *node_of(const char *base)
{
    const struct qc_node *n;

    memcpy(&n, base, sizeof(n));
    return n;
}

/* ---- taking back ---- */

static void skip(struct binder *b, uint32_t from, uint32_t to)
{
    if (from >= to)
        return;
    b->skipped = qc_grow(b->qc, b->skipped, b->skipped_count, &b->skipped_room,
                         sizeof(*b->skipped));
    b->skipped[b->skipped_count].from = from;
    b->skipped[b->skipped_count].to = to;
    b->skipped_count++;
}

static uint32_t end_of(const struct binder *b, const struct qc_node *n)
{
    bool open = (n->kind == QC_GROUP || n->kind == QC_LIST) && !n->closed;

    return open ? (uint32_t)b->file->size + 1 : n->end;
}

/* The value of a field that is no field: nothing inside matters. */
static void skip_value(struct binder *b, const struct qc_node *n)
{
    skip(b, n->name_loc.at + n->name_loc.len, end_of(b, n));
}

/* A bad value and the word behind it are one mistake. */
static void skip_trail(struct binder *b, const struct qc_node *n)
{
    const char *p = b->file->text + n->end,
               *eof = b->file->text + b->file->size;

    if (!n->trailed)
        return;
    while (p < eof && *p != '\n')
        p++;
    skip(b, n->end, (uint32_t)(p - b->file->text));
}

/* ---- what stands between name and value ---- */

/* The first character behind the name that is no blank or comment. */
static uint32_t behind_name(const struct qc_node *n)
{
    const struct qc_file *f = n->loc.file;
    uint32_t at = n->name_loc.at + n->name_loc.len;

    while (at < f->size && strchr(" \t\r\n\v\f#", f->text[at])) {
        if (f->text[at] == '#')
            while (at < f->size && f->text[at] != '\n')
                at++;
        else
            at++;
    }
    return at;
}

static void want_colon(struct binder *b, const struct qc_node *n)
{
    uint32_t at = behind_name(n);
    bool equals = at < b->file->size && b->file->text[at] == '=';
    struct qc_loc name_end = {b->file, n->name_loc.at + n->name_loc.len, 0};
    struct qc_diag *d;

    if (equals) {
        struct qc_loc loc = {b->file, at, 1};

        d = qc_report(b->qc, QC_SYN_EXPECTED_COLON, loc,
                      "expected ':' after '%s', found '='",
                      qc_shown(b->qc, n->name));
        qc_fix(b->qc, d, loc, QC_STR(":"));
        return;
    }
    d = qc_report(b->qc, QC_SYN_EXPECTED_COLON, n->loc,
                  "expected ':' after '%s'", qc_shown(b->qc, n->name));
    qc_fix(b->qc, d, name_end, QC_STR(":"));
}

static void want_value(struct binder *b, const struct qc_field *f,
                       const struct qc_node *n)
{
    const char *found = "the end of the file";
    struct qc_diag *d;

    if (f->type != QC_MESSAGE) {
        want_colon(b, n);
        return;
    }
    if (n->loc.len)
        found =
            qc_format(b->qc, "'%s'",
                      qc_shown(b->qc, (struct qc_str){b->file->text + n->loc.at,
                                                      n->loc.len}))
                .ptr;
    d = qc_report(b->qc, QC_SYN_EXPECTED_VALUE, n->loc,
                  "expected the value of '%s', found %s", f->name, found);
    qc_note(b->qc, d, n->name_loc, "'%s' is here", f->name);
}

/* ---- how often ---- */

static bool has_value(const struct qc_frame *f, const struct qc_field *field,
                      struct qc_loc *loc)
{
    if (field->type == QC_MESSAGE) {
        const char *inner = group_at(f, field);

        if (inner && loc)
            *loc = node_of(inner)->name_loc;
        return inner != NULL;
    }
    if (loc)
        *loc = ((struct qc_value *)member(f, field))->name_loc;
    return ((struct qc_value *)member(f, field))->set;
}

/* Reports a second value; true when it shall replace the first. */
static bool may_repeat(struct binder *b, const struct qc_frame *f,
                       const struct qc_field *field, const struct qc_node *n)
{
    struct qc_loc first;
    struct qc_diag *d;

    if (!has_value(f, field, &first))
        return true;
    d = qc_report(b->qc, QC_SCH_DUPLICATE_FIELD, n->name_loc,
                  "'%s' is given twice", field->name);
    qc_note(b->qc, d, first, "first given here");
    return d && !qc_is_error(d);
}

/* Reports a second member of a choice; true when it shall replace the first,
 * which is gone then. */
static bool may_choose(struct binder *b, struct qc_frame *f,
                       const struct qc_field *field, const struct qc_node *n)
{
    size_t i;

    for (i = 0; field->choice && i < f->m->count; i++) {
        const struct qc_field *other = &f->m->fields[i];
        struct qc_loc first;
        struct qc_diag *d;

        if (other == field || !other->choice ||
            strcmp(other->choice, field->choice) != 0 ||
            !has_value(f, other, &first))
            continue;
        d = qc_report(b->qc, QC_SCH_ONEOF_CONFLICT, n->name_loc,
                      "'%s' cannot be used together with '%s' (choice %s)",
                      field->name, other->name, field->choice);
        qc_note(b->qc, d, first, "'%s' is here", other->name);
        if (!d || qc_is_error(d))
            return false;
        memset(member(f, other), 0,
               other->type == QC_MESSAGE ? sizeof(void *)
                                         : sizeof(struct qc_value));
    }
    return true;
}

static void warn_unsupported(struct binder *b, const struct qc_field *f,
                             const struct qc_node *n)
{
    size_t i;

    for (i = 0; i < b->warned_count; i++)
        if (b->warned[i] == f)
            return;
    if (b->warned_count < WARNED_MAX)
        b->warned[b->warned_count++] = f;
    qc_report(b->qc, QC_SCH_UNSUPPORTED_FIELD, n->name_loc,
              "'%s' is known to AMCT, but not supported here", f->name);
}

/* ---- values ---- */

/* One more element of an array whose room is the power of two above count. */
static void *next_element(struct binder *b, void **at, size_t *count,
                          size_t size)
{
    if (*count == 0 || (*count >= 4 && (*count & (*count - 1)) == 0)) {
        void *more = qc_alloc(b->qc, (*count ? *count * 2 : 4) * size);

        if (*count)
            memcpy(more, *at, *count * size);
        *at = more;
    }
    return (char *)*at + (*count)++ * size;
}

/* A list of messages has the members of a list of values. */
struct any_list {
    void *at;
    size_t count;
};

static void bind_group(struct binder *b, struct qc_frame *f,
                       const struct qc_field *field, struct qc_node *n)
{
    struct qc_frame inner = {0};

    inner.m = field->message;
    inner.node = n;
    inner.level = f->level + 1;
    inner.parent = f;
    if (field->label == QC_REPEATED) {
        struct any_list *list = member(f, field);

        inner.base =
            next_element(b, &list->at, &list->count, field->message->size);
    } else {
        inner.base = group_at(f, field);
        if (!inner.base)
            inner.base = qc_alloc(b->qc, field->message->size);
        memcpy(member(f, field), &inner.base, sizeof(inner.base));
    }
    memcpy(inner.base, &n, sizeof(n)); /* member 0 */
    bind_fields(b, &inner, n->first);
    n->torn |= inner.torn;
}

static void bind_value(struct binder *b, struct qc_frame *f,
                       const struct qc_field *field, struct qc_node *n)
{
    struct qc_value *v;

    if (field->label == QC_REPEATED) {
        struct any_list *list = member(f, field);

        v = next_element(b, &list->at, &list->count, sizeof(*v));
    } else {
        v = member(f, field);
    }
    memset(v, 0, sizeof(*v));
    if (!qc_bind_scalar(b->qc, field, n, v))
        skip_trail(b, n);
}

static void bind_one(struct binder *b, struct qc_frame *f,
                     const struct qc_field *field, struct qc_node *n)
{
    bool group = n->kind == QC_GROUP;

    if (n->kind == QC_LIST) /* in a list, where it was reported */
        return;
    if (group != (field->type == QC_MESSAGE)) {
        if (!n->poisoned)
            qc_wrong_type(b->qc, field, n);
        if (group)
            skip(b, n->loc.at + 1, end_of(b, n));
        else
            skip_trail(b, n);
        f->torn = true;
        return;
    }
    if (group && n->poisoned) {
        skip(b, n->loc.at + 1, end_of(b, n));
        f->torn = true;
    } else if (group) {
        bind_group(b, f, field, n);
    } else {
        bind_value(b, f, field, n);
    }
}

static void bind_list(struct binder *b, struct qc_frame *f,
                      const struct qc_field *field, struct qc_node *list)
{
    struct qc_node *n;

    if (list->poisoned) {
        f->torn = true;
        return;
    }
    if (field->label != QC_REPEATED) {
        qc_report(b->qc, QC_SCH_LIST_ON_SINGULAR, list->loc,
                  "'%s' takes one value, not a list", field->name);
        skip(b, list->loc.at + 1, end_of(b, list));
        f->torn = true;
        return;
    }
    if (!list->colon && field->type != QC_MESSAGE)
        want_colon(b, list);
    for (n = list->first; n; n = n->next) {
        n->name_loc = n->kind == QC_GROUP ? n->loc : list->name_loc;
        bind_one(b, f, field, n);
    }
}

/* ---- fields ---- */

/* People write fields in the order of the schema, mostly. */
static const struct qc_field *find_field(struct qc_frame *f, struct qc_str name)
{
    const struct qc_field *field;

    if (f->next < f->m->count && qc_equalz(name, f->m->fields[f->next].name)) {
        f->next++;
        return &f->m->fields[f->next - 1];
    }
    field = qc_find_field(f->m, name);
    if (field)
        f->next = (size_t)(field - f->m->fields) + 1;
    return field;
}

/* A field that the message does not have. True when it and what follows belong
 * to a message further out. */
static bool unknown(struct binder *b, struct qc_frame *f, struct qc_node *n)
{
    const struct qc_frame *owner = qc_escaped_from(f, n, b->dialect);

    f->torn = true;
    if (!owner) {
        qc_unknown_field(b->qc, f, n, b->dialect);
        skip_value(b, n);
        return false;
    }
    qc_escaped_field(b->qc, f, owner, n);
    b->unclosed = true; /* the parser missed that brace at the end */
    b->escaped = n;
    b->escaped_level = owner->level;
    return true;
}

static void bind_field(struct binder *b, struct qc_frame *f,
                       const struct qc_field *field, struct qc_node *n)
{
    if (n->kind == QC_MISSING) {
        if (!n->poisoned)
            want_value(b, field, n);
        f->torn = true;
        return;
    }
    if (field->label != QC_REPEATED && n->kind != QC_LIST &&
        (!may_choose(b, f, field, n) || !may_repeat(b, f, field, n))) {
        skip_value(b, n);
        return;
    }
    if (field->unsupported)
        warn_unsupported(b, field, n);
    if (!n->colon && n->kind != QC_GROUP && n->kind != QC_LIST)
        want_colon(b, n);
    if (n->kind == QC_LIST)
        bind_list(b, f, field, n);
    else
        bind_one(b, f, field, n);
}

static void bind_fields(struct binder *b, struct qc_frame *f, struct qc_node *n)
{
    for (; n; n = n->next) {
        const struct qc_field *field = find_field(f, n->name);

        if (n->bad_name) {
            skip_value(b, n);
            f->torn = true;
            continue;
        }
        if (!field || !qc_field_in(field, b->dialect)) {
            if (unknown(b, f, n))
                return;
            continue;
        }
        bind_field(b, f, field, n);
        while (b->escaped && b->escaped_level == f->level) {
            struct qc_node *rest = b->escaped;

            b->escaped = NULL;
            bind_fields(b, f, rest);
        }
        if (b->escaped) {
            f->torn = true;
            return;
        }
    }
}

/* ---- presence ---- */

static void check_message(struct binder *b, const struct qc_message *m,
                          char *base);

static void missing(struct binder *b, const struct qc_message *m,
                    const struct qc_field *f, const struct qc_node *node)
{
    /* AMCT takes an absent text or group for an empty one, but nothing else. */
    bool empty =
        f->type == QC_STRING || f->type == QC_BYTES || f->type == QC_MESSAGE;
    struct qc_diag *d = qc_report(
        b->qc, empty ? QC_SCH_MISSING_REQUIRED : QC_SCH_MISSING_NUMBER,
        node->name.len ? node->name_loc : node->loc, "%s needs the field '%s'",
        m->name, f->name);

    qc_help(b->qc, d, "%s", qc_field_help(b->qc, f));
}

static void check_inner(struct binder *b, const struct qc_frame *f,
                        const struct qc_field *field)
{
    size_t i;

    if (field->label == QC_REPEATED) {
        const struct any_list *list = member(f, field);

        for (i = 0; i < list->count; i++)
            check_message(b, field->message,
                          (char *)list->at + i * field->message->size);
    } else {
        char *inner = group_at(f, field);

        if (inner)
            check_message(b, field->message, inner);
    }
}

static void check_message(struct binder *b, const struct qc_message *m,
                          char *base)
{
    const struct qc_node *node = node_of(base);
    struct qc_frame f = {0};
    size_t i;

    f.m = m;
    f.base = base;
    for (i = 0; i < m->count; i++) {
        const struct qc_field *field = &m->fields[i];

        if (field->label == QC_REQUIRED && !node->torn &&
            !has_value(&f, field, NULL))
            missing(b, m, field, node);
        if (field->type == QC_MESSAGE)
            check_inner(b, &f, field);
    }
}

void *qc_bind_text(struct qc *qc, const struct qc_message *m,
                   struct qc_node *root, int dialect)
{
    /* Lexical faults stand whatever surrounds them. */
    static const enum qc_key keep[] = {QC_LEX_BAD_UTF8, QC_LEX_BOM,
                                       QC_LEX_UNTERMINATED, QC_KEY_COUNT};
    struct qc_frame top = {0};
    struct binder b = {0};

    b.qc = qc;
    b.file = (struct qc_file *)(uintptr_t)root->loc.file;
    b.dialect = dialect;
    top.m = m;
    top.node = root;
    top.base = qc_alloc(qc, m->size);
    memcpy(top.base, &root, sizeof(root)); /* member 0 */
    bind_fields(&b, &top, root->first);
    root->torn |= top.torn;
    check_message(&b, m, top.base);
    if (b.unclosed)
        skip(&b, (uint32_t)b.file->size, (uint32_t)b.file->size + 1);
    qc_unreport_all(qc, b.file, b.skipped, b.skipped_count, keep);
    return top.base;
}
