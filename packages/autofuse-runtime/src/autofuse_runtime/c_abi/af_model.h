// What the C functions of a bundle are made of: one kernel launch, byte copies. Freestanding.
#ifndef AF_MODEL_H
#define AF_MODEL_H

#include "af_abi.h"

#define AF_EXPORT extern "C" __attribute__((visibility("default")))

enum { AF_DONE = 0, AF_NO_MEMORY = 1, AF_NO_TILING = 2, AF_KERNEL_STATUS = 3, AF_SIZES_REFUSED = 4 };

inline int af_launch(const AfKernel* kernel, const AfHost* host, const af_i64* sizes, const AfBuffer* inputs,
                     const AfBuffer* outputs, af_i64 workspace_bytes, AfStatus* status) {
  void* const tiling = host->allocate(host->context, kernel->tiling_bytes);
  void* const workspace = workspace_bytes > 0 ? host->allocate(host->context, workspace_bytes) : nullptr;
  int result = AF_DONE;
  if (!tiling || (workspace_bytes > 0 && !workspace)) {
    result = AF_NO_MEMORY;
  } else if (kernel->tiling(sizes, host->cores, tiling)) {
    result = AF_NO_TILING;
  } else {
    AfStatus seen = {0};
    kernel->launch(host, sizes, inputs, outputs, tiling, workspace, &seen);
    status->bits |= seen.bits;
    if (seen.bits) result = AF_KERNEL_STATUS;
  }
  if (workspace) host->release(host->context, workspace);
  if (tiling) host->release(host->context, tiling);
  return result;
}

inline void af_copy_bytes(void* target, const void* source, af_i64 bytes) {
  if (target != source) __builtin_memmove(target, source, static_cast<__SIZE_TYPE__>(bytes));
}

// Memory for an intermediate value, once.
inline int af_reserve(const AfHost* host, void** memory, af_i64 bytes) {
  if (!*memory) *memory = host->allocate(host->context, bytes > 0 ? bytes : 1);
  return *memory ? AF_DONE : AF_NO_MEMORY;
}

inline void af_drop(const AfHost* host, void** memory) {
  if (*memory) host->release(host->context, *memory);
  *memory = nullptr;
}

#endif
