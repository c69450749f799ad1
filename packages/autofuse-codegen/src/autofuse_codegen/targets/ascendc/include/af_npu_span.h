// Where a load stays inside of its data. Along an axis of the tile the index of a dim is first + step * position, so the
// positions inside of all dims are an interval.
#pragma once
#include "af_npu_base.h"

struct af_span {
  uint32_t from, to;
};

__aicore__ inline af_span af_span_of(af_i64 from, af_i64 to) {
  if (from >= to) return {0, 0};
  return {static_cast<uint32_t>(from), static_cast<uint32_t>(to)};
}

__aicore__ inline bool af_is_whole(af_span span, uint32_t count) { return span.from == 0 && span.to == count; }

// `span` where `holds`, else nothing.
__aicore__ inline af_span af_where(bool holds, af_span span) { return holds ? span : af_span{0, 0}; }

__aicore__ inline bool af_is_inside(af_i64 index, af_i64 size) { return index >= 0 && index < size; }

// a / b, rounded up; b is positive.
__aicore__ inline af_i64 af_up(af_i64 a, af_i64 b) { return a > 0 ? (a - 1) / b + 1 : -(-a / b); }

// The part of `span` where 0 <= first + step * position < size.
__aicore__ inline af_span af_within(af_span span, af_i64 first, af_i64 step, af_i64 size) {
  if (step == 0) return af_where(af_is_inside(first, size), span);
  const af_i64 from = step > 0 ? af_up(-first, step) : af_up(first - size + 1, -step);
  const af_i64 to = step > 0 ? af_up(size - first, step) : af_up(first + 1, -step);
  return af_span_of(from > span.from ? from : span.from, to < span.to ? to : span.to);
}
