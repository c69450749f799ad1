/* What the parts of the extension share: the plan (made once from a Program, never changed) and the frame (one call). */
#ifndef AF_NATIVE_H
#define AF_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "af_abi.h"
#include "af_expression.h"

#define AF_MAX_RANK 64

/* Element types by their place in autofuse_ir.dtypes.TENSOR_DTYPES; objects have no elements. */
enum {
  AF_OBJECT = -1,
  AF_BOOL,
  AF_INT8,
  AF_INT16,
  AF_INT32,
  AF_INT64,
  AF_UINT8,
  AF_UINT16,
  AF_UINT32,
  AF_UINT64,
  AF_FLOAT16,
  AF_BFLOAT16,
  AF_FLOAT32,
  AF_FLOAT64,
  AF_DTYPES
};

extern const unsigned char af_itemsize[AF_DTYPES];

/* ---- plan ---- */

typedef struct AfInputPlan {
  PyObject *name;
  int dtype, rank, buffer;
  const int *dims; /* expression each dim must equal, -1 where binding a symbol says it all */
} AfInputPlan;

typedef struct AfBinding {
  int slot, input, dim; /* dim -1: from content */
  af_i64 element, lo, hi;
} AfBinding;

typedef struct AfBufferPlan {
  int dtype, rank, root;
  int known_at_entry; /* its dims need no symbol that a step binds */
  int output;         /* of a root: the program output whose memory it is, else -1 */
  int input;          /* of a root: the program input whose memory it is, else -1 */
  int first_dim;      /* where its dims stand in the frame */
  const int *dims;    /* expressions */
  PyObject *constant; /* array or object, else null */
  void *constant_data;
  af_i64 constant_bytes;
} AfBufferPlan;

typedef struct AfOutputPlan {
  int buffer;
  int is_owner; /* the buffer's memory becomes the result; else the result is a copy of it */
} AfOutputPlan;

typedef struct AfKernelPlan {
  const AfKernel *kernel;
  int workspace; /* expression, -1 for none */
  int symbol_count;
  const int *slots;
} AfKernelPlan;

enum { AF_STEP_KERNEL, AF_STEP_HOST, AF_STEP_ALIAS, AF_STEP_COPY, AF_STEP_SIZES, AF_STEP_BIND, AF_STEP_GUARD, AF_STEP_FREE };

typedef struct AfStep {
  int op;
  int index; /* kernel, region, guard, or buffer that is made or freed */
  int input_count, output_count;
  const int *inputs, *outputs; /* buffers; for SIZES `inputs` are expressions */
  int site;                    /* of a kernel call: where its memo stands in the frame */
  AfBinding binding;           /* of BIND: `input` is the buffer */
} AfStep;

typedef struct AfVariant {
  int condition; /* expression */
  int step_count;
  const AfStep *steps;
  const unsigned char *safe; /* [output][input]: see AF_ALIAS_* */
} AfVariant;

/* When an output may be computed right into memory that an input also occupies. */
enum { AF_ALIAS_NEVER, AF_ALIAS_SAME_START, AF_ALIAS_ANY };


typedef struct AfPlan {
  PyObject *source; /* the tuple the plan was read from; keeps names, constants, code and regions alive */
  PyObject *library;
  PyObject *dtypes; /* tuple: NumPy dtype of each element type */
  PyObject *regions;
  int symbol_count, input_count, binding_count, expression_count, entry_guard_count, guard_count;
  int buffer_count, output_count, kernel_count, variant_count;
  int dim_count, site_count, stack_depth, largest_symbol_count, largest_argument_count;
  int reads_bits_as_bfloat16;
  const af_i64 *fixed_symbols; /* value of each symbol before binding */
  AfInputPlan *inputs;
  AfBinding *bindings;
  AfExpression *expressions;
  const int *guards;
  AfBufferPlan *buffers;
  AfOutputPlan *outputs;
  AfKernelPlan *kernels;
  AfVariant *variants;
  void **blocks; /* everything allocated for the plan */
  int block_count;
} AfPlan;

/* Reads the tuple that autofuse_runtime.plan makes. -1 with a Python error when it is malformed. */
int af_plan_read(AfPlan *plan, PyObject *source);
void af_plan_clear(AfPlan *plan);

/* ---- frame ---- */

/* A tensor argument, held from acquire to release. */
typedef struct AfTensor {
  PyObject *given;  /* borrowed from the caller */
  PyObject *object; /* what is read: `given`, or the stand-in for it */
  void *data;
  int dtype, rank;
  int is_row_major;
  const af_i64 *dims;
  const af_i64 *strides; /* elements when `strides_in_elements`, else bytes; null: row-major */
  int strides_in_elements;
  int holds_view;
  Py_buffer view;
  PyObject *capsule; /* of __dlpack__() */
  PyObject *stand_in; /* owned; what Python made of an object that exports nothing itself */
  af_i64 own_dims[AF_MAX_RANK]; /* what `dims` points to for an object that shows no memory, only a shape */
} AfTensor;

enum { AF_MEMORY_NONE, AF_MEMORY_POOLED, AF_MEMORY_BORROWED, AF_MEMORY_OBJECT };

typedef struct AfMemory {
  void *data;
  af_i64 bytes; /* what `data` holds, as its maker says */
  int state;
  int dims_unchecked; /* its dims came from a host step and were not yet compared with the program's */
  PyObject *owner;    /* of OBJECT: what keeps data alive; for object buffers the value itself */
} AfMemory;

/* The last solved tiling of one kernel call. */
typedef struct AfSite {
  af_i64 *sizes;
  void *tiling;
  af_i64 cores; /* 0: nothing solved yet */
} AfSite;

typedef struct AfCounters {
  _Atomic long long calls, launches, copies, tiling_hits, tiling_ns, guard_misses;
} AfCounters;

enum {
  AF_FAULT_NONE,
  AF_FAULT_PYTHON, /* an exception is set */
  AF_FAULT_ARGUMENTS,
  AF_FAULT_GUARD,
  AF_FAULT_SIZE,
  AF_FAULT_MEMORY,
  AF_FAULT_STATUS,
  AF_FAULT_TILING,
  AF_FAULT_BIND_RANGE,
  AF_FAULT_BIND_MISMATCH,
  AF_FAULT_BIND_ELEMENT,
  AF_FAULT_HOST_SHAPE,
  AF_FAULT_OUT_SHAPE
};

typedef struct AfFrame {
  struct AfFrame *next;
  const AfPlan *plan;
  AfCounters *counters;
  PyThreadState *released; /* set while the interpreter lock is released */
  AfHost host;
  int memo_is_valid;
  int variant;
  AfTensor *inputs, *outs;
  unsigned char *out_is_given;
  unsigned char *out_is_direct;
  int outs_in_doubt;  /* the call was refused for arrays of out= whose memory may overlap */
  int outs_are_apart; /* Python found that it does not */
  AfMemory *memory; /* of each buffer; roots own, aliases repeat */
  af_i64 *dims;     /* of each buffer, at AfBufferPlan.first_dim */
  af_i64 *bytes;    /* of each buffer, once its dims are known */
  af_i64 *input_dims; /* of the last call, at the input buffer's first_dim */
  af_i64 *elements;   /* of the last call: content bound by each binding */
  af_i64 *symbols;
  af_i64 *stack;
  AfSite *sites;
  AfBuffer *arguments;
  af_i64 *sizes;
  int fault, fault_index;
  af_i64 fault_values[2];
} AfFrame;

static inline int af_fail(AfFrame *frame, int fault, int index, af_i64 first, af_i64 second) {
  frame->fault = fault;
  frame->fault_index = index;
  frame->fault_values[0] = first;
  frame->fault_values[1] = second;
  return -1;
}

AfFrame *af_frame_new(const AfPlan *plan, AfCounters *counters);
void af_frame_free(AfFrame *frame);

/* ---- tensors (af_tensor.c, af_copy.c) ---- */

int af_tensor_start(void);
/* Reads `object` as a tensor. 0, or -1 when it is none (no Python error is left). `writable`: for out=. */
int af_tensor_acquire(AfTensor *tensor, PyObject *object, int writable);
void af_tensor_release(AfTensor *tensor);
/* Reads an integer or bool element; -1 when it is none or exceeds int64. */
int af_element_read(const void *data, int dtype, af_i64 element, af_i64 *value);
void af_element_write(void *data, int dtype, af_i64 element, af_i64 value);
/* Copies between row-major memory and a strided tensor. */
void af_copy_to_row_major(void *target, const AfTensor *source);
void af_copy_from_row_major(const AfTensor *target, const void *source);
af_i64 af_element_count(const af_i64 *dims, int rank); /* -1 on overflow or a negative dim */

/* ---- one call ---- */

int af_enter(AfFrame *frame);     /* af_entry.c: symbols, guards, sizes, out= */
int af_run_steps(AfFrame *frame); /* af_steps.c */
int af_buffer_shape(AfFrame *frame, int buffer); /* af_buffer.c: evaluates dims and bytes into the frame */
int af_buffer_check(AfFrame *frame, int buffer); /* compares dims that a host step made with the program's */
int af_buffer_make(AfFrame *frame, int buffer);  /* gives it memory */
void af_memory_drop(AfMemory *memory);           /* lets go of what it holds; OBJECT needs the interpreter lock */
int af_host_call(AfFrame *frame, const AfStep *step); /* af_host.c */
PyObject *af_results(AfFrame *frame); /* af_result.c */
void af_lock_take(AfFrame *frame); /* the interpreter lock; af_frame.c */
void af_lock_release(AfFrame *frame);

static inline void *af_data(const AfFrame *frame, int buffer) {
  return frame->memory[frame->plan->buffers[buffer].root].data;
}

static inline const af_i64 *af_dims(const AfFrame *frame, int buffer) {
  return frame->dims + frame->plan->buffers[buffer].first_dim;
}

/* ---- Python types ---- */

int af_module_start(void);
extern PyTypeObject af_block_type, af_library_type, af_module_type;
/* Memory from the pool as an exporter of the buffer protocol, or (keepalive given) a window on someone else's. */
PyObject *af_block_new(void *data, af_i64 bytes, PyObject *keepalive);
const AfKernel *af_library_find(PyObject *library, const char *name);
void af_array_start(PyObject *ndarray_type); /* af_block.c */
int af_is_ndarray(PyObject *object);
PyObject *af_array_new(int rank, const af_i64 *dims, PyObject *dtype, PyObject *exporter);

#endif
