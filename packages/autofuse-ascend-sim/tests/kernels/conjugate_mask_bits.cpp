// Interleaved complex numbers: negates every imaginary part with a bit mask and leaves the real parts as they are. The
// last part uses the mask register and the placeholder, the way hand-tuned kernels do.
#include "kernel_operator.h"
using namespace AscendC;

struct ConjugateTiling {
    uint32_t count;  // a multiple of two full repeats
};

extern "C" __global__ __aicore__ void conjugate_float16(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(ConjugateTiling, data, tiling);
    constexpr uint32_t lanes = 128;
    GlobalTensor<half> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ half*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ half*)y, data.count);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    pipe.InitBuffer(inQueue, 2, 2 * lanes * sizeof(half));
    pipe.InitBuffer(outQueue, 2, 2 * lanes * sizeof(half));

    const uint32_t step = 2 * lanes * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = 2 * lanes * static_cast<uint32_t>(GetBlockIdx()); start < data.count; start += step) {
        LocalTensor<half> in = inQueue.AllocTensor<half>();
        DataCopy(in, xGm[start], 2 * lanes);
        inQueue.EnQue(in);

        in = inQueue.DeQue<half>();
        LocalTensor<half> out = outQueue.AllocTensor<half>();
        DataCopy(out, in, 2 * lanes);
        uint64_t odd[2] = {0xAAAAAAAAAAAAAAAAULL, 0xAAAAAAAAAAAAAAAAULL};
        Muls(out, in, static_cast<half>(-1.0f), odd, 1, UnaryRepeatParams(1, 1, 8, 8));
        SetMaskNorm();
        SetVectorMask<half, MaskMode::NORMAL>(0xAAAAAAAAAAAAAAAAULL, 0xAAAAAAAAAAAAAAAAULL);
        Muls<half, false>(out[lanes], in[lanes], static_cast<half>(-1.0f), MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8));
        ResetMask();
        inQueue.FreeTensor(in);
        outQueue.EnQue(out);

        out = outQueue.DeQue<half>();
        DataCopy(yGm[start], out, 2 * lanes);
        outQueue.FreeTensor(out);
    }
}
