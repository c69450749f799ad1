// y = mask ? x : value for a mask of bytes (as PyTorch stores bool): bytes become half, half becomes bits, bits select.
#include "kernel_operator.h"
using namespace AscendC;

struct WhereTiling {
    uint32_t count;
    uint32_t tile;  // a multiple of 128
    float value;
};

extern "C" __global__ __aicore__ void where_bytes(GM_ADDR mask, GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(WhereTiling, data, tiling);
    GlobalTensor<uint8_t> maskGm;
    GlobalTensor<half> xGm, yGm;
    maskGm.SetGlobalBuffer((__gm__ uint8_t*)mask, data.count);
    xGm.SetGlobalBuffer((__gm__ half*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ half*)y, data.count);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> maskQueue, xQueue;
    TQue<TPosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> wideBuffer, bitsBuffer;
    pipe.InitBuffer(maskQueue, 2, data.tile);
    pipe.InitBuffer(xQueue, 2, data.tile * sizeof(half));
    pipe.InitBuffer(yQueue, 2, data.tile * sizeof(half));
    pipe.InitBuffer(wideBuffer, data.tile * sizeof(half));
    pipe.InitBuffer(bitsBuffer, (data.tile / 8 + 31) / 32 * 32);
    LocalTensor<half> wide = wideBuffer.Get<half>();
    LocalTensor<uint8_t> bits = bitsBuffer.Get<uint8_t>();
    Duplicate(wide, static_cast<half>(0), static_cast<int32_t>(data.tile));

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        LocalTensor<uint8_t> maskLocal = maskQueue.AllocTensor<uint8_t>();
        LocalTensor<half> xLocal = xQueue.AllocTensor<half>();
        DataCopyExtParams bytes{1, n, 0, 0, 0};
        DataCopyExtParams halves{1, static_cast<uint32_t>(n * sizeof(half)), 0, 0, 0};
        DataCopyPad(maskLocal, maskGm[start], bytes, DataCopyPadExtParams<uint8_t>{false, 0, 0, 0});
        DataCopyPad(xLocal, xGm[start], halves, DataCopyPadExtParams<half>{false, 0, 0, static_cast<half>(0)});
        maskQueue.EnQue(maskLocal);
        xQueue.EnQue(xLocal);

        maskLocal = maskQueue.DeQue<uint8_t>();
        xLocal = xQueue.DeQue<half>();
        LocalTensor<half> yLocal = yQueue.AllocTensor<half>();
        Cast(wide, maskLocal, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        Compares(bits, wide, static_cast<half>(0), CMPMODE::NE, (n + 127) / 128 * 128);
        PipeBarrier<PIPE_V>();
        Select(yLocal, bits, xLocal, static_cast<half>(data.value), SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
        maskQueue.FreeTensor(maskLocal);
        xQueue.FreeTensor(xLocal);
        yQueue.EnQue(yLocal);

        yLocal = yQueue.DeQue<half>();
        DataCopyPad(yGm[start], yLocal, halves);
        yQueue.FreeTensor(yLocal);
    }
}
