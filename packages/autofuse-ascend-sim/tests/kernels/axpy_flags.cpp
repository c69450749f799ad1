// y = a x + y without queues: two halves of one buffer, ping-pong by hand, every hand-over flagged with an event id.
#include "kernel_operator.h"
using namespace AscendC;

struct AxpyTiling {
    uint32_t count;
    uint32_t tile;
    float a;
};

extern "C" __global__ __aicore__ void axpy_flags(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(AxpyTiling, data, tiling);
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, data.count);
    yGm.SetGlobalBuffer((__gm__ float*)y, data.count);
    TPipe pipe;
    TBuf<TPosition::VECCALC> xBuffer, yBuffer;
    pipe.InitBuffer(xBuffer, 2 * data.tile * sizeof(float));
    pipe.InitBuffer(yBuffer, 2 * data.tile * sizeof(float));
    LocalTensor<float> xBoth = xBuffer.Get<float>();
    LocalTensor<float> yBoth = yBuffer.Get<float>();

    TEventID loaded[2] = {pipe.AllocEventID<HardEvent::MTE2_V>(), pipe.AllocEventID<HardEvent::MTE2_V>()};
    TEventID computed[2] = {pipe.AllocEventID<HardEvent::V_MTE3>(), pipe.AllocEventID<HardEvent::V_MTE3>()};
    TEventID stored[2] = {pipe.AllocEventID<HardEvent::MTE3_MTE2>(), pipe.AllocEventID<HardEvent::MTE3_MTE2>()};
    SetFlag<HardEvent::MTE3_MTE2>(stored[0]);
    SetFlag<HardEvent::MTE3_MTE2>(stored[1]);

    uint32_t turn = 0;
    const uint32_t step = data.tile * static_cast<uint32_t>(GetBlockNum());
    for (uint32_t start = static_cast<uint32_t>(GetBlockIdx()) * data.tile; start < data.count; start += step) {
        const uint32_t n = data.count - start < data.tile ? data.count - start : data.tile;
        LocalTensor<float> xLocal = xBoth[turn * data.tile];
        LocalTensor<float> yLocal = yBoth[turn * data.tile];
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};

        WaitFlag<HardEvent::MTE3_MTE2>(stored[turn]);
        DataCopyPad(xLocal, xGm[start], copy, pad);
        DataCopyPad(yLocal, yGm[start], copy, pad);
        SetFlag<HardEvent::MTE2_V>(loaded[turn]);
        WaitFlag<HardEvent::MTE2_V>(loaded[turn]);
        Axpy(yLocal, xLocal, data.a, static_cast<int32_t>(n));
        SetFlag<HardEvent::V_MTE3>(computed[turn]);
        WaitFlag<HardEvent::V_MTE3>(computed[turn]);
        DataCopyPad(yGm[start], yLocal, copy);
        SetFlag<HardEvent::MTE3_MTE2>(stored[turn]);
        turn = 1 - turn;
    }
    WaitFlag<HardEvent::MTE3_MTE2>(stored[0]);
    WaitFlag<HardEvent::MTE3_MTE2>(stored[1]);
    for (uint32_t i = 0; i < 2; i++) {
        pipe.ReleaseEventID<HardEvent::MTE2_V>(loaded[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE3>(computed[i]);
        pipe.ReleaseEventID<HardEvent::MTE3_MTE2>(stored[i]);
    }
}
