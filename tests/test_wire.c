/* Protobuf's wire format and what is taken for it: gen/wire.c, foreign.c. */
#include "cmocka_all.h"

#include "onnx.h"
#include "schema_tables.h"

static struct qc run;

static int fresh_run(void **state)
{
    (void)state;
    memset(&run, 0, sizeof(run));
    qc_diag_init(&run);
    return 0;
}

static int end_run(void **state)
{
    (void)state;
    qc_free_all(&run);
    return 0;
}

/* The bytes of a literal as a file. */
#define FILE_OF(literal) file_of(literal, sizeof(literal) - 1)

static struct qc_file *file_of(const char *bytes, size_t size)
{
    struct qc_file *f = qc_load_text(&run, "m.onnx", bytes, size);

    f->binary = true;
    return f;
}

static struct qc_node *read_attribute(struct qc_file *f)
{
    return qc_parse_wire(&run, f, &qc_AttributeProto);
}

static void every_wire_type_becomes_a_node(void **state)
{
    struct qc_node *n =
        read_attribute(FILE_OF("\x0a\x02kk"           /* name  */
                               "\x15\x00\x00\x80\x3f" /* f     */
                               "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                               "\x3a\x04\x00\x00\x00\x40" /* floats */
                               "\x40\x07\x40\x09"));      /* ints   */

    (void)state;
    assert_non_null(n);
    assert_int_equal(n->count, 6);
    assert_true(qc_equalz(qc_child(n, "name")->text, "kk"));
    assert_int_equal(qc_child(n, "f")->bits, 0x3f800000);
    assert_int_equal((int64_t)qc_child(n, "i")->bits, -1);
    assert_int_equal(qc_child(n, "floats")->kind, QC_TEXT);
    assert_int_equal(qc_child(n, "floats")->text.len, 4);
    assert_int_equal(n->last->bits, 9);
    assert_int_equal(n->last->loc.at, 29);
}

static void unknown_fields_are_skipped(void **state)
{
    struct qc_node *n =
        read_attribute(FILE_OF("\xc0\x3e\x05"    /* 1000: varint   */
                               "\xc2\x3e\x03zzz" /* 1000: bytes    */
                               "\xc5\x3e\x01\x02\x03\x04"
                               "\xc1\x3e\x01\x02\x03\x04\x05\x06\x07\x08"
                               "\x0a\x01k"));

    (void)state;
    assert_non_null(n);
    assert_int_equal(n->count, 1);
}

static void integer_lists_are_read_packed_and_not(void **state)
{
    struct qc_node *n =
        read_attribute(FILE_OF("\x40\x01\x42\x04\x02\x80\x01\x03\x40\x04"));
    int64_t v[4] = {0};

    (void)state;
    assert_int_equal(onnx_ints(n, "ints", v, 4), 5);
    assert_int_equal(v[0], 1);
    assert_int_equal(v[1], 2);
    assert_int_equal(v[2], 128);
    assert_int_equal(v[3], 3);
}

static void assert_fault(const char *bytes, size_t size, const char *key,
                         uint32_t at)
{
    struct qc_file *f;

    end_run(NULL);
    fresh_run(NULL);
    f = file_of(bytes, size);
    if (read_attribute(f))
        fail_msg("no fault at %u (%s)", at, key);
    assert_int_equal(f->errors, 1);
    assert_string_equal(qc_key_name(f->diags->key), key);
    assert_int_equal(f->diags->loc.at, at);
    assert_int_equal(qc_position(&run, f, f->diags->loc.at).col, at + 1);
}

#define FAULT(bytes, key, at) assert_fault(bytes, sizeof(bytes) - 1, key, at)

static void damage_is_reported_where_it_is(void **state)
{
    (void)state;
    FAULT("\x0a\x01k\x0a", "wire.truncated", 4);
    FAULT("\x0a\x05kkk", "wire.truncated", 1);
    FAULT("\x0a\xff\xff\xff\xff\x7fk", "wire.truncated", 1);
    FAULT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01k", "wire.truncated", 1);
    FAULT("\x15\x00\x00", "wire.truncated", 1);
    FAULT("\x18\x80", "wire.truncated", 1);
    FAULT("\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", "wire.varint", 1);
    FAULT("\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "wire.varint", 1);
    FAULT("\x00\x01", "wire.tag", 0);
    FAULT("\x0a\x01k\x1f", "wire.tag", 4);
    FAULT("\x80\x80\x80\x80\x80\x01", "wire.tag", 0);
    FAULT("\x0b", "wire.group", 1);
    FAULT("\x0c", "wire.group", 1);
    FAULT("\xc3\x3e\x00", "wire.group", 2);
    FAULT("\x08\x01", "wire.type", 0);             /* name as a number */
    FAULT("\x1a\x01k", "wire.type", 0);            /* i as bytes       */
    FAULT("\x1d\x01\x02\x03\x04", "wire.type", 0); /* i as fixed32     */
    FAULT("\x10\x01", "wire.type", 0);             /* f as a varint    */
}

static void a_length_is_held_against_its_message(void **state)
{
    (void)state;
    /* t (3 bytes) holds a name of 4, which only the file could hold. */
    FAULT("\x2a\x03\x42\x04x\x0a\x01k", "wire.truncated", 3);
}

/* depth messages t { ... }, innermost empty. */
static struct qc_file *nested(size_t depth)
{
    char *text = qc_alloc(&run, 16 * depth + 16), *at = text + 16 * depth;
    size_t i, size = 0;

    for (i = 0; i < depth; i++) {
        char head[16];
        size_t len = 0, n = size;

        /* AttributeProto.g, GraphProto.node, NodeProto.attribute */
        head[len++] = i % 3 == 0 ? 0x2a : i % 3 == 1 ? 0x0a : 0x32;
        for (; n > 127; n >>= 7)
            head[len++] = (char)((n & 127) | 128);
        head[len++] = (char)n;
        at -= len;
        memcpy(at, head, len);
        size += len;
    }
    return file_of(at, size);
}

static void nesting_has_a_limit(void **state)
{
    struct qc_file *f;

    (void)state;
    /* The outermost message counts too. 99 = 3 * 33 begins in a graph's node. */
    assert_non_null(read_attribute(nested(QC_MAX_WIRE_DEPTH - 1)));
    f = nested(QC_MAX_WIRE_DEPTH + 2);
    assert_null(read_attribute(f));
    assert_string_equal(qc_key_name(f->diags->key), "lim.depth");
}

static void number_of_values_has_a_limit(void **state)
{
    size_t size = 2 * (size_t)QC_MAX_WIRE_NODES, i;
    char *text = malloc(size);
    struct qc_file *f;

    (void)state;
    assert_non_null(text);
    for (i = 0; i < size; i += 2) {
        text[i] = 0x40;
        text[i + 1] = 1;
    }
    f = file_of(text, size);
    assert_null(read_attribute(f)); /* as many values, and the message */
    assert_string_equal(qc_key_name(f->diags->key), "lim.nodes");
    free(text);
}

static void foreign_files_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } want[] = {
#define FOREIGN(bytes, part) {bytes, sizeof(bytes) - 1, part}
        FOREIGN("", "empty"),
        FOREIGN("PK\003\004\024\0\0\0", "ZIP"),
        FOREIGN("\200\002}q\0", "pickle"),
        FOREIGN("\200\004\225\0", "pickle"),
        FOREIGN("\034\0\0\0TFL3\0\0", "TensorFlow Lite"),
        FOREIGN("\x89HDF\r\n\x1a\n\0", "HDF5"),
        FOREIGN("  {\"a\": 1}", "JSON"),
        FOREIGN("[1]", "JSON"),
        FOREIGN("<?xml version=\"1.0\"?>", "XML"),
        FOREIGN("common_config { }\n", "plain text"),
        FOREIGN("version https://git-lfs.github.com/spec/v1\n", "LFS"),
        FOREIGN("\n\n  \n", "empty text"),
        FOREIGN("\x0a\x04\x0a\x01\x00\x00", "another protobuf"),
#undef FOREIGN
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const char *what = qc_foreign(file_of(want[i].bytes, want[i].size));

        if (!what || !strstr(what, want[i].part))
            fail_msg("'%s' instead of '%s'", what ? what : "ONNX",
                     want[i].part);
    }
    assert_null(qc_foreign(FILE_OF("\x08\x08\x12\x07pytorch")));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_run, end_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_wire_type_becomes_a_node),
        TEST(unknown_fields_are_skipped),
        TEST(integer_lists_are_read_packed_and_not),
        TEST(damage_is_reported_where_it_is),
        TEST(a_length_is_held_against_its_message),
        TEST(nesting_has_a_limit),
        TEST(number_of_values_has_a_limit),
        TEST(foreign_files_are_named),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
