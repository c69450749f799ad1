// requires: af_base.h af_vec.h af_lanes.h af_memory.h
// Transposing in registers: neighbours along the loop axis, read in one piece, become neighbours along the strip axis.

// The low (or high) halves of a and b with their elements in turns.
template <bool HIGH, class V, int... I> AF_INLINE V af_interleave(V a, V b, af_indices<I...>) {
  constexpr int W = af_of<V>::W, first = HIGH ? W / 2 : 0;
  return __builtin_shufflevector(a, b, (first + I / 2 + (I % 2) * W)...);
}

// A square of W by W elements: `from` has W rows `step` apart, `to` gets their columns as rows `pitch` apart. Each pass
// interleaves rows that are half of all apart; after log2(W) of them rows and columns have changed places.
template <class T, int W> AF_INLINE void af_transpose_square(const T *from, af_i64 step, T *to, af_i64 pitch) {
  typedef typename af_vec<T, W>::V V;
  V row[W], next[W];
#pragma GCC unroll 64
  for (int i = 0; i < W; ++i) row[i] = af_load<T, W>(from + i * step).r[0];
#pragma GCC unroll 8
  for (int pass = 1; pass < W; pass *= 2) {
#pragma GCC unroll 64
    for (int i = 0; i < W / 2; ++i) {
      next[2 * i] = af_interleave<false>(row[i], row[i + W / 2], typename af_upto<W>::type{});
      next[2 * i + 1] = af_interleave<true>(row[i], row[i + W / 2], typename af_upto<W>::type{});
    }
#pragma GCC unroll 64
    for (int i = 0; i < W; ++i) row[i] = next[i];
  }
#pragma GCC unroll 64
  for (int i = 0; i < W; ++i) {
    af_vec<T, W> v;
    v.r[0] = row[i];
    af_store<T, W>(to + i * pitch, v);
  }
}

// to[r * pitch + c] = from[c * step + r] for r < rows, c < columns.
template <class T, int W>
AF_ONCE void af_transpose(const T *from, af_i64 step, T *to, af_i64 pitch, af_i64 rows, af_i64 columns) {
  af_i64 r = 0;
  for (; r + W <= rows; r += W) {
    af_i64 c = 0;
    for (; c + W <= columns; c += W) af_transpose_square<T, W>(from + c * step + r, step, to + r * pitch + c, pitch);
    for (; c < columns; ++c)
      for (int i = 0; i < W; ++i) to[(r + i) * pitch + c] = from[c * step + r + i];
  }
  for (; r < rows; ++r)
    for (af_i64 c = 0; c < columns; ++c) to[r * pitch + c] = from[c * step + r];
}
