/* Tells people what they gave instead of an ONNX model. */
#include "onnx.h"

#include <string.h>

/* clang-format off */
static const struct {
    size_t at;
    const char *bytes;
    size_t len;
    const char *what;
} signatures[] = {
    {0, "PK\003\004",             4, "a ZIP archive, perhaps a PyTorch or Keras file: export it to ONNX"},
    {0, "\x89HDF\r\n\x1a\n",      8, "an HDF5 file, perhaps Keras: export it to ONNX"                   },
    {4, "TFL3",                   4, "a TensorFlow Lite model: convert it to ONNX"                      },
    {4, "ORTM",                   4, "an ONNX Runtime .ort file: give the .onnx it was made from"       },
    {0, "\x93NUMPY",              6, "a NumPy array"                                                    },
    {0, "\x1f\x8b",               2, "a gzip archive: unpack it"                                        },
    {0, "\x7f" "ELF",             4, "a program"                                                        },
    {0, "\x80\002",               2, "a Python pickle, perhaps PyTorch: export it to ONNX"              },
    {0, "\x80\003",               2, "a Python pickle, perhaps PyTorch: export it to ONNX"              },
    {0, "\x80\004",               2, "a Python pickle, perhaps PyTorch: export it to ONNX"              },
    {0, "\x80\005",               2, "a Python pickle, perhaps PyTorch: export it to ONNX"              },
    {0, "version https://git-lfs", 23, "a Git LFS pointer: fetch the file itself with git lfs pull"     },
};
/* clang-format on */

/* Nothing but text in the first bytes. */
static bool is_text(const struct qc_file *f)
{
    size_t i, n = f->size < 256 ? f->size : 256;

    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)f->text[i];

        if (c == 127 || (c < 32 && !strchr("\t\n\r\f\v", c)) || c == 0)
            return false;
    }
    return true;
}

static const char *kind_of_text(const struct qc_file *f)
{
    size_t i = 0;

    while (i < f->size && strchr(" \t\r\n", f->text[i]))
        i++;
    if (i == f->size)
        return "an empty text";
    if (f->text[i] == '{' || f->text[i] == '[')
        return "JSON text";
    if (f->text[i] == '<')
        return "XML text, perhaps OpenVINO: export the model to ONNX";
    return "plain text";
}

const char *qc_foreign(const struct qc_file *f)
{
    size_t i;

    if (f->size == 0)
        return "empty";
    for (i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
        if (f->size >= signatures[i].at + signatures[i].len &&
            memcmp(f->text + signatures[i].at, signatures[i].bytes,
                   signatures[i].len) == 0)
            return signatures[i].what;
    if (is_text(f))
        return kind_of_text(f);
    /* ONNX begins with a number, ir_version; these with a message or string. */
    if (f->text[0] == 0x0a)
        return "another protobuf file: TensorFlow GraphDef, Caffe or MindIR";
    return NULL;
}
