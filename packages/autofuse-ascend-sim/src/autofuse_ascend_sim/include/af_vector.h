// Masks and the one vector instruction form behind every element-wise API.
#pragma once
#include <cstdint>

#include "af_structs.h"
#include "af_tensor.h"

namespace af_sim {

enum class Op : uint8_t {
    // dst = f(src0, src1)
    Add, Sub, Mul, Div, Max, Min, And, Or, AddRelu, SubRelu, AddReluCast, SubReluCast, MulCast, ShiftLeft, ShiftRight,
    Prelu, AbsSub, ExpSub,
    // dst = f(dst, src0, src1)
    MulAddDst, FusedMulAdd, MulAddRelu, AddDeqRelu,
    // dst = f(src)
    Relu, Abs, Exp, Ln, Sqrt, Rsqrt, Reciprocal, Not, Neg, Truncate, Copy,
    // dst = f(src, scalar)
    Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLefts, ShiftRights, Subs, SubsLeft, Divs, DivsLeft, Ands, Ors, Axpy,
    Duplicate, Cast, MulsCast,
    Count
};

// Which lanes of which repeats an instruction computes.
struct Lanes {
    enum class Form : uint8_t { Count, Continuous, Bits, Register } form = Form::Count;
    uint64_t mask[2] = {0, 0};  // Count: elements; Continuous: lanes per repeat; Bits: low and high word
    uint32_t repeats = 1;
    bool mask_is_per_repeat = false;  // Copy and GatherMask: counter mode does not turn the mask into a total
};

inline Lanes counted(uint64_t count) { return {Lanes::Form::Count, {count, 0}, 1, false}; }
template <bool isSetMask> Lanes masked(uint64_t mask, int64_t repeats) {
    return {isSetMask ? Lanes::Form::Continuous : Lanes::Form::Register, {mask, 0}, static_cast<uint32_t>(repeats), false};
}
template <bool isSetMask> Lanes masked(const uint64_t mask[], int64_t repeats) {
    return {isSetMask ? Lanes::Form::Bits : Lanes::Form::Register,
            {isSetMask ? mask[0] : 0, isSetMask ? mask[1] : 0}, static_cast<uint32_t>(repeats), false};
}

// An operand with its strides in 32-byte blocks. In count form strides are those of dense data.
struct VectorOperand {
    const char* name;
    View view;
    DType dtype;
    uint32_t block_stride = 1;
    uint32_t repeat_stride = 8;
};

template <typename Tensor>
VectorOperand operand(const char* name, const Tensor& tensor, uint32_t block_stride = 1, uint32_t repeat_stride = 8) {
    return {name, tensor.View(), dtype_of<typename Tensor::PrimType>, block_stride, repeat_stride};
}

// A scalar operand by its bits, in the type of the instruction.
struct ScalarValue {
    uint64_t bits = 0;
    DType dtype = DType::F32;
};
template <typename T> ScalarValue scalar(const T& value) {
    ScalarValue packed{0, dtype_of<T>};
    __builtin_memcpy(&packed.bits, &value, sizeof(T));
    return packed;
}

void vector_unary(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src);
void vector_binary(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src0,
                   const VectorOperand& src1);
void vector_scalar(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                   const ScalarValue& value, uint8_t option = 0);
void vector_fill(const Lanes& lanes, const VectorOperand& dst, const ScalarValue& value);
void vector_cast(uint8_t round_mode, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src);

void set_mask_mode(bool counter);
void set_mask(uint64_t high, uint64_t low);
void set_deq_scale(float scale);

}  // namespace af_sim

namespace AscendC {

AF_API inline void SetMaskNorm() { af_sim::set_mask_mode(false); }
AF_API inline void SetMaskCount() { af_sim::set_mask_mode(true); }
AF_API inline void ResetMask() { af_sim::set_mask(~uint64_t(0), ~uint64_t(0)); }

template <typename T, MaskMode mode = MaskMode::NORMAL>
AF_API static void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    AF_CALL("SetVectorMask");
    af_sim::set_mask(maskHigh, maskLow);
}

template <typename T, MaskMode mode = MaskMode::NORMAL> AF_API static void SetVectorMask(int32_t len) {
    AF_CALL("SetVectorMask");
    constexpr int32_t lanes = 256 / (sizeof(T) < 2 ? 2 : sizeof(T));
    if (mode == MaskMode::COUNTER) {
        af_sim::set_mask(0, static_cast<uint64_t>(len));
        return;
    }
    if (len < 0 || len > lanes) {
        af_sim::fail(af_sim::Rule::Limit, "len", len, lanes, "more lanes than one repeat has");
    }
    const uint64_t low = len >= 64 ? ~uint64_t(0) : (uint64_t(1) << len) - 1;
    const uint64_t high = len <= 64 ? 0 : len >= 128 ? ~uint64_t(0) : (uint64_t(1) << (len - 64)) - 1;
    af_sim::set_mask(high, low);
}

AF_API inline void SetDeqScale(half scale) { af_sim::set_deq_scale(float(scale)); }

}  // namespace AscendC
