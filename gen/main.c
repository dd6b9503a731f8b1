/* quantc: the commands. Each reads its inputs, lets the stages work until one
 * has reported an error, and writes only when none has. */
#define _POSIX_C_SOURCE 200809L
#include "diff.h"
#include "emit.h"
#include "emit_weights.h"
#include "options.h"
#include "show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct qc *qc;
    const struct qc_options *o;
    int dialect;
    struct qc_doc *config, *record, *device; /* null when not given */
    struct qc_model *model;
    struct qc_plan *plan;
    bool differs; /* diff: there is a difference */
    bool again;   /* merge: the samples are needed once more */
};

/* Ends the run: `why` says what is wrong with the command line. */
static void wrong_usage(const struct run *r, const char *why) QC_NORETURN;
static void wrong_usage(const struct run *r, const char *why)
{
    qc_print_usage_fault(r->o->command, why);
    exit(QC_EXIT_USAGE);
}

/* ---- reading ---- */

static int dialect_of(const char *word)
{
    static const char *const words[] = {"",     "mindspore", "pytorch",
                                        "onnx", "caffe",     "tensorflow"};
    int i;

    for (i = 1; word && i < (int)(sizeof(words) / sizeof(*words)); i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return QC_UNION;
}

static bool read_model(struct run *r)
{
    if (r->o->model)
        r->model = qc_read_onnx(r->qc, r->o->model);
    else if (r->o->layers)
        r->model = qc_read_layers(r->qc, r->o->layers, r->dialect);
    else
        return true;
    if (r->model)
        qc_limit_to_dialect(r->qc, r->model, r->dialect);
    return r->model != NULL;
}

/* The configuration and the record, in whatever order they are given: a record
 * may stand in CONFIG's place (`quantc check record.txt --layers F`). */
static bool read_inputs(struct run *r)
{
    struct qc *qc = r->qc;

    if (r->o->arg_count) {
        r->config = qc_read(qc, r->o->args[0], qc_kind_of_word(r->o->kind),
                            r->dialect, false);
        if (!r->config)
            return false;
        if (r->config->kind == QC_KIND_RECORD) {
            r->record = r->config;
            r->config = NULL;
        }
    }
    if (r->o->record) {
        r->record =
            qc_read(qc, r->o->record, QC_KIND_RECORD, r->dialect, false);
        if (!r->record)
            return false;
    }
    if (r->o->device) {
        r->device =
            qc_read(qc, r->o->device, QC_KIND_OPTIONS, r->dialect, false);
        if (!r->device)
            return false;
    }
    return read_model(r);
}

static bool resolve(struct run *r)
{
    struct qc_resolve_options o = {0};

    if (!read_inputs(r))
        return false;
    if (!r->config && !r->record && !r->model)
        wrong_usage(r, "nothing names the layers: give --model or --layers");
    o.dialect = r->dialect;
    o.skip_layers = r->o->skip_layers;
    o.batch_num = r->o->batch_num;
    o.activation_offset = r->o->activation_offset;
    o.device = r->device;
    r->plan = qc_resolve(r->qc, r->config, r->record, r->model, &o);
    return r->plan && !qc_error_count(r->qc);
}

/* ---- compile ---- */

static const char *in_folder(struct run *r, const char *name)
{
    const char *dir = r->o->out;

    if (!dir || !*dir)
        return name;
    return qc_format(r->qc, "%s%s%s", dir,
                     dir[strlen(dir) - 1] == '/' ? "" : "/", name)
        .ptr;
}

static const char *file_path(struct run *r, const struct qc_tables *t,
                             const char *suffix)
{
    return in_folder(r, qc_format(r->qc, "%s_%s", t->prefix, suffix).ptr);
}

static enum qc_weight_layout layout_of(const struct run *r)
{
    return r->o->layout && r->o->layout[0] == 'c' ? QC_LAYOUT_CMSIS
                                                  : QC_LAYOUT_ONNX;
}

/* Adds the files of --weights to outs; false after an error. */
static bool add_weights(struct run *r, const struct qc_tables *t,
                        struct qc_out **outs, size_t *n)
{
    const char *word = r->o->weights_form ? r->o->weights_form : "";
    enum qc_weight_form form = *word == 'd'   ? QC_FORM_DECIMAL
                               : *word == 's' ? QC_FORM_STRING
                               : *word == 'i' ? QC_FORM_INCBIN
                                              : QC_FORM_AUTO;
    struct qc_low_weights *w;
    size_t count;

    if (!qc_lower_weights(r->qc, t, layout_of(r), &w, &count))
        return false;
    outs[*n] = qc_out_new(r->qc, file_path(r, t, "weights.h"));
    qc_emit_weights_header(outs[(*n)++], t, w, count);
    outs[*n] = qc_out_new(r->qc, file_path(r, t, "weights.c"));
    qc_emit_weights_source(outs[(*n)++], t, w, count, form);
    if (form == QC_FORM_INCBIN) {
        outs[*n] = qc_out_new(r->qc, file_path(r, t, "weights.bin"));
        outs[*n + 1] = qc_out_new(r->qc, file_path(r, t, "weights.S"));
        qc_emit_weights_binary(outs[*n], outs[*n + 1], t, w, count);
        *n += 2;
    }
    return true;
}

/* Adds the SBOM of the n outputs there are. */
static void add_sbom(struct run *r, const char *name, struct qc_out **outs,
                     size_t *n)
{
    if (!r->o->sbom)
        return;
    outs[*n] = qc_out_new(r->qc, r->o->sbom);
    if (!qc_emit_sbom(outs[*n], name, outs, *n))
        exit(QC_EXIT_USAGE);
    ++*n;
}

static void write_tables(struct run *r, const struct qc_tables *t)
{
    struct qc *qc = r->qc;
    struct qc_out *outs[9];
    const char *targets[6];
    size_t n = 0, target_count = 2, first;

    targets[0] = file_path(r, t, "tables.c");
    targets[1] = file_path(r, t, "tables.h");
    outs[n++] = qc_out_new(qc, targets[1]);
    qc_emit_header(outs[0], t);
    outs[n++] = qc_out_new(qc, targets[0]);
    qc_emit_source(outs[1], t, !r->o->no_words);
    if (r->o->plan) {
        outs[n] = qc_out_new(qc, r->o->plan);
        if (!qc_emit_plan(outs[n++], t)) {
            fputs("quantc: --plan: this quantc was built without cJSON\n",
                  stderr);
            qc->io_failed = true;
            return;
        }
    }
    first = n;
    if (r->o->weights && !add_weights(r, t, outs, &n))
        return;
    for (; first < n; first++)
        targets[target_count++] = outs[first]->path;
    add_sbom(r, qc_format(qc, "%s_tables", t->prefix).ptr, outs, &n);
    /* Last, and always new: what make looks at. */
    outs[n] = qc_out_new(qc, file_path(r, t, "tables.d"));
    outs[n]->renew = true;
    qc_emit_depfile(outs[n++], targets, target_count);
    if (!r->o->out || qc_make_folder(qc, r->o->out))
        qc_commit(outs, n);
}

/* The tables of the command line's inputs; null after an error. */
static struct qc_tables *lowered(struct run *r)
{
    struct qc_lower_options o = {0};
    struct qc_tables *t;

    if (!r->o->arg_count && !r->o->record && !r->o->model && !r->o->layers)
        wrong_usage(r, "a file is missing: CONFIG, --model, --layers or "
                       "--record");
    if (!resolve(r))
        return NULL;
    o.prefix = r->o->prefix ? r->o->prefix : "quant";
    t = qc_lower(r->qc, r->plan, &o);
    if (!t || qc_error_count(r->qc))
        return NULL;
    t->place.align = r->o->align;
    t->place.section = r->o->section;
    return t;
}

static void print(struct run *r, struct qc_out *o)
{
    (void)r;
    qc_commit(&o, 1);
}

static void compile(struct run *r)
{
    struct qc_tables *t = lowered(r);

    if (!t)
        return;
    t->selftest = r->o->selftest;
    write_tables(r, t);
}

static bool lowered_weights(struct run *r, const struct qc_tables *t,
                            struct qc_image_weights *out)
{
    struct qc_low_weights *w = NULL;

    out->layout = layout_of(r);
    if (r->o->weights &&
        !qc_lower_weights(r->qc, t, out->layout, &w, &out->count))
        return false;
    out->at = w;
    return true;
}

static void image(struct run *r)
{
    struct qc_image_weights w = {0};
    struct qc_tables *t;
    struct qc_out *outs[2];
    size_t n = 1;

    if (!r->o->out)
        wrong_usage(r, "-o FILE is missing");
    t = lowered(r);
    outs[0] = qc_out_new(r->qc, r->o->out);
    if (!t || !lowered_weights(r, t, &w) ||
        !qc_emit_image(outs[0], t, !r->o->no_words, &w))
        return;
    add_sbom(r, "quant_image", outs, &n);
    qc_commit(outs, n);
}

static void show(struct run *r)
{
    struct qc_out *o = qc_out_new(r->qc, NULL);
    struct qc_shown_plan p;

    if (!qc_load_shown(r->qc, r->o->args[0], &p))
        return;
    qc_show(o, &p);
    print(r, o);
}

/* ---- the other commands ---- */

static void check(struct run *r)
{
    static const struct qc_lower_options as_compile = {"quant"};
    size_t i;

    if (r->o->model || r->o->layers || r->o->record) {
        if (r->o->arg_count > 1)
            wrong_usage(r, "one file at a time against a model; a record is "
                           "given with --record");
        /* And whether its numbers fit the tables, as compile would say. */
        if (resolve(r))
            qc_lower(r->qc, r->plan, &as_compile);
        return;
    }
    for (i = 0; i < r->o->arg_count; i++)
        qc_read(r->qc, r->o->args[i], qc_kind_of_word(r->o->kind), r->dialect,
                r->o->syntax_only);
}

static void config(struct run *r)
{
    struct qc_out *o = qc_out_new(r->qc, NULL);

    if (!resolve(r))
        return;
    if (r->o->effective)
        qc_emit_effective(o, r->plan);
    else
        qc_emit_config(o, r->plan);
    print(r, o);
}

static void explain(struct run *r)
{
    struct qc_out *o = qc_out_new(r->qc, NULL);

    if (!resolve(r))
        return;
    if (qc_explain(o, r->plan, r->o->arg_count > 1 ? r->o->args[1] : NULL,
                   r->o->json))
        print(r, o);
}

static void layers(struct run *r)
{
    struct qc_model *m = qc_read_onnx(r->qc, r->o->args[0]);
    struct qc_out *o = qc_out_new(r->qc, NULL);

    if (!m || qc_error_count(r->qc))
        return;
    qc_emit_layers(o, m);
    print(r, o);
}

static bool diff_shown(struct run *r, struct qc_out *o)
{
    struct qc_shown_plan *a = qc_alloc(r->qc, sizeof(*a));
    struct qc_shown_plan *b = qc_alloc(r->qc, sizeof(*b));

    if (!qc_load_shown(r->qc, r->o->args[0], a) ||
        !qc_load_shown(r->qc, r->o->args[1], b))
        return false;
    r->differs = qc_diff_shown(o, a, b) > 0;
    return true;
}

static bool diff_json_plans(struct run *r, const struct qc_doc *a,
                            const struct qc_doc *b, struct qc_out *o)
{
    struct qc_out *ta = qc_out_new(r->qc, NULL), *tb = qc_out_new(r->qc, NULL);

    if (!qc_plan_text(ta, a) || !qc_plan_text(tb, b))
        wrong_usage(r, "these are not two plans of quantc");
    r->differs = qc_diff_texts(o, ta, tb) > 0;
    return true;
}

static bool diff_records(struct run *r, const struct qc_doc *a,
                         const struct qc_doc *b, struct qc_out *o)
{
    r->differs = qc_diff_records(o, a, b) > 0;
    return true;
}

/* config.json names its layers; the other forms need them from elsewhere. */
static bool names_layers(struct run *r, const struct qc_doc *d)
{
    struct qc_diag *e;

    if (r->model || (d->kind != QC_KIND_CALIB && d->kind != QC_KIND_RETRAIN))
        return true;
    e = qc_report(r->qc, QC_RES_NO_LAYERS, (struct qc_loc){d->file, 0, 0},
                  "%s does not name the layers of the model", d->file->name);
    qc_help(r->qc, e,
            "give --model M.onnx or --layers M.layers: what is compared is "
            "what either file says for each layer");
    return false;
}

static bool diff_configs(struct run *r, const struct qc_doc *a,
                         const struct qc_doc *b, struct qc_out *o)
{
    struct qc_resolve_options ro = {0};
    const struct qc_plan *pa, *pb;

    ro.dialect = r->dialect;
    if (!read_model(r) || !names_layers(r, a) || !names_layers(r, b) ||
        qc_error_count(r->qc))
        return false;
    pa = qc_resolve(r->qc, a, NULL, r->model, &ro);
    pb = qc_resolve(r->qc, b, NULL, r->model, &ro);
    if (!pa || !pb || qc_error_count(r->qc))
        return false;
    r->differs = qc_diff_plans(o, pa, pb) > 0;
    return true;
}

static const char *kind_word(const struct qc_doc *d)
{
    return d->kind == QC_KIND_RECORD    ? "a record"
           : d->kind == QC_KIND_LAYERS  ? "a list of layers"
           : d->kind == QC_KIND_OPTIONS ? "quantc.options"
                                        : "a configuration";
}

/* What the files are depends on what they hold: a fault of the second one, not
 * of the command line. file: null when it was not read as text. */
static bool two_of_a_kind(struct run *r, const char *a, const char *b,
                          struct qc_file *file)
{
    struct qc_diag *d;

    if (strcmp(a, b) == 0)
        return true;
    if (!file) {
        file = qc_load_text(r->qc, r->o->args[1], "", 0);
        file->binary = true;
    }
    d = qc_report(r->qc, QC_RES_KIND, (struct qc_loc){file, 0, 0},
                  "%s is %s, %s is %s: two of a kind can be compared",
                  r->o->args[0], a, r->o->args[1], b);
    qc_help(r->qc, d, "--kind says what a file is, where quantc errs");
    return false;
}

/* Status 1 when there is a difference, as diff(1). */
static void diff(struct run *r)
{
    static const char *const words[] = {
        [QC_SHOWN_NONE] = "something else",
        [QC_SHOWN_IMAGE] = "an image, tables or a plan",
        [QC_SHOWN_TABLES] = "an image, tables or a plan",
        [QC_SHOWN_FOLDER] = "an image, tables or a plan",
        [QC_SHOWN_PLAN] = "an image, tables or a plan",
    };
    struct qc_out *o = qc_out_new(r->qc, NULL);
    const char *fa = r->o->args[0], *fb = r->o->args[1];
    enum qc_shown_kind sight = qc_shown_kind(fa), other = qc_shown_kind(fb);
    bool plans = sight == QC_SHOWN_PLAN && other == QC_SHOWN_PLAN;
    enum qc_kind kind =
        plans ? QC_KIND_JSON_SYNTAX : qc_kind_of_word(r->o->kind);
    struct qc_doc *a, *b;
    bool done;

    if (sight == QC_SHOWN_NOWHERE || other == QC_SHOWN_NOWHERE) {
        qc_load(r->qc, fa, QC_MAX_FILE); /* which says so */
        qc_load(r->qc, fb, QC_MAX_FILE);
        return;
    }
    if (!two_of_a_kind(r, words[sight], words[other], NULL))
        return;
    if (sight != QC_SHOWN_NONE && !plans) {
        if (diff_shown(r, o))
            print(r, o);
        return;
    }
    a = qc_read(r->qc, fa, kind, r->dialect, false);
    b = qc_read(r->qc, fb, kind, r->dialect, false);
    if (!a || !b || qc_error_count(r->qc) ||
        !two_of_a_kind(r, kind_word(a), kind_word(b), b->file))
        return;
    if (plans)
        done = diff_json_plans(r, a, b, o);
    else if (a->kind == QC_KIND_RECORD)
        done = diff_records(r, a, b, o);
    else
        done = diff_configs(r, a, b, o);
    if (done)
        print(r, o);
}

static void calibrate(struct run *r)
{
    const char *why = qc_calib_options_fault(&r->o->calib, false);

    if (!r->o->model)
        why = "--model M.onnx is missing";
    if (why)
        wrong_usage(r, why);
    if (resolve(r))
        qc_calibrate(r->qc, r->plan, &r->o->calib);
}

static void merge(struct run *r)
{
    const char *why = qc_calib_options_fault(&r->o->calib, true);

    if (why)
        wrong_usage(r, why);
    r->again = qc_merge(r->qc, r->o->args, r->o->arg_count, &r->o->calib);
}

static void dump(struct run *r)
{
    struct qc_doc *d = qc_read(r->qc, r->o->args[0],
                               qc_kind_of_word(r->o->kind), r->dialect, true);
    struct qc_out *o = qc_out_new(r->qc, NULL);

    if (!d || qc_error_count(r->qc))
        return;
    qc_dump_json(o, d);
    print(r, o);
}

static void schema(struct run *r)
{
    struct qc_out *o = qc_out_new(r->qc, NULL);
    enum qc_kind kind = qc_kind_of_word(r->o->kind);

    if (kind != QC_KIND_JSON_CALIB && kind != QC_KIND_JSON_RETRAIN)
        wrong_usage(r, "give --kind json-calib or --kind json-retrain");
    qc_emit_schema(o, kind);
    print(r, o);
}

static void configure(struct qc *qc, const struct qc_options *o)
{
    qc->werror = o->werror;
    if (o->compat)
        qc_use_amct_mode(qc);
    if (o->require_factors)
        qc_set_severity(qc, "res.not-calibrated", QC_ERROR);
    if (o->calib.allow_uncalibrated)
        qc_set_severity(qc, "data.missing", QC_WARNING);
    if (o->max_errors)
        qc->max_errors = strtoul(o->max_errors, NULL, 10);
    if (o->diag)
        qc->diag_format = o->diag[0] == 'j'   ? QC_DIAG_JSON
                          : o->diag[0] == 's' ? QC_DIAG_SARIF
                                              : QC_DIAG_TEXT;
    qc->colour = isatty(2) && !getenv("NO_COLOR");
}

/* Whether what was printed has arrived. */
static enum qc_exit printed(struct qc *qc)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return QC_EXIT_OK;
    qc_io_error(qc, "standard output", "write", errno);
    return QC_EXIT_IO;
}

int main(int argc, char **argv)
{
    static void (*const commands[QC_CMD_COUNT])(struct run *) = {
        [QC_CMD_COMPILE] = compile,     [QC_CMD_CHECK] = check,
        [QC_CMD_CONFIG] = config,       [QC_CMD_EXPLAIN] = explain,
        [QC_CMD_LAYERS] = layers,       [QC_CMD_DUMP] = dump,
        [QC_CMD_SCHEMA] = schema,       [QC_CMD_IMAGE] = image,
        [QC_CMD_SHOW] = show,           [QC_CMD_DIFF] = diff,
        [QC_CMD_CALIBRATE] = calibrate, [QC_CMD_MERGE] = merge,
    };
    struct qc qc = {0};
    struct qc_options o = {0};
    struct run r = {0};
    enum qc_exit status;

    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* not one call per character */
    qc_diag_init(&qc);
    if (!qc_parse_options(&qc, argc, argv, &o)) {
        qc_free_all(&qc);
        return QC_EXIT_USAGE;
    }
    if (o.version || o.help) {
        if (o.version)
            puts("quantc " QC_VERSION);
        else
            qc_print_help(o.command);
        status = printed(&qc);
        qc_free_all(&qc);
        return status;
    }
    configure(&qc, &o);
    r.qc = &qc;
    r.o = &o;
    r.dialect = dialect_of(o.dialect);
    commands[o.command](&r);
    status = qc_flush(&qc);
    if (status == QC_EXIT_OK && r.differs)
        status = QC_EXIT_INPUT;
    if (status == QC_EXIT_OK && r.again)
        status = QC_EXIT_AGAIN;
    qc_free_all(&qc);
    return status;
}
