// requires: af_base.h af_vec.h af_fma.h
// x = n pi/2 + r + low for the trigonometric functions, in double; float goes through double too.
//
// Up to 2^20 the multiples of pi/2 are subtracted in three parts whose products with n are exact (33 + 33 + 53 bits).
// Where any lane is beyond, those lanes take the slow path: the fraction of x * 2/pi in 192-bit integers (Payne and
// Hanek), so that every double is reduced to its last bit. A lane's bits never depend on its neighbours.

template <class V> struct af_angle {
  V r, low;
  typename af_of<V>::I quadrant;
};

// 2/pi in binary, 64 bits a word, the first bit worth 1/2.
struct af_two_over_pi {
  af_u64 word[21];
};
constexpr af_two_over_pi AF_TWO_OVER_PI = {{
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull,
    0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,
    0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull,
    0x56033046fc7b6babull, 0xf0cfbc209af4361dull, 0xa9e391615ee61b08ull,
}};

AF_INLINE double af_from_bits(af_u64 bits) {
  double d;
  __builtin_memcpy(&d, &bits, 8);
  return d;
}

// One x >= 2^20, finite: r and low with r + low to 2^-62 relative, the quadrant returned.
__attribute__((noinline, cold, unused)) static int af_reduce_huge(double x, double *r, double *low) {
  typedef unsigned __int128 af_u128;
  af_u64 bits;
  __builtin_memcpy(&bits, &x, 8);
  const af_u64 m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const int e = int(bits >> 52) - 1075;  // x = m 2^e, e >= -32
  // Words a of 2/pi from the first bit whose product with m 2^e is no multiple of 4.
  const int first = e > 2 ? e - 2 : 0;
  const af_u64 *w = AF_TWO_OVER_PI.word + first / 64;
  const int s = first % 64;
  af_u64 a[3];
  for (int i = 0; i < 3; ++i) a[i] = s ? w[i] << s | w[i + 1] >> (64 - s) : w[i];
  // p = m a, four words, the highest first.
  const af_u128 p2 = (af_u128)m * a[2], p1 = (af_u128)m * a[1] + (p2 >> 64), p0 = (af_u128)m * a[0] + (p1 >> 64);
  af_u64 p[4] = {(af_u64)(p0 >> 64), (af_u64)p0, (af_u64)p1, (af_u64)p2};
  // Move the point to two bits below the top of p[1]: x 2/pi = p 2^(e - first - 192).
  const int right = 2 - (e - first);
  if (right) {
    for (int i = 3; i > 0; --i) p[i] = p[i] >> right | p[i - 1] << (64 - right);
  }
  int quadrant = int(p[1] >> 62);
  af_u128 f = ((af_u128)p[1] << 64 | p[2]) << 2 | p[3] >> 62;  // the fraction, 128 bits
  const bool negative = f >> 127;
  if (negative) {
    f = -f;
    ++quadrant;
  }
  const int zeros = (af_u64)(f >> 64) ? __builtin_clzll((af_u64)(f >> 64)) : 64;
  const af_u64 top = (af_u64)((f << zeros) >> 64);
  const af_u128 product = (af_u128)top * 0xc90fdaa22168c235ull;  // pi/2 = that / 2^63
  const af_u64 high = (af_u64)(product >> 64), rest = (high & 0x7ff) << 42 | (af_u64)product >> 22;
  const double scale = af_from_bits((af_u64)(1023 - 63 - zeros) << 52) * (negative ? -1.0 : 1.0);
  *r = (double)(high & ~0x7ffull) * scale;
  *low = (double)rest * (scale * 2.2737367544323206e-13);  // 2^-42
  return quadrant;
}

// x >= 0 or NaN; inf gives NaN. SINGLE: two parts and no low, enough for results that become floats.
template <bool SINGLE, class V> AF_INLINE af_angle<V> af_trig_reduce(V x) {
  typedef typename af_of<V>::I I;
  const V magic = af_all<V>(6755399441055744.0);
  const V t = af_fma(x, af_all<V>(0.6366197723675814), magic), n = t - magic;
  const V a = af_fma(n, af_all<V>(-1.5707963267341256), x);
  af_angle<V> o;
  o.quadrant = (I)t;
  if constexpr (SINGLE) {
    o.r = af_fma(n, af_all<V>(-6.077100506506192e-11), a);
    o.low = V{};
  } else {
    const V w = n * 6.077100506303966e-11;
    const V r = a - w, lost = ((a - r) - w) - n * 2.0222662487959506e-21;
    o.r = r + lost;
    o.low = lost - (o.r - r);
  }
  const I huge = x >= 1048576.0;
  if (__builtin_expect(af_any_register(huge) != 0, 0)) {
    for (int i = 0; i < af_of<V>::W; ++i) {
      if (!huge[i]) continue;
      double high = __builtin_nan(""), low = 0;
      if (x[i] < __builtin_inf()) o.quadrant[i] = af_reduce_huge(x[i], &high, &low);
      o.r[i] = high;
      o.low[i] = low;
    }
  }
  return o;
}
