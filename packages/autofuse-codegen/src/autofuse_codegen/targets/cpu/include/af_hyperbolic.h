// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_exp.h af_through_double.h
// sinh and cosh, in double; float is rounded once from it. sinh keeps -0.0; both overflow to inf where the result does.

template <class V> AF_INLINE V af_sinh_register(V x) {
  const V a = af_magnitude(x), limit = af_all<V>(710.6);
  const V q = af_expm1_quarter(limit < a ? limit : a);  // (e^a - 1) / 4
  const V y = q + q, d = y + y + 1.0;
  const V rest = a > 40.0 ? V{} : y / d;  // below half a bit of y there, and inf / inf would be NaN
  return af_with_sign(a < 1.0e-9 ? a : y + rest, x);
}

template <class V> AF_INLINE V af_cosh_register(V x) {
  const V a = af_magnitude(x), limit = af_all<V>(710.6);
  const af_reduced<V> q = af_exp_reduce(limit < a ? limit : a);
  const V h = af_scale(af_expm1_reduced(q.r) + 1.0, q.n - 1);  // e^a / 2
  return h + 0.25 / h;
}

AF_THROUGH_DOUBLE(af_sinh, af_sinh_register)
AF_THROUGH_DOUBLE(af_cosh, af_cosh_register)
