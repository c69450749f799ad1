// Whole-tensor operators, each result at its own place in y.
#include "kernel_operator.h"
using namespace AscendC;

static __aicore__ void Out(const GlobalTensor<float>& to, const LocalTensor<float>& from) {
    PipeBarrier<PIPE_ALL>();
    DataCopy(to, from, 64);
    PipeBarrier<PIPE_ALL>();
}

extern "C" __global__ __aicore__ void operators(GM_ADDR x, GM_ADDR y, GM_ADDR bits) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<float> in, out;
    GlobalTensor<uint8_t> outBits;
    in.SetGlobalBuffer((__gm__ float*)x, 128);
    out.SetGlobalBuffer((__gm__ float*)y, 256);
    outBits.SetGlobalBuffer((__gm__ uint8_t*)bits, 192);
    LocalTensor<float> a(TPosition::VECCALC, 0, 64), b(TPosition::VECCALC, 256, 64), c(TPosition::VECCALC, 512, 64);
    LocalTensor<uint8_t> m(TPosition::VECCALC, 1024, 32);
    DataCopy(a, in, 64);
    DataCopy(b, in[64], 64);
    PipeBarrier<PIPE_ALL>();
    c = a + b;
    Out(out, c);
    c = a - b;
    Out(out[64], c);
    c = a * b;
    Out(out[128], c);
    c = a / b;
    Out(out[192], c);
    m = a < b;
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(outBits, m, DataCopyExtParams(1, 8, 0, 0, 0));
    PipeBarrier<PIPE_ALL>();
    m = a >= b;
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(outBits[8], m, DataCopyExtParams(1, 8, 0, 0, 0));
}

extern "C" __global__ __aicore__ void unordered(GM_ADDR x) {
    LocalTensor<float> a(TPosition::VECCALC, 0, 64), c(TPosition::VECCALC, 512, 64);
    Duplicate(a, 1.0f, 64);
    c = a + a;  // BAD
}
