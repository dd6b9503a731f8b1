/* SHA-1 and SHA-256. Both cut the message into blocks of 64 bytes, the last
 * one or two of which hold the rest, a 1 bit, and the length in bits. */
#include "digest.h"

#include <string.h>

#define BLOCK 64u

typedef void step(uint32_t *state, const uint8_t *block);

static uint32_t left(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void store(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static void digest(struct qc_str s, step *take, uint32_t *state)
{
    uint8_t last[2 * BLOCK] = {0};
    const uint8_t *p = (const uint8_t *)s.ptr;
    uint64_t bits = (uint64_t)s.len * 8;
    size_t rest = s.len % BLOCK, size, at;

    for (at = 0; at + BLOCK <= s.len; at += BLOCK)
        take(state, p + at);
    if (rest)
        memcpy(last, p + at, rest);
    last[rest] = 0x80;
    size = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    store(last + size - 8, (uint32_t)(bits >> 32));
    store(last + size - 4, (uint32_t)bits);
    for (at = 0; at < size; at += BLOCK)
        take(state, last + at);
}

static void put_words(uint8_t *to, const uint32_t *words, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        store(to + 4 * i, words[i]);
}

/* ---- SHA-1 ---- */

static uint32_t sha1_round(unsigned i, uint32_t b, uint32_t c, uint32_t d)
{
    if (i < 20)
        return ((b & c) | (~b & d)) + 0x5A827999u;
    if (i < 40)
        return (b ^ c ^ d) + 0x6ED9EBA1u;
    if (i < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCu;
    return (b ^ c ^ d) + 0xCA62C1D6u;
}

static void sha1_block(uint32_t *h, const uint8_t *block)
{
    uint32_t w[80], v[5], t;
    unsigned i;

    for (i = 0; i < 16; i++)
        w[i] = load(block + 4 * i);
    for (; i < 80; i++)
        w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, h, sizeof(v));
    for (i = 0; i < 80; i++) {
        t = left(v[0], 5) + sha1_round(i, v[1], v[2], v[3]) + v[4] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = left(v[1], 30);
        v[1] = v[0];
        v[0] = t;
    }
    for (i = 0; i < 5; i++)
        h[i] += v[i];
}

void qc_sha1(struct qc_str s, uint8_t out[QC_SHA1_SIZE])
{
    uint32_t h[5] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u,
                     0xC3D2E1F0u};

    digest(s, sha1_block, h);
    put_words(out, h, 5);
}

/* ---- SHA-256 ---- */

/* First 32 bits of the fractions of the cube roots of the first 64 primes. */
/* clang-format off */
static const uint32_t roots[64] = {
    0x428A2F98u, 0x71374491u, 0xB5C0FBCFu, 0xE9B5DBA5u, 0x3956C25Bu, 0x59F111F1u, 0x923F82A4u, 0xAB1C5ED5u,
    0xD807AA98u, 0x12835B01u, 0x243185BEu, 0x550C7DC3u, 0x72BE5D74u, 0x80DEB1FEu, 0x9BDC06A7u, 0xC19BF174u,
    0xE49B69C1u, 0xEFBE4786u, 0x0FC19DC6u, 0x240CA1CCu, 0x2DE92C6Fu, 0x4A7484AAu, 0x5CB0A9DCu, 0x76F988DAu,
    0x983E5152u, 0xA831C66Du, 0xB00327C8u, 0xBF597FC7u, 0xC6E00BF3u, 0xD5A79147u, 0x06CA6351u, 0x14292967u,
    0x27B70A85u, 0x2E1B2138u, 0x4D2C6DFCu, 0x53380D13u, 0x650A7354u, 0x766A0ABBu, 0x81C2C92Eu, 0x92722C85u,
    0xA2BFE8A1u, 0xA81A664Bu, 0xC24B8B70u, 0xC76C51A3u, 0xD192E819u, 0xD6990624u, 0xF40E3585u, 0x106AA070u,
    0x19A4C116u, 0x1E376C08u, 0x2748774Cu, 0x34B0BCB5u, 0x391C0CB3u, 0x4ED8AA4Au, 0x5B9CCA4Fu, 0x682E6FF3u,
    0x748F82EEu, 0x78A5636Fu, 0x84C87814u, 0x8CC70208u, 0x90BEFFFAu, 0xA4506CEBu, 0xBEF9A3F7u, 0xC67178F2u,
};
/* clang-format on */

static void sha256_words(uint32_t w[64], const uint8_t *block)
{
    unsigned i;

    for (i = 0; i < 16; i++)
        w[i] = load(block + 4 * i);
    for (; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] + (right(a, 7) ^ right(a, 18) ^ a >> 3) +
               (right(b, 17) ^ right(b, 19) ^ b >> 10);
    }
}

static void sha256_block(uint32_t *h, const uint8_t *block)
{
    uint32_t w[64], v[8], a, e, t1, t2;
    unsigned i;

    sha256_words(w, block);
    memcpy(v, h, sizeof(v));
    for (i = 0; i < 64; i++) {
        a = v[0];
        e = v[4];
        t1 = v[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
             ((e & v[5]) ^ (~e & v[6])) + roots[i] + w[i];
        t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) +
             ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (i = 0; i < 8; i++)
        h[i] += v[i];
}

void qc_sha256(struct qc_str s, uint8_t out[QC_SHA256_SIZE])
{
    uint32_t h[8] = {0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au,
                     0x510E527Fu, 0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u};

    digest(s, sha256_block, h);
    put_words(out, h, 8);
}

const char *qc_hex(const uint8_t *bytes, size_t size, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < size; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * size] = '\0';
    return hex;
}
