// Kernels written by hand, in the form that emitters write: a tiling function and a launch function each.
// A test compiles those it defines USE_<name> for.
#ifndef TEST_KERNELS
#define TEST_KERNELS
#include "af_abi.h"

struct Tiling {
  af_i64 blocks;
};

static int solve(af_i64 count, af_i64 cores, void* tiling) {
  static_cast<Tiling*>(tiling)->blocks = count < 1024 ? 1 : cores * 4;
  return count > 100000000 ? 1 : 0;  // more than these kernels can tile
}

template <typename Body>
struct Job {
  af_i64 count, blocks;
  Body body;
};

template <typename Body>
static void run(const AfHost* host, af_i64 count, const void* tiling, Body body) {
  Job<Body> job{count, static_cast<const Tiling*>(tiling)->blocks, body};
  auto block = [](void* argument, af_i64 index) {
    const Job<Body>* const j = static_cast<const Job<Body>*>(argument);
    const af_i64 first = j->count * index / j->blocks, last = j->count * (index + 1) / j->blocks;
    for (af_i64 i = first; i < last; ++i) j->body(i);
  };
  if (job.blocks == 1)
    block(&job, 0);
  else
    host->parallel_for(host->context, job.blocks, block, &job);
}

#define LAUNCH(name)                                                                                      \
  extern "C" int tiling_##name(const af_i64* s, af_i64 cores, void* t) { return solve(s[0], cores, t); } \
  extern "C" void launch_##name(const AfHost* host, const af_i64* s, const AfBuffer* in, const AfBuffer* out, \
                                const void* t, void* workspace, AfStatus* status)
#define UNUSED (void)host, (void)s, (void)in, (void)out, (void)t, (void)workspace, (void)status

#define ADD(name, type)                                       \
  LAUNCH(name) {                                              \
    UNUSED;                                                   \
    const type* const a = static_cast<type*>(in[0].data);     \
    const type* const b = static_cast<type*>(in[1].data);     \
    type* const c = static_cast<type*>(out[0].data);          \
    run(host, s[0], t, [=](af_i64 i) { c[i] = a[i] + b[i]; }); \
  }

// 16-bit floats and bools move as bits: out = first input where the second is not zero, else 0.
#define KEEP(name, type)                                                   \
  LAUNCH(name) {                                                           \
    UNUSED;                                                                \
    const type* const a = static_cast<type*>(in[0].data);                  \
    const type* const b = static_cast<type*>(in[1].data);                  \
    type* const c = static_cast<type*>(out[0].data);                       \
    run(host, s[0], t, [=](af_i64 i) { c[i] = b[i] ? a[i] : static_cast<type>(0); }); \
  }

#endif

#ifdef USE_add_float32
ADD(add_float32, float)
#endif

#ifdef USE_add_float64
ADD(add_float64, double)
#endif

#ifdef USE_add_int8
ADD(add_int8, signed char)
#endif

#ifdef USE_add_int16
ADD(add_int16, short)
#endif

#ifdef USE_add_int32
ADD(add_int32, int)
#endif

#ifdef USE_add_int64
ADD(add_int64, af_i64)
#endif

#ifdef USE_add_uint8
ADD(add_uint8, unsigned char)
#endif

#ifdef USE_add_uint16
ADD(add_uint16, unsigned short)
#endif

#ifdef USE_add_uint32
ADD(add_uint32, unsigned)
#endif

#ifdef USE_add_uint64
ADD(add_uint64, unsigned long long)
#endif

#ifdef USE_keep_bool
KEEP(keep_bool, unsigned char)
#endif

#ifdef USE_keep_float16
KEEP(keep_float16, unsigned short)
#endif

#ifdef USE_keep_bfloat16
KEEP(keep_bfloat16, unsigned short)
#endif

#ifdef USE_scale
LAUNCH(scale) {  // 2 * a
  UNUSED;
  const float* const a = static_cast<float*>(in[0].data);
  float* const c = static_cast<float*>(out[0].data);
  run(host, s[0], t, [=](af_i64 i) { c[i] = 2 * a[i]; });
}
#endif

#ifdef USE_add_sub
LAUNCH(add_sub) {  // two outputs
  UNUSED;
  const float *const a = static_cast<float*>(in[0].data), *const b = static_cast<float*>(in[1].data);
  float *const c = static_cast<float*>(out[0].data), *const d = static_cast<float*>(out[1].data);
  for (af_i64 i = 0; i < s[0]; ++i) {
    const float sum = a[i] + b[i], difference = a[i] - b[i];
    c[i] = sum;
    d[i] = difference;
  }
}
#endif

#ifdef USE_divide
LAUNCH(divide) {  // integer division; bit 3: by zero
  UNUSED;
  const int *const a = static_cast<int*>(in[0].data), *const b = static_cast<int*>(in[1].data);
  int* const c = static_cast<int*>(out[0].data);
  run(host, s[0], t, [=](af_i64 i) {
    if (b[i] == 0) __atomic_fetch_or(&status->bits, 8ULL, __ATOMIC_RELAXED);
    c[i] = b[i] == 0 ? 0 : a[i] / b[i];
  });
}
#endif

#ifdef USE_total
LAUNCH(total) {  // sum of all elements; 0 of none
  UNUSED;
  const float* const a = static_cast<float*>(in[0].data);
  float sum = 0;
  for (af_i64 i = 0; i < s[0]; ++i) sum += a[i];
  *static_cast<float*>(out[0].data) = sum;
}
#endif

#ifdef USE_reverse
LAUNCH(reverse) {  // by way of workspace, so that it may run in place
  UNUSED;
  const float* const a = static_cast<float*>(in[0].data);
  float *const w = static_cast<float*>(workspace), *const c = static_cast<float*>(out[0].data);
  for (af_i64 i = 0; i < s[0]; ++i) w[i] = a[s[0] - 1 - i];
  for (af_i64 i = 0; i < s[0]; ++i) c[i] = w[i];
}
#endif

#ifdef USE_shifted
LAUNCH(shifted) {  // out[i] = in[i] + in[0]: must not run in place
  UNUSED;
  const float* const a = static_cast<float*>(in[0].data);
  float* const c = static_cast<float*>(out[0].data);
  for (af_i64 i = 0; i < s[0]; ++i) c[i] = a[i] + a[0];
}
#endif

#ifdef USE_row_add
LAUNCH(row_add) {  // sizes: elements, columns
  UNUSED;
  const float *const a = static_cast<float*>(in[0].data), *const b = static_cast<float*>(in[1].data);
  float* const c = static_cast<float*>(out[0].data);
  const af_i64 rows = s[0], columns = s[1];
  for (af_i64 i = 0; i < rows; ++i)
    for (af_i64 k = 0; k < columns; ++k) c[i * columns + k] = a[i * columns + k] + b[k];
}
#endif

#ifdef USE_index
LAUNCH(index) {  // number of the block that ran each element, to see that parallel_for runs each once
  UNUSED;
  af_i64* const c = static_cast<af_i64*>(out[0].data);
  struct Count {
    af_i64* data;
  } count{c};
  for (af_i64 i = 0; i < s[0]; ++i) c[i] = 0;
  host->parallel_for(
      host->context, s[0],
      [](void* argument, af_i64 i) {
        __atomic_fetch_add(&static_cast<Count*>(argument)->data[i], i + 1, __ATOMIC_RELAXED);
      },
      &count);
}
#endif

#ifdef USE_wait
LAUNCH(wait) {  // out = 1 once the first element of the input is not 0, or 0 after a few seconds
  UNUSED;
  const volatile float* const a = static_cast<float*>(in[0].data);
  float* const c = static_cast<float*>(out[0].data);
  for (af_i64 spin = 0; spin < 3000000000 && a[0] == 0; ++spin) {
  }
  for (af_i64 i = 0; i < s[0]; ++i) c[i] = a[0] != 0;
}
#endif

#ifdef USE_twice
LAUNCH(twice) {  // scale under another name
  UNUSED;
  const float* const a = static_cast<float*>(in[0].data);
  float* const c = static_cast<float*>(out[0].data);
  run(host, s[0], t, [=](af_i64 i) { c[i] = 2 * a[i]; });
}
#endif
