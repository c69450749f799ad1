// requires: af_base.h af_vec.h af_lanes.h af_convert.h
// Float versions of functions whose double kernel is good enough to be rounded once.

// Defines name(af_vec<T, L>) from a kernel on native double vectors.
#define AF_THROUGH_DOUBLE(name, kernel)                                     \
  template <class T, int L> AF_INLINE af_vec<T, L> name(af_vec<T, L> a) {   \
    static_assert(af_is_float<T>, #name " takes float or double");          \
    af_vec<double, L> d = af_convert<double>(a);                            \
    for (int i = 0; i < d.N; ++i) d.r[i] = kernel(d.r[i]);                  \
    return af_convert<T>(d);                                                \
  }

// The magnitude of a double vector, and m with the sign bit of x put on.
template <class V> AF_INLINE V af_magnitude(V x) { return (V)((typename af_of<V>::U)x & (~typename af_of<V>::U{} >> 1)); }
template <class V> AF_INLINE V af_with_sign(V m, V x) {
  typedef typename af_of<V>::U U;
  return (V)((U)m | ((U)x & ~(~U{} >> 1)));
}
