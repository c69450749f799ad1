// requires: af_base.h af_vec.h af_fma.h
// log of float and double, and the register kernels that log1p, log2, log10 share.
//
// x = 2^e m, m in [1/sqrt 2, sqrt 2), f = m - 1. Float: log(1 + f) = f - f^2/2 + f^3 P(f), |error| 2^-30 relative.
// Double: s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))), 2^-66. P and R are our own minimax fits
// (Remez, 50 digits). Subnormals are scaled first. log(0) = -inf, log(x < 0) = NaN.

template <class V> struct af_log_parts { V f, e; };

// Splits x > 0; other x give finite nonsense that af_log_special replaces. NORMAL: x is known not to be subnormal.
template <bool NORMAL = false, class V> AF_INLINE af_log_parts<V> af_log_split(V x) {
  typedef typename af_of<V>::I I;
  typedef typename af_of<V>::E E;
  constexpr bool single = sizeof(E) == 4;
  constexpr int bits = single ? 23 : 52;
  constexpr E least = single ? E(1.17549435e-38) : E(2.2250738585072014e-308);
  constexpr E up = single ? E(8388608.0) : E(4503599627370496.0);
  [[maybe_unused]] const auto tiny = x < least;
  if constexpr (!NORMAL) x = af_pick(tiny, x * up, x);
  typedef typename af_of<V>::U U;
  // Offset so that the exponent field changes at sqrt(1/2).
  const I root_half = (I)af_all<V>(E(0.70710678118654752));
  const I i = (I)x - root_half;
  const I field = i & ~((I)(~U{} >> (8 * sizeof(E) - bits)));
  const V m = (V)((I)x - field);
  // The exponent as a float by the magic-number way: exact for small integers, and cheap for 64-bit lanes too.
  const V magic = af_all<V>(single ? E(12582912.0) : E(6755399441055744.0));
  const U biased = (U)(field + (I)(af_all<V>(E(1)))) >> bits;  // field wraps nowhere: 1.0 has the bias
  const V sum = (V)((U)magic + biased);
  constexpr E bias = (single ? E(12582912.0) : E(6755399441055744.0)) + (single ? E(127) : E(1023));
  if constexpr (NORMAL) return {m - E(1), sum - bias};
  else return {m - E(1), sum - (tiny ? af_all<V>(bias + E(bits)) : af_all<V>(bias))};
}

template <class V> AF_INLINE V af_log_special(V x, V y) {
  typedef typename af_of<V>::E E;
  const V inf = af_all<V>(E(__builtin_inf())), nan = af_all<V>(E(__builtin_nan("")));
  y = x < inf ? y : x;
  return x > V{} ? y : x == V{} ? -inf : nan;
}

// log(1 + f) = f - tail for f in [1/sqrt 2 - 1, sqrt 2 - 1].
template <class V> AF_INLINE V af_log_tail(V f) {
  const V h = f * f * typename af_of<V>::E(0.5);
  if constexpr (sizeof(V{}[0]) == 4) {
    const V p = af_polynomial(f, 0.0674663186f, -0.116756581f, 0.118881702f, -0.124055885f, 0.142195508f, -0.166679963f,
                              0.200021192f, -0.250000089f, 0.333333135f);
    return af_fma(-(f * f), f * p, h);
  } else {
    const V s = f / (f + 2.0), z = s * s;
    const V r = z * af_polynomial(z, 0.13251713422408773, 0.13250076004879655, 0.15387092620283513, 0.18181775623023924,
                                  0.2222222264732645, 0.28571428569082374, 0.4000000000000626, 0.6666666666666666);
    return h - s * (h + r);
  }
}

// e ln 2 + f - tail, small parts first.
template <class V> AF_INLINE V af_log_join(V e, V f, V tail) {
  if constexpr (sizeof(V{}[0]) == 4) {
    return af_fma(e, af_all<V>(0.693359375f), f - af_fma(e, af_all<V>(2.12194440e-4f), tail));
  } else {
    return af_fma(e, af_all<V>(0.6931471803691238), f - af_fma(e, af_all<V>(-1.9082149292705877e-10), tail));
  }
}

template <class V> AF_INLINE V af_log_register(V x) {
  const af_log_parts<V> p = af_log_split(x);
  return af_log_special(x, af_log_join(p.e, p.f, af_log_tail(p.f)));
}

template <class T, int L> AF_INLINE af_vec<T, L> af_log(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_log takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_log_register(a.r[i]);
  return a;
}
