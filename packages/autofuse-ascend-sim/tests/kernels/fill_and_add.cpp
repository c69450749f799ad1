// y = total of all rows, where the kernel itself zeroes the output: block 0 fills it, all wait, all add atomically.
#include "kernel_operator.h"
using namespace AscendC;

struct TotalTiling {
    uint32_t rows;
    uint32_t cols;
};

extern "C" __global__ __aicore__ void total_of_rows(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GET_TILING_DATA_WITH_STRUCT(TotalTiling, data, tiling);
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, static_cast<uint64_t>(data.rows) * data.cols);
    yGm.SetGlobalBuffer((__gm__ float*)y, data.cols);
    if (GetBlockIdx() == 0) {
        InitOutput<float>(yGm, data.cols, 0.0f);  // before any InitBuffer: it works in UB itself
    }
    SyncAll();

    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, (data.cols * sizeof(float) + 31) / 32 * 32);
    DataCopyExtParams copy{1, static_cast<uint32_t>(data.cols * sizeof(float)), 0, 0, 0};
    DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    SetAtomicAdd<float>();
    for (uint32_t row = static_cast<uint32_t>(GetBlockIdx()); row < data.rows; row += static_cast<uint32_t>(GetBlockNum())) {
        LocalTensor<float> local = queue.AllocTensor<float>();
        DataCopyPad(local, xGm[static_cast<uint64_t>(row) * data.cols], copy, pad);
        queue.EnQue(local);
        local = queue.DeQue<float>();
        DataCopyPad(yGm, local, copy);
        queue.FreeTensor(local);
    }
    DisableDmaAtomic();
}
