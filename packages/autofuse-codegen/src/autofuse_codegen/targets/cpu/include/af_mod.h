// requires: af_base.h af_vec.h af_round.h
// Remainders of floats, exact: af_fmod (sign of the dividend, C), af_remainder (sign of the divisor, np.remainder) and
// af_floor_divide (np.floor_divide).
//
// NaN where either is NaN, the dividend is infinite or the divisor is zero (af_floor_divide: a / b then, as NumPy).

// |x| mod y for x >= 0, y > 0 and both finite: binary long division, each subtraction exact (Sterbenz). One pass of the
// loop removes one bit of the quotient from every lane; it ends when all lanes have.
template <class V> AF_INLINE V af_fmod_magnitude(V x, V y) {
  typedef typename af_of<V>::I I;
  typedef typename af_of<V>::E E;
  constexpr int bits = sizeof(E) == 4 ? 23 : 52, bias = sizeof(E) == 4 ? 127 : 1023;
  constexpr E least = sizeof(E) == 4 ? E(1.17549435e-38) : E(2.2250738585072014e-308);
  constexpr E up = sizeof(E) == 4 ? E(8388608.0) : E(4503599627370496.0);
  const auto exponent = [](V v) {
    const I plain = (I)v >> bits, lifted = ((I)(v * up) >> bits) - bits;
    return v < least ? lifted : plain;
  };
  const I ey = exponent(y);
  while (af_any_register(x >= y)) {
    const I k = exponent(x) - ey;  // negative only in lanes that are done
    const I k0 = k < I{} ? I{} : k;
    // 2^k in four factors: from a subnormal y to the largest x, two normal powers would not reach.
    const I part = k0 >> 2, rest = k0 - part - part - part;
    const V step = (V)((part + bias) << bits);
    const V t = y * step * step * step * (V)((rest + bias) << bits);
    const V u = t > x ? t * E(0.5) : t;  // t < 2 x, so this is exact: t is even in units of y's last bit
    x = x >= y ? x - u : x;
  }
  return x;
}

template <class V> AF_INLINE V af_fmod_register(V a, V b) {
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::E E;
  const U sign = ~(~U{} >> 1);
  const V x = (V)((U)a & ~sign), y = (V)((U)b & ~sign), inf = af_all<V>(E(__builtin_inf()));
  const auto regular = (x < inf) & (y > V{}) & (y < inf);
  const V r = af_fmod_magnitude(regular ? x : V{}, regular ? y : af_all<V>(E(1)));
  const V signed_r = (V)((U)r | ((U)a & sign));
  const V nan = af_all<V>(E(__builtin_nan("")));
  const V odd = ((a != a) | (b != b)) ? a + b : (((x < inf) & (y == inf)) ? a : nan);
  return regular ? signed_r : odd;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_fmod(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_fmod takes float or double; integers have af_int_mod_trunc");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_fmod_register(a.r[i], b.r[i]);
  return a;
}

// The remainder with the sign of b; a zero remainder takes b's sign too.
template <class V> AF_INLINE V af_remainder_register(V a, V b) {
  typedef typename af_of<V>::U U;
  const U sign = ~(~U{} >> 1);
  const V m = af_fmod_register(a, b);
  const V moved = ((m < V{}) ^ (b < V{})) ? m + b : m;
  return m == V{} ? (V)((U)b & sign) : moved;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_remainder(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_remainder takes float or double; integers have af_int_mod_floor");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_remainder_register(a.r[i], b.r[i]);
  return a;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_floor_divide(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_floor_divide takes float or double; integers have af_int_div_floor");
  typedef typename af_vec<T, L>::V V;
  typedef typename af_of<V>::U U;
  const U sign = ~(~U{} >> 1);
  for (int i = 0; i < a.N; ++i) {
    const V x = a.r[i], y = b.r[i], ratio = x / y, m = af_fmod_register(x, y);
    V d = (x - m) / y;
    d = ((m != V{}) & ((m < V{}) ^ (y < V{}))) ? d - T(1) : d;
    V f = af_round_register<AF_DOWN>(d);
    f = d - f > T(0.5) ? f + T(1) : f;
    f = d == V{} ? (V)((U)ratio & sign) : f;
    a.r[i] = y == V{} ? ratio : f;
  }
  return a;
}
