// q = clamp(round(x / scale), -128, 127) as int8: float cannot become int8 directly on A2, so it goes through half.
#include "kernel_operator.h"
using namespace AscendC;

struct QuantizeTiling {
    uint32_t count;
    uint32_t tile;
    float inverseScale;
};

extern "C" __global__ __aicore__ void quantize_int8(GM_ADDR x, GM_ADDR q, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GET_TILING_DATA_WITH_STRUCT(QuantizeTiling, data, tiling);
    GlobalTensor<float> xGm;
    GlobalTensor<int8_t> qGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, data.count);
    qGm.SetGlobalBuffer((__gm__ int8_t*)q, data.count);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> halfBuffer;
    pipe.InitBuffer(inQueue, 2, data.tile * sizeof(float));
    pipe.InitBuffer(outQueue, 2, data.tile * sizeof(int8_t));
    pipe.InitBuffer(halfBuffer, data.tile * sizeof(half));
    LocalTensor<half> narrow = halfBuffer.Get<half>();

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        const int32_t count = static_cast<int32_t>(n);
        LocalTensor<float> in = inQueue.AllocTensor<float>();
        DataCopyPad(in, xGm[start], DataCopyExtParams(1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0),
                    DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
        inQueue.EnQue(in);
        in = inQueue.DeQue<float>();
        Muls(in, in, data.inverseScale, count);
        PipeBarrier<PIPE_V>();
        Cast(in, in, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        Maxs(in, in, -128.0f, count);
        PipeBarrier<PIPE_V>();
        Mins(in, in, 127.0f, count);
        PipeBarrier<PIPE_V>();
        Cast(narrow, in, RoundMode::CAST_RINT, n);
        inQueue.FreeTensor(in);
        PipeBarrier<PIPE_V>();
        LocalTensor<int8_t> out = outQueue.AllocTensor<int8_t>();
        Cast(out, narrow, RoundMode::CAST_RINT, n);
        outQueue.EnQue(out);
        out = outQueue.DeQue<int8_t>();
        DataCopyPad(qGm[start], out, DataCopyExtParams(1, n, 0, 0, 0));
        outQueue.FreeTensor(out);
    }
}
