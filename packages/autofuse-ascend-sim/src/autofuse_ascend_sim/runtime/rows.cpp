#include "rows.h"

namespace af_sim {

RowFn find_row_of_one(Op op, DType dst);
RowFn find_row_of_two(Op op, DType dst);
RowFn find_mixed_row(Op op, DType dst, DType a, DType b);

RowFn find_row(Op op, DType dst, DType a, DType b) {
    if (const RowFn found = dst == a ? find_row_of_one(op, dst) : nullptr) return found;
    if (const RowFn found = dst == a ? find_row_of_two(op, dst) : nullptr) return found;
    return find_mixed_row(op, dst, a, b);
}

}  // namespace af_sim
