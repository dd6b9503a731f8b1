/* Packs inputs.npy (float32) and labels.npy (int64) into the one file of
 * inputs.h: pack_inputs INPUTS LABELS COUNT > FILE */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_word(uint32_t v)
{
    putchar((int)(v & 255));
    putchar((int)(v >> 8 & 255));
    putchar((int)(v >> 16 & 255));
    putchar((int)(v >> 24));
}

/* Leaves the file at its first label. */
static FILE *open_labels(const char *path)
{
    FILE *f = fopen(path, "rb");
    unsigned char head[10];

    if (!f || fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY\x01", 7))
        return NULL;
    return fseek(f, head[8] | head[9] << 8, SEEK_CUR) == 0 ? f : NULL;
}

int main(int argc, char **argv)
{
    struct qc qc = {0};
    struct qc_npy in;
    FILE *labels = argc == 4 ? open_labels(argv[2]) : NULL;
    uint64_t count, size, i, k;
    float *v;

    qc_diag_init(&qc);
    if (!labels || !qc_npy_open(&qc, argv[1], &in)) {
        fputs("usage: pack_inputs INPUTS.npy LABELS.npy COUNT\n", stderr);
        return 1;
    }
    count = strtoull(argv[3], NULL, 10);
    count = count && count < in.batch ? count : in.batch;
    size = in.count / in.batch;
    v = malloc((size_t)size * sizeof(*v));
    put_word((uint32_t)count);
    put_word((uint32_t)size);
    for (i = 0; i < count; i++) {
        unsigned char label[8];

        if (!v || !qc_npy_read(&qc, &in, i * size, v, (size_t)size) ||
            fread(label, 1, 8, labels) != 8)
            return 1;
        for (k = 0; k < size; k++) {
            uint32_t bits;

            memcpy(&bits, &v[k], sizeof(bits));
            put_word(bits);
        }
        put_word(label[0]);
    }
    free(v);
    fclose(labels);
    qc_npy_close(&in);
    qc_free_all(&qc);
    return ferror(stdout) || fflush(stdout);
}
