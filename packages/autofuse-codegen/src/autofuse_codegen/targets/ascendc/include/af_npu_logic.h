// Truth values: a bit each, as comparisons make and Select reads them, or a byte of 0 or 1 each, as memory holds them.
// `count` is a multiple of 256; `scratch` has 2 bytes an element.
#pragma once
#include "af_npu_base.h"

__aicore__ inline void af_bytes_of_bits(const AscendC::LocalTensor<uint8_t>& bytes,
                                        const AscendC::LocalTensor<uint8_t>& bits, uint32_t count,
                                        const AscendC::LocalTensor<half>& scratch) {
  AscendC::Duplicate(scratch, static_cast<half>(1.0f), static_cast<int32_t>(count));
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Select(scratch, bits, scratch, static_cast<half>(0.0f), AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Cast(bytes, scratch, AscendC::RoundMode::CAST_RINT, count);
}

__aicore__ inline void af_bits_of_bytes(const AscendC::LocalTensor<uint8_t>& bits,
                                        const AscendC::LocalTensor<uint8_t>& bytes, AscendC::CMPMODE mode,
                                        uint32_t count, const AscendC::LocalTensor<half>& scratch) {
  AscendC::Cast(scratch, bytes, AscendC::RoundMode::CAST_NONE, count);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Compares(bits, scratch, static_cast<half>(0.0f), mode, count);
}

// Not of bytes of 0 or 1, two at a time: 0x0101 - x, which borrows nothing.
__aicore__ inline void af_not_bytes(const AscendC::LocalTensor<uint8_t>& to, const AscendC::LocalTensor<uint8_t>& from,
                                    uint32_t count) {
  const auto target = to.template ReinterpretCast<int16_t>();
  AscendC::Muls(target, from.template ReinterpretCast<int16_t>(), static_cast<int16_t>(-1),
                static_cast<int32_t>(count / 2));
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Adds(target, target, static_cast<int16_t>(0x0101), static_cast<int32_t>(count / 2));
}
