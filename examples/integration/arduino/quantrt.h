/* One header for sketches: the runtime with C linkage and without offloading.
 * Put it with the sources of share/quantc/runtime (all but *_f32.c) into
 * libraries/quantrt/src. */
#ifndef QUANTRT_H
#define QUANTRT_H

#ifndef QRT_OFFLOAD
#define QRT_OFFLOAD 0
#endif

#include "qrt.h"
#include "qrt_ifmr.h"
#include "qrt_image.h"

#endif
