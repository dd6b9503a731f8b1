/* The inputs of a run, as everything that is written names them. */
#include "origin.h"

#include "emit.h"

#include <inttypes.h>
#include <string.h>

const char *qc_input_word(enum qc_input input)
{
    static const char *const words[] = {
        [QC_INPUT_CONFIG] = "config",
        [QC_INPUT_MODEL] = "model",
        [QC_INPUT_RECORD] = "record",
        [QC_INPUT_OPTIONS] = "options",
    };

    return words[input];
}

/* Kept in the file: a model may be large, and every output asks for it. That
 * does not change the file. */
uint32_t qc_file_crc32(const struct qc_file *f)
{
    struct qc_file *file = (struct qc_file *)(uintptr_t)f;
    const struct qc_file *part;

    if (!f)
        return 0;
    if (!f->has_crc) {
        for (part = f; part; part = part->data)
            file->crc = qc_crc32_add(file->crc,
                                     (struct qc_str){part->text, part->size});
        file->has_crc = true;
    }
    return f->crc;
}

struct qc_origin qc_origin_of(const struct qc_file *f)
{
    const char *slash = f ? strrchr(f->name, '/') : NULL;

    if (!f)
        return (struct qc_origin){
            {"", 0},
            0
        };
    return (struct qc_origin){qc_str(slash ? slash + 1 : f->name),
                              qc_file_crc32(f)};
}

void qc_put_origin(struct qc_out *o, enum qc_input input,
                   const struct qc_origin *origin)
{
    qc_printf(o, "%-7s ", qc_input_word(input));
    qc_put_comment(o, origin->name);
    qc_printf(o, " (crc32 %08" PRIx32 ")", origin->crc);
}

void qc_put_record_head(struct qc_out *o, const struct qc_origin *config,
                        const struct qc_origin *model)
{
    if (config->name.len) {
        qc_puts(o, "#   ");
        qc_put_origin(o, QC_INPUT_CONFIG, config);
        qc_puts(o, "\n");
    }
    if (model->name.len) {
        qc_puts(o, "#   ");
        qc_put_origin(o, QC_INPUT_MODEL, model);
        qc_puts(o, "\n");
    }
}
