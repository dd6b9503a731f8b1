/* Builders of the tree that the text, JSON and wire readers share. */
#include "qc.h"

struct qc_node *qc_node(struct qc *qc, enum qc_node_kind kind,
                        struct qc_loc loc, struct qc_str text)
{
    struct qc_node *n = qc_alloc(qc, sizeof(*n));

    n->kind = (uint8_t)kind;
    n->loc = loc;
    n->text = text;
    n->end = loc.at + loc.len;
    return n;
}

struct qc_node *qc_named(struct qc_node *n, struct qc_str name,
                         struct qc_loc loc)
{
    n->name = name;
    n->name_loc = loc;
    return n;
}

void qc_append(struct qc_node *parent, struct qc_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

struct qc_node *qc_child(const struct qc_node *n, const char *name)
{
    struct qc_node *c;

    for (c = n->first; c; c = c->next)
        if (qc_equalz(c->name, name))
            return c;
    return NULL;
}

struct qc_loc qc_span(struct qc_loc a, struct qc_loc b)
{
    return (struct qc_loc){a.file, a.at, b.at + b.len - a.at};
}
