// gelu(x) = x / 2 (1 + erf(x / sqrt 2)) with the high-level Erf and its temporary buffer.
#include "kernel_operator.h"
using namespace AscendC;

struct GeluTiling {
    uint32_t count;
    uint32_t tile;
    uint32_t temporaryBytes;
};

extern "C" __global__ __aicore__ void gelu_erf(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(GeluTiling, data, tiling);
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ float*)y, data.count);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> scaledBuffer, temporary;
    pipe.InitBuffer(inQueue, 2, data.tile * sizeof(float));
    pipe.InitBuffer(outQueue, 2, data.tile * sizeof(float));
    pipe.InitBuffer(scaledBuffer, data.tile * sizeof(float));
    pipe.InitBuffer(temporary, data.temporaryBytes);
    LocalTensor<float> scaled = scaledBuffer.Get<float>();

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        const int32_t count = static_cast<int32_t>(n);
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        LocalTensor<float> in = inQueue.AllocTensor<float>();
        DataCopyPad(in, xGm[start], copy, pad);
        inQueue.EnQue(in);
        in = inQueue.DeQue<float>();
        LocalTensor<float> out = outQueue.AllocTensor<float>();
        Muls(scaled, in, 0.70710678f, count);
        PipeBarrier<PIPE_V>();
        Erf(out, scaled, temporary.Get<uint8_t>(), n);
        PipeBarrier<PIPE_V>();
        Adds(out, out, 1.0f, count);
        PipeBarrier<PIPE_V>();
        Mul(out, out, in, count);
        PipeBarrier<PIPE_V>();
        Muls(out, out, 0.5f, count);
        inQueue.FreeTensor(in);
        outQueue.EnQue(out);
        out = outQueue.DeQue<float>();
        DataCopyPad(yGm[start], out, copy);
        outQueue.FreeTensor(out);
    }
}
