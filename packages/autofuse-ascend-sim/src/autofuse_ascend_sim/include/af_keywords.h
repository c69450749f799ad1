// Language keywords of Ascend C, which an ordinary C++ compiler does not know.
//
// Address spaces become nothing: `__gm__ float*` is a plain pointer. Pipes are enumerators, not macros, because they are
// template arguments as well as function arguments.
#pragma once
#include <cstdint>

#ifndef __NPU_ARCH__
#error "__NPU_ARCH__ is not set: compile kernels with autofuse_ascend_sim.compile(sources, soc), which defines it"
#endif
#define AF_ARCH_A2 (__NPU_ARCH__ == 2201)  // Atlas A2 and A3 share one vector core
#define AF_ARCH_350 (__NPU_ARCH__ == 3510)

#define __aicore__
#define __global__ __attribute__((visibility("default"), used))
#define __host__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#define __schedmode__(mode)
#define GM_ADDR __gm__ uint8_t*

#define ASCEND_IS_AIV (true)
#define ASCEND_IS_AIC (false)

enum pipe_t : uint8_t { PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_MTE1, PIPE_M, PIPE_FIX, PIPE_ALL };

enum event_t : int8_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
