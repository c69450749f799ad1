// requires: af_base.h af_vec.h
// Widening of one register by the machine's instruction, where g++ would convert lane by lane. Elsewhere (clang++, other
// machines) af_widens is false and __builtin_convertvector does it.

template <class D, class T, int L> constexpr bool af_widens = false;
template <class D, class T, int L> struct af_widening;

#if defined(__SSE4_1__) && !defined(__clang__)
// The low bytes of a 16-byte register; what follows them is zero.
template <class P, class V> AF_INLINE P af_padded(V v) {
  if constexpr (sizeof(V) < 16) {
    typedef long long I2 __attribute__((vector_size(16)));
    typename af_int_bytes<sizeof(V)>::u low;
    __builtin_memcpy(&low, &v, sizeof(V));
    return (P)I2{(long long)low, 0};
  } else {
    return (P)v;
  }
}

#define AF_WIDENING(D, T, L, P, call)                                                                      \
  template <> constexpr bool af_widens<D, T, L> = true;                                                    \
  template <> struct af_widening<D, T, L> {                                                                \
    static AF_INLINE af_vec<D, L> of(af_vec<T, L> a) {                                                     \
      af_vec<D, L> o;                                                                                      \
      typedef af_native<P, (sizeof(T) * L < 16 ? 16 : sizeof(T) * L) / sizeof(P)>::type af_wide;           \
      const af_wide v = af_padded<af_wide>(a.r[0]);                                                        \
      o.r[0] = (af_vec<D, L>::V)(call);                                                                    \
      return o;                                                                                            \
    }                                                                                                      \
  };

AF_WIDENING(af_i16, af_i8, 8, char, __builtin_ia32_pmovsxbw128(v))
AF_WIDENING(af_u16, af_u8, 8, char, __builtin_ia32_pmovzxbw128(v))
AF_WIDENING(af_i32, af_i8, 4, char, __builtin_ia32_pmovsxbd128(v))
AF_WIDENING(af_u32, af_u8, 4, char, __builtin_ia32_pmovzxbd128(v))
AF_WIDENING(af_i64, af_i8, 2, char, __builtin_ia32_pmovsxbq128(v))
AF_WIDENING(af_u64, af_u8, 2, char, __builtin_ia32_pmovzxbq128(v))
AF_WIDENING(af_i32, af_i16, 4, short, __builtin_ia32_pmovsxwd128(v))
AF_WIDENING(af_u32, af_u16, 4, short, __builtin_ia32_pmovzxwd128(v))
AF_WIDENING(af_i64, af_i16, 2, short, __builtin_ia32_pmovsxwq128(v))
AF_WIDENING(af_u64, af_u16, 2, short, __builtin_ia32_pmovzxwq128(v))
AF_WIDENING(af_i64, af_i32, 2, int, __builtin_ia32_pmovsxdq128(v))
AF_WIDENING(af_u64, af_u32, 2, int, __builtin_ia32_pmovzxdq128(v))
#endif

#if defined(__AVX2__) && !defined(__clang__)
AF_WIDENING(af_i16, af_i8, 16, char, __builtin_ia32_pmovsxbw256(v))
AF_WIDENING(af_u16, af_u8, 16, char, __builtin_ia32_pmovzxbw256(v))
AF_WIDENING(af_i32, af_i8, 8, char, __builtin_ia32_pmovsxbd256(v))
AF_WIDENING(af_u32, af_u8, 8, char, __builtin_ia32_pmovzxbd256(v))
AF_WIDENING(af_i64, af_i8, 4, char, __builtin_ia32_pmovsxbq256(v))
AF_WIDENING(af_u64, af_u8, 4, char, __builtin_ia32_pmovzxbq256(v))
AF_WIDENING(af_i32, af_i16, 8, short, __builtin_ia32_pmovsxwd256(v))
AF_WIDENING(af_u32, af_u16, 8, short, __builtin_ia32_pmovzxwd256(v))
AF_WIDENING(af_i64, af_i16, 4, short, __builtin_ia32_pmovsxwq256(v))
AF_WIDENING(af_u64, af_u16, 4, short, __builtin_ia32_pmovzxwq256(v))
AF_WIDENING(af_i64, af_i32, 4, int, __builtin_ia32_pmovsxdq256(v))
AF_WIDENING(af_u64, af_u32, 4, int, __builtin_ia32_pmovzxdq256(v))
AF_WIDENING(double, float, 4, float, __builtin_ia32_cvtps2pd256(v))
AF_WIDENING(double, af_i32, 4, int, __builtin_ia32_cvtdq2pd256(v))
#endif

#if AF_VECTOR_BYTES == 64 && !defined(__clang__)
AF_WIDENING(af_i16, af_i8, 32, char, __builtin_ia32_pmovsxbw512_mask(v, af_native<short, 32>::type{}, -1u))
AF_WIDENING(af_u16, af_u8, 32, char, __builtin_ia32_pmovzxbw512_mask(v, af_native<short, 32>::type{}, -1u))
AF_WIDENING(af_i32, af_i8, 16, char, __builtin_ia32_pmovsxbd512_mask(v, af_native<int, 16>::type{}, 0xffff))
AF_WIDENING(af_u32, af_u8, 16, char, __builtin_ia32_pmovzxbd512_mask(v, af_native<int, 16>::type{}, 0xffff))
AF_WIDENING(af_i64, af_i8, 8, char, __builtin_ia32_pmovsxbq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(af_u64, af_u8, 8, char, __builtin_ia32_pmovzxbq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(af_i32, af_i16, 16, short, __builtin_ia32_pmovsxwd512_mask(v, af_native<int, 16>::type{}, 0xffff))
AF_WIDENING(af_u32, af_u16, 16, short, __builtin_ia32_pmovzxwd512_mask(v, af_native<int, 16>::type{}, 0xffff))
AF_WIDENING(af_i64, af_i16, 8, short, __builtin_ia32_pmovsxwq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(af_u64, af_u16, 8, short, __builtin_ia32_pmovzxwq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(af_i64, af_i32, 8, int, __builtin_ia32_pmovsxdq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(af_u64, af_u32, 8, int, __builtin_ia32_pmovzxdq512_mask(v, af_native<long long, 8>::type{}, 0xff))
AF_WIDENING(double, float, 8, float, __builtin_ia32_cvtps2pd512_mask(v, af_native<double, 8>::type{}, 0xff, 4))
AF_WIDENING(double, af_i32, 8, int, __builtin_ia32_cvtdq2pd512_mask(v, af_native<double, 8>::type{}, 0xff))
#endif
