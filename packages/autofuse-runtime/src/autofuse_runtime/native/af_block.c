/* Pool memory as Python objects, and NumPy arrays over it. */
#include "af_memory.h"
#include "af_native.h"

typedef struct Block {
  PyObject_HEAD
  void *data;
  af_i64 bytes;
  PyObject *keepalive; /* null: the memory is the pool's */
} Block;

static PyObject *ndarray; /* numpy.ndarray, set once at start */

void af_array_start(PyObject *ndarray_type) {
  Py_INCREF(ndarray_type);
  Py_XSETREF(ndarray, ndarray_type);
}

int af_is_ndarray(PyObject *object) { return (PyObject *)Py_TYPE(object) == ndarray; }

PyObject *af_block_new(void *data, af_i64 bytes, PyObject *keepalive) {
  Block *const block = PyObject_New(Block, &af_block_type);
  if (!block) return NULL;
  block->data = data;
  block->bytes = bytes;
  Py_XINCREF(keepalive);
  block->keepalive = keepalive;
  return (PyObject *)block;
}

static void block_dealloc(Block *self) {
  if (self->keepalive)
    Py_DECREF(self->keepalive);
  else
    af_memory_release(self->data);
  PyObject_Free(self);
}

static int block_get_buffer(Block *self, Py_buffer *view, int flags) {
  return PyBuffer_FillInfo(view, (PyObject *)self, self->data, (Py_ssize_t)self->bytes, 0, flags);
}

static PyBufferProcs block_buffer = {.bf_getbuffer = (getbufferproc)block_get_buffer};

PyTypeObject af_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "af_native.Block",
    .tp_basicsize = sizeof(Block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Pool memory that arrays share; it goes back to the pool with the last of them.",
    .tp_dealloc = (destructor)block_dealloc,
    .tp_as_buffer = &block_buffer,
};

PyObject *af_array_new(int rank, const af_i64 *dims, PyObject *dtype, PyObject *exporter) {
  PyObject *const shape = PyTuple_New(rank);
  if (!shape) return NULL;
  for (int k = 0; k < rank; ++k) {
    PyObject *const dim = PyLong_FromLongLong(dims[k]);
    if (!dim) {
      Py_DECREF(shape);
      return NULL;
    }
    PyTuple_SET_ITEM(shape, k, dim);
  }
  PyObject *const arguments[] = {shape, dtype, exporter};
  PyObject *const array = PyObject_Vectorcall(ndarray, arguments, 3, NULL);
  Py_DECREF(shape);
  return array;
}
