// requires: af_base.h af_vec.h af_lanes.h af_convert.h
// Comparisons to masks, logic on predicates, select, and classification of floats.
//
// A predicate is an af_mask<K, L> (fresh from a comparison of K-byte lanes) or an af_vec<bool, L> (0 or 1 in a byte, as
// stored). Every function here that takes a predicate takes both, of any K. Half types compare after widening.

template <int K, int L> AF_INLINE af_vec<typename af_int_bytes<K>::s, L> af_mask_lanes(af_mask<K, L> m) {
  af_vec<typename af_int_bytes<K>::s, L> o;
  for (int i = 0; i < m.N; ++i) o.r[i] = m.r[i];
  return o;
}

template <class T, int L> AF_INLINE af_mask<int(sizeof(T)), L> af_lanes_mask(af_vec<T, L> a) {
  af_mask<int(sizeof(T)), L> m;
  for (int i = 0; i < m.N; ++i) m.r[i] = a.r[i];
  return m;
}

// The predicate with lanes of K bytes. Sign extension and truncation both keep all-ones and zero.
template <int K, int KF, int L> AF_INLINE af_mask<K, L> af_mask_to(af_mask<KF, L> m) {
  if constexpr (K == KF) return m;
  else return af_lanes_mask(af_convert<typename af_int_bytes<K>::s>(af_mask_lanes(m)));
}
template <int K, int L> AF_INLINE af_mask<K, L> af_mask_to(af_vec<bool, L> b) {
  af_mask<1, L> m;
  for (int i = 0; i < m.N; ++i) m.r[i] = b.r[i] != typename af_vec<bool, L>::V{};
  return af_mask_to<K>(m);
}

// The predicate as bytes 0 and 1, the form that memory holds.
template <int K, int L> AF_INLINE af_vec<bool, L> af_bool(af_mask<K, L> m) {
  const af_mask<1, L> n = af_mask_to<1>(m);
  af_vec<bool, L> o;
  for (int i = 0; i < o.N; ++i) o.r[i] = (typename af_vec<bool, L>::V)(n.r[i] & 1);
  return o;
}
template <int L> AF_INLINE af_vec<bool, L> af_bool(af_vec<bool, L> b) { return b; }

// Comparisons follow IEEE and C: all but != are false where an operand is NaN.
#define AF_COMPARISON(name, op)                                                                          \
  template <class T, int L> AF_INLINE af_mask<int(sizeof(T)), L> name(af_vec<T, L> a, af_vec<T, L> b) {  \
    static_assert(!af_is_half<T>, #name " compares half types after widening to float");                 \
    af_mask<int(sizeof(T)), L> m;                                                                        \
    for (int i = 0; i < m.N; ++i) m.r[i] = a.r[i] op b.r[i];                                             \
    return m;                                                                                            \
  }
AF_COMPARISON(af_eq, ==)
AF_COMPARISON(af_ne, !=)
AF_COMPARISON(af_lt, <)
AF_COMPARISON(af_le, <=)
AF_COMPARISON(af_gt, >)
AF_COMPARISON(af_ge, >=)

// Logic on predicates: a mask of the width of the first operand.
#define AF_LOGIC(name, op)                                                  \
  template <class P, class Q> AF_INLINE auto name(P a, Q b) {               \
    constexpr int K = P::value_bytes;                                       \
    auto m = af_mask_to<K>(a);                                              \
    const auto n = af_mask_to<K>(b);                                        \
    for (int i = 0; i < m.N; ++i) m.r[i] = m.r[i] op n.r[i];                \
    return m;                                                               \
  }
AF_LOGIC(af_logical_and, &)
AF_LOGIC(af_logical_or, |)
AF_LOGIC(af_logical_xor, ^)

template <class P> AF_INLINE auto af_logical_not(P a) {
  auto m = af_mask_to<P::value_bytes>(a);
  for (int i = 0; i < m.N; ++i) m.r[i] = ~m.r[i];
  return m;
}

// Lanes of `a` where the predicate holds, else of `b`. Any T, half types and bool included.
template <class P, class T, int L> AF_INLINE af_vec<T, L> af_select(P p, af_vec<T, L> a, af_vec<T, L> b) {
  const auto m = af_mask_to<int(sizeof(T))>(p);
  // The sign of a mask lane decides: that is what the blend instructions look at.
  for (int i = 0; i < a.N; ++i) a.r[i] = af_pick(m.r[i] < 0, a.r[i], b.r[i]);
  return a;
}

// Classification of floats, in integer arithmetic on the bits.
template <class T, int L> AF_INLINE auto af_isnan(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_isnan takes float or double");
  return af_ne(a, a);
}
template <class T, int L> AF_INLINE auto af_isinf(af_vec<T, L> a, bool positive = true, bool negative = true) {
  static_assert(af_is_float<T>, "af_isinf takes float or double");
  const T inf = T(__builtin_inf());
  const auto p = af_eq(a, af_splat<T, L>(positive ? inf : -inf));
  return positive && negative ? af_logical_or(p, af_eq(a, af_splat<T, L>(-inf)))
         : positive || negative ? p
                                : af_logical_and(p, af_logical_not(p));
}
template <class T, int L> AF_INLINE auto af_isfinite(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_isfinite takes float or double");
  const af_vec<T, L> zero = af_splat<T, L>(T(0));
  af_vec<T, L> d = a;
  for (int i = 0; i < d.N; ++i) d.r[i] = a.r[i] - a.r[i];  // 0 for finite values, NaN for inf and NaN
  return af_eq(d, zero);
}
template <class T, int L> AF_INLINE auto af_signbit(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_signbit takes float or double");
  return af_lt(af_bitcast<typename af_int_bytes<sizeof(T)>::s>(a),
               af_splat<typename af_int_bytes<sizeof(T)>::s, L>(0));
}

// Whether the predicate holds in any lane.
template <class P> AF_INLINE bool af_any(P p) {
  const auto m = af_mask_to<P::value_bytes>(p);
  af_u64 any = 0;
  for (int i = 0; i < m.N; ++i) any |= af_any_register(m.r[i]);
  return any != 0;
}
