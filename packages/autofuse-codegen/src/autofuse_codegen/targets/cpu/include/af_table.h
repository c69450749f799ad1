// requires: af_base.h af_vec.h af_lanes.h
// af_table<T>: results for the 256 values of an 8-bit integer, by its bits. af_lookup(table, index): the one of each lane.

template <class T> struct af_table {
  static_assert(sizeof(T) == 1, "tables hold 8-bit values");
  AF_INLINE af_table() {}
  alignas(64) T values[256];
};

#if defined(__AVX512VBMI__) && !defined(__clang__)
// One instruction looks lanes up in half of the table, two registers, by the low seven bits of the index.
template <class V> AF_INLINE V af_lookup_register(const af_u8 *values, V index) {
  if constexpr (sizeof(V) == 64) {
    const V *const quarters = (const V *)values;
    const V low = __builtin_shuffle(quarters[0], quarters[1], index);
    const V high = __builtin_shuffle(quarters[2], quarters[3], index);
    return (af_native<af_i8, 64>::type)index < 0 ? high : low;
  } else {
    const auto twice = af_shuffle_all(index, index, typename af_upto<2 * sizeof(V)>::type{});
    return af_shuffle_from<decltype(twice), 0>(af_lookup_register(values, twice), typename af_upto<sizeof(V)>::type{});
  }
}
#else
template <class V> AF_INLINE V af_lookup_register(const af_u8 *values, V index) {
  af_u8 lanes[sizeof(V)];
  __builtin_memcpy(lanes, &index, sizeof(V));
  for (int i = 0; i < int(sizeof(V)); ++i) lanes[i] = values[lanes[i]];
  __builtin_memcpy(&index, lanes, sizeof(V));
  return index;
}
#endif

template <class T, class I, int L> AF_INLINE af_vec<T, L> af_lookup(const af_table<T> &table, af_vec<I, L> index) {
  static_assert(sizeof(I) == 1, "tables are looked up by 8-bit integers");
  typedef typename af_of<typename af_vec<I, L>::V>::U U;
  af_vec<T, L> o;
  for (int i = 0; i < o.N; ++i)
    o.r[i] = (typename af_vec<T, L>::V)af_lookup_register((const af_u8 *)table.values, (U)index.r[i]);
  return o;
}
