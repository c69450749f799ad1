/* Calls one kernel of a model with host steps from C: the kernel divides, and reports a division by zero. */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static void* take(void* context, af_i64 bytes) {
  (void)context;
  return aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
}

static void give(void* context, void* memory) {
  (void)context;
  free(memory);
}

static void serial(void* context, af_i64 count, void (*body)(void*, af_i64), void* argument) {
  (void)context;
  for (af_i64 i = 0; i < count; ++i) body(argument, i);
}

int main(void) {
  const AfHost host = {0, 1, serial, take, give, 1 << 20};
  const int a[2] = {6, 8};
  int b[2] = {3, 2}, c[2];
  const af_i64 sizes[1] = {2};
  const void* inputs[2] = {a, b};
  void* outputs[1] = {c};
  AfStatus status = {0};
  int result = af_test_kernel_0(&host, sizes, inputs, outputs, &status);
  printf("%d: %d %d\n", result, c[0], c[1]);
  b[1] = 0;
  result = af_test_kernel_0(&host, sizes, inputs, outputs, &status);
  printf("%d: bits %llu\n", result, status.bits);
  return 0;
}
