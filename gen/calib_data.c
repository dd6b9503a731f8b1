/* The folder with layer inputs.
 *
 * With index.json: {"layer": ["file.npy", ...], ...}, names of layers in any
 * way the model knows them, files relative to the folder. Without it a layer
 * has NAME.npy, or a folder NAME of .npy files in the order of their names.
 * Each file is one batch. */
#define _POSIX_C_SOURCE 200809L
#include "calibrate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct qc_calib_data {
    struct qc *qc;
    const char *folder;
    const struct qc_model *model;
    const struct qc_file *index;  /* null: there is none            */
    const struct qc_node **lists; /* by layer: its value in index.json */
};

static const char *join(struct qc *qc, const char *folder, struct qc_str name)
{
    size_t n = strlen(folder);

    if (name.len && name.ptr[0] == '/')
        return qc_cstr(qc, name);
    return qc_format(qc, "%s%s%.*s", folder,
                     n && folder[n - 1] != '/' ? "/" : "", QC_ARG(name))
        .ptr;
}

/* ---- index.json ---- */

static bool is_file_name(const struct qc_node *n)
{
    return n->kind == QC_TEXT && n->text.len &&
           !memchr(n->text.ptr, '\0', n->text.len);
}

static bool check_list(struct qc_calib_data *d, const struct qc_node *list)
{
    const struct qc_node *n;

    if (is_file_name(list))
        return true;
    for (n = list->kind == QC_LIST ? list->first : list; n; n = n->next) {
        if (list->kind == QC_LIST && is_file_name(n))
            continue;
        qc_report(d->qc, QC_DATA_INDEX, n->loc,
                  "a layer of index.json has a list of .npy files");
        return false;
    }
    return true;
}

static void enter(struct qc_calib_data *d, const struct qc_node *list)
{
    const struct qc_layer *l = qc_find_layer(d->model, list->name);
    const struct qc_node **slot;
    struct qc_diag *r;

    if (!l) {
        qc_report(d->qc, QC_DATA_UNKNOWN_LAYER, list->name_loc,
                  "the model has no layer \"%s\": its samples are not used",
                  qc_shown(d->qc, list->name));
        return;
    }
    slot = &d->lists[l - d->model->layers];
    if (*slot) {
        r = qc_report(d->qc, QC_DATA_DUPLICATE, list->name_loc,
                      "a second entry for the layer \"%s\"",
                      qc_shown(d->qc, l->name));
        qc_note(d->qc, r, (*slot)->name_loc, "the first is here");
    } else if (check_list(d, list)) {
        *slot = list;
    }
}

static bool read_index(struct qc_calib_data *d, const char *path)
{
    struct qc_doc *doc =
        qc_read(d->qc, path, QC_KIND_JSON_SYNTAX, QC_UNION, false);
    const struct qc_node *n;

    if (!doc || !doc->root || qc_error_count(d->qc))
        return false;
    d->index = doc->file;
    if (doc->root->kind != QC_GROUP) {
        qc_report(d->qc, QC_DATA_INDEX, doc->root->loc,
                  "index.json is an object of layer names");
        return false;
    }
    for (n = doc->root->first; n; n = n->next)
        enter(d, n);
    return !qc_error_count(d->qc);
}

struct qc_calib_data *qc_calib_data(struct qc *qc, const char *folder,
                                    const struct qc_model *m)
{
    struct qc_calib_data *d = qc_alloc(qc, sizeof(*d));
    const char *index = join(qc, folder, QC_STR("index.json"));
    struct stat st;
    int error;

    d->qc = qc;
    d->folder = folder;
    d->model = m;
    error = stat(folder, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (error) {
        qc_io_error(qc, folder, "open", error);
        return NULL;
    }
    if (stat(index, &st) != 0)
        return d;
    d->lists = qc_alloc(qc, (m->count + 1) * sizeof(*d->lists));
    return read_index(d, index) ? d : NULL;
}

/* ---- files ---- */

struct paths {
    const char **at;
    size_t count, room;
};

static void add_path(struct qc *qc, struct paths *p, const char *path)
{
    p->at = qc_grow(qc, p->at, p->count, &p->room, sizeof(*p->at));
    p->at[p->count++] = path;
}

static bool list_of_index(struct qc_calib_data *d, const struct qc_node *list,
                          struct paths *p)
{
    const struct qc_node *n = list->kind == QC_LIST ? list->first : list;
    struct qc_map seen = {0};

    for (; n; n = list->kind == QC_LIST ? n->next : NULL) {
        void **slot = qc_map_at(d->qc, &seen, n->text);

        if (*slot) {
            qc_report(d->qc, QC_DATA_DUPLICATE, n->loc,
                      "\"%s\" is listed twice for one layer",
                      qc_shown(d->qc, n->text));
            return false;
        }
        *slot = p;
        add_path(d->qc, p, join(d->qc, d->folder, n->text));
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_folder(struct qc_calib_data *d, const char *path,
                        struct paths *p)
{
    DIR *dir = opendir(path);
    const struct dirent *e;

    if (!dir) {
        qc_io_error(d->qc, path, "open", errno);
        return false;
    }
    while ((e = readdir(dir)) != NULL) {
        size_t n = strlen(e->d_name);

        if (n > 4 && strcmp(e->d_name + n - 4, ".npy") == 0)
            add_path(d->qc, p, join(d->qc, path, qc_str(e->d_name)));
    }
    closedir(dir);
    if (p->count)
        qsort(p->at, p->count, sizeof(*p->at), by_bytes);
    return true;
}

struct qc_str qc_calib_file_name(struct qc *qc, struct qc_str layer)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-._~";
    static const char hex[] = "0123456789ABCDEF";
    char *out = qc_alloc(qc, 3 * layer.len + 1);
    size_t i, n = 0;

    for (i = 0; i < layer.len; i++) {
        unsigned char c = (unsigned char)layer.ptr[i];

        if (c && strchr(plain, c)) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = hex[c >> 4];
            out[n++] = hex[c & 15];
        }
    }
    return (struct qc_str){out, n};
}

/* For reports about something that is not a text. */
static const struct qc_file *file_object(struct qc_calib_data *d,
                                         const char *path)
{
    struct qc_file *f = qc_load_text(d->qc, path, "", 0);

    f->binary = true;
    return f;
}

/* NAME.npy or the folder NAME, for one name of a layer. */
static bool list_name(struct qc_calib_data *d, struct qc_str name,
                      struct paths *p)
{
    struct qc_str base = qc_calib_file_name(d->qc, name);
    const char *folder = join(d->qc, d->folder, base), *file;
    struct stat st;

    file = qc_format(d->qc, "%s.npy", folder).ptr;
    if (stat(file, &st) == 0)
        add_path(d->qc, p, file);
    if (strspn(base.ptr, ".") == base.len || stat(folder, &st) != 0 ||
        !S_ISDIR(st.st_mode))
        return true;
    if (!p->count)
        return list_folder(d, folder, p);
    qc_report(d->qc, QC_DATA_DUPLICATE,
              (struct qc_loc){file_object(d, file), 0, 0},
              "beside this file there is a folder of the same name: one of "
              "them holds the batches");
    return false;
}

static bool list_names(struct qc_calib_data *d, const struct qc_layer *l,
                       struct paths *p)
{
    size_t i;

    if (!list_name(d, l->name, p))
        return false;
    for (i = 0; i < l->alias_count && !p->count; i++)
        if (!list_name(d, l->aliases[i], p))
            return false;
    return true;
}

/* ---- a layer ---- */

static const struct qc_batches *open_all(struct qc *qc, const struct paths *p)
{
    struct qc_batches *b = qc_alloc(qc, sizeof(*b));
    bool ok = true;
    size_t i;

    b->at = qc_alloc(qc, (p->count + 1) * sizeof(*b->at));
    b->count = p->count;
    for (i = 0; i < p->count; i++) {
        if (!qc_npy_open(qc, p->at[i], &b->at[i])) {
            ok = false;
            continue;
        }
        qc_npy_close(&b->at[i]);
        b->samples += b->at[i].count;
    }
    return ok ? b : NULL;
}

const struct qc_batches *qc_calib_batches(struct qc_calib_data *d,
                                          const struct qc_layer *l,
                                          const char **where)
{
    const struct qc_node *list;
    struct paths p = {0};

    *where = NULL;
    if (d->index) {
        list = d->lists[l - d->model->layers];
        if (list && !list_of_index(d, list, &p))
            return NULL;
        if (!p.count)
            *where = qc_format(d->qc, "%s lists none", d->index->name).ptr;
    } else {
        if (!list_names(d, l, &p))
            return NULL;
        if (!p.count)
            *where =
                qc_format(d->qc,
                          "%s has neither %.*s.npy nor such a "
                          "folder of .npy files",
                          d->folder, QC_ARG(qc_calib_file_name(d->qc, l->name)))
                    .ptr;
    }
    return p.count ? open_all(d->qc, &p) : NULL;
}
