// requires: af_base.h af_vec.h af_memory.h af_strip.h
// Loads that may leave their data. Along a row the index of each dim is first + step * position, so the positions inside
// of all dims are an interval: computed once a row. Outside of it nothing is read.

struct af_span {
  af_i64 from, to;
};

[[maybe_unused]] constexpr af_span af_everywhere = {0, 1LL << 62};

AF_INLINE af_i64 af_up(af_i64 a, af_i64 positive) { return a > 0 ? (a - 1) / positive + 1 : -(-a / positive); }

// The part of `span` where 0 <= first + step * position < size.
AF_INLINE af_span af_within(af_span span, af_i64 first, af_i64 step, af_i64 size) {
  if (step == 0) return first >= 0 && first < size ? span : af_span{0, 0};
  const af_i64 from = step > 0 ? af_up(-first, step) : af_up(first - size + 1, -step);
  const af_i64 to = step > 0 ? af_up(size - first, step) : af_up(first + 1, -step);
  return {from > span.from ? from : span.from, to < span.to ? to : span.to};
}

// The index itself where it is inside of a dim, else 0: an offset made of it stays in the data.
AF_INLINE af_i64 af_inside_or_zero(af_i64 index, af_i64 size) { return index >= 0 && index < size ? index : 0; }

// Lanes first to last from p, p + step, ..., the others `fill`: what a strip at the border of its data needs. A call,
// since a row has one or two such strips and a kernel many loads.
template <class T> __attribute__((noinline, unused)) static void af_gather_lanes(T *lanes, int count, const T *p, af_i64 step, af_i64 first, af_i64 last, T fill) {
#pragma GCC unroll 1
  for (int i = 0; i < count; ++i) lanes[i] = i >= first && i < last ? p[i * step] : fill;
}

// The strip at `position`: elements at p, p + step, ... where inside of `span`, else `fill`.
template <class STRIP, class T> AF_INLINE auto af_load_within(const STRIP &strip, const T *p, af_i64 step, af_i64 position, af_span span, T fill) {
  constexpr int L = STRIP::lanes;
  const af_i64 n = strip.live();
  if (position >= span.from && position + n <= span.to) return strip.load(p, step);
  if (position >= span.to || position + n <= span.from) return af_splat<T, L>(fill);
  T lanes[L];
  af_gather_lanes<T>(lanes, L, p, step, span.from - position, n < span.to - position ? n : span.to - position, fill);
  return af_load<T, L>(lanes);
}

// The element at p where position 0 is inside of `span`, else `fill`.
template <class T> AF_INLINE T af_load_one_within(const T *p, af_span span, T fill) {
  return span.from <= 0 && span.to > 0 ? *p : fill;
}

// Raises AF_STATUS_INDEX_OUT_OF_RANGE where a lane of the strip at `position` is outside of `span`.
template <class STRIP> AF_INLINE void af_check_within(const STRIP &strip, af_i64 position, af_span span, af_u32 *status) {
  if (__builtin_expect(position < span.from || position + strip.live() > span.to, 0)) *status |= AF_STATUS_INDEX_OUT_OF_RANGE;
}

// How many elements of a row are to be walked that is inside as a whole or not at all: none of one that is not, and
// AF_STATUS_INDEX_OUT_OF_RANGE is raised.
AF_INLINE af_i64 af_checked_count(af_i64 count, af_span span, af_u32 *status) {
  if (__builtin_expect(span.to > 0 || count == 0, 1)) return count;
  *status |= AF_STATUS_INDEX_OUT_OF_RANGE;
  return 0;
}
