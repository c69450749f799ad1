// Operations of two tensors whose destination has another element type.
#pragma once
#include <cstdint>

#include "af_pipe.h"
#include "af_type_lists.h"
#include "af_vector.h"

namespace AscendC {

#define AF_TYPE_PAIRS(name, T, U, ...)                                                  \
    static_assert(af_sim::is_one_of<af_sim::TypePair<T, U>, __VA_ARGS__>(),             \
                  "AscendC::" name ": these element types do not go together on " AF_SOC_NAME)

// The count is int32_t or uint32_t, as documented for each.
#define AF_MIXED_COUNT(name, count_type, a2, a350)                                                                     \
    template <typename T, typename U>                                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     count_type count) {                                                                               \
        AF_CALL(#name);                                                                                                \
        AF_PAIRS_OF_LIST(#name, T, U, AF_PER_SOC(a2, a350));                                                           \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
#define AF_MIXED_MASKED(name, mask_parameter, a2, a350)                                                                \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {               \
        AF_CALL(#name);                                                                                                \
        AF_PAIRS_OF_LIST(#name, T, U, AF_PER_SOC(a2, a350));                                                           \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
#define AF_PAIRS_OF_LIST(name, T, U, list) AF_TYPE_PAIRS(name, T, U, AF_STRIP_PARENTHESES list)
#define AF_MIXED(name, count_type, a2, a350_count, a350_masked)  \
    AF_MIXED_COUNT(name, count_type, a2, a350_count)             \
    AF_MIXED_MASKED(name, uint64_t mask, a2, a350_masked)        \
    AF_MIXED_MASKED(name, uint64_t mask[], a2, a350_masked)

template <typename T, typename U> using AfPair = af_sim::TypePair<T, U>;  // destination, source
#define AF_MULADD_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>)
#define AF_CAST_PAIRS (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>)
#define AF_MULCAST_PAIRS (AfPair<int8_t, half>, AfPair<uint8_t, half>)

AF_MIXED(MulAddDst, const int32_t&, AF_MULADD_PAIRS,
         (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<int64_t, int64_t>,
          AfPair<uint64_t, uint64_t>),
         AF_MULADD_PAIRS)
AF_MIXED(AddReluCast, const uint32_t, AF_CAST_PAIRS,
         (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>, AfPair<float, int64_t>,
          AfPair<int32_t, int64_t>),
         AF_CAST_PAIRS)
AF_MIXED(SubReluCast, const uint32_t, AF_CAST_PAIRS,
         (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>, AfPair<float, int64_t>,
          AfPair<int32_t, int64_t>),
         AF_CAST_PAIRS)
AF_MIXED(MulCast, const uint32_t, AF_MULCAST_PAIRS,
         (AfPair<int8_t, half>, AfPair<uint8_t, half>, AfPair<int32_t, int64_t>, AfPair<float, int64_t>),
         AF_MULCAST_PAIRS)

// half(relu((src0 + src1) * SetDeqScale)); uses the reserved end of UB.
template <typename T, typename U>
AF_API void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                       const int32_t& count) {
    AF_CALL("AddDeqRelu");
    AF_TYPE_PAIRS("AddDeqRelu", T, U, AfPair<half, int32_t>);
    af_sim::require_reserved_ub();
    af_sim::vector_binary(af_sim::Op::AddDeqRelu, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
AF_API inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                              const LocalTensor<int32_t>& src1, const int32_t& count) {
    AF_CALL("AddDeqRelu");
    AddDeqRelu<half, int32_t>(dst, src0, src1, count);
}
#define AF_ADD_DEQ_RELU_MASKED(mask_parameter)                                                                         \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,          \
                           mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {         \
        AF_CALL("AddDeqRelu");                                                                                         \
        AF_TYPE_PAIRS("AddDeqRelu", T, U, AfPair<half, int32_t>);                                                      \
        const auto& p = repeatParams;                                                                                  \
        af_sim::require_reserved_ub();                                                                                 \
        af_sim::vector_binary(af_sim::Op::AddDeqRelu, af_sim::masked<isSetMask>(mask, repeatTime),                     \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
AF_ADD_DEQ_RELU_MASKED(uint64_t mask)
AF_ADD_DEQ_RELU_MASKED(uint64_t mask[])
#undef AF_ADD_DEQ_RELU_MASKED

}  // namespace AscendC
