/* A tensor type with the DLPack C exchange API, as torch has it: Tensor(data address, code, bits, shape, strides). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

typedef struct {
  void *data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DlTensor;

typedef struct {
  uint32_t major, minor;
  void *previous, *allocate, *managed_from_object, *to_object;
  int (*tensor_from_object)(void *, DlTensor *);
  void *current_stream;
} DlExchange;

typedef struct {
  PyObject_HEAD
  DlTensor tensor;
  int64_t dims[8], steps[8];
} Tensor;

static int calls;

static int tensor_from_object(void *object, DlTensor *out) {
  ++calls;
  *out = ((Tensor *)object)->tensor;
  return 0;
}

static int read_list(PyObject *list, int64_t *out) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list) && i < 8; ++i) out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(list, i));
  return (int)PyTuple_GET_SIZE(list);
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  unsigned long long address;
  int code, bits, device;
  PyObject *shape, *strides;
  if (!PyArg_ParseTuple(args, "KiiiO!O", &address, &code, &bits, &device, &PyTuple_Type, &shape, &strides)) return NULL;
  Tensor *const self = (Tensor *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  DlTensor *const t = &self->tensor;
  t->data = (void *)(uintptr_t)address;
  t->device.type = device;
  t->dtype.code = (uint8_t)code;
  t->dtype.bits = (uint8_t)bits;
  t->dtype.lanes = 1;
  t->ndim = read_list(shape, self->dims);
  t->shape = self->dims;
  if (strides != Py_None) {
    read_list(strides, self->steps);
    t->strides = self->steps;
  }
  return (PyObject *)self;
}

static PyTypeObject tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "exchange.Tensor",
    .tp_basicsize = sizeof(Tensor),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = tensor_new,
};

static PyObject *count(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(calls);
}

static PyMethodDef functions[] = {{"calls", count, METH_NOARGS, "Exchanges so far."}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "exchange", .m_size = -1, .m_methods = functions};
static DlExchange exchange = {.major = 1, .minor = 3, .tensor_from_object = tensor_from_object};

PyMODINIT_FUNC PyInit_exchange(void) {
  if (PyType_Ready(&tensor_type)) return NULL;
  PyObject *const capsule = PyCapsule_New(&exchange, "dlpack_exchange_api", NULL);
  if (!capsule || PyDict_SetItemString(tensor_type.tp_dict, "__dlpack_c_exchange_api__", capsule)) return NULL;
  PyType_Modified(&tensor_type);
  PyObject *const module = PyModule_Create(&definition);
  if (module) PyModule_AddObjectRef(module, "Tensor", (PyObject *)&tensor_type);
  return module;
}
