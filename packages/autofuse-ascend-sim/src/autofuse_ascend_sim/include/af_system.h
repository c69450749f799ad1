// System variables, scalar functions and debugging.
#pragma once
#include <cstdint>

#include "af_tensor.h"

namespace af_sim {
int64_t block_index();
int64_t block_count();
int64_t system_cycle();
void print(const char* format, ...) __attribute__((format(printf, 1, 2)));
void print_unchecked(const char* format, ...);
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line, const char* format = nullptr, ...);
void dump_local(const View& view, DType type, uint64_t elements, uint32_t description);
void dump_global(const void* address, uint64_t bytes_left, DType type, uint64_t elements, uint32_t description);
// 16-bit floats go through "..." as doubles, like floats.
template <typename T> T printable(T value) { return value; }
inline double printable(half value) { return double(float(value)); }
inline double printable(bfloat16_t value) { return double(float(value)); }

}  // namespace af_sim

namespace AscendC {

inline int64_t GetBlockIdx() { return af_sim::block_index(); }
inline int64_t GetBlockNum() { return af_sim::block_count(); }
inline int64_t GetSubBlockIdx() { return 0; }
inline int64_t GetSubBlockNum() { return 1; }
inline int64_t GetTaskRatio() { return 1; }
constexpr int16_t GetDataBlockSizeInBytes() { return 32; }
inline int64_t GetSystemCycle() { return af_sim::system_cycle(); }

#if AF_ARCH_350
constexpr uint32_t GetUBSizeInBytes() { return 253952; }
constexpr uint32_t GetVecLen() { return 256; }
#else
constexpr uint32_t GetUBSizeInBytes() { return 0; }  // documented for 350 only; 0 keeps shared code from sizing by it
constexpr uint32_t GetVecLen() { return 0; }
#endif

inline int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

template <int countValue> inline int64_t GetBitCount(uint64_t value) {
    static_assert(countValue == 0 || countValue == 1, "AscendC::GetBitCount: counts bits 0 or 1");
    const int ones = __builtin_popcountll(value);
    return countValue == 1 ? ones : 64 - ones;
}
inline int64_t CountLeadingZero(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
template <int countValue> inline int64_t GetSFFValue(uint64_t value) {
    static_assert(countValue == 0 || countValue == 1, "AscendC::GetSFFValue: finds bit 0 or 1");
    const uint64_t bits = countValue == 1 ? value : ~value;
    return bits == 0 ? -1 : __builtin_ctzll(bits);
}
inline int64_t CountBitsCntSameAsSignBit(int64_t value) { return __builtin_clrsbll(value); }
template <int countValue> inline int64_t ScalarGetCountOfValue(uint64_t value) { return GetBitCount<countValue>(value); }
inline int64_t ScalarCountLeadingZero(uint64_t value) { return CountLeadingZero(value); }
template <int countValue> inline int64_t ScalarGetSFFValue(uint64_t value) { return GetSFFValue<countValue>(value); }

template <typename... Args> AF_API void printf(__gm__ const char* format, Args... args) {
    AF_CALL("printf");
    af_sim::print_unchecked(format, af_sim::printable(args)...);
}
#define PRINTF(...) AscendC::printf(__VA_ARGS__)

template <typename T> AF_API void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    AF_CALL("DumpTensor");
    const uint32_t count = dumpSize < tensor.GetSize() ? dumpSize : tensor.GetSize();
    af_sim::dump_local(tensor.View(), af_sim::dtype_of<T>, count, desc);
}
template <typename T> AF_API void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    AF_CALL("DumpTensor");
    af_sim::dump_global(tensor.GetPhyAddr(), tensor.BytesLeft(), af_sim::dtype_of<T>, dumpSize, desc);
}
AF_API inline void Trap() { af_sim::assertion_failed("Trap()", "", 0); }
inline void PrintTimeStamp(uint32_t) {}
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}

}  // namespace AscendC

#undef assert
#ifdef NDEBUG
#define assert(...) static_cast<void>(0)
#else
#define AF_ASSERT_1(expression) \
    ((expression) ? static_cast<void>(0) : af_sim::assertion_failed(#expression, __FILE__, __LINE__))
#define AF_ASSERT_MORE(expression, ...) \
    ((expression) ? static_cast<void>(0) : af_sim::assertion_failed(#expression, __FILE__, __LINE__, __VA_ARGS__))
#define AF_ASSERT_PICK(_1, _2, _3, _4, _5, _6, _7, _8, chosen, ...) chosen
#define assert(...)                                                                                                    \
    AF_ASSERT_PICK(__VA_ARGS__, AF_ASSERT_MORE, AF_ASSERT_MORE, AF_ASSERT_MORE, AF_ASSERT_MORE, AF_ASSERT_MORE,        \
                   AF_ASSERT_MORE, AF_ASSERT_MORE, AF_ASSERT_1, )(__VA_ARGS__)
#endif
#define ascendc_assert(...) assert(__VA_ARGS__)
