// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_through_double.h
// atan and atan2, in double; float is rounded once from it.
//
// The ratio a / b is brought below tan(pi/8) by -b/a or (a - b)/(a + b), in one division; then z + z^3 P(z^2), our own
// minimax fit (Remez, 50 digits), 2^-64. Signed zeros, infinities and NaN as C's atan2.

// atan(a / b) for a, b >= 0, negated and moved by pi where `left` is set: the angle of (b, a) or (-b, a).
template <class V, class M> AF_INLINE V af_arctan_ratio(V a, V b, M left) {
  const auto big = a > b * 2.414213562373095, mid = a > b * 0.41421356237309503;
  const V num = big ? -b : mid ? a - b : a, den = big ? a : mid ? a + b : b;
  V z = num / den;
  const V t = z * z;
  const V p = af_polynomial(t, 0.015203557309050845, -0.033482733343877344, 0.04503905039276735, -0.05218491882987905,
                            0.05877035398023085, -0.06666228147276078, 0.07692282852876743, -0.09090908148700677,
                            0.11111111088293629, -0.14285714285389872, 0.19999999999997684, -0.33333333333333326);
  const V pi = af_all<V>(3.141592653589793), half = af_all<V>(1.5707963267948966), zero = V{};
  const V quarter = left ? af_all<V>(2.356194490192345) : af_all<V>(0.7853981633974483);
  const V base = big ? half : mid ? quarter : left ? pi : zero;
  const V low = base * 3.8981718325193755e-17;  // the bits of base that its double lacks, for all its values
  z = left ? -z : z;
  const V tail = af_fma(z * t, p, low);
  return base + (z + tail);
}

template <class V> AF_INLINE V af_atan_register(V x) {
  const V a = af_magnitude(x);
  return af_with_sign(af_arctan_ratio(a, af_all<V>(1.0), V{} > V{}), x);
}

// The angle of the point (x, y) in (-pi, pi].
template <class V> AF_INLINE V af_atan2_register(V y, V x) {
  typedef typename af_of<V>::I I;
  const V inf = af_all<V>(__builtin_inf()), one = af_all<V>(1.0);
  V a = af_magnitude(y), b = af_magnitude(x);
  const auto both_inf = (a == inf) & (b == inf);
  a = both_inf ? one : a;
  b = both_inf ? one : ((a == V{}) & (b == V{})) ? one : b;
  // Away from overflow of a + b and from subnormals: a common power of two leaves the ratio.
  const V most = a > b ? a : b;
  const V scale = most > 8.452712498170644e270 ? af_all<V>(6.223015277861142e-61)
                  : most < 1.1830521861667747e-271 ? af_all<V>(1.6069380442589903e60) : one;
  a *= scale;
  b *= scale;
  const V r = af_arctan_ratio(a, b, (I)x < I{});
  return af_with_sign(r, y);
}

AF_THROUGH_DOUBLE(af_atan, af_atan_register)

template <class T, int L> AF_INLINE af_vec<T, L> af_atan2(af_vec<T, L> y, af_vec<T, L> x) {
  static_assert(af_is_float<T>, "af_atan2 takes float or double");
  af_vec<double, L> d = af_convert<double>(y);
  const af_vec<double, L> e = af_convert<double>(x);
  for (int i = 0; i < d.N; ++i) d.r[i] = af_atan2_register(d.r[i], e.r[i]);
  return af_convert<T>(d);
}
