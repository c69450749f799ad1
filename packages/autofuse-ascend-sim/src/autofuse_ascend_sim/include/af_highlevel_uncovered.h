// Names of documented APIs that the emulator does not have. Using one is a compile-time error that says so.
#pragma once

namespace af_sim {
template <typename...> constexpr bool is_covered = false;
}

namespace AscendC {

// Three overloads, for calls whose explicit template arguments are types, values, or a type followed by values.
#define AF_UNCOVERED(name, instead)                                                                                  \
    template <typename... Types, typename... Arguments> void name(Arguments&&...) {                                  \
        static_assert(af_sim::is_covered<Arguments..., Types...>, AF_UNCOVERED_TEXT(name, instead));                 \
    }                                                                                                                \
    template <auto first, auto... rest, typename... Arguments> void name(Arguments&&...) {                           \
        static_assert(af_sim::is_covered<decltype(first), Arguments...>, AF_UNCOVERED_TEXT(name, instead));          \
    }                                                                                                                \
    template <typename First, auto second, auto... rest, typename... Arguments> void name(Arguments&&...) {          \
        static_assert(af_sim::is_covered<First, Arguments...>, AF_UNCOVERED_TEXT(name, instead));                    \
    }
#define AF_UNCOVERED_TEXT(name, instead) "AscendC::" #name " is not covered by autofuse-ascend-sim: " instead

AF_UNCOVERED(SoftMax, "expand it into ReduceMax, Sub, Exp, ReduceSum and Div")
AF_UNCOVERED(LogSoftMax, "expand it into ReduceMax, Sub, Exp, ReduceSum, Ln and Sub")
AF_UNCOVERED(LayerNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(RmsNorm, "expand it into Mul, ReduceSum, Sqrt and Div")
AF_UNCOVERED(GroupNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(BatchNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(GeGLU, "expand it into Gelu and Mul")
AF_UNCOVERED(DropOut, "use Select with a mask of bytes and Muls")

AF_UNCOVERED(Pad, "use DataCopyPad")
AF_UNCOVERED(UnPad, "use DataCopyPad")
AF_UNCOVERED(TransData, "use TransDataTo5HD")
AF_UNCOVERED(ConfusionTranspose, "use Transpose or TransDataTo5HD")
AF_UNCOVERED(GetBroadcastTilingInfo, "use the Broadcast that takes two shapes")
AF_UNCOVERED(CastDequant, "use Cast and Muls")
AF_UNCOVERED(CastDeq, "use Cast and Muls")

AF_UNCOVERED(TopK, "sorting is not emulated")
AF_UNCOVERED(Sort, "sorting is not emulated")
AF_UNCOVERED(Sort32, "sorting is not emulated")
AF_UNCOVERED(MrgSort, "sorting is not emulated")

AF_UNCOVERED(Mmad, "cube instructions are not emulated")
AF_UNCOVERED(LoadData, "cube instructions are not emulated")
AF_UNCOVERED(Fixpipe, "cube instructions are not emulated")
AF_UNCOVERED(CrossCoreSetFlag, "kernels that mix cube and vector cores are not emulated")
AF_UNCOVERED(CrossCoreWaitFlag, "kernels that mix cube and vector cores are not emulated")
AF_UNCOVERED(SetNextTaskStart, "super kernels are not emulated")
AF_UNCOVERED(WaitPreTaskEnd, "super kernels are not emulated")

AF_UNCOVERED(IBSet, "pairwise synchronisation of blocks is not emulated: use SyncAll")
AF_UNCOVERED(IBWait, "pairwise synchronisation of blocks is not emulated: use SyncAll")
AF_UNCOVERED(InitDetermineComputeWorkspace, "ordered accumulation is not emulated: use SyncAll")
AF_UNCOVERED(WaitPreBlock, "ordered accumulation is not emulated: use SyncAll")
AF_UNCOVERED(NotifyNextBlock, "ordered accumulation is not emulated: use SyncAll")
AF_UNCOVERED(SetAtomicType, "say the operation as well: SetAtomicAdd, SetAtomicMax or SetAtomicMin")
AF_UNCOVERED(AtomicAdd, "atomics of the scalar unit are not emulated: use SetAtomicAdd and copies")
AF_UNCOVERED(AtomicMax, "atomics of the scalar unit are not emulated: use SetAtomicMax and copies")
AF_UNCOVERED(AtomicMin, "atomics of the scalar unit are not emulated: use SetAtomicMin and copies")
AF_UNCOVERED(AtomicExch, "atomics of the scalar unit are not emulated")
AF_UNCOVERED(AtomicCas, "atomics of the scalar unit are not emulated")
AF_UNCOVERED(WriteGmByPassDCache, "the data cache is not modelled: use GlobalTensor::SetValue")
AF_UNCOVERED(ReadGmByPassDCache, "the data cache is not modelled: use GlobalTensor::GetValue")

AF_UNCOVERED(SetCtrlSpr, "the control register is not emulated")
AF_UNCOVERED(GetCtrlSpr, "the control register is not emulated")
AF_UNCOVERED(SetSaturationFlag, "arithmetic never saturates here, conversions to integers always do")
AF_UNCOVERED(GetSaturationFlag, "arithmetic never saturates here, conversions to integers always do")
AF_UNCOVERED(GetSpr, "special registers are not emulated")
AF_UNCOVERED(ClearSpr, "special registers are not emulated")
AF_UNCOVERED(Nop, "empty instructions are not emulated")
AF_UNCOVERED(MarkStamp, "use the trace of the emulator")
AF_UNCOVERED(DumpAccChkPoint, "use DumpTensor")
AF_UNCOVERED(GetUintDivMagicAndShift, "divide")
AF_UNCOVERED(AllocMutexID, "mutexes of 350 are not emulated: use queues, flags and barriers")
AF_UNCOVERED(ReleaseMutexID, "mutexes of 350 are not emulated: use queues, flags and barriers")
AF_UNCOVERED(SetSysWorkSpacePtr, "the system workspace is not emulated")
AF_UNCOVERED(GetSysWorkSpacePtr, "the system workspace is not emulated")
AF_UNCOVERED(GetArchVersion, "use __NPU_ARCH__")
AF_UNCOVERED(GetProgramCounter, "a host has another program counter")
AF_UNCOVERED(GetRuntimeUBSize, "use GetUBSizeInBytes")

// Host functions of what is not covered.
AF_UNCOVERED(SoftMaxTilingFunc, "SoftMax is not covered")
AF_UNCOVERED(GetSoftMaxMaxTmpSize, "SoftMax is not covered")
AF_UNCOVERED(GetSoftMaxMinTmpSize, "SoftMax is not covered")
AF_UNCOVERED(PadTilingFunc, "Pad is not covered")
AF_UNCOVERED(GetPadMaxMinTmpSize, "Pad is not covered")
AF_UNCOVERED(GetUnPadMaxMinTmpSize, "UnPad is not covered")
AF_UNCOVERED(GetTransposeMaxMinTmpSize, "ConfusionTranspose is not covered")
AF_UNCOVERED(GetTransposeTilingInfo, "ConfusionTranspose is not covered")
#undef AF_UNCOVERED
#undef AF_UNCOVERED_TEXT

}  // namespace AscendC
