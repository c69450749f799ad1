/* Fresh pages cost more than most kernels (first touch runs at 1.4 GB/s with 4 KB pages), so memory is kept. */
#include "af_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define LARGE_BYTES (4LL << 20) /* from here on: own mappings, with huge pages asked for */
#define HUGE_PAGE (2LL << 20)
#define COLOURED_BYTES (64LL << 10)
#define COLOURS 32
#define CLASSES 256
#define DEFAULT_LIMIT (1LL << 30)

/* Stands in the 64 bytes before the memory handed out. */
typedef struct Header {
  struct Header *next;
  void *base; /* what the system gave */
  af_i64 mapped_bytes; /* of an own mapping, else 0 */
  af_i64 bytes;
  int size_class;
} Header;

static struct {
  pthread_mutex_t lock;
  Header *kept[CLASSES];
  af_i64 limit;
  unsigned colour;
  AfMemoryStats stats;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = DEFAULT_LIMIT};

/* Four classes for each power of two: at most a quarter is unused. Writes the class's size to *rounded. */
static int size_class(af_i64 bytes, af_i64 *rounded) {
  if (bytes <= 256) {
    const af_i64 units = bytes < 1 ? 1 : (bytes + ALIGNMENT - 1) / ALIGNMENT;
    *rounded = units * ALIGNMENT;
    return (int)units - 1;
  }
  const int top = 63 - __builtin_clzll((unsigned long long)(bytes - 1));
  const af_i64 step = 1LL << (top - 2);
  const af_i64 quarter = (bytes - 1 - (1LL << top)) / step;
  *rounded = (1LL << top) + (quarter + 1) * step;
  return 4 + (top - 8) * 4 + (int)quarter;
}

/* Large blocks that all began at one offset of a page would contend for the same cache sets. */
static af_i64 colour_offset(af_i64 bytes) {
  return bytes < COLOURED_BYTES ? 0 : (af_i64)(pool.colour++ % COLOURS) * 2 * ALIGNMENT;
}

static Header *fresh(af_i64 bytes, int class, af_i64 offset) {
  const af_i64 whole = bytes + ALIGNMENT + COLOURS * 2 * ALIGNMENT;
  void *base;
  char *start;
  af_i64 mapped = 0;
  if (bytes >= LARGE_BYTES) {
    mapped = whole + HUGE_PAGE;
    base = mmap(NULL, (size_t)mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return NULL;
    start = (char *)(((uintptr_t)base + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    madvise(start, (size_t)whole, MADV_HUGEPAGE); /* a wish: without it the pages are small */
  } else {
    const af_i64 needed = bytes >= COLOURED_BYTES ? whole : bytes + ALIGNMENT;
    if (posix_memalign(&base, ALIGNMENT, (size_t)needed)) return NULL;
    start = base;
  }
  Header *const header = (Header *)(start + offset);
  *header = (Header){.base = base, .mapped_bytes = mapped, .bytes = bytes, .size_class = class};
  return header;
}

static void give_back(Header *header) {
  if (header->mapped_bytes)
    munmap(header->base, (size_t)header->mapped_bytes);
  else
    free(header->base);
}

void *af_memory_allocate(af_i64 bytes) {
  af_i64 rounded;
  if (bytes < 0 || bytes > (1LL << 46)) return NULL;
  const int class = size_class(bytes, &rounded);
  pthread_mutex_lock(&pool.lock);
  Header *header = pool.kept[class];
  ++pool.stats.allocations;
  if (header) {
    pool.kept[class] = header->next;
    pool.stats.bytes_kept -= rounded;
    ++pool.stats.reuses;
  }
  const af_i64 offset = header ? 0 : colour_offset(rounded);
  pool.stats.bytes_in_use += rounded;
  if (pool.stats.bytes_in_use > pool.stats.peak_bytes_in_use) pool.stats.peak_bytes_in_use = pool.stats.bytes_in_use;
  pthread_mutex_unlock(&pool.lock);
  if (!header) header = fresh(rounded, class, offset);
  if (!header) {
    /* What is kept in other classes may be what is missing. */
    af_memory_trim();
    header = fresh(rounded, class, offset);
  }
  if (!header) {
    pthread_mutex_lock(&pool.lock);
    pool.stats.bytes_in_use -= rounded;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
  }
  return (char *)header + ALIGNMENT;
}

void af_memory_release(void *memory) {
  if (!memory) return;
  Header *const header = (Header *)((char *)memory - ALIGNMENT);
  pthread_mutex_lock(&pool.lock);
  pool.stats.bytes_in_use -= header->bytes;
  const int keep = pool.stats.bytes_kept + header->bytes <= pool.limit;
  if (keep) {
    header->next = pool.kept[header->size_class];
    pool.kept[header->size_class] = header;
    pool.stats.bytes_kept += header->bytes;
  }
  pthread_mutex_unlock(&pool.lock);
  if (!keep) give_back(header);
}

void *af_memory_host_allocate(void *context, af_i64 bytes) {
  (void)context;
  return af_memory_allocate(bytes);
}

void af_memory_host_release(void *context, void *memory) {
  (void)context;
  af_memory_release(memory);
}

void af_memory_trim(void) {
  pthread_mutex_lock(&pool.lock);
  Header *all = NULL;
  for (int class = 0; class < CLASSES; ++class) {
    while (pool.kept[class]) {
      Header *const header = pool.kept[class];
      pool.kept[class] = header->next;
      header->next = all;
      all = header;
    }
  }
  pool.stats.bytes_kept = 0;
  pthread_mutex_unlock(&pool.lock);
  while (all) {
    Header *const header = all;
    all = header->next;
    give_back(header);
  }
}

void af_memory_set_limit(af_i64 bytes) {
  pthread_mutex_lock(&pool.lock);
  pool.limit = bytes < 0 ? 0 : bytes;
  const int over = pool.stats.bytes_kept > pool.limit;
  pthread_mutex_unlock(&pool.lock);
  if (over) af_memory_trim();
}

AfMemoryStats af_memory_stats(int reset_peak) {
  pthread_mutex_lock(&pool.lock);
  const AfMemoryStats stats = pool.stats;
  if (reset_peak) pool.stats.peak_bytes_in_use = pool.stats.bytes_in_use;
  pthread_mutex_unlock(&pool.lock);
  return stats;
}

static void lock_for_fork(void) { pthread_mutex_lock(&pool.lock); }

static void unlock_after_fork(void) { pthread_mutex_unlock(&pool.lock); }

void af_memory_start(void) { pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork); }
