// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_status.h
// Integer division and remainder, truncating (C, ONNX Div) and flooring (Python, NumPy), and integer powers.
//
// A zero divisor yields 0 and raises AF_STATUS_DIVIDE_BY_ZERO; INT_MIN / -1 wraps to INT_MIN with remainder 0. The last
// argument is the number of live lanes of a tail: the others raise nothing.

// Quotients towards zero; b has no zero lane. Up to 32 bits through double, where truncation is exact.
template <class T, int L> AF_INLINE af_vec<T, L> af_quotient(af_vec<T, L> a, af_vec<T, L> b) {
  typedef typename af_vec<T, L>::V V;
  if constexpr (sizeof(T) < 4 || (sizeof(T) == 4 && af_is_signed<T>)) {
    const af_vec<double, L> x = af_convert<double>(af_convert<af_i32>(a)), y = af_convert<double>(af_convert<af_i32>(b));
    af_vec<double, L> q;
    for (int i = 0; i < q.N; ++i) {
      q.r[i] = x.r[i] / y.r[i];
      if constexpr (sizeof(T) == 4) q.r[i] = q.r[i] == 2147483648.0 ? -q.r[i] : q.r[i];  // INT_MIN / -1
    }
    return af_convert<T>(af_convert<af_i32>(q));
  } else {
    typedef typename af_of<V>::U U;
    for (int i = 0; i < a.N; ++i) {
      if constexpr (af_is_signed<T>) {
        const auto minus = b.r[i] == T(-1);
        const V q = a.r[i] / (minus ? V{} + T(1) : b.r[i]);
        a.r[i] = minus ? (V)(-(U)a.r[i]) : q;
      } else {
        a.r[i] = a.r[i] / b.r[i];
      }
    }
    return a;
  }
}

enum : int { AF_TRUNC = 0, AF_FLOOR = 1 };

template <int FLOOR, bool WANT_QUOTIENT, class T, int L>
AF_INLINE af_vec<T, L> af_int_divide(af_vec<T, L> a, af_vec<T, L> b, af_u32 *status, af_i64 n) {
  static_assert(af_is_int<T>, "integer division takes integers");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  af_vec<T, L> safe = b;
  for (int i = 0; i < b.N; ++i) {
    const auto zero = b.r[i] == V{};
    af_raise(status, AF_STATUS_DIVIDE_BY_ZERO, zero, i * b.W, n);
    safe.r[i] = zero ? V{} + T(1) : b.r[i];
  }
  const af_vec<T, L> q = af_quotient(a, safe);
  for (int i = 0; i < a.N; ++i) {
    const U live = ~(U)(b.r[i] == V{});
    const V rest = (V)((U)a.r[i] - (U)q.r[i] * (U)safe.r[i]);
    U quotient = (U)q.r[i], remainder = (U)rest;
    if constexpr (FLOOR && af_is_signed<T>) {
      const U down = (U)((rest != V{}) & ((rest < V{}) ^ (safe.r[i] < V{})));
      quotient += down;  // down is all ones: minus one
      remainder += (U)safe.r[i] & down;
    }
    a.r[i] = (V)((WANT_QUOTIENT ? quotient : remainder) & live);
  }
  return a;
}

#define AF_INT_DIVISION(name, floor, quotient)                                                                       \
  template <class T, int L>                                                                                          \
  AF_INLINE af_vec<T, L> name(af_vec<T, L> a, af_vec<T, L> b, af_u32 *status, af_i64 n = L) {                        \
    return af_int_divide<floor, quotient>(a, b, status, n);                                                          \
  }
AF_INT_DIVISION(af_int_div_trunc, AF_TRUNC, true)
AF_INT_DIVISION(af_int_mod_trunc, AF_TRUNC, false)
AF_INT_DIVISION(af_int_div_floor, AF_FLOOR, true)
AF_INT_DIVISION(af_int_mod_floor, AF_FLOOR, false)

// a to the power b, wrapping; 0 to the power 0 is 1. A negative exponent raises AF_STATUS_NEGATIVE_POWER and yields the
// truncated real power: +-1 for +-1, else 0.
template <class T, int L>
AF_INLINE af_vec<T, L> af_int_pow(af_vec<T, L> a, af_vec<T, L> b, af_u32 *status, af_i64 n = L) {
  static_assert(af_is_int<T>, "af_int_pow takes integers");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  typedef typename af_of<U>::E E;
  for (int i = 0; i < a.N; ++i) {
    U base = (U)a.r[i], left = (U)b.r[i], power = U{} + E(1);
    U keep = ~U{};
    if constexpr (af_is_signed<T>) {
      const auto negative = b.r[i] < V{};
      af_raise(status, AF_STATUS_NEGATIVE_POWER, negative, i * b.W, n);
      const auto unit = (a.r[i] == T(1)) | (a.r[i] == T(-1));
      keep = ~(U)negative | (U)unit;
      left = (left & E(1)) | (left & ~(U)negative);  // only the parity matters for units
    }
    while (af_any_register(left)) {
      power = (left & E(1)) != E(0) ? power * base : power;
      base *= base;
      left >>= E(1);
    }
    a.r[i] = (V)(power & keep);
  }
  return a;
}
