/* The process's one thread pool. Kernels borrow it through AfHost; nothing here touches Python. */
#ifndef AF_THREADS_H
#define AF_THREADS_H

#include "af_abi.h"

#define AF_MAX_THREADS 256

/* Installs the fork handlers; call once. */
void af_threads_start(void);

/* Sets how many threads (the caller's included) a parallel_for may use, at least 1. */
void af_threads_resize(af_i64 threads);
af_i64 af_threads_count(void);

/* AfHost.parallel_for: runs body(argument, i) for i in [0, count); `context` is not used. A call from inside a body, or
   while another thread has the pool, runs on the calling thread alone: it never waits and cannot deadlock. */
void af_threads_parallel_for(void *context, af_i64 count, void (*body)(void *argument, af_i64 index), void *argument);

#endif
