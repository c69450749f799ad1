/* A frame holds what one call needs, and what the last call found out: sizes, guards' verdict, solved tilings. */
#include "af_memory.h"
#include "af_native.h"

static void *zeros(size_t count, size_t size) { return calloc(count ? count : 1, size); }

static int make_sites(AfFrame *frame) {
  const AfPlan *const plan = frame->plan;
  frame->sites = zeros((size_t)plan->site_count, sizeof(AfSite));
  if (!frame->sites) return -1;
  for (int v = 0; v < plan->variant_count; ++v) {
    for (int s = 0; s < plan->variants[v].step_count; ++s) {
      const AfStep *const step = &plan->variants[v].steps[s];
      if (step->op != AF_STEP_KERNEL) continue;
      AfSite *const site = &frame->sites[step->site];
      const AfKernelPlan *const kernel = &plan->kernels[step->index];
      site->sizes = zeros((size_t)kernel->symbol_count, sizeof(af_i64));
      site->tiling = af_memory_allocate(kernel->kernel->tiling_bytes);
      if (!site->sizes || !site->tiling) return -1;
    }
  }
  return 0;
}

AfFrame *af_frame_new(const AfPlan *plan, AfCounters *counters) {
  AfFrame *const frame = zeros(1, sizeof(AfFrame));
  if (!frame) return NULL;
  frame->plan = plan;
  frame->counters = counters;
  frame->inputs = zeros((size_t)plan->input_count, sizeof(AfTensor));
  frame->outs = zeros((size_t)plan->output_count, sizeof(AfTensor));
  frame->out_is_given = zeros((size_t)plan->output_count, 1);
  frame->out_is_direct = zeros((size_t)plan->output_count, 1);
  frame->memory = zeros((size_t)plan->buffer_count, sizeof(AfMemory));
  frame->dims = zeros((size_t)plan->dim_count, sizeof(af_i64));
  frame->bytes = zeros((size_t)plan->buffer_count, sizeof(af_i64));
  frame->input_dims = zeros((size_t)plan->dim_count, sizeof(af_i64));
  frame->elements = zeros((size_t)plan->binding_count, sizeof(af_i64));
  frame->symbols = zeros((size_t)plan->symbol_count, sizeof(af_i64));
  frame->stack = zeros((size_t)plan->stack_depth, sizeof(af_i64));
  frame->arguments = zeros((size_t)plan->largest_argument_count, sizeof(AfBuffer));
  frame->sizes = zeros((size_t)plan->largest_symbol_count, sizeof(af_i64));
  if (!frame->inputs || !frame->outs || !frame->out_is_given || !frame->out_is_direct || !frame->memory ||
      !frame->dims || !frame->bytes || !frame->input_dims || !frame->elements || !frame->symbols || !frame->stack ||
      !frame->arguments || !frame->sizes || make_sites(frame)) {
    af_frame_free(frame);
    return NULL;
  }
  for (int b = 0; b < plan->buffer_count; ++b) {
    if (plan->buffers[b].constant_data)
      frame->memory[b] = (AfMemory){
          .data = plan->buffers[b].constant_data, .bytes = plan->buffers[b].constant_bytes, .state = AF_MEMORY_BORROWED};
  }
  return frame;
}

void af_frame_free(AfFrame *frame) {
  if (!frame) return;
  for (int i = 0; frame->sites && i < frame->plan->site_count; ++i) {
    free(frame->sites[i].sizes);
    af_memory_release(frame->sites[i].tiling);
  }
  free(frame->sites);
  free(frame->inputs);
  free(frame->outs);
  free(frame->out_is_given);
  free(frame->out_is_direct);
  free(frame->memory);
  free(frame->dims);
  free(frame->bytes);
  free(frame->input_dims);
  free(frame->elements);
  free(frame->symbols);
  free(frame->stack);
  free(frame->arguments);
  free(frame->sizes);
  free(frame);
}

void af_lock_release(AfFrame *frame) {
  if (!frame->released) frame->released = PyEval_SaveThread();
}

void af_lock_take(AfFrame *frame) {
  if (!frame->released) return;
  PyEval_RestoreThread(frame->released);
  frame->released = NULL;
}
