/* What a million int8 weights cost the C compiler in the forms that quantc
 * writes: processor time of `cc -c`, best of several rounds.
 *
 *   bench_weights QUANTC CC WORK_FOLDER */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDE   1000u
#define ROUNDS 3

/* ---- a model of one Gemm, SIDE by SIDE, in the wire format ---- */

struct bytes {
    uint8_t *at;
    size_t n;
};

static void put_varint(struct bytes *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        b->at[b->n++] = (uint8_t)(v | 128);
    b->at[b->n++] = (uint8_t)v;
}

static void put_number(struct bytes *b, uint32_t field, uint64_t v)
{
    put_varint(b, field << 3);
    put_varint(b, v);
}

static void put_bytes(struct bytes *b, uint32_t field, const void *p, size_t n)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    memcpy(b->at + b->n, p, n);
    b->n += n;
}

static void put_text(struct bytes *b, uint32_t field, const char *s)
{
    put_bytes(b, field, s, strlen(s));
}

/* Sums of draws: codes are spread as those of real weights. */
static void put_weights(struct bytes *b)
{
    float *w = malloc(SIDE * SIDE * sizeof *w);
    uint64_t seed = 1;
    if (!w)
        exit(2);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        w[i] = -3.0f;
        for (int k = 0; k < 6; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            w[i] += (float)(seed >> 40) / 16777216.0f;
        }
    }
    put_number(b, 1, SIDE);
    put_number(b, 1, SIDE);
    put_number(b, 2, 1); /* FLOAT */
    put_text(b, 8, "w");
    put_bytes(b, 9, w, SIDE * SIDE * sizeof *w);
    free(w);
}

static struct bytes space(size_t n)
{
    struct bytes b = {malloc(n), 0};
    if (!b.at)
        exit(2);
    return b;
}

static void put_model(struct bytes *model)
{
    struct bytes tensor = space(SIDE * SIDE * 4 + 100), node = space(100);
    struct bytes graph = space(SIDE * SIDE * 4 + 1000), opset = space(10);
    put_weights(&tensor);
    put_text(&node, 1, "x");
    put_text(&node, 1, "w");
    put_text(&node, 2, "y");
    put_text(&node, 3, "fc");
    put_text(&node, 4, "Gemm");
    put_bytes(&graph, 1, node.at, node.n);
    put_text(&graph, 2, "g");
    put_bytes(&graph, 5, tensor.at, tensor.n);
    put_bytes(&graph, 11, "\n\1x", 3);
    put_bytes(&graph, 12, "\n\1y", 3);
    put_number(&opset, 2, 13);
    put_number(model, 1, 8);
    put_bytes(model, 7, graph.at, graph.n);
    put_bytes(model, 8, opset.at, opset.n);
    free(tensor.at);
    free(node.at);
    free(graph.at);
    free(opset.at);
}

static void write_file(const char *folder, const char *name, const void *p,
                       size_t n)
{
    char path[1000];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "wb");
    if (!f || fwrite(p, 1, n, f) != n || fclose(f))
        exit(2);
}

static void write_inputs(const char *folder)
{
    static const char cfg[] =
        "activation_offset: true\n"
        "common_config { arq_quantize { channel_wise: false } }\n";
    static const char record[] =
        "record { key: \"fc\" value { scale_d: 0.03125 offset_d: 0\n"
        "    scale_w: 0.0234375 offset_w: 0 } }\n";
    struct bytes model = space(SIDE * SIDE * 4 + 2000);
    put_model(&model);
    write_file(folder, "m.onnx", model.at, model.n);
    write_file(folder, "m.cfg", cfg, sizeof cfg - 1);
    write_file(folder, "record.txt", record, sizeof record - 1);
    free(model.at);
}

/* ---- times ---- */

/* Processor seconds; negative when the program fails. */
static double run(char *const argv[])
{
    struct rusage used;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0)
        return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double compile(char *quantc, char *cc, char *form)
{
    double best = 1e9;
    char *write[] = {
        quantc,     "compile",    "m.cfg",     "--model",        "m.onnx",
        "--record", "record.txt", "--weights", "--weights-form", form,
        "-o",       form,         NULL};
    char source[100], object[100], include[100];
    char *build[] = {cc, "-O2", "-c", include, source, "-o", object, NULL};
    snprintf(source, sizeof source, "%s/quant_weights.c", form);
    snprintf(object, sizeof object, "%s/quant_weights.o", form);
    snprintf(include, sizeof include, "-I%s", form);
    if (run(write) < 0)
        exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        double t = run(build);
        if (t < 0)
            exit(1);
        best = t < best ? t : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc != 4 || chdir(argv[3]) != 0)
        return 2;
    write_inputs(".");
    double decimal = compile(argv[1], argv[2], "decimal");
    double string = compile(argv[1], argv[2], "string");
    printf("cc -c of 1e6 weights, decimal     %7.0f ms\n", decimal * 1e3);
    printf("cc -c of 1e6 weights, string      %7.0f ms, 1/%.1f of it "
           "(at most 1/5)\n",
           string * 1e3, decimal / string);
    return 0;
}
