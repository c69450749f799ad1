// Whole-tensor operators: `dst = a + b` is the count form over dst.GetSize() elements; `dst = a < b` compares
// a.GetSize() elements to bits.
#pragma once
#include <cstdint>

#include "af_compare.h"
#include "af_elementwise.h"
#include "af_tensor.h"

namespace AscendC {

#define AF_OPERATOR(symbol, kind)                                                                                 \
    template <typename T>                                                                                         \
    AfExpression<AfOperator::kind, T> operator symbol(const LocalTensor<T>& a, const LocalTensor<T>& b) {         \
        return {a, b};                                                                                            \
    }
AF_OPERATOR(+, Add)
AF_OPERATOR(-, Sub)
AF_OPERATOR(*, Mul)
AF_OPERATOR(/, Div)
AF_OPERATOR(|, Or)
AF_OPERATOR(&, And)
AF_OPERATOR(<, LT)
AF_OPERATOR(>, GT)
AF_OPERATOR(==, EQ)
AF_OPERATOR(!=, NE)
AF_OPERATOR(<=, LE)
AF_OPERATOR(>=, GE)
#undef AF_OPERATOR

template <typename T>
template <AfOperator kind, typename U>
LocalTensor<T>& LocalTensor<T>::operator=(const AfExpression<kind, U>& e) {
    constexpr const char* names[] = {"Add", "Sub", "Mul", "Div", "Or", "And"};
    constexpr bool is_arithmetic = kind < AfOperator::LT;
    AF_CALL(is_arithmetic ? names[is_arithmetic ? int(kind) : 0] : "Compare");
    const int32_t count = static_cast<int32_t>(size_);
    if constexpr (kind == AfOperator::Add) Add<T>(*this, e.a, e.b, count);
    else if constexpr (kind == AfOperator::Sub) Sub<T>(*this, e.a, e.b, count);
    else if constexpr (kind == AfOperator::Mul) Mul<T>(*this, e.a, e.b, count);
    else if constexpr (kind == AfOperator::Div) Div<T>(*this, e.a, e.b, count);
    else if constexpr (kind == AfOperator::Or) Or<T>(*this, e.a, e.b, count);
    else if constexpr (kind == AfOperator::And) And<T>(*this, e.a, e.b, count);
    else Compare<U, T>(*this, e.a, e.b, static_cast<CMPMODE>(int(kind) - int(AfOperator::LT)), e.a.GetSize());
    return *this;
}

}  // namespace AscendC
