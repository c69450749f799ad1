// Transposes a matrix of half values in tiles of 16 by 16; a tile is read and written with row strides in bytes.
#include "kernel_operator.h"
using namespace AscendC;

struct TransposeTiling {
    uint32_t rows;
    uint32_t cols;
};

extern "C" __global__ __aicore__ void transpose_tiles(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(TransposeTiling, data, tiling);
    constexpr uint32_t side = 16;
    constexpr uint32_t rowBytes = side * sizeof(half);
    GlobalTensor<half> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(data.rows) * data.cols);
    yGm.SetGlobalBuffer((__gm__ half*)y, static_cast<uint64_t>(data.rows) * data.cols);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    pipe.InitBuffer(inQueue, 2, side * rowBytes);
    pipe.InitBuffer(outQueue, 2, side * rowBytes);

    const uint32_t across = data.cols / side;
    const uint32_t tiles = data.rows / side * across;
    for (uint32_t tile = static_cast<uint32_t>(GetBlockIdx()); tile < tiles; tile += static_cast<uint32_t>(GetBlockNum())) {
        const uint64_t row = tile / across * side;
        const uint64_t column = tile % across * side;
        DataCopyExtParams in{side, rowBytes, static_cast<uint32_t>((data.cols - side) * sizeof(half)), 0, 0};
        DataCopyPadExtParams<half> pad{false, 0, 0, static_cast<half>(0)};
        LocalTensor<half> source = inQueue.AllocTensor<half>();
        DataCopyPad(source, xGm[row * data.cols + column], in, pad);
        inQueue.EnQue(source);

        source = inQueue.DeQue<half>();
        LocalTensor<half> target = outQueue.AllocTensor<half>();
        Transpose(target, source);
        inQueue.FreeTensor(source);
        outQueue.EnQue(target);

        target = outQueue.DeQue<half>();
        DataCopyExtParams out{side, rowBytes, 0, static_cast<uint32_t>((data.rows - side) * sizeof(half)), 0};
        DataCopyPad(yGm[column * data.rows + row], target, out);
        outQueue.FreeTensor(target);
    }
}
