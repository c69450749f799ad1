// requires: af_base.h af_vec.h af_fma.h af_exp.h
// 2^x: the nearest integer n by the magic-number way, 2^r = 1 + r P(r) on |r| <= 1/2, scaled in two steps as exp is.
//
// Own minimax fits (Remez, 50 digits), relative to the result: float 2^-34, double 2^-64.

template <class V> AF_INLINE V af_exp2_fraction(V r) {
  if constexpr (sizeof(V{}[0]) == 4) {
    return r * af_polynomial(r, 1.53149656e-05f, 0.000154671356f, 0.00133334307f, 0.00961803684f, 0.0555041096f,
                             0.240226511f, 0.693147181f);
  } else {
    return r * af_polynomial(r, 2.5741788110600705e-11, 4.4566705391627985e-10, 7.054888269710927e-09,
                             1.0178051228809326e-07, 1.3215486832992848e-06, 1.5252733856193531e-05,
                             0.00015403530393341198, 0.001333355814639048, 0.009618129107628496, 0.0555041086648217,
                             0.24022650695910072, 0.6931471805599453);
  }
}

template <class V> AF_INLINE V af_exp2_register(V x) {
  typedef typename af_of<V>::I I;
  typedef typename af_of<V>::E E;
  constexpr bool single = sizeof(E) == 4;
  x = af_limit(x, E(single ? -151 : -1076), E(single ? 129 : 1025));
  const V magic = af_all<V>(single ? E(12582912.0) : E(6755399441055744.0));
  const V t = x + magic, r = x - (t - magic);
  return af_scale(af_exp2_fraction(r) + E(1), (I)t - (I)magic);
}

template <class T, int L> AF_INLINE af_vec<T, L> af_exp2(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_exp2 takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_exp2_register(a.r[i]);
  return a;
}
