// requires: af_base.h af_vec.h af_memory.h af_strip.h af_join.h
// Reductions across rows: the reduced axes are loops, strips walk a kept one, and each column is a reduction of its own.
//
// The state lies in memory: P rows of partials, then the stack of joined leaves, each `pitch` elements apart, as many as
// the number of rows asks for. The tree is that of af_reduce.h.

template <class OP, class T, int P, int LEAF, int L> struct af_rows {
  T *rows;
  af_i64 pitch, at = 0;
  int depth = 0;
  af_u64 leaves = 0;
  T *to;
  af_i64 to_step;

  // Finished leaves stay on the stack, or go to `leaves_to`, where those of neighbour columns lie `step` elements apart.
  AF_INLINE af_rows(T *memory, af_i64 row_pitch, T *leaves_to = nullptr, af_i64 step = 0)
      : rows(memory), pitch(row_pitch), to(leaves_to), to_step(step) {}

  // Takes the strip at position i of the current row.
  template <class STRIP> AF_INLINE void take(af_i64 i, const STRIP &strip, af_vec<T, L> v) {
    T *const p = rows + at % P * pitch + i;
    if (at % LEAF < P) af_keep(strip, p, OP::join(af_splat<T, L>(OP::template identity<T>()), v));
    else af_keep(strip, p, OP::join(strip.load(p), v));
  }
  template <class STRIP> static AF_INLINE void af_keep(const STRIP &strip, T *p, af_vec<T, L> v) {
    if (strip.live() == L) af_store<T, L>(p, v);  // in the cache, also where the kernel's own stores bypass it
    else strip.store(p, v);
  }
  AF_INLINE void join_rows(af_i64 count, T *a, const T *b, T *into) {
    af_walk_strips<L>(count, [&](const af_i64 i, const auto strip) AF_BODY {
      strip.store(into + i, OP::join(strip.load(a + i), strip.load(b + i)));
    });
  }
  // Ends a row of `count` elements.
  AF_INLINE void next(af_i64 count) {
    if (++at % LEAF == 0) close(count, LEAF);
  }
  // Ends a leaf of n rows; partials past them hold nothing.
  AF_INLINE void close(af_i64 count, af_i64 n) {
    for (af_i64 half = P / 2; half > 0; half /= 2)
      for (af_i64 j = 0; j < half && j + half < n; ++j)
        join_rows(count, rows + j * pitch, rows + (j + half) * pitch, rows + j * pitch);
    if (to) {
      for (af_i64 i = 0; i < count; ++i) to[i * to_step] = rows[i];
      ++to;
      return;
    }
    T *const stack = rows + P * pitch;
    for (af_u64 bits = leaves; bits & 1; bits >>= 1) join_rows(count, stack + --depth * pitch, rows, rows);
    T *const top = stack + depth++ * pitch;
    af_walk_strips<L>(count, [&](const af_i64 i, const auto strip) AF_BODY { strip.store(top + i, strip.load(rows + i)); });
    ++leaves;
  }
  // Ends the last leaf.
  AF_INLINE void flush(af_i64 count) {
    if (at % LEAF) close(count, at % LEAF);
    at = 0;
  }
  // Writes the results of all columns, `step` elements apart.
  AF_INLINE void finish(af_i64 count, T *result, af_i64 step) {
    flush(count);
    if (depth == 0) {
      for (af_i64 i = 0; i < count; ++i) result[i * step] = OP::template nothing<T>();
      return;
    }
    T *const stack = rows + P * pitch;
    T *const last = stack + (depth - 1) * pitch;
    for (int i = depth - 2; i >= 0; --i) join_rows(count, stack + i * pitch, last, last);
    af_walk_strips<L>(count, [&](const af_i64 i, const auto strip) AF_BODY {
      strip.store(result + i * step, step, strip.load(last + i));
    });
  }
};

// Rows of state that reducing n rows needs.
template <int P, int LEAF> AF_INLINE af_i64 af_state_rows(af_i64 n) {
  af_i64 rows = P;
  for (af_i64 leaves = (n + LEAF - 1) / LEAF; leaves > 0; leaves /= 2) ++rows;
  return rows;
}
