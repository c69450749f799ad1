// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_sqrt.h af_log.h af_log1p.h af_through_double.h
// asinh, acosh and atanh through log1p, in double; float is rounded once from it. asinh and atanh keep -0.0.

template <class V> AF_INLINE V af_asinh_register(V x) {
  const V a = af_magnitude(x), s = a * a;
  const auto large = a > 268435456.0;
  const V t = large ? a - 1.0 : a + s / (1.0 + af_sqrt_register(s + 1.0));
  const V y = af_log1p_register(t);
  return af_with_sign(large ? y + 0.6931471805599453 : y, x);
}

template <class V> AF_INLINE V af_acosh_register(V x) {
  const V t = x - 1.0;
  const auto large = x > 268435456.0;
  const V y = af_log1p_register(large ? t : t + af_sqrt_register(t + t + t * t));
  return x < 1.0 ? af_all<V>(__builtin_nan("")) : large ? y + 0.6931471805599453 : y;
}

template <class V> AF_INLINE V af_atanh_register(V x) {
  const V a = af_magnitude(x);
  return af_with_sign(0.5 * af_log1p_register((a + a) / (1.0 - a)), x);
}

AF_THROUGH_DOUBLE(af_asinh, af_asinh_register)
AF_THROUGH_DOUBLE(af_acosh, af_acosh_register)
AF_THROUGH_DOUBLE(af_atanh, af_atanh_register)
