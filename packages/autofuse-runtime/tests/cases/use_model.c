/* Calls a model from C: c[n, 2] = 2 * (a + k) twice over, with memory and threads of this program's own. */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static int live;

static void* take(void* context, af_i64 bytes) {
  (void)context;
  ++live;
  return aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
}

static void give(void* context, void* memory) {
  (void)context;
  --live;
  free(memory);
}

static void serial(void* context, af_i64 count, void (*body)(void*, af_i64), void* argument) {
  (void)context;
  for (af_i64 i = 0; i < count; ++i) body(argument, i);
}

int main(void) {
  const AfHost host = {0, 2, serial, take, give, 1 << 20};
  const float a[3] = {1, 2, 3}, k[3] = {10, 20, 30};
  float c[3], d[3];
  af_i64 sizes[1] = {3};
  long long written[2];
  const void* inputs[1] = {a};
  const void* constants[1] = {k};
  void* outputs[3] = {c, d, written};
  AfStatus status = {0};
  int result = af_test(&host, sizes, inputs, outputs, constants, &status);
  printf("%d: %g %g %g, %g %g %g, %lld %lld, live %d\n", result, c[0], c[1], c[2], d[0], d[1], d[2], written[0], written[1],
         live);
  sizes[0] = -1;
  printf("%d\n", af_test(&host, sizes, inputs, outputs, constants, &status));
  return 0;
}
