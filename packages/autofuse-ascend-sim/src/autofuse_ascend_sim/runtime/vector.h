// One vector instruction: checks, clocks, timing and values.
#pragma once
#include "lane_plan.h"
#include "rows.h"

namespace af_sim {

struct VectorPort {
    VectorOperand operand;
    Access access;
};

// Checks and records the instruction; the first port is the destination. Cost is looked up under `cost_type`.
// Returns whether there are values to compute.
bool issue_vector(const LanePlan& plan, const VectorPort* ports, uint32_t count, DType cost_type);

// dst, a and b as rows; b may be null.
void compute_rows(const LanePlan& plan, RowFn fn, const RowScalar& scalar, const VectorOperand& dst,
                  const VectorOperand* a, const VectorOperand* b, bool reads_dst);

// Overlap rules of the manual for a destination and a source.
void check_overlap(const LanePlan& plan, const VectorOperand& dst, const VectorOperand& src, bool accumulates);

}  // namespace af_sim
