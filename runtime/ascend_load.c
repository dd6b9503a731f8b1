/* The libraries: opened by name, every function resolved before one is called.
 *
 * Until about version 8.3 there is one libascendcl.so; from 8.5 on its parts
 * have files of their own and the old name is a shell around them. Of such a
 * pair only one is ever opened. Where the process has the library already, for
 * another framework, that one is used. */
#include "ascend.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum library { RT, OP, NN, API };
enum need { NEEDED, OPTIONAL };

static const struct function {
    enum library library;
    enum need need;
    const char *name;
    size_t at;
} functions[] = {
#define CALL(library, need, type, name, parameters)                            \
    {library, need, #name, offsetof(struct ascend_calls, name)},
#include "ascend_calls.def"
#undef CALL
};

#define FUNCTIONS (sizeof functions / sizeof *functions)

static bool add(struct ascend *a, const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    for (uint32_t i = 0; handle != NULL && i < ASCEND_LIBRARIES; i++) {
        if (a->library[i] == NULL) {
            a->library[i] = handle;
            return true;
        }
    }
    return false;
}

/* From the first handle that knows the name; the program's own comes first. */
static void *symbol(const struct ascend *a, const char *name)
{
    void *p = NULL;

    for (uint32_t i = 0; p == NULL && i < ASCEND_LIBRARIES; i++) {
        if (a->library[i] != NULL) {
            p = dlsym(a->library[i], name);
        }
    }
    return p;
}

static bool open_libraries(struct ascend *a)
{
    if (!add(a, NULL)) { /* the program and what it was linked with */
        return false;
    }
    if (symbol(a, "aclInit") == NULL && !add(a, "libascendcl.so")) {
        if (!add(a, "libacl_rt.so")) {
            return false;
        }
        if (add(a, "libacl_mdl.so")) {
            (void)add(a, "libacl_op_executor.so");
        }
    }
    if (symbol(a, "aclCreateTensor") == NULL && !add(a, "libnnopbase.so")) {
        return true; /* single-operator models may do */
    }
    if (symbol(a, "aclnnAscendQuant") == NULL && !add(a, "libopapi_nn.so")) {
        (void)add(a, "libopapi.so");
    }
    return true;
}

/* All functions, or the name of the first that is needed and missing. */
static const char *resolve(struct ascend *a)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        void *p = symbol(a, f->name);

        if (p == NULL && f->need == NEEDED) {
            return f->name;
        }
        memcpy((char *)&a->call + f->at, &p, sizeof p);
    }
    return NULL;
}

/* From here on the code stays mapped: the library may have started threads. */
static void pin(void)
{
    static const char *const names[] = {
        "libascendcl.so", "libacl_rt.so",   "libacl_mdl.so",
        "libnnopbase.so", "libopapi_nn.so", "libacl_op_executor.so",
        "libopapi.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *p = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

        if (p != NULL) {
            (void)dlclose(p);
        }
    }
}

bool qrt_ascend_load(struct ascend *a, const char **what)
{
    *what = "neither libascendcl.so nor libacl_rt.so can be loaded";
    if (open_libraries(a)) {
        *what = resolve(a);
        if (*what == NULL) {
            pin();
            return true;
        }
    }
    qrt_ascend_unload(a);
    return false;
}

void qrt_ascend_unload(struct ascend *a)
{
    for (uint32_t i = ASCEND_LIBRARIES; i-- > 0;) {
        if (a->library[i] != NULL) {
            (void)dlclose(a->library[i]);
            a->library[i] = NULL;
        }
    }
    memset(&a->call, 0, sizeof a->call);
}

bool qrt_ascend_probe(void)
{
    static const char *const names[] = {"libascendcl.so", "libacl_rt.so"};
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        void *handle = NULL, *p = NULL;
        int32_t (*init)(const char *);

        (void)alarm(60);
        for (int i = 0; handle == NULL && i < 2; i++) {
            handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        }
        p = handle != NULL ? dlsym(handle, "aclInit") : NULL;
        if (p == NULL) {
            _exit(1);
        }
        memcpy(&init, &p, sizeof init);
        (void)init(NULL);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
