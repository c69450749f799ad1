/* Host steps: NumPy views of buffers go to a Python callable, its results become buffers. */
#include "af_native.h"

/* A Python object that exports the memory of a root buffer and keeps it alive. New reference. */
static PyObject *exporter_of(AfFrame *frame, int root) {
  AfMemory *const memory = &frame->memory[root];
  const AfBufferPlan *const plan = &frame->plan->buffers[root];
  if (memory->state == AF_MEMORY_POOLED) {
    PyObject *const block = af_block_new(memory->data, memory->bytes, NULL);
    if (!block) return NULL;
    memory->owner = block; /* from here on the block owns the memory, so that a view may outlive the call */
    memory->state = AF_MEMORY_OBJECT;
  }
  if (memory->owner) return Py_NewRef(memory->owner);
  PyObject *keepalive = plan->constant;
  if (plan->input >= 0) keepalive = frame->inputs[plan->input].object;
  if (plan->output >= 0 && frame->out_is_direct[plan->output]) keepalive = frame->outs[plan->output].object;
  return af_block_new(memory->data, memory->bytes, keepalive ? keepalive : Py_None);
}

/* New reference: the value of a buffer as the host sees it. */
static PyObject *value_of(AfFrame *frame, int buffer) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  const AfMemory *const memory = &frame->memory[plan->root];
  if (plan->constant) return Py_NewRef(plan->constant);
  if (plan->dtype == AF_OBJECT) {
    PyObject *const value = memory->owner ? memory->owner : frame->plan->buffers[plan->root].constant;
    return Py_NewRef(value ? value : Py_None);
  }
  if (plan->input >= 0 && plan->root == buffer) {
    const AfTensor *const t = &frame->inputs[plan->input];
    if (t->is_row_major && !t->stand_in && af_is_ndarray(t->object)) return Py_NewRef(t->object);
  }
  PyObject *const exporter = exporter_of(frame, plan->root);
  if (!exporter) return NULL;
  PyObject *const dtype = PyTuple_GET_ITEM(frame->plan->dtypes, plan->dtype);
  PyObject *const array = af_array_new(plan->rank, af_dims(frame, buffer), dtype, exporter);
  Py_DECREF(exporter);
  return array;
}

/* Takes over a result (borrowed reference) as the content of `buffer`; Python made it row-major and of its dtype. */
static int adopt(AfFrame *frame, int buffer, PyObject *result) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  AfMemory *const memory = &frame->memory[plan->root];
  af_memory_drop(memory);
  if (plan->dtype != AF_OBJECT) {
    Py_buffer view;
    if (PyObject_GetBuffer(result, &view, PyBUF_C_CONTIGUOUS)) return af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
    if (view.ndim != plan->rank) {
      PyBuffer_Release(&view);
      return af_fail(frame, AF_FAULT_HOST_SHAPE, buffer, -1, view.ndim);
    }
    for (int k = 0; k < plan->rank; ++k) frame->dims[plan->first_dim + k] = view.shape[k];
    memory->data = view.buf;
    frame->bytes[buffer] = memory->bytes = view.len;
    frame->memory[buffer].dims_unchecked = 1;
    PyBuffer_Release(&view); /* the array itself stays, and with it the memory */
  }
  memory->owner = Py_NewRef(result);
  memory->state = AF_MEMORY_OBJECT;
  return 0;
}

int af_host_call(AfFrame *frame, const AfStep *step) {
  PyObject *const arguments = PyList_New(step->input_count);
  if (!arguments) return af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
  for (int i = 0; i < step->input_count; ++i) {
    PyObject *const value = value_of(frame, step->inputs[i]);
    if (!value) {
      Py_DECREF(arguments);
      return af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
    }
    PyList_SET_ITEM(arguments, i, value);
  }
  PyObject *const region = PyTuple_GET_ITEM(frame->plan->regions, step->index);
  PyObject *const results = PyObject_CallOneArg(region, arguments);
  Py_DECREF(arguments);
  if (!results) return af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
  int failed = 0;
  if (!PyTuple_Check(results) || PyTuple_GET_SIZE(results) != step->output_count) {
    PyErr_SetString(PyExc_SystemError, "a host region's wrapper must return a tuple of its results");
    failed = af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
  }
  for (int i = 0; i < step->output_count && !failed; ++i)
    failed = adopt(frame, step->outputs[i], PyTuple_GET_ITEM(results, i));
  Py_DECREF(results);
  return failed;
}
