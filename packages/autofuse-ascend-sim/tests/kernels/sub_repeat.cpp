// z = x - y in the repeat form: whole repeats first, then one repeat under a shorter mask. The length is at most 255
// repeats a tile, which is what an 8-bit repeat count can say.
#include "kernel_operator.h"
using namespace AscendC;

struct SubTiling {
    uint32_t count;
    uint32_t tile;
};

template <typename T> __aicore__ inline void SubRepeat(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(SubTiling, data, tiling);
    constexpr uint32_t lanes = 256 / sizeof(T);
    GlobalTensor<T> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ T*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ T*)y, data.count);
    zGm.SetGlobalBuffer((__gm__ T*)z, data.count);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queueX, queueY;
    TQue<TPosition::VECOUT, 1> queueZ;
    pipe.InitBuffer(queueX, 2, data.tile * sizeof(T));
    pipe.InitBuffer(queueY, 2, data.tile * sizeof(T));
    pipe.InitBuffer(queueZ, 2, data.tile * sizeof(T));

    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
        LocalTensor<T> a = queueX.AllocTensor<T>();
        LocalTensor<T> b = queueY.AllocTensor<T>();
        DataCopyPad(a, xGm[start], copy, pad);
        DataCopyPad(b, yGm[start], copy, pad);
        queueX.EnQue(a);
        queueY.EnQue(b);
        a = queueX.DeQue<T>();
        b = queueY.DeQue<T>();
        LocalTensor<T> c = queueZ.AllocTensor<T>();
        const uint8_t repeats = static_cast<uint8_t>(n / lanes);
        const uint64_t rest = n % lanes;
        if (repeats > 0) {
            Sub(c, a, b, static_cast<uint64_t>(lanes), repeats, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        }
        if (rest > 0) {
            const uint32_t done = repeats * lanes;
            Sub(c[done], a[done], b[done], rest, 1, BinaryRepeatParams());
        }
        queueX.FreeTensor(a);
        queueY.FreeTensor(b);
        queueZ.EnQue(c);
        c = queueZ.DeQue<T>();
        DataCopyPad(zGm[start], c, copy);
        queueZ.FreeTensor(c);
    }
}

extern "C" __global__ __aicore__ void sub_repeat_float32(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    SubRepeat<float>(x, y, z, tiling);
}
extern "C" __global__ __aicore__ void sub_repeat_float16(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    SubRepeat<half>(x, y, z, tiling);
}
extern "C" __global__ __aicore__ void sub_repeat_int16(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    SubRepeat<int16_t>(x, y, z, tiling);
}
