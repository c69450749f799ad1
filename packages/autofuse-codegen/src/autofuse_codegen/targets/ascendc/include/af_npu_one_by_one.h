// Operators that the scalar unit computes element by element, because no instructions compute them exactly. T: integers.
#pragma once
#include "af_npu_alarm.h"
#include "af_npu_divide.h"

template <typename T>
__aicore__ inline T af_element(const AscendC::LocalTensor<T>& x, uint32_t at) {
  return x.GetValue(at);
}
template <typename T>
__aicore__ inline T af_element(T x, uint32_t at) {
  (void)at;
  return x;
}

// to[i] = f(i, a[i], b[i]).
template <typename T, typename A, typename B, typename F>
__aicore__ inline void af_one_by_one(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count, F f) {
  af_order<AscendC::HardEvent::V_S>();
  for (uint32_t i = 0; i < count; ++i) to.SetValue(i, f(i, af_element<T>(a, i), af_element<T>(b, i)));
  af_order<AscendC::HardEvent::S_V>();
}

template <af_division kind, typename T, typename A, typename B>
__aicore__ inline void af_divide_each(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count, af_live live,
                                      uint32_t& raised) {
  constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(0);
  constexpr bool wants_rest = kind == af_division::trunc_mod || kind == af_division::floor_mod;
  constexpr bool is_floor = kind == af_division::floor_div || kind == af_division::floor_mod;
  af_one_by_one(to, a, b, count, [&](uint32_t at, T x, T y) {
    if (y == 0) {
      if (live.has(at)) raised |= AF_STATUS_DIVIDE_BY_ZERO;
      return static_cast<T>(0);
    }
    // The smallest number by -1 has no quotient: it stays as it is.
    const bool is_minus = has_sign && y == static_cast<T>(-1);
    T quotient = is_minus ? static_cast<T>(0 - static_cast<uint64_t>(x)) : static_cast<T>(x / y);
    T rest = is_minus ? static_cast<T>(0) : static_cast<T>(x % y);
    if (is_floor && has_sign && rest != 0 && (rest < 0) != (y < 0)) {
      quotient = static_cast<T>(quotient - 1);
      rest = static_cast<T>(rest + y);
    }
    return wants_rest ? rest : quotient;
  });
}

template <typename T, typename A, typename B>
__aicore__ inline void af_power_each(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count, af_live live,
                                     uint32_t& raised) {
  af_one_by_one(to, a, b, count, [&](uint32_t at, T x, T y) {
    if (y < 0 && live.has(at)) raised |= AF_STATUS_NEGATIVE_POWER;
    uint64_t base = static_cast<uint64_t>(x), result = 1;
    for (uint64_t left = static_cast<uint64_t>(y); left != 0; left >>= 1) {
      if (left & 1u) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  });
}

template <bool is_left, typename T, typename A, typename B>
__aicore__ inline void af_shift_each(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count) {
  constexpr uint64_t width = 8 * sizeof(T);
  af_one_by_one(to, a, b, count, [&](uint32_t at, T x, T y) {
    (void)at;
    const uint64_t by = static_cast<uint64_t>(y);
    if (by < width) return is_left ? static_cast<T>(static_cast<uint64_t>(x) << by) : static_cast<T>(x >> by);
    return !is_left && x < 0 ? static_cast<T>(-1) : static_cast<T>(0);
  });
}

// 64-bit integers as float, rounded so that one more rounding to a shorter type is exact: bits that are lost make the
// last one odd.
template <typename T>
__aicore__ inline void af_odd_float(const AscendC::LocalTensor<float>& to, const AscendC::LocalTensor<T>& from,
                                    uint32_t count) {
  af_order<AscendC::HardEvent::V_S>();
  for (uint32_t i = 0; i < count; ++i) {
    const T x = from.GetValue(i);
    uint64_t size = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    uint32_t exponent = 0;
    uint64_t lost = 0;
    while (size >= (1ULL << 24)) {
      lost |= size & 1u;
      size >>= 1;
      ++exponent;
    }
    float value = static_cast<float>(size | lost);
    for (; exponent > 0; --exponent) value = value * 2.0f;
    to.SetValue(i, x < 0 ? -value : value);
  }
  af_order<AscendC::HardEvent::S_V>();
}
