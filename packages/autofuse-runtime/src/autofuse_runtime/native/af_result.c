/* Results: arrays over pool memory, or the caller's out= filled. */
#include "af_memory.h"
#include "af_native.h"

static PyObject *wrapped(AfFrame *frame, int buffer, PyObject *exporter) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  PyObject *const dtype = PyTuple_GET_ITEM(frame->plan->dtypes, plan->dtype);
  PyObject *const array = exporter ? af_array_new(plan->rank, af_dims(frame, buffer), dtype, exporter) : NULL;
  Py_XDECREF(exporter);
  if (!array) af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
  return array;
}

/* A new array with a copy of the buffer's content. */
static PyObject *copied(AfFrame *frame, int buffer) {
  const af_i64 bytes = frame->bytes[buffer];
  void *const data = af_memory_allocate(bytes);
  if (!data) {
    af_fail(frame, AF_FAULT_MEMORY, buffer, bytes, 0);
    return NULL;
  }
  memcpy(data, af_data(frame, buffer), (size_t)bytes);
  ++frame->counters->copies;
  PyObject *const block = af_block_new(data, bytes, NULL);
  if (!block) af_memory_release(data);
  return wrapped(frame, buffer, block);
}

static PyObject *fresh(AfFrame *frame, const AfOutputPlan *output) {
  const int root = frame->plan->buffers[output->buffer].root;
  AfMemory *const memory = &frame->memory[root];
  if (!output->is_owner || memory->state == AF_MEMORY_BORROWED) return copied(frame, output->buffer);
  if (memory->state == AF_MEMORY_OBJECT) return wrapped(frame, output->buffer, Py_NewRef(memory->owner));
  PyObject *const block = af_block_new(memory->data, memory->bytes, NULL);
  if (!block) {
    af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
    return NULL;
  }
  memory->owner = Py_NewRef(block); /* another output may still be copied from it */
  memory->state = AF_MEMORY_OBJECT;
  return wrapped(frame, output->buffer, block);
}

static int fill(AfFrame *frame, int o) {
  const int buffer = frame->plan->outputs[o].buffer;
  const AfTensor *const out = &frame->outs[o];
  if (memcmp(out->dims, af_dims(frame, buffer), sizeof(af_i64) * (size_t)out->rank))
    return af_fail(frame, AF_FAULT_OUT_SHAPE, o, 0, 0);
  af_copy_from_row_major(out, af_data(frame, buffer));
  ++frame->counters->copies;
  return 0;
}

/* New reference, or null with a fault in the frame. */
static PyObject *result(AfFrame *frame, int o) {
  const AfOutputPlan *const output = &frame->plan->outputs[o];
  const AfBufferPlan *const buffer = &frame->plan->buffers[output->buffer];
  const AfMemory *const memory = &frame->memory[buffer->root];
  if (buffer->dtype == AF_OBJECT) {
    PyObject *const value = memory->owner ? memory->owner : frame->plan->buffers[buffer->root].constant;
    return Py_NewRef(value ? value : Py_None);
  }
  if (frame->memory[output->buffer].dims_unchecked && af_buffer_check(frame, output->buffer)) return NULL;
  /* What was made under another shape (a view of this buffer) must fill it. */
  if (!buffer->known_at_entry && af_buffer_shape(frame, output->buffer)) return NULL;
  if (frame->bytes[output->buffer] != memory->bytes) {
    af_fail(frame, AF_FAULT_SIZE, output->buffer, 0, 0);
    return NULL;
  }
  if (!frame->out_is_given[o]) return fresh(frame, output);
  if (!frame->out_is_direct[o] || memory->data != frame->outs[o].data) {
    if (fill(frame, o)) return NULL;
  }
  return Py_NewRef(frame->outs[o].given);
}

/* An output that is an input is read last, when filling another out= may already have written over it: such an input
   moves to memory of its own first. (Links put a Copy step there; then there is nothing to do.) */
static int detach_inputs(AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  int is_given = 0;
  for (int o = 0; o < plan->output_count; ++o) is_given |= frame->out_is_given[o];
  for (int o = 0; o < plan->output_count && is_given; ++o) {
    const int root = plan->buffers[plan->outputs[o].buffer].root;
    AfMemory *const memory = &frame->memory[root];
    if (plan->buffers[root].input < 0 || memory->state != AF_MEMORY_BORROWED) continue;
    void *const copy = af_memory_allocate(memory->bytes);
    if (!copy) return af_fail(frame, AF_FAULT_MEMORY, root, memory->bytes, 0);
    memcpy(copy, memory->data, (size_t)memory->bytes);
    memory->data = copy;
    memory->state = AF_MEMORY_POOLED;
  }
  return 0;
}

PyObject *af_results(AfFrame *frame) {
  const int count = frame->plan->output_count;
  if (detach_inputs(frame)) return NULL;
  if (count == 1) return result(frame, 0);
  PyObject *const results = PyTuple_New(count);
  if (!results) {
    af_fail(frame, AF_FAULT_PYTHON, 0, 0, 0);
    return NULL;
  }
  for (int o = 0; o < count; ++o) {
    PyObject *const item = result(frame, o);
    if (!item) {
      Py_DECREF(results);
      return NULL;
    }
    PyTuple_SET_ITEM(results, o, item);
  }
  return results;
}
