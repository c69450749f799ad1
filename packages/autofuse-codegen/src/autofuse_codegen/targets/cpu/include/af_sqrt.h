// requires: af_base.h af_vec.h
// sqrt (one IEEE rounding) and rsqrt = 1 / sqrt(x) in two roundings.

template <class V> AF_INLINE V af_sqrt_register(V x) {
#if defined(__SSE2__)
  typedef float F4 __attribute__((vector_size(16)));
  typedef double D2 __attribute__((vector_size(16)));
#if defined(__clang__) && __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(x);
#else
  if constexpr (af_same<V, F4>::value) return (V)__builtin_ia32_sqrtps((F4)x);
  if constexpr (af_same<V, D2>::value) return (V)__builtin_ia32_sqrtpd((D2)x);
#if defined(__AVX__)
  typedef float F8 __attribute__((vector_size(32)));
  typedef double D4 __attribute__((vector_size(32)));
  if constexpr (af_same<V, F8>::value) return (V)__builtin_ia32_sqrtps256((F8)x);
  if constexpr (af_same<V, D4>::value) return (V)__builtin_ia32_sqrtpd256((D4)x);
#endif
#if defined(__AVX512F__)
  typedef float F16 __attribute__((vector_size(64)));
  typedef double D8 __attribute__((vector_size(64)));
  constexpr int current_rounding = 4;
#if defined(__clang__)
  if constexpr (af_same<V, F16>::value) return (V)__builtin_ia32_sqrtps512((F16)x, current_rounding);
  if constexpr (af_same<V, D8>::value) return (V)__builtin_ia32_sqrtpd512((D8)x, current_rounding);
#else
  if constexpr (af_same<V, F16>::value)
    return (V)__builtin_ia32_sqrtps512_mask((F16)x, (F16)x, (unsigned short)-1, current_rounding);
  if constexpr (af_same<V, D8>::value)
    return (V)__builtin_ia32_sqrtpd512_mask((D8)x, (D8)x, (unsigned char)-1, current_rounding);
#endif
#endif
#endif
#endif
  for (int i = 0; i < af_of<V>::W; ++i) {
    if constexpr (sizeof(x[0]) == 4) x[i] = __builtin_sqrtf(x[i]);
    else x[i] = __builtin_sqrt(x[i]);
  }
  return x;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_sqrt(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_sqrt takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_sqrt_register(a.r[i]);
  return a;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_rsqrt(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_rsqrt takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = T(1) / af_sqrt_register(a.r[i]);
  return a;
}
