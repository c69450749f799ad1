// Rows of one tensor, and of a tensor and a scalar.
#include "row_kernels.h"

namespace af_sim {

RowFn find_row_of_one(Op op, DType dst) {
    switch (op) {
        case Op::Relu: return any_row<RowRelu, Second::None>(dst);
        case Op::Abs: return any_row<RowAbs, Second::None>(dst);
        case Op::Exp: return float_row<RowExp, Second::None>(dst);
        case Op::Ln: return float_row<RowLn, Second::None>(dst);
        case Op::Sqrt: return float_row<RowSqrt, Second::None>(dst);
        case Op::Rsqrt: return float_row<RowRsqrt, Second::None>(dst);
        case Op::Reciprocal: {
            if (dst == DType::I64 || dst == DType::U64) return int_row<RowWholeReciprocal, Second::None>(dst);
            return float_row<RowReciprocal, Second::None>(dst);
        }
        case Op::Not: {
            if (dst == DType::F16) return int_row<RowNot, Second::None>(DType::U16);
            if (dst == DType::F32) return int_row<RowNot, Second::None>(DType::U32);
            return int_row<RowNot, Second::None>(dst);
        }
        case Op::Neg: {
            const RowFn found = float_row<RowNegFloat, Second::None>(dst);
            return found != nullptr ? found : int_row<RowNeg, Second::None>(dst);
        }
        case Op::Adds: return any_row<RowAdd, Second::Scalar>(dst);
        case Op::Muls: return any_row<RowMul, Second::Scalar>(dst);
        case Op::Maxs: return any_row<RowMax, Second::Scalar>(dst);
        case Op::Mins: return any_row<RowMin, Second::Scalar>(dst);
        case Op::LeakyRelu: return float_row<RowLeakyRelu, Second::Scalar>(dst);
        case Op::Subs: return any_row<RowSub, Second::Scalar>(dst);
        case Op::SubsLeft: return any_row<RowSub, Second::ScalarLeft>(dst);
        case Op::Divs: return any_row<RowDiv, Second::Scalar>(dst);
        case Op::DivsLeft: return any_row<RowDiv, Second::ScalarLeft>(dst);
        case Op::Ands: return int_row<RowAnd, Second::Scalar>(dst);
        case Op::Ors: return int_row<RowOr, Second::Scalar>(dst);
        default: return nullptr;
    }
}

}  // namespace af_sim
