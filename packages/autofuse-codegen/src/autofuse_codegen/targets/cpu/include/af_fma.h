// requires: af_base.h af_vec.h
// a * b + c on native vectors for the math functions: one rounding where the machine has FMA, two elsewhere.
//
// Hence the last bits of transcendental functions may differ between instruction sets; never between lanes. The user's own
// multiplications and additions are not contracted.

#if defined(__FMA__) || defined(__aarch64__)
#define AF_HAS_FMA 1
#else
#define AF_HAS_FMA 0
#endif

template <class V> AF_INLINE V af_fma(V a, V b, V c) {
#if !AF_HAS_FMA
  return a * b + c;
#elif defined(__clang__) && __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
#if defined(__FMA__)
  typedef float F4 __attribute__((vector_size(16)));
  typedef float F8 __attribute__((vector_size(32)));
  typedef double D2 __attribute__((vector_size(16)));
  typedef double D4 __attribute__((vector_size(32)));
  if constexpr (af_same<V, F4>::value) return (V)__builtin_ia32_vfmaddps((F4)a, (F4)b, (F4)c);
  if constexpr (af_same<V, F8>::value) return (V)__builtin_ia32_vfmaddps256((F8)a, (F8)b, (F8)c);
  if constexpr (af_same<V, D2>::value) return (V)__builtin_ia32_vfmaddpd((D2)a, (D2)b, (D2)c);
  if constexpr (af_same<V, D4>::value) return (V)__builtin_ia32_vfmaddpd256((D4)a, (D4)b, (D4)c);
#if defined(__AVX512F__)
  typedef float F16 __attribute__((vector_size(64)));
  typedef double D8 __attribute__((vector_size(64)));
  constexpr int current_rounding = 4;
  if constexpr (af_same<V, F16>::value)
    return (V)__builtin_ia32_vfmaddps512_mask((F16)a, (F16)b, (F16)c, (unsigned short)-1, current_rounding);
  if constexpr (af_same<V, D8>::value)
    return (V)__builtin_ia32_vfmaddpd512_mask((D8)a, (D8)b, (D8)c, (unsigned char)-1, current_rounding);
#endif
#endif
  V o = a;
  for (int i = 0; i < af_of<V>::W; ++i) {
    if constexpr (sizeof(a[0]) == 4) o[i] = __builtin_fmaf(a[i], b[i], c[i]);
    else o[i] = __builtin_fma(a[i], b[i], c[i]);
  }
  return o;
#endif
}

// A polynomial in x by Horner's rule, highest coefficient first.
template <class V, class E> AF_INLINE V af_horner(V x, V p, E c) { return af_fma(p, x, af_all<V>(c)); }
template <class V, class E, class... R> AF_INLINE V af_horner(V x, V p, E c, R... rest) {
  return af_horner(x, af_fma(p, x, af_all<V>(c)), rest...);
}
template <class V, class E, class... R> AF_INLINE V af_polynomial(V x, E first, R... rest) {
  return af_horner(x, af_all<V>(first), rest...);
}

// The rounding error of a * b: the product p = a * b and the returned error add up to it exactly.
template <class V> AF_INLINE V af_product_error(V a, V b, V p) {
#if AF_HAS_FMA
  return af_fma(a, b, -p);
#else
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::E E;
  // Split each factor into halves whose products are exact (Veltkamp, by masking bits).
  constexpr auto low = sizeof(E) == 8 ? 0x7ffffffull : 0xfffull;
  const U keep = ~(U{} + (decltype(U{}[0] + 0))low);
  const V ah = (V)((U)a & keep), al = a - ah, bh = (V)((U)b & keep), bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}
