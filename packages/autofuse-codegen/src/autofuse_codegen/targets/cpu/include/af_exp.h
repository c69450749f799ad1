// requires: af_base.h af_vec.h af_fma.h af_minmax.h
// exp and expm1 of float and double, and the register kernels that tanh, sigmoid, sinh, cosh and erf share.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; e^r = 1 + r + r^2 P(r). P is our own minimax fit (Remez, 50 digits), relative
// error 2^-34 (float, for exp), 2^-32 (float, for expm1), 2^-61 (double). 2^n is multiplied in two steps, so that
// subnormal results are rounded once and overflow gives inf. NaN passes through every step. Bounds: math_bounds.toml.

// x = n ln 2 + r; `whole` is n as a float.
template <class V> struct af_reduced { V r; typename af_of<V>::I n; V whole; };

// 2^n for n within the normal exponents.
template <class V> AF_INLINE V af_power_of_two(typename af_of<V>::I n) {
  if constexpr (sizeof(V{}[0]) == 4) return (V)((n + 127) << 23);
  else return (V)((n + 1023) << 52);
}

// p * 2^n for |n| < 2000: halves of n, so that neither factor leaves the normal range.
template <class V> AF_INLINE V af_scale(V p, typename af_of<V>::I n) {
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::I I;
  const I half = (I)((U)(n + 4096) >> 1) - 2048;
  return p * af_power_of_two<V>(half) * af_power_of_two<V>(n - half);
}

// p * 2^n, n a whole number in a float: where the machine has an instruction for it (which rounds once, too), that one.
template <class V> AF_INLINE V af_scale_whole(V p, typename af_of<V>::I n, [[maybe_unused]] V whole) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(V{}[0]) == 4) return __builtin_ia32_scalefps512_mask(p, whole, V{}, 0xffff, 4);
  if constexpr (sizeof(V) == 64 && sizeof(V{}[0]) == 8) return __builtin_ia32_scalefpd512_mask(p, whole, V{}, 0xff, 4);
#endif
  return af_scale(p, n);
}

// x limited to [low, high]; NaN stays.
template <class V, class E> AF_INLINE V af_limit(V x, E low, E high) {
  return af_max_second(af_all<V>(low), af_min_second(af_all<V>(high), x));
}

// n = round(x / ln 2) by adding 1.5 * 2^(mantissa bits), r = x - n ln 2 in two parts.
template <class V> AF_INLINE af_reduced<V> af_exp_reduce(V x) {
  typedef typename af_of<V>::I I;
  if constexpr (sizeof(V{}[0]) == 4) {
    const V magic = af_all<V>(12582912.0f);
    const V t = af_fma(x, af_all<V>(1.44269504f), magic), f = t - magic;
    const V r = af_fma(f, af_all<V>(-1.42860677e-6f), af_fma(f, af_all<V>(-0.693145752f), x));
    return {r, (I)t - (I)magic, f};
  } else {
    const V magic = af_all<V>(6755399441055744.0);
    const V t = af_fma(x, af_all<V>(1.4426950408889634), magic), f = t - magic;
    const V r = af_fma(f, af_all<V>(-1.9082149292705877e-10), af_fma(f, af_all<V>(-0.6931471803691238), x));
    return {r, (I)t - (I)magic, f};
  }
}

// e^r - 1 for |r| <= ln 2 / 2, relative to the result.
template <class V> AF_INLINE V af_expm1_reduced(V r) {
  V p;
  if constexpr (sizeof(V{}[0]) == 4) {
    p = af_polynomial(r, 0.000198458918f, 0.00139406382f, 0.00833338965f, 0.0416663624f, 0.166666657f, 0.5f);
  } else {
    p = af_polynomial(r, 2.0875313041784885e-09, 2.510899059721228e-08, 2.7557402733160484e-07, 2.755724434334471e-06,
                      2.4801587172391297e-05, 0.00019841269885993555, 0.0013888888888962466, 0.008333333333321681,
                      0.04166666666666651, 0.16666666666666677, 0.5);
  }
  return af_fma(r * r, p, r);
}

template <class V> AF_INLINE V af_exp_register(V x) {
  if constexpr (sizeof(V{}[0]) == 4) x = af_limit(x, -104.0f, 89.0f);
  else x = af_limit(x, -746.0, 710.0);
  const af_reduced<V> q = af_exp_reduce(x);
  return af_scale_whole(af_expm1_reduced(q.r) + typename af_of<V>::E(1), q.n, q.whole);
}

// (e^x - 1) / 4: the quarter keeps the largest results of sinh finite. Meant for x >= -50; NaN stays.
template <class V> AF_INLINE V af_expm1_quarter(V x) {
  typedef typename af_of<V>::E E;
  const af_reduced<V> q = af_exp_reduce(x);
  const V s = af_power_of_two<V>(q.n - 2);
  return af_fma(s, af_expm1_reduced(q.r), s - af_all<V>(E(0.25)));
}

template <class T, int L> AF_INLINE af_vec<T, L> af_exp(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_exp takes float or double");
  for (int i = 0; i < a.N; ++i) a.r[i] = af_exp_register(a.r[i]);
  return a;
}

// e^x - 1, relative to the result also near zero; keeps -0.0.
template <class T, int L> AF_INLINE af_vec<T, L> af_expm1(af_vec<T, L> a) {
  static_assert(af_is_float<T>, "af_expm1 takes float or double");
  typedef typename af_vec<T, L>::V V;
  for (int i = 0; i < a.N; ++i) {
    const V x = a.r[i];
    V c;
    if constexpr (sizeof(T) == 4) c = af_limit(x, -50.0f, 89.0f);
    else c = af_limit(x, -50.0, 710.0);
    const V y = af_expm1_quarter(c) * T(4);
    // Below 2^-30 (double: 2^-53) x itself is the rounded result, also where a quarter of it would be subnormal.
    constexpr T tiny = T(sizeof(T) == 4 ? 9.31322575e-10 : 1.1102230246251565e-16);
    a.r[i] = af_pick((x < tiny) & (x > -tiny), x, y);
  }
  return a;
}
