// requires: af_base.h af_vec.h af_fma.h af_log.h
// log2 and log10: e + log(m) / ln 2 and the like, exact for powers of two (log2).
//
// The leading part of log(m), cut to half a mantissa, is multiplied exactly; the rest follows at full precision.

// (f - tail) / ln base as a sum: the exact leading product in .e, what is left in .f.
template <class V> AF_INLINE af_log_parts<V> af_log_scaled(V f, V tail, typename af_of<V>::E leading,
                                                           typename af_of<V>::E low) {
  typedef typename af_of<V>::U U;
  constexpr int cut = sizeof(V{}[0]) == 4 ? 12 : 28;
  const V head = (V)((U)(f - tail) & (~U{} << cut)), rest = (f - head) - tail;
  return {head * leading, rest * (leading + low) + head * low};
}

template <class V> AF_INLINE V af_log2_register(V x) {
  typedef typename af_of<V>::E E;
  constexpr bool single = sizeof(E) == 4;
  const af_log_parts<V> p = af_log_split(x);
  const af_log_parts<V> s = af_log_scaled(p.f, af_log_tail(p.f), single ? E(1.4423828125) : E(1.4426950365304947),
                                          single ? E(3.12228389e-4) : E(4.3584687174185184e-09));
  const V sum = p.e + s.e, lost = s.e - (sum - p.e);
  return af_log_special(x, sum + (lost + s.f));
}

template <class V> AF_INLINE V af_log10_register(V x) {
  typedef typename af_of<V>::E E;
  constexpr bool single = sizeof(E) == 4;
  const af_log_parts<V> p = af_log_split(x);
  const af_log_parts<V> s = af_log_scaled(p.f, af_log_tail(p.f), single ? E(0.434204101562500) : E(0.434294480830431),
                                          single ? E(9.03803407e-5) : E(1.0728208431540585e-09));
  const V whole = p.e * (single ? E(0.301025390625) : E(0.3010299955494702));  // exact
  const V sum = whole + s.e, lost = s.e - (sum - whole);
  const V rest = p.e * (single ? E(4.605039e-06) : E(1.1451100898021838e-10)) + s.f;
  return af_log_special(x, sum + (lost + rest));
}

template <class T, int L> AF_INLINE af_vec<T, L> af_log2(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_log2 takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_log2_register(a.r[i]);
  return a;
}
template <class T, int L> AF_INLINE af_vec<T, L> af_log10(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_log10 takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_log10_register(a.r[i]);
  return a;
}
