#pragma once
#include "exe_graph/runtime/shape.h"

namespace gert {

class InferShapeContext {
 public:
  const Shape* GetInputShape(size_t index) const { return index < 8 && has_shapes ? &inputs[index] : nullptr; }
  Shape* GetOutputShape(size_t index) { return index < 8 ? &outputs[index] : nullptr; }

  Shape inputs[8];
  Shape outputs[8];
  bool has_shapes = true;
};

}  // namespace gert
