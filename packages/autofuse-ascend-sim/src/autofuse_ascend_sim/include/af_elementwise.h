// Element-wise arithmetic. Every operation has a count form (dst, sources, count) and, where documented, a
// continuous-mask form (..., uint64_t mask, repeatTime, params) and a mask-bits form (..., uint64_t mask[], ...).
//
//   af_binary.h         two tensors, one type            af_scalar.h          a tensor and a scalar
//   af_binary_mixed.h   two tensors, another result      af_cast.h            conversions
//   af_unary.h          one tensor                       af_elementwise_350.h what only the 350 has
#pragma once
#include "af_binary.h"
#include "af_binary_mixed.h"
#include "af_cast.h"
#include "af_elementwise_350.h"
#include "af_scalar.h"
#include "af_unary.h"
