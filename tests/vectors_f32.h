/* Reads the vector files of the float kernels, and those of the integer ones.
 *
 * One field a line: a letter for the kind, a name, the value. The kinds are
 * described in vectors/make_vectors.py and vectors/make_vectors_f32.py. A
 * field that refers to an array of the shared folder (QC_SHARED, default
 * ../shared) is read from there; where the folder is missing the case is
 * skipped, and vf_close says how many were. */
#ifndef VECTORS_F32_H
#define VECTORS_F32_H

#include "cmocka_all.h"

#include <stdio.h>

#define VF_FIELDS 48
#define VF_SHARED 64

struct vf_field {
    char kind;
    const char *name;
    char *value;
};

struct vf {
    const char *file;
    char *text, *next; /* rest of the text; lines are cut as they are read */
    struct vf_field array[VF_SHARED];
    size_t arrays;
    /* the case */
    const char *id;
    struct vf_field field[VF_FIELDS];
    size_t fields;
    void *owned[4 * VF_FIELDS];
    size_t owned_count;
    bool missing; /* an array of it is not there */
    unsigned cases, skipped;
};

__attribute__((unused)) static const char *vf_shared(void)
{
    const char *dir = getenv("QC_SHARED");
    return dir && *dir ? dir : "../shared";
}

static void *vf_own(struct vf *v, size_t size)
{
    void *p = calloc(1, size ? size : 1);
    assert_non_null(p);
    assert_true(v->owned_count < 4 * VF_FIELDS);
    v->owned[v->owned_count++] = p;
    return p;
}

static void vf_drop(struct vf *v)
{
    while (v->owned_count > 0)
        free(v->owned[--v->owned_count]);
}

/* The next line as a field; false at the end. */
static bool vf_line(struct vf *v, struct vf_field *f)
{
    char *line = v->next, *end;
    if (!line || !*line)
        return false;
    end = strchr(line, '\n');
    v->next = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    f->kind = line[0];
    if (strncmp(line, "case ", 5) == 0) {
        f->kind = 'C';
        f->name = line + 5;
        return true;
    }
    f->name = line + 2;
    f->value = line + strlen(line);
    if (*line && *line != '#') {
        char *space = strchr(line + 2, ' ');
        assert_non_null(space);
        *space = 0;
        f->value = space + 1;
    }
    return true;
}

__attribute__((unused)) static void vf_open(struct vf *v, const char *file)
{
    char path[256];
    FILE *f;
    long size;
    memset(v, 0, sizeof *v);
    v->file = file;
    snprintf(path, sizeof path, "tests/vectors/%s", file);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("%s: run from the top of the source tree", path);
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    v->text = calloc(1, (size_t)size + 1);
    assert_non_null(v->text);
    assert_int_equal(fread(v->text, 1, (size_t)size, f), size);
    fclose(f);
    v->next = v->text;
}

/* Goes to the next case. */
__attribute__((unused)) static bool vf_next(struct vf *v)
{
    struct vf_field f;
    vf_drop(v);
    v->skipped += v->missing ? 1 : 0;
    v->missing = false;
    v->fields = 0;
    do {
        if (!vf_line(v, &f))
            return false;
        if (f.kind == 'a') {
            assert_true(v->arrays < VF_SHARED);
            v->array[v->arrays++] = f;
        }
    } while (f.kind != 'C');
    v->id = f.name;
    v->cases++;
    while (v->next && strncmp(v->next, "case ", 5) != 0 && vf_line(v, &f)) {
        assert_true(v->fields < VF_FIELDS);
        v->field[v->fields++] = f;
    }
    return true;
}

__attribute__((unused)) static void vf_close(struct vf *v)
{
    if (v->skipped)
        printf("skipped: %u of %u cases of %s: no folder %s/golden\n",
               v->skipped, v->cases, v->file, vf_shared());
    vf_drop(v);
    free(v->text);
}

static struct vf_field *vf_find(struct vf *v, const char *name)
{
    for (size_t i = 0; i < v->fields; i++)
        if (strcmp(v->field[i].name, name) == 0)
            return &v->field[i];
    return NULL;
}

__attribute__((unused)) static bool vf_has(struct vf *v, const char *name)
{
    return vf_find(v, name) != NULL;
}

static struct vf_field *vf_need(struct vf *v, const char *name)
{
    struct vf_field *f = vf_find(v, name);
    if (!f)
        fail_msg("%s: %s has no field %s", v->file, v->id, name);
    return f;
}

/* The integers of a field; *n of them. */
__attribute__((unused)) static int32_t *vf_ints(struct vf *v, const char *name,
                                                size_t *n)
{
    struct vf_field *f = vf_need(v, name);
    int32_t *out = vf_own(v, strlen(f->value) * sizeof *out / 2 + 8);
    char *p = f->value, *end;
    size_t k = 0;
    for (;; p = end) {
        long x = strtol(p, &end, 10);
        if (end == p)
            break;
        out[k++] = (int32_t)x;
    }
    if (n)
        *n = k;
    return out;
}

__attribute__((unused)) static int32_t vf_int(struct vf *v, const char *name)
{
    return (int32_t)strtol(vf_need(v, name)->value, NULL, 10);
}

static uint8_t *vf_base64(struct vf *v, const char *text, size_t *n)
{
    static const char set[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *out = vf_own(v, strlen(text) / 4 * 3 + 8);
    uint32_t word = 0;
    unsigned bits = 0;
    *n = 0;
    for (; *text && *text != '='; text++) {
        const char *at = strchr(set, *text);
        assert_non_null(at);
        word = (word << 6) | (uint32_t)(at - set);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[(*n)++] = (uint8_t)(word >> bits);
        }
    }
    return out;
}

/* The body of a .npy file below the golden folder, or null. */
static uint8_t *vf_npy(struct vf *v, const char *name, size_t *n)
{
    char path[512];
    uint8_t head[10], *out;
    FILE *f;
    long size, skip;
    snprintf(path, sizeof path, "%s/golden/%s", vf_shared(), name);
    f = fopen(path, "rb");
    if (!f) {
        v->missing = true;
        return NULL;
    }
    assert_int_equal(fread(head, 1, 10, f), 10);
    skip = 10 + head[8] + 256 * head[9];
    fseek(f, 0, SEEK_END);
    size = ftell(f) - skip;
    fseek(f, skip, SEEK_SET);
    out = vf_own(v, (size_t)size + 8);
    assert_int_equal(fread(out, 1, (size_t)size, f), size);
    fclose(f);
    *n = (size_t)size;
    return out;
}

/* The bytes of a field of kind b, d, r or @. */
static uint8_t *vf_bytes(struct vf *v, const char *name, size_t *n)
{
    struct vf_field *f = vf_need(v, name);
    if (f->kind == '@')
        return vf_npy(v, f->value, n);
    if (f->kind == 'r') {
        size_t i = 0;
        while (i < v->arrays && strcmp(v->array[i].name, f->value) != 0)
            i++;
        assert_true(i < v->arrays);
        return vf_base64(v, v->array[i].value, n);
    }
    return vf_base64(v, f->value, n);
}

/* The floats of a field; null where the folder is missing. */
__attribute__((unused)) static float *vf_floats(struct vf *v, const char *name,
                                                size_t *n)
{
    size_t size = 0;
    uint8_t *b = vf_bytes(v, name, &size);
    float *out = b ? vf_own(v, size) : NULL;
    for (size_t i = 0; b && i + 4 <= size; i += 4) {
        uint32_t u = (uint32_t)b[i] | (uint32_t)b[i + 1] << 8 |
                     (uint32_t)b[i + 2] << 16 | (uint32_t)b[i + 3] << 24;
        memcpy(out + i / 4, &u, 4);
    }
    if (n)
        *n = size / 4;
    return out;
}

__attribute__((unused)) static float vf_float(struct vf *v, const char *name)
{
    return vf_floats(v, name, NULL)[0];
}

__attribute__((unused)) static double *vf_doubles(struct vf *v,
                                                  const char *name, size_t *n)
{
    size_t size = 0;
    uint8_t *b = vf_bytes(v, name, &size);
    double *out = b ? vf_own(v, size) : NULL;
    for (size_t i = 0; b && i + 8 <= size; i += 8) {
        uint64_t u = 0;
        for (unsigned k = 0; k < 8; k++)
            u |= (uint64_t)b[i + k] << (8 * k);
        memcpy(out + i / 8, &u, 8);
    }
    if (n)
        *n = size / 8;
    return out;
}

/* int8 codes of a field of kind c, or of an int8 .npy. */
__attribute__((unused)) static int8_t *vf_codes(struct vf *v, const char *name,
                                                size_t *n)
{
    struct vf_field *f = vf_need(v, name);
    if (f->kind == '@')
        return (int8_t *)vf_npy(v, f->value, n);
    size_t k = strlen(f->value) / 2;
    int8_t *out = vf_own(v, k);
    for (size_t i = 0; i < k; i++) {
        char two[3] = {f->value[2 * i], f->value[2 * i + 1], 0};
        out[i] = (int8_t)(uint8_t)strtoul(two, NULL, 16);
    }
    *n = k;
    return out;
}

/* ---- comparing */

static uint32_t vf_pattern(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u == 0x80000000u ? 0 : u; /* -0 equals 0 */
}

static uint32_t vf_hash_word(uint32_t h, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        h = (h ^ (word >> (8 * i) & 255)) * 0x01000193u;
    return h;
}

__attribute__((unused)) static void
vf_check_hash(struct vf *v, const char *name, const float *x, size_t n)
{
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < n; i++)
        h = vf_hash_word(h, vf_pattern(x[i]));
    if (h != (uint32_t)strtoul(vf_need(v, name)->value, NULL, 10))
        fail_msg("%s: %s differs", v->id, name);
}

__attribute__((unused)) static void
vf_check_bits(struct vf *v, const char *name, const float *x, size_t n)
{
    size_t k = 0;
    float *want = vf_floats(v, name, &k);
    assert_int_equal(k, n);
    for (size_t i = 0; i < n; i++)
        if (vf_pattern(want[i]) != vf_pattern(x[i]))
            fail_msg("%s: %s[%zu] is %.9g, not %.9g", v->id, name, i,
                     (double)x[i], (double)want[i]);
}

__attribute__((unused)) static void
vf_check_ints(struct vf *v, const char *name, const int32_t *x, size_t n)
{
    size_t k = 0;
    int32_t *want = vf_ints(v, name, &k);
    assert_int_equal(k, n);
    for (size_t i = 0; i < n; i++)
        if (want[i] != x[i])
            fail_msg("%s: %s[%zu] is %d, not %d", v->id, name, i, (int)x[i],
                     (int)want[i]);
}

__attribute__((unused)) static void
vf_check_codes(struct vf *v, const char *name, const int8_t *x, size_t n)
{
    size_t k = 0;
    int8_t *want = vf_codes(v, name, &k);
    if (!want)
        return;
    assert_int_equal(k, n);
    for (size_t i = 0; i < n; i++)
        if (want[i] != x[i])
            fail_msg("%s: %s[%zu] is %d, not %d", v->id, name, i, x[i],
                     want[i]);
}

/* Distance in units of the last place, of two numbers of one sign. */
__attribute__((unused)) static uint32_t vf_ulp(float a, float b)
{
    int64_t d = (int64_t)vf_pattern(a) - (int64_t)vf_pattern(b);
    return (uint32_t)(d < 0 ? -d : d);
}

#endif
