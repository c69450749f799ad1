// dst = x + y in tiles of `tile` elements, double-buffered.
#include "kernel_operator.h"
using namespace AscendC;

struct AddTiling {
    uint32_t total;
    uint32_t perBlock;
    uint32_t tile;
};

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const AddTiling& t) {
        const uint32_t first = GetBlockIdx() * t.perBlock;
        length_ = first >= t.total ? 0 : (t.total - first < t.perBlock ? t.total - first : t.perBlock);
        tile_ = t.tile;
        xGm_.SetGlobalBuffer((__gm__ float*)x + first, length_);
        yGm_.SetGlobalBuffer((__gm__ float*)y + first, length_);
        zGm_.SetGlobalBuffer((__gm__ float*)z + first, length_);
        pipe_.InitBuffer(inX_, 2, tile_ * sizeof(float));
        pipe_.InitBuffer(inY_, 2, tile_ * sizeof(float));
        pipe_.InitBuffer(out_, 2, tile_ * sizeof(float));
    }
    __aicore__ inline void Process() {
        for (uint32_t at = 0; at < length_; at += tile_) {
            const uint32_t n = length_ - at < tile_ ? length_ - at : tile_;
            CopyIn(at, n);
            Compute(n);
            CopyOut(at, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t n) {
        LocalTensor<float> x = inX_.AllocTensor<float>();
        LocalTensor<float> y = inY_.AllocTensor<float>();
        DataCopy(x, xGm_[at], n);
        DataCopy(y, yGm_[at], n);
        inX_.EnQue(x);
        inY_.EnQue(y);
    }
    __aicore__ inline void Compute(uint32_t n) {
        LocalTensor<float> x = inX_.DeQue<float>();
        LocalTensor<float> y = inY_.DeQue<float>();
        LocalTensor<float> z = out_.AllocTensor<float>();
        Add(z, x, y, n);
        out_.EnQue(z);
        inX_.FreeTensor(x);
        inY_.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t n) {
        LocalTensor<float> z = out_.DeQue<float>();
        DataCopy(zGm_[at], z, n);
        out_.FreeTensor(z);
    }
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> inX_, inY_;
    TQue<TPosition::VECOUT, 1> out_;
    GlobalTensor<float> xGm_, yGm_, zGm_;
    uint32_t length_ = 0, tile_ = 0;
};

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(AddTiling);
    GET_TILING_DATA(data, tiling);
    KernelAdd op;
    op.Init(x, y, z, data);
    op.Process();
}
