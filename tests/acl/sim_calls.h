/* The simulated functions, declared by hand once more from the vendor's public
 * documentation. sim_check.c holds them against the backend's own list. */
#ifndef ACL_SIM_CALLS_H
#define ACL_SIM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct acl_buffer;
struct acl_desc;
struct acl_attr;
struct acl_handle;
struct acl_tensor;
struct acl_executor;

int aclInit(const char *path);
int aclFinalize(void);
int aclFinalizeReference(uint64_t *left);
int aclrtGetDeviceCount(uint32_t *count);
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
const char *aclrtGetSocName(void);
const char *aclGetRecentErrMsg(void);
int aclrtGetRunMode(int *mode);
int aclrtCreateContext(void **context, int32_t device);
int aclrtDestroyContext(void *context);
int aclrtSetCurrentContext(void *context);
int aclrtGetCurrentContext(void **context);
int aclrtCreateStream(void **stream);
int aclrtDestroyStream(void *stream);
int aclrtDestroyStreamForce(void *stream);
int aclrtSynchronizeStream(void *stream);
int aclrtSynchronizeStreamWithTimeout(void *stream, int32_t timeout);
int aclrtStreamQuery(void *stream, int *state);
int aclrtStreamAbort(void *stream);
int aclrtMalloc(void **p, size_t size, int policy);
int aclrtFree(void *p);
int aclrtMemcpy(void *to, size_t room, const void *from, size_t n, int kind);
struct acl_buffer *aclCreateDataBuffer(void *p, size_t size);
int aclDestroyDataBuffer(const struct acl_buffer *buffer);
struct acl_desc *aclCreateTensorDesc(int type, int axes, const int64_t *size,
                                     int format);
void aclDestroyTensorDesc(const struct acl_desc *desc);
struct acl_attr *aclopCreateAttr(void);
void aclopDestroyAttr(const struct acl_attr *attr);
int aclopSetAttrBool(struct acl_attr *attr, const char *name, uint8_t value);
int aclopSetAttrInt(struct acl_attr *attr, const char *name, int64_t value);
int aclopSetAttrFloat(struct acl_attr *attr, const char *name, float value);
int aclopSetAttrListFloat(struct acl_attr *attr, const char *name, int n,
                          const float *value);
int aclopSetModelDir(const char *path);
int aclopLoad(const void *blob, size_t size);
int aclopCreateHandle(const char *type, int inputs,
                      const struct acl_desc *const *in, int outputs,
                      const struct acl_desc *const *out,
                      const struct acl_attr *attr, struct acl_handle **handle);
void aclopDestroyHandle(struct acl_handle *handle);
int aclopExecWithHandle(struct acl_handle *handle, int inputs,
                        const struct acl_buffer *const *in, int outputs,
                        struct acl_buffer *const *out, void *stream);
struct acl_tensor *aclCreateTensor(const int64_t *size, uint64_t axes, int type,
                                   const int64_t *step, int64_t offset,
                                   int format, const int64_t *storage,
                                   uint64_t storage_axes, void *address);
int aclDestroyTensor(const struct acl_tensor *tensor);
int aclSetAclOpExecutorRepeatable(struct acl_executor *executor);
int aclDestroyAclOpExecutor(struct acl_executor *executor);
int aclnnAscendQuantGetWorkspaceSize(const struct acl_tensor *x,
                                     const struct acl_tensor *scale,
                                     const struct acl_tensor *offset,
                                     bool sqrt_mode, const char *round,
                                     int32_t type, const struct acl_tensor *y,
                                     uint64_t *size,
                                     struct acl_executor **executor);
int aclnnAscendQuant(void *workspace, uint64_t size,
                     struct acl_executor *executor, void *stream);
int aclnnAscendQuantV3GetWorkspaceSize(
    const struct acl_tensor *x, const struct acl_tensor *scale,
    const struct acl_tensor *offset, bool sqrt_mode, const char *round,
    int32_t type, int32_t axis, const struct acl_tensor *y, uint64_t *size,
    struct acl_executor **executor);
int aclnnAscendQuantV3(void *workspace, uint64_t size,
                       struct acl_executor *executor, void *stream);
int aclnnAscendAntiQuantGetWorkspaceSize(
    const struct acl_tensor *x, const struct acl_tensor *scale,
    const struct acl_tensor *offset, int64_t type, bool sqrt_mode,
    const struct acl_tensor *y, uint64_t *size, struct acl_executor **executor);
int aclnnAscendAntiQuant(void *workspace, uint64_t size,
                         struct acl_executor *executor, void *stream);

#endif
