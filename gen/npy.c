/* Reads .npy files: a magic, a version, a Python literal with type, order and
 * shape, then the elements.
 *
 * The header's grammar is fixed by numpy's writer (keys in any order, blanks
 * anywhere), so a scanner of a few lines replaces a Python parser. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_MAX 65536u
#define DIMS_MAX   32u

struct header {
    const char *at, *end;
    struct qc_npy *npy;
    bool has_type, has_shape, has_order;
    const char *why; /* what is wrong with it */
};

static void blanks(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n'))
        h->at++;
}

static bool taken(struct header *h, char c)
{
    blanks(h);
    if (h->at >= h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

static bool refuse(struct header *h, const char *why)
{
    if (!h->why)
        h->why = why;
    return false;
}

static bool read_word(struct header *h, struct qc_str *out)
{
    char quote;

    blanks(h);
    if (h->at >= h->end || (*h->at != '\'' && *h->at != '"'))
        return refuse(h, "its header is damaged");
    quote = *h->at++;
    out->ptr = h->at;
    while (h->at < h->end && *h->at != quote)
        h->at++;
    out->len = (size_t)(h->at - out->ptr);
    return taken(h, quote) || refuse(h, "its header is damaged");
}

static bool read_type(struct header *h)
{
    struct qc_str t;

    if (!read_word(h, &t))
        return false;
    if (t.len != 3 || t.ptr[1] != 'f' || (t.ptr[2] != '2' && t.ptr[2] != '4') ||
        (t.ptr[0] != '<' && t.ptr[0] != '>' && t.ptr[0] != '='))
        return refuse(h, "it holds neither float32 nor float16");
    h->npy->size = (unsigned)(t.ptr[2] - '0');
    h->npy->big_endian = t.ptr[0] == '>';
    return h->has_type = true;
}

static bool read_number(struct header *h, uint64_t *n)
{
    const char *from;

    blanks(h);
    from = h->at;
    for (*n = 0; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
        if (*n > (UINT64_MAX >> 4) / 10)
            return refuse(h, "its shape is too large");
        *n = *n * 10 + (uint64_t)(*h->at - '0');
    }
    return h->at > from || refuse(h, "its header is damaged");
}

static bool read_shape(struct header *h)
{
    unsigned dims = 0;

    h->npy->count = 1;
    h->npy->batch = 1;
    if (!taken(h, '('))
        return refuse(h, "its header is damaged");
    while (!taken(h, ')')) {
        uint64_t n;

        if (dims == DIMS_MAX || !read_number(h, &n))
            return refuse(h, "its shape is too large");
        if (n && h->npy->count > (UINT64_MAX >> 4) / n)
            return refuse(h, "its shape is too large");
        h->npy->count *= n;
        if (dims++ == 0)
            h->npy->batch = n;
        if (!taken(h, ',') && (h->at >= h->end || *h->at != ')'))
            return refuse(h, "its header is damaged");
    }
    return h->has_shape = true;
}

static bool read_order(struct header *h)
{
    blanks(h);
    while (h->at < h->end &&
           ((*h->at >= 'a' && *h->at <= 'z') || *h->at == 'T' || *h->at == 'F'))
        h->at++;
    return h->has_order = true;
}

static bool read_entry(struct header *h)
{
    struct qc_str key;

    if (!read_word(h, &key) || !taken(h, ':'))
        return refuse(h, "its header is damaged");
    if (qc_equalz(key, "descr"))
        return read_type(h);
    if (qc_equalz(key, "shape"))
        return read_shape(h);
    if (qc_equalz(key, "fortran_order"))
        return read_order(h);
    return refuse(h, "its header has an unknown key");
}

static bool read_header(struct header *h)
{
    if (!taken(h, '{'))
        return refuse(h, "its header is damaged");
    while (!taken(h, '}'))
        if (!read_entry(h) ||
            (!taken(h, ',') && (h->at >= h->end || *h->at != '}')))
            return refuse(h, "its header is damaged");
    return (h->has_type && h->has_shape && h->has_order) ||
           refuse(h, "its header is incomplete");
}

static bool read_at(int fd, uint64_t at, void *out, size_t n)
{
    char *p = out;

    while (n) {
        ssize_t got = pread(fd, p, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0)
                errno = EIO;
            return false;
        }
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* Where the Python literal stands; 0: not a .npy file. */
static size_t header_size(const unsigned char *head, uint64_t size,
                          size_t *start)
{
    size_t n;

    if (size < 12 || memcmp(head, "\x93NUMPY", 6) != 0)
        return 0;
    *start = head[6] == 1 ? 10 : 12;
    n = (size_t)head[8] | (size_t)head[9] << 8;
    if (head[6] != 1)
        n |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    return head[6] >= 1 && head[6] <= 3 && n <= HEADER_MAX && *start + n <= size
               ? n
               : 0;
}

static const char *check_file(struct qc *qc, struct qc_npy *npy, uint64_t size)
{
    unsigned char head[12] = {0};
    struct header h = {0};
    size_t start = 0, n;
    char *text;

    if (!read_at(npy->fd, 0, head, size < 12 ? (size_t)size : 12))
        return "it cannot be read";
    n = header_size(head, size, &start);
    if (!n)
        return "it is not a .npy file";
    text = qc_alloc(qc, n);
    if (!read_at(npy->fd, start, text, n))
        return "it cannot be read";
    h.at = text;
    h.end = text + n;
    h.npy = npy;
    if (!read_header(&h))
        return h.why;
    npy->data = start + n;
    if ((size - npy->data) / npy->size < npy->count)
        return "it is shorter than its header says";
    if (size - npy->data != npy->count * npy->size)
        return "it is longer than its header says";
    return NULL;
}

bool qc_npy_open(struct qc *qc, const char *path, struct qc_npy *npy)
{
    const char *why;
    struct stat st;

    memset(npy, 0, sizeof(*npy));
    npy->path = path;
    npy->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (npy->fd < 0 || fstat(npy->fd, &st) < 0) {
        qc_io_error(qc, path, "open", errno);
        qc_npy_close(npy);
        return false;
    }
    why = S_ISREG(st.st_mode) ? check_file(qc, npy, (uint64_t)st.st_size)
                              : "it is not a regular file";
    if (!why)
        return true;
    fprintf(stderr, "quantc: %s: cannot use this array: %s\n", path, why);
    qc->io_failed = true;
    qc_npy_close(npy);
    return false;
}

void qc_npy_close(struct qc_npy *npy)
{
    if (npy->fd >= 0)
        close(npy->fd);
    npy->fd = -1;
}

uint32_t qc_f32_of_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31u;
    uint32_t m = h & 0x3FFu;

    if (e == 31)
        return sign | 0x7F800000u | m << 13;
    if (e)
        return sign | (e + 112) << 23 | m << 13;
    if (!m)
        return sign;
    for (e = 113; !(m & 0x400u); e--)
        m <<= 1;
    return sign | e << 23 | (m & 0x3FFu) << 13;
}

static uint32_t load(const unsigned char *p, unsigned size, bool big)
{
    uint32_t v = 0;
    unsigned i;

    for (i = 0; i < size; i++)
        v |= (uint32_t)p[i] << 8 * (big ? size - 1 - i : i);
    return v;
}

/* In place, from the end for the 16-bit form: an element never overwrites one
 * that is still to be read. */
static void convert(const struct qc_npy *npy, float *out, size_t n)
{
    const unsigned char *raw = (const unsigned char *)out;
    size_t i = n;

    while (i-- > 0) {
        uint32_t bits = load(raw + i * npy->size, npy->size, npy->big_endian);

        if (npy->size == 2)
            bits = qc_f32_of_f16((uint16_t)bits);
        memcpy(&out[i], &bits, sizeof(bits));
    }
}

int qc_npy_reopen(struct qc_npy *npy)
{
    npy->fd = open(npy->path, O_RDONLY | O_CLOEXEC);
    return npy->fd < 0 ? errno : 0;
}

int qc_npy_fetch(const struct qc_npy *npy, uint64_t at, float *out, size_t n)
{
    static const uint16_t one = 1;
    bool host_big = *(const unsigned char *)&one == 0;

    if (!read_at(npy->fd, npy->data + at * npy->size, out, n * npy->size))
        return errno;
    if (npy->size == 2 || npy->big_endian != host_big)
        convert(npy, out, n);
    return 0;
}

bool qc_npy_read(struct qc *qc, const struct qc_npy *npy, uint64_t at,
                 float *out, size_t n)
{
    int err = qc_npy_fetch(npy, at, out, n);

    if (err)
        qc_io_error(qc, npy->path, "read", err);
    return err == 0;
}
