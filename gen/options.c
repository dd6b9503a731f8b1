/* Reads the command line by tables. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ON(c) (1u << QC_CMD_##c)
#define TABLES_OF                                                              \
    (ON(COMPILE) | ON(CHECK) | ON(CONFIG) | ON(EXPLAIN) | ON(IMAGE))
#define CALIB      (ON(CALIBRATE) | ON(MERGE))
#define RESOLVES   (TABLES_OF | ON(CALIBRATE))
#define EVERYWHERE 0xFFFFFFFFu

/* clang-format off */
static const struct {
    const char *name;
    size_t least, most; /* arguments */
    const char *usage, *text;
} commands[QC_CMD_COUNT] = {
    [QC_CMD_COMPILE] = {"compile", 0, 1, "[CONFIG] [--model M.onnx | --layers F] [--record R.txt]",
     "turn a configuration into const C tables"},
    [QC_CMD_CHECK] = {"check", 1, SIZE_MAX, "FILE... [--model M.onnx | --layers F] [--record R.txt]",
     "report everything that is wrong; write nothing"},
    [QC_CMD_CONFIG] = {"config", 0, 1, "[CONFIG] [--model M.onnx | --layers F] [--effective]",
     "print the resolved config.json, as AMCT writes it"},
    [QC_CMD_EXPLAIN] = {"explain", 1, 2, "CONFIG [--model M.onnx | --layers F] [LAYER | FIELD]",
     "say where every effective value comes from"},
    [QC_CMD_LAYERS] = {"layers", 1, 1, "M.onnx",
     "print a model's layers as model.layers"},
    [QC_CMD_DUMP] = {"dump", 1, 1, "--json FILE",
     "print what a file says, as JSON"},
    [QC_CMD_SCHEMA] = {"schema", 0, 0, "--kind json-calib | json-retrain",
     "print the JSON Schema of config.json for editors"},
    [QC_CMD_IMAGE] = {"image", 0, 1, "[CONFIG] [--model M.onnx | --layers F] [--record R.txt] -o FILE",
     "write the tables as a binary for updates"},
    [QC_CMD_SHOW] = {"show", 1, 1, "IMAGE | TABLES",
     "print an image, or tables, as text"},
    [QC_CMD_DIFF] = {"diff", 2, 2, "A B [--model M.onnx | --layers F]",
     "compare two configurations, records, plans, images or tables"},
    [QC_CMD_CALIBRATE] = {"calibrate", 0, 1, "[CONFIG] --model M.onnx --data DIR [-o record.txt]",
     "find scales and offsets from layer inputs: a record"},
    [QC_CMD_MERGE] = {"merge", 1, SIZE_MAX, "SHARD.qobs... [-o record.txt]",
     "make a record of what 'calibrate --partial' has written"},
};

enum kind { FLAG, VALUE };

#define AT(member) offsetof(struct qc_options, member)

static const struct option {
    const char *name, *argument;
    enum kind kind;
    size_t at;
    unsigned commands;
    const char *text;
} options[] = {
    {"--model", "M.onnx", VALUE, AT(model), RESOLVES | ON(DIFF), "the network"},
    {"--layers", "F", VALUE, AT(layers), TABLES_OF | ON(DIFF),
     "its layers, as model.layers or layers.json"},
    {"--record", "R.txt", VALUE, AT(record), TABLES_OF,
     "calibrated scales and offsets"},
    {"--dialect", "D", VALUE, AT(dialect), RESOLVES | ON(DUMP) | ON(DIFF),
     "mindspore, pytorch, onnx, caffe or tensorflow; else all"},
    {"--compat", "amct", VALUE, AT(compat), RESOLVES | ON(DUMP) | ON(DIFF),
     "AMCT's own verdicts (docs/compat.md)"},
    {"--kind", "K", VALUE, AT(kind), RESOLVES | ON(DUMP) | ON(SCHEMA) | ON(DIFF),
     "calib, retrain, record, layers, options, json-calib, json-retrain, json-syntax"},
    {"-o", "DIR", VALUE, AT(out), ON(COMPILE),
     "where the tables go (default: here)"},
    {"-o", "FILE", VALUE, AT(out), ON(IMAGE), "the image"},
    {"-o", "FILE", VALUE, AT(calib.out), CALIB,
     "the record (default: record.txt; -: standard output)"},
    {"--data", "DIR", VALUE, AT(calib.data), ON(CALIBRATE),
     "layer inputs as .npy files (docs/calibrate.md)"},
    {"-j", "N", VALUE, AT(calib.threads), CALIB, "layers at once (default: 1)"},
    {"--report", "FILE", VALUE, AT(calib.report), CALIB,
     "write what was found as JSON too"},
    {"--allow-uncalibrated", NULL, FLAG, AT(calib.allow_uncalibrated), CALIB,
     "leave layers without samples out of the record"},
    {"--exact-loss", NULL, FLAG, AT(calib.exact_loss), ON(CALIBRATE),
     "read the samples once more for exact losses"},
    {"--stats", NULL, FLAG, AT(calib.stats), ON(CALIBRATE),
     "print time and memory"},
    {"--partial", "S.qobs", VALUE, AT(calib.partial), ON(CALIBRATE),
     "these are a part of the samples: write a state for 'merge'"},
    {"--resume", "A.qobs", VALUE, AT(calib.resume), ON(CALIBRATE),
     "with --partial: the next round, as 'merge --again' has written"},
    {"--again", "A.qobs", VALUE, AT(calib.again), ON(MERGE),
     "what another round needs (default: record.txt.again.qobs)"},
    {"--options", "F", VALUE, AT(device),
     ON(COMPILE) | ON(CHECK) | ON(EXPLAIN) | ON(IMAGE),
     "what a device's arithmetic asks: quantc.options"},
    {"--align", "N", VALUE, AT(align), ON(COMPILE),
     "of every table, in bytes: a power of 2 from 8 to 4096"},
    {"--section", "NAME", VALUE, AT(section), ON(COMPILE),
     "of the tables; NAME.ptr of those with pointers"},
    {"--prefix", "P", VALUE, AT(prefix), ON(COMPILE),
     "names begin with P (default: quant)"},
    {"--plan", "FILE", VALUE, AT(plan), ON(COMPILE),
     "write the plan as JSON too"},
    {"--sbom", "FILE", VALUE, AT(sbom), ON(COMPILE) | ON(IMAGE),
     "write an SPDX bill of materials of the outputs too"},
    {"--weights", NULL, FLAG, AT(weights), ON(COMPILE) | ON(IMAGE),
     "write quantized weights and biases too"},
    {"--weights-form", "F", VALUE, AT(weights_form), ON(COMPILE),
     "decimal, string or incbin (default: by size)"},
    {"--layout", "L", VALUE, AT(layout), ON(COMPILE) | ON(IMAGE),
     "of the weights: onnx (default) or cmsis"},
    {"--selftest", NULL, FLAG, AT(selftest), ON(COMPILE),
     "add vectors that qrt_selftest runs on the board"},
    {"--no-words", NULL, FLAG, AT(no_words), ON(COMPILE) | ON(IMAGE),
     "leave the Ascend dequant words out"},
    {"--require-factors", NULL, FLAG, AT(require_factors), TABLES_OF,
     "an enabled layer that the record lacks is an error"},
    {"--skip-layers", "A,B", VALUE, AT(skip_layers), RESOLVES,
     "without CONFIG: layers to skip"},
    {"--batch-num", "N", VALUE, AT(batch_num), RESOLVES,
     "without CONFIG: batches for calibration"},
    {"--activation-offset", "B", VALUE, AT(activation_offset), RESOLVES,
     "without CONFIG: true or false"},
    {"--effective", NULL, FLAG, AT(effective), ON(CONFIG),
     "print what the configuration resolves to"},
    {"--syntax-only", NULL, FLAG, AT(syntax_only), ON(CHECK),
     "characters, grammar, names and types only"},
    {"--json", NULL, FLAG, AT(json), ON(EXPLAIN) | ON(DUMP),
     "as JSON, for programs"},
    {"--werror", NULL, FLAG, AT(werror), EVERYWHERE, "warnings are errors"},
    {"--max-errors", "N", VALUE, AT(max_errors), EVERYWHERE,
     "shown per file (default 20, 0: all)"},
    {"--diag", "F", VALUE, AT(diag), EVERYWHERE,
     "messages as text, json or sarif"},
    {"--help", NULL, FLAG, AT(help), EVERYWHERE, "this page"},
    {"--version", NULL, FLAG, AT(version), EVERYWHERE, "print the version"},
};
/* clang-format on */
#define OPTION_COUNT (sizeof(options) / sizeof(*options))

/* ---- help ---- */

static void print_options(unsigned mask)
{
    size_t i;

    for (i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        char left[40];

        if (!(o->commands & mask))
            continue;
        snprintf(left, sizeof(left), "%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-24s %s\n", left, o->text);
    }
    printf("  %-24s %s\n", "-W KEY, -E KEY, -Wno-KEY",
           "make a check a warning, an error, or nothing");
}

void qc_print_help(enum qc_command command)
{
    size_t c;

    if (command != QC_CMD_NONE) {
        printf("quantc %s %s\n    %s\n\n", commands[command].name,
               commands[command].usage, commands[command].text);
        print_options(1u << command);
        return;
    }
    printf("quantc compiles AMCT quantization configurations into C tables.\n\n"
           "usage: quantc COMMAND [OPTIONS] FILES\n\n");
    for (c = 1; c < QC_CMD_COUNT; c++)
        printf("  %-10s %s\n", commands[c].name, commands[c].text);
    printf("\n'quantc COMMAND --help' or 'quantc help COMMAND' lists the "
           "options of a command.\n"
           "Exit status: 0 done, 1 faulty input, 2 wrong command line, "
           "3 file trouble,\n4 out of memory, 5 merge: another round is "
           "needed.\n");
}

void qc_print_usage_fault(enum qc_command command, const char *why)
{
    fprintf(stderr, "quantc %s: %s\nusage: quantc %s %s\n",
            commands[command].name, why, commands[command].name,
            commands[command].usage);
}

/* ---- parsing ---- */

static bool fault(const char *fmt, const char *what, const char *hint)
{
    fputs("quantc: ", stderr);
    fprintf(stderr, "%s '%s'", fmt, what);
    if (hint)
        fprintf(stderr, "; %s", hint);
    fputs("\n", stderr);
    return false;
}

static const char *nearest(struct qc *qc, const char *word,
                           const struct qc_str *names, size_t count)
{
    struct qc_str n = qc_nearest(qc_str(word), names, count);

    return n.len ? qc_format(qc, "did you mean '%.*s'?", QC_ARG(n)).ptr : NULL;
}

static bool find_command(struct qc *qc, const char *word, struct qc_options *o)
{
    struct qc_str names[QC_CMD_COUNT];
    size_t c;

    if (strcmp(word, "help") == 0) /* of the command that follows, if any */
        return o->help = true;
    for (c = 1; c < QC_CMD_COUNT; c++) {
        names[c] = qc_str(commands[c].name);
        if (strcmp(commands[c].name, word) == 0) {
            o->command = (enum qc_command)c;
            return true;
        }
    }
    fault("unknown command", word,
          nearest(qc, word, names + 1, QC_CMD_COUNT - 1));
    fputs("usage: quantc COMMAND [OPTIONS] FILES ('quantc --help')\n", stderr);
    return false;
}

/* A name may mean two things in different commands. */
static const struct option *find_option(const char *arg, size_t len,
                                        enum qc_command command)
{
    const struct option *other = NULL;
    size_t i;

    for (i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options[i].name) != len ||
            memcmp(options[i].name, arg, len) != 0)
            continue;
        if (!command || options[i].commands & 1u << command)
            return &options[i];
        other = &options[i];
    }
    return other;
}

static bool unknown_option(struct qc *qc, const char *arg, size_t len)
{
    struct qc_str names[OPTION_COUNT];
    size_t i;

    for (i = 0; i < OPTION_COUNT; i++)
        names[i] = qc_str(options[i].name);
    return fault("unknown option", arg,
                 nearest(qc, qc_copy(qc, arg, len).ptr, names, OPTION_COUNT));
}

/* -W KEY, -WKEY, -E KEY, -Wno-KEY. */
static bool set_check(struct qc *qc, int argc, char **argv, int *i)
{
    enum qc_severity s = argv[*i][1] == 'E' ? QC_ERROR : QC_WARNING;
    const char *key = argv[*i] + 2;

    if (s == QC_WARNING && strncmp(key, "no-", 3) == 0) {
        key += 3;
        s = QC_IGNORE;
    } else if (!*key) {
        if (++*i == argc)
            return fault("a check's name must follow", argv[*i - 1], NULL);
        key = argv[*i];
    }
    return qc_set_severity(qc, key, s) ||
           fault("no check is called", key, "docs/compat.md lists them");
}

static bool store(struct qc_options *o, const struct option *opt,
                  const char *value)
{
    char *at = (char *)o + opt->at;

    if (opt->kind == FLAG)
        *(bool *)(void *)at = true;
    else
        *(const char **)(void *)at = value;
    return true;
}

static bool one_option(struct qc *qc, int argc, char **argv, int *i,
                       struct qc_options *o)
{
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
    const struct option *opt;
    bool attached;

    if (strcmp(arg, "-h") == 0)
        return o->help = true;
    if (strncmp(arg, "-W", 2) == 0 || strncmp(arg, "-E", 2) == 0)
        return set_check(qc, argc, argv, i);
    attached = (arg[1] == 'o' || arg[1] == 'j') && arg[2] && arg[2] != '=';
    opt = find_option(arg, attached ? 2 : len, o->command);
    if (!opt)
        return unknown_option(qc, arg, len);
    if (o->command && !(opt->commands & 1u << o->command))
        return fault(qc_format(qc, "'quantc %s' has no option",
                               commands[o->command].name)
                         .ptr,
                     opt->name, NULL);
    if (opt->kind == FLAG)
        return equals ? fault("no value belongs to", opt->name, NULL)
                      : store(o, opt, NULL);
    if (attached)
        return store(o, opt, arg + 2);
    if (equals)
        return store(o, opt, equals + 1);
    if (++*i == argc)
        return fault("a value must follow", opt->name, NULL);
    return store(o, opt, argv[*i]);
}

static bool one_of(const char *what, const char *value,
                   const char *const *words)
{
    size_t i;

    if (!value)
        return true;
    for (i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    fprintf(stderr, "quantc: %s '%s' is not one of", what, value);
    for (i = 0; words[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", words[i]);
    fputs("\n", stderr);
    return false;
}

static bool valid_prefix(const char *p)
{
    const char *c;

    for (c = p; *c; c++)
        if (!(*c == '_' || (*c >= 'a' && *c <= 'z') ||
              (*c >= 'A' && *c <= 'Z') || (c > p && *c >= '0' && *c <= '9')))
            break;
    if (strcmp(p, "qrt") == 0 || strcmp(p, "QRT") == 0)
        return fault("--prefix: the runtime's own names begin with", p, NULL);
    if (c == p || *c || c - p > 32)
        return fault("--prefix must be a C name of at most 32 characters, not",
                     p, NULL);
    return true;
}

static bool is_model(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && strcmp(path + n - 5, ".onnx") == 0;
}

static bool is_count(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return (digits && digits < 10 && !text[digits]) ||
           fault("--max-errors needs a number, not", text, NULL);
}

static bool valid_align(const char *align)
{
    char *end;
    unsigned long n = strtoul(align, &end, 10);

    return (*align >= '1' && *align <= '9' && !*end && n >= 8 && n <= 4096 &&
            !(n & (n - 1))) ||
           fault("--align must be a power of 2 from 8 to 4096, not", align,
                 NULL);
}

static bool valid_section(const char *section)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$,-";
    size_t n = strspn(section, known);

    return (n && n <= 64 && !section[n]) ||
           fault("--section must be letters, digits and _.$,- (at most 64), "
                 "not",
                 section, NULL);
}

static bool valid(const struct qc_options *o)
{
    static const char *const dialects[] = {"mindspore", "pytorch",    "onnx",
                                           "caffe",     "tensorflow", NULL};
    static const char *const modes[] = {"amct", NULL};
    static const char *const diags[] = {"text", "json", "sarif", NULL};
    static const char *const kinds[] = {
        "calib",      "retrain",      "record",      "layers",      "options",
        "json-calib", "json-retrain", "json-syntax", NULL};
    static const char *const forms[] = {"decimal", "string", "incbin", NULL};
    static const char *const layouts[] = {"onnx", "cmsis", NULL};
    static const char *const bools[] = {"true", "false", NULL};

    return one_of("--dialect", o->dialect, dialects) &&
           one_of("--compat", o->compat, modes) &&
           one_of("--diag", o->diag, diags) &&
           one_of("--kind", o->kind, kinds) &&
           one_of("--activation-offset", o->activation_offset, bools) &&
           one_of("--weights-form", o->weights_form, forms) &&
           one_of("--layout", o->layout, layouts) &&
           (!o->max_errors || is_count(o->max_errors)) &&
           (!o->align || valid_align(o->align)) &&
           (!o->section || valid_section(o->section)) &&
           (!o->prefix || valid_prefix(o->prefix));
}

static bool arguments_fit(struct qc *qc, const struct qc_options *o)
{
    size_t most = commands[o->command].most;
    const char *why = NULL;

    if (o->arg_count < commands[o->command].least)
        why = "a file is missing";
    else if (o->arg_count > most)
        why = qc_format(qc, "one file too many: '%s'%s", o->args[most],
                        is_model(o->args[most])
                            ? "; a model is given with --model"
                            : "")
                  .ptr;
    else if (o->model && o->layers)
        why = "give --model or --layers, not both";
    if (why)
        qc_print_usage_fault(o->command, why);
    return !why;
}

bool qc_parse_options(struct qc *qc, int argc, char **argv,
                      struct qc_options *o)
{
    bool only_files = false;
    int i;

    o->args = qc_alloc(qc, (size_t)(argc + 1) * sizeof(*o->args));
    for (i = 1; i < argc; i++) {
        if (only_files || argv[i][0] != '-' || !argv[i][1]) {
            if (o->command)
                o->args[o->arg_count++] = argv[i];
            else if (!find_command(qc, argv[i], o))
                return false;
        } else if (strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!one_option(qc, argc, argv, &i, o)) {
            return false;
        }
    }
    if (o->help || o->version)
        return true;
    if (!o->command) {
        fputs("usage: quantc COMMAND [OPTIONS] FILES ('quantc --help')\n",
              stderr);
        return false;
    }
    return valid(o) && arguments_fit(qc, o);
}
