// requires: af_base.h af_vec.h af_lanes.h af_memory.h af_strip.h af_join.h
// Scans: every element joined with those before it, one after the other. The first element is itself; an exclusive scan
// gives the result of the elements before, which for the first is that of nothing.

// Strips from the last to the first: for scans that start at the end.
template <int L, class BODY> AF_INLINE void af_walk_back(af_i64 count, BODY body) {
  af_i64 i = count;
  for (; i >= L; i -= L) body(i - L, af_full<L>{});
  if (i > 0) body(af_i64(0), af_partial<L>{i});
}

// Along the axis that strips walk: lanes in order, from the last one where BACK.
template <class OP, class T, bool EXCLUSIVE, bool BACK> struct af_scan {
  T sum = OP::template nothing<T>();
  bool is_first = true;
  AF_INLINE af_scan() {}
  template <class STRIP, int L> AF_INLINE af_vec<T, L> take(const STRIP &strip, af_vec<T, L> v) {
    T lanes[L];
    af_store<T, L>(lanes, v);
    const af_i64 n = strip.live();
    for (af_i64 k = 0; k < n; ++k) {
      const af_i64 i = BACK ? n - 1 - k : k;
      const T before = sum;
      sum = is_first ? lanes[i] : af_join_two<OP>(sum, lanes[i]);
      is_first = false;
      lanes[i] = EXCLUSIVE ? before : sum;
    }
    return af_load<T, L>(lanes);
  }
};

// Along an axis that is a loop: `sums` holds what each point of the axes inside of it joined so far.
template <class OP, class T, bool EXCLUSIVE> struct af_scan_rows {
  T *sums;
  bool is_first = true;
  AF_INLINE explicit af_scan_rows(T *memory) : sums(memory) {}
  template <class STRIP, int L> AF_INLINE af_vec<T, L> take(af_i64 i, const STRIP &strip, af_vec<T, L> v) {
    T *const p = sums + i;
    const af_vec<T, L> before = is_first ? af_splat<T, L>(OP::template nothing<T>()) : strip.load(p);
    const af_vec<T, L> sum = is_first ? v : OP::join(before, v);
    if (strip.live() == L) af_store<T, L>(p, sum);  // in the cache, also where the kernel's own stores bypass it
    else strip.store(p, sum);
    return EXCLUSIVE ? before : sum;
  }
  AF_INLINE void next() { is_first = false; }
};
