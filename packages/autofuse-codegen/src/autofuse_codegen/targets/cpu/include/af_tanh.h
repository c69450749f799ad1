// requires: af_base.h af_vec.h af_arith.h af_fma.h af_exp.h
// tanh(x) = e / (e + 2) with e = expm1(2 |x|); keeps -0.0 and NaN, +-1 beyond the point where the result rounds there.
#pragma once

template <class T, int L> AF_INLINE af_vec<T, L> af_tanh(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_tanh takes float or double");
  typedef typename af_vec<T, L>::V V;
  const af_vec<T, L> m = af_abs(a);
  af_vec<T, L> o;
  for (int i = 0; i < a.N; ++i) {
    const V limit = af_all<V>(T(sizeof(T) == 4 ? 10 : 22));
    const V x = limit < m.r[i] ? limit : m.r[i];
    const V q = af_expm1_quarter(x + x);
    o.r[i] = q / (q + T(0.5));
  }
  return af_copysign(o, a);
}
