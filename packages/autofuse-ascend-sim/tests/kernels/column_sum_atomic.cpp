// Sum over rows, one row chunk per block, added into the same output by copies with atomic addition.
#include "kernel_operator.h"
using namespace AscendC;

struct ColumnSumTiling {
    uint32_t rows;
    uint32_t cols;
};

template <typename T> __aicore__ inline void ColumnSum(GM_ADDR x, GM_ADDR y, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(ColumnSumTiling, data, tiling);
    const int32_t n = static_cast<int32_t>(data.cols);
    const uint32_t bytes = (data.cols * sizeof(T) + 31) / 32 * 32;
    GlobalTensor<T> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ T*)x, static_cast<uint64_t>(data.rows) * data.cols);
    yGm.SetGlobalBuffer((__gm__ T*)y, data.cols);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    pipe.InitBuffer(inQueue, 2, bytes);
    pipe.InitBuffer(outQueue, 1, bytes);

    DataCopyExtParams copy{1, static_cast<uint32_t>(data.cols * sizeof(T)), 0, 0, 0};
    DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
    LocalTensor<T> sum = outQueue.AllocTensor<T>();
    Duplicate(sum, static_cast<T>(0), n);
    for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()); row < data.rows; row += static_cast<uint32_t>(GetBlockNum())) {
        LocalTensor<T> in = inQueue.AllocTensor<T>();
        DataCopyPad(in, xGm[static_cast<uint64_t>(row) * data.cols], copy, pad);
        inQueue.EnQue(in);
        in = inQueue.DeQue<T>();
        PipeBarrier<PIPE_V>();
        Add(sum, sum, in, n);
        inQueue.FreeTensor(in);
    }
    outQueue.EnQue(sum);
    sum = outQueue.DeQue<T>();
    SetAtomicAdd<T>();
    DataCopyPad(yGm, sum, copy);
    SetAtomicNone();
    outQueue.FreeTensor(sum);
}

extern "C" __global__ __aicore__ void column_sum_float32(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    ColumnSum<float>(x, y, tiling);
}
extern "C" __global__ __aicore__ void column_sum_int32(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    ColumnSum<int32_t>(x, y, tiling);
}
