/* Writes a file that is large in one way: hostile KIND N >FILE. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void repeat(const char *text, unsigned long n)
{
    while (n-- > 0)
        fputs(text, stdout);
}

/* One line a number: `format` has one %lu, or none. */
static void count(const char *format, unsigned long n)
{
    unsigned long i;

    for (i = 0; i < n; i++)
        printf(format, i, i);
}

/* ---- names that FNV-1a cannot tell apart by its low 20 bits ---- */

#define LOW 0xFFFFFu

static uint64_t fnv(uint64_t h, const char *s)
{
    while (*s)
        h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
    return h;
}

/* Pairs of words that lead from one state to the same low bits: n of them make
 * 2^n names that meet. */
static void colliding(unsigned long n)
{
    static char pairs[20][2][24];
    static uint32_t seen[LOW + 1];
    uint64_t h = 0xcbf29ce484222325u;
    unsigned depth = 0, d;
    unsigned long i;

    while ((1ul << depth) < n && depth < 20)
        depth++;
    for (d = 0; d < depth; d++) {
        memset(seen, 0, sizeof(seen));
        for (i = 1;; i++) {
            char word[24];
            uint32_t low;

            snprintf(word, sizeof(word), "%06lx", i);
            low = (uint32_t)(fnv(h, word) & LOW);
            if (seen[low]) {
                snprintf(pairs[d][0], 24, "%06lx", (unsigned long)seen[low]);
                memcpy(pairs[d][1], word, sizeof(word));
                /* Multiplication lets low bits depend on low bits only. */
                h = fnv(h, word) & LOW;
                break;
            }
            seen[low] = (uint32_t)i;
        }
    }
    putchar('{');
    for (i = 0; i < n; i++) {
        printf("%s\"", i ? ",\n" : "");
        for (d = 0; d < depth; d++)
            fputs(pairs[d][i >> d & 1], stdout);
        fputs("\":{}", stdout);
    }
    putchar('}');
}

/* ---- models ---- */

struct bytes {
    unsigned char *p;
    size_t n, room;
};

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->room) {
        b->room = (b->n + n) * 2;
        b->p = realloc(b->p, b->room);
        if (!b->p)
            exit(2);
    }
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_varint(struct bytes *b, uint64_t v)
{
    unsigned char c;

    do {
        c = (unsigned char)((v & 127) | (v > 127 ? 128 : 0));
        put(b, &c, 1);
        v >>= 7;
    } while (v);
}

static void put_number(struct bytes *b, unsigned field, uint64_t v)
{
    put_varint(b, field << 3);
    put_varint(b, v);
}

static void put_part(struct bytes *b, unsigned field, const void *p, size_t n)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    put(b, p, n);
}

static void put_text(struct bytes *b, unsigned field, const char *format,
                     unsigned long i)
{
    char text[64];

    snprintf(text, sizeof(text), format, i);
    put_part(b, field, text, strlen(text));
}

/* NodeProto: inputs end with null. */
static void put_node(struct bytes *graph, const char *type, unsigned long i,
                     const char *in1, unsigned long n1, const char *in2,
                     unsigned long n2, const char *out)
{
    struct bytes node = {0};

    put_text(&node, 1, in1, n1);
    if (in2)
        put_text(&node, 1, in2, n2);
    put_text(&node, 2, out, i);
    put_text(&node, 3, "node%lu", i);
    put_part(&node, 4, type, strlen(type));
    put_part(graph, 1, node.p, node.n);
    free(node.p);
}

/* TensorProto "w": 1 x 1 x 1 x 1 */
static void put_weight(struct bytes *graph, const char *name, unsigned long i)
{
    static const float one = 1;
    struct bytes t = {0};
    int k;

    for (k = 0; k < 4; k++)
        put_number(&t, 1, 1);
    put_number(&t, 2, 1);
    put_text(&t, 8, name, i);
    put_part(&t, 9, &one, 4);
    put_part(graph, 5, t.p, t.n);
    free(t.p);
}

static void put_value(struct bytes *graph, unsigned field, const char *format,
                      unsigned long i)
{
    struct bytes v = {0};

    put_text(&v, 1, format, i);
    put_part(graph, field, v.p, v.n);
    free(v.p);
}

static void write_model(struct bytes *graph)
{
    struct bytes m = {0};

    put_number(&m, 1, 8);
    put_part(&m, 7, graph->p, graph->n);
    fwrite(m.p, 1, m.n, stdout);
    free(m.p);
    free(graph->p);
}

static void chain(const char *type, unsigned long n)
{
    struct bytes g = {0};
    unsigned long i;

    put_value(&g, 11, "x0", 0);
    for (i = 0; i < n; i++)
        put_node(&g, type, i + 1, "x%lu", i, NULL, 0, "x%lu");
    put_node(&g, "Conv", n + 1, "x%lu", n, "w%lu", 0, "x%lu");
    put_weight(&g, "w%lu", 0);
    put_value(&g, 12, "x%lu", n + 1);
    write_model(&g);
}

/* n convolutions behind each other; with `add`, each result is added to the
 * sum of all before. */
static void convolutions(unsigned long n, int add)
{
    struct bytes g = {0};
    unsigned long i;

    put_value(&g, 11, "x0", 0);
    for (i = 0; i < n; i++) {
        put_node(&g, "Conv", i + 1, "x%lu", i, "w%lu", i,
                 add ? "c%lu" : "x%lu");
        if (add)
            put_node(&g, "Add", i + 1, "c%lu", i + 1, "x%lu", i, "x%lu");
        put_weight(&g, "w%lu", i);
    }
    put_value(&g, 12, "x%lu", n);
    write_model(&g);
}

/* One value that n layers read; with `add`, all of it is added up again. */
static void fan(unsigned long n, int add)
{
    struct bytes g = {0};
    unsigned long i;

    put_value(&g, 11, "x0", 0);
    put_node(&g, "Conv", 0, "x%lu", 0, "w%lu", 0, "y%lu");
    put_weight(&g, "w%lu", 0);
    for (i = 1; i <= n; i++) {
        put_node(&g, "Conv", i, "y%lu", 0, "w%lu", 0, "y%lu");
        if (add)
            put_node(&g, "Add", i, "y%lu", i, i > 1 ? "s%lu" : "y%lu", i - 1,
                     "s%lu");
    }
    put_node(&g, "Conv", n + 1, add ? "s%lu" : "y%lu", n, "w%lu", 0, "y%lu");
    put_value(&g, 12, "y%lu", n + 1);
    write_model(&g);
}

/* Graphs in attributes of graphs. */
static void nested(unsigned long n)
{
    struct bytes inner = {0}, node, attr, graph;
    unsigned long i;

    for (i = 0; i < n; i++) {
        memset(&node, 0, sizeof(node));
        memset(&attr, 0, sizeof(attr));
        memset(&graph, 0, sizeof(graph));
        put_text(&attr, 1, "body", 0);
        put_part(&attr, 6, inner.p, inner.n);
        put_number(&attr, 20, 5);
        put_text(&node, 4, "Loop", 0);
        put_part(&node, 5, attr.p, attr.n);
        put_part(&graph, 1, node.p, node.n);
        free(inner.p);
        free(attr.p);
        free(node.p);
        inner = graph;
    }
    write_model(&inner);
}

/* A node that reads its own result, and two that read each other's. */
static void cyclic(unsigned long n)
{
    struct bytes g = {0};
    unsigned long i;

    for (i = 0; i < n; i++)
        put_node(&g, "Relu", i, "x%lu", (i + 1) % n, NULL, 0, "x%lu");
    put_node(&g, "Conv", n, "x%lu", 0, "x%lu", n, "x%lu");
    put_value(&g, 12, "x%lu", n);
    write_model(&g);
}

/* The beginning of a file of n bytes, nearly all of which are one tensor's data;
 * its shape says 2^62 elements. */
static void sparse(unsigned long n)
{
    struct bytes b = {0};

    put_varint(&b, 7 << 3 | 2); /* graph */
    put_varint(&b, n - 6);
    put_varint(&b, 5 << 3 | 2); /* initializer */
    put_varint(&b, n - 12);
    put_number(&b, 1, 1ull << 62);
    put_number(&b, 2, 1);
    put_text(&b, 8, "w%lu", 0);
    put_varint(&b, 9 << 3 | 2); /* raw_data */
    put_varint(&b, n - b.n - 5);
    fwrite(b.p, 1, b.n, stdout);
    free(b.p);
}

/* ---- main ---- */

static void text(const char *kind, unsigned long n)
{
    static const struct {
        const char *kind, *before, *each, *after;
        int counted;
    } forms[] = {
        {"open-json",      "",                                                 "[",                                              "",       0},
        {"object-json",    "",                                                 "{\"a\":",                                        "",       0},
        {"close-json",     "",                                                 "]",                                              "",       0},
        {"pairs-json",     "[",                                                "[],{},",                                         "0]",     0},
        {"commas-json",    "[",                                                ",",                                              "]",      0},
        {"quotes-json",    "[",                                                "\"",                                             "]",      0},
        {"words-json",     "[",                                                "x ",                                             "]",      0},
        {"open-text",      "",                                                 "{",                                              "",       0},
        {"fields-text",    "",                                                 "common_config { ",                               "",       0},
        {"close-text",     "",                                                 "}",                                              "",       0},
        {"lists-text",     "",                                                 "[",                                              "",       0},
        {"angles-text",    "",                                                 "a<",                                             "",       0},
        {"colons-text",    "",                                                 ":",                                              "",       0},
        {"comments",       "",                                                 "# a comment\n",                                  "",       0},
        {"one-comment",    "# ",                                               "comment ",                                       "\n",     0},
        {"blanks",         "",                                                 "    \n",                                         "",       0},
        {"strings-text",   "skip_layers: ",                                    "\"a\" ",                                         "",       0},
        {"same-text",      "",                                                 "batch_num: 1\n",                                 "",       0},
        {"same-line-text", "",                                                 "batch_num: 1 ",                                  "",       0},
        {"unknown-text",   "",                                                 "field_%lu: 1\n",                                 "",       1},
        {"skip-text",      "",                                                 "skip_layers: \"layer_%lu\"\n",                   "",       1},
        {"skip-list-text", "skip_layers: [",                                   "\"layer_%lu\", ",                                "\"x\"]", 1},
        {"override-text",  "",
         "override_layer_configs { layer_name: \"layer_%lu\" "
         "calibration_config { ifmr_quantize { search_step: 0.02 } } }\n",                                                       "",       1},
        {"types-text",     "",
         "override_layer_types { layer_type: \"type_%lu\" "
         "calibration_config { arq_quantize { } } }\n",                                                                          "",       1},
        {"layers",         "",                                                 "layer { name: \"layer_%lu\" type: \"Conv\" }\n", "",       1},
        {"chained-layers", "",
         "layer { name: \"layer_%lu\" type: \"Conv\" "
         "weight_shape: [1, 1, 1, 1] next { layer: \"layer_%lu\" } }\n",                                                         "",       1},
        {"nested-names",   "",                                                 "layer { name: \"a/%lu/b\" type: \"Conv\" }\n",   "",
         1                                                                                                                                  },
        {"record",         "",
         "record { key: \"layer_%lu\" value { scale_d: 0.5 offset_d: 0 "
         "scale_w: 0.5 offset_w: 0 } }\n",                                                                                       "",       1},
        {"same-record",    "",
         "record { key: \"a\" value { scale_d: 0.5 offset_d: 0 scale_w: 0.5 "
         "offset_w: 0 } }\n",                                                                                                    "",       0},
        {"scales-record",
         "record { key: \"a\" value { scale_d: 0.5 offset_d: 0 scale_w: [0.5", ", 0.25",                                         "] } }",  0},
        {"keys-json",      "{\"version\": 1",                                  ",\n\"layer_%lu\": {}",                           "}",      1},
        {"same-json",      "{\"version\": 1",                                  ",\n\"layer\": {}",                               "}",      0},
        {"retrain-json",   "{\"version\": 1, \"batch_num\": 1",
         ",\n\"layer_%lu\": {\"retrain_enable\": true}",                                                                         "}",      1},
        {"layers-json",    "[{\"name\": \"x\", \"type\": \"Conv\"}",
         ",\n{\"name\": \"layer_%lu\", \"type\": \"Conv\"}",                                                                     "]",      1},
        {"escapes-json",   "{\"",                                              "\\u4e2d",                                        "\": 1}", 0},
        {"digits-json",    "[1",                                               "0",                                              "]",      0},
        {"digits-text",    "common_config { ifmr_quantize { search_step: 0.",  "1",
         " } }",                                                                                                                           0},
        {"bad-bytes",      "",                                                 "\xFF\n",                                         "",       0},
        {"minus-text",     "batch_num: ",                                      "- ",                                             "1",      0},
    };
    size_t i;

    for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (strcmp(forms[i].kind, kind) != 0)
            continue;
        fputs(forms[i].before, stdout);
        if (forms[i].counted)
            count(forms[i].each, n);
        else
            repeat(forms[i].each, n);
        fputs(forms[i].after, stdout);
        return;
    }
    fprintf(stderr, "unknown kind %s\n", kind);
    exit(2);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

    if (strcmp(kind, "colliding") == 0)
        colliding(n);
    else if (strcmp(kind, "relu.onnx") == 0)
        chain("Relu", n);
    else if (strcmp(kind, "identity.onnx") == 0)
        chain("Identity", n);
    else if (strcmp(kind, "conv.onnx") == 0)
        convolutions(n, 0);
    else if (strcmp(kind, "residual.onnx") == 0)
        convolutions(n, 1);
    else if (strcmp(kind, "fan.onnx") == 0)
        fan(n, 0);
    else if (strcmp(kind, "sum.onnx") == 0)
        fan(n, 1);
    else if (strcmp(kind, "nested.onnx") == 0)
        nested(n);
    else if (strcmp(kind, "sparse.onnx") == 0)
        sparse(n);
    else if (strcmp(kind, "cyclic.onnx") == 0)
        cyclic(n);
    else
        text(kind, n);
    return ferror(stdout) != 0;
}
