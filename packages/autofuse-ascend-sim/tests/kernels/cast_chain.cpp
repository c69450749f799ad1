// half -> float -> floor to int32 -> float -> bfloat16: a chain of conversions, each with its own rounding.
// A function of the buffers instead of a class; in-place casts are impossible, so the scratch has two halves.
#include "kernel_operator.h"
using namespace AscendC;

struct CastTiling {
    uint32_t count;
    uint32_t tile;
    float scale;
};

extern "C" __global__ __aicore__ void cast_chain(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(CastTiling, data, tiling);
    GlobalTensor<half> xGm;
    GlobalTensor<bfloat16_t> yGm;
    xGm.SetGlobalBuffer((__gm__ half*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ bfloat16_t*)y, data.count);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(inQueue, 2, data.tile * sizeof(half));
    pipe.InitBuffer(outQueue, 2, data.tile * sizeof(bfloat16_t));
    pipe.InitBuffer(scratch, 2 * data.tile * sizeof(float));
    LocalTensor<float> wide = scratch.Get<float>(data.tile);
    LocalTensor<int32_t> whole = scratch.GetWithOffset<int32_t>(data.tile, data.tile * sizeof(float));

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(half)), 0, 0, 0};
        DataCopyPadExtParams<half> pad{false, 0, 0, static_cast<half>(0)};
        LocalTensor<half> in = inQueue.AllocTensor<half>();
        DataCopyPad(in, xGm[start], copy, pad);
        inQueue.EnQue(in);

        in = inQueue.DeQue<half>();
        Cast(wide, in, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        inQueue.FreeTensor(in);
        Muls(wide, wide, data.scale, static_cast<int32_t>(n));
        PipeBarrier<PIPE_V>();
        Cast(whole, wide, RoundMode::CAST_FLOOR, n);
        PipeBarrier<PIPE_V>();
        Cast(wide, whole, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        LocalTensor<bfloat16_t> out = outQueue.AllocTensor<bfloat16_t>();
        Cast(out, wide, RoundMode::CAST_RINT, n);
        outQueue.EnQue(out);

        out = outQueue.DeQue<bfloat16_t>();
        DataCopyPad(yGm[start], out, copy);
        outQueue.FreeTensor(out);
    }
}
