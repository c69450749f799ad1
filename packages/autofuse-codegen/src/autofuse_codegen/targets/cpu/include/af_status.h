// requires: af_base.h af_vec.h
// Errors out of kernels: bits OR-ed into the launch's status word, by any thread.

// Raises `bits` if any of the first n lanes of the register mask m, whose first lane is lane `first`, is set. Lanes of a
// tail beyond n hold fill values and must not raise anything.
template <class M> AF_INLINE void af_raise(af_u32 *status, af_u32 bits, M m, int first, af_i64 n) {
  if (__builtin_expect(af_any_register(m) != 0, 0)) {
    for (int i = 0; i < af_of<M>::W; ++i) {
      if (m[i] && first + i < n) __atomic_fetch_or(status, bits, __ATOMIC_RELAXED);
    }
  }
}
