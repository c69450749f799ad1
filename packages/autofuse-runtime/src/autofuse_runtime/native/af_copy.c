/* Elements in memory: one at a time for sizes, all at once between strided tensors and row-major memory. */
#include "af_native.h"

int af_element_read(const void *data, int dtype, af_i64 element, af_i64 *value) {
  switch (dtype) {
    case AF_BOOL: *value = ((const unsigned char *)data)[element] != 0; return 0;
    case AF_INT8: *value = ((const int8_t *)data)[element]; return 0;
    case AF_INT16: *value = ((const int16_t *)data)[element]; return 0;
    case AF_INT32: *value = ((const int32_t *)data)[element]; return 0;
    case AF_INT64: *value = ((const int64_t *)data)[element]; return 0;
    case AF_UINT8: *value = ((const uint8_t *)data)[element]; return 0;
    case AF_UINT16: *value = ((const uint16_t *)data)[element]; return 0;
    case AF_UINT32: *value = ((const uint32_t *)data)[element]; return 0;
    case AF_UINT64: {
      const uint64_t wide = ((const uint64_t *)data)[element];
      *value = (af_i64)wide;
      return wide > INT64_MAX ? -1 : 0;
    }
    default: return -1;
  }
}

void af_element_write(void *data, int dtype, af_i64 element, af_i64 value) {
  switch (af_itemsize[dtype]) {
    case 1: ((uint8_t *)data)[element] = dtype == AF_BOOL ? value != 0 : (uint8_t)value; return;
    case 2: ((uint16_t *)data)[element] = (uint16_t)value; return;
    case 4: ((uint32_t *)data)[element] = (uint32_t)value; return;
    default: ((uint64_t *)data)[element] = (uint64_t)value; return;
  }
}

af_i64 af_element_count(const af_i64 *dims, int rank) {
  af_i64 count = 1;
  int is_empty = 0;
  for (int k = 0; k < rank; ++k) {
    if (dims[k] < 0) return -1;
    if (dims[k] == 0) is_empty = 1;
  }
  if (is_empty) return 0;
  for (int k = 0; k < rank; ++k) {
    if (__builtin_mul_overflow(count, dims[k], &count)) return -1;
  }
  return count;
}

typedef struct Walk {
  int rank, itemsize, to_row_major;
  const af_i64 *dims;
  af_i64 strides[AF_MAX_RANK]; /* bytes */
} Walk;

static char *copy_row(const Walk *walk, char *dense, char *strided) {
  const af_i64 n = walk->rank ? walk->dims[walk->rank - 1] : 1;
  const af_i64 step = walk->rank ? walk->strides[walk->rank - 1] : walk->itemsize;
  const size_t itemsize = (size_t)walk->itemsize;
  if (step == walk->itemsize) {
    if (walk->to_row_major)
      memcpy(dense, strided, (size_t)n * itemsize);
    else
      memcpy(strided, dense, (size_t)n * itemsize);
    return dense + n * walk->itemsize;
  }
  /* One case a width: memcpy of a constant size is a plain move, whatever the alignment. */
#define COPY_ELEMENTS(bytes)                                    \
  for (af_i64 i = 0; i < n; ++i, dense += (bytes), strided += step) { \
    if (walk->to_row_major)                                     \
      memcpy(dense, strided, (bytes));                          \
    else                                                        \
      memcpy(strided, dense, (bytes));                          \
  }
  switch (itemsize) {
    case 1: COPY_ELEMENTS(1) break;
    case 2: COPY_ELEMENTS(2) break;
    case 4: COPY_ELEMENTS(4) break;
    default: COPY_ELEMENTS(8) break;
  }
#undef COPY_ELEMENTS
  return dense;
}

static char *copy_dims(const Walk *walk, int axis, char *dense, char *strided) {
  if (axis >= walk->rank - 1) return copy_row(walk, dense, strided);
  for (af_i64 i = 0; i < walk->dims[axis]; ++i) dense = copy_dims(walk, axis + 1, dense, strided + i * walk->strides[axis]);
  return dense;
}

static void copy(const AfTensor *t, char *dense, int to_row_major) {
  Walk walk = {.rank = t->rank, .itemsize = af_itemsize[t->dtype], .to_row_major = to_row_major, .dims = t->dims};
  af_i64 contiguous = walk.itemsize;
  if (af_element_count(t->dims, t->rank) <= 0) return;
  for (int k = t->rank - 1; k >= 0; --k) {
    if (!t->strides)
      walk.strides[k] = contiguous;
    else
      walk.strides[k] = t->strides[k] * (t->strides_in_elements ? walk.itemsize : 1);
    contiguous *= t->dims[k];
  }
  copy_dims(&walk, 0, dense, t->data);
}

void af_copy_to_row_major(void *target, const AfTensor *source) { copy(source, target, 1); }

void af_copy_from_row_major(const AfTensor *target, const void *source) { copy(target, (char *)source, 0); }
