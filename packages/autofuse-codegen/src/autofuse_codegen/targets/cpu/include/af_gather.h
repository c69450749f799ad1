// requires: af_base.h af_vec.h af_lanes.h af_memory.h af_strip.h af_arith.h af_convert.h af_compare.h af_bounds.h
// Loads whose index is a value: each lane has its own element. Indices are 64-bit, and checked before anything is read.

// offset + step * value, lane by lane; unsigned values past 2^63 come out negative, which no dim contains.
template <class T, int L> AF_INLINE af_vec<af_i64, L> af_index(af_vec<T, L> value, af_i64 step, af_i64 offset) {
  return af_add(af_mul(af_convert<af_i64>(value), af_splat<af_i64, L>(step)), af_splat<af_i64, L>(offset));
}

// The one index of a value that is the same in all lanes.
template <class T, int L> AF_INLINE af_i64 af_row_index(af_vec<T, L> value, af_i64 step, af_i64 offset) {
  return (af_i64)((af_u64)offset + (af_u64)step * (af_u64)(af_i64)af_lane(value, 0));
}

// Which lanes are indices of a dim of `size` elements.
template <int L> AF_INLINE af_mask<8, L> af_is_inside(af_vec<af_i64, L> index, af_i64 size) {
  const af_vec<af_u64, L> unsigned_index = af_bitcast<af_u64>(index);
  return af_lt(unsigned_index, af_splat<af_u64, L>((af_u64)size));
}

// Which lanes of the strip at `position` are inside of `span`.
template <int L> AF_INLINE af_mask<8, L> af_is_within(af_i64 position, af_span span) {
  const af_vec<af_i64, L> at = af_iota<af_i64, L>(position, 1);
  return af_logical_and(af_ge(at, af_splat<af_i64, L>(span.from)), af_lt(at, af_splat<af_i64, L>(span.to)));
}

// p[index] of the lanes that exist.
template <class STRIP, class T, int L> AF_INLINE af_vec<T, L> af_gather(const STRIP &strip, const T *p, af_vec<af_i64, L> index) {
  T lanes[L] = {};
  const af_i64 n = strip.live();
  for (af_i64 i = 0; i < n; ++i) lanes[i] = p[af_lane(index, int(i))];
  return af_load<T, L>(lanes);
}

// p[index] where `inside`, else `fill`.
template <class STRIP, class T, int L>
AF_INLINE af_vec<T, L> af_gather_within(const STRIP &strip, const T *p, af_vec<af_i64, L> index, af_mask<8, L> inside, T fill) {
  T lanes[L];
  af_i64 at[L], is_in[L];
  af_store<af_i64, L>(at, index);
  af_store<af_i64, L>(is_in, af_mask_lanes(inside));
  const af_i64 n = strip.live();
  for (af_i64 i = 0; i < L; ++i) lanes[i] = i < n && is_in[i] ? p[at[i]] : fill;
  return af_load<T, L>(lanes);
}

// Raises AF_STATUS_INDEX_OUT_OF_RANGE where a lane that exists is not inside.
template <class STRIP, int L> AF_INLINE void af_check_inside(const STRIP &strip, af_mask<8, L> inside, af_u32 *status) {
  af_i64 is_in[L];
  af_store<af_i64, L>(is_in, af_mask_lanes(inside));
  const af_i64 n = strip.live();
  for (af_i64 i = 0; i < n; ++i)
    if (!is_in[i]) *status |= AF_STATUS_INDEX_OUT_OF_RANGE;
}
