/* The callable: arguments to a frame, the frame through entry, steps and results, faults to Python. */
#include <stddef.h>

#include "af_memory.h"
#include "af_native.h"
#include "af_threads.h"

typedef struct Module {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  AfPlan plan;
  int has_plan;
  AfFrame *idle; /* frames no call uses; guarded by the interpreter lock */
  AfCounters counters;
  af_i64 last_level_cache_bytes;
  PyObject *face;     /* attributes this type lacks are looked up here */
  PyObject *explain;  /* (args, kwargs): raises what is wrong with a call's arguments */
  PyObject *report;   /* (fault, index, symbols, values): raises what went wrong in a step */
  PyObject *stand_in; /* (object, writable): something exporting the same memory, or None */
} Module;

static PyObject *name_out; /* "out" */

/* ---- faults ---- */

/* Raises what is wrong with the arguments; 0 where nothing is. */
static int find_fault(Module *self, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames) {
  PyObject *const tuple = PyTuple_New(positional), *const keywords = PyDict_New();
  PyObject *result = NULL;
  if (tuple && keywords) {
    int failed = 0;
    for (Py_ssize_t i = 0; i < positional; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
      failed |= PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), args[positional + i]);
    result = failed ? NULL : PyObject_CallFunctionObjArgs(self->explain, tuple, keywords, NULL);
  }
  Py_XDECREF(tuple);
  Py_XDECREF(keywords);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

static PyObject *explain(Module *self, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames) {
  if (find_fault(self, args, positional, kwnames) == 0)
    PyErr_SetString(PyExc_SystemError, "arguments were refused, but nothing is wrong with them");
  return NULL;
}

static void raise_fault(Module *self, const AfFrame *frame) {
  PyObject *const symbols = PyTuple_New(self->plan.symbol_count);
  for (int i = 0; symbols && i < self->plan.symbol_count; ++i) {
    PyObject *const value = PyLong_FromLongLong(frame->symbols[i]);
    if (!value) {
      Py_DECREF(symbols);
      return;
    }
    PyTuple_SET_ITEM(symbols, i, value);
  }
  PyObject *const result = PyObject_CallFunction(self->report, "iiN(LL)", frame->fault, frame->fault_index, symbols,
                                                 frame->fault_values[0], frame->fault_values[1]);
  if (result) {
    Py_DECREF(result);
    PyErr_Format(PyExc_SystemError, "fault %d at %d was not reported", frame->fault, frame->fault_index);
  }
}

/* ---- arguments ---- */

static int input_named(const AfPlan *plan, PyObject *name) {
  for (int i = 0; i < plan->input_count; ++i) {
    if (plan->inputs[i].name == name) return i;
  }
  for (int i = 0; i < plan->input_count; ++i) {
    if (PyUnicode_Compare(plan->inputs[i].name, name) == 0) return i;
  }
  return -1;
}

static int place_out(AfFrame *frame, PyObject *out) {
  const int count = frame->plan->output_count;
  if (out == Py_None) return 0;
  if (!PyTuple_Check(out)) {
    if (count != 1) return -1;
    frame->outs[0].given = out;
    frame->out_is_given[0] = 1;
    return 0;
  }
  if (PyTuple_GET_SIZE(out) != count) return -1;
  for (int o = 0; o < count; ++o) {
    PyObject *const item = PyTuple_GET_ITEM(out, o);
    frame->outs[o].given = item;
    frame->out_is_given[o] = item != Py_None;
  }
  return 0;
}

static int place_arguments(AfFrame *frame, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames) {
  const AfPlan *const plan = frame->plan;
  if (positional > plan->input_count) return -1;
  for (int i = 0; i < plan->input_count; ++i) frame->inputs[i].given = i < positional ? args[i] : NULL;
  for (int o = 0; o < plan->output_count; ++o) frame->out_is_given[o] = 0;
  Py_ssize_t placed = positional;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) {
    PyObject *const name = PyTuple_GET_ITEM(kwnames, i);
    if (name == name_out || PyUnicode_Compare(name, name_out) == 0) {
      if (place_out(frame, args[positional + i])) return -1;
      continue;
    }
    const int input = input_named(plan, name);
    if (input < 0 || frame->inputs[input].given) return -1;
    frame->inputs[input].given = args[positional + i];
    ++placed;
  }
  return placed == plan->input_count ? 0 : -1;
}

/* The dims of an object whose element type kernels do not know: hosts read its content, sizes its shape. */
static int acquire_shape(AfTensor *tensor, int rank) {
  PyObject *const shape = PyObject_GetAttrString(tensor->given, "shape");
  int failed = !shape || !PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) != rank || rank > AF_MAX_RANK;
  for (int k = 0; !failed && k < rank; ++k) {
    tensor->own_dims[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, k));
    failed = tensor->own_dims[k] < 0;
  }
  Py_XDECREF(shape);
  PyErr_Clear();
  tensor->rank = rank;
  tensor->dims = tensor->own_dims;
  return failed ? -1 : 0;
}

static int acquire(Module *self, AfTensor *tensor, int expected, int writable) {
  tensor->object = tensor->given;
  if (expected == AF_OBJECT) return 0;
  int failed = af_tensor_acquire(tensor, tensor->given, writable);
  if (failed) {
    PyObject *const stand_in = PyObject_CallFunction(self->stand_in, "Oi", tensor->given, writable);
    PyErr_Clear();
    if (!stand_in || stand_in == Py_None) {
      Py_XDECREF(stand_in);
      return -1;
    }
    tensor->stand_in = stand_in;
    failed = af_tensor_acquire(tensor, stand_in, writable);
  }
  if (failed) return -1;
  const int reads_bits = tensor->stand_in || self->plan.reads_bits_as_bfloat16;
  if (expected == AF_BFLOAT16 && tensor->dtype == AF_UINT16 && reads_bits) tensor->dtype = AF_BFLOAT16;
  return 0;
}

static int acquire_all(Module *self, AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  for (int i = 0; i < plan->input_count; ++i) {
    const AfInputPlan *const in = &plan->inputs[i];
    if (acquire(self, &frame->inputs[i], in->dtype, 0)) return -1;
    if (in->dtype == AF_OBJECT && in->rank > 0 && acquire_shape(&frame->inputs[i], in->rank)) return -1;
  }
  for (int o = 0; o < plan->output_count; ++o) {
    if (!frame->out_is_given[o]) continue;
    if (acquire(self, &frame->outs[o], plan->buffers[plan->outputs[o].buffer].dtype, 1)) return -1;
  }
  return 0;
}

static void let_go(AfTensor *tensor) {
  af_tensor_release(tensor);
  Py_CLEAR(tensor->stand_in);
}

static void leave(AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  for (int i = 0; i < plan->input_count; ++i) let_go(&frame->inputs[i]);
  for (int o = 0; o < plan->output_count; ++o) {
    if (frame->out_is_given[o]) let_go(&frame->outs[o]);
  }
  for (int b = 0; b < plan->buffer_count; ++b) {
    if (!plan->buffers[b].constant_data) af_memory_drop(&frame->memory[b]);
  }
}

/* ---- the call ---- */

static PyObject *attempt(Module *self, AfFrame *frame, PyObject *const *args, Py_ssize_t positional,
                         PyObject *kwnames) {
  PyObject *result = NULL;
  frame->outs_in_doubt = 0;
  frame->fault = AF_FAULT_NONE;
  frame->host.cores = af_threads_count();
  if (place_arguments(frame, args, positional, kwnames)) return explain(self, args, positional, kwnames);
  if (acquire_all(self, frame))
    af_fail(frame, AF_FAULT_ARGUMENTS, 0, 0, 0);
  else if (af_enter(frame) == 0 && af_run_steps(frame) == 0)
    result = af_results(frame);
  leave(frame);
  if (result) return result;
  frame->memo_is_valid = 0;
  if (frame->outs_in_doubt) return NULL;
  if (frame->fault == AF_FAULT_ARGUMENTS) return explain(self, args, positional, kwnames);
  if (frame->fault != AF_FAULT_PYTHON) raise_fault(self, frame);
  return NULL;
}

static PyObject *run(Module *self, AfFrame *frame, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames) {
  frame->outs_are_apart = 0;
  PyObject *const result = attempt(self, frame, args, positional, kwnames);
  if (result || !frame->outs_in_doubt || find_fault(self, args, positional, kwnames)) return result;
  frame->outs_are_apart = 1;
  return attempt(self, frame, args, positional, kwnames);
}

static PyObject *module_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  Module *const self = (Module *)callable;
  AfFrame *frame = self->idle;
  if (frame) {
    self->idle = frame->next;
  } else {
    frame = af_frame_new(&self->plan, &self->counters);
    if (!frame) return PyErr_NoMemory();
    frame->host = (AfHost){.parallel_for = af_threads_parallel_for,
                           .allocate = af_memory_host_allocate,
                           .release = af_memory_host_release,
                           .last_level_cache_bytes = self->last_level_cache_bytes};
  }
  ++self->counters.calls;
  Py_INCREF(callable);
  PyObject *const result = run(self, frame, args, PyVectorcall_NARGS(nargsf), kwnames);
  frame->next = self->idle;
  self->idle = frame;
  Py_DECREF(callable);
  return result;
}

static PyObject *module_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"plan", "face", "explain", "report", "stand_in", "last_level_cache_bytes", NULL};
  PyObject *plan, *face, *explain_callable, *report, *stand_in;
  af_i64 cache_bytes;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOOOL", names, &PyTuple_Type, &plan, &face, &explain_callable,
                                   &report, &stand_in, &cache_bytes))
    return NULL;
  Module *const self = (Module *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->vectorcall = module_call;
  self->last_level_cache_bytes = cache_bytes;
  self->face = Py_NewRef(face);
  self->explain = Py_NewRef(explain_callable);
  self->report = Py_NewRef(report);
  self->stand_in = Py_NewRef(stand_in);
  if (af_plan_read(&self->plan, plan)) {
    Py_DECREF(self);
    return NULL;
  }
  self->has_plan = 1;
  return (PyObject *)self;
}

static int module_traverse(Module *self, visitproc visit, void *arg) {
  Py_VISIT(self->plan.source);
  Py_VISIT(self->face);
  Py_VISIT(self->explain);
  Py_VISIT(self->report);
  Py_VISIT(self->stand_in);
  return 0;
}

static int module_clear(Module *self) {
  Py_CLEAR(self->face);
  Py_CLEAR(self->explain);
  Py_CLEAR(self->report);
  Py_CLEAR(self->stand_in);
  return 0;
}

static void module_dealloc(Module *self) {
  PyObject_GC_UnTrack(self);
  while (self->idle) {
    AfFrame *const frame = self->idle;
    self->idle = frame->next;
    af_frame_free(frame);
  }
  if (self->has_plan) af_plan_clear(&self->plan);
  module_clear(self);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Counters as a dict; the names are those of autofuse_runtime.module.ModuleStats. */
static PyObject *module_counters(Module *self, PyObject *unused) {
  (void)unused;
  const AfCounters *const c = &self->counters;
  return Py_BuildValue("{sL sL sL sL sL sL}", "calls", (long long)c->calls, "launches", (long long)c->launches, "copies",
                       (long long)c->copies, "tiling_hits", (long long)c->tiling_hits, "tiling_ns",
                       (long long)c->tiling_ns, "guard_misses", (long long)c->guard_misses);
}

static PyObject *module_getattro(PyObject *object, PyObject *name) {
  Module *const self = (Module *)object;
  PyObject *const found = PyObject_GenericGetAttr(object, name);
  if (found || !self->face || self->face == Py_None || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(self->face, name);
}

static PyMethodDef module_methods[] = {
    {"counters", (PyCFunction)module_counters, METH_NOARGS, "Counts of calls, launches, copies and tilings so far."},
    {0}};

PyTypeObject af_module_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "af_native.Module",
    .tp_basicsize = sizeof(Module),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A program that is called like a function on arrays.",
    .tp_new = module_new,
    .tp_dealloc = (destructor)module_dealloc,
    .tp_traverse = (traverseproc)module_traverse,
    .tp_clear = (inquiry)module_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Module, vectorcall),
    .tp_getattro = module_getattro,
    .tp_methods = module_methods,
};

int af_module_start(void) {
  name_out = PyUnicode_InternFromString("out");
  return name_out ? 0 : -1;
}
