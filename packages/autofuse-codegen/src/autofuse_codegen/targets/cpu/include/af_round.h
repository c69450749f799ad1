// requires: af_base.h af_vec.h
// floor, ceil, trunc and rint (round half to even) of floats: NaN, infinities and -0.0 stay, results keep x's sign of zero.

enum : int { AF_TO_NEAREST = 8, AF_DOWN = 9, AF_UP = 10, AF_TO_ZERO = 11 };  // bits of roundps; 8 raises no exception

template <int MODE, class V> AF_INLINE V af_round_register(V x) {
#if defined(__SSE4_1__)
  typedef float F4 __attribute__((vector_size(16)));
  typedef double D2 __attribute__((vector_size(16)));
  if constexpr (af_same<V, F4>::value) return (V)__builtin_ia32_roundps((F4)x, MODE);
  if constexpr (af_same<V, D2>::value) return (V)__builtin_ia32_roundpd((D2)x, MODE);
#endif
#if defined(__AVX__)
  typedef float F8 __attribute__((vector_size(32)));
  typedef double D4 __attribute__((vector_size(32)));
  if constexpr (af_same<V, F8>::value) return (V)__builtin_ia32_roundps256((F8)x, MODE);
  if constexpr (af_same<V, D4>::value) return (V)__builtin_ia32_roundpd256((D4)x, MODE);
#endif
#if defined(__AVX512F__)
  typedef float F16 __attribute__((vector_size(64)));
  typedef double D8 __attribute__((vector_size(64)));
  constexpr int current_rounding = 4;
  if constexpr (af_same<V, F16>::value)
    return (V)__builtin_ia32_rndscaleps_mask((F16)x, MODE, (F16)x, (unsigned short)-1, current_rounding);
  if constexpr (af_same<V, D8>::value)
    return (V)__builtin_ia32_rndscalepd_mask((D8)x, MODE, (D8)x, (unsigned char)-1, current_rounding);
#endif
  // Adding 2^mantissa bits to the magnitude rounds it to an integer, to nearest even; then one step where that went too
  // far. Magnitudes from 2^mantissa bits on, inf and NaN are their own rounding.
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::E E;
  const U sign = (U)x & ~(~U{} >> 1);
  const V m = (V)((U)x ^ sign), big = af_all<V>(E(sizeof(E) == 4 ? 8388608.0 : 4503599627370496.0)), one = af_all<V>(E(1));
  const V near = (m + big) - big;
  V r = near;
  if constexpr (MODE == AF_TO_ZERO) r = near > m ? near - one : near;
  const auto negative = (typename af_of<V>::I)sign < typename af_of<V>::I{};
  if constexpr (MODE == AF_DOWN) r = negative ? (near < m ? near + one : near) : (near > m ? near - one : near);
  if constexpr (MODE == AF_UP) r = negative ? (near > m ? near - one : near) : (near < m ? near + one : near);
  return (V)((U)(m < big ? r : m) | sign);
}

#define AF_ROUNDING(name, mode)                                                   \
  template <class T, int L> AF_INLINE af_vec<T, L> name(af_vec<T, L> a) {         \
    static_assert(af_is_float<T>, #name " takes float or double");                \
    for (int i = 0; i < a.N; ++i) a.r[i] = af_round_register<mode>(a.r[i]);       \
    return a;                                                                     \
  }
AF_ROUNDING(af_floor, AF_DOWN)
AF_ROUNDING(af_ceil, AF_UP)
AF_ROUNDING(af_trunc, AF_TO_ZERO)
AF_ROUNDING(af_rint, AF_TO_NEAREST)
