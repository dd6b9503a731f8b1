/* A model made of names alone, for users who have a configuration or a record
 * and nothing else: every layer can be quantized, no type is known. */
#include "resolve.h"

static void add_layer(struct qc *qc, struct qc_model *m,
                      const struct qc_value *key, int64_t channels)
{
    struct qc_layer *l;
    void **slot;

    if (!key->set || key->poisoned)
        return;
    slot = qc_map_at(qc, &m->names, key->text);
    if (*slot)
        return;
    l = &m->layers[m->count++];
    *slot = l;
    l->name = key->text;
    l->node_name = key->text;
    l->loc = key->loc;
    l->op = -1;
    l->quantizable = true;
    l->zero_padding = true;
    l->group = 1;
    l->out_channels = channels;
}

static struct qc_model *new_model(struct qc *qc, const struct qc_file *file,
                                  enum qc_model_source source, size_t count)
{
    struct qc_model *m = qc_alloc(qc, sizeof(*m));

    m->file = file;
    m->source = source;
    m->from_record = source == QC_MODEL_RECORD;
    m->layers = qc_alloc(qc, (count + 1) * sizeof(*m->layers));
    return m;
}

/* More than one scale: one for each output channel. */
static int64_t channels_of(const struct MapFiledEntry *e)
{
    size_t n = e->value ? e->value->scale_w.count : 0;

    return n > 1 ? (int64_t)n : 0;
}

struct qc_model *qc_model_of_record(struct qc *qc, const struct qc_doc *record)
{
    const struct ScaleOffsetRecord *rec = record->bound;
    struct qc_model *m =
        new_model(qc, record->file, QC_MODEL_RECORD, rec->record.count);
    size_t i;

    for (i = 0; i < rec->record.count; i++)
        add_layer(qc, m, &rec->record.at[i].key,
                  channels_of(&rec->record.at[i]));
    return m;
}

static void take_channels(struct qc_model *m, const struct qc_doc *record)
{
    const struct ScaleOffsetRecord *rec = record->bound;
    size_t i;

    for (i = 0; i < rec->record.count; i++) {
        struct qc_layer *l = qc_map_get(&m->names, rec->record.at[i].key.text);

        if (l)
            l->out_channels = channels_of(&rec->record.at[i]);
    }
}

struct qc_model *qc_model_of_config(struct qc *qc, const struct qc_doc *config,
                                    const struct qc_doc *record)
{
    const struct RetrainJson *retrain =
        config->kind == QC_KIND_JSON_RETRAIN ? config->bound : NULL;
    const struct CalibJson *calib = retrain ? NULL : config->bound;
    size_t n = retrain ? retrain->layer.count : calib->layer.count, i;
    struct qc_model *m = new_model(qc, config->file, QC_MODEL_CONFIG, n);

    for (i = 0; i < n; i++)
        add_layer(qc, m,
                  retrain ? &retrain->layer.at[i].key : &calib->layer.at[i].key,
                  0);
    if (record)
        take_channels(m, record);
    return m;
}
