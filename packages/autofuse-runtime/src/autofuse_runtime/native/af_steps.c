/* The steps of a program, in order. The interpreter lock is released at the first kernel with enough work and taken
   back where a step or the end of the call needs it. */
#include <time.h>

#include "af_memory.h"
#include "af_native.h"

#define UNLOCKED_BYTES (64 << 10) /* handing the lock over costs about a microsecond */

static af_i64 now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (af_i64)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int solve_tiling(AfFrame *frame, const AfStep *step, AfSite *site) {
  const AfKernelPlan *const kernel = &frame->plan->kernels[step->index];
  const size_t bytes = sizeof(af_i64) * (size_t)kernel->symbol_count;
  for (int i = 0; i < kernel->symbol_count; ++i) frame->sizes[i] = frame->symbols[kernel->slots[i]];
  if (site->cores == frame->host.cores && memcmp(site->sizes, frame->sizes, bytes) == 0) {
    ++frame->counters->tiling_hits;
    return 0;
  }
  const af_i64 start = now_ns();
  memcpy(site->sizes, frame->sizes, bytes);
  site->cores = 0;
  const int failed = kernel->kernel->tiling(site->sizes, frame->host.cores, site->tiling);
  frame->counters->tiling_ns += now_ns() - start;
  if (failed) return af_fail(frame, AF_FAULT_TILING, step->index, failed, 0);
  site->cores = frame->host.cores;
  return 0;
}

static int make_workspace(AfFrame *frame, const AfStep *step, void **workspace) {
  const int size = frame->plan->kernels[step->index].workspace;
  af_i64 bytes;
  *workspace = NULL;
  if (size < 0) return 0;
  if (af_expression_run(&frame->plan->expressions[size], frame->symbols, frame->stack, &bytes) || bytes < 0)
    return af_fail(frame, AF_FAULT_TILING, step->index, 0, 0);
  if (bytes == 0) return 0;
  *workspace = af_memory_allocate(bytes);
  return *workspace ? 0 : af_fail(frame, AF_FAULT_MEMORY, -1, bytes, 0);
}

/* Whether `buffer` may be read: what a host step made has the program's shape, and a view fills its memory. */
static int check_readable(AfFrame *frame, int buffer) {
  const AfBufferPlan *const plan = &frame->plan->buffers[buffer];
  const AfMemory *const memory = &frame->memory[plan->root];
  if (memory->dims_unchecked && af_buffer_check(frame, plan->root)) return -1;
  if (frame->memory[buffer].dims_unchecked && af_buffer_check(frame, buffer)) return -1;
  if (plan->root != buffer && !plan->known_at_entry && af_buffer_shape(frame, buffer)) return -1;
  return frame->bytes[buffer] == memory->bytes ? 0 : af_fail(frame, AF_FAULT_SIZE, buffer, 0, 0);
}

static int run_kernel(AfFrame *frame, const AfStep *step) {
  AfSite *const site = &frame->sites[step->site];
  AfBuffer *const inputs = frame->arguments, *const outputs = inputs + step->input_count;
  af_i64 made = 0, moved = 0;
  for (int i = 0; i < step->input_count; ++i) {
    const int buffer = step->inputs[i];
    if (check_readable(frame, buffer)) return -1;
    inputs[i] = (AfBuffer){af_data(frame, buffer), NULL};
    moved += frame->bytes[buffer];
  }
  for (int i = 0; i < step->output_count; ++i) {
    const int buffer = step->outputs[i];
    if (af_buffer_make(frame, buffer)) return -1;
    outputs[i] = (AfBuffer){af_data(frame, buffer), NULL};
    made += frame->bytes[buffer];
  }
  if (made == 0) return 0;
  void *workspace;
  if (solve_tiling(frame, step, site) || make_workspace(frame, step, &workspace)) return -1;
  AfStatus status = {0};
  if (made + moved >= UNLOCKED_BYTES) af_lock_release(frame);
  frame->plan->kernels[step->index].kernel->launch(&frame->host, site->sizes, inputs, outputs, site->tiling, workspace,
                                                   &status);
  if (workspace) af_memory_release(workspace);
  ++frame->counters->launches;
  return status.bits ? af_fail(frame, AF_FAULT_STATUS, step->index, (af_i64)status.bits, 0) : 0;
}

static int run_alias(AfFrame *frame, const AfStep *step) {
  const int source = step->inputs[0], target = step->outputs[0];
  if (frame->plan->buffers[target].dtype == AF_OBJECT) return 0;
  return check_readable(frame, source) || check_readable(frame, target) ? -1 : 0;
}

static int run_copy(AfFrame *frame, const AfStep *step) {
  const int source = step->inputs[0], target = step->outputs[0];
  if (frame->plan->buffers[target].dtype == AF_OBJECT) {
    AfMemory *const from = &frame->memory[frame->plan->buffers[source].root];
    AfMemory *const to = &frame->memory[frame->plan->buffers[target].root];
    PyObject *const value = from->owner ? from->owner : frame->plan->buffers[source].constant;
    af_lock_take(frame);
    Py_XINCREF(value);
    Py_XSETREF(to->owner, value);
    to->state = AF_MEMORY_OBJECT;
    return 0;
  }
  if (check_readable(frame, source) || af_buffer_make(frame, target)) return -1;
  if (frame->bytes[target] != frame->bytes[source]) return af_fail(frame, AF_FAULT_SIZE, target, 0, 0);
  /* out= may be the very memory that the source has. */
  if (af_data(frame, target) != af_data(frame, source))
    memmove(af_data(frame, target), af_data(frame, source), (size_t)frame->bytes[source]);
  return 0;
}

static int write_sizes(AfFrame *frame, const AfStep *step) {
  const int target = step->outputs[0];
  const int dtype = frame->plan->buffers[target].dtype;
  if (af_buffer_make(frame, target)) return -1;
  if (frame->bytes[target] != (af_i64)step->input_count * af_itemsize[dtype])
    return af_fail(frame, AF_FAULT_SIZE, target, 0, 0);
  for (int i = 0; i < step->input_count; ++i) {
    af_i64 value;
    if (af_expression_run(&frame->plan->expressions[step->inputs[i]], frame->symbols, frame->stack, &value))
      return af_fail(frame, AF_FAULT_SIZE, target, 0, 0);
    af_element_write(af_data(frame, target), dtype, i, value);
  }
  return 0;
}

/* `index` of the step says whether the symbol has a value already. */
static int bind_symbol(AfFrame *frame, const AfStep *step) {
  const AfBinding *const b = &step->binding;
  const AfBufferPlan *const buffer = &frame->plan->buffers[b->input];
  af_i64 value;
  if (b->dim >= 0) {
    value = af_dims(frame, b->input)[b->dim];
  } else if (b->element >= af_element_count(af_dims(frame, b->input), buffer->rank) ||
             af_element_read(af_data(frame, b->input), buffer->dtype, b->element, &value)) {
    return af_fail(frame, AF_FAULT_BIND_ELEMENT, b->slot, b->input, b->element);
  }
  if (value < b->lo || value > b->hi) return af_fail(frame, AF_FAULT_BIND_RANGE, b->slot, b->input, value);
  if (step->index && frame->symbols[b->slot] != value)
    return af_fail(frame, AF_FAULT_BIND_MISMATCH, b->slot, b->input, value);
  frame->symbols[b->slot] = value;
  return 0;
}

static int assert_guard(AfFrame *frame, const AfStep *step) {
  af_i64 holds;
  const AfExpression *const condition = &frame->plan->expressions[frame->plan->guards[step->index]];
  if (af_expression_run(condition, frame->symbols, frame->stack, &holds) || !holds)
    return af_fail(frame, AF_FAULT_GUARD, step->index, 0, 0);
  return 0;
}

static int free_buffer(AfFrame *frame, const AfStep *step) {
  AfMemory *const memory = &frame->memory[step->index];
  if (memory->owner) af_lock_take(frame);
  af_memory_drop(memory);
  return 0;
}

static int run_step(AfFrame *frame, const AfStep *step) {
  switch (step->op) {
    case AF_STEP_KERNEL: return run_kernel(frame, step);
    case AF_STEP_HOST: af_lock_take(frame); return af_host_call(frame, step);
    case AF_STEP_ALIAS: return run_alias(frame, step);
    case AF_STEP_COPY: return run_copy(frame, step);
    case AF_STEP_SIZES: return write_sizes(frame, step);
    case AF_STEP_BIND: return bind_symbol(frame, step);
    case AF_STEP_GUARD: return assert_guard(frame, step);
    default: return free_buffer(frame, step);
  }
}

int af_run_steps(AfFrame *frame) {
  const AfVariant *const variant = &frame->plan->variants[frame->variant];
  int failed = 0;
  for (int s = 0; s < variant->step_count && !failed; ++s) failed = run_step(frame, &variant->steps[s]);
  af_lock_take(frame);
  return failed;
}
