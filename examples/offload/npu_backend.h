/* The imaginary NPU as a backend for qrt_offload_attach. */
#ifndef NPU_BACKEND_H
#define NPU_BACKEND_H

#include "npu.h"
#include "qrt_offload.h"

extern const struct qrt_off_backend npu_backend;

/* What npu_backend.ctx_size and ctx_align ask for, as an object. */
struct npu_context {
    const struct qrt_off_job *job; /* in flight; null: none                */
    int32_t native;                /* the driver's last error              */
    bool unknown;                  /* it was one we do not know            */
    bool lost;
    int8_t codes[NPU_LARGEST]; /* where the device writes                  */
};

#endif
