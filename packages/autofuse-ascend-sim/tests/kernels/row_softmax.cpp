// Softmax of each row in float. The maximum and the sum come back to the scalar unit, so both directions between the
// vector and scalar pipes are flagged by hand.
#include "kernel_operator.h"
using namespace AscendC;

struct SoftmaxTiling {
    uint32_t rows;
    uint32_t cols;
};

class RowSoftmax {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxTiling& data)
    {
        rows = data.rows;
        cols = data.cols;
        xGm.SetGlobalBuffer((__gm__ float*)x, static_cast<uint64_t>(rows) * cols);
        yGm.SetGlobalBuffer((__gm__ float*)y, static_cast<uint64_t>(rows) * cols);
        const uint32_t bytes = (cols * sizeof(float) + 31) / 32 * 32;
        pipe.InitBuffer(inQueue, 2, bytes);
        pipe.InitBuffer(outQueue, 2, bytes);
        pipe.InitBuffer(scratch, bytes);
        pipe.InitBuffer(result, 32);
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()); row < rows; row += static_cast<uint32_t>(GetBlockNum())) {
            CopyIn(row);
            Compute();
            CopyOut(row);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row)
    {
        LocalTensor<float> x = inQueue.AllocTensor<float>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        DataCopyPad(x, xGm[static_cast<uint64_t>(row) * cols], copy, pad);
        inQueue.EnQue(x);
    }
    __aicore__ inline void Compute()
    {
        const int32_t n = static_cast<int32_t>(cols);
        const event_t toScalar = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
        LocalTensor<float> x = inQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        LocalTensor<float> work = scratch.Get<float>();
        LocalTensor<float> one = result.Get<float>();

        ReduceMax(one, x, work, n, false);
        SetFlag<HardEvent::V_S>(toScalar);
        WaitFlag<HardEvent::V_S>(toScalar);
        const float top = one.GetValue(0);

        Adds(y, x, -top, n);
        PipeBarrier<PIPE_V>();
        inQueue.FreeTensor(x);
        Exp(y, y, n);
        PipeBarrier<PIPE_V>();
        ReduceSum(one, y, work, n);
        SetFlag<HardEvent::V_S>(toScalar);
        WaitFlag<HardEvent::V_S>(toScalar);
        const float total = one.GetValue(0);
        Muls(y, y, 1.0f / total, n);
        outQueue.EnQue(y);
    }
    __aicore__ inline void CopyOut(uint32_t row)
    {
        LocalTensor<float> y = outQueue.DeQue<float>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
        DataCopyPad(yGm[static_cast<uint64_t>(row) * cols], y, copy);
        outQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> scratch, result;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows = 0;
    uint32_t cols = 0;
};

extern "C" __global__ __aicore__ void row_softmax(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(SoftmaxTiling, data, tiling);
    RowSoftmax op;
    op.Init(x, y, data);
    op.Process();
}
