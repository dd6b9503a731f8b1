/* Writes small .npy files for calibration: make_npy FILE... */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char head[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 20), }";
    char text[118];
    int i, k;

    memset(text, ' ', sizeof(text));
    memcpy(text, head, sizeof(head) - 1);
    text[sizeof(text) - 1] = '\n';
    for (i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "wb");

        if (!f)
            return 1;
        fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
        fwrite(text, 1, sizeof(text), f);
        /* k / 16, exact in binary32, little endian */
        for (k = 0; k < 40; k++) {
            float v = (float)((k * 7 + i) % 41) / 16;
            unsigned bits, b;

            memcpy(&bits, &v, 4);
            for (b = 0; b < 4; b++)
                fputc((int)(bits >> 8 * b & 255), f);
        }
        if (fclose(f) != 0)
            return 1;
    }
    return 0;
}
