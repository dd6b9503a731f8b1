/* Calibration: from layer inputs to the factors of a record.
 *
 * calibrate.c  the command: the plan's layers, their weights, their files
 * calib_data.c which files hold the inputs of which layer
 * calib_run.c  streams them through the searches of runtime/, in threads
 * partial.c    searches that wait for other shards, as .qobs files
 * merge.c      the command that puts shards together
 * emit_record.c, calib_report.c  write what was found */
#ifndef QC_CALIBRATE_H
#define QC_CALIBRATE_H

#include "npy.h"
#include "origin.h"

#include "qrt.h"

/* What is looked for in one layer: all of it travels in state files, and has
 * to be the same in all shards. partial.c lists the fields. */
struct qc_search {
    struct qc_str name;
    uint32_t algo; /* enum qc_act_algo; QC_ULQ: first limits of training   */
    uint32_t act_bits, wts_bits;
    uint32_t asymmetric, channel_wise, skip_fusion, fixed_min; /* 0 or 1   */
    double range_start, range_end, step; /* QC_IFMR, QC_ULQ                */
    double max_percentile, min_percentile;
    uint32_t bins;     /* QC_HFMG                                           */
    uint32_t weights;  /* 0: the layer has none, as pooling                 */
    uint32_t settings; /* qc_settings_crc32: also clips, fusion, ...        */
    uint32_t *scale_w; /* [count_w] binary32                               */
    uint32_t count_w;
};

/* What was found. Bits are binary32. */
struct qc_found {
    uint64_t samples;
    uint32_t scale_bits;
    int32_t offset;
    uint32_t clip_max_bits, clip_min_bits;
    uint32_t max_bits, min_bits; /* limits after the percentiles         */
    uint32_t data_max_bits, data_min_bits;
    uint64_t rank_max, rank_min; /* IFMR: the limit is that sample       */
    uint32_t index, candidates;  /* IFMR: chosen, of how many            */
    uint32_t ratio_bits;         /* IFMR: of the chosen one              */
    uint32_t left, right;        /* HFMG: outer bins kept                */
    uint32_t degenerate;         /* 1: range too small, scale 1          */
    double loss, loss_error;     /* mean squared error                   */
    double gap;                  /* of the next candidate, relative      */
    double clipped;              /* share of samples                     */
};

/* The files of a layer, in order. */
struct qc_batches {
    struct qc_npy *at;
    size_t count;
    uint64_t samples;
};

/* Why a layer could not be calibrated; set by threads, reported later. */
struct qc_fault {
    enum qc_fault_kind {
        QC_NO_FAULT,
        QC_FAULT_READ,       /* err                                         */
        QC_FAULT_NOT_FINITE, /* index, bits                                 */
        QC_FAULT_CHANGED,    /* not the samples of the pass before          */
        QC_FAULT_FULL,       /* too many samples                            */
        QC_FAULT_STEP,       /* a candidate's step overflows                */
        QC_FAULT_STATE       /* a state that cannot be used                 */
    } kind;
    const struct qc_npy *file;
    uint64_t index;
    uint32_t bits;
    int err;
};

enum qc_stage {
    QC_NO_SAMPLES,
    QC_WAITING, /* state: a search that is not finished */
    QC_FOUND
};

struct qc_calib_layer {
    const struct qc_row *row; /* null in merge                        */
    struct qc_search search;
    const struct qc_batches *data; /* null: none                           */
    uint64_t batches;
    enum qc_stage stage;
    struct qc_found found;
    struct qc_str state; /* as qrt_ifmr_f32_save wrote it        */
    struct qc_fault fault;
};

struct qc_calib {
    struct qc *qc;
    struct qc_origin config, model;
    uint32_t batch_num;
    uint32_t exact_loss; /* spend a pass on exact losses   */
    uint32_t round;      /* passes over the data before this one */
    struct qc_calib_layer *layers;
    size_t count;
};

/* What the commands take. */
struct qc_calib_options {
    const char *data, *out, *partial, *resume, *report, *again;
    const char *threads;
    bool allow_uncalibrated, exact_loss, stats;
};

/* ---- calibrate.c, merge.c: the commands ---- */

/* What is wrong with the command line; null: nothing. */
const char *qc_calib_options_fault(const struct qc_calib_options *o,
                                   bool merge);
void qc_calibrate(struct qc *qc, const struct qc_plan *plan,
                  const struct qc_calib_options *o);
/* True when shards have to look at their samples once more. */
bool qc_merge(struct qc *qc, const char *const *files, size_t count,
              const struct qc_calib_options *o);
unsigned qc_calib_threads(const struct qc_calib_options *o);
/* Writes the record and the report. at: where layers without samples are
 * reported in merge. */
void qc_calib_write(struct qc_calib *c, const struct qc_calib_options *o);
/* Warnings about what was found. */
void qc_calib_review(struct qc_calib *c, struct qc_loc at);

/* ---- calib_data.c ---- */

struct qc_calib_data;
/* Looks into a folder; null after a fault, which is reported. */
struct qc_calib_data *qc_calib_data(struct qc *qc, const char *folder,
                                    const struct qc_model *m);
/* The files of a layer, headers checked. Null when there are none (*where
 * says what would have been taken) or after a fault, which is reported. */
const struct qc_batches *qc_calib_batches(struct qc_calib_data *d,
                                          const struct qc_layer *l,
                                          const char **where);
/* A layer's name as a file name without ".npy": percent-encoded but for
 * A-Z a-z 0-9 - . _ ~, as Python's urllib.parse.quote(name, safe=""). */
struct qc_str qc_calib_file_name(struct qc *qc, struct qc_str layer);

/* ---- calib_run.c ---- */

/* Streams every layer's files through its search. partial: searches are saved
 * (or taken up again, where there is a state) instead of finished. */
void qc_calib_run(struct qc_calib *c, unsigned threads, bool partial,
                  bool stats);
/* The first limits of ULQ from those of the search, or given ones; false when
 * they have no step. */
bool qc_calib_ulq(const struct qc_search *s, float max, float min,
                  struct qc_found *f);
/* The result of a finished search, for its layer. */
bool qc_calib_take(const struct qc_search *s, const void *result,
                   struct qc_found *f);
uint32_t qc_calib_ratio_count(const struct qc_search *s);
/* Begins a search. ratios: [qc_calib_ratio_count] of scratch. */
enum qrt_status qc_calib_start(const struct qc_search *s, bool exact_loss,
                               float *ratios, void *state, size_t size);
/* Memory for a state of a search. */
void *qc_calib_state(struct qc *qc, size_t size);

/* ---- partial.c ---- */

void qc_put_partial(struct qc_out *o, const struct qc_calib *c);
/* Reads a state file. Null after a fault, which is reported. The result points
 * into the file. */
struct qc_calib *qc_parse_partial(struct qc *qc, struct qc_file *file);
struct qc_calib *qc_read_partial(struct qc *qc, const char *path,
                                 struct qc_file **file);
/* Whether both calibrate the same layers in the same way; else says at `at`
 * which field of which layer differs. */
bool qc_same_calibration(const struct qc_calib *a, const char *a_name,
                         const struct qc_calib *b, const char *b_name,
                         struct qc_loc at);
bool qc_same_found(const struct qc_found *a, const struct qc_found *b);

/* ---- emit_record.c, calib_report.c ---- */

void qc_emit_record(struct qc_out *o, const struct qc_calib *c);
void qc_emit_calib_report(struct qc_out *o, const struct qc_calib *c);

#endif
