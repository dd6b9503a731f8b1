/* Slices of text: comparing, nearest names, UTF-8, and a hash map. */
#define _DEFAULT_SOURCE /* getentropy */
#include "qc.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct qc_str qc_str(const char *z)
{
    return (struct qc_str){z, strlen(z)};
}

bool qc_equal(struct qc_str a, struct qc_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool qc_equalz(struct qc_str a, const char *z)
{
    if (a.len && a.ptr[0] != z[0])
        return false;
    return qc_equal(a, qc_str(z));
}

int qc_compare(struct qc_str a, struct qc_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

    if (c)
        return c;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* FNV-1a, 64 bits: the same on every host. */
uint64_t qc_hash(struct qc_str s)
{
    uint64_t h = 0xcbf29ce484222325u;
    size_t i;

    for (i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
    return h;
}

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

/* Equal when case, '-' and '_' are ignored. */
static bool same_but_spelling(struct qc_str a, struct qc_str b)
{
    size_t i = 0, j = 0;

    for (;;) {
        while (i < a.len && fold(a.ptr[i]) == '_')
            i++;
        while (j < b.len && fold(b.ptr[j]) == '_')
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (fold(a.ptr[i++]) != fold(b.ptr[j++]))
            return false;
    }
}

#define DISTANCE_MAX 64 /* longer words are compared for equality only */

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: three rows of the usual table. */
unsigned qc_distance(struct qc_str a, struct qc_str b, unsigned limit)
{
    unsigned rows[3][DISTANCE_MAX + 1];
    size_t i, j;

    if (same_but_spelling(a, b))
        return 0;
    if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX || a.len > b.len + limit ||
        b.len > a.len + limit)
        return limit + 1;
    for (j = 0; j <= b.len; j++)
        rows[0][j] = (unsigned)j;
    for (i = 1; i <= a.len; i++) {
        unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3];
        const unsigned *up2 = rows[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (j = 1; j <= b.len; j++) {
            bool same = a.ptr[i - 1] == b.ptr[j - 1];

            now[j] =
                min2(min2(up[j], now[j - 1]) + 1, up[j - 1] + (same ? 0u : 1u));
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] &&
                a.ptr[i - 2] == b.ptr[j - 1])
                now[j] = min2(now[j], up2[j - 2] + 1);
        }
    }
    return min2(rows[a.len % 3][b.len], limit + 1);
}

struct qc_str qc_nearest(struct qc_str word, const struct qc_str *names,
                         size_t count)
{
    struct qc_str best = {"", 0};
    unsigned least = 3;
    bool unique = false;
    size_t i;

    for (i = 0; i < count; i++) {
        unsigned d = qc_distance(word, names[i], 2);

        /* A short word is not "near" to another short word. */
        if (d > 2 || (d && d * 2 >= names[i].len + 1))
            continue;
        if (d < least) {
            least = d;
            best = names[i];
            unique = true;
        } else if (d == least && !qc_equal(best, names[i])) {
            unique = false;
        }
    }
    return unique ? best : (struct qc_str){"", 0};
}

bool qc_invisible(uint32_t c)
{
    return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF || c == 0xA0 ||
           c == 0x3000 || (c >= 0x80 && c < 0xA0);
}

unsigned qc_utf8(const char *p, const char *end, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)p;
    uint32_t c = s[0], low;
    unsigned n, i;

    if (c < 0x80) {
        *code = c;
        return 1;
    }
    if (c >= 0xC2 && c <= 0xDF) {
        n = 2;
        c &= 0x1F;
        low = 0x80;
    } else if (c >= 0xE0 && c <= 0xEF) {
        n = 3;
        c &= 0x0F;
        low = 0x800;
    } else if (c >= 0xF0 && c <= 0xF4) {
        n = 4;
        c &= 0x07;
        low = 0x10000;
    } else {
        return 0;
    }
    if ((size_t)(end - p) < n)
        return 0;
    for (i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if (c < low || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *code = c;
    return n;
}

/* ---- the map ---- */

struct qc_map_slot {
    struct qc_str key;
    uint64_t hash;
    void *value;
    bool used;
};

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static uint64_t load_word(const char *p, size_t n)
{
    uint64_t v = 0;

    while (n-- > 0)
        v = v << 8 | (unsigned char)p[n];
    return v;
}

/* SipHash-1-3 of Aumasson and Bernstein. Keys come from files: with a hash that
 * anybody can compute, a file of a megabyte can have a hundred thousand of them
 * meet in one slot. */
static uint64_t keyed_hash(const uint64_t key[2], struct qc_str s)
{
    struct sip h = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                    key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t at;

    for (at = 0; at <= s.len; at += 8) {
        size_t left = s.len - at;
        uint64_t word =
            left >= 8 ? load_word(s.ptr + at, 8)
                      : load_word(s.ptr + at, left) | (uint64_t)s.len << 56;

        h.v3 ^= word;
        sip_round(&h);
        h.v0 ^= word;
    }
    h.v2 ^= 0xff;
    sip_round(&h);
    sip_round(&h);
    sip_round(&h);
    return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

static void draw_key(struct qc *qc)
{
    if (qc->map_key[0])
        return;
    if (getentropy(qc->map_key, sizeof(qc->map_key)) != 0) {
        /* What differs from run to run. */
        qc->map_key[0] = (uint64_t)time(NULL);
        qc->map_key[1] = (uint64_t)(uintptr_t)qc;
    }
    qc->map_key[0] |= 1; /* drawn */
}

static struct qc_map_slot *find_slot(struct qc_map_slot *slots, size_t room,
                                     struct qc_str key, uint64_t hash)
{
    size_t i = (size_t)hash & (room - 1);

    while (slots[i].used &&
           !(slots[i].hash == hash && qc_equal(slots[i].key, key)))
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static void grow_map(struct qc *qc, struct qc_map *map)
{
    size_t room = map->room ? map->room * 2 : 16, i;
    struct qc_map_slot *slots = qc_alloc(qc, room * sizeof(*slots));

    if (!map->room) {
        draw_key(qc);
        memcpy(map->key, qc->map_key, sizeof(map->key));
    }
    for (i = 0; i < map->room; i++)
        if (map->slots[i].used)
            *find_slot(slots, room, map->slots[i].key, map->slots[i].hash) =
                map->slots[i];
    map->slots = slots;
    map->room = room;
}

void **qc_map_at(struct qc *qc, struct qc_map *map, struct qc_str key)
{
    struct qc_map_slot *s;
    uint64_t hash;

    if (map->count * 2 >= map->room)
        grow_map(qc, map);
    hash = keyed_hash(map->key, key);
    s = find_slot(map->slots, map->room, key, hash);
    if (!s->used) {
        s->used = true;
        s->key = key;
        s->hash = hash;
        map->count++;
    }
    return &s->value;
}

void *qc_map_get(const struct qc_map *map, struct qc_str key)
{
    if (!map->room)
        return NULL;
    return find_slot(map->slots, map->room, key, keyed_hash(map->key, key))
        ->value;
}
