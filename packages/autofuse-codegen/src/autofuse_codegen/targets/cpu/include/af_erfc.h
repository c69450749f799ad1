// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_exp.h af_erfcx.h af_through_double.h
// erfc(x) = 1 - erf(x), relative to the result down to the subnormal ones, in double; float is rounded once from it.

template <class V> AF_INLINE V af_erfc_register(V x) {
  const V a = af_magnitude(x);
  const V tail = af_erfc_positive(af_limit(a, 0.5, 28.0));
  const V near = 1.0 - af_fma(x, af_erf_polynomial(x * x), x);
  return a < 0.5 ? near : x < 0.0 ? 2.0 - tail : tail;
}

AF_THROUGH_DOUBLE(af_erfc, af_erfc_register)
