// Probes: kernels that do one thing each, so that their time says what that thing costs on this machine.
// All have the arguments x[n] (float32), rounds[r] (uint8, only its size counts) -> y[n] (float32).
#include "af_abi.h"

#define PROBE(name)                                                                                               \
  extern "C" int tiling_##name(const af_i64*, af_i64, void*) { return 0; }                                        \
  extern "C" void launch_##name(const AfHost* host, const af_i64* sizes, const AfBuffer* in, const AfBuffer* out, \
                                const void*, void*, AfStatus*)
#define ARGUMENTS                                            \
  const af_i64 n = sizes[0], rounds = sizes[1];              \
  const float* const x = static_cast<float*>(in[0].data);    \
  float* const __restrict y = static_cast<float*>(out[0].data); \
  (void)host, (void)n, (void)rounds, (void)x, (void)y

// What the compiler may not look through: each round happens.
static inline void next_round(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

static void nothing(void*, af_i64) {}

PROBE(idle) { ARGUMENTS; }

PROBE(fork) {
  ARGUMENTS;
  host->parallel_for(host->context, host->cores, nothing, nullptr);
}

// A chain of additions that each wait for the one before: one cycle each.
PROBE(clock) {
  ARGUMENTS;
  af_i64 sum = n;
  const af_i64 step = rounds;
#pragma GCC unroll 16
  for (af_i64 i = 0; i < rounds; ++i) {
    asm volatile("" : "+r"(sum));
    sum += step;
  }
  asm volatile("" : : "r"(sum));
}

PROBE(read) {
  ARGUMENTS;
  typedef unsigned long long __attribute__((may_alias)) Word;
  const Word* const words = reinterpret_cast<const Word*>(x);
  Word seen = 0;
  for (af_i64 i = 0; i < n / 2; ++i) seen ^= words[i];
  asm volatile("" : : "r"(seen));
}

PROBE(write) {
  ARGUMENTS;
  const float value = x[0];
  for (af_i64 i = 0; i < n; ++i) y[i] = value;
  next_round(y);
}

// Not a plain copy, which compilers replace by a call.
PROBE(copy) {
  ARGUMENTS;
  for (af_i64 round = 0; round < rounds; ++round) {
    for (af_i64 i = 0; i < n; ++i) y[i] = -x[i];
    next_round(y);
  }
}

// Sixteen operations on each element, as in a chain that was fused.
PROBE(chain) {
  ARGUMENTS;
  const float a = x[0], b = x[1];
  for (af_i64 round = 0; round < rounds; ++round) {
    for (af_i64 i = 0; i < n; ++i) {
      float v = x[i];
      v = (v + a) * b, v = (v - a) * b, v = (v + b) * a, v = (v - b) * a;
      v = (v + a) * b, v = (v - a) * b, v = (v + b) * a, v = (v - b) * a;
      y[i] = v;
    }
    next_round(y);
  }
}
