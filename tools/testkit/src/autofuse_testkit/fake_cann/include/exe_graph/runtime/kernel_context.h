#pragma once
#include "exe_graph/runtime/shape.h"

namespace gert {

template <typename T>
class TypedContinuousVector {
 public:
  T* MutableData() { return data_; }
  const T* GetData() const { return data_; }
  size_t GetSize() const { return size_; }
  ge::graphStatus SetSize(size_t size) {
    size_ = size;
    return ge::GRAPH_SUCCESS;
  }

 private:
  size_t size_ = 0;
  T data_[32] = {};
};

class KernelContext {
 public:
  template <typename T>
  T* GetOutputPointer(size_t index) {
    return index == 0 ? static_cast<T*>(output) : nullptr;
  }
  void* output = nullptr;
};

}  // namespace gert
