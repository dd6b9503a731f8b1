/* Writes JSON as Python's json.dump(indent=4, separators=(',', ':')) does. */
#include "json_out.h"

#include "decimal.h"
#include "json.h"

#include <inttypes.h>

static void new_line(struct qc_json *j)
{
    unsigned i;

    qc_puts(j->out, "\n");
    for (i = 0; i < j->depth; i++)
        qc_puts(j->out, "    ");
}

/* What stands before a member or element. */
static void start(struct qc_json *j)
{
    if (!j->depth)
        return;
    if (j->has_members)
        qc_puts(j->out, ",");
    new_line(j);
    j->has_members = true;
}

void qc_json_key(struct qc_json *j, struct qc_str key)
{
    start(j);
    qc_put_json_string(j->out, key);
    qc_puts(j->out, ":");
}

/* After qc_json_key the value follows on the same line: key is "". */
static void before(struct qc_json *j, const char *key)
{
    if (!key)
        start(j);
    else if (*key)
        qc_json_key(j, qc_str(key));
}

void qc_json_open(struct qc_json *j, const char *key, char bracket)
{
    before(j, key);
    qc_put(j->out, &bracket, 1);
    j->depth++;
    j->has_members = false;
}

void qc_json_close(struct qc_json *j, char bracket)
{
    j->depth--;
    if (j->has_members)
        new_line(j);
    qc_put(j->out, &bracket, 1);
    j->has_members = true;
}

void qc_json_bool(struct qc_json *j, const char *key, bool b)
{
    before(j, key);
    qc_puts(j->out, b ? "true" : "false");
}

void qc_json_int(struct qc_json *j, const char *key, int64_t i)
{
    before(j, key);
    qc_printf(j->out, "%" PRId64, i);
}

void qc_json_float(struct qc_json *j, const char *key, double v)
{
    char text[QC_DECIMAL_ROOM];

    before(j, key);
    qc_puts(j->out, qc_shortest_f64(v, text));
}

void qc_json_text(struct qc_json *j, const char *key, struct qc_str s)
{
    before(j, key);
    qc_put_json_string(j->out, s);
}

void qc_json_raw(struct qc_json *j, const char *key, struct qc_str number)
{
    before(j, key);
    qc_put(j->out, number.ptr, number.len);
}
