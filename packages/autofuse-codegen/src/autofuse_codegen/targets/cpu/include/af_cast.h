// requires: af_base.h af_vec.h af_lanes.h af_convert.h af_compare.h af_half.h
// af_cast<D>(v): between bool, integers of 8 to 64 bits, f16, bf16, float and double, every pair.
//
//   to bool             x != 0 (NaN is true)                  from bool   0 or 1
//   integer to integer  modulo 2^bits
//   float to integer    truncates towards zero; out of range saturates, NaN gives 0, the same on every machine
//                       (NumPy leaves both open; in range the two agree)
//   to any float        to nearest even, rounded once whatever the source (integers and double to f16 or bf16 included)

template <class T> constexpr int af_bits = int(sizeof(T) * 8);

// The power of two just past the largest D, as a float of type F.
template <class F, class D> constexpr F af_past_largest() {
  return F(2) * F(D(1) << (af_bits<D> - 2)) * (af_is_signed<D> ? F(1) : F(2));
}

// Float to integer, saturating. Stages through a signed integer of the float's width (or 64 bits for 64-bit targets).
template <class D, class F, int L> AF_INLINE af_vec<D, L> af_float_to_int(af_vec<F, L> a) {
  if constexpr (sizeof(D) > sizeof(F)) {
    return af_float_to_int<D>(af_convert<double>(a));
  } else {
    typedef typename af_int_bytes<sizeof(F)>::s I;
    typedef typename af_vec<F, L>::V V;
    typedef typename af_vec<I, L>::V IV;
    af_vec<I, L> o;
    if constexpr (sizeof(D) < sizeof(F)) {
      // Limits are exact here, and whatever they leave fits I.
      constexpr F high = af_past_largest<F, D>() - F(1), low = af_is_signed<D> ? -af_past_largest<F, D>() : F(0);
      for (int i = 0; i < a.N; ++i) {
        V x = a.r[i];
        x = x == x ? x : V{};
        x = x > high ? af_all<V>(high) : x;
        a.r[i] = x < low ? af_all<V>(low) : x;
      }
      if constexpr (sizeof(F) == 8 && sizeof(D) == 4 && !af_is_signed<D>) return af_convert<D>(af_convert<I>(a));
      else if constexpr (sizeof(F) == 8) return af_convert<D>(af_convert<af_i32>(a));
      else return af_convert<D>(af_convert<I>(a));
    } else if constexpr (af_is_signed<D>) {
      constexpr F past = af_past_largest<F, D>();
      af_vec<F, L> b;
      for (int i = 0; i < a.N; ++i) {
        const V x = a.r[i];
        b.r[i] = ((x >= -past) & (x < past)) ? x : V{};
      }
      o = af_convert<I>(b);
      for (int i = 0; i < a.N; ++i) {
        const IV most = IV{} + I((typename af_int_bytes<sizeof(I)>::u)(-1) >> 1);
        o.r[i] = a.r[i] >= past ? most : o.r[i];
        o.r[i] = a.r[i] < -past ? ~most : o.r[i];
      }
      return af_bitcast<D>(o);
    } else {
      constexpr F past = af_past_largest<F, D>(), half = past / F(2);
      af_vec<F, L> b;
      for (int i = 0; i < a.N; ++i) {
        const V x = a.r[i];
        const V y = x >= half ? x - half : x;
        b.r[i] = ((x > F(-1)) & (x < past)) ? y : V{};
      }
      o = af_convert<I>(b);
      for (int i = 0; i < a.N; ++i) {
        const V x = a.r[i];
        const IV top = IV{} + I((typename af_int_bytes<sizeof(I)>::u)(1) << (af_bits<I> - 1));
        o.r[i] ^= (IV)((x >= half) & (x < past)) & top;
        o.r[i] = x >= past ? ~IV{} : o.r[i];
      }
      return af_bitcast<D>(o);
    }
  }
}

// 64-bit integers as doubles whose low bit is odd where bits were lost: rounding them once more is then exact.
template <class T, int L> AF_INLINE af_vec<double, L> af_wide_int_to_odd_double(af_vec<T, L> a) {
  typedef typename af_vec<T, L>::V V;
  typedef typename af_vec<af_u64, L>::V U;
  for (int i = 0; i < a.N; ++i) {
    const V x = a.r[i];
    const U negative = af_is_signed<T> ? (U)(x < V{}) : U{};
    const U m = ((U)x ^ negative) - negative;
    const U odd = (m & ~U{} << 12) | ((U)((m & 0xfffull) != 0ull) & 0x1000ull);
    const U r = m >= (1ull << 53) ? odd : m;
    a.r[i] = (V)((r ^ negative) - negative);
  }
  return af_convert<double>(a);
}

template <class D, class T, int L> AF_INLINE af_vec<D, L> af_cast(af_vec<T, L> a) {
  if constexpr (af_same<D, T>::value) {
    return a;
  } else if constexpr (af_is_half<T>) {
    if constexpr (af_is_bool<D>) return af_cast<D>(af_widen_half(a));
    else return af_cast<D>(af_widen_half(a));
  } else if constexpr (af_is_bool<D>) {
    return af_bool(af_ne(a, af_splat<T, L>(T(0))));
  } else if constexpr (af_is_bool<T>) {
    return af_cast<D>(af_bitcast<af_u8>(a));
  } else if constexpr (af_is_half<D>) {
    constexpr bool f16 = af_same<D, af_f16>::value;
    if constexpr (af_is_float<T>) {
      if constexpr (f16) return af_narrow_f16(a);
      else return af_narrow_bf16(a);
    } else if constexpr (sizeof(T) <= 2 || (f16 && sizeof(T) == 4)) {
      return af_cast<D>(af_cast<float>(a));  // exact, or far past the largest f16
    } else if constexpr (sizeof(T) == 4) {
      return af_cast<D>(af_cast<double>(a));
    } else {
      return af_cast<D>(af_wide_int_to_odd_double(a));
    }
  } else if constexpr (af_is_float<T> && af_is_int<D>) {
    return af_float_to_int<D>(a);
  } else if constexpr (af_is_int<T> && af_is_float<D>) {
    if constexpr (sizeof(T) < 4) return af_convert<D>(af_convert<af_i32>(a));
    else return af_convert<D>(a);
  } else {
    return af_convert<D>(a);
  }
}
