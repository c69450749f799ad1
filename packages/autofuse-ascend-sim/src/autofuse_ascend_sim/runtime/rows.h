// Arithmetic on rows: n elements in, n elements out, no masks and no strides.
//
// 16-bit floating-point rows are widened to float, computed and rounded once, so an operation has one float row and one
// row for each integer type.
#pragma once
#include <cstdint>

#include "seam.h"

namespace af_sim {

struct RowScalar {
    double real = 0;      // the scalar as a number
    uint64_t bits = 0;    // and as bits
    uint8_t option = 0;
    float factor = 1;     // dequantisation
};

// dst may be read (dst = f(dst, a, b)); b is null for unary rows.
using RowFn = void (*)(void* dst, const void* a, const void* b, const RowScalar& s, uint32_t n);

// Null where the operation does not exist for these types: the headers do not let such a call compile.
RowFn find_row(Op op, DType dst, DType a, DType b);
RowFn find_cast(DType dst, DType src, uint8_t round_mode);

void widen_row(DType type, float* to, const void* from, uint32_t n);
void narrow_row(DType type, void* to, const float* from, uint32_t n);

}  // namespace af_sim
