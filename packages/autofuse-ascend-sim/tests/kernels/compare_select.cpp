// y = x > limit ? 2 x : z. Compare works on whole 256-byte repeats, so the buffers are rounded up to them and the rest
// is filled; the select bits are consumed one per element.
#include "kernel_operator.h"
using namespace AscendC;

struct SelectTiling {
    uint32_t count;
    uint32_t tile;
    float limit;
};

template <typename T> __aicore__ inline void SelectAbove(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(SelectTiling, data, tiling);
    constexpr uint32_t lanes = 256 / sizeof(T);
    GlobalTensor<T> xGm, zGm, yGm;
    xGm.SetGlobalBuffer((__gm__ T*)x, data.count);
    zGm.SetGlobalBuffer((__gm__ T*)z, data.count);
    yGm.SetGlobalBuffer((__gm__ T*)y, data.count);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> xQueue, zQueue;
    TQue<TPosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> doubledBuffer, bitsBuffer;
    pipe.InitBuffer(xQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(zQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(yQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(doubledBuffer, data.tile * sizeof(T));
    pipe.InitBuffer(bitsBuffer, (data.tile / 8 + 31) / 32 * 32);
    LocalTensor<T> doubled = doubledBuffer.Get<T>();
    LocalTensor<uint8_t> bits = bitsBuffer.Get<uint8_t>();

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        const uint32_t rounded = (n + lanes - 1) / lanes * lanes;
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};

        LocalTensor<T> xLocal = xQueue.AllocTensor<T>();
        LocalTensor<T> zLocal = zQueue.AllocTensor<T>();
        if (n != rounded) {
            Duplicate(xLocal, static_cast<T>(0.0f), static_cast<int32_t>(rounded));
            Duplicate(zLocal, static_cast<T>(0.0f), static_cast<int32_t>(rounded));
            const int32_t event = GetTPipePtr()->FetchEventID(HardEvent::V_MTE2);
            SetFlag<HardEvent::V_MTE2>(event);
            WaitFlag<HardEvent::V_MTE2>(event);
        }
        DataCopyPad(xLocal, xGm[start], copy, pad);
        DataCopyPad(zLocal, zGm[start], copy, pad);
        xQueue.EnQue(xLocal);
        zQueue.EnQue(zLocal);

        xLocal = xQueue.DeQue<T>();
        zLocal = zQueue.DeQue<T>();
        LocalTensor<T> yLocal = yQueue.AllocTensor<T>();
        CompareScalar(bits, xLocal, static_cast<T>(data.limit), CMPMODE::GT, rounded);
        Muls(doubled, xLocal, static_cast<T>(2.0f), static_cast<int32_t>(n));
        PipeBarrier<PIPE_V>();
        Select(yLocal, bits, doubled, zLocal, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        xQueue.FreeTensor(xLocal);
        zQueue.FreeTensor(zLocal);
        yQueue.EnQue(yLocal);

        yLocal = yQueue.DeQue<T>();
        DataCopyPad(yGm[start], yLocal, copy);
        yQueue.FreeTensor(yLocal);
    }
}

extern "C" __global__ __aicore__ void select_above_float32(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    SelectAbove<float>(x, z, y, tiling);
}
extern "C" __global__ __aicore__ void select_above_float16(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    SelectAbove<half>(x, z, y, tiling);
}
