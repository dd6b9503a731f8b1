/* --align and --section: where a linker puts the tables. Compilers that know
 * GNU attributes place every object of the generated files; for others the
 * macros are empty, and the user may define them. */
#include "emit.h"

#include <string.h>

static void put_macro(struct qc_out *o, const struct qc_place *p,
                      const char *prefix, const char *suffix,
                      const char *section_suffix)
{
    qc_puts(o, "#define ");
    qc_put_upper(o, prefix);
    qc_printf(o, "_PLACED%s __attribute__((", suffix);
    if (p->align)
        qc_printf(o, "aligned(%s)%s", p->align, p->section ? ", " : "");
    if (p->section)
        qc_printf(o, "section(\"%s%s\")", p->section, section_suffix);
    qc_puts(o, "))\n");
}

static void put_empty(struct qc_out *o, const char *prefix, const char *suffix)
{
    qc_puts(o, "#define ");
    qc_put_upper(o, prefix);
    qc_printf(o, "_PLACED%s\n", suffix);
}

void qc_put_place(struct qc_out *o, const struct qc_tables *t)
{
    const struct qc_place *p = &t->place;

    if (!p->align && !p->section)
        return;
    qc_puts(o, "/* Where the tables lie (--align, --section). Those that hold "
               "pointers have\n * a section of their own, which code that is "
               "loaded anywhere has to write. */\n#ifndef ");
    qc_put_upper(o, t->prefix);
    qc_puts(o, "_PLACED\n#if defined(__GNUC__)\n");
    put_macro(o, p, t->prefix, "", "");
    put_macro(o, p, t->prefix, "_PTR", ".ptr");
    qc_puts(o, "#else\n");
    put_empty(o, t->prefix, "");
    put_empty(o, t->prefix, "_PTR");
    qc_puts(o, "#endif\n#endif\n\n");
}

static bool begins(const char *line, const char *end, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(end - line) >= n && memcmp(line, with, n) == 0;
}

/* Objects whose members are pointers. */
static bool has_pointers(const char *type, const char *end)
{
    static const char *const types[] = {
        "struct qrt_ifmr ",           "struct qrt_factors ",
        "struct qrt_edge ",           "struct qrt_term ",
        "struct qrt_join ",           "struct qrt_layer ",
        "struct qrt_tables ",         "struct qrt_selftest_layer ",
        "struct qrt_selftest_tables "};
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (begins(type, end, types[i]))
            return true;
    return false;
}

/* What a declaration begins with up to the type; null: it is none. */
static const char *type_in(const char *line, const char *end)
{
    static const char *const heads[] = {"static const ", "extern const ",
                                        "ALIGNED(4) const ", "const "};
    size_t i;

    for (i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        if (begins(line, end, heads[i]))
            return line + strlen(heads[i]);
    return NULL;
}

void qc_place_objects(struct qc_out *o, const struct qc_tables *t)
{
    struct qc_str old = {o->text, o->size};
    const char *line = old.ptr, *end = old.ptr + old.len;

    if (!t->place.align && !t->place.section)
        return;
    o->text = NULL;
    o->size = o->room = 0;
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const char *type = type_in(line, end);

        next = next ? next + 1 : end;
        if (type) {
            qc_put_upper(o, t->prefix);
            qc_puts(o, has_pointers(type, end) ? "_PLACED_PTR " : "_PLACED ");
        }
        qc_put(o, line, (size_t)(next - line));
        line = next;
    }
}
