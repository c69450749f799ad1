// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_fma.h af_trig_reduce.h
// sin, cos, tan of float and double, for every finite argument; NaN of infinities; sin and tan keep -0.0.
//
// Polynomials in r^2 on |r| <= pi/4, own minimax fits (Remez, 50 digits): double 2^-68 and 2^-75, float (evaluated in
// double and rounded once) 2^-37 and 2^-33.

template <class V> struct af_sine_cosine {
  V s, c;
};

// sin and cos of the reduced angle to double precision, its low part included.
template <class V> AF_INLINE af_sine_cosine<V> af_sincos_double(V r, V low) {
  const V t = r * r, h = t * 0.5, one = af_all<V>(1.0), w = one - h;
  const V p = af_polynomial(t, -7.5787482614043e-13, 1.6058367626118443e-10, -2.505210491928052e-08,
                            2.755731921421938e-06, -0.00019841269841255123, 0.008333333333333323, -0.16666666666666666);
  const V q = af_polynomial(t, 4.7381224828536686e-14, -1.1470293565953955e-11, 2.087675436881508e-09,
                            -2.75573192153877e-07, 2.4801587301571523e-05, -0.0013888888888888874, 0.041666666666666664);
  const V s = r + af_fma(t * r, p, low - h * low);
  const V c = w + (((one - w) - h) + af_fma(t * t, q, -r * low));
  return {s, c};
}

// The same to 2^-33, for results that become floats.
template <class V> AF_INLINE af_sine_cosine<V> af_sincos_single(V r) {
  const V t = r * r;
  const V p = af_polynomial(t, 2.7183041195778638e-06, -0.00019839334069343535, 0.008333329383529634, -0.1666666664160641);
  const V q = af_polynomial(t, 2.443837962366191e-05, -0.0013887366911816063, 0.04166664685465371, -0.5);
  return {af_fma(t * r, p, r), af_fma(t, q, af_all<V>(1.0))};
}

enum : int { AF_SINE = 0, AF_COSINE = 1, AF_TANGENT = 2 };

template <int WHICH, bool SINGLE, class V> AF_INLINE V af_trig_register(V x) {
  typedef typename af_of<V>::U U;
  typedef typename af_of<V>::I I;
  const U top = ~(~U{} >> 1), sign = (U)x & top;
  const af_angle<V> a = af_trig_reduce<SINGLE>((V)((U)x ^ sign));
  af_sine_cosine<V> v;
  if constexpr (SINGLE) v = af_sincos_single(a.r);
  else v = af_sincos_double(a.r, a.low);
  const I q = WHICH == AF_COSINE ? a.quadrant + 1 : a.quadrant;
  const I odd = (q & 1) != I{};
  if constexpr (WHICH == AF_TANGENT) {
    const V up = odd ? v.c : v.s, down = odd ? -v.s : v.c;
    return (V)((U)(up / down) ^ sign);
  } else {
    const U flip = ((U)q << 62) & top;
    const V y = (V)((U)(odd ? v.c : v.s) ^ flip);
    return WHICH == AF_SINE ? (V)((U)y ^ sign) : y;
  }
}

#define AF_TRIGONOMETRIC(name, which)                                                             \
  template <class T, int L> AF_INLINE af_vec<T, L> name(af_vec<T, L> a) {                         \
    static_assert(af_is_float<T>, #name " takes float or double");                                \
    af_vec<double, L> d = af_convert<double>(a);                                                  \
    for (int i = 0; i < d.N; ++i) d.r[i] = af_trig_register<which, sizeof(T) == 4>(d.r[i]);       \
    return af_convert<T>(d);                                                                      \
  }
AF_TRIGONOMETRIC(af_sin, AF_SINE)
AF_TRIGONOMETRIC(af_cos, AF_COSINE)
AF_TRIGONOMETRIC(af_tan, AF_TANGENT)
