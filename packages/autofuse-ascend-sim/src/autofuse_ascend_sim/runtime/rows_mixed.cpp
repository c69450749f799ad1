// Rows whose element types differ, shifts, fills and copies.
#include <limits>

#include "row_kernels.h"

namespace af_sim {
namespace {

// Arithmetic in a wider type and a saturating conversion to the destination.
template <typename D> D saturated(double value) {
    if (value != value) return D(0);
    const double rounded = std::nearbyint(value);
    if (rounded <= double(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (rounded >= double(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(rounded);
}

template <typename F, typename D, DType a_type> void half_to_int_row(void* dst, const void* a, const void* b,
                                                                     const RowScalar& s, uint32_t n) {
    D* out = static_cast<D*>(dst);
    const uint16_t* x = static_cast<const uint16_t*>(a);
    const uint16_t* y = static_cast<const uint16_t*>(b);
    for (uint32_t i = 0; i < n; ++i) {
        const float value = F::eval(0.0f, half_value_of(x[i]), half_value_of(y[i]), s);
        out[i] = saturated<D>(double(half_value_of(half_bits_of(value))));
    }
}

template <typename F, typename D, typename A> void int_to_any_row(void* dst, const void* a, const void* b,
                                                                  const RowScalar& s, uint32_t n) {
    D* out = static_cast<D*>(dst);
    const A* x = static_cast<const A*>(a);
    const A* y = static_cast<const A*>(b);
    for (uint32_t i = 0; i < n; ++i) {
        const A value = F::eval(A(0), x[i], y[i], s);
        if constexpr (is_int<D>) out[i] = saturated<D>(double(value));
        else out[i] = static_cast<D>(value);
    }
}

template <typename F> RowFn narrowing_row(DType dst, DType a) {
    if (dst == DType::F16 && a == DType::F32) return wide_row<F, Second::Row, false, DType::F16, DType::F32, DType::F32>;
    if (dst == DType::I8 && a == DType::F16) return half_to_int_row<F, int8_t, DType::F16>;
    if (dst == DType::U8 && a == DType::F16) return half_to_int_row<F, uint8_t, DType::F16>;
    if (dst == DType::I8 && a == DType::I16) return int_to_any_row<F, int8_t, int16_t>;
    if (dst == DType::F32 && a == DType::I64) return int_to_any_row<F, float, int64_t>;
    if (dst == DType::I32 && a == DType::I64) return int_to_any_row<F, int32_t, int64_t>;
    return nullptr;
}

// half(relu(scale * (a + b))) of int32 operands.
void add_deq_relu(void* dst, const void* a, const void* b, const RowScalar& s, uint32_t n) {
    uint16_t* out = static_cast<uint16_t*>(dst);
    const int32_t* x = static_cast<const int32_t*>(a);
    const int32_t* y = static_cast<const int32_t*>(b);
    for (uint32_t i = 0; i < n; ++i) out[i] = half_bits_of(relu(float(add(x[i], y[i])) * s.factor));
}

template <typename T> void shift_right_scalar(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    for (uint32_t i = 0; i < n; ++i) out[i] = shift_right(x[i], int64_t(s.real), s.option != 0);
}
template <typename T> void shift_left_scalar(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    for (uint32_t i = 0; i < n; ++i) out[i] = shift_left(x[i], int64_t(s.real));
}
#define AF_BY_INT_TYPE(function)                          \
    switch (dst) {                                        \
        case DType::I8: return function<int8_t>;          \
        case DType::U8: return function<uint8_t>;         \
        case DType::I16: return function<int16_t>;        \
        case DType::U16: return function<uint16_t>;       \
        case DType::I32: return function<int32_t>;        \
        case DType::U32: return function<uint32_t>;       \
        case DType::I64: return function<int64_t>;        \
        case DType::U64: return function<uint64_t>;       \
        default: return nullptr;                          \
    }

// Shift amounts of a tensor are signed and as wide as the values, so the row of the signed type reads them rightly.
template <typename T, bool left> void shift_tensor(void* dst, const void* a, const void* b, const RowScalar&, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    const auto* by = static_cast<const std::make_signed_t<T>*>(b);
    for (uint32_t i = 0; i < n; ++i) out[i] = left ? shift_left(x[i], by[i]) : shift_right(x[i], by[i], false);
}
template <typename T> constexpr RowFn shift_tensor_left = shift_tensor<T, true>;
template <typename T> constexpr RowFn shift_tensor_right = shift_tensor<T, false>;

template <DType type> void fill_row(void* dst, const void*, const void*, const RowScalar& s, uint32_t n) {
    constexpr uint32_t unit = size_of(type);
    uint8_t* out = static_cast<uint8_t*>(dst);
    for (uint32_t i = 0; i < n; ++i) memcpy(out + i * unit, &s.bits, unit);
}

template <typename T> void copy_row(void* dst, const void* a, const void*, const RowScalar&, uint32_t n) {
    memmove(dst, a, n * sizeof(T));
}

template <bool reads_dst, typename F> RowFn mixed_float_row(DType dst, DType a, DType b) {
    if (dst == DType::F32 && a == DType::F16 && (b == DType::F16)) {
        return wide_row<F, Second::Row, reads_dst, DType::F32, DType::F16, DType::F16>;
    }
    return nullptr;
}

}  // namespace

RowFn find_mixed_row(Op op, DType dst, DType a, DType b) {
    switch (op) {
        case Op::AddReluCast: return narrowing_row<RowAddRelu>(dst, a);
        case Op::SubReluCast: return narrowing_row<RowSubRelu>(dst, a);
        case Op::MulCast: return narrowing_row<RowMul>(dst, a);
        case Op::ShiftLeft: AF_BY_INT_TYPE(shift_tensor_left)
        case Op::ShiftRight: AF_BY_INT_TYPE(shift_tensor_right)
        case Op::ExpSub: return dst == a ? float_row<RowExpSub>(dst) : mixed_float_row<false, RowExpSub>(dst, a, b);
        case Op::AddDeqRelu: return add_deq_relu;
        case Op::Copy:
            switch (size_of(dst)) {
                case 1: return copy_row<uint8_t>;
                case 2: return copy_row<uint16_t>;
                case 4: return copy_row<uint32_t>;
                default: return copy_row<uint64_t>;
            }
        case Op::ShiftLefts: AF_BY_INT_TYPE(shift_left_scalar)
        case Op::ShiftRights: AF_BY_INT_TYPE(shift_right_scalar)
        case Op::MulsCast:
            if (dst == DType::F16 && a == DType::F32) {
                return wide_row<RowMul, Second::Scalar, false, DType::F16, DType::F32, DType::F32>;
            }
            return nullptr;
        case Op::Duplicate:
            switch (size_of(dst)) {
                case 1: return fill_row<DType::U8>;
                case 2: return fill_row<DType::U16>;
                case 4: return fill_row<DType::U32>;
                default: return fill_row<DType::U64>;
            }
        case Op::MulAddDst: return mixed_float_row<true, RowMulAddDst>(dst, a, b);
        case Op::Axpy:
            if (dst != DType::F32 || a != DType::F16) return nullptr;
            return wide_row<RowAxpy, Second::Scalar, true, DType::F32, DType::F16, DType::F16>;
        default: return nullptr;
    }
}
}  // namespace af_sim
