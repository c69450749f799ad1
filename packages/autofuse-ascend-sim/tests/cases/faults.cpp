// Kernels that go wrong outside of any rule.
#include <cstdlib>

#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void hangs(GM_ADDR x) {
    volatile int forever = 1;
    while (forever) {
        GetBlockIdx();  // HANG
    }
}

extern "C" __global__ __aicore__ void hangs_in_block_2(GM_ADDR x) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x, 8);
    while (GetBlockIdx() == 2) {
        g.GetValue(0);  // HANG
    }
}

extern "C" __global__ __aicore__ void crashes(GM_ADDR x) {
    LocalTensor<float> a(TPosition::VECCALC, 0, 64);
    Duplicate(a, 0.0f, 64);
    volatile int* volatile nowhere = nullptr;
    if (GetBlockIdx() == 1) {
        *nowhere = 1;  // CRASH
    }
}

extern "C" __global__ __aicore__ void overruns(GM_ADDR x) {
    volatile uint8_t* bytes = x;
    for (uint64_t i = 0; i < 1 << 20; ++i) bytes[i] = 1;
}

extern "C" __global__ __aicore__ void prints(GM_ADDR x) {
    AscendC::printf("block %d of %d: %s\n", int(GetBlockIdx()), int(GetBlockNum()), "hello");
    LocalTensor<int32_t> a(TPosition::VECCALC, 0, 64);
    Duplicate(a, 7, 64);
    DumpTensor(a, 5, 2);
    AscendC::printf("half %.2f", half(0.25f));
}

extern "C" __global__ __aicore__ void counts(GM_ADDR out, int64_t step, uint32_t times) {
    GlobalTensor<int64_t> g;
    g.SetGlobalBuffer((__gm__ int64_t*)out, 1);
    g.SetValue(0, step * times);
}

extern "C" __global__ __aicore__ void keyed(GM_ADDR out) {
    GlobalTensor<int32_t> g;
    g.SetGlobalBuffer((__gm__ int32_t*)out, 1);
    if (TILING_KEY_IS(3)) {
        g.SetValue(0, 33);
    } else if (TILING_KEY_IS(4)) {
        g.SetValue(0, 44);
    }
}

extern "C" __global__ __aicore__ void syncs(GM_ADDR out) { SyncAll(); }

extern "C" __global__ __aicore__ void uses_workspace(GM_ADDR out, GM_ADDR workspace) {
    GlobalTensor<int32_t> g, w;
    g.SetGlobalBuffer((__gm__ int32_t*)out, 1);
    w.SetGlobalBuffer((__gm__ int32_t*)GetUserWorkspace(workspace), 64);
    w.SetValue(63, 5);
    g.SetValue(0, w.GetValue(63) + w.GetValue(0));
}

extern "C" __global__ __aicore__ void sums_in_order(GM_ADDR out) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)out, 8);
    LocalTensor<float> a(TPosition::VECCALC, 0, 8);
    Duplicate(a, GetBlockIdx() == 0 ? 1e8f : GetBlockIdx() == 1 ? 1.0f : -1e8f, 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    SetAtomicAdd<float>();
    DataCopy(g, a, 8);
    SetAtomicNone();
}

extern "C" __global__ __aicore__ void exits(GM_ADDR x) {
    if (GetBlockIdx() == 1) {
        exit(0);  // EXIT
    }
}

extern "C" __global__ __aicore__ void jumps(GM_ADDR x) {
    using Function = void (*)();
    volatile uintptr_t nowhere = 16;
    reinterpret_cast<Function>(nowhere)();  // JUMP
    GetBlockIdx();
}

static int Deeper(volatile int* outer, int depth) {
    volatile int here[64];
    here[0] = depth;
    return depth < 0 ? 0 : Deeper(here, depth + 1) + here[0] + *outer;  // DEEPER
}
extern "C" __global__ __aicore__ void recurses(GM_ADDR x) {
    volatile int start = 0;
    *reinterpret_cast<volatile int*>(x) = Deeper(&start, 1);
}

extern "C" __global__ __aicore__ void prints_without_end(GM_ADDR x) {
    for (uint32_t i = 0; i < 100000; ++i) AscendC::printf("line %u of many that nobody will read\n", i);
}
