/* Reads the command line by tables. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#define ON(c) (1u << QC_CMD_##c)
#define RESOLVES                                                               \
    (ON(COMPILE) | ON(CHECK) | ON(CONFIG) | ON(EXPLAIN) | ON(IMAGE))
#define EVERYWHERE 0xFFFFFFFFu

static const struct {
    const char *name, *usage, *text;
    size_t least, most; /* arguments */
} commands[QC_CMD_COUNT] = {
    {NULL,      NULL,                                                      NULL,                                             0, 0},
    {"compile", "[CONFIG] [--model M.onnx | --layers F] [--record R.txt]",
     "turn a configuration into const C tables",                                                                             0, 1},
    {"check",   "FILE...",                                                 "report everything that is wrong; write nothing", 1,
     SIZE_MAX                                                                                                                    },
    {"config",  "[CONFIG] --model M.onnx | --layers F",
     "print the resolved config.json, as AMCT writes it",                                                                    0, 1},
    {"explain", "CONFIG --model M.onnx [LAYER | FIELD]",
     "say where every effective value comes from",                                                                           1, 2},
    {"layers",  "M.onnx",                                                  "print a model's layers as model.layers",         1, 1},
    {"dump",    "--json FILE",                                             "print what a file says, as JSON",                1, 1},
    {"schema",  "--kind json-calib | json-retrain",
     "print the JSON Schema of config.json for editors",                                                                     0, 0},
};

enum kind { FLAG, VALUE };

#define AT(member) offsetof(struct qc_options, member)

static const struct option {
    const char *name, *argument, *text;
    enum kind kind;
    size_t at;
    unsigned commands;
} options[] = {
    {"--model",             "M.onnx", "the network",                                VALUE, AT(model),   RESOLVES                        },
    {"--layers",            "F",      "its layers, as model.layers or layers.json", VALUE,
     AT(layers),                                                                                        RESOLVES                        },
    {"--record",            "R.txt",  "calibrated scales and offsets",              VALUE, AT(record),
     RESOLVES                                                                                                                           },
    {"--dialect",           "D",
     "mindspore, pytorch, onnx, caffe or tensorflow; else all",                     VALUE,
     AT(dialect),                                                                                       RESOLVES | ON(DUMP)             },
    {"--compat",            "amct",   "AMCT's own verdicts (docs/compat.md)",       VALUE,
     AT(compat),                                                                                        RESOLVES | ON(DUMP)             },
    {"--kind",              "K",
     "calib, retrain, record, layers, json-calib, json-retrain or json-syntax",     VALUE, AT(kind),    RESOLVES | ON(DUMP) | ON(SCHEMA)},
    {"-o",                  "DIR",    "where the tables go (default: here)",        VALUE, AT(out),
     ON(COMPILE)                                                                                                                        },
    {"--prefix",            "P",      "names begin with P (default: quant)",        VALUE, AT(prefix),
     ON(COMPILE)                                                                                                                        },
    {"--plan",              "FILE",   "write the plan as JSON too",                 VALUE, AT(plan),
     ON(COMPILE)                                                                                                                        },
    {"--no-words",          NULL,     "leave the Ascend dequant words out",         FLAG,
     AT(no_words),                                                                                      ON(COMPILE)                     },
    {"--require-factors",   NULL,
     "an enabled layer that the record lacks is an error",                          FLAG,
     AT(require_factors),                                                                               RESOLVES                        },
    {"--skip-layers",       "A,B",    "without CONFIG: layers to skip",             VALUE,
     AT(skip_layers),                                                                                   RESOLVES                        },
    {"--batch-num",         "N",      "without CONFIG: batches for calibration",    VALUE,
     AT(batch_num),                                                                                     RESOLVES                        },
    {"--activation-offset", "B",      "without CONFIG: true or false",              VALUE,
     AT(activation_offset),                                                                             RESOLVES                        },
    {"--effective",         NULL,     "print what the configuration resolves to",   FLAG,
     AT(effective),                                                                                     ON(CONFIG)                      },
    {"--syntax-only",       NULL,     "characters, grammar, names and types only",  FLAG,
     AT(syntax_only),                                                                                   ON(CHECK)                       },
    {"--json",              NULL,     "machine-readable",                           FLAG,  AT(json),
     ON(EXPLAIN) | ON(DUMP)                                                                                                             },
    {"--werror",            NULL,     "warnings are errors",                        FLAG,  AT(werror),  EVERYWHERE                      },
    {"--max-errors",        "N",      "shown per file (default 20, 0: all)",        VALUE,
     AT(max_errors),                                                                                    EVERYWHERE                      },
    {"--diag",              "F",      "messages as text, json or sarif",            VALUE, AT(diag),
     EVERYWHERE                                                                                                                         },
    {"--help",              NULL,     "this page",                                  FLAG,  AT(help),    EVERYWHERE                      },
    {"--version",           NULL,     "print the version",                          FLAG,  AT(version), EVERYWHERE                      },
};
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
        printf("  %-8s %s\n", commands[c].name, commands[c].text);
    printf("\n'quantc COMMAND --help' lists the options of a command.\n"
           "Exit status: 0 done, 1 faulty input, 2 wrong command line, "
           "3 file trouble,\n4 out of memory.\n");
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

static const struct option *find_option(const char *arg, size_t len)
{
    size_t i;

    for (i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == len &&
            memcmp(options[i].name, arg, len) == 0)
            return &options[i];
    return NULL;
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

    if (strcmp(arg, "-h") == 0)
        return o->help = true;
    if (strncmp(arg, "-W", 2) == 0 || strncmp(arg, "-E", 2) == 0)
        return set_check(qc, argc, argv, i);
    if (strncmp(arg, "-o", 2) == 0 && arg[2] && arg[2] != '=') {
        o->out = arg + 2;
        return true;
    }
    opt = find_option(arg, len);
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

static bool valid(const struct qc_options *o)
{
    static const char *const dialects[] = {"mindspore", "pytorch",    "onnx",
                                           "caffe",     "tensorflow", NULL};
    static const char *const modes[] = {"amct", NULL};
    static const char *const diags[] = {"text", "json", "sarif", NULL};
    static const char *const kinds[] = {
        "calib",      "retrain",      "record",      "layers",
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
           (!o->prefix || valid_prefix(o->prefix));
}

static bool arguments_fit(const struct qc_options *o)
{
    const char *name = commands[o->command].name;

    if (o->arg_count < commands[o->command].least)
        fprintf(stderr, "quantc %s: a file is missing\n", name);
    else if (o->arg_count > commands[o->command].most)
        fprintf(stderr, "quantc %s: one file too many: '%s'\n", name,
                o->args[commands[o->command].most]);
    else if (o->model && o->layers)
        fprintf(stderr, "quantc %s: give --model or --layers, not both\n",
                name);
    else
        return true;
    fprintf(stderr, "usage: quantc %s %s\n", name, commands[o->command].usage);
    return false;
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
    return valid(o) && arguments_fit(o);
}
