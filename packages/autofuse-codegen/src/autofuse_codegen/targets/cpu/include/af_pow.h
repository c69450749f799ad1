// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_log.h af_exp.h af_exp2.h af_round.h af_through_double.h
// a to the power b of floats, with C's special cases: x^0 = 1^y = 1 even for NaN, negative bases for whole exponents only.
//
// log2 |a| = e + (2 / ln 2) atanh(s), s = (m - 1) / (m + 1). Double: s, s + s^3 / 3 and the products in twice the
// precision, the rest a minimax fit (Remez, 50 digits), 2^-66. Float: in double, 2^-37, and rounded once.

template <class V> struct af_pair {
  V high, low;
};

// a * b for pairs, and the sum of a double and a pair, each to about 2^-100 relative.
template <class V> AF_INLINE af_pair<V> af_pair_product(af_pair<V> a, af_pair<V> b) {
  const V p = a.high * b.high;
  return {p, af_product_error(a.high, b.high, p) + (a.high * b.low + a.low * b.high)};
}
template <class V> AF_INLINE af_pair<V> af_pair_add(V a, af_pair<V> b) {
  const V s = a + b.high, t = s - a;
  const V lost = (a - (s - t)) + (b.high - t);
  const V low = lost + b.low, high = s + low;
  return {high, low - (high - s)};
}

// log2 of x > 0 as a pair.
template <class V> AF_INLINE af_pair<V> af_log2_pair(V x) {
  const af_log_parts<V> p = af_log_split(x);
  const V d = p.f + 2.0, d_low = p.f - (d - 2.0);
  const V s = p.f / d;
  const V back = s * d;
  const V s_low = ((p.f - back) - af_product_error(s, d, back) - s * d_low) / d;
  const V z = s * s, z_low = af_product_error(s, s, z) + 2.0 * s * s_low;
  const V q = z * z * af_polynomial(z, 0.06598372246119859, 0.06628386999955375, 0.07693379581379226, 0.09090892164216233,
                                    0.11111111260176153, 0.14285714285048623, 0.2000000000000113);
  const af_pair<V> third = {af_all<V>(0.3333333333333333), af_all<V>(1.850371707708594e-17)};
  af_pair<V> u = af_pair_product(af_pair<V>{z, z_low}, third);
  u.low += q;
  u = af_pair_add(af_all<V>(1.0), u);
  const af_pair<V> scaled = af_pair_product(
      af_pair<V>{s, s_low}, af_pair<V>{af_all<V>(2.8853900817779268), af_all<V>(4.0710547481862066e-17)});
  return af_pair_add(p.e, af_pair_product(scaled, u));
}

// x^y for x > 0, both finite.
template <class V> AF_INLINE V af_pow_positive(V x, V y) {
  typedef typename af_of<V>::I I;
  const af_pair<V> l = af_log2_pair(x);
  const V high = y * l.high;
  const V low = af_product_error(y, l.high, high) + y * l.low;
  const auto bounded = (high < 1100.0) & (high > -1100.0);
  const V h = bounded ? high : af_limit(high, -1100.0, 1100.0), lo = bounded ? low : V{};
  const V magic = af_all<V>(6755399441055744.0);
  const V t = h + magic, r = (h - (t - magic)) + lo;
  return af_scale(af_exp2_fraction(r) + 1.0, (I)t - (I)magic);
}

// The same to about 2^-28, for results that become floats.
template <class V> AF_INLINE V af_pow_positive_single(V x, V y) {
  typedef typename af_of<V>::I I;
  const af_log_parts<V> p = af_log_split<true>(x);
  const V s = p.f / (p.f + 2.0), z = s * s;
  const V q = af_polynomial(z, 0.11791319181999461, 0.14268642229011413, 0.20000167771451632, 0.3333333282201693, 1.0);
  const V h = af_limit(y * af_fma(s * 2.8853900817779268, q, p.e), -300.0, 300.0);
  const V magic = af_all<V>(6755399441055744.0);
  const V t = h + magic, r = h - (t - magic);
  const V f = r * af_polynomial(r, 0.00015476331229891748, 0.0013400295881797239, 0.00961800378272552,
                                0.05550327726388923, 0.2402265134675431, 0.6931472062780839);
  return (f + 1.0) * af_power_of_two<V>((I)t - (I)magic);
}

// Lanes whose power af_pow_positive computes; the others get 1 to the power 1 there.
template <class V> AF_INLINE auto af_pow_plain(V a, V b) {
  typedef typename af_of<V>::E E;
  const V inf = af_all<V>(E(__builtin_inf()));
  return (a > V{}) & (a < inf) & (b < inf);
}

// r = |x|^y of the plain lanes, completed to x^y everywhere.
template <class V> AF_INLINE V af_pow_special(V x, V y, V r) {
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::I I;
  typedef typename af_of<V>::E E;
  const V inf = af_all<V>(E(__builtin_inf())), one = af_all<V>(E(1)), nan = af_all<V>(E(__builtin_nan("")));
  const V a = af_magnitude(x), b = af_magnitude(y), h = y * E(0.5);
  constexpr E all_even = sizeof(E) == 4 ? E(16777216.0) : E(9007199254740992.0);
  const auto whole = af_round_register<AF_TO_ZERO>(y) == y;
  const auto odd = whole & (b < all_even) & (af_round_register<AF_TO_ZERO>(h) != h);
  // Zeros and infinities: the result is 0 or inf, by the direction in which the power drives the base.
  const V extreme = a == one ? one : ((a > one) == (y > V{})) ? inf : V{};
  r = af_pow_plain(a, b) ? r : extreme;
  const auto negative = (I)x < I{};
  r = (V)((U)r | ((U)(negative & odd) & ~(~U{} >> 1)));
  r = (negative & ~whole & (a > V{}) & (a < inf)) ? nan : r;
  r = ((x != x) | (y != y)) ? nan : r;
  return ((y == V{}) | (x == one)) ? one : r;
}

template <class T, int L> AF_INLINE af_vec<T, L> af_pow(af_vec<T, L> a, af_vec<T, L> b) {
  static_assert(af_is_float<T>, "af_pow takes float or double; integers have af_int_pow");
  typedef typename af_vec<T, L>::V V;
  af_vec<T, L> base, power;
  for (int i = 0; i < a.N; ++i) {
    const V m = af_magnitude(a.r[i]), one = af_all<V>(T(1));
    const auto plain = af_pow_plain(m, af_magnitude(b.r[i]));
    base.r[i] = plain ? m : one;
    power.r[i] = plain ? b.r[i] : one;
  }
  af_vec<double, L> d = af_convert<double>(base);
  const af_vec<double, L> e = af_convert<double>(power);
  for (int i = 0; i < d.N; ++i) {
    if constexpr (sizeof(T) == 4) d.r[i] = af_pow_positive_single(d.r[i], e.r[i]);
    else d.r[i] = af_pow_positive(d.r[i], e.r[i]);
  }
  const af_vec<T, L> r = af_convert<T>(d);
  for (int i = 0; i < a.N; ++i) a.r[i] = af_pow_special(a.r[i], b.r[i], r.r[i]);
  return a;
}
