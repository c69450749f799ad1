// Shapes and contexts, as far as generated host code uses them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ge {
using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
}  // namespace ge

namespace gert {

class Shape {
 public:
  int64_t GetDim(size_t index) const { return dims_[index]; }
  size_t GetDimNum() const { return count_; }
  void SetDim(size_t index, int64_t value) { dims_[index] = value; }
  void SetDimNum(size_t count) { count_ = count; }

 private:
  size_t count_ = 0;
  int64_t dims_[25] = {};
};

struct StorageShape {
  const Shape& GetStorageShape() const { return storage; }
  const Shape& GetOriginShape() const { return storage; }
  Shape storage;
};

}  // namespace gert
