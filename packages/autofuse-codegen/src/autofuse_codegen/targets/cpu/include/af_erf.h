// requires: af_base.h af_vec.h af_arith.h af_fma.h af_exp.h af_erfcx.h
// erf of float and double. Small |x|: x + x P(x^2). Else 1 - erfc(|x|), which needs few relative bits there.
//
// Own minimax fits (Remez, 50 digits): float |x| < 0.9, 2^-31 relative; log erfc on [0.9, 4], 2^-33 of erf;
// double |x| < 1, 2^-62, and af_erfcx.h beyond. Keeps -0.0 and NaN; +-1 where the result rounds there.

template <class T, int L> AF_INLINE af_vec<T, L> af_erf(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_erf takes float or double");
  typedef typename af_vec<T, L>::V V;
  const af_vec<T, L> m = af_abs(a);
  af_vec<T, L> o;
  for (int i = 0; i < a.N; ++i) {
    const V x = m.r[i], t = x * x;
    V small, big, edge;
    if constexpr (sizeof(T) == 4) {
      edge = af_all<V>(0.9f);
      small = af_polynomial(t, 8.5131011e-05f, -0.00081756385f, 0.00520385895f, -0.0268605091f, 0.112837151f,
                            -0.376126349f, 0.128379166f);
      const V most = af_all<V>(4.0f), y = most < x ? most : x;
      const V p = af_polynomial(y, -2.06840341e-05f, 0.000429736654f, -0.00414830679f, 0.0250599198f, -0.108188771f,
                                -0.63342917f, -1.12947464f, 0.000166376805f);
      const af_reduced<V> q = af_exp_reduce(p);
      big = 1.0f - (af_expm1_reduced(q.r) + 1.0f) * af_power_of_two<V>(q.n);
    } else {
      edge = af_all<V>(1.0);
      small = af_erf_polynomial(t);
      big = 1.0 - af_erfc_positive(af_limit(x, 0.5, 6.0));
    }
    o.r[i] = af_pick(x < edge, af_fma(x, small, x), big);
  }
  return af_copysign(o, a);
}
