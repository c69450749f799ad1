// Queues, buffers and UB. A line marked BAD breaks a rule once; kernels without one come close and are right.
#include "kernel_operator.h"
using namespace AscendC;

#define KERNEL(name) extern "C" __global__ __aicore__ void name(GM_ADDR x, GM_ADDR y)
#if __NPU_ARCH__ == 2201
constexpr uint32_t kUbBytes = 196608;
#else
constexpr uint32_t kUbBytes = 253952;
#endif

static __aicore__ GlobalTensor<float> Gm(GM_ADDR p) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)p, 1024);
    return g;
}

struct Copier {  // one queue in, one queue out, 64 floats
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<float> src, dst;
    __aicore__ Copier(GM_ADDR x, GM_ADDR y) {
        pipe.InitBuffer(in, 1, 256);
        pipe.InitBuffer(out, 1, 256);
        src = Gm(x);
        dst = Gm(y);
    }
};

KERNEL(capacity_ok) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, kUbBytes);
}
KERNEL(capacity_bad) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, kUbBytes + 1);  // BAD
}
KERNEL(capacity_rounding_bad) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 0xFFFFFFFFu);  // BAD
}
KERNEL(capacity_queue_rounding_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 0xFFFFFFFFu);  // BAD
}
KERNEL(capacity_queues_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, kUbBytes / 4);
    pipe.InitBuffer(out, 2, kUbBytes / 4 + 32);  // BAD
}
struct Pools {  // 512 bytes, of which 256 are a pool inside the pool, which a third shares
    TPipe pipe;
    TBufPool<TPosition::VECCALC> outer, inner, shared;
    TBuf<TPosition::VECCALC> a, b, c;
    __aicore__ Pools() {
        pipe.InitBufPool(outer, 512);
        outer.InitBufPool(inner, 256);
        outer.InitBufPool(shared, 256, inner);
    }
};
KERNEL(pool_ok) {
    Pools p;
    p.inner.InitBuffer(p.a, 256);
    p.outer.InitBuffer(p.b, 256);
    p.shared.InitBuffer(p.c, 256);
    assert(p.a.Get<float>().GetPhyAddr() == p.c.Get<float>().GetPhyAddr());
    assert(p.a.Get<float>().GetPhyAddr() + 256 == p.b.Get<float>().GetPhyAddr());
}
KERNEL(pool_inner_bad) {
    Pools p;
    p.inner.InitBuffer(p.a, 288);  // BAD
}
KERNEL(pool_outer_bad) {
    Pools p;
    p.outer.InitBuffer(p.a, 288);  // BAD
}
KERNEL(pool_shared_bad) {
    Pools p;
    TBufPool<TPosition::VECCALC> larger;
    p.outer.InitBufPool(larger, 288, p.inner);  // BAD
}
KERNEL(reserved_ok) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, kUbBytes - 8192);
    LocalTensor<float> a = buf.Get<float>();
    LocalTensor<uint8_t> bits = a[1024].ReinterpretCast<uint8_t>();
    Duplicate(a, 1.0f, 64);
    Duplicate(bits.ReinterpretCast<int32_t>(), 1, 64);
    PipeBarrier<PIPE_V>();
    Select(a[2048], bits, a, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
}
KERNEL(reserved_bad) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, kUbBytes - 8192 + 32);
    LocalTensor<float> a = buf.Get<float>();
    LocalTensor<uint8_t> bits = a[1024].ReinterpretCast<uint8_t>();
    Duplicate(a, 1.0f, 64);
    Duplicate(bits.ReinterpretCast<int32_t>(), 1, 64);
    PipeBarrier<PIPE_V>();
    Select(a[2048], bits, a, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);  // BAD
}
KERNEL(buffers_ok) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> a, b, c, d;
    pipe.InitBuffer(a, 2, 32);
    pipe.InitBuffer(b, 2, 32);
    pipe.InitBuffer(c, 2, 32);
    pipe.InitBuffer(d, 2, 32);
}
KERNEL(buffers_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> a, b, c, d, e;
    pipe.InitBuffer(a, 2, 32);
    pipe.InitBuffer(b, 2, 32);
    pipe.InitBuffer(c, 2, 32);
    pipe.InitBuffer(d, 2, 32);
    pipe.InitBuffer(e, 1, 32);  // BAD
}
KERNEL(all_buffers_bad) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf[65];
    for (int i = 0; i < 65; ++i) {
        pipe.InitBuffer(buf[i], 32);  // BAD
    }
}
KERNEL(depth_ok) {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    pipe.InitBuffer(in, 2, 256);
    LocalTensor<float> a = in.AllocTensor<float>();
    in.EnQue(a);
    LocalTensor<float> b = in.AllocTensor<float>();
    in.EnQue(b);
    a = in.DeQue<float>();
    b = in.DeQue<float>();
    in.FreeTensor(a);
    in.FreeTensor(b);
}
KERNEL(depth_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 256);
    LocalTensor<float> a = in.AllocTensor<float>();
    in.EnQue(a);
    LocalTensor<float> b = in.AllocTensor<float>();
    in.EnQue(b);  // BAD
}
KERNEL(alloc_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    LocalTensor<float> b = k.in.AllocTensor<float>();  // BAD
    k.in.FreeTensor(a);
    k.in.FreeTensor(b);
}
KERNEL(dequeue_empty_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.DeQue<float>();  // BAD
    k.in.FreeTensor(a);
}
KERNEL(free_twice_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    k.in.FreeTensor(a);
    k.in.FreeTensor(a);  // BAD
}
KERNEL(free_queued_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    k.in.EnQue(a);
    k.in.FreeTensor(a);  // BAD
}
KERNEL(wrong_queue_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    k.out.EnQue(a);  // BAD
}
KERNEL(use_after_free_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.out.AllocTensor<float>();
    k.out.FreeTensor(a);
    Duplicate(a, 0.0f, 64);  // BAD
}
KERNEL(use_while_queued_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    DataCopy(a, k.src, 64);
    k.in.EnQue(a);
    LocalTensor<float> b = k.out.AllocTensor<float>();
    Add(b, a, a, 64);  // BAD
}
KERNEL(leak_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();  // BAD
    DataCopy(a, k.src, 64);
}
KERNEL(leak_queued_bad) {
    Copier k(x, y);
    LocalTensor<float> a = k.in.AllocTensor<float>();
    DataCopy(a, k.src, 64);
    k.in.EnQue(a);  // BAD
}
KERNEL(copy_ok) {
    Copier k(x, y);
    for (int i = 0; i < 3; ++i) {
        LocalTensor<float> a = k.in.AllocTensor<float>();
        DataCopy(a, k.src[i * 64], 64);
        k.in.EnQue(a);
        a = k.in.DeQue<float>();
        LocalTensor<float> b = k.out.AllocTensor<float>();
        Adds(b, a, 1.0f, 64);
        k.out.EnQue(b);
        k.in.FreeTensor(a);
        b = k.out.DeQue<float>();
        DataCopy(k.dst[i * 64], b, 64);
        k.out.FreeTensor(b);
    }
}
KERNEL(no_buffers_bad) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    LocalTensor<float> a = in.AllocTensor<float>();  // BAD
    in.FreeTensor(a);
}
KERNEL(two_pipes_bad) {
    TPipe first;
    TPipe second;  // BAD
}
KERNEL(no_memory_bad) {
    Copier k(x, y);
    LocalTensor<float> a;
    Duplicate(a, 0.0f, 64);  // BAD
}
