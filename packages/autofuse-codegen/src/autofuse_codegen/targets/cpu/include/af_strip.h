// requires: af_base.h af_memory.h
// Strips: how a generated loop body walks the innermost axis. The body is written once, as a lambda that moves data
// through an access object: full strips, strips whose stores bypass the cache, and one tail.

// Where a row passes from one side of a mask to the other that is `index < limit` in all of it, within [first, end).
AF_INLINE af_i64 af_seam(af_i64 index, af_i64 limit, af_i64 first, af_i64 end) { return index < limit ? end : first; }

// Strip of L lanes that all exist.
template <int L> struct af_full {
  static constexpr int lanes = L;
  AF_INLINE af_i64 live() const { return L; }
  template <class T> AF_INLINE af_vec<T, L> load(const T *p) const { return af_load<T, L>(p); }
  template <class T> AF_INLINE af_vec<T, L> load(const T *p, af_i64 step) const {
    return step == 1 ? af_load<T, L>(p) : af_load_strided<T, L>(p, step);
  }
  template <class T> AF_INLINE void store(T *p, af_vec<T, L> v) const { af_store<T, L>(p, v); }
  template <class T> AF_INLINE void store(T *p, af_i64 step, af_vec<T, L> v) const {
    if (step == 1) af_store<T, L>(p, v);
    else af_store_strided<T, L>(p, step, v);
  }
};

// As af_full, but what is stored is not wanted in the cache. Addresses that are not aligned are stored normally.
template <int L> struct af_streaming : af_full<L> {
  template <class T> AF_INLINE void store(T *p, af_vec<T, L> v) const {
    if ((af_u64)p % af_nt_alignment<T, L> == 0) af_store_nt<T, L>(p, v);
    else af_store<T, L>(p, v);
  }
  template <class T> AF_INLINE void store(T *p, af_i64 step, af_vec<T, L> v) const {
    if (step == 1) store<T>(p, v);
    else af_store_strided<T, L>(p, step, v);
  }
};

// Strip of which only the first n lanes exist, 0 < n < L.
template <int L> struct af_partial {
  static constexpr int lanes = L;
  af_i64 n;
  AF_INLINE af_i64 live() const { return n; }
  template <class T> AF_INLINE af_vec<T, L> load(const T *p) const { return af_load_tail<T, L>(p, n); }
  template <class T> AF_INLINE af_vec<T, L> load(const T *p, af_i64 step) const {
    return step == 1 ? af_load_tail<T, L>(p, n) : af_load_strided_tail<T, L>(p, step, n);
  }
  template <class T> AF_INLINE void store(T *p, af_vec<T, L> v) const { af_store_tail<T, L>(p, v, n); }
  template <class T> AF_INLINE void store(T *p, af_i64 step, af_vec<T, L> v) const {
    if (step == 1) af_store_tail<T, L>(p, v, n);
    else af_store_strided_tail<T, L>(p, step, v, n);
  }
};

// A loop body: one copy of it per kind of strip, never a call.
#define AF_BODY __attribute__((always_inline))

// Runs body(position, access) over [0, count) in strips of L. Nothing is stored past the cache.
template <int L, class Body> AF_INLINE void af_walk_strips(af_i64 count, Body body) {
  af_i64 i = 0;
  for (; i + L <= count; i += L) body(i, af_full<L>{});
  if (i < count) body(i, af_partial<L>{count - i});
}

// As above; with `stream` the strips start where `first` is aligned for a store past the cache.
template <int L, class T, class Body> AF_INLINE void af_walk_strips(af_i64 count, bool stream, const T *first, Body body) {
  const af_i64 past = stream ? (af_i64)((af_u64)first % (L * sizeof(T))) / (af_i64)sizeof(T) : 0;
  af_i64 i = 0, part = past == 0 ? 0 : L - past < count ? L - past : count;
#pragma GCC unroll 1
  for (int end = 0; end < 2; ++end) {  // lead and tail share one copy of the body
    if (part > 0) {
      body(i, af_partial<L>{part});
      i += part;
    }
    if (end) break;
    if (stream)
      for (; i + L <= count; i += L) body(i, af_streaming<L>{});
    else
      for (; i + L <= count; i += L) body(i, af_full<L>{});
    part = count - i;
  }
}
