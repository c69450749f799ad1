// requires: af_base.h af_vec.h af_arith.h af_fma.h af_exp.h
// sigmoid(x) = 1 / (1 + e^-x) from e^-|x|, so that both tails are accurate down to subnormal results.

template <class T, int L> AF_INLINE af_vec<T, L> af_sigmoid(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_sigmoid takes float or double");
  typedef typename af_vec<T, L>::V V;
  const af_vec<T, L> m = af_abs(a);
  for (int i = 0; i < a.N; ++i) {
    const V least = af_all<V>(T(sizeof(T) == 4 ? -104 : -746)), x = -m.r[i];
    const af_reduced<V> q = af_exp_reduce(least > x ? least : x);
    const V p = af_expm1_reduced(q.r), high = p + T(1), low = p - (high - T(1));
    // n lies in [-150, 0] (double: [-1076, 0]): the fixed factor keeps the other one normal.
    constexpr int up = sizeof(T) == 4 ? 64 : 100;
    const V e = high * af_power_of_two<V>(q.n + up) * T(sizeof(T) == 4 ? 5.421010862427522e-20 : 7.888609052210118e-31);
    const V d = e + T(1), d_low = e - (d - T(1));
    V s = e / d;
    // First-order correction for the bits that `high` and `d` rounded away; 2 - high stands for 1 / high.
    const V c = af_fma(low, T(2) - high, -d_low);
    s = af_fma(s, af_fma(-s, c, c), s);
    a.r[i] = af_pick(a.r[i] < V{}, s, T(1) - s);
  }
  return a;
}
