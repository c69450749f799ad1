/* Tensor arguments: NumPy arrays and other exporters by the buffer protocol, torch and others by DLPack. */
#include "af_native.h"

const unsigned char af_itemsize[AF_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

/* ---- DLPack, as its header defines it (version 1) ---- */
typedef struct DlTensor {
  void *data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DlTensor;

typedef struct DlManaged {
  DlTensor tensor;
  void *context;
  void (*deleter)(struct DlManaged *);
} DlManaged;

typedef struct DlManagedVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct DlManagedVersioned *);
  uint64_t flags;
  DlTensor tensor;
} DlManagedVersioned;

typedef struct DlExchange {
  uint32_t major, minor;
  void *previous;
  void *allocate;
  int (*managed_from_object)(void *, DlManagedVersioned **);
  void *to_object;
  int (*tensor_from_object)(void *, DlTensor *);
  void *current_stream;
} DlExchange;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 };
enum { DL_READ_ONLY = 1 };

/* Types met before, and how their objects are read. Filled under the interpreter lock; never emptied. */
#define CACHED_TYPES 16
static struct {
  PyTypeObject *type;
  const DlExchange *exchange; /* null: by the buffer protocol */
  int may_defer;              /* its objects can stand for more than their memory says: see `defers` */
} cache[CACHED_TYPES];
static int cached;
static PyObject *name_exchange, *name_dlpack, *name_requires_grad, *name_is_neg;

int af_tensor_start(void) {
  name_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  name_dlpack = PyUnicode_InternFromString("__dlpack__");
  name_requires_grad = PyUnicode_InternFromString("requires_grad");
  name_is_neg = PyUnicode_InternFromString("is_neg");
  return name_exchange && name_dlpack && name_requires_grad && name_is_neg ? 0 : -1;
}

static const DlExchange *exchange_of(PyTypeObject *type, int *may_defer) {
  for (int i = 0; i < cached; ++i) {
    if (cache[i].type != type) continue;
    *may_defer = cache[i].may_defer;
    return cache[i].exchange;
  }
  const DlExchange *exchange = NULL;
  PyObject *const capsule = PyObject_GetAttr((PyObject *)type, name_exchange);
  if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  if (exchange && (exchange->major != 1 || !exchange->tensor_from_object)) exchange = NULL;
  Py_XDECREF(capsule);
  PyErr_Clear();
  *may_defer = exchange && PyObject_HasAttr((PyObject *)type, name_requires_grad) &&
               PyObject_HasAttr((PyObject *)type, name_is_neg);
  if (cached < CACHED_TYPES) {
    Py_INCREF(type); /* so that no other type takes its address */
    cache[cached].type = type;
    cache[cached].may_defer = *may_defer;
    cache[cached++].exchange = exchange;
  }
  return exchange;
}

static int sized(int bytes, int one, int two, int four, int eight) {
  return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : bytes == 8 ? eight : -2;
}

/* The element type of a buffer's format (struct module letters, native byte order), -2 for any other. */
static int dtype_of_format(const char *format, Py_ssize_t itemsize) {
  if (!format) format = "B";
  if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN)) ++format;
  if (!format[0] || format[1]) return -2;
  switch (format[0]) {
    case '?': return itemsize == 1 ? AF_BOOL : -2;
    case 'e': return AF_FLOAT16;
    case 'f': return AF_FLOAT32;
    case 'd': return AF_FLOAT64;
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
      return sized((int)itemsize, AF_INT8, AF_INT16, AF_INT32, AF_INT64);
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
      return sized((int)itemsize, AF_UINT8, AF_UINT16, AF_UINT32, AF_UINT64);
    default: return -2;
  }
}

static int dtype_of_dlpack(const DlTensor *t) {
  const int bits = t->dtype.bits;
  if (t->dtype.lanes != 1 || bits % 8) return -2;
  switch (t->dtype.code) {
    case 0: return sized(bits / 8, AF_INT8, AF_INT16, AF_INT32, AF_INT64);
    case 1: return sized(bits / 8, AF_UINT8, AF_UINT16, AF_UINT32, AF_UINT64);
    case 2: return sized(bits / 8, -2, AF_FLOAT16, AF_FLOAT32, AF_FLOAT64);
    case 4: return bits == 16 ? AF_BFLOAT16 : -2;
    case 6: return bits == 8 ? AF_BOOL : -2;
    default: return -2;
  }
}

static int is_row_major(const AfTensor *t) {
  const af_i64 itemsize = af_itemsize[t->dtype];
  if ((uintptr_t)t->data % (uintptr_t)itemsize) return 0;
  if (!t->strides) return 1;
  af_i64 expected = t->strides_in_elements ? 1 : itemsize;
  int matches = 1;
  for (int k = t->rank - 1; k >= 0; --k) {
    if (t->dims[k] == 0) return 1;
    if (t->dims[k] != 1 && t->strides[k] != expected) matches = 0;
    expected *= t->dims[k];
  }
  return matches;
}

static int from_dlpack(AfTensor *tensor, const DlTensor *t) {
  const int device = t->device.type;
  if (device != DL_CPU && device != DL_CUDA_HOST && device != DL_ROCM_HOST) return -1;
  tensor->dtype = dtype_of_dlpack(t);
  if (tensor->dtype < 0 || t->ndim < 0 || t->ndim > AF_MAX_RANK) return -1;
  tensor->data = (char *)t->data + t->byte_offset;
  tensor->rank = t->ndim;
  tensor->dims = (const af_i64 *)t->shape;
  tensor->strides = (const af_i64 *)t->strides;
  tensor->strides_in_elements = 1;
  tensor->is_row_major = is_row_major(tensor);
  return 0;
}

/* The one way to lay out more than one element without a gap. */
static int is_dense(const AfTensor *t) {
  af_i64 expected = 1;
  for (int k = t->rank - 1; k >= 0; --k) {
    if (t->strides && t->strides[k] != expected) return 0;
    expected *= t->dims[k];
  }
  return expected > 1;
}

/* Whether torch would add something on reading: a gradient that it records, or a sign that it has put off.
   `torch.conj(x).imag` is -x.imag over the memory of x, a view with gaps; only of such views is the sign asked. */
static int defers(PyObject *object, const AfTensor *tensor) {
  PyObject *answer = PyObject_GetAttr(object, name_requires_grad);
  int found = answer ? PyObject_IsTrue(answer) : 0;
  Py_XDECREF(answer);
  if (!found && !is_dense(tensor)) {
    answer = PyObject_CallMethodNoArgs(object, name_is_neg);
    found = answer ? PyObject_IsTrue(answer) : 0;
    Py_XDECREF(answer);
  }
  PyErr_Clear();
  return found != 0;
}

static int from_capsule(AfTensor *tensor, PyObject *object, int writable) {
  PyObject *const capsule = PyObject_CallMethodNoArgs(object, name_dlpack);
  const DlTensor *t = NULL;
  if (capsule && PyCapsule_IsValid(capsule, "dltensor")) {
    t = &((DlManaged *)PyCapsule_GetPointer(capsule, "dltensor"))->tensor;
  } else if (capsule && PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DlManagedVersioned *const managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->major == 1 && !(writable && (managed->flags & DL_READ_ONLY))) t = &managed->tensor;
  }
  tensor->capsule = capsule; /* its destructor gives the tensor back */
  return t ? from_dlpack(tensor, t) : -1;
}

static int from_buffer(AfTensor *tensor, PyObject *object, int writable) {
  if (PyObject_GetBuffer(object, &tensor->view, PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
    return -1;
  tensor->holds_view = 1;
  const Py_buffer *const view = &tensor->view;
  tensor->dtype = dtype_of_format(view->format, view->itemsize);
  if (tensor->dtype < 0 || view->ndim > AF_MAX_RANK) return -1;
  tensor->data = view->buf;
  tensor->rank = view->ndim;
  tensor->dims = (const af_i64 *)view->shape;
  tensor->strides = (const af_i64 *)view->strides;
  tensor->strides_in_elements = 0;
  tensor->is_row_major = is_row_major(tensor);
  return 0;
}

/* Several indices, one element: what would be written there is left to chance. */
static int repeats(const AfTensor *t) {
  int found = 0;
  for (int k = 0; t->strides && k < t->rank; ++k) {
    if (t->dims[k] == 0) return 0;
    if (t->dims[k] > 1 && t->strides[k] == 0) found = 1;
  }
  return found;
}

int af_tensor_acquire(AfTensor *tensor, PyObject *object, int writable) {
  PyTypeObject *const type = Py_TYPE(object);
  tensor->object = object;
  tensor->holds_view = 0;
  tensor->capsule = NULL;
  int may_defer;
  const DlExchange *const exchange = exchange_of(type, &may_defer);
  int failed = -1;
  if (exchange) {
    DlTensor t;
    failed = exchange->tensor_from_object(object, &t) ? -1 : from_dlpack(tensor, &t);
    if (!failed && may_defer && defers(object, tensor)) failed = -1; /* Python reads it, or says why not */
  } else if (PyObject_CheckBuffer(object)) {
    failed = from_buffer(tensor, object, writable);
  } else if (PyObject_HasAttr(object, name_dlpack)) {
    failed = from_capsule(tensor, object, writable);
  }
  if (!failed && writable && repeats(tensor)) failed = -1;
  if (failed) {
    PyErr_Clear();
    af_tensor_release(tensor);
  }
  return failed;
}

void af_tensor_release(AfTensor *tensor) {
  if (tensor->holds_view) {
    PyBuffer_Release(&tensor->view);
    tensor->holds_view = 0;
  }
  Py_CLEAR(tensor->capsule);
}
