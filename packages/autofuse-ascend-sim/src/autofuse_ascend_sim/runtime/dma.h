// What all copies between GM and UB have in common.
#pragma once
#include "core.h"

namespace af_sim {

// Charges the copy to its pipe and to the bandwidth that all cores share.
void record_dma(Step step, pipe_t pipe, const Dma& dma);

}  // namespace af_sim
