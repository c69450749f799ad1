// requires: af_base.h
// Runs the blocks of one part of a kernel, on the host's threads where there are several; returns when all are done.
template <class HOST> AF_INLINE void af_run(const HOST *host, af_i64 blocks, void (*body)(void *, af_i64), void *call) {
  if (blocks == 1) body(call, 0);
  else host->parallel_for(host->context, blocks, body, call);
}

// Runs the blocks of parts that do not wait for one another. `most` is the largest number of blocks of one part: where
// it is 1 the work of none is worth a second thread.
template <class HOST>
AF_INLINE void af_run_together(const HOST *host, af_i64 blocks, af_i64 most, void (*body)(void *, af_i64), void *call) {
  if (most > 1) host->parallel_for(host->context, blocks, body, call);
  else for (af_i64 block = 0; block < blocks; ++block) body(call, block);
}
