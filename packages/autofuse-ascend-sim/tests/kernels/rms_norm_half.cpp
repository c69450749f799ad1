// RMS normalisation of half rows: the arithmetic is float, the weights are cast once, the result is cast back.
#include "kernel_operator.h"
using namespace AscendC;

struct RmsNormTiling {
    uint32_t rows;
    uint32_t cols;
    float epsilon;
};

class RmsNormHalf {
public:
    __aicore__ inline RmsNormHalf(TPipe* p) : pipe(p) {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR y, const RmsNormTiling& t)
    {
        data = t;
        xGm.SetGlobalBuffer((__gm__ half*)x, static_cast<uint64_t>(t.rows) * t.cols);
        yGm.SetGlobalBuffer((__gm__ half*)y, static_cast<uint64_t>(t.rows) * t.cols);
        weightGm.SetGlobalBuffer((__gm__ half*)weight, t.cols);
        const uint32_t narrow = (t.cols * sizeof(half) + 31) / 32 * 32;
        const uint32_t wide = (t.cols * sizeof(float) + 31) / 32 * 32;
        pipe->InitBuffer(xQueue, 2, narrow);
        pipe->InitBuffer(yQueue, 2, narrow);
        pipe->InitBuffer(weightBuffer, wide);
        pipe->InitBuffer(wideBuffer, wide);
        pipe->InitBuffer(squareBuffer, wide);
        pipe->InitBuffer(workBuffer, wide);
        pipe->InitBuffer(sumBuffer, 32);
        copy = DataCopyExtParams(1, static_cast<uint32_t>(t.cols * sizeof(half)), 0, 0, 0);
        pad = DataCopyPadExtParams<half>(false, 0, 0, static_cast<half>(0));
    }
    __aicore__ inline void Process()
    {
        LoadWeight();
        for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()); row < data.rows;
             row += static_cast<uint32_t>(GetBlockNum())) {
            Row(static_cast<uint64_t>(row) * data.cols);
        }
    }

private:
    __aicore__ inline void LoadWeight()
    {
        LocalTensor<half> loaded = xQueue.AllocTensor<half>();
        DataCopyPad(loaded, weightGm, copy, pad);
        xQueue.EnQue(loaded);
        loaded = xQueue.DeQue<half>();
        Cast(weightBuffer.Get<float>(), loaded, RoundMode::CAST_NONE, data.cols);
        xQueue.FreeTensor(loaded);
    }
    __aicore__ inline void Row(uint64_t start)
    {
        const int32_t n = static_cast<int32_t>(data.cols);
        LocalTensor<half> in = xQueue.AllocTensor<half>();
        DataCopyPad(in, xGm[start], copy, pad);
        xQueue.EnQue(in);

        in = xQueue.DeQue<half>();
        LocalTensor<float> wide = wideBuffer.Get<float>();
        LocalTensor<float> square = squareBuffer.Get<float>();
        LocalTensor<float> sum = sumBuffer.Get<float>();
        Cast(wide, in, RoundMode::CAST_NONE, data.cols);
        xQueue.FreeTensor(in);
        PipeBarrier<PIPE_V>();
        Mul(square, wide, wide, n);
        PipeBarrier<PIPE_V>();
        ReduceSum(sum, square, workBuffer.Get<float>(), n);
        PipeBarrier<PIPE_V>();
        Muls(sum, sum, 1.0f / static_cast<float>(data.cols), 1);
        PipeBarrier<PIPE_V>();
        Adds(sum, sum, data.epsilon, 1);
        PipeBarrier<PIPE_V>();
        Sqrt(sum, sum, 1);
        const int32_t event = GetTPipePtr()->FetchEventID(HardEvent::V_S);
        SetFlag<HardEvent::V_S>(event);
        WaitFlag<HardEvent::V_S>(event);
        const float scale = 1.0f / sum.GetValue(0);
        Muls(wide, wide, scale, n);
        PipeBarrier<PIPE_V>();
        Mul(wide, wide, weightBuffer.Get<float>(), n);
        PipeBarrier<PIPE_V>();
        LocalTensor<half> out = yQueue.AllocTensor<half>();
        Cast(out, wide, RoundMode::CAST_RINT, data.cols);
        yQueue.EnQue(out);

        out = yQueue.DeQue<half>();
        DataCopyPad(yGm[start], out, copy);
        yQueue.FreeTensor(out);
    }

    TPipe* pipe;
    TQue<TPosition::VECIN, 1> xQueue;
    TQue<TPosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> weightBuffer, wideBuffer, squareBuffer, workBuffer, sumBuffer;
    GlobalTensor<half> xGm, weightGm, yGm;
    DataCopyExtParams copy;
    DataCopyPadExtParams<half> pad;
    RmsNormTiling data{};
};

extern "C" __global__ __aicore__ void rms_norm_half(GM_ADDR x, GM_ADDR weight, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(RmsNormTiling, data, tiling);
    TPipe pipe;
    RmsNormHalf op(&pipe);
    op.Init(x, weight, y, data);
    op.Process();
}
