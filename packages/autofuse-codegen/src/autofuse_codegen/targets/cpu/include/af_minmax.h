// requires: af_base.h af_vec.h
// Minimum, maximum and clip. Of floats a NaN operand is the result (the second one where both are), and of two equal
// operands (-0.0 and +0.0) the first is. The result has the bits of one of the operands, a NaN its payload.

// The larger register of two as the machine's instruction gives it: the second where one is NaN or both are equal.
template <class V> AF_INLINE V af_max_second(V a, V b) {
  using E [[maybe_unused]] = typename af_of<V>::E;
#if defined(__SSE2__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 16) return __builtin_ia32_maxps(a, b);
  if constexpr (af_same<E, double>::value && sizeof(V) == 16) return __builtin_ia32_maxpd(a, b);
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 32) return __builtin_ia32_maxps256(a, b);
  if constexpr (af_same<E, double>::value && sizeof(V) == 32) return __builtin_ia32_maxpd256(a, b);
#endif
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 64) return __builtin_ia32_maxps512_mask(a, b, V{}, 0xffff, 4);
  if constexpr (af_same<E, double>::value && sizeof(V) == 64) return __builtin_ia32_maxpd512_mask(a, b, V{}, 0xff, 4);
#endif
  return a > b ? a : b;
}
template <class V> AF_INLINE V af_min_second(V a, V b) {
  using E [[maybe_unused]] = typename af_of<V>::E;
#if defined(__SSE2__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 16) return __builtin_ia32_minps(a, b);
  if constexpr (af_same<E, double>::value && sizeof(V) == 16) return __builtin_ia32_minpd(a, b);
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 32) return __builtin_ia32_minps256(a, b);
  if constexpr (af_same<E, double>::value && sizeof(V) == 32) return __builtin_ia32_minpd256(a, b);
#endif
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (af_same<E, float>::value && sizeof(V) == 64) return __builtin_ia32_minps512_mask(a, b, V{}, 0xffff, 4);
  if constexpr (af_same<E, double>::value && sizeof(V) == 64) return __builtin_ia32_minpd512_mask(a, b, V{}, 0xff, 4);
#endif
  return a < b ? a : b;
}

// The instruction takes the operands swapped: where they are equal, and where the first is NaN, it gives the first. A NaN
// in the second is put in here. The test is of the second operand because that is where constants and broadcast biases
// stand: for a constant it is gone after compilation, and a bias that several operators take is tested once.
template <class V> AF_INLINE V af_max_register(V a, V b) {
  const V m = af_max_second(b, a);
  if constexpr (af_is_float<typename af_of<V>::E>) return af_pick(b != b, b, m);
  else return m;
}
template <class V> AF_INLINE V af_min_register(V a, V b) {
  const V m = af_min_second(b, a);
  if constexpr (af_is_float<typename af_of<V>::E>) return af_pick(b != b, b, m);
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
