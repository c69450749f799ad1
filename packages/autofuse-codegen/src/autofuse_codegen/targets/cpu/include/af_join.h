// requires: af_base.h af_vec.h af_lanes.h af_memory.h af_arith.h af_minmax.h af_convert.h af_compare.h
// What reductions join elements with, and the joining of leaves: each with its right neighbour, level by level.

// Each operation: join (the lower element number first), the identity, and the result of joining nothing.
struct af_sum {
  template <class T> static AF_INLINE T identity() { return T(af_is_float<T> ? -0.0 : 0.0); }  // +0.0 would lose signs
  template <class T> static AF_INLINE T nothing() { return T(0); }
  template <class V> static AF_INLINE V join(V a, V b) { return af_add(a, b); }
};
struct af_prod {
  template <class T> static AF_INLINE T identity() { return T(1); }
  template <class T> static AF_INLINE T nothing() { return T(1); }
  template <class V> static AF_INLINE V join(V a, V b) { return af_mul(a, b); }
};

// The lowest value of T, and the highest.
template <class T> AF_INLINE T af_lowest() {
  if constexpr (af_is_float<T>) return T(-__builtin_inf());
  else if constexpr (af_is_signed<T>) return T(typename af_int_bytes<sizeof(T)>::u(1) << (8 * sizeof(T) - 1));
  else return T(0);
}
template <class T> AF_INLINE T af_highest() {
  if constexpr (af_is_float<T>) return T(__builtin_inf());
  else if constexpr (af_is_bool<T>) return true;
  else return T(~af_lowest<T>());
}
struct af_largest {
  template <class T> static AF_INLINE T identity() { return af_lowest<T>(); }
  template <class T> static AF_INLINE T nothing() { return af_lowest<T>(); }
  template <class V> static AF_INLINE V join(V a, V b) { return af_max(a, b); }
};
struct af_smallest {
  template <class T> static AF_INLINE T identity() { return af_highest<T>(); }
  template <class T> static AF_INLINE T nothing() { return af_highest<T>(); }
  template <class V> static AF_INLINE V join(V a, V b) { return af_min(a, b); }
};

// Two elements joined, as storage elements.
template <class OP, class T> AF_INLINE T af_join_two(T a, T b) {
  const af_vec<T, 1> joined = OP::join(af_splat<T, 1>(a), af_splat<T, 1>(b));
  T o;
  af_store<T, 1>(&o, joined);
  return o;
}

// All lanes joined: halves of what is left, until one is left.
template <class OP, class T, int L> AF_INLINE T af_fold(af_vec<T, L> v) {
  if constexpr (L == 1) {
    T o;
    af_store<T, 1>(&o, v);
    return o;
  } else {
    return af_fold<OP>(OP::join(af_low_half(v), af_high_half(v)));
  }
}

// Leaves so far, as complete trees of sizes that are powers of two, the largest first: the digits of a binary counter.
template <class OP, class T> struct af_leaves {
  T trees[64];
  int depth = 0;
  af_u64 leaves = 0;
  AF_INLINE void push(T leaf) {
    for (af_u64 n = leaves; n & 1; n >>= 1) leaf = af_join_two<OP>(trees[--depth], leaf);
    trees[depth++] = leaf;
    ++leaves;
  }
  AF_INLINE T joined() const {
    if (depth == 0) return OP::template nothing<T>();
    T all = trees[depth - 1];
    for (int i = depth - 2; i >= 0; --i) all = af_join_two<OP>(trees[i], all);
    return all;
  }
};

// The n leaves that blocks left in memory, joined.
template <class OP, class T> AF_INLINE T af_joined(const T *from, af_i64 n) {
  af_leaves<OP, T> all;
  for (af_i64 i = 0; i < n; ++i) all.push(from[i]);
  return all.joined();
}

// As above for the first `live` of L neighbours, whose leaves lie `step` elements apart.
template <class OP, int L, class T> AF_INLINE af_vec<T, L> af_joined(const T *from, af_i64 step, af_i64 n, af_i64 live) {
  T lanes[L] = {};
  for (af_i64 i = 0; i < live; ++i) lanes[i] = af_joined<OP>(from + i * step, n);
  return af_load<T, L>(lanes);
}

// Writes one element.
template <class T> AF_INLINE void af_put(T *to, T value) { *to = value; }
