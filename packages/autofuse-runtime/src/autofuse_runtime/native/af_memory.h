/* Pooled memory: size-class free lists that keep their pages. Thread-safe; nothing here touches Python. */
#ifndef AF_MEMORY_H
#define AF_MEMORY_H

#include "af_abi.h"

typedef struct AfMemoryStats {
  af_i64 bytes_in_use; /* handed out and not yet released, rounded up to size classes */
  af_i64 peak_bytes_in_use;
  af_i64 bytes_kept; /* released and waiting for reuse */
  af_i64 allocations;
  af_i64 reuses; /* allocations served from kept memory */
} AfMemoryStats;

void af_memory_start(void);

/* 64-byte aligned memory of at least `bytes` bytes (0 counts as 1); null when there is none. */
void *af_memory_allocate(af_i64 bytes);
void af_memory_release(void *memory);

/* AfHost.allocate and AfHost.release; `context` is not used. */
void *af_memory_host_allocate(void *context, af_i64 bytes);
void af_memory_host_release(void *context, void *memory);

/* Most bytes kept for reuse; memory past it goes back to the system. */
void af_memory_set_limit(af_i64 bytes);
AfMemoryStats af_memory_stats(int reset_peak);
/* Gives all kept memory back to the system. */
void af_memory_trim(void);

#endif
