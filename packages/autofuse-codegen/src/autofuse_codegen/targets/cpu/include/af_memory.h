// requires: af_base.h af_vec.h
// Loads and stores of L lanes: full, tail, strided, non-temporal. Addresses need only the alignment of T.
//
// A tail touches lanes [0, n) alone, 0 <= n < L; no byte outside [p, p + n) is read or written. Bool bytes are read as
// stored (0 or 1). Aliasing: every access goes through a may_alias type.

// A native vector as it lies in memory: unaligned, aliasing anything.
template <class V, class E> struct af_memory {
  typedef V type __attribute__((aligned(alignof(E)), may_alias));
};

template <class T, int L> AF_INLINE af_vec<T, L> af_load(const T *p) {
  typedef af_vec<T, L> A;
  typedef typename af_memory<typename A::V, typename A::E>::type M;
  A o;
  for (int i = 0; i < A::N; ++i) o.r[i] = *(const M *)(p + i * A::W);
  return o;
}

template <class T, int L> AF_INLINE void af_store(T *p, af_vec<T, L> v) {
  typedef af_vec<T, L> A;
  typedef typename af_memory<typename A::V, typename A::E>::type M;
  for (int i = 0; i < A::N; ++i) *(M *)(p + i * A::W) = v.r[i];
}

template <class T> struct af_scalar_memory {
  typedef typename af_storage<T>::type type __attribute__((may_alias));
};

// Lanes at p, p + step, p + 2 step, ... (in elements; zero repeats one element, negative walks backwards).
template <class T, int L> AF_INLINE af_vec<T, L> af_load_strided(const T *p, af_i64 step) {
  typedef typename af_scalar_memory<T>::type M;
  af_vec<T, L> o;
  for (int i = 0; i < L; ++i) af_set_lane(o, i, *(const M *)(p + i * step));
  return o;
}

template <class T, int L> AF_INLINE void af_store_strided(T *p, af_i64 step, af_vec<T, L> v) {
  typedef typename af_scalar_memory<T>::type M;
  for (int i = 0; i < L; ++i) *(M *)(p + i * step) = af_lane(v, i);
}

// The first n lanes from memory, the others `fill` (zero where not given).
template <class T, int L> AF_INLINE af_vec<T, L> af_load_strided_tail(const T *p, af_i64 step, af_i64 n, T fill = T{}) {
  typedef typename af_scalar_memory<T>::type M;
  typename af_storage<T>::type lanes[L];
  for (int i = 0; i < L; ++i) lanes[i] = af_raw(fill);
  for (af_i64 i = 0; i < n; ++i) lanes[i] = *(const M *)(p + i * step);
  return af_load<T, L>((const T *)lanes);
}

template <class T, int L> AF_INLINE void af_store_strided_tail(T *p, af_i64 step, af_vec<T, L> v, af_i64 n) {
  typedef typename af_scalar_memory<T>::type M;
  typename af_storage<T>::type lanes[L];
  af_store<T, L>((T *)lanes, v);
  for (af_i64 i = 0; i < n; ++i) *(M *)(p + i * step) = lanes[i];
}

// Copies n < 2 * STEP lanes in pieces whose sizes are powers of two: no call to memcpy, no loop over single lanes.
template <int STEP, class E> AF_INLINE void af_copy_pieces(E *to, const E *from, af_i64 n, af_i64 done = 0) {
  if (n & STEP) {
    __builtin_memcpy(to + done, from + done, STEP * sizeof(E));
    done += STEP;
  }
  if constexpr (STEP > 1) af_copy_pieces<STEP / 2>(to, from, n, done);
}

template <class T, int L> AF_INLINE af_vec<T, L> af_load_tail(const T *p, af_i64 n, T fill = T{}) {
  T lanes[L];
  for (int i = 0; i < L; ++i) lanes[i] = fill;
  if constexpr (L > 1) af_copy_pieces<L / 2>(lanes, p, n);
  return af_load<T, L>(lanes);
}

template <class T, int L> AF_INLINE void af_store_tail(T *p, af_vec<T, L> v, af_i64 n) {
  T lanes[L];
  af_store<T, L>(lanes, v);
  if constexpr (L > 1) af_copy_pieces<L / 2>(p, (const T *)lanes, n);
}

// Bytes to which the address of a non-temporal store of this type must be aligned.
template <class T, int L> constexpr int af_nt_alignment = int(sizeof(typename af_vec<T, L>::V));

// One register past the caches. The address must be a multiple of af_nt_alignment<T, L>.
template <class V> AF_INLINE void af_store_nt_register(void *p, V v) {
#if defined(__clang__)
  __builtin_nontemporal_store(v, (V *)p);
#elif defined(__SSE2__)
  typedef float F4 __attribute__((vector_size(16)));
  if constexpr (sizeof(V) == 16) __builtin_ia32_movntps((float *)p, (F4)v);
#if defined(__AVX__)
  typedef float F8 __attribute__((vector_size(32)));
  if constexpr (sizeof(V) == 32) __builtin_ia32_movntps256((float *)p, (F8)v);
#endif
#if defined(__AVX512F__)
  typedef float F16 __attribute__((vector_size(64)));
  if constexpr (sizeof(V) == 64) __builtin_ia32_movntps512((float *)p, (F16)v);
#endif
  if constexpr (sizeof(V) < 16) *(V *)p = v;
#else
  *(V *)p = v;
#endif
}

// Non-temporal store; finish a sequence of them with af_fence() before another thread may read.
template <class T, int L> AF_INLINE void af_store_nt(T *p, af_vec<T, L> v) {
  typedef af_vec<T, L> A;
  for (int i = 0; i < A::N; ++i) af_store_nt_register((void *)(p + i * A::W), v.r[i]);
}

// Orders non-temporal stores before everything that follows.
AF_INLINE void af_fence() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

// Asks for the cache line at p, which is read some thousand instructions later; no address is wrong. It goes to the second
// level: the first has no room for what is not read soon.
template <class T> AF_INLINE void af_fetch_ahead(const T *p) { __builtin_prefetch((const void *)p, 0, 2); }
