// y[i] = table[index[i]]: the table stays in the unified buffer, indices become byte offsets by a shift.
#include "kernel_operator.h"
using namespace AscendC;

struct GatherTiling {
    uint32_t tableLength;
    uint32_t count;
    uint32_t tile;
};

template <typename T, uint32_t shift>
__aicore__ inline void GatherFrom(GM_ADDR table, GM_ADDR index, GM_ADDR y, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(GatherTiling, data, tiling);
    GlobalTensor<T> tableGm, yGm;
    GlobalTensor<int32_t> indexGm;
    tableGm.SetGlobalBuffer((__gm__ T*)table, data.tableLength);
    indexGm.SetGlobalBuffer((__gm__ int32_t*)index, data.count);
    yGm.SetGlobalBuffer((__gm__ T*)y, data.count);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> tableQueue, indexQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> offsetBuffer;
    pipe.InitBuffer(tableQueue, 1, (data.tableLength * sizeof(T) + 31) / 32 * 32);
    pipe.InitBuffer(indexQueue, 2, data.tile * sizeof(int32_t));
    pipe.InitBuffer(outQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(offsetBuffer, data.tile * sizeof(int32_t));

    LocalTensor<T> tableLocal = tableQueue.AllocTensor<T>();
    DataCopyExtParams whole{1, static_cast<uint32_t>(data.tableLength * sizeof(T)), 0, 0, 0};
    DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
    DataCopyPad(tableLocal, tableGm, whole, pad);
    tableQueue.EnQue(tableLocal);
    tableLocal = tableQueue.DeQue<T>();
    LocalTensor<int32_t> offsets = offsetBuffer.Get<int32_t>();

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        LocalTensor<int32_t> indexLocal = indexQueue.AllocTensor<int32_t>();
        DataCopyExtParams in{1, static_cast<uint32_t>(n * sizeof(int32_t)), 0, 0, 0};
        DataCopyPadExtParams<int32_t> zero{false, 0, 0, 0};
        DataCopyPad(indexLocal, indexGm[start], in, zero);
        indexQueue.EnQue(indexLocal);

        indexLocal = indexQueue.DeQue<int32_t>();
        LocalTensor<T> out = outQueue.AllocTensor<T>();
        ShiftLeft(offsets, indexLocal, static_cast<int32_t>(shift), static_cast<int32_t>(n));
        indexQueue.FreeTensor(indexLocal);
        PipeBarrier<PIPE_V>();
        Gather(out, tableLocal, offsets.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0), n);
        outQueue.EnQue(out);

        out = outQueue.DeQue<T>();
        DataCopyExtParams back{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[start], out, back);
        outQueue.FreeTensor(out);
    }
    tableQueue.FreeTensor(tableLocal);
}

extern "C" __global__ __aicore__ void gather_float32(GM_ADDR table, GM_ADDR index, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GatherFrom<float, 2>(table, index, y, tiling);
}
extern "C" __global__ __aicore__ void gather_float16(GM_ADDR table, GM_ADDR index, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GatherFrom<half, 1>(table, index, y, tiling);
}
