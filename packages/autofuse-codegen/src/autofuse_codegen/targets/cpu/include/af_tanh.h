// requires: af_base.h af_vec.h af_arith.h af_fma.h af_exp.h
// tanh(x) = e / (e + 2) with e = expm1(2 |x|); keeps -0.0 and NaN, +-1 beyond the point where the result rounds there.
// Below 0.625: x + x^3 P(x^2), own minimax fits (Remez, 50 digits), relative error 2^-32 (float) and 2^-56 (double).

template <class T, int L> AF_INLINE af_vec<T, L> af_tanh(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_tanh takes float or double");
  typedef typename af_vec<T, L>::V V;
  const af_vec<T, L> m = af_abs(a);
  af_vec<T, L> o;
  for (int i = 0; i < a.N; ++i) {
    const V limit = af_all<V>(T(sizeof(T) == 4 ? 10 : 22));
    const V x = limit < m.r[i] ? limit : m.r[i];
    const V q = af_expm1_quarter(x + x);
    const V t = m.r[i] * m.r[i];
    V p;
    if constexpr (sizeof(T) == 4) {
      p = af_polynomial(t, 0.00213961257f, -0.00817384943f, 0.0216993149f, -0.0539465174f, 0.133332044f, -0.333333313f);
    } else {
      p = af_polynomial(t, -1.602914647775154e-05, 7.705553576394951e-05, -0.00022848599506873995, 0.0005862777719586584,
                        -0.0014549470025149382, 0.0035919868510291644, -0.008863220713200073, 0.021869487553873523,
                        -0.05396825393029159, 0.13333333333259978, -0.3333333333333284);
    }
    o.r[i] = af_pick(m.r[i] < T(0.625), af_fma(t * m.r[i], p, m.r[i]), q / (q + T(0.5)));
  }
  return af_copysign(o, a);
}
