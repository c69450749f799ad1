// requires: af_base.h af_vec.h
// Halves of a value and their joining: the one place where lanes move between registers.

template <int... I> struct af_indices {};
#if defined(__clang__)
template <class T, T... I> struct af_pack { typedef af_indices<int(I)...> type; };
template <int N> struct af_upto { typedef typename __make_integer_seq<af_pack, int, N>::type type; };
#else
template <int N> struct af_upto { typedef af_indices<__integer_pack(N)...> type; };
#endif

template <class V, int FIRST, int... I> AF_INLINE auto af_shuffle_from(V v, af_indices<I...>) {
  return __builtin_shufflevector(v, v, (FIRST + I)...);
}
template <class H, int... I> AF_INLINE auto af_shuffle_all(H lo, H hi, af_indices<I...>) {
  return __builtin_shufflevector(lo, hi, I...);
}

template <class T, int L> AF_INLINE af_vec<T, L / 2> af_low_half(af_vec<T, L> a) {
  af_vec<T, L / 2> o;
  if constexpr (af_vec<T, L>::N > 1) {
    for (int i = 0; i < o.N; ++i) o.r[i] = a.r[i];
  } else if constexpr (L == 2) {
    o.r[0] = typename af_vec<T, 1>::V{a.r[0][0]};
  } else {
    o.r[0] = af_shuffle_from<typename af_vec<T, L>::V, 0>(a.r[0], typename af_upto<L / 2>::type{});
  }
  return o;
}

template <class T, int L> AF_INLINE af_vec<T, L / 2> af_high_half(af_vec<T, L> a) {
  af_vec<T, L / 2> o;
  if constexpr (af_vec<T, L>::N > 1) {
    for (int i = 0; i < o.N; ++i) o.r[i] = a.r[i + o.N];
  } else if constexpr (L == 2) {
    o.r[0] = typename af_vec<T, 1>::V{a.r[0][1]};
  } else {
    o.r[0] = af_shuffle_from<typename af_vec<T, L>::V, L / 2>(a.r[0], typename af_upto<L / 2>::type{});
  }
  return o;
}

template <class T, int H> AF_INLINE af_vec<T, 2 * H> af_join(af_vec<T, H> lo, af_vec<T, H> hi) {
  af_vec<T, 2 * H> o;
  if constexpr (af_vec<T, 2 * H>::N > 1) {
    for (int i = 0; i < lo.N; ++i) {
      o.r[i] = lo.r[i];
      o.r[i + lo.N] = hi.r[i];
    }
  } else if constexpr (H == 1) {
    o.r[0] = typename af_vec<T, 2>::V{lo.r[0][0], hi.r[0][0]};
  } else {
    o.r[0] = af_shuffle_all(lo.r[0], hi.r[0], typename af_upto<2 * H>::type{});
  }
  return o;
}
