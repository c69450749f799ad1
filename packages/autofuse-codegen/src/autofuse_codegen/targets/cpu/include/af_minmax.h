// requires: af_base.h af_vec.h
// Minimum, maximum and clip. Floats follow np.minimum and np.maximum: a NaN operand is the result (the first one where
// both are), and of two equal operands (-0.0 and +0.0) the second is taken.

template <class V> AF_INLINE V af_max_register(V a, V b) {
  const V m = a > b ? a : b;
  if constexpr (af_is_float<typename af_of<V>::E>) return af_pick(a != a, a, m);
  else return m;
}
template <class V> AF_INLINE V af_min_register(V a, V b) {
  const V m = a < b ? a : b;
  if constexpr (af_is_float<typename af_of<V>::E>) return af_pick(a != a, a, m);
  else return m;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_max(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(!af_is_half<T>, "af_max takes half types after widening to float");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_max_register(a.r[i], b.r[i]);
  return a;
}
template <class T, int L> AF_INLINE af_vec<T, L> af_min(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(!af_is_half<T>, "af_min takes half types after widening to float");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_min_register(a.r[i], b.r[i]);
  return a;
}

// min(max(a, low), high), as np.clip.
template <class T, int L> AF_INLINE af_vec<T, L> af_clip(af_vec<T, L> a, af_vec<T, L> low, af_vec<T, L> high) {
  return af_min(af_max(a, low), high);
}
