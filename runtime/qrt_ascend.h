/* Backend for Ascend NPUs through AscendCL, on hosted Linux.
 *
 *     void *ctx = malloc(qrt_backend_ascend.ctx_size);
 *
 *     qrt_offload_attach(&npu, &qrt_backend_ascend, ctx,
 *                        qrt_backend_ascend.ctx_size, &host, NULL);
 *
 * Nothing of the vendor is needed to build or to link: the libraries are opened
 * by name in open, and where they are missing attach gives QRT_OFF_ENODEV and
 * everything runs on the CPU. Open after the last fork of the program.
 *
 *  operator                    through   chips                      class
 *  QUANT F32, I16, I32, Q16.16 aclnn     310P 910B 910_93 950       1
 *        to I8
 *  ANTIQUANT I8 to F16         aclnn     310P 910B 910_93           1
 *  ULQ_GRAD_X                  model     310P 910 910B 910_93       1
 *  ULQ_FWD                     model     910B 910_93                BOUNDED 1
 *  ULQ_GRAD_MAX, _MIN          model     910B 910_93                ANY
 *  IFMR                        model     910B                       ANY
 *
 * 1: BITEXACT under QRT_RULE_CANN, BOUNDED 1 under the others. ULQ_FWD and IFMR
 * know CANN only. The sums are ANY, since one of terms of both signs has no
 * bound in last places. A model is a single-operator .om file for one shape;
 * open asks the library for those that the configuration names, and what is
 * not there is declined. So is a chip whose documentation does not name the
 * operator, and every job with values that are not finite.
 *
 * Tested against a simulator written from public documentation, never on a
 * device: call qrt_verify once for each operator in use. */
#ifndef QRT_ASCEND_H
#define QRT_ASCEND_H

#include "qrt_offload.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QRT_ASCEND_MODELS 32U /* most single-operator models              */

/* A single-operator model of the installation, for one shape. QUANT and
 * ANTIQUANT need none. */
struct qrt_ascend_model {
    const void *blob;    /* [blob_size] the .om file, kept until close; null:
                            found in model_dir                            */
    uint32_t blob_size;  /*                                               */
    uint32_t count;      /* elements of the job                           */
    uint32_t bins;       /* IFMR: of the histogram              [1, 8192] */
    uint8_t op;          /* QRT_JOB_IFMR, QRT_JOB_ULQ_*                   */
    uint8_t older;       /* ULQ_GRAD_MAX: 1 for the operator that adds
                            1 - mask by itself                            */
    uint8_t reserved[2]; /* 0                                             */
    const void *params;  /* what the model was compiled with: IFMR
                            qrt_off_ifmr (ratios, scratch unused), ULQ_FWD
                            qrt_off_ulq (fixed_min), else null             */
};

enum qrt_ascend_flags {
    QRT_ASCEND_UNBOUNDED = 1, /* accept a library in which no wait can be
                                 bounded: a hanging device then hangs wait */
    QRT_ASCEND_PROBE = 2      /* load the libraries in a child process first:
                                 some shims end the process when a part of
                                 the installation is missing               */
};

/* All 0 is the default. Lives until close. */
struct qrt_ascend_cfg {
    uint32_t size;         /* sizeof(struct qrt_ascend_cfg)                */
    int32_t device;        /*                                              */
    uint32_t flags;        /* enum qrt_ascend_flags                        */
    uint32_t max_elements; /* of a job; 0: 262144. Device memory taken at
                              open: two times 14 bytes each, and workspace */
    uint32_t min_elements; /* smaller jobs are declined                    */
    uint32_t workspace;    /* bytes, twice; 0: 1 MiB. Operators that want
                              more are declined                            */
    uint32_t grace_ms;     /* for a stopped stream to drain; 0: 100        */
    uint32_t retry_ms;     /* before SetDevice is tried once more after
                              507033; 0: not                               */
    const char *soc;       /* chip, as aclrtGetSocName says it; null: ask  */
    const char *model_dir; /* of single-operator models; may be null       */
    const struct qrt_ascend_model *models; /* [model_count]                */
    uint32_t model_count;                  /* <= QRT_ASCEND_MODELS         */
};

/* Two jobs in flight. Its wait returns within the timeout plus what the
 * library's own timed call adds; quiesce within grace_ms per job. */
extern const struct qrt_off_backend qrt_backend_ascend;

#ifdef __cplusplus
}
#endif

#endif
