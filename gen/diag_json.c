/* Diagnostics for programs: one JSON object a line, or one SARIF log.
 *
 * The lines have a writer of their own, so that a quantc without cJSON keeps
 * them. Text that is not UTF-8 (a file's name can be anything) is shown with
 * the replacement character: the output is valid JSON whatever happens. */
#include "qc.h"

#include <stdio.h>
#include <string.h>

#ifdef QC_HAVE_CJSON
#include <cjson/cJSON.h>
#include <stdlib.h>
#endif

/* Code points of a place on its first line; at least its beginning. */
struct extent {
    struct qc_position start;
    uint32_t end_col; /* behind the last character */
};

static struct extent extent_of(struct qc *qc, struct qc_loc loc)
{
    struct extent e;
    uint32_t end = loc.at, stop = loc.at + loc.len;

    e.start = qc_position(qc, loc.file, loc.at);
    if (loc.file->binary) {
        e.end_col = e.start.col + loc.len;
        return e;
    }
    while (end < stop && end < loc.file->size && loc.file->text[end] != '\n')
        end++;
    e.end_col = qc_position(qc, loc.file, end).col;
    if (end > loc.at && end < stop && loc.file->text[end - 1] == '\r')
        e.end_col--;
    return e;
}

static const char *severity_word(const struct qc_diag *d)
{
    return d->severity == QC_WARNING ? "warning"
           : d->severity == QC_ERROR ? "error"
                                     : "fatal error";
}

/* ---- JSON lines ---- */

static void put_string(FILE *to, const char *z)
{
    const char *end = z + strlen(z);

    putc('"', to);
    while (z < end) {
        uint32_t code;
        unsigned len = qc_utf8(z, end, &code);

        if (len == 0)
            fputs("\xEF\xBF\xBD", to);
        else if (code == '"' || code == '\\')
            fprintf(to, "\\%c", (int)code);
        else if (code < 0x20 || code == 0x7F)
            fprintf(to, "\\u%04x", (unsigned)code);
        else
            fwrite(z, 1, len, to);
        z += len ? len : 1;
    }
    putc('"', to);
}

static void put_columns(FILE *to, struct qc *qc, struct qc_loc loc)
{
    struct extent e = extent_of(qc, loc);

    fprintf(to, "\"line\":%u,\"col\":%u,\"end_col\":%u", (unsigned)e.start.line,
            (unsigned)e.start.col, (unsigned)e.end_col);
}

static void put_place(FILE *to, struct qc *qc, struct qc_loc loc)
{
    fputs("\"file\":", to);
    put_string(to, loc.file->name);
    putc(',', to);
    put_columns(to, qc, loc);
    fprintf(to, ",\"byte_col\":%u",
            (unsigned)qc_position(qc, loc.file, loc.at).byte_col);
}

static void put_line(FILE *to, struct qc *qc, const struct qc_diag *d)
{
    const struct qc_note *n;

    putc('{', to);
    put_place(to, qc, d->loc);
    fprintf(to, ",\"severity\":\"%s\",\"key\":\"%s\",\"message\":",
            severity_word(d), qc_key_name(d->key));
    put_string(to, d->text);
    fputs(",\"help\":[", to);
    for (n = d->helps; n; n = n->next) {
        put_string(to, n->text);
        if (n->next)
            putc(',', to);
    }
    fputs("],\"notes\":[", to);
    for (n = d->notes; n; n = n->next) {
        putc('{', to);
        put_place(to, qc, n->loc);
        fputs(",\"message\":", to);
        put_string(to, n->text);
        fputs(n->next ? "}," : "}", to);
    }
    putc(']', to);
    if (d->has_fix) {
        fputs(",\"fix\":{", to);
        put_columns(to, qc, d->fix_loc);
        fputs(",\"text\":", to);
        put_string(to, qc_cstr(qc, d->fix_text));
        putc('}', to);
    }
    fputs("}\n", to);
}

void qc_json_diags(struct qc *qc, const struct qc_file *f)
{
    const struct qc_diag *d;
    size_t shown = 0;

    for (d = f->diags; d; d = d->next) {
        if (d->severity >= QC_ERROR && qc->max_errors &&
            shown++ == qc->max_errors) {
            fputs("{\"file\":", stderr);
            put_string(stderr, f->name);
            fprintf(stderr,
                    ",\"severity\":\"note\",\"key\":\"lim.errors\","
                    "\"message\":\"too many errors: %zu\"}\n",
                    f->errors);
            return;
        }
        put_line(stderr, qc, d);
    }
}

/* ---- SARIF ---- */

#ifdef QC_HAVE_CJSON

/* A file's name as a relative URI. */
static const char *uri_of(struct qc *qc, const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789-._~/";
    char *out = qc_alloc(qc, strlen(name) * 3 + 1), *p = out;

    for (; *name; name++) {
        if (strchr(plain, *name))
            *p++ = *name;
        else
            p += sprintf(p, "%%%02X", (unsigned)(unsigned char)*name);
    }
    return out;
}

static cJSON *with_text(const char *text)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "text", text);
    return o;
}

static cJSON *artifact(struct qc *qc, const struct qc_file *f)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "uri", uri_of(qc, f->name));
    return o;
}

static cJSON *region(struct qc *qc, struct qc_loc loc)
{
    struct extent e = extent_of(qc, loc);
    cJSON *o = cJSON_CreateObject();

    if (loc.file->binary) {
        cJSON_AddNumberToObject(o, "byteOffset", loc.at);
        cJSON_AddNumberToObject(o, "byteLength", loc.len);
        return o;
    }
    cJSON_AddNumberToObject(o, "startLine", e.start.line);
    cJSON_AddNumberToObject(o, "startColumn", e.start.col);
    cJSON_AddNumberToObject(o, "endColumn", e.end_col);
    return o;
}

static cJSON *location(struct qc *qc, struct qc_loc loc, const char *text)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *place = cJSON_AddObjectToObject(o, "physicalLocation");

    cJSON_AddItemToObject(place, "artifactLocation", artifact(qc, loc.file));
    cJSON_AddItemToObject(place, "region", region(qc, loc));
    if (text)
        cJSON_AddItemToObject(o, "message", with_text(text));
    return o;
}

static cJSON *fix(struct qc *qc, const struct qc_diag *d)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *change = cJSON_CreateObject(), *part = cJSON_CreateObject();

    cJSON_AddItemToArray(cJSON_AddArrayToObject(o, "artifactChanges"), change);
    cJSON_AddItemToObject(change, "artifactLocation",
                          artifact(qc, d->fix_loc.file));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(change, "replacements"), part);
    cJSON_AddItemToObject(part, "deletedRegion", region(qc, d->fix_loc));
    cJSON_AddItemToObject(part, "insertedContent",
                          with_text(qc_cstr(qc, d->fix_text)));
    return o;
}

/* The message and its help: SARIF has no place of its own for help. */
static const char *whole_text(struct qc *qc, const struct qc_diag *d)
{
    struct qc_str text = qc_str(d->text);
    const struct qc_note *n;

    for (n = d->helps; n; n = n->next)
        text = qc_format(qc, "%.*s\nhelp: %s", QC_ARG(text), n->text);
    return text.ptr;
}

static cJSON *result(struct qc *qc, const struct qc_diag *d, int rule)
{
    cJSON *o = cJSON_CreateObject(), *related;
    const struct qc_note *n;

    cJSON_AddStringToObject(o, "ruleId", qc_key_name(d->key));
    cJSON_AddNumberToObject(o, "ruleIndex", rule);
    cJSON_AddStringToObject(o, "level",
                            d->severity == QC_WARNING ? "warning" : "error");
    cJSON_AddItemToObject(o, "message", with_text(whole_text(qc, d)));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(o, "locations"),
                         location(qc, d->loc, NULL));
    related = d->notes ? cJSON_AddArrayToObject(o, "relatedLocations") : NULL;
    for (n = d->notes; n; n = n->next)
        cJSON_AddItemToArray(related, location(qc, n->loc, n->text));
    if (d->has_fix)
        cJSON_AddItemToArray(cJSON_AddArrayToObject(o, "fixes"), fix(qc, d));
    return o;
}

/* The index of a key among the rules; the rule is added at its first use. */
static int rule_of(cJSON *rules, enum qc_key key)
{
    const char *name = qc_key_name(key);
    cJSON *rule;
    int i = 0;

    cJSON_ArrayForEach(rule, rules)
    {
        if (strcmp(cJSON_GetObjectItem(rule, "id")->valuestring, name) == 0)
            return i;
        i++;
    }
    rule = cJSON_CreateObject();
    cJSON_AddStringToObject(rule, "id", name);
    cJSON_AddItemToObject(rule, "shortDescription", with_text(qc_key_doc(key)));
    cJSON_AddItemToArray(rules, rule);
    return i;
}

static void add_results(struct qc *qc, const struct qc_file *f, cJSON *rules,
                        cJSON *results)
{
    const struct qc_diag *d;
    size_t shown = 0;

    for (d = f->diags; d; d = d->next) {
        if (d->severity >= QC_ERROR && qc->max_errors &&
            shown++ == qc->max_errors)
            return;
        cJSON_AddItemToArray(results, result(qc, d, rule_of(rules, d->key)));
    }
}

bool qc_sarif_diags(struct qc *qc)
{
    cJSON_Hooks hooks = {qc_need, free};
    cJSON *log, *run, *driver, *rules, *results;
    const struct qc_file *f;
    char *text;

    cJSON_InitHooks(&hooks);
    log = cJSON_CreateObject();
    run = cJSON_CreateObject();
    cJSON_AddStringToObject(log, "$schema",
                            "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/"
                            "schemas/sarif-schema-2.1.0.json");
    cJSON_AddStringToObject(log, "version", "2.1.0");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(log, "runs"), run);
    driver =
        cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
    cJSON_AddStringToObject(driver, "name", "quantc");
    cJSON_AddStringToObject(driver, "version", QC_VERSION);
    rules = cJSON_AddArrayToObject(driver, "rules");
    cJSON_AddStringToObject(run, "columnKind", "unicodeCodePoints");
    results = cJSON_AddArrayToObject(run, "results");
    for (f = qc->files; f; f = f->next)
        add_results(qc, f, rules, results);
    text = cJSON_Print(log);
    if (!text)
        qc_out_of_memory();
    fprintf(stderr, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(log);
    return true;
}

#else

bool qc_sarif_diags(struct qc *qc)
{
    (void)qc;
    fputs("quantc: --diag=sarif: this quantc was built without cJSON; "
          "JSON lines follow\n",
          stderr);
    return false;
}

#endif
