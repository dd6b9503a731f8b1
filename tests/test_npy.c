/* Calibration arrays: gen/npy.c. */
#include "cmocka_all.h"

#include "npy.h"

#include <stdio.h>
#include <unistd.h>

static struct qc run;
static char path[] = "/tmp/qc_npy_XXXXXX";

/* A .npy file of version 1 with this literal and these bytes. */
static void write_npy(const char *literal, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    size_t n = strlen(literal);

    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc((int)(n & 255), f);
    fputc((int)(n >> 8), f);
    fwrite(literal, 1, n, f);
    if (size)
        fwrite(data, 1, size, f);
    fclose(f);
}

static bool opens(const char *literal, const void *data, size_t size)
{
    struct qc_npy npy;
    bool ok;

    write_npy(literal, data, size);
    ok = qc_npy_open(&run, path, &npy);
    qc_npy_close(&npy);
    return ok;
}

static void float32_of_both_byte_orders_reads_alike(void **state)
{
    static const unsigned char little[] = {0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC1};
    static const unsigned char big[] = {0x3F, 0x80, 0, 0, 0xC1, 0x20, 0, 0};
    struct qc_npy npy;
    float out[2];

    (void)state;
    write_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
              little, 8);
    assert_true(qc_npy_open(&run, path, &npy));
    assert_int_equal(npy.count, 2);
    assert_true(qc_npy_read(&run, &npy, 0, out, 2));
    assert_true(out[0] == 1.0f && out[1] == -10.0f);
    qc_npy_close(&npy);
    write_npy("{'shape': (2, 1), 'fortran_order': True, 'descr': '>f4'}", big,
              8);
    assert_true(qc_npy_open(&run, path, &npy));
    assert_true(qc_npy_read(&run, &npy, 1, out, 1));
    assert_true(out[0] == -10.0f);
    qc_npy_close(&npy);
}

static void float16_is_exact(void **state)
{
    static const struct {
        uint16_t half;
        uint32_t single;
    } t[] = {
        {0x0000, 0x00000000},
        {0x8000, 0x80000000},
        {0x3C00, 0x3F800000},
        {0x0001, 0x33800000},
        {0x03FF, 0x387FC000},
        {0x0400, 0x38800000},
        {0x7BFF, 0x477FE000},
        {0x7C00, 0x7F800000},
        {0xFC00, 0xFF800000},
        {0x7E00, 0x7FC00000}
    };
    struct qc_npy npy;
    uint16_t raw[10];
    float out[10];
    size_t i;

    (void)state;
    for (i = 0; i < 10; i++)
        raw[i] = t[i].half;
    write_npy("{'descr': '=f2', 'fortran_order': False, 'shape': (10,)}", raw,
              sizeof(raw));
    assert_true(qc_npy_open(&run, path, &npy));
    assert_true(qc_npy_read(&run, &npy, 0, out, 10));
    for (i = 0; i < 10; i++) {
        uint32_t bits;

        memcpy(&bits, &out[i], 4);
        assert_int_equal(bits, t[i].single);
        assert_int_equal(qc_f32_of_f16(t[i].half), t[i].single);
    }
    qc_npy_close(&npy);
}

static void a_scalar_has_one_element(void **state)
{
    (void)state;
    assert_true(opens("{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                      "\0\0\0\0", 4));
}

/* Later versions have a length of four bytes. */
static void later_versions_read_alike(void **state)
{
    static const char head[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    struct qc_npy npy;
    float out = 0;

    (void)state;
    for (int version = 0; version <= 4; version++) {
        bool known = version >= 1 && version <= 3;
        bool opened;
        FILE *f = fopen(path, "wb");

        fwrite("\x93NUMPY", 1, 6, f);
        fputc(version, f);
        fputc(0, f);
        fputc(sizeof head - 1, f);
        fwrite("\0\0\0", 1, version == 1 ? 1 : 3, f);
        fwrite(head, 1, sizeof head - 1, f);
        fwrite("\0\0\xC0\x3F", 1, 4, f);
        fclose(f);
        opened = qc_npy_open(&run, path, &npy);
        assert_int_equal(opened, known);
        if (opened) {
            assert_true(qc_npy_read(&run, &npy, 0, &out, 1));
            assert_true(out == 1.5f);
        }
        qc_npy_close(&npy);
    }
}

static void wrong_files_are_refused(void **state)
{
    static const char *const bad[] = {
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (1,)}",
        "{'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(4294967296, 4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(99999999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
        "{'descr': <f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}",
        "",
        "{",
        "{}",
        "{'",
        "{'descr"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(opens(bad[i], "\0\0\0\0", 4));
    assert_true(opens("{'descr': '<f4', 'fortran_order': False, "
                      "'shape': (1,)}",
                      "\0\0\0\0", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_of_both_byte_orders_reads_alike),
        cmocka_unit_test(float16_is_exact),
        cmocka_unit_test(a_scalar_has_one_element),
        cmocka_unit_test(later_versions_read_alike),
        cmocka_unit_test(wrong_files_are_refused),
    };
    int failed, fd = mkstemp(path);

    close(fd);
    qc_diag_init(&run);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
