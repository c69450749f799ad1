/* The C interface between generated kernels and whoever launches them. Freestanding: no system header.
   A kernel library exports `af_library`; nothing else needs to be looked up by name. Version: AF_ABI_VERSION. */
#ifndef AF_ABI_H
#define AF_ABI_H

#define AF_ABI_VERSION 1

typedef long long af_i64;

#ifdef __cplusplus
extern "C" {
#endif

/* What the process lends to kernels: one thread pool and one allocator. Kernels own neither. */
typedef struct AfHost {
  void* context;
  af_i64 cores; /* blocks that parallel_for can run at once */
  /* Runs body(argument, i) for i in [0, count), each exactly once, and returns when all are done. */
  void (*parallel_for)(void* context, af_i64 count, void (*body)(void* argument, af_i64 index), void* argument);
  void* (*allocate)(void* context, af_i64 bytes); /* 64-byte aligned; null when there is no memory */
  void (*release)(void* context, void* memory);
  af_i64 last_level_cache_bytes; /* outputs far larger than this bypass the cache */
} AfHost;

/* One argument: first element and element strides of each dim of its memory shape (null strides: row-major). */
typedef struct AfBuffer {
  void* data;
  const af_i64* strides;
} AfBuffer;

/* Errors seen by any block, OR-ed; bit meanings are in the kernel's table. */
typedef struct AfStatus {
  unsigned long long bits;
} AfStatus;

/* Solves the tile sizes for `sizes` and writes TilingData (`tiling_bytes` bytes, 8-byte aligned). 0 when solved. */
typedef int (*AfTilingFunction)(const af_i64* sizes, af_i64 cores, void* tiling);

/* Runs the kernel for `sizes` with solved TilingData. `inputs` and `outputs` follow the argument table. */
typedef void (*AfLaunchFunction)(const AfHost* host, const af_i64* sizes, const AfBuffer* inputs,
                                 const AfBuffer* outputs, const void* tiling, void* workspace, AfStatus* status);

typedef struct AfKernel {
  const char* name;
  af_i64 symbol_count;
  af_i64 input_count;
  af_i64 output_count;
  af_i64 tiling_bytes;
  AfTilingFunction tiling;
  AfLaunchFunction launch;
} AfKernel;

typedef struct AfLibrary {
  af_i64 abi_version;
  af_i64 kernel_count;
  const AfKernel* const* kernels;
} AfLibrary;

/* Every kernel library defines this symbol. */
extern const AfLibrary af_library;

#ifdef __cplusplus
}
#endif
#endif
