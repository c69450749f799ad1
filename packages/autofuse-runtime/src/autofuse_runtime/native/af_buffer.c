/* Buffers of one call: their sizes from the symbols, and their memory. */
#include "af_memory.h"
#include "af_native.h"

int af_buffer_shape(AfFrame *frame, int buffer) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  af_i64 *const dims = frame->dims + plan->first_dim;
  for (int k = 0; k < plan->rank; ++k) {
    const AfExpression *const size = &frame->plan->expressions[plan->dims[k]];
    if (af_expression_run(size, frame->symbols, frame->stack, &dims[k]) || dims[k] < 0)
      return af_fail(frame, AF_FAULT_SIZE, buffer, 0, 0);
  }
  af_i64 bytes = af_element_count(dims, plan->rank);
  if (bytes < 0 || __builtin_mul_overflow(bytes, (af_i64)af_itemsize[plan->dtype], &bytes))
    return af_fail(frame, AF_FAULT_SIZE, buffer, 0, 0);
  frame->bytes[buffer] = bytes;
  return 0;
}

int af_buffer_check(AfFrame *frame, int buffer) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  const af_i64 *const dims = af_dims(frame, buffer);
  for (int k = 0; k < plan->rank; ++k) {
    af_i64 expected;
    const AfExpression *const size = &frame->plan->expressions[plan->dims[k]];
    if (af_expression_run(size, frame->symbols, frame->stack, &expected) || dims[k] != expected)
      return af_fail(frame, AF_FAULT_HOST_SHAPE, buffer, k, dims[k]);
  }
  frame->memory[buffer].dims_unchecked = 0;
  return 0;
}

int af_buffer_make(AfFrame *frame, int buffer) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  AfMemory *const memory = &frame->memory[plan->root];
  if (!plan->known_at_entry && af_buffer_shape(frame, buffer)) return -1;
  if (memory->state != AF_MEMORY_NONE) return 0;
  const int output = frame->plan->buffers[plan->root].output;
  if (output >= 0 && frame->out_is_direct[output]) {
    const AfOutputPlan *const out = &frame->plan->outputs[output];
    if (!frame->plan->buffers[out->buffer].known_at_entry) {
      const AfTensor *const tensor = &frame->outs[output];
      if (af_buffer_shape(frame, out->buffer)) return -1;
      if (memcmp(tensor->dims, af_dims(frame, out->buffer), sizeof(af_i64) * (size_t)tensor->rank))
        return af_fail(frame, AF_FAULT_OUT_SHAPE, output, 0, 0);
    }
    memory->data = frame->outs[output].data;
    memory->bytes = frame->bytes[buffer];
    memory->state = AF_MEMORY_BORROWED;
    return 0;
  }
  memory->data = af_memory_allocate(frame->bytes[buffer]);
  if (!memory->data) return af_fail(frame, AF_FAULT_MEMORY, buffer, frame->bytes[buffer], 0);
  memory->bytes = frame->bytes[buffer];
  memory->state = AF_MEMORY_POOLED;
  return 0;
}

void af_memory_drop(AfMemory *memory) {
  if (memory->state == AF_MEMORY_POOLED) af_memory_release(memory->data);
  if (memory->owner) Py_CLEAR(memory->owner);
  memory->state = AF_MEMORY_NONE;
  memory->data = NULL;
  memory->dims_unchecked = 0;
}
