// Copies a window of columns of a matrix through a queue that binds input and output: no vector work at all.
// Block counts and gaps of DataCopy are in 32-byte blocks on both sides.
#include "kernel_operator.h"
using namespace AscendC;

struct WindowTiling {
    uint32_t rows;
    uint32_t cols;
    uint32_t firstColumn;
    uint32_t width;
    uint32_t rowsPerTile;
};

template <typename T> __aicore__ inline void CopyWindow(GM_ADDR x, GM_ADDR y, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(WindowTiling, data, tiling);
    constexpr uint32_t perBlock = 32 / sizeof(T);
    GlobalTensor<T> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ T*)x, static_cast<uint64_t>(data.rows) * data.cols);
    yGm.SetGlobalBuffer((__gm__ T*)y, static_cast<uint64_t>(data.rows) * data.width);

    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, data.rowsPerTile * data.width * sizeof(T));
    const uint32_t step = data.rowsPerTile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()) * data.rowsPerTile; row < data.rows; row += step) {
        const uint32_t rows = data.rows - row < data.rowsPerTile ? data.rows - row : data.rowsPerTile;
        DataCopyParams window;
        window.blockCount = static_cast<uint16_t>(rows);
        window.blockLen = static_cast<uint16_t>(data.width / perBlock);
        window.srcStride = static_cast<uint16_t>((data.cols - data.width) / perBlock);
        window.dstStride = 0;
        LocalTensor<T> local = queue.AllocTensor<T>();
        DataCopy(local, xGm[static_cast<uint64_t>(row) * data.cols + data.firstColumn], window);
        queue.EnQue(local);
        local = queue.DeQue<T>();
        DataCopy(yGm[static_cast<uint64_t>(row) * data.width], local, rows * data.width);
        queue.FreeTensor(local);
    }
}

extern "C" __global__ __aicore__ void copy_window_float32(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    CopyWindow<float>(x, y, tiling);
}
extern "C" __global__ __aicore__ void copy_window_int8(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    CopyWindow<int8_t>(x, y, tiling);
}
extern "C" __global__ __aicore__ void copy_window_int64(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    CopyWindow<int64_t>(x, y, tiling);
}
