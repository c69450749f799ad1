// requires: af_base.h af_vec.h
// Bitwise operations and shifts of integers (and of bool, whose bytes 0 and 1 these keep, but for af_bit_not).
//
// Shifts follow NumPy: counts that are negative or reach the width give 0, or the sign fill for >> of signed types.

#define AF_BITWISE(name, op)                                                                    \
  template <class T, int L> AF_INLINE af_vec<T, L> name(af_vec<T, L> a, af_vec<T, L> b) {       \
    static_assert(af_is_int<T> || af_is_bool<T>, #name " takes integers or bool");              \
    for (int i = 0; i < a.N; ++i) a.r[i] = a.r[i] op b.r[i];                                    \
    return a;                                                                                   \
  }
AF_BITWISE(af_bit_and, &)
AF_BITWISE(af_bit_or, |)
AF_BITWISE(af_bit_xor, ^)

template <class T, int L> AF_INLINE af_vec<T, L> af_bit_not(af_vec<T, L> a) {
  static_assert(af_is_int<T>, "af_bit_not takes integers; bool has af_logical_not");
  for (int i = 0; i < a.N; ++i) a.r[i] = ~a.r[i];
  return a;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_shift_left(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_int<T>, "af_shift_left takes integers");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  typedef typename af_of<U>::E E;
  for (int i = 0; i < a.N; ++i) {
    const U count = (U)b.r[i];
    const auto fits = count < E(8 * sizeof(T));
    a.r[i] = (V)(((U)a.r[i] << (count & (U)fits)) & (U)fits);
  }
  return a;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_shift_right(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_int<T>, "af_shift_right takes integers");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  typedef typename af_of<U>::E E;
  for (int i = 0; i < a.N; ++i) {
    const U count = (U)b.r[i];
    const auto fits = count < E(8 * sizeof(T));
    if constexpr (af_is_signed<T>) {
      const U most = U{} + E(8 * sizeof(T) - 1);
      a.r[i] = a.r[i] >> (V)(fits ? count : most);
    } else {
      a.r[i] = (a.r[i] >> (count & (U)fits)) & (V)fits;
    }
  }
  return a;
}
