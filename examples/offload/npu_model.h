/* What only a model can do: break on demand. */
#ifndef NPU_MODEL_H
#define NPU_MODEL_H

extern unsigned npu_breaks_at; /* number of the first job that fails */

#endif
