// requires: af_base.h af_vec.h af_fma.h af_log.h
// log(1 + x), relative to the result also near zero: the logarithm of u = 1 + x, corrected by what the addition lost.
// Keeps -0.0; log1p(-1) = -inf, NaN below.

template <class V> AF_INLINE V af_log1p_register(V x) {
  typedef typename af_of<V>::E E;
  const V one = af_all<V>(E(1)), u = one + x;
  const V lost = x < one ? x - (u - one) : one - (u - x);
  const af_log_parts<V> p = af_log_split(u);
  const V y = af_log_special(u, af_log_join(p.e, p.f, af_log_tail(p.f) - lost / u));
  return x == V{} ? x : y;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_log1p(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_log1p takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_log1p_register(a.r[i]);
  return a;
}
