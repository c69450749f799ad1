// Which element types convert into which, and with which rounding modes.
#pragma once
#include <cstdint>

#include "af_sim.h"

namespace af_sim {

// Modes as bits by the value of RoundMode: NONE RINT FLOOR CEIL ROUND TRUNC ODD.
constexpr uint16_t kNoneOnly = 1, kModes = 0x3E, kModesAndNone = 0x3F, kModesOddNone = 0x7F, kRintOnly = 2, kTruncOnly = 0x20;

struct CastPair {
    DType dst, src;
    uint16_t modes_a2, modes_350;  // 0: no such conversion
};

constexpr CastPair kCasts[] = {
    {DType::F16, DType::I8, kNoneOnly, kNoneOnly},
    {DType::F16, DType::U8, kNoneOnly, kNoneOnly},
    {DType::F16, DType::I16, kModesAndNone, kModes},
    {DType::F32, DType::I16, kNoneOnly, kNoneOnly},
    {DType::I8, DType::F16, kModesAndNone, kModes},
    {DType::U8, DType::F16, kModesAndNone, kModes},
    {DType::I16, DType::F16, kModes, kModes},
    {DType::I32, DType::F16, kModes, kModes},
    {DType::F32, DType::F16, kNoneOnly, kNoneOnly},
    {DType::F32, DType::BF16, kNoneOnly, kNoneOnly},
    {DType::I32, DType::BF16, kModes, kModes},
    {DType::I16, DType::I32, kNoneOnly, kNoneOnly},
    {DType::F16, DType::I32, kModesAndNone, kModesAndNone},  // through SetDeqScale
    {DType::F32, DType::I32, kModesAndNone, kModes},
    {DType::I64, DType::I32, kNoneOnly, kNoneOnly},
    {DType::F16, DType::F32, kModesOddNone, kModesOddNone},
    {DType::BF16, DType::F32, kModes, kModes},
    {DType::I16, DType::F32, kModes, kModes},
    {DType::I32, DType::F32, kModes, kModes},
    {DType::I64, DType::F32, kModes, kModes},
    {DType::F32, DType::F32, kModes, kModes},
    {DType::I32, DType::I64, kNoneOnly, kNoneOnly},
    {DType::F32, DType::I64, kModes, kModes},
    {DType::I16, DType::I8, 0, kNoneOnly},
    {DType::I32, DType::I8, 0, kNoneOnly},
    {DType::U16, DType::U8, 0, kNoneOnly},
    {DType::U32, DType::U8, 0, kNoneOnly},
    {DType::U8, DType::I16, 0, kNoneOnly},
    {DType::I32, DType::I16, 0, kNoneOnly},
    {DType::U32, DType::I16, 0, kNoneOnly},
    {DType::U8, DType::U16, 0, kNoneOnly},
    {DType::U32, DType::U16, 0, kNoneOnly},
    {DType::BF16, DType::F16, 0, kModes},
    {DType::F16, DType::BF16, 0, kModes},
    {DType::U8, DType::I32, 0, kNoneOnly},
    {DType::U16, DType::I32, 0, kNoneOnly},
    {DType::U8, DType::U32, 0, kNoneOnly},
    {DType::I16, DType::U32, 0, kNoneOnly},
    {DType::U16, DType::U32, 0, kNoneOnly},
    {DType::F64, DType::I64, 0, kModes},
    {DType::BF16, DType::F64, 0, kModes},
    {DType::F32, DType::F64, 0, kModes},
    {DType::I32, DType::F64, 0, kTruncOnly},
    {DType::I64, DType::F64, 0, kTruncOnly},
};

constexpr uint16_t cast_modes(DType dst, DType src, bool is_350) {
    for (const CastPair& pair : kCasts) {
        if (pair.dst == dst && pair.src == src) return is_350 ? pair.modes_350 : pair.modes_a2;
    }
    return 0;
}
constexpr bool has_cast(DType dst, DType src, bool is_350) { return cast_modes(dst, src, is_350) != 0; }

// Fails where the pair does not take the rounding mode.
void check_cast(DType dst, DType src, uint8_t round_mode, bool is_350);

}  // namespace af_sim
