// Tiling data, tiling keys and kernel task types. REGISTER_TILING_DEFAULT is legal at namespace and at function scope.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "af_enums.h"
#include "af_sim.h"

namespace af_sim {
uint64_t tiling_key();
void declare_kernel_type(KernelMetaType type);
void copy_tiling(void* target, const void* source, uint64_t bytes);
GM_ADDR user_workspace(GM_ADDR workspace);
inline bool tiling_key_is_one_of(std::initializer_list<uint64_t> keys) {
    for (const uint64_t key : keys) {
        if (tiling_key() == key) return true;
    }
    return false;
}
}  // namespace af_sim

#define g_tilingKey (af_sim::tiling_key())
#define TILING_KEY_VAR g_tilingKey
#define TILING_KEY_IS(k) (TILING_KEY_VAR == (k))
#define TILING_KEY_LIST(...) (af_sim::tiling_key_is_one_of({__VA_ARGS__}))

#define AF_VECTOR_KERNEL(value)                                                         \
    static_assert((value) == KERNEL_TYPE_AIV_ONLY || (value) == KERNEL_TYPE_MIX_AIV_1_0, \
                  "KERNEL_TASK_TYPE: " #value " kernels use the cube unit, which is not covered by autofuse-ascend-sim")
#define KERNEL_TASK_TYPE_DEFAULT(value) \
    AF_VECTOR_KERNEL(value);            \
    af_sim::declare_kernel_type(value)
#define KERNEL_TASK_TYPE(key, value) \
    AF_VECTOR_KERNEL(value);         \
    if (TILING_KEY_IS(key)) af_sim::declare_kernel_type(value)

#define REGISTER_TILING_DEFAULT(tilingStruct) using af_default_tiling_t = tilingStruct
#define REGISTER_TILING_FOR_TILINGKEY(expression, tilingStruct)
#define REGISTER_NONE_TILING

#define GET_TILING_DATA(tilingData, tilingArg)  \
    af_default_tiling_t tilingData;             \
    af_sim::copy_tiling(&tilingData, tilingArg, sizeof(tilingData))
#define GET_TILING_DATA_WITH_STRUCT(tilingStruct, tilingData, tilingArg) \
    tilingStruct tilingData;                                             \
    af_sim::copy_tiling(&tilingData, tilingArg, sizeof(tilingData))
#define GET_TILING_DATA_MEMBER(tilingStruct, member, name, tilingArg)                        \
    decltype(tilingStruct::member) name;                                                     \
    af_sim::copy_tiling(&name, (tilingArg) + __builtin_offsetof(tilingStruct, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(tilingStruct, dstPtr, tilingArg) \
    __gm__ tilingStruct* dstPtr = reinterpret_cast<__gm__ tilingStruct*>(tilingArg)
#define COPY_TILING_WITH_STRUCT(tilingStruct, srcPtr, dstPtr) \
    af_sim::copy_tiling(dstPtr, srcPtr, sizeof(tilingStruct))
#define COPY_TILING_WITH_ARRAY(arrayType, arrayCount, srcPtr, dstPtr) \
    af_sim::copy_tiling(dstPtr, srcPtr, sizeof(arrayType) * (arrayCount))

namespace AscendC {
inline __gm__ uint8_t* GetUserWorkspace(GM_ADDR workspace) { return af_sim::user_workspace(workspace); }
}  // namespace AscendC
