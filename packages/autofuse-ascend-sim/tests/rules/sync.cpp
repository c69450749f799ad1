// Synchronisation between pipes, flags, and what blocks may do to each other.
#include "kernel_operator.h"
using namespace AscendC;

#define KERNEL(name) extern "C" __global__ __aicore__ void name(GM_ADDR x, GM_ADDR y)

static __aicore__ GlobalTensor<float> Gm(GM_ADDR p) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)p, 1024);
    return g;
}
static __aicore__ LocalTensor<float> Ub(uint32_t at) { return LocalTensor<float>(TPosition::VECCALC, at, 64); }
template <HardEvent event> static __aicore__ void Order() {
    SetFlag<event>(0);
    WaitFlag<event>(0);
}

KERNEL(v_after_mte2_ok) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_V>();
    Abs(Ub(256), Ub(0), 64);
}
KERNEL(v_after_mte2_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(wrong_event_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_MTE3>();
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(flag_before_copy_bad) {
    Order<HardEvent::MTE2_V>();
    DataCopy(Ub(0), Gm(x), 64);
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(v_after_v_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Abs(Ub(256), Ub(0), 64);
}
KERNEL(v_after_v_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(v_independent_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Duplicate(Ub(256), 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Abs(Ub(512), Ub(0), 64);
    Abs(Ub(768), Ub(256), 64);
}
KERNEL(mte3_after_v_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
}
KERNEL(mte3_after_v_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    DataCopy(Gm(y), Ub(0), 64);  // BAD
}
KERNEL(v_overwrites_mte3_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
    Duplicate(Ub(0), 2.0f, 64);  // BAD
}
KERNEL(v_overwrites_mte3_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
    Order<HardEvent::MTE3_V>();
    Duplicate(Ub(0), 2.0f, 64);
}
KERNEL(mte2_overwrites_v_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_V>();
    Abs(Ub(256), Ub(0), 64);
    DataCopy(Ub(0), Gm(x), 64);  // BAD
}
KERNEL(mte2_twice_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    DataCopy(Ub(0), Gm(x)[64], 64);  // BAD
}
KERNEL(mte2_twice_ok) {
    DataCopy(Ub(0), Gm(x), 64);
    PipeBarrier<PIPE_MTE2>();
    DataCopy(Ub(0), Gm(x)[64], 64);
}
KERNEL(scalar_read_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_S>();
    Gm(y).SetValue(0, Ub(0).GetValue(3));
}
KERNEL(scalar_read_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Gm(y).SetValue(0, Ub(0).GetValue(3));  // BAD
}
KERNEL(scalar_write_ok) {
    for (int i = 0; i < 64; ++i) Ub(0).SetValue(i, 1.0f);
    Order<HardEvent::S_V>();
    Abs(Ub(256), Ub(0), 64);
}
KERNEL(scalar_write_bad) {
    for (int i = 0; i < 64; ++i) Ub(0).SetValue(i, 1.0f);
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(scalar_wait_orders_all_ok) {  // the scalar unit issues every instruction: what it waited for is done
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_S>();
    Abs(Ub(256), Ub(0), 64);
}
KERNEL(transitive_ok) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_V>();
    Duplicate(Ub(256), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
}
KERNEL(barrier_all_ok) {
    DataCopy(Ub(0), Gm(x), 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Gm(y), Ub(0), 64);
}
KERNEL(barrier_v_is_not_enough_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    PipeBarrier<PIPE_V>();
    Abs(Ub(256), Ub(0), 64);  // BAD
}
KERNEL(gm_round_trip_ok) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(Ub(256), Gm(y), 64);
}
KERNEL(gm_round_trip_bad) {
    DataCopy(Ub(0), Gm(x), 64);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(Gm(y), Ub(0), 64);
    DataCopy(Ub(256), Gm(y), 64);  // BAD
}
KERNEL(set_twice_bad) {
    SetFlag<HardEvent::MTE2_V>(1);
    SetFlag<HardEvent::MTE2_V>(1);  // BAD
}
KERNEL(wait_unset_bad) { WaitFlag<HardEvent::MTE2_V>(1); }  // BAD
KERNEL(open_flag_bad) {
    SetFlag<HardEvent::MTE2_V>(1);  // BAD
}
KERNEL(two_ids_ok) {
    SetFlag<HardEvent::MTE2_V>(1);
    SetFlag<HardEvent::MTE2_V>(2);
    WaitFlag<HardEvent::MTE2_V>(2);
    WaitFlag<HardEvent::MTE2_V>(1);
}
KERNEL(queue_id_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 256);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, Gm(x), 64);
    in.EnQue(a);
    SetFlag<HardEvent::MTE2_V>(0);  // BAD
}
KERNEL(fetched_id_ok) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 256);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, Gm(x), 64);
    in.EnQue(a);
    const TEventID id = GetTPipePtr()->FetchEventID(HardEvent::MTE2_V);
    SetFlag<HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE2_V>(id);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}

// Two blocks.
static __aicore__ void Store(GM_ADDR y, uint32_t at) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y)[at], Ub(0), 64);
}
KERNEL(blocks_apart_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y)[GetBlockIdx() * 64], Ub(0), 64);
}
KERNEL(blocks_overlap_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm(y)[GetBlockIdx() * 56], Ub(0), 64);  // BAD
}
KERNEL(blocks_atomic_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(Gm(y), Ub(0), 64);
    SetAtomicNone();
}
KERNEL(atomic_type_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    SetAtomicAdd<int32_t>();
    DataCopy(Gm(y), Ub(0), 64);  // BAD
    SetAtomicNone();
}
KERNEL(atomic_twice_ok) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(Gm(y), Ub(0), 64);
    DataCopy(Gm(y), Ub(0), 64);
    SetAtomicNone();
}
KERNEL(atomic_after_plain_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(Gm(y), Ub(0), 64);
    PipeBarrier<PIPE_MTE3>();
    SetAtomicNone();
    DataCopy(Gm(y), Ub(0), 64);
    SetAtomicAdd<float>();
    DataCopy(Gm(y), Ub(0), 64);  // BAD
    SetAtomicNone();
}
KERNEL(blocks_mixed_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    if (GetBlockIdx() == 1) SetAtomicAdd<float>();
    DataCopy(Gm(y), Ub(0), 64);  // BAD
    SetAtomicNone();
}
KERNEL(blocks_sync_ok) {
    if (GetBlockIdx() == 0) Store(y, 0);
    SyncAll();
    if (GetBlockIdx() == 1) DataCopy(Ub(256), Gm(y), 64);
}
KERNEL(blocks_no_sync_bad) {
    Duplicate(Ub(0), 1.0f, 64);
    Order<HardEvent::V_MTE3>();
    if (GetBlockIdx() == 0) {
        DataCopy(Gm(y), Ub(0), 64);  // BAD
    }
    if (GetBlockIdx() == 1) DataCopy(Ub(256), Gm(y), 64);
}
KERNEL(blocks_read_same_ok) { DataCopy(Ub(256), Gm(x), 64); }
KERNEL(sync_all_missing_bad) {
    if (GetBlockIdx() == 0) {
        SyncAll();  // BAD
    }
}
KERNEL(sync_all_declared_with_workspace_ok) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SyncAll();
}
KERNEL(sync_all_without_workspace_bad) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SyncAll();  // BAD
}
KERNEL(sync_all_vector_only_bad) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SyncAll();  // BAD
}
KERNEL(sync_all_other_key_ok) {
    KERNEL_TASK_TYPE(7, KERNEL_TYPE_AIV_ONLY);  // the launch has key 0
    SyncAll();
}
KERNEL(soft_sync_ok) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<int32_t> flags;
    flags.SetGlobalBuffer((__gm__ int32_t*)y, 16);
    SyncAll(flags, Ub(0).ReinterpretCast<int32_t>());
}
KERNEL(soft_sync_workspace_bad) {
    GlobalTensor<int32_t> flags;
    flags.SetGlobalBuffer((__gm__ int32_t*)y, 15);
    SyncAll(flags, Ub(0).ReinterpretCast<int32_t>());  // BAD
}
