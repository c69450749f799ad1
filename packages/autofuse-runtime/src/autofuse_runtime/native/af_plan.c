/* Reads the plan: flat tuples of numbers, with int32 lists as bytes that the plan points into. */
#include "af_native.h"

static void *keep(AfPlan *plan, size_t count, size_t size) {
  void **const blocks = realloc(plan->blocks, sizeof(void *) * (size_t)(plan->block_count + 1));
  if (!blocks) return PyErr_NoMemory();
  plan->blocks = blocks;
  void *const block = calloc(count ? count : 1, size);
  if (!block) return PyErr_NoMemory();
  plan->blocks[plan->block_count++] = block;
  return block;
}

static const int *int_list(PyObject *bytes, int *count) {
  if (count) *count = (int)(PyBytes_GET_SIZE(bytes) / (Py_ssize_t)sizeof(int));
  return (const int *)PyBytes_AS_STRING(bytes);
}

static int read_expressions(AfPlan *plan, PyObject *rows) {
  plan->expression_count = (int)PyTuple_GET_SIZE(rows);
  plan->expressions = keep(plan, (size_t)plan->expression_count, sizeof(AfExpression));
  if (!plan->expressions) return -1;
  for (int i = 0; i < plan->expression_count; ++i) {
    PyObject *const code = PyTuple_GET_ITEM(rows, i);
    if (!PyBytes_Check(code)) return PyErr_Format(PyExc_TypeError, "plan: code must be bytes"), -1;
    af_expression_init(&plan->expressions[i], (const af_i64 *)PyBytes_AS_STRING(code),
                       PyBytes_GET_SIZE(code) / (Py_ssize_t)sizeof(af_i64));
  }
  return 0;
}

static int read_binding(PyObject *row, AfBinding *b) {
  return PyArg_ParseTuple(row, "iiiLLL", &b->slot, &b->input, &b->dim, &b->element, &b->lo, &b->hi) ? 0 : -1;
}

static int read_inputs(AfPlan *plan, PyObject *rows, PyObject *bindings) {
  plan->input_count = (int)PyTuple_GET_SIZE(rows);
  plan->inputs = keep(plan, (size_t)plan->input_count, sizeof(AfInputPlan));
  plan->binding_count = (int)PyTuple_GET_SIZE(bindings);
  plan->bindings = keep(plan, (size_t)plan->binding_count, sizeof(AfBinding));
  if (!plan->inputs || !plan->bindings) return -1;
  for (int i = 0; i < plan->input_count; ++i) {
    AfInputPlan *const in = &plan->inputs[i];
    PyObject *dims;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "UiiiS", &in->name, &in->dtype, &in->rank, &in->buffer, &dims))
      return -1;
    in->dims = int_list(dims, NULL);
  }
  for (int i = 0; i < plan->binding_count; ++i) {
    if (read_binding(PyTuple_GET_ITEM(bindings, i), &plan->bindings[i])) return -1;
  }
  return 0;
}

static int read_constant(AfBufferPlan *buffer, PyObject *constant) {
  PyObject *exporter;
  Py_buffer view;
  if (constant == Py_None) return 0;
  if (!PyArg_ParseTuple(constant, "OO", &exporter, &buffer->constant)) return -1;
  if (exporter == Py_None) return 0;
  if (PyObject_GetBuffer(exporter, &view, PyBUF_C_CONTIGUOUS)) return -1;
  buffer->constant_data = view.buf;
  buffer->constant_bytes = view.len;
  PyBuffer_Release(&view); /* the plan's tuple keeps the exporter */
  return 0;
}

static int read_buffers(AfPlan *plan, PyObject *rows, PyObject *outputs) {
  plan->buffer_count = (int)PyTuple_GET_SIZE(rows);
  plan->buffers = keep(plan, (size_t)plan->buffer_count, sizeof(AfBufferPlan));
  plan->output_count = (int)PyTuple_GET_SIZE(outputs);
  plan->outputs = keep(plan, (size_t)plan->output_count, sizeof(AfOutputPlan));
  if (!plan->buffers || !plan->outputs) return -1;
  for (int i = 0; i < plan->buffer_count; ++i) {
    AfBufferPlan *const b = &plan->buffers[i];
    PyObject *dims, *constant;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "iiiiiSO", &b->dtype, &b->root, &b->known_at_entry, &b->output,
                          &b->input, &dims, &constant))
      return -1;
    b->dims = int_list(dims, &b->rank);
    b->first_dim = plan->dim_count;
    plan->dim_count += b->rank;
    if (read_constant(b, constant)) return -1;
  }
  for (int i = 0; i < plan->output_count; ++i) {
    AfOutputPlan *const out = &plan->outputs[i];
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(outputs, i), "ii", &out->buffer, &out->is_owner)) return -1;
  }
  return 0;
}

static int read_kernels(AfPlan *plan, PyObject *rows) {
  plan->kernel_count = (int)PyTuple_GET_SIZE(rows);
  plan->kernels = keep(plan, (size_t)plan->kernel_count, sizeof(AfKernelPlan));
  if (!plan->kernels) return -1;
  for (int i = 0; i < plan->kernel_count; ++i) {
    AfKernelPlan *const k = &plan->kernels[i];
    const char *name;
    PyObject *slots;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "siS", &name, &k->workspace, &slots)) return -1;
    k->slots = int_list(slots, &k->symbol_count);
    k->kernel = af_library_find(plan->library, name);
    if (!k->kernel) return PyErr_Format(PyExc_LookupError, "the library holds no kernel %s", name), -1;
    if (k->symbol_count > plan->largest_symbol_count) plan->largest_symbol_count = k->symbol_count;
  }
  return 0;
}

static int read_step(AfPlan *plan, PyObject *row, AfStep *step) {
  PyObject *inputs, *outputs, *binding;
  if (!PyArg_ParseTuple(row, "iiSSO", &step->op, &step->index, &inputs, &outputs, &binding)) return -1;
  step->inputs = int_list(inputs, &step->input_count);
  step->outputs = int_list(outputs, &step->output_count);
  if (binding != Py_None && read_binding(binding, &step->binding)) return -1;
  if (step->op == AF_STEP_KERNEL) {
    step->site = plan->site_count++;
    const int arguments = step->input_count + step->output_count;
    if (arguments > plan->largest_argument_count) plan->largest_argument_count = arguments;
  }
  return 0;
}

static int read_variants(AfPlan *plan, PyObject *rows) {
  plan->variant_count = (int)PyTuple_GET_SIZE(rows);
  plan->variants = keep(plan, (size_t)plan->variant_count, sizeof(AfVariant));
  if (!plan->variants) return -1;
  for (int i = 0; i < plan->variant_count; ++i) {
    AfVariant *const v = &plan->variants[i];
    PyObject *steps, *safe;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "iO!S", &v->condition, &PyTuple_Type, &steps, &safe)) return -1;
    v->safe = (const unsigned char *)PyBytes_AS_STRING(safe);
    v->step_count = (int)PyTuple_GET_SIZE(steps);
    AfStep *const list = keep(plan, (size_t)v->step_count, sizeof(AfStep));
    if (!list) return -1;
    v->steps = list;
    for (int k = 0; k < v->step_count; ++k) {
      if (read_step(plan, PyTuple_GET_ITEM(steps, k), &list[k])) return -1;
    }
  }
  return 0;
}

int af_plan_read(AfPlan *plan, PyObject *source) {
  PyObject *fixed, *expressions, *inputs, *bindings, *guards, *buffers, *outputs, *kernels, *variants;
  PyTypeObject *const tuple = &PyTuple_Type;
  *plan = (AfPlan){0};
  if (!PyArg_ParseTuple(source, "OO!O!SO!O!O!SiO!O!O!O!ii", &plan->library, tuple, &plan->dtypes, tuple, &plan->regions,
                        &fixed, tuple, &expressions, tuple, &inputs, tuple, &bindings, &guards,
                        &plan->entry_guard_count, tuple, &buffers, tuple, &outputs, tuple, &kernels, tuple, &variants,
                        &plan->stack_depth, &plan->reads_bits_as_bfloat16))
    return -1;
  Py_INCREF(source);
  plan->source = source;
  plan->symbol_count = (int)(PyBytes_GET_SIZE(fixed) / (Py_ssize_t)sizeof(af_i64));
  plan->fixed_symbols = (const af_i64 *)PyBytes_AS_STRING(fixed);
  plan->guards = int_list(guards, &plan->guard_count);
  if (read_expressions(plan, expressions) || read_inputs(plan, inputs, bindings) ||
      read_buffers(plan, buffers, outputs) || read_kernels(plan, kernels) || read_variants(plan, variants)) {
    af_plan_clear(plan);
    return -1;
  }
  return 0;
}

void af_plan_clear(AfPlan *plan) {
  for (int i = 0; i < plan->block_count; ++i) free(plan->blocks[i]);
  free(plan->blocks);
  plan->blocks = NULL;
  plan->block_count = 0;
  Py_CLEAR(plan->source);
}
