// y[r, c] = relu(x[r, c] + bias[c]): the bias is read again for every row by a repeat stride of zero. Columns are taken
// 64 (float) or 128 (half) at a time; a row must fill whole 32-byte blocks.
#include "kernel_operator.h"
using namespace AscendC;

struct BiasTiling {
    uint32_t rows;
    uint32_t cols;
    uint32_t rowsPerTile;
};

template <typename T>
__aicore__ inline void AddBias(const LocalTensor<T>& y, const LocalTensor<T>& x, const LocalTensor<T>& bias,
                               uint32_t rows, uint32_t cols)
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    const uint8_t blocksPerRow = static_cast<uint8_t>(cols * sizeof(T) / 32);
    BinaryRepeatParams strides(1, 1, 1, blocksPerRow, blocksPerRow, 0);
    for (uint32_t column = 0; column < cols; column += lanes) {
        const uint64_t mask = cols - column < lanes ? cols - column : lanes;
        Add(y[column], x[column], bias[column], mask, static_cast<uint8_t>(rows), strides);
    }
}

template <typename T> __aicore__ inline void BiasRelu(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(BiasTiling, data, tiling);
    const uint32_t rowsPerBlock = (data.rows + static_cast<uint32_t>(GetBlockNum()) - 1) / static_cast<uint32_t>(GetBlockNum());
    const uint32_t first = static_cast<uint32_t>(GetBlockIdx()) * rowsPerBlock;
    const uint32_t last = first + rowsPerBlock < data.rows ? first + rowsPerBlock : data.rows;
    const uint64_t size = static_cast<uint64_t>(data.rows) * data.cols;

    GlobalTensor<T> xGm, biasGm, yGm;
    xGm.SetGlobalBuffer((__gm__ T*)x, size);
    yGm.SetGlobalBuffer((__gm__ T*)y, size);
    biasGm.SetGlobalBuffer((__gm__ T*)bias, data.cols);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> biasQueue, xQueue;
    TQue<TPosition::VECOUT, 1> yQueue;
    pipe.InitBuffer(biasQueue, 1, data.cols * sizeof(T));
    pipe.InitBuffer(xQueue, 2, data.rowsPerTile * data.cols * sizeof(T));
    pipe.InitBuffer(yQueue, 2, data.rowsPerTile * data.cols * sizeof(T));

    LocalTensor<T> biasLocal = biasQueue.AllocTensor<T>();
    DataCopy(biasLocal, biasGm, data.cols);
    biasQueue.EnQue(biasLocal);
    biasLocal = biasQueue.DeQue<T>();
    for (uint32_t row = first; row < last; row += data.rowsPerTile) {
        const uint32_t rows = last - row < data.rowsPerTile ? last - row : data.rowsPerTile;
        const uint32_t count = rows * data.cols;
        LocalTensor<T> xLocal = xQueue.AllocTensor<T>();
        DataCopy(xLocal, xGm[static_cast<uint64_t>(row) * data.cols], count);
        xQueue.EnQue(xLocal);

        xLocal = xQueue.DeQue<T>();
        LocalTensor<T> yLocal = yQueue.AllocTensor<T>();
        AddBias(yLocal, xLocal, biasLocal, rows, data.cols);
        PipeBarrier<PIPE_V>();
        Relu(yLocal, yLocal, static_cast<int32_t>(count));
        xQueue.FreeTensor(xLocal);
        yQueue.EnQue(yLocal);

        yLocal = yQueue.DeQue<T>();
        DataCopy(yGm[static_cast<uint64_t>(row) * data.cols], yLocal, count);
        yQueue.FreeTensor(yLocal);
    }
    biasQueue.FreeTensor(biasLocal);
}

extern "C" __global__ __aicore__ void bias_relu_float32(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    BiasRelu<float>(x, bias, y, tiling);
}
extern "C" __global__ __aicore__ void bias_relu_float16(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    BiasRelu<half>(x, bias, y, tiling);
}
