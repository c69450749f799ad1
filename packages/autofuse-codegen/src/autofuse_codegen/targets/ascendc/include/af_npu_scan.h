// Scans: every element joined with those before it, one after the other; exclusive ones leave the element itself out,
// and give the first one what joining nothing gives. Reverse ones start at the end.
//
// Along an outer axis whole rows are joined. Along the innermost one rows are transposed first, so that columns become
// rows. A few long rows of integers, which any order gives one result, are cut into pieces that are scanned side by
// side; what comes before a piece is joined to all of it then. A single row of floats is walked by the scalar unit:
// rounding makes each sum wait for the one before it.
#pragma once
#include "af_npu_fill.h"
#include "af_npu_stage.h"

constexpr uint32_t AF_SCAN_ROWS = 128;      // that are transposed together
constexpr uint32_t AF_SCAN_FEW = 16;        // rows that are too few for that
constexpr uint32_t AF_SCAN_PIECES = 1024;   // columns from which on pieces are worth it

template <bool product, typename T>
__aicore__ inline T af_joined(T a, T b) {
  if constexpr (product) {
    return static_cast<T>(a * b);
  } else {
    return static_cast<T>(a + b);
  }
}

template <bool product, typename T>
__aicore__ inline void af_join_rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& a,
                                    const AscendC::LocalTensor<T>& b, uint32_t elements) {
  if constexpr (product) {
    AscendC::Mul(to, a, b, static_cast<int32_t>(elements));
  } else {
    AscendC::Add(to, a, b, static_cast<int32_t>(elements));
  }
}

// What each line has come to: `sums`, where the tile has a piece of it. They hold what came before, if the piece is not
// the first one, and are told what the tile adds, if the line `goes_on` through other tiles.
template <typename T>
struct af_running {
  AscendC::LocalTensor<T> sums;
  bool is_first, goes_on;
};

// Element e of row i lies at i * stride + e * step; element by element, on the scalar unit.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_elements(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                        uint32_t rows, uint32_t stride, uint32_t elements, uint32_t step,
                                        const af_running<T>& running) {
  for (uint32_t e = 0; e < elements; ++e) {
    T sum = running.is_first ? static_cast<T>(product ? 1 : 0) : running.sums.GetValue(e);
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t at = (reverse ? rows - 1 - i : i) * stride + e * step;
      const T value = from.GetValue(at), before = sum;
      sum = running.is_first && i == 0 ? value : af_joined<product>(sum, value);
      to.SetValue(at, exclusive ? before : sum);
    }
    if (running.goes_on) running.sums.SetValue(e, sum);
  }
}

// `rows` rows of `elements`, a whole number of blocks, one after the other.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                    uint32_t rows, uint32_t elements, const af_running<T>& running = {{}, true, false}) {
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t at = (reverse ? rows - 1 - i : i) * elements;
    const uint32_t before = i == 0 ? at : reverse ? at + elements : at - elements;
    const auto target = to[at], value = from[exclusive ? before : at];
    if (exclusive && i == 0 && running.is_first) {
      af_fill(target, static_cast<T>(product ? 1 : 0), elements);
    } else if (exclusive && i == 0) {
      af_copy(target, running.sums, elements);
    } else if (running.is_first && i == (exclusive ? 1 : 0)) {
      af_copy(target, value, elements);
    } else if (i == 0) {
      af_join_rows<product>(target, running.sums, value, elements);
    } else {
      AscendC::PipeBarrier<PIPE_V>();
      af_join_rows<product>(target, to[before], value, elements);
    }
  }
  if (!running.goes_on) return;
  const uint32_t last = (reverse ? 0 : rows - 1) * elements;
  AscendC::PipeBarrier<PIPE_V>();
  if (!exclusive) {
    af_copy(running.sums, to[last], elements);
  } else if (running.is_first && rows == 1) {
    af_copy(running.sums, from[last], elements);
  } else {
    af_join_rows<product>(running.sums, to[last], from[last], elements);
  }
}

// The same for types without vector arithmetic.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_each(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                    uint32_t rows, uint32_t elements, const af_running<T>& running = {{}, true, false}) {
  af_order<AscendC::HardEvent::V_S>();
  af_scan_elements<product, exclusive, reverse>(to, from, rows, elements, elements, 1, running);
  af_order<AscendC::HardEvent::S_V>();
}

// Offsets 0, step, 2 * step, ... in bytes.
__aicore__ inline void af_offsets(const AscendC::LocalTensor<uint32_t>& to, uint32_t count, uint32_t step) {
  const auto signed_to = to.ReinterpretCast<int32_t>();
  AscendC::CreateVecIndex(signed_to, static_cast<int32_t>(0), count);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(signed_to, signed_to, static_cast<int32_t>(step), static_cast<int32_t>(count));
}

// Along rows of `columns` elements of 32 bits, `pitch` apart; up to AF_SCAN_ROWS of them.
//
// As many columns as fit become rows in `scratch`, with room for one more: the sums of the columns before, which the
// chunk of columns after them starts from.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_turned(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                      uint32_t rows, uint32_t columns, uint32_t pitch,
                                      const AscendC::LocalTensor<uint8_t>& scratch, const af_running<T>& running) {
  const uint32_t length = af_round_up(rows, 8), first = reverse ? 0 : 1;
  const uint32_t most = (scratch.GetSize() / 4 - 2 * length) / (length + 1) / 8 * 8;
  const uint32_t chunks = (columns + most - 1) / most;
  const auto down = scratch.template ReinterpretCast<uint32_t>(), across = down[length];
  const auto turned = across[most].template ReinterpretCast<T>();
  af_offsets(down, rows, static_cast<uint32_t>(pitch * sizeof(T)));
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const uint32_t start = (reverse ? chunks - 1 - chunk : chunk) * most, now = af_smaller(columns - start, most);
    const auto before = turned[(reverse ? now : 0) * length];
    if (chunk > 0) {
      af_copy(before, turned[(reverse ? 0 : most) * length], rows);
    } else if (!running.is_first) {
      af_copy(before, running.sums, rows);
    } else if (exclusive) {
      af_fill(before, static_cast<T>(product ? 1 : 0), rows);
    }
    af_stage_offsets(across.ReinterpretCast<int32_t>(), 0, now, af_round_up(now, 8), static_cast<int32_t>(length * sizeof(T)));
    for (uint32_t i = 0; i < now; ++i) {
      AscendC::Gather(turned[(first + i) * length], from, down, static_cast<uint32_t>((start + i) * sizeof(T)), rows);
    }
    for (uint32_t i = chunk == 0 && running.is_first ? 1 : 0; i < now; ++i) {
      const uint32_t at = first + (reverse ? now - 1 - i : i);
      AscendC::PipeBarrier<PIPE_V>();
      af_join_rows<product>(turned[at * length], turned[(reverse ? at + 1 : at - 1) * length], turned[at * length], rows);
    }
    AscendC::PipeBarrier<PIPE_V>();
    const uint32_t lead = (exclusive ? 1 - first : first) * length;
    for (uint32_t row = 0; row < rows; ++row) {
      AscendC::Gather(to[row * pitch + start], turned, across, static_cast<uint32_t>((row + lead) * sizeof(T)),
                      af_round_up(now, 8));
    }
    if (running.goes_on && chunk + 1 == chunks) af_copy(running.sums, turned[(reverse ? 0 : now) * length], rows);
  }
}

// What one row has come to; `is_there` once anything has.
template <typename T>
struct af_total {
  T value;
  bool is_there;

  template <bool product>
  __aicore__ inline void join(T more) {
    value = is_there ? af_joined<product>(value, more) : more;
    is_there = true;
  }
};

// Elements `start` to `end` of a row, on the scalar unit.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_few(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                   uint32_t start, uint32_t end, af_total<T>& total) {
  for (uint32_t i = start; i < end; ++i) {
    const uint32_t at = reverse ? start + end - 1 - i : i;
    const T before = total.is_there ? total.value : static_cast<T>(product ? 1 : 0);
    total.template join<product>(from.GetValue(at));
    to.SetValue(at, exclusive ? before : total.value);
  }
}

// One row of `columns` integers of 32 bits, in up to AF_SCAN_ROWS pieces; `pitch` elements have contents afterwards.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_pieces(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                      uint32_t columns, uint32_t pitch, const AscendC::LocalTensor<uint8_t>& scratch,
                                      af_total<T>& total) {
  const uint32_t piece = af_round_up((columns + AF_SCAN_ROWS - 1) / AF_SCAN_ROWS, 8), pieces = columns / piece;
  const uint32_t rest = pieces * piece;
  if (rest < pitch) af_fill(to[rest], static_cast<T>(0), pitch - rest);
  af_scan_turned<product, exclusive, reverse>(to, from, pieces, piece, piece, scratch, af_running<T>{{}, true, false});
  af_order<AscendC::HardEvent::V_S>();
  if (reverse) af_scan_few<product, exclusive, reverse>(to, from, rest, columns, total);
  for (uint32_t i = 0; i < pieces; ++i) {
    const uint32_t at = (reverse ? pieces - 1 - i : i) * piece, last = reverse ? at : at + piece - 1;
    const auto some = to[at];
    const T own = exclusive ? af_joined<product>(to.GetValue(last), from.GetValue(last)) : to.GetValue(last);
    if (total.is_there && product) AscendC::Muls(some, some, total.value, static_cast<int32_t>(piece));
    if (total.is_there && !product) AscendC::Adds(some, some, total.value, static_cast<int32_t>(piece));
    total.template join<product>(own);
  }
  if (!reverse) af_scan_few<product, exclusive, reverse>(to, from, rest, columns, total);
  af_order<AscendC::HardEvent::S_V>();
}

// Along rows of `columns` elements, `pitch` apart.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_columns(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                       uint32_t rows, uint32_t columns, uint32_t pitch,
                                       const AscendC::LocalTensor<uint8_t>& scratch,
                                       const af_running<T>& running = {{}, true, false}) {
  if constexpr (sizeof(T) == 4 && static_cast<T>(0.5f) == static_cast<T>(0)) {
    if (rows < AF_SCAN_FEW && columns >= AF_SCAN_PIECES) {
      for (uint32_t row = 0; row < rows; ++row) {
        af_total<T> total = {static_cast<T>(product ? 1 : 0), !running.is_first};
        if (!running.is_first) {
          af_order<AscendC::HardEvent::V_S>();
          total.value = running.sums.GetValue(row);
        }
        af_scan_pieces<product, exclusive, reverse>(to[row * pitch], from[row * pitch], columns, pitch, scratch, total);
        if (running.goes_on) running.sums.SetValue(row, total.value);
        af_order<AscendC::HardEvent::S_V>();
      }
      return;
    }
  }
  if constexpr (sizeof(T) == 4) {
    if (rows > 1) {
      for (uint32_t row = 0; row < rows; row += AF_SCAN_ROWS) {
        const uint32_t some = af_smaller(rows - row, AF_SCAN_ROWS);
        const af_running<T> some_lines = {running.goes_on ? running.sums[row] : running.sums, running.is_first,
                                          running.goes_on};
        af_scan_turned<product, exclusive, reverse>(to[row * pitch], from[row * pitch], some, columns, pitch, scratch,
                                                    some_lines);
      }
      af_close_rows(to, rows, columns, pitch);
      return;
    }
  }
  (void)scratch;
  af_fill(to, static_cast<T>(0), rows * pitch);
  af_order<AscendC::HardEvent::V_S>();
  af_scan_elements<product, exclusive, reverse>(to, from, columns, 1, rows, pitch, running);
  af_order<AscendC::HardEvent::S_V>();
}
