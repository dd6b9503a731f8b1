/* Reading JSON, the parser's side: objects and lists while they grow, and
 * messages about what is missing in them or too much. */
#include "json_reader.h"

static struct qc_node *new_node(struct json_reader *r, enum qc_node_kind kind,
                                struct qc_loc loc, struct qc_str text)
{
    if (r->values++ == JSON_MAX_VALUES)
        qc_report(r->qc, QC_LIM_JSON_VALUES, loc,
                  "the file has more than %u values", JSON_MAX_VALUES);
    return qc_node(r->qc, kind, loc, text);
}

struct qc_node *json_scalar(struct json_reader *r, enum qc_node_kind kind,
                            struct json_word w, struct qc_loc loc)
{
    struct qc_node *n = new_node(r, kind, loc, w.text);

    n->poisoned = w.poisoned;
    return n;
}

struct json_items json_items(struct json_reader *r, enum qc_node_kind kind,
                             struct qc_loc open)
{
    struct json_items items = {0};

    items.node = new_node(r, kind, open, QC_STR(""));
    return items;
}

static struct qc_loc last_loc(const struct json_items *items)
{
    return (struct qc_loc){items->node->loc.file, items->at, items->len};
}

static void set_last(struct json_items *items, struct qc_loc loc)
{
    items->at = loc.at;
    items->len = loc.len;
}

/* At the end of the file and after a fatal fault all has been said. */
static bool at_end(const struct json_reader *r, struct qc_loc loc)
{
    return r->file->fatal || loc.at >= r->file->size;
}

static void report_no_comma(struct json_reader *r, struct json_items *items,
                            struct qc_loc loc)
{
    struct qc_diag *d;

    items->bad = true;
    if (at_end(r, loc))
        return;
    d = qc_report(r->qc, QC_JSON_EXPECTED_COMMA, loc, "expected ',' before %s",
                  json_found(r, loc));
    qc_fix(r->qc, d, json_part(last_loc(items), items->len, 0), QC_STR(","));
}

/* The whole of a value. */
static struct qc_loc extent(const struct qc_node *n)
{
    return (struct qc_loc){n->loc.file, n->loc.at, n->end - n->loc.at};
}

static void take_item(struct json_items *items, struct qc_node *n,
                      struct qc_loc loc)
{
    items->last = JSON_ITEM;
    set_last(items, n ? extent(n) : loc);
    if (!n || n->poisoned)
        items->bad = true;
    if (n)
        qc_append(items->node, n);
}

struct json_items json_member(struct json_reader *r, struct json_items items,
                              struct json_word key, struct qc_loc key_loc,
                              struct qc_node *value)
{
    bool bad = items.bad;

    items.bad = false;
    if (items.last == JSON_ITEM && !bad && !key.poisoned) {
        report_no_comma(r, &items, key_loc);
        items.bad = false;
    }
    if (value) {
        qc_named(value, key.text, key_loc);
        value->poisoned = value->poisoned || key.poisoned;
    }
    take_item(&items, value, key_loc);
    return items;
}

struct json_items json_no_value(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at)
{
    struct qc_diag *d;

    if (!at_end(r, at)) {
        bool is_key = r->file->text[at.at] == '"';

        d = qc_report(r->qc, QC_JSON_EXPECTED_VALUE, at,
                      "expected the value of %s, found %s%s",
                      json_quoted(r, key.text), is_key ? "the key " : "",
                      json_found(r, at));
        qc_note(r->qc, d, key_loc, "%s is here", json_quoted(r, key.text));
    }
    return json_member(r, items, key, key_loc, NULL);
}

void json_before_value(struct json_reader *r, struct json_word key,
                       struct qc_loc junk)
{
    qc_report(r->qc, QC_JSON_EXPECTED_VALUE, junk,
              "expected the value of %s, found '%s'", json_quoted(r, key.text),
              json_shown(r, junk));
}

struct json_items json_no_colon(struct json_reader *r, struct json_items items,
                                struct json_word key, struct qc_loc key_loc,
                                struct qc_loc at)
{
    /* ':' is there when characters before it have been reported. */
    bool quiet = (items.bad && items.last != JSON_COMMA) || key.poisoned ||
                 at_end(r, at) || r->file->text[at.at] == ':';

    if (items.last == JSON_ITEM && !quiet)
        report_no_comma(r, &items, key_loc);
    else if (!quiet)
        qc_report(r->qc, QC_JSON_EXPECTED_COLON, at, "expected ':' after %s",
                  json_quoted(r, key.text));
    take_item(&items, NULL, key_loc);
    return items;
}

struct json_items json_stray(struct json_reader *r, struct json_items items,
                             struct qc_node *value, struct qc_loc loc)
{
    if (!items.bad && !value->poisoned) {
        if (items.last == JSON_ITEM)
            report_no_comma(r, &items, loc);
        else
            qc_report(r->qc, QC_JSON_EXPECTED_KEY, value->loc,
                      "expected a key in double quotes, found %s",
                      json_found(r, value->loc));
    }
    if (value->kind == QC_GROUP)
        r->damaged = true; /* one '{' too many? */
    take_item(&items, NULL, loc);
    return items;
}

struct json_items json_element(struct json_reader *r, struct json_items items,
                               struct qc_node *value, struct qc_loc loc)
{
    if (!value)
        return json_ellipsis(items, loc);
    if (items.last == JSON_ITEM && !items.bad && !value->poisoned)
        report_no_comma(r, &items, value->loc);
    take_item(&items, value, loc);
    return items;
}

static void report_no_item(struct json_reader *r, struct json_items *items,
                           struct qc_loc loc)
{
    struct qc_diag *d;

    if (items->bad)
        return;
    items->bad = true;
    if (items->node->kind == QC_GROUP)
        d = qc_report(r->qc, QC_JSON_EXPECTED_KEY, loc,
                      "expected a key, found '%s'", json_shown(r, loc));
    else
        d = qc_report(r->qc, QC_JSON_EXPECTED_VALUE, loc,
                      "expected a value, found '%s'", json_shown(r, loc));
    if (r->file->text[loc.at] == ',')
        qc_help(r->qc, d, "remove this comma");
}

struct json_items json_comma(struct json_reader *r, struct json_items items,
                             struct qc_loc loc)
{
    if (items.last == JSON_NONE || items.last == JSON_COMMA)
        report_no_item(r, &items, loc);
    else if (items.node->kind == QC_LIST)
        items.bad = false;
    items.last = JSON_COMMA;
    set_last(&items, loc);
    return items;
}

struct json_items json_ellipsis(struct json_items items, struct qc_loc loc)
{
    items.last = JSON_DOTS;
    set_last(&items, loc);
    return items;
}

struct json_items json_junk(struct json_reader *r, struct json_items items,
                            struct qc_loc loc)
{
    if (items.last != JSON_ITEM) {
        report_no_item(r, &items, loc);
        return items;
    }
    if (!items.bad)
        qc_report(r->qc, QC_JSON_EXPECTED_COMMA, loc,
                  "expected ',', found '%s'", json_shown(r, loc));
    items.last = JSON_COMMA;
    set_last(&items, loc);
    items.bad = true;
    return items;
}

/* ---- the end of an object or list ---- */

static void report_duplicate(struct json_reader *r, const struct qc_node *first,
                             const struct qc_node *again)
{
    /* Every object in the outermost one is a layer: the depth is known only
     * to the bracket stack, where the innermost has been taken off. */
    bool layer =
        r->depth == 0 && first->kind == QC_GROUP && again->kind == QC_GROUP;
    struct qc_diag *d;

    if (layer)
        d = qc_report(r->qc, QC_JSON_DUPLICATE_KEY, again->name_loc,
                      "layer name %s is used twice; layer names must be unique",
                      json_quoted(r, again->name));
    else
        d = qc_report(r->qc, QC_JSON_DUPLICATE_KEY, again->name_loc,
                      "key %s is used twice", json_quoted(r, again->name));
    qc_note(r->qc, d, first->name_loc, "first used here");
}

#define FEW 8u /* keys that are compared one by one */

static void check_few_keys(struct json_reader *r, const struct qc_node *group)
{
    const struct qc_node *a, *b;

    for (b = group->first; b; b = b->next)
        for (a = group->first; a != b; a = a->next)
            if (qc_equal(a->name, b->name)) {
                report_duplicate(r, a, b);
                break;
            }
}

static void check_many_keys(struct json_reader *r, struct qc_node *group)
{
    struct qc_map map = {0};
    struct qc_node *n;

    for (n = group->first; n; n = n->next) {
        void **at = qc_map_at(r->qc, &map, n->name);

        if (*at)
            report_duplicate(r, *at, n);
        else
            *at = n;
    }
}

struct qc_node *json_closed(struct json_reader *r, struct json_items items,
                            struct qc_loc close)
{
    struct qc_node *n = items.node;
    struct qc_diag *d;

    if (items.last == JSON_COMMA && !items.bad && !at_end(r, close)) {
        d = qc_report(r->qc, QC_JSON_TRAILING_COMMA, close,
                      "a comma may not come before '%s'", json_shown(r, close));
        qc_note(r->qc, d, last_loc(&items), "remove this comma");
        qc_fix(r->qc, d, last_loc(&items), QC_STR(""));
    }
    n->closed = close.len != 0;
    n->end = close.at + close.len;
    if (n->kind == QC_GROUP && n->count <= FEW)
        check_few_keys(r, n);
    else if (n->kind == QC_GROUP)
        check_many_keys(r, n);
    return n;
}

void json_no_document(struct json_reader *r)
{
    struct qc_loc end = {r->file, (uint32_t)r->file->size, 0};

    if (!r->file->errors)
        qc_report(r->qc, QC_JSON_EMPTY, end,
                  r->file->size ? "the file holds no value, only blanks"
                                : "the file is empty");
}

void json_unexpected(struct json_reader *r, struct qc_loc loc)
{
    if (!r->file->fatal && r->depth == 0 && !r->done)
        qc_report(r->qc, QC_JSON_EXPECTED_VALUE, loc,
                  "expected a JSON value, found %s", json_found(r, loc));
}
