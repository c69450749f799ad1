// requires: af_base.h
// Runs the blocks of one part of a kernel, on the host's threads where there are several; returns when all are done.
template <class HOST> AF_INLINE void af_run(const HOST *host, af_i64 blocks, void (*body)(void *, af_i64), void *call) {
  if (blocks == 1) body(call, 0);
  else host->parallel_for(host->context, blocks, body, call);
}
