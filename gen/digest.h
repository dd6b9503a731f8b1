/* SHA-1 and SHA-256 of FIPS 180-4: what an SBOM names files by. SHA-1 only
 * because SPDX 2.3 demands it; it protects nothing. */
#ifndef QC_DIGEST_H
#define QC_DIGEST_H

#include "qc.h"

#define QC_SHA1_SIZE   20u
#define QC_SHA256_SIZE 32u

/* Room for either in hexadecimal, with its end. */
#define QC_DIGEST_ROOM (2u * QC_SHA256_SIZE + 1u)

void qc_sha1(struct qc_str s, uint8_t digest[QC_SHA1_SIZE]);
void qc_sha256(struct qc_str s, uint8_t digest[QC_SHA256_SIZE]);
/* Small letters. hex [2 * size + 1]. Returns hex. */
const char *qc_hex(const uint8_t *bytes, size_t size, char *hex);

#endif
