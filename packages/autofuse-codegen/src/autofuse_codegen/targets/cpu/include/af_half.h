// requires: af_base.h af_vec.h af_lanes.h af_convert.h
// af_f16 and af_bf16: widening to float (exact), rounding from float and double (once, to nearest even).
//
// Subnormals, infinities and overflow follow IEEE; a NaN keeps its sign and leading payload bits and becomes quiet. With
// F16C the machine's own conversion serves; the integer path gives the same bits.

template <int L> AF_INLINE af_vec<float, L> af_widen_half(af_vec<af_f16, L> a) {
#if defined(__F16C__)
  typedef short S8 __attribute__((vector_size(16)));
  if constexpr (L == 8) {
    af_vec<float, 8> o;
    o.r[0] = __builtin_ia32_vcvtph2ps256((S8)a.r[0]);
    return o;
  }
  if constexpr (L > 8) return af_join(af_widen_half(af_low_half(a)), af_widen_half(af_high_half(a)));
#endif
  typedef typename af_vec<af_u32, L>::V U;
  typedef typename af_vec<float, L>::V F;
  const af_vec<af_u32, L> u = af_convert<af_u32>(af_bitcast<af_u16>(a));
  af_vec<float, L> o;
  for (int i = 0; i < o.N; ++i) {
    const U h = u.r[i], magnitude = h & 0x7fffu;
    // The magnitude's bits in float position, rebiased by a product that is exact for subnormals too.
    const U scaled = (U)((F)(magnitude << 13) * 5.192296858534828e33f);  // 2^112
    const U special = (U)(magnitude > 0x7bffu) & (magnitude << 13 | 0x7f800000u);
    const U quiet = (U)(magnitude > 0x7c00u) & 0x400000u;
    o.r[i] = (F)(((U)(magnitude > 0x7bffu) & special) | (~(U)(magnitude > 0x7bffu) & scaled) | quiet | (h & 0x8000u) << 16);
  }
  return o;
}

template <int L> AF_INLINE af_vec<float, L> af_widen_half(af_vec<af_bf16, L> a) {
  af_vec<af_u32, L> u = af_convert<af_u32>(af_bitcast<af_u16>(a));
  for (int i = 0; i < u.N; ++i) u.r[i] <<= 16;
  return af_bitcast<float>(u);
}

// Rounds floats or doubles to a grid of P significant bits and least normal exponent MIN, ties to even, in the wide type.
// Adding and subtracting 1.5 * 2^(52 or 23) units of the grid rounds exactly once. Values past the largest half come out
// as the next power of two, which narrowing turns into inf.
template <int P, int MIN, class V> AF_INLINE V af_round_to_grid(V x) {
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::I I;
  typedef typename af_of<V>::E E;
  constexpr int bits = sizeof(E) == 4 ? 23 : 52, bias = sizeof(E) == 4 ? 127 : 1023;
  constexpr auto one = decltype(U{}[0] + 0)(1);
  const U sign = (U)x & (one << (8 * sizeof(E) - 1));
  const V m = (V)((U)x ^ sign);
  I e = (I)((U)m >> bits);
  // Past the half's range only the order matters; limiting the exponent keeps the magic number finite.
  constexpr int top = (P == 11 ? 15 : sizeof(E) == 4 ? 100 : 127) + 1 + bias;
  e = e < MIN + bias ? I{} + (MIN + bias) : e;
  e = e > top ? I{} + top : e;
  const V magic = (V)((e + (bits - P + 1)) << bits | (I{} + 1) << (bits - 1));
  const V r = (m + magic) - magic;
  return (V)((U)(m < (V)((e + 1) << bits) ? r : m) | sign);
}

// Narrows floats that lie on the half's grid, or past it, or are NaN.
template <int L> AF_INLINE af_vec<af_f16, L> af_narrow_on_grid_f16(af_vec<float, L> a) {
  typedef typename af_vec<af_u32, L>::V U;
  typedef typename af_vec<float, L>::V F;
  af_vec<af_u32, L> u;
  for (int i = 0; i < u.N; ++i) {
    const U x = (U)a.r[i], sign = x & 0x80000000u, m = x ^ sign;
    const F most = F{} + 65536.0f;
    const F limited = most < (F)m ? most : (F)m;
    const U scaled = (U)(limited * 1.9259299443872359e-34f) >> 13;  // 2^-112
    const U nan = (m >> 13 & 0x3ffu) | 0x7e00u;
    const U is_nan = (U)(m > 0x7f800000u);
    u.r[i] = (is_nan & nan) | (~is_nan & scaled) | sign >> 16;
  }
  return af_bitcast<af_f16>(af_convert<af_u16>(u));
}

template <int L> AF_INLINE af_vec<af_f16, L> af_narrow_f16(af_vec<float, L> a) {
#if defined(__F16C__)
  typedef float F8 __attribute__((vector_size(32)));
  if constexpr (L == 8 && af_vec<float, L>::N == 1) {
    af_vec<af_f16, L> o;
    o.r[0] = (typename af_vec<af_f16, L>::V)__builtin_ia32_vcvtps2ph256((F8)a.r[0], 0);
    return o;
  }
  if constexpr (L > 8) return af_join(af_narrow_f16(af_low_half(a)), af_narrow_f16(af_high_half(a)));
#endif
  for (int i = 0; i < a.N; ++i) a.r[i] = af_round_to_grid<11, -14>(a.r[i]);
  return af_narrow_on_grid_f16(a);
}

template <int L> AF_INLINE af_vec<af_bf16, L> af_narrow_bf16(af_vec<float, L> a) {
  typedef typename af_vec<af_u32, L>::V U;
  af_vec<af_u32, L> u;
  for (int i = 0; i < u.N; ++i) {
    const U x = (U)a.r[i];
    const U is_nan = (U)((x & 0x7fffffffu) > 0x7f800000u);
    const U rounded = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
    u.r[i] = (is_nan & (x >> 16 | 0x40u)) | (~is_nan & rounded);
  }
  return af_bitcast<af_bf16>(af_convert<af_u16>(u));
}

// From double: rounded to the grid in double first, so that the step through float is exact.
template <int L> AF_INLINE af_vec<af_f16, L> af_narrow_f16(af_vec<double, L> a) {
  for (int i = 0; i < a.N; ++i) a.r[i] = af_round_to_grid<11, -14>(a.r[i]);
  return af_narrow_f16(af_convert<float>(a));
}
template <int L> AF_INLINE af_vec<af_bf16, L> af_narrow_bf16(af_vec<double, L> a) {
  for (int i = 0; i < a.N; ++i) a.r[i] = af_round_to_grid<8, -126>(a.r[i]);
  return af_narrow_bf16(af_convert<float>(a));
}

// A float rounded to the half's values and widened again: what strict numerics does after every operation.
template <int L> AF_INLINE af_vec<float, L> af_round_f16(af_vec<float, L> a) { return af_widen_half(af_narrow_f16(a)); }
template <int L> AF_INLINE af_vec<float, L> af_round_bf16(af_vec<float, L> a) {
  typedef typename af_vec<af_u32, L>::V U;
  for (int i = 0; i < a.N; ++i) {
    const U x = (U)a.r[i];
    const U is_nan = (U)((x & 0x7fffffffu) > 0x7f800000u);
    const U rounded = (x + 0x7fffu + (x >> 16 & 1u)) & 0xffff0000u;
    a.r[i] = (typename af_vec<float, L>::V)((is_nan & ((x | 0x400000u) & 0xffff0000u)) | (~is_nan & rounded));
  }
  return a;
}
