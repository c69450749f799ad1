// High-level functions at the edge of what they allow: `p` says how far.
#include "kernel_operator.h"
using namespace AscendC;

struct Edge {
    uint32_t p;
};

struct Bench {
    TPipe pipe;
    TBuf<TPosition::VECCALC> srcBuffer, dstBuffer, tmpBuffer;
    LocalTensor<float> src, dst;
    LocalTensor<uint8_t> tmp;
    uint32_t p = 0;

    __aicore__ inline Bench(GM_ADDR tiling, uint32_t tmpBytes)
    {
        GET_TILING_DATA_WITH_STRUCT(Edge, data, tiling);
        p = data.p;
        pipe.InitBuffer(srcBuffer, 4096);
        pipe.InitBuffer(dstBuffer, 4096);
        pipe.InitBuffer(tmpBuffer, tmpBytes != 0 ? tmpBytes : p);
        src = srcBuffer.Get<float>();
        dst = dstBuffer.Get<float>();
        tmp = tmpBuffer.Get<uint8_t>();
        Duplicate(src, 0.5f, 1024);
        PipeBarrier<PIPE_V>();
    }
};

extern "C" __global__ __aicore__ void erf_temporary(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 0);
    Erf(bench.dst, bench.src, bench.tmp, 100u);
}
extern "C" __global__ __aicore__ void sum_temporary(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 0);
    const uint32_t shape[2] = {4, 100};
    ReduceSum<float, Pattern::Reduce::AR>(bench.dst, bench.src, bench.tmp, shape, true);
}
extern "C" __global__ __aicore__ void tanh_overlap(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    Tanh(bench.src[bench.p], bench.src, bench.tmp, 256u);
}
extern "C" __global__ __aicore__ void gelu_in_place(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    Gelu(bench.src, bench.src, bench.tmp, 256u);
}
extern "C" __global__ __aicore__ void broadcast_rows(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    const uint32_t to[2] = {4, bench.p};
    const uint32_t from[2] = {1, bench.p};
    Broadcast<float, 2, 0>(bench.dst, bench.src, to, from, bench.tmp);
}
extern "C" __global__ __aicore__ void running_sum(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    CumSum(bench.dst, bench.dst, bench.src, bench.tmp, CumSumInfo{4, bench.p});
}
extern "C" __global__ __aicore__ void reduce_unpadded(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    const uint32_t shape[2] = {4, 16};
    ReduceMax<float, Pattern::Reduce::AR>(bench.dst, bench.src, bench.tmp, shape, bench.p != 0);
}
extern "C" __global__ __aicore__ void transpose_stride(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    LocalTensor<float> to[16];
    LocalTensor<float> from[16];
    for (uint32_t i = 0; i < 16; i++) {
        to[i] = bench.dst[i * 8];
        from[i] = bench.src[i * 8];
    }
    TransDataTo5HD<float>(to, from, TransDataTo5HDParams(false, false, 1, static_cast<uint16_t>(bench.p), 0));
}
extern "C" __global__ __aicore__ void sign_reserved(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    TBuf<TPosition::VECCALC> rest;
    bench.pipe.InitBuffer(rest, bench.p);
    Sign(bench.dst, bench.src, bench.tmp, 100u);
}
extern "C" __global__ __aicore__ void erf_barrier(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    Muls(bench.src, bench.src, 2.0f, 256);
    if (bench.p != 0) {
        PipeBarrier<PIPE_V>();
    }
    Erf(bench.dst, bench.src, bench.tmp, 256u);
}
extern "C" __global__ __aicore__ void select_mask_axis(GM_ADDR workspace, GM_ADDR tiling)
{
    Bench bench(tiling, 8192);
    SelectWithBytesMaskShapeInfo info;
    info.firstAxis = 2;
    info.srcLastAxis = 64;
    info.maskLastAxis = bench.p;
    LocalTensor<uint8_t> mask = bench.src[512].ReinterpretCast<uint8_t>();
    Select(bench.dst, bench.src, 1.0f, mask, bench.tmp, info);
}
