// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_sqrt.h af_through_double.h
// asin and acos, in double; float is rounded once from it. NaN outside [-1, 1].
//
// Up to 1/2: x + x^3 P(x^2). Beyond: pi/2 - 2 asin(sqrt((1 - |x|) / 2)) with the same P, our own minimax fit (Remez, 50
// digits), 2^-63.

// asin(v) = v + v t P(t), t = v^2 <= 1/4.
template <class V> AF_INLINE V af_arcsin_tail(V t) {
  return t * af_polynomial(t, 0.033692602111794076, -0.026234966768363316, 0.024893265918950205, 0.0006513242381095837,
                           0.010019084770912356, 0.009481994358612397, 0.011585984138039691, 0.0139618713389268,
                           0.017352945561675548, 0.022372151585400735, 0.03038194464526625, 0.04464285713967635,
                           0.07500000000002544, 0.1666666666666666);
}

template <class V> AF_INLINE V af_asin_register(V x) {
  const V a = af_magnitude(x);
  const auto small = a <= 0.5;
  const V t = small ? a * a : (1.0 - a) * 0.5;
  const V v = small ? a : af_sqrt_register(t);
  const V q = v * af_arcsin_tail(t);
  const V big = 1.5707963267948966 - (2.0 * v - (6.123233995736766e-17 - 2.0 * q));
  return af_with_sign(small ? v + q : big, x);
}

template <class V> AF_INLINE V af_acos_register(V x) {
  const V a = af_magnitude(x);
  const auto small = a <= 0.5;
  const V t = small ? a * a : (1.0 - a) * 0.5;
  const V v = small ? x : af_sqrt_register(t);
  const V q = v * af_arcsin_tail(t);
  const V middle = 1.5707963267948966 - (v - (6.123233995736766e-17 - q));
  const V right = 2.0 * (v + q);
  const V left = 3.141592653589793 - (2.0 * v - (1.2246467991473532e-16 - 2.0 * q));
  return small ? middle : x < 0.0 ? left : right;
}

AF_THROUGH_DOUBLE(af_asin, af_asin_register)
AF_THROUGH_DOUBLE(af_acos, af_acos_register)
