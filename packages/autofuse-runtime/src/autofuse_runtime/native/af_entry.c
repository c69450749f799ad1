/* What happens before the first step: types and shapes against the plan, symbols, guards, variant, out=. Nothing here
   words an error: any miss is FAULT_ARGUMENTS, and Python checks the same arguments again to say what is wrong. */
#include "af_memory.h"
#include "af_native.h"

static int refuse(AfFrame *frame) { return af_fail(frame, AF_FAULT_ARGUMENTS, 0, 0, 0); }

/* Whether all inputs have the shapes of the last call; notes the new ones. -1: a wrong type or rank. */
static int same_shapes(AfFrame *frame) {
  int same = frame->memo_is_valid;
  for (int i = 0; i < frame->plan->input_count; ++i) {
    const AfInputPlan *const in = &frame->plan->inputs[i];
    const AfTensor *const t = &frame->inputs[i];
    if (in->dtype == AF_OBJECT) {
      if (in->rank > 0) same = 0; /* the frame keeps dims of tensors alone */
      continue;
    }
    if (t->dtype != in->dtype || t->rank != in->rank) return -1;
    af_i64 *const last = frame->input_dims + frame->plan->buffers[in->buffer].first_dim;
    for (int k = 0; k < in->rank; ++k) {
      if (last[k] != t->dims[k]) {
        last[k] = t->dims[k];
        same = 0;
      }
    }
  }
  return same;
}

/* Sizes are looked at before a strided input is copied: a view of a few bytes may claim any size. */
static int dims_are_in_range(const AfFrame *frame) {
  for (int i = 0; i < frame->plan->binding_count; ++i) {
    const AfBinding *const b = &frame->plan->bindings[i];
    if (b->dim < 0) continue;
    const af_i64 value = frame->inputs[b->input].dims[b->dim];
    if (value < b->lo || value > b->hi) return 0;
  }
  return 1;
}

static int place_inputs(AfFrame *frame) {
  for (int i = 0; i < frame->plan->input_count; ++i) {
    const AfInputPlan *const in = &frame->plan->inputs[i];
    const AfTensor *const t = &frame->inputs[i];
    AfMemory *const memory = &frame->memory[in->buffer];
    if (in->dtype == AF_OBJECT) {
      Py_INCREF(t->object);
      memory->owner = t->object;
      memory->state = AF_MEMORY_OBJECT;
    } else if (t->is_row_major) {
      memory->data = t->data;
      memory->bytes = af_element_count(t->dims, t->rank) * af_itemsize[t->dtype];
      memory->state = AF_MEMORY_BORROWED;
    } else {
      const af_i64 count = af_element_count(t->dims, t->rank);
      af_i64 bytes;
      if (count < 0 || __builtin_mul_overflow(count, (af_i64)af_itemsize[t->dtype], &bytes)) bytes = -1;
      memory->data = bytes < 0 ? NULL : af_memory_allocate(bytes);
      if (!memory->data) return af_fail(frame, AF_FAULT_MEMORY, in->buffer, bytes, 0);
      memory->bytes = bytes;
      memory->state = AF_MEMORY_POOLED;
      af_copy_to_row_major(memory->data, t);
      ++frame->counters->copies;
    }
  }
  return 0;
}

/* Reads the elements that bind symbols. 1: all as last time, 0: not so, -1: there is no such element. */
static int same_elements(AfFrame *frame) {
  int same = 1;
  for (int i = 0; i < frame->plan->binding_count; ++i) {
    const AfBinding *const b = &frame->plan->bindings[i];
    if (b->dim >= 0) continue;
    const AfInputPlan *const in = &frame->plan->inputs[b->input];
    const AfTensor *const t = &frame->inputs[b->input];
    af_i64 value;
    if (b->element >= af_element_count(t->dims, t->rank)) return -1;
    if (af_element_read(frame->memory[in->buffer].data, in->dtype, b->element, &value)) return -1;
    if (frame->elements[i] != value) same = 0;
    frame->elements[i] = value;
  }
  return same;
}

/* Bindings of one symbol stand together: the first one sets it, the others must agree. */
static int bind_symbols(AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  memcpy(frame->symbols, plan->fixed_symbols, sizeof(af_i64) * (size_t)plan->symbol_count);
  for (int i = 0; i < plan->binding_count; ++i) {
    const AfBinding *const b = &plan->bindings[i];
    const af_i64 value = b->dim >= 0 ? frame->inputs[b->input].dims[b->dim] : frame->elements[i];
    if (value < b->lo || value > b->hi) return -1;
    if (i > 0 && plan->bindings[i - 1].slot == b->slot) {
      if (frame->symbols[b->slot] != value) return -1;
    } else {
      frame->symbols[b->slot] = value;
    }
  }
  for (int i = 0; i < plan->input_count; ++i) {
    const AfInputPlan *const in = &plan->inputs[i];
    for (int k = 0; k < in->rank; ++k) {
      af_i64 expected;
      if (in->dims[k] < 0) continue;
      if (af_expression_run(&plan->expressions[in->dims[k]], frame->symbols, frame->stack, &expected)) return -1;
      if (expected != frame->inputs[i].dims[k]) return -1;
    }
  }
  return 0;
}

static int check_guards(AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  for (int i = 0; i < plan->entry_guard_count; ++i) {
    af_i64 holds;
    if (af_expression_run(&plan->expressions[plan->guards[i]], frame->symbols, frame->stack, &holds) || !holds)
      return -1;
  }
  return 0;
}

static int choose_variant(AfFrame *frame) {
  for (int v = 0; v < frame->plan->variant_count; ++v) {
    const AfExpression *const condition = &frame->plan->expressions[frame->plan->variants[v].condition];
    af_i64 holds;
    if (af_expression_run(condition, frame->symbols, frame->stack, &holds) == 0 && holds) {
      frame->variant = v;
      return 0;
    }
  }
  return -1;
}

static int find_sizes(AfFrame *frame) {
  frame->memo_is_valid = 0;
  if (bind_symbols(frame) || check_guards(frame) || choose_variant(frame)) return refuse(frame);
  for (int b = 0; b < frame->plan->buffer_count; ++b) {
    const AfBufferPlan *const buffer = &frame->plan->buffers[b];
    if (buffer->known_at_entry && buffer->dtype != AF_OBJECT && af_buffer_shape(frame, b)) return -1;
  }
  frame->memo_is_valid = 1;
  return 0;
}

/* Whether output `o` may be computed where out= points, given what else is there. */
static int may_write_through(const AfFrame *frame, int o) {
  const AfPlan *const plan = frame->plan;
  const AfTensor *const out = &frame->outs[o];
  const unsigned char *const safe = plan->variants[frame->variant].safe + (size_t)o * (size_t)plan->input_count;
  const char *const start = out->data;
  const char *const end = start + af_element_count(out->dims, out->rank) * af_itemsize[out->dtype];
  for (int i = 0; i < plan->input_count; ++i) {
    const AfTensor *const in = &frame->inputs[i];
    if (plan->inputs[i].dtype == AF_OBJECT || !in->is_row_major || safe[i] == AF_ALIAS_ANY) continue;
    const char *const first = in->data;
    const char *const last = first + frame->bytes[plan->inputs[i].buffer];
    if (end <= first || last <= start || (safe[i] == AF_ALIAS_SAME_START && first == start)) continue;
    return 0;
  }
  return 1;
}

/* The bytes from the first to the last element, whatever the order of the strides. */
static void extent(const AfTensor *t, uintptr_t *first, uintptr_t *end) {
  const af_i64 itemsize = af_itemsize[t->dtype];
  *first = *end = (uintptr_t)t->data;
  if (af_element_count(t->dims, t->rank) == 0) return;
  af_i64 dense = itemsize;
  for (int k = t->rank - 1; k >= 0; --k) {
    const af_i64 stride = t->strides ? t->strides[k] * (t->strides_in_elements ? itemsize : 1) : dense;
    const af_i64 reach = stride * (t->dims[k] - 1);
    *(reach < 0 ? first : end) += (uintptr_t)reach;
    dense *= t->dims[k];
  }
  *end += (uintptr_t)itemsize;
}

/* Strided arrays may lie between one another's elements: whether they do, Python decides. */
static int outs_overlap(AfFrame *frame, int o) {
  uintptr_t first, end, other_first, other_end;
  extent(&frame->outs[o], &first, &end);
  for (int p = 0; p < o; ++p) {
    if (!frame->out_is_given[p]) continue;
    extent(&frame->outs[p], &other_first, &other_end);
    if (first >= other_end || other_first >= end) continue;
    const int is_sure = frame->outs[o].is_row_major && frame->outs[p].is_row_major;
    if (!is_sure && frame->outs_are_apart) continue;
    frame->outs_in_doubt = !is_sure;
    return 1;
  }
  return 0;
}

static int check_outs(AfFrame *frame) {
  for (int o = 0; o < frame->plan->output_count; ++o) {
    const AfOutputPlan *const output = &frame->plan->outputs[o];
    const AfBufferPlan *const buffer = &frame->plan->buffers[output->buffer];
    frame->out_is_direct[o] = 0;
    if (!frame->out_is_given[o]) continue;
    const AfTensor *const t = &frame->outs[o];
    if (buffer->dtype == AF_OBJECT || t->dtype != buffer->dtype || t->rank != buffer->rank) return refuse(frame);
    for (int k = 0; buffer->known_at_entry && k < t->rank; ++k) {
      if (t->dims[k] != af_dims(frame, output->buffer)[k]) return refuse(frame);
    }
    if (outs_overlap(frame, o)) return refuse(frame);
    frame->out_is_direct[o] = output->is_owner && t->is_row_major && may_write_through(frame, o);
  }
  return 0;
}

int af_enter(AfFrame *frame) {
  int same = same_shapes(frame);
  if (same < 0 || !(same || dims_are_in_range(frame))) return refuse(frame);
  if (place_inputs(frame)) return -1;
  const int elements = same_elements(frame);
  if (elements < 0) return refuse(frame);
  if (!(same && elements) && find_sizes(frame)) return -1;
  if (frame->variant > 0) ++frame->counters->guard_misses;
  frame->host.cores = frame->host.cores < 1 ? 1 : frame->host.cores;
  return check_outs(frame);
}
