/* Reads the vector files that tests/vectors/make_vectors.py describes. All
 * values are int32_t; those of `b` fields are binary32 patterns. */
#ifndef VECTORS_H
#define VECTORS_H

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>

struct vec_field {
    char name[32];
    size_t n;
    int32_t *v;
};

struct vec_case {
    char id[32];
    struct vec_field field[32];
    size_t fields;
    bool missing; /* refers to an array that is not there */
};

static inline FILE *vec_open(const char *name)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "tests/vectors/%s", name);
    f = fopen(path, "r");
    if (f == NULL) {
        fail_msg("%s: cannot open; run from the top folder", path);
    }
    return f;
}

static inline float vec_float(int32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t vec_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static inline void vec_push(struct vec_field *f, int32_t v)
{
    if ((f->n & (f->n + 1)) == 0) {
        f->v = realloc(f->v, (2 * f->n + 2) * sizeof *f->v);
        assert_non_null(f->v);
    }
    f->v[f->n++] = v;
}

static inline uint32_t vec_le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void vec_base64(struct vec_field *f, const char *s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                 "tuvwxyz0123456789+/";
    unsigned char word[4];
    unsigned have = 0, bits = 0, held = 0;

    for (; *s != '\0' && *s != '=' && *s != '\n'; s++) {
        const char *at = strchr(digits, *s);

        assert_non_null(at);
        bits = (bits << 6 | (unsigned)(at - digits)) & 0xffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            word[have++] = (unsigned char)(bits >> held);
        }
        if (have == 4) {
            vec_push(f, (int32_t)vec_le32(word));
            have = 0;
        }
    }
}

/* A .npy array of int8 or 4-byte elements below $QC_SHARED/golden. */
static inline bool vec_npy(struct vec_field *f, const char *name)
{
    const char *shared = getenv("QC_SHARED");
    char path[512], head[256] = "";
    unsigned char b[10];
    size_t size;
    FILE *in;

    snprintf(path, sizeof path, "%s/golden/%s", shared ? shared : "../shared",
             name);
    path[strcspn(path, "\n")] = '\0';
    in = fopen(path, "rb");
    if (in == NULL) {
        return false;
    }
    assert_int_equal(fread(b, 1, 10, in), 10);
    size = b[8] + 256u * b[9];
    assert_true(size < sizeof head && fread(head, 1, size, in) == size);
    if (strstr(head, "|i1") != NULL) {
        for (int c; (c = getc(in)) != EOF;) {
            vec_push(f, (int8_t)c);
        }
    } else {
        while (fread(b, 1, 4, in) == 4) {
            vec_push(f, (int32_t)vec_le32(b));
        }
    }
    fclose(in);
    return true;
}

static inline void vec_free(struct vec_case *c)
{
    for (size_t i = 0; i < c->fields; i++) {
        free(c->field[i].v);
    }
    memset(c, 0, sizeof *c);
}

static inline void vec_parse(struct vec_case *c, char kind, char *s)
{
    struct vec_field *f = &c->field[c->fields++];
    size_t n = strcspn(s, " ");

    assert_true(c->fields <= 32 && n < sizeof f->name);
    memcpy(f->name, s, n);
    s += n + 1;
    if (kind == 'b') {
        vec_base64(f, s);
    } else if (kind == 'c') {
        for (; s[0] > ' '; s += 2) {
            char pair[3] = {s[0], s[1], '\0'};

            vec_push(f, (int8_t)strtol(pair, NULL, 16));
        }
    } else if (kind == 'm') {
        for (; s[0] > ' '; s++) {
            vec_push(f, s[0] - '0');
        }
    } else if (kind == '@') {
        c->missing |= !vec_npy(f, s);
    } else {
        for (char *end = s; *s > '\n'; s = end) {
            vec_push(f, (int32_t)strtoll(s, &end, 10));
            end += strspn(end, " ");
        }
    }
}

/* The next case of the file; false at its end. A file without cases fails. */
static inline bool vec_next(FILE *f, struct vec_case *c)
{
    char *line = NULL;
    size_t size = 0;
    long at = ftell(f);

    vec_free(c);
    while (getline(&line, &size, f) > 0) {
        if (line[0] == 'c' && line[1] == 'a') {
            if (c->id[0] != '\0') {
                fseek(f, at, SEEK_SET);
                break;
            }
            sscanf(line, "case %31s", c->id);
        } else if (line[0] != '#') {
            vec_parse(c, line[0], line + 2);
        }
        at = ftell(f);
    }
    free(line);
    return c->id[0] != '\0';
}

static inline const struct vec_field *vec_find(const struct vec_case *c,
                                               const char *name)
{
    for (size_t i = 0; i < c->fields; i++) {
        if (strcmp(c->field[i].name, name) == 0) {
            return &c->field[i];
        }
    }
    return NULL;
}

static inline bool vec_has(const struct vec_case *c, const char *name)
{
    return vec_find(c, name) != NULL;
}

static inline const struct vec_field *vec_get(const struct vec_case *c,
                                              const char *name)
{
    const struct vec_field *f = vec_find(c, name);

    if (f == NULL) {
        fail_msg("%s: no field %s", c->id, name);
    }
    return f;
}

static inline int32_t vec_int(const struct vec_case *c, const char *name)
{
    return vec_get(c, name)->v[0];
}

/* FNV-1a of the words as make_vectors.py computes it. */
static inline uint32_t vec_hash(const uint32_t *v, size_t n)
{
    uint32_t h = 0x811c9dc5u;

    for (size_t i = 0; i < n; i++) {
        uint32_t word = v[i] == 0x80000000u ? 0 : v[i];

        for (int b = 0; b < 4; b++, word >>= 8) {
            h = (h ^ (word & 255)) * 0x01000193u;
        }
    }
    return h;
}

/* The largest frac with which all |x| * 2^frac stay below 2^(width - 1). */
static inline int vec_frac(const struct vec_field *x, int width)
{
    float top = 0;
    int e;

    for (size_t i = 0; i < x->n; i++) {
        top = fmaxf(top, fabsf(vec_float(x->v[i])));
    }
    if (top == 0) {
        return 8;
    }
    frexpf(top, &e);
    return width - 1 - e;
}

/* x as integers in Q(frac), nearest, held inside `width` bits. */
static inline int32_t *vec_fixed(const struct vec_field *x, int frac, int width)
{
    int32_t *q = malloc(x->n * sizeof *q);
    double top = ldexp(1, width - 1) - 1;

    assert_non_null(q);
    for (size_t i = 0; i < x->n; i++) {
        double v = rint(ldexp(vec_float(x->v[i]), frac));

        q[i] = (int32_t)fmax(fmin(v, top), -top - 1);
    }
    return q;
}

/* A generator for property tests: same sequence everywhere. */
static inline uint32_t vec_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

#endif
