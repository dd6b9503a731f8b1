/* The command line: one table of commands, one of options; parsing, --help
 * and the completion scripts read the same tables. */
#ifndef QC_OPTIONS_H
#define QC_OPTIONS_H

#include "calibrate.h"

enum qc_command {
    QC_CMD_NONE,
    QC_CMD_COMPILE,
    QC_CMD_CHECK,
    QC_CMD_CONFIG,
    QC_CMD_EXPLAIN,
    QC_CMD_LAYERS,
    QC_CMD_DUMP,
    QC_CMD_SCHEMA,
    QC_CMD_IMAGE,
    QC_CMD_SHOW,
    QC_CMD_DIFF,
    QC_CMD_CALIBRATE,
    QC_CMD_MERGE,
    QC_CMD_COUNT
};

struct qc_options {
    enum qc_command command;
    const char **args; /* what is not an option                */
    size_t arg_count;
    const char *model, *layers, *record, *kind, *out, *prefix, *plan;
    const char *device, *align, *section;
    const char *sbom;
    const char *skip_layers, *batch_num, *activation_offset;
    const char *dialect, *compat, *max_errors, *diag;
    bool effective, syntax_only, json, werror, require_factors, no_words;
    bool weights, selftest;
    const char *weights_form, *layout;
    struct qc_calib_options calib;
    bool help, version;
};

/* Fills *o. On a fault prints it with a hint to standard error and returns
 * false: exit status 2. -W, -E and -Wno- act on qc at once. */
bool qc_parse_options(struct qc *qc, int argc, char **argv,
                      struct qc_options *o);
/* The overview, or one command's page. */
void qc_print_help(enum qc_command command);
/* What is wrong with a command line, and how the command is used, to standard
 * error. */
void qc_print_usage_fault(enum qc_command command, const char *why);

#endif
