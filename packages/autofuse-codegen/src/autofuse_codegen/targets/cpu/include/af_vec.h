// requires: af_base.h
// af_vec<T, L>: L lanes of T in N registers of W lanes. af_mask<K, L>: L lanes of K bytes, each all ones or zero.
//
// L is a power of two. Where L * sizeof(T) exceeds AF_VECTOR_BYTES the value spreads over several registers; where it is
// less, the register is a narrower one. So every dtype of a strip has the same L, and no lane depends on another.

template <class E, int W> struct af_native { typedef E type __attribute__((vector_size(W * sizeof(E)))); };

template <class E, int L> struct af_shape {
  static constexpr int W = L * int(sizeof(E)) > AF_VECTOR_BYTES ? AF_VECTOR_BYTES / int(sizeof(E)) : L;
  static constexpr int N = L / W;
};

template <class T, int L> struct af_vec {
  typedef T value_type;
  typedef typename af_storage<T>::type E;
  typedef af_shape<E, L> S;
  typedef typename af_native<E, S::W>::type V;
  static constexpr int lanes = L, W = S::W, N = S::N, value_bytes = int(sizeof(E));
  V r[N];
};

template <int K, int L> struct af_mask {
  typedef typename af_int_bytes<K>::s E;
  typedef af_shape<E, L> S;
  typedef typename af_native<E, S::W>::type V;
  static constexpr int lanes = L, W = S::W, N = S::N, value_bytes = K;
  V r[N];
};

// Facts about a native vector type V: element E, lanes W, and the integer vectors of the same layout.
template <class V> struct af_of {
  typedef __typeof__(V{}[0]) R;
  template <class X> struct strip { typedef X type; };
  template <class X> struct strip<X &> { typedef X type; };
  typedef typename strip<R>::type E;
  static constexpr int W = int(sizeof(V) / sizeof(E));
  typedef typename af_native<typename af_int_bytes<sizeof(E)>::s, W>::type I;
  typedef typename af_native<typename af_int_bytes<sizeof(E)>::u, W>::type U;
};

// Every lane set to one value. Written as a difference so that -0.0 stays -0.0.
template <class V, class E> AF_INLINE V af_all(E x) { return x - V{}; }

// Lanes of `a` where the mask is set, else of `b`, on native vectors.
template <class V, class M> AF_INLINE V af_pick(M m, V a, V b) { return m ? a : b; }

AF_INLINE af_u8 af_raw(bool x) { return x; }
AF_INLINE af_u16 af_raw(af_f16 x) { return x.bits; }
AF_INLINE af_u16 af_raw(af_bf16 x) { return x.bits; }
template <class T> AF_INLINE T af_raw(T x) { return x; }

// The same value in every lane.
template <class T, int L> AF_INLINE af_vec<T, L> af_splat(T x) {
  typedef af_vec<T, L> A;
  A o;
  const typename A::E e = af_raw(x);
  for (int i = 0; i < A::N; ++i) o.r[i] = af_all<typename A::V>(e);
  return o;
}

// Lane i of a value, as its storage element.
template <class T, int L> AF_INLINE typename af_vec<T, L>::E af_lane(af_vec<T, L> a, int i) {
  return a.r[i / af_vec<T, L>::W][i % af_vec<T, L>::W];
}

template <class T, int L> AF_INLINE void af_set_lane(af_vec<T, L> &a, int i, typename af_vec<T, L>::E x) {
  a.r[i / af_vec<T, L>::W][i % af_vec<T, L>::W] = x;
}

// Lane numbers start, start + step, ... wrapping as T does.
template <class T, int L> AF_INLINE af_vec<T, L> af_iota(T start, T step) {
  typedef af_vec<T, L> A;
  typedef typename af_of<typename A::V>::U U;
  typedef typename af_int_bytes<sizeof(T)>::u X;
  A o;
  for (int i = 0; i < A::N; ++i) {
    U lane{};
    for (int j = 0; j < A::W; ++j) lane[j] = X(i * A::W + j);  // a constant
    o.r[i] = (typename A::V)(af_all<U>(X(start)) + lane * af_all<U>(X(step)));
  }
  return o;
}

// Non-zero if any bit of a register is set.
template <class V> AF_INLINE af_u64 af_any_register(V v) {
#if defined(__SSE4_1__)
  typedef long long I2 __attribute__((vector_size(16)));
  if constexpr (sizeof(V) == 16) return !__builtin_ia32_ptestz128((I2)v, (I2)v);
#endif
#if defined(__AVX__)
  typedef long long I4 __attribute__((vector_size(32)));
  if constexpr (sizeof(V) == 32) return !__builtin_ia32_ptestz256((I4)v, (I4)v);
#endif
  if constexpr (sizeof(V) >= 8) {
    typedef typename af_native<af_u64, int(sizeof(V) / 8)>::type U;
    const U u = (U)v;
    af_u64 any = 0;
    for (int i = 0; i < int(sizeof(V) / 8); ++i) any |= u[i];
    return any;
  } else {
    typedef typename af_int_bytes<sizeof(V)>::u X;
    X x;
    __builtin_memcpy(&x, &v, sizeof(V));
    return x;
  }
}
