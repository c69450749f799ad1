// Synchronisation between pipes and between cores, and atomic copies to GM.
#pragma once
#include <cstdint>

#include "af_pipe.h"

namespace af_sim {

void pipe_barrier(pipe_t pipe);
void set_flag(uint8_t event, int32_t id);
void wait_flag(uint8_t event, int32_t id);
void sync_all();
void soft_sync_all(const void* workspace, uint64_t workspace_left, const View& local, int32_t used_cores);
enum class Atomic : uint8_t { None, Add, Max, Min };
void set_atomic(Atomic kind, DType type);

}  // namespace af_sim

namespace AscendC {

template <pipe_t pipe> AF_API void PipeBarrier() {
    AF_CALL("PipeBarrier");
    static_assert(pipe != PIPE_S, "AscendC::PipeBarrier: PIPE_S is not allowed");
    static_assert(pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_ALL,
                  "AscendC::PipeBarrier: a vector core has the pipes V, MTE2 and MTE3");
    af_sim::pipe_barrier(pipe);
}

template <HardEvent event> AF_API void SetFlag(int32_t eventID) {
    AF_CALL("SetFlag");
    af_sim::set_flag(uint8_t(event), eventID);
}

template <HardEvent event> AF_API void WaitFlag(int32_t eventID) {
    AF_CALL("WaitFlag");
    af_sim::wait_flag(uint8_t(event), eventID);
}

template <pipe_t src, pipe_t dst> class TQueSync {
public:
    AF_API void SetFlag(TEventID id) {
        AF_CALL("TQueSync::SetFlag");
        af_sim::set_flag(uint8_t(Event()), id);
    }
    AF_API void WaitFlag(TEventID id) {
        AF_CALL("TQueSync::WaitFlag");
        af_sim::wait_flag(uint8_t(Event()), id);
    }

private:
    static constexpr HardEvent Event() {
        if (src == PIPE_MTE2 && dst == PIPE_V) return HardEvent::MTE2_V;
        if (src == PIPE_V && dst == PIPE_MTE2) return HardEvent::V_MTE2;
        if (src == PIPE_MTE3 && dst == PIPE_V) return HardEvent::MTE3_V;
        if (src == PIPE_V && dst == PIPE_MTE3) return HardEvent::V_MTE3;
        if (src == PIPE_MTE3 && dst == PIPE_MTE2) return HardEvent::MTE3_MTE2;
        if (src == PIPE_MTE2 && dst == PIPE_MTE3) return HardEvent::MTE2_MTE3;
        if (src == PIPE_S && dst == PIPE_V) return HardEvent::S_V;
        if (src == PIPE_V && dst == PIPE_S) return HardEvent::V_S;
        if (src == PIPE_S && dst == PIPE_MTE2) return HardEvent::S_MTE2;
        if (src == PIPE_MTE2 && dst == PIPE_S) return HardEvent::MTE2_S;
        if (src == PIPE_S && dst == PIPE_MTE3) return HardEvent::S_MTE3;
        if (src == PIPE_MTE3 && dst == PIPE_S) return HardEvent::MTE3_S;
        return HardEvent::MAX;
    }
    static_assert(Event() != HardEvent::MAX, "AscendC::TQueSync: no event exists between these pipes on a vector core");
};

#if AF_ARCH_350
constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};
template <bool isAIVOnly = true, const SyncAllConfig& config = DEFAULT_SYNC_ALL_CONFIG> AF_API void SyncAll() {
#else
template <bool isAIVOnly = true> AF_API void SyncAll() {
#endif
    AF_CALL("SyncAll");
    static_assert(isAIVOnly, "AscendC::SyncAll: mixed cube and vector kernels are not covered by autofuse-ascend-sim");
    af_sim::sync_all();
}

template <bool isAIVOnly = true>
AF_API void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
                    const int32_t usedCores = 0) {
    AF_CALL("SyncAll");
    static_assert(isAIVOnly, "AscendC::SyncAll: mixed cube and vector kernels are not covered by autofuse-ascend-sim");
    af_sim::soft_sync_all(gmWorkspace.GetPhyAddr(), gmWorkspace.BytesLeft(), ubWorkspace.View(), usedCores);
}

template <MemDsbT kind> inline void DataSyncBarrier() {}

#define AF_ATOMIC(name, kind)                                                                      \
    template <typename T> AF_API void name() {                                                     \
        AF_CALL(#name);                                                                            \
        AF_DTYPES(#name, T, float, half, int16_t, int32_t, int8_t, bfloat16_t);                    \
        af_sim::set_atomic(af_sim::Atomic::kind, af_sim::dtype_of<T>);                             \
    }
AF_ATOMIC(SetAtomicAdd, Add)
AF_ATOMIC(SetAtomicMax, Max)
AF_ATOMIC(SetAtomicMin, Min)
#undef AF_ATOMIC

AF_API inline void SetAtomicNone() { af_sim::set_atomic(af_sim::Atomic::None, af_sim::DType::F32); }
AF_API inline void DisableDmaAtomic() { af_sim::set_atomic(af_sim::Atomic::None, af_sim::DType::F32); }

template <typename T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <typename T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}
template <typename T, CacheLine entireType> inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <typename T> inline void DataCachePreload(const GlobalTensor<uint64_t>&, const T) {}
inline void ICachePreLoad(const int64_t) {}

}  // namespace AscendC
