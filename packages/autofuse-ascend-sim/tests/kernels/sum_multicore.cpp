// Sum of a vector over all blocks: each block leaves a partial sum in the workspace, all wait, block 0 adds them up.
#include "kernel_operator.h"
using namespace AscendC;

struct SumTiling {
    uint32_t count;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sum_multicore(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GET_TILING_DATA_WITH_STRUCT(SumTiling, data, tiling);
    constexpr uint32_t slot = 8;  // one 32-byte block per partial sum, so that blocks never share a line
    const uint32_t blocks = static_cast<uint32_t>(GetBlockNum());
    const uint32_t block = static_cast<uint32_t>(GetBlockIdx());
    GlobalTensor<float> xGm, yGm, partialGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ float*)y, 1);
    partialGm.SetGlobalBuffer((__gm__ float*)GetUserWorkspace(workspace), blocks * slot);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> workBuffer, tileSumBuffer;
    pipe.InitBuffer(inQueue, 2, data.tile * sizeof(float));
    pipe.InitBuffer(outQueue, 1, 32);
    pipe.InitBuffer(workBuffer, data.tile * sizeof(float));
    pipe.InitBuffer(tileSumBuffer, 32);
    LocalTensor<float> work = workBuffer.Get<float>();
    LocalTensor<float> tileSum = tileSumBuffer.Get<float>();

    LocalTensor<float> total = outQueue.AllocTensor<float>();
    Duplicate(total, 0.0f, static_cast<int32_t>(slot));
    for (uint32_t start = block * data.tile; start < data.count; start += blocks * data.tile) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        LocalTensor<float> in = inQueue.AllocTensor<float>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        DataCopyPad(in, xGm[start], copy, pad);
        inQueue.EnQue(in);
        in = inQueue.DeQue<float>();
        ReduceSum(tileSum, in, work, static_cast<int32_t>(n));
        PipeBarrier<PIPE_V>();
        Add(total, total, tileSum, 1);
        inQueue.FreeTensor(in);
    }
    outQueue.EnQue(total);
    total = outQueue.DeQue<float>();
    DataCopy(partialGm[block * slot], total, slot);
    outQueue.FreeTensor(total);
    SyncAll();

    if (block != 0) {
        return;
    }
    LocalTensor<float> partial = inQueue.AllocTensor<float>();
    DataCopy(partial, partialGm, blocks * slot);
    inQueue.EnQue(partial);
    partial = inQueue.DeQue<float>();
    total = outQueue.AllocTensor<float>();
    // One value per repeat: the first element of each slot.
    WholeReduceSum(work, partial, 1, static_cast<int32_t>(blocks), 1, 1, 1);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(total, work, static_cast<int32_t>(blocks), 1, 1, 1, 8);
    inQueue.FreeTensor(partial);
    outQueue.EnQue(total);
    total = outQueue.DeQue<float>();
    DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    DataCopyPad(yGm, total, one);
    outQueue.FreeTensor(total);
}
