// Host-side size functions: GetXxxMaxMinTmpSize and GetXxxTmpBufferFactorSize.
//
// `min` is the least temporary that works, `max` the size from which more brings nothing. The numbers are those of
// architecture 2201. Shapes and data types are the small part of CANN's `ge` namespace that these signatures need.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "af_highlevel_factors.h"
#include "af_highlevel_uncovered.h"

namespace ge {

class Shape {
public:
    Shape() = default;
    explicit Shape(std::vector<int64_t> dims) : dims_(static_cast<std::vector<int64_t>&&>(dims)) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t axis) const { return dims_[axis]; }
    std::vector<int64_t> GetDims() const { return dims_; }
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (const int64_t dim : dims_) size *= dim;
        return size;
    }

private:
    std::vector<int64_t> dims_;
};

enum DataType {
    DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT8 = 2, DT_INT32 = 3, DT_UINT8 = 4, DT_INT16 = 6, DT_UINT16 = 7, DT_UINT32 = 8,
    DT_INT64 = 9, DT_UINT64 = 10, DT_DOUBLE = 11, DT_BOOL = 12, DT_BF16 = 27
};

}  // namespace ge

namespace platform_ascendc {
class PlatformAscendC {};  // only named by signatures: the sizes here do not depend on it
}

namespace AscendC {

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;
enum class ReducePattern : uint32_t { AR = 0, RA = 1 };

}  // namespace AscendC

namespace af_sim {

inline uint32_t elements_of(const ge::Shape& shape) { return static_cast<uint32_t>(shape.GetShapeSize()); }
constexpr uint32_t as_u32(uint64_t value) { return static_cast<uint32_t>(value); }

// The usual rule: `factor` buffers, each of a repeat at least and of the whole operand at most.
inline void usual_tmp_size(const TmpFactor& factor, const ge::Shape& shape, uint32_t type_size, bool reuses, uint32_t& max,
                           uint32_t& min) {
    const uint32_t buffers = factor.of(type_size, reuses);
    min = buffers * 256;
    max = buffers * as_u32(larger_of(elements_of(shape) * type_size, 256));
}

constexpr uint32_t size_of(ge::DataType type) {
    switch (type) {
        case ge::DT_INT8: case ge::DT_UINT8: case ge::DT_BOOL: return 1;
        case ge::DT_FLOAT16: case ge::DT_INT16: case ge::DT_UINT16: case ge::DT_BF16: return 2;
        case ge::DT_FLOAT: case ge::DT_INT32: case ge::DT_UINT32: return 4;
        case ge::DT_INT64: case ge::DT_UINT64: case ge::DT_DOUBLE: return 8;
    }
    return 4;
}

}  // namespace af_sim

namespace AscendC {

#define AF_USUAL_SIZE(name)                                                                                            \
    inline void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource, \
                                         uint32_t& maxValue, uint32_t& minValue) {                                     \
        af_sim::usual_tmp_size(af_sim::factor::name, srcShape, typeSize, isReuseSource, maxValue, minValue);           \
    }
#define AF_FACTOR_SIZE(name)                                                                                           \
    inline void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) { \
        maxLiveNodeCount = af_sim::factor::name.of(typeSize, false);                                                   \
        extraBuf = 0;                                                                                                  \
    }
#define AF_USUAL_SIZES(name) AF_USUAL_SIZE(name) AF_FACTOR_SIZE(name)
AF_USUAL_SIZES(Acos) AF_USUAL_SIZES(Asin) AF_FACTOR_SIZE(Acosh) AF_USUAL_SIZES(Asinh) AF_USUAL_SIZES(Atan)
AF_USUAL_SIZES(Atanh) AF_FACTOR_SIZE(Sin) AF_FACTOR_SIZE(Cos) AF_USUAL_SIZES(Tan) AF_USUAL_SIZES(Sinh)
AF_USUAL_SIZES(Cosh) AF_USUAL_SIZES(Tanh) AF_USUAL_SIZES(Erf) AF_USUAL_SIZES(Erfc) AF_USUAL_SIZES(Floor)
AF_USUAL_SIZES(Ceil) AF_USUAL_SIZES(Trunc) AF_USUAL_SIZES(Frac) AF_USUAL_SIZES(Fmod) AF_USUAL_SIZES(Axpy)
AF_USUAL_SIZES(Lgamma) AF_USUAL_SIZES(Digamma) AF_USUAL_SIZES(Sigmoid)
#undef AF_USUAL_SIZES
#undef AF_FACTOR_SIZE
#undef AF_USUAL_SIZE

// What deviates from the usual rule.
#define AF_SIZE(name, max_bytes, min_bytes)                                                                            \
    inline void Get##name(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,              \
                          uint32_t& maxValue, uint32_t& minValue) {                                                    \
        const uint32_t n = af_sim::elements_of(srcShape);                                                              \
        const bool is_half = typeSize == 2;                                                                            \
        static_cast<void>(n), static_cast<void>(is_half), static_cast<void>(isReuseSource);                            \
        maxValue = af_sim::as_u32(max_bytes);                                                                          \
        minValue = af_sim::as_u32(min_bytes);                                                                          \
    }
AF_SIZE(AcoshMaxMinTmpSize, af_sim::larger_of(af_sim::factor::Acosh.of(typeSize, false) * n, 256) * typeSize,
        af_sim::factor::Acosh.of(typeSize, false) * 256)
AF_SIZE(SinMaxMinTmpSize, af_sim::factor::Sin.of(typeSize, isReuseSource) * n * typeSize,
        af_sim::factor::Sin.of(typeSize, isReuseSource) * 256)
AF_SIZE(CosMaxMinTmpSize, af_sim::factor::Cos.of(typeSize, isReuseSource) * n * typeSize,
        af_sim::factor::Cos.of(typeSize, isReuseSource) * 256)
AF_SIZE(LogMaxMinTmpSize, 0, 0)
AF_SIZE(Log10MaxMinTmpSize, 0, 0)
AF_SIZE(Log2MaxMinTmpSize, is_half ? af_sim::larger_of(4 * n, 256) : 0, is_half ? 256 : 0)
AF_SIZE(SignMaxMinTmpSize, af_sim::larger_of(3 * n * typeSize, 768), 768)
AF_SIZE(ClampMaxMinTmpSize, af_sim::larger_of(n, is_half ? 128 : 64), is_half ? 128 : 64)
AF_SIZE(XorMaxMinTmpSize, n * typeSize, 256)
AF_SIZE(SiluTmpSize, 0, 0)
AF_SIZE(SwishTmpSize, 0, 0)
AF_SIZE(ReGluMaxMinTmpSize, 0, 0)
#undef AF_SIZE

inline bool GetExpMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                uint32_t& maxValue, uint32_t& minValue) {
    const uint32_t buffers = af_sim::factor::ExpTaylor.of(typeSize, isReuseSource);
    maxValue = buffers * af_sim::as_u32(af_sim::larger_of(4 * af_sim::elements_of(srcShape), 256));
    minValue = buffers * 256;
    return true;
}

inline void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape& srcShape,
                                  const uint32_t typeSize, const bool isReuseSource, uint32_t& maxValue,
                                  uint32_t& minValue) {
    af_sim::usual_tmp_size(af_sim::factor::Round, srcShape, typeSize, isReuseSource, maxValue, minValue);
}

inline void GetPowerMaxMinTmpSize(const TensorShape& srcShape1, const TensorShape& srcShape2, const bool typeIsInt,
                                  const uint32_t typeSize, const bool, uint32_t& maxValue, uint32_t& minValue) {
    const uint64_t n1 = af_sim::elements_of(srcShape1), n2 = af_sim::elements_of(srcShape2);
    const af_sim::TmpSize size = af_sim::power_tmp_size(typeSize, typeIsInt, n1 != n2, af_sim::larger_of(n1, n2));
    maxValue = af_sim::as_u32(size.most);
    minValue = af_sim::as_u32(size.least);
}

inline void GetCumSumMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isLastAxis,
                                   const bool, uint32_t& maxValue, uint32_t& minValue) {
    const af_sim::TmpSize size = af_sim::cumsum_tmp_size(typeSize, isLastAxis, static_cast<uint64_t>(srcShape.GetDim(0)),
                                                         static_cast<uint64_t>(srcShape.GetDim(1)));
    maxValue = af_sim::as_u32(size.most);
    minValue = af_sim::as_u32(size.least);
}

inline void GetGeluMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, uint32_t& maxValue, uint32_t& minValue) {
    minValue = 768;
    maxValue = af_sim::as_u32(af_sim::larger_of(12 * af_sim::elements_of(srcShape), 768));
}

// No least size is published for SwiGLU and ReGlu: the emulator needs none and says 0.
inline void GetSwiGLUMaxMinTmpSize(const TensorShape&, const uint32_t, uint32_t& maxValue, uint32_t& minValue, const bool) {
    maxValue = minValue = 0;
}
inline void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 0; }

#define AF_REDUCTION_SIZE(name, kind)                                                                                  \
    inline void Get##name##MaxMinTmpSize(const TensorShape& srcShape, TensorDataType dataType, ReducePattern pattern,  \
                                         bool, bool isReuseSource, uint32_t& maxValue, uint32_t& minValue) {           \
        maxValue = minValue = af_sim::as_u32(af_sim::reduction_tmp_bytes(                                              \
            af_sim::ReduceKind::kind, af_sim::size_of(dataType), pattern == ReducePattern::AR,                         \
            af_sim::as_u32(static_cast<uint64_t>(srcShape.GetDim(0))),                                                 \
            af_sim::as_u32(static_cast<uint64_t>(srcShape.GetDim(1))), isReuseSource));                                \
    }
AF_REDUCTION_SIZE(ReduceSum, Sum)
AF_REDUCTION_SIZE(ReduceMean, Sum)
AF_REDUCTION_SIZE(ReduceMax, Extreme)
AF_REDUCTION_SIZE(ReduceMin, Extreme)
AF_REDUCTION_SIZE(ReduceProd, Product)
AF_REDUCTION_SIZE(ReduceAny, Logic)
AF_REDUCTION_SIZE(ReduceAll, Logic)
#undef AF_REDUCTION_SIZE

inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t& maxValue,
                                uint32_t& minValue) {
    maxValue = minValue = af_sim::as_u32(af_sim::sum_tmp_bytes(n, typeSize));
}

inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t accTypeSize, const bool,
                                 uint32_t& maxValue, uint32_t& minValue) {
    const uint64_t inner = af_sim::rounded_up(n * srcTypeSize, 32) / srcTypeSize;
    maxValue = minValue = af_sim::as_u32(af_sim::mean_tmp_bytes(n, inner, srcTypeSize, accTypeSize));
}

inline void GetSelectMaxMinTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape, const uint32_t,
                                   const TensorShape& maskShape, const uint32_t maskTypeSize, const bool isReuseMask,
                                   uint32_t& maxValue, uint32_t& minValue) {
    const TensorShape& shape = src0Shape.GetShapeSize() >= src1Shape.GetShapeSize() ? src0Shape : src1Shape;
    const uint64_t n = af_sim::elements_of(shape), chunk = n < af_sim::kSelectChunk ? n : af_sim::kSelectChunk;
    const bool is_wider = maskShape.GetDim(maskShape.GetDimNum() - 1) != shape.GetDim(shape.GetDimNum() - 1);
    maxValue = af_sim::as_u32(af_sim::select_tmp_bytes(n, maskTypeSize, is_wider && !isReuseMask));
    minValue = af_sim::as_u32(af_sim::select_tmp_bytes(chunk, maskTypeSize, is_wider && !isReuseMask));
}

inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape& srcShape,
                                      const TensorShape& dstShape, uint32_t typeSize, const bool, uint32_t& maxValue,
                                      uint32_t& minValue) {
    const bool repeats_rows = dstShape.GetDimNum() == 2 && srcShape.GetDim(0) != dstShape.GetDim(0);
    const af_sim::TmpSize size = af_sim::broadcast_tmp_size(
        typeSize, repeats_rows, af_sim::elements_of(srcShape), af_sim::elements_of(dstShape),
        static_cast<uint64_t>(dstShape.GetDim(0)), static_cast<uint64_t>(dstShape.GetDim(dstShape.GetDimNum() - 1)));
    maxValue = af_sim::as_u32(size.most);
    minValue = af_sim::as_u32(size.least);
}

}  // namespace AscendC
