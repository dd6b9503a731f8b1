/* The SBOM of what a run writes: SPDX 2.3 as JSON, for merging into that of
 * the firmware. Generated files, the inputs they were generated from, the
 * compiler, and the runtime that the tables need.
 *
 * SPDX wants a time and a unique name for every document. The name is made
 * from the checksums; the time is SOURCE_DATE_EPOCH, else 1970: equal inputs
 * give equal bytes. */
#define _POSIX_C_SOURCE 200809L
#include "emit.h"

#include "digest.h"
#include "json_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAST_TIME 253402300799LL /* 9999-12-31T23:59:59Z */

struct part {
    const char *id, *name;
    const char *type; /* SPDX's fileTypes */
    char sha1[QC_DIGEST_ROOM], sha256[QC_DIGEST_ROOM];
};

struct sbom {
    struct qc_json j;
    struct qc *qc;
    struct part *made, *read;
    size_t made_count, read_count;
};

static void text(struct sbom *s, const char *key, const char *z)
{
    qc_json_text(&s->j, key, qc_str(z));
}

/* ---- what there is ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (!dot)
        return "OTHER";
    if (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".S"))
        return "SOURCE";
    if (!strcmp(dot, ".json") || !strcmp(dot, ".cfg") || !strcmp(dot, ".txt") ||
        !strcmp(dot, ".layers"))
        return "TEXT";
    return "BINARY";
}

static void set_part(struct qc *qc, struct part *p, const char *kind, size_t i,
                     const char *path, struct qc_str content)
{
    uint8_t digest[QC_SHA256_SIZE];

    p->id = qc_format(qc, "SPDXRef-%s-%u", kind, (unsigned)i + 1).ptr;
    p->name = qc_format(qc, "./%s", base_name(path)).ptr;
    p->type = type_of(base_name(path));
    qc_sha1(content, digest);
    qc_hex(digest, QC_SHA1_SIZE, p->sha1);
    qc_sha256(content, digest);
    qc_hex(digest, QC_SHA256_SIZE, p->sha256);
}

static void collect(struct sbom *s, struct qc_out *const *outs, size_t count)
{
    const struct qc_file *f;
    size_t i, n = 0;

    for (f = s->qc->files; f; f = f->next)
        n++;
    s->made = qc_alloc(s->qc, (count + 1) * sizeof(*s->made));
    s->read = qc_alloc(s->qc, (n + 1) * sizeof(*s->read));
    for (i = 0; i < count; i++)
        set_part(s->qc, &s->made[i], "Generated", i, outs[i]->path,
                 (struct qc_str){outs[i]->text, outs[i]->size});
    s->made_count = count;
    for (f = s->qc->files, i = 0; f; f = f->next, i++)
        set_part(s->qc, &s->read[i], "Input", i, f->name,
                 (struct qc_str){f->text, f->size});
    s->read_count = n;
}

/* ---- the document ---- */

/* False: SOURCE_DATE_EPOCH is no number of seconds. */
static bool created(char at[32])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    long long seconds = 0;
    time_t t;
    struct tm tm;
    char *end;

    if (epoch) {
        errno = 0;
        seconds = strtoll(epoch, &end, 10);
        if (*epoch < '0' || *epoch > '9' || *end || errno ||
            seconds > LAST_TIME)
            return false;
    }
    t = (time_t)seconds;
    if (t != seconds || !gmtime_r(&t, &tm))
        return false;
    strftime(at, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return true;
}

/* A UUID of names and checksums, laid out as RFC 4122's version 5. */
static const char *unique_name(struct sbom *s, const char *name, const char *at)
{
    struct qc_out *all = qc_out_new(s->qc, NULL);
    char hex[QC_DIGEST_ROOM];
    uint8_t sum[QC_SHA1_SIZE];
    size_t i;

    qc_printf(all, "quantc %s %s %s\n", QC_VERSION, name, at);
    for (i = 0; i < s->made_count; i++)
        qc_printf(all, "%s %s\n", s->made[i].name, s->made[i].sha256);
    for (i = 0; i < s->read_count; i++)
        qc_printf(all, "%s %s\n", s->read[i].name, s->read[i].sha256);
    qc_sha1((struct qc_str){all->text, all->size}, sum);
    sum[6] = (uint8_t)((sum[6] & 0x0F) | 0x50);
    sum[8] = (uint8_t)((sum[8] & 0x3F) | 0x80);
    qc_hex(sum, 16, hex);
    return qc_format(s->qc, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
                     hex + 16, hex + 20)
        .ptr;
}

static void put_head(struct sbom *s, const char *name, const char *at)
{
    text(s, "spdxVersion", "SPDX-2.3");
    text(s, "dataLicense", "CC0-1.0");
    text(s, "SPDXID", "SPDXRef-DOCUMENT");
    text(s, "name", name);
    text(s, "documentNamespace",
         qc_format(s->qc, "https://spdx.org/spdxdocs/%s-%s", name,
                   unique_name(s, name, at))
             .ptr);
    qc_json_open(&s->j, "creationInfo", '{');
    text(s, "created", at);
    qc_json_open(&s->j, "creators", '[');
    text(s, NULL, "Tool: quantc-" QC_VERSION);
    qc_json_close(&s->j, ']');
    qc_json_close(&s->j, '}');
}

static void put_package(struct sbom *s, const char *id, const char *name)
{
    qc_json_open(&s->j, NULL, '{');
    text(s, "SPDXID", id);
    text(s, "name", name);
    text(s, "versionInfo", QC_VERSION);
    text(s, "downloadLocation", "NOASSERTION");
    qc_json_bool(&s->j, "filesAnalyzed", false);
    text(s, "licenseConcluded", "MIT");
    text(s, "licenseDeclared", "MIT");
    text(s, "copyrightText", "NOASSERTION");
    qc_json_close(&s->j, '}');
}

static void put_sum(struct sbom *s, const char *algorithm, const char *hex)
{
    qc_json_open(&s->j, NULL, '{');
    text(s, "algorithm", algorithm);
    text(s, "checksumValue", hex);
    qc_json_close(&s->j, '}');
}

static void put_file(struct sbom *s, const struct part *p)
{
    qc_json_open(&s->j, NULL, '{');
    text(s, "SPDXID", p->id);
    text(s, "fileName", p->name);
    qc_json_open(&s->j, "fileTypes", '[');
    text(s, NULL, p->type);
    qc_json_close(&s->j, ']');
    qc_json_open(&s->j, "checksums", '[');
    put_sum(s, "SHA1", p->sha1);
    put_sum(s, "SHA256", p->sha256);
    qc_json_close(&s->j, ']');
    text(s, "licenseConcluded", "NOASSERTION");
    text(s, "copyrightText", "NOASSERTION");
    qc_json_close(&s->j, '}');
}

static void relate(struct sbom *s, const char *a, const char *type,
                   const char *b)
{
    qc_json_open(&s->j, NULL, '{');
    text(s, "spdxElementId", a);
    text(s, "relationshipType", type);
    text(s, "relatedSpdxElement", b);
    qc_json_close(&s->j, '}');
}

static void put_relations(struct sbom *s)
{
    size_t i, k;

    for (i = 0; i < s->made_count; i++) {
        const char *id = s->made[i].id;

        relate(s, "SPDXRef-DOCUMENT", "DESCRIBES", id);
        for (k = 0; k < s->read_count; k++)
            relate(s, id, "GENERATED_FROM", s->read[k].id);
        relate(s, "SPDXRef-quantc", "BUILD_TOOL_OF", id);
        relate(s, id, "DEPENDS_ON", "SPDXRef-libquantrt");
    }
}

bool qc_emit_sbom(struct qc_out *o, const char *name,
                  struct qc_out *const *outs, size_t count)
{
    struct sbom s = {0};
    char at[32];
    size_t i;

    if (!created(at)) {
        fprintf(stderr,
                "quantc: --sbom: SOURCE_DATE_EPOCH is '%s', not a number of "
                "seconds\n",
                getenv("SOURCE_DATE_EPOCH"));
        return false;
    }
    s.j.out = o;
    s.qc = o->qc;
    collect(&s, outs, count);
    qc_json_open(&s.j, NULL, '{');
    put_head(&s, name, at);
    qc_json_open(&s.j, "packages", '[');
    put_package(&s, "SPDXRef-quantc", "quantc");
    put_package(&s, "SPDXRef-libquantrt", "libquantrt");
    qc_json_close(&s.j, ']');
    qc_json_open(&s.j, "files", '[');
    for (i = 0; i < s.made_count; i++)
        put_file(&s, &s.made[i]);
    for (i = 0; i < s.read_count; i++)
        put_file(&s, &s.read[i]);
    qc_json_close(&s.j, ']');
    qc_json_open(&s.j, "relationships", '[');
    put_relations(&s);
    qc_json_close(&s.j, ']');
    qc_json_close(&s.j, '}');
    qc_puts(o, "\n");
    return true;
}
