// What generated Ascend C kernels share: the type of sizes and ordering between pipes.
#pragma once
#include "kernel_operator.h"

typedef long long af_i64;

// Whatever the first pipe of `event` was given so far is done before the second one goes on.
template <AscendC::HardEvent event>
__aicore__ inline void af_order() {
  const int32_t id = static_cast<int32_t>(GetTPipePtr()->FetchEventID(event));
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}

// The one element of `value`, for the scalar unit.
template <typename T>
__aicore__ inline T af_scalar_of(const AscendC::LocalTensor<T>& value) {
  af_order<AscendC::HardEvent::V_S>();
  return value.GetValue(0);
}

__aicore__ inline uint32_t af_smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

__aicore__ inline uint32_t af_round_up(uint32_t value, uint32_t step) { return (value + step - 1) / step * step; }
