// requires: af_base.h af_vec.h af_lanes.h af_widen.h
// Plain conversions between number types of the same lane count, halving until one register holds each side.
//
// Values must fit the target (af_cast.h makes them): integers change width modulo 2^bits, int to float rounds to nearest
// even, float to int truncates.

// The same bits as another type of the same size.
template <class D, class T, int L> AF_INLINE af_vec<D, L> af_bitcast(af_vec<T, L> a) {
  static_assert(sizeof(D) == sizeof(T), "af_bitcast keeps the size of a lane");
  af_vec<D, L> o;
  for (int i = 0; i < o.N; ++i) o.r[i] = (typename af_vec<D, L>::V)a.r[i];
  return o;
}

template <class H, int... I> AF_INLINE auto af_even_lanes(H v, af_indices<I...>) {
  return __builtin_shufflevector(v, v, (2 * I)...);
}
template <class H, int... I> AF_INLINE auto af_even_lanes(H lo, H hi, af_indices<I...>) {
  return __builtin_shufflevector(lo, hi, (2 * I)...);
}

// g++ turns __builtin_convertvector into lane-by-lane code where it narrows integers without AVX-512, or widens unsigned
// ones; both are said differently here.
template <class D, class T, int L> AF_INLINE af_vec<D, L> af_convert_register(af_vec<T, L> a) {
  typedef af_vec<D, L> A;
  A o;
  if constexpr (L == 1) {
    o.r[0] = typename A::V{(typename A::E)a.r[0][0]};
#if !defined(__clang__)
  } else if constexpr (!af_is_float<D> && !af_is_float<T> && sizeof(D) == sizeof(T)) {
    return af_bitcast<D>(a);
  } else if constexpr (af_widens<D, T, L>) {
    return af_widening<D, T, L>::of(a);
  } else if constexpr (!af_is_float<D> && !af_is_float<T> && sizeof(D) > sizeof(T) &&
                       af_is_signed<D> != af_is_signed<T>) {
    typedef af_int_bytes<sizeof(D)> B;
    if constexpr (af_is_signed<T>) return af_bitcast<D>(af_convert_register<typename B::s>(a));
    else return af_bitcast<D>(af_convert_register<typename B::u>(a));
  } else if constexpr (!af_is_float<D> && !af_is_float<T> && sizeof(D) > sizeof(T) && !af_is_signed<T>) {
    typedef typename af_int_bytes<sizeof(D)>::s DS;
    typedef typename af_int_bytes<sizeof(T)>::s TS;
    auto wide = af_convert_register<DS>(af_bitcast<TS>(a));
    wide.r[0] &= DS((DS(1) << (8 * sizeof(T))) - 1);
    return af_bitcast<D>(wide);
#if !(defined(__AVX512VL__) && defined(__AVX512BW__))
  } else if constexpr (!af_is_float<D> && !af_is_float<T> && sizeof(D) * 2 < sizeof(T)) {
    return af_convert_register<D>(af_convert_register<typename af_int_bytes<sizeof(T) / 2>::u>(a));
  } else if constexpr (!af_is_float<D> && !af_is_float<T> && sizeof(D) < sizeof(T)) {
    typedef typename af_storage<D>::type E;
    if constexpr (L * sizeof(T) == 32) {
      typedef typename af_native<E, L>::type H;
      const auto lo = (H)af_low_half(a).r[0], hi = (H)af_high_half(a).r[0];
      o.r[0] = (typename A::V)af_even_lanes(lo, hi, typename af_upto<L>::type{});
    } else {
      typedef typename af_native<E, 2 * L>::type H;
      o.r[0] = (typename A::V)af_even_lanes((H)a.r[0], typename af_upto<L>::type{});
    }
#endif
#endif
  } else {
    o.r[0] = __builtin_convertvector(a.r[0], typename A::V);
  }
  return o;
}

template <class D, class T, int L> AF_INLINE af_vec<D, L> af_convert(af_vec<T, L> a) {
  if constexpr (af_same<D, T>::value) return a;
  else if constexpr (af_vec<D, L>::N == 1 && af_vec<T, L>::N == 1) return af_convert_register<D>(a);
  else return af_join(af_convert<D>(af_low_half(a)), af_convert<D>(af_high_half(a)));
}
