// z = x * y for any length: full tiles and a tail go through DataCopyPad, whose lengths are bytes. Blocks past the end
// do nothing.
#include "kernel_operator.h"
using namespace AscendC;

struct MulTiling {
    uint64_t total;
    uint32_t perBlock;
    uint32_t tile;
};
REGISTER_TILING_DEFAULT(MulTiling);

template <typename T> __aicore__ inline void MulTail(GM_ADDR x, GM_ADDR y, GM_ADDR z, const MulTiling& data)
{
    const uint64_t start = static_cast<uint64_t>(GetBlockIdx()) * data.perBlock;
    if (start >= data.total) {
        return;
    }
    const uint64_t rest = data.total - start;
    const uint32_t length = rest < data.perBlock ? static_cast<uint32_t>(rest) : data.perBlock;

    GlobalTensor<T> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ T*)x + start, length);
    yGm.SetGlobalBuffer((__gm__ T*)y + start, length);
    zGm.SetGlobalBuffer((__gm__ T*)z + start, length);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> xQueue;
    TQue<TPosition::VECIN, 1> yQueue;
    TQue<TPosition::VECOUT, 1> zQueue;
    pipe.InitBuffer(xQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(yQueue, 2, data.tile * sizeof(T));
    pipe.InitBuffer(zQueue, 2, data.tile * sizeof(T));

    for (uint32_t offset = 0; offset < length; offset += data.tile) {
        const uint32_t n = length - offset < data.tile ? length - offset : data.tile;
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};

        LocalTensor<T> a = xQueue.AllocTensor<T>();
        DataCopyPad(a, xGm[offset], copy, pad);
        xQueue.EnQue(a);
        LocalTensor<T> b = yQueue.AllocTensor<T>();
        DataCopyPad(b, yGm[offset], copy, pad);
        yQueue.EnQue(b);

        a = xQueue.DeQue<T>();
        b = yQueue.DeQue<T>();
        LocalTensor<T> c = zQueue.AllocTensor<T>();
        Mul(c, a, b, static_cast<int32_t>(n));
        xQueue.FreeTensor(a);
        yQueue.FreeTensor(b);
        zQueue.EnQue(c);

        c = zQueue.DeQue<T>();
        DataCopyPad(zGm[offset], c, copy);
        zQueue.FreeTensor(c);
    }
}

extern "C" __global__ __aicore__ void mul_float32(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    MulTail<float>(x, y, z, data);
}
extern "C" __global__ __aicore__ void mul_float16(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    MulTail<half>(x, y, z, data);
}
extern "C" __global__ __aicore__ void mul_int32(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    MulTail<int32_t>(x, y, z, data);
}
