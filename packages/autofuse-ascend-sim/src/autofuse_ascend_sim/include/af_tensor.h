// GlobalTensor (a range of GM) and LocalTensor (a range of UB). Copying either copies a view, never data.
#pragma once
#include <cstdint>

#include "af_enums.h"
#include "af_sim.h"

namespace af_sim {

// Scalar-unit access to memory: checks bounds and clocks, returns the host address.
void* scalar_local(const View& view, uint64_t byte, uint32_t bytes, Access access, const char* operand);
void* scalar_global(const void* address, uint64_t bytes_left, uint32_t bytes, Access access, const char* operand);
View static_view(uint8_t position, uint32_t offset, uint64_t bytes);
uint32_t ub_bytes();

}  // namespace af_sim

namespace AscendC {

template <typename T> class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize) {
        address_ = buffer;
        size_ = bufferSize;
        left_ = bufferSize;
    }
    void SetGlobalBuffer(__gm__ T* buffer) {
        address_ = buffer;
        size_ = 0;
        left_ = kUnbounded;
    }
    const __gm__ T* GetPhyAddr() const { return address_; }
    __gm__ T* GetPhyAddr(const uint64_t offset) const { return address_ + offset; }
    uint64_t GetSize() const { return size_; }

    AF_API T GetValue(const uint64_t offset) const {
        AF_CALL("GlobalTensor::GetValue");
        return *static_cast<T*>(Scalar(offset, af_sim::Access::Read));
    }
    AF_API void SetValue(const uint64_t offset, T value) {
        AF_CALL("GlobalTensor::SetValue");
        *static_cast<T*>(Scalar(offset, af_sim::Access::Write)) = value;
    }
    AF_API __gm__ T& operator()(const uint64_t offset) const {
        AF_CALL("GlobalTensor::operator()");
        return *static_cast<T*>(Scalar(offset, af_sim::Access::ReadWrite));
    }
    GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor view = *this;
        view.address_ = address_ + offset;
        if (left_ != kUnbounded) view.left_ = offset <= left_ ? left_ - offset : 0;
        view.size_ = offset <= size_ ? size_ - offset : 0;
        return view;
    }
#if AF_ARCH_350
    template <typename U> GlobalTensor<U> ReinterpretCast() const {
        GlobalTensor<U> view;
        if (left_ == kUnbounded) {
            view.SetGlobalBuffer(reinterpret_cast<U*>(address_));
        } else {
            view.SetGlobalBuffer(reinterpret_cast<U*>(address_), left_ * sizeof(T) / sizeof(U));
        }
        return view;
    }
#endif
    template <CacheRwMode rwMode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}
    template <typename Shape> void SetShapeInfo(const Shape&) {
        static_assert(sizeof(Shape) == 0, "AscendC::SetShapeInfo is not covered by autofuse-ascend-sim: tile by hand");
    }
    template <typename None = void> void GetShapeInfo() const {
        static_assert(sizeof(None*) == 0, "AscendC::GetShapeInfo is not covered by autofuse-ascend-sim: tile by hand");
    }

    // For the emulator: bytes that may be touched from here, or the largest number where the size was not given.
    uint64_t BytesLeft() const { return left_ == kUnbounded ? kUnbounded : left_ * sizeof(T); }

private:
    static constexpr uint64_t kUnbounded = ~uint64_t(0);
    void* Scalar(uint64_t offset, af_sim::Access access) const {
        const uint64_t left = left_ == kUnbounded ? kUnbounded : (offset <= left_ ? left_ - offset : 0) * sizeof(T);
        return af_sim::scalar_global(address_ + offset, left, sizeof(T), access, "this");
    }
    __gm__ T* address_ = nullptr;
    uint64_t size_ = 0;
    uint64_t left_ = 0;
};

template <typename T> class LocalTensor;

// `a op b` until it is assigned: see af_operators.h. Comparisons in the order of CMPMODE.
enum class AfOperator : uint8_t { Add, Sub, Mul, Div, Or, And, LT, GT, EQ, LE, GE, NE };
template <AfOperator kind, typename T> struct AfExpression {
    const LocalTensor<T>& a;
    const LocalTensor<T>& b;
};

template <typename T> class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    AF_API explicit LocalTensor(uint32_t address) {  // the rest of UB from here
        AF_CALL("LocalTensor");
        view_ = af_sim::static_view(static_cast<uint8_t>(TPosition::VECCALC), address, af_sim::ub_bytes() - address);
        size_ = view_.bytes / sizeof(T);
    }
    template <AfOperator kind, typename U> AF_API LocalTensor& operator=(const AfExpression<kind, U>& expression);
    AF_API LocalTensor(TPosition position, uint32_t address, uint32_t tileSize) {
        AF_CALL("LocalTensor");
        view_ = af_sim::static_view(static_cast<uint8_t>(position), address, uint64_t(tileSize) * sizeof(T));
        size_ = tileSize;
        position_ = position;
    }
    LocalTensor(const af_sim::View& view, uint32_t size, TPosition position)
        : view_(view), size_(size), position_(position) {}

    uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(Data()); }
    uint64_t GetPhyAddr(const uint32_t offset) const { return reinterpret_cast<uint64_t>(Data() + offset); }
    uint32_t GetSize() const { return size_; }
    void SetSize(const uint32_t size) { size_ = size; }
    int32_t GetPosition() const { return static_cast<int32_t>(position_); }
    void SetUserTag(const TTagType tag) { tag_ = tag; }
    TTagType GetUserTag() const { return tag_; }
    void SetBufferLen(uint32_t bytes) { size_ = bytes / sizeof(T); }

    AF_API T GetValue(const uint32_t index) const {
        AF_CALL("LocalTensor::GetValue");
        return *static_cast<T*>(Scalar(index, af_sim::Access::Read));
    }
    template <typename S> AF_API void SetValue(const uint32_t index, const S value) const {
        AF_CALL("LocalTensor::SetValue");
        *static_cast<T*>(Scalar(index, af_sim::Access::Write)) = static_cast<T>(value);
    }
    AF_API __ubuf__ T& operator()(const uint32_t index) const {
        AF_CALL("LocalTensor::operator()");
        return *static_cast<T*>(Scalar(index, af_sim::Access::ReadWrite));
    }
    AF_API LocalTensor operator[](const uint32_t offset) const {
        const uint64_t bytes = uint64_t(offset) * sizeof(T);
        if (bytes > view_.bytes) {
            AF_CALL("LocalTensor::operator[]");
            af_sim::fail(af_sim::Rule::UbBounds, "this", static_cast<int64_t>(bytes), view_.bytes,
                         "offset of %u elements lies behind the end of the tensor", offset);
        }
        LocalTensor view = *this;
        view.view_.offset += static_cast<uint32_t>(bytes);
        view.view_.bytes -= static_cast<uint32_t>(bytes);
        view.size_ = offset <= size_ ? size_ - offset : 0;
        return view;
    }
    template <typename U> LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(view_, static_cast<uint32_t>(uint64_t(size_) * sizeof(T) / sizeof(U)), position_);
    }

    // For the emulator.
    const af_sim::View& View() const { return view_; }
    T* Data() const { return reinterpret_cast<T*>(af_sim::ub_address(view_.offset)); }

private:
    void* Scalar(uint32_t index, af_sim::Access access) const {
        return af_sim::scalar_local(view_, uint64_t(index) * sizeof(T), sizeof(T), access, "this");
    }
    af_sim::View view_;
    uint32_t size_ = 0;
    TPosition position_ = TPosition::VECCALC;
    TTagType tag_ = 0;
};

}  // namespace AscendC
