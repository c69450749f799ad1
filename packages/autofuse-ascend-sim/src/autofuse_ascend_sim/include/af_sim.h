// The seam between kernel code and the emulator's run time.
//
// Headers hold the documented signatures and nothing else: each API checks its types at compile time, describes its
// operands, and hands them to the run time, which is compiled once and checks rules, keeps clocks, computes values and
// records the instruction for the timing model. How to add an API, in order:
//
//   template <typename T>
//   AF_API void Twice(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp,
//                     const uint32_t count) {
//       AF_CALL("Twice");                                 // names the API and keeps the kernel line of the call
//       AF_DTYPES("Twice", T, half, float);               // compile-time error naming API and type
//       const bool compute = af_sim::issue(PIPE_V, {af_sim::written("dst", dst, count), af_sim::read("src", src, count),
//                                                   af_sim::scratch("sharedTmpBuffer", tmp, 256)},
//                                          af_sim::work<T>(count));
//       if (!compute) return;                             // timing-only mode has no data
//       T* out = dst.Data();                              // host addresses, valid for the operands just declared
//       const T* in = src.Data();
//       for (uint32_t i = 0; i < count; ++i) out[i] = T(2.0f * float(in[i]));
//   }
//
// `issue` checks bounds, 32-byte alignment, uninitialised reads, buffer ownership and missing synchronisation of every
// operand, then records one instruction of the named pipe. Its cost is looked up in the SoC file under the API's name
// and the dtype given to `work` (busy cycles = k * elements + b). An API may also call other APIs: errors and trace then
// keep the outermost call's kernel line. Functions carry AF_API so that they are not inlined: the return address is the
// kernel line. Operand overlap is checked by `af_sim::disjoint(a, b)` where an API forbids it.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "af_types.h"

#define AF_API __attribute__((noinline))
#define AF_CALL(name)                                              \
    static const uint16_t af_call_api = af_sim::intern_api(name);  \
    const af_sim::Call af_call(af_call_api, __builtin_return_address(0))

#if AF_ARCH_A2
#define AF_SOC_NAME "ascend-a2 and ascend-a3"
#else
#define AF_SOC_NAME "ascend-350"
#endif
#define AF_DTYPES(name, T, ...)                            \
    static_assert(af_sim::is_one_of<T, __VA_ARGS__>(),     \
                  "AscendC::" name ": this element type is not supported on " AF_SOC_NAME " (supported: " #__VA_ARGS__ ")")
// The same with one parenthesised list for A2 and A3 and one for 350.
#if AF_ARCH_A2
#define AF_PER_SOC(a2, a350) a2
#else
#define AF_PER_SOC(a2, a350) a350
#endif
#define AF_STRIP_PARENTHESES(...) __VA_ARGS__
#define AF_DTYPES_PER_SOC(name, T, a2, a350) AF_DTYPES_OF_LIST(name, T, AF_PER_SOC(a2, a350))
#define AF_DTYPES_OF_LIST(name, T, list)                                        \
    static_assert(af_sim::is_one_of<T, AF_STRIP_PARENTHESES list>(),            \
                  "AscendC::" name ": this element type is not supported on " AF_SOC_NAME " (supported: " #list ")")

namespace af_sim {

// ---- calls and errors ----------------------------------------------------------------------------------------------

uint16_t intern_api(const char* name);

// Marks the outermost API call that the kernel made; nested calls keep the outer name and line.
class Call {
public:
    Call(uint16_t api, void* return_address);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

enum class Rule : uint8_t {
    UbCapacity, QueueDepth, QueueOrder, QueueLeak, Alignment, Limit, Dtype, Overlap, UbBounds, GmBounds, UninitialisedRead,
    MissingSync, UnpairedFlag, BlockConflict, BlockDim, SyncAll, Buffer, Assertion, Usage, Count
};

// Ends the block: `operand` may be null; `bytes` and `limit` are -1 where they say nothing.
[[noreturn]] void fail(Rule rule, const char* operand, int64_t bytes, int64_t limit, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// ---- operands ------------------------------------------------------------------------------------------------------

// What the run time knows of a LocalTensor: its first byte in UB, the bytes up to the end of its buffer, and the queue
// buffer it belongs to (0 = none) with the generation of that buffer's allocation.
struct View {
    uint32_t offset = 0;
    uint32_t bytes = 0;
    uint16_t buffer = 0;
    uint16_t generation = 0;
    bool is_set = false;
};

enum class Access : uint8_t { Read, Write, ReadWrite, Scratch };

// The bytes an operand touches: `groups` groups of `pieces` equal pieces. Strides in bytes, start to start.
struct Region {
    uint32_t piece_bytes = 0;
    uint32_t pieces = 1, piece_stride = 0;
    uint32_t groups = 1, group_stride = 0;
};

struct Operand {
    const char* name;
    View view;
    Access access;
    Region region;
    uint32_t alignment = 32;  // of the first byte, in bytes
};

// How much an instruction does, for the timing model.
struct Work {
    uint64_t elements = 0;
    DType dtype = DType::F32;
    uint32_t instructions = 1;  // vector instructions behind the call; each pays the fixed part of the cost
};

template <typename T> constexpr Work work(uint64_t elements, uint32_t instructions = 1) {
    return Work{elements, dtype_of<T>, instructions};
}

// Where the bytes do not fit the field, the region is larger than any tensor, which `issue` reports.
constexpr Region elements_region(uint64_t elements, uint64_t element_bytes) {
    const uint64_t most = UINT32_MAX / element_bytes;
    return Region{static_cast<uint32_t>(elements <= most ? elements * element_bytes : UINT32_MAX)};
}
template <typename Tensor> Operand written(const char* name, const Tensor& tensor, uint64_t elements) {
    return {name, tensor.View(), Access::Write, elements_region(elements, sizeof(typename Tensor::PrimType))};
}
template <typename Tensor> Operand read(const char* name, const Tensor& tensor, uint64_t elements) {
    return {name, tensor.View(), Access::Read, elements_region(elements, sizeof(typename Tensor::PrimType))};
}
template <typename Tensor> Operand updated(const char* name, const Tensor& tensor, uint64_t elements) {
    return {name, tensor.View(), Access::ReadWrite, elements_region(elements, sizeof(typename Tensor::PrimType))};
}
// A temporary: must hold at least `bytes`; its contents are undefined afterwards.
template <typename Tensor> Operand scratch(const char* name, const Tensor& tensor, uint64_t bytes) {
    return {name, tensor.View(), Access::Scratch, elements_region(bytes, 1)};
}

// Checks the operands, moves the clocks, records the instruction. False in timing-only mode: there is nothing to compute.
bool issue(pipe_t pipe, std::initializer_list<Operand> operands, const Work& work);

// Fails where two operands share a byte.
void disjoint(const Operand& a, const Operand& b);

// Host address of a byte of UB, and the emulated UB's first byte.
uint8_t* ub_address(uint32_t offset);

// True when blocks carry data; false in timing-only mode.
bool computes_values();

}  // namespace af_sim
