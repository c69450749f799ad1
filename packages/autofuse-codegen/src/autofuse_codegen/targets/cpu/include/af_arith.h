// requires: af_base.h af_vec.h
// + - * / negate, absolute value and sign, element-wise. Floats: one IEEE rounding each. Ints: wrap modulo 2^bits.
//
// Half types do not take part: widen to float, compute, round back. Integer division lives in af_int.h.

template <class T> constexpr bool af_is_arithmetic = af_is_float<T> || af_is_int<T>;

// Runs an expression over the registers. Integers go through the unsigned type, where wrapping is defined.
#define AF_BINARY_WRAPPING(name, op)                                                                  \
  template <class T, int L> AF_INLINE af_vec<T, L> name(af_vec<T, L> a, af_vec<T, L> b) {             \
    static_assert(af_is_arithmetic<T>, #name " takes float, double or an integer");                   \
    typedef typename af_vec<T, L>::V V;                                                               \
    for (int i = 0; i < a.N; ++i) {                                                                   \
      if constexpr (af_is_float<T>) {                                                                 \
        a.r[i] = a.r[i] op b.r[i];                                                                    \
      } else {                                                                                        \
        typedef typename af_of<V>::U U;                                                               \
        a.r[i] = (V)((U)a.r[i] op (U)b.r[i]);                                                         \
      }                                                                                               \
    }                                                                                                 \
    return a;                                                                                         \
  }
AF_BINARY_WRAPPING(af_add, +)
AF_BINARY_WRAPPING(af_sub, -)
AF_BINARY_WRAPPING(af_mul, *)

// IEEE division of floats (x/0 is inf or NaN).
template <class T, int L> AF_INLINE af_vec<T, L> af_div(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_div takes float or double; integers have af_div_trunc and af_div_floor");
  for (int i = 0; i < a.N; ++i) a.r[i] = a.r[i] / b.r[i];
  return a;
}

// 1 / x, one rounding.
template <class T, int L> AF_INLINE af_vec<T, L> af_reciprocal(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_reciprocal takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = T(1) / a.r[i];
  return a;
}

// Flips the sign bit of floats (also of NaN and zero); two's complement negation of integers.
template <class T, int L> AF_INLINE af_vec<T, L> af_neg(af_vec<T, L> a) {
  static_assert(af_is_arithmetic<T>, "af_neg takes float, double or an integer");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  for (int i = 0; i < a.N; ++i) {
    if constexpr (af_is_float<T>) a.r[i] = -a.r[i];
    else a.r[i] = (V)(-(U)a.r[i]);
  }
  return a;
}

// Clears the sign bit of floats; |INT_MIN| wraps to INT_MIN.
template <class T, int L> AF_INLINE af_vec<T, L> af_abs(af_vec<T, L> a) {
  static_assert(af_is_arithmetic<T>, "af_abs takes float, double or an integer");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::I I;
  for (int i = 0; i < a.N; ++i) {
    if constexpr (af_is_float<T>) {
      a.r[i] = (V)((I)a.r[i] & (I)((~U{}) >> 1));
    } else if constexpr (af_is_signed<T>) {
      const V s = a.r[i] < V{};  // all ones where negative
      a.r[i] = (V)(((U)a.r[i] ^ (U)s) - (U)s);
    }
  }
  return a;
}

// -1, 0 or 1. Floats: NaN stays NaN, zeros give +0 as NumPy does.
template <class T, int L> AF_INLINE af_vec<T, L> af_sign(af_vec<T, L> a) {
  static_assert(af_is_arithmetic<T>, "af_sign takes float, double or an integer");
  typedef typename af_vec<T, L>::V V;
  const V one = af_all<V>(T(1));
  for (int i = 0; i < a.N; ++i) {
    const V x = a.r[i];
    if constexpr (af_is_float<T>) {
      const V s = af_pick(x > V{}, one, af_pick(x < V{}, -one, V{}));
      a.r[i] = af_pick(x != x, x, s);
    } else if constexpr (af_is_signed<T>) {
      a.r[i] = (V)((x < V{}) - (x > V{}));
    } else {
      a.r[i] = af_pick(x != V{}, one, V{});
    }
  }
  return a;
}

// The magnitude of a with the sign of b.
template <class T, int L> AF_INLINE af_vec<T, L> af_copysign(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_copysign takes float or double");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  const U m = (~U{}) >> 1;
  for (int i = 0; i < a.N; ++i) a.r[i] = (V)(((U)a.r[i] & m) | ((U)b.r[i] & ~m));
  return a;
}

// The C++ operators of the same meaning, so that expressions read as formulas.
template <class T, int L> AF_INLINE af_vec<T, L> operator+(af_vec<T, L> a, af_vec<T, L> b) { return af_add(a, b); }
template <class T, int L> AF_INLINE af_vec<T, L> operator-(af_vec<T, L> a, af_vec<T, L> b) { return af_sub(a, b); }
template <class T, int L> AF_INLINE af_vec<T, L> operator*(af_vec<T, L> a, af_vec<T, L> b) { return af_mul(a, b); }
template <class T, int L> AF_INLINE af_vec<T, L> operator/(af_vec<T, L> a, af_vec<T, L> b) { return af_div(a, b); }
template <class T, int L> AF_INLINE af_vec<T, L> operator-(af_vec<T, L> a) { return af_neg(a); }
