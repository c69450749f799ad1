// Bounds, alignment, overlap, limits, uninitialised reads. UB is placed by hand; flags are not needed on one pipe.
#include "kernel_operator.h"
using namespace AscendC;

#define KERNEL(name) extern "C" __global__ __aicore__ void name(GM_ADDR x, GM_ADDR y)
#if __NPU_ARCH__ == 2201
constexpr uint32_t kUbBytes = 196608;
#else
constexpr uint32_t kUbBytes = 253952;
#endif

static __aicore__ GlobalTensor<float> Gm(GM_ADDR p, uint64_t n) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)p, n);
    return g;
}
static __aicore__ LocalTensor<float> Ub(uint32_t at, uint32_t n) { return LocalTensor<float>(TPosition::VECCALC, at, n); }

KERNEL(ub_bounds_ok) { Duplicate(Ub(0, 100), 0.0f, 104); }  // a tensor owns the whole of its last block
KERNEL(ub_bounds_bad) { Duplicate(Ub(0, 100), 0.0f, 105); }  // BAD
KERNEL(ub_bounds_stride_ok) { Duplicate(Ub(0, 576), 0.0f, 64, 2, 1, 64); }
KERNEL(ub_bounds_stride_bad) { Duplicate(Ub(0, 568), 0.0f, 64, 2, 1, 64); }  // BAD
KERNEL(ub_end_ok) { Duplicate(Ub(kUbBytes - 256, 64), 0.0f, 64); }
KERNEL(ub_end_bad) { LocalTensor<float> a(TPosition::VECCALC, kUbBytes - 224, 64); }  // BAD
KERNEL(count_negative_bad) { Duplicate(Ub(0, 64), 0.0f, -1); }  // BAD
KERNEL(arange_negative_bad) { ArithProgression(Ub(0, 64), 0.0f, 1.0f, -8); }  // BAD
KERNEL(count_overflow_bad) {  // 8 bytes, in 32 bits
    Duplicate(Ub(0, 64), 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Sigmoid(Ub(0, 64), Ub(0, 64), Ub(512, 64).ReinterpretCast<uint8_t>(), 0x40000002u);  // BAD
}
KERNEL(dump_ok) {
    Duplicate(Ub(0, 64), 1.0f, 64);
    DumpTensor(Ub(0, 64), 1, 64);
    DumpTensor(Gm(x, 1024), 2, 1024);
}
KERNEL(dump_unset_bad) {
    LocalTensor<float> a;
    a.SetSize(64);
    DumpTensor(a, 1, 64);  // BAD
}
KERNEL(dump_local_bad) {
    LocalTensor<float> a = Ub(0, 64);
    a.SetSize(72);
    DumpTensor(a, 1, 72);  // BAD
}
KERNEL(dump_global_bad) { DumpTensor(Gm(x, 1024), 1, 1025); }  // BAD
KERNEL(ub_scalar_ok) { Ub(0, 8).SetValue(7, 1.0f); }
KERNEL(ub_scalar_bad) { Ub(0, 8).SetValue(8, 1.0f); }  // BAD
KERNEL(ub_offset_bad) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a[72], 0.0f, 8);  // BAD
}
KERNEL(gm_bounds_ok) { DataCopy(Ub(0, 64), Gm(x, 1024)[960], 64); }
KERNEL(gm_bounds_bad) { DataCopy(Ub(0, 64), Gm(x, 1024)[961], 64); }  // BAD
KERNEL(gm_argument_bad) { DataCopy(Ub(0, 64), Gm(x, 4096)[1024 - 56], 64); }  // BAD
KERNEL(gm_unsized_ok) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    DataCopy(Ub(0, 64), g[960], 64);
}
KERNEL(gm_unsized_bad) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    DataCopy(Ub(0, 64), g[968], 64);  // BAD
}
KERNEL(gm_store_bad) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a, 0.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopyPad(Gm(y, 60), a, DataCopyExtParams(1, 244, 0, 0, 0));  // BAD
}
KERNEL(gm_store_ok) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a, 0.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopyPad(Gm(y, 60), a, DataCopyExtParams(1, 240, 0, 0, 0));
}
KERNEL(gm_scalar_bad) { Gm(y, 10).SetValue(10, 0.0f); }  // BAD

KERNEL(align_ok) { Duplicate(Ub(0, 64)[8], 0.0f, 8); }
KERNEL(align_bad) { Duplicate(Ub(0, 64)[4], 0.0f, 8); }  // BAD
KERNEL(align_count_ok) { DataCopy(Ub(0, 64), Gm(x, 1024)[1], 56); }
KERNEL(align_count_bad) { DataCopy(Ub(0, 64), Gm(x, 1024), 57); }  // BAD
KERNEL(align_address_bad) { LocalTensor<float> a(TPosition::VECCALC, 16, 64); }  // BAD
KERNEL(align_compare_bad) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a, 0.0f, 64);
    PipeBarrier<PIPE_V>();
    Compare(Ub(512, 64).ReinterpretCast<uint8_t>(), a, a, CMPMODE::EQ, 63);  // BAD
}

KERNEL(overlap_same_ok) {
    LocalTensor<float> a = Ub(0, 128);
    Duplicate(a, 1.0f, 128);
    PipeBarrier<PIPE_V>();
    Exp(a, a, 128);
}
KERNEL(overlap_partial_bad) {
    LocalTensor<float> a = Ub(0, 128);
    Duplicate(a, 1.0f, 128);
    PipeBarrier<PIPE_V>();
    Exp(a[8], a, 64);  // BAD
}
KERNEL(overlap_disjoint_ok) {
    LocalTensor<float> a = Ub(0, 128);
    Duplicate(a, 1.0f, 128);
    PipeBarrier<PIPE_V>();
    Exp(a[64], a, 64);
}
KERNEL(overlap_later_repeat_bad) {
    LocalTensor<float> a = Ub(0, 256);
    Duplicate(a, 1.0f, 256);
    PipeBarrier<PIPE_V>();
    Exp(a[64], a, 64, 2, UnaryRepeatParams(1, 1, 8, 8));  // BAD
}
KERNEL(overlap_earlier_repeat_ok) {
    LocalTensor<float> a = Ub(0, 256);
    Duplicate(a, 1.0f, 256);
    PipeBarrier<PIPE_V>();
    Exp(a, a[64], 64, 2, UnaryRepeatParams(1, 1, 8, 8));
}
KERNEL(overlap_accumulate_ok) {
    LocalTensor<float> a = Ub(0, 256);
    Duplicate(a, 1.0f, 256);
    PipeBarrier<PIPE_V>();
    Add(a, a[64], a, 64, 3, BinaryRepeatParams(1, 1, 1, 0, 8, 0));
}
KERNEL(overlap_accumulate_div_bad) {
    LocalTensor<float> a = Ub(0, 256);
    Duplicate(a, 1.0f, 256);
    PipeBarrier<PIPE_V>();
    Div(a, a[64], a, 64, 3, BinaryRepeatParams(1, 1, 1, 0, 8, 0));  // BAD
}
KERNEL(overlap_widening_bad) {
    LocalTensor<float> a = Ub(0, 128);
    Duplicate(a, 1.0f, 128);
    PipeBarrier<PIPE_V>();
    Cast(a, a.ReinterpretCast<half>(), RoundMode::CAST_NONE, 128);  // BAD
}

KERNEL(mask_ok) { Duplicate(Ub(0, 64), 0.0f, 64, 1, 1, 8); }
KERNEL(mask_bad) { Duplicate(Ub(0, 64), 0.0f, 65, 1, 1, 8); }  // BAD
KERNEL(mask_bits_bad) {
    uint64_t mask[2] = {1, 1};
    Duplicate(Ub(0, 64), 0.0f, mask, 1, 1, 8);  // BAD
}
KERNEL(repeat_ok) {
    LocalTensor<float> a = Ub(0, 255 * 64);
    Duplicate(a, 0.0f, 255 * 64);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(Ub(98304, 256), a, 64, 255, 1, 1, 8);
}
KERNEL(repeat_bad) {
    LocalTensor<float> a = Ub(0, 256 * 64);
    Duplicate(a, 0.0f, 256 * 64);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(Ub(98304, 256), a, 64, 256, 1, 1, 8);  // BAD
}
KERNEL(dst_stride_bad) { Duplicate(Ub(0, 64), 0.0f, 64, 1, 0, 8); }  // BAD
KERNEL(block_count_ok) { DataCopyPad(Ub(0, 32760), Gm(x, 1024), DataCopyExtParams(4095, 0, 0, 0, 0), {false, 0, 0, 0}); }
KERNEL(block_count_bad) { DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(4096, 4, 0, 0, 0), {false, 0, 0, 0}); }  // BAD
KERNEL(block_len_bad) { DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(1, 2097152, 0, 0, 0), {false, 0, 0, 0}); }  // BAD
KERNEL(block_len_odd_bad) { DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(1, 6, 0, 0, 0), {false, 0, 0, 0}); }  // BAD
KERNEL(padding_ok) { DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(1, 32, 0, 0, 0), {true, 8, 8, 1.0f}); }
KERNEL(padding_bad) { DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(1, 32, 0, 0, 0), {true, 0, 9, 1.0f}); }  // BAD
KERNEL(rounding_ok) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Cast(Ub(512, 64).ReinterpretCast<int32_t>(), a, RoundMode::CAST_RINT, 64);
}
KERNEL(rounding_bad) {
    LocalTensor<float> a = Ub(0, 64);
    Duplicate(a, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Cast(Ub(512, 64).ReinterpretCast<int32_t>(), a, RoundMode::CAST_NONE, 64);  // BAD
}
KERNEL(compare_int_bad) {
    LocalTensor<int32_t> a = Ub(0, 64).ReinterpretCast<int32_t>();
    Duplicate(a, 1, 64);
    PipeBarrier<PIPE_V>();
    Compare(Ub(512, 64).ReinterpretCast<uint8_t>(), a, a, CMPMODE::LT, 64);  // BAD
}
KERNEL(event_id_ok) {
    SetFlag<HardEvent::V_MTE3>(7);
    WaitFlag<HardEvent::V_MTE3>(7);
}
KERNEL(event_id_bad) { SetFlag<HardEvent::V_MTE3>(8); }  // BAD
KERNEL(gather_bad) {
    LocalTensor<float> a = Ub(0, 64);
    LocalTensor<uint32_t> at = Ub(512, 64).ReinterpretCast<uint32_t>();
    Duplicate(a, 1.0f, 64);
    Duplicate(at, static_cast<uint32_t>(256), 64);
    PipeBarrier<PIPE_V>();
    Gather(Ub(1024, 64), a, at, 0, 64);  // BAD
}
KERNEL(gather_ok) {
    LocalTensor<float> a = Ub(0, 64);
    LocalTensor<uint32_t> at = Ub(512, 64).ReinterpretCast<uint32_t>();
    Duplicate(a, 1.0f, 64);
    Duplicate(at, static_cast<uint32_t>(252), 64);
    PipeBarrier<PIPE_V>();
    Gather(Ub(1024, 64), a, at, 0, 64);
}

KERNEL(uninitialised_bad) { Abs(Ub(512, 64), Ub(0, 64), 64); }  // BAD
KERNEL(uninitialised_tail_bad) {
    Duplicate(Ub(0, 64), 1.0f, 56);
    PipeBarrier<PIPE_V>();
    Abs(Ub(512, 64), Ub(0, 64), 57);  // BAD
}
KERNEL(uninitialised_tail_ok) {
    Duplicate(Ub(0, 64), 1.0f, 56);
    PipeBarrier<PIPE_V>();
    Abs(Ub(512, 64), Ub(0, 64), 56);
}
KERNEL(uninitialised_alloc_bad) {  // a buffer holds nothing again after AllocTensor
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 256);
    LocalTensor<float> a = out.AllocTensor<float>();
    Duplicate(a, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    out.FreeTensor(a);
    a = out.AllocTensor<float>();
    Adds(a, a, 1.0f, 64);  // BAD
    out.FreeTensor(a);
}
KERNEL(uninitialised_store_bad) { DataCopy(Gm(y, 64), Ub(0, 64), 64); }  // BAD
KERNEL(assertion_ok) { assert(GetBlockIdx() == 0); }
KERNEL(assertion_bad) { assert(GetBlockNum() == 2, "blocks: %d", int(GetBlockNum())); }  // BAD

#if __NPU_ARCH__ == 3510
KERNEL(load_repeats_block_ok) {  // 350: strides have a sign, and a load may read its block again
    DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(4, 64, -64, 0, 0), {false, 0, 0, 0.0f});
}
KERNEL(load_stride_bad) {
    DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(4, 64, -96, 0, 0), {false, 0, 0, 0.0f});  // BAD
}
KERNEL(load_local_stride_bad) {
    DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(2, 128, 0, -6, 0), {false, 0, 0, 0.0f});  // BAD
}
KERNEL(load_huge_stride_bad) {
    DataCopyPad(Ub(0, 64), Gm(x, 1024), DataCopyExtParams(2, 64, int64_t(1) << 62, 0, 0), {false, 0, 0, 0.0f});  // BAD
}
KERNEL(store_stride_bad) {
    Duplicate(Ub(0, 64), 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(Gm(y, 1024)[512], Ub(0, 64), DataCopyExtParams(2, 128, 0, -192, 0));  // BAD
}
KERNEL(dimension_size_bad) {
    MultiCopyParams<float, 2> p;
    p.loopInfo.loopSize[0] = 1u << 20;
    p.loopInfo.loopSize[1] = 1;
    DataCopy<float, 2>(Ub(0, 64), Gm(x, 1024), p);  // BAD
}
#endif
