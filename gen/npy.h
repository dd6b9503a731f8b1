/* Arrays of calibration data: numpy's .npy files, read in pieces. */
#ifndef QC_NPY_H
#define QC_NPY_H

#include "qc.h"

struct qc_npy {
    const char *path;
    int fd;
    uint64_t data;  /* offset of the first element                     */
    uint64_t count; /* elements                                        */
    uint64_t batch; /* first dimension; 1 for a scalar                 */
    unsigned size;  /* bytes of an element: 2 or 4                     */
    bool big_endian;
};

/* Opens a file and checks its header and its size. float16 and float32, any
 * shape, C or Fortran order (the elements come in the order of the file).
 * Reports and returns false when it is something else. Close with
 * qc_npy_close. */
bool qc_npy_open(struct qc *qc, const char *path, struct qc_npy *npy);
/* Elements [at, at + n) as binary32 of this host. False after a read error,
 * which is reported. buffer: n elements of room. */
bool qc_npy_read(struct qc *qc, const struct qc_npy *npy, uint64_t at,
                 float *out, size_t n);
/* For many files and other threads: what qc_npy_open has checked, opened again;
 * and qc_npy_read. Neither reports: 0, or an errno. */
int qc_npy_reopen(struct qc_npy *npy);
int qc_npy_fetch(const struct qc_npy *npy, uint64_t at, float *out, size_t n);
void qc_npy_close(struct qc_npy *npy);

/* The binary32 pattern of a binary16 pattern; exact. */
uint32_t qc_f32_of_f16(uint16_t h);

#endif
