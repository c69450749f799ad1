// Names of documented APIs that the emulator does not have. Using one is a compile-time error that says so.
#pragma once

namespace af_sim {
template <typename...> constexpr bool is_covered = false;
}

namespace AscendC {

#define AF_UNCOVERED(name, instead)                                                                     \
    template <typename... TemplateTypes, typename... Arguments> void name(Arguments&&...) {             \
        static_assert(af_sim::is_covered<Arguments...>,                                                 \
                      "AscendC::" #name " is not covered by autofuse-ascend-sim: " instead);            \
    }
AF_UNCOVERED(SoftMax, "expand it into ReduceMax, Sub, Exp, ReduceSum and Div")
AF_UNCOVERED(LogSoftMax, "expand it into ReduceMax, Sub, Exp, ReduceSum, Ln and Sub")
AF_UNCOVERED(LayerNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(RmsNorm, "expand it into Mul, ReduceSum, Sqrt and Div")
AF_UNCOVERED(GroupNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(BatchNorm, "expand it into reductions and element-wise instructions")
AF_UNCOVERED(GeGLU, "expand it into Gelu and Mul")
AF_UNCOVERED(Pad, "use DataCopyPad")
AF_UNCOVERED(UnPad, "use DataCopyPad")
AF_UNCOVERED(TransData, "use TransDataTo5HD")
AF_UNCOVERED(ConfusionTranspose, "use Transpose or TransDataTo5HD")
AF_UNCOVERED(DropOut, "use Select with a mask of bytes and Muls")
AF_UNCOVERED(TopK, "sorting is not emulated")
AF_UNCOVERED(Sort, "sorting is not emulated")
AF_UNCOVERED(Sort32, "sorting is not emulated")
AF_UNCOVERED(MrgSort, "sorting is not emulated")
AF_UNCOVERED(Mmad, "cube instructions are not emulated")
AF_UNCOVERED(LoadData, "cube instructions are not emulated")
AF_UNCOVERED(Fixpipe, "cube instructions are not emulated")
AF_UNCOVERED(SetNextTaskStart, "super kernels are not emulated")
AF_UNCOVERED(WaitPreTaskEnd, "super kernels are not emulated")
#undef AF_UNCOVERED

}  // namespace AscendC
