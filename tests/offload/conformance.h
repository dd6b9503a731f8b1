/* Conformance suite for offload backends: groups A to G of what every backend
 * must do, run against any backend through a struct of hooks. Group H, a
 * build without the facility, is tests/test_offload_absent.sh.
 *
 * Each check has a name, "E.calls-after-loss". The suite does not stop at a
 * failure, so that a test can ask which checks a broken backend fails. */
#ifndef OFFLOAD_CONFORMANCE_H
#define OFFLOAD_CONFORMANCE_H

#include "qrt_offload.h"

/* What can be made to go wrong in the driver below a backend, always at its
 * next use. */
enum conf_fault {
    CONF_OPEN_NODEV,       /* no device when opened                         */
    CONF_OPEN_NOMEM,       /* no device memory when opened                  */
    CONF_NO_ROOM,          /* one launch finds no room                      */
    CONF_LAUNCH_FAILS,     /* one launch fails                              */
    CONF_LAUNCH_LOST,      /* a launch finds the device gone                */
    CONF_JOB_FAILS,        /* one job fails while it runs                   */
    CONF_JOB_LOST,         /* the device goes while a job runs              */
    CONF_JOBS_FAIL,        /* every job fails from now on                   */
    CONF_UNKNOWN_ONCE,     /* one job ends with a code nobody knows         */
    CONF_UNKNOWN_TWICE,    /* so do two in a row                            */
    CONF_TIMEOUT_CONSUMED, /* a job hangs and is dropped when stopped; the
                              driver reports success afterwards             */
    CONF_TIMEOUT_DONE,     /* a job hangs and completes when stopped        */
    CONF_TIMEOUT_NEVER,    /* a job hangs and cannot be stopped             */
    CONF_STALE,            /* one job succeeds and writes nothing           */
    CONF_OFF_BY_ONE,       /* one job has one wrong element                 */
    CONF_CLOSE_FAILS,      /* releasing fails                               */
    CONF_FAULTS
};

struct conf_subject {
    const struct qrt_off_backend *backend;
    const void *cfg;
    uint32_t largest;    /* most elements of a job; the next is declined      */
    bool finite_only;    /* NaN and infinity are not to be asked              */
    bool process_bound;  /* after a fork the child must not use it           */
    void (*reset)(void); /* a new device, nothing injected          */
    uint32_t (*calls)(void); /* calls into the driver since reset       */
    uint32_t (*jobs)(void);  /* jobs the device has completed           */
    uint32_t (*live)(void);  /* what the driver has handed out          */
    bool (*inject)(enum conf_fault fault); /* false: cannot be done here    */
};

#define CONF_NAMES 64

struct conf_report {
    uint32_t checks;
    uint32_t failures;
    uint32_t skips;
    uint32_t declined, bitexact, bounded, any; /* answers in group C        */
    const char *failed[CONF_NAMES];            /* names, each once          */
    const char *skipped[CONF_NAMES];
};

/* Runs all groups. With `echo` failures are printed as they happen. */
void conf_run(const struct conf_subject *subject, bool echo,
              struct conf_report *report);

bool conf_failed(const struct conf_report *report, const char *name);

#endif
