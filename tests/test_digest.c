/* SHA-1 and SHA-256 against the examples of FIPS 180-4 and, at every length
 * around the ends of blocks, against values of sha1sum and sha256sum. */
#include "digest.h"

#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static char hex[QC_DIGEST_ROOM];

static const char *sha1(const char *p, size_t n)
{
    uint8_t d[QC_SHA1_SIZE];

    qc_sha1((struct qc_str){p, n}, d);
    return qc_hex(d, sizeof(d), hex);
}

static const char *sha256(const char *p, size_t n)
{
    uint8_t d[QC_SHA256_SIZE];

    qc_sha256((struct qc_str){p, n}, d);
    return qc_hex(d, sizeof(d), hex);
}

#define LONG "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

static void the_examples_of_the_standard(void **state)
{
    (void)state;
    assert_string_equal(sha1("abc", 3),
                        "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_string_equal(sha1(LONG, strlen(LONG)),
                        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    assert_string_equal(
        sha256("abc", 3),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(
        sha256(LONG, strlen(LONG)),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void nothing_has_a_digest_too(void **state)
{
    (void)state;
    assert_string_equal(sha1("", 0),
                        "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_string_equal(
        sha256("", 0),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void a_million_letters(void **state)
{
    char *million = malloc(1000000);

    (void)state;
    memset(million, 'a', 1000000);
    assert_string_equal(sha1(million, 1000000),
                        "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    assert_string_equal(
        sha256(million, 1000000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

/* The digest of the digests, in hexadecimal, of "", "x", "xx" ... 200 times
 * "x": made by a shell loop over sha1sum and sha256sum. */
static void every_length_around_the_ends_of_blocks(void **state)
{
    static char all[201 * 64 + 1], x[200];
    size_t n;

    (void)state;
    memset(x, 'x', sizeof(x));
    for (n = 0; n <= 200; n++)
        memcpy(all + n * 40, sha1(x, n), 40);
    assert_string_equal(sha1(all, 201 * 40),
                        "1f67da40a499e887e43c141418cc90ce5c8f9002");
    for (n = 0; n <= 200; n++)
        memcpy(all + n * 64, sha256(x, n), 64);
    assert_string_equal(
        sha256(all, 201 * 64),
        "75013a3fd49991ead9d8a57ea80485c088443c3406a0e8fa003ed57144041eb4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_standard),
        cmocka_unit_test(nothing_has_a_digest_too),
        cmocka_unit_test(a_million_letters),
        cmocka_unit_test(every_length_around_the_ends_of_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
