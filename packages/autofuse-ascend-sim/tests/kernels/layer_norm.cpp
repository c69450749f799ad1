// Layer normalisation of the last axis in float; gamma and beta stay in the unified buffer for all rows of a block.
#include "kernel_operator.h"
using namespace AscendC;

struct LayerNormTiling {
    uint32_t rows;
    uint32_t cols;
    float epsilon;
};

__aicore__ inline float VectorSum(const LocalTensor<float>& result, const LocalTensor<float>& values,
                                  const LocalTensor<float>& work, int32_t n)
{
    ReduceSum(result, values, work, n);
    const int32_t event = GetTPipePtr()->FetchEventID(HardEvent::V_S);
    SetFlag<HardEvent::V_S>(event);
    WaitFlag<HardEvent::V_S>(event);
    return result.GetValue(0);
}

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(LayerNormTiling, data, tiling);
    const uint32_t cols = data.cols;
    const int32_t n = static_cast<int32_t>(cols);
    const uint32_t bytes = (cols * sizeof(float) + 31) / 32 * 32;

    TPipe pipe;
    TQue<TPosition::VECIN, 1> xQueue, parameterQueue;
    TQue<TPosition::VECOUT, 1> yQueue;
    TBuf<TPosition::VECCALC> centredBuffer, workBuffer, sumBuffer;
    pipe.InitBuffer(xQueue, 2, bytes);
    pipe.InitBuffer(parameterQueue, 1, 2 * bytes);
    pipe.InitBuffer(yQueue, 2, bytes);
    pipe.InitBuffer(centredBuffer, bytes);
    pipe.InitBuffer(workBuffer, bytes);
    pipe.InitBuffer(sumBuffer, 32);

    GlobalTensor<float> xGm, gammaGm, betaGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, static_cast<uint64_t>(data.rows) * cols);
    yGm.SetGlobalBuffer((__gm__ float*)y, static_cast<uint64_t>(data.rows) * cols);
    gammaGm.SetGlobalBuffer((__gm__ float*)gamma, cols);
    betaGm.SetGlobalBuffer((__gm__ float*)beta, cols);

    DataCopyExtParams copy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
    DataCopyPadExtParams<float> pad{true, 0, 0, 0.0f};
    LocalTensor<float> parameters = parameterQueue.AllocTensor<float>();
    DataCopyPad(parameters, gammaGm, copy, pad);
    DataCopyPad(parameters[bytes / sizeof(float)], betaGm, copy, pad);
    parameterQueue.EnQue(parameters);
    parameters = parameterQueue.DeQue<float>();
    LocalTensor<float> gammaLocal = parameters;
    LocalTensor<float> betaLocal = parameters[bytes / sizeof(float)];
    LocalTensor<float> centred = centredBuffer.Get<float>();
    LocalTensor<float> work = workBuffer.Get<float>();
    LocalTensor<float> sum = sumBuffer.Get<float>();

    for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()); row < data.rows; row += static_cast<uint32_t>(GetBlockNum())) {
        LocalTensor<float> xLocal = xQueue.AllocTensor<float>();
        DataCopyPad(xLocal, xGm[static_cast<uint64_t>(row) * cols], copy, pad);
        xQueue.EnQue(xLocal);

        xLocal = xQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        const float mean = VectorSum(sum, xLocal, work, n) / static_cast<float>(cols);
        Adds(centred, xLocal, -mean, n);
        xQueue.FreeTensor(xLocal);
        PipeBarrier<PIPE_V>();
        Mul(yLocal, centred, centred, n);
        PipeBarrier<PIPE_V>();
        const float variance = VectorSum(sum, yLocal, work, n) / static_cast<float>(cols);
        Duplicate(yLocal, variance + data.epsilon, n);
        PipeBarrier<PIPE_V>();
        Sqrt(yLocal, yLocal, n);
        PipeBarrier<PIPE_V>();
        Div(yLocal, centred, yLocal, n);
        PipeBarrier<PIPE_V>();
        Mul(yLocal, yLocal, gammaLocal, n);
        PipeBarrier<PIPE_V>();
        Add(yLocal, yLocal, betaLocal, n);
        yQueue.EnQue(yLocal);

        yLocal = yQueue.DeQue<float>();
        DataCopyPad(yGm[static_cast<uint64_t>(row) * cols], yLocal, copy);
        yQueue.FreeTensor(yLocal);
    }
    parameterQueue.FreeTensor(parameters);
}
