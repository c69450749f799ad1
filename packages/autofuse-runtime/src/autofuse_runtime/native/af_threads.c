/* Fork-join over static contiguous chunks: the caller takes part, workers spin for a bounded time and then sleep.

   A chunk belongs to whoever claims it first. Worker k tries chunk k before others, so that repeated launches touch the
   same memory from the same core; the caller takes over chunks no worker has begun, so that a worker that sleeps or lost
   its core costs nothing. A claim is a compare-and-swap on the job's number: a late worker cannot claim from a job that
   is over, and a job's fields stay valid while one of its chunks is claimed and unfinished. */
#include "af_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS 20000
#define CLAIMED (1ULL << 63)

typedef struct Chunk {
  _Alignas(64) _Atomic uint64_t claim; /* the job's number while free, with CLAIMED set once taken */
} Chunk;

static struct {
  pthread_mutex_t owner; /* held by the thread whose parallel_for uses the workers */
  _Atomic af_i64 threads;
  af_i64 workers; /* started so far; guarded by `owner` */
  uint64_t last_job;
  void (*body)(void *, af_i64);
  void *argument;
  af_i64 count;
  af_i64 parts;
  _Alignas(64) _Atomic uint32_t signal; /* low half of the newest job's number: what sleeping workers wait on */
  _Atomic uint64_t job;
  _Atomic int sleepers;
  _Alignas(64) _Atomic uint32_t unfinished;
  Chunk chunks[AF_MAX_THREADS];
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER, .threads = 1};

static void futex_wait(_Atomic uint32_t *word, uint32_t seen) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int how_many) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, how_many, NULL, NULL, 0);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Waits until *word differs from `seen` or the spin time is over; returns whether it differs. */
static int spin_while(_Atomic uint32_t *word, uint32_t seen) {
  const int64_t end = now_ns() + SPIN_NS;
  do {
    for (int i = 0; i < 64; ++i) {
      if (atomic_load_explicit(word, memory_order_acquire) != seen) return 1;
      relax();
    }
  } while (now_ns() < end);
  return 0;
}

static void run_chunk(af_i64 part) {
  const af_i64 whole = pool.count / pool.parts, rest = pool.count % pool.parts;
  const af_i64 first = part * whole + (part < rest ? part : rest);
  const af_i64 last = first + whole + (part < rest);
  void (*const body)(void *, af_i64) = pool.body;
  void *const argument = pool.argument;
  for (af_i64 i = first; i < last; ++i) body(argument, i);
}

/* Runs the chunks of `job` that are still free, from `preferred` on. */
static void take_chunks(uint64_t job, af_i64 preferred, af_i64 parts) {
  for (af_i64 k = 0; k < parts; ++k) {
    af_i64 part = preferred + k;
    if (part >= parts) part -= parts;
    uint64_t expected = job;
    if (atomic_compare_exchange_strong_explicit(&pool.chunks[part].claim, &expected, job | CLAIMED,
                                                memory_order_acquire, memory_order_relaxed)) {
      run_chunk(part);
      if (atomic_fetch_sub_explicit(&pool.unfinished, 1, memory_order_acq_rel) == 1) futex_wake(&pool.unfinished, 1);
    }
  }
}

static void *work(void *number) {
  const af_i64 self = (af_i64)(intptr_t)number;
  uint32_t seen = 0;
  for (;;) {
    uint32_t newest = atomic_load_explicit(&pool.signal, memory_order_acquire);
    if (newest == seen && !spin_while(&pool.signal, seen)) {
      atomic_fetch_add(&pool.sleepers, 1);
      futex_wait(&pool.signal, seen);
      atomic_fetch_sub(&pool.sleepers, 1);
      continue;
    }
    seen = atomic_load_explicit(&pool.signal, memory_order_acquire);
    const uint64_t job = atomic_load_explicit(&pool.job, memory_order_acquire);
    /* Chunks past the job's parts carry older numbers, so looking at all of them claims nothing wrong. */
    const af_i64 parts = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    take_chunks(job, self < parts ? self : 0, parts);
  }
  return NULL;
}

/* Starts workers up to `wanted`; called with `owner` held. Fewer than wanted is no error: chunks are taken over. */
static void start_workers(af_i64 wanted) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the application's business */
  while (pool.workers < wanted) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const int failed = pthread_create(&thread, &attributes, work, (void *)(intptr_t)(pool.workers + 1));
    pthread_attr_destroy(&attributes);
    if (failed) break;
    ++pool.workers;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void af_threads_parallel_for(void *context, af_i64 count, void (*body)(void *, af_i64), void *argument) {
  (void)context;
  const af_i64 threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  if (count < 2 || threads < 2 || pthread_mutex_trylock(&pool.owner) != 0) {
    for (af_i64 i = 0; i < count; ++i) body(argument, i);
    return;
  }
  if (pool.workers < threads - 1) start_workers(threads - 1);
  const af_i64 parts = count < threads ? count : threads;
  const uint64_t job = (pool.last_job + 1) & ~CLAIMED;
  pool.last_job = job;
  pool.body = body;
  pool.argument = argument;
  pool.count = count;
  pool.parts = parts;
  atomic_store_explicit(&pool.unfinished, (uint32_t)parts, memory_order_relaxed);
  for (af_i64 k = 0; k < parts; ++k) atomic_store_explicit(&pool.chunks[k].claim, job, memory_order_release);
  atomic_store_explicit(&pool.job, job, memory_order_release);
  atomic_store(&pool.signal, (uint32_t)job);
  if (atomic_load(&pool.sleepers) > 0) futex_wake(&pool.signal, (int)(parts - 1));
  take_chunks(job, 0, parts);
  for (;;) {
    const uint32_t left = atomic_load_explicit(&pool.unfinished, memory_order_acquire);
    if (left == 0) break;
    if (!spin_while(&pool.unfinished, left)) futex_wait(&pool.unfinished, left);
  }
  pthread_mutex_unlock(&pool.owner);
}

void af_threads_resize(af_i64 threads) {
  if (threads < 1) threads = 1;
  if (threads > AF_MAX_THREADS) threads = AF_MAX_THREADS;
  pthread_mutex_lock(&pool.owner);
  atomic_store(&pool.threads, threads);
  pthread_mutex_unlock(&pool.owner);
}

af_i64 af_threads_count(void) { return atomic_load_explicit(&pool.threads, memory_order_relaxed); }

/* A fork waits for a running job; the child starts with no workers and makes its own on first use. */
static void before_fork(void) { pthread_mutex_lock(&pool.owner); }

static void after_fork_in_parent(void) { pthread_mutex_unlock(&pool.owner); }

static void after_fork_in_child(void) {
  pthread_mutex_init(&pool.owner, NULL);
  pool.workers = 0;
  atomic_store(&pool.sleepers, 0);
}

void af_threads_start(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }
