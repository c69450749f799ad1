// The one header that Ascend C kernels include.
//
//   af_keywords.h     language keywords, pipes            af_elementwise.h  arithmetic and casts
//   af_types.h        half, bfloat16_t, element types     af_fill.h         Duplicate, Brcb, Copy, GM fills
//   af_enums.h        enumerations                        af_compare.h      Compare, Select
//   af_structs.h      parameter structs                   af_reduce.h       reductions of the basic API
//   af_sim.h          the seam to the run time            af_gather.h       Gather, Scatter, GatherMask, Transpose
//   af_tensor.h       GlobalTensor, LocalTensor           af_copy.h         GM <-> UB and UB -> UB copies
//   af_pipe.h         TPipe, TQue, TBuf                   af_sync.h         barriers, flags, SyncAll, atomics
//   af_vector.h       masks, the vector instruction       af_tiling.h       tiling data and keys
//   af_system.h       block index, printf, assert         af_operators.h    dst = a + b
//   af_highlevel_api.h  composed functions
#pragma once
#include "af_keywords.h"
#include "af_types.h"
#include "af_enums.h"
#include "af_structs.h"
#include "af_sim.h"
#include "af_tensor.h"
#include "af_pipe.h"
#include "af_vector.h"
#include "af_elementwise.h"
#include "af_fill.h"
#include "af_compare.h"
#include "af_operators.h"
#include "af_reduce.h"
#include "af_gather.h"
#include "af_copy.h"
#include "af_sync.h"
#include "af_tiling.h"
#include "af_system.h"
#include "af_highlevel_api.h"
