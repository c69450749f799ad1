// Lists of element types that several operations share, per SoC where they differ.
#pragma once
#include "af_sim.h"

#define AF_F (half, float)
#define AF_ARITHMETIC (half, float, int16_t, int32_t)
#define AF_LIST_INTEGERS (int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t)
#define AF_LIST_INTEGERS_16_32 (int16_t, uint16_t, int32_t, uint32_t)
#define AF_350_16_32 (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float)
#define AF_350_16_64 (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)
#define AF_350_8_64 \
    (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)
