// z = x + y, the textbook kernel: three queues, two buffers each, so that copies overlap the addition.
// Every block takes an equal share; the share is a whole number of tiles.
#include "kernel_operator.h"
using namespace AscendC;

struct AddTiling {
    uint32_t perBlock;
    uint32_t tile;
};

template <typename T> class KernelAdd {
public:
    __aicore__ inline KernelAdd() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t perBlock, uint32_t tileLength)
    {
        tile = tileLength;
        loops = perBlock / tileLength;
        const uint64_t start = static_cast<uint64_t>(GetBlockIdx()) * perBlock;
        xGm.SetGlobalBuffer((__gm__ T*)x + start, perBlock);
        yGm.SetGlobalBuffer((__gm__ T*)y + start, perBlock);
        zGm.SetGlobalBuffer((__gm__ T*)z + start, perBlock);
        pipe.InitBuffer(inQueueX, 2, tile * sizeof(T));
        pipe.InitBuffer(inQueueY, 2, tile * sizeof(T));
        pipe.InitBuffer(outQueueZ, 2, tile * sizeof(T));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < loops; i++) {
            CopyIn(i);
            Compute(i);
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t progress)
    {
        LocalTensor<T> xLocal = inQueueX.template AllocTensor<T>();
        LocalTensor<T> yLocal = inQueueY.template AllocTensor<T>();
        DataCopy(xLocal, xGm[progress * tile], tile);
        DataCopy(yLocal, yGm[progress * tile], tile);
        inQueueX.EnQue(xLocal);
        inQueueY.EnQue(yLocal);
    }
    __aicore__ inline void Compute(uint32_t)
    {
        LocalTensor<T> xLocal = inQueueX.template DeQue<T>();
        LocalTensor<T> yLocal = inQueueY.template DeQue<T>();
        LocalTensor<T> zLocal = outQueueZ.template AllocTensor<T>();
        Add(zLocal, xLocal, yLocal, static_cast<int32_t>(tile));
        outQueueZ.EnQue(zLocal);
        inQueueX.FreeTensor(xLocal);
        inQueueY.FreeTensor(yLocal);
    }
    __aicore__ inline void CopyOut(uint32_t progress)
    {
        LocalTensor<T> zLocal = outQueueZ.template DeQue<T>();
        DataCopy(zGm[progress * tile], zLocal, tile);
        outQueueZ.FreeTensor(zLocal);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueueX, inQueueY;
    TQue<TPosition::VECOUT, 1> outQueueZ;
    GlobalTensor<T> xGm, yGm, zGm;
    uint32_t tile = 0;
    uint32_t loops = 0;
};

template <typename T> __aicore__ inline void RunAdd(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(AddTiling, data, tiling);
    KernelAdd<T> op;
    op.Init(x, y, z, data.perBlock, data.tile);
    op.Process();
}

extern "C" __global__ __aicore__ void add_float32(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    RunAdd<float>(x, y, z, tiling);
}
extern "C" __global__ __aicore__ void add_float16(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    RunAdd<half>(x, y, z, tiling);
}
extern "C" __global__ __aicore__ void add_int32(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    RunAdd<int32_t>(x, y, z, tiling);
}
extern "C" __global__ __aicore__ void add_int16(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    RunAdd<int16_t>(x, y, z, tiling);
}
