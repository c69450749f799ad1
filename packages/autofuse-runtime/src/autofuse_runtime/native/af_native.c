/* The extension module: types, and the process's threads and memory as functions. */
#include "af_native.h"

#include "af_memory.h"
#include "af_threads.h"

static PyObject *set_num_threads(PyObject *self, PyObject *value) {
  (void)self;
  const long long threads = PyLong_AsLongLong(value);
  if (threads == -1 && PyErr_Occurred()) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  af_threads_resize(threads);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *num_threads(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromLongLong(af_threads_count());
}

static PyObject *set_memory_limit(PyObject *self, PyObject *value) {
  (void)self;
  const long long bytes = PyLong_AsLongLong(value);
  if (bytes == -1 && PyErr_Occurred()) return NULL;
  af_memory_set_limit(bytes);
  Py_RETURN_NONE;
}

static PyObject *memory_stats(PyObject *self, PyObject *reset_peak) {
  (void)self;
  const AfMemoryStats s = af_memory_stats(PyObject_IsTrue(reset_peak) == 1);
  return Py_BuildValue("{sL sL sL sL sL}", "bytes_in_use", s.bytes_in_use, "peak_bytes_in_use", s.peak_bytes_in_use,
                       "bytes_kept", s.bytes_kept, "allocations", s.allocations, "reuses", s.reuses);
}

static PyObject *trim_memory(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  af_memory_trim();
  Py_RETURN_NONE;
}

/* evaluate(code bytes, symbol values bytes, stack depth): one size expression; None when it has no value. */
static PyObject *evaluate(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *code, *values;
  int depth;
  if (!PyArg_ParseTuple(args, "SSi", &code, &values, &depth)) return NULL;
  AfExpression expression;
  af_i64 result, *const stack = PyMem_Calloc((size_t)depth + 1, sizeof(af_i64));
  if (!stack) return PyErr_NoMemory();
  af_expression_init(&expression, (const af_i64 *)PyBytes_AS_STRING(code),
                     PyBytes_GET_SIZE(code) / (Py_ssize_t)sizeof(af_i64));
  const int failed = af_expression_run(&expression, (const af_i64 *)PyBytes_AS_STRING(values), stack, &result);
  PyMem_Free(stack);
  if (failed) Py_RETURN_NONE;
  return PyLong_FromLongLong(result);
}

static PyObject *set_array_type(PyObject *self, PyObject *type) {
  (void)self;
  af_array_start(type);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_num_threads", set_num_threads, METH_O, "Set how many threads a kernel may use."},
    {"num_threads", num_threads, METH_NOARGS, "How many threads a kernel may use."},
    {"set_memory_limit", set_memory_limit, METH_O, "Set how many released bytes are kept for reuse."},
    {"memory_stats", memory_stats, METH_O, "Counts of the memory pool; True resets the peak."},
    {"trim_memory", trim_memory, METH_NOARGS, "Give kept memory back to the system."},
    {"evaluate", evaluate, METH_VARARGS, "Value of size bytecode."},
    {"set_array_type", set_array_type, METH_O, "Set the type that results are made with (numpy.ndarray)."},
    {0}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "af_native", .m_doc = "Runs AutoFuse programs.", .m_size = -1,
    .m_methods = functions};

PyMODINIT_FUNC PyInit_af_native(void) {
  if (PyType_Ready(&af_block_type) || PyType_Ready(&af_library_type) || PyType_Ready(&af_module_type)) return NULL;
  if (af_tensor_start() || af_module_start()) return NULL;
  PyObject *const module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (PyModule_AddObjectRef(module, "Library", (PyObject *)&af_library_type) ||
      PyModule_AddObjectRef(module, "Module", (PyObject *)&af_module_type) ||
      PyModule_AddIntConstant(module, "ABI_VERSION", AF_ABI_VERSION)) {
    Py_DECREF(module);
    return NULL;
  }
  af_memory_start();
  af_threads_start(); /* last, so that a fork first waits for kernels, which may allocate, and then for memory */
  return module;
}
