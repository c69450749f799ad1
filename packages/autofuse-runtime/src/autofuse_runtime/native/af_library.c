/* Kernel libraries: dlopen, and the table of kernels that `af_library` exports. */
#include <dlfcn.h>

#include "af_native.h"

typedef struct Library {
  PyObject_HEAD
  void *handle;
  const AfLibrary *table;
} Library;

static PyObject *library_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *path;
  static char *names[] = {"path", NULL};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &path)) return NULL;
  void *const handle = dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL);
  Py_DECREF(path);
  if (!handle) return PyErr_Format(PyExc_OSError, "%s", dlerror());
  const AfLibrary *const table = dlsym(handle, "af_library");
  if (!table) {
    dlclose(handle);
    return PyErr_Format(PyExc_OSError, "the library does not export af_library");
  }
  Library *const self = (Library *)type->tp_alloc(type, 0);
  if (!self) {
    dlclose(handle);
    return NULL;
  }
  self->handle = handle;
  self->table = table;
  return (PyObject *)self;
}

static void library_dealloc(Library *self) {
  if (self->handle) dlclose(self->handle);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *library_abi_version(Library *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(self->table->abi_version);
}

/* (name, symbols, inputs, outputs, tiling bytes) of each kernel; empty when the version is not ours. */
static PyObject *library_kernels(Library *self, void *closure) {
  (void)closure;
  const af_i64 count = self->table->abi_version == AF_ABI_VERSION ? self->table->kernel_count : 0;
  PyObject *const result = PyTuple_New((Py_ssize_t)count);
  for (af_i64 i = 0; result && i < count; ++i) {
    const AfKernel *const k = self->table->kernels[i];
    PyObject *const row =
        Py_BuildValue("(sLLLL)", k->name, k->symbol_count, k->input_count, k->output_count, k->tiling_bytes);
    if (!row) {
      Py_DECREF(result);
      return NULL;
    }
    PyTuple_SET_ITEM(result, (Py_ssize_t)i, row);
  }
  return result;
}

const AfKernel *af_library_find(PyObject *library, const char *name) {
  if (!PyObject_TypeCheck(library, &af_library_type)) return NULL;
  const AfLibrary *const table = ((Library *)library)->table;
  if (table->abi_version != AF_ABI_VERSION) return NULL;
  for (af_i64 i = 0; i < table->kernel_count; ++i) {
    if (strcmp(table->kernels[i]->name, name) == 0) return table->kernels[i];
  }
  return NULL;
}

static PyGetSetDef library_fields[] = {
    {"abi_version", (getter)library_abi_version, NULL, "ABI version the library was built for.", NULL},
    {"kernels", (getter)library_kernels, NULL, "(name, symbols, inputs, outputs, tiling bytes) of each kernel.", NULL},
    {0}};

PyTypeObject af_library_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "af_native.Library",
    .tp_basicsize = sizeof(Library),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A loaded kernel library; closed when nothing uses it any more.",
    .tp_new = library_new,
    .tp_dealloc = (destructor)library_dealloc,
    .tp_getset = library_fields,
};
