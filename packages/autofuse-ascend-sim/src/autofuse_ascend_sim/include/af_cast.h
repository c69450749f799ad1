// Conversions between element types.
#pragma once
#include <cstdint>

#include "af_cast_table.h"
#include "af_vector.h"

namespace AscendC {

#define AF_CAST_BODY(lanes, dst_block, dst_repeat, src_block, src_repeat)                                              \
    af_sim::check_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, uint8_t(roundMode), AF_ARCH_350);                     \
    af_sim::vector_cast(uint8_t(roundMode), lanes, af_sim::operand("dst", dst, dst_block, dst_repeat),                 \
                        af_sim::operand("src", src, src_block, src_repeat))

template <typename T, typename U>
AF_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count) {
    AF_CALL("Cast");
    static_assert(af_sim::has_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, AF_ARCH_350),
                  "AscendC::Cast: no conversion between these element types on " AF_SOC_NAME ": go through another type");
    AF_CAST_BODY(af_sim::counted(count), 1, 8, 1, 8);
}
#define AF_CAST_MASKED(mask_parameter)                                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, mask_parameter, \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                \
        AF_CALL("Cast");                                                                                               \
        static_assert(af_sim::has_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, AF_ARCH_350),                         \
                      "AscendC::Cast: no conversion between these element types on " AF_SOC_NAME                       \
                      ": go through another type");                                                                    \
        const auto& p = repeatParams;                                                                                  \
        AF_CAST_BODY(af_sim::masked<isSetMask>(mask, repeatTime), p.dstBlkStride, p.dstRepStride, p.srcBlkStride,      \
                     p.srcRepStride);                                                                                  \
    }
AF_CAST_MASKED(uint64_t mask)
AF_CAST_MASKED(const uint64_t mask[])
#undef AF_CAST_MASKED

}  // namespace AscendC
