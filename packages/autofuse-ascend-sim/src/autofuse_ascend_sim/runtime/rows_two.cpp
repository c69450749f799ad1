// Rows of two tensors, and those that add to the destination.
#include "row_kernels.h"

namespace af_sim {

RowFn find_row_of_two(Op op, DType dst) {
    switch (op) {
        case Op::Add: return any_row<RowAdd>(dst);
        case Op::Sub: return any_row<RowSub>(dst);
        case Op::Mul: return any_row<RowMul>(dst);
        case Op::Div: return any_row<RowDiv>(dst);
        case Op::Max: return any_row<RowMax>(dst);
        case Op::Min: return any_row<RowMin>(dst);
        case Op::And: return int_row<RowAnd>(dst);
        case Op::Or: return int_row<RowOr>(dst);
        case Op::AddRelu: return any_row<RowAddRelu>(dst);
        case Op::SubRelu: return any_row<RowSubRelu>(dst);
        case Op::Prelu: return float_row<RowPrelu>(dst);
        case Op::AbsSub: return float_row<RowAbsSub>(dst);
        case Op::MulAddDst: return any_row<RowMulAddDst, Second::Row, true>(dst);
        case Op::FusedMulAdd: return any_row<RowFusedMulAdd, Second::Row, true>(dst);
        case Op::MulAddRelu: return any_row<RowMulAddRelu, Second::Row, true>(dst);
        case Op::Axpy: return any_row<RowAxpy, Second::Scalar, true>(dst);
        default: return nullptr;
    }
}

}  // namespace af_sim
