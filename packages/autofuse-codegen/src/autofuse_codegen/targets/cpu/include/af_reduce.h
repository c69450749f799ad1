// requires: af_base.h af_vec.h af_lanes.h af_memory.h af_strip.h af_join.h
// Reductions along the axis that strips walk: one row of elements becomes one value, in the order of the reduction tree.
//
// Elements are cut into leaves of LEAF. Inside a leaf, partial j of P takes the elements whose number is j modulo P, in
// order; then partials are halved until one is left, and leaves are joined by af_leaves. No result depends on how many
// lanes a strip has or where it starts.

// The row so far. Finished leaves go onto the stack, or to memory at `to` where other blocks add theirs.
template <class OP, class T, int P, int LEAF> struct af_tree {
  typedef OP operation;
  typedef T value_type;
  static constexpr int partials = P, leaf = LEAF;
  alignas(64) T partial[P];
  af_i64 at = 0;
  T *to;
  af_leaves<OP, T> stack;

  AF_INLINE explicit af_tree(T *leaves = nullptr) : to(leaves) { restart(); }
  AF_INLINE af_i64 place_in(int size) const { return at & (size - 1); }  // sizes are powers of two
  AF_INLINE void restart() { af_store<T, P>(partial, af_splat<T, P>(OP::template identity<T>())); }
  AF_INLINE void end_leaf() {
    const T leaf_value = af_fold<OP>(af_load<T, P>(partial));
    if (to) *to++ = leaf_value;
    else stack.push(leaf_value);
  }
  AF_ONCE void close() {
    end_leaf();
    restart();
  }
  AF_INLINE void advance(af_i64 n) {  // never over the end of a leaf
    at += n;
    if (place_in(LEAF) == 0) close();
  }
  // Takes n lanes, one by one.
  AF_ONCE void take_lanes(const T *lanes, af_i64 n) {
    for (af_i64 i = 0; i < n; ++i) {
      T *const p = partial + place_in(P);
      *p = af_join_two<OP>(*p, lanes[i]);
      advance(1);
    }
  }
  template <int L> AF_INLINE void take(const af_full<L> &, af_vec<T, L> v) {
    const af_i64 place = place_in(P);
    if constexpr (L <= P) {
      if (__builtin_expect(place + L <= P, 1)) {
        af_store<T, L>(partial + place, OP::join(af_load<T, L>(partial + place), v));
        return advance(L);
      }
    }
    T lanes[L];
    af_store<T, L>(lanes, v);
    take_lanes(lanes, L);
  }
  template <int L> AF_INLINE void take(const af_partial<L> &strip, af_vec<T, L> v) {
    T lanes[L];
    af_store<T, L>(lanes, v);
    take_lanes(lanes, strip.n);
  }
  // Ends the last leaf.
  AF_INLINE void flush() {
    if (place_in(LEAF)) close();
    at = 0;
  }
  AF_ONCE T finish() {
    if (place_in(LEAF)) end_leaf();
    return stack.joined();
  }
};

// Strip number K of a round: L lanes that all exist and belong to partials K * L, K * L + 1, ...
template <int L, int K> struct af_in_round : af_full<L> {};

// The partials of a leaf in registers, for whole rounds.
template <class TREE, int L> struct af_round_partials {
  typedef typename TREE::value_type T;
  typedef typename TREE::operation OP;
  static constexpr int N = TREE::partials / L;
  af_vec<T, L> partial[N];
  AF_INLINE explicit af_round_partials(const TREE &tree) {
    for (int i = 0; i < N; ++i) partial[i] = af_load<T, L>(tree.partial + i * L);
  }
  template <int K> AF_INLINE void take(const af_in_round<L, K> &, af_vec<T, L> v) {
    partial[K % N] = OP::join(partial[K % N], v);
  }
  AF_INLINE void put_back(TREE &tree, af_i64 taken) const {
    for (int i = 0; i < N; ++i) af_store<T, L>(tree.partial + i * L, partial[i]);
    tree.advance(taken);
  }
};

template <int L, class BODY, int... K, class... PARTIALS>
AF_INLINE void af_one_round(af_i64 i, const BODY &body, af_indices<K...>, PARTIALS &...partials) {
  (body(i + K * L, af_in_round<L, K>{}, partials...), ...);
}

template <int L, int ROUND, class BODY, class... TREE>
AF_INLINE void af_rounds(af_i64 first, af_i64 end, const BODY &body, af_round_partials<TREE, L>... partials, TREE &...tree) {
  for (af_i64 i = first; i < end; i += ROUND) af_one_round<L>(i, body, typename af_upto<ROUND / L>::type{}, partials...);
  (partials.put_back(tree, end - first), ...);
}

AF_INLINE af_i64 af_fewer(af_i64 a, af_i64 b) { return a < b ? a : b; }
AF_INLINE constexpr int af_most(int a) { return a; }
template <class... INT> AF_INLINE constexpr int af_most(int a, int b, INT... more) { return af_most(a > b ? a : b, more...); }

// The strips from position i on, one by one, and what is left.
template <int L, class BODY, class... TREE> AF_INLINE void af_walk_rest(af_i64 i, af_i64 count, const BODY &body, TREE &...tree) {
  for (; i + L <= count; i += L) body(i, af_full<L>{}, tree...);
  if (i < count) body(i, af_partial<L>{count - i}, tree...);
}

// Runs body(position, strip, tree...) over [0, count) in strips of L; the body gives each tree one value a strip. Where
// whole rounds start and have at most MOST strips, the partials are in registers: one copy of the body for each strip.
template <int L, int MOST, class BODY, class... TREE> AF_INLINE void af_walk_trees(af_i64 count, const BODY &body, TREE &...tree) {
  constexpr int ROUND = af_most(L, TREE::partials...);
  constexpr bool fits = ROUND / L <= MOST && ((TREE::partials % L == 0 && TREE::leaf % ROUND == 0) && ...);
  af_i64 i = 0;
  if constexpr (fits) {
    if (((tree.place_in(ROUND) == 0) && ...)) {
      while (count - i >= ROUND) {
        af_i64 n = (count - i) / ROUND * ROUND;
        ((n = af_fewer(n, TREE::leaf - tree.place_in(TREE::leaf))), ...);
        af_rounds<L, ROUND, BODY, TREE...>(i, i + n, body, af_round_partials<TREE, L>(tree)..., tree...);
        i += n;
      }
    }
  }
  af_walk_rest<L>(i, count, body, tree...);
}

// For bodies of any length.
template <int L, class BODY, class... TREE> AF_INLINE void af_walk_reduced(af_i64 count, BODY body, TREE &...tree) {
  af_walk_trees<L, 4>(count, body, tree...);
}

// For bodies of a few instructions.
template <int L, class BODY, class... TREE> AF_INLINE void af_walk_rounds(af_i64 count, BODY body, TREE &...tree) {
  af_walk_trees<L, 64>(count, body, tree...);
}

// With `stream` what is stored bypasses the cache.
template <int L, class BODY, class... TREE>
AF_INLINE void af_walk_reduced(af_i64 count, bool stream, BODY body, TREE &...tree) {
  af_i64 i = 0;
  if (stream)
    for (; i + L <= count; i += L) body(i, af_streaming<L>{}, tree...);
  af_walk_rest<L>(i, count, body, tree...);
}
