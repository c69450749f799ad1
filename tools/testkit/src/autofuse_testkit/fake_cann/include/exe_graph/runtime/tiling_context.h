#pragma once
#include "exe_graph/runtime/kernel_context.h"
#include "platform/platform_infos_def.h"

namespace gert {

class TilingContext : public KernelContext {
 public:
  const StorageShape* GetInputShape(size_t index) const { return index < 8 && has_shapes ? &inputs[index] : nullptr; }
  const void* GetCompileInfo() const { return compile_info; }
  template <typename T>
  T* GetTilingData() {
    return sizeof(T) <= sizeof(tiling) ? reinterpret_cast<T*>(tiling) : nullptr;
  }
  ge::graphStatus SetBlockDim(uint32_t blocks) {
    block_dim = blocks;
    return ge::GRAPH_SUCCESS;
  }
  ge::graphStatus SetTilingKey(uint64_t key) {
    tiling_key = key;
    return ge::GRAPH_SUCCESS;
  }
  size_t* GetWorkspaceSizes(size_t count) { return count == 1 ? &workspace : nullptr; }

  StorageShape inputs[8];
  bool has_shapes = true;
  const void* compile_info = nullptr;
  alignas(8) unsigned char tiling[32768] = {};
  uint32_t block_dim = 0;
  uint64_t tiling_key = 0;
  size_t workspace = 0;
};

class TilingParseContext : public KernelContext {
 public:
  template <typename T>
  T* GetCompiledInfo() {
    return sizeof(T) <= sizeof(compiled_info) ? reinterpret_cast<T*>(compiled_info) : nullptr;
  }
  fe::PlatFormInfos* GetPlatformInfo() const { return platform; }

  alignas(8) unsigned char compiled_info[64] = {};
  fe::PlatFormInfos* platform = nullptr;
};

}  // namespace gert
