// TPipe, queues and buffers: who owns which bytes of UB, and the synchronisation that queues imply.
#pragma once
#include <cstdint>

#include "af_structs.h"
#include "af_tensor.h"

namespace AscendC {
class TPipe;
template <TPosition pos, uint32_t bufIDSize> class TBufPool;
}
AscendC::TPipe* GetTPipePtr();

namespace af_sim {

constexpr uint16_t kNoQueue = 0xFFFF;
struct Extent { uint32_t offset = 0, bytes = 0; bool is_set = false; };

void pipe_begin(void* pipe);
void pipe_end(void* pipe);
void pipe_reset();
void* pipe_current();
uint16_t queue_init(uint8_t source, uint8_t target, int32_t depth, uint32_t buffers, uint32_t bytes, Extent* pool);
Extent buffer_init(uint32_t bytes, Extent* pool);
View queue_alloc(uint16_t queue);
void queue_enqueue(uint16_t queue, const View& view);
View queue_dequeue(uint16_t queue);
void queue_free(uint16_t queue, const View& view);
uint32_t queue_buffer_bytes(uint16_t queue);
int32_t queue_count(uint16_t queue);
bool queue_has_room(uint16_t queue);
bool queue_has_idle_buffer(uint16_t queue);
View buffer_view(const Extent& extent, uint64_t bytes, uint64_t offset);
View rest_of_ub();
void require_reserved_ub();  // the API at hand needs the SoC's reserved end of UB
int8_t event_alloc(uint8_t event);
int8_t event_fetch(uint8_t event);
void event_release(uint8_t event, int8_t id);

}  // namespace af_sim

namespace AscendC {

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
    template <typename T> AF_API LocalTensor<T> AllocTensor() {
        AF_CALL("AllocTensor");
        return Tensor<T>(af_sim::queue_alloc(queue_));
    }
    template <typename T> AF_API void AllocTensor(LocalTensor<T>& tensor) {
        AF_CALL("AllocTensor");
        tensor = Tensor<T>(af_sim::queue_alloc(queue_));
    }
    template <typename T> AF_API void FreeTensor(LocalTensor<T>& tensor) {
        AF_CALL("FreeTensor");
        af_sim::queue_free(queue_, tensor.View());
    }
    template <typename T> AF_API bool EnQue(const LocalTensor<T>& tensor) {
        AF_CALL("EnQue");
        af_sim::queue_enqueue(queue_, tensor.View());
        return true;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> AF_API bool EnQue(const LocalTensor<T>& tensor) {
        AF_CALL("EnQue");
        static_assert(srcUserPos != TPosition::MAX && dstUserPos != TPosition::MAX, "AscendC::EnQue: position missing");
        af_sim::queue_enqueue(queue_, tensor.View());
        return true;
    }
    template <typename T> AF_API LocalTensor<T> DeQue() {
        AF_CALL("DeQue");
        return Tensor<T>(af_sim::queue_dequeue(queue_));
    }
    template <typename T> AF_API void DeQue(LocalTensor<T>& tensor) {
        AF_CALL("DeQue");
        tensor = Tensor<T>(af_sim::queue_dequeue(queue_));
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> AF_API LocalTensor<T> DeQue() {
        AF_CALL("DeQue");
        static_assert(srcUserPos != TPosition::MAX && dstUserPos != TPosition::MAX, "AscendC::DeQue: position missing");
        return Tensor<T>(af_sim::queue_dequeue(queue_));
    }
    bool VacantInQue() { return af_sim::queue_has_room(queue_); }
    bool HasTensorInQue() { return af_sim::queue_count(queue_) > 0; }
    bool HasIdleBuffer() { return af_sim::queue_has_idle_buffer(queue_); }
    int32_t GetTensorCountInQue() { return af_sim::queue_count(queue_); }
    void FreeAllEvent() {}

private:
    friend class TPipe;
    template <TPosition, uint32_t> friend class TBufPool;
    static_assert(src == TPosition::VECIN || src == TPosition::VECOUT || src == TPosition::VECCALC || src == TPosition::GM,
                  "AscendC::TQue: only VECIN, VECOUT and VECCALC queues exist on a vector core");
    template <typename T> LocalTensor<T> Tensor(const af_sim::View& view) const {
        return LocalTensor<T>(view, af_sim::queue_buffer_bytes(queue_) / sizeof(T), src);
    }
    uint16_t queue_ = af_sim::kNoQueue;
};

template <TPosition pos, int32_t depth, auto mask = 0> class TQue : public TQueBind<pos, pos, depth, mask> {};

template <TPosition pos = TPosition::LCM> class TBuf {
public:
    template <typename T> AF_API LocalTensor<T> Get() {
        AF_CALL("TBuf::Get");
        return Tensor<T>(extent_.bytes / sizeof(T), 0);
    }
    template <typename T> AF_API LocalTensor<T> Get(uint32_t length) {
        AF_CALL("TBuf::Get");
        return Tensor<T>(length, 0);
    }
    template <typename T> AF_API LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
        AF_CALL("TBuf::GetWithOffset");
        return Tensor<T>(size, bufOffset);
    }

private:
    friend class TPipe;
    template <TPosition, uint32_t> friend class TBufPool;
    template <typename T> LocalTensor<T> Tensor(uint32_t length, uint32_t offset) const {
        return LocalTensor<T>(af_sim::buffer_view(extent_, uint64_t(length) * sizeof(T), offset), length, pos);
    }
    af_sim::Extent extent_;
};

template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool {
public:
    template <TPosition src, TPosition dst, int32_t depth, auto mask>
    AF_API bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len) {
        AF_CALL("TBufPool::InitBuffer");
        que.queue_ = af_sim::queue_init(uint8_t(src), uint8_t(dst), depth, num, len, &extent_);
        return true;
    }
    template <TPosition bufPos> AF_API bool InitBuffer(TBuf<bufPos>& buf, uint32_t len) {
        AF_CALL("TBufPool::InitBuffer");
        buf.extent_ = af_sim::buffer_init(len, &extent_);
        return true;
    }
    template <TPosition innerPos, uint32_t innerIDSize>
    AF_API bool InitBufPool(TBufPool<innerPos, innerIDSize>& bufPool, uint32_t len) {
        AF_CALL("TBufPool::InitBufPool");
        bufPool.extent_ = bufPool.whole_ = af_sim::buffer_init(len, &extent_);
        return true;
    }
    template <TPosition innerPos, uint32_t innerIDSize, TPosition sharedPos, uint32_t sharedIDSize>
    AF_API bool InitBufPool(TBufPool<innerPos, innerIDSize>& bufPool, uint32_t len,
                            TBufPool<sharedPos, sharedIDSize>& shareBuf) {
        AF_CALL("TBufPool::InitBufPool");
        bufPool.Share(len, shareBuf);
        return true;
    }
    void Reset() { extent_ = whole_; }

private:
    friend class TPipe;
    template <TPosition, uint32_t> friend class TBufPool;
    template <typename Pool> void Share(uint32_t len, const Pool& other) {
        if (len > other.whole_.bytes) {
            af_sim::fail(af_sim::Rule::UbCapacity, "len", len, other.whole_.bytes, "pool is larger than the pool it shares");
        }
        extent_ = whole_ = other.whole_;
    }
    af_sim::Extent extent_, whole_;
};

class TPipe {
public:
    AF_API TPipe() {
        AF_CALL("TPipe");
        af_sim::pipe_begin(this);
    }
    AF_API ~TPipe() { af_sim::pipe_end(this); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    AF_API void Init() {
        AF_CALL("TPipe::Init");
        af_sim::pipe_begin(this);
    }
    AF_API void Destroy() {
        AF_CALL("TPipe::Destroy");
        af_sim::pipe_end(this);
    }
    AF_API void Reset() {
        AF_CALL("TPipe::Reset");
        af_sim::pipe_reset();
    }
    template <TPosition src, TPosition dst, int32_t depth, auto mask>
    AF_API bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len) {
        AF_CALL("InitBuffer");
        que.queue_ = af_sim::queue_init(uint8_t(src), uint8_t(dst), depth, num, len, nullptr);
        return true;
    }
    template <TPosition pos> AF_API bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
        AF_CALL("InitBuffer");
        buf.extent_ = af_sim::buffer_init(len, nullptr);
        return true;
    }
    template <TPosition pos, uint32_t bufIDSize> AF_API bool InitBufPool(TBufPool<pos, bufIDSize>& bufPool, uint32_t len) {
        AF_CALL("InitBufPool");
        bufPool.extent_ = bufPool.whole_ = af_sim::buffer_init(len, nullptr);
        return true;
    }
    template <TPosition pos, uint32_t bufIDSize, TPosition sharedPos, uint32_t sharedIDSize>
    AF_API bool InitBufPool(TBufPool<pos, bufIDSize>& bufPool, uint32_t len, TBufPool<sharedPos, sharedIDSize>& shareBuf) {
        AF_CALL("InitBufPool");
        bufPool.Share(len, shareBuf);
        return true;
    }
    template <HardEvent event> AF_API TEventID AllocEventID() {
        AF_CALL("AllocEventID");
        return af_sim::event_alloc(uint8_t(event));
    }
    template <HardEvent event> AF_API void ReleaseEventID(TEventID id) {
        AF_CALL("ReleaseEventID");
        af_sim::event_release(uint8_t(event), id);
    }
    template <HardEvent event> AF_API TEventID FetchEventID() {
        AF_CALL("FetchEventID");
        return af_sim::event_fetch(uint8_t(event));
    }
    AF_API TEventID FetchEventID(HardEvent event) {
        AF_CALL("FetchEventID");
        return af_sim::event_fetch(uint8_t(event));
    }
    template <TPosition pos, typename T> AF_API LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const {
        AF_CALL("GetAbsAddr");
        return LocalTensor<T>(af_sim::static_view(uint8_t(pos), uint32_t(offset), uint64_t(size) * sizeof(T)),
                              uint32_t(size), pos);
    }
};

// Hands out UB from the bottom, for kernels that place tensors themselves instead of using TPipe. Nothing is freed.
template <Hardware hard = Hardware::UB> class LocalMemAllocator {
public:
    template <TPosition pos, class T, uint32_t tileSize> AF_API LocalTensor<T> Alloc() {
        AF_CALL("LocalMemAllocator::Alloc");
        return Take<T>(pos, tileSize);
    }
    template <TPosition pos, class T> AF_API LocalTensor<T> Alloc(uint32_t tileSize) {
        AF_CALL("LocalMemAllocator::Alloc");
        return Take<T>(pos, tileSize);
    }
    template <class T, uint32_t tileSize> AF_API LocalTensor<T> Alloc() {
        AF_CALL("LocalMemAllocator::Alloc");
        return Take<T>(TPosition::VECCALC, tileSize);
    }
    template <class T> AF_API LocalTensor<T> Alloc(uint32_t tileSize) {
        AF_CALL("LocalMemAllocator::Alloc");
        return Take<T>(TPosition::VECCALC, tileSize);
    }
    uint32_t GetCurAddr() const { return next_; }

private:
    static_assert(hard == Hardware::UB, "AscendC::LocalMemAllocator: a vector core has UB only");
    template <class T> LocalTensor<T> Take(TPosition position, uint32_t elements) {
        const uint64_t bytes = uint64_t(elements) * sizeof(T);
        const af_sim::View view = af_sim::static_view(uint8_t(position), next_, bytes);
        next_ += static_cast<uint32_t>((bytes + 31) / 32 * 32);
        return LocalTensor<T>(view, elements, position);
    }
    uint32_t next_ = 0;
};

// The rest of UB behind every buffer of the pipe, as a temporary.
template <typename T, TPosition pos> AF_API bool PopStackBuffer(LocalTensor<T>& tensor) {
    AF_CALL("PopStackBuffer");
    const af_sim::View view = af_sim::rest_of_ub();
    tensor = LocalTensor<T>(view, view.bytes / sizeof(T), pos);
    return view.bytes > 0;
}

}  // namespace AscendC

inline AscendC::TPipe* GetTPipePtr() { return static_cast<AscendC::TPipe*>(af_sim::pipe_current()); }
